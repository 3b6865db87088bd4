/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes were bounded by, kept for a shape: good while the node is the same, rules say the same of every kind of
 * pod (the class is current) and time goes on. Who waits, and in which queue, does not matter.
 *
 * Nodes that follow each other in the list are a block with the least of their bounds, so that a search goes over
 * blocks and opens those alone that may win. The ledger says which nodes changed since.
 *
 * Of a shape that is new, blocks are borrowed from others: who asks for more, and is short of the same types on each
 * node of a block, finds no better set there. Its nodes are looked at only where the block may win.
 */
#include "engine/search_bound_internal.h"

static void memory_forget(struct bound_memory *m)
{
	if (m->vocab)
		shape_drop(m->vocab, m->shape);
	mem_free(m->entries);
	bits_free(&m->has_entry);
	mem_free(m->places);
	mem_free(m->blocks);
	array_free(&m->list);
	*m = (struct bound_memory){0};
}

void memories_free(struct search_bounds *b)
{
	for (int i = 0; i < MEMORIES; i++)
		memory_forget(&b->memories[i]);
	bits_free(&b->rooms.is_known);
	mem_free(b->rooms.v);
}

static bool is_for(const struct bound_memory *m, const struct search_bounds *b, shape_id shape)
{
	return m->vocab && m->shape == shape && m->action == b->g->s->j->action &&
	       m->with_opted_out == b->g->s->with_opted_out;
}

static void take_want(struct bound_memory *m, const struct want *w)
{
	m->want.n = w->n;
	memcpy(m->want.type, w->type, w->n * sizeof(*w->type));
	memcpy(m->want.amount, w->amount, w->n * sizeof(*w->amount));
}

/* As many as there is room for so many nodes of each; the one not used for longest makes room. */
static struct bound_memory *memory_of(struct search_bounds *b, shape_id shape, uint32_t n_nodes)
{
	struct bound_memory *m = &b->memories[0];
	uint32_t n = ENTRIES / (n_nodes + 1);

	n = n < MEMORIES_MIN ? MEMORIES_MIN : n > MEMORIES ? MEMORIES : n;
	for (uint32_t i = 0; i < n && !is_for(m, b, shape); i++)
		if (is_for(&b->memories[i], b, shape) || b->memories[i].last_use < m->last_use)
			m = &b->memories[i];
	if (!is_for(m, b, shape)) {
		memory_forget(m);
		m->shape = shape;
		m->action = b->g->s->j->action;
		m->with_opted_out = b->g->s->with_opted_out;
		m->vocab = ledger_vocab(b->g->s->c->ledger);
		shape_keep(m->vocab, shape);
		take_want(m, &b->g->want);
	}
	if (m->n < n_nodes) {
		m->entries = mem_resize(m->entries, n_nodes, sizeof(*m->entries));
		m->places = mem_resize(m->places, n_nodes, sizeof(*m->places));
		m->n = n_nodes;
		m->epoch = 0;
	}
	m->last_use = ++b->clock;
	return m;
}

/* ---- nodes that changed ---- */

static uint32_t n_blocks(const struct bound_memory *m)
{
	return (m->list.n + m->block - 1) / m->block;
}

/* Of each block a number is looked at, of some dozen that changed every node: the root of both is the least. */
static uint32_t block_size(uint32_t n_nodes)
{
	uint32_t n = 2;

	while (n < BOUND_BLOCK_MAX && n * n * 32 < n_nodes)
		n *= 2;
	return n;
}

static bool is_same_list(const struct bound_memory *m, const node_id *nodes, uint32_t n)
{
	return m->epoch && m->list.n == n && (!n || !memcmp(m->list.v, nodes, n * sizeof(*nodes)));
}

/* Of the others who have the same list; or a new one. */
static uint64_t list_id(struct search_bounds *b, const struct bound_memory *m, const node_id *nodes, uint32_t n)
{
	for (int i = 0; i < MEMORIES; i++)
		if (&b->memories[i] != m && is_same_list(&b->memories[i], nodes, n))
			return b->memories[i].list_id;
	return ++b->list_ids;
}

static void take_list(struct bound_memory *m, const node_id *nodes, uint32_t n)
{
	if (m->n) /* a cluster without nodes has no places */
		memset(m->places, 0xff, m->n * sizeof(*m->places));
	m->list.n = 0;
	array_reserve(&m->list, n);
	for (; m->list.n < n; m->list.n++) {
		m->list.v[m->list.n] = nodes[m->list.n];
		m->places[nodes[m->list.n]] = m->list.n;
	}
	m->block = block_size(n);
	m->blocks = mem_resize(m->blocks, n_blocks(m) + 1, sizeof(*m->blocks));
}

