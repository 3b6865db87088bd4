/* SPDX-License-Identifier: Apache-2.0 */
/* Work with preemptionPolicy: Never waits and takes nothing: its own word, its class's or its group's. */
#include "rules/judge.h"

static struct rule_verdict judge(const struct judge *j)
{
	const struct obj_class *class = cluster_pod_class(j->cluster, j->p->obj);
	bool never = shape_get(j->vocab, j->p->shape)->never_preempts || (class && class->never_preempts) ||
		     (j->p->group != GROUP_NONE && ledger_group(j->ledger, j->p->group)->obj->never_preempts);

	return never ? rule_says(IS_PROTECTED, RULE_NEVER) : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	(void)v;
	text_add(out, "its preemptionPolicy is Never");
}

const struct rule rule_never = {.of_preemptor = judge, .text = text};
