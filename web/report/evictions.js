/* Who had to go, for whom, by which rule: the timeline, one eviction in full, chains, and who displaced whom. */

const EVICTION = ["at", "pod", "queue", "node", "forPod", "forQueue", "action", "rule", "lost", "nth", "decision", "why", "job", "forJob"];
const WORDS = new Set(["pod", "queue", "node", "forPod", "forQueue", "action", "rule", "why", "job", "forJob"]);

/* Rows of numbers, of which those of words point into a list. */
function unpackEvictions(data) {
	data.evictions.list = data.evictions.rows.map((row, i) => {
		const e = {id: i};
		EVICTION.forEach((k, c) => { e[k] = WORDS.has(k) ? data.evictions.words[row[c]] : row[c]; });
		return e;
	});
	const byVictim = new Map(), byPreemptor = new Map();
	for (const e of data.evictions.list) {
		if (!byVictim.has(e.job)) byVictim.set(e.job, []);
		byVictim.get(e.job).push(e);
		if (e.forJob) {
			if (!byPreemptor.has(e.forJob)) byPreemptor.set(e.forJob, []);
			byPreemptor.get(e.forJob).push(e);
		}
	}
	data.evictions.byVictim = byVictim;
	data.evictions.byPreemptor = byPreemptor;
}

/*
 * Backward: whoever it made room for had been displaced itself before. Forward: once back, the victim displaced
 * somebody.
 */
function chainOf(data, e) {
	const chain = [e], seen = new Set([e.id]), MOST = 12;
	for (let x = e; chain.length < MOST;) {
		const before = (data.evictions.byVictim.get(x.forJob) || []).filter(v => v.at <= x.at && !seen.has(v.id));
		if (!before.length) break;
		x = before[before.length - 1];
		seen.add(x.id);
		chain.unshift(x);
	}
	for (let x = e; chain.length < MOST;) {
		const after = (data.evictions.byPreemptor.get(x.job) || []).find(v => v.at >= x.at && !seen.has(v.id));
		if (!after) break;
		x = after;
		seen.add(x.id);
		chain.push(x);
	}
	return chain;
}

function evictionDetail(data, e) {
	const row = (name, value) => value !== "" && value !== undefined && [el("dt", {}, name), el("dd", {}, value)];
	const chain = chainOf(data, e);
	return el("div", {class: "detail"}, el("h3", {}, `${e.pod} had to go`),
		el("p", {}, e.why ? `${e.action}: ${e.why}` : e.action),
		el("dl", {}, row("when", when(e.at, true)), row("from", [e.queue, e.node ? `, on ${e.node}` : ""].join("")),
			row("made room for", e.forPod && `${e.forPod} of ${e.forQueue}`), row("by", e.action), row("overriding", e.rule),
			row("work lost", span(e.lost)), row("how often", e.nth > 1 ? `for the ${e.nth}. time` : "for the first time"), row("decision", num(e.decision))),
		chain.length > 1 && [el("h3", {}, `A chain of ${chain.length}`),
			el("ol", {class: "chain"}, chain.map(c => el("li", {class: c === e ? "here" : null}, `${when(c.at)} ${c.forPod || c.action} displaced ${c.pod} (${c.forQueue || "–"} → ${c.queue}, ${span(c.lost)} lost)`)))]);
}