static void begin_anew(struct search_bounds *b, struct bound_memory *m, const node_id *nodes, uint32_t n)
{
	if (!is_same_list(m, nodes, n)) {
		take_list(m, nodes, n);
		m->list_id = list_id(b, m, nodes, n);
	}
	for (uint32_t i = 0; i < n_blocks(m); i++)
		m->blocks[i] = (struct bound_block){0};
	m->epoch = b->rows.epoch + 1;
	m->changes = ledger_node_changes(b->g->s->c->ledger);
}

/* Its block is looked at again. */
static void follow_node(struct bound_memory *m, node_id node)
{
	uint32_t place = node < m->n ? m->places[node] : UINT32_MAX;

	if (place != UINT32_MAX)
		m->blocks[place / m->block].is_known = false;
}

/* False: what changed is not known any more. */
static bool follow_changes(const struct search_bounds *b, struct bound_memory *m)
{
	const struct ledger *l = b->g->s->c->ledger;
	uint64_t changes = ledger_node_changes(l);

	if (m->epoch != b->rows.epoch + 1 || (m->changes < changes && ledger_node_change(l, m->changes) == NODE_NONE))
		return false;
	for (; m->changes < changes; m->changes++)
		follow_node(m, ledger_node_change(l, m->changes));
	return true;
}

static void follow(struct search_bounds *b, struct bound_memory *m, const node_id *nodes, uint32_t n)
{
	if (!is_same_list(m, nodes, n) || !follow_changes(b, m))
		begin_anew(b, m, nodes, n);
}

void memory_begin(struct search_bounds *b, const node_id *nodes, uint32_t n)
{
	const struct cede_cycle *c = b->g->s->c;

	b->memory = memory_of(b, c->p->shape, ledger_node_limit(c->ledger));
	follow(b, b->memory, nodes, n);
}

void memories_forget_node(struct search_bounds *b, node_id node)
{
	for (int i = 0; i < MEMORIES; i++) {
		struct bound_memory *m = &b->memories[i];

		if (node >= m->n)
			continue;
		bits_clear(&m->has_entry, node);
		if (m->epoch && m->places[node] != UINT32_MAX)
			m->blocks[m->places[node] / m->block].is_known = false;
	}
}

/* ---- one node ---- */

/* Somebody who is leaving and should go by some time makes the room a matter of time. */
static bool is_lasting(const struct search_bounds *b, node_id node)
{
	return !ledger_node(b->g->s->c->ledger, node)->n_due;
}

/* Are the same pods drivers as when it was looked at, and does that matter? */
static bool is_of_members(const struct search_bounds *b, uint64_t members)
{
	return !members || (members == ledger_members(b->g->s->c->ledger) + 1 && judge_asks(b->g->s->j, RULE_DRIVER));
}

struct bound_entry *memory_find(struct search_bounds *b, node_id node)
{
	struct bound_entry *e = b->memory && bits_has(&b->memory->has_entry, node) ? &b->memory->entries[node] : NULL;

	return e && is_of_members(b, e->members) &&
			       e->generation == ledger_node(b->g->s->c->ledger, node)->generation &&
			       b->g->s->j->now_ns < e->until_ns && class_is_current(b, e->class_at, e->class_id)
		       ? e
		       : NULL;
}

void memory_keep(struct search_bounds *b, const struct search_class *c, const struct class_node *x, node_id node,
		 const struct node_bound *bound, bool is_found)
{
	if (!b->memory || !is_lasting(b, node))
		return;
	bits_set(&b->memory->has_entry, node);
	b->memory->entries[node] = (struct bound_entry){.generation = x->generation,
							.until_ns = x->until_ns,
							.class_id = c->id,
							.class_at = (uint16_t)(c - b->classes),
							.needs_opted_out = bound->opted_out > 0,
							.highest = (int32_t)bound->highest,
							.lost = bound->lost,
							.refined_ns = TIME_NONE,
							.is_out = !is_found,
							.is_below = bound->is_below,
							.is_silent = !x->n_listed && !x->has_groups,
							.has_last = x->has_last};
}

