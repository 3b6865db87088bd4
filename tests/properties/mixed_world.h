/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mixed_world.h - random clusters of all kinds of objects together, as plain data that a test can judge by itself, and
 * as documents that cede reads. For tests only.
 *
 * What is drawn here is all a test knows: queues of YuniKorn, of KAI and of both; groups of KAI and of Kubernetes; pods
 * with and without any of it. Nothing of cede's own reading is used, so that a second reading of the rules
 * (mixed_judge.h) does not repeat its mistakes.
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "model/objects.h"
#include "model/profile.h"
#include "rng.h"
#include "units/timestamp.h"

#define MIXED_NOW_NS (INT64_C(1800000000) * NS_PER_S)
enum { M_CPU, M_MEM, M_GPU, M_PODS, M_TYPES }; /* thousandths, MiB, pieces, 1 each */
enum {
	M_QUEUES = 16,
	M_NODES = 24,
	M_FEW_NODES = 5,
	M_PODS_MAX = 4000,
	M_GROUPS = 7,
	M_BUDGETS = 4,
	M_CLASSES = 5,
	M_OWNERS = 3
};
enum { NOWHERE = -1, NO_QUEUE = -1, BAD_QUEUE = -2, NO_GROUP = -1, UNSET_S = -1 };
enum m_kind { IS_YUNIKORN = 1, IS_KAI = 2, IS_BOTH = 3 };
enum m_stamp { STAMP_TRUE, STAMP_FUTURE, STAMP_ANCIENT }; /* what is written as its start */
enum m_state { M_WAITS, M_RUNS, M_LEAVES, M_GONE };

struct m_queue {
	char path[80];
	enum m_kind kind;
	int parent; /* -1: root */
	bool is_leaf;
	int64_t guaranteed[M_TYPES], max[M_TYPES]; /* 0: none */
	enum m_policy { M_UNSAID, M_DEFAULT, M_FENCE, M_DISABLED } policy;
	int64_t delay;		  /* seconds, UNSET_S */
	int64_t offset;		  /* of priorities */
	bool is_priority_fence;	  /* priorities end here */
	int64_t preempt, reclaim; /* windows in seconds, UNSET_S */
	int64_t limit;		  /* of anybody's cpu, 0: none */
	int64_t quota_delay;	  /* seconds, 0: none */
	int kai_priority, weight;
};

struct m_group {
	bool is_k8s, goes_whole, never, is_gang;
	int ns, queue, class; /* queue NO_QUEUE: it does not say, and its pods do */
	int home;	      /* where they say */
	bool home_is_kai;
	int app, pod_class; /* of its pods; Kubernetes wants one priority for all where the group has none */
	int n_parts;	    /* KAI: 1 without sub-groups, else 2 */
	int64_t min[2];
	enum preemptibility preemptibility;
	int64_t ago, stale; /* seconds since its stamps, UNSET_S */
	enum m_stamp stamp; /* of the start */
};

struct m_pod {
	char name[16];
	int ns, queue, group, part, class, owner, team, app; /* -1: none */
	bool asks_kai;					     /* names its queue as KAI does */
	bool has_priority, opted_out, is_driver, never, is_foreign, is_daemon, is_gated, tolerates, has_port,
		avoids_team, needs_team;
	enum preemptibility label;
	int64_t priority, ask[M_TYPES], age; /* age in seconds; running ones started then */
	int64_t checkpoint;		     /* seconds ago, UNSET_S */
	int64_t late;			     /* leaving: seconds over due; negative: not yet */
	int zone, pin;			     /* where it must run; -1 */
	bool spreads;			     /* its team evenly over zones */
	enum m_stamp stamp;		     /* of its start */
	/* as it goes on */
	enum m_state state;
	int node;	 /* where it runs */
	int nomination;	 /* where room is reserved for it */
	bool holds;	 /* ... against everybody, not only who is not more important */
	bool is_doubted; /* it may have been given up: see doubt_nominations */
	bool was_ours;	 /* sent away by us */
	bool is_placed;	 /* by us */
	int64_t since;	 /* seconds before now that it started */
	/* as the rules of the profile read it (mixed_judge.h) */
	int leaf; /* NO_QUEUE: root.default; BAD_QUEUE: none */
	int64_t rank;
	enum preemptibility may;
	bool has_group;
};

struct m_node {
	int64_t room[M_TYPES];
	int zone;
	bool is_tainted, is_closed;
};

struct m_budget {
	int ns, team;
	int64_t allowed, spent;
};

struct m_class {
	int64_t value;
	bool never, opted_out;
};

