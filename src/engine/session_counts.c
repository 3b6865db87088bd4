/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each search begins with: the room of all nodes before anybody is gone, and sums of it. Between two searches only
 * what was committed changes it: what a search tries it takes back before it ends, or it is committed. So nodes are
 * counted once in a cycle, and then those of the moves that stand (session.done) are looked at again. Whoever looks at
 * all counts anew whenever he asks.
 */
#include <string.h>

#include "engine/session.h"

static void note_gpus(const struct session *s, struct room_counts *c, uint32_t node)
{
	size_t at = (size_t)node * s->n_amounts + KAI_GPU;

	if (s->idle[at] > 0 || s->soon[at] > 0)
		bits_set(&c->with_gpus, node);
	else
		bits_clear(&c->with_gpus, node);
}

static void add_spare(const struct session *s, struct room_counts *c, const int64_t *room, uint64_t sign)
{
	for (uint32_t a = 0; a < s->n_amounts; a++)
		c->spare[a] += room[a] > 0 ? sign * (uint64_t)room[a] : 0;
	c->gpus += (int64_t)sign * room[KAI_GPU];
}

static void count_all(struct session *s, struct room_counts *c)
{
	memset(c->spare, 0, sizeof(c->spare));
	c->gpus = 0;
	c->changes.n = c->rows.n = 0;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		int64_t *room = c->room + (size_t)i * s->n_amounts;

		session_room(s, i, room);
		add_spare(s, c, room, 1);
		note_gpus(s, c, i);
	}
}

static void push_row(const struct session *s, struct room_counts *c, const int64_t *room)
{
	array_reserve(&c->rows, c->rows.n + s->n_amounts);
	memcpy(c->rows.v + c->rows.n, room, s->n_amounts * sizeof(*room));
	c->rows.n += s->n_amounts;
}

static void follow(const struct session *s, struct room_counts *c, uint32_t node)
{
	int64_t *room = c->room + (size_t)node * s->n_amounts, now[RES_MAX];

	note_gpus(s, c, node);
	session_room(s, node, now);
	if (memcmp(room, now, s->n_amounts * sizeof(*room)) == 0)
		return;
	add_spare(s, c, room, UINT64_MAX);
	push_row(s, c, room);
	memcpy(room, now, s->n_amounts * sizeof(*room));
	add_spare(s, c, room, 1);
	push_row(s, c, room);
	array_push(&c->changes, node);
}

struct room_counts *session_counts(struct session *s)
{
	struct room_counts *c = &s->counts;
	bool is_new = c->room == NULL;

	assert(s->moves.n == 0);
	if (is_new) {
		c->room = arena_n(s->arena, (size_t)s->n_nodes * s->n_amounts + 1, int64_t);
		c->seen = arena_n(s->arena, s->n_nodes + 1, uint64_t);
	}
	if (is_new || s->en->config->looks_at_all)
		count_all(s, c);
	else
		for (uint32_t i = c->n_followed; i < s->done.n; i++)
			if (s->done.v[i].node != NONE)
				follow(s, c, s->done.v[i].node);
	c->n_followed = s->done.n;
	return c;
}

void session_counts_free(struct session *s)
{
	bits_free(&s->counts.with_gpus);
	array_free(&s->counts.changes);
	array_free(&s->counts.rows);
}
