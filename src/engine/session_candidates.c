/* SPDX-License-Identifier: Apache-2.0 */
/* Who may go next, batch by batch; and a quick look whether all of them together could be enough. */
#include <stdlib.h>
#include <string.h>

#include "engine/session_solver.h"

/* ---- the quick look ---- */

static int64_t gpus_of(const struct session *s, uint32_t member)
{
	return member_ask(s, member)[KAI_GPU];
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x > y ? -1 : x < y;
}

void quick_begin(struct solver *v)
{
	struct session *s = v->s;

	v->need = gpus_of(s, v->want[0]);
	for (uint32_t i = 0; i < v->n_step; i++) {
		v->needs[i] = gpus_of(s, v->want[i]);
		if (v->needs[i] != v->need)
			v->need = -1;
	}
	if (v->need < 0)
		qsort(v->needs, v->n_step, sizeof(*v->needs), by_size);
	v->slots = v->clean_gpu_slots;
}

static int64_t gpus_on(const struct solver *v, uint32_t node)
{
	return v->counts->room[(size_t)node * v->s->n_amounts + KAI_GPU];
}

static int by_free(const void *a, const void *b, void *ctx)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t free_x = gpus_on(ctx, x), free_y = gpus_on(ctx, y);

	if (free_x != free_y)
		return free_x > free_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

/*
 * The largest need onto the freest nodes, as many nodes as there are members: greedy, so it refuses what a better
 * packing would fit. KAI does so, and what it refuses stays refused.
 */
static bool greedy_fits(struct solver *v)
{
	uint32_t n = v->s->n_nodes, *top = mem_resize(NULL, n + 1, sizeof(*top));
	int64_t *used = mem_alloc((n + 1) * sizeof(*used));
	bool is_ok = true;

	for (uint32_t i = 0; i < n; i++)
		top[i] = i;
	qsort_r(top, n, sizeof(*top), by_free, v);
	if (n > v->n_step)
		n = v->n_step;
	for (uint32_t i = 0; is_ok && i < v->n_step && v->needs[i] > 0; i++) {
		uint32_t k = 0;

		while (k < n && gpus_on(v, top[k]) >= v->needs[i] && gpus_on(v, top[k]) - used[k] < v->needs[i])
			k++;
		is_ok = k < n && gpus_on(v, top[k]) >= v->needs[i];
		if (is_ok)
			used[k] += v->needs[i];
	}
	mem_free(used);
	mem_free(top);
	return is_ok;
}

bool quick_look(struct solver *v)
{
	if (v->need == 0)
		return true;
	if (v->need > 0)
		return v->slots >= (int64_t)v->n_step;
	return greedy_fits(v);
}

/* ---- batches ---- */

static bool is_noted(const struct solver *v, const struct session_node *n, uint32_t workload, bool is_first)
{
	if (v->s->workloads[workload].n_members == 1) /* it comes once */
		return false;
	if (is_first) /* nobody came in between */
		return n->last_by_node != NONE && v->by_node.v[n->last_by_node].workload == workload;
	for (uint32_t i = n->first_by_node; i != NONE; i = v->by_node.v[i].next)
		if (v->by_node.v[i].workload == workload)
			return true;
	return false;
}

/* is_first: it has no other batch than first_batch, which is being made. */
static void note_on_node(struct solver *v, uint32_t node, uint32_t workload, uint32_t first_batch, bool is_first)
{
	struct session_node *n = node == NONE ? NULL : &v->s->nodes[node];

	if (n == NULL)
		return;
	if (n->by_node_stamp != v->stamp) {
		n->by_node_stamp = v->stamp;
		n->first_by_node = n->last_by_node = NONE;
	}
	if (is_noted(v, n, workload, is_first))
		return;
	array_push(&v->by_node, ((struct by_node){workload, NONE, first_batch}));
	if (n->last_by_node != NONE)
		v->by_node.v[n->last_by_node].next = v->by_node.n - 1;
	else
		n->first_by_node = v->by_node.n - 1;
	n->last_by_node = v->by_node.n - 1;
}

void solver_add_batch(struct solver *v, uint32_t workload, const uint32_t *members, uint32_t n, bool is_recorded)
{
	struct workload_search *u = &v->s->searched[workload];
	uint32_t id = v->batches.n;
	bool is_first = u->batch_stamp != v->stamp;

	array_push(&v->batches, ((struct batch){.workload = workload,
						.first = v->members.n,
						.n = n,
						.next = NONE,
						.is_recorded = is_recorded,
						.side = NONE}));
	for (uint32_t i = 0; i < n; i++) {
		struct member *m = &v->s->members[members[i]];

		array_push(&v->members, members[i]);
		m->batch = id;
		slots_free(v, members[i]);
		if (is_recorded)
			m->recorded = v->stamp;
		else
			note_on_node(v, m->node, workload, is_first ? id : u->first_batch, is_first);
	}
	sides_note_batch(v, id);
	if (is_first) {
		u->batch_stamp = v->stamp;
		u->first_batch = id;
		u->order_key = v->next_key++;
		v->n_looked_at++;
	} else {
		v->batches.v[u->last_batch].next = id;
	}
	u->last_batch = id;
	v->n_candidates += !is_recorded;
}

