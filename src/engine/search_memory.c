/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What nodes were bounded by, kept for a shape: good while the node is the same, rules say the same of every kind of
 * pod (the class is current) and time goes on. Who waits, and in which queue, does not matter.
 *
 * Nodes that follow each other in the list are a block with the least of their bounds, so that a search goes over
 * blocks and opens those alone that may win. The ledger says which nodes changed since.
 *
 * Of a shape that is new, the least of each block is found by the classes of its nodes, which other shapes have made,
 * and by their room. Of the nodes themselves something is kept only where the block may win: most never do.
 */
#include "engine/search_bound_internal.h"

static void list_drop(struct bound_list *x)
{
	if (!x || --x->n_users)
		return;
	mem_free(x->v);
	mem_free(x->places);
	mem_free(x);
}

static void memory_forget(struct bound_memory *m)
{
	if (m->vocab)
		shape_drop(m->vocab, m->shape);
	list_drop(m->list);
	mem_free(m->blocks);
	array_free(&m->entries);
	*m = (struct bound_memory){0};
}

void memories_free(struct search_bounds *b)
{
	for (int i = 0; i < MEMORIES; i++)
		memory_forget(&b->memories[i]);
	bits_free(&b->rooms.is_known);
	bits_free(&b->rooms.is_lasting);
	mem_free(b->rooms.v);
	mem_free(b->rooms.most);
	mem_free(b->rooms.least);
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
	m->last_use = ++b->clock;
	return m;
}

/* ---- nodes that changed ---- */

static uint32_t n_blocks(const struct bound_list *x)
{
	return (x->n + x->block - 1) / x->block;
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
	return m->list && m->list->n == n && (!n || !memcmp(m->list->v, nodes, n * sizeof(*nodes)));
}

static struct bound_list *list_new(struct search_bounds *b, const node_id *nodes, uint32_t n)
{
	struct bound_list *x = mem_alloc(sizeof(*x));

	*x = (struct bound_list){
		.id = ++b->list_ids, .n = n, .n_places = ledger_node_limit(b->g->s->c->ledger), .block = block_size(n)};
	x->v = mem_resize(NULL, n, sizeof(*x->v));
	x->places = mem_resize(NULL, x->n_places, sizeof(*x->places));
	memset(x->places, 0xff, x->n_places * sizeof(*x->places));
	for (uint32_t i = 0; i < n; i++) {
		x->v[i] = nodes[i];
		x->places[nodes[i]] = i;
	}
	return x;
}

/* Of the others who have the same; or a new one. */
static struct bound_list *list_for(struct search_bounds *b, const node_id *nodes, uint32_t n)
{
	for (int i = 0; i < MEMORIES; i++)
		if (is_same_list(&b->memories[i], nodes, n))
			return b->memories[i].list;
	return list_new(b, nodes, n);
}

static void take_list(struct search_bounds *b, struct bound_memory *m, const node_id *nodes, uint32_t n)
{
	struct bound_list *x = list_for(b, nodes, n);

	x->n_users++;
	list_drop(m->list);
	m->list = x;
	m->entries.n = 0;
	m->blocks = mem_resize(m->blocks, n_blocks(x) + 1, sizeof(*m->blocks));
	for (uint32_t i = 0; i < n_blocks(x); i++)
		m->blocks[i].entries = 0;
}

static void block_forget(struct bound_block *k)
{
	*k = (struct bound_block){.is_silent = true, .until_ns = INT64_MAX, .entries = k->entries};
}

static void begin_anew(struct search_bounds *b, struct bound_memory *m, const node_id *nodes, uint32_t n)
{
	if (!is_same_list(m, nodes, n))
		take_list(b, m, nodes, n);
	for (uint32_t i = 0; i < n_blocks(m->list); i++)
		block_forget(&m->blocks[i]);
	m->epoch = b->rows.epoch + 1;
	m->changes = ledger_node_changes(b->g->s->c->ledger);
}

