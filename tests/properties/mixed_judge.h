/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed_judge.h - a second, slow and simple reading of who is protected from whom, in every profile. It asks nothing of
 * cede's rules. For tests only.
 */
#pragma once

#include "model/rule_table.h"
#include "properties/mixed_model.h"

struct m_preemption { /* who takes what from whom */
	enum action action;
	int pod;	   /* -1: nobody in particular */
	struct m_set pods; /* all that are given room by it: one, or a gang */
	const int *nodes;  /* where, by index as in pods */
	struct m_set victims;
};

/* ---- windows (MR) ---- */

static inline int64_t window_upward(const struct mixed *m, int q, bool is_reclaim)
{
	for (; q >= 0; q = m->q[q].parent) {
		int64_t w = is_reclaim ? m->q[q].reclaim : m->q[q].preempt;

		if (w != UNSET_S)
			return w;
	}
	return is_reclaim ? m->reclaim : m->preempt;
}

static inline int64_t window_of(const struct mixed *m, int p, int v, bool is_same)
{
	if (is_same)
		return window_upward(m, v, false);
	if (!m->by_leaf && p != v) /* below themselves there is no step down */
		while (v >= 0 && m->q[v].parent != queue_meet(m, p, v))
			v = m->q[v].parent;
	return window_upward(m, v, true);
}

/* Inside its window for this preemption? Consolidation must respect both. */
static inline bool is_young(const struct mixed *m, const struct m_preemption *c, const struct m_pod *v)
{
	int p = c->pod < 0 ? v->leaf : m_at(m, c->pod)->leaf;
	int64_t runs = runs_for(m, v), window = window_of(m, p, v->leaf, c->pod < 0 || p == v->leaf);

	if (runs == UNSET_S)
		return false;
	if (c->action == ACTION_CONSOLIDATE)
		return runs < window_upward(m, v->leaf, false) || runs < window_of(m, p, v->leaf, false);
	return runs < window;
}

/* ---- groups ---- */

static inline int64_t stay_of(const struct mixed *m, const struct m_pod *v, const struct m_set *gone)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < m->p.n; i++)
		n += m->p.v[i].state == M_RUNS && is_of_its_podset(m, &m->p.v[i], v) && !m_has(gone, (int)i);
	return n;
}

/* Pods of its part that have been running longer: the core comes first (PP-8). */
static inline int64_t seniors_of(const struct mixed *m, int victim)
{
	const struct m_pod *v = m_at(m, victim);
	int64_t n = 0;

	for (uint32_t i = 0; i < m->p.n; i++) {
		const struct m_pod *o = &m->p.v[i];
		int64_t d = (o->is_placed ? -1 : o->age) - (v->is_placed ? -1 : v->age);

		if (o->state != M_RUNS || !is_of_its_podset(m, o, v) || (int)i == victim)
			continue;
		if (d == 0)
			d = o->age != v->age ? o->age - v->age : -strcmp(o->name, v->name);
		n += d > 0;
	}
	return n;
}

static inline const char *judge_interruption(const struct mixed *m, const struct m_preemption *c, int victim)
{
	const struct m_pod *v = m_at(m, victim);
	int64_t min = v->has_group ? minimum_of(m, v) : 0;

	if (v->may == NON_PREEMPTIBLE)
		return "preemptibility";
	if (v->may == SEMI_PREEMPTIBLE && (!min || seniors_of(m, victim) < min) && m->profile != PROFILE_KAI)
		return "preemptibility: core";
	if (v->may == SEMI_PREEMPTIBLE && m->profile == PROFILE_KAI && stay_of(m, v, &c->victims) < min)
		return "preemptibility: less than the core stays";
	if (c->action == ACTION_STALE_GANG || !is_young(m, c, v))
		return NULL;
	if (!min)
		return "min-runtime";
	return stay_of(m, v, &c->victims) < min ? "min-runtime: minimum" : NULL;
}

/* ---- budgets ---- */

static inline bool is_covered(const struct m_budget *b, const struct m_pod *p)
{
	return b->ns == p->ns && (b->team < 0 || b->team == p->team);
}

static inline const char *judge_budgets(const struct mixed *m, const struct m_preemption *c)
{
	for (int i = 0; i < m->n_budgets; i++) {
		int64_t n = 0;

		for (uint32_t k = 0; k < c->victims.n; k++)
			n += is_covered(&m->b[i], m_at(m, c->victims.v[k]));
		if (n && m->b[i].spent + n > m->b[i].allowed)
			return "budget";
	}
	return NULL;
}

/* ---- queues (GQ) ---- */

static inline int fence_of(const struct mixed *m, int q)
{
	while (q >= 0 && m->q[q].policy != M_FENCE)
		q = m->q[q].parent;
	return q;
}