void memory_refined(struct search_bounds *b, node_id node, const struct node_bound *bound, bool by_drivers)
{
	struct bound_entry *e = memory_find(b, node);
	struct bound_memory *m = b->memory;
	uint32_t at;

	if (!e)
		return;
	e->lost = bound->lost;
	e->highest = (int32_t)bound->highest;
	e->is_below = bound->is_below;
	e->needs_drivers = bound->needs_drivers;
	e->members = by_drivers ? ledger_members(b->g->s->c->ledger) + 1 : 0;
	e->refined_ns = b->g->s->j->now_ns;
	at = m->places[node] / m->block;
	if (m->blocks[at].is_known)
		block_keep(b, at * m->block);
}

/* ---- borrowed bounds ---- */

/* Is what is or was known of its nodes that did not change good for the present search? */
static bool is_current(struct search_bounds *b, const struct bound_block *k)
{
	if (!k->n_classes || b->g->s->j->now_ns >= k->until_ns || !is_of_members(b, k->members))
		return false;
	for (uint32_t i = 0; i < k->n_classes; i++)
		if (!class_is_current(b, k->class_at[i], k->class_id[i]))
			return false;
	return true;
}

static bool same_types(const struct bound_want *a, const struct bound_want *b)
{
	return a->n == b->n && !memcmp(a->type, b->type, a->n * sizeof(*a->type));
}

/* As the ledger is now. */
static void rooms_begin(struct search_bounds *b)
{
	const struct ledger *l = b->g->s->c->ledger;
	const struct bound_memory *m = b->memory;
	struct bound_rooms *r = &b->rooms;
	uint64_t changes = ledger_node_changes(l);

	if (r->list_id != m->list_id || !same_types(&r->want, &m->want) ||
	    (r->changes < changes && ledger_node_change(l, r->changes) == NODE_NONE)) {
		bits_reset(&r->is_known);
		r->list_id = m->list_id;
		r->want = m->want;
		r->changes = changes;
	}
	for (; r->changes < changes; r->changes++) {
		node_id node = ledger_node_change(l, r->changes);

		if (node < m->n && m->places[node] != UINT32_MAX)
			bits_clear(&r->is_known, m->places[node] / m->block);
	}
	if (r->n < m->list.n * m->want.n) {
		r->n = m->list.n * m->want.n;
		r->v = mem_resize(r->v, r->n, sizeof(*r->v));
	}
}

/* Of the nodes of a block, one after the other. */
static const int64_t *rooms_of(struct search_bounds *b, uint32_t from)
{
	uint32_t at = from / b->memory->block, n_types = b->memory->want.n;
	int64_t *v = &b->rooms.v[(size_t)from * n_types];
	struct node_search *g = b->g;

	for (uint32_t i = from; !bits_has(&b->rooms.is_known, at) && i < block_end(b, from, b->memory->list.n); i++) {
		g->node = b->memory->list.v[i];
		node_search_measure_room(g);
		memcpy(v + (size_t)(i - from) * n_types, g->room, n_types * sizeof(*v));
	}
	bits_set(&b->rooms.is_known, at);
	return v;
}

/* Which of the nodes are short of each type. */
static void find_shorts(struct search_bounds *b, uint32_t from, const struct bound_want *w, uint64_t *ret)
{
	const int64_t *rooms = rooms_of(b, from);
	uint32_t n = block_end(b, from, b->memory->list.n) - from;

	for (uint32_t t = 0; t < w->n; t++) {
		ret[t] = 0;
		for (uint32_t i = 0; i < n; i++)
			ret[t] |= (uint64_t)(w->amount[t] > rooms[i * w->n + t]) << i;
	}
}

/* By another action it is of another class, which is never current: not worth looking at. */
static bool may_lend(const struct search_bounds *b, struct bound_memory *m)
{
	const struct bound_memory *to = b->memory;

	return m != to && m->epoch && m->list_id == to->list_id && m->action == to->action &&
	       m->with_opted_out == to->with_opted_out && same_types(&m->want, &to->want) && follow_changes(b, m);
}

static void find_lenders(struct search_bounds *b)
{
	b->lenders_stamp = b->stamp;
	b->n_lenders = 0;
	rooms_begin(b);
	for (int i = 0; i < MEMORIES; i++)
		if (may_lend(b, &b->memories[i]))
			b->lenders[b->n_lenders++] = &b->memories[i];
}

