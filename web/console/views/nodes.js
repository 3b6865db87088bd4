/* A map of the cluster, coloured by free room, by queue or by priority; and one node with its pods and what protects each. */
import {get} from "../api.js";
import {el, swap} from "../dom.js";
import {amount, num, plural, quantity, requests, shortType, span, timeOf, titleIn, typeTitle, until, when} from "../format.js";
import {address, groupLink, nodeLink, podLink, queueLink} from "../links.js";
import {follow} from "../live.js";
import {CORDONED, LEAVING, MISSING, NOT_READY, OVERBOOKED, nodeMap} from "../node_map.js";
import {stale} from "../notice.js";
import {badge, card, choice, empty, heading, pager, select, table, tiles} from "../parts.js";
import {shareBar} from "../svg.js";

export const title = "Nodes";
const EVENTS = ["decision", "evicted", "cluster"];
const PAGE = 25, COLOURS = 8, FEW_PODS = 8;

export const render = (root, params, signal) => params.parts.length ? renderOne(root, params.parts[0], signal) : renderMap(root, params, signal);

/* ---- what the server says, in words ---- */

function read(map) {
	return map.nodes.map(([name, flags, pods, queue, priority, ...free]) => ({name, flags, pods, queue: queue < 0 ? null : map.queues[queue], priority, free}));
}

function stateWords(flags) {
	const words = [[MISSING, "not there any more"], [NOT_READY, "not ready"], [OVERBOOKED, "overbooked"], [CORDONED, "cordoned"], [LEAVING, "pods are leaving"]];
	return words.filter(([f]) => flags & f).map(w => w[1]);
}

const stateBadges = flags => stateWords(flags).map(w => badge(w === "cordoned" || w === "pods are leaving" ? "warn" : "bad", w));

function describer(resources) {
	return n => [`${n.name}: ${plural(n.pods, "pod")}`, ...resources.map((r, i) => n.free[i] === null || n.free[i] === undefined ? null : `${titleIn(resources, r)} ${n.free[i]} % free`),
		n.queue && `mostly ${n.queue}`, n.priority !== null && `highest priority ${num(n.priority)}`, ...stateWords(n.flags)].filter(Boolean).join(", ");
}

/* ---- colours ---- */

const FREE_STEPS = [["--free0", "nothing free"], ["--free1", "under a quarter free"], ["--free2", "a quarter to half free"], ["--free3", "half to all free"]];
const freeColour = free => free === null || free === undefined ? "--free-none" : free <= 0 ? "--free0" : free < 25 ? "--free1" : free < 50 ? "--free2" : "--free3";

