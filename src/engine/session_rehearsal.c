/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a trial would end, without making it. Most trials of a search are refused or find no room, and what a trial
 * costs is moves: each of them changes a member, its podset, its workload and its copies on nodes, and is taken back.
 * In a rehearsal room and shares alone are lent and returned, in the same order, to whole workloads of members that are
 * alike; whether it would have room and whether shares refuse it comes out the same. If neither, the trial is made.
 *
 * Only where all nodes may be used and are taken in the order of their room (session_place.c); elsewhere, and for
 * everything that is not as plain, nothing is said and the trial is made.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/session_solver.h"

enum { STEP_NOT_LOOKED_AT, STEP_IS_PLAIN, STEP_IS_NOT };
enum { FAILED_BEFORE = 2 }; /* a search that ends soon gains nothing by rehearsals */

void rehearsal_begin(struct solver *v)
{
	const struct session *s = v->s;

	v->may_rehearse = v->base_is_all && v->is_uniform && v->action != ACTION_PREEMPT && !s->is_mirrored &&
			  !s->is_for_moves && !s->en->config->looks_at_all && !s->settings->has_no_predicates &&
			  !s->settings->forbids_consolidating_reclaim;
	for (uint32_t r = 0; r < KAI_RES; r++)
		v->may_rehearse &= s->share_unit[r] == 1;
}

void rehearsal_step(struct solver *v)
{
	v->rehearsal_state = STEP_NOT_LOOKED_AT;
}

void rehearsal_end(struct solver *v)
{
	array_free(&v->lent);
	array_free(&v->lent_shares);
	array_free(&v->room_nodes);
	array_free(&v->rooms.nodes);
	array_free(&v->base_workloads);
}

/* ---- who is plain ---- */

static uint32_t first_member(const struct session *s, uint32_t workload)
{
	return s->podsets[s->workloads[workload].first_podset].first;
}

static bool is_walked(const struct solver *v, uint32_t signature)
{
	const struct signature *f = &v->s->signatures[signature];

	return !f->is_tiny && f->ask[KAI_GPU] == 0 && session_is_walked(v->s, signature);
}

static bool are_alike(const struct member *m, const struct member *one)
{
	return m->signature == one->signature && m->is_core == one->is_core && m->hint == NONE;
}

static bool is_held(const struct session *s, uint32_t member)
{
	return settled_status(s, &s->members[member]) == IS_NOMINATED;
}

/* All of it goes, and looks for room as a whole. What is told of its members stays true as long as nothing moves. */
static bool is_plain(const struct solver *v, uint32_t workload)
{
	const struct session *s = v->s;
	const struct workload *u = &s->workloads[workload];
	struct workload_search *f = &s->searched[workload];
	const struct session_podset *p = &s->podsets[u->first_podset];

	if (u->n_podsets != 1 || u->is_listed_pending || (u->n_members > 1 && (uint32_t)p->min < u->n_members))
		return false;
	f->has_copies = f->is_held = false;
	for (uint32_t i = p->first; i < p->first + p->n; i++) {
		const struct member *m = &s->members[i];

		if (m->node == NONE || !are_alike(m, &s->members[p->first]))
			return false;
		f->has_copies |= m->copies != NONE && s->copies.v[m->copies].next != NONE;
		f->is_held |= is_held(s, i);
	}
	return is_walked(v, s->members[p->first].signature);
}

static bool step_is_plain(struct solver *v)
{
	const struct session *s = v->s;
	const struct room_order *o = session_by_room(v->s, KAI_CPU, false);

	if ((o->has_plain && o->has_others) || v->n_base_complex > 0 || v->is_tight ||
	    s->workloads[v->workload].n_podsets != 1 || !is_walked(v, s->members[v->want[0]].signature))
		return false;
	for (uint32_t i = 0; i < v->n_step; i++)
		if (!are_alike(&s->members[v->want[i]], &s->members[v->want[0]]))
			return false;
	solver_gone_workloads(v);
	v->base_workloads.n = 0;
	v->base_is_singles = true;
	for (uint32_t i = 0; i < v->workloads.n; i++) {
		if (!is_plain(v, v->workloads.v[i]))
			return false;
		v->base_is_singles &= s->workloads[v->workloads.v[i]].n_members == 1;
		array_push(&v->base_workloads, v->workloads.v[i]);
	}
	room_order_keep(v->s, KAI_CPU, &v->rooms);
	return true;
}

