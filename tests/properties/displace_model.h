/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displace_model.h - default preemption said again as plainly as possible: arrays searched from end to end, nothing
 * kept, nothing shared with the engine. For clusters of nodes with cpu, memory, places and taints, and pods with host
 * ports, budgets and nominations.
 *
 * Nodes and pods have the order of their names. What it cannot know is the score of nodes that fit: any of them will
 * do.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { M_NODES = 8, M_PODS = 48, M_PDBS = 3, M_NOWHERE = -1 };
#define M_NOW INT64_C(1000000) /* seconds */

struct m_node {
	bool is_tainted;
	int cpu, memory, slots;
};

struct m_pod {
	bool is_there;
	bool is_leaving;      /* being deleted, or evicted */
	bool is_preempted;    /* for a preemptor */
	bool is_evicted;      /* by a decision of this plan */
	bool is_never;	      /* preemptionPolicy */
	bool is_away;	      /* taken away to see what would be */
	int node, nomination; /* M_NOWHERE */
	int priority, cpu, memory, port, app;
	int64_t start_s, created_s; /* 0: not known */
};

struct m_pdb {
	unsigned apps;	     /* bits of those it covers; 0: there is none */
	int allowed, listed; /* listed: a pod it counts as disrupted */
};

struct model {
	int n_nodes;
	struct m_node nodes[M_NODES];
	struct m_pod pods[M_PODS];
	struct m_pdb pdbs[M_PDBS];
};

enum m_answer { M_FITS, M_NOT_NOW, M_NEVER };

struct m_set { /* victims on one node, most important first */
	int node, n, n_violations;
	int pods[M_PODS];
};

enum m_outcome { M_PLACED, M_NOMINATED, M_WAITS, M_WAITS_AND_KEEPS };

struct m_decision {
	enum m_outcome outcome;
	bool fits[M_NODES]; /* M_PLACED: on which of them is not our business */
	struct m_set set;
	int second; /* the next best candidate, M_NOWHERE */
};

static inline bool m_waits(const struct m_pod *p)
{
	return p->is_there && p->node == M_NOWHERE;
}

/* ---- does it fit? ---- */

static inline bool m_holds_against(const struct model *m, int nominated_pod, int waiter)
{
	const struct m_pod *p = &m->pods[nominated_pod];

	return nominated_pod != waiter && m_waits(p) && p->nomination != M_NOWHERE &&
	       p->priority >= m->pods[waiter].priority;
}

static inline bool m_is_on(const struct model *m, int pod, int node, int waiter, bool with_nominated)
{
	const struct m_pod *p = &m->pods[pod];

	if (p->is_there && p->node == node && !p->is_away)
		return true;
	return with_nominated && p->nomination == node && m_holds_against(m, pod, waiter);
}

static inline enum m_answer m_filter(const struct model *m, int w, int node, bool with_nominated)
{
	const struct m_node *n = &m->nodes[node];
	const struct m_pod *p = &m->pods[w];
	int cpu = 0, memory = 0, slots = 0;

	if (n->is_tainted)
		return M_NEVER;
	for (int i = 0; i < M_PODS; i++) {
		if (!m_is_on(m, i, node, w, with_nominated))
			continue;
		if (p->port && p->port == m->pods[i].port)
			return M_NOT_NOW; /* asked before the resources */
		cpu += m->pods[i].cpu;
		memory += m->pods[i].memory;
		slots++;
	}
	if ((!p->cpu || cpu + p->cpu <= n->cpu) && (!p->memory || memory + p->memory <= n->memory) && slots < n->slots)
		return M_FITS;
	return p->cpu > n->cpu || p->memory > n->memory ? M_NEVER : M_NOT_NOW;
}

/* Beside those who are nominated to it, and also without them. */
static inline enum m_answer m_fits(const struct model *m, int w, int node)
{
	enum m_answer with = m_filter(m, w, node, true);

	return with == M_FITS ? m_filter(m, w, node, false) : with;
}

/* ---- who would have to go? ---- */

