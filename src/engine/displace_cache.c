/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/displace_cache.h"

#include "engine/displace_answers.h"
#include "engine/displace_internal.h"
#include "engine/displace_sums.h"
#include "engine/eviction_order.h"
#include "engine/spread.h"

/* Kinds of waiting pods remembered: as many as there is room for so many nodes of each. */
enum { KEYS_MIN = 40, KEYS = 64, ENTRIES = 1 << 19 };
enum { NODES_PER_THREAD = 512 }; /* fewer are looked at before a thread has begun */
enum { STATUSES_MAX = 1 << 16 }; /* kept of one kind of pod; then all is looked at anew */

enum { LACKS = 4 }; /* wanted amounts whose lack has a number of its own */

struct key {
	const struct framework *framework;
	shape_id shape;
	int32_t priority;
};

struct memory { /* of one kind of pod */
	struct key key;
	uint64_t last_use;
	struct vocab *vocab; /* where the reference to the shape is */
	struct answers answers;
	uint64_t budgets, groups; /* their generations when the answers were given */
	uint64_t nodes_version;	  /* of the list of nodes that blocks are made of; 0: there are none yet */
	uint64_t changes;	  /* of nodes, up to which it has followed */
	ARRAY(node_id) unkept;	  /* nodes whose answers do not last */
};

struct displace_cache {
	struct memory memories[KEYS];
	uint64_t clock;
	struct eviction_orders eviction_orders;
	struct displace_sums sums;
	struct heap open; /* of one decision */
};

struct displace_cache *displace_cache_new(void)
{
	struct displace_cache *s = mem_alloc(sizeof(*s));

	answers_open_init(&s->open);
	return s;
}

struct displace_sums *displace_cache_sums(struct displace_cache *s)
{
	return &s->sums;
}

struct eviction_orders *displace_cache_orders(struct displace_cache *s)
{
	return &s->eviction_orders;
}