/* ---- candidates ---- */

/* The podset that loses next: the one furthest above its minimum, relatively. */
static uint32_t podset_to_take(const struct session *s, const struct victim_entry *e, const bool *is_taken)
{
	const struct workload *u = &s->workloads[e->workload];
	uint32_t best = NONE;

	for (uint32_t i = 0; i < u->n_podsets; i++)
		if (!is_taken[i] &&
		    (best == NONE || podset_before(s, &s->podsets[u->first_podset + best], e->n_left[best],
						   &s->podsets[u->first_podset + i], e->n_left[i])))
			best = i;
	return best;
}

static bool has_surplus(const struct session *s, const struct victim_entry *e)
{
	const struct workload *u = &s->workloads[e->workload];

	for (uint32_t i = 0; i < u->n_podsets; i++)
		if (e->n_left[i] > (uint32_t)s->podsets[u->first_podset + i].min)
			return true;
	return false;
}

/* What goes next of a workload: one member of what is above its minimum, or all. */
static uint32_t next_batch(const struct session *s, const struct victim_entry *e, uint32_t *ret)
{
	const struct workload *u = &s->workloads[e->workload];
	bool few[16] = {false}, *is_taken = u->n_podsets > 16 ? mem_alloc(u->n_podsets * sizeof(bool)) : few;
	uint32_t podsets = has_surplus(s, e) ? 1 : u->n_podsets, n = 0;

	for (uint32_t k = 0; k < podsets; k++) {
		uint32_t p = podset_to_take(s, e, is_taken);
		uint32_t left = e->n_left[p], take = left > (uint32_t)s->podsets[u->first_podset + p].min ? 1 : left;

		is_taken[p] = true;
		for (uint32_t i = 0; i < take; i++)
			ret[n++] = e->members[e->first[p] + left - 1 - i];
	}
	if (is_taken != few)
		mem_free(is_taken);
	return n;
}

static void entry_drop(const struct session *s, struct victim_entry *e, uint32_t podset, uint32_t at)
{
	uint32_t *v = e->members + e->first[podset], member = v[at];

	memmove(v + at, v + at + 1, (e->n_left[podset] - at - 1) * sizeof(*v));
	e->n_left[podset]--;
	if (!is_in(settled_status(s, &s->members[member]), SET_ALLOCATED))
		return;
	for (uint32_t r = 0; r < KAI_RES; r++)
		e->allocated[r] -= s->signatures[s->members[member].signature].share[r];
}

static bool contains(const uint32_t *v, uint32_t n, uint32_t x)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i] == x)
			return true;
	return false;
}

/* Without these members, or (NULL) without all that are recorded. How many are left. */
static uint32_t entry_reduce(struct solver *v, struct victim_entry *e, const uint32_t *batch, uint32_t n)
{
	struct session *s = v->s;
	uint32_t left = 0;

	for (uint32_t p = 0; p < s->workloads[e->workload].n_podsets; p++) {
		for (uint32_t i = e->n_left[p]; i-- > 0;) {
			uint32_t member = e->members[e->first[p] + i];

			if (batch != NULL ? contains(batch, n, member) : s->members[member].recorded == v->stamp)
				entry_drop(s, e, p, i);
		}
		left += e->n_left[p];
	}
	return left;
}

static uint8_t entry_state(const struct session *s, const struct victim_entry *e)
{
	const struct workload *u = &s->workloads[e->workload];
	bool is_above = false;

	for (uint32_t i = 0; i < u->n_podsets; i++) {
		uint32_t min = (uint32_t)s->podsets[u->first_podset + i].min;

		if (e->n_left[i] < min)
			return 0;
		is_above |= e->n_left[i] > min;
	}
	return is_above ? 2 : 1;
}

static void push_back(struct solver *v, uint32_t entry)
{
	const struct victim_entry *e = order_get_entry(v->s, entry);

	v->has_pushed_back = true;
	v->n_open++;
	order_push(v->s, ORDER_VICTIMS, (struct order_item){e->workload, entry, entry_state(v->s, e)});
}

bool solver_keeps_core(const struct solver *v, uint32_t workload)
{
	return session_verdict(v->s, workload) == WORKLOAD_KEEPS_MINIMUM;
}

/* A workload of one member, all of which goes at once: most are. */
static bool is_single(const struct workload *u)
{
	return u->n_members == 1 && u->n_podsets == 1 && !u->is_semi;
}

/* A gang of which none is above its minimum goes at once too. */
static bool goes_whole(const struct session *s, const struct workload *u)
{
	return is_single(u) ||
	       (u->n_podsets == 1 && !u->is_semi && (uint32_t)s->podsets[u->first_podset].min >= u->n_members);
}

