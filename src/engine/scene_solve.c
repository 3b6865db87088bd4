/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scenario search: who has to go, or move, so that a unit finds room.
 *
 * A gang is solved one member more at a time; each step keeps the victims of the step before. Within a step victims are
 * added, in the order in which they would go, until a trial works: take away those on a node (with what belongs to
 * them), let the unit and its victims look for room in the order of their queues, and ask whether the outcome may be.
 * Who finds room again where he was simply stays.
 */
#include "engine/scene.h"

#include <stdlib.h>
#include <string.h>

struct batch {			 /* members that go together */
	uint32_t unit, first, n; /* in step.members */
	uint32_t next;		 /* of the same unit; NONE */
	bool is_recorded;
};

struct by_node { /* units with candidates on a node */
	uint32_t unit, next;
};

struct solver {
	struct scene *s;
	const struct search *how;
	order_filter filter;
	void *ctx;
	uint64_t stamp; /* of the step: what units and nodes keep for it */
	struct bits base, feasible, trial_set;
	uint32_t *want;		 /* members to place */
	uint32_t n_want, n_part; /* the step places the first n_part */
	/* the step */
	ARRAY(struct batch) batches;
	ARRAY(uint32_t) members;
	ARRAY(uint32_t) units; /* with batches, in order */
	ARRAY(struct by_node) by_node;
	uint32_t n_recorded; /* batches; they come first */
	uint32_t last_unit;  /* of the newest candidate */
	uint64_t nowhere_seen;
	/* the trial */
	ARRAY(uint32_t) gone; /* members it took away */
	ARRAY(struct order_item) items;
	/* kept for the next step */
	ARRAY(struct batch) kept;
	ARRAY(uint32_t) kept_members;
	ARRAY(bool) kept_goes; /* for each of them: it lost its place or moves */
	ARRAY(struct share_batch) shares, sorted;
	/* the quick look: free GPUs of each node with all candidates gone */
	int64_t *free_gpus;
	int64_t need;	/* of every member, if they all want the same; else -1 */
	int64_t slots;	/* how many of them there is room for */
	int64_t *needs; /* of the step, largest first, if they differ */
};

enum { STEPS_MAX = 20000000 };

/* ---- the quick look ---- */

static int64_t gpus_of(const struct scene *s, uint32_t member)
{
	return member_ask(s, member)[KAI_GPU];
}

static void free_add(struct solver *v, uint32_t node, int64_t gpus)
{
	if (node == NONE)
		return;
	if (v->need > 0)
		v->slots -= v->free_gpus[node] > 0 ? v->free_gpus[node] / v->need : 0;
	v->free_gpus[node] += gpus;
	if (v->need > 0)
		v->slots += v->free_gpus[node] > 0 ? v->free_gpus[node] / v->need : 0;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x > y ? -1 : x < y;
}

static void quick_begin(struct solver *v)
{
	struct scene *s = v->s;

	v->need = gpus_of(s, v->want[0]);
	for (uint32_t i = 0; i < v->n_part; i++) {
		v->needs[i] = gpus_of(s, v->want[i]);
		if (v->needs[i] != v->need)
			v->need = -1;
	}
	qsort(v->needs, v->n_part, sizeof(*v->needs), by_size);
	v->slots = 0;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		size_t at = (size_t)i * s->n_amounts + KAI_GPU;

		v->free_gpus[i] = 0;
		free_add(v, i, s->idle[at] + s->soon[at]);
	}
}

static int by_free(const void *a, const void *b, void *ctx)
{
	const int64_t *free_gpus = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (free_gpus[x] != free_gpus[y])
		return free_gpus[x] > free_gpus[y] ? -1 : 1;
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
	qsort_r(top, n, sizeof(*top), by_free, v->free_gpus);
	if (n > v->n_part)
		n = v->n_part;
	for (uint32_t i = 0; is_ok && i < v->n_part && v->needs[i] > 0; i++) {
		uint32_t k = 0;

		while (k < n && v->free_gpus[top[k]] >= v->needs[i] && v->free_gpus[top[k]] - used[k] < v->needs[i])
			k++;
		is_ok = k < n && v->free_gpus[top[k]] >= v->needs[i];
		if (is_ok)
			used[k] += v->needs[i];
	}
	mem_free(used);
	mem_free(top);
	return is_ok;
}