function drawEvictions(data) {
	unpackEvictions(data);
	const all = data.evictions.list, detail = el("div", {"aria-live": "polite"}), picker = el("select", {"aria-label": "Show evictions by"});
	if (!data.totals.evictions) {
		section("evictions", "Evictions", "Nobody had to go.");
		return;
	}
	let shown = all, chosen = null, redraw = () => {};
	const choose = e => {
		chosen = e;
		detail.replaceChildren(evictionDetail(data, e));
		redraw();
	};
	const actions = [...new Set(all.map(e => e.action))].sort();
	add(picker, ["all actions", ...actions].map(a => el("option", {value: a}, a)));
	picker.addEventListener("change", () => {
		shown = picker.value === "all actions" ? all : all.filter(e => e.action === picker.value);
		redraw();
	});
	const box = el("figure");
	const lanes = data.order.filter(q => data.queues[q].evictions > 0);
	const draw = width => {
		const left = Math.min(190, Math.max(74, width * 0.2)), top = 6, row = lanes.length > 14 ? 20 : 30, h = lanes.length * row, w = width - left - 8;
		const root = svg("svg", {viewBox: `0 0 ${width} ${top + h + 24}`, role: "img", tabindex: 0,
			"aria-label": `${num(data.totals.evictions)} evictions on a timeline, a lane for each queue that lost pods. Arrow keys go from one to the next; the table below has the same.`});
		const x = t => left + (t - data.start) / (data.end - data.start || 1) * w, most = Math.max(1, ...lanes.map(q => Math.max(...data.series[q].evictions)));
		axes(root, {left, top, w, h, yTop: 1, yStep: 2, yText: () => "", from: data.start, to: data.end});
		lanes.forEach((q, k) => {
			const y = top + k * row, name = data.queues[q].queue, room = Math.floor((left - 8) / 6.4);
			root.append(svg("line", {class: "grid-line", x1: left, x2: left + w, y1: y, y2: y}),
				svg("text", {class: "name", x: left - 8, y: y + row / 2 + 4, "text-anchor": "end"}, name.length > room ? "…" + name.slice(name.length - room + 1) : name, svg("title", {}, name)));
			let d = "";
			const heat = new Map();
			data.series[q].evictions.forEach((n, i) => {
				if (!n) return;
				const level = Math.ceil(n / most * 6);
				heat.set(level, (heat.get(level) || "") + `M${x(data.start + i * data.step).toFixed(1)},${y + 2}h${Math.max(0.8, data.step / (data.end - data.start) * w).toFixed(1)}v${row - 4}h-${Math.max(0.8, data.step / (data.end - data.start) * w).toFixed(1)}z`);
			});
			for (const [level, path] of heat) root.append(svg("path", {d: path, fill: "var(--faint)", "fill-opacity": 0.06 + level * 0.05}));
		});
		const lane = new Map(lanes.map((q, k) => [data.queues[q].queue, k])), biggest = Math.max(1, ...all.map(e => e.lost)), dots = [];
		/* Large ones first, so that small ones stay visible and can be hit. */
		for (const e of [...shown].sort((a, b) => b.lost - a.lost || a.id - b.id)) {
			const r = 2.4 + Math.sqrt(e.lost / biggest) * Math.min(9, row / 2 - 3), cy = top + (lane.get(e.queue) + 0.5) * row;
			const c = svg("circle", {class: "dot" + (e === chosen ? " chosen" : ""), cx: x(e.at).toFixed(1), cy, r: r.toFixed(1), fill: queueColor(data, e.forQueue), "fill-opacity": 0.72});
			c.__e = e;
			dots.push(c);
		}
		const marks = svg("g", {}, dots);
		root.append(marks);
		marks.addEventListener("pointerover", ev => { const e = ev.target.__e; if (e) showTip(ev.clientX, ev.clientY, evictionTip(data, e)); });
		marks.addEventListener("pointerout", hideTip);
		marks.addEventListener("click", ev => { if (ev.target.__e) choose(ev.target.__e); });
		root.addEventListener("keydown", ev => {
			const move = {ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10}[ev.key];
			if (move === undefined || !shown.length) return;
			ev.preventDefault();
			const at = shown.indexOf(chosen);
			choose(shown[at < 0 ? 0 : Math.max(0, Math.min(shown.length - 1, at + move))]);
			box.querySelector("svg").focus();
		});
		box.replaceChildren(root);
	};
	redraw = () => { if (box.clientWidth) draw(Math.round(box.clientWidth)); };
	responsive(box, draw);
	const cut = data.evictions.total > all.length ? ` Of ${num(data.evictions.total)} the ${num(all.length)} that lost most work are drawn; the grey bands and all sums count every one.` : "";
	const displacers = [...new Set(all.map(e => e.forQueue))].filter(Boolean);
	const named = displacers.filter(q => data.colorOf[q] && data.colorOf[q] !== color(COLORS));
	section("evictions", "Evictions", `A lane for each queue that lost pods; the colour says for which queue they made room, the size how much work was lost.${cut}`,
		el("div", {class: "controls"}, el("label", {}, "Show ", picker)), box,
		legend([...named.map(q => ({name: "for " + q, color: queueColor(data, q)})), displacers.length > named.length && {name: "for other queues", color: color(COLORS)}].filter(Boolean)), detail,
		tableBehind("Table", () => table("Evictions", [
			{title: "when (UTC)", text: true, get: e => e.at, show: e => when(e.at, true)},
			{title: "pod", text: true, get: e => e.pod}, {title: "queue", text: true, get: e => e.queue},
			{title: "made room for", text: true, get: e => e.forPod}, {title: "of", text: true, get: e => e.forQueue},
			{title: "action", text: true, get: e => e.action}, {title: "rule overridden", text: true, get: e => e.rule},
			{title: "lost", get: e => e.lost, show: e => span(e.lost)}, {title: "nth", get: e => e.nth}, {title: "why", text: true, long: true, get: e => e.why},
		], all, {pick: choose, most: 2000})));
}

