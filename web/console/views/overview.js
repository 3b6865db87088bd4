/* Is all well? What waits and why, who is below its guarantee, who had to go in the last hour, and how the scheduler is. */
import {get} from "../api.js";
import {el, swap} from "../dom.js";
import {ago, amount, iso, num, percent, plural, quantity, shortReason, shortType, span, timeOf, titleIn, when} from "../format.js";
import {address, podLink, queueLink, timelineLink} from "../links.js";
import {follow} from "../live.js";
import {stale} from "../notice.js";
import {badge, card, empty, heading, table, tiles} from "../parts.js";
import {lowest} from "../queue_data.js";
import {entitlementBar, shareBar} from "../svg.js";

export const title = "Overview";
const EVENTS = ["decision", "evicted", "cluster", "settings", "leader"];
const HOUR = 3600, LATEST = 200, SHOWN = 8, SLOW_LAG_S = 90;
const REFRESH_MS = 15000; /* lag and leader change without an event */

/* ---- is all well? ---- */

const SOURCES = {files: "files", journal: "a journal", simulation: "a simulation", cluster: "the live cluster"};

/* [tone, sentence]: bad ones first. What is only busy is no fault: work that waits for room is what queues are for. */
function checksOf(o) {
	const list = [], d = o.daemon, below = new Set(o.belowGuarantee.map(b => b.queue));
	const check = (isGood, tone, good, wrong) => list.push(isGood ? ["good", good] : [tone, wrong]);
	check(below.size === 0, "bad", "No queue is below its guarantee while work waits.", `${plural(below.size, "queue is", "queues are")} below the guarantee while work waits.`);
	if (d) {
		check(d.synced, "bad", "Everything is listed.", "Not everything is listed yet: nothing is decided.");
		check(d.watchLagSeconds < SLOW_LAG_S, "bad", `Every watch speaks: the quietest was heard ${span(Math.round(d.watchLagSeconds))} ago.`, `A watch has said nothing for ${span(Math.round(d.watchLagSeconds))}.`);
		check(!d.stuckVictims, "warn", "Every victim has gone in time.", `${plural(d.stuckVictims, "victim")} should have gone and ${d.stuckVictims === 1 ? "is" : "are"} still there.`);
		check(!d.journalLost, "warn", "The journal is complete.", `${plural(d.journalLost, "record")} of the journal ${d.journalLost === 1 ? "was" : "were"} lost.`);
	}
	if (!o.nodes)
		list.push(["warn", "There are no nodes: nothing can run."]);
	else if (o.nodesNotReady !== undefined)
		check(!o.nodesNotReady, "warn", "Every node is ready.", `${plural(o.nodesNotReady, "node is", "nodes are")} not ready.`);
	const order = {bad: 0, warn: 1, good: 2};
	return list.sort((a, b) => order[a[0]] - order[b[0]]);
}

function verdict(o) {
	const checks = checksOf(o), worst = checks[0][0];
	const words = {good: "All is well.", warn: "Something wants a look.", bad: "Not all is well."}[worst];
	return el("section", {class: "card verdict " + worst, id: "verdict", "aria-labelledby": "verdict-title"}, el("h2", {id: "verdict-title"}, badge(worst, words)),
		el("ul", {class: "checks"}, checks.map(([tone, text]) => el("li", {class: tone}, el("span", {class: "mark", "aria-hidden": "true"}, {good: "✓", warn: "!", bad: "✕"}[tone]), text))));
}

/* Files stand still: what is decided about them is a plan. */
const isPlan = o => o.source === "files";

/* Of GPUs the kind there is most of; CPU where there are none. */
function scarcest(capacity) {
	const names = Object.keys(capacity), all = names.map(r => ({r, name: titleIn(names, r), used: quantity(capacity[r].used), all: quantity(capacity[r].allocatable)})).filter(c => c.all > 0);
	return all.filter(c => /gpu/i.test(c.r)).sort((a, b) => b.all - a.all)[0] || all.find(c => c.r === "cpu") || all[0];
}

