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
	array_free(&v->rooms.items);
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
	for (uint32_t i = 0; i < v->workloads.n; i++) {
		if (!is_plain(v, v->workloads.v[i]))
			return false;
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
			array_push(&v->new_workloads, workload);
		}
	}
	return true;
}

static void lend_share(struct session *s, uint32_t member, int32_t n)
{
	const struct member *m = &s->members[member];

	session_lend_share(s, m->signature, s->workloads[m->workload].queue, m->is_core, n);
}

static void take_away(struct solver *v)
{
	struct session *s = v->s;

	for (uint32_t i = 0; i < v->new_workloads.n; i++) {
		const struct workload *u = &s->workloads[v->new_workloads.v[i]];
		const struct workload_search *f = search_of(s, u);
		struct workload_fate *fate = &s->fates[v->new_workloads.v[i]];
		uint32_t first = first_member(s, v->new_workloads.v[i]);
		uint32_t signature = s->members[first].signature;

		for (uint32_t k = first; k < first + u->n_members; k++) {
			slots_touch(v, s->members[k].node);
			session_lend_room(s, signature, s->members[k].node, -1, f->is_held && is_held(s, k));
		}
		lend_share(s, first, -(int32_t)u->n_members);
		solver_note_signature(v, signature);
		for (uint32_t r = 0; r < KAI_RES; r++)
			fate->request[r] = u->n_members * s->signatures[signature].share[r];
		fate->knows_request = true;
	}
}

static void give_back(struct solver *v, uint32_t mark)
{
	while (v->lent.n > mark) {
		struct lent x = array_pop(&v->lent);

		session_lend_room(v->s, x.signature, x.node, -x.n, -x.n_held);
	}
}

/* And all that was lent is returned. */
static void put_back(struct solver *v, uint64_t stamp)
{
	struct session *s = v->s;

	give_back(v, 0);
	for (uint32_t i = 0; i < v->items.n; i++) {
		uint32_t workload = v->items.v[i].workload;

		if (s->searched[workload].has_room != stamp)
			continue;
		if (workload == v->workload)
			lend_share(s, v->want[0], -(int32_t)v->n_step);
		else
			lend_share(s, first_member(s, workload), -(int32_t)s->workloads[workload].n_members);
	}
	for (uint32_t i = 0; i < v->new_workloads.n; i++) {
		const struct workload *u = &s->workloads[v->new_workloads.v[i]];
		const struct workload_search *f = search_of(s, u);
		uint32_t first = first_member(s, v->new_workloads.v[i]);

		for (uint32_t k = first; k < first + u->n_members; k++)
			session_lend_room(s, s->members[first].signature, s->members[k].node, 1,
					  -(f->is_held && is_held(s, k)));
		lend_share(s, first, (int32_t)u->n_members);
		s->fates[v->new_workloads.v[i]].knows_request = false;
	}
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
static void lend(struct solver *v, uint32_t mark, const struct seekers *x, uint32_t i, uint32_t node)
{
	const struct session *s = v->s;
	int32_t n_held = x->is_held && s->members[x->first + i].node == node ? -is_held(s, x->first + i) : 0;

	session_lend_room(v->s, x->signature, node, 1, n_held);
	if (v->lent.n > mark && array_last(&v->lent).node == node) {
		array_last(&v->lent).n++;
		array_last(&v->lent).n_held += n_held;
	} else {
		array_push(&v->lent, ((struct lent){node, x->signature, 1, n_held}));
	}
}

/* From the fullest node on. How many found room; fewer: one may not return to a node, or there is no more. */
static uint32_t fill(struct solver *v, const struct seekers *x)
{
	struct session *s = v->s;
	const struct room_order *o = session_by_room(s, KAI_CPU, false);
	uint32_t at = room_order_from(o, s->signatures[x->signature].ask[KAI_CPU]), node, mark = v->lent.n, i = 0;

	for (; i < x->n && (node = session_walk(s, o, x->signature, &at)) != NONE && may_use(v, x, i, node); i++)
		lend(v, mark, x, i, node);
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
		lend(v, v->lent.n, x, i, node);
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
	session_lend_share(s, x->signature, s->workloads[x->workload].queue, x->is_core, (int32_t)x->n);
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
	if (v->new_workloads.n > 1)
		qsort_r(v->new_workloads.v, v->new_workloads.n, sizeof(*v->new_workloads.v), solver_by_key, s);
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
	slots_trial(v, false);
	take_away(v);
	if (slots_are_enough(v)) {
		v->is_rehearsing = true;
		solver_begin_order(v);
		v->is_rehearsing = false;
		stamp = s->stamp;
		if (let_them_look(v, stamp))
			ret = v->action == ACTION_RECLAIM && is_refused(v, stamp, why) ? IS_REFUSED : MAY_WORK;
	}
	put_back(v, stamp);
	room_order_restore(s, KAI_CPU, &v->rooms, changes_from);
	return ret;
}
