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
 */
#include "filters/pod_topology_spread.h"

enum spread_reason { NO_KEY, TOO_MANY };
static const char *const reasons[] = {
	[NO_KEY] = "node(s) didn't match pod topology spread constraints (missing required label)",
	[TOO_MANY] = "node(s) didn't match pod topology spread constraints",
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

/* ---- counts ---- */

static bool counts(const struct spread_filter *s, const struct spread_rule *r, node_id node)
{
	uint8_t needs = SPREAD_KEYS | r->needs;

	return node < s->n_nodes && (s->nodes[node] & needs) == needs;
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

static void count_domains(const struct cede_cycle *c, struct arena *a, struct spread_filter *s, uint32_t i)
{
	const struct spread_rule *r = &s->rules.v[i];
	struct domains *d = &s->domains[i];
	struct counting k = {s, r, d};

	d->n = r->topology->n;
	d->v = arena_n(a, d->n, struct spread_domain);
	for (uint32_t n = 0; n < c->n_nodes; n++)
		if (counts(s, r, c->nodes[n]))
			d->v[topology_domain(r->topology, c->nodes[n])].is_there = true;
	spread_each(c, r, count_pod, &k);
	tally_all(a, d);
}

/* NULL: the pod has no hard constraints. */
static struct spread_filter *filter_state(const struct cede_cycle *c, struct arena *a)
{
	struct spread_rules rules = spread_rules(c, a, true);
	struct spread_filter *s;

	if (!rules.n)
		return NULL;
	s = arena_type(a, struct spread_filter);
	s->rules = rules;
	s->domains = arena_n(a, rules.n, struct domains);
	s->n_nodes = ledger_node_limit(c->ledger);
	s->nodes = arena_n(a, s->n_nodes + 1, uint8_t);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		s->nodes[c->nodes[i]] = spread_node(c, &rules, c->nodes[i]);
	for (uint32_t i = 0; i < rules.n; i++)
		count_domains(c, a, s, i);
	return s;
}

static struct spread_filter *state_of(const struct cede_cycle *c)
{
	const struct spread_state *s = cede_get_state(c, &pod_topology_spread_plugin);

	return s ? s->filter : NULL;
}

/* ---- the points ---- */

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	struct spread_filter *s = filter_state(c, c->arena);
	struct spread_state *state;

	if (!s)
		return cede_answer(CEDE_SKIP, 0, 0);
	state = cede_alloc(c, sizeof(*state));
	state->filter = s;
	cede_set_state(c, &pod_topology_spread_plugin, state);
	return cede_ok();
}

static void count_change(struct cede_cycle *c, pod_id pod, node_id node, int by)
{
	struct spread_filter *s = state_of(c);
	labelset_id labelset = ledger_pod(c->ledger, pod)->labelset;

	if (!s || labelset_get(c->vocab, labelset)->ns != c->labelset->ns)
		return;
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct spread_rule *r = &s->rules.v[i];
		uint32_t domain = topology_domain(r->topology, node);

		if (counts(s, r, node) && domain < s->domains[i].n && spread_rule_matches(c, r, labelset))
			change(c->arena, &s->domains[i], domain, by);
	}
}

static void add_pod(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	count_change(c, pod, node, 1);
}

static void remove_pod(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	count_change(c, pod, node, -1);
}

/*
 * Who begins to leave during the attempt no longer counts. Who left before does not count as it is; that it "stays" is
 * the first step of its removal, which kube-scheduler leaves out.
 */
static void pod_leaving(void *self, struct cede_cycle *c, cede_pod pod, cede_node node, bool is_leaving)
{
	struct spread_filter *s = state_of(c);

	if (!s)
		return;
	if (c->leaving_make_room) {
		count_change(c, pod, node, is_leaving ? -1 : 1);
		return;
	}
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
	count_change(c, pod, node, is_leaving ? -1 : 1);
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

/* detail: which of the hard constraints. */
static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct spread_filter *s = state_of(c);
	struct cede_verdict v;
	struct arena *a;

	if (s)
		return judge(c, s, node);
	a = arena_new(1 << 14);
	s = filter_state(c, a);
	v = s ? judge(c, s, node) : cede_ok();
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