static bool quick_look(struct solver *v)
{
	if (v->need == 0)
		return true;
	if (v->need > 0)
		return v->slots >= (int64_t)v->n_part;
	return greedy_fits(v);
}

/* ---- batches of the step ---- */

static void note_on_node(struct solver *v, uint32_t node, uint32_t unit)
{
	struct scene_node *n = node == NONE ? NULL : &v->s->nodes[node];

	if (n == NULL)
		return;
	if (n->by_node_stamp != v->stamp) {
		n->by_node_stamp = v->stamp;
		n->first_by_node = n->last_by_node = NONE;
	}
	for (uint32_t i = n->first_by_node; i != NONE; i = v->by_node.v[i].next)
		if (v->by_node.v[i].unit == unit)
			return;
	array_push(&v->by_node, ((struct by_node){unit, NONE}));
	if (n->last_by_node != NONE)
		v->by_node.v[n->last_by_node].next = v->by_node.n - 1;
	else
		n->first_by_node = v->by_node.n - 1;
	n->last_by_node = v->by_node.n - 1;
}

static void add_batch(struct solver *v, uint32_t unit, const uint32_t *members, uint32_t n, bool is_recorded)
{
	struct unit *u = &v->s->units[unit];
	uint32_t id = v->batches.n;

	array_push(&v->batches, ((struct batch){unit, v->members.n, n, NONE, is_recorded}));
	for (uint32_t i = 0; i < n; i++) {
		struct member *m = &v->s->members[members[i]];

		array_push(&v->members, members[i]);
		free_add(v, m->node, gpus_of(v->s, members[i]));
		if (is_recorded)
			m->recorded = v->stamp;
		else
			note_on_node(v, m->node, unit);
	}
	if (u->batch_stamp != v->stamp) {
		u->batch_stamp = v->stamp;
		u->first_batch = id;
		array_push(&v->units, unit);
	} else {
		v->batches.v[u->last_batch].next = id;
	}
	u->last_batch = id;
}

/* ---- candidates ---- */

/* The part that loses next: the one furthest above its minimum, relatively. */
static uint32_t part_to_take(const struct scene *s, const struct entry *e, const bool *is_taken)
{
	const struct unit *u = &s->units[e->unit];
	uint32_t best = NONE;

	for (uint32_t i = 0; i < u->n_parts; i++)
		if (!is_taken[i] && (best == NONE || part_before(s, &s->parts[u->first_part + best], e->n_left[best],
								 &s->parts[u->first_part + i], e->n_left[i])))
			best = i;
	return best;
}

static bool has_surplus(const struct scene *s, const struct entry *e)
{
	const struct unit *u = &s->units[e->unit];

	for (uint32_t i = 0; i < u->n_parts; i++)
		if (e->n_left[i] > (uint32_t)s->parts[u->first_part + i].min)
			return true;
	return false;
}

/* What goes next of a unit: one member of what is above its minimum, or all. */
static uint32_t next_batch(const struct scene *s, const struct entry *e, uint32_t *ret)
{
	const struct unit *u = &s->units[e->unit];
	bool few[16] = {false}, *is_taken = u->n_parts > 16 ? mem_alloc(u->n_parts * sizeof(bool)) : few;
	uint32_t parts = has_surplus(s, e) ? 1 : u->n_parts, n = 0;

	for (uint32_t k = 0; k < parts; k++) {
		uint32_t p = part_to_take(s, e, is_taken);
		uint32_t left = e->n_left[p], take = left > (uint32_t)s->parts[u->first_part + p].min ? 1 : left;

		is_taken[p] = true;
		for (uint32_t i = 0; i < take; i++)
			ret[n++] = e->members[e->first[p] + left - 1 - i];
	}
	if (is_taken != few)
		mem_free(is_taken);
	return n;
}

static void entry_drop(const struct scene *s, struct entry *e, uint32_t part, uint32_t at)
{
	uint32_t *v = e->members + e->first[part], member = v[at];

	memmove(v + at, v + at + 1, (e->n_left[part] - at - 1) * sizeof(*v));
	e->n_left[part]--;
	for (uint32_t r = 0; is_in(s->members[member].status, SET_ALLOCATED) && r < KAI_RES; r++)
		e->allocated[r] -= s->forms[s->members[member].form].share[r];
}

