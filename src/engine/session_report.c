/* SPDX-License-Identifier: Apache-2.0 */
/* What was decided: carried back into the ledger, and one decision for each pod that waited, moves, or has to go. */
#include "engine/search.h"
#include "engine/session_words.h"
#include "engine/volumes.h"

#include <math.h>
#include <string.h>

/* ---- into the ledger ---- */

void session_keep_volumes(struct session *s)
{
	for (uint32_t i = 0; i < s->n_members; i++) {
		const struct member *m = &s->members[i];
		struct signature *f = &s->signatures[m->signature];
		const struct assumption *a;

		if (m->was_running || !pod_has_volumes(s->ledger, m->pod))
			continue;
		f->volumes = arena_n(s->arena, ledger_pod(s->ledger, m->pod)->obj->volumes->n, struct assumption);
		for (f->n_volumes = 0; (a = ledger_pod_assumed(s->ledger, m->pod, f->n_volumes)); f->n_volumes++)
			f->volumes[f->n_volumes] = *a;
	}
}

static void carry_volumes(struct session *s, const struct member *m)
{
	const struct signature *f = &s->signatures[m->signature];

	for (uint32_t i = 0; pod_has_volumes(s->ledger, m->pod) && i < f->n_volumes; i++)
		ledger_assume(s->ledger, &f->volumes[i]);
}

static void carry_member(struct session *s, const struct member *m)
{
	const struct pod *p = ledger_pod(s->ledger, m->pod);

	if (m->was_running) {
		if (m->status == IS_LEAVING || m->status == IS_NOMINATED)
			ledger_evict(s->ledger, m->pod);
		return;
	}
	if (p->state != POD_WAITING)
		return;
	if (m->status == IS_BOUND || m->status == IS_NOMINATED)
		carry_volumes(s, m);
	if (m->status == IS_BOUND) {
		ledger_place(s->ledger, m->pod, s->nodes[m->node].id);
		ledger_set_started(s->ledger, m->pod, s->now_ns);
		if (s->workloads[m->workload].has_started)
			ledger_set_group_started(s->ledger, s->workloads[m->workload].group, s->now_ns);
	} else if (m->status == IS_NOMINATED) {
		ledger_reserve(s->ledger, s->nodes[m->node].id, m->pod);
	} else if (p->nomination != NOMINATION_NONE) {
		ledger_clear_nomination(s->ledger, m->pod);
	}
}

/* Volumes that were decided for one before may be another's now. */
static void forget_volumes(struct session *s, const struct member *m)
{
	if (!m->was_running && ledger_pod(s->ledger, m->pod)->state == POD_WAITING)
		ledger_unassume(s->ledger, m->pod);
}

/* ---- decisions ---- */

struct decision_report {
	struct session *s;
	struct decisions *ret;
	uint32_t cycle;
	uint32_t *placed_by;   /* for each member: the transaction its room is told with; NONE */
	bool *is_told;	       /* has a decision */
	uint32_t *victim_of;   /* for each member: the last transaction that took it away; NONE */
	uint32_t first;	       /* decision of this cycle */
	uint32_t *workload_of; /* for each decision of this cycle */
	/* decisions: of each workload the first, of each transaction its own; NONE */
	uint32_t *first_of_workload, *told_at;
};

static bool spreads(const struct session *s, uint32_t signature)
{
	return s->signatures[signature].ask[KAI_GPU] == 0 ? s->settings->cpu_spreads : s->settings->gpu_spreads;
}

static struct decision *new_decision(struct decision_report *r, uint32_t member, enum outcome outcome,
				     enum action action)
{
	struct session *s = r->s;
	const struct member *m = &s->members[member];
	const struct workload *u = &s->workloads[m->workload];
	bool has_room = outcome == OUTCOME_PLACED || outcome == OUTCOME_NOMINATED;

	array_push(&r->ret->v, ((struct decision){.pod = m->pod,
						  .group = u->group,
						  .queue = ledger_pod(s->ledger, m->pod)->queue,
						  .outcome = outcome,
						  .action = action,
						  .node = has_room ? s->nodes[m->node].id : NODE_NONE,
						  .runner_up = NODE_NONE,
						  .cycle = r->cycle,
						  .until_ns = TIME_NONE,
						  .overdue = {.node = NODE_NONE}}));
	array_last(&r->ret->v).tie = !has_room			? TIE_ONLY_ONE
				     : m->hint == m->node	? TIE_NOMINATED
				     : spreads(s, m->signature) ? TIE_EMPTIEST
								: TIE_FULLEST;
	r->is_told[member] = true;
	r->workload_of[r->ret->v.n - 1 - r->first] = m->workload;
	if (r->first_of_workload[m->workload] == NONE)
		r->first_of_workload[m->workload] = r->ret->v.n - 1;
	return &array_last(&r->ret->v);
}

