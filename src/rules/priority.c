/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Law 6. Between queues victims have a lower or equal priority, compared as the queues adjust them below their common
 * ancestor; inside one queue, and among pods without queues, strictly lower.
 */
#include <inttypes.h>

#include "rules/judge.h"

static int64_t seen(bool is_fenced, int64_t shift, int32_t priority)
{
	return is_fenced ? shift : shift + priority;
}

/* The waiting pod's own priority as it looks from just below ancestor. */
static int64_t own_priority(const struct judge *j, queue_id ancestor)
{
	bool is_fenced = false;
	int64_t shift = 0;

	for (queue_id q = j->p->queue; q != ancestor && q != QUEUE_NONE; q = queue_get(j->tree, q)->parent) {
		const struct queue_props *p = &queue_get(j->tree, q)->props;

		is_fenced |= p->is_priority_fence;
		shift = p->is_priority_fence ? p->priority_offset : shift + p->priority_offset;
	}
	return seen(is_fenced, shift, j->p->priority);
}

/* What goes as a whole group counts as the group, where the profile says so. */
static int64_t priority_of(const struct judge *j, const struct pod *v)
{
	const struct group *g = v->group == GROUP_NONE ? NULL : ledger_group(j->ledger, v->group);

	return g && g->obj->goes_whole && profile_get(j->settings.profile)->has_group_priorities ? g->priority
												 : v->priority;
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_PRIORITY);
	bool is_strict = j->action == ACTION_PREEMPT || j->action == ACTION_DISPLACE;
	int64_t mine = j->p->priority, theirs = priority_of(j, v);

	(void)victim;
	if (j->action == ACTION_RECLAIM && v->queue != QUEUE_NONE) {
		const struct victim_queue *o = judge_queue(j, v->queue);

		mine = own_priority(j, o->ancestor);
		theirs = seen(o->is_fenced, o->priority_shift, v->priority);
	}
	if (theirs < mine || (theirs == mine && !is_strict))
		return rule_may_go();
	says.num[0] = theirs;
	says.num[1] = mine;
	says.reason = is_strict;
	return says;
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	/* Law 6 is about other queues; that inside one only lower priorities go is Kubernetes' rule. */
	text_printf(out, "its priority %" PRId64 " is %s %" PRId64 "%s", v->num[0], v->reason ? "not below" : "above",
		    v->num[1], v->reason ? "" : " (law 6)");
}

const struct rule rule_priority = {.judge = judge, .text = text};
