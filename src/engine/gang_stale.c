/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gangs that run with less than their minimum and cannot get it back: after a while what is left of them goes too,
 * unless a rule protects some of it: then all of it stays.
 */
#include <stdlib.h>

#include "engine/gang.h"
#include "engine/search.h"

static bool is_stale(const struct engine *en, const struct group *g)
{
	bool is_short = false;
	uint32_t placed = 0;

	for (podset_id s = g->first_podset; s < g->first_podset + g->n_podsets; s++) {
		const struct podset *x = ledger_podset(en->ledger, s);

		is_short |= x->n_placed + x->n_leaving < gang_minimum(en->ledger, s);
		placed += x->n_placed;
	}
	return is_short && placed;
}

static bool has_succeeded(const struct engine *en, group_id group)
{
	for (pod_id i = cluster_group_first(en->cluster, group); i != POD_NONE;
	     i = cluster_group_next(en->cluster, i)) {
		const struct pod *p = ledger_pod(en->ledger, i);

		if (p->group == group && p->state == POD_FINISHED && p->obj->phase == PHASE_SUCCEEDED)
			return true;
	}
	return false;
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct ledger *l = ctx;

	return name_cmp(vocab_names(ledger_vocab(l)), ledger_pod(l, ((const struct victim *)a)->pod)->name,
			ledger_pod(l, ((const struct victim *)b)->pod)->name);
}

struct cleaning { /* all stale gangs, one after the other */
	struct engine *en;
	struct judge j;
	struct cede_cycle plugins;
	int64_t now_ns;
	ARRAY(struct victim) v; /* of the present gang */
};

static bool evict_one(struct cleaning *c, pod_id pod)
{
	const struct pod *p = ledger_pod(c->en->ledger, pod);
	struct rule_verdict says;
	struct victim v = {.pod = pod, .node = p->node, .queue = p->queue, .lost_ns = lost_ns_of(p, c->now_ns)};

	engine_ask_plugins_for_nobody(c->en, &c->j, &c->plugins, pod);
	says = judge_victim(&c->j, pod);
	if (says.answer == IS_PROTECTED)
		return false;
	v.overridden = says.answer == IS_SPARED ? (enum rule_id)says.rule : RULE_NONE;
	array_push(&c->v, v);
	ledger_evict(c->en->ledger, pod);
	return true;
}

/* All that is left of it. False: a rule protects some of it, and nothing is done. */
static bool evict_all(struct cleaning *c, group_id group)
{
	struct engine *en = c->en;
	ledger_mark mark = ledger_get_mark(en->ledger);

	c->v.n = 0;
	for (pod_id i = cluster_group_first(en->cluster, group); i != POD_NONE;
	     i = cluster_group_next(en->cluster, i)) {
		const struct pod *p = ledger_pod(en->ledger, i);

		if (p->group != group || p->state != POD_PLACED || evict_one(c, i))
			continue;
		ledger_rollback(en->ledger, mark);
		return false;
	}
	if (c->v.n)
		qsort_r(c->v.v, c->v.n, sizeof(*c->v.v), by_name, en->ledger);
	return c->v.n > 0;
}

static void clean_up(struct cleaning *c, group_id group, uint32_t cycle, struct decisions *ret)
{
	struct decision d = {.pod = POD_NONE,
			     .group = group,
			     .queue = ledger_group(c->en->ledger, group)->queue,
			     .outcome = OUTCOME_EVICTED,
			     .action = ACTION_STALE_GANG,
			     .node = NODE_NONE,
			     .runner_up = NODE_NONE,
			     .overdue = {.node = NODE_NONE},
			     .cycle = cycle,
			     .until_ns = TIME_NONE};
	struct victim *v;

	if (!evict_all(c, group))
		return;
	v = arena_n(ret->arena, c->v.n, struct victim);
	memcpy(v, c->v.v, c->v.n * sizeof(*v));
	d.victims = v;
	d.n_victims = c->v.n;
	decisions_add(ret, &d);
}

static bool is_broken(const struct engine *en, group_id group)
{
	const struct group *g = ledger_group(en->ledger, group);

	return g->is_live && !g->obj->is_k8s && !g->obj->is_of_pods && is_stale(en, g) && !has_succeeded(en, group);
}

static bool is_on(const struct engine *en)
{
	return profile_has_action(en->config->profile, ACTION_STALE_GANG) && en->config->kai.staleness_grace_ns >= 0;
}

bool engine_gang_is_stale(const struct engine *en, group_id group)
{
	return is_on(en) && ledger_group(en->ledger, group)->is_live && is_broken(en, group);
}

static bool is_due(const struct engine *en, group_id group, int64_t now_ns)
{
	int64_t since_ns;

	if (!is_broken(en, group)) /* nor live: then there is no object to look at */
		return false;
	since_ns = ledger_group(en->ledger, group)->obj->stale_ns;
	return time_since(now_ns, since_ns == TIME_NONE ? now_ns : since_ns) >= en->config->kai.staleness_grace_ns;
}

int64_t stale_gang_due(const struct engine *en, group_id group)
{
	const struct group *g = ledger_group(en->ledger, group);

	if (!is_on(en) || !g->is_live || g->obj->stale_ns == TIME_NONE || !is_broken(en, group))
		return TIME_NONE;
	return time_add(g->obj->stale_ns, en->config->kai.staleness_grace_ns);
}

static int by_group_name(const void *a, const void *b, void *ctx)
{
	const struct engine *en = ctx;
	const struct names *names = vocab_names(ledger_vocab(en->ledger));
	const struct obj_group *x = ledger_group(en->ledger, *(const group_id *)a)->obj,
			       *y = ledger_group(en->ledger, *(const group_id *)b)->obj;
	int d = name_cmp(names, x->ns, y->ns);

	return d ? d : name_cmp(names, x->name, y->name);
}

/* By name, in whatever order they were read. */
void stale_gangs_run(struct engine *en, int64_t now_ns, uint32_t cycle, struct decisions *ret)
{
	struct rule_settings settings = engine_rule_settings(en);
	struct cleaning c = {.en = en, .now_ns = now_ns};
	ARRAY(group_id) due = {0};

	if (!is_on(en))
		return;
	for (group_id i = 0; i < ledger_group_limit(en->ledger); i++)
		if (is_due(en, i, now_ns))
			array_push(&due, i);
	if (!due.n)
		return;
	qsort_r(due.v, due.n, sizeof(*due.v), by_group_name, en);
	judge_init(&c.j, en->cluster, en->ledger, &settings, ACTION_STALE_GANG, POD_NONE, now_ns, &en->scratch);
	for (uint32_t i = 0; i < due.n; i++)
		clean_up(&c, due.v[i], cycle, ret);
	cycle_end_aside(&c.plugins);
	array_free(&c.v);
	array_free(&due);
}
