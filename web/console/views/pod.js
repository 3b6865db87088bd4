/* One pod or group: everything cede explain says, with the nodes, who is protected from it or from whom it is, and what it would take. */
import {get, getText} from "../api.js";
import {decisionItem, victimLine} from "../decisions.js";
import {el, swap} from "../dom.js";
import {ago, num, plural, requests, said, shortReason, timeOf, until, when} from "../format.js";
import {address, groupLink, nodeLink, podLink, queueLink, timelineLink} from "../links.js";
import {follow} from "../live.js";
import {stale} from "../notice.js";
import {badge, card, empty, heading, pager, table} from "../parts.js";

export const title = "Pod";

const SOME = 12;
const RESULTS = {
	fits: ["good", "fits"], "fits-after-evictions": ["good", "fits after evictions"], refused: ["plain", "refused"], "not-enough-may-go": ["warn", "not enough may go"],
	"evictions-do-not-help": ["plain", "evictions do not help"], "fits-when-leaving-pods-are-gone": ["good", "fits when leaving pods are gone"],
};
const DECISIONS = {placed: "starts", nominated: "gets room", waiting: "waits", gated: "not to be scheduled yet"};
const STATES = {waiting: "warn", running: "good", leaving: "bad", finished: "plain"};

const some = (list, show, what) => [list.slice(0, SOME).map((x, i) => [i ? ", " : "", show(x)]), list.length > SOME ? ` and ${num(list.length - SOME)} more ${what}` : ""];

/* Rows that say the same stand together: a thousand nodes refuse for one reason. */
function together(rows, keyOf) {
	const groups = new Map();
	for (const r of rows) {
		const key = keyOf(r);
		if (!groups.has(key))
			groups.set(key, []);
		groups.get(key).push(r);
	}
	return [...groups.values()].sort((a, b) => b.length - a.length);
}

/* ---- facts ---- */

function facts(pod, now) {
	if (!pod)
		return null;
	const row = (name, value) => value && [el("dt", {}, name), el("dd", {}, value)];
	const place = pod.node || pod.reservedNode || pod.nominatedNode;
	return card("facts", "What it is", null, el("dl", {class: "facts"},
		row("State", badge(STATES[pod.state] || "plain", pod.state)),
		row("Queue", pod.queue ? queueLink(pod.queue) : pod.wantedQueue && `${pod.wantedQueue}, which does not exist`),
		row("Group", pod.group && groupLink(pod.group)),
		row(pod.node ? "Node" : "Room kept on", place && nodeLink(place)),
		row("Priority", `${num(pod.priority)}${pod.neverPreempts ? ", takes room from nobody" : ""}`),
		row("Preemptibility", pod.preemptibility),
		row("Asks for", requests(pod)),
		row("Created", pod.created && `${when(timeOf(pod.created))} (${ago(timeOf(pod.created), now)})`),
		row("Started", pod.started && `${when(timeOf(pod.started))} (${ago(timeOf(pod.started), now)})`),
		row("Gates", pod.gates && pod.gates.join(", ")),
		row("Scheduler", pod.schedulerName)));
}

/* ---- what is in the way ---- */

const untilWords = (at, now) => at ? [el("span", {}, when(timeOf(at))), ` (${until(timeOf(at), now)})`] : "no time ends it";

function protectedCard(x, now) {
	const all = x.protected || [];
	if (!all.length)
		return null;
	const groups = together(all, p => [p.rule, p.reason, p.queue].join("\n"));
	const count = g => g.reduce((n, p) => n + 1 + (p.more || 0), 0);
	return card("protected", "Protected from it", `${plural(groups.reduce((n, g) => n + count(g), 0), "running pod")} could make room and may not be taken.`,
		table("protected-rows", "Pods that are protected, by rule", [
			{title: "Rule", text: true, show: g => badge("plain", g[0].rule)},
			{title: "Because", text: true, long: true, show: g => g[0].reason},
			{title: "Until", text: true, wrap: true, show: g => untilWords(g.map(p => p.until).filter(Boolean).sort()[0], now)},
			{title: "Queue", text: true, show: g => g[0].queue && queueLink(g[0].queue)},
			{title: "Pods", text: true, long: true, show: g => [some(g, p => podLink(p.pod), "pods"), g.some(p => p.more) ? ` (${num(count(g))} in all)` : ""]},
		], groups));
}

