/* kind Simulation: what came of one load under one configuration. */

/* The largest queues have colours of their own, the same in all charts; the others share one. */
function colorQueues(data) {
	const work = q => q.usefulSeconds + q.lostSeconds;
	const order = data.queues.map((q, i) => i).sort((a, b) => work(data.queues[b]) - work(data.queues[a]) || a - b);
	data.colorOf = {};
	order.forEach((q, place) => { data.colorOf[data.queues[q].queue] = place < COLORS ? color(place) : color(COLORS); });
	data.order = order;
}

const queueColor = (data, path) => data.colorOf[path] || color(COLORS);

function queueSeries(data, get) {
	const rest = new Array(data.steps).fill(0), out = [];
	let nRest = 0;
	data.order.forEach((q, place) => {
		const values = get(data.series[q]) || new Array(data.steps).fill(0);
		if (place < COLORS) out.push({name: data.queues[q].queue, color: color(place), values});
		else {
			nRest++;
			for (let i = 0; i < data.steps; i++) rest[i] += values[i];
		}
	});
	if (nRest) out.push({name: `${nRest} others`, color: color(COLORS), values: rest});
	return out;
}

function seriesTable(data, title, series, text) {
	const rows = Array.from({length: data.steps}, (_, i) => i);
	return table(title, [{title: "from (UTC)", text: true, get: i => data.start + i * data.step, show: i => when(data.start + i * data.step)},
		...series.map(s => ({title: s.name, get: i => s.values[i], show: i => text(s.values[i])}))], rows);
}

function tiles(data) {
	const t = data.totals, lostPart = t.lostSeconds / ((t.lostSeconds + t.usefulSeconds) || 1);
	const tile = (name, value, small) => el("div", {}, el("dt", {}, name), el("dd", {}, value, small && el("small", {}, small)));
	const use = data.types.filter(ty => ty.used > 0).sort((a, b) => b.used - a.used);
	return el("dl", {class: "tiles"},
		tile("Pods", num(t.submitted), `${num(t.finished)} finished, ${num(t.running)} running, ${num(t.waiting)} waiting` + (t.abandoned ? `, ${num(t.abandoned)} abandoned` : "")),
		use.slice(0, 2).map(ty => tile("Used: " + ty.name, percent(t.utilisation[ty.name]), `of ${num(ty.capacity)} on average`)),
		tile("Waiting", span(t.waitSeconds.p50), `median; p95 ${span(t.waitSeconds.p95)}, longest ${span(t.waitSeconds.max)}`),
		t.slowdown && tile("Slowdown", num(t.slowdown.mean, 2), `mean of all its time over run time; p95 ${num(t.slowdown.p95, 2)}`),
		tile("Evictions", num(t.evictions), `${num(t.repeatedEvictions)} of pods evicted before; at most ${num(t.mostEvictions)} of one pod`),
		tile("Lost work", podTime(t.lostSeconds), `${percent(lostPart)} of what was run, in pod-hours`),
		tile("Below guarantee", span(t.belowGuaranteeSeconds), "summed over queues, while they had work waiting"),
		data.fairness !== undefined && tile("Fairness", num(data.fairness, 2), "Jain's index over queues; 1 is even"));
}

function drawUse(data) {
	const types = data.types.map((t, i) => i).filter(i => data.types[i].used > 0).sort((a, b) => data.types[b].used - data.types[a].used);
	if (!types.length) return;
	const holder = el("div"), buttons = [];
	const draw = i => {
		const ty = data.types[i], series = queueSeries(data, s => s.used[ty.name]);
		const room = data.capacity && data.capacity[ty.name];
		const last = room ? {name: "what the nodes have", values: room} : {name: "capacity", value: ty.capacity};
		holder.replaceChildren(
			timeChart({label: `${ty.name} used by each queue over time; the table below has the numbers`, series, limit: last, steps: data.steps, step: data.step, from: data.start, to: data.end, height: 260}),
			legend([...series.map(s => ({name: s.name, color: s.color})), {name: "what the nodes have", dashed: true}]),
			tableBehind("Table", () => seriesTable(data, `${ty.name} used, averages over ${span(data.step)}`, room ? [...series, {name: "what the nodes have", values: room}] : series, num)));
		buttons.forEach((b, k) => b.setAttribute("aria-pressed", String(types[k] === i)));
	};
	for (const i of types) buttons.push(el("button", {type: "button", "aria-pressed": "false", onclick: () => draw(i)}, data.types[i].name));
	section("use", "Use by queue", "What runs, on top of each other, and what the nodes have.", types.length > 1 && el("div", {class: "controls", role: "group", "aria-label": "Resource type"}, buttons), holder);
	draw(types[0]);
}