struct mixed {
	struct rng r;
	enum profile profile;
	struct m_queue q[M_QUEUES];
	struct m_node n[M_NODES];
	struct m_group g[M_GROUPS];
	struct m_budget b[M_BUDGETS];
	struct m_class c[M_CLASSES];
	ARRAY(struct m_pod) p;
	int n_queues, n_nodes, n_groups, n_budgets;
	bool has_yunikorn; /* a queues.yaml */
	int crowded;	   /* the leaf that holds most of what runs */
	bool is_plain;	   /* pods care for room alone, not for each other */
	bool has_small;	   /* many small pods on each node */
	bool is_wide;	   /* many nodes */
	bool has_plugin;   /* one that keeps a team's pods from being evicted */
	bool has_names;	   /* schedulerNames: others' pods are foreign */
	bool opt_out_is_hard, judges_all_types, quota_is_on, reclaim_is_off;
	int64_t preempt, reclaim; /* windows where no queue says anything */
	bool by_leaf;		  /* reclaimResolveMethod: queue */
	struct docs {
		ARRAY(struct text) v;
	} docs, settings; /* an object each */
};

/* ---- dice ---- */

static inline int below(struct mixed *m, int n)
{
	return (int)rng_below(&m->r, (uint32_t)n);
}

static inline bool one_in(struct mixed *m, int n)
{
	return below(m, n) == 0;
}

static inline int64_t some_window(struct mixed *m)
{
	static const int64_t windows[] = {UNSET_S, UNSET_S, UNSET_S, UNSET_S, 0, 120, 300, 600};

	return windows[below(m, 8)];
}

/* ---- queues ---- */

static inline void draw_shares(struct mixed *m, struct m_queue *q)
{
	if (!one_in(m, 3))
		q->guaranteed[M_CPU] = 1000 * below(m, 9);
	if (!one_in(m, 3))
		q->guaranteed[M_GPU] = below(m, 6);
	if (q->kind == IS_YUNIKORN && one_in(m, 8))
		q->guaranteed[M_PODS] = 1 + below(m, 4);
	if (q->kind == IS_YUNIKORN && one_in(m, 6))
		q->guaranteed[M_MEM] = 256 * (1 + below(m, 6));
	if (one_in(m, 5))
		q->max[M_CPU] = 1000 * (5 + below(m, 14));
	if (one_in(m, 6))
		q->max[M_GPU] = 3 + below(m, 8);
}

static inline void draw_props(struct mixed *m, struct m_queue *q)
{
	static const int64_t delays[] = {UNSET_S, 1, 1, 1, 1, 1, 1, 600};

	q->policy = one_in(m, 6) ? M_FENCE : one_in(m, 12) ? M_DISABLED : one_in(m, 12) ? M_DEFAULT : M_UNSAID;
	q->delay = delays[below(m, 8)];
	q->offset = one_in(m, 8) ? 5 * (1 + below(m, 2)) : 0;
	q->is_priority_fence = one_in(m, 10);
	q->limit = one_in(m, 10) ? 1000 * (3 + below(m, 6)) : 0;
	q->quota_delay = one_in(m, 3) ? 10 : 0;
}

static inline void draw_queue(struct mixed *m, int parent, enum m_kind kind, int depth)
{
	struct m_queue *q = &m->q[m->n_queues];
	int self = m->n_queues, kids;

	if (m->n_queues == M_QUEUES)
		return;
	m->n_queues++;
	*q = (struct m_queue){.kind = kind, .parent = parent, .policy = M_UNSAID, .delay = UNSET_S};
	snprintf(q->path, sizeof(q->path), "%.60s.q%d", parent < 0 ? "root" : m->q[parent].path, self);
	draw_shares(m, q);
	if (kind & IS_YUNIKORN)
		draw_props(m, q);
	q->preempt = kind & IS_KAI ? some_window(m) : UNSET_S;
	q->reclaim = kind & IS_KAI ? some_window(m) : UNSET_S;
	q->kai_priority = one_in(m, 4) ? 50 + below(m, 3) * 50 : 100;
	q->weight = below(m, 4);
	kids = depth < 3 && !one_in(m, 3) ? 1 + below(m, 3) : 0;
	for (int i = 0; i < kids; i++)
		draw_queue(m, self, kind, depth + 1);
	q->is_leaf = m->n_queues == self + 1;
}

static inline int64_t guaranteed_below(const struct mixed *m, int q, int t)
{
	int64_t sum = 0;

	for (int k = q + 1; k < m->n_queues; k++)
		if (m->q[k].parent == q)
			sum += m->q[k].guaranteed[t] ? m->q[k].guaranteed[t] : guaranteed_below(m, k, t);
	return sum;
}

