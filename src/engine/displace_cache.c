/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/displace_cache.h"

#include <stdlib.h>

#include "base/heap.h"
#include "engine/displace_internal.h"
#include "engine/displace_sums.h"
#include "engine/eviction_order.h"
#include "engine/spread.h"

/* Kinds of waiting pods remembered: as many as there is room for so many nodes of each. */
enum { KEYS_MIN = 24, KEYS = 64, ENTRIES = 1 << 18 };
enum { NODES_PER_THREAD = 512 }; /* fewer are looked at before a thread has begun */

struct node_answer {	     /* what one node says to one kind of pod */
	uint64_t generation; /* 0: nothing known that lasts */
	uint64_t seen;	     /* in which use of the memory it was looked at last */
	struct status filter;
	struct status after; /* potential nodes: SUCCESS if it is a candidate */
	int64_t sum;
	int64_t not_before; /* minus the earliest start of the victims of the highest priority */
	uint32_t n_victims, n_violations;
	int32_t highest;
	bool is_least; /* a candidate; the numbers are what it costs at least, and who would go was not looked at */
};

struct key {
	const struct framework *framework;
	shape_id shape;
	int32_t priority;
};

struct memory { /* of one kind of pod */
	struct key key;
	uint64_t last_use;
	struct vocab *vocab;	     /* where the reference to the shape is */
	struct node_answer *entries; /* by node id */
	uint32_t n;
	uint64_t budgets, groups; /* their generations when the entries were made */
};

struct displace_cache {
	struct memory memories[KEYS];
	uint64_t clock;
	struct eviction_orders eviction_orders;
	struct displace_sums sums;
	struct heap open; /* of one decision: indices of nodes of which only the least is known */
};

static int by_cost(const void *ctx, uint32_t a, uint32_t b);

struct displace_cache *displace_cache_new(void)
{
	struct displace_cache *s = mem_alloc(sizeof(*s));

	heap_init(&s->open, by_cost, NULL);
	return s;
}

struct displace_sums *displace_cache_sums(struct displace_cache *s)
{
	return &s->sums;
}

static void forget(struct memory *m)
{
	if (m->vocab)
		shape_drop(m->vocab, m->key.shape);
	mem_free(m->entries);
	*m = (struct memory){0};
}

void displace_cache_free(struct displace_cache *s)
{
	if (!s)
		return;
	for (int i = 0; i < KEYS; i++)
		forget(&s->memories[i]);
	eviction_orders_free(&s->eviction_orders);
	displace_sums_free(&s->sums);
	heap_free(&s->open);
	mem_free(s);
}

static bool same_key(const struct key *a, const struct key *b)
{
	return a->framework == b->framework && a->shape == b->shape && a->priority == b->priority;
}

/*
 * The memory for this kind of pod; the one not used for longest makes room.
 * Holds a reference to the shape, so its id stays its own.
 */
static struct memory *memory_for(struct displace_cache *s, const struct cede_cycle *c)
{
	struct key key = {c->framework, c->p->shape, c->priority};
	struct memory *m = &s->memories[0];
	uint32_t n = ledger_node_limit(c->ledger), keys = ENTRIES / (n + 1);

	keys = keys < KEYS_MIN ? KEYS_MIN : keys > KEYS ? KEYS : keys;
	for (uint32_t i = 0; i < keys && !(m->vocab && same_key(&m->key, &key)); i++)
		if ((s->memories[i].vocab && same_key(&s->memories[i].key, &key)) ||
		    s->memories[i].last_use < m->last_use)
			m = &s->memories[i];
	if (!m->vocab || !same_key(&m->key, &key)) {
		forget(m);
		m->key = key;
		m->vocab = ledger_vocab(c->ledger);
		shape_keep(m->vocab, key.shape);
	}
	if (m->n < n) {
		m->entries = mem_resize(m->entries, n, sizeof(*m->entries));
		memset(m->entries + m->n, 0, (n - m->n) * sizeof(*m->entries));
		m->n = n;
	}
	if ((m->budgets != ledger_budget_generation(c->ledger) || m->groups != ledger_group_generation(c->ledger)) &&
	    m->n)
		memset(m->entries, 0, m->n * sizeof(*m->entries));
	m->budgets = ledger_budget_generation(c->ledger);
	m->groups = ledger_group_generation(c->ledger);
	m->last_use = ++s->clock;
	return m;
}