function drawGuarantees(data) {
	const queues = data.order.filter(q => data.queues[q].guaranteed && Object.keys(data.queues[q].guaranteed).length);
	if (!queues.length) return;
	const grid = el("div", {class: "grid"}), typeOf = q => Object.keys(data.queues[q].guaranteed)[0];
	const usedBy = q => data.series[q].used[typeOf(q)] || new Array(data.steps).fill(0);
	const cell = q => {
		const d = data.queues[q], type = typeOf(q), used = usedBy(q);
		return el("div", {}, el("h3", {}, d.queue),
			el("p", {class: "say"}, `guaranteed ${num(d.guaranteed[type])} ${type}; reached ${percent(d.guaranteeReached)}; below for ${span(d.belowGuaranteeSeconds)}`),
			timeChart({label: `${d.queue}: ${type} used against ${num(d.guaranteed[type])} guaranteed`, height: 84, left: 40, opacity: 0.6,
				series: [{name: "used", color: queueColor(data, d.queue), values: used}], limit: {name: "guaranteed", value: d.guaranteed[type]},
				steps: data.steps, step: data.step, from: data.start, to: data.end}));
	};
	const FIRST = 12;
	queues.slice(0, FIRST).forEach(q => grid.append(cell(q)));
	const more = queues.length > FIRST && el("button", {type: "button", onclick: ev => {
		queues.slice(FIRST).forEach(q => grid.append(cell(q)));
		ev.currentTarget.remove();
	}}, `Show ${queues.length - FIRST} more`);
	section("guarantees", "Guarantees", "What each queue used against its guarantee (dashed). A queue without work may be below it and nobody is wronged.", grid,
		more && el("div", {class: "controls"}, more),
		tableBehind("Table", () => table("Guarantees by queue", [
			{title: "queue", text: true, get: q => data.queues[q].queue},
			{title: "guaranteed", text: true, get: q => Object.entries(data.queues[q].guaranteed).map(([k, v]) => `${num(v)} ${k}`).join(", ")},
			{title: "reached", get: q => data.queues[q].guaranteeReached, show: q => percent(data.queues[q].guaranteeReached)},
			{title: "below, with work waiting", get: q => data.queues[q].belowGuaranteeSeconds, show: q => span(data.queues[q].belowGuaranteeSeconds)},
		], queues)),
		tableBehind("Table over time", () => seriesTable(data, `Used by queues with a guarantee, averages over ${span(data.step)}`,
			queues.map(q => ({name: `${data.queues[q].queue}, ${typeOf(q)}`, values: usedBy(q)})), num)));
}

function drawWaiting(data) {
	const series = queueSeries(data, s => s.waiting);
	const longest = data.waitsLongest;
	const who = longest ? ` In the end ${longest.pod} has waited longest, since ${longest.since}${longest.message ? `: ${longest.message}` : ", and is about to start."}` : "";
	section("waiting", "Waiting work", `Pods that wait for a place, by queue.${who}`,
		timeChart({label: "Waiting pods by queue over time; the table below has the numbers", series, steps: data.steps, step: data.step, from: data.start, to: data.end, height: 200}),
		legend(series.map(s => ({name: s.name, color: s.color}))),
		tableBehind("Table", () => seriesTable(data, `Waiting pods, averages over ${span(data.step)}`, series, num)));
}

