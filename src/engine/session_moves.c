/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves of a session, and how they are taken back. A member that is moved leaves a copy on its old node until the cycle
 * ends: the room there is free only when it is really gone.
 */
#include "engine/session_build.h"
#include "engine/volumes.h"

/* ---- accounting ---- */

/* Who is further behind than this looks at all nodes. */
static void note_change(struct session *s, uint32_t node)
{
	if (s->changes.n >= 2 * s->n_nodes) {
		s->n_old_changes += s->changes.n;
		s->changes.n = 0;
	}
	array_push(&s->changes, node);
}

/* Most clusters have no amounts but the fixed ones. */
static inline void add_to_row(int64_t *restrict row, const int64_t *restrict ask, int64_t times, uint32_t n)
{
	for (uint32_t a = 0; a < AMOUNTS_FIXED; a++)
		row[a] += times * ask[a];
	for (uint32_t a = AMOUNTS_FIXED; a < n; a++)
		row[a] += times * ask[a];
}

static void account(struct session *s, uint32_t node, uint32_t member, enum member_status status, int sign)
{
	const int64_t *ask = member_ask(s, member);
	int64_t *idle = s->idle + (size_t)node * s->n_amounts, *soon = s->soon + (size_t)node * s->n_amounts;
	int64_t on_idle = status == IS_NOMINATED ? 0 : -sign;
	int64_t on_soon = status == IS_LEAVING ? sign : status == IS_NOMINATED ? -sign : 0;

	if (on_idle != 0)
		add_to_row(idle, ask, on_idle, s->n_amounts);
	if (on_soon != 0)
		add_to_row(soon, ask, on_soon, s->n_amounts);
	s->n_freed += on_idle > 0;
	note_change(s, node);
}

static struct copy *copy_on(struct session *s, uint32_t member, uint32_t node)
{
	for (uint32_t c = s->members[member].copies; c != NONE; c = s->copies.v[c].next)
		if (s->copies.v[c].node == node)
			return &s->copies.v[c];
	return NULL;
}

/* The word of its row that has the node's bit; NULL: it has no row. */
static uint64_t *copy_word(const struct session *s, uint32_t member, uint32_t node)
{
	size_t words = s->n_nodes / 64 + 1;

	return s->copy_row[member] ? &s->copy_bits.v[(s->copy_row[member] - 1) * words + node / 64] : NULL;
}

static void row_add(struct session *s, uint32_t member)
{
	uint32_t words = s->n_nodes / 64 + 1, first = s->copy_bits.n;

	array_reserve(&s->copy_bits, first + words);
	memset(s->copy_bits.v + first, 0, words * sizeof(*s->copy_bits.v));
	s->copy_bits.n += words;
	s->copy_row[member] = first / words + 1;
	for (uint32_t c = s->members[member].copies; c != NONE; c = s->copies.v[c].next)
		*copy_word(s, member, s->copies.v[c].node) |= UINT64_C(1) << (s->copies.v[c].node % 64);
}

/* It is the first of the member's list. One that moves again and again has many: from the second on they are bits. */
static void note_copy(struct session *s, uint32_t member, uint32_t node)
{
	uint64_t *word = copy_word(s, member, node);

	if (word)
		*word |= UINT64_C(1) << (node % 64);
	else if (s->copies.v[s->members[member].copies].next != NONE)
		row_add(s, member);
}

void session_push_copy(struct session *s, struct member *m, uint32_t node)
{
	uint32_t c = s->free_copy;

	if (c == NONE) {
		c = s->copies.n;
		array_push(&s->copies, (struct copy){0});
	} else {
		s->free_copy = s->copies.v[c].next;
	}
	s->copies.v[c] = (struct copy){.node = node, .next = m->copies, .status = m->status};
	m->copies = c;
}

static void add_copy(struct session *s, uint32_t member, uint32_t node)
{
	session_push_copy(s, &s->members[member], node);
	note_copy(s, member, node);
	account(s, node, member, s->members[member].status, 1);
}

static void drop_copy(struct session *s, uint32_t member, uint32_t node)
{
	uint32_t *at = &s->members[member].copies;

	while (*at != NONE && s->copies.v[*at].node != node)
		at = &s->copies.v[*at].next;
	if (*at == NONE)
		return;
	uint32_t c = *at;
	uint64_t *word = copy_word(s, member, node);

	account(s, node, member, s->copies.v[c].status, -1);
	*at = s->copies.v[c].next;
	s->copies.v[c].next = s->free_copy;
	s->free_copy = c;
	if (word)
		*word &= ~(UINT64_C(1) << (node % 64));
}