/* Its block is looked at again. */
static void follow_node(struct bound_memory *m, node_id node)
{
	uint32_t place = list_place(m->list, node);

	if (place != UINT32_MAX)
		m->blocks[place / m->list->block].is_known = false;
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

/* NULL: there is none, of a block that was not opened. */
static struct bound_entry *entry_at(const struct bound_memory *m, uint32_t place)
{
	uint32_t from = place == UINT32_MAX ? 0 : m->blocks[place / m->list->block].entries;

	return from ? &m->entries.v[from - 1 + place % m->list->block] : NULL;
}

/* Room for those of its block: what is in them is nothing. */
static struct bound_entry *entry_for(struct bound_memory *m, uint32_t place)
{
	struct bound_block *k = &m->blocks[place / m->list->block];

	if (!k->entries) {
		array_reserve(&m->entries, m->entries.n + m->list->block);
		memset(m->entries.v + m->entries.n, 0, m->list->block * sizeof(*m->entries.v));
		k->entries = m->entries.n + 1;
		m->entries.n += m->list->block;
	}
	return entry_at(m, place);
}

const struct bound_list *memories_list(const struct search_bounds *b, uint64_t id)
{
	for (int i = 0; i < MEMORIES; i++)
		if (b->memories[i].list && b->memories[i].list->id == id)
			return b->memories[i].list;
	return NULL;
}

void memories_forget_node(struct search_bounds *b, node_id node)
{
	for (int i = 0; i < MEMORIES; i++) {
		struct bound_memory *m = &b->memories[i];
		struct bound_entry *e = m->list ? entry_at(m, list_place(m->list, node)) : NULL;

		if (e)
			e->generation = 0;
		if (m->list)
			follow_node(m, node);
	}
}

/* ---- one node ---- */

/* Are the same pods drivers as when it was looked at, and does that matter? */
static bool is_of_members(const struct search_bounds *b, uint64_t members)
{
	return !members || (members == ledger_members(b->g->s->c->ledger) + 1 && judge_asks(b->g->s->j, RULE_DRIVER));
}

struct bound_entry *memory_find(struct search_bounds *b, node_id node)
{
	struct bound_entry *e = b->memory ? entry_at(b->memory, list_place(b->memory->list, node)) : NULL;

	return e && is_of_members(b, e->members) &&
			       e->generation == ledger_node(b->g->s->c->ledger, node)->generation &&
			       b->g->s->j->now_ns < e->until_ns && class_is_current(b, e->class_at, e->class_id)
		       ? e
		       : NULL;
}

static struct bound_entry entry_of(const struct search_bounds *b, const struct search_class *c,
				   const struct class_node *x, const struct node_bound *bound, bool is_found)
{
	return (struct bound_entry){.generation = x->generation,
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

void memory_keep(struct search_bounds *b, const struct search_class *c, const struct class_node *x, node_id node,
		 const struct node_bound *bound, bool is_found)
{
	if (!b->memory || !node_is_lasting(b, node))
		return;
	*entry_for(b->memory, list_place(b->memory->list, node)) = entry_of(b, c, x, bound, is_found);
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
	at = list_place(m->list, node) / m->list->block;
	if (m->blocks[at].is_known)
		block_keep(b, at * m->list->block);
}

/* What the pod lacks beside so much room, into b->lacks and b->types. No queue above it is short of anything. */
static void measure_lacks(struct search_bounds *b, const int64_t *room)
{
	const struct bound_want *w = &b->memory->want;

	b->types = 0;
	for (uint32_t k = 0; k < w->n; k++) {
		b->lacks[k] = w->amount[k] - room[k];
		b->types |= (uint64_t)(b->lacks[k] > 0) << w->type[k];
	}
}

/* ---- blocks ---- */

uint32_t block_end(const struct search_bounds *b, uint32_t from, uint32_t n)
{
	uint32_t block = b->memory ? b->memory->list->block : BOUND_BLOCK_MAX;

	return n - from > block ? from + block : n;
}

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

/* One of them by its class. False: that does not tell, and rows have to be looked at. */
static bool look_by_class(struct search_bounds *b, node_id node, const int64_t *room, struct bound_entry *ret)
{
	struct node_bound bound = {0};
	const struct class_node *x;
	struct search_class *c;
	bool is_found;

	if (!node_is_lasting(b, node))
		return false;
	measure_lacks(b, room);
	c = class_for(b);
	if (!c)
		return false;
	x = class_node_of(b, c, node);
	is_found = class_bound(b, c, node, &bound);
	*ret = entry_of(b, c, x, &bound, is_found);
	return true;
}

static void close_block(struct bound_block *k)
{
	k->least.is_block = true;
	k->is_known = true;
}

/*
 * Where these types are short nobody goes: then no set is enough, and what such nodes offer is not found out. A wide
 * class does not say so for those who search in its other queues, which may ask the pods that are not asked now.
 */
static bool pass_over(struct search_bounds *b, uint64_t types, struct bound_block *k)
{
	struct kind_answers *s = types ? kinds_for(b, types) : NULL;
	struct search_class *c;

	if (!s)
		return false;
	kinds_ask_all(b, s);
	if (!s->keeps_all)
		return false;
	b->types = types;
	c = b->is_wide ? NULL : class_for(b);
	k->is_silent = false; /* nobody looked who would have to be told of */
	k->is_of_now |=
		!c || !add_class(k, &(struct bound_entry){.class_id = c->id, .class_at = (uint16_t)(c - b->classes)});
	return true;
}

/* Of the nodes that are short of these types and no others, what their class tells of all of them together. */
static bool sketch_rest(struct search_bounds *b, uint32_t from, uint64_t types, struct bound_block *k)
{
	const struct class_block *x;
	struct node_bound bound;
	struct search_class *c;
	struct bound_entry e;
	bool is_found;

	b->types = types;
	c = class_for(b);
	if (!c)
		return false;
	x = class_block_of(b, c, from);
	is_found = class_block_bound(b, c, x, &bound);
	e = (struct bound_entry){.until_ns = x->until_ns,
				 .class_id = c->id,
				 .class_at = (uint16_t)(c - b->classes),
				 .needs_opted_out = bound.opted_out > 0,
				 .highest = (int32_t)bound.highest,
				 .lost = bound.lost,
				 .is_out = !is_found,
				 .is_below = bound.is_below,
				 .is_silent = x->is_silent,
				 .has_last = x->has_last};
	if (!add_class(k, &e))
		return false;
	add_entry(k, &e, from);
	return true;
}

/* What is the least of them at least is all that is kept. NULL: classes do not tell, or somebody has to be told of. */
static const struct bound_block *sketch(struct search_bounds *b, uint32_t from, bool is_telling)
{
	const struct bound_memory *m = b->memory;
	struct bound_block *k = &m->blocks[from / m->list->block];
	const int64_t *room = rooms_of(b, from);
	bool is_same, has_rest;
	uint64_t types = rooms_short(b, from, &is_same);

	block_forget(k);
	k->is_sketch = true;
	if (!rooms_are_lasting(b, from))
		return NULL;
	has_rest = is_same && types;
	for (uint32_t i = from; !(is_same && types) && i < block_end(b, from, m->list->n); i++, room += m->want.n) {
		struct bound_entry e;

		measure_lacks(b, room);
		if (types && b->types == types) {
			has_rest = true;
			continue;
		}
		if (!is_telling && pass_over(b, b->types, k))
			continue;
		if (!look_by_class(b, m->list->v[i], room, &e) || !add_class(k, &e))
			return NULL;
		add_entry(k, &e, from);
	}
	has_rest = has_rest && (is_telling || !pass_over(b, types, k));
	if ((has_rest && !sketch_rest(b, from, types, k)) || (is_telling && !k->is_silent))
		return NULL;
	close_block(k);
	k->is_known = !k->is_of_now;
	return k;
}

const struct bound_block *block_find(struct search_bounds *b, uint32_t from, bool is_telling)
{
	const struct bound_block *k = b->memory ? &b->memory->blocks[from / b->memory->list->block] : NULL;

	if (!k)
		return NULL;
	if (!is_current(b, k) || (!k->is_known && k->is_sketch))
		return sketch(b, from, is_telling);
	return k->is_known ? k : NULL; /* a few of its nodes changed */
}

void block_keep(struct search_bounds *b, uint32_t from)
{
	struct bound_memory *m = b->memory;
	struct bound_block *k;

	if (!m)
		return;
	k = &m->blocks[from / m->list->block];
	block_forget(k);
	for (uint32_t i = from; i < block_end(b, from, m->list->n); i++) {
		const struct bound_entry *e = memory_find(b, m->list->v[i]);

		if (!e || !add_class(k, e))
			return;
		add_entry(k, e, from);
	}
	close_block(k);
}

/* What is kept of each of its nodes, made where it is not. False: classes do not tell. */
static bool fill(struct search_bounds *b, uint32_t from)
{
	struct bound_memory *m = b->memory;
	struct bound_block *k = &m->blocks[from / m->list->block];
	const int64_t *room = rooms_of(b, from);

	block_forget(k);
	for (uint32_t i = from; i < block_end(b, from, m->list->n); i++, room += m->want.n) {
		node_id node = m->list->v[i];
		struct bound_entry *e = entry_for(m, i);

		if (!memory_find(b, node) && !look_by_class(b, node, room, e))
			return false;
		if (!add_class(k, e))
			return false;
		add_entry(k, e, from);
	}
	close_block(k);
	return true;
}

bool block_open(struct search_bounds *b, uint32_t from, struct node_bound *ret, uint32_t *ret_n)
{
	const struct bound_memory *m = b->memory;

	if (m->blocks[from / m->list->block].is_sketch && !fill(b, from))
		return false;
	*ret_n = 0;
	for (uint32_t i = from; i < block_end(b, from, m->list->n); i++) {
		const struct bound_entry *e = entry_at(m, i);

		if (!e->is_out)
			ret[(*ret_n)++] = entry_bound(e, b->g->s->j->now_ns, i);
	}
	return true;
}
