/* kind Comparison: several configurations on one load. The first side is what the others are held against. */

const UNITS = {count: v => num(v), seconds: span, podSeconds: podTime, part: percent, index: v => num(v, 3)};

function changed(d, unit) {
	if (d.direction === "same") return "same";
	if (d.direction === "none") return "not comparable";
	const sign = d.by.mean > 0 ? "+" : "−", part = d.was.mean > 0 ? ` (${sign}${num(Math.abs(d.by.mean / d.was.mean) * 100, 0)} %)` : "";
	return sign + UNITS[unit](Math.abs(d.by.mean)) + part;
}

const tone = d => d.direction === "better" || d.direction === "worse" ? d.direction : null;

function drawParts(data) {
	const sides = data.sides.slice(1);
	section("parting", "Where they part", "The first decision that is not the same, and what each of them decided there.",
		sides.map(s => s.firstDifference ? el("div", {}, el("h3", {}, `${data.sides[0].name} and ${s.name}: decision ${num(s.firstDifference.decision)}, ${s.firstDifference.at}`),
			el("blockquote", {}, el("strong", {}, data.sides[0].name + ": "), s.firstDifference.first), el("blockquote", {}, el("strong", {}, s.name + ": "), s.firstDifference.this))
			: el("p", {}, `${data.sides[0].name} and ${s.name} take the same decisions, all of them.`)));
}

function drawFigures(data) {
	const grid = el("div", {class: "grid"});
	for (const f of data.figures) {
		if (data.sides.every(s => s.totals[f.key].is.max === 0)) continue;
		grid.append(el("div", {}, el("h3", {}, f.title), el("p", {class: "say"}, f.better + " is better"),
			barChart({label: `${f.title}: ${data.sides.map(s => `${s.name} ${UNITS[f.unit](s.totals[f.key].is.mean)}`).join(", ")}`, left: 30, text: UNITS[f.unit],
				rows: data.sides.map((s, i) => ({name: s.name, color: color(i), ...s.totals[f.key].is}))})));
	}
	section("totals", "In total", data.seeds > 1 ? "Means over the seeds; the thin lines go from the smallest to the largest." : "One seed.", grid,
		legend(data.sides.map((s, i) => ({name: `${s.name}: ${s.what} (profile ${s.profile})`, color: color(i)}))),
		tableBehind("Table", () => table("In total", [{title: "figure", text: true, get: f => f.title},
			...data.sides.map(s => ({title: s.name, get: f => s.totals[f.key].is.mean, show: f => UNITS[f.unit](s.totals[f.key].is.mean)})),
			...data.sides.slice(1).map(s => ({title: `${s.name} − ${data.sides[0].name}`, get: f => s.totals[f.key].by.mean, show: f => changed(s.totals[f.key], f.unit), tone: f => tone(s.totals[f.key])})),
		], data.figures, {tall: true})));
}

function drawComparedQueues(data) {
	const figures = data.figures.filter(f => f.key in (data.sides[0].queues[0] || {}));
	for (const s of data.sides.slice(1)) {
		section("queues-" + s.name, `${s.name} against ${data.sides[0].name}, by queue`, `${s.what} against ${data.sides[0].what}. Green is better, red is worse under every seed; others are mixed.`,
			table("Change by queue", [{title: "queue", text: true, get: q => q.queue},
				...figures.map(f => ({title: f.title, get: q => q[f.key].by.mean, show: q => changed(q[f.key], f.unit), tone: q => tone(q[f.key])}))], s.queues, {tall: true}));
	}
}

function drawComparison(data) {
	const main = placeOf("main");
	for (const s of data.sides.slice(1)) {
		const of = way => data.figures.filter(f => s.totals[f.key].direction === way).map(f => f.title.replace(",", " "));
		const list = (word, l) => l.length ? `${word} in ${l.join(", ")}` : null;
		const said = [list("better", of("better")), list("worse", of("worse")), list("mixed", of("mixed"))].filter(Boolean).join("; ");
		main.append(el("p", {class: "verdict"}, el("strong", {}, `${s.name} (${s.what})`), ` against ${data.sides[0].name} (${data.sides[0].what}): ${said || "no difference"}.`));
	}
	drawFigures(data);
	drawParts(data);
	drawComparedQueues(data);
	drawAssigned(data);
}