static void set_status(struct session *s, uint32_t member, enum member_status status)
{
	struct member *m = &s->members[member];
	struct workload *u = &s->workloads[m->workload];
	int was = is_in(m->status, SET_ALLOCATED), is = is_in(status, SET_ALLOCATED);

	u->count[m->status]--;
	s->podsets[m->podset].count[m->status]--;
	u->count[status]++;
	s->podsets[m->podset].count[status]++;
	s->fates[m->workload].knows_request = false;
	for (uint32_t r = 0; is != was && r < KAI_RES; r++)
		u->allocated[r] += (is - was) * s->signatures[m->signature].share[r];
	m->status = (uint8_t)status;
}

static void charge(struct session *s, uint32_t member, double sign)
{
	const struct member *m = &s->members[member];
	const double *share = s->signatures[m->signature].share;

	for (uint32_t q = s->workloads[m->workload].queue; q != NONE; q = s->shares[q].parent) {
		s->queues[q].n_moves++;
		for (uint32_t r = 0; r < KAI_RES; r++)
			s->shares[q].r[r].allocated += sign * share[r];
		for (uint32_t r = 0; m->is_core && r < KAI_RES; r++)
			s->shares[q].r[r].allocated_core += sign * share[r];
	}
}

void session_lend_room(struct session *s, uint32_t signature, uint32_t node, int32_t n, int32_t n_held)
{
	const int64_t *ask = s->signatures[signature].ask;
	int64_t *idle = s->idle + (size_t)node * s->n_amounts, *soon = s->soon + (size_t)node * s->n_amounts;

	add_to_row(soon, ask, n_held - n, s->n_amounts);
	if (n_held != 0)
		add_to_row(idle, ask, -n_held, s->n_amounts);
	s->n_freed += n_held < 0;
	note_change(s, node);
}

void session_lend_share(struct session *s, uint32_t signature, uint32_t queue, bool is_core, int32_t n)
{
	const double *share = s->signatures[signature].share;

	for (uint32_t q = queue; q != NONE; q = s->shares[q].parent) {
		s->queues[q].n_moves++;
		for (uint32_t r = 0; r < KAI_RES; r++)
			s->shares[q].r[r].allocated += n * share[r];
		for (uint32_t r = 0; is_core && r < KAI_RES; r++)
			s->shares[q].r[r].allocated_core += n * share[r];
	}
}

bool session_may_return(struct session *s, uint32_t member, uint32_t node)
{
	const uint64_t *word = copy_word(s, member, node);

	return s->members[member].node == node ||
	       (word ? !(*word >> (node % 64) & 1) : copy_on(s, member, node) == NULL);
}

/* ---- the ledger follows where filters look at other pods ---- */

static void mirror_gone(struct session *s, uint32_t member)
{
	enum pod_state state = ledger_pod(s->ledger, s->members[member].pod)->state;

	if (!s->is_mirrored || (state != POD_PLACED && state != POD_LEAVING))
		return;
	ledger_vacate(s->ledger, s->members[member].pod);
	if (!s->members[member].was_running)
		ledger_unassume(s->ledger, s->members[member].pod);
}

static void mirror_there(struct session *s, uint32_t member, uint32_t node)
{
	pod_id pod = s->members[member].pod;

	if (!s->is_mirrored || node == NONE || ledger_pod(s->ledger, pod)->state != POD_WAITING)
		return;
	if (s->members[member].was_running) {
		ledger_put_back(s->ledger, pod, s->nodes[node].id);
		return;
	}
	engine_assume(s->en, pod, s->nodes[node].id, s->now_ns);
	ledger_place(s->ledger, pod, s->nodes[node].id);
}

/* ---- evictions ---- */

static void do_evict(struct session *s, uint32_t member, uint32_t node)
{
	struct copy *c;

	set_status(s, member, IS_LEAVING);
	c = copy_on(s, member, node);
	if (c != NULL) {
		account(s, node, member, c->status, -1);
		c->status = IS_LEAVING;
		account(s, node, member, IS_LEAVING, 1);
	}
	charge(s, member, -1);
	s->members[member].is_virtual = true;
	mirror_gone(s, member);
}

void session_evict(struct session *s, uint32_t member)
{
	struct member *m = &s->members[member];
	struct session_move move = {.kind = MOVE_EVICT,
				    .is_valid = true,
				    .member = member,
				    .node = m->node,
				    .old_node = m->node,
				    .old_status = m->status,
				    .old_virtual = m->is_virtual};

	m->evicted_by = s->moves.n;
	s->room_stamp++;
	do_evict(s, member, m->node);
	array_push(&s->moves, move);
}

static void undo_evict(struct session *s, const struct session_move *move)
{
	struct member *m = &s->members[move->member];

	set_status(s, move->member, move->old_status);
	m->is_virtual = move->old_virtual;
	drop_copy(s, move->member, move->node);
	if (move->node != NONE)
		add_copy(s, move->member, move->node);
	charge(s, move->member, 1);
	mirror_there(s, move->member, move->node);
}