/* Without these members, or without all that are recorded. How many are left. */
static uint32_t entry_reduce(struct solver *v, struct entry *e, const uint32_t *batch, uint32_t n)
{
	struct scene *s = v->s;
	const struct unit *u = &s->units[e->unit];
	uint32_t left = 0;

	for (uint32_t p = 0; p < u->n_parts; p++) {
		for (uint32_t i = e->n_left[p]; i-- > 0;) {
			uint32_t member = e->members[e->first[p] + i];
			bool goes = batch == NULL && s->members[member].recorded == v->stamp;

			for (uint32_t k = 0; batch != NULL && !goes && k < n; k++)
				goes = batch[k] == member;
			if (goes)
				entry_drop(s, e, p, i);
		}
		left += e->n_left[p];
	}
	return left;
}

static uint8_t entry_state(const struct scene *s, const struct entry *e)
{
	const struct unit *u = &s->units[e->unit];
	bool is_above = false;

	for (uint32_t i = 0; i < u->n_parts; i++) {
		uint32_t min = (uint32_t)s->parts[u->first_part + i].min;

		if (e->n_left[i] < min)
			return 0;
		is_above |= e->n_left[i] > min;
	}
	return is_above ? 2 : 1;
}

static void push_back(struct solver *v, uint32_t entry)
{
	const struct entry *e = order_get_entry(v->s, entry);

	order_push(v->s, ORDER_VICTIMS, (struct order_item){e->unit, entry, entry_state(v->s, e)});
}

/* What stays in any case: work inside its window keeps its minimum, and so does work whose core may not be touched. */
static bool keeps_core(struct solver *v, uint32_t unit)
{
	const struct unit *u = &v->s->units[unit];

	if (u->is_semi)
		return true;
	return v->how->action != ACTION_CONSOLIDATE && unit_is_elastic(v->s, u) &&
	       scene_is_protected(v->s, v->how->action, v->how->unit, unit, NULL);
}

/* The next candidate joins. False: there are no more. */
static bool add_candidate(struct solver *v)
{
	struct scene *s = v->s;
	struct order_item item;

	while (order_pop(s, ORDER_VICTIMS, &item)) {
		uint32_t entry = item.entry != NONE ? item.entry : order_entry(s, item.unit);
		struct entry *e = order_get_entry(s, entry);
		uint32_t active = unit_count(&s->units[item.unit], SET_ACTIVE);
		uint32_t few[64], *batch = active > 64 ? mem_resize(NULL, active, sizeof(*batch)) : few;
		uint32_t n, left, touched = 0;

		s->steps++;
		if (!has_surplus(s, e) && keeps_core(v, item.unit))
			continue;
		n = next_batch(s, e, batch);
		for (uint32_t i = 0; i < n; i++)
			touched += s->members[batch[i]].recorded == v->stamp;
		left = entry_reduce(v, e, touched > 0 ? NULL : batch, n);
		if (left > 0)
			push_back(v, entry);
		if (touched == 0 && n > 0) {
			add_batch(v, item.unit, batch, n, false);
			v->last_unit = item.unit;
		}
		if (batch != few)
			mem_free(batch);
		if (touched == 0)
			return true;
	}
	return false;
}

/* ---- a trial ---- */

static void take_away(struct solver *v, uint32_t member)
{
	scene_evict(v->s, member);
	array_push(&v->gone, member);
}

static int item_cmp(const void *a, const void *b, void *ctx)
{
	const struct order_item *x = a, *y = b;
	const struct scene *s = ctx;
	uint32_t qx = s->units[x->unit].queue, qy = s->units[y->unit].queue;

	if (qx != qy)
		return qx < qy ? -1 : 1;
	if (x->unit == y->unit)
		return 0;
	return unit_before(s, x->unit, x->state, y->unit, y->state) ? -1 : 1;
}