static bool is_ready(struct solver *v)
{
	if (!v->may_rehearse || v->n_failed < FAILED_BEFORE)
		return false;
	if (v->rehearsal_state == STEP_NOT_LOOKED_AT)
		v->rehearsal_state = step_is_plain(v) ? STEP_IS_PLAIN : STEP_IS_NOT;
	return v->rehearsal_state == STEP_IS_PLAIN;
}

/* ---- who goes ---- */

/* Those on a node are everywhere in memory: what is asked of them is fetched for all of them at once. */
static inline __attribute__((always_inline)) void fetch_all(const struct solver *v, uint32_t first)
{
	const struct session *s = v->s;

	for (uint32_t i = first; i != NONE; i = v->by_node.v[i].next) {
		uint32_t workload = v->by_node.v[i].workload;

		__builtin_prefetch(&s->workloads[workload]);
		__builtin_prefetch(&s->searched[workload], 1);
		__builtin_prefetch(&s->fates[workload], 1);
	}
	for (uint32_t i = first; i != NONE; i = v->by_node.v[i].next)
		__builtin_prefetch(&s->members[first_member(s, v->by_node.v[i].workload)]);
}

/* Candidates of every workload that has one on the node, into v->new_workloads. False: they are not as plain. */
static bool find_gone(struct solver *v, uint32_t node)
{
	const struct session *s = v->s;
	const struct session_node *n = node == NONE ? NULL : &s->nodes[node];

	v->new_workloads.n = 0;
	v->are_singles = v->base_is_singles;
	if (n == NULL || n->by_node_stamp != v->stamp)
		return true;
	fetch_all(v, n->first_by_node);
	for (uint32_t i = n->first_by_node; i != NONE; i = v->by_node.v[i].next) {
		uint32_t workload = v->by_node.v[i].workload;

		for (uint32_t b = v->by_node.v[i].first_batch; b != NONE; b = v->batches.v[b].next) {
			if (v->batches.v[b].is_recorded)
				continue;
			if (v->batches.v[b].n != s->workloads[workload].n_members || !is_plain(v, workload))
				return false;
			v->are_singles &= s->workloads[workload].n_members == 1;
			array_push(&v->new_workloads, workload);
		}
	}
	return true;
}

/* Shares of queues as they were before the rehearsal. */
static void keep_shares(struct solver *v, uint32_t queue)
{
	struct session *s = v->s;

	for (uint32_t q = queue; q != SHARE_NO_QUEUE && s->queues[q].lent_stamp != v->lent_stamp;
	     q = s->shares[q].parent) {
		struct lent_share x = {.queue = q};

		s->queues[q].lent_stamp = v->lent_stamp;
		for (uint32_t r = 0; r < KAI_RES; r++) {
			x.allocated[r] = s->shares[q].r[r].allocated;
			x.allocated_core[r] = s->shares[q].r[r].allocated_core;
		}
		array_push(&v->lent_shares, x);
	}
}

static void lend_share(struct solver *v, uint32_t workload, uint32_t signature, bool is_core, int32_t n)
{
	uint32_t queue = v->s->workloads[workload].queue;

	keep_shares(v, queue);
	session_lend_share(v->s, signature, queue, is_core, n);
}

static void return_shares(struct solver *v)
{
	struct session *s = v->s;

	while (v->lent_shares.n > 0) {
		struct lent_share x = array_pop(&v->lent_shares);

		s->queues[x.queue].n_moves++;
		for (uint32_t r = 0; r < KAI_RES; r++) {
			s->shares[x.queue].r[r].allocated = x.allocated[r];
			s->shares[x.queue].r[r].allocated_core = x.allocated_core[r];
		}
	}
}

/* Of those who go most are alike, and on one node: their room is lent at once. */
static void lend_taken(struct solver *v, struct lent x)
{
	if (x.n == 0)
		return;
	slots_touch(v, x.node);
	session_lend_room(v->s, x.signature, x.node, x.n, x.n_held);
	array_push(&v->lent, x);
}