static uint32_t victims_of(struct decision_report *r, uint32_t transaction, struct victim *ret)
{
	struct session *s = r->s;
	const struct transaction *st = &s->transactions.v[transaction];
	uint32_t n = 0;

	for (uint32_t i = 0; i < st->n_moves; i++) {
		const struct session_move *move = &s->done.v[st->first_move + i];
		const struct member *m = &s->members[move->member];
		const struct pod *p = ledger_pod(s->ledger, m->pod);

		/* who had to move and then had to go again stands with the last */
		if (move->kind != MOVE_EVICT || !m->was_running || r->victim_of[move->member] != transaction)
			continue;
		ret[n++] = (struct victim){.pod = m->pod,
					   .node = p->node,
					   .queue = p->queue,
					   .overridden = (enum rule_id)m->overridden,
					   .lost_ns = lost_ns_of(p, s->now_ns)};
	}
	return n;
}

static bool takes_somebody(const struct session *s, const struct transaction *st)
{
	for (uint32_t i = 0; i < st->n_moves; i++)
		if (s->done.v[st->first_move + i].kind == MOVE_EVICT)
			return true;
	return false;
}

/*
 * In profile default the search for moves is the last of a cycle: room that others gave up after the group was tried is
 * found by it too, and whoever gets that owes it to nobody's move.
 */
static enum action told_action(const struct session *s, const struct transaction *st)
{
	return s->is_for_moves && !takes_somebody(s, st) ? ACTION_ALLOCATE : st->action;
}

static void tell_room(struct decision_report *r, uint32_t transaction, bool of_workload)
{
	struct session *s = r->s;
	const struct transaction *st = &s->transactions.v[transaction];
	enum action action = told_action(s, st);

	for (uint32_t i = 0; i < st->n_moves; i++) {
		const struct session_move *move = &s->done.v[st->first_move + i];
		const struct member *m = &s->members[move->member];

		if ((m->workload == st->workload) != of_workload || r->placed_by[move->member] != transaction ||
		    r->is_told[move->member] || (m->status != IS_BOUND && m->status != IS_NOMINATED))
			continue;
		new_decision(r, move->member, m->status == IS_BOUND ? OUTCOME_PLACED : OUTCOME_NOMINATED, action);
	}
}

/* For whom a transaction was that gave nobody room: the first of its workload that still waits. POD_NONE: nobody. */
static pod_id first_waiting(const struct session *s, const struct transaction *st)
{
	const struct workload *u = &s->workloads[st->workload];
	uint32_t first = s->podsets[u->first_podset].first;

	for (uint32_t i = first; st->action != ACTION_STALE_GANG && i < first + u->n_members; i++) {
		const struct member *m = &s->members[i];

		if (!m->was_running && m->status != IS_NOMINATED && m->status != IS_BOUND &&
		    ledger_pod(s->ledger, m->pod)->state == POD_WAITING)
			return m->pod;
	}
	return POD_NONE;
}

static struct decision *tell_eviction(struct decision_report *r, const struct transaction *st)
{
	const struct workload *u = &r->s->workloads[st->workload];

	array_push(&r->ret->v, ((struct decision){.pod = first_waiting(r->s, st),
						  .group = u->group,
						  .queue = u->queue == NONE ? QUEUE_NONE : r->s->queues[u->queue].id,
						  .outcome = OUTCOME_EVICTED,
						  .action = st->action,
						  .node = NODE_NONE,
						  .runner_up = NODE_NONE,
						  .cycle = r->cycle,
						  .until_ns = TIME_NONE,
						  .overdue = {.node = NODE_NONE}}));
	r->workload_of[r->ret->v.n - 1 - r->first] = st->workload;
	return &array_last(&r->ret->v);
}

static void tell_transaction(struct decision_report *r, uint32_t i)
{
	const struct transaction *st = &r->s->transactions.v[i];
	uint32_t first;

	if (st->action == ACTION_STALE_GANG) {
		r->told_at[i] = r->ret->v.n;
		tell_eviction(r, st);
		return;
	}
	first = r->ret->v.n;
	tell_room(r, i, true);
	if (r->ret->v.n > first)
		r->told_at[i] = first;
	tell_room(r, i, false);
}

