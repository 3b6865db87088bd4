/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The score of InterPodAffinity: preferred terms of the waiting pod, and those of pods that run already about it. Each
 * adds its weight to (or, anti-affinity, takes it from) the domain where the other pod is. Required affinity of running
 * pods to the waiting one counts as preferred, with the weight hardPodAffinityWeight.
 */
#include "filters/inter_pod_affinity.h"

static void score_own(const struct cede_cycle *c, struct arena *a, struct affinity_tally *t,
		      const struct pod_terms *terms, int sign)
{
	struct waiting_terms w = waiting_terms(c, a, terms, t);

	for (uint32_t i = 0; i < w.n; i++) {
		int64_t weight = (int64_t)w.v[i].term->weight * sign;
		const labelset_id *labelsets;
		uint32_t n = waiting_term_labelsets(c, &w.v[i], a, &labelsets);
		const struct roster *r = n ? framework_roster_pods(c->framework) : NULL;

		for (uint32_t k = 0; k < n; k++)
			for (pod_id p = roster_pod_first(r, labelsets[k]); p != ID_NONE; p = roster_pod_next(r, p))
				tally_add(t, w.v[i].sums, ledger_pod(c->ledger, p)->node, weight);
	}
}

struct scoring {
	const struct cede_cycle *c;
	struct arena *a;
	struct affinity_tally *t;
	struct roster_group group;
};

static void score_theirs(const struct scoring *k, const struct pod_term *term, int64_t weight)
{
	const struct cede_cycle *c = k->c;
	struct sums *sums;

	if (!term_means_waiting(c, term, labelset_get(c->vocab, k->group.labelset)))
		return;
	sums = tally_sums(k->t, k->a, framework_topology(c->framework, term->topology_key));
	for (pod_id p = k->group.first; p != ID_NONE; p = roster_group_next(framework_roster(c->framework), p))
		tally_add(k->t, sums, ledger_pod(c->ledger, p)->node, weight);
}

static void score_group(const struct scoring *k)
{
	const struct shape *s = shape_get(k->c->vocab, k->group.shape);
	int32_t hard_weight = framework_args(k->c->framework)->hard_pod_affinity_weight;

	for (uint32_t i = 0; hard_weight > 0 && i < s->affinity.n; i++)
		score_theirs(k, &s->affinity.terms[i], hard_weight);
	for (uint32_t i = 0; i < s->preferred_affinity.n; i++)
		score_theirs(k, &s->preferred_affinity.terms[i], s->preferred_affinity.terms[i].weight);
	for (uint32_t i = 0; i < s->preferred_anti_affinity.n; i++)
		score_theirs(k, &s->preferred_anti_affinity.terms[i],
			     -(int64_t)s->preferred_anti_affinity.terms[i].weight);
}

/* NULL: nothing to tell nodes apart by. */
static struct affinity_tally *score_state(const struct cede_cycle *c, struct arena *a)
{
	bool has_own = c->shape->preferred_affinity.n || c->shape->preferred_anti_affinity.n;
	const struct roster *r;
	struct affinity_tally *t;

	if (!has_own && (framework_args(c->framework)->ignore_preferred_terms_of_existing_pods ||
			 !framework_has_terms(c->framework)))
		return NULL;
	r = framework_roster(c->framework);
	t = arena_type(a, struct affinity_tally);
	score_own(c, a, t, &c->shape->preferred_affinity, 1);
	score_own(c, a, t, &c->shape->preferred_anti_affinity, -1);
	for (uint32_t i = 0; i < roster_group_limit(r); i++) {
		struct scoring k = {c, a, t, roster_group_at(r, i)};

		if (k.group.first != ID_NONE)
			score_group(&k);
	}
	return t->is_touched ? t : NULL;
}

struct cede_verdict affinity_pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n)
{
	struct affinity_state *state = cede_get_state(c, &inter_pod_affinity_plugin);
	struct affinity_tally *t = score_state(c, c->arena);

	if (!t)
		return cede_answer(CEDE_SKIP, 0, 0);
	if (!state) {
		state = cede_alloc(c, sizeof(*state));
		cede_set_state(c, &inter_pod_affinity_plugin, state);
	}
	state->score = t;
	return cede_ok();
}

static int64_t sum_of(const struct affinity_tally *t, node_id node)
{
	int64_t sum = 0;

	for (const struct sums *s = t ? t->first : NULL; s; s = s->next)
		sum += sums_at(s, node);
	return sum;
}

int64_t affinity_score(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct affinity_state *state = cede_get_state(c, &inter_pod_affinity_plugin);
	struct arena *a;
	int64_t ret;

	if (state && state->score)
		return sum_of(state->score, node);
	a = arena_new(1 << 14);
	ret = sum_of(score_state(c, a), node);
	arena_free(a);
	return ret;
}

/* Floating point as kube-scheduler does it, so that the last bit agrees. */
void affinity_normalize(void *self, const struct cede_cycle *c, const cede_node *nodes, int64_t *scores, size_t n)
{
	int64_t min = INT64_MAX, max = INT64_MIN;

	for (size_t i = 0; i < n; i++) {
		min = scores[i] < min ? scores[i] : min;
		max = scores[i] > max ? scores[i] : max;
	}
	for (size_t i = 0; i < n; i++)
		scores[i] =
			max > min ? (int64_t)(CEDE_SCORE_MAX * ((double)(scores[i] - min) / (double)(max - min))) : 0;
}