static void forget(struct memory *m)
{
	if (m->vocab)
		shape_drop(m->vocab, m->key.shape);
	answers_free(&m->answers);
	array_free(&m->unkept);
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

/* Where all nodes are about to be looked at for the first time, what is written then need not be cleared. */
static void make_room(struct memory *m, const struct cede_cycle *c)
{
	struct answers *a = &m->answers;
	uint32_t n = ledger_node_limit(c->ledger);

	if (a->n >= n)
		return;
	a->v = mem_resize(a->v, n, sizeof(*a->v));
	if (m->nodes_version || c->n_nodes < n)
		memset(a->v + a->n, 0, (n - a->n) * sizeof(*a->v));
	a->n = n;
}

/* What was said holds no longer. */
static void renew(struct memory *m)
{
	m->answers.tally.v.n = 0;
	m->nodes_version = 0;
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
	make_room(m, c);
	if (m->nodes_version &&
	    (m->budgets != ledger_budget_generation(c->ledger) || m->groups != ledger_group_generation(c->ledger) ||
	     m->answers.tally.v.n > STATUSES_MAX))
		renew(m);
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
	/* The first of them; they lie one after the other. */
	const struct ledger_node *nodes;
	const int64_t *allocatable, *used;
	size_t stride; /* of a row */
	/* of one thread: */
	struct sums_lookup *lookup;
	struct status_tally *tally;
	uint32_t lack_numbers[2][1 << LACKS]; /* of the status of a lack: never, wanted; STATUS_NONE: not known yet */
};

static void say_after(const struct cache_look *v, struct node_answer *e, const struct status *s)
{
	e->is_candidate = status_is_success(s);
	e->after = e->is_candidate ? STATUS_NONE : status_intern(v->tally, s) & STATUS_NONE;
}

/* Who would have to go. */
static void look_closely(const struct cache_look *v, node_id node, struct node_answer *e)
{
	bool is_lasting = true;
	struct displace_node d =
		eviction_order_displace(&v->cache->eviction_orders, v->c, v->o, &v->want, node, &is_lasting);

	e->is_least = false;
	say_after(v, e, &d.status);
	if (e->is_candidate)
		e->cost = displace_cost(v->c, &d, e->cost.at);
	if (is_lasting)
		return;
	e->generation = 0;
	if (!e->is_unkept)
		array_push(&v->memory->unkept, node);
	e->is_unkept = true;
}

static void look_for_choice(void *ctx, node_id node, struct node_answer *e)
{
	look_closely(ctx, node, e);
}

/* What it costs at least; false: sums do not tell. */
static bool look_at_sums(struct cache_look *v, node_id node, const int64_t *lacks, struct node_answer *e)
{
	struct status out;
	enum sums_say says = displace_sums_ask(v->lookup, node, lacks, &out, &e->cost);

	e->is_candidate = e->is_least = says == SUMS_LEAST;
	if (says == SUMS_OUT)
		say_after(v, e, &out);
	return says != SUMS_ASK;
}

static void forget_lacks(struct cache_look *v)
{
	for (uint32_t i = 0; i < 2 << LACKS; i++)
		v->lack_numbers[i >> LACKS][i % (1 << LACKS)] = STATUS_NONE;
}

static void note_filter(struct cache_look *v, struct node_answer *e, const struct status *s)
{
	e->filter = status_is_success(s) ? STATUS_NONE : status_intern(v->tally, s);
}

/* The same of a node that lacks so much. */
static void note_lack(struct cache_look *v, struct node_answer *e, struct lack lack)
{
	bool is_few = v->want.n <= LACKS;
	uint32_t *number = &v->lack_numbers[lack.is_never][is_few ? lack.wanted : 0];

	if (!is_few || *number == STATUS_NONE) {
		struct status s = lack_status(&v->want, lack);

		note_filter(v, e, &s);
		*number = e->filter;
	}
	e->filter = *number;
}

/* Does it fit as it is? Most often numbers alone tell. True: no, but it may once others are gone. */
static inline bool filter(struct cache_look *v, node_id node, struct node_answer *e, int64_t *lacks)
{
	const int64_t *has = v->allocatable + node * v->stride, *used = v->used + node * v->stride;
	struct lack lack = {0};

	if (!cycle_passes_static(v->c, node) || v->nodes[node].nominated.n) {
		struct status s = cycle_fits(v->c, node);

		displace_lacks(v->c, &v->want, node, lacks);
		note_filter(v, e, &s);
		return s.verdict.code == CEDE_UNSCHEDULABLE;
	}
	for (uint32_t k = 0; k < v->want.n; k++) {
		res_id type = v->want.type[k];

		lacks[k] = v->want.amount[k] - has[type] + used[type];
		lack_note(&lack, &v->want, k, has[type], lacks[k]);
	}
	note_lack(v, e, lack);
	return lack.wanted && !lack.is_never;
}

/* False: who would have to go has yet to be looked at, which may need moves in the ledger. */
static bool look(struct cache_look *v, node_id node, struct node_answer *e)
{
	int64_t lacks[RES_MAX];

	e->generation = v->nodes[node].generation;
	e->is_candidate = e->is_least = e->is_unkept = false;
	e->after = STATUS_NONE;
	return !filter(v, node, e, lacks) || (v->sums && look_at_sums(v, node, lacks, e));
}

/* ---- all nodes, with several threads ---- */

struct scan_thread {
	struct cache_look look;
	struct cede_cycle cycle;
	struct arena *arena;
};

struct scan_piece {		   /* some blocks, which one thread does */
	struct status_tally tally; /* the statuses of all, and behind them its own */
	ARRAY(uint32_t) left;	   /* indices of nodes that others may not be moved for meanwhile */
};

struct scan {
	uint32_t size; /* of a piece */
	struct scan_thread *threads;
	struct scan_piece *pieces;
};

static inline void scan_node(struct cache_look *v, struct scan_piece *p, uint32_t at)
{
	node_id node = v->c->nodes[at];
	struct node_answer *e = &v->memory->answers.v[node];

	e->cost.at = at;
	if ((!v->memory->nodes_version || e->generation != v->nodes[node].generation) && !look(v, node, e))
		array_push(&p->left, at);
	else
		answer_count(&p->tally, e, 1);
}

/* Blocks from and up to. */
static void scan_blocks(void *ctx, uint32_t thread, uint32_t from, uint32_t to)
{
	struct scan *s = ctx;
	struct scan_piece *p = &s->pieces[from / s->size];
	struct cache_look *v = &s->threads[thread].look;

	v->tally = &p->tally;
	forget_lacks(v);
	for (uint32_t b = from; b < to; b++) {
		for (uint32_t i = b * BLOCK_NODES; i < (b + 1) * BLOCK_NODES && i < v->c->n_nodes; i++)
			scan_node(v, p, i);
		answers_sum_up_block(&v->memory->answers, v->c->nodes, v->c->n_nodes, b);
	}
}

static void thread_init(struct scan_thread *t, const struct cache_look *v, struct arena *a)
{
	*t = (struct scan_thread){.look = *v, .cycle = *v->c, .arena = a};
	t->look.c = &t->cycle;
	t->cycle.arena = a;
	if (v->sums)
		t->look.lookup = displace_sums_lookup(v->sums, &t->cycle, &t->look.want, v->c->n_nodes);
}

/* It knows the statuses that are kept, under the same numbers, but counts from nothing. */
static void piece_init(struct scan_piece *p, const struct status_tally *t)
{
	*p = (struct scan_piece){0};
	array_reserve(&p->tally.v, t->v.n + 8);
	assert(p->tally.v.v && (t->v.v || !t->v.n));
	for (; p->tally.v.n < t->v.n; p->tally.v.n++)
		p->tally.v.v[p->tally.v.n] = (struct status_use){.s = t->v.v[p->tally.v.n].s};
}

/* Its own numbers of statuses become those of all. */
static void renumber(const struct cache_look *v, const uint32_t *number, uint32_t from, uint32_t to)
{
	for (uint32_t i = from * BLOCK_NODES; i < to * BLOCK_NODES && i < v->c->n_nodes; i++) {
		struct node_answer *e = &v->memory->answers.v[v->c->nodes[i]];

		if (!answer_fits(e))
			e->filter = number[e->filter];
		if (e->after != STATUS_NONE)
			e->after = number[e->after] & STATUS_NONE;
	}
}

/* Pieces come one after the other: what they say is the same whoever did them, and with any number of them. */
static void piece_merge(struct scan_piece *p, const struct cache_look *v, uint32_t from, uint32_t to)
{
	struct status_tally *t = &v->memory->answers.tally;
	uint32_t *number = arena_n(v->c->arena, p->tally.v.n + 1, uint32_t);
	bool is_same = true;

	for (uint32_t i = 0; i < p->tally.v.n; i++) {
		number[i] = i < t->v.n && status_same(&t->v.v[i].s, &p->tally.v.v[i].s)
				    ? i
				    : status_intern(t, &p->tally.v.v[i].s);
		is_same &= number[i] == i;
		t->v.v[number[i]].n_filter += p->tally.v.v[i].n_filter;
		t->v.v[number[i]].n_after += p->tally.v.v[i].n_after;
	}
	if (!is_same)
		renumber(v, number, from, to);
	array_free(&p->tally.v);
}

/* Where pods of groups are they may have to be moved in the ledger to know. */
static void look_at_left(const struct cache_look *v, struct scan_piece *p)
{
	struct answers *a = &v->memory->answers;

	for (uint32_t i = 0; i < p->left.n; i++) {
		struct node_answer *e = &a->v[v->c->nodes[p->left.v[i]]];

		look_closely(v, v->c->nodes[p->left.v[i]], e);
		answer_count(&a->tally, e, 1);
		answers_node_changed(a, p->left.v[i]);
	}
	array_free(&p->left);
}

static uint32_t count_changed(const struct cache_look *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->c->n_nodes; i++)
		n += v->memory->answers.v[v->c->nodes[i]].generation != v->nodes[v->c->nodes[i]].generation;
	return n;
}