/* A decision by which the workload got room by the same action. NONE: none. */
static uint32_t first_for(const struct decision_report *r, const struct transaction *st)
{
	uint32_t n = r->first_of_workload[st->workload] == NONE ? 0 : r->ret->v.n;

	for (uint32_t i = r->first_of_workload[st->workload]; i < n; i++) {
		const struct decision *d = &r->ret->v.v[i];

		if (d->pod != POD_NONE && r->workload_of[i - r->first] == st->workload &&
		    d->outcome != OUTCOME_WAITING && d->action == st->action)
			return i;
	}
	return NONE;
}

/*
 * Victims stand at the first pod that got room by it; if none kept it, at the first of the workload that got some by
 * the same action, else in a decision that says no more than for whom they went: one that still waits, which has
 * neither action nor victims where that is said. Where nobody waits any more the first that got room has them.
 */
static void tell_victims(struct decision_report *r, uint32_t i)
{
	const struct transaction *st = &r->s->transactions.v[i];
	struct victim *victims = arena_n(r->ret->arena, st->n_moves + 1, struct victim);
	uint32_t n = victims_of(r, i, victims), at = r->told_at[i];
	struct decision *d;

	if (n == 0)
		return;
	if (at == NONE)
		at = first_for(r, st);
	if (at == NONE && first_waiting(r->s, st) == POD_NONE) /* all of it have room, by other actions */
		at = r->first_of_workload[st->workload];
	d = at != NONE ? &r->ret->v.v[at] : tell_eviction(r, st);
	if (d->n_victims > 0) { /* it took several times */
		struct victim *all = arena_n(r->ret->arena, d->n_victims + n, struct victim);

		memcpy(all, d->victims, d->n_victims * sizeof(*all));
		memcpy(all + d->n_victims, victims, n * sizeof(*all));
		victims = all;
		n += d->n_victims;
	}
	d->victims = victims;
	d->n_victims = n;
	d->action = st->action;
}

static void tell_rest_of(struct decision_report *r, const struct workload *u)
{
	struct session *s = r->s;
	uint32_t first = s->podsets[u->first_podset].first;

	for (uint32_t i = first; i < first + u->n_members; i++) {
		const struct member *m = &s->members[i];

		if (r->is_told[i] || m->was_running || ledger_pod(s->ledger, m->pod)->state != POD_WAITING)
			continue;
		new_decision(r, i, m->status == IS_GATED ? OUTCOME_GATED : OUTCOME_WAITING, ACTION_NONE);
	}
}

static bool has_rest(const struct decision_report *r, const struct workload *u)
{
	uint32_t first = r->s->podsets[u->first_podset].first;

	for (uint32_t i = first; i < first + u->n_members; i++)
		if (!r->is_told[i] && !r->s->members[i].was_running)
			return true;
	return false;
}

/* The oldest first, in whatever order they were read: of most there is nothing to tell. */
static void tell_rest(struct decision_report *r)
{
	struct bits ranks = {0};

	for (uint32_t i = 0; i < r->s->n_workloads; i++)
		if (has_rest(r, &r->s->workloads[i]))
			bits_set(&ranks, r->s->workloads[i].rank);
	for (uint32_t i = bits_next(&ranks, 0); i != UINT32_MAX; i = bits_next(&ranks, i + 1))
		tell_rest_of(r, &r->s->workloads[r->s->by_rank[i]]);
	bits_free(&ranks);
}

/* Why it waits, or who is protected. */
static void tell_reasons(struct decision_report *r)
{
	struct session_words *w = words_new(r->s, r->ret->arena);

	for (uint32_t i = r->first; i < r->ret->v.n; i++) {
		struct decision *d = &r->ret->v.v[i];
		uint32_t workload = r->workload_of[i - r->first];
		bool waits = d->outcome == OUTCOME_WAITING;

		if (d->pod != POD_NONE && d->outcome == OUTCOME_GATED)
			d->message = words_of_gates(w, d->pod);
		if (d->pod == POD_NONE || (!waits && d->n_victims == 0))
			continue;
		if (waits && !r->s->en->tells_no_words)
			d->message = words_of_workload(w, workload);
		words_protected(w, workload, d);
	}
	words_free(w);
}

/* Pods that were said to wait in this cycle, and now have room: the later word counts. */
static void forget_waiting(struct decision_report *r)
{
	struct bits has_room = {0};
	uint32_t n = 0;

	for (uint32_t i = r->first; i < r->ret->v.n; i++)
		bits_set(&has_room, r->ret->v.v[i].pod);
	for (uint32_t i = 0; i < r->ret->v.n; i++) {
		const struct decision *d = &r->ret->v.v[i];

		if (i < r->first && d->cycle == r->cycle && d->pod != POD_NONE && d->outcome == OUTCOME_WAITING &&
		    bits_has(&has_room, d->pod))
			continue;
		r->ret->v.v[n++] = *d;
	}
	r->ret->v.n = n;
	bits_free(&has_room);
}