static void take_room(struct solver *v, struct lent *all, uint32_t signature, uint32_t node, bool is_held)
{
	if (all->node != node || all->signature != signature) {
		lend_taken(v, *all);
		*all = (struct lent){.node = node, .signature = signature};
	}
	all->n--;
	all->n_held += is_held;
}

static void take_away(struct solver *v)
{
	struct session *s = v->s;
	struct lent all = {.node = NONE};

	for (uint32_t i = 0; i < v->new_workloads.n; i++) {
		const struct workload *u = &s->workloads[v->new_workloads.v[i]];
		const struct workload_search *f = search_of(s, u);
		struct workload_fate *fate = &s->fates[v->new_workloads.v[i]];
		uint32_t first = first_member(s, v->new_workloads.v[i]);
		uint32_t signature = s->members[first].signature;

		for (uint32_t k = first; k < first + u->n_members; k++)
			take_room(v, &all, signature, s->members[k].node, f->is_held && is_held(s, k));
		lend_share(v, v->new_workloads.v[i], signature, s->members[first].is_core, -(int32_t)u->n_members);
		solver_note_signature(v, signature);
		for (uint32_t r = 0; r < KAI_RES; r++)
			fate->request[r] = u->n_members * s->signatures[signature].share[r];
		fate->knows_request = true;
	}
	lend_taken(v, all);
}

static void give_back(struct solver *v, uint32_t mark)
{
	while (v->lent.n > mark) {
		struct lent x = array_pop(&v->lent);

		session_lend_room(v->s, x.signature, x.node, -x.n, -x.n_held);
	}
}

/* And all that was lent is returned. */
static void put_back(struct solver *v)
{
	struct session *s = v->s;

	give_back(v, 0);
	return_shares(v);
	for (uint32_t i = 0; i < v->new_workloads.n; i++)
		s->fates[v->new_workloads.v[i]].knows_request = false;
	v->new_workloads.n = 0;
	v->signatures.n = v->n_base_signatures;
	s->room_stamp++;
}

/* ---- looking for room ---- */

struct seekers { /* alike */
	uint32_t workload, n, signature;
	bool is_core, has_copies, is_held;
	uint32_t first; /* of them, one after the other, if they have been anywhere */
};

static bool may_use(const struct solver *v, const struct seekers *x, uint32_t i, uint32_t node)
{
	return !x->has_copies || session_may_return(v->s, x->first + i, node);
}

/* mark: from there on it is of the same workload. */
static void lend(struct solver *v, uint32_t mark, const struct seekers *x, uint32_t node, int32_t n, int32_t n_held)
{
	session_lend_room(v->s, x->signature, node, n, n_held);
	if (v->lent.n > mark && array_last(&v->lent).node == node) {
		array_last(&v->lent).n += n;
		array_last(&v->lent).n_held += n_held;
	} else {
		array_push(&v->lent, ((struct lent){node, x->signature, n, n_held}));
	}
}

static void lend_one(struct solver *v, uint32_t mark, const struct seekers *x, uint32_t i, uint32_t node)
{
	const struct session *s = v->s;
	bool was_here = x->is_held && s->members[x->first + i].node == node;

	lend(v, mark, x, node, 1, was_here ? -is_held(s, x->first + i) : 0);
}

/* How many that ask for this the node has room for, which it has for one. */
static uint32_t n_fitting(const struct session *s, const int64_t *ask, uint32_t node, uint32_t most)
{
	size_t at = (size_t)node * s->n_amounts;

	for (uint32_t a = 0; most > 1 && a < s->n_amounts; a++) {
		int64_t room = s->idle[at + a] + s->soon[at + a];

		if (ask[a] > 0 && room / ask[a] < most)
			most = (uint32_t)(room / ask[a]);
	}
	return most;
}

/* From the fullest node on. How many found room; fewer: one may not return to a node, or there is no more. */
static uint32_t fill(struct solver *v, const struct seekers *x)
{
	struct session *s = v->s;
	const struct room_order *o = session_by_room(s, KAI_CPU, false);
	uint32_t at = room_order_from(o, s->signatures[x->signature].ask[KAI_CPU]), node, mark = v->lent.n, i = 0;

	while (i < x->n && (node = session_walk(s, o, x->signature, &at)) != NONE && may_use(v, x, i, node)) {
		uint32_t n =
			x->has_copies || x->is_held ? 1 : n_fitting(s, s->signatures[x->signature].ask, node, x->n - i);

		if (n == 1)
			lend_one(v, mark, x, i, node);
		else
			lend(v, mark, x, node, (int32_t)n, 0);
		i += n;
	}
	s->steps += i;
	return i;
}

