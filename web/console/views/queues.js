/* The tree of queues: what each uses, is guaranteed, deserves and may use; and one queue with all there is to say of it. */
import {get} from "../api.js";
import {el, swap} from "../dom.js";
import {amount, num, plural, quantity, requests, shortType, span, timeOf, titleIn, when} from "../format.js";
import {address, groupLink, nodeLink, podLink, queueLink, timelineLink} from "../links.js";
import {follow} from "../live.js";
import {stale} from "../notice.js";
import {badge, card, choice, empty, heading, pager, table, tiles} from "../parts.js";
import {amountsOf, badgesOf, lacking, mainResources, reach, resourcesOf, sentenceOf, whatApplies} from "../queue_data.js";
import {entitlementBar, entitlementKey, timeChart} from "../svg.js";

export const title = "Queues";
const PAGE = 50;
const EVENTS = ["decision", "evicted", "cluster", "settings"];

export const render = (root, params, signal) => params.parts.length ? renderOne(root, params, signal) : renderTree(root, params, signal);

/* ---- the tree ---- */

const depthOf = q => q.queue.split(".").length - 1;
const lastName = q => q.queue.slice(q.queue.lastIndexOf(".") + 1);

/* Bars of queues below the same parent have one scale, so that they can be compared; the root's is what there is. */
function scalesOf(queues, resources, capacity) {
	const scales = new Map(resources.map(r => [` ${r}`, quantity((capacity || {})[r])]));
	for (const q of queues)
		for (const r of resources) {
			const key = `${q.parent || ""} ${r}`;
			scales.set(key, Math.max(scales.get(key) || 0, reach(amountsOf(q, r))));
		}
	return (q, r) => scales.get(`${q.parent || ""} ${r}`);
}

function numbers(q, r, capacity) {
	const a = amountsOf(q, r), say = v => amount(r, v), isRoot = !q.parent && capacity && r in capacity;
	const isShort = q.short.includes(r), isOver = q.over.includes(r);
	return el("span", {class: "numbers"}, el("b", {}, say(a.used)), a.guaranteed > 0 && (a.guaranteed === Infinity ? el("span", {class: "say"}, "guaranteed without limit") : el("span", {}, ` of ${say(a.guaranteed)}`)), isRoot && el("span", {class: "say"}, `of ${say(quantity(capacity[r]))} in all`),
		a.max !== Infinity && el("span", {class: "say"}, ` max ${say(a.max)}`),
		isShort && el("span", {class: "flag bad"}, `${say(a.guaranteed - a.used)} short`), isOver && el("span", {class: "flag"}, `${say(a.used - a.guaranteed)} over`));
}

/* The root's track ends where the cluster does: what waits for more stands outside of it. */
function barCell(q, r, scale, capacity) {
	const all = !q.parent && capacity && r in capacity ? quantity(capacity[r]) : undefined;
	return el("div", {class: "bar-cell"}, numbers(q, r, capacity), entitlementBar({...amountsOf(q, r), all}, scale(q, r), sentenceOf(q, r)));
}

/* A queue without used or waiting work below a long list is hidden, unless it is asked for. */
const isIdle = q => !q.pods.running && !q.pods.waiting && !q.pods.leaving && q.queue !== "root";

function legend(hasFair) {
	const items = [["used", "used, within the guarantee or without one"], ["over", "used beyond the guarantee"], ["wanted", "waited for"], ["guaranteed", "guaranteed"],
		hasFair && ["fair", "fair share"], ["max", "maximum"]];
	return el("ul", {class: "legend"}, items.filter(Boolean).map(([k, text]) => el("li", {}, entitlementKey(k), text)));
}

