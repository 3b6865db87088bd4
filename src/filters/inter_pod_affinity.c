/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InterPodAffinity: with whom a pod must be in one domain of a topology, and with whom it must not.
 *
 * Affinity: in each term's domain of the node there must be a pod that all terms mean together. The first of pods that
 * want each other would wait for ever, so a pod that its own terms mean may start where no such pod is anywhere. Taking
 * pods away never helps.
 *
 * Anti-affinity: in no term's domain of the node may there be a pod that the term means; and it holds in both
 * directions, so the terms of pods that run already count too. Here taking pods away helps.
 */
#include "filters/inter_pod_affinity.h"

enum inter_pod_affinity_reason { NO_AFFINITY, OWN_ANTI_AFFINITY, THEIR_ANTI_AFFINITY };
static const char *const reasons[] = {
	[NO_AFFINITY] = "node(s) didn't match pod affinity rules",
	[OWN_ANTI_AFFINITY] = "node(s) didn't match pod anti-affinity rules",
	[THEIR_ANTI_AFFINITY] = "node(s) didn't satisfy existing pods anti-affinity rules",
};

struct affinity_filter {
	struct waiting_terms affinity, anti;
	struct affinity_tally wanted;	/* pods that all affinity terms mean, in each term's domains */
	struct affinity_tally unwanted; /* pods that an anti-affinity term means, in its domains */
	struct affinity_tally against;	/* anti-affinity terms of pods on nodes that mean the waiting pod */
	struct affinity_tally held;	/* the same of pods that hold reserved room: they stay, whoever goes */
	bool means_itself;
};

/* ---- counts ---- */

static void add_wanted(struct affinity_filter *s, node_id node, int by)
{
	for (uint32_t i = 0; i < s->affinity.n; i++)
		tally_add(&s->wanted, s->affinity.v[i].sums, node, by);
}

static void count_wanted(const struct cede_cycle *c, struct arena *a, struct affinity_filter *s)
{
	const struct roster *r;
	const labelset_id *labelsets;
	uint32_t n = s->affinity.n ? waiting_term_labelsets(c, &s->affinity.v[0], a, &labelsets) : 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!waiting_terms_all_mean(c, &s->affinity, labelsets[i]))
			continue;
		r = framework_roster_pods(c->framework);
		for (pod_id p = roster_pod_first(r, labelsets[i]); p != ID_NONE; p = roster_pod_next(r, p))
			add_wanted(s, ledger_pod(c->ledger, p)->node, 1);
	}
}

static void count_unwanted(const struct cede_cycle *c, struct arena *a, struct affinity_filter *s)
{
	for (uint32_t i = 0; i < s->anti.n; i++) {
		const labelset_id *labelsets;
		uint32_t n = waiting_term_labelsets(c, &s->anti.v[i], a, &labelsets);
		const struct roster *r = n ? framework_roster_pods(c->framework) : NULL;

		for (uint32_t k = 0; k < n; k++)
			for (pod_id p = roster_pod_first(r, labelsets[k]); p != ID_NONE; p = roster_pod_next(r, p))
				tally_add(&s->unwanted, s->anti.v[i].sums, ledger_pod(c->ledger, p)->node, 1);
	}
}

static struct sums *sums_of(const struct cede_cycle *c, struct arena *a, struct affinity_tally *into,
			    const struct pod_term *t)
{
	return tally_sums(into, a, framework_topology(c->framework, t->topology_key));
}

/* Those of one kind, wherever they are, stay away from the pod; but for this one. */
static void count_kind(const struct cede_cycle *c, struct arena *a, struct affinity_tally *into,
		       const struct roster_group *g, pod_id (*next)(const struct roster *r, pod_id pod), pod_id but)
{
	const struct roster *r = framework_roster(c->framework);
	const struct pod_terms *anti = g->first == ID_NONE ? NULL : &shape_get(c->vocab, g->shape)->anti_affinity;

	for (uint32_t k = 0; anti && k < anti->n; k++) {
		struct sums *sums;

		if (!term_means_waiting(c, &anti->terms[k], labelset_get(c->vocab, g->labelset)))
			continue;
		sums = sums_of(c, a, into, &anti->terms[k]);
		for (pod_id p = g->first; p != ID_NONE; p = next(r, p))
			if (p != but)
				tally_add(into, sums, ledger_pod(c->ledger, p)->node, 1);
	}
}

static void count_against(const struct cede_cycle *c, struct arena *a, struct affinity_filter *s)
{
	const struct roster *r = framework_roster(c->framework);

	for (uint32_t i = 0; i < roster_group_limit(r); i++) {
		struct roster_group g = roster_group_at(r, i);

		count_kind(c, a, &s->against, &g, roster_group_next, POD_NONE);
	}
}

/*
 * Somebody may stay away from the pod who does not run yet, but has room reserved against everybody: it is as if it ran
 * there, for its node and for all others of the zone it wants for itself, where it could not start otherwise (GQ-10).
 * (Kubernetes overlooks those who are nominated here, and they are overlooked: reservations are not its.)
 */
static void count_reserved(const struct cede_cycle *c, struct arena *a, struct affinity_filter *s)
{
	const struct roster *r = framework_roster(c->framework);

	for (uint32_t i = 0; i < roster_wary_limit(r); i++) {
		struct roster_group g = roster_wary_at(r, i);

		count_kind(c, a, &s->held, &g, roster_wary_next, c->pod);
	}
}