/*
 * Which transaction a place is told with: its workload's own, also if it had to look again for the sake of another. Who
 * runs moves with the last.
 */
static void find_transactions(struct decision_report *r)
{
	const struct session *s = r->s;

	memset(r->placed_by, 0xff, (s->n_members + 1) * sizeof(*r->placed_by));
	memset(r->victim_of, 0xff, (s->n_members + 1) * sizeof(*r->victim_of));
	for (uint32_t i = 0; i < s->transactions.n; i++)
		for (uint32_t k = 0; k < s->transactions.v[i].n_moves; k++) {
			const struct session_move *move = &s->done.v[s->transactions.v[i].first_move + k];
			const struct member *m = &s->members[move->member];
			uint32_t *by = &r->placed_by[move->member];

			if (move->kind == MOVE_EVICT)
				r->victim_of[move->member] = i;
			if ((move->kind == MOVE_BIND || move->kind == MOVE_NOMINATE) &&
			    (m->was_running || m->workload == s->transactions.v[i].workload || *by == NONE))
				*by = i;
		}
}

static bool is_carried(const struct decision_report *r, uint32_t member)
{
	return !r->s->is_for_moves || r->placed_by[member] != NONE;
}

void session_report(struct session *s, uint32_t cycle, struct decisions *ret)
{
	struct decision_report r = {.s = s, .ret = ret, .cycle = cycle, .first = ret->v.n};

	r.placed_by = arena_n(s->arena, s->n_members + 1, uint32_t);
	r.is_told = arena_n(s->arena, s->n_members + 1, bool);
	r.victim_of = arena_n(s->arena, s->n_members + 1, uint32_t);
	r.workload_of = arena_n(s->arena, s->n_members + s->transactions.n + 1, uint32_t);
	r.first_of_workload = arena_n(s->arena, s->n_workloads + 1, uint32_t);
	r.told_at = arena_n(s->arena, s->transactions.n + 1, uint32_t);
	memset(r.first_of_workload, 0xff, (s->n_workloads + 1) * sizeof(*r.first_of_workload));
	memset(r.told_at, 0xff, (s->transactions.n + 1) * sizeof(*r.told_at));
	find_transactions(&r);
	for (uint32_t i = 0; i < s->transactions.n; i++)
		tell_transaction(&r, i);
	for (uint32_t i = 0; i < s->transactions.n; i++)
		tell_victims(&r, i);
	if (!s->is_for_moves)
		tell_rest(&r);
	for (uint32_t i = 0; i < s->n_members; i++)
		if (is_carried(&r, i))
			forget_volumes(s, &s->members[i]);
	for (uint32_t i = 0; i < s->n_members; i++)
		if (is_carried(&r, i))
			carry_member(s, &s->members[i]);
	for (uint32_t i = r.first; i < ret->v.n; i++)
		if (ret->v.v[i].outcome == OUTCOME_PLACED || ret->v.v[i].outcome == OUTCOME_NOMINATED)
			decision_take_volumes(&ret->v.v[i], s->ledger, ret->arena);
	if (s->is_for_moves)
		forget_waiting(&r);
	else if (!s->tells_nobody)
		tell_reasons(&r);
}

/* A share without end is as large as numbers get; less than one unit is nothing. */
static int64_t whole_units(double fair)
{
	return fair < 0 || fair >= (double)RES_UNLIMITED ? RES_UNLIMITED : (int64_t)floor(fair);
}

void session_keep_shares(const struct session *s, uint32_t cycle, struct decisions *ret)
{
	struct cycle_shares *x = arena_type(ret->arena, struct cycle_shares);
	int64_t(*fair)[KAI_RES];

	*x = (struct cycle_shares){.next = ret->shares, .cycle = cycle, .n = ledger_queues(s->ledger)->q.n};
	fair = (int64_t(*)[KAI_RES])arena_n(ret->arena, (size_t)(x->n + 1) * KAI_RES, int64_t);
	for (enum kai_res r = 0; r < KAI_RES; r++) {
		x->types[r] = s->amount_type[r];
		for (uint32_t i = 0; i < s->n_queues; i++)
			fair[s->queues[i].id][r] = whole_units(s->shares[i].r[r].fair);
	}
	x->fair = (const int64_t(*)[KAI_RES])fair;
	ret->shares = x;
}