static uint32_t scan_threads(const struct cache_look *v)
{
	uint32_t n = v->c->n_nodes;

	if (v->o->threads < 2 || spread_threads(v->o->threads, n, NODES_PER_THREAD) < 2)
		return 1;
	return spread_threads(v->o->threads, v->memory->nodes_version ? count_changed(v) : n, NODES_PER_THREAD);
}

static void scan_merge(const struct cache_look *v, struct scan *s, uint32_t n_pieces)
{
	struct answers *a = &v->memory->answers;

	for (uint32_t i = 0; i < a->tally.v.n; i++)
		a->tally.v.v[i].n_filter = a->tally.v.v[i].n_after = 0;
	for (uint32_t i = 0; i < n_pieces; i++)
		piece_merge(&s->pieces[i], v, i * s->size, (i + 1) * s->size);
	for (uint32_t i = 0; i < n_pieces; i++)
		look_at_left(v, &s->pieces[i]);
}

static void scan_all(struct cache_look *v)
{
	struct answers *a = &v->memory->answers;
	uint32_t n_threads = scan_threads(v), n_pieces;
	struct scan s = {.threads = arena_n(v->c->arena, n_threads, struct scan_thread)};

	answers_reset_blocks(a, v->c->n_nodes);
	s.size = spread_size(n_threads, a->blocks.n);
	n_pieces = (a->blocks.n + s.size - 1) / s.size;
	s.pieces = arena_n(v->c->arena, n_pieces, struct scan_piece);
	for (uint32_t i = 0; i < n_threads; i++)
		thread_init(&s.threads[i], v, n_threads > 1 ? arena_new(1 << 14) : v->c->arena);
	for (uint32_t i = 0; i < n_pieces; i++)
		piece_init(&s.pieces[i], &a->tally);
	v->memory->unkept.n = 0;
	spread_run(n_threads, a->blocks.n, s.size, scan_blocks, &s);
	scan_merge(v, &s, n_pieces);
	for (uint32_t i = 0; n_threads > 1 && i < n_threads; i++)
		arena_free(s.threads[i].arena);
	v->memory->nodes_version = framework_nodes_version(v->c->framework);
}