static inline int64_t m_start(const struct m_pod *p)
{
	return p->start_s ? p->start_s : M_NOW;
}

static inline bool m_is_more_important(const struct model *m, int a, int b)
{
	const struct m_pod *x = &m->pods[a], *y = &m->pods[b];

	if (x->priority != y->priority)
		return x->priority > y->priority;
	if (m_start(x) != m_start(y))
		return m_start(x) < m_start(y);
	return a < b;
}

static inline int m_lower(const struct model *m, int w, int node, int *ret)
{
	int n = 0;

	for (int i = 0; i < M_PODS; i++) {
		int at = n;

		if (!m->pods[i].is_there || m->pods[i].node != node || m->pods[i].priority >= m->pods[w].priority)
			continue;
		for (; at > 0 && m_is_more_important(m, i, ret[at - 1]); at--)
			ret[at] = ret[at - 1];
		ret[at] = i;
		n++;
	}
	return n;
}

static inline bool m_covers(const struct model *m, const struct m_pdb *b, int pod)
{
	return (b->apps >> m->pods[pod].app & 1) && b->listed != pod;
}

static inline int m_spent(const struct model *m, const struct m_pdb *b)
{
	int n = 0;

	for (int i = 0; i < M_PODS; i++)
		n += m->pods[i].is_there && m->pods[i].is_evicted && m_covers(m, b, i);
	return n;
}

static inline void m_split(const struct model *m, const int *pods, int n, bool *ret_violates)
{
	memset(ret_violates, 0, (size_t)n);
	for (int k = 0; k < M_PDBS; k++) {
		const struct m_pdb *b = &m->pdbs[k];
		int left = b->allowed - m_spent(m, b);

		for (int i = 0; i < n; i++)
			if (m_covers(m, b, pods[i]) && --left < 0)
				ret_violates[i] = true;
	}
}

/* False: nothing helps there, or nobody has to go. */
static inline bool m_victims(struct model *m, int w, int node, struct m_set *ret)
{
	int lower[M_PODS], n = m_lower(m, w, node, lower);
	bool violates[M_PODS], helps;

	*ret = (struct m_set){.node = node};
	m_split(m, lower, n, violates);
	for (int i = 0; i < n; i++)
		m->pods[lower[i]].is_away = true;
	helps = n && m_fits(m, w, node) == M_FITS;
	for (int pass = 0; helps && pass < 2; pass++) {
		for (int i = 0; i < n; i++) {
			if (violates[i] != (pass == 0))
				continue;
			m->pods[lower[i]].is_away = false;
			m->pods[lower[i]].is_away = m_fits(m, w, node) != M_FITS;
		}
	}
	for (int i = 0; i < n; i++) {
		if (helps && m->pods[lower[i]].is_away) {
			ret->pods[ret->n++] = lower[i];
			ret->n_violations += violates[i];
		}
		m->pods[lower[i]].is_away = false;
	}
	return ret->n > 0;
}

/* ---- which node hurts least? ---- */

static inline int64_t m_cost(const struct model *m, const struct m_set *s, int criterion)
{
	int highest = m->pods[s->pods[0]].priority;
	int64_t sum = 0, earliest = INT64_MAX;

	for (int i = 0; i < s->n; i++) {
		const struct m_pod *p = &m->pods[s->pods[i]];

		sum += p->priority + (INT64_C(1) << 31);
		if (p->priority == highest && m_start(p) < earliest)
			earliest = m_start(p);
	}
	return criterion == 0	? s->n_violations
	       : criterion == 1 ? highest
	       : criterion == 2 ? sum
	       : criterion == 3 ? s->n
				: -earliest;
}

static inline bool m_is_better(const struct model *m, const struct m_set *a, const struct m_set *b)
{
	for (int k = 0; k < 5; k++)
		if (m_cost(m, a, k) != m_cost(m, b, k))
			return m_cost(m, a, k) < m_cost(m, b, k);
	return a->node < b->node;
}

/* ---- the attempt ---- */