static bool add_single(struct solver *v, uint32_t workload)
{
	const struct workload *u = &v->s->workloads[workload];
	uint32_t member = v->s->podsets[u->first_podset].first;

	if (!is_single(u) || v->s->members[member].recorded == v->stamp)
		return false;
	solver_add_batch(v, workload, &member, 1, false);
	v->last_workload = workload;
	return true;
}

/* What goes next of what is left of a workload. False: nothing, or it is recorded already. */
static bool add_from_entry(struct solver *v, uint32_t entry)
{
	struct session *s = v->s;
	struct victim_entry *e = order_get_entry(s, entry);
	uint32_t workload = e->workload, n_members = s->workloads[workload].n_members;
	uint32_t few[64], *batch = n_members > 64 ? mem_resize(NULL, n_members, sizeof(*batch)) : few;
	uint32_t n = next_batch(s, e, batch);
	bool is_new = true;

	for (uint32_t i = 0; i < n; i++)
		is_new &= s->members[batch[i]].recorded != v->stamp;
	if (entry_reduce(v, e, is_new ? batch : NULL, n) > 0)
		push_back(v, entry);
	if (is_new && n > 0) {
		solver_add_batch(v, workload, batch, n, false);
		v->last_workload = workload;
	}
	if (batch != few)
		mem_free(batch);
	return is_new;
}

/* A consolidation looks at the first workloads in eviction order, up to its bound, and at no others. */
static bool looks_at_enough(const struct solver *v, uint32_t workload)
{
	int32_t most = v->s->settings->max_consolidation_preemptees;

	return v->action == ACTION_CONSOLIDATE && most >= 0 && v->n_looked_at >= (uint32_t)most &&
	       v->s->searched[workload].batch_stamp != v->stamp;
}

/* ---- the order of victims ---- */

void victims_afresh(struct solver *v)
{
	v->sequence_at = 0;
	if (v->has_order && v->has_sequence && !v->s->en->config->looks_at_all)
		return;
	order_begin(v->s, ORDER_VICTIMS, v->filter, v->ctx, NULL, 0);
	v->has_order = v->has_sequence = true;
	v->sequence.n = 0;
}

/* Every step goes through them again, each somewhere else in memory, which is most of what that takes. */
static inline __attribute__((always_inline)) void fetch_ahead(const struct solver *v)
{
	enum { AHEAD = 6 };
	const struct session *s = v->s;
	const struct victim_ahead *x = &v->sequence.v[v->sequence_at + AHEAD];

	if (v->sequence_at + AHEAD >= v->sequence.n)
		return;
	__builtin_prefetch(&s->searched[x->workload], 1);
	__builtin_prefetch(&s->searched[x->workload].first_batch, 1);
	__builtin_prefetch(&s->workloads[x->workload]);
	__builtin_prefetch(&s->podsets[x->podset]);
	__builtin_prefetch(&s->members[x->first], 1);
	__builtin_prefetch(&s->members[x->first].recorded, 1);
}

static void note_victim(struct solver *v, uint32_t workload)
{
	uint32_t podset = v->s->workloads[workload].first_podset;

	array_push(&v->sequence, ((struct victim_ahead){workload, podset, v->s->podsets[podset].first}));
	v->sequence_at = v->sequence.n;
}

/* Nothing that the order depends on changes during a search, but what is left of a workload of which a part went. */
static bool next_victim(struct solver *v, struct order_item *ret)
{
	if (v->sequence_at < v->sequence.n) {
		fetch_ahead(v);
		*ret = (struct order_item){.workload = v->sequence.v[v->sequence_at++].workload, .entry = NONE};
		return true;
	}
	if (!order_pop(v->s, ORDER_VICTIMS, ret))
		return false;
	v->has_sequence = v->has_sequence && ret->entry == NONE && goes_whole(v->s, &v->s->workloads[ret->workload]);
	if (v->has_sequence)
		note_victim(v, ret->workload);
	return true;
}

bool solver_add_candidate(struct solver *v)
{
	struct session *s = v->s;
	struct order_item item;

	while (next_victim(v, &item)) {
		uint32_t entry = item.entry;

		s->steps++;
		if (looks_at_enough(v, item.workload)) {
			if (v->n_open == 0 && !s->en->config->looks_at_all)
				return false;
			continue;
		}
		v->n_open -= s->searched[item.workload].batch_stamp == v->stamp;
		if (entry == NONE && add_single(v, item.workload))
			return true;
		if (entry == NONE && is_single(&s->workloads[item.workload])) /* it is recorded */
			continue;
		if (entry == NONE)
			entry = order_entry(s, item.workload, solver_keeps_core(v, item.workload));
		if (!has_surplus(s, order_get_entry(s, entry)) && solver_keeps_core(v, item.workload))
			continue;
		if (add_from_entry(v, entry))
			return true;
	}
	return false;
}
