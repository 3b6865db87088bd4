/* SPDX-License-Identifier: Apache-2.0 */
/* preemption.policy: disabled protects a queue's pods from everything but work that must run on their node. */
#include "rules/judge.h"
#include "rules/words.h"

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	struct rule_verdict says = rule_says(IS_PROTECTED, RULE_POLICY);

	(void)victim;
	if (v->queue == QUEUE_NONE || queue_get(j->tree, v->queue)->props.preemption_policy != POLICY_DISABLED)
		return rule_may_go();
	says.queue = v->queue;
	return says;
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	text_printf(out, "%s has preemption.policy: disabled", words_queue(c, v->queue));
}

const struct rule rule_policy = {.judge = judge, .text = text};
