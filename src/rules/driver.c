/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pod that keeps an application together goes last:
 * one labelled spark-role: driver, or the oldest of an application with several pods.
 */
#include "rules/judge.h"

static bool says_driver(const struct judge *j, const struct pod *v)
{
	name_id value;

	return j->spark_role && j->spark_driver &&
	       labels_get(&kin_get(j->vocab, v->kin)->labels, j->spark_role, &value) && value == j->spark_driver;
}

static bool is_older(const struct judge *j, const struct pod *a, const struct pod *b)
{
	int64_t x = a->created_ns == TIME_NONE ? INT64_MAX : a->created_ns,
		y = b->created_ns == TIME_NONE ? INT64_MAX : b->created_ns;

	return x != y ? x < y : name_cmp(j->names, a->name, b->name) < 0;
}

bool judge_is_driver(const struct judge *j, const struct pod *v)
{
	name_id ns = kin_get(j->vocab, v->kin)->ns;
	uint32_t n, others = 0;
	const pod_id *pods;

	if (says_driver(j, v))
		return true;
	if (v->obj->app == NAME_NONE || v->queue == QUEUE_NONE)
		return false;
	pods = ledger_queue_pods(j->ledger, v->queue, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct pod *o = ledger_pod(j->ledger, pods[i]);

		if (o == v || o->obj->app != v->obj->app || kin_get(j->vocab, o->kin)->ns != ns)
			continue;
		if (says_driver(j, o) || is_older(j, o, v))
			return false;
		others++;
	}
	return others > 0;
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	(void)victim;
	return judge_is_driver(j, v) ? rule_says(IS_SPARED, RULE_DRIVER) : rule_may_go();
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	(void)v;
	text_add(out, "it is its application's driver");
}

const struct rule rule_driver = {RULE_DRIVER, judge, text};