/* The unit that asks, and those that lost something, in order. */
static void gather_items(struct solver *v)
{
	struct scene *s = v->s;

	s->stamp++;
	v->items.n = 0;
	array_push(&v->items, ((struct order_item){v->how->unit, 1, 0}));
	s->units[v->how->unit].in_trial = s->stamp;
	for (uint32_t i = v->gone.n; i-- > 0;) { /* most are in reverse order */
		uint32_t unit = s->members[v->gone.v[i]].unit;

		if (s->units[unit].in_trial == s->stamp)
			continue;
		s->units[unit].in_trial = s->stamp;
		array_push(&v->items, ((struct order_item){unit, NONE, unit_state(s, &s->units[unit])}));
	}
	for (uint32_t i = 1; i < v->items.n; i++)
		if (item_cmp(&v->items.v[i - 1], &v->items.v[i], s) > 0) {
			qsort_r(v->items.v, v->items.n, sizeof(*v->items.v), item_cmp, s);
			break;
		}
}

static bool place_part(struct solver *v)
{
	struct scene *s = v->s;
	bool is_ok;

	s->tasks.n = 0;
	for (uint32_t i = 0; i < v->n_part; i++)
		array_push(&s->tasks, v->want[i]);
	s->tasks_are_part = true;
	is_ok = scene_place(s, v->how->unit, &v->trial_set, true);
	s->tasks_are_part = false;
	return is_ok;
}

/* Everybody concerned looks for room, in the order of the queues. False: the unit found none. */
static bool let_them_look(struct solver *v)
{
	struct scene *s = v->s;
	struct order_item item;
	uint32_t left;
	bool is_done = false;

	gather_items(v);
	s->room_stamp++;
	order_begin(s, ORDER_TRIAL, NULL, NULL, v->items.v, v->items.n);
	for (left = v->items.n; left > 0 && order_pop(s, ORDER_TRIAL, &item);) {
		if (s->units[item.unit].in_trial != s->stamp)
			continue;
		left--;
		if (item.entry == 1) {
			if (!place_part(v))
				return false;
			is_done = true;
			continue;
		}
		scene_next_members(s, item.unit, true);
		scene_place(s, item.unit, &v->trial_set, true);
	}
	return is_done;
}

/* ---- may it be? ---- */

static bool is_lost(const struct scene *s, uint32_t member)
{
	return !is_in(s->members[member].status, SET_ACTIVE);
}

/* Nobody may end up without a place. */
static bool nobody_lost(struct solver *v)
{
	for (uint32_t i = 0; i < v->members.n; i++)
		if (v->s->members[v->members.v[i]].status == IS_LEAVING)
			return false;
	return true;
}

static struct share_batch *new_share(struct solver *v, uint32_t unit)
{
	array_push(&v->shares, ((struct share_batch){.queue = v->s->units[unit].queue}));
	return &array_last(&v->shares);
}

static void add_share(const struct scene *s, struct share_batch *b, uint32_t member)
{
	for (uint32_t r = 0; r < KAI_RES; r++)
		b->r[r] += s->forms[s->members[member].form].share[r];
}

/* Of each part the first up to the minimum are one batch, every other member one of its own. */
static void shares_of_unit(struct solver *v, uint32_t unit)
{
	struct scene *s = v->s;
	const struct unit *u = &s->units[unit];
	uint32_t seen[16] = {0}, *n_seen = u->n_parts > 16 ? mem_alloc(u->n_parts * sizeof(*n_seen)) : seen;
	struct share_batch core = {.queue = u->queue};
	bool has_core = false, counts_all = s->settings->forbids_consolidating_reclaim;

	for (uint32_t b = u->first_batch; b != NONE; b = v->batches.v[b].next)
		for (uint32_t i = 0; i < v->batches.v[b].n; i++) {
			uint32_t member = v->members.v[v->batches.v[b].first + i];
			uint32_t part = s->members[member].part;
			bool is_core = n_seen[part - u->first_part]++ < (uint32_t)s->parts[part].min;
			bool is_evicted = s->members[member].evicted_by != NONE;

			if (counts_all ? !is_evicted : !is_lost(s, member))
				continue;
			if (is_core) {
				add_share(s, &core, member);
				has_core = true;
			} else {
				add_share(s, new_share(v, unit), member);
			}
		}
	if (has_core)
		*new_share(v, unit) = core;
	if (n_seen != seen)
		mem_free(n_seen);
}

