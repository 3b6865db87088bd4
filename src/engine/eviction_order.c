/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/eviction_order.h"

#include <assert.h>
#include <stdlib.h>

#include "engine/disruption_unit.h"
#include "filters/builtin.h"

void eviction_orders_fit(struct eviction_orders *l, uint32_t n_nodes)
{
	if (l->n >= n_nodes)
		return;
	l->slots = mem_resize(l->slots, n_nodes, sizeof(*l->slots));
	memset(l->slots + l->n, 0, (n_nodes - l->n) * sizeof(*l->slots));
	l->n = n_nodes;
}

void eviction_orders_free(struct eviction_orders *l)
{
	for (uint32_t i = 0; i < l->v.n; i++)
		mem_free(l->v.v[i].v);
	array_free(&l->v);
	mem_free(l->slots);
	*l = (struct eviction_orders){0};
}

/* ---- the order ---- */

static int by_name(const struct cede_cycle *c, const struct ordered_pod *a, const struct ordered_pod *b)
{
	int d = name_cmp(c->names, labelset_get(c->vocab, a->labelset)->ns, labelset_get(c->vocab, b->labelset)->ns);

	return d ? d : name_cmp(c->names, ledger_pod(c->ledger, a->pod)->name, ledger_pod(c->ledger, b->pod)->name);
}

static int by_importance(const void *a, const void *b, void *ctx)
{
	const struct cede_cycle *c = ctx;
	const struct ordered_pod *x = a, *y = b;
	int64_t start_x = x->start == TIME_NONE ? c->now_ns : x->start,
		start_y = y->start == TIME_NONE ? c->now_ns : y->start;

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	if (x->is_grouped != y->is_grouped)
		return x->is_grouped ? -1 : 1;
	if (start_x != start_y)
		return start_x < start_y ? -1 : 1;
	return by_name(c, x, y);
}

static void reserve(struct eviction_order *l, uint32_t n)
{
	if (l->cap >= n)
		return;
	l->cap = n;
	l->v = mem_resize(l->v, l->cap, sizeof(*l->v));
}

static void build(struct eviction_order *l, struct cede_cycle *c, node_id node)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);

	reserve(l, n->pods.n);
	l->n = n->pods.n;
	l->has_unset_start = l->has_groups = false;
	for (uint32_t i = 0; i < l->n; i++) {
		const struct pod *p = ledger_pod(c->ledger, n->pods.v[i]);

		l->v[i] = (struct ordered_pod){.priority = p->priority,
					       .is_grouped = pod_is_grouped(p),
					       .pod = n->pods.v[i],
					       .labelset = p->labelset,
					       .start = p->started_ns,
					       .usage = &shape_get(c->vocab, p->shape)->usage};
		l->has_unset_start |= p->started_ns == TIME_NONE;
		l->has_groups |= p->group != GROUP_NONE;
	}
	if (l->n)
		qsort_r(l->v, l->n, sizeof(*l->v), by_importance, c);
	l->generation = n->generation;
}

static const struct eviction_order *eviction_order_of(struct eviction_orders *all, struct cede_cycle *c, node_id node)
{
	struct eviction_order *l;

	if (!all->slots[node]) {
		array_push(&all->v, (struct eviction_order){0});
		all->slots[node] = all->v.n;
	}
	l = &all->v.v[all->slots[node] - 1];
	if (l->generation != ledger_node(c->ledger, node)->generation || l->has_unset_start)
		build(l, c, node);
	return l;
}

/* ---- the node ---- */

struct candidates { /* those who may go, most important first */
	const struct ordered_pod *v;
	uint32_t n;
};

static struct candidates candidates_of(const struct eviction_order *l, const struct cede_cycle *c)
{
	struct candidates candidates = {0};
	uint32_t first = 0;

	while (first < l->n && l->v[first].priority >= c->priority)
		first++;
	candidates.n = l->n - first;
	candidates.v = candidates.n ? l->v + first : NULL;
	return candidates;
}

/* They go by the priority of their group, which need not be theirs. */
static bool has_whole(const struct cede_cycle *c, const struct eviction_order *l)
{
	for (uint32_t i = 0; l->has_groups && i < l->n; i++)
		if (pod_goes_whole(c->ledger, ledger_pod(c->ledger, l->v[i].pod)))
			return true;
	return false;
}

static void add(const struct want *w, const struct res_list *usage, int64_t *room)
{
	room[0]++;
	for (uint32_t k = 1; k < w->n; k++)
		room[k] += res_list_get(usage, w->type[k]);
}

static bool take_back(const struct want *w, const struct res_list *usage, int64_t *room)
{
	int64_t left[RES_MAX];

	left[0] = room[0] - 1;
	for (uint32_t k = 1; k < w->n; k++)
		left[k] = room[k] - res_list_get(usage, w->type[k]);
	for (uint32_t k = 0; k < w->n; k++)
		if (w->amount[k] > left[k])
			return false;
	memcpy(room, left, w->n * sizeof(*room));
	return true;
}

/* Which of them would violate a budget; false: none has one. */
static bool split(struct cede_cycle *c, const struct displace_options *o, const struct candidates *candidates,
		  pod_id *pods, bool *violates)
{
	bool has_any = false;
	uint32_t n_pdbs;

	for (uint32_t i = 0; i < candidates->n; i++) {
		const struct ordered_pod *p = &candidates->v[i];

		pods[i] = p->pod;
		if (!has_any && ledger_pdb_limit(c->ledger)) {
			ledger_labelset_pdbs(c->ledger, p->labelset, &n_pdbs);
			has_any = n_pdbs > 0;
		}
	}
	if (has_any)
		victim_set_overspending(o->j, pods, candidates->n, violates);
	return has_any;
}

struct displace_node eviction_order_displace(struct eviction_orders *all, struct cede_cycle *c,
					     const struct displace_options *o, const struct want *w, node_id node,
					     bool *ret_is_lasting)
{
	const struct eviction_order *l = eviction_order_of(all, c, node);
	struct candidates candidates = candidates_of(l, c);
	struct displace_node r = {.node = node, .status = status_of_framework(CEDE_UNRESOLVABLE, FW_NO_VICTIMS, 0)};
	pod_id *pods = arena_n(c->arena, candidates.n + 1, pod_id);
	bool *violates = arena_n(c->arena, candidates.n + 1, bool), *goes = arena_n(c->arena, candidates.n + 1, bool);
	int64_t room[RES_MAX];

	if (l->has_unset_start)
		*ret_is_lasting = false;
	if (has_whole(c, l)) {
		*ret_is_lasting = false;
		return displace_try(c, node, o);
	}
	if (!candidates.v)
		return r;
	assert(w->n); /* the slot of the pod itself comes first */
	displace_room(c, w, node, room);
	for (uint32_t i = 0; i < candidates.n; i++)
		add(w, candidates.v[i].usage, room);
	r.status = lack_status(w, want_lacks(w, ledger_node_allocatable(c->ledger, node), room));
	if (!status_is_success(&r.status))
		return r;
	if (split(c, o, &candidates, pods, violates))
		*ret_is_lasting = false;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < candidates.n; i++)
			if (violates[i] == (pass == 0))
				goes[i] = !take_back(w, candidates.v[i].usage, room);
	collect_victims(&r, pods, goes, violates, candidates.n, c->arena);
	return r;
}
