/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the best set costs at least on some nodes that stand together in a list, for a pod of any size: how much room
 * there would be at most on one of them if all went who may, up to each priority, or a few of the largest; and how much
 * work is lost at least. A search for a size that is new goes over these instead of over nodes, and looks at the nodes
 * of those blocks alone that may win.
 *
 * It is kept with the class (search_class.c), and good as long as what is known of each of the nodes in it.
 */
#include "engine/search_bound_internal.h"

/* ---- room ---- */

static bool same_types(const struct bound_want *a, const struct bound_want *b)
{
	return a->n == b->n && !memcmp(a->type, b->type, a->n * sizeof(*a->type));
}

static void rooms_fit(struct bound_rooms *r, const struct bound_memory *m)
{
	uint32_t n = m->list->n * m->want.n;

	if (r->n >= n)
		return;
	r->n = n;
	r->v = mem_resize(r->v, n, sizeof(*r->v));
	r->most = mem_resize(r->most, n, sizeof(*r->most)); /* of blocks, of which there are fewer */
	r->least = mem_resize(r->least, n, sizeof(*r->least));
}

/* As the ledger is now. */
static void rooms_begin(struct search_bounds *b)
{
	const struct ledger *l = b->g->s->c->ledger;
	const struct bound_memory *m = b->memory;
	struct bound_rooms *r = &b->rooms;
	uint64_t changes = ledger_node_changes(l);

	if (r->list_id != m->list->id || !same_types(&r->want, &m->want) ||
	    (r->changes < changes && ledger_node_change(l, r->changes) == NODE_NONE)) {
		bits_reset(&r->is_known);
		r->list_id = m->list->id;
		r->want = m->want;
		r->changes = changes;
	}
	for (; r->changes < changes; r->changes++) {
		uint32_t place = list_place(m->list, ledger_node_change(l, r->changes));

		if (place != UINT32_MAX)
			bits_clear(&r->is_known, place / m->list->block);
	}
	rooms_fit(r, m);
	r->stamp = b->stamp;
}

/* Of each node, and the least and the most of them. */
static void rooms_measure(struct search_bounds *b, uint32_t from)
{
	uint32_t n_types = b->memory->want.n, end = block_end(b, from, b->memory->list->n);
	size_t at = (size_t)(from / b->memory->list->block) * n_types;
	struct bound_rooms *r = &b->rooms;
	struct node_search *g = b->g;
	bool is_lasting = true;

	for (uint32_t i = from; i < end; i++) {
		g->node = b->memory->list->v[i];
		node_search_measure_room(g);
		is_lasting &= node_is_lasting(b, g->node);
		memcpy(&r->v[(size_t)i * n_types], g->room, n_types * sizeof(*r->v));
		for (uint32_t k = 0; k < n_types; k++) {
			r->most[at + k] = i == from || g->room[k] > r->most[at + k] ? g->room[k] : r->most[at + k];
			r->least[at + k] = i == from || g->room[k] < r->least[at + k] ? g->room[k] : r->least[at + k];
		}
	}
	if (is_lasting)
		bits_set(&r->is_lasting, from / b->memory->list->block);
	else
		bits_clear(&r->is_lasting, from / b->memory->list->block);
}

const int64_t *rooms_of(struct search_bounds *b, uint32_t from)
{
	uint32_t at = from / b->memory->list->block;

	if (b->rooms.stamp != b->stamp)
		rooms_begin(b);
	if (!bits_has(&b->rooms.is_known, at))
		rooms_measure(b, from);
	bits_set(&b->rooms.is_known, at);
	return &b->rooms.v[(size_t)from * b->memory->want.n];
}

bool rooms_are_lasting(const struct search_bounds *b, uint32_t from)
{
	return bits_has(&b->rooms.is_lasting, from / b->memory->list->block);
}

uint64_t rooms_short(struct search_bounds *b, uint32_t from, bool *ret_is_same)
{
	const struct bound_want *w = &b->memory->want;
	size_t at = (size_t)(from / b->memory->list->block) * w->n;
	uint64_t types = 0;

	*ret_is_same = true;
	for (uint32_t k = 0; k < w->n; k++) {
		bool is_short = w->amount[k] > b->rooms.most[at + k];

		types |= (uint64_t)is_short << w->type[k];
		*ret_is_same &= is_short || w->amount[k] <= b->rooms.least[at + k];
	}
	return types;
}

/* ---- a block of a class ---- */

static inline int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static inline int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static bool blocks_follow(const struct search_bounds *b, struct class_blocks *s)
{
	const struct ledger *l = b->g->s->c->ledger;
	const struct bound_memory *m = b->memory;
	uint64_t changes = ledger_node_changes(l);

	if (s->list_id != m->list->id || (s->changes < changes && ledger_node_change(l, s->changes) == NODE_NONE))
		return false;
	for (; s->changes < changes; s->changes++) {
		uint32_t place = list_place(m->list, ledger_node_change(l, s->changes));

		if (place != UINT32_MAX)
			s->v[place / m->list->block].is_known = false;
	}
	return true;
}

void class_blocks_forget_node(const struct search_bounds *b, struct class_blocks *s, node_id node)
{
	const struct bound_list *list = memories_list(b, s->list_id);
	uint32_t place = list ? list_place(list, node) : UINT32_MAX;

	if (!list)
		s->list_id = 0;
	else if (place != UINT32_MAX)
		s->v[place / list->block].is_known = false;
}