/* Batches of one queue together, queues in the order they came. */
static void sort_shares(struct solver *v)
{
	struct scene *s = v->s;
	uint64_t stamp = ++s->stamp;
	uint32_t n_queues = 0, *at;

	for (uint32_t i = 0; i < v->shares.n; i++) {
		struct scene_queue *q = &s->queues[v->shares.v[i].queue];

		if (q->share_stamp != stamp) {
			q->share_stamp = stamp;
			q->share_index = n_queues++;
			q->n_shares = 0;
		}
		q->n_shares++;
	}
	if (n_queues < 2)
		return;
	at = mem_alloc((n_queues + 1) * sizeof(*at));
	for (uint32_t i = 0; i < v->shares.n; i++) {
		const struct scene_queue *q = &s->queues[v->shares.v[i].queue];

		at[q->share_index + 1] = q->n_shares;
	}
	for (uint32_t i = 0; i < n_queues; i++)
		at[i + 1] += at[i];
	array_reserve(&v->sorted, v->shares.n);
	for (uint32_t i = 0; i < v->shares.n; i++)
		v->sorted.v[at[s->queues[v->shares.v[i].queue].share_index]++] = v->shares.v[i];
	memcpy(v->shares.v, v->sorted.v, v->shares.n * sizeof(*v->shares.v));
	mem_free(at);
}

static bool shares_allow(struct solver *v)
{
	struct scene *s = v->s;
	struct unit *u = &s->units[v->how->unit];
	struct share_verdict why;
	bool is_core = false;

	v->shares.n = 0;
	for (uint32_t i = 0; i < v->units.n; i++)
		shares_of_unit(v, v->units.v[i]);
	sort_shares(v);
	for (uint32_t i = 0; i < v->n_part; i++)
		is_core |= s->members[v->want[i]].is_core;
	if (share_reclaimable(s->settled, s->n_queues, u->queue, s->part_request, is_core, v->shares.v, v->shares.n,
			      s->settings->saturation, &s->share_scratch, &why))
		return true;
	u->refusal = why;
	u->refused_rule = RULE_FAIR_SHARE;
	return false;
}

/* MR-10: of a part that is inside its window at least the minimum stays, those already leaving not counted. */
static bool minimums_stay(struct solver *v)
{
	struct scene *s = v->s;

	for (uint32_t i = 0; i < v->units.n; i++) {
		const struct unit *u = &s->units[v->units.v[i]];

		if (!keeps_core(v, v->units.v[i]))
			continue;
		for (uint32_t k = 0; k < u->n_parts; k++) {
			const struct part *p = &s->parts[u->first_part + k];
			uint32_t lost = 0;

			for (uint32_t b = u->first_batch; b != NONE; b = v->batches.v[b].next)
				for (uint32_t j = 0; j < v->batches.v[b].n; j++) {
					uint32_t member = v->members.v[v->batches.v[b].first + j];

					lost += s->members[member].part == u->first_part + k && is_lost(s, member);
				}
			if (lost > 0 && part_count(p, SET_ACTIVE) < (uint32_t)p->min) {
				s->units[v->how->unit].refused_rule =
					u->is_semi ? RULE_PREEMPTIBILITY : RULE_MIN_RUNTIME;
				return false;
			}
		}
	}
	return true;
}

static bool is_lawful(struct solver *v)
{
	struct unit *u = &v->s->units[v->how->unit];
	bool is_ok = v->how->action == ACTION_CONSOLIDATE ? nobody_lost(v)
		     : v->how->action == ACTION_RECLAIM	  ? shares_allow(v) && minimums_stay(v)
							  : minimums_stay(v);

	if (!is_ok && v->how->action != ACTION_CONSOLIDATE) {
		u->n_refused++;
		u->refused_by = v->how->action;
	}
	return is_ok;
}

/* ---- a scenario ---- */

enum outcome_of_trial { NO_ROOM, NOT_LAWFUL, SOLVED };

static enum outcome_of_trial run_trial(struct solver *v)
{
	v->s->units[v->how->unit].n_scenarios++;
	if (!let_them_look(v))
		return NO_ROOM;
	return is_lawful(v) ? SOLVED : NOT_LAWFUL;
}

static void copy_bits(struct bits *to, const struct bits *from)
{
	bits_reset(to);
	for (uint32_t i = bits_next(from, 0); i != UINT32_MAX; i = bits_next(from, i + 1))
		bits_set(to, i);
}

static void take_recorded(struct solver *v)
{
	v->gone.n = 0;
	for (uint32_t b = 0; b < v->n_recorded; b++)
		for (uint32_t i = 0; i < v->batches.v[b].n; i++)
			take_away(v, v->members.v[v->batches.v[b].first + i]);
}

