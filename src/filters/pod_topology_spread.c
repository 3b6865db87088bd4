/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PodTopologySpread: pods that look alike are spread over the domains of a topology (zones, hosts) so that no domain
 * has more than maxSkew more of them than the one with the fewest.
 *
 * Which nodes count: those with the keys of all hard constraints, and, as a constraint's policies say, only those that
 * the pod's node affinity allows and whose taints it tolerates. Which pods count: those of the pod's namespace that
 * match and are not leaving. Where fewer domains are there than minDomains the fewest is taken to be 0.
 *
 * Two things are as in kube-scheduler, though nobody would want them so. In profile kubernetes, a pod that was leaving
 * before the attempt began does not count; taking it away in a dry run lowers its domain's count all the same. And an
 * empty selector, which counts nobody, counts pods that come and go during the attempt.
 *
 * One thing is cede's own: a pod that holds reserved room, which Kubernetes does not know, is not robbed of it by one
 * that its own hard constraint counts. Otherwise the pod that gave way comes back in the same domain, and has to give
 * way again, for ever.
 */
#include "filters/spread_nodes.h"

enum spread_reason { NO_KEY, TOO_MANY, TOO_MANY_FOR_HOLDER };
static const char *const reasons[] = {
	[NO_KEY] = "node(s) didn't match pod topology spread constraints (missing required label)",
	[TOO_MANY] = "node(s) didn't match pod topology spread constraints",
	[TOO_MANY_FOR_HOLDER] = "node(s) didn't satisfy topology spread constraints of pods that hold reserved room",
};

enum { SLACK = 16 };

struct spread_domain {
	int32_t n_pods;
	bool is_there; /* a node of it counts */
};

struct domains { /* of one constraint */
	uint32_t n, n_there;
	struct spread_domain *v;
	int32_t fewest;
	/* how many domains have lowest, lowest + 1, ... pods: so the fewest is known, whatever comes and goes */
	int32_t lowest;
	uint32_t n_tallies;
	uint32_t *tallies;
};

/* Why a pod leaves, as far as it was heard of in this cycle. */
enum leaver { UNHEARD, LEFT_BEFORE, LEFT_IN_CYCLE };

struct spread_filter {
	struct spread_rules rules;
	struct domains *domains; /* per rule */
	uint32_t n_nodes, n_pods;
	uint8_t *nodes;	  /* enum spread_node, by node id */
	uint8_t *leavers; /* enum leaver, by pod id; NULL while none was heard of */
};

struct spread_holder {
	struct cede_cycle as; /* the cycle, as if it were the holder's: who counts is asked for it */
	struct spread_filter *filter;
	bool *counts_us; /* per rule: the waiting pod matches */
	struct spread_holder *next;
};

/* ---- counts ---- */

static bool counts(const struct spread_filter *s, const struct spread_rule *r, node_id node)
{
	return node < s->n_nodes && spread_node_counts(s->nodes[node], r);
}

struct counting {
	const struct spread_filter *s;
	const struct spread_rule *r;
	struct domains *d;
};

static void count_pod(void *ctx, node_id node)
{
	struct counting *k = ctx;

	if (counts(k->s, k->r, node))
		k->d->v[topology_domain(k->r->topology, node)].n_pods++;
}

static void cover_tally(struct arena *a, struct domains *d, int32_t n_pods)
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

static void tally_all(struct arena *a, struct domains *d)
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

static void change(struct arena *a, struct domains *d, uint32_t domain, int by)
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

static void count_domains(const struct cede_cycle *c, struct arena *a, struct spread_filter *s, uint32_t i,
			  const struct bits *there)
{
	const struct spread_rule *r = &s->rules.v[i];
	struct domains *d = &s->domains[i];
	struct counting k = {s, r, d};

	d->n = r->topology->n;
	d->v = arena_n(a, d->n, struct spread_domain);
	for (uint32_t n = bits_next(there, 0); n != UINT32_MAX; n = bits_next(there, n + 1))
		d->v[n].is_there = true;
	spread_each(c, r, count_pod, &k);
	tally_all(a, d);
}

static struct spread_filter *filter_of(const struct cede_cycle *c, struct arena *a, struct spread_rules rules)
{
	const struct spread_nodes *kept = spread_nodes_get(framework_spread_nodes(c->framework), c, &rules);
	struct spread_filter *s = arena_type(a, struct spread_filter);

