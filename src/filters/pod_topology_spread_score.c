/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The score of PodTopologySpread: soft constraints. A node costs, per constraint, the pods its domain has, times a
 * weight that grows with the number of domains (many small domains differ by less), plus what skew is allowed anyway.
 * The node that costs least gets the most.
 *
 * A pod's own constraints ignore nodes that lack one of the keys; they get 0. The system's defaults do not: without
 * zones there is still a hostname, and nodes without a zone are one domain.
 */
#include <math.h>

#include "filters/pod_topology_spread.h"

struct soft_rule {
	double weight;
	int32_t *n_pods; /* by domain; by node for hostnames */
	uint32_t n;
};

struct spread_score {
	struct spread_rules rules;
	struct soft_rule *soft; /* per rule */
	uint32_t n_nodes;
	uint8_t *nodes; /* enum spread_node, by node id */
};

/* With the system's defaults nodes without the label are in the domain of the empty value. */
static uint32_t soft_domain(const struct spread_score *s, const struct spread_rule *r, node_id node)
{
	uint32_t d = topology_domain(r->topology, node);

	return d == DOMAIN_NONE && s->rules.are_system ? 0 : d;
}

static bool is_ignored(const struct spread_score *s, node_id node)
{
	return !s->rules.are_system && !(node < s->n_nodes && s->nodes[node] & SPREAD_KEYS);
}

struct score_counting {
	const struct spread_score *s;
	const struct spread_rule *r;
	struct soft_rule *soft;
};

static void count_on_host(void *ctx, const struct pod *p)
{
	struct score_counting *k = ctx;

	if (p->node < k->soft->n)
		k->soft->n_pods[p->node]++;
}

static void count_in_domain(void *ctx, const struct pod *p)
{
	struct score_counting *k = ctx;
	uint8_t needs = k->r->needs | (k->s->rules.are_system ? 0 : SPREAD_KEYS);
	uint32_t d;

	if (p->node >= k->s->n_nodes || (k->s->nodes[p->node] & needs) != needs)
		return;
	d = soft_domain(k->s, k->r, p->node);
	if (d < k->soft->n)
		k->soft->n_pods[d]++;
}

/* Domains that have one of these nodes; hosts are domains of their own. */
static uint32_t count_domains(struct arena *a, const struct spread_score *s, const struct spread_rule *r,
			      const cede_node *nodes, size_t n)
{
	bool *is_seen = arena_n(a, r->topology->n, bool);
	uint32_t size = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t d = soft_domain(s, r, nodes[i]);

		if (is_ignored(s, nodes[i]) || (!r->is_hostname && is_seen[d]))
			continue;
		size++;
		if (!r->is_hostname)
			is_seen[d] = true;
	}
	return size;
}

static void count_rule(const struct cede_cycle *c, struct arena *a, const struct spread_score *s, uint32_t i,
		       const cede_node *nodes, size_t n)
{
	const struct spread_rule *r = &s->rules.v[i];
	struct soft_rule *soft = &s->soft[i];
	struct score_counting k = {s, r, soft};

	soft->n = r->is_hostname ? s->n_nodes : r->topology->n;
	soft->n_pods = arena_n(a, soft->n + 1, int32_t);
	soft->weight = log((double)count_domains(a, s, r, nodes, n) + 2);
	spread_each(c, r, r->is_hostname ? count_on_host : count_in_domain, &k);
}

/* NULL: no soft constraints. */
static struct spread_score *score_state(const struct cede_cycle *c, struct arena *a, const cede_node *nodes, size_t n)
{
	struct spread_rules rules = spread_rules(c, a, false);
	struct spread_score *s;

	if (!rules.n)
		return NULL;
	s = arena_type(a, struct spread_score);
	s->rules = rules;
	s->soft = arena_n(a, rules.n, struct soft_rule);
	s->n_nodes = ledger_node_limit(c->ledger);
	s->nodes = arena_n(a, s->n_nodes + 1, uint8_t);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		s->nodes[c->nodes[i]] = spread_node(c, &rules, c->nodes[i]);
	for (uint32_t i = 0; i < rules.n; i++)
		count_rule(c, a, s, i, nodes, n);
	return s;
}

struct cede_verdict spread_pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n)
{
	struct spread_state *state = cede_get_state(c, &pod_topology_spread_plugin);
	struct spread_score *s = c->n_nodes ? score_state(c, c->arena, nodes, n) : NULL;

	if (!s)
		return cede_answer(CEDE_SKIP, 0, 0);
	if (!state) {
		state = cede_alloc(c, sizeof(*state));
		cede_set_state(c, &pod_topology_spread_plugin, state);
	}
	state->score = s;
	return cede_ok();
}

static int64_t cost(const struct spread_score *s, node_id node)
{
	double sum = 0;

	if (is_ignored(s, node))
		return 0;
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct spread_rule *r = &s->rules.v[i];
		const struct soft_rule *soft = &s->soft[i];
		uint32_t at = topology_domain(r->topology, node);

		if (at == DOMAIN_NONE)
			continue;
		at = r->is_hostname ? node : at;
		sum += (at < soft->n ? (double)soft->n_pods[at] : 0) * soft->weight + (double)(r->max_skew - 1);
	}
	return (int64_t)round(sum);
}

static const struct spread_score *state_of(const struct cede_cycle *c)
{
	const struct spread_state *s = cede_get_state(c, &pod_topology_spread_plugin);

	return s ? s->score : NULL;
}

/* Without pre_score every node counts as feasible. */
int64_t spread_score(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct spread_score *s = state_of(c);
	struct arena *a;
	int64_t ret;

	if (s)
		return cost(s, node);
	a = arena_new(1 << 14);
	s = score_state(c, a, c->nodes, c->n_nodes);
	ret = s ? cost(s, node) : 0;
	arena_free(a);
	return ret;
}

static void turn_around(const struct spread_score *s, const cede_node *nodes, int64_t *scores, size_t n)
{
	int64_t min = INT64_MAX, max = 0;

	for (size_t i = 0; i < n; i++) {
		if (is_ignored(s, nodes[i]))
			continue;
		min = scores[i] < min ? scores[i] : min;
		max = scores[i] > max ? scores[i] : max;
	}
	for (size_t i = 0; i < n; i++) {
		if (is_ignored(s, nodes[i]))
			scores[i] = 0;
		else
			scores[i] = max ? CEDE_SCORE_MAX * (max + min - scores[i]) / max : CEDE_SCORE_MAX;
	}
}

void spread_normalize(void *self, const struct cede_cycle *c, const cede_node *nodes, int64_t *scores, size_t n)
{
	const struct spread_score *s = state_of(c);
	struct arena *a;

	if (s) {
		turn_around(s, nodes, scores, n);
		return;
	}
	a = arena_new(1 << 14);
	s = score_state(c, a, c->nodes, c->n_nodes);
	if (s)
		turn_around(s, nodes, scores, n);
	arena_free(a);
}