/* ---- one node ---- */

struct cache_look { /* at all nodes, for one waiting pod */
	struct displace_cache *cache;
	struct cede_cycle *c;
	const struct displace_options *o;
	struct want want;
	struct memory *memory;
	struct sum_table *sums; /* NULL: sums do not tell */
};

static void weigh(const struct cede_cycle *c, const struct displace_node *d, struct node_answer *e)
{
	int64_t earliest = INT64_MAX;

	e->n_victims = d->n_victims;
	e->n_violations = d->n_violations;
	e->highest = INT32_MIN;
	e->sum = 0;
	for (uint32_t i = 0; i < d->n_victims; i++) {
		const struct pod *p = ledger_pod(c->ledger, d->victims[i]);
		int64_t start = victim_start(c, p);

		e->sum += (int64_t)p->priority + (INT64_C(1) << 31);
		if (p->priority > e->highest || (p->priority == e->highest && start < earliest)) {
			e->highest = p->priority;
			earliest = start;
		}
	}
	e->not_before = -earliest;
}

/* Who would have to go. */
static void look_closely(const struct cache_look *v, node_id node, struct node_answer *e)
{
	bool is_lasting = true;
	struct displace_node d =
		eviction_order_displace(&v->cache->eviction_orders, v->c, v->o, &v->want, node, &is_lasting);

	e->is_least = false;
	e->after = d.status;
	if (status_is_success(&d.status))
		weigh(v->c, &d, e);
	if (!is_lasting)
		e->generation = 0;
}

/* What it costs at least; false: sums do not tell. */
static bool look_at_sums(const struct cache_look *v, node_id node, struct node_answer *e)
{
	struct least_cost least;
	enum sums_say says = v->sums ? displace_sums_ask(v->sums, v->c, &v->want, node, &e->after, &least) : SUMS_ASK;

	if (says == SUMS_LEAST) {
		e->is_least = true;
		e->after = (struct status){cede_ok(), PLUGIN_FRAMEWORK};
		e->n_violations = 0;
		e->n_victims = least.n_victims;
		e->highest = least.highest;
		e->sum = least.sum;
		e->not_before = least.not_before;
	}
	return says != SUMS_ASK;
}

static void look(const struct cache_look *v, node_id node, struct node_answer *e)
{
	e->generation = ledger_node(v->c->ledger, node)->generation;
	e->is_least = false;
	e->filter = cycle_fits(v->c, node);
	e->after = e->filter;
	if (e->filter.verdict.code == CEDE_UNSCHEDULABLE && !look_at_sums(v, node, e))
		look_closely(v, node, e);
}

/* ---- many nodes, with several threads ---- */

struct view { /* of all nodes that changed */
	const struct cache_look *look;
	const node_id *nodes;
	struct arena *arenas[SPREAD_MAX];
};

/* Where pods of groups are they may have to be moved in the ledger to know. */
static bool may_look_beside(const struct cache_look *v, node_id node)
{
	return v->sums && !displace_sums_of(v->sums, v->c, node)->has_groups;
}

static void look_at_piece(void *ctx, uint32_t piece, uint32_t from, uint32_t to)
{
	struct view *v = ctx;
	struct cede_cycle cycle = *v->look->c;
	struct cache_look mine = *v->look;

	mine.c = &cycle;
	cycle.arena = v->arenas[piece];
	for (uint32_t i = from; i < to; i++)
		if (may_look_beside(&mine, v->nodes[i])) {
			struct node_answer *e = &mine.memory->entries[v->nodes[i]];

			look(&mine, v->nodes[i], e);
			e->seen = mine.memory->last_use;
			arena_reset(cycle.arena); /* who goes is asked again of the node that wins */
		}
}

static void look_at_all(struct view *v, uint32_t n, uint32_t pieces)
{
	for (uint32_t t = 0; t < pieces; t++)
		v->arenas[t] = arena_new(1 << 14);
	spread_run(pieces, n, look_at_piece, v);
	for (uint32_t t = 0; t < pieces; t++)
		arena_free(v->arenas[t]);
}