	s->rules = rules;
	s->domains = arena_n(a, rules.n, struct domains);
	s->n_nodes = kept->n;
	s->nodes = arena_n(a, s->n_nodes + 1, uint8_t);
	if (kept->n)
		memcpy(s->nodes, kept->v, kept->n);
	for (uint32_t i = 0; i < rules.n; i++)
		count_domains(c, a, s, i, &kept->there[i]);
	return s;
}

/* ---- who holds reserved room ---- */

static bool counts_us(const struct cede_cycle *c, struct spread_holder *h, const struct spread_rules *rules,
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

static struct spread_holder *holder_of(const struct cede_cycle *c, struct arena *a, pod_id pod)
{
	struct spread_holder *h = arena_type(a, struct spread_holder);
	struct spread_rules rules;

	h->as = *c;
	h->as.pod = pod;
	h->as.p = ledger_pod(c->ledger, pod);
	h->as.shape = shape_get(c->vocab, h->as.p->shape);
	h->as.labelset = labelset_get(c->vocab, h->as.p->labelset);
	rules = spread_rules(&h->as, a, true);
	if (!counts_us(c, h, &rules, a))
		return NULL;
	h->filter = filter_of(&h->as, a, rules);
	return h;
}

/* Those with a hard constraint that counts the waiting pod. */
static struct spread_holder *holders_of(const struct cede_cycle *c, struct arena *a)
{
	struct spread_holder *first = NULL;

	for (pod_id q = ledger_next_wary(c->ledger, 0); q != POD_NONE; q = ledger_next_wary(c->ledger, q + 1)) {
		const struct pod *p = ledger_pod(c->ledger, q);
		struct spread_holder *h;

		if (q == c->pod || !shape_get(c->vocab, p->shape)->n_spreads ||
		    labelset_get(c->vocab, p->labelset)->ns != c->labelset->ns)
			continue;
		h = holder_of(c, a, q);
		if (!h)
			continue;
		h->next = first;
		first = h;
	}
	return first;
}

/* The holder may have its room now, and might not beside the waiting pod. */
static bool is_robbed(const struct spread_holder *h, uint32_t rule, node_id node)
{
	const struct spread_rule *r = &h->filter->rules.v[rule];
	const struct domains *d = &h->filter->domains[rule];
	uint32_t domain = topology_domain(r->topology, node);
	int64_t there, fewest, fewest_then;

	if (!h->counts_us[rule] || !counts(h->filter, r, node) || domain != topology_domain(r->topology, h->as.p->node))
		return false;
	there = d->v[domain].n_pods;
	fewest = fewest_then = d->n_there < r->min_domains ? 0 : d->fewest;
	if (d->n_there >= r->min_domains && there == fewest && d->tallies[fewest - d->lowest] == 1)
		fewest_then++;
	return there + r->counts_self - fewest <= r->max_skew && there + 1 + r->counts_self - fewest_then > r->max_skew;
}

static bool robs_holder(const struct spread_holder *first, node_id node)
{
	for (const struct spread_holder *h = first; h; h = h->next)
		for (uint32_t i = 0; i < h->filter->rules.n; i++)
			if (is_robbed(h, i, node))
				return true;
	return false;
}

/* ---- the points ---- */

/* Returns false where neither the pod nor a holder has hard constraints that matter. */
static bool state_init(struct spread_state *s, const struct cede_cycle *c, struct arena *a)
{
	struct spread_rules rules = spread_rules(c, a, true);

	s->filter = rules.n ? filter_of(c, a, rules) : NULL;
	s->holders = holders_of(c, a);
	return s->filter || s->holders;
}

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	struct spread_state *state = cede_alloc(c, sizeof(*state));

	if (!state_init(state, c, c->arena))
		return cede_answer(CEDE_SKIP, 0, 0);
	cede_set_state(c, &pod_topology_spread_plugin, state);
	return cede_ok();
}

static void count_in(const struct cede_cycle *c, struct spread_filter *s, pod_id pod, node_id node, int by)
{
	labelset_id labelset = ledger_pod(c->ledger, pod)->labelset;

	if (labelset_get(c->vocab, labelset)->ns != c->labelset->ns)
		return;
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct spread_rule *r = &s->rules.v[i];
		uint32_t domain = topology_domain(r->topology, node);

		if (counts(s, r, node) && domain < s->domains[i].n && spread_rule_matches(c, r, labelset))
			change(c->arena, &s->domains[i], domain, by);
	}
}

