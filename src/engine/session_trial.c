/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scenario: victims are taken away, the workload and its victims look for room in the order of their queues, and
 * the rules judge the outcome (session_law.c). A victim that finds room again on its own node stays there.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/session_solver.h"

/* ---- taking away ---- */

/*
 * A workload that lost only some of its members may still place others, so the short cuts for whole workloads do not
 * apply to it.
 */
static void note_workload(struct solver *v, uint32_t workload, uint32_t n_batch)
{
	struct session *s = v->s;

	if (s->searched[workload].gone_stamp == v->stamp + 1) /* in another batch already */
		return;
	array_push(&v->new_workloads, workload);
	v->n_complex += s->workloads[workload].n_members != n_batch;
}

void solver_note_signature(struct solver *v, uint32_t signature)
{
	for (uint32_t i = 0; i < v->signatures.n; i++)
		if (v->signatures.v[i] == signature)
			return;
	array_push(&v->signatures, signature);
}

void solver_take_away(struct solver *v, uint32_t member)
{
	struct session *s = v->s;
	const struct member *m = &s->members[member];

	slots_touch(v, m->node);
	session_evict(s, member);
	array_push(&v->gone, member);
	solver_note_signature(v, m->signature);
	note_workload(v, m->workload, v->batches.v[m->batch].n);
	s->searched[m->workload].gone_stamp = v->stamp + 1;
}

/* Back to what every trial of the step begins with. */
static void forget_new(struct solver *v)
{
	struct session *s = v->s;

	for (uint32_t i = 0; i < v->new_workloads.n; i++)
		s->searched[v->new_workloads.v[i]].gone_stamp = 0;
	v->new_workloads.n = 0;
	v->gone.n = v->n_base_gone;
	v->signatures.n = v->n_base_signatures;
	v->n_complex = v->n_base_complex;
}

static void take_back(struct solver *v)
{
	session_rollback(v->s, v->base_mark);
	forget_new(v);
}

/* ---- the order in which they look ---- */

static int item_cmp(const void *a, const void *b, void *ctx)
{
	const struct order_item *x = a, *y = b;
	const struct session *s = ctx;
	uint32_t qx = s->workloads[x->workload].queue, qy = s->workloads[y->workload].queue;

	if (qx != qy)
		return qx < qy ? -1 : 1;
	if (x->workload == y->workload)
		return 0;
	return workload_before(s, x->workload, x->state, y->workload, y->state) ? -1 : 1;
}

static struct order_item item_of(const struct session *s, uint32_t workload)
{
	const struct workload *u = &s->workloads[workload];

	return (struct order_item){workload, u->is_listed_pending ? TRIAL_LOST_AND_WAITS : TRIAL_LOST,
				   workload_state(s, u)};
}

/* As it will be when it is gone: whole workloads alone are rehearsed. */
static struct order_item item_of_gone(const struct session *s, uint32_t workload)
{
	const struct workload *u = &s->workloads[workload];

	return (struct order_item){workload, TRIAL_LOST, s->podsets[u->first_podset].min > 0 ? 0 : 1};
}

enum { FEW_ITEMS = 64 };

/* Those of one queue mostly stand as they should already, so the queues decide where one goes. */
static void insert_items(struct session *s, item_list *items)
{
	uint32_t queues[FEW_ITEMS];

	for (uint32_t i = 0; i < items->n; i++) {
		struct order_item x = items->v[i];
		uint32_t queue = s->workloads[x.workload].queue, k = i;

		for (; k > 0 && queues[k - 1] >= queue; k--) {
			if (queues[k - 1] == queue && item_cmp(&items->v[k - 1], &x, s) <= 0)
				break;
			items->v[k] = items->v[k - 1];
			queues[k] = queues[k - 1];
		}
		items->v[k] = x;
		queues[k] = queue;
	}
}

static void sort_items(struct session *s, item_list *items)
{
	if (items->n <= FEW_ITEMS) {
		insert_items(s, items);
		return;
	}
	for (uint32_t i = 1; i < items->n; i++)
		if (item_cmp(&items->v[i - 1], &items->v[i], s) > 0) {
			qsort_r(items->v, items->n, sizeof(*items->v), item_cmp, s);
			return;
		}
}