/* Is the present search short of the same types on each node of it, and wants as much of them at least? */
static bool lends(struct search_bounds *b, const struct bound_memory *m, uint32_t from, const uint64_t *shorts)
{
	struct bound_block *k = &m->blocks[from / m->block];
	const struct bound_want *wants = &b->memory->want;

	if (!k->is_known)
		return false;
	if (!k->has_shorts)
		find_shorts(b, from, &m->want, k->shorts);
	k->has_shorts = true;
	for (uint32_t t = 0; t < wants->n; t++)
		if (k->shorts[t] != shorts[t] || (shorts[t] && wants->amount[t] < m->want.amount[t]))
			return false;
	return true;
}

/* The highest of those that others may lend; it is kept like an own one. NULL: there is none. */
static const struct bound_block *borrow(struct search_bounds *b, uint32_t from)
{
	uint32_t at = from / b->memory->block;
	struct bound_block *to = &b->memory->blocks[at];
	const struct bound_block *best = NULL;
	uint64_t shorts[WANTED] = {0};

	if (b->lenders_stamp != b->stamp)
		find_lenders(b);
	if (!b->n_lenders)
		return NULL;
	find_shorts(b, from, &b->memory->want, shorts);
	for (uint32_t i = 0; i < b->n_lenders && (!best || best->is_open); i++) {
		const struct bound_block *k = &b->lenders[i]->blocks[at];

		if (lends(b, b->lenders[i], from, shorts) &&
		    (!best || !k->is_open || node_bound_cmp(&k->least, &best->least) > 0) && is_current(b, k))
			best = k;
	}
	if (!best)
		return NULL;
	*to = *best;
	to->is_borrowed = true;
	return to;
}

bool block_is_borrowed(const struct search_bounds *b, uint32_t from)
{
	return b->memory->blocks[from / b->memory->block].is_borrowed;
}

/* ---- blocks ---- */

uint32_t block_end(const struct search_bounds *b, uint32_t from, uint32_t n)
{
	uint32_t block = b->memory ? b->memory->block : BOUND_BLOCK_MAX;

	return n - from > block ? from + block : n;
}

const struct bound_block *block_find(struct search_bounds *b, uint32_t from)
{
	const struct bound_block *k = b->memory ? &b->memory->blocks[from / b->memory->block] : NULL;

	if (!k)
		return NULL;
	if (!is_current(b, k) || (!k->is_known && k->is_borrowed))
		return borrow(b, from);
	return k->is_known ? k : NULL; /* a few of its nodes changed */
}

/* False: there are too many. */
static bool add_class(struct bound_block *k, const struct bound_entry *e)
{
	for (uint32_t i = 0; i < k->n_classes; i++)
		if (k->class_id[i] == e->class_id)
			return true;
	if (k->n_classes == BLOCK_CLASSES)
		return false;
	k->class_at[k->n_classes] = e->class_at;
	k->class_id[k->n_classes++] = e->class_id;
	return true;
}

static void add_entry(struct bound_block *k, const struct bound_entry *e, uint32_t from)
{
	struct node_bound x = entry_bound(e, TIME_NONE, from);

	k->is_silent &= e->is_silent;
	k->members = e->members ? e->members : k->members;
	k->has_last |= e->has_last;
	k->until_ns = e->until_ns < k->until_ns ? e->until_ns : k->until_ns;
	if (e->is_out)
		return;
	if (!k->is_open || node_bound_cmp(&x, &k->least) < 0)
		k->least = x;
	k->is_open = true;
}

void block_keep(struct search_bounds *b, uint32_t from)
{
	struct bound_memory *m = b->memory;
	struct bound_block *k;

	if (!m)
		return;
	k = &m->blocks[from / m->block];
	*k = (struct bound_block){.is_silent = true, .until_ns = INT64_MAX};
	for (uint32_t i = from; i < block_end(b, from, m->list.n); i++) {
		const struct bound_entry *e = memory_find(b, m->list.v[i]);

		if (!e || !add_class(k, e))
			return;
		add_entry(k, e, from);
	}
	k->least.is_block = true;
	k->is_known = true;
}

uint32_t block_open(const struct search_bounds *b, uint32_t from, struct node_bound *ret)
{
	const struct bound_memory *m = b->memory;
	uint32_t n = 0;

	for (uint32_t i = from; i < block_end(b, from, m->list.n); i++) {
		const struct bound_entry *e = &m->entries[m->list.v[i]];

		if (!e->is_out)
			ret[n++] = entry_bound(e, b->g->s->j->now_ns, i);
	}
	return n;
}