static void count_change(struct cede_cycle *c, const struct spread_state *s, pod_id pod, node_id node, int by)
{
	if (s->filter)
		count_in(c, s->filter, pod, node, by);
	for (struct spread_holder *h = s->holders; h; h = h->next)
		if (h->as.pod != pod)
			count_in(&h->as, h->filter, pod, node, by);
}

static const struct spread_state *state_of(const struct cede_cycle *c)
{
	return cede_get_state(c, &pod_topology_spread_plugin);
}

static void add_pod(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	const struct spread_state *s = state_of(c);

	if (s)
		count_change(c, s, pod, node, 1);
}

static void remove_pod(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	const struct spread_state *s = state_of(c);

	if (s)
		count_change(c, s, pod, node, -1);
}

bool spread_cares(const struct cede_cycle *c, const struct pod *p)
{
	const struct spread_state *s = state_of(c);

	if (!s || s->holders)
		return s != NULL;
	if (labelset_get(c->vocab, p->labelset)->ns != c->labelset->ns)
		return false;
	for (uint32_t i = 0; s->filter && i < s->filter->rules.n; i++)
		if (spread_rule_matches(c, &s->filter->rules.v[i], p->labelset))
			return true;
	return false;
}

/*
 * Who begins to leave during the attempt no longer counts. Who left before does not count as it is; that it "stays" is
 * the first step of its removal, which kube-scheduler leaves out.
 */
static void pod_leaving(void *self, struct cede_cycle *c, cede_pod pod, cede_node node, bool is_leaving)
{
	const struct spread_state *state = state_of(c);
	struct spread_filter *s = state ? state->filter : NULL;

	if (state && c->leaving_make_room)
		count_change(c, state, pod, node, is_leaving ? -1 : 1);
	if (!s || c->leaving_make_room)
		return;
	if (!s->leavers) {
		s->n_pods = ledger_pod_limit(c->ledger);
		s->leavers = cede_alloc(c, s->n_pods);
	}
	if (pod >= s->n_pods || s->leavers[pod] == LEFT_BEFORE)
		return;
	if (!is_leaving && s->leavers[pod] == UNHEARD) {
		s->leavers[pod] = LEFT_BEFORE;
		return;
	}
	s->leavers[pod] = is_leaving ? LEFT_IN_CYCLE : UNHEARD;
	count_in(c, s, pod, node, is_leaving ? -1 : 1);
}

static struct cede_verdict judge(const struct cede_cycle *c, const struct spread_filter *s, node_id node)
{
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct spread_rule *r = &s->rules.v[i];
		const struct domains *d = &s->domains[i];
		uint32_t domain = topology_domain(r->topology, node);
		int64_t there, fewest = d->n_there < r->min_domains ? 0 : d->fewest;

		if (domain == DOMAIN_NONE)
			return cede_answer(CEDE_UNRESOLVABLE, NO_KEY, i);
		there = domain < d->n ? d->v[domain].n_pods : 0;
		if (there + r->counts_self - fewest > r->max_skew)
			return cede_answer(CEDE_UNSCHEDULABLE, TOO_MANY, i);
	}
	return cede_ok();
}

static struct cede_verdict judge_all(const struct cede_cycle *c, const struct spread_state *s, node_id node)
{
	struct cede_verdict v = s->filter ? judge(c, s->filter, node) : cede_ok();

	if (v.code == CEDE_SUCCESS && robs_holder(s->holders, node))
		return cede_answer(CEDE_UNSCHEDULABLE, TOO_MANY_FOR_HOLDER, 0);
	return v;
}

/* detail: which of the hard constraints. */
static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct spread_state *s = state_of(c);
	struct spread_state own = {0};
	struct cede_verdict v;
	struct arena *a;

	if (s)
		return judge_all(c, s, node);
	a = arena_new(1 << 14);
	v = state_init(&own, c, a) ? judge_all(c, &own, node) : cede_ok();
	arena_free(a);
	return v;
}

const struct cede_plugin pod_topology_spread_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "PodTopologySpread",
	.pre_filter = pre_filter,
	.add_pod = add_pod,
	.remove_pod = remove_pod,
	.pod_leaving = pod_leaving,
	.filter = filter,
	.pre_score = spread_pre_score,
	.score = spread_score,
	.normalize = spread_normalize,
	.reasons = reasons,
	.n_reasons = sizeof(reasons) / sizeof(*reasons),
};