/* Candidates of every unit that has one on the node, wherever they are. */
static void take_on_node(struct solver *v, uint32_t node)
{
	struct scene *s = v->s;
	const struct scene_node *n = node == NONE ? NULL : &s->nodes[node];

	if (n == NULL || n->by_node_stamp != v->stamp)
		return;
	for (uint32_t i = n->first_by_node; i != NONE; i = v->by_node.v[i].next)
		for (uint32_t b = s->units[v->by_node.v[i].unit].first_batch; b != NONE; b = v->batches.v[b].next) {
			const struct batch *x = &v->batches.v[b];

			for (uint32_t k = 0; !x->is_recorded && k < x->n; k++) {
				uint32_t member = v->members.v[x->first + k];

				if (s->members[member].node != NONE)
					bits_set(&v->trial_set, s->members[member].node);
				take_away(v, member);
			}
		}
}

static enum outcome_of_trial try_node(struct solver *v, uint32_t node)
{
	uint32_t mark = scene_mark(v->s), gone = v->gone.n;
	enum outcome_of_trial r;

	copy_bits(&v->trial_set, &v->feasible);
	take_on_node(v, node);
	r = run_trial(v);
	if (r == NO_ROOM) {
		scene_rollback(v->s, mark);
		v->gone.n = gone;
	} else if (r == NOT_LAWFUL) {
		copy_bits(&v->feasible, &v->trial_set); /* they stay usable for the rest of this step */
	}
	return r;
}

/* Each node once; NONE, for members that are nowhere, is one too. */
static bool was_seen(struct solver *v, uint32_t node, uint64_t stamp)
{
	uint64_t *seen = node == NONE ? &v->nowhere_seen : &v->s->nodes[node].seen;
	bool is_old = *seen == stamp;

	*seen = stamp;
	return is_old;
}

static bool try_scenario(struct solver *v)
{
	struct scene *s = v->s;
	bool has_candidates = v->batches.n > v->n_recorded;

	take_recorded(v);
	if (!has_candidates) {
		copy_bits(&v->trial_set, &v->feasible);
		if (v->n_recorded > 0 && run_trial(v) == SOLVED)
			return true;
		scene_rollback(s, 0);
		return false;
	}
	const struct unit *u = &s->units[v->last_unit];
	uint64_t stamp = ++s->stamp;

	for (uint32_t p = u->first_part; p < u->first_part + u->n_parts; p++)
		for (uint32_t i = s->parts[p].first; i < s->parts[p].first + s->parts[p].n; i++) {
			if (was_seen(v, s->members[i].node, stamp))
				continue;
			switch (try_node(v, s->members[i].node)) {
			case SOLVED:
				return true;
			case NOT_LAWFUL:
				scene_rollback(s, 0);
				return false;
			case NO_ROOM:
				break;
			}
		}
	scene_rollback(s, 0);
	return false;
}

/* ---- a step ---- */

static void begin_step(struct solver *v)
{
	struct scene *s = v->s;

	v->stamp = ++s->stamp;
	v->batches.n = v->members.n = v->units.n = v->by_node.n = 0;
	copy_bits(&v->feasible, &v->base);
	quick_begin(v);
	for (uint32_t i = 0; i < v->kept.n; i++) {
		const struct batch *b = &v->kept.v[i];

		add_batch(v, b->unit, v->kept_members.v + b->first, b->n, true);
	}
	v->n_recorded = v->kept.n;
	memset(s->part_request, 0, sizeof(s->part_request));
	for (uint32_t i = 0; i < v->n_part; i++)
		for (uint32_t r = 0; r < KAI_RES; r++)
			s->part_request[r] += s->forms[s->members[v->want[i]].form].share[r];
}

static bool goes(const struct scene *s, uint32_t member)
{
	uint32_t by = s->members[member].evicted_by;

	return by != NONE && s->moves.v[by].is_valid;
}