function treeTable(queues, resources, all, capacity, isFolded, fold) {
	const scale = scalesOf(queues, resources, capacity), hasChildren = new Set(queues.map(q => q.parent));
	const folded = q => {
		for (let p = q.parent; p; p = p.includes(".") ? p.slice(0, p.lastIndexOf(".")) : null)
			if (isFolded.has(p))
				return true;
		return false;
	};
	const name = q => el("div", {class: "tree-name", style: {"--depth": depthOf(q)}},
		hasChildren.has(q.queue) ?
			el("button", {type: "button", class: "fold", "data-key": "fold " + q.queue, "aria-expanded": String(!isFolded.has(q.queue)),
				"aria-label": `${isFolded.has(q.queue) ? "Show" : "Hide"} what is below ${q.queue}`, onclick: () => fold(q.queue)}, isFolded.has(q.queue) ? "▸" : "▾") :
			el("span", {class: "fold", "aria-hidden": "true"}),
		el("span", {}, queueLink(q.queue, lastName(q)), el("span", {class: "badges"}, badgesOf(q).map(b => el("span", {class: "chip"}, b)))));
	const columns = [
		{title: "Queue", text: true, show: name},
		{title: "Running", show: q => num(q.pods.running)},
		{title: "Waiting", show: q => q.pods.waiting ? el("b", {}, num(q.pods.waiting)) : num(0)},
		...resources.map(r => ({title: titleIn(all, r), text: true, show: q => barCell(q, r, scale, capacity)})),
	];
	return table("tree", "Queues, what they use and what they are entitled to", columns, queues.filter(q => !folded(q)), {rowClass: q => q.queue === "root" ? "total" : null});
}

async function renderTree(root, params, signal) {
	const isFolded = new Set((params.query.get("fold") || "").split(",").filter(Boolean));
	let list = null, chosen = params.query.get("resource") || "", showsIdle = params.query.get("idle") === "1";
	const keep = () => history.replaceState(null, "", address("queues", [], {resource: chosen, fold: [...isFolded].join(","), idle: showsIdle ? 1 : ""}));
	const draw = () => {
		const all = resourcesOf(list.items), main = mainResources(all), resources = all.includes(chosen) ? [chosen] : main;
		const idle = list.items.filter(isIdle), many = list.items.length > 40, queues = many && !showsIdle ? list.items.filter(q => !isIdle(q)) : list.items;
		const below = new Set(lacking(list.items).map(b => b.queue)).size;
		const pick = v => {
			chosen = v;
			keep();
			draw();
		};
		const fold = q => {
			if (!isFolded.delete(q))
				isFolded.add(q);
			keep();
			draw();
		};
		const idleButton = many && idle.length > 0 && el("button", {type: "button", "data-key": "idle", "aria-pressed": String(showsIdle), onclick: () => {
			showsIdle = !showsIdle;
			keep();
			draw();
		}}, `${num(idle.length)} idle`);
		swap(root, heading("Queues", `${plural(list.items.length, "queue")}, as of ${when(timeOf(list.now))} UTC. ` +
			(below ? `${plural(below, "is", "are")} below the guarantee while work waits.` : "None is below its guarantee while work waits."),
			all.length > 1 && choice("resource", "Show", [["", main.length > 1 ? "main resources" : titleIn(all, main[0])], ...all.slice(0, 8).map(r => [r, titleIn(all, r)])], all.includes(chosen) ? chosen : "", pick), idleButton),
		list.items.length <= 1 && !list.items[0]?.pods.running ? empty("There is one queue, and nothing is in it.", "Queues come from YuniKorn's queues.yaml, from KAI's Queue objects, or from pods that name them.") :
			el("section", {class: "card", id: "tree", "aria-label": "The tree of queues"}, legend(list.items.some(q => q.fairShare)), treeTable(queues, resources, all, list.capacity, isFolded, fold),
				el("p", {class: "say small"}, "Bars of queues below the same parent have the same scale.")));
	};
	const load = async () => {
		list = await get("/api/v1/queues", {}, signal);
		draw();
		stale();
	};
	await load();
	follow(signal, EVENTS, load, stale);
}

/* ---- one queue ---- */

function crumbs(queue) {
	const parts = queue.split("."), links = [];
	for (let i = 1; i < parts.length; i++)
		links.push(queueLink(parts.slice(0, i).join("."), parts[i - 1]), " › ");
	return el("nav", {class: "crumbs", "aria-label": "Queues above"}, el("a", {href: "#/queues"}, "All queues"), " › ", links, el("span", {"aria-current": "page"}, parts[parts.length - 1]));
}

function standing(q) {
	const short = q.short.map(shortType), over = q.over.map(shortType);
	if (short.length)
		return badge("bad", `below its guarantee in ${short.join(", ")}`);
	return over.length ? badge("plain", `above its guarantee in ${over.join(", ")}`) : badge("good", "within what it is guaranteed");
}

