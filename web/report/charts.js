/* Charts: SVG that is drawn anew when its width changes, with a cross hair for mouse, touch and arrow keys. */

const undrawn = [];

/* Calls draw(width) once the box has its place (drawCharts), and whenever it gets another width. */
function responsive(box, draw) {
	let width = 0;
	const update = () => {
		const w = Math.round(box.clientWidth);
		if (w > 0 && w !== width) {
			width = w;
			draw(w);
		}
	};
	new ResizeObserver(update).observe(box);
	undrawn.push(update);
}

/* At once, not with the next frame: a page that says it is ready, or is printed, has its charts. */
function drawCharts() {
	for (const update of undrawn.splice(0)) update();
}

function axes(root, o) {
	const {left, top, w, h} = o;
	for (let v = 0; v <= o.yTop + 1e-9; v += o.yStep) {
		const y = top + h - v / o.yTop * h;
		root.append(svg("line", {class: v === 0 ? "axis" : "grid-line", x1: left, x2: left + w, y1: y, y2: y}),
			svg("text", {x: left - 6, y: y + 4, "text-anchor": "end"}, o.yText ? o.yText(v) : num(v)));
	}
	const {step, ticks} = timeTicks(o.from, o.to, w);
	for (const t of ticks) {
		const x = left + (t - o.from) / (o.to - o.from || 1) * w;
		root.append(svg("line", {class: "axis", x1: x, x2: x, y1: top + h, y2: top + h + 4}),
			svg("text", {x, y: top + h + 17, "text-anchor": x > left + w - 24 ? "end" : x < left + 16 ? "start" : "middle"}, shortTime(t, step)));
	}
}

/* Steps, not slopes: values are averages over a step. */
function stepPath(values, base, x, y) {
	const n = values.length;
	let d = `M${x(0)},${y(base[0])}`;
	for (let i = 0; i < n; i++) d += `L${x(i)},${y(base[i] + values[i])}L${x(i + 1)},${y(base[i] + values[i])}`;
	for (let i = n - 1; i >= 0; i--) d += `L${x(i + 1)},${y(base[i])}L${x(i)},${y(base[i])}`;
	return d + "Z";
}

function linePath(values, x, y) {
	return values.map((v, i) => `${i ? "L" : "M"}${x(i)},${y(v)}L${x(i + 1)},${y(v)}`).join("");
}

/*
 * One moment after the other: o.steps of them, under the mouse or by arrow keys.
 */
function crossHair(root, o) {
	const line = svg("line", {class: "cross", y1: o.top, y2: o.top + o.h, x1: 0, x2: 0, visibility: "hidden"});
	let at = -1;
	const show = (i, x, y) => {
		at = Math.max(0, Math.min(o.steps - 1, i));
		const px = o.left + (at + 0.5) / o.steps * o.w;
		set(line, {x1: px, x2: px, visibility: "visible"});
		showTip(x, y, o.tip(at));
	};
	const hide = () => {
		line.setAttribute("visibility", "hidden");
		hideTip();
	};
	root.append(line);
	root.addEventListener("pointermove", ev => {
		const box = root.getBoundingClientRect(), x = (ev.clientX - box.left) * (o.width / box.width);
		if (x < o.left || x > o.left + o.w) return hide();
		show(Math.floor((x - o.left) / o.w * o.steps), ev.clientX, ev.clientY);
	});
	root.addEventListener("pointerleave", hide);
	root.addEventListener("blur", hide);
	root.addEventListener("keydown", ev => {
		const move = {ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9}[ev.key];
		if (ev.key === "Escape") return hide();
		if (move === undefined) return;
		ev.preventDefault();
		const box = root.getBoundingClientRect();
		const next = Math.max(0, Math.min(o.steps - 1, at < 0 ? 0 : at + move));
		show(next, box.left + (o.left + (next + 0.5) / o.steps * o.w) * (box.width / o.width), box.top + 20);
	});
}

/*
 * series: [{name, color, values, line}]: areas on top of each other; those with line are drawn as lines instead.
 * limit: {name, value or values}, a dashed line.
 */