function sparedCard(x, now) {
	const all = x.sparedFrom || [];
	if (!all.length)
		return null;
	const groups = together(all, p => [p.rule, p.reason, p.until].join("\n"));
	return card("spared", "Spared from", "These wait and may not take its room.", table("spared-rows", "Waiting pods that had to leave it", [
		{title: "Waiting", text: true, long: true, show: g => some(g, p => podLink(p.pod), "pods")}, {title: "Rule", text: true, show: g => badge("plain", g[0].rule)},
		{title: "Because", text: true, long: true, show: g => g[0].reason}, {title: "Until", text: true, wrap: true, show: g => untilWords(g[0].until, now)},
	], groups.slice(0, 200)));
}

function nodesCard(x) {
	const all = x.nodes || [];
	if (!all.length)
		return null;
	const groups = together(all, n => [n.result, n.reason, n.after].join("\n"));
	const order = ["fits", "fits-after-evictions", "fits-when-leaving-pods-are-gone"];
	groups.sort((a, b) => (order.indexOf(b[0].result) - order.indexOf(a[0].result)) || b.length - a.length);
	return card("nodes", "Every node", `What became of ${plural(all.length, "node")}.`, table("node-rows", "Nodes, by what became of them", [
		{title: "Result", text: true, show: g => badge(...(RESULTS[g[0].result] || ["plain", g[0].result]))},
		{title: "Nodes", show: g => num(g.length)},
		{title: "Because", text: true, long: true, show: g => [shortReason(g[0].reason), g[0].after && ` With everybody gone who may go: ${g[0].after}`, g[0].score !== undefined ? `score ${g[0].score}` : ""]},
		{title: "Which", text: true, long: true, show: g => some(g, n => nodeLink(n.node), "nodes")},
		...(all.some(n => n.victims) ? [{title: "Victims there", text: true, long: true, show: g => some(g.flatMap(n => n.victims || []), v => podLink(v), "pods")}] : []),
	], groups.slice(0, 100)));
}

/* ---- what would help ---- */

function remedies(x) {
	const all = x.whatWouldItTake || [];
	if (!x.whatWouldItTake)
		return null;
	return card("remedies", "What would it take?", "One thing different, everything else as it is.", all.length ?
		el("ul", {class: "remedies"}, all.map(r => el("li", {}, badge("good", r.change), " ",
			r.outcome === "placed" ? "it starts" : "it gets room", r.node && [" on ", nodeLink(r.node)], r.action && r.action !== "allocate" ? ` by ${r.action}` : "",
			r.victims ? `, ${plural(r.victims, "pod")} would have to go` : ", nobody has to go", "."))) :
		empty("No single change would help.", "It takes more room, or several changes together: try them under What if.", el("p", {}, el("a", {href: address("whatif")}, "What if"))));
}

function forecast(x, now) {
	const f = x.forecast;
	if (!f)
		return null;
	const ends = f.ends || [];
	return card("forecast", "When will it start?", null,
		el("p", {}, x.startsAt ? [`If nothing else happens, ${when(timeOf(x.startsAt))} UTC (${until(timeOf(x.startsAt), now).replace("for ", "in ").replace(" more", "")})`, f.node && [", on ", nodeLink(f.node)], f.victims ? `; ${plural(f.victims, "pod")} would go` : "", "."] :
			"Time alone does not let it start: something has to change or to end."),
		ends.length > 0 && el("ul", {class: "plain"}, ends.slice(0, 20).map(e => el("li", {}, `${when(timeOf(e.at))}: ${e.rule} ends${e.pods ? ` for ${plural(e.pods, "pod")}` : ""}`))));
}

