"use strict";
/* Helpers. Everything that comes from a cluster is text: nodes are made one by one, and no markup is ever parsed. */

const NS = "http://www.w3.org/2000/svg";
const COLORS = 8; /* and one more for all others */

function add(parent, children) {
	for (const c of children.flat(Infinity))
		if (c !== null && c !== undefined && c !== false)
			parent.append(c.nodeType ? c : document.createTextNode(String(c)));
	return parent;
}

function set(node, attrs) {
	for (const [k, v] of Object.entries(attrs || {})) {
		if (v === null || v === undefined || v === false) continue;
		if (k.startsWith("on")) node.addEventListener(k.slice(2), v);
		else if (k === "color") node.style.background = v;
		else node.setAttribute(k, v === true ? "" : v);
	}
	return node;
}

const el = (tag, attrs, ...children) => add(set(document.createElement(tag), attrs), children);
const svg = (tag, attrs, ...children) => add(set(document.createElementNS(NS, tag), attrs), children);
const color = i => `var(--c${i < 0 || i > COLORS ? COLORS : i})`;

/* ---- numbers and times ---- */

function num(v, digits) {
	if (v === null || v === undefined || !isFinite(v)) return "–";
	const a = Math.abs(v);
	const d = digits !== undefined ? digits : a >= 100 || Number.isInteger(v) ? 0 : a >= 10 ? 1 : 2;
	return v.toLocaleString("en-US", {minimumFractionDigits: digits || 0, maximumFractionDigits: d});
}

const percent = v => v === null || v === undefined ? "–" : num(v * 100, (v > 0 && v < 0.1) || (v >= 0.9 && v < 1) ? 1 : 0) + " %";

/* Two largest units, as cede writes durations. */
function span(seconds) {
	if (seconds === null || seconds === undefined || !isFinite(seconds)) return "–";
	const sign = seconds < 0 ? "−" : "";
	let s = Math.round(Math.abs(seconds));
	if (Math.abs(seconds) < 10 && s !== Math.abs(seconds)) return sign + num(Math.abs(seconds), 1) + "s";
	const units = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
	for (let i = 0; i < units.length; i++) {
		if (s < units[i][1] && i < 3) continue;
		const big = Math.floor(s / units[i][1]), rest = i < 3 ? Math.floor((s % units[i][1]) / units[i + 1][1]) : 0;
		return sign + num(big) + units[i][0] + (rest ? rest + units[i + 1][0] : "");
	}
	return "0s";
}

/* Pod-time in hours. */
const podTime = s => num(s / 3600, Math.abs(s) < 36000 ? 1 : 0) + " h";

const pad = n => String(n).padStart(2, "0");
function when(t, withSeconds) {
	const d = new Date(t * 1000);
	return `${d.getUTCFullYear()}-${pad(d.getUTCMonth() + 1)}-${pad(d.getUTCDate())} ${pad(d.getUTCHours())}:` +
		pad(d.getUTCMinutes()) + (withSeconds ? ":" + pad(d.getUTCSeconds()) : "");
}

function shortTime(t, step) {
	const d = new Date(t * 1000), months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
	const day = `${d.getUTCDate()} ${months[d.getUTCMonth()]}`;
	if (step >= 86400) return day;
	const clock = `${pad(d.getUTCHours())}:${pad(d.getUTCMinutes())}` + (step < 60 ? ":" + pad(d.getUTCSeconds()) : "");
	return t % 86400 === 0 ? day : clock;
}

/* ---- scales ---- */

const TIME_STEPS = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600, 2592000, 5184000, 7776000];

function timeTicks(from, to, room) {
	const most = Math.max(2, Math.floor(room / 78));
	const step = TIME_STEPS.find(s => (to - from) / s <= most) || (to - from) / most;
	const ticks = [];
	for (let t = Math.ceil(from / step) * step; t <= to; t += step) ticks.push(t);
	return {step, ticks};
}

function niceTop(max, ticks) {
	if (!(max > 0)) return {top: 1, step: 1};
	const raw = max / ticks, power = Math.pow(10, Math.floor(Math.log10(raw)));
	const step = [1, 2, 2.5, 5, 10].map(m => m * power).find(s => s >= raw - 1e-12);
	return {top: Math.ceil(max / step - 1e-9) * step, step};
}

/* The same for seconds: steps that clocks have. */
function niceTime(max, ticks) {
	if (!(max > 0)) return {top: 1, step: 1};
	const step = [...TIME_STEPS, 7776000 * 4].find(s => max / s <= ticks) || niceTop(max, ticks).step;
	return max < ticks ? niceTop(max, ticks) : {top: Math.ceil(max / step - 1e-9) * step, step};
}

