/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/spread_holders.h"

#include "filters/spread_counts.h"

struct moved_holder { /* gave up its room in this cycle */
	pod_id pod;
	node_id node; /* where it came to */
	int by;	      /* how much of what is counted there is its own */
	struct moved_holder *next;
};

struct holder_kind { /* of one shape and label set */
	shape_id shape;
	labelset_id labelset;
	struct holder_kind *next;
};

struct spread_holders {	      /* who count the same */
	struct cede_cycle as; /* the cycle, as if it were of one of them: who counts is asked for it */
	pod_id waiting;
	struct holder_kind *kinds;
	struct spread_counts *counts;
	bool *counts_us; /* per rule: the waiting pod matches */
	/* per rule and domain: how many hold room there; NULL: nobody has asked */
	uint32_t **holding;
	struct moved_holder *moved, *spare;
	struct spread_holders *next;
};

static bool counts_us(const struct cede_cycle *c, struct spread_holders *h, const struct spread_rules *rules,
		      struct arena *a)
{
	bool is_any = false;

	h->counts_us = arena_n(a, rules->n + 1, bool);
	for (uint32_t i = 0; i < rules->n; i++) {
		h->counts_us[i] = !selector_is_empty(&rules->v[i].selector) &&
				  spread_rule_matches(&h->as, &rules->v[i], c->p->labelset);
		is_any |= h->counts_us[i];
	}
	return is_any;
}

static void add_kind(struct spread_holders *h, struct arena *a, const struct pod *p)
{
	struct holder_kind *k = arena_type(a, struct holder_kind);

	*k = (struct holder_kind){.shape = p->shape, .labelset = p->labelset, .next = h->kinds};
	h->kinds = k;
}

/* Many sizes of pods are spread alike. */
static struct spread_holders *find_alike(struct spread_holders *first, const struct cede_cycle *c,
					 const struct spread_rules *rules)
{
	struct spread_holders *h = first;

	while (h && !spread_counts_are_of(h->counts, c, rules))
		h = h->next;
	return h;
}

/* pod: one of a kind. Returns the first of all. */
static struct spread_holders *add_like(struct spread_holders *first, const struct cede_cycle *c, struct arena *a,
				       pod_id pod)
{
	struct spread_holders *h = arena_type(a, struct spread_holders), *alike;
	struct spread_rules rules;

	h->waiting = c->pod;
	h->as = *c;
	h->as.arena = a;
	h->as.pod = pod;
	h->as.p = ledger_pod(c->ledger, pod);
	h->as.shape = shape_get(c->vocab, h->as.p->shape);
	h->as.labelset = labelset_get(c->vocab, h->as.p->labelset);
	rules = spread_rules(&h->as, a, true);
	if (!counts_us(c, h, &rules, a))
		return first;
	alike = find_alike(first, &h->as, &rules);
	if (!alike) {
		h->counts = spread_counts_of(&h->as, a, rules);
		h->next = first;
		alike = first = h;
	}
	add_kind(alike, a, h->as.p);
	return first;
}

/* Another one than the waiting pod; POD_NONE. */
static pod_id another(const struct cede_cycle *c, const struct roster *r, const struct roster_group *g)
{
	return g->first == c->pod ? roster_wary_next(r, c->pod) : g->first;
}

struct spread_holders *spread_holders_of(const struct cede_cycle *c, struct arena *a)
{
	const struct roster *r;
	struct spread_holders *first = NULL;

	if (ledger_next_wary(c->ledger, 0) == POD_NONE)
		return NULL;
	r = framework_roster(c->framework);
	for (uint32_t i = 0; i < roster_wary_limit(r); i++) {
		struct roster_group g = roster_wary_at(r, i);

		if (g.first == ID_NONE || another(c, r, &g) == ID_NONE || !shape_get(c->vocab, g.shape)->n_spreads ||
		    labelset_get(c->vocab, g.labelset)->ns != c->labelset->ns)
			continue;
		first = add_like(first, c, a, another(c, r, &g));
	}
	return first;
}

/* The namespace is that of the waiting pod, which they count. */
bool spread_holders_count(const struct spread_holders *first, const struct pod *p)
{
	for (const struct spread_holders *h = first; h; h = h->next)
		for (uint32_t i = 0; i < h->counts->rules.n; i++)
			if (labelset_get(h->as.vocab, p->labelset)->ns == h->as.labelset->ns &&
			    spread_rule_matches(&h->as, &h->counts->rules.v[i], p->labelset))
				return true;
	return false;
}

bool spread_holders_may_fall(const struct spread_holders *first, node_id node)
{
	const struct spread_holders *h = first;

	while (h && !spread_counts_may_fall(h->counts, node))
		h = h->next;
	return h != NULL;
}

/* ---- who moves ---- */

static bool is_of(const struct spread_holders *h, pod_id pod)
{
	const struct pod *p = ledger_pod(h->as.ledger, pod);
	const struct holder_kind *k = h->kinds;

	while (k && (k->shape != p->shape || k->labelset != p->labelset))
		k = k->next;
	return k != NULL;
}

const struct spread_holders *spread_holders_find(const struct spread_holders *first, pod_id pod)
{
	while (first && !is_of(first, pod))
		first = first->next;
	return first;
}

/* Where nobody has asked who holds room in a domain, it did not matter so far. */
static bool hold_alike(const struct spread_holders *h, node_id a, node_id b)
{
	for (uint32_t i = 0; h->holding && i < h->counts->rules.n; i++) {
		const struct topology *t = h->counts->rules.v[i].topology;
		uint32_t n = h->counts->domains[i].n, x = topology_domain(t, a), y = topology_domain(t, b);

		if (x != y && (x >= n || y >= n || h->holding[i][x] != h->holding[i][y]))
			return false;
	}
	return true;
}

