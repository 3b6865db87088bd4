/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/min_runtime.h"

/* The first queue from here to the root that says anything. */
static struct min_runtime upward(const struct queue_tree *t, queue_id q, bool is_reclaim, int64_t fallback_ns)
{
	for (; q != QUEUE_NONE; q = queue_get(t, q)->parent) {
		const struct queue_spec *s = &queue_get(t, q)->spec;
		int64_t ns = is_reclaim ? s->reclaim_min_runtime_ns : s->preempt_min_runtime_ns;

		if (ns != TIME_NONE)
			return (struct min_runtime){ns, q};
	}
	return (struct min_runtime){fallback_ns, QUEUE_NONE};
}

struct min_runtime min_runtime_preempt(const struct queue_tree *t, const struct min_runtime_settings *s,
				       queue_id victim)
{
	return upward(t, victim, false, s->preempt_ns);
}

struct min_runtime min_runtime_reclaim(const struct queue_tree *t, const struct min_runtime_settings *s,
				       queue_id reclaimer, queue_id victim)
{
	queue_id down;

	if (reclaimer == QUEUE_NONE || victim == QUEUE_NONE)
		return (struct min_runtime){s->reclaim_ns, QUEUE_NONE};
	if (s->resolve == RESOLVE_QUEUE)
		return upward(t, victim, true, s->reclaim_ns);
	down = queue_step_down(t, queue_lca(t, reclaimer, victim), victim);
	return upward(t, down == QUEUE_NONE ? victim : down, true, s->reclaim_ns);
}
