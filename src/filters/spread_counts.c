/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/spread_counts.h"

enum { SLACK = 16 };

struct counting {
	struct spread_counts *s;
	const struct spread_rule *r;
	struct spread_domains *d;
};

static void count_pod(void *ctx, const struct pod *p)
{
	struct counting *k = ctx;

	if (!spread_counts_look_at(k->s, k->r, p->node))
		return;
	k->d->v[topology_domain(k->r->topology, p->node)].n_pods++;
	k->s->has_pods[p->node] = true;
	k->s->has_groups |= p->group != GROUP_NONE;
}

static void cover_tally(struct arena *a, struct spread_domains *d, int32_t n_pods)
{
	int64_t low = d->lowest, high = low + d->n_tallies;
	uint32_t *wider;

	if (n_pods >= low && n_pods < high)
		return;
	low = n_pods < low ? n_pods - (high - low) - SLACK : low;
	high = n_pods >= high ? n_pods + (high - low) + SLACK : high;
	wider = arena_n(a, (size_t)(high - low), uint32_t);
	memcpy(wider + (d->lowest - low), d->tallies, d->n_tallies * sizeof(*wider));
	d->tallies = wider;
	d->lowest = (int32_t)low;
	d->n_tallies = (uint32_t)(high - low);
}

static void tally_all(struct arena *a, struct spread_domains *d)
{
	int32_t fewest = INT32_MAX, most = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		if (!d->v[i].is_there)
			continue;
		d->n_there++;
		fewest = d->v[i].n_pods < fewest ? d->v[i].n_pods : fewest;
		most = d->v[i].n_pods > most ? d->v[i].n_pods : most;
	}
	if (!d->n_there)
		return;
	d->fewest = fewest;
	d->lowest = fewest - SLACK;
	d->n_tallies = (uint32_t)(most - d->lowest) + SLACK;
	d->tallies = arena_n(a, d->n_tallies, uint32_t);
	for (uint32_t i = 0; i < d->n; i++)
		if (d->v[i].is_there)
			d->tallies[d->v[i].n_pods - d->lowest]++;
}

void spread_domains_change(struct arena *a, struct spread_domains *d, uint32_t domain, int by)
{
	struct spread_domain *v = &d->v[domain];
	int32_t was = v->n_pods;

	v->n_pods += by;
	cover_tally(a, d, v->n_pods);
	d->tallies[was - d->lowest]--;
	d->tallies[v->n_pods - d->lowest]++;
	/* one more or less: if nobody is left at the fewest, the one that just moved up has the fewest now */
	if (v->n_pods < d->fewest || (was == d->fewest && !d->tallies[was - d->lowest]))
		d->fewest = v->n_pods;
}

static void count_domains(const struct cede_cycle *c, struct arena *a, struct spread_counts *s, uint32_t i,
			  const struct bits *there)
{
	const struct spread_rule *r = &s->rules.v[i];
	struct spread_domains *d = &s->domains[i];
	struct counting k = {s, r, d};

	d->n = r->topology->n;
	d->v = arena_n(a, d->n, struct spread_domain);
	for (uint32_t n = bits_next(there, 0); n != UINT32_MAX; n = bits_next(there, n + 1))
		d->v[n].is_there = true;
	spread_each(c, r, count_pod, &k);
	tally_all(a, d);
}

struct spread_counts *spread_counts_of(const struct cede_cycle *c, struct arena *a, struct spread_rules rules)
{
	const struct spread_nodes *kept = spread_nodes_get(framework_spread_nodes(c->framework), c, &rules);
	struct spread_counts *s = arena_type(a, struct spread_counts);

	s->rules = rules;
	s->domains = arena_n(a, rules.n, struct spread_domains);
	s->n_nodes = kept->n;
	s->nodes = arena_n(a, s->n_nodes + 1, uint8_t);
	s->has_pods = arena_n(a, s->n_nodes + 1, bool);
	if (kept->n)
		memcpy(s->nodes, kept->v, kept->n);
	for (uint32_t i = 0; i < rules.n; i++)
		count_domains(c, a, s, i, &kept->there[i]);
	return s;
}

bool spread_counts_may_fall(const struct spread_counts *s, node_id node)
{
	for (uint32_t i = 0; i < s->rules.n; i++)
		if (selector_is_empty(&s->rules.v[i].selector))
			return true;
	return s->has_groups || (node < s->n_nodes && s->has_pods[node]);
}

bool spread_counts_are_alike(const struct spread_counts *s, node_id a, node_id b)
{
	if (a >= s->n_nodes || b >= s->n_nodes || s->nodes[a] != s->nodes[b])
		return false;
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct spread_domains *d = &s->domains[i];
		uint32_t x = topology_domain(s->rules.v[i].topology, a), y = topology_domain(s->rules.v[i].topology, b);

		if (x != y && (x >= d->n || y >= d->n || d->v[x].n_pods != d->v[y].n_pods ||
			       d->v[x].is_there != d->v[y].is_there))
			return false;
	}
	return true;
}

static bool is_same_requirement(const struct requirement *a, const struct requirement *b)
{
	return a->key == b->key && a->op == b->op && a->n_values == b->n_values && a->bound == b->bound &&
	       (!a->n_values || !memcmp(a->values, b->values, a->n_values * sizeof(*a->values)));
}

static bool is_same_rule(const struct spread_rule *a, const struct spread_rule *b)
{
	bool is_same = a->max_skew == b->max_skew && a->min_domains == b->min_domains && a->needs == b->needs &&
		       a->counts_self == b->counts_self && a->topology == b->topology &&
		       a->selector.matches_nothing == b->selector.matches_nothing && a->selector.n == b->selector.n;

	for (uint32_t i = 0; is_same && i < a->selector.n; i++)
		is_same = is_same_requirement(&a->selector.reqs[i], &b->selector.reqs[i]);
	return is_same;
}

bool spread_counts_are_of(const struct spread_counts *s, const struct cede_cycle *c, const struct spread_rules *rules)
{
	const struct spread_nodes *kept;

	if (s->rules.n != rules->n)
		return false;
	for (uint32_t i = 0; i < rules->n; i++)
		if (!is_same_rule(&s->rules.v[i], &rules->v[i]))
			return false;
	kept = spread_nodes_get(framework_spread_nodes(c->framework), c, rules);
	return kept->n == s->n_nodes && (!kept->n || !memcmp(kept->v, s->nodes, kept->n));
}

void spread_counts_change(const struct cede_cycle *c, struct spread_counts *s, pod_id pod, node_id node, int by)
{
	labelset_id labelset = ledger_pod(c->ledger, pod)->labelset;

	if (labelset_get(c->vocab, labelset)->ns != c->labelset->ns)
		return;
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct spread_rule *r = &s->rules.v[i];
		uint32_t domain = topology_domain(r->topology, node);

		if (spread_counts_look_at(s, r, node) && domain < s->domains[i].n &&
		    spread_rule_matches(c, r, labelset))
			spread_domains_change(c->arena, &s->domains[i], domain, by);
	}
}
