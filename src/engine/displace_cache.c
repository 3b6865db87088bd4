/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/displace_cache.h"

#include <stdlib.h>

#include "engine/displace_internal.h"
#include "engine/eviction_order.h"
#include "engine/spread.h"

/* Kinds of waiting pods remembered: as many as there is room for so many nodes of each. */
enum { KEYS_MIN = 8, KEYS = 64, ENTRIES = 1 << 18 };
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
};

struct displace_cache *displace_cache_new(void)
{
	return mem_alloc(sizeof(struct displace_cache));
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

static void look(struct displace_cache *s, struct cede_cycle *c, const struct displace_options *o, const struct want *w,
		 node_id node, struct node_answer *e)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	struct displace_node d;
	bool is_lasting = true;

	e->filter = cycle_fits(c, node);
	e->after = e->filter;
	if (e->filter.verdict.code == CEDE_UNSCHEDULABLE) {
		d = eviction_order_displace(&s->eviction_orders, c, o, w, node, &is_lasting);
		e->after = d.status;
		if (status_is_success(&d.status))
			weigh(c, &d, e);
	}
	e->generation = is_lasting ? n->generation : 0;
}

/* ---- many nodes, with several threads ---- */

struct view { /* of all nodes that changed */
	struct displace_cache *displace_cache;
	struct cede_cycle *c;
	const struct displace_options *o;
	const struct want *want;
	struct memory *memory;
	const node_id *nodes;
	struct arena *arenas[SPREAD_MAX];
};

/* Where pods would have to be moved in the ledger to know, nothing is found out. */
static bool may_look_beside(struct view *v, struct cede_cycle *c, node_id node)
{
	return eviction_order_only_reads(&v->displace_cache->eviction_orders, c, node);
}

static void look_at_piece(void *ctx, uint32_t piece, uint32_t from, uint32_t to)
{
	struct view *v = ctx;
	struct cede_cycle mine = *v->c;

	mine.arena = v->arenas[piece];
	for (uint32_t i = from; i < to; i++)
		if (may_look_beside(v, &mine, v->nodes[i])) {
			struct node_answer *e = &v->memory->entries[v->nodes[i]];

			look(v->displace_cache, &mine, v->o, v->want, v->nodes[i], e);
			e->seen = v->memory->last_use;
			arena_reset(mine.arena); /* who goes is asked again of the node that wins */
		}
}

static void look_at_all(struct view *v, uint32_t n, uint32_t pieces)
{
	for (uint32_t i = 0; i < n; i++) /* one thread allocates faster than two */
		eviction_order_reserve(&v->displace_cache->eviction_orders, v->c, v->nodes[i]);
	for (uint32_t t = 0; t < pieces; t++)
		v->arenas[t] = arena_new(1 << 14);
	spread_run(pieces, n, look_at_piece, v);
	for (uint32_t t = 0; t < pieces; t++)
		arena_free(v->arenas[t]);
}

