/* What the server says of queues, as numbers, and in words. */
import {amount, quantity, shortType, span, timeOf, when} from "./format.js";

const FEW = 3;

/* Resources worth a column: those that queues use, guarantee or limit, in the server's order, without counts of pods. */
export function resourcesOf(queues) {
	const seen = [];
	for (const q of queues)
		for (const part of [q.used, q.guaranteed, q.max])
			for (const r of Object.keys(part || {}))
				if (r !== "pods" && r !== "ephemeral-storage" && !seen.includes(r))
					seen.push(r);
	return seen.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

const rank = r => /gpu/i.test(r) ? 0 : r === "cpu" ? 1 : r === "memory" ? 2 : 3;
export const mainResources = all => all.slice(0, FEW);

export function amountsOf(q, r) {
	const max = q.effectiveMax && r in q.effectiveMax ? quantity(q.effectiveMax[r]) : Infinity;
	return {
		used: quantity((q.used || {})[r]),
		guaranteed: q.guaranteed && r in q.guaranteed ? quantity(q.guaranteed[r]) : 0,
		fair: q.parent && q.fairShare && r in q.fairShare ? quantity(q.fairShare[r]) : undefined,
		max,
		wanted: quantity((q.wanted || {})[r]),
	};
}

export const reach = a => Math.max(a.used + a.wanted, a.guaranteed === Infinity ? 0 : a.guaranteed, a.fair === undefined || a.fair === Infinity ? 0 : a.fair, a.max === Infinity ? 0 : a.max);

/* "24 of 16 guaranteed GPU in use, 8 above it; at most 24; 4 more waited for" */
export function sentenceOf(q, r) {
	const a = amountsOf(q, r), say = v => amount(r, v), parts = [];
	if (a.guaranteed === Infinity)
		parts.push(`${say(a.used)} ${shortType(r)} used, guaranteed without limit`);
	else if (a.guaranteed > 0)
		parts.push(`${say(a.used)} used of ${say(a.guaranteed)} guaranteed ${shortType(r)}`);
	else
		parts.push(`${say(a.used)} ${shortType(r)} used, nothing guaranteed`);
	if (a.guaranteed > 0 && a.used > a.guaranteed)
		parts.push(`${say(a.used - a.guaranteed)} above it`);
	if (a.guaranteed > 0 && a.guaranteed !== Infinity && a.used < a.guaranteed && a.wanted > 0)
		parts.push(`${say(a.guaranteed - a.used)} below it while work waits`);
	if (a.fair !== undefined)
		parts.push(`fair share ${say(a.fair)}`);
	if (a.max !== Infinity)
		parts.push(`at most ${say(a.max)}`);
	if (a.wanted > 0)
		parts.push(`${say(a.wanted)} waited for`);
	return `${q.queue}: ${parts.join(", ")}.`;
}

const seconds = text => {
	let sum = 0;
	for (const m of (text || "").matchAll(/([0-9.]+)(ms|d|h|m|s)/g))
		sum += Number(m[1]) * {ms: 0.001, s: 1, m: 60, h: 3600, d: 86400}[m[2]];
	return sum;
};

/* Where a queue below it lacks the same, the one above is not told again. rows: [{queue, resource}] */
export const lowest = rows => rows.filter(a => !rows.some(b => a.resource === b.resource && b.queue.startsWith(a.queue + ".")));
/* Queues that are below their guarantee while work waits, and in what. */
export const lacking = queues => lowest(queues.flatMap(q => (q.short || []).map(resource => ({queue: q.queue, resource}))));

/* The nearest queue above it that has a fence. */
function fenceAbove(q, queues) {
	const byName = new Map(queues.map(x => [x.queue, x]));
	for (let up = byName.get(q.parent); up; up = byName.get(up.parent))
		if ((up.settings || {}).preemptionPolicy === "fence")
			return up;
	return null;
}

/* [[badge, sentence]] of what applies to a queue, inherited or its own; queues: all of them, where those above it shall be asked. */
export function whatApplies(q, queues = []) {
	const s = q.settings || {}, list = [], above = s.preemptionPolicy === "fence" ? null : fenceAbove(q, queues);
	if (s.preemptionPolicy === "fence")
		list.push(["fence", "Work below this queue takes room only from inside of it, and is taken from by others as usual."]);
	if (above)
		list.push(["fence above", `Its work takes room back only from inside of ${above.queue}, which has a fence.`]);
	if (s.preemptionPolicy === "disabled")
		list.push(["nobody has to go", "preemption.policy is disabled: no pod of this queue has to go, but for work that must run on its node."]);
	if (s.protectedHours)
		list.push([s.protectedUntil ? "protected now" : "protected hours", `Its work is protected at these hours: ${s.protectedHours}${s.protectedUntil ? `; that is now, until ${when(timeOf(s.protectedUntil))} UTC` : ""}.`]);
	if (s.priorityFence)
		list.push(["priority fence", "Priorities inside count only inside; outside all its pods have the queue's own."]);
	if (s.priorityOffset)
		list.push(["priority offset", `Its pods count with ${s.priorityOffset > 0 ? "+" : ""}${s.priorityOffset} outside of it.`]);
	if (seconds(s.preemptMinRuntime))
		list.push(["minimum runtime", `A pod runs ${span(seconds(s.preemptMinRuntime))} before work of its own queue may take its room.`]);
	if (seconds(s.reclaimMinRuntime))
		list.push(["minimum runtime", `A pod runs ${span(seconds(s.reclaimMinRuntime))} before another queue may reclaim its room.`]);
	if (seconds(s.preemptionDelay))
		list.push(["delay", `Its work waits ${span(seconds(s.preemptionDelay))} before it takes room from others.`]);
	if (s.maxApplications)
		list.push(["applications", `At most ${s.maxApplications} applications run at the same time.`]);
	if (q.draining)
		list.push(["draining", "Nothing new starts in it."]);
	return list;
}

/* Those worth a badge in the tree. */
export const badgesOf = q => whatApplies(q).map(x => x[0]).filter(b => !["delay", "applications", "priority offset"].includes(b)).filter((b, i, all) => all.indexOf(b) === i);