/* Batches of which somebody lost his place or moves. */
static void keep_victims(struct solver *v)
{
	struct scene *s = v->s;

	v->kept.n = v->kept_members.n = v->kept_goes.n = 0;
	for (uint32_t i = 0; i < v->units.n; i++)
		for (uint32_t b = s->units[v->units.v[i]].first_batch; b != NONE; b = v->batches.v[b].next) {
			const struct batch *x = &v->batches.v[b];
			const uint32_t *members = v->members.v + x->first;
			bool counts = false;

			for (uint32_t k = 0; k < x->n; k++)
				counts |= goes(s, members[k]);
			if (!counts)
				continue;
			array_push(&v->kept, ((struct batch){x->unit, v->kept_members.n, x->n, NONE, true}));
			for (uint32_t k = 0; k < x->n; k++) {
				array_push(&v->kept_members, members[k]);
				array_push(&v->kept_goes, goes(s, members[k]));
			}
		}
}

static void use_nodes_of_kept(struct solver *v)
{
	for (uint32_t i = 0; i < v->kept_members.n; i++) {
		const struct member *m = &v->s->members[v->kept_members.v[i]];

		if (m->node != NONE && v->kept_goes.v[i])
			bits_set(&v->feasible, m->node);
	}
}

static bool solve_step(struct solver *v)
{
	struct scene *s = v->s;

	begin_step(v);
	use_nodes_of_kept(v);
	order_begin(s, ORDER_VICTIMS, v->filter, v->ctx, NULL, 0);
	for (bool is_first = true;; is_first = false) {
		if (!is_first && !add_candidate(v))
			return false;
		if (s->steps > STEPS_MAX) {
			s->units[v->how->unit].hit_bound = true;
			return false;
		}
		if (quick_look(v) && try_scenario(v))
			return true;
	}
}

/* ---- the search ---- */

static void find_base(struct solver *v)
{
	struct scene *s = v->s;
	const struct unit *u = &s->units[v->how->unit];
	bool all = false;

	for (uint32_t p = u->first_part; p < u->first_part + u->n_parts; p++)
		for (uint32_t i = s->parts[p].first; i < s->parts[p].first + s->parts[p].n; i++)
			all |= gpus_of(s, i) == 0;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		size_t at = (size_t)i * s->n_amounts + KAI_GPU;

		if (all || s->idle[at] > 0 || s->soon[at] > 0)
			bits_set(&v->base, i);
	}
}

static void solver_free(struct solver *v)
{
	bits_free(&v->base);
	bits_free(&v->feasible);
	bits_free(&v->trial_set);
	mem_free(v->want);
	mem_free(v->free_gpus);
	mem_free(v->needs);
	array_free(&v->batches);
	array_free(&v->members);
	array_free(&v->units);
	array_free(&v->by_node);
	array_free(&v->gone);
	array_free(&v->items);
	array_free(&v->kept);
	array_free(&v->kept_members);
	array_free(&v->kept_goes);
	array_free(&v->sorted);
	array_free(&v->shares);
}

static bool is_whole(const struct scene *s, const struct unit *u)
{
	for (uint32_t i = 0; i < u->n_parts; i++)
		if (part_count(&s->parts[u->first_part + i], SET_USED) < (uint32_t)s->parts[u->first_part + i].min)
			return false;
	return true;
}

static bool solve(struct solver *v)
{
	struct scene *s = v->s;
	const struct unit *u = &s->units[v->how->unit];
	uint32_t before = unit_count(u, SET_USED);

	for (v->n_part = 1; v->n_part <= v->n_want; v->n_part++) {
		if (!solve_step(v))
			return false;
		keep_victims(v);
		if (v->n_part < v->n_want)
			scene_rollback(s, 0);
	}
	return is_whole(s, u) && unit_count(u, SET_USED) > before;
}

bool scene_solve(struct scene *s, const struct search *how, order_filter filter, void *ctx)
{
	struct solver v = {.s = s, .how = how, .filter = filter, .ctx = ctx};
	bool is_ok;

	scene_next_members(s, how->unit, true);
	v.n_want = s->tasks.n;
	if (v.n_want == 0)
		return false;
	v.want = mem_resize(NULL, v.n_want, sizeof(*v.want));
	memcpy(v.want, s->tasks.v, v.n_want * sizeof(*v.want));
	v.needs = mem_resize(NULL, v.n_want, sizeof(*v.needs));
	v.free_gpus = mem_alloc((s->n_nodes + 1) * sizeof(*v.free_gpus));
	s->steps = 0;
	find_base(&v);
	is_ok = solve(&v);
	if (!is_ok)
		scene_rollback(s, 0);
	solver_free(&v);
	return is_ok;
}
