/* SPDX-License-Identifier: Apache-2.0 */
/* Work that says it may not be interrupted is not. The core of semi-preemptible groups is judged where groups are. */
#include "rules/judge.h"

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	(void)j;
	(void)victim;
	return v->preemptibility == NON_PREEMPTIBLE ? rule_says(IS_PROTECTED, RULE_PREEMPTIBILITY) : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	(void)v;
	text_add(out, "it is non-preemptible");
}

const struct rule rule_preemptibility = {RULE_PREEMPTIBILITY, judge, text};
