/* SPDX-License-Identifier: Apache-2.0 */
/* Work with preemptionPolicy: Never waits and takes nothing: its own word, its class's or its group's. */
#include "rules/judge.h"

/* A class's word counts also where the API server has not written it into the pod. */
bool pod_never_preempts(const struct cluster *c, const struct ledger *l, const struct pod *p)
{
	const struct obj_class *class = cluster_pod_class(c, p->obj);

	return shape_get(ledger_vocab(l), p->shape)->never_preempts || (class && class->never_preempts) ||
	       (p->group != GROUP_NONE && ledger_group(l, p->group)->obj->never_preempts);
}

static struct rule_verdict judge(const struct judge *j)
{
	return pod_never_preempts(j->cluster, j->ledger, j->p) ? rule_says(IS_PROTECTED, RULE_NEVER) : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	(void)v;
	text_add(out, "its preemptionPolicy is Never");
}

const struct rule rule_never = {.of_preemptor = judge, .text = text};