function amountsTable(q, all) {
	const say = (r, v) => v === undefined ? "–" : v === Infinity ? "no limit" : amount(r, v);
	return table("amounts", "What it uses and is entitled to, by resource", [
		{title: "Resource", text: true, show: r => titleIn(all, r)},
		{title: "", text: true, show: r => el("div", {class: "bar-cell"}, entitlementBar(amountsOf(q, r), reach(amountsOf(q, r)), sentenceOf(q, r)))},
		{title: "Used", show: r => say(r, amountsOf(q, r).used)},
		{title: "Guaranteed", show: r => amountsOf(q, r).guaranteed ? say(r, amountsOf(q, r).guaranteed) : "–"},
		{title: "Fair share", show: r => say(r, amountsOf(q, r).fair)},
		{title: "Maximum", show: r => say(r, amountsOf(q, r).max)},
		{title: "Waited for", show: r => amountsOf(q, r).wanted ? say(r, amountsOf(q, r).wanted) : "–"},
	], resourcesOf([q]));
}

function childrenCard(q, list, all) {
	const children = list.items.filter(c => c.parent === q.queue), resources = mainResources(all), scale = scalesOf(list.items, resources);
	return children.length > 0 && card("children", "Below it", null, table("children", `Queues below ${q.queue}`, [
		{title: "Queue", text: true, show: c => queueLink(c.queue, lastName(c))},
		{title: "Running", show: c => num(c.pods.running)},
		{title: "Waiting", show: c => num(c.pods.waiting)},
		...resources.map(r => ({title: titleIn(all, r), text: true, show: c => barCell(c, r, scale)})),
	], children));
}

const since = (p, now) => span(Math.max(0, Math.round(now - timeOf(p.started || p.created))));

function podsCard(id, name, page, now, more, columns) {
	const say = page.items.length ? null : `Nothing ${id === "running" ? "runs" : "waits"} here.`;
	return card(id, name, say, page.items.length > 0 && table(id + "-pods", name, columns(now), page.items), page.items.length > 0 && pager(id + "-more", page.items.length, page.total, "pods", page.next && more));
}

const runningColumns = now => [
	{title: "Pod", text: true, show: p => podLink(p.pod)},
	{title: "Node", text: true, show: p => p.node ? nodeLink(p.node) : "–"},
	{title: "Priority", show: p => num(p.priority)},
	{title: "Running for", show: p => since(p, now)},
	{title: "Uses", text: true, wrap: true, show: requests},
];
const waitingColumns = now => [
	{title: "Pod", text: true, show: p => podLink(p.pod)},
	{title: "Group", text: true, show: p => p.group ? groupLink(p.group) : "–"},
	{title: "Priority", show: p => num(p.priority)},
	{title: "Waiting for", show: p => since(p, now)},
	{title: "Asks for", text: true, wrap: true, show: requests},
];

/* Pages of pods that are asked for one after the other, and again as many when something changes. */
function podPages(queue, state, signal) {
	let pages = 1;
	return {
		more: () => pages++,
		load: () => get("/api/v1/pods", {queue, state, limit: pages * PAGE}, signal),
	};
}

function historyCard(q, h, all, chosen, pick) {
	const points = h && h.points || [], types = all.filter(r => h && h.resources && h.resources[r]), r = types.includes(chosen) ? chosen : types[0];
	const link = timelineLink({queue: q.queue}, "Everything that was decided about it");
	const times = points.map(timeOf);
	if (times.length < 2 || !r)
		return card("history", "History", null, h && h.message ? empty("Its history is not kept.", h.message[0].toUpperCase() + h.message.slice(1) + ".")
			: empty("Nothing was seen of it over time yet.", "Use is noted while the server runs, and read from journals and simulations."), link && el("p", {}, link));
	const of = h.resources[r], series = [{name: "used", values: of.used, cls: "line0"}, {name: "guaranteed", values: of.guaranteed, cls: "line1 dashed"}].filter(s => s.values && s.values.some(v => v));
	const pods = h.pods ? [{name: "running", values: h.pods.running, cls: "line0"}, {name: "waiting", values: h.pods.waiting, cls: "line2"}] : [];
	return card("history", "History", null, types.length > 1 && choice("history-resource", "Show", types.map(t => [t, titleIn(all, t)]), r, pick),
		el("div", {class: "columns"}, el("div", {}, el("h3", {}, titleIn(all, r)), timeChart("history-use", `${titleIn(all, r)} used by ${q.queue} over time`, times, series, v => amount(r, v))),
			pods.length > 0 && el("div", {}, el("h3", {}, "Pods"), timeChart("history-pods", `Pods of ${q.queue} over time`, times, pods, num))), link && el("p", {}, link));
}