function membersCard(x) {
	if (!x.pods)
		return null;
	const has = key => x.pods.some(p => p[key]);
	return card("members", "Its pods", null, table("member-rows", "Pods of the group", [
		{title: "Pod", text: true, show: p => podLink(p.pod)}, {title: "State", text: true, show: p => badge(p.goes ? "bad" : STATES[p.state] || "plain", p.goes ? "has to go" : p.state)},
		has("outcome") && {title: "Decision", text: true, show: p => DECISIONS[p.outcome] || p.outcome || ""}, has("node") && {title: "Node", text: true, show: p => p.node && nodeLink(p.node)},
		has("message") && {title: "Because", text: true, long: true, show: p => p.message || ""},
	].filter(Boolean), x.pods.slice(0, 500)), pager("members-more", Math.min(500, x.pods.length), x.pods.length, "pods", null));
}

/* ---- who displaced whom ---- */

function chainCard(chain, name) {
	if (!chain.start)
		return null;
	const rows = [...[...chain.because].reverse(), chain.start, ...chain.led];
	return card("history", "What happened to it", "The decisions that led here, and what followed.",
		el("ol", {class: "decisions chain"}, rows.slice(0, 40).map(r => decisionItem(r, {}, {isCurrent: r.id === chain.start.id, depth: r.depth}))),
		el("p", {}, timelineLink({pod: name}, "All decisions about it in the timeline")));
}

/* cede explain's own words, asked for when somebody opens them: one more plan has to be made for them. */
function wordsOf(name, signal) {
	const pre = el("pre", {class: "words", tabindex: "0", "aria-label": "What cede explain prints"}, "Loading…");
	const d = el("details", {"data-key": "words"}, el("summary", {}, "As cede explain prints it"), pre);
	d.addEventListener("toggle", async () => {
		if (!d.open || d.dataset.asked)
			return;
		d.dataset.asked = "yes";
		try {
			pre.replaceChildren(await getText(explainPath(name), {output: "wide", width: 120}, signal));
		} catch (error) {
			pre.replaceChildren(error.message);
			delete d.dataset.asked;
		}
	});
	return d;
}

/* ---- the view ---- */

const explainPath = name => "/api/v1/explain/" + name.split("/").map(encodeURIComponent).join("/");

/* The answer, or what the server says of a name that it does not know. */
async function orNothing(promise) {
	try {
		return await promise;
	} catch (error) {
		if (error.status === 404)
			return {unknown: error.message};
		throw error;
	}
}

function gone(root, name, chain, message) {
	const near = /did you mean ([^ ?]+\/[^ ?]+)\?/.exec(message);
	swap(root, heading(name, "It is not in the cluster now."),
		near && el("p", {}, "Did you mean ", podLink(near[1]), "?"),
		chainCard(chain, name) || empty("Nothing is known of it.", "There is no pod and no group of that name, and no decision about one is kept.", el("p", {}, timelineLink({pod: name}, "Look for it in the timeline"))));
}

const WAITING = 25;

async function search(root, signal) {
	const waiting = await get("/api/v1/pods", {state: "waiting", limit: WAITING}, signal), now = timeOf(waiting.now);
	const field = el("input", {id: "find-pod", type: "search", placeholder: "namespace/name", autocomplete: "off", spellcheck: "false", required: true});
	const go = ev => {
		ev.preventDefault();
		location.hash = address("pod", field.value.trim().split("/"));
	};
	swap(root, heading("Explain", "Why does it wait, stay or have to go?"), card("find", "Which pod or group?", null,
		el("form", {class: "controls", "aria-label": "Find a pod or group", onsubmit: go}, el("label", {for: "find-pod"}, "Name"), field, el("button", {type: "submit", class: "main"}, "Explain")),
		el("p", {class: "say"}, "Pods can be reached from every name in the console; ", timelineLink({}, "the timeline"), " has those that were decided about.")),
	waiting.items.length > 0 && card("waiting", "Waiting now", null, table("waiting-pods", "Pods that wait", [
		{title: "Pod", text: true, show: p => podLink(p.pod)}, {title: "Queue", text: true, show: p => p.queue ? queueLink(p.queue) : "–"}, {title: "Priority", show: p => num(p.priority)},
		{title: "Created", text: true, show: p => ago(timeOf(p.created), now)}, {title: "Asks for", text: true, wrap: true, show: requests}], waiting.items), pager("waiting-more", waiting.items.length, waiting.total, "pods", null)));
}

