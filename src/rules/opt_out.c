/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Law 1: opting out of preemption is a strong wish, not a guarantee;
 * `opt-out: hard` leaves breaking it to DaemonSet work.
 */
#include "rules/judge.h"

bool judge_opted_out(const struct judge *j, const struct pod *v)
{
	const struct obj_class *class;

	if (v->obj->allows_preemption != UNSET)
		return v->obj->allows_preemption == NO;
	class = cluster_pod_class(j->cluster, v->obj);
	return class && class->allows_preemption == NO;
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	bool is_hard = j->settings.opt_out_is_hard && j->action != ACTION_REQUIRED_NODE;

	(void)victim;
	if (!judge_opted_out(j, v))
		return rule_may_go();
	return rule_says(is_hard ? IS_PROTECTED : IS_SPARED, RULE_OPT_OUT);
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	text_add(out, v->answer == IS_PROTECTED ? "it opted out of preemption"
						: "opted out, and other pods suffice (law 1)");
}

const struct rule rule_opt_out = {.judge = judge, .text = text};