/* What is found out here need not be looked at by the one thread that chooses; it looks at the rest. */
static void look_ahead(const struct cache_look *l)
{
	const struct cede_cycle *c = l->c;
	struct view v = {.look = l};
	node_id *changed;
	uint32_t n = 0, pieces;

	if (spread_pieces(l->o->threads, c->n_nodes, NODES_PER_THREAD) < 2)
		return;
	changed = arena_n(c->arena, c->n_nodes, node_id);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (l->memory->entries[c->nodes[i]].generation != ledger_node(c->ledger, c->nodes[i])->generation)
			changed[n++] = c->nodes[i];
	v.nodes = changed;
	pieces = spread_pieces(l->o->threads, n, NODES_PER_THREAD);
	if (pieces > 1)
		look_at_all(&v, n, pieces);
}

/* ---- the choice ---- */

/* As displace_pick has them (displace.c), from what was kept of a node: smaller is better. */
#define CRITERIA(X)                     \
	X(TIE_VIOLATIONS, n_violations) \
	X(TIE_HIGHEST, highest)         \
	X(TIE_SUM, sum)                 \
	X(TIE_COUNT, n_victims)         \
	X(TIE_START, not_before)

struct answer_difference {
	enum tie_break by;
	int64_t mine, theirs;
};

static inline struct answer_difference first_difference(const struct node_answer *a, const struct node_answer *b)
{
#define X(tie, field)             \
	if (a->field != b->field) \
		return (struct answer_difference){tie, a->field, b->field};
	CRITERIA(X)
#undef X
	return (struct answer_difference){.by = TIE_NAME};
}

struct cached_choice { /* indices of nodes, which are in the order of their names; UINT32_MAX: none */
	const struct cache_look *look;
	uint32_t best, second;
};

static struct node_answer *answer_at(const struct cache_look *v, uint32_t at)
{
	return &v->memory->entries[v->c->nodes[at]];
}

/* Equal ones are decided by name. */
static inline bool is_better(const struct cache_look *v, uint32_t a, uint32_t b)
{
	struct answer_difference d = first_difference(answer_at(v, a), answer_at(v, b));

	return d.by == TIE_NAME ? a < b : d.mine < d.theirs;
}

static int by_cost(const void *ctx, uint32_t a, uint32_t b)
{
	return is_better(ctx, a, b) ? -1 : 1;
}

/* Is it one of the two best so far, or may it be? */
static inline bool may_win(const struct cached_choice *ch, uint32_t at)
{
	return ch->second == UINT32_MAX || is_better(ch->look, at, ch->second);
}

static void rank(struct cached_choice *ch, uint32_t at)
{
	if (ch->best == UINT32_MAX || is_better(ch->look, at, ch->best)) {
		ch->second = ch->best;
		ch->best = at;
	} else if (may_win(ch, at)) {
		ch->second = at;
	}
}

static void look_and_rank(struct cached_choice *ch, uint32_t at)
{
	struct node_answer *e = answer_at(ch->look, at);

	look_closely(ch->look, ch->look->c->nodes[at], e);
	if (status_is_success(&e->after))
		rank(ch, at);
}

/* The cheapest, taken out of the list. */
static uint32_t take_cheapest(const struct cache_look *v, uint32_t *open, uint32_t *n)
{
	uint32_t least = 0, at;

	for (uint32_t i = 1; i < *n; i++)
		if (is_better(v, open[i], open[least]))
			least = i;
	at = open[least];
	open[least] = open[--*n];
	return at;
}

/*
 * Those of which only the least is known, cheapest first, until none of them can be one of the two best. Where nothing
 * is known yet the first two rule most of the others out.
 */
static void choose_among_open(struct cached_choice *ch, uint32_t *open, uint32_t n)
{
	const struct cache_look *v = ch->look;
	struct heap *h = &v->cache->open;

	for (int i = 0; i < 2 && n && ch->second == UINT32_MAX; i++)
		look_and_rank(ch, take_cheapest(v, open, &n));
	heap_clear(h);
	h->ctx = v;
	for (uint32_t i = 0; i < n; i++)
		if (may_win(ch, open[i]))
			heap_push(h, open[i]);
	while (h->items.n && may_win(ch, heap_peek(h)))
		look_and_rank(ch, heap_pop(h));
}

struct status_tally {
	ARRAY(struct status_count) v;
	uint32_t last; /* that was counted */
};

