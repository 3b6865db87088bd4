/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What loaded plugins say of a running pod that would have to go: may_evict of the plugins at PostFilter, in their
 * order. Protected by the first that says so, else spared by the first that says so. One that answers what does not
 * exist is switched off and has said nothing.
 */
#include "rules/plugin.h"

static const struct framework_plugin *at_work(const struct framework *f, uint32_t plugin)
{
	const struct framework_plugin *p = framework_plugin(f, plugin);

	return p->is_disabled ? NULL : p;
}

bool plugins_judge(const struct framework *f)
{
	uint32_t n;
	const uint32_t *order = framework_point(f, POINT_POST_FILTER, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct framework_plugin *p = at_work(f, order[i]);

		if (p && (p->table->may_evict || p->table->victim_order))
			return true;
	}
	return false;
}

static struct rule_verdict says(const struct cede_plugin *t, struct cede_verdict v, enum rule_answer answer)
{
	struct rule_verdict r = rule_says(answer, RULE_PLUGIN);

	r.plugin = t->name;
	r.words = t->reasons && v.reason < t->n_reasons ? t->reasons[v.reason] : NULL;
	return r;
}

static struct rule_verdict ask(const struct cede_cycle *c, uint32_t plugin, pod_id victim)
{
	const struct framework_plugin *p = at_work(c->framework, plugin);
	struct cede_verdict v;

	if (!p || !p->table->may_evict)
		return rule_may_go();
	v = p->table->may_evict(p->self, c, victim);
	switch (v.code) {
	case CEDE_SUCCESS:
		return rule_may_go();
	case CEDE_UNSCHEDULABLE:
	case CEDE_UNRESOLVABLE:
		return says(p->table, v, IS_PROTECTED);
	case CEDE_SKIP:
		return says(p->table, v, IS_SPARED);
	default:
		framework_eject(c->framework, plugin, "may_evict gave an answer that does not exist");
		return rule_may_go();
	}
}

static struct rule_verdict judge(struct judge *j, pod_id victim, const struct pod *v)
{
	const struct cede_cycle *c = j->cycle;
	struct rule_verdict soft = rule_may_go();
	uint32_t n;
	const uint32_t *order = framework_point(c->framework, POINT_POST_FILTER, &n);

	(void)v;
	for (uint32_t i = 0; i < n; i++) {
		struct rule_verdict one = ask(c, order[i], victim);

		if (one.answer == IS_PROTECTED)
			return one;
		if (one.answer == IS_SPARED && soft.answer == MAY_GO)
			soft = one;
	}
	return soft;
}

static void text(const struct cluster *c, const struct rule_verdict *v, struct text *out)
{
	(void)c;
	text_add(out, v->words ? v->words : "the plugin keeps it");
}

const struct rule rule_plugin = {.judge = judge, .text = text};

/* ---- the order of those who may go alike ---- */

int plugins_cmp(const struct cede_cycle *c, pod_id a, pod_id b)
{
	uint32_t n;
	const uint32_t *order = framework_point(c->framework, POINT_POST_FILTER, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct framework_plugin *p = at_work(c->framework, order[i]);
		int64_t x, y;

		if (!p || !p->table->victim_order)
			continue;
		x = p->table->victim_order(p->self, c, a);
		y = p->table->victim_order(p->self, c, b);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}
