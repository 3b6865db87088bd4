/* kind Advice: what a setting does to a load. */

/* Means joined by a line, whiskers from the smallest to the largest over the seeds; the recommended value is ringed. */
function trendChart(data, f, i) {
	const box = el("figure", {});
	responsive(box, width => {
		const left = 58, right = 12, top = 10, h = 150, bottom = 34, w = width - left - right, n = data.points.length;
		const max = Math.max(...data.points.map(p => p[f.key].max)), scale = f.unit === "seconds" ? niceTime(max, 5) : niceTop(f.unit === "podSeconds" ? max / 3600 : max, 4);
		const unit = f.unit === "podSeconds" ? 3600 : 1, x = k => left + (n > 1 ? (k + 0.5) / n : 0.5) * w, y = v => top + h - v / unit / scale.top * h;
		const root = svg("svg", {viewBox: `0 0 ${width} ${top + h + bottom}`, role: "img", "aria-label": `${f.title}: ${data.points.map(p => `${p.value} ${UNITS[f.unit](p[f.key].mean)}`).join(", ")}`});
		for (let v = 0; v <= scale.top + 1e-9; v += scale.step)
			root.append(svg("line", {class: v === 0 ? "axis" : "grid-line", x1: left, x2: left + w, y1: y(v * unit), y2: y(v * unit)}),
				svg("text", {x: left - 6, y: y(v * unit) + 4, "text-anchor": "end"}, UNITS[f.unit](v * unit)));
		root.append(svg("path", {d: data.points.map((p, k) => `${k ? "L" : "M"}${x(k)},${y(p[f.key].mean)}`).join(""), fill: "none", stroke: color(i), "stroke-width": 2}));
		const every = Math.ceil(n * 48 / w);
		data.points.forEach((p, k) => {
			const s = p[f.key];
			if (s.max > s.min) root.append(svg("path", {d: `M${x(k)},${y(s.min)}V${y(s.max)}M${x(k) - 4},${y(s.min)}h8M${x(k) - 4},${y(s.max)}h8`, stroke: "var(--mark)", fill: "none", "stroke-width": 1.3}));
			if (p.recommended) root.append(svg("circle", {cx: x(k), cy: y(s.mean), r: 9, fill: "none", stroke: "var(--good)", "stroke-width": 2.5}));
			root.append(svg("circle", {cx: x(k), cy: y(s.mean), r: 4.5, fill: p.dominated ? "var(--card)" : color(i), stroke: color(i), "stroke-width": 2}, svg("title", {}, `${p.value}: ${UNITS[f.unit](s.mean)}`)));
			if (k % every === 0) root.append(svg("text", {x: x(k), y: top + h + 17, "text-anchor": "middle"}, p.value.length > 12 ? p.value.slice(0, 11) + "…" : p.value));
		});
		box.replaceChildren(root);
	});
	return box;
}

/* Two figures against each other: the trade. */
function tradeChart(data, fx, fy) {
	const box = el("figure", {});
	responsive(box, width => {
		const left = 66, right = 20, top = 12, h = 280, bottom = 42, w = width - left - right;
		const scaleOf = f => f.unit === "podSeconds" ? 3600 : 1;
		const sx = niceTop(Math.max(...data.points.map(p => p[fx.key].mean)) / scaleOf(fx), Math.max(2, Math.floor(w / 130))), sy = niceTop(Math.max(...data.points.map(p => p[fy.key].mean)) / scaleOf(fy), 4);
		const x = v => left + v / scaleOf(fx) / sx.top * w, y = v => top + h - v / scaleOf(fy) / sy.top * h;
		const root = svg("svg", {viewBox: `0 0 ${width} ${top + h + bottom}`, role: "img", "aria-label": `${fx.title} against ${fy.title}; the table has the numbers`});
		for (let v = 0; v <= sy.top + 1e-9; v += sy.step) root.append(svg("line", {class: v ? "grid-line" : "axis", x1: left, x2: left + w, y1: y(v * scaleOf(fy)), y2: y(v * scaleOf(fy))}), svg("text", {x: left - 6, y: y(v * scaleOf(fy)) + 4, "text-anchor": "end"}, UNITS[fy.unit](v * scaleOf(fy))));
		for (let v = 0; v <= sx.top + 1e-9; v += sx.step) root.append(svg("text", {x: x(v * scaleOf(fx)), y: top + h + 17, "text-anchor": "middle"}, UNITS[fx.unit](v * scaleOf(fx))));
		root.append(svg("text", {class: "name", x: left + w, y: top + h + 35, "text-anchor": "end"}, fx.title + " →"), svg("text", {class: "name", x: left + 6, y: top + 8}, "↑ " + fy.title));
		root.append(svg("path", {d: data.points.map((p, k) => `${k ? "L" : "M"}${x(p[fx.key].mean)},${y(p[fy.key].mean)}`).join(""), fill: "none", stroke: "var(--line)", "stroke-width": 1.5}));
		for (const p of data.points) {
			const cx = x(p[fx.key].mean), cy = y(p[fy.key].mean);
			if (p.recommended) root.append(svg("circle", {cx, cy, r: 10, fill: "none", stroke: "var(--good)", "stroke-width": 2.5}));
			root.append(svg("circle", {cx, cy, r: 5, fill: p.dominated ? "var(--card)" : "var(--accent)", stroke: "var(--accent)", "stroke-width": 2}),
				svg("text", {class: "name", x: cx > left + w - 60 ? cx - 12 : cx + 12, y: cy - 8, "text-anchor": cx > left + w - 60 ? "end" : "start"}, p.value));
		}
		box.replaceChildren(root);
	});
	return box;
}

function drawAdvice(data) {
	const main = placeOf("main");
	main.append(el("p", {class: data.verdict === "given" ? "verdict" : "warning verdict"}, data.sentence));
	const spreadText = (f, s) => UNITS[f.unit](s.mean) + (s.max > s.min ? ` (${UNITS[f.unit](s.min)} to ${UNITS[f.unit](s.max)})` : "");
	section("values", "What each value costs", "Means over the seeds, with the smallest and the largest. Less is better in all four. Dominated: another value is as good in all and better in one.",
		table("Values", [{title: data.setting, text: true, get: p => data.points.indexOf(p), show: p => p.value},
			...data.figures.map(f => ({title: f.title, get: p => p[f.key].mean, show: p => spreadText(f, p[f.key])})),
			{title: "verdict", text: true, get: p => p.recommended ? "recommended" : p.dominated ? "dominated" : ""}], data.points, {tall: true, rowClass: p => p.recommended ? "best" : null}));
	const keys = [{name: "recommended", color: "var(--good)"}, {name: "full: not dominated; hollow: dominated", color: "var(--accent)"}];
	section("trends", "Each figure over the values", "", el("div", {class: "grid"}, data.figures.map((f, i) => el("div", {}, el("h3", {}, f.title), !f.depends && el("p", {class: "say"}, "no difference that holds under every seed"), trendChart(data, f, i)))), legend(keys));
	section("trade", "The trade-off", `${data.figures[0].title} against ${data.figures[1].title}, from value to value.`, tradeChart(data, data.figures[0], data.figures[1]), legend(keys));
	drawAssigned(data);
}