static inline void count(struct status_tally *t, const struct status *s)
{
	uint32_t k = t->last;

	if (k >= t->v.n || !status_same(&t->v.v[k].s, s))
		for (k = 0; k < t->v.n && !status_same(&t->v.v[k].s, s);)
			k++;
	if (k == t->v.n) {
		struct status_count none = {*s, 0};

		array_push(&t->v, none);
	}
	t->v.v[k].count++;
	t->last = k;
}

static const struct status_count *keep_tally(struct cede_cycle *c, struct status_tally *t, uint32_t *ret_n)
{
	struct status_count *v = arena_n(c->arena, t->v.n + 1, struct status_count);

	if (t->v.n)
		memcpy(v, t->v.v, t->v.n * sizeof(*v));
	*ret_n = t->v.n;
	array_free(&t->v);
	return v;
}

static void tally_after(const struct cache_look *v, struct displace_cache_result *ret)
{
	struct status_tally t = {0};

	for (uint32_t i = 0; i < v->c->n_nodes; i++) {
		const struct node_answer *e = answer_at(v, i);

		if (e->filter.verdict.code == CEDE_UNSCHEDULABLE)
			count(&t, &e->after);
	}
	ret->after = keep_tally(v->c, &t, &ret->n_after);
}

static void settle(const struct cached_choice *ch, struct displace_cache_result *ret)
{
	const struct cache_look *v = ch->look;
	bool ignored;

	if (ch->best == UINT32_MAX) {
		tally_after(v, ret);
		return;
	}
	ret->best = v->c->nodes[ch->best];
	ret->winner = eviction_order_displace(&v->cache->eviction_orders, v->c, v->o, &v->want, ret->best, &ignored);
	ret->tie = TIE_ONLY_ONE;
	if (ch->second != UINT32_MAX) {
		struct answer_difference d = first_difference(answer_at(v, ch->best), answer_at(v, ch->second));

		ret->second = v->c->nodes[ch->second];
		ret->tie = d.by;
		ret->mine = d.mine;
		ret->theirs = d.theirs;
	}
}

/* ---- all of it ---- */

static void add_feasible(struct cede_cycle *c, node_id node, struct displace_cache_result *ret)
{
	if (!ret->feasible)
		ret->feasible = arena_n(c->arena, c->n_nodes, node_id);
	ret->feasible[ret->n_feasible++] = node;
}

/* The nodes that fit; or else the choice. */
static void look_at_nodes(const struct cache_look *v, struct displace_cache_result *ret)
{
	const struct ledger_node *nodes = ledger_node(v->c->ledger, 0);
	struct cached_choice ch = {v, UINT32_MAX, UINT32_MAX};
	uint32_t *open = arena_n(v->c->arena, v->c->n_nodes, uint32_t), n_open = 0;
	struct status_tally refusals = {0};

	for (uint32_t i = 0; i < v->c->n_nodes; i++) {
		node_id node = v->c->nodes[i];
		struct node_answer *e = &v->memory->entries[node];

		if (e->generation != nodes[node].generation && e->seen != v->memory->last_use)
			look(v, node, e);
		if (status_is_success(&e->filter)) {
			add_feasible(v->c, node, ret);
			continue;
		}
		count(&refusals, &e->filter);
		if (e->filter.verdict.code != CEDE_UNSCHEDULABLE || !status_is_success(&e->after) || !may_win(&ch, i))
			continue;
		if (e->is_least)
			open[n_open++] = i;
		else
			rank(&ch, i);
	}
	ret->refusals = keep_tally(v->c, &refusals, &ret->n_refusals);
	if (ret->n_feasible)
		return;
	choose_among_open(&ch, open, n_open);
	settle(&ch, ret);
}

bool displace_cache_run(struct displace_cache *s, struct cede_cycle *c, const struct displace_options *o,
			struct displace_cache_result *ret)
{
	struct cache_look v = {.cache = s, .c = c, .o = o};

	if (!displace_is_fast(c) || !status_is_success(&c->pre_filter) || c->has_node_set || !c->n_nodes)
		return false;
	*ret = (struct displace_cache_result){.best = NODE_NONE, .second = NODE_NONE};
	v.memory = memory_for(s, c);
	want_of(c, &v.want);
	eviction_orders_fit(&s->eviction_orders, ledger_node_limit(c->ledger));
	v.sums = displace_sums_for(&s->sums, c, &v.want);
	look_ahead(&v);
	look_at_nodes(&v, ret);
	return true;
}