/* The fullest that has room at once, or else the fullest. NONE: none; ret_any: others have room. */
static uint32_t best_node(struct solver *v, const struct seekers *x, uint32_t i, bool *ret_any)
{
	struct session *s = v->s;
	const struct room_order *o = session_by_room(s, KAI_CPU, false);
	bool may_be_now = session_may_fit_now(s, x->signature);
	uint32_t best = NONE;

	*ret_any = false;
	for (uint32_t at = room_order_from(o, s->signatures[x->signature].ask[KAI_CPU]), node;
	     (node = session_walk(s, o, x->signature, &at)) != NONE; at++) {
		*ret_any = true;
		if (!may_use(v, x, i, node))
			continue;
		if (!may_be_now || session_fits_now(s, x->signature, node))
			return node;
		best = best == NONE ? node : best;
	}
	return best;
}

static bool find_room(struct solver *v, const struct seekers *x, uint32_t i)
{
	struct session *s = v->s;
	struct signature *f = &s->signatures[x->signature];
	uint32_t node;
	bool is_any;

	if (f->no_room == s->room_stamp)
		return false;
	s->steps++;
	node = best_node(v, x, i, &is_any);
	if (!is_any)
		f->no_room = s->room_stamp;
	if (node != NONE)
		lend_one(v, v->lent.n, x, i, node);
	return node != NONE;
}

/* All of them or none. */
static bool find_rooms(struct solver *v, const struct seekers *x, uint64_t stamp)
{
	struct session *s = v->s;
	uint32_t mark = v->lent.n;

	if (!session_queue_allows(s, x->workload, x->signature, x->is_core, x->n))
		return false;
	for (uint32_t i = x->n > 1 && !session_may_fit_now(s, x->signature) ? fill(v, x) : 0; i < x->n; i++)
		if (!find_room(v, x, i)) {
			s->room_stamp += v->lent.n > mark; /* room comes back */
			give_back(v, mark);
			return false;
		}
	lend_share(v, x->workload, x->signature, x->is_core, (int32_t)x->n);
	s->searched[x->workload].has_room = stamp;
	return true;
}

static bool step_finds_rooms(struct solver *v, uint64_t stamp)
{
	const struct member *one = &v->s->members[v->want[0]];

	return find_rooms(
		v, &(struct seekers){v->workload, v->n_step, one->signature, one->is_core, false, false, NONE}, stamp);
}

static bool workload_finds_rooms(struct solver *v, uint32_t workload, uint64_t stamp)
{
	const struct session *s = v->s;
	const struct workload *u = &s->workloads[workload];
	const struct workload_search *f = search_of(s, u);
	uint32_t first = first_member(s, workload);
	const struct member *one = &s->members[first];

	return find_rooms(v,
			  &(struct seekers){workload, u->n_members, one->signature, one->is_core, f->has_copies,
					    f->is_held, first},
			  stamp);
}

/* For how many of the signature there is room, up to so many, and on which nodes. */
static uint32_t count_room(struct solver *v, uint32_t signature, uint32_t most)
{
	struct session *s = v->s;
	const int64_t *ask = s->signatures[signature].ask;
	const struct room_order *o = session_by_room(s, KAI_CPU, false);
	uint32_t at = room_order_from(o, ask[KAI_CPU]), node, n = 0;

	v->room_nodes.n = 0;
	for (; n < most && (node = session_walk(s, o, signature, &at)) != NONE; at++) {
		n += n_fitting(s, ask, node, most - n);
		array_push(&v->room_nodes, node);
	}
	return n;
}

/* May all who look for room use all nodes that have any? Some have been on others before. */
static bool may_use_all(const struct solver *v)
{
	const struct session *s = v->s;

	for (uint32_t i = 0; i < v->items.n; i++) {
		uint32_t workload = v->items.v[i].workload;

		if (workload == v->workload || !s->searched[workload].has_copies)
			continue;
		for (uint32_t k = 0; k < v->room_nodes.n; k++)
			if (!session_may_return(v->s, first_member(s, workload), v->room_nodes.v[k]))
				return false;
	}
	return true;
}

