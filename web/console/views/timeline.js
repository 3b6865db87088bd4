/* What was decided when: evictions, placements, waits; and who displaced whom, followed in both directions. */
import {get} from "../api.js";
import {decisionItem, momentAddress, sentence} from "../decisions.js";
import {el, hideTip, showTip, svg, swap} from "../dom.js";
import {iso, num, plural, span, timeOf, when} from "../format.js";
import {address, podLink} from "../links.js";
import {follow} from "../live.js";
import {stale} from "../notice.js";
import {card, choice, empty, heading, table} from "../parts.js";
import {ruleNames} from "../rules.js";

export const title = "Timeline";

const PAGE = 50, MOST = 1000, STEPS = 96;
const SHOWS = [["all", "Everything"], ["evictions", "Evictions"], ["placements", "Placements"], ["waits", "Waits"]];
const KINDS = [["evictions", "Evictions", "bar-evictions"], ["placements", "Placements", "bar-placements"], ["waits", "Waits", "bar-waits"]];
const FIELDS = ["show", "queue", "rule", "user", "pod", "from", "to"];

const filterOf = query => Object.fromEntries(FIELDS.map(k => [k, query.get(k) || ""]).filter(([k, v]) => v && !(k === "show" && v === "all")));

/* ---- how many there were when ---- */

const FEWEST = 40; /* bars are not wider than a fortieth of the picture */

function histogram(line, zoom) {
	const W = 1000, H = 84, n = line.placements.length, wide = Math.max(n, FEWEST), step = line.stepSeconds, from = timeOf(line.from);
	const total = i => KINDS.reduce((sum, [k]) => sum + line[k][i], 0);
	const most = Math.max(1, ...line.placements.map((_, i) => total(i)));
	const x = i => i / wide * W, h = v => v / most * (H - 4), parts = [svg("path", {class: "grid", d: `M0 ${H - 0.5}H${W}`})];
	let at = n - 1;
	for (let i = 0; i < n; i++) {
		let y = H;
		for (const [kind, , cls] of KINDS)
			if (line[kind][i] > 0) {
				const tall = Math.max(1.5, h(line[kind][i]));
				y -= tall;
				parts.push(svg("rect", {class: cls, x: x(i).toFixed(2), y: y.toFixed(2), width: Math.max(1, W / wide - 1).toFixed(2), height: tall.toFixed(2)}));
			}
	}
	const cursor = svg("rect", {class: "bar-cursor", x: 0, y: 0, width: Math.max(2, W / wide).toFixed(2), height: H, visibility: "hidden"});
	const said = el("p", {class: "reading", "aria-live": "polite"}, "A click on a bar shows that time alone.");
	const words = i => `${when(from + i * step)}, ${span(step)}: ` + KINDS.map(([k]) => plural(line[k][i], k.slice(0, -1), k)).join(", ");
	const read = i => {
		at = Math.max(0, Math.min(n - 1, i));
		cursor.setAttribute("x", x(at).toFixed(2));
		cursor.setAttribute("visibility", "visible");
		said.replaceChildren(words(at) + ". Enter shows that time alone.");
	};
	const indexOf = ev => {
		const box = picture.getBoundingClientRect();
		return Math.max(0, Math.min(n - 1, Math.floor((ev.clientX - box.left) / box.width * wide)));
	};
	const onKey = ev => {
		const move = {ArrowLeft: -1, ArrowRight: 1, Home: -n, End: n}[ev.key];
		if (move !== undefined)
			read(at + move);
		else if (ev.key === "Enter" || ev.key === " ")
			zoom(from + at * step, from + (at + 1) * step);
		else
			return;
		ev.preventDefault();
	};
	parts.push(cursor);
	const picture = svg("svg", {class: "chart histogram", viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: "none", role: "img", tabindex: "0", "data-key": "histogram",
		"aria-label": `${plural(line.total, "decision")} from ${when(timeOf(line.first))} to ${when(timeOf(line.last))}. Arrow keys read, Enter shows a part alone.`,
		onkeydown: onKey, onclick: ev => zoom(from + indexOf(ev) * step, from + (indexOf(ev) + 1) * step), onmouseleave: hideTip,
		onmousemove: ev => showTip(ev.clientX, ev.clientY, words(indexOf(ev)))}, parts);
	const labels = n < FEWEST ? [from] : [from, from + n / 2 * step, from + n * step];
	return el("figure", {}, picture, el("p", {class: "axis-labels", "aria-hidden": "true"}, labels.map(t => el("span", {}, when(t, step < 60)))),
		el("ul", {class: "legend"}, KINDS.map(([, name, cls]) => el("li", {}, el("span", {class: "key " + cls, "aria-hidden": "true"}), name)), el("li", {class: "say"}, `The tallest bar: ${num(most)}`)), said);
}

