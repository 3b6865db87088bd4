/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed_model.h - what a mixed world means in a profile, what is used in it, and whether a pod fits: slow, simple, and
 * written from the requirements alone. For tests only.
 */
#pragma once

#include "properties/mixed_world.h"

struct m_set { /* of pods, by index */
	uint32_t n;
	const int *v;
};

static inline bool m_has(const struct m_set *s, int pod)
{
	for (uint32_t i = 0; s && i < s->n; i++)
		if (s->v[i] == pod)
			return true;
	return false;
}

static inline struct m_pod *m_at(const struct mixed *m, int pod)
{
	return &m->p.v[pod];
}

/* ---- what a profile reads ---- */

static inline int leaf_by_name(const struct mixed *m, int queue, bool is_kai)
{
	if (queue == BAD_QUEUE)
		return BAD_QUEUE;
	if (queue == NO_QUEUE)
		return NO_QUEUE;
	if (m->profile != PROFILE_KAI)
		return queue;
	if (!is_kai) /* YuniKorn's words do not count there */
		return NO_QUEUE;
	return m->q[queue].kind & IS_KAI ? queue : BAD_QUEUE;
}

static inline int64_t own_rank(const struct mixed *m, const struct m_pod *p)
{
	if (p->has_priority)
		return p->priority;
	if (p->class >= 0)
		return m->c[p->class].value;
	return p->leaf >= 0 && m->q[p->leaf].kind == IS_KAI ? 50 : 0;
}

static inline int64_t rank_of(const struct mixed *m, const struct m_pod *p)
{
	const struct m_group *g = p->has_group ? &m->g[p->group] : NULL;

	if (!g || (g->is_k8s && g->class < 0))
		return own_rank(m, p);
	return g->class >= 0 ? m->c[g->class].value : 50;
}

/* PP-3, PP-9. */
static inline enum preemptibility may_of(const struct mixed *m, const struct m_pod *p)
{
	const struct m_group *g = p->has_group ? &m->g[p->group] : NULL;
	bool is_kai = (g && !g->is_k8s) || (p->leaf >= 0 && (m->q[p->leaf].kind & IS_KAI));
	enum preemptibility says = p->label;

	if (!p->is_daemon && p->owner == 0)
		says = NON_PREEMPTIBLE;
	else if (!p->is_daemon && p->owner == 1)
		says = PREEMPTIBLE;
	if (g && g->preemptibility != PREEMPTIBILITY_UNSET)
		says = g->preemptibility;
	if (says == SEMI_PREEMPTIBLE && !g)
		return NON_PREEMPTIBLE;
	if (says != PREEMPTIBILITY_UNSET)
		return says;
	return is_kai && p->rank >= 100 ? NON_PREEMPTIBLE : PREEMPTIBLE;
}

static inline void read_pod(const struct mixed *m, struct m_pod *p)
{
	const struct m_group *g = p->group >= 0 ? &m->g[p->group] : NULL;

	p->has_group = g && (g->is_k8s || m->profile != PROFILE_KUBERNETES);
	if (m->profile == PROFILE_KUBERNETES)
		p->leaf = NO_QUEUE;
	else if (g && !g->is_k8s && g->queue != NO_QUEUE)
		p->leaf = leaf_by_name(m, g->queue, true);
	else
		p->leaf = leaf_by_name(m, p->queue, p->asks_kai);
	p->rank = rank_of(m, p);
	p->may = may_of(m, p);
}

static inline bool is_ours(const struct mixed *m, const struct m_pod *p)
{
	return !m->has_names || !p->is_foreign;
}

/* How many pods of its part have to run together; 0: each stands for itself. */
static inline int64_t minimum_of(const struct mixed *m, const struct m_pod *p)
{
	const struct m_group *g = &m->g[p->group];

	if (!p->has_group || (g->is_k8s && !g->is_gang))
		return 0;
	return g->min[p->part];
}

static inline bool is_of_its_podset(const struct mixed *m, const struct m_pod *a, const struct m_pod *b)
{
	(void)m;
	return a->has_group && b->has_group && a->group == b->group && a->part == b->part;
}