/*
 * The workload has room. If the others are alike, each of them is one and may go where room is, it does not matter
 * which of them is where, but only how many have room: that is counted instead of given out. Steps are those of
 * find_room. False: they are not.
 */
static bool let_singles_look(struct solver *v, uint32_t looked, uint64_t stamp)
{
	struct session *s = v->s;
	uint32_t signature = v->signatures.v[0], left;
	struct order_item item;

	if (!v->are_singles || v->signatures.n != 1)
		return false;
	left = count_room(v, signature, v->items.n - looked);
	if (!may_use_all(v))
		return false;
	while (looked < v->items.n && order_pop(s, ORDER_TRIAL, &item)) {
		bool is_core, is_allowed;

		if (item.entry == NONE)
			continue;
		looked++;
		is_core = s->members[first_member(s, item.workload)].is_core;
		is_allowed = session_queue_allows(s, item.workload, signature, is_core, 1);
		s->steps += is_allowed;
		if (left == 0)
			break;
		if (!is_allowed)
			continue;
		left--;
		lend_share(v, item.workload, signature, is_core, 1);
		s->searched[item.workload].has_room = stamp;
	}
	return true;
}

/* As in a trial (session_trial.c). False: the workload found no room. */
static bool let_them_look(struct solver *v, uint64_t stamp)
{
	struct session *s = v->s;
	struct order_item item;
	bool is_done = false;

	for (uint32_t looked = 0; looked < v->items.n && order_pop(s, ORDER_TRIAL, &item);) {
		uint32_t mark = v->lent.n;
		bool is_ok;

		if (item.entry == NONE)
			continue;
		looked++;
		if (item.entry == TRIAL_ASKS) {
			if (!step_finds_rooms(v, stamp))
				return false;
			is_done = true;
			if (solver_finds_nobody_room(v, NULL))
				return true;
			if (let_singles_look(v, looked, stamp))
				return true;
			continue;
		}
		is_ok = workload_finds_rooms(v, item.workload, stamp);
		if (!is_ok && is_done && solver_finds_nobody_room(v, NULL))
			return true;
		if (is_ok && !is_done && !slots_remain_lent(v, mark))
			return false;
	}
	return is_done;
}

/* ---- the outcome ---- */

static bool is_refused(struct solver *v, uint64_t stamp, struct share_verdict *why)
{
	struct session *s = v->s;

	v->workloads.n = 0;
	for (uint32_t i = 0; i < v->base_workloads.n; i++)
		if (s->searched[v->base_workloads.v[i]].has_room != stamp)
			array_push(&v->workloads, v->base_workloads.v[i]);
	solver_sort_new(v);
	for (uint32_t i = 0; i < v->new_workloads.n; i++)
		if (s->searched[v->new_workloads.v[i]].has_room != stamp)
			array_push(&v->workloads, v->new_workloads.v[i]);
	return judge_asks(&s->judge, RULE_FAIR_SHARE) && solver_shares_refuse(v, v->workloads.v, v->workloads.n, why);
}

enum rehearsal rehearse(struct solver *v, uint32_t node, struct share_verdict *why)
{
	struct session *s = v->s;
	enum rehearsal ret = HAS_NO_ROOM;
	uint64_t stamp = UINT64_MAX, changes_from;

	if (!is_ready(v) || !find_gone(v, node)) {
		v->new_workloads.n = 0;
		return MAY_WORK;
	}
	changes_from = room_order_at(s, KAI_CPU);
	v->lent_stamp = ++s->stamp;
	slots_trial(v, false);
	take_away(v);
	if (slots_are_enough(v)) {
		v->is_rehearsing = true;
		solver_begin_order(v);
		v->is_rehearsing = false;
		stamp = s->stamp;
		if (let_them_look(v, stamp))
			ret = v->action == ACTION_RECLAIM && is_refused(v, stamp, why) ? IS_REFUSED : MAY_WORK;
		if (order_is_unclear(s))
			ret = MAY_WORK;
	}
	put_back(v);
	room_order_restore(s, KAI_CPU, &v->rooms, changes_from);
	return ret;
}
