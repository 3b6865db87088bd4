/* SPDX-License-Identifier: Apache-2.0 */
/*
 * laws_judge.h - a second, slow and simple reading of the laws, of preemptibility, minimum runtimes and of gangs that
 * go as a whole, on the worlds of laws_world.h. For tests only.
 */
#pragma once

#include "properties/laws_world.h"

/* ---- the slow reading ---- */

static inline const struct pod *pod_at(const struct world *w, pod_id id)
{
	return ledger_pod(cluster_ledger(w->s.cluster), id);
}

static inline int queue_of(const struct world *w, const struct pod *p)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);
	const char *path = name_str(vocab_names(w->s.vocab), queue_get(ledger_queues(l), p->queue)->path);

	for (int i = 0; i < w->n; i++)
		if (str_eq(w->q[i].path, path))
			return i;
	abort();
}

static inline int64_t units_of(const struct world *w, const struct pod *p)
{
	const struct shape *s = shape_get(w->s.vocab, p->shape);

	return res_list_get(&s->request, res_types_find(vocab_res(w->s.vocab), STORY_UNIT, strlen(STORY_UNIT)));
}

static inline bool is_in(const struct world *w, int q, int ancestor) /* ancestor -1: root */
{
	for (; q >= 0 && q != ancestor; q = w->q[q].parent)
		;
	return q == ancestor;
}

static inline int lca(const struct world *w, int a, int b)
{
	while (a >= 0 && !is_in(w, b, a))
		a = w->q[a].parent;
	return a;
}

/* Use of a queue; with_nominated: what is reserved counts too. */
static inline int64_t used(const struct world *w, int q, bool with_nominated)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);
	int64_t sum = 0;

	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *p = ledger_pod(l, i);
		bool counts = p->state == POD_PLACED ||
			      (with_nominated && p->state == POD_WAITING && p->nomination != NOMINATION_NONE);

		if (counts && is_in(w, queue_of(w, p), q))
			sum += units_of(w, p);
	}
	return sum;
}

static inline int fence_of(const struct world *w, int q)
{
	while (q >= 0 && !w->q[q].is_fence)
		q = w->q[q].parent;
	return q;
}

/* Free units of a node once whoever leaves is gone, reserved room kept. */
static inline int64_t room_of(const struct world *w, node_id n)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);
	res_id r = res_types_find(vocab_res(w->s.vocab), STORY_UNIT, strlen(STORY_UNIT));
	int64_t room = ledger_node_allocatable(l, n)[r];

	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *p = ledger_pod(l, i);

		if (p->node == n &&
		    (p->state == POD_PLACED || (p->state == POD_WAITING && p->nomination != NOMINATION_NONE)))
			room -= units_of(w, p);
	}
	return room;
}

/* ---- preemptibility and windows, the slow reading ---- */

static inline int64_t upward(const struct world *w, int q, bool is_reclaim)
{
	for (; q >= 0; q = w->q[q].parent) {
		int64_t window = is_reclaim ? w->q[q].reclaim : w->q[q].preempt;

		if (window != UNSET_S)
			return window;
	}
	return is_reclaim ? w->reclaim : w->preempt;
}

/* The window of a victim in queue v against work of queue p, in seconds. */
static inline int64_t window_of(const struct world *w, int p, int v)
{
	if (p == v)
		return upward(w, v, false);
	if (!w->by_leaf)
		while (w->q[v].parent >= 0 && !is_in(w, p, w->q[v].parent))
			v = w->q[v].parent;
	return upward(w, v, true);
}

static inline const struct g *group_of(const struct world *w, const struct pod *v)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	if (v->group == GROUP_NONE)
		return NULL;
	return &w->g[name_str(vocab_names(w->s.vocab), ledger_group(l, v->group)->obj->name)[1] - '0'];
}

static inline int64_t runs_for(const struct world *w, const struct pod *v)
{
	const struct g *g = group_of(w, v);

	if (g && g->ago != UNSET_S)
		return g->ago;
	return v->obj->started_ns == TIME_NONE ? 0 : (STORY_NOW_NS - v->obj->started_ns) / NS_PER_S;
}

static inline bool contains(const pod_id *set, uint32_t n, pod_id pod)
{
	for (uint32_t i = 0; i < n; i++)
		if (set[i] == pod)
			return true;
	return false;
}

static inline bool group_stays(const struct world *w, group_id group, const pod_id *set, uint32_t n)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		if (ledger_pod(l, i)->group == group && ledger_pod(l, i)->state == POD_PLACED && !contains(set, n, i))
			return true;
	return false;
}

/* Somebody of it was sent away a moment ago inside its window: many requests take no more than one could. */
static inline bool lost_young(const struct world *w, int p, group_id group)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *v = ledger_pod(l, i);

		if (v->group == group && v->state == POD_LEAVING && v->is_evicted &&
		    runs_for(w, v) < window_of(w, p, queue_of(w, v)))
			return true;
	}
	return false;
}