function timeChart(o) {
	const box = el("figure", {});
	responsive(box, width => {
		const left = o.left || 46, right = 6, top = 8, bottom = 24, h = o.height || 220, w = width - left - right;
		const steps = o.steps, n = o.series.length;
		const areas = o.series.filter(s => !s.line), lines = o.series.filter(s => s.line);
		const sums = new Array(steps).fill(0);
		for (const s of areas) for (let i = 0; i < steps; i++) sums[i] += s.values[i];
		const limits = o.limit ? (o.limit.values || [o.limit.value]) : [0];
		let max = Math.max(0, ...limits);
		for (const v of sums) if (v > max) max = v;
		for (const s of lines) for (const v of s.values) if (v > max) max = v;
		const scale = niceTop(max, h > 120 ? 5 : 2);
		const root = svg("svg", {viewBox: `0 0 ${width} ${top + h + bottom}`, role: "img", "aria-label": o.label, tabindex: 0});
		axes(root, {left, top, w, h, yTop: scale.top, yStep: scale.step, yText: o.yText, from: o.from, to: o.to});
		const x = i => +(left + i / steps * w).toFixed(1), y = v => +(top + h - v / scale.top * h).toFixed(1);
		const base = new Array(steps).fill(0);
		for (const s of areas) {
			root.append(svg("path", {d: stepPath(s.values, base, x, y), fill: s.color, "fill-opacity": o.opacity || 0.82}));
			for (let i = 0; i < steps; i++) base[i] += s.values[i];
		}
		for (const s of lines) root.append(svg("path", {d: linePath(s.values, x, y), fill: "none", stroke: s.color, "stroke-width": 1.6}));
		if (o.limit) root.append(svg("path", {class: "limit", d: linePath(o.limit.values || new Array(steps).fill(o.limit.value), x, y)}));
		crossHair(root, {left, top, w, h, width, steps, tip: i => tipAt(o, i, n)});
		box.replaceChildren(root);
	});
	return box;
}

function tipAt(o, i) {
	const t0 = o.from + i * o.step, text = o.text || num;
	const rows = o.series.map(s => ({s, v: s.values[i]})).filter(r => r.v > 0 || o.series.length <= 3).sort((a, b) => b.v - a.v);
	return [el("b", {}, `${when(t0)} (${span(o.step)})`), rows.slice(0, 12).map(r => tipRow(r.s.color, r.s.name, text(r.v))),
		rows.length === 0 && el("div", {}, "nothing"), o.limit && tipRow(null, o.limit.name, text(o.limit.values ? o.limit.values[i] : o.limit.value))];
}

/* Bars with whiskers: rows of {name, color, mean, min, max}. */
function barChart(o) {
	const box = el("figure", {});
	responsive(box, width => {
		const left = Math.min(width * 0.42, o.left || 190), right = 74, row = 26, w = width - left - right, h = o.rows.length * row;
		const max = Math.max(...o.rows.map(r => r.max), 0) || 1;
		const x = v => left + Math.max(0, v) / max * w;
		const root = svg("svg", {viewBox: `0 0 ${width} ${h + 6}`, role: "img", "aria-label": o.label});
		o.rows.forEach((r, i) => {
			const y = i * row + 4, shown = r.name.length * 6.6 > left - 10 ? r.name.slice(0, Math.floor((left - 10) / 6.6) - 1) + "…" : r.name;
			root.append(svg("text", {class: "name", x: left - 8, y: y + 13, "text-anchor": "end"}, shown, svg("title", {}, r.name)),
				svg("rect", {x: left, y, width: Math.max(1, x(r.mean) - left), height: 17, rx: 3, fill: r.color, "fill-opacity": 0.85}),
				svg("text", {class: "name", x: x(r.max) + 7, y: y + 13}, o.text(r.mean)));
			if (r.max > r.min)
				root.append(svg("path", {d: `M${x(r.min)},${y + 8.5}H${x(r.max)}M${x(r.min)},${y + 4}v9M${x(r.max)},${y + 4}v9`, stroke: "var(--mark)", "stroke-width": 1.5, fill: "none"}));
		});
		box.replaceChildren(root);
	});
	return box;
}