function evictionTip(data, e) {
	return [el("b", {}, e.pod), el("div", {}, `${when(e.at, true)}, ${e.queue}`), e.forPod && el("div", {}, `for ${e.forPod} (${e.forQueue})`),
		el("div", {}, e.why ? `${e.action}: ${e.why}` : e.action), el("div", {}, `${span(e.lost)} lost${e.nth > 1 ? `, ${e.nth}. time` : ""}`)];
}

/* ---- who displaced whom ---- */

function longestChains(data) {
	const best = new Map();
	for (const e of data.evictions.list) {
		const chain = chainOf(data, e), key = chain[0].id;
		if (chain.length > 1 && (!best.has(key) || best.get(key).length < chain.length)) best.set(key, chain);
	}
	return [...best.values()].sort((a, b) => b.length - a.length || a[0].id - b[0].id).slice(0, 8);
}

function drawFlows(data) {
	if (!data.flows || !data.flows.length) return;
	const from = [...new Set(data.flows.map(f => f.from))].sort(), to = [...new Set(data.flows.map(f => f.to))].sort();
	const at = new Map(data.flows.map(f => [f.from + "\n" + f.to, f])), most = Math.max(...data.flows.map(f => f.evictions));
	const MANY = 24, head = el("tr", {}, el("th", {scope: "col", class: "text"}, "made room for ↓, lost pods →"), to.slice(0, MANY).map(t => el("th", {scope: "col"}, t)));
	const body = from.slice(0, MANY).map(f => el("tr", {}, el("th", {scope: "row", class: "text"}, f || "(nobody: quota, stale gangs)"), to.slice(0, MANY).map(t => {
		const x = at.get(f + "\n" + t), td = el("td", {class: "heat", title: x ? `${span(x.lostSeconds)} of work lost` : null}, x ? num(x.evictions) : "");
		if (x) td.style.background = `color-mix(in srgb, ${queueColor(data, f)} ${Math.round(8 + 34 * x.evictions / most)}%, transparent)`;
		return td;
	})));
	const chains = longestChains(data);
	section("flows", "Who displaced whom", "Evictions between queues, and pods that were displaced and, once back, displaced others.",
		el("div", {class: "scroll tall", tabindex: 0, role: "region", "aria-label": "Evictions between queues"}, el("table", {}, el("caption", {}, "How many pods of each queue made room for which queue"), el("thead", {}, head), el("tbody", {}, body))),
		chains.length > 0 && [el("h3", {}, "Longest chains"), chains.map(chain => el("details", {}, el("summary", {}, `${chain.length} in a row: ${chain[0].forPod || chain[0].action} → ${chain.map(c => c.pod).join(" → ")}`),
			el("ol", {class: "chain"}, chain.map(c => el("li", {}, `${when(c.at)} ${c.forPod || c.action} displaced ${c.pod} (${c.forQueue || "–"} → ${c.queue}, ${span(c.lost)} lost)`)))))],
		tableBehind("Table", () => table("Evictions between queues", [
			{title: "made room for", text: true, get: f => f.from || "(nobody)"}, {title: "lost pods", text: true, get: f => f.to},
			{title: "evictions", get: f => f.evictions, show: f => num(f.evictions)}, {title: "work lost", get: f => f.lostSeconds, show: f => podTime(f.lostSeconds)},
		], data.flows)));
}
