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

static bool stands_before(const struct room_item *x, double room, uint32_t node)
{
	return (x->room < room) | ((x->room == room) & (x->node < node));
}

/* Where a node with so much room stands, or belongs; of equal ones in the order of their names. */
static uint32_t position(const struct room_order *o, uint32_t n, double room, uint32_t node)
{
	const struct room_item *first = o->items;

	if (n == 0)
		return 0;
	for (uint32_t half; n > 1; n -= half) {
		half = n / 2;
		first += stands_before(&first[half - 1], room, node) ? half : 0;
	}
	return (uint32_t)(first - o->items) + stands_before(first, room, node);
}

static void take_out(struct room_order *o, uint32_t at)
{
	o->n--;
	memmove(o->items + at, o->items + at + 1, (o->n - at) * sizeof(*o->items));
}

static void put_in(struct room_order *o, double room, uint32_t node)
{
	uint32_t at = position(o, o->n, room, node);

	memmove(o->items + at + 1, o->items + at, (o->n - at) * sizeof(*o->items));
	o->items[at] = (struct room_item){room, node};
	o->n++;
}

/* Only those between both places make way. */
static void move_item(struct room_order *o, uint32_t from, double room, uint32_t node)
{
	uint32_t to = position(o, o->n, room, node);

	if (to > from) { /* it stood before the place itself */
		to--;
		memmove(o->items + from, o->items + from + 1, (to - from) * sizeof(*o->items));
	} else {
		memmove(o->items + to + 1, o->items + to, (from - to) * sizeof(*o->items));
	}
	o->items[to] = (struct room_item){room, node};
}

/* Between the same two as before? */
static bool stays_in_place(const struct room_order *o, uint32_t at, double room, uint32_t node)
{
	return (at == 0 || stands_before(&o->items[at - 1], room, node)) &&
	       (at + 1 >= o->n || !stands_before(&o->items[at + 1], room, node));
}

/* Nodes without room are not in it. */
static void follow(const struct session *s, struct room_order *o, uint32_t node)
{
	double room = room_on(s, o, node), old = o->room[node];
	uint32_t at;

	if (room == old)
		return;
	o->room[node] = room;
	if (old <= 0) {
		if (room > 0)
			put_in(o, room, node);
		return;
	}
	at = position(o, o->n, old, node);
	if (room <= 0)
		take_out(o, at);
	else if (stays_in_place(o, at, room, node))
		o->items[at].room = room;
	else
		move_item(o, at, room, node);
}

static int by_room(const void *a, const void *b)
{
	const struct room_item *x = a, *y = b;

	if (x->room != y->room)
		return x->room < y->room ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void room_order_init(struct session *s, struct room_order *o, enum kai_res r, bool is_now)
{
	o->res = r;
	o->is_now = is_now;
	o->items = arena_n(s->arena, s->n_nodes + 1, struct room_item);
	o->room = arena_n(s->arena, s->n_nodes + 1, double);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		o->room[i] = room_on(s, o, i);
		if (o->room[i] > 0)
			o->items[o->n++] = (struct room_item){o->room[i], i};
		o->has_plain |= r == KAI_CPU && !s->nodes[i].has_gpu;
		o->has_others |= s->nodes[i].has_gpu;
	}
	qsort(o->items, o->n, sizeof(*o->items), by_room);
}

const struct room_order *session_by_room(struct session *s, enum kai_res r, bool is_now)
{
	struct room_order *o = &s->by_room[r == KAI_GPU][is_now];
	uint64_t last = s->n_old_changes + s->changes.n;

	if (o->items == NULL)
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

	ret->items.n = 0;
	array_reserve(&ret->items, o->n + 1);
	for (; ret->items.n < o->n; ret->items.n++)
		ret->items.v[ret->items.n] = o->items[ret->items.n];
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
	o->n = m->items.n;
	if (o->n > 0)
		memcpy(o->items, m->items.v, o->n * sizeof(*o->items));
	o->at = last;
}

uint32_t room_order_from(const struct room_order *o, int64_t ask)
{
	return position(o, o->n, (double)ask, 0);
}