static inline bool m_must_wait(const struct model *m, int w)
{
	const struct m_pod *p = &m->pods[w];

	if (p->is_never)
		return true;
	if (p->nomination == M_NOWHERE || m_fits(m, w, p->nomination) == M_NEVER)
		return false;
	for (int i = 0; i < M_PODS; i++) {
		const struct m_pod *q = &m->pods[i];

		if (q->is_there && q->node == p->nomination && q->priority < p->priority && q->is_leaving &&
		    q->is_preempted)
			return true;
	}
	return false;
}

static inline struct m_decision m_preempt(struct model *m, int w)
{
	struct m_decision d = {.outcome = M_WAITS, .second = M_NOWHERE};
	struct m_set second = {0};

	if (m_must_wait(m, w))
		return (struct m_decision){.outcome = M_WAITS_AND_KEEPS};
	for (int node = 0; node < m->n_nodes; node++) {
		struct m_set s;

		if (m_fits(m, w, node) != M_NOT_NOW || !m_victims(m, w, node, &s))
			continue;
		if (d.outcome == M_WAITS || m_is_better(m, &s, &d.set)) {
			second = d.set;
			d.second = d.outcome == M_WAITS ? M_NOWHERE : second.node;
			d.set = s;
			d.outcome = M_NOMINATED;
		} else if (d.second == M_NOWHERE || m_is_better(m, &s, &second)) {
			second = s;
			d.second = s.node;
		}
	}
	return d;
}

static inline struct m_decision m_decide(struct model *m, int w)
{
	struct m_decision d = {.outcome = M_PLACED};
	bool is_any = false;

	if (m->pods[w].nomination != M_NOWHERE && m_fits(m, w, m->pods[w].nomination) == M_FITS) {
		d.fits[m->pods[w].nomination] = true;
		return d;
	}
	for (int node = 0; node < m->n_nodes; node++) {
		d.fits[node] = m_fits(m, w, node) == M_FITS;
		is_any |= d.fits[node];
	}
	return is_any ? d : m_preempt(m, w);
}

/* node: where the engine placed it. */
static inline void m_apply(struct model *m, int w, const struct m_decision *d, int node)
{
	struct m_pod *p = &m->pods[w];

	if (d->outcome == M_WAITS || d->outcome == M_PLACED)
		p->nomination = M_NOWHERE;
	if (d->outcome == M_PLACED) {
		p->node = node;
		p->start_s = M_NOW;
	}
	if (d->outcome != M_NOMINATED)
		return;
	for (int i = 0; i < d->set.n; i++) {
		struct m_pod *v = &m->pods[d->set.pods[i]];

		if (v->is_leaving)
			continue;
		v->is_leaving = v->is_preempted = v->is_evicted = true;
	}
	for (int i = 0; i < M_PODS; i++)
		if (m_waits(&m->pods[i]) && m->pods[i].nomination == d->set.node && m->pods[i].priority < p->priority)
			m->pods[i].nomination = M_NOWHERE;
	p->nomination = d->set.node;
}

/* The order of waiting pods: nominated ones after the others, by priority, age, name. */
static inline bool m_is_before(const struct model *m, int a, int b)
{
	const struct m_pod *x = &m->pods[a], *y = &m->pods[b];
	int64_t made_x = x->created_s ? x->created_s : INT64_MAX, made_y = y->created_s ? y->created_s : INT64_MAX;

	if ((x->nomination == M_NOWHERE) != (y->nomination == M_NOWHERE))
		return x->nomination == M_NOWHERE;
	if (x->priority != y->priority)
		return x->priority > y->priority;
	return made_x != made_y ? made_x < made_y : a < b;
}

static inline int m_turns(const struct model *m, int *ret)
{
	int n = 0;

	for (int i = 0; i < M_PODS; i++) {
		int at = n;

		if (!m_waits(&m->pods[i]))
			continue;
		for (; at > 0 && m_is_before(m, i, ret[at - 1]); at--)
			ret[at] = ret[at - 1];
		ret[at] = i;
		n++;
	}
	return n;
}