/* Since when it runs, in seconds; UNSET_S: nobody knows. */
static inline int64_t runs_for(const struct mixed *m, const struct m_pod *p)
{
	int64_t stamp = p->has_group ? m->g[p->group].ago : UNSET_S;

	if (m->profile == PROFILE_KAI || stamp != UNSET_S)
		return stamp;
	return p->since;
}

static inline bool opts_out(const struct mixed *m, const struct m_pod *p)
{
	return p->opted_out || (p->class >= 0 && m->c[p->class].opted_out);
}

static inline bool never_takes(const struct mixed *m, const struct m_pod *p)
{
	return p->never || (p->class >= 0 && m->c[p->class].never) || (p->has_group && m->g[p->group].never);
}

/* Should have gone so long ago that its room is not counted on. */
static inline bool is_stuck(const struct m_pod *p)
{
	return p->state == M_LEAVES && !p->was_ours && p->late > 300;
}

/* ---- queues ---- */

static inline bool queue_is_in(const struct mixed *m, int q, int ancestor) /* -1: root */
{
	for (; q >= 0 && q != ancestor; q = m->q[q].parent)
		;
	return q == ancestor || ancestor == -1;
}

static inline int queue_meet(const struct mixed *m, int a, int b)
{
	if (a < 0 || b < 0)
		return -1;
	while (a >= 0 && !queue_is_in(m, b, a))
		a = m->q[a].parent;
	return a;
}

/* Held in a queue and below by running pods, without those in gone; with_nominated: reserved room too. */
static inline int64_t used_in(const struct mixed *m, int q, int type, bool with_nominated, const struct m_set *gone)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < m->p.n; i++) {
		const struct m_pod *p = &m->p.v[i];
		bool counts = p->state == M_RUNS || (with_nominated && p->state == M_WAITS && p->nomination != NOWHERE);

		if (counts && p->leaf >= 0 && queue_is_in(m, p->leaf, q) && !m_has(gone, (int)i))
			sum += p->ask[type];
	}
	return sum;
}

/*
 * Some maximum on its path is in the way of these asks, in this type, with gone gone. Its own nomination does not
 * count.
 */
static inline bool lacks_below_max(const struct mixed *m, int pod, const int64_t *asks, int type,
				   const struct m_set *gone)
{
	const struct m_pod *p = m_at(m, pod);

	for (int q = p->leaf; q >= 0; q = m->q[q].parent) {
		int64_t own = p->state == M_WAITS && p->nomination != NOWHERE && !m_has(gone, pod) ? p->ask[type] : 0;

		if (asks[type] && m->q[q].max[type] &&
		    used_in(m, q, type, true, gone) - own + asks[type] > m->q[q].max[type])
			return true;
	}
	return false;
}

/* ---- nodes ---- */

enum m_when { AT_ONCE, SOON, AT_LAST }; /* all leaving pods hold their room, those that do not go in time, none */
/*
 * Promises: those that hold against this pod in every respect, the same but overlooking who stays away from whom where
 * Kubernetes may, the same in room and ports alone; or all.
 */
enum m_nominations { NO_NOMINATIONS, NOMINATIONS_AS_HIGH, NOMINATIONS_THAT_HOLD, NOMINATIONS_OF_ROOM, ALL_NOMINATIONS };

/* Does the pod stand there, for somebody of this rank? */
static inline bool stands_on(const struct m_pod *p, int node, enum m_when when, enum m_nominations nominated,
			     int64_t rank)
{
	if (p->state == M_RUNS)
		return p->node == node;
	if (p->state == M_LEAVES)
		return p->node == node && (when == AT_ONCE || (when == SOON && is_stuck(p)));
	return p->state == M_WAITS && p->nomination == node && nominated != NO_NOMINATIONS &&
	       (nominated == ALL_NOMINATIONS || (!p->is_doubted && (p->holds || p->rank >= rank)));
}

static inline int64_t room_on(const struct mixed *m, int node, int type, int but, const struct m_set *gone,
			      enum m_when when, enum m_nominations nominated)
{
	int64_t room = m->n[node].room[type];

	for (uint32_t i = 0; i < m->p.n; i++)
		if ((int)i != but && !m_has(gone, (int)i) &&
		    stands_on(&m->p.v[i], node, when, nominated, but < 0 ? INT64_MAX : m->p.v[but].rank))
			room -= m->p.v[i].ask[type];
	return room;
}