/* ---- room ---- */

static bool spare(struct session *s, uint32_t member, uint32_t node)
{
	uint32_t by = s->members[member].evicted_by;

	if (by == NONE || !s->moves.v[by].is_valid || s->moves.v[by].node != node)
		return false;
	undo_evict(s, &s->moves.v[by]);
	s->moves.v[by].is_valid = false;
	array_push(&s->moves,
		   ((struct session_move){.kind = MOVE_SPARE, .is_valid = true, .member = member, .spares = by}));
	return true;
}

static void give_room(struct session *s, uint32_t member, uint32_t node, enum move_kind kind)
{
	struct member *m = &s->members[member];
	struct session_move move = {.kind = (uint8_t)kind,
				    .is_valid = true,
				    .member = member,
				    .node = node,
				    .old_node = m->node,
				    .old_status = m->status,
				    .old_virtual = m->is_virtual};

	set_status(s, member, kind == MOVE_BIND ? IS_BOUND : IS_NOMINATED);
	m->node = node;
	add_copy(s, member, node);
	charge(s, member, 1);
	m->is_virtual = true;
	mirror_there(s, member, node);
	array_push(&s->moves, move);
}

bool session_nominate(struct session *s, uint32_t member, uint32_t node, bool simulated)
{
	if (copy_on(s, member, node) != NULL)
		return simulated && spare(s, member, node);
	give_room(s, member, node, MOVE_NOMINATE);
	return true;
}

void session_bind(struct session *s, uint32_t member, uint32_t node)
{
	give_room(s, member, node, MOVE_BIND);
}

static void undo_room(struct session *s, const struct session_move *move)
{
	struct member *m = &s->members[move->member];

	set_status(s, move->member, move->old_status);
	m->node = move->old_node;
	m->is_virtual = move->old_virtual;
	drop_copy(s, move->member, move->node);
	charge(s, move->member, -1);
	mirror_gone(s, move->member);
}

/* ---- transactions ---- */

uint32_t session_mark(const struct session *s)
{
	return s->moves.n;
}

static void undo(struct session *s, const struct session_move *move)
{
	switch ((enum move_kind)move->kind) {
	case MOVE_EVICT:
		undo_evict(s, move);
		s->members[move->member].evicted_by = NONE;
		break;
	case MOVE_SPARE:
		s->moves.v[move->spares].is_valid = true;
		do_evict(s, move->member, s->moves.v[move->spares].node);
		break;
	case MOVE_NOMINATE:
	case MOVE_BIND:
		undo_room(s, move);
		break;
	}
}

void session_rollback(struct session *s, uint32_t mark)
{
	s->room_stamp += s->moves.n > mark; /* room comes back */
	while (s->moves.n > mark) {
		struct session_move move = array_pop(&s->moves);

		if (move.is_valid)
			undo(s, &move);
		else
			s->members[move.member].evicted_by = NONE;
	}
}

void session_bound_to_nominated(struct session *s, uint32_t workload)
{
	for (uint32_t i = 0; i < s->moves.n; i++) {
		struct session_move *move = &s->moves.v[i];

		if (move->kind != MOVE_BIND || s->members[move->member].workload != workload)
			continue;
		struct session_move again = *move;

		undo_room(s, &again);
		array_remove(&s->moves, i--);
		give_room(s, again.member, again.node, MOVE_NOMINATE);
	}
}

static void settle(struct session *s, uint32_t workload)
{
	for (uint32_t q = s->workloads[workload].queue; q != NONE; q = s->shares[q].parent) {
		s->settled[q] = s->shares[q];
		s->queues[q].n_moves++;
	}
}

void session_commit(struct session *s, enum action action, uint32_t workload)
{
	uint32_t first = s->done.n;
	uint64_t stamp = ++s->stamp;

	s->moved.n = 0;
	for (uint32_t i = 0; i < s->moves.n; i++) {
		const struct session_move *move = &s->moves.v[i];
		struct member *m = &s->members[move->member];

		m->evicted_by = NONE;
		if (!move->is_valid || move->kind == MOVE_SPARE)
			continue;
		if (move->kind == MOVE_EVICT)
			m->is_virtual = false;
		array_push(&s->done, *move);
		s->fates[m->workload].knows_request = false;
		settle(s, m->workload);
		if (s->searched[m->workload].seen_stamp != stamp)
			array_push(&s->moved, m->workload);
		s->searched[m->workload].seen_stamp = stamp;
	}
	s->moves.n = 0;
	session_relist(s, stamp);
	array_push(&s->transactions, ((struct transaction){action, workload, first, s->done.n - first}));
}
