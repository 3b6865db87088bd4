/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is reclaimed for work younger than its queue's preemption.delay (GQ-8). */
#include "rules/judge.h"
#include "units/duration.h"

static struct rule_verdict judge(const struct judge *j)
{
	struct rule_verdict v = rule_says(IS_PROTECTED, RULE_DELAY);
	int64_t delay = j->p->queue == QUEUE_NONE ? 0 : queue_get(j->tree, j->p->queue)->props.preemption_delay_ns;

	if (j->p->created_ns == TIME_NONE || j->now_ns >= time_add(j->p->created_ns, delay))
		return rule_may_go();
	v.until_ns = time_add(j->p->created_ns, delay);
	v.queue = j->p->queue;
	v.num[0] = delay;
	v.num[1] = time_since(j->now_ns, j->p->created_ns);
	return v;
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	text_add(out, "it is ");
	duration_text_short(v->num[1], out);
	text_add(out, " old; its queue reclaims after ");
	duration_text_short(v->num[0], out);
}

const struct rule rule_delay = {.of_preemptor = judge, .text = text};