/* What does not depend on other pods. */
static inline bool node_suits(const struct mixed *m, const struct m_pod *p, int node)
{
	const struct m_node *n = &m->n[node];

	return (!n->is_tainted || p->tolerates) && !n->is_closed && (p->zone < 0 || p->zone == n->zone) &&
	       (p->pin < 0 || p->pin == node);
}

static inline bool is_avoided(const struct m_pod *by, const struct m_pod *p)
{
	return by->avoids_team && by->ns == p->ns && p->team >= 0 && avoided_team(by) == p->team;
}

/* Ports and who stays away from whom. */
static inline bool others_suit(const struct mixed *m, int pod, int node, const struct m_set *gone, enum m_when when,
			       enum m_nominations nominated)
{
	const struct m_pod *p = m_at(m, pod);

	for (uint32_t i = 0; i < m->p.n; i++) {
		const struct m_pod *o = &m->p.v[i];

		if ((int)i == pod || m_has(gone, (int)i) || !stands_on(o, node, when, nominated, p->rank))
			continue;
		if (p->has_port && o->has_port)
			return false;
		if (o->state == M_WAITS &&
		    (nominated == NOMINATIONS_OF_ROOM || (nominated == NOMINATIONS_THAT_HOLD && !o->holds)))
			continue;
		if (is_avoided(p, o) || is_avoided(o, p))
			return false;
	}
	return true;
}

/*
 * Somebody of the team it must be near to is in the zone. Nominated pods do not count; those that leave
 * other nodes do until they are gone.
 */
static inline bool is_near(const struct mixed *m, int pod, int node, const struct m_set *gone, enum m_when when)
{
	const struct m_pod *p = m_at(m, pod);

	for (uint32_t i = 0; p->needs_team && i < m->p.n; i++) {
		const struct m_pod *o = &m->p.v[i];

		if ((int)i != pod && !m_has(gone, (int)i) && o->node != NOWHERE &&
		    m->n[o->node].zone == m->n[node].zone && o->ns == p->ns && o->team == needed_team(p) &&
		    stands_on(o, o->node, o->node == node ? when : AT_ONCE, NO_NOMINATIONS, 0))
			return true;
	}
	return !p->needs_team;
}

/* Pods of its team in a zone that are there to stay: those that leave are counted by nobody. */
static inline int64_t team_in_zone(const struct mixed *m, int pod, int zone, const struct m_set *gone,
				   enum m_nominations nominated)
{
	const struct m_pod *p = m_at(m, pod);
	int64_t n = 0;

	for (uint32_t i = 0; i < m->p.n; i++) {
		const struct m_pod *o = &m->p.v[i];

		int at = o->state == M_RUNS				       ? o->node
			 : o->state == M_WAITS && nominated == ALL_NOMINATIONS ? o->nomination
									       : NOWHERE;

		n += (int)i != pod && at != NOWHERE && !m_has(gone, (int)i) && o->ns == p->ns && o->team == p->team &&
		     m->n[at].zone == zone;
	}
	return n;
}

/* No zone has more than one of its team over any other. Zones it cannot be in do not count. */
static inline bool is_spread(const struct mixed *m, int pod, int node, const struct m_set *gone,
			     enum m_nominations nominated)
{
	const struct m_pod *p = m_at(m, pod);
	int64_t least = INT64_MAX;

	for (int i = 0; i < m->n_nodes; i++) {
		int64_t n = team_in_zone(m, pod, m->n[i].zone, gone, nominated);

		if ((p->zone < 0 || p->zone == m->n[i].zone) && (p->pin < 0 || p->pin == i) && n < least)
			least = n;
	}
	return !p->spreads || team_in_zone(m, pod, m->n[node].zone, gone, nominated) + 1 - least <= 1;
}

static inline bool m_fits(const struct mixed *m, int pod, int node, const struct m_set *gone, enum m_when when,
			  enum m_nominations nominated)
{
	const struct m_pod *p = m_at(m, pod);

	for (int t = 0; t < M_TYPES; t++)
		if (p->ask[t] && p->ask[t] > room_on(m, node, t, pod, gone, when, nominated))
			return false;
	return node_suits(m, p, node) && others_suit(m, pod, node, gone, when, nominated) &&
	       is_near(m, pod, node, gone, when) && is_spread(m, pod, node, gone, nominated);
}