function tilesOf(o) {
	const h = o.lastHour, dec = o.decisionSeconds, d = o.daemon;
	const scarce = scarcest(o.capacity || {});
	return tiles([
		{title: "Running", value: num(o.pods.running), note: `on ${plural(o.nodes, "node")}`},
		{title: "Waiting", value: num(o.pods.waiting), note: o.waiting.length ? `for ${plural(o.waiting.length, "reason")}` : "nothing waits"},
		scarce && {title: `${scarce.name} in use`, value: percent(scarce.used / scarce.all), note: `${amount(scarce.r, scarce.used)} of ${amount(scarce.r, scarce.all)}`},
		{title: isPlan(o) ? "Would have to go" : "Evictions, last hour", value: num(h.evictions), note: `${num(h.placements)} placed where there was room`},
		{title: isPlan(o) ? "Work that would be lost" : "Work lost, last hour", value: span(h.lostSeconds), note: "since start or checkpoint"},
		dec && {title: "Decision time", value: span(dec.p50), note: `p99 ${span(dec.p99)}, ${plural(dec.turns, "turn")}`},
		d && {title: "This replica", value: d.role, note: `${plural(d.writesInFlight || 0, "write")} under way`},
		d && {title: "Lag of the watches", value: span(Math.round(d.watchLagSeconds)), note: "since the quietest was heard", tone: d.watchLagSeconds < SLOW_LAG_S ? null : "bad"},
	]);
}

/* ---- what waits ---- */

const queueList = g => el("ul", {class: "bare"}, g.queues.slice(0, 3).map(q => el("li", {}, q.queue ? queueLink(q.queue) : "no queue", ` ${num(q.pods)}`)), g.queues.length > 3 && el("li", {class: "say"}, "and others"));
const upper = text => text.charAt(0).toUpperCase() + text.slice(1);

function waitingCard(o) {
	const most = Math.max(...o.waiting.map(g => g.pods), 1), now = timeOf(o.now);
	if (!o.waiting.length)
		return card("waiting", "Why work waits", null, empty("Nothing waits.", "Every pod has a place."));
	return card("waiting", "Why work waits", `${plural(o.waitingPods, "pod")}, by what was last decided about each.`, table("reasons", "Waiting pods by reason", [
		{title: "Reason", text: true, long: true, show: g => [el("span", {class: "reason"}, upper(shortReason(g.reason))), el("span", {class: "say small"}, "For example ", podLink(g.example), g.until && `; time changes it at ${when(timeOf(g.until))}`)]},
		{title: "Pods", show: g => [el("b", {}, num(g.pods)), shareBar(g.pods / most, `${num(g.pods)} pods`)]},
		{title: "Oldest", show: g => span(Math.max(0, Math.round(now - timeOf(g.oldest))))},
		{title: "Queues", text: true, long: true, show: queueList},
	], o.waiting));
}

/* ---- guarantees ---- */

function belowCard(o) {
	const rows = o.belowGuarantee;
	if (!rows.length)
		return card("below", "Below their guarantee", null, empty("Nobody is.", "Every queue that asks for it has what it is guaranteed, or nothing of it waits."));
	const amounts = b => ({used: quantity(b.used), guaranteed: quantity(b.guaranteed), max: Infinity, wanted: 0});
	return card("below", "Below their guarantee", "While work that asks for it waits.", table("short", "Queues below their guarantee", [
		{title: "Queue", text: true, show: b => queueLink(b.queue)},
		{title: "Resource", text: true, show: b => shortType(b.resource)},
		{title: "", text: true, show: b => el("div", {class: "bar-cell"}, entitlementBar(amounts(b), amounts(b).guaranteed * 1.05, `${b.queue} uses ${b.used} of ${b.guaranteed} guaranteed ${b.resource}`))},
		{title: "Used", show: b => amount(b.resource, quantity(b.used))},
		{title: "Guaranteed", show: b => amount(b.resource, quantity(b.guaranteed))},
		{title: "Lacks", show: b => el("b", {class: "bad"}, amount(b.resource, quantity(b.guaranteed) - quantity(b.used)))},
	], rows));
}

