/* SPDX-License-Identifier: Apache-2.0 */
/* Pods of other schedulers take room and are never victims. */
#include "rules/judge.h"

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	const char *name = name_str(j->names, shape_get(j->vocab, v->shape)->scheduler_name);

	(void)victim;
	for (uint32_t i = 0; i < j->settings.n_scheduler_names; i++)
		if (str_eq(j->settings.scheduler_names[i], name))
			return rule_may_go();
	return j->settings.n_scheduler_names ? rule_says(IS_PROTECTED, RULE_FOREIGN) : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	(void)v;
	text_add(out, "it is another scheduler's pod");
}

const struct rule rule_foreign = {.judge = judge, .text = text};