const SOON_MS = 300, BUSY_S = 5;
const later = (ms, signal) => new Promise(done => {
	const timer = setTimeout(done, ms);
	signal.addEventListener("abort", () => clearTimeout(timer));
});

/* The sentence, or what is there instead of it. */
function verdict(name, state, again, signal) {
	const x = state.x, e = state.error;
	if (x)
		return el("section", {class: "card verdict-line", "aria-label": "In a sentence"}, el("p", {class: "big"}, x.sentence), x.evictedFor && el("p", {}, "It has to go for ", podLink(x.evictedFor), "."), wordsOf(name, signal));
	return el("section", {class: "card verdict-line", "aria-label": "In a sentence", "aria-busy": e ? null : "true"}, e ?
		[el("p", {class: "bad", role: "alert"}, e.status === 503 ? `The server is busy. ${said(e.message)} It is asked again.` : `It could not be explained. ${said(e.message)}`),
			e.status !== 503 && el("button", {type: "button", "data-key": "explain-again", onclick: again}, "Try again")] :
		el("p", {role: "status"}, el("span", {class: "spinner", "aria-hidden": "true"}), " Why? The server plans for everybody who waits, to tell."));
}

function whole(name, state, again, signal) {
	const {pods, chain} = state, x = state.x || {}, now = timeOf(pods.now), of = chain.start && chain.start.decision;
	const victims = x.victims || (of && of.pod === name && (x.outcome || of.outcome) === "nominated" ? of.victims : []);
	return [heading(name, x.kind === "GroupExplanation" ? ["Group", x.queue && [" of ", queueLink(x.queue)]] : pods.items.length ? "Pod" : null), verdict(name, state, again, signal),
		el("div", {class: "columns"}, facts(pods.items[0], now), remedies(x), forecast(x, now)),
		victims.length > 0 && card("victims", "Has to go for it", null, el("ul", {class: "victims"}, victims.slice(0, 50).map(victimLine))),
		membersCard(x), protectedCard(x, now), sparedCard(x, now), nodesCard(x), chainCard(chain, name)];
}

export async function render(root, params, signal) {
	const name = params.parts.join("/");
	if (!name) {
		await search(root, signal);
		return;
	}
	const state = {x: null, error: null};
	const draw = () => {
		document.title = `${name} – cede`;
		if (state.x && state.x.unknown)
			gone(root, name, state.chain, state.x.unknown);
		else
			swap(root, whole(name, state, again, signal));
	};
	/* What is known of it is there at once; why it is so takes a plan of everybody who waits, and is asked for after that. */
	const known = async () => {
		[state.pods, state.chain] = await Promise.all([get("/api/v1/pods", {name, limit: 1}, signal), get("/api/v1/chain", {pod: name}, signal)]);
	};
	const explain = async () => {
		state.x = await orNothing(get(explainPath(name), {}, signal));
		state.error = null;
	};
	const explainFirst = () => explain().catch(error => {
		state.error = error;
		if (error.status === 503)
			later((error.retryAfter || BUSY_S) * 1000, signal).then(again);
	});
	const again = async () => {
		state.error = null;
		draw();
		await explainFirst();
		if (!signal.aborted)
			draw();
	};
	const load = async () => {
		await known();
		await explain();
		draw();
		stale();
	};
	await known();
	const explained = explainFirst();
	await Promise.race([explained, later(SOON_MS, signal)]);
	const wasSlow = !state.x && !state.error;
	draw();
	if (wasSlow)
		explained.then(() => !signal.aborted && draw());
	follow(signal, ["decision", "cluster", "settings"], load, stale);
}