/* ---- who had to go ---- */

function evictionsOf(decisions) {
	return decisions.items.flatMap(d => d.decision.victims.map(v => ({...v, at: timeOf(d.at), id: d.id, taker: d.decision.pod, takerQueue: d.decision.queue, action: d.decision.action})));
}

function sumByQueue(list) {
	const sums = new Map();
	for (const v of list) {
		const s = sums.get(v.queue) || {queue: v.queue, n: 0, lost: 0};
		s.n++;
		s.lost += v.lostSeconds || 0;
		sums.set(v.queue, s);
	}
	return [...sums.values()].sort((a, b) => b.n - a.n || (a.queue < b.queue ? -1 : 1));
}

function evictionsCard(o, decisions) {
	const list = evictionsOf(decisions), sums = sumByQueue(list), now = timeOf(o.now), isNow = isPlan(o);
	const name = isNow ? "Who would have to go now" : "Evictions of the last hour";
	if (!list.length)
		return card("evictions", name, null, empty(isNow ? "Nobody has to go." : "Nobody had to go.", "No running pod gives way to another."));
	const link = timelineLink({show: "evictions"}, "All of them, and who came because of whom");
	return card("evictions", name, null, table("victims", name, [
		{title: "Victim", text: true, show: v => podLink(v.pod)},
		{title: isNow ? "Would make room for" : "Made room for", text: true, show: v => v.taker ? podLink(v.taker) : v.action},
		{title: "By", text: true, show: v => v.action},
		{title: "Lost", show: v => span(v.lostSeconds)},
		{title: "When", show: v => isNow ? "now" : ago(v.at, now)},
		{title: "Because", text: true, long: true, show: v => v.reason || v.rule || "–"},
	], list.slice(0, SHOWN)), list.length > SHOWN && el("p", {class: "say"}, `The latest ${SHOWN} of ${num(o.lastHour.evictions)}.`),
	sums.length > 1 && el("details", {"data-key": "by-queue"}, el("summary", {}, "By queue"), table("victim-queues", "Evictions by queue", [
		{title: "Queue", text: true, show: s => s.queue ? queueLink(s.queue) : "–"}, {title: "Evictions", show: s => num(s.n)}, {title: "Work lost", show: s => span(s.lost)}], sums)),
	link && el("p", {}, link));
}

/* ---- all of it ---- */

function complete(o) {
	return {...o, waiting: o.waiting || [], belowGuarantee: lowest(o.belowGuarantee || []), lastHour: o.lastHour || {evictions: 0, lostSeconds: 0, placements: 0}};
}

export async function render(root, params, signal) {
	const load = async () => {
		const o = complete(await get("/api/v1/overview", {}, signal));
		const from = iso(timeOf(o.now) - HOUR);
		const decisions = await get("/api/v1/decisions", {order: "newest", show: "evictions", brief: true, limit: LATEST, from}, signal);
		swap(root, heading("Overview", [`${SOURCES[o.source] ? `From ${SOURCES[o.source]}, as` : "As"} of ${when(timeOf(o.now))} UTC. Profile ${o.profile}.`, o.source === "simulation" && [" ", el("a", {href: address("reports", ["1"])}, "Its report")]]), verdict(o), tilesOf(o), waitingCard(o), belowCard(o), evictionsCard(o, decisions));
		document.getElementById("foot").replaceChildren(o.version ? `cede ${o.version}` : "");
		stale();
	};
	await load();
	const again = follow(signal, EVENTS, load, stale), timer = setInterval(again, REFRESH_MS);
	signal.addEventListener("abort", () => clearInterval(timer));
}
