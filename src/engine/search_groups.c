/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups among those who may go. A gang that loses a pod it cannot spare has nothing left to do, so it goes as a whole;
 * whether it may is asked of every pod of it, wherever it runs. What was found out is kept while the search looks at
 * other nodes for the same short types.
 */
#include <stdlib.h>

#include "engine/gang.h"
#include "engine/search_internal.h"

/* Of a lone one there is nobody to go with. */
static bool is_of_gang(const struct node_search *g, const struct candidate *m)
{
	const struct ledger *l = g->s->c->ledger;

	return m->v.p->podset != PODSET_NONE && !pod_is_lone(l, m->v.p) &&
	       (ledger_group(l, m->v.p->group)->obj->goes_whole || gang_minimum(l, m->v.p->podset) > 0);
}

/* Could one of them go by itself at all? */
static bool has_surplus(const struct node_search *g, const struct candidate *m)
{
	const struct ledger *l = g->s->c->ledger;

	return !ledger_group(l, m->v.p->group)->obj->goes_whole && judge_can_spare(l, m->v.p->podset, 1);
}

/* ---- the whole group ---- */

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct cede_cycle *c = ctx;

	return name_cmp(c->names, ledger_pod(c->ledger, *(const pod_id *)a)->name,
			ledger_pod(c->ledger, *(const pod_id *)b)->name);
}

/* It runs, or was sent away a moment ago: the window of one is the whole group's. */
static bool has_window(const struct pod *p, group_id group)
{
	return p->group == group && (p->state == POD_PLACED || (p->state == POD_LEAVING && p->is_evicted));
}

/* Of several windows the one that ends last is told, in whatever order their pods were read. */
static void hear_window(const struct node_search *g, const struct pod *p, struct rule_verdict *ret)
{
	struct rule_verdict says = judge_window(g->s->j, p);

	if (says.answer != IS_PROTECTED)
		return;
	if (ret->answer != IS_PROTECTED || says.until_ns > ret->until_ns ||
	    (says.until_ns == ret->until_ns && says.podset < ret->podset))
		*ret = says;
}

static uint32_t placed_of(const struct node_search *g, group_id group, pod_id *ret, struct rule_verdict *ret_says)
{
	const struct cede_cycle *c = g->s->c;
	uint32_t n = 0;

	for (pod_id i = cluster_group_first(c->cluster, group); i != POD_NONE; i = cluster_group_next(c->cluster, i)) {
		const struct pod *p = ledger_pod(c->ledger, i);

		if (ret && has_window(p, group))
			hear_window(g, p, ret_says);
		if (p->group != group || p->state != POD_PLACED)
			continue;
		if (ret)
			ret[n] = i;
		n++;
	}
	return n;
}

static void look_at_whole(struct node_search *g, group_id group, struct whole *w)
{
	const struct cede_cycle *c = g->s->c;
	uint32_t n = placed_of(g, group, NULL, NULL);
	pod_id *pods = arena_n(c->arena, n + 1, pod_id);
	struct candidate *candidates = arena_n(c->arena, n + 1, struct candidate);
	node_id *homes = arena_n(c->arena, n + 1, node_id);

	*w = (struct whole){
		.short_types = g->s->j->short_types, .n = n, .candidates = candidates, .says = rule_may_go()};
	placed_of(g, group, pods, &w->says);
	qsort_r(pods, n, sizeof(*pods), by_name, g->s->c);
	w->may_go = w->says.answer != IS_PROTECTED;
	for (uint32_t i = 0; w->may_go && i < n; i++) {
		w->may_go = node_search_consider(g, pods[i], true, &candidates[i], &w->says);
		homes[i] = ledger_pod(c->ledger, pods[i])->node;
	}
	w->homes = homes;
}