/* ---- those that changed ---- */

static void refresh(struct cache_look *v, node_id node)
{
	struct answers *a = &v->memory->answers;
	struct node_answer *e = node < a->n ? &a->v[node] : NULL;

	if (!e || e->is_unkept || e->generation == v->nodes[node].generation || e->cost.at >= v->c->n_nodes ||
	    v->c->nodes[e->cost.at] != node)
		return;
	answer_count(&a->tally, e, UINT32_MAX);
	if (!look(v, node, e))
		look_closely(v, node, e);
	answer_count(&a->tally, e, 1);
	answers_node_changed(a, e->cost.at);
}

/* Nothing in between is forgotten? */
static bool can_follow(const struct cache_look *v)
{
	const struct memory *m = v->memory;

	return m->nodes_version == framework_nodes_version(v->c->framework) &&
	       (m->changes == ledger_node_changes(v->c->ledger) ||
		ledger_node_change(v->c->ledger, m->changes) != NODE_NONE);
}

/*
 * What changed is copied first: looking at groups moves pods, which is written down too. Answers that do not last come
 * first, and are then known for this decision.
 */
static void follow(struct cache_look *v)
{
	struct memory *m = v->memory;
	uint32_t n_unkept = m->unkept.n, n = (uint32_t)(ledger_node_changes(v->c->ledger) - m->changes);
	node_id *changed = arena_n(v->c->arena, n_unkept + n + 1, node_id);

	for (uint32_t i = 0; i < n_unkept; i++) {
		changed[i] = m->unkept.v[i];
		m->answers.v[changed[i]].is_unkept = false;
	}
	for (uint32_t i = 0; i < n; i++)
		changed[n_unkept + i] = ledger_node_change(v->c->ledger, m->changes + i);
	m->unkept.n = 0;
	if (v->sums && n_unkept + n)
		v->lookup = displace_sums_lookup(v->sums, v->c, &v->want, n_unkept + n);
	for (uint32_t i = 0; i < n_unkept + n; i++)
		refresh(v, changed[i]);
}

