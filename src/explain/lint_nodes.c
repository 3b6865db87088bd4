/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lint of waiting work against the nodes there are, whatever runs on them: selectors and taints that no node satisfies,
 * gangs that are larger than the cluster, guarantees that work which may never go stands in the way of.
 */
#include "explain/lint_internal.h"

#include <stdlib.h>

#include "base/map.h"
#include "rules/judge.h"

/* ---- selectors and taints ---- */

static bool matches(const struct look_at *a, const struct shape *s, const struct ledger_node *n)
{
	const struct labels *labels = &labelset_get(ledger_vocab(a->l), n->obj->labelset)->labels;

	return labels_include(labels, &s->node_selector) &&
	       (!s->has_required_terms || node_terms_match(a->names, &s->required_terms, labels, n->name));
}

static bool tolerates(const struct look_at *a, const struct shape *s, const struct ledger_node *n)
{
	for (uint32_t i = 0; i < n->obj->n_taints; i++)
		if (n->obj->taints[i].effect != EFFECT_PREFER_NO_SCHEDULE &&
		    !tolerations_match(a->names, s->tolerations, s->n_tolerations, &n->obj->taints[i], true))
			return false;
	return true;
}

static void check_shape(const struct look_at *a, const struct pod *p, const struct shape *s)
{
	uint32_t n_nodes = 0, n_matching = 0, n_tolerated = 0;

	for (node_id i = 0; i < ledger_node_limit(a->l); i++) {
		const struct ledger_node *n = ledger_node(a->l, i);

		if (!n->is_live)
			continue;
		n_nodes++;
		n_matching += matches(a, s, n);
		n_tolerated += matches(a, s, n) && tolerates(a, s, n);
	}
	if (n_nodes && !n_matching)
		lint_add(a->out, LINT_WARNING, "no-node", lint_pod(a, p),
			 "its node selector and affinity match no node; there %s %u", n_nodes == 1 ? "is" : "are",
			 n_nodes);
	else if (n_matching && !n_tolerated)
		lint_add(a->out, LINT_WARNING, "no-node", lint_pod(a, p),
			 "of the nodes that its selector matches (%u) it tolerates the taints of none", n_matching);
}

/* Once per shape: pods of one template have the same to say. */
static void check_shapes(const struct look_at *a)
{
	struct map seen = {0};

	for (pod_id i = 0; i < ledger_pod_limit(a->l); i++) {
		const struct pod *p = ledger_pod(a->l, i);

		if (p->state != POD_WAITING || map_get(&seen, p->shape) != MAP_NONE)
			continue;
		map_put(&seen, p->shape, 1);
		check_shape(a, p, shape_get(ledger_vocab(a->l), p->shape));
	}
	map_free(&seen);
}

/* ---- gangs ---- */

static int by_amount(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* What the smallest of its pods that could make up the minimum ask for together: it cannot start with less. */
static int64_t least_of(const struct look_at *a, group_id g, podset_id podset, res_id r)
{
	uint32_t n = 0, min = (uint32_t)ledger_podset(a->l, podset)->min_member;
	int64_t *amounts = mem_alloc((ledger_podset(a->l, podset)->n_pods + 1) * sizeof(*amounts)), sum = 0;

	for (pod_id i = cluster_group_first(a->cluster, g); i != POD_NONE; i = cluster_group_next(a->cluster, i)) {
		const struct pod *p = ledger_pod(a->l, i);

		if (p->podset == podset && p->state != POD_FINISHED && p->state != POD_FREE &&
		    n < ledger_podset(a->l, podset)->n_pods)
			amounts[n++] = res_list_get(&shape_get(ledger_vocab(a->l), p->shape)->request, r);
	}
	qsort(amounts, n, sizeof(*amounts), by_amount);
	for (uint32_t i = 0; i < n && i < min; i++)
		sum = res_add_sat(sum, amounts[i]);
	mem_free(amounts);
	return sum;
}

static void check_gang(const struct look_at *a, group_id id)
{
	const struct group *g = ledger_group(a->l, id);
	const int64_t *all = ledger_capacity(a->l);
	uint32_t n_waiting = 0;

	for (uint32_t i = 0; i < g->n_podsets; i++)
		n_waiting += ledger_podset(a->l, g->first_podset + i)->n_waiting;
	for (res_id r = 0; n_waiting && r < a->types->n; r++) {
		int64_t asks = 0;

		for (uint32_t i = 0; r != RES_PODS && i < g->n_podsets; i++)
			asks = res_add_sat(asks, least_of(a, id, g->first_podset + i, r));
		if (asks <= all[r])
			continue;
		lint_add(a->out, LINT_WARNING, "never-runs", lint_group(a, g),
			 "its minimum asks for %s of %s at once, and all nodes together have %s",
			 lint_amount(a, r, asks), res_type_name(a->types, r), lint_amount(a, r, all[r]));
		return;
	}
}

/* ---- guarantees ---- */

static bool never_goes(const struct look_at *a, const struct pod *p)
{
	return p->preemptibility == NON_PREEMPTIBLE || p->obj->owner_kind == OWNER_DAEMONSET ||
	       (p->queue != QUEUE_NONE && queue_get(a->tree, p->queue)->props.preemption_policy == POLICY_DISABLED);
}

/* What pods outside the queue hold that no rule ever lets go. */
static int64_t held_outside(const struct look_at *a, queue_id q, res_id r)
{
	int64_t sum = 0;

	for (pod_id i = 0; i < ledger_pod_limit(a->l); i++) {
		const struct pod *p = ledger_pod(a->l, i);

		if (p->state != POD_PLACED || (p->queue != QUEUE_NONE && queue_is_above(a->tree, q, p->queue)))
			continue;
		if (never_goes(a, p))
			sum = res_add_sat(sum, res_list_get(&shape_get(ledger_vocab(a->l), p->shape)->usage, r));
	}
	return sum;
}

static void check_blocked(const struct look_at *a, queue_id q)
{
	const int64_t *all = ledger_capacity(a->l), *used = ledger_queue_used(a->l, q);

	for (uint64_t left = queue_get(a->tree, q)->spec.guaranteed.mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t g = queue_guarantee(queue_get(a->tree, q), r), held;

		if (g <= used[r] || g == RES_UNLIMITED || g > all[r])
			continue;
		held = held_outside(a, q, r);
		if (all[r] - held < g)
			lint_add(a->out, LINT_WARNING, "blocked-guarantee", lint_queue(a, q),
				 "it is guaranteed %s of %s; of the %s there are, work of others that may never go "
				 "holds %s",
				 lint_amount(a, r, g), res_type_name(a->types, r), lint_amount(a, r, all[r]),
				 lint_amount(a, r, held));
	}
}

void lint_nodes(const struct look_at *a)
{
	check_shapes(a);
	for (group_id g = 0; g < ledger_group_limit(a->l); g++)
		if (ledger_group(a->l, g)->is_live)
			check_gang(a, g);
	for (queue_id q = 1; q < a->tree->q.n; q++)
		if (queue_get(a->tree, q)->is_live)
			check_blocked(a, q);
}