static const struct whole *whole_of(struct node_search *g, group_id group)
{
	uint32_t at = map_get(&g->whole_at, group);

	if (at == MAP_NONE) {
		at = g->wholes.n;
		array_push(&g->wholes, arena_type(g->s->c->arena, struct whole));
		map_put(&g->whole_at, group, at);
	} else if (g->wholes.v[at]->short_types == g->s->j->short_types) {
		return g->wholes.v[at];
	}
	look_at_whole(g, group, g->wholes.v[at]);
	return g->wholes.v[at];
}

void node_search_forget_groups(struct node_search *g)
{
	map_free(&g->whole_at);
	array_free(&g->wholes);
}

/* ---- the rest of it, as one ---- */

static void list_fill(const struct res_vec *sum, struct res_amount *v, struct res_list *ret)
{
	ret->n = 0;
	ret->v = v;
	for (uint64_t left = sum->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		v[ret->n++] = (struct res_amount){.type = r, .amount = sum->v[r]};
	}
}

static void add(struct candidate *to, const struct candidate *m)
{
	to->is_opted_out |= m->is_opted_out;
	to->is_driver |= m->is_driver;
	to->is_thrashing |= m->is_thrashing;
	to->is_spared |= m->is_spared;
	to->n_opted_out += m->n_opted_out;
	to->n_drivers += m->n_drivers;
	to->n_thrashing += m->n_thrashing;
	to->lost_work = res_add_sat(to->lost_work, m->lost_work);
	to->distance += m->distance;
	to->start = m->start < to->start ? m->start : to->start;
	to->created = m->created < to->created ? m->created : to->created;
}

static bool goes_already(const struct node_search *g, pod_id pod)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (!g->candidates[i].rest && g->candidates[i].v.pod == pod)
			return g->candidates[i].goes;
	return false;
}

/* Pods that belong to it; with_apart: those that are candidates of their own and do not go belong to it too. */
void node_search_fill_rest(struct node_search *g, struct candidate *m, bool with_apart)
{
	struct rest *r = m->rest;
	struct res_vec all = {0}, here = {0};

	m->v.n_pods = m->n_here = m->n_opted_out = m->n_drivers = m->n_thrashing = m->distance = 0;
	m->lost_work = 0;
	m->start = m->created = INT64_MAX;
	for (uint32_t i = 0; i < r->whole->n; i++) {
		const struct candidate *x = &r->whole->candidates[i];

		if (r->is_apart[i] && (!with_apart || goes_already(g, x->v.pod)))
			continue;
		r->pods[m->v.n_pods] = x->v.pod;
		r->homes[m->v.n_pods++] = r->whole->homes[i];
		add(m, x);
		res_vec_add_list(&all, x->v.usage);
		if (r->whole->homes[i] != g->node)
			continue;
		m->n_here++;
		res_vec_add_list(&here, x->v.usage);
	}
	list_fill(&all, r->usage_v, &r->usage);
	list_fill(&here, r->here_v, &r->here);
}

static uint32_t types_of(const struct whole *w)
{
	uint64_t types = 0;

	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t k = 0; k < w->candidates[i].v.usage->n; k++)
			types |= UINT64_C(1) << w->candidates[i].v.usage->v[k].type;
	return (uint32_t)__builtin_popcountll(types);
}

static struct candidate rest_of(struct node_search *g, const struct whole *w, const struct candidate *first)
{
	struct arena *a = g->s->c->arena;
	struct rest *r = arena_type(a, struct rest);
	uint32_t n_types = types_of(w);
	struct candidate m = {.v = first->v, .group = first->v.p->group, .rest = r};

	*r = (struct rest){.whole = w,
			   .pods = arena_n(a, w->n + 1, pod_id),
			   .homes = arena_n(a, w->n + 1, node_id),
			   .usage_v = arena_n(a, n_types + 1, struct res_amount),
			   .here_v = arena_n(a, n_types + 1, struct res_amount),
			   .is_apart = arena_n(a, w->n + 1, bool)};
	m.v.pods = r->pods;
	m.v.usage = &r->usage;
	m.here = &r->here;
	for (uint32_t i = 0; i < w->n; i++)
		r->is_apart[i] = w->homes[i] == g->node && has_surplus(g, &w->candidates[i]);
	node_search_fill_rest(g, &m, false);
	return m;
}

