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

static bool comes_first(const struct look_at *a, const struct pod *p, const struct pod *q)
{
	struct vocab *v = ledger_vocab(a->l);
	int d = name_cmp(a->names, labelset_get(v, p->labelset)->ns, labelset_get(v, q->labelset)->ns);

	return d ? d < 0 : name_cmp(a->names, p->name, q->name) < 0;
}

/* Once per shape: pods of one template have the same to say. The first by name says it. */
static void check_shapes(const struct look_at *a)
{
	struct map first = {0};

	for (pod_id i = 0; i < ledger_pod_limit(a->l); i++) {
		const struct pod *p = ledger_pod(a->l, i);
		uint32_t was = p->state == POD_WAITING ? map_get(&first, p->shape) : MAP_NONE;

		if (p->state == POD_WAITING && (was == MAP_NONE || comes_first(a, p, ledger_pod(a->l, was))))
			map_put(&first, p->shape, i);
	}
	for (pod_id i = 0; i < ledger_pod_limit(a->l); i++) {
		const struct pod *p = ledger_pod(a->l, i);

		if (p->state == POD_WAITING && map_get(&first, p->shape) == i)
			check_shape(a, p, shape_get(ledger_vocab(a->l), p->shape));
	}
	map_free(&first);
}

/* ---- gangs ---- */

static int by_amount(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/*
 * What the smallest of its pods that could make up the minimum ask for together: it cannot start with less. Pods that
 * are not there yet count as the smallest of those that are.
 */
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
	if (n && n < min)
		sum = amounts[0] > (INT64_MAX - sum) / (min - n) ? INT64_MAX : sum + amounts[0] * (min - n);
	mem_free(amounts);
	return sum;
}

/* How many such pods a node bears if it is empty. */
static int64_t slots_on(const struct look_at *a, const struct shape *s, node_id n)
{
	const int64_t *all = ledger_node_allocatable(a->l, n);
	int64_t slots = all[RES_PODS];

	for (uint32_t i = 0; i < s->request.n; i++)
		if (s->request.v[i].amount > 0 && all[s->request.v[i].type] / s->request.v[i].amount < slots)
			slots = all[s->request.v[i].type] / s->request.v[i].amount;
	return slots;
}

/* The one shape of a podset's pods; NULL: they differ, or there are none. */
static const struct shape *shape_of_all(const struct look_at *a, group_id g, podset_id podset)
{
	shape_id shape = SHAPE_NONE;

	for (pod_id i = cluster_group_first(a->cluster, g); i != POD_NONE; i = cluster_group_next(a->cluster, i)) {
		const struct pod *p = ledger_pod(a->l, i);

		if (p->podset != podset || p->state == POD_FINISHED || p->state == POD_FREE)
			continue;
		if (shape != SHAPE_NONE && shape != p->shape)
			return NULL;
		shape = p->shape;
	}
	return shape == SHAPE_NONE ? NULL : shape_get(ledger_vocab(a->l), shape);
}

/* Enough in all, but in pieces that are too small, or on nodes that it may not use. */
static void check_slots(const struct look_at *a, group_id id)
{
	const struct group *g = ledger_group(a->l, id);

	for (podset_id k = g->first_podset; k < g->first_podset + g->n_podsets; k++) {
		const struct shape *s = shape_of_all(a, id, k);
		int64_t min = ledger_podset(a->l, k)->min_member, slots = 0;

		for (node_id n = 0; s && n < ledger_node_limit(a->l); n++)
			if (ledger_node(a->l, n)->is_live && matches(a, s, ledger_node(a->l, n)) &&
			    tolerates(a, s, ledger_node(a->l, n)))
				slots = res_add_sat(slots, slots_on(a, s, n));
		if (!s || !slots || slots >= min) /* no slots: that is said of the pod */
			continue;
		lint_add(
			a->out, LINT_WARNING, "never-runs", lint_group(a, g),
			"its minimum is %d pods at once, and all nodes that they may use, even empty, have room for %d",
			(int)min, (int)slots);
		return;
	}
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
	if (n_waiting)
		check_slots(a, id);
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