/* YuniKorn refuses guarantees above the parent's or above a maximum: bring them in line, from the leaves up. */
static inline void settle_shares(struct mixed *m, int t)
{
	for (int i = m->n_queues - 1; i >= 0; i--) {
		struct m_queue *q = &m->q[i];
		int64_t sum = guaranteed_below(m, i, t), most = q->guaranteed[t] > sum ? q->guaranteed[t] : sum;

		if (!(q->kind & IS_YUNIKORN))
			continue;
		if (q->guaranteed[t])
			q->guaranteed[t] = most;
		for (int k = i + 1; k < m->n_queues; k++)
			if (m->q[k].parent == i && q->max[t] && m->q[k].max[t] > q->max[t])
				m->q[k].max[t] = 0;
		if (q->max[t] && q->max[t] < most)
			q->max[t] = 0;
	}
	for (int i = 0; i < m->n_queues; i++) { /* a child's maximum may not be above any ancestor's */
		for (int up = m->q[i].parent; up >= 0; up = m->q[up].parent)
			if (m->q[up].max[t] && m->q[i].max[t] > m->q[up].max[t])
				m->q[i].max[t] = 0;
		if ((m->q[i].kind & IS_YUNIKORN) && m->q[i].limit && m->q[i].max[M_CPU] &&
		    m->q[i].limit > m->q[i].max[M_CPU])
			m->q[i].limit = 0;
	}
}

static inline void draw_queues(struct mixed *m)
{
	int tops = 2 + below(m, 2);

	for (int i = 0; i < tops; i++) {
		enum m_kind kind = (enum m_kind)(1 + below(m, 3));

		if (m->profile == PROFILE_KAI && !one_in(m, 4))
			kind = IS_KAI;
		draw_queue(m, -1, kind, 1);
	}
	for (int t = 0; t < M_TYPES; t++)
		settle_shares(m, t);
	for (int i = 0; i < m->n_queues; i++)
		for (int up = m->q[i].parent; up >= 0; up = m->q[up].parent) /* a limit is within those above */
			if (m->q[up].limit || (m->q[up].max[M_CPU] && m->q[i].limit > m->q[up].max[M_CPU]))
				m->q[i].limit = 0;
}

static inline int some_leaf(struct mixed *m)
{
	for (;;) {
		int i = below(m, m->n_queues);

		if (m->q[i].is_leaf)
			return i;
	}
}

/* ---- what does not run ---- */

static inline void draw_classes(struct mixed *m)
{
	static const int64_t values[M_CLASSES] = {0, 5, 10, 60, 120};

	for (int i = 0; i < M_CLASSES; i++)
		m->c[i] = (struct m_class){values[i], .never = one_in(m, 8), .opted_out = one_in(m, 8)};
}

static inline void draw_budgets(struct mixed *m)
{
	m->n_budgets = below(m, M_BUDGETS + 1);
	for (int i = 0; i < m->n_budgets; i++)
		m->b[i] = (struct m_budget){.ns = below(m, 2), .team = below(m, 4) - 1, .allowed = below(m, 3)};
}

static inline void draw_groups(struct mixed *m)
{
	m->n_groups = M_GROUPS;
	for (int i = 0; i < m->n_groups; i++) {
		struct m_group *g = &m->g[i];

		*g = (struct m_group){.is_k8s = one_in(m, m->profile == PROFILE_KUBERNETES ? 1 : 4),
				      .ns = below(m, 2),
				      .queue = one_in(m, 6) ? NO_QUEUE : some_leaf(m),
				      .home = one_in(m, 3) ? NO_QUEUE : some_leaf(m),
				      .app = below(m, 4) - 1,
				      .pod_class = below(m, M_CLASSES),
				      .class = below(m, M_CLASSES + 1) - 1,
				      .n_parts = 1 + one_in(m, 3),
				      .min = {1 + below(m, 3), 1 + below(m, 3)},
				      .ago = one_in(m, 2) ? UNSET_S : 60 * (1 + below(m, 12)),
				      .stale = one_in(m, 8) ? 30 * (1 + below(m, 4)) : UNSET_S,
				      .preemptibility = (enum preemptibility)below(m, 4)};
		g->home_is_kai = g->home >= 0 && (m->q[g->home].kind == IS_KAI || one_in(m, 3));
		if (!g->is_k8s && g->ago != UNSET_S && m->profile != PROFILE_KAI && one_in(m, 8)) {
			g->stamp = one_in(m, 2) ? STAMP_FUTURE : STAMP_ANCIENT;
			g->ago = g->stamp == STAMP_FUTURE ? 0 : UNSET_S;
		}
		if (!g->is_k8s)
			continue;
		g->queue = NO_QUEUE;
		g->is_gang = !one_in(m, 3);
		g->n_parts = 1;
		g->goes_whole = one_in(m, 3);
		if (g->goes_whole ||
		    m->profile == PROFILE_KAI) /* pods of one group with other priorities are another story */
			g->class = below(m, M_CLASSES);
		g->never = one_in(m, 10);
		g->ago = g->stale = UNSET_S;
		g->preemptibility = PREEMPTIBILITY_UNSET;
	}
}