/* The most frequent get a colour of their own, all others one together. */
function ranked(values) {
	const counts = new Map();
	for (const v of values)
		if (v !== null)
			counts.set(v, (counts.get(v) || 0) + 1);
	return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/* Where there are more queues than colours, those above them: as deep as the colours reach. */
function teams(nodes) {
	const cut = (q, depth) => q === null ? null : q.split(".").slice(0, depth).join(".");
	let depth = Math.max(...nodes.map(n => n.queue === null ? 0 : n.queue.split(".").length), 1);
	while (depth > 2 && new Set(nodes.map(n => cut(n.queue, depth))).size > COLOURS + 1)
		depth--;
	return q => cut(q, depth);
}

function paletteOf(by, nodes) {
	if (by === "free")
		return null;
	const team = teams(nodes), valueOf = n => by === "queue" ? team(n.queue) : n.priority;
	const order = ranked(nodes.map(valueOf)), own = order.slice(0, order.length > COLOURS + 1 ? COLOURS : COLOURS + 1);
	if (by === "priority")
		own.sort((a, b) => b[0] - a[0]);
	return {own, others: order.slice(own.length).reduce((sum, o) => sum + o[1], 0), valueOf, of: new Map(own.map(([v], i) => [v, `--c${Math.min(i, 8)}`]))};
}

function legendOf(by, palette, nodes) {
	const item = (colour, text) => el("li", {}, el("span", {class: "key", "aria-hidden": "true", style: {background: `var(${colour})`}}), text);
	const lacks = nodes.some(n => n.used === null);
	const signs = el("li", {class: "say"}, `The filled part is in use. ${lacks ? "Dashed: has none of it. " : ""}✕ not ready, ! overbooked, ∕ cordoned`);
	if (by === "free")
		return el("ul", {class: "legend"}, FREE_STEPS.map(([c, text]) => item(c, text)), signs);
	const none = nodes.filter(n => (by === "queue" ? n.queue : n.priority) === null).length;
	return el("ul", {class: "legend"}, palette.own.map(([v, n]) => item(palette.of.get(v), [by === "queue" ? queueLink(v) : `priority ${num(v)}`, ` ${num(n)}`])),
		palette.others > 0 && item("--free-none", `others ${num(palette.others)}`), none > 0 && el("li", {class: "say"}, `${num(none)} empty`), signs);
}

/* ---- the map ---- */

const ORDERS = {
	name: null,
	free: (a, b) => (a.shownFree ?? -1) - (b.shownFree ?? -1),
	queue: (a, b) => (a.queue || "~") < (b.queue || "~") ? -1 : (a.queue || "~") > (b.queue || "~") ? 1 : 0,
	priority: (a, b) => (b.priority ?? -Infinity) - (a.priority ?? -Infinity),
	pods: (a, b) => b.pods - a.pods,
};

/* The one that was chosen, or of the first kind (GPUs, where there are any) what most nodes have. */
function shownResource(map, state) {
	if (map.resources.includes(state.resource))
		return state.resource;
	const has = map.resources.map((_, i) => map.nodes.filter(n => n[5 + i] !== null && n[5 + i] !== undefined).length);
	const kind = map.resources.filter(r => typeTitle(r) === typeTitle(map.resources[0]));
	return kind.sort((a, b) => has[map.resources.indexOf(b)] - has[map.resources.indexOf(a)])[0];
}

function arrange(map, state) {
	const index = map.resources.indexOf(shownResource(map, state)), all = read(map), wanted = state.search.toLowerCase();
	let nodes = all.map(n => ({...n, shownFree: n.free[index] ?? null}));
	if (wanted)
		nodes = nodes.filter(n => n.name.toLowerCase().includes(wanted) || (n.queue || "").toLowerCase().includes(wanted));
	if (ORDERS[state.order])
		nodes.sort(ORDERS[state.order]); /* a stable sort: then by name */
	const palette = paletteOf(state.by, nodes);
	for (const n of nodes) {
		n.used = n.shownFree === null ? null : 1 - n.shownFree / 100; /* null: it has nothing of that kind */
		n.colour = state.by === "free" ? freeColour(n.shownFree) : palette.of.get(palette.valueOf(n)) || "--free-none";
	}
	return {nodes, palette, all};
}

function listTable(nodes, resources, shown) {
	return table("nodes", "Nodes", [
		{title: "Node", text: true, show: n => nodeLink(n.name)},
		{title: "State", text: true, show: n => n.flags ? stateBadges(n.flags) : "ready"},
		{title: "Pods", show: n => num(n.pods)},
		...resources.map((r, i) => ({title: `${titleIn(resources, r)} free`, show: n => n.free[i] === null || n.free[i] === undefined ? "–" : `${n.free[i]} %`})),
		{title: "Mostly", text: true, show: n => n.queue ? queueLink(n.queue) : "–"},
		{title: "Highest priority", show: n => n.priority === null ? "–" : num(n.priority)},
	], nodes.slice(0, shown));
}

async function renderMap(root, params, signal) {
	const q = params.query, state = {by: ["queue", "priority"].includes(q.get("by")) ? q.get("by") : "free", resource: q.get("resource") || "", order: ORDERS[q.get("order")] ? q.get("order") : "name", search: q.get("find") || "", shown: PAGE};
	let map = null, picture = null;
	const keep = () => history.replaceState(null, "", address("nodes", [], {by: state.by === "free" ? "" : state.by, resource: state.resource, order: state.order === "name" ? "" : state.order, find: state.search}));
	const change = patch => {
		Object.assign(state, patch);
		keep();
		draw();
	};
	const draw = () => {
		const {nodes, palette, all} = arrange(map, state), bad = all.filter(n => n.flags & (NOT_READY | MISSING | OVERBOOKED)).length, cordoned = all.filter(n => n.flags & CORDONED).length;
		const label = `Map of ${plural(nodes.length, "node")}, coloured by ${state.by === "free" ? "free room" : state.by}`;
		if (!all.length) {
			swap(root, heading("Nodes"), empty("There are no nodes.", "Nothing can run anywhere."));
			return;
		}
		if (picture)
			picture.update(nodes, label);
		else
			picture = nodeMap(nodes, label, describer(map.resources), n => { location.hash = address("nodes", [n.name]); }, signal);
		const find = el("label", {class: "choice"}, el("span", {class: "label"}, "Find"), el("input", {type: "search", "data-key": "find", value: state.search, placeholder: "node or queue", oninput: ev => change({search: ev.target.value, shown: PAGE})}));
		swap(root, heading("Nodes", `${plural(all.length, "node")} as of ${when(timeOf(map.now))} UTC. ${bad ? `${plural(bad, "needs", "need")} a look. ` : ""}${cordoned ? `${num(cordoned)} cordoned.` : ""}`),
			el("div", {class: "controls"}, choice("by", "Colour by", [["free", "free room"], ["queue", "queue"], ["priority", "priority"]], state.by, by => change({by})),
				map.resources.length > 1 && choice("resource", "Fill by", map.resources.map(r => [r, titleIn(map.resources, r)]), shownResource(map, state), resource => change({resource})),
				select("order", "Order", [["name", "name"], ["free", "least free first"], ["queue", "queue"], ["priority", "highest priority"], ["pods", "most pods"]], state.order, order => change({order})), find),
			el("section", {class: "card", id: "map", "aria-labelledby": "map-title"}, el("h2", {id: "map-title", class: "hidden"}, "Map"), legendOf(state.by, palette, nodes), picture.element,
				!nodes.length && empty("No node has this in its name.", null)),
			card("list", "List", null, listTable(nodes, map.resources, state.shown), pager("nodes-more", Math.min(nodes.length, state.shown), nodes.length, "nodes", nodes.length > state.shown && (() => change({shown: state.shown + PAGE})))));
		if (root.isConnected)
			picture.paint();
		else
			requestAnimationFrame(() => picture.paint());
	};
	const load = async () => {
		map = await get("/api/v1/nodes/map", {}, signal);
		draw();
		stale();
	};
	await load();
	follow(signal, EVENTS, load, stale);
}

/* ---- one node ---- */

function room(node) {
	return Object.keys(node.allocatable || {}).filter(r => quantity(node.allocatable[r]) > 0).map(r => ({r, free: quantity((node.free || {})[r]), total: quantity(node.allocatable[r]), used: quantity((node.used || {})[r])}));
}

function roomCard(node) {
	return card("room", "Room", null, table("room", "What the node has", [
		{title: "Resource", text: true, show: x => titleIn(room(node).map(y => y.r), x.r)},
		{title: "", text: true, show: x => el("div", {class: "bar-cell"}, shareBar(x.used / x.total, `${amount(x.r, x.used)} of ${amount(x.r, x.total)} ${shortType(x.r)} used`))},
		{title: "Used", show: x => amount(x.r, x.used)},
		{title: "Free", show: x => el("b", {class: x.free < 0 ? "bad" : null}, amount(x.r, x.free))},
		{title: "All", show: x => amount(x.r, x.total)},
	], room(node)));
}

/* What the rules said of a pod to those who wait, by rule; each rule with its sentences, each sentence once. */
function guards(p) {
	const by = new Map();
	for (const g of p.protections || []) {
		const key = `${g.answer} ${g.rule || ""}`, same = by.get(key) || {answer: g.answer, rule: g.rule, until: g.until, sentences: new Map(), n: 0};
		same.sentences.set(g.reason || "", [...(same.sentences.get(g.reason || "") || []), g.waiting]);
		same.until = same.until && g.until ? (same.until > g.until ? same.until : g.until) : null;
		same.n++;
		by.set(key, same);
	}
	return [...by.values()];
}

const TONES = {protected: "good", spared: "good", "may go": "warn", "not asked": "plain"};

function sentence(reason, from, answer, nWaiting) {
	const word = answer === "may go" ? "for" : "from";
	return [reason && el("span", {}, reason + " "), el("span", {class: "say"}, from.length === nWaiting && nWaiting > 1 ? `${word} all who wait` :
		[`${word} `, from.slice(0, 2).map((w, i) => [i > 0 && ", ", podLink(w)]), from.length > 2 && ` and ${num(from.length - 2)} more`])];
}

/* Where there are few pods every sentence is there; else rules alone, and sentences when somebody asks. */
function guardCell(p, now, nWaiting, isBrief) {
	const list = guards(p), time = g => g.until && el("b", {}, ` ${until(timeOf(g.until), now)} (until ${when(timeOf(g.until))})`);
	const sentences = g => [...g.sentences].map(([reason, from]) => el("li", {}, sentence(reason, from, g.answer, nWaiting)));
	const name = g => badge(TONES[g.answer] || "plain", g.rule ? `${g.answer}: ${g.rule}` : g.answer);
	if (!list.length)
		return el("span", {class: "say"}, nWaiting ? "–" : "nobody waits");
	if (isBrief)
		return [el("div", {class: "badges"}, list.map(g => el("span", {}, name(g), g.n > 1 && el("span", {class: "say"}, ` ×${num(g.n)}`), time(g)))),
			el("details", {"data-key": `guards ${p.pod}`}, el("summary", {}, "Why"), el("ul", {class: "plain"}, list.map(sentences)))];
	return el("ul", {class: "guards"}, list.map(g => el("li", {}, name(g), time(g), el("ul", {class: "bare"}, sentences(g)))));
}

function podsCard(view) {
	const now = timeOf(view.now), n = view.waiting.length;
	const say = n ? `For each pod, what the rules say to those who wait: asked for ${n === 1 ? "the one that comes first" : `${num(n)}, the first of each queue`}.` : "Nobody waits, so nobody has to be protected.";
	if (!view.pods.length)
		return card("pods", "Pods", null, empty("Nothing runs here.", null));
	return card("pods", "Pods", say, table("pods", "Pods of this node and what protects them", [
		{title: "Pod", text: true, show: p => [podLink(p.pod), p.group && el("div", {class: "say"}, "of ", groupLink(p.group)), p.state === "leaving" && el("div", {}, badge("warn", "leaving"))]},
		{title: "Queue", text: true, show: p => p.queue ? queueLink(p.queue) : "–"},
		{title: "Priority", show: p => num(p.priority)},
		{title: "Running for", show: p => p.started ? span(Math.max(0, Math.round(now - timeOf(p.started)))) : "–"},
		{title: "Uses", text: true, wrap: true, show: requests},
		{title: "Protected", text: true, long: true, show: p => guardCell(p, now, n, view.pods.length > FEW_PODS)},
	], view.pods), view.morePods > 0 && el("p", {class: "say"}, `And ${num(view.morePods)} more.`));
}

function nodeState(n) {
	const list = [n.missing && "not there any more", !n.ready && !n.missing && "not ready", n.overbooked && "overbooked", n.cordoned && "cordoned"].filter(Boolean);
	return list.length ? list.map(w => badge(w === "cordoned" ? "warn" : "bad", w)) : [badge("good", "ready")];
}

const taint = t => `${t.key}${t.value ? "=" + t.value : ""}:${t.effect}`;

async function renderOne(root, name, signal) {
	const load = async () => {
		const view = await get("/api/v1/node", {name}, signal), node = view.items[0], main = room(node).filter(x => x.r !== "pods" && x.r !== "ephemeral-storage").slice(0, 4);
		swap(root, el("nav", {class: "crumbs", "aria-label": "Where this is"}, el("a", {href: "#/nodes"}, "All nodes"), " › ", el("span", {"aria-current": "page"}, name)),
			heading(name, null, nodeState(node)),
			tiles([{title: "Pods", value: num(node.pods)}, ...main.map(x => ({title: `${titleIn(main.map(y => y.r), x.r)} free`, value: amount(x.r, x.free), note: `of ${amount(x.r, x.total)}`, tone: x.free < 0 ? "bad" : null}))]),
			podsCard(view), roomCard(node),
			(node.taints || []).length > 0 && card("taints", "Taints", "Only pods that tolerate them may come here.", el("ul", {class: "plain"}, node.taints.map(t => el("li", {}, el("code", {}, taint(t)))))));
		stale();
	};
	await load();
	follow(signal, EVENTS, load, stale);
}