bool node_search_rest_goes(const struct node_search *g, const struct candidate *m)
{
	for (uint32_t i = 0; m->group != GROUP_NONE && !m->rest && i < g->n; i++)
		if (g->candidates[i].rest && g->candidates[i].group == m->group && g->candidates[i].goes)
			return true;
	return false;
}

/* ---- all groups of a node ---- */

static void leave_rest(struct node_search *g, const struct candidate *m, bool is_refused_in_set)
{
	struct rule_verdict own = judge_window(g->s->j, m->v.p);
	const struct whole *w = whole_of(g, m->v.p->group);

	if (own.answer == IS_PROTECTED || !w->may_go)
		node_search_protect(g, m->v.pod, m->v.p, own.answer == IS_PROTECTED ? &own : &w->says,
				    is_refused_in_set);
}

void node_search_tell_refused(struct node_search *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		const struct candidate *m = &g->candidates[i];

		if (m->is_at_minimum && !m->goes && !node_search_rest_goes(g, m))
			leave_rest(g, m, true);
	}
}

static bool has_rest_of(const struct candidate *candidates, uint32_t n, group_id group)
{
	for (uint32_t i = 0; i < n; i++)
		if (candidates[i].rest && candidates[i].group == group)
			return true;
	return false;
}

/* Pods of its podset here that are candidates; is there surplus for all of them? */
static bool is_enough_surplus(const struct node_search *g, const struct candidate *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++)
		n += g->candidates[i].v.p->podset == m->v.p->podset;
	return has_surplus(g, m) && judge_can_spare(g->s->c->ledger, m->v.p->podset, n);
}

/* The rest stands before those of its group that may go by themselves. */
static void put_before_its_own(struct node_search *g, uint32_t at)
{
	struct candidate m = g->candidates[at];
	uint32_t to = 0;

	while (to < at && g->candidates[to].group != m.group)
		to++;
	memmove(&g->candidates[to + 1], &g->candidates[to], (at - to) * sizeof(m));
	g->candidates[to] = m;
}

/* One of a gang: by itself if there is surplus, and with the rest of it if there is not enough. */
static uint32_t join_one(struct node_search *g, const struct candidate *m, struct candidate *joined, uint32_t n)
{
	const struct whole *w;

	g->has_gangs = true;
	if (has_surplus(g, m)) {
		joined[n] = *m;
		joined[n].v.is_of_gang = true;
		joined[n++].group = m->v.p->group;
	}
	if (is_enough_surplus(g, m))
		return n;
	w = whole_of(g, m->v.p->group);
	if (!w->may_go && !has_surplus(g, m))
		leave_rest(g, m, false);
	if (w->may_go && !has_rest_of(joined, n, m->v.p->group)) {
		joined[n++] = rest_of(g, w, m);
		g->has_rest = true;
	}
	return n;
}

static bool has_gang(const struct node_search *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (is_of_gang(g, &g->candidates[i]))
			return true;
	return false;
}

void node_search_join_groups(struct node_search *g)
{
	struct candidate *joined;
	uint32_t n = 0;

	if (!has_gang(g))
		return;
	joined = arena_n(g->s->c->arena, 2 * g->n + 1, struct candidate);
	for (uint32_t i = 0; i < g->n; i++) {
		if (is_of_gang(g, &g->candidates[i]))
			n = join_one(g, &g->candidates[i], joined, n);
		else
			joined[n++] = g->candidates[i];
	}
	memcpy(g->candidates, joined, n * sizeof(*joined));
	g->n = n;
	if (n)
		qsort_r(g->candidates, n, sizeof(*g->candidates), by_eviction_order, g);
	for (uint32_t i = 0; i < n; i++)
		if (g->candidates[i].rest)
			put_before_its_own(g, i);
}