static inline void draw_nodes(struct mixed *m)
{
	m->n_nodes = m->is_wide ? 6 + below(m, M_NODES - 5) : 2 + below(m, M_FEW_NODES - 1);
	if (m->has_small)
		m->n_nodes = 2;
	for (int i = 0; i < m->n_nodes; i++)
		m->n[i] = (struct m_node){.room = {1000 * (5 + below(m, 6)), 256 * (8 + below(m, 12)),
						   one_in(m, 3) ? 0 : 2 + below(m, 5), 5 + below(m, 8)},
					  .zone = below(m, 2),
					  .is_tainted = one_in(m, 6),
					  .is_closed = one_in(m, 14)};
	for (int i = 0; m->has_small && i < m->n_nodes; i++)
		m->n[i].room[M_PODS] = 40;
}

/* ---- pods ---- */

static inline void draw_place(struct mixed *m, struct m_pod *p)
{
	p->tolerates = one_in(m, 3);
	p->zone = one_in(m, 8) ? below(m, 2) : -1;
	p->has_port = !m->is_plain && one_in(m, 12);
	p->avoids_team = !m->is_plain && one_in(m, 14);
	p->needs_team = !m->is_plain && !p->avoids_team && one_in(m, 20);
	p->spreads = !m->is_plain && p->team >= 0 && one_in(m, 12);
	if (one_in(m, 14) && p->group < 0) {
		p->is_daemon = true;
		p->pin = p->node != NOWHERE ? p->node : below(m, m->n_nodes);
		p->owner = -1;
	}
}

static inline void draw_rank(struct mixed *m, struct m_pod *p)
{
	int a = below(m, M_CLASSES), b = below(m, M_CLASSES);
	bool is_higher = (a > b) == (p->node == NOWHERE); /* what waits is rather more important than what runs */

	p->class = one_in(m, 4) ? -1 : is_higher ? a : b;
	if (p->group >= 0 && m->g[p->group].is_k8s && m->g[p->group].class < 0)
		p->class = m->g[p->group].pod_class;
	p->has_priority = p->class < 0 ? !one_in(m, 3) : one_in(m, 2);
	p->priority = p->class < 0 ? m->c[below(m, M_CLASSES)].value : m->c[p->class].value;
	p->opted_out = one_in(m, 10);
	p->is_driver = one_in(m, 14);
	p->never = one_in(m, 14);
	p->is_foreign = one_in(m, 12);
}

static inline void draw_belonging(struct mixed *m, struct m_pod *p)
{
	p->ns = below(m, 2);
	p->group = one_in(m, 3) ? below(m, m->n_groups) : NO_GROUP;
	p->team = below(m, 4) - 1;
	p->app = below(m, 8) < 3 ? below(m, 3) : -1;
	p->queue = one_in(m, 5) ? NO_QUEUE : one_in(m, 30) ? BAD_QUEUE : some_leaf(m);
	if (p->node != NOWHERE && one_in(m, 2))
		p->queue = m->crowded;
	p->asks_kai = p->queue >= 0 && (m->q[p->queue].kind == IS_KAI || one_in(m, 3));
	p->owner = -1;
	p->label = PREEMPTIBILITY_UNSET;
	if (p->group >= 0) {
		p->ns = m->g[p->group].ns;
		p->part = below(m, m->g[p->group].n_parts);
		p->queue = m->g[p->group].home;
		p->asks_kai = m->g[p->group].home_is_kai;
		p->app = m->g[p->group].app;
		return;
	}
	p->owner = below(m, M_OWNERS + 3) - 3;
	if (one_in(m, 8))
		p->label = (enum preemptibility)(1 + below(m, 3));
}

