/* Decisions as people read them: a sentence, who had to go and why, and links to everybody named. */
import {el} from "./dom.js";
import {clock, plural, span, timeOf, when} from "./format.js";
import {address, groupLink, nodeLink, podLink, queueLink} from "./links.js";
import {badge} from "./parts.js";

const OUTCOMES = {
	placed: ["good", "placed"], nominated: ["good", "gets room"], waiting: ["warn", "waits"], gated: ["plain", "gated"], evicted: ["bad", "evicted"],
};

const isMoved = v => (v.reason || "").startsWith("moves");

/* The badge of a decision: evictions before all else, because somebody loses something. */
export function outcomeBadge(d) {
	if (d.victims && d.victims.length)
		return d.victims.every(isMoved) ? badge("warn", `${plural(d.victims.length, "pod")} moved`) : badge("bad", plural(d.victims.length, "eviction"));
	return badge(...(OUTCOMES[d.outcome] || ["plain", d.outcome]));
}

/* "ads/x gets room on a100-2 as soon as 1 pod is out of the way", with links. */
export function sentence(d) {
	const who = d.pod ? podLink(d.pod) : d.group ? groupLink(d.group) : d.queue ? queueLink(d.queue) : "Somebody";
	const n = (d.victims || []).length;
	if (d.outcome === "placed")
		return [who, " starts on ", nodeLink(d.node)];
	if (d.outcome === "nominated")
		return [who, " gets room on ", nodeLink(d.node), n ? ` as soon as ${n === 1 ? "1 pod is" : n + " pods are"} out of the way` : ""];
	if (d.outcome === "evicted")
		return [who, `: ${plural(n, "pod")} had to go`];
	if (d.outcome === "gated")
		return [who, " is not to be scheduled yet"];
	return [who, " waits"];
}

export function victimLine(v) {
	const moves = isMoved(v);
	return el("li", {}, el("span", {class: moves ? "moves" : "goes"}, moves ? "moves: " : "goes: "), podLink(v.pod), v.queue && [" of ", queueLink(v.queue)], v.node && [" on ", nodeLink(v.node)],
		v.lostSeconds ? `, ${span(v.lostSeconds)} of work lost` : "", v.rule && [" ", badge("warn", `against ${v.rule}`)], v.reason && el("span", {class: "why"}, v.reason));
}

const MANY_VICTIMS = 8;

export function victimList(d, key) {
	const all = d.victims || [];
	if (!all.length)
		return null;
	const rest = all.slice(MANY_VICTIMS);
	return [el("ul", {class: "victims"}, all.slice(0, MANY_VICTIMS).map(victimLine)),
		rest.length > 0 && el("details", {"data-key": key + "-more"}, el("summary", {}, `${plural(rest.length, "more pod")} that had to go`), el("ul", {class: "victims"}, rest.map(victimLine)))];
}

/* What the rest of the decision says, in faint words. */
export function details(item) {
	const d = item.decision, said = [];
	if (d.queue)
		said.push(["queue ", queueLink(d.queue)]);
	if (d.group)
		said.push(["group ", groupLink(d.group)]);
	if (d.action && d.action !== "allocate")
		said.push("by " + d.action);
	if (item.user)
		said.push("user " + item.user);
	if (d.protectedPods)
		said.push(`${plural(d.protectedPods, "pod")} protected by ${(item.rules || []).join(", ")}`);
	if (d.rule)
		said.push(`held back by ${d.rule}${d.until ? " until " + when(timeOf(d.until)) : ""}`);
	return el("p", {class: "say small"}, said.map((s, i) => [i ? " · " : "", s]));
}

/* The address of one moment: the same page, with this decision followed. */
export const momentAddress = (id, query) => address("timeline", [], {...query, id});

export function moment(item, query) {
	const t = timeOf(item.at);
	return el("a", {href: momentAddress(item.id, query), class: "moment", "data-key": "moment-" + item.id, "aria-label": `${when(t)}: follow who displaced whom from here`},
		el("time", {datetime: item.at}, el("b", {}, clock(t)), el("small", {}, when(t).slice(0, 10))));
}

/* One decision as an item of a list. mark: what stands before it ("then", "because"), current: it is the one that is asked about. */
export function decisionItem(item, query, options = {}) {
	const d = item.decision, victims = d.victims || [];
	const kind = victims.length ? "evicts" : d.outcome;
	return el("li", {class: `decision ${kind}${options.isCurrent ? " current" : ""}`, "data-id": item.id, "aria-current": options.isCurrent ? "true" : null, style: options.depth ? {"--depth": options.depth} : null},
		moment(item, query),
		el("div", {class: "what"}, options.lead && el("p", {class: "lead"}, options.lead),
			el("p", {class: "sentence"}, outcomeBadge(d), " ", el("span", {}, sentence(d), ".")),
			victimList(d, "victims-" + item.id),
			d.message && d.outcome === "waiting" && el("p", {class: "why"}, d.message),
			details(item)));
}