function behind(line) {
	const from = timeOf(line.from), rows = line.placements.map((_, i) => i).filter(i => KINDS.some(([k]) => line[k][i] > 0));
	return el("details", {"data-key": "histogram-table"}, el("summary", {}, "As a table"),
		table("histogram-rows", "Decisions over time", [{title: "from (UTC)", text: true, show: i => when(from + i * line.stepSeconds)},
			...KINDS.map(([k, name]) => ({title: name, show: i => num(line[k][i])}))], rows.slice(0, 400)));
}

/* ---- what is looked for ---- */

function filters(filter, queues, apply) {
	const field = (name, label, control) => el("label", {class: "field"}, el("span", {class: "label"}, label), control);
	const input = (name, hint, list) => el("input", {type: "search", value: filter[name] || "", placeholder: hint, "data-key": "filter-" + name, name, list, autocomplete: "off", spellcheck: "false",
		onchange: ev => apply({[name]: ev.target.value.trim()})});
	const pick = (name, values) => el("select", {"data-key": "filter-" + name, name, onchange: ev => apply({[name]: ev.target.value})},
		el("option", {value: ""}, "any"), [...new Set([...values, filter[name]].filter(Boolean))].map(v => el("option", {value: v, selected: v === filter[name]}, v)));
	const some = Object.keys(filter).length > 0;
	return el("form", {class: "filters", role: "search", "aria-label": "Decisions that are shown", onsubmit: ev => {
		ev.preventDefault();
		const data = new FormData(ev.target);
		apply(Object.fromEntries(["user", "pod"].map(k => [k, String(data.get(k) || "").trim()])));
	}},
	choice("show", "Show", SHOWS, filter.show || "all", show => apply({show})),
	field("queue", "Queue", pick("queue", queues)), field("rule", "Rule", pick("rule", ruleNames)),
	field("user", "User", input("user", "any")), field("pod", "Pod or group", input("pod", "any")),
	el("button", {type: "submit", class: "quiet"}, "Apply"),
	some && el("button", {type: "button", class: "quiet", "data-key": "filter-clear", onclick: () => apply(null)}, "Show everything"));
}

function windowLine(filter, apply) {
	if (!filter.from && !filter.to)
		return null;
	return el("p", {class: "window"}, `Only ${filter.from ? "from " + when(timeOf(filter.from)) : ""} ${filter.to ? "until " + when(timeOf(filter.to)) : ""} UTC. `,
		el("button", {type: "button", class: "quiet", "data-key": "whole-time", onclick: () => apply({from: "", to: ""})}, "Whole time"));
}

/* ---- the list ---- */

const FEW = 3;
const sameWait = (a, b) => a.decision.outcome === "waiting" && b.decision.outcome === "waiting" && a.at === b.at && a.decision.queue === b.decision.queue && a.decision.message === b.decision.message && !a.decision.victims.length && !b.decision.victims.length;

/* Those that wait for the same reason since the same moment stand together. */
function bundles(items) {
	const list = [];
	for (const x of items)
		if (list.length && sameWait(list[list.length - 1][0], x))
			list[list.length - 1].push(x);
		else
			list.push([x]);
	return list;
}

/* The rest of a bundle, drawn when somebody opens it. */
function restOf(items, filter) {
	const d = el("details", {"data-key": "bundle-" + items[items.length - 1].id}, el("summary", {}, `${num(items.length)} more wait for the same reason`));
	d.addEventListener("toggle", () => {
		if (d.open && d.childNodes.length === 1)
			d.append(el("ol", {class: "decisions"}, items.map(x => decisionItem(x, filter))));
	});
	return el("li", {class: "decision waiting bundle"}, d);
}

function decisionList(items, filter, id) {
	const one = x => decisionItem(x, filter, {isCurrent: String(x.id) === id});
	return el("ol", {class: "decisions"}, bundles(items).map(b => b.length > FEW && !b.some(x => String(x.id) === id) ? [one(b[0]), restOf(b.slice(1), filter)] : b.map(one)));
}

/* ---- who displaced whom ---- */

const shortOf = item => el("span", {}, sentence(item.decision));