function drawLost(data) {
	if (!data.totals.evictions && !data.totals.lostSeconds) return;
	const series = queueSeries(data, s => s.lost.map(v => v / 3600));
	section("lost", "Lost work", "Pod-hours that had been run since the start or the last checkpoint and must be run again, by the queue that lost them.",
		timeChart({label: "Lost work by queue over time, in pod-hours; the table below has the numbers", series, steps: data.steps, step: data.step, from: data.start, to: data.end, height: 170, yText: v => num(v) + " h", text: v => num(v) + " h"}),
		legend(series.map(s => ({name: s.name, color: s.color}))),
		tableBehind("Table", () => seriesTable(data, `Lost pod-hours in each ${span(data.step)}`, series, num)));
}

function drawQueues(data) {
	const cols = [
		{title: "queue", text: true, get: q => q.queue || "all queues"},
		{title: "pods", get: q => q.submitted, show: q => num(q.submitted)},
		{title: "finished", get: q => q.finished, show: q => num(q.finished)},
		{title: "waiting now", get: q => q.waiting, show: q => num(q.waiting)},
		{title: "wait p50", get: q => q.waitSeconds.p50, show: q => span(q.waitSeconds.p50)},
		{title: "p95", get: q => q.waitSeconds.p95, show: q => span(q.waitSeconds.p95)},
		{title: "longest", get: q => q.waitSeconds.max, show: q => span(q.waitSeconds.max)},
		{title: "slowdown", get: q => q.slowdown && q.slowdown.mean, show: q => q.slowdown ? num(q.slowdown.mean, 2) : "–"},
		{title: "evictions", get: q => q.evictions, show: q => num(q.evictions)},
		{title: "repeated", get: q => q.repeatedEvictions, show: q => num(q.repeatedEvictions)},
		{title: "most of one", get: q => q.mostEvictions, show: q => num(q.mostEvictions)},
		{title: "useful", get: q => q.usefulSeconds, show: q => podTime(q.usefulSeconds)},
		{title: "lost", get: q => q.lostSeconds, show: q => podTime(q.lostSeconds)},
		{title: "below guarantee", get: q => q.belowGuaranteeSeconds, show: q => q.guaranteed && Object.keys(q.guaranteed).length || q.isTotal ? span(q.belowGuaranteeSeconds) : "–"},
	];
	section("queues", "All numbers, by queue", "A click on a title sorts.",
		table("By queue", cols, [...data.queues, {...data.totals, queue: "", isTotal: true}], {rowClass: q => q.isTotal ? "total" : null, tall: true}));
}

function drawChecks(data) {
	if (!data.checks || !data.checks.length) return;
	const bad = data.checks.filter(c => !c.ok).length;
	section("checks", "Expectations", bad ? `${bad} of ${data.checks.length} are not met.` : `All ${data.checks.length} are met.`,
		el("ul", {class: "checks"}, data.checks.map(c => el("li", {}, el("span", {class: c.ok ? "better" : "worse"}, c.ok ? "✓ met: " : "✗ not met: "), c.expect, c.found ? ` (${c.found})` : ""))));
}

function drawSimulation(data) {
	colorQueues(data);
	const main = placeOf("main");
	if (data.stopped) main.append(el("p", {class: "warning"}, `This is not all: the simulation was stopped (${data.stopped}) before everything was done.`));
	main.append(tiles(data));
	drawChecks(data);
	drawUse(data);
	drawGuarantees(data);
	drawWaiting(data);
	drawEvictions(data);
	drawLost(data);
	drawFlows(data);
	drawQueues(data);
	drawAssigned(data);
}

function drawAssigned(data) {
	if (!data.notes || !data.notes.length) return;
	section("rules", "What was assigned, and how", "The load does not say everything; this was decided by rule.", el("ul", {}, data.notes.map(n => el("li", {}, n))));
}