bool spread_holders_are_alike(const struct spread_holders *first, node_id a, node_id b)
{
	for (const struct spread_holders *h = first; h; h = h->next)
		if (!spread_counts_are_alike(h->counts, a, b) || !hold_alike(h, a, b))
			return false;
	return true;
}

static struct moved_holder **find_moved(struct spread_holders *h, pod_id pod)
{
	struct moved_holder **m = &h->moved;

	while (*m && (*m)->pod != pod)
		m = &(*m)->next;
	return m;
}

void spread_holders_change(struct spread_holders *first, pod_id pod, node_id node, int by)
{
	for (struct spread_holders *h = first; h; h = h->next) {
		struct moved_holder *m = *find_moved(h, pod);

		if (m) {
			m->node = node;
			m->by += by;
		}
		spread_counts_change(&h->as, h->counts, pod, node, by);
	}
}

static void note_moved(struct spread_holders *h, pod_id pod)
{
	struct moved_holder *m = h->spare;

	if (m)
		h->spare = m->next;
	else
		m = arena_type(h->as.arena, struct moved_holder);
	*m = (struct moved_holder){.pod = pod, .node = NODE_NONE, .next = h->moved};
	h->moved = m;
}

static void forget_moved(struct spread_holders *h, pod_id pod)
{
	struct moved_holder **at = find_moved(h, pod), *m = *at;

	if (!m)
		return;
	*at = m->next;
	m->next = h->spare;
	h->spare = m;
}

static void count_holding(struct spread_holders *h, uint32_t rule, node_id node, uint32_t by)
{
	uint32_t domain = topology_domain(h->counts->rules.v[rule].topology, node);

	if (domain < h->counts->domains[rule].n)
		h->holding[rule][domain] += by;
}

void spread_holders_hold(struct spread_holders *first, pod_id pod, node_id node, bool holds)
{
	struct spread_holders *h = first;

	while (h && !is_of(h, pod))
		h = h->next;
	if (!h)
		return;
	for (uint32_t i = 0; h->holding && i < h->counts->rules.n; i++)
		count_holding(h, i, node, holds ? 1 : UINT32_MAX);
	if (holds)
		forget_moved(h, pod);
	else
		note_moved(h, pod);
}

/* ---- who minds ---- */

static void count_all_holding(struct spread_holders *h)
{
	const struct roster *r = framework_roster(h->as.framework);
	uint32_t n = h->counts->rules.n;

	h->holding = arena_n(h->as.arena, n, uint32_t *);
	for (uint32_t i = 0; i < n; i++)
		h->holding[i] = arena_n(h->as.arena, h->counts->domains[i].n, uint32_t);
	for (const struct holder_kind *k = h->kinds; k; k = k->next)
		for (pod_id p = roster_wary_first(r, k->shape, k->labelset); p != ID_NONE; p = roster_wary_next(r, p))
			for (uint32_t i = 0; p != h->waiting && !*find_moved(h, p) && i < n; i++)
				count_holding(h, i, ledger_pod(h->as.ledger, p)->node, 1);
}

/* Whoever holds room in the domain may have it now, and might not beside the waiting pod. */
static bool is_at_brink(const struct spread_rule *r, const struct spread_domains *d, uint32_t domain)
{
	int64_t there = d->v[domain].n_pods, fewest, fewest_then;

	fewest = fewest_then = d->n_there < r->min_domains ? 0 : d->fewest;
	if (d->n_there >= r->min_domains && there == fewest && d->tallies[fewest - d->lowest] == 1)
		fewest_then++;
	return there + r->counts_self - fewest <= r->max_skew && there + 1 + r->counts_self - fewest_then > r->max_skew;
}

static bool is_held(struct spread_holders *h, uint32_t rule, uint32_t domain)
{
	if (!h->holding)
		count_all_holding(h);
	return h->holding[rule][domain] > 0;
}

/* The same for one that moved, which does not count itself. */
static bool is_at_brink_for(struct spread_holders *h, uint32_t rule, const struct moved_holder *m, uint32_t domain)
{
	const struct spread_rule *r = &h->counts->rules.v[rule];
	struct spread_domains *d = &h->counts->domains[rule];
	bool is_counted = m->by && r->counts_self && spread_counts_look_at(h->counts, r, m->node), is_at;
	uint32_t own = topology_domain(r->topology, m->node);

	if (domain != topology_domain(r->topology, ledger_pod(h->as.ledger, m->pod)->node))
		return false;
	if (is_counted)
		spread_domains_change(h->as.arena, d, own, -m->by);
	is_at = is_at_brink(r, d, domain);
	if (is_counted)
		spread_domains_change(h->as.arena, d, own, m->by);
	return is_at;
}

static bool one_minds(struct spread_holders *h, uint32_t rule, node_id node)
{
	const struct spread_rule *r = &h->counts->rules.v[rule];
	uint32_t domain = topology_domain(r->topology, node);

	if (!h->counts_us[rule] || !spread_counts_look_at(h->counts, r, node))
		return false;
	if (is_at_brink(r, &h->counts->domains[rule], domain) && is_held(h, rule, domain))
		return true;
	for (const struct moved_holder *m = h->moved; m; m = m->next)
		if (is_at_brink_for(h, rule, m, domain))
			return true;
	return false;
}

bool spread_holders_mind(struct spread_holders *first, node_id node)
{
	for (struct spread_holders *h = first; h; h = h->next)
		for (uint32_t i = 0; i < h->counts->rules.n; i++)
			if (one_minds(h, i, node))
				return true;
	return false;
}