/* A plan is made for it: only when somebody asks. */
function whyCard(queue, state, draw, signal) {
	const ask = async () => {
		state.why = {isBusy: true};
		draw();
		try {
			state.why = {found: await get("/api/v1/explain/" + encodeURIComponent(queue), {}, signal)};
		} catch (error) {
			state.why = {error};
		}
		if (!signal.aborted)
			draw();
	};
	const x = state.why || {}, found = x.found;
	const held = found && found.heldBackBy && found.heldBackBy.length > 0 && table("held", "What keeps its waiting work from room", [
		{title: "Rule", text: true, show: h => h.rule}, {title: "Pods", show: h => num(h.pods)}, {title: "For example", text: true, long: true, show: h => (h.reason || "–").replace(/^such as /, "")},
		{title: "Until", text: true, show: h => h.from ? when(timeOf(h.from)) : "–"}], found.heldBackBy);
	const takes = found && found.whatWouldItTake && found.whatWouldItTake.length > 0 && [el("h3", {}, "What it would take"),
		el("ul", {class: "plain"}, found.whatWouldItTake.map(w => el("li", {}, el("b", {}, w.change), w.outcome && ` – then its next pod ${w.outcome === "placed" ? "starts" : "gets room"}`, w.victims ? `, and ${plural(w.victims, "pod has", "pods have")} to go` : "")))];
	return el("section", {class: found ? "card whole" : "card", id: "why", "aria-labelledby": "why-title"}, el("h2", {id: "why-title"}, "What would be decided now"),
		el("p", {class: found ? null : "say"}, found ? found.sentence : "The server makes a plan for it; nothing is changed."), held, takes,
		x.error && el("p", {class: "bad", role: "alert"}, x.error.message),
		el("p", {}, el("button", {type: "button", "data-key": "why", disabled: x.isBusy, onclick: ask}, x.isBusy ? "Planning…" : found ? "Plan again" : "Plan and explain")));
}

/* A server that keeps no history is no failure. */
const historyOf = async (queue, signal) => {
	try {
		return await get("/api/v1/queues/history", {queue}, signal);
	} catch (error) {
		if (error.status === 404)
			return null;
		throw error;
	}
};

async function renderOne(root, params, signal) {
	const path = params.parts[0], running = podPages(path, "running", signal), waiting = podPages(path, "waiting", signal);
	const state = {resource: params.query.get("resource") || ""};
	let data = null;
	const draw = () => {
		const [list, run, wait, history] = data, all = resourcesOf(list.items), q = list.items.find(i => i.queue === path), now = timeOf(list.now);
		if (!q) {
			swap(root, crumbs(path), heading(path), empty("There is no such queue.", "It may have been removed since.", el("p", {}, el("a", {href: "#/queues"}, "All queues"))));
			return;
		}
		const applies = whatApplies(q, list.items), again = p => () => {
			p.more();
			load().catch(stale);
		};
		swap(root, crumbs(path), heading(path, null, standing(q)),
			tiles([{title: "Running", value: num(q.pods.running)}, {title: "Waiting", value: num(q.pods.waiting)}, q.pods.leaving > 0 && {title: "Leaving", value: num(q.pods.leaving)}]),
			card("entitled", "Resources", null, legend(Boolean(q.fairShare)), amountsTable(q, all)),
			el("div", {class: "columns"},
				card("applies", "What applies here", applies.length ? null : "No fence, no window, no delay.", applies.length > 0 && el("dl", {class: "facts"}, applies.map(([b, text]) => [el("dt", {}, b), el("dd", {}, text)]))),
				whyCard(path, state, draw, signal)),
			childrenCard(q, list, all),
			podsCard("waiting", "Waiting", wait, now, again(waiting), waitingColumns),
			podsCard("running", "Running", run, now, again(running), runningColumns),
			historyCard(q, history, all, state.resource, v => {
				state.resource = v;
				draw();
			}));
	};
	const load = async () => {
		data = await Promise.all([get("/api/v1/queues", {}, signal), running.load(), waiting.load(), historyOf(path, signal)]);
		draw();
		stale();
	};
	await load();
	follow(signal, EVENTS, load, stale);
}
