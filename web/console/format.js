/* Numbers, amounts and times as people read them. No element is made here. */

export const NONE = "–";

export function num(v, digits) {
	if (v === null || v === undefined || !Number.isFinite(v))
		return NONE;
	const a = Math.abs(v);
	const d = digits !== undefined ? digits : a >= 100 || Number.isInteger(v) ? 0 : a >= 10 ? 1 : 2;
	return v.toLocaleString("en-US", {minimumFractionDigits: digits || 0, maximumFractionDigits: d});
}

export const percent = v => v === null || v === undefined || !Number.isFinite(v) ? NONE : num(v * 100, v > 0 && v < 0.1 ? 1 : 0) + " %";
export const plural = (n, one, many) => `${num(n)} ${n === 1 ? one : many || one + "s"}`;

/* The server's words, as a sentence of their own. */
export const said = text => text ? text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".") : "";

/* ---- amounts: the server writes exact quantities ("1100Gi", "500m", "unlimited") ---- */

const SUFFIX = {
	n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
	Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4, Pi: 1024 ** 5, Ei: 1024 ** 6,
};

/* A number; Infinity where there is no limit, 0 where there is nothing. */
export function quantity(text) {
	if (typeof text === "number")
		return text;
	const m = /^([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([a-zA-Z]*)$/.exec(text || "0");
	return m && m[2] in SUFFIX ? Number(m[1]) * SUFFIX[m[2]] : Infinity;
}

export const isBytes = resource => resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-");

function bytes(v) {
	const units = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
	let i = 0;
	while (Math.abs(v) >= 1024 && i < units.length - 1) {
		v /= 1024;
		i++;
	}
	return num(v, Math.abs(v) < 10 && !Number.isInteger(v) ? 1 : 0) + units[i];
}

export const amount = (resource, v) => v === Infinity ? "no limit" : isBytes(resource) ? bytes(v) : num(v);

/* "gpu" for nvidia.com/gpu */
export const shortType = resource => {
	const last = resource.slice(resource.lastIndexOf("/") + 1);
	return last === "nvidia" || !last ? resource : last;
};
export const typeTitle = resource => ({cpu: "CPU", memory: "Memory", pods: "Pods", "ephemeral-storage": "Storage"})[resource] ||
	(/gpu$/i.test(resource) ? "GPU" : shortType(resource));

/* "GPU", or the whole name where two would be called the same. */
export const titleIn = (all, r) => all.filter(o => typeTitle(o) === typeTitle(r)).length > 1 ? r : typeTitle(r);

/* What a pod asks for, in one line: "8 GPU, 24 CPU, 200Gi memory". */
export function requests(pod) {
	const all = Object.keys(pod.requests || {}).filter(r => r !== "pods"), unit = r => isBytes(r) ? titleIn(all, r).toLowerCase() : titleIn(all, r);
	return all.map(r => `${amount(r, quantity(pod.requests[r]))}\u00a0${unit(r)}`).join(", ");
}

/* "Insufficient cpu, Insufficient memory" says one word twice. */
export const shortReason = text => (text || "").replace(/(, |; |^)Insufficient [^,;]+(, Insufficient [^,;]+)+/g, (all, before) => before + "Insufficient " + all.slice(before.length + 13).replaceAll(", Insufficient ", ", "));

/* ---- times ---- */

const pad = n => String(n).padStart(2, "0");

/* Seconds in the two largest units, as cede writes durations. */
export function span(seconds) {
	if (seconds === null || seconds === undefined || !Number.isFinite(seconds))
		return NONE;
	const sign = seconds < 0 ? "−" : "", a = Math.abs(seconds);
	if (a > 0 && a < 1)
		return sign + (a < 0.001 ? num(a * 1e6, 0) + " µs" : num(a * 1000, a < 0.01 ? 1 : 0) + " ms");
	if (a < 10 && a !== Math.round(a))
		return sign + num(a, 1) + "s";
	const s = Math.round(a), units = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
	const i = Math.max(0, units.findIndex(u => s >= u[1]));
	if (s === 0)
		return "0s";
	const rest = i < 3 ? Math.floor((s % units[i][1]) / units[i + 1][1]) : 0;
	return sign + num(Math.floor(s / units[i][1])) + units[i][0] + (rest ? rest + units[i + 1][0] : "");
}

export const timeOf = text => text ? Date.parse(text) / 1000 : NaN; /* RFC 3339 to seconds */
export const iso = t => new Date(t * 1000).toISOString().replace(/\.\d+Z$/, "Z");

/* "2026-11-15 12:00:07" in UTC, as the server's logs have it. */
export function when(t, withSeconds = true) {
	if (!Number.isFinite(t))
		return NONE;
	const d = new Date(t * 1000);
	return `${d.getUTCFullYear()}-${pad(d.getUTCMonth() + 1)}-${pad(d.getUTCDate())} ${pad(d.getUTCHours())}:${pad(d.getUTCMinutes())}` +
		(withSeconds ? ":" + pad(d.getUTCSeconds()) : "");
}

export function clock(t) {
	const d = new Date(t * 1000);
	return `${pad(d.getUTCHours())}:${pad(d.getUTCMinutes())}:${pad(d.getUTCSeconds())}`;
}

/* Relative to the time of the cluster that is shown, which may stand still. */
export const ago = (t, now) => Number.isFinite(t) ? (now - t < 1 ? "just now" : span(Math.round(now - t)) + " ago") : NONE;
export const until = (t, now) => Number.isFinite(t) ? (t <= now ? "over" : "for " + span(Math.round(t - now)) + " more") : NONE;