static void look_at_nodes(struct cache_look *v)
{
	uint64_t changes = ledger_node_changes(v->c->ledger);

	if (can_follow(v))
		follow(v);
	else
		scan_all(v);
	v->memory->changes = changes;
	answers_sum_up_stale(&v->memory->answers, v->c->nodes, v->c->n_nodes);
}

/* ---- what comes of it ---- */

static void list_feasible(const struct cache_look *v, struct displace_cache_result *ret)
{
	const struct answers *a = &v->memory->answers;
	const struct cede_cycle *c = v->c;
	uint32_t n = 0;

	for (uint32_t b = 0; b < a->blocks.n; b++)
		n += a->blocks.v[b].n_feasible;
	ret->feasible = n ? arena_n(c->arena, n, node_id) : NULL;
	for (uint32_t b = 0; n && b < a->blocks.n; b++)
		for (uint32_t i = b * BLOCK_NODES;
		     a->blocks.v[b].n_feasible && i < (b + 1) * BLOCK_NODES && i < c->n_nodes; i++)
			if (answer_fits(&a->v[c->nodes[i]]))
				ret->feasible[ret->n_feasible++] = c->nodes[i];
}

static const struct status_count *tell_tally(const struct cache_look *v, bool is_after, uint32_t *ret_n)
{
	const struct status_tally *t = &v->memory->answers.tally;
	struct status_count *r = arena_n(v->c->arena, t->v.n + 1, struct status_count);

	*ret_n = 0;
	for (uint32_t i = 0; i < t->v.n; i++) {
		uint32_t n = is_after ? t->v.v[i].n_after : t->v.v[i].n_filter;

		if (n)
			r[(*ret_n)++] = (struct status_count){t->v.v[i].s, n};
	}
	return r;
}

static void settle(const struct cache_look *v, const struct answer_choice *ch, struct displace_cache_result *ret)
{
	const struct answers *a = &v->memory->answers;
	bool ignored;

	if (ch->best == UINT32_MAX) {
		ret->after = tell_tally(v, true, &ret->n_after);
		return;
	}
	ret->best = v->c->nodes[ch->best];
	ret->winner = eviction_order_displace(&v->cache->eviction_orders, v->c, v->o, &v->want, ret->best, &ignored);
	ret->tie = TIE_ONLY_ONE;
	if (ch->second != UINT32_MAX) {
		struct cost_difference d;

		ret->second = v->c->nodes[ch->second];
		d = cost_difference(&a->v[ret->best].cost, &a->v[ret->second].cost);
		ret->tie = d.by;
		ret->mine = d.mine;
		ret->theirs = d.theirs;
	}
}

bool displace_cache_run(struct displace_cache *s, struct cede_cycle *c, const struct displace_options *o,
			struct displace_cache_result *ret)
{
	struct cache_look v = {.cache = s, .c = c, .o = o, .stride = ledger_stride(c->ledger)};
	struct answer_choice ch = {.nodes = c->nodes, .n_nodes = c->n_nodes, .open = &s->open, .look = look_for_choice};

	if (!displace_is_fast(c) || !status_is_success(&c->pre_filter) || c->has_node_set || !c->n_nodes)
		return false;
	*ret = (struct displace_cache_result){.best = NODE_NONE, .second = NODE_NONE};
	v.memory = memory_for(s, c);
	v.tally = &v.memory->answers.tally;
	want_of(c, &v.want);
	forget_lacks(&v);
	v.nodes = ledger_node(c->ledger, 0);
	v.allocatable = ledger_node_allocatable(c->ledger, 0);
	v.used = ledger_node_used(c->ledger, 0);
	eviction_orders_fit(&s->eviction_orders, ledger_node_limit(c->ledger));
	v.sums = displace_sums_for(&s->sums, c, &v.want);
	look_at_nodes(&v);
	ret->refusals = tell_tally(&v, false, &ret->n_refusals);
	list_feasible(&v, ret);
	if (ret->n_feasible)
		return true;
	ch.answers = &v.memory->answers;
	ch.ctx = &v;
	answers_choose(&ch);
	settle(&v, &ch, ret);
	return true;
}