/* Placed pods of v's part: those that stay when the set goes, and those that were there before v. */
static inline void count_podset(const struct world *w, const struct pod *v, const pod_id *set, uint32_t n,
				int64_t *ret_stay, int64_t *ret_before)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	*ret_stay = *ret_before = 0;
	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *o = ledger_pod(l, i);
		int d = strcmp(name_str(vocab_names(w->s.vocab), o->name), name_str(vocab_names(w->s.vocab), v->name));

		if (o->state != POD_PLACED || o->podset != v->podset)
			continue;
		*ret_stay += !contains(set, n, i);
		*ret_before +=
			o->obj->started_ns < v->obj->started_ns || (o->obj->started_ns == v->obj->started_ns && d < 0);
	}
}

/* May they all be interrupted for work of queue p? NULL, or what protects one of them. */
static inline const char *judge_interruption(const struct world *w, int p, const pod_id *set, uint32_t n)
{
	const struct ledger *l = cluster_ledger(w->s.cluster);

	for (uint32_t i = 0; i < n; i++) {
		const struct pod *v = pod_at(w, set[i]);
		const struct g *g = group_of(w, v);
		bool is_young = runs_for(w, v) < window_of(w, p, queue_of(w, v));
		int64_t stay, before, min;

		if (!g && is_young)
			return "min-runtime";
		if (!g)
			continue;
		min = g->min[v->podset - ledger_group(l, v->group)->first_podset];
		count_podset(w, v, set, n, &stay, &before);
		if (g->preemptibility == NON_PREEMPTIBLE)
			return "preemptibility";
		if (g->preemptibility == SEMI_PREEMPTIBLE && before < min)
			return "preemptibility, core";
		if (stay < min && (is_young || lost_young(w, p, v->group)))
			return "min-runtime, minimum";
	}
	return NULL;
}

/* Of a group that loses more than its surplus nobody stays. */
static inline bool breaks_gang(const struct world *w, const pod_id *set, uint32_t n, group_id *ret_group)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct pod *v = pod_at(w, set[i]);
		const struct g *g = group_of(w, v);
		int64_t stay, before;

		if (!g)
			continue;
		count_podset(w, v, set, n, &stay, &before);
		*ret_group = v->group;
		if (stay < g->min[v->podset - ledger_group(cluster_ledger(w->s.cluster), v->group)->first_podset] &&
		    group_stays(w, v->group, set, n))
			return true;
	}
	return false;
}

static inline int64_t taken_from(const struct world *w, int q, const pod_id *set, uint32_t n)
{
	int64_t taken = 0;

	for (uint32_t k = 0; k < n; k++)
		if (is_in(w, queue_of(w, pod_at(w, set[k])), q))
			taken += units_of(w, pod_at(w, set[k]));
	return taken;
}

/* May this set lawfully go by reclaim for work like p? NULL, or the law it breaks. */
static inline const char *judge_laws(const struct world *w, const struct pod *p, const pod_id *set, uint32_t n)
{
	int q = queue_of(w, p);
	const char *kept = judge_interruption(w, q, set, n);
	group_id group;

	if (kept)
		return kept;
	if (breaks_gang(w, set, n, &group))
		return "half a gang";
	for (uint32_t i = 0; i < n; i++) {
		const struct pod *v = pod_at(w, set[i]);
		int vq = queue_of(w, v), a = lca(w, q, vq);
		bool is_owed = false;

		if (vq == q)
			return "own queue";
		if (v->obj->app != NAME_NONE && v->obj->app == p->obj->app)
			return "law 3";
		if (!is_in(w, vq, fence_of(w, q)))
			return "law 7";
		if (v->priority > p->priority)
			return "law 6";
		for (int b = q; b != a; b = w->q[b].parent) {
			if (w->q[b].guaranteed && used(w, b, true) >= w->q[b].guaranteed)
				return "law 4";
			is_owed |= w->q[b].guaranteed > 0;
		}
		if (!is_owed)
			return "law 4, no guarantee";
		for (int b = vq; b != a; b = w->q[b].parent) {
			if (w->q[b].guaranteed && used(w, b, false) <= w->q[b].guaranteed)
				return "law 5";
			if (w->q[b].guaranteed && used(w, b, false) - taken_from(w, b, set, n) < w->q[b].guaranteed)
				return "law 2";
		}
	}
	return NULL;
}

/* Does p fit on the node then, and so many units more below the maximums of its queues? */
static inline bool is_enough_for(const struct world *w, const struct pod *p, node_id node, const pod_id *set,
				 uint32_t n, int64_t units, int64_t more)
{
	int64_t freed = 0;

	for (uint32_t i = 0; i < n; i++)
		freed += pod_at(w, set[i])->node == node ? units_of(w, pod_at(w, set[i])) : 0;
	if (room_of(w, node) + freed < units)
		return false;
	for (int b = queue_of(w, p); b >= 0; b = w->q[b].parent)
		if (w->q[b].max && used(w, b, true) - taken_from(w, b, set, n) + more > w->q[b].max)
			return false;
	return true;
}
