/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes in the order of their room, the fullest first: where room is given out fullest first, whoever looks for a place
 * begins at what he asks for instead of looking at all nodes. The order follows session.changes: a node is moved when
 * somebody asks, and only if its room is another one by then, so what a trial took and gave back costs nothing.
 */
#include "engine/session.h"

#include <stdlib.h>
#include <string.h>

static double room_on(const struct session *s, const struct room_order *o, uint32_t node)
{
	size_t at = (size_t)node * s->n_amounts + o->res;

	return (double)(s->idle[at] + (o->is_now ? 0 : s->soon[at]));
}

/* Does the one that stands there come before a node with so much room? */
static inline bool stands_before(const struct room_order *o, uint32_t at, double room, uint32_t node)
{
	uint32_t other = o->nodes[at];

	return (o->room[other] < room) | ((o->room[other] == room) & (other < node));
}

/* Where a node with so much room stands, or belongs; of equal ones in the order of their names. */
static uint32_t position(const struct room_order *o, double room, uint32_t node)
{
	uint32_t first = 0;

	if (o->n == 0)
		return 0;
	for (uint32_t half, n = o->n; n > 1; n -= half) {
		half = n / 2;
		first += stands_before(o, first + half - 1, room, node) ? half : 0;
	}
	return first + stands_before(o, first, room, node);
}

static void take_out(struct room_order *o, uint32_t at)
{
	o->n--;
	memmove(o->nodes + at, o->nodes + at + 1, (o->n - at) * sizeof(*o->nodes));
}

static void put_in(struct room_order *o, double room, uint32_t node)
{
	uint32_t at = position(o, room, node);

	memmove(o->nodes + at + 1, o->nodes + at, (o->n - at) * sizeof(*o->nodes));
	o->nodes[at] = node;
	o->n++;
}

/* Only those between both places make way. Its room is still the one by which it stands where it does. */
static void move_node(struct room_order *o, uint32_t from, double room, uint32_t node)
{
	uint32_t to = position(o, room, node);

	if (to > from) { /* it stood before the place itself */
		to--;
		memmove(o->nodes + from, o->nodes + from + 1, (to - from) * sizeof(*o->nodes));
	} else {
		memmove(o->nodes + to + 1, o->nodes + to, (from - to) * sizeof(*o->nodes));
	}
	o->nodes[to] = node;
}

/* Between the same two as before? */
static bool stays_in_place(const struct room_order *o, uint32_t at, double room, uint32_t node)
{
	return (at == 0 || stands_before(o, at - 1, room, node)) &&
	       (at + 1 >= o->n || !stands_before(o, at + 1, room, node));
}

/* Nodes without room are not in it. */
static void move_to(struct room_order *o, double room, uint32_t node)
{
	double old = o->room[node];
	uint32_t at;

	if (old <= 0) {
		if (room > 0)
			put_in(o, room, node);
		return;
	}
	at = position(o, old, node);
	if (room <= 0)
		take_out(o, at);
	else if (!stays_in_place(o, at, room, node))
		move_node(o, at, room, node);
}

static void follow(const struct session *s, struct room_order *o, uint32_t node)
{
	double room = room_on(s, o, node);

	if (room == o->room[node])
		return;
	move_to(o, room, node);
	o->room[node] = room;
}

static int by_room(const void *a, const void *b, void *room_of)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const double *room = room_of;

	if (room[x] != room[y])
		return room[x] < room[y] ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void room_order_init(struct session *s, struct room_order *o, enum kai_res r, bool is_now)
{
	o->res = r;
	o->is_now = is_now;
	o->nodes = arena_n(s->arena, s->n_nodes + 1, uint32_t);
	o->room = arena_n(s->arena, s->n_nodes + 1, double);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		o->room[i] = room_on(s, o, i);
		if (o->room[i] > 0)
			o->nodes[o->n++] = i;
		o->has_plain |= r == KAI_CPU && !s->nodes[i].has_gpu;
		o->has_others |= s->nodes[i].has_gpu;
	}
	qsort_r(o->nodes, o->n, sizeof(*o->nodes), by_room, o->room);
}

const struct room_order *session_by_room(struct session *s, enum kai_res r, bool is_now)
{
	struct room_order *o = &s->by_room[r == KAI_GPU][is_now];
	uint64_t last = s->n_old_changes + s->changes.n;

	if (o->nodes == NULL)
		room_order_init(s, o, r, is_now);
	else if (o->at < s->n_old_changes)
		for (uint32_t i = 0; i < s->n_nodes; i++)
			follow(s, o, i);
	else
		for (uint64_t i = o->at; i < last; i++)
			follow(s, o, s->changes.v[i - s->n_old_changes]);
	o->at = last;
	return o;
}

void room_order_keep(struct session *s, enum kai_res r, struct room_memory *ret)
{
	const struct room_order *o = session_by_room(s, r, false);

	ret->nodes.n = 0;
	array_reserve(&ret->nodes, o->n + 1);
	if (o->n > 0)
		memcpy(ret->nodes.v, o->nodes, o->n * sizeof(*o->nodes));
	ret->nodes.n = o->n;
}

uint64_t room_order_at(const struct session *s, enum kai_res r)
{
	return s->by_room[r == KAI_GPU][false].at;
}

/* Node by node each would be moved back to where it was. */
void room_order_restore(struct session *s, enum kai_res r, const struct room_memory *m, uint64_t changes_from)
{
	struct room_order *o = &s->by_room[r == KAI_GPU][false];
	uint64_t last = s->n_old_changes + s->changes.n;

	if (changes_from < s->n_old_changes)
		for (uint32_t i = 0; i < s->n_nodes; i++)
			o->room[i] = room_on(s, o, i);
	else
		for (uint64_t i = changes_from; i < last; i++)
			o->room[s->changes.v[i - s->n_old_changes]] = room_on(s, o, s->changes.v[i - s->n_old_changes]);
	o->n = m->nodes.n;
	if (o->n > 0)
		memcpy(o->nodes, m->nodes.v, o->n * sizeof(*o->nodes));
	o->at = last;
}

uint32_t room_order_from(const struct room_order *o, int64_t ask)
{
	return position(o, (double)ask, 0);
}