static inline bool is_disabled(const struct mixed *m, int q)
{
	while (q >= 0 && m->q[q].policy == M_UNSAID)
		q = m->q[q].parent;
	return q >= 0 && m->q[q].policy == M_DISABLED;
}

static inline int64_t delay_of(const struct mixed *m, int q)
{
	if (q < 0 || m->q[q].kind == IS_KAI)
		return 0;
	while (q >= 0 && m->q[q].delay == UNSET_S)
		q = m->q[q].parent;
	return q >= 0 ? m->q[q].delay : 30;
}

static inline int64_t rank_seen(const struct mixed *m, const struct m_pod *p, int from)
{
	int64_t rank = p->rank;

	for (int q = p->leaf; q >= 0 && q != from; q = m->q[q].parent)
		rank = m->q[q].is_priority_fence ? m->q[q].offset : rank + m->q[q].offset;
	return rank;
}

static inline bool asks_for(const struct mixed *m, const struct m_preemption *c, int type)
{
	for (uint32_t i = 0; i < c->pods.n; i++)
		if (m_at(m, c->pods.v[i])->ask[type])
			return true;
	return false;
}

/* What the preemptor lacks where it goes, and below maximums. */
static inline bool is_short_of(const struct mixed *m, const struct m_preemption *c, int type)
{
	int64_t all[M_TYPES] = {0};

	for (uint32_t i = 0; i < c->pods.n; i++) {
		int64_t asks = 0, held = 0;

		for (uint32_t k = 0; k < c->pods.n; k++) { /* their own nominations are not in their way */
			const struct m_pod *p = m_at(m, c->pods.v[k]);

			asks += c->nodes[k] == c->nodes[i] ? p->ask[type] : 0;
			held += p->state == M_WAITS && p->nomination == c->nodes[i] ? p->ask[type] : 0;
		}
		for (int t = 0; t < M_TYPES; t++)
			all[t] += m_at(m, c->pods.v[i])->ask[t];
		if (asks && asks > room_on(m, c->nodes[i], type, -1, NULL, SOON, ALL_NOMINATIONS) + held)
			return true;
	}
	return lacks_below_max(m, c->pods.v[0], all, type, &c->pods);
}

static inline bool is_guaranteed(const struct mixed *m, const struct m_preemption *c, int meet, int type)
{
	for (int q = m_at(m, c->pod)->leaf; q >= 0 && q != meet; q = m->q[q].parent)
		if (m->q[q].guaranteed[type] && asks_for(m, c, type))
			return true;
	return false;
}

/*
 * The types in which laws 4 and 5 are judged against this victim. Law 2 is judged in the same; in all, which is told,
 * where nothing the pod is short of can be judged.
 */
static inline bool types_of(const struct mixed *m, const struct m_preemption *c, int meet, bool *ret)
{
	bool any = false;

	for (int t = 0; t < M_TYPES; t++) {
		ret[t] = is_short_of(m, c, t) && (t != M_PODS || is_guaranteed(m, c, meet, t));
		any |= ret[t];
	}
	for (int t = 0; !any && t < M_TYPES; t++)
		ret[t] = is_guaranteed(m, c, meet, t);
	return !any;
}

static inline const char *judge_law_4(const struct mixed *m, const struct m_preemption *c, int meet, const bool *types)
{
	bool any = false;

	for (int t = 0; t < M_TYPES; t++) {
		if (types[t] && !is_guaranteed(m, c, meet, t))
			return "law 4: no guarantee";
		any |= types[t];
		for (int q = m_at(m, c->pod)->leaf; types[t] && q >= 0 && q != meet; q = m->q[q].parent)
			if (m->q[q].guaranteed[t] && used_in(m, q, t, true, &c->pods) >= m->q[q].guaranteed[t])
				return "law 4";
	}
	return any ? NULL : "law 4: nothing is owed";
}

static inline const char *judge_laws_2_and_5(const struct mixed *m, const struct m_preemption *c, const struct m_pod *v,
					     int meet, const bool *types, bool in_all_types)
{
	for (int q = v->leaf; q >= 0 && q != meet; q = m->q[q].parent) {
		for (int t = 0; t < M_TYPES; t++) {
			int64_t g = m->q[q].guaranteed[t], before = used_in(m, q, t, false, NULL),
				after = used_in(m, q, t, false, &c->victims);

			if (g && types[t] && before <= g)
				return "law 5";
			if (g && (types[t] || (in_all_types && v->ask[t])) && after < before && after < g)
				return "law 2";
		}
	}
	return NULL;
}