static inline struct m_pod *draw_pod(struct mixed *m, const char *prefix, int node)
{
	struct m_pod p = {.node = node, .nomination = NOWHERE, .pin = -1, .part = 0};

	snprintf(p.name, sizeof(p.name), "%s%u", prefix, m->p.n);
	draw_belonging(m, &p);
	draw_rank(m, &p);
	draw_place(m, &p);
	p.age = one_in(m, 2) ? 60 * (1 + below(m, 12)) : 40 + below(m, 1000);
	p.since = p.age;
	p.checkpoint = one_in(m, 8) ? below(m, (int)p.age) : UNSET_S;
	p.ask[M_CPU] = 1000 * (1 + below(m, 3));
	p.ask[M_MEM] = 256 * below(m, 3);
	p.ask[M_GPU] = one_in(m, 2) ? below(m, 3) : 0;
	if (m->has_small && node != NOWHERE) {
		p.ask[M_CPU] = 100 * (1 + below(m, 4));
		p.ask[M_MEM] = 64 * below(m, 3);
		p.ask[M_GPU] = one_in(m, 8);
	}
	p.ask[M_PODS] = 1;
	p.state = node == NOWHERE ? M_WAITS : M_RUNS;
	array_push(&m->p, p);
	return &array_last(&m->p);
}

/* A clock that is ahead, and one that never was set: the first counts as now, the second as not given. */
static inline void draw_stamp(struct mixed *m, struct m_pod *p)
{
	if (p->group >= 0 || !one_in(m, 12))
		return;
	p->stamp = one_in(m, 2) ? STAMP_FUTURE : STAMP_ANCIENT;
	if (p->stamp == STAMP_FUTURE)
		p->since = 0;
}

static inline void fill_node(struct mixed *m, int n)
{
	int64_t left[M_TYPES];

	memcpy(left, m->n[n].room, sizeof(left));
	for (int tries = 0; tries < (m->has_small ? 40 : 14); tries++) {
		struct m_pod *p = draw_pod(m, "r", n);
		bool fits = true;

		for (int t = 0; t < M_TYPES; t++)
			fits &= p->ask[t] <= left[t];
		if (!fits) {
			m->p.n--;
			continue;
		}
		for (int t = 0; t < M_TYPES; t++)
			left[t] -= p->ask[t];
		p->has_port = false; /* running pods are where they are: their own wishes are fulfilled */
		p->avoids_team = p->avoids_team && one_in(m, 2);
		p->needs_team = p->spreads = false;
		p->zone = -1;
		draw_stamp(m, p);
		if (one_in(m, 12)) {
			p->state = M_LEAVES;
			p->late = one_in(m, 3) ? 600 : -10;
		}
	}
}

static inline void draw_pods(struct mixed *m)
{
	for (int i = 0; i < m->n_nodes; i++)
		fill_node(m, i);
	for (int i = 5 + below(m, 10); i > 0; i--) {
		struct m_pod *p = draw_pod(m, "w", NOWHERE);

		p->is_gated = one_in(m, 14);
		if (one_in(m, 2))
			p->ask[M_CPU] += 1000 * (1 + below(m, 4));
		if (m->profile != PROFILE_KUBERNETES && one_in(m, 14))
			p->nomination = below(m, m->n_nodes);
	}
}

/* The team a pod stays away from, or must be near to; never its own for the latter. */
static inline int avoided_team(const struct m_pod *p)
{
	return p->team < 0 ? 0 : p->team;
}

static inline int needed_team(const struct m_pod *p)
{
	return (p->team + 1) % 3;
}

static inline void mixed_draw_so(struct mixed *m, uint64_t seed, enum profile profile, bool is_wide)
{
	*m = (struct mixed){.r = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1}, .profile = profile, .is_wide = is_wide};
	rng_next(&m->r);
	draw_queues(m);
	for (int i = 0; i < m->n_queues; i++)
		m->has_yunikorn |= m->q[i].kind & IS_YUNIKORN;
	m->crowded = some_leaf(m);
	m->is_plain = one_in(m, 2);
	m->has_small = one_in(m, 4);
	m->has_plugin = one_in(m, 4);
	draw_classes(m);
	draw_budgets(m);
	draw_groups(m);
	draw_nodes(m);
	draw_pods(m);
	m->has_names = one_in(m, 2);
	m->opt_out_is_hard = one_in(m, 4);
	m->judges_all_types = one_in(m, 5);
	m->quota_is_on = m->has_yunikorn && one_in(m, 2);
	m->reclaim_is_off = m->has_yunikorn && one_in(m, 20);
	m->preempt = one_in(m, 4) ? 120 : 0;
	m->reclaim = one_in(m, 4) ? 300 : 0;
	m->by_leaf = one_in(m, 2);
}

static inline void mixed_draw(struct mixed *m, uint64_t seed, enum profile profile)
{
	mixed_draw_so(m, seed, profile, false);
}
