/* SPDX-License-Identifier: Apache-2.0 */
/* Gangs that run with less than their minimum and cannot get it back: after a while what is left of them goes too. */
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

static void evict_all(struct engine *en, group_id group, int64_t now_ns, struct decisions *ret, struct decision *d)
{
	const struct group *g = ledger_group(en->ledger, group);
	struct victim *v;
	uint32_t n = 0;

	for (podset_id s = g->first_podset; s < g->first_podset + g->n_podsets; s++)
		n += ledger_podset(en->ledger, s)->n_placed;
	v = arena_n(ret->arena, n + 1, struct victim);
	n = 0;
	for (pod_id i = cluster_group_first(en->cluster, group); i != POD_NONE;
	     i = cluster_group_next(en->cluster, i)) {
		const struct pod *p = ledger_pod(en->ledger, i);

		if (p->group != group || p->state != POD_PLACED)
			continue;
		v[n++] =
			(struct victim){.pod = i, .node = p->node, .queue = p->queue, .lost_ns = lost_ns_of(p, now_ns)};
		ledger_evict(en->ledger, i);
	}
	qsort_r(v, n, sizeof(*v), by_name, en->ledger);
	d->victims = v;
	d->n_victims = n;
}

static void clean_up(struct engine *en, group_id group, int64_t now_ns, uint32_t cycle, struct decisions *ret)
{
	struct decision d = {.pod = POD_NONE,
			     .group = group,
			     .queue = ledger_group(en->ledger, group)->queue,
			     .outcome = OUTCOME_EVICTED,
			     .action = ACTION_STALE_GANG,
			     .node = NODE_NONE,
			     .runner_up = NODE_NONE,
			     .overdue = {.node = NODE_NONE},
			     .cycle = cycle,
			     .until_ns = TIME_NONE};

	evict_all(en, group, now_ns, ret, &d);
	decisions_add(ret, &d);
}

static bool is_due(const struct engine *en, group_id group, int64_t now_ns)
{
	const struct group *g = ledger_group(en->ledger, group);

	if (!g->is_live || g->obj->is_k8s || !is_stale(en, g) || has_succeeded(en, group))
		return false;
	return res_sub_sat(now_ns, g->obj->stale_ns == TIME_NONE ? now_ns : g->obj->stale_ns) >=
	       en->config->kai.staleness_grace_ns;
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
	ARRAY(group_id) due = {0};

	if (!profile_get(en->config->profile)->has_gangs || en->config->kai.staleness_grace_ns < 0)
		return;
	for (group_id i = 0; i < ledger_group_limit(en->ledger); i++)
		if (is_due(en, i, now_ns))
			array_push(&due, i);
	if (due.n)
		qsort_r(due.v, due.n, sizeof(*due.v), by_group_name, en);
	for (uint32_t i = 0; i < due.n; i++)
		clean_up(en, due.v[i], now_ns, cycle, ret);
	array_free(&due);
}