static void blocks_begin(const struct search_bounds *b, struct class_blocks *s)
{
	const struct bound_memory *m = b->memory;
	uint32_t n = m->list->n / m->list->block + 1;

	s->stamp = b->stamp;
	if (blocks_follow(b, s))
		return;
	if (s->n < n)
		s->v = mem_resize(s->v, n, sizeof(*s->v));
	s->n = larger(s->n, n);
	for (uint32_t i = 0; i < n; i++)
		s->v[i].is_known = false;
	s->list_id = m->list->id;
	s->changes = ledger_node_changes(b->g->s->c->ledger);
}

/* The lowest priorities of its nodes, in order. What is above the last of them counts with it. */
static void note_priority(struct class_block *k, int64_t priority)
{
	uint32_t i = k->n_levels;

	while (i > 0 && k->levels[i - 1].priority > priority)
		i--;
	if ((i > 0 && k->levels[i - 1].priority == priority) || i == LEVELS)
		return;
	k->n_levels += k->n_levels < LEVELS;
	for (uint32_t at = k->n_levels - 1; at > i; at--)
		k->levels[at].priority = k->levels[at - 1].priority;
	k->levels[i].priority = priority;
}

static void level_begin(struct class_block_level *v)
{
	for (uint32_t t = 0; t < CLASS_TYPES; t++) {
		v->by_all[t] = INT64_MIN;
		for (uint32_t n = 0; n < CHEAPEST - 1; n++)
			v->by_few[n][t] = INT64_MIN;
	}
	for (uint32_t n = 0; n < CHEAPEST; n++)
		v->lost[n] = INT64_MAX;
}

static void level_add(struct class_block_level *v, const struct class_level *x, const int64_t *room)
{
	for (uint32_t t = 0; t < CLASS_TYPES; t++) {
		int64_t with = room[t];

		v->by_all[t] = larger(v->by_all[t], room[t] + x->frees[t]);
		for (uint32_t n = 0; n < CHEAPEST - 1; n++)
			v->by_few[n][t] = larger(v->by_few[n][t], with += x->most[t]);
	}
	for (uint32_t n = 0; n < CHEAPEST; n++)
		v->lost[n] = smaller(v->lost[n], x->lost[n]);
}

/* room: of the class's types. */
static void block_add(struct class_block *k, const struct class_node *x, const int64_t *room)
{
	uint32_t i = 0;

	for (uint32_t j = 0; j < k->n_levels; j++) {
		bool is_last = j + 1 == LEVELS;

		while (i < x->n_levels && (is_last || class_levels(x)[i].priority <= k->levels[j].priority))
			i++;
		if (i > 0)
			level_add(&k->levels[j], &class_levels(x)[i - 1], room);
	}
	for (uint32_t t = 0; t < CLASS_TYPES; t++) {
		k->all[t] = larger(k->all[t], room[t] + x->all[t]);
		k->clear[t] = larger(k->clear[t], room[t] + x->clear[t]);
	}
	k->until_ns = smaller(k->until_ns, x->until_ns);
	k->is_silent &= !x->n_listed && !x->has_groups;
	k->has_last |= x->has_last;
}

static void block_begin(struct search_bounds *b, struct search_class *c, uint32_t from, struct class_block *k)
{
	k->n_levels = 0;
	k->is_silent = true;
	k->has_last = false;
	k->until_ns = INT64_MAX;
	for (uint32_t t = 0; t < CLASS_TYPES; t++)
		k->all[t] = k->clear[t] = INT64_MIN;
	for (uint32_t i = from; i < block_end(b, from, b->memory->list->n); i++) {
		const struct class_node *x = class_node_of(b, c, b->memory->list->v[i]);

		for (uint32_t j = 0; j < x->n_levels; j++)
			note_priority(k, class_levels(x)[j].priority);
	}
	for (uint32_t j = 0; j < k->n_levels; j++)
		level_begin(&k->levels[j]);
}

const struct class_block *class_block_of(struct search_bounds *b, struct search_class *c, uint32_t from)
{
	const int64_t *room = rooms_of(b, from);
	const struct class_wanted *w = class_wanted_types(b, c->short_types);
	const struct bound_memory *m = b->memory;
	struct class_block *k;

	if (c->blocks.stamp != b->stamp)
		blocks_begin(b, &c->blocks);
	k = &c->blocks.v[from / m->list->block];
	if (k->is_known && b->g->s->j->now_ns < k->until_ns)
		return k;
	block_begin(b, c, from, k);
	for (uint32_t i = from; i < block_end(b, from, m->list->n); i++, room += m->want.n) {
		int64_t of[CLASS_TYPES] = {0};

		for (uint32_t t = 0; t < w->n; t++)
			of[t] = room[w->at[t]];
		block_add(k, c->nodes[m->list->v[i]], of);
	}
	k->is_known = true;
	return k;
}

/* ---- the bound ---- */

/* As class_bound has it of one node, and never higher. */
bool class_block_bound(struct search_bounds *b, const struct search_class *c, const struct class_block *k,
		       struct node_bound *ret)
{
	const struct class_wanted *w = class_wanted_types(b, c->short_types);
	int64_t wants[CLASS_TYPES];
	uint32_t i = 0, n = 0;

	for (uint32_t t = 0; t < w->n; t++)
		wants[t] = b->memory->want.amount[w->at[t]];
	while (i < k->n_levels && !amounts_reach(k->levels[i].by_all, wants, w->n))
		i++;
	*ret = (struct node_bound){.highest = INT32_MIN, .opted_out = i == k->n_levels};
	if (ret->opted_out)
		return amounts_reach(k->all, wants, w->n);
	while (n < CHEAPEST - 1 && !amounts_reach(k->levels[i].by_few[n], wants, w->n))
		n++;
	ret->is_below = !amounts_reach(k->clear, wants, w->n);
	ret->highest = k->levels[i].priority;
	ret->lost = k->levels[i].lost[n];
	return true;
}
