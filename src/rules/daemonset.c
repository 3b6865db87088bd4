/* SPDX-License-Identifier: Apache-2.0 */
/* A DaemonSet's pod would be back on that node at once: taking it frees nothing. */
#include "rules/judge.h"

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	(void)j;
	(void)victim;
	return v->obj->owner_kind == OWNER_DAEMONSET ? rule_says(IS_PROTECTED, RULE_DAEMONSET) : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	(void)v;
	text_add(out, "it belongs to a DaemonSet and would be back on the node at once");
}

const struct rule rule_daemonset = {.judge = judge, .text = text};
