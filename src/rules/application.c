/* SPDX-License-Identifier: Apache-2.0 */
/* Law 3: nobody takes room from the own application. Pods without an application id are applications of their own. */
#include "rules/judge.h"

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	bool is_same = j->app != NAME_NONE && v->obj->app == j->app && labelset_get(j->vocab, v->labelset)->ns == j->ns;

	return is_same || victim == j->pod ? rule_says(IS_PROTECTED, RULE_APPLICATION) : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	(void)v;
	text_add(out, "it is of the same application (law 3)");
}

const struct rule rule_application = {.judge = judge, .text = text};
