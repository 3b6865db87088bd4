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
#include "filters/spread_counts.h"
#include "filters/spread_holders.h"

enum spread_reason { NO_KEY, TOO_MANY, TOO_MANY_FOR_HOLDER };
static const char *const reasons[] = {
	[NO_KEY] = "node(s) didn't match pod topology spread constraints (missing required label)",
	[TOO_MANY] = "node(s) didn't match pod topology spread constraints",
	[TOO_MANY_FOR_HOLDER] = "node(s) didn't satisfy topology spread constraints of pods that hold reserved room",
};

/* Why a pod leaves, as far as it was heard of in this cycle. */
enum leaver { UNHEARD, LEFT_BEFORE, LEFT_IN_CYCLE };

/* ---- the points ---- */

/* Returns false where neither the pod nor a holder has hard constraints that matter. */
static bool state_init(struct spread_state *s, const struct cede_cycle *c, struct arena *a)
{
	struct spread_rules rules = spread_rules(c, a, true);

	s->filter = rules.n ? spread_counts_of(c, a, rules) : NULL;
	s->holders = spread_holders_of(c, a);
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

static void count_change(struct cede_cycle *c, const struct spread_state *s, pod_id pod, node_id node, int by)
{
	if (s->filter)
		spread_counts_change(c, s->filter, pod, node, by);
	spread_holders_change(s->holders, pod, node, by);
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

void spread_pod_holds(struct cede_cycle *c, pod_id pod, node_id node, bool holds)
{
	const struct spread_state *s = state_of(c);

	if (s && pod != c->pod)
		spread_holders_hold(s->holders, pod, node, holds);
}

bool spread_cares(const struct cede_cycle *c, const struct pod *p)
{
	const struct spread_state *s = state_of(c);

	if (!s || spread_holders_count(s->holders, p))
		return s != NULL;
	if (labelset_get(c->vocab, p->labelset)->ns != c->labelset->ns)
		return false;
	for (uint32_t i = 0; s->filter && i < s->filter->rules.n; i++)
		if (spread_rule_matches(c, &s->filter->rules.v[i], p->labelset))
			return true;
	return false;
}

bool spread_may_be_helped(const struct cede_cycle *c, node_id node)
{
	const struct spread_state *s = state_of(c);

	return s &&
	       ((s->filter && spread_counts_may_fall(s->filter, node)) || spread_holders_may_fall(s->holders, node));
}

/*
 * Who begins to leave during the attempt no longer counts. Who left before does not count as it is; that it "stays" is
 * the first step of its removal, which kube-scheduler leaves out.
 */
static void pod_leaving(void *self, struct cede_cycle *c, cede_pod pod, cede_node node, bool is_leaving)
{
	const struct spread_state *state = state_of(c);
	struct spread_counts *s = state ? state->filter : NULL;

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
	spread_counts_change(c, s, pod, node, is_leaving ? -1 : 1);
}

static struct cede_verdict judge(const struct cede_cycle *c, const struct spread_counts *s, node_id node)
{
	for (uint32_t i = 0; i < s->rules.n; i++) {
		const struct spread_rule *r = &s->rules.v[i];
		const struct spread_domains *d = &s->domains[i];
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

	if (v.code == CEDE_SUCCESS && spread_holders_mind(s->holders, node))
		return cede_answer(CEDE_UNSCHEDULABLE, TOO_MANY_FOR_HOLDER, 0);
	return v;
}

/* As the ledger would tell it: what it had reserved it gives up, and it counts. */
static void let_come(struct cede_cycle *c, const struct spread_state *s, pod_id pod, node_id node, bool comes)
{
	bool has_reserved = ledger_pod(c->ledger, pod)->nomination == NOMINATION_RESERVED;

	if (comes && has_reserved)
		spread_pod_holds(c, pod, node, false);
	count_change(c, s, pod, node, comes ? 1 : -1);
	if (!comes && has_reserved)
		spread_pod_holds(c, pod, node, true);
}

static bool refuses(struct cede_cycle *c, const struct spread_state *s, node_id node, const pod_id *holders, uint32_t n)
{
	struct cede_verdict v;

	for (uint32_t i = 0; i < n; i++)
		let_come(c, s, holders[i], node, true);
	v = judge_all(c, s, node);
	for (uint32_t i = n; i-- > 0;)
		let_come(c, s, holders[i], node, false);
	return v.code != CEDE_SUCCESS;
}

static struct spread_asked one_of(const struct cede_cycle *c, const struct spread_state *s, node_id node, pod_id holder)
{
	const struct pod *p = ledger_pod(c->ledger, holder);

	return (struct spread_asked){.node = node,
				     .n = 1,
				     .labelset = p->labelset,
				     .nomination = p->nomination,
				     .with = spread_holders_find(s->holders, holder)};
}

static bool are_of_one_kind(const struct spread_asked *a, const struct spread_asked *b)
{
	return a->labelset == b->labelset && a->nomination == b->nomination && a->with == b->with;
}

/* False: they are not of one kind. */
static bool sum_up(const struct cede_cycle *c, const struct spread_state *s, node_id node, const pod_id *holders,
		   uint32_t n, struct spread_asked *ret)
{
	*ret = (struct spread_asked){.node = node};
	for (uint32_t i = 0; i < n; i++) {
		struct spread_asked one = one_of(c, s, node, holders[i]);

		if (i && !are_of_one_kind(&one, ret))
			return false;
		*ret = one;
	}
	ret->n = n;
	return true;
}

/* The same is said of nodes whose domains have as many, if as many of one kind come there. NULL: none was asked. */
static const struct spread_asked *find_asked(const struct spread_state *s, const struct spread_asked *x)
{
	for (uint32_t i = 0; i < s->n_asked && i < SPREAD_ASKED; i++) {
		const struct spread_asked *a = &s->asked[i];

		if (a->n == x->n && are_of_one_kind(a, x) &&
		    (!s->filter || spread_counts_are_alike(s->filter, a->node, x->node)) &&
		    spread_holders_are_alike(s->holders, a->node, x->node))
			return a;
	}
	return NULL;
}

bool spread_refuses(struct cede_cycle *c, node_id node, const pod_id *holders, uint32_t n)
{
	struct spread_state *s = cede_get_state(c, &pod_topology_spread_plugin);
	const struct spread_asked *known;
	struct spread_asked x;

	if (!s)
		return false;
	if (!sum_up(c, s, node, holders, n, &x))
		return refuses(c, s, node, holders, n);
	known = find_asked(s, &x);
	if (known)
		return known->refuses;
	x.refuses = refuses(c, s, node, holders, n);
	s->asked[s->n_asked++ % SPREAD_ASKED] = x;
	return x.refuses;
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