/* What is found out here need not be looked at by the one thread that chooses; it looks at the rest. */
static void look_ahead(struct displace_cache *s, struct cede_cycle *c, const struct displace_options *o,
		       const struct want *w, struct memory *m)
{
	struct view v = {.displace_cache = s, .c = c, .o = o, .want = w, .memory = m};
	node_id *changed;
	uint32_t n = 0, pieces;

	if (spread_pieces(o->threads, c->n_nodes, NODES_PER_THREAD) < 2)
		return;
	changed = arena_n(c->arena, c->n_nodes, node_id);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (m->entries[c->nodes[i]].generation != ledger_node(c->ledger, c->nodes[i])->generation)
			changed[n++] = c->nodes[i];
	v.nodes = changed;
	pieces = spread_pieces(o->threads, n, NODES_PER_THREAD);
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

struct difference {
	enum tie_break by;
	int64_t mine, theirs;
};

/* Equal ones are decided by name, which is the order they come in. */
static inline struct difference first_difference(const struct node_answer *a, const struct node_answer *b)
{
#define X(tie, field)             \
	if (a->field != b->field) \
		return (struct difference){tie, a->field, b->field};
	CRITERIA(X)
#undef X
	return (struct difference){.by = TIE_NAME};
}

static inline bool is_better(const struct node_answer *a, const struct node_answer *b)
{
	struct difference d = first_difference(a, b);

	return d.mine < d.theirs;
}

struct status_tally {
	ARRAY(struct status_count) v;
};

static void count(struct status_tally *t, const struct status *s)
{
	uint32_t k = t->v.n;

	while (k > 0 && !status_same(&t->v.v[k - 1].s, s))
		k--;
	if (k) {
		t->v.v[k - 1].count++;
	} else {
		struct status_count one = {*s, 1};

		array_push(&t->v, one);
	}
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

static void tally_after(const struct memory *m, struct cede_cycle *c, struct displace_cache_result *ret)
{
	struct status_tally t = {0};

	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const struct node_answer *e = &m->entries[c->nodes[i]];

		if (e->filter.verdict.code == CEDE_UNSCHEDULABLE)
			count(&t, &e->after);
	}
	ret->after = keep_tally(c, &t, &ret->n_after);
}

static void settle(struct displace_cache *s, const struct memory *m, struct cede_cycle *c,
		   const struct displace_options *o, const struct want *w, struct displace_cache_result *ret)
{
	bool ignored;

	if (ret->best == NODE_NONE) {
		tally_after(m, c, ret);
		return;
	}
	ret->winner = eviction_order_displace(&s->eviction_orders, c, o, w, ret->best, &ignored);
	ret->tie = TIE_ONLY_ONE;
	if (ret->second != NODE_NONE) {
		struct difference d = first_difference(&m->entries[ret->best], &m->entries[ret->second]);

		ret->tie = d.by;
		ret->mine = d.mine;
		ret->theirs = d.theirs;
	}
}

/* Nodes come by name, so of equals the first stays ahead. */
static void rank(const struct memory *m, node_id node, struct displace_cache_result *ret)
{
	const struct node_answer *e = &m->entries[node];

	if (ret->best == NODE_NONE || is_better(e, &m->entries[ret->best])) {
		ret->second = ret->best;
		ret->best = node;
	} else if (ret->second == NODE_NONE || is_better(e, &m->entries[ret->second])) {
		ret->second = node;
	}
}

bool displace_cache_run(struct displace_cache *s, struct cede_cycle *c, const struct displace_options *o,
			struct displace_cache_result *ret)
{
	const struct ledger_node *nodes;
	struct status_tally refusals = {0};
	struct memory *m;
	struct want w;

	if (!displace_is_fast(c) || !status_is_success(&c->pre_filter) || c->has_node_set || !c->n_nodes)
		return false;
	*ret = (struct displace_cache_result){.best = NODE_NONE, .second = NODE_NONE};
	m = memory_for(s, c);
	eviction_orders_fit(&s->eviction_orders, ledger_node_limit(c->ledger));
	want_of(c, &w);
	look_ahead(s, c, o, &w, m);
	nodes = ledger_node(c->ledger, 0);
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		node_id node = c->nodes[i];
		struct node_answer *e = &m->entries[node];

		if (e->generation != nodes[node].generation && e->seen != m->last_use)
			look(s, c, o, &w, node, e);
		if (status_is_success(&e->filter)) {
			if (!ret->feasible)
				ret->feasible = arena_n(c->arena, c->n_nodes, node_id);
			ret->feasible[ret->n_feasible++] = node;
			continue;
		}
		count(&refusals, &e->filter);
		if (e->filter.verdict.code == CEDE_UNSCHEDULABLE && status_is_success(&e->after))
			rank(m, node, ret);
	}
	ret->refusals = keep_tally(c, &refusals, &ret->n_refusals);
	if (!ret->n_feasible)
		settle(s, m, c, o, &w, ret);
	return true;
}
