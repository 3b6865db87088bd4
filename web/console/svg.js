/* Bars and lines. Every picture has a sentence for who cannot see it; the numbers stand in a table or beside it. */
import {el, hideTip, showTip, svg} from "./dom.js";
import {clock, when} from "./format.js";
import {tableBehind} from "./parts.js";

let lastId = 0;

/* Hatched: more than one is entitled to. Patterns are found by id, and ids are unique in a page. */
function hatch() {
	const id = `hatch-${++lastId}`;
	return [id, svg("pattern", {id, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
		svg("rect", {width: 5, height: 5, class: "hatch-ground"}), svg("rect", {width: 2, height: 5, class: "hatch-line"}))];
}

/*
 * What a queue uses of a resource, and what it is entitled to, on one scale: used is solid, what is beyond the guarantee
 * hatched, what waits for room a dashed frame; guaranteed a line with a foot, fair share a line with a diamond, the
 * maximum a thick end. amounts: {used, guaranteed, fair, max, wanted, all} as numbers; max may be Infinity, all is where
 * the ground ends (the whole scale where it is left out).
 */
export function entitlementBar(amounts, scale, sentence) {
	const H = 22, TOP = 5, BAR = 12;
	const at = v => Math.max(0, Math.min(1, scale > 0 ? v / scale : 0)) * 100, pc = v => v.toFixed(2) + "%";
	const own = amounts.guaranteed > 0 ? Math.min(amounts.used, amounts.guaranteed) : amounts.used;
	const [id, pattern] = hatch(), parts = [];
	const part = (cls, from, to, more) => svg("rect", {class: cls, x: pc(at(from)), y: TOP, width: pc(Math.max(0.4, at(to) - at(from))), height: BAR, ...more});
	const mark = (cls, v, ...shapes) => svg("svg", {x: pc(Math.min(at(v), 99.6)), overflow: "visible", class: cls, "aria-hidden": "true"}, shapes);
	parts.push(svg("rect", {class: "track", x: 0, y: TOP, width: pc(amounts.all > 0 ? at(amounts.all) : 100), height: BAR, rx: 2}));
	if (own > 0)
		parts.push(part("used", 0, own));
	if (amounts.used > own)
		parts.push(pattern, part("over", own, amounts.used, {fill: `url(#${id})`}));
	if (amounts.wanted > 0)
		parts.push(part("wanted", amounts.used, amounts.used + amounts.wanted, {y: TOP + 1, height: BAR - 2}));
	if (amounts.fair >= 0)
		parts.push(mark("fair", amounts.fair, svg("path", {d: `M0 ${TOP - 1}V${TOP + BAR + 1}`}), svg("path", {class: "solid", d: "M0 0l3 3-3 3-3-3z"})));
	if (amounts.guaranteed > 0 && amounts.guaranteed !== Infinity)
		parts.push(mark("guaranteed", amounts.guaranteed, svg("path", {d: `M0 ${TOP - 2}V${TOP + BAR + 2}`}), svg("path", {class: "solid", d: `M-4 ${H}h8l-4-6z`})));
	if (amounts.max !== Infinity && amounts.max >= 0)
		parts.push(mark("max", amounts.max, svg("path", {d: `M0 ${TOP - 2}V${TOP + BAR + 2}`})));
	return svg("svg", {class: "entitlement", width: "100%", height: H, role: "img", "aria-label": sentence}, parts);
}

/* One of the marks above, for a legend. */
export function entitlementKey(kind) {
	const [id, pattern] = hatch();
	const shapes = {
		used: () => svg("rect", {class: "used", x: 1, y: 3, width: 18, height: 10}),
		over: () => [pattern, svg("rect", {fill: `url(#${id})`, class: "over", x: 1, y: 3, width: 18, height: 10})],
		wanted: () => svg("rect", {class: "wanted", x: 1.5, y: 3.5, width: 17, height: 9}),
		guaranteed: () => svg("g", {class: "guaranteed", transform: "translate(10 0)"}, svg("path", {d: "M0 0V12"}), svg("path", {class: "solid", d: "M-3.5 16h7l-3.5-5z"})),
		fair: () => svg("g", {class: "fair", transform: "translate(10 0)"}, svg("path", {d: "M0 0V16"}), svg("path", {class: "solid", d: "M0 0l3 3-3 3-3-3z"})),
		max: () => svg("g", {class: "max", transform: "translate(10 0)"}, svg("path", {d: "M0 1V15"})),
	};
	return svg("svg", {class: "entitlement-key", width: 20, height: 16, viewBox: "0 0 20 16", "aria-hidden": "true"}, shapes[kind]());
}

/* A share of a whole, with nothing else: {part} from 0 to 1. */
export function shareBar(part, sentence) {
	const w = Math.max(0, Math.min(1, part || 0)) * 100;
	return svg("svg", {class: "share", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": sentence},
		svg("rect", {class: "track", x: 0, y: 0, width: 100, height: 8}), svg("rect", {class: "used", x: 0, y: 0, width: w.toFixed(2), height: 8}));
}

/* ---- lines over time ---- */

const STEPS = [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800, 2592000];

function timeTicks(from, to, most) {
	const step = STEPS.find(s => (to - from) / s <= most) || (to - from) / most, ticks = [];
	for (let t = Math.ceil(from / step) * step; t <= to && ticks.length < 50; t += step)
		ticks.push(t);
	return {step, ticks};
}

function niceTop(max) {
	if (!(max > 0))
		return {top: 1, step: 1};
	const raw = max / 4, power = 10 ** Math.floor(Math.log10(raw));
	const step = [1, 2, 2.5, 5, 10].map(m => m * power).find(s => s >= raw - 1e-12);
	return {top: Math.ceil(max / step - 1e-9) * step, step};
}

const tickText = (t, step) => step >= 86400 ? when(t, false).slice(5, 10) : clock(t).slice(0, step < 60 ? 8 : 5);

/* Where a value stays until the next: steps, not slopes. */
function stepPath(times, values, x, y) {
	let d = "", wasThere = false;
	for (let i = 0; i < times.length; i++) {
		const v = values[i];
		if (v === null || v === undefined || !Number.isFinite(v)) {
			wasThere = false;
			continue;
		}
		d += wasThere ? `H${x(times[i]).toFixed(1)}V${y(v).toFixed(1)}` : `M${x(times[i]).toFixed(1)} ${y(v).toFixed(1)}`;
		wasThere = true;
	}
	return d;
}

/*
 * series: [{name, values, cls: "line0" …, dashed}], times in seconds. text: how a value is written. Arrow keys and the mouse read
 * values; the last point goes on to the right edge.
 */
export function timeChart(key, sentence, times, series, text) {
	const W = 720, H = 220, L = 58, R = 12, T = 10, B = 26;
	const from = times[0], to = Math.max(times[times.length - 1], from + 1);
	const {top, step} = niceTop(Math.max(...series.flatMap(s => s.values.filter(v => Number.isFinite(v))), 0));
	const x = t => L + (t - from) / (to - from) * (W - L - R), y = v => T + (1 - v / top) * (H - T - B);
	const parts = [];
	for (let v = 0; v <= top + step / 2; v += step)
		parts.push(svg("path", {class: "grid", d: `M${L} ${y(v).toFixed(1)}H${W - R}`}), svg("text", {x: L - 7, y: y(v) + 4, "text-anchor": "end"}, text(v)));
	const {step: timeStep, ticks} = timeTicks(from, to, 7);
	for (const t of ticks)
		parts.push(svg("text", {x: x(t), y: H - 8, "text-anchor": "middle"}, tickText(t, timeStep)));
	for (const s of series)
		parts.push(svg("path", {class: "line " + s.cls, d: stepPath(times, s.values, x, y)}));
	const cross = svg("path", {class: "cross", d: ""});
	parts.push(cross);
	const said = el("p", {class: "reading", "aria-live": "polite"});
	let at = times.length - 1;
	const read = i => {
		at = Math.max(0, Math.min(times.length - 1, i));
		cross.setAttribute("d", `M${x(times[at]).toFixed(1)} ${T}V${H - B}`);
		said.replaceChildren(`${when(times[at])}: ` + series.map(s => `${s.name} ${Number.isFinite(s.values[at]) ? text(s.values[at]) : "–"}`).join(", "));
	};
	const onKey = ev => {
		const move = {ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity}[ev.key];
		if (move === undefined)
			return;
		ev.preventDefault();
		read(at + move);
	};
	const onMove = ev => {
		const box = picture.getBoundingClientRect(), t = from + ((ev.clientX - box.left) / box.width * W - L) / (W - L - R) * (to - from);
		let best = 0;
		for (let i = 1; i < times.length; i++)
			if (Math.abs(times[i] - t) < Math.abs(times[best] - t))
				best = i;
		read(best);
		showTip(ev.clientX, ev.clientY, el("b", {}, when(times[best])), series.map(s => el("div", {class: "tip-row"}, el("span", {class: "key " + s.cls}), s.name, el("span", {}, text(s.values[best])))));
	};
	const picture = svg("svg", {class: "chart", viewBox: `0 0 ${W} ${H}`, role: "img", tabindex: "0", "data-key": key, "aria-label": sentence, onkeydown: onKey, onmousemove: onMove, onmouseleave: hideTip}, parts);
	return el("figure", {}, picture, el("ul", {class: "legend"}, series.map(s => el("li", {}, el("span", {class: "key " + s.cls, "aria-hidden": "true"}), s.name))), said,
		tableBehind(key + "-table", sentence, [{title: "Time (UTC)", text: true, show: i => when(times[i])}, ...series.map(s => ({title: s.name, show: i => Number.isFinite(s.values[i]) ? text(s.values[i]) : "–"}))],
			times.map((_, i) => i).reverse()));
}
