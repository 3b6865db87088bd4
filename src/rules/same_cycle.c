/* SPDX-License-Identifier: Apache-2.0 */
/* Who got a place in the present cycle does not lose it in the same one: it has not even started. */
#include "rules/judge.h"

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	(void)victim;
	return ledger_is_new(j->ledger, v) ? rule_says(IS_PROTECTED, RULE_SAME_CYCLE) : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	(void)v;
	text_add(out, "it got its place in this cycle");
}

const struct rule rule_same_cycle = {.judge = judge, .text = text};