/* The others are sorted. */
static void add_sorted(struct session *s, item_list *items, struct order_item item)
{
	uint32_t lo = 0, hi = items->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (item_cmp(&items->v[mid], &item, s) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	array_insert(items, lo, item);
}

/* Workloads that lost something since the recorded ones. Backwards: candidates come in the opposite order. */
static void gather_new(struct solver *v)
{
	v->new_items.n = 0;
	for (uint32_t i = v->new_workloads.n; i-- > 0;)
		array_push(&v->new_items, v->is_rehearsing ? item_of_gone(v->s, v->new_workloads.v[i])
							   : item_of(v->s, v->new_workloads.v[i]));
	sort_items(v->s, &v->new_items);
}

static void merge_items(struct solver *v, const item_list *a, const item_list *b, item_list *ret)
{
	uint32_t i = 0, k = 0;

	ret->n = 0;
	array_reserve(ret, a->n + b->n + 1);
	while (i < a->n || k < b->n)
		ret->v[ret->n++] =
			k == b->n || (i < a->n && item_cmp(&a->v[i], &b->v[k], v->s) < 0) ? a->v[i++] : b->v[k++];
}

/* Recorded workloads that were not sorted in yet. */
static void sort_in_late(struct solver *v)
{
	item_list t;

	if (v->late_items.n == 0)
		return;
	sort_items(v->s, &v->late_items);
	merge_items(v, &v->base_items, &v->late_items, &v->items);
	t = v->base_items;
	v->base_items = v->items;
	v->items = t;
	v->late_items.n = 0;
}

static void gather_items(struct solver *v)
{
	struct session *s = v->s;

	s->stamp++;
	if (v->n_complex > 0) { /* a recorded workload may have lost more, and stand elsewhere now */
		solver_gone_workloads(v);
		v->new_items.n = 0;
		for (uint32_t i = v->workloads.n; i-- > 0;)
			array_push(&v->new_items, item_of(s, v->workloads.v[i]));
		array_push(&v->new_items, ((struct order_item){v->workload, TRIAL_ASKS, 0}));
		sort_items(s, &v->new_items);
		v->items.n = 0;
		for (uint32_t i = 0; i < v->new_items.n; i++)
			array_push(&v->items, v->new_items.v[i]);
	} else {
		sort_in_late(v);
		gather_new(v);
		add_sorted(s, &v->new_items, (struct order_item){v->workload, TRIAL_ASKS, 0});
		merge_items(v, &v->base_items, &v->new_items, &v->items);
	}
	s->searched[v->workload].in_trial = s->stamp;
	for (uint32_t i = 0; i < v->items.n; i++)
		if (v->items.v[i].entry == TRIAL_LOST_AND_WAITS)
			s->searched[v->items.v[i].workload].in_trial = s->stamp;
}

/* The first of each queue. */
static void head_add(struct solver *v, item_list *heads, struct order_item item)
{
	uint32_t queue = v->s->workloads[item.workload].queue;

	for (uint32_t i = 0; i < heads->n; i++) {
		if (v->s->workloads[heads->v[i].workload].queue != queue)
			continue;
		if (item_cmp(&item, &heads->v[i], v->s) < 0)
			heads->v[i] = item;
		return;
	}
	array_push(heads, item);
}

/* ---- room that needs no looking for ---- */

/*
 * In a step after one in which everybody taken away was lost: there is room for exactly as many as are to be placed,
 * all alike, so all of it will be used, wherever each of them goes. If the workload looks first, and what it leaves of
 * the nodes of this trial is too little for any victim, as it is on the others, the trial ends like the one before.
 */
static bool is_exact(const struct solver *v)
{
	const struct session *s = v->s;

	return v->is_tight && v->is_uniform && v->n_step < v->n_want && v->n_complex == 0 && !v->is_widened &&
	       v->signatures.n == v->n_base_signatures && slots_are_exact(v) &&
	       !session_over_limit(s, v->workload, s->step_request) &&
	       (!s->members[v->want[0]].is_core || !session_core_over_quota(s, v->workload, s->step_request));
}

static bool looks_first(struct solver *v)
{
	struct session *s = v->s;
	struct order_item item;

	v->items.n = 0;
	for (uint32_t i = 0; i < v->heads.n; i++)
		array_push(&v->items, v->heads.v[i]);
	for (uint32_t i = 0; i < v->new_workloads.n; i++)
		head_add(v, &v->items, item_of(s, v->new_workloads.v[i]));
	array_push(&v->items, ((struct order_item){v->workload, TRIAL_ASKS, 0}));
	sort_items(s, &v->items);
	s->searched[v->workload].in_trial = ++s->stamp;
	order_begin(s, ORDER_TRIAL, NULL, NULL, v->items.v, v->items.n);
	while (order_pop(s, ORDER_TRIAL, &item))
		if (item.entry != NONE)
			return item.entry == TRIAL_ASKS && !order_is_unclear(s);
	return false;
}

static bool has_room_for_sure(struct solver *v)
{
	if (!is_exact(v) || !slots_leave_nothing(v) || !looks_first(v))
		return false;
	v->s->steps += v->n_step;
	v->all_lost = true;
	return true;
}

/* ---- looking for room ---- */

static bool place_step(struct solver *v)
{
	struct session *s = v->s;
	bool is_ok;

	s->tasks.n = 0;
	for (uint32_t i = 0; i < v->n_step; i++)
		array_push(&s->tasks, v->want[i]);
	s->tasks_are_step = true;
	is_ok = session_place(s, v->workload, &v->trial_set, true);
	s->tasks_are_step = false;
	return is_ok;
}

bool solver_finds_nobody_room(struct solver *v, const struct bits *set)
{
	for (uint32_t i = 0; i < v->signatures.n; i++)
		if (session_has_room(v->s, v->signatures.v[i], set))
			return false;
	return true;
}

static bool nobody_finds_room(struct solver *v)
{
	return v->n_complex == 0 && !v->s->is_mirrored && solver_finds_nobody_room(v, &v->trial_set);
}

void solver_begin_order(struct solver *v)
{
	gather_items(v);
	v->s->room_stamp++;
	order_begin(v->s, ORDER_TRIAL, NULL, NULL, v->items.v, v->items.n);
}

static bool look_in_order(struct solver *v)
{
	struct session *s = v->s;
	struct order_item item;
	uint32_t looked = 0, mark;
	bool is_done = false, may_stop = !s->en->config->looks_at_all;

	v->all_lost = false;
	solver_begin_order(v);
	while (looked < v->items.n && order_pop(s, ORDER_TRIAL, &item)) {
		if (item.entry == NONE)
			continue;
		looked++;
		if (item.entry == TRIAL_ASKS) {
			if (!place_step(v))
				return false;
			is_done = true;
			v->all_lost = looked == 1 && nobody_finds_room(v);
			if (v->all_lost || (may_stop && nobody_finds_room(v)))
				return true;
			continue;
		}
		session_next_members(s, item.workload, true);
		mark = session_mark(s);
		if (!session_place(s, item.workload, &v->trial_set, true)) {
			if (is_done && may_stop && nobody_finds_room(v))
				return true;
		} else if (!is_done && !slots_remain(v, mark)) {
			return false;
		}
	}
	return is_done;
}

/* The preemptor and its victims look for room, in the order of the queues. False: the preemptor found none. */
static bool let_them_look(struct solver *v)
{
	struct session *s = v->s;
	struct slot_kind slots[SLOT_KINDS];
	uint64_t steps = s->steps;
	bool is_ok;

	memcpy(slots, v->slot_kinds, sizeof(slots));
	is_ok = look_in_order(v);
	if (!order_is_unclear(s))
		return is_ok;
	session_rollback(s, v->evict_mark);
	memcpy(v->slot_kinds, slots, sizeof(slots)); /* what was taken is counted there */
	s->steps = steps;
	s->takes_all_queues = true;
	is_ok = look_in_order(v);
	s->takes_all_queues = false;
	return is_ok;
}

/* ---- a scenario ---- */

enum outcome_of_trial { NO_ROOM, NOT_LAWFUL, SOLVED };

static enum outcome_of_trial run_trial(struct solver *v)
{
	v->s->fates[v->workload].n_scenarios++;
	v->evict_mark = session_mark(v->s);
	if (!slots_are_enough(v) || (!has_room_for_sure(v) && !let_them_look(v)))
		return NO_ROOM;
	if (!solver_is_lawful(v))
		return NOT_LAWFUL;
	v->is_tight = v->all_lost && slots_are_exact(v);
	return SOLVED;
}

/* Candidates of every workload that has one on the node, wherever they are. */
static void take_on_node(struct solver *v, uint32_t node)
{
	struct session *s = v->s;
	const struct session_node *n = node == NONE ? NULL : &s->nodes[node];

	if (n == NULL || n->by_node_stamp != v->stamp)
		return;
	for (uint32_t i = n->first_by_node; i != NONE; i = v->by_node.v[i].next)
		for (uint32_t b = v->by_node.v[i].first_batch; b != NONE; b = v->batches.v[b].next) {
			const struct batch *x = &v->batches.v[b];

			for (uint32_t k = 0; !x->is_recorded && k < x->n; k++) {
				uint32_t member = v->members.v[x->first + k];

				if (s->members[member].node != NONE)
					bits_set(&v->trial_set, s->members[member].node);
				solver_take_away(v, member);
			}
		}
}

static enum outcome_of_trial try_node(struct solver *v, uint32_t node)
{
	enum outcome_of_trial r;

	bits_copy(&v->trial_set, &v->feasible);
	slots_trial(v, false);
	take_on_node(v, node);
	r = run_trial(v);
	if (r != SOLVED) {
		take_back(v);
		v->n_failed++;
	}
	if (r == NOT_LAWFUL) {
		bits_copy(&v->feasible, &v->trial_set); /* they stay usable for the rest of this step */
		v->is_widened = true;
	}
	return r;
}

/* However its trial ends, there is one. */
static bool is_on_one_node(const struct session *s, const struct workload *u)
{
	uint32_t first = s->podsets[u->first_podset].first;

	for (uint32_t i = first + 1; i < first + u->n_members; i++)
		if (s->members[i].node != s->members[first].node)
			return false;
	return true;
}

/* It is said as if it had been tried: refused by shares. */
static void count_refused(struct solver *v, const struct share_verdict *why)
{
	struct workload_fate *u = &v->s->fates[v->workload];

	u->refusal = *why;
	u->refused_rule = RULE_FAIR_SHARE;
	if (v->s->memo != NULL && u->n_refused < REFUSALS_NOTED)
		sides_note_refused(v);
	u->n_refused++;
}

/* Who looks at all tries what cannot be, and says nothing of it. */
static bool is_lawful_after_all(struct solver *v, uint32_t node)
{
	struct session *s = v->s;
	struct workload_fate *u = &s->fates[v->workload];
	uint32_t n_scenarios = u->n_scenarios, n_refused = u->n_refused;
	struct share_verdict refusal = u->refusal;
	struct protected_memo *memo = s->memo;
	bool is_ok;

	s->memo = NULL;
	is_ok = s->en->config->looks_at_all && try_node(v, node) == SOLVED;
	s->memo = memo;
	u->n_scenarios = n_scenarios;
	u->n_refused = n_refused;
	u->refusal = refusal;
	return is_ok;
}

/* Without room, as far as can be seen beforehand. */
static enum outcome_of_trial count_trial(struct solver *v)
{
	v->s->fates[v->workload].n_scenarios++;
	return NO_ROOM;
}

/* Who is refused first is noted by name, for which a trial has to be made. */
static bool is_noted(const struct solver *v)
{
	return v->s->memo != NULL && v->s->fates[v->workload].n_refused < REFUSALS_NOTED;
}

static enum outcome_of_trial rehearse_or_try(struct solver *v, uint32_t node)
{
	struct workload_fate *u = &v->s->fates[v->workload];
	struct share_verdict why;
	enum rehearsal r = rehearse(v, node, &why);

	if (r == HAS_NO_ROOM)
		return count_trial(v);
	if (r != IS_REFUSED || is_noted(v))
		return try_node(v, node);
	count_trial(v);
	u->refusal = why;
	u->refused_rule = RULE_FAIR_SHARE;
	u->n_refused++;
	v->is_widened = true;
	return NOT_LAWFUL;
}

/* Whether there are more nodes to try on depends on how this one fails: only of a last one it may be left open. */
static enum outcome_of_trial try_on(struct solver *v, uint32_t node, bool is_only, bool is_hopeless)
{
	struct share_verdict why;
	enum outlook outlook = is_only ? sides_outlook(v, node, &why) : MAY_BE_LAWFUL;

	if (outlook != MAY_BE_LAWFUL) {
		count_trial(v);
		if (outlook == CANNOT_BE_LAWFUL)
			count_refused(v, &why);
		return is_lawful_after_all(v, node) ? SOLVED : outlook == CANNOT_BE_LAWFUL ? NOT_LAWFUL : NO_ROOM;
	}
	return is_hopeless ? count_trial(v) : rehearse_or_try(v, node);
}

/* Each node once; NONE, for members that are nowhere, is one too. */
static bool was_seen(struct solver *v, uint32_t node, uint64_t stamp)
{
	uint64_t *seen = node == NONE ? &v->nowhere_seen : &v->s->nodes[node].seen;
	bool is_old = *seen == stamp;

	*seen = stamp;
	return is_old;
}

static bool try_recorded(struct solver *v)
{
	bits_copy(&v->trial_set, &v->feasible);
	slots_trial(v, false);
	if (v->n_base_gone > 0 && run_trial(v) == SOLVED)
		return true;
	take_back(v);
	return false;
}

/* Of those looked at so far, is it the only one with members on the node? */
static bool is_alone_on(const struct solver *v, uint32_t workload, uint32_t node)
{
	const struct session_node *n = node == NONE ? NULL : &v->s->nodes[node];

	return n != NULL && n->by_node_stamp == v->stamp && n->first_by_node != NONE &&
	       n->first_by_node == n->last_by_node && v->by_node.v[n->first_by_node].workload == workload;
}

/*
 * On all nodes where the newest candidate is alone the trial is one and the same: all of it goes, wherever it is, and
 * nobody else. Those after the first are counted as it was; steps: that it took, 0: there was none yet.
 */
static enum outcome_of_trial try_on_next(struct solver *v, uint32_t node, bool is_only, bool is_hopeless,
					 uint64_t *steps)
{
	struct session *s = v->s;
	bool is_alone = !is_only && !s->en->config->looks_at_all && is_alone_on(v, v->last_workload, node);
	uint64_t before = s->steps;
	enum outcome_of_trial r;

	if (is_alone && *steps > 0) {
		s->steps += *steps - 1;
		return count_trial(v);
	}
	r = try_on(v, node, is_only, is_hopeless);
	if (is_alone)
		*steps = s->steps - before + 1;
	return r;
}

/* Nothing can come of any of its nodes: it is said as far as shares tell, up to the first that they refuse. */
static bool fail_on_each(struct solver *v)
{
	struct session *s = v->s;
	const struct workload *u = &s->workloads[v->last_workload];
	uint32_t first = s->podsets[u->first_podset].first;
	uint64_t stamp = ++s->stamp;
	bool is_refused = false, is_ok = false;

	for (uint32_t i = first; i < first + u->n_members && !is_ok; i++) {
		uint32_t node = s->members[i].node;
		struct share_verdict why;

		if (was_seen(v, node, stamp))
			continue;
		if (!is_refused) {
			count_trial(v);
			is_refused = sides_outlook(v, node, &why) == CANNOT_BE_LAWFUL;
			if (is_refused)
				count_refused(v, &why);
		}
		is_ok = is_lawful_after_all(v, node);
	}
	return is_ok;
}

/* On each node where the newest candidate has a member, until it is more than room that is missing. */
bool solver_try(struct solver *v)
{
	struct session *s = v->s;
	const struct workload *u = &s->workloads[v->last_workload];
	bool is_only = is_on_one_node(s, u);
	bool is_hopeless = !slots_could_do(v) || (v->cannot_move && v->base_is_all && is_only);
	uint64_t stamp, steps_alone = 0;

	if (v->n_candidates == 0)
		return try_recorded(v);
	if (!is_only && !sides_may_be_lawful(v, v->last_workload))
		return fail_on_each(v);
	stamp = ++s->stamp;
	for (uint32_t p = u->first_podset; p < u->first_podset + u->n_podsets; p++)
		for (uint32_t i = s->podsets[p].first; i < s->podsets[p].first + s->podsets[p].n; i++) {
			enum outcome_of_trial r;

			if (was_seen(v, s->members[i].node, stamp))
				continue;
			r = try_on_next(v, s->members[i].node, is_only, is_hopeless, &steps_alone);
			if (r != NO_ROOM)
				return r == SOLVED;
		}
	return false;
}

/* ---- what later trials begin with ---- */

void solver_reset_base(struct solver *v)
{
	v->base_mark = v->n_base_gone = v->n_base_complex = v->n_complex = v->n_base_signatures = 0;
	v->base_items.n = v->late_items.n = v->heads.n = v->base_shares.n = 0;
	v->is_tight = false;
	v->gone.n = v->signatures.n = v->new_workloads.n = 0;
}

void solver_settle_base(struct solver *v)
{
	struct session *s = v->s;

	slots_settle(v);
	v->base_mark = session_mark(s);
	v->n_base_gone = v->gone.n;
	v->n_base_signatures = v->signatures.n;
	v->n_base_complex = v->n_complex;
	if (v->n_complex == 0) {
		gather_new(v);
		for (uint32_t i = 0; i < v->new_items.n; i++) {
			array_push(&v->late_items, v->new_items.v[i]);
			head_add(v, &v->heads, v->new_items.v[i]);
		}
		solver_note_base_shares(v);
	}
	v->settled.n = 0;
	for (uint32_t i = 0; i < v->new_workloads.n; i++)
		array_push(&v->settled, v->new_workloads.v[i]);
	v->new_workloads.n = 0;
}