function chainCard(chain, filter, close) {
	const start = chain.start, victims = start.decision.victims || [];
	const back = [...chain.because].reverse();
	const items = [
		...back.map((x, i) => decisionItem(x, filter, {lead: [i ? "For that, " : "It began here: ", podLink(x.took), " had to go."]})),
		decisionItem(start, filter, {isCurrent: true, lead: chain.because.length ? "And so it came to this:" : null}),
		...chain.led.map(x => decisionItem(x, filter, {depth: x.depth, lead: ["What became of ", podLink(x.victim), ":"]})),
	];
	const say = [];
	say.push(chain.because.length ? `Why is it here? ${plural(chain.because.length, "decision")} before this one led to it.` : "Nobody had displaced it before.");
	say.push(victims.length ? `Who came because of it? ${plural(victims.length, "pod")} had to go; ${chain.led.length ? plural(chain.led.length, "decision") + " followed from that." : "nothing was decided about them since."}` : "Nobody had to go for it.");
	return card("chain", "Who displaced whom", say.join(" "),
		el("ol", {class: "decisions chain", "aria-label": "Decisions that led to each other, in the order of time"}, items),
		chain.unknown.length > 0 && el("p", {class: "say"}, "Nothing is known since of ", chain.unknown.slice(0, 20).map((u, i) => [i ? ", " : "", podLink(u.pod)]), chain.unknown.length > 20 ? ` and ${chain.unknown.length - 20} more` : "", "."),
		(chain.cut || !chain.complete) && el("p", {class: "say"}, chain.cut ? "The chain is longer than is shown here." : "What was decided before is no longer kept."),
		el("div", {class: "controls"}, el("a", {href: momentAddress(start.id, {})}, "Link to this moment"),
			start.decision.pod && podLink(start.decision.pod, "Explain this pod"),
			el("button", {type: "button", class: "quiet", "data-key": "chain-close", onclick: close}, "Close")));
}

async function loadChain(id, signal) {
	try {
		return await get("/api/v1/chain", {id}, signal);
	} catch (error) {
		if (error.status === 404)
			return null;
		throw error;
	}
}

/* ---- the view ---- */

export async function render(root, params, signal) {
	let filter = filterOf(params.query), id = params.query.get("id") || "", shown = PAGE;
	const keepAddress = () => history.replaceState(null, "", address("timeline", [], {...filter, id}));

	const apply = changes => {
		filter = changes === null ? {} : Object.fromEntries(Object.entries({...filter, ...changes}).filter(([k, v]) => v && !(k === "show" && v === "all")));
		shown = PAGE;
		keepAddress();
		refresh();
	};
	const close = () => {
		id = "";
		keepAddress();
		refresh();
	};
	const more = () => {
		shown = Math.min(MOST, shown + 2 * PAGE);
		refresh();
	};
	const zoom = (from, to) => apply({from: iso(from), to: iso(to)});

	const load = async () => {
		const [list, line, queues, chain] = await Promise.all([
			get("/api/v1/decisions", {...filter, order: "newest", brief: "true", limit: shown}, signal),
			get("/api/v1/timeline", {...filter, steps: STEPS}, signal),
			get("/api/v1/queues", {}, signal),
			id ? loadChain(id, signal) : null,
		]);
		const some = Object.keys(filter).length > 0;
		swap(root, heading("Timeline", "What was decided, newest first. A time opens who displaced whom from there."),
			filters(filter, queues.items.map(q => q.queue), apply),
			id && !chain && card("chain", "Who displaced whom", "", empty("This moment is no longer kept.", "The server remembers the latest decisions only; the journal has the others.", el("button", {type: "button", onclick: close}, "Close"))),
			chain && chainCard(chain, filter, close),
			card("when", "When", null, windowLine(filter, apply),
				line.total && line.first === line.last ? el("p", {}, `${plural(line.total, "decision")}, all at ${when(timeOf(line.first))} UTC.`) : line.total ? [histogram(line, zoom), behind(line)] : empty("Nothing was decided in that time.", null)),
			card("what", "Decisions", line.complete ? null : "Older ones are no longer kept.",
				list.items.length ? decisionList(list.items, filter, id) :
					some ? empty("Nothing like that was decided.", "Show more kinds, or look for something else.", el("button", {type: "button", onclick: () => apply(null)}, "Show everything")) :
						empty("Nothing was decided yet.", "As soon as something waits, it appears here."),
				list.items.length > 0 && el("p", {class: "pager"}, `Showing ${num(list.items.length)} of ${num(line.total)} decisions.`, " ",
					list.more && shown < MOST && el("button", {type: "button", "data-key": "more", onclick: more}, "Show more"),
					list.more && shown >= MOST && "Choose a time above to see others.")));
		stale();
	};
	const refresh = () => load().catch(error => {
		if (!signal.aborted)
			stale(error);
	});
	await load();
	follow(signal, ["decision", "cluster"], load, stale);
}