/* ---- tooltips ---- */

const tip = () => document.getElementById("tip");

function showTip(x, y, ...children) {
	const t = tip();
	t.replaceChildren();
	add(t, children);
	t.hidden = false;
	const w = t.offsetWidth, h = t.offsetHeight;
	t.style.left = Math.max(4, x + 16 + w > innerWidth ? x - w - 12 : x + 16) + "px";
	t.style.top = Math.max(4, Math.min(y - 10, innerHeight - h - 6)) + "px";
}

function hideTip() {
	tip().hidden = true;
}

const tipRow = (c, name, value) => el("div", {class: "row"}, c && el("span", {class: "key", color: c}), el("span", {}, name), el("span", {}, value));

/* ---- tables ---- */

/*
 * columns: {title, text: true for words, get: row -> value to sort by, show: row -> what is written, long}. Titles sort.
 */
function table(caption, columns, rows, options = {}) {
	const body = el("tbody"), heads = [];
	let sorted = -1, down = true;
	const cell = (c, row, i) => {
		const shown = c.show ? c.show(row) : c.get(row), cls = [c.text && "text", c.long && "long", c.tone && c.tone(row)].filter(Boolean).join(" ");
		return el(i === 0 ? "th" : "td", {class: cls || null, scope: i === 0 ? "row" : null}, shown);
	};
	const fill = list => {
		body.replaceChildren();
		for (const row of list.slice(0, options.most || 1000)) {
			const tr = el("tr", {class: options.rowClass && options.rowClass(row)}, columns.map((c, i) => cell(c, row, i)));
			if (options.pick) {
				tr.classList.add("pick");
				tr.tabIndex = 0;
				tr.addEventListener("click", () => options.pick(row));
				tr.addEventListener("keydown", ev => { if (ev.key === "Enter") options.pick(row); });
			}
			body.append(tr);
		}
	};
	const sortBy = i => {
		down = sorted === i ? !down : !columns[i].text;
		sorted = i;
		const last = rows.filter(r => r.isTotal), list = rows.filter(r => !r.isTotal);
		const key = columns[i].get;
		list.sort((a, b) => {
			const x = key(a), y = key(b), order = typeof x === "string" ? (x < y ? -1 : x > y ? 1 : 0) : (x ?? -Infinity) - (y ?? -Infinity);
			return down ? -order : order;
		});
		heads.forEach((h, k) => h.setAttribute("aria-sort", k === i ? (down ? "descending" : "ascending") : "none"));
		fill(list.concat(last));
	};
	const head = el("tr", {}, columns.map((c, i) => {
		const th = el("th", {scope: "col", class: c.text ? "text" : null}, el("button", {type: "button", onclick: () => sortBy(i)}, c.title));
		heads.push(th);
		return th;
	}));
	fill(rows);
	const note = rows.length > (options.most || 1000) ? ` (the first ${num(options.most || 1000)} of ${num(rows.length)})` : "";
	return el("div", {class: "scroll" + (options.tall ? " tall" : ""), tabindex: 0, role: "region", "aria-label": caption},
		el("table", {}, el("caption", {}, caption + note), el("thead", {}, head), body));
}

/* The table behind a chart, made when somebody opens it. */
function tableBehind(title, make) {
	const d = el("details", {}, el("summary", {}, title));
	d.addEventListener("toggle", () => { if (d.open && d.childNodes.length === 1) d.append(make()); }, {once: false});
	return d;
}

/* Where a report is drawn: the page it stands in alone, or a part of another. */
let places = {};
const placeOf = id => places[id] || document.getElementById(id);

/* places: {main, contents}, elements of a page that shows reports among other things. */
function drawReportInto(data, into) {
	places = into || {};
	({Simulation: drawSimulation, Comparison: drawComparison, Advice: drawAdvice})[data.kind](data);
	drawCharts();
}

function section(id, title, say, ...children) {
	const s = el("section", {id, "aria-labelledby": id + "-title"}, el("h2", {id: id + "-title"}, title), say && el("p", {class: "say"}, say), children);
	placeOf("main").append(s);
	placeOf("contents").append(el("a", {href: "#" + id}, title));
	return s;
}

function legend(items) {
	return el("ul", {class: "legend"}, items.map(i => el("li", {}, el("span", {class: "key" + (i.dashed ? " dashed" : ""), color: i.dashed ? null : i.color}), i.name)));
}