static inline const char *judge_reclaim(const struct mixed *m, const struct m_preemption *c, const struct m_pod *v)
{
	const struct m_pod *p = m_at(m, c->pod);
	int meet = queue_meet(m, p->leaf, v->leaf);
	bool types[M_TYPES], in_all_types;
	const char *why;

	if (m->reclaim_is_off)
		return "reclaim is off";
	if (v->leaf == p->leaf)
		return "reclaim in the own queue";
	if (!queue_is_in(m, v->leaf, fence_of(m, p->leaf)))
		return "fence";
	if (rank_seen(m, v, meet) > rank_seen(m, p, meet))
		return "priority between queues";
	if (p->age < delay_of(m, p->leaf))
		return "delay";
	in_all_types = types_of(m, c, meet, types) || m->judges_all_types;
	why = judge_law_4(m, c, meet, types);
	return why ? why : judge_laws_2_and_5(m, c, v, meet, types, in_all_types);
}

/* ---- profiles ---- */

static inline const char *judge_queued(const struct mixed *m, const struct m_preemption *c, int victim)
{
	const struct m_pod *v = m_at(m, victim), *p = c->pod < 0 ? NULL : m_at(m, c->pod);

	if (v->state != M_RUNS)
		return "does not run";
	if (v->leaf == BAD_QUEUE)
		return "has no queue";
	if (!is_ours(m, v))
		return "foreign";
	if (v->is_daemon)
		return "daemonset";
	if (p && p->app >= 0 && p->app == v->app && p->ns == v->ns)
		return "application";
	if (c->action != ACTION_REQUIRED_NODE && is_disabled(m, v->leaf))
		return "policy";
	if (m->opt_out_is_hard && opts_out(m, v) && c->action != ACTION_REQUIRED_NODE)
		return "opt-out";
	if (c->action == ACTION_RECLAIM)
		return judge_reclaim(m, c, v);
	if (c->action == ACTION_QUOTA || c->action == ACTION_CONSOLIDATE)
		return NULL;
	if ((c->action == ACTION_PREEMPT || c->action == ACTION_DISPLACE) && v->leaf != p->leaf)
		return "another queue";
	if (v->rank > p->rank || (v->rank == p->rank && c->action != ACTION_REQUIRED_NODE))
		return "priority";
	return NULL;
}

static inline const char *judge_kai(const struct mixed *m, const struct m_preemption *c, int victim)
{
	const struct m_pod *v = m_at(m, victim), *p = c->pod < 0 ? NULL : m_at(m, c->pod);

	if (v->state != M_RUNS && !v->was_ours) /* who was moved may lose the new place to a later action */
		return "does not run";
	if (!is_ours(m, v))
		return "foreign";
	if (v->leaf == BAD_QUEUE)
		return "has no queue";
	if (c->action == ACTION_PREEMPT && (v->leaf != p->leaf || v->rank >= p->rank))
		return "priority";
	if (c->action == ACTION_RECLAIM && v->leaf == p->leaf)
		return "reclaim in the own queue";
	return NULL;
}

/* Of a gang those that may take room from others do. */
static inline bool all_never_take(const struct mixed *m, const struct m_preemption *c)
{
	for (uint32_t i = 0; i < c->pods.n; i++)
		if (!never_takes(m, m_at(m, c->pods.v[i])))
			return false;
	return true;
}

/* The plugin of mixed_run.h keeps this team's pods, in every profile and every action but stale gangs. */
enum { KEPT_TEAM = 2 };
static inline bool is_kept_by_plugin(const struct mixed *m, const struct m_pod *v)
{
	return m->has_plugin && v->team == KEPT_TEAM;
}

/* Who had to be protected from this preemption, and by what? NULL: nobody. */
static inline const char *judge_preemption(const struct mixed *m, const struct m_preemption *c, int *ret_victim)
{
	const char *why = NULL;

	if (c->pod >= 0 && c->action != ACTION_CONSOLIDATE && m->profile != PROFILE_KAI && all_never_take(m, c))
		why = "never";
	*ret_victim = c->victims.v[0];
	if (m->profile == PROFILE_DEFAULT && c->action != ACTION_STALE_GANG && !why)
		why = judge_budgets(m, c);
	for (uint32_t i = 0; !why && i < c->victims.n; i++) {
		int v = *ret_victim = c->victims.v[i];

		if (c->action == ACTION_STALE_GANG)
			continue;
		if (is_kept_by_plugin(m, m_at(m, v)))
			why = "plugin";
		else if (m->profile == PROFILE_KUBERNETES)
			why = m_at(m, v)->rank >= m_at(m, c->pod)->rank ? "priority" : NULL;
		else
			why = m->profile == PROFILE_KAI ? judge_kai(m, c, v) : judge_queued(m, c, v);
		if (!why && (m->profile == PROFILE_DEFAULT || m->profile == PROFILE_KAI))
			why = judge_interruption(m, c, v);
	}
	return why;
}