/* NULL: neither the pod nor any that runs has a say. */
static struct affinity_filter *filter_state(const struct cede_cycle *c, struct arena *a)
{
	const struct shape *shape = c->shape;
	struct affinity_filter *s;
	bool has_wary = ledger_next_wary(c->ledger, 0) != POD_NONE;

	if (!shape->affinity.n && !shape->anti_affinity.n && !framework_has_terms(c->framework) && !has_wary)
		return NULL;
	s = arena_type(a, struct affinity_filter);
	s->affinity = waiting_terms(c, a, &shape->affinity, &s->wanted);
	s->anti = waiting_terms(c, a, &shape->anti_affinity, &s->unwanted);
	s->means_itself = waiting_terms_all_mean(c, &s->affinity, c->p->labelset);
	count_wanted(c, a, s);
	count_unwanted(c, a, s);
	count_against(c, a, s);
	count_reserved(c, a, s);
	return s->affinity.n || s->anti.n || s->against.total || s->held.total ? s : NULL;
}

static void count_change(struct cede_cycle *c, pod_id pod, node_id node, int by)
{
	const struct affinity_state *state = cede_get_state(c, &inter_pod_affinity_plugin);
	struct affinity_filter *s = state ? state->filter : NULL;
	const struct pod *p = ledger_pod(c->ledger, pod);
	const struct pod_terms *anti = &shape_get(c->vocab, p->shape)->anti_affinity;

	if (!s)
		return;
	for (uint32_t i = 0; i < anti->n; i++)
		if (term_means_waiting(c, &anti->terms[i], labelset_get(c->vocab, p->labelset)))
			tally_add(&s->against, sums_of(c, c->arena, &s->against, &anti->terms[i]), node, by);
	if (waiting_terms_all_mean(c, &s->affinity, p->labelset))
		add_wanted(s, node, by);
	for (uint32_t i = 0; i < s->anti.n; i++)
		if (waiting_term_means(c, &s->anti.v[i], p->labelset))
			tally_add(&s->unwanted, s->anti.v[i].sums, node, by);
}

bool affinity_cares(const struct cede_cycle *c, const struct pod *p)
{
	const struct affinity_state *state = cede_get_state(c, &inter_pod_affinity_plugin);
	const struct affinity_filter *s = state ? state->filter : NULL;

	if (!s)
		return false;
	if (shape_get(c->vocab, p->shape)->anti_affinity.n ||
	    (s->affinity.n && waiting_terms_all_mean(c, &s->affinity, p->labelset)))
		return true;
	for (uint32_t i = 0; i < s->anti.n; i++)
		if (waiting_term_means(c, &s->anti.v[i], p->labelset))
			return true;
	return false;
}

/* ---- the points ---- */

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	struct affinity_filter *s = filter_state(c, c->arena);
	struct affinity_state *state;

	if (!s)
		return cede_answer(CEDE_SKIP, 0, 0);
	state = cede_alloc(c, sizeof(*state));
	state->filter = s;
	cede_set_state(c, &inter_pod_affinity_plugin, state);
	return cede_ok();
}

static void add_pod(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	count_change(c, pod, node, 1);
}

static void remove_pod(void *self, struct cede_cycle *c, cede_pod pod, cede_node node)
{
	count_change(c, pod, node, -1);
}

static bool affinity_holds(const struct affinity_filter *s, node_id node)
{
	bool are_there = true;

	for (uint32_t i = 0; i < s->affinity.n; i++) {
		if (topology_domain(s->affinity.v[i].topology, node) == DOMAIN_NONE)
			return false;
		are_there = are_there && sums_at(s->affinity.v[i].sums, node) > 0;
	}
	return are_there || (!s->wanted.total && s->means_itself);
}

static bool is_against(const struct affinity_tally *t, node_id node)
{
	for (const struct sums *s = t->first; t->total && s; s = s->next)
		if (sums_at(s, node) > 0)
			return true;
	return false;
}

static struct cede_verdict judge(const struct affinity_filter *s, node_id node)
{
	if (!affinity_holds(s, node))
		return cede_answer(CEDE_UNRESOLVABLE, NO_AFFINITY, 0);
	if (is_against(&s->unwanted, node))
		return cede_answer(CEDE_UNSCHEDULABLE, OWN_ANTI_AFFINITY, 0);
	if (is_against(&s->against, node) || is_against(&s->held, node))
		return cede_answer(CEDE_UNSCHEDULABLE, THEIR_ANTI_AFFINITY, 0);
	return cede_ok();
}

bool affinity_is_held(const struct cede_cycle *c, node_id node)
{
	const struct affinity_state *state = cede_get_state(c, &inter_pod_affinity_plugin);

	return state && state->filter && is_against(&state->filter->held, node);
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct affinity_state *state = cede_get_state(c, &inter_pod_affinity_plugin);
	const struct affinity_filter *s;
	struct cede_verdict v;
	struct arena *a;

	if (state && state->filter)
		return judge(state->filter, node);
	a = arena_new(1 << 14);
	s = filter_state(c, a);
	v = s ? judge(s, node) : cede_ok();
	arena_free(a);
	return v;
}

const struct cede_plugin inter_pod_affinity_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "InterPodAffinity",
	.pre_filter = pre_filter,
	.add_pod = add_pod,
	.remove_pod = remove_pod,
	.filter = filter,
	.pre_score = affinity_pre_score,
	.score = affinity_score,
	.normalize = affinity_normalize,
	.reasons = reasons,
	.n_reasons = sizeof(reasons) / sizeof(*reasons),
};
