/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search_cache.h"

enum { FILTERS = 8, SEARCHES = 16 }; /* kinds of waiting pods, and of searches for them, remembered */

struct filter_entry {
	uint64_t generation; /* 0: nothing known */
	node_id node;
};

struct filter_memory {
	const struct framework *framework;
	shape_id shape;
	int32_t priority;
	struct vocab *vocab; /* where the reference to the shape is; NULL: not in use */
	uint64_t last_use;
	uint32_t n;
	struct filter_entry *entries; /* in the order of nodes */
	struct status *statuses;
	bool *has_leaving;
};

struct kind { /* what a search is for */
	const struct framework *framework;
	shape_id shape;
	int32_t priority;
	queue_id queue;
	name_id app, ns; /* held; no application: neither */
	enum action action;
	bool with_opted_out;
};

struct state { /* what all entries depend on */
	int64_t now_ns;
	uint64_t tree, budgets, entitled;
	uint32_t stride;
	int64_t capacity[RES_MAX];
};

struct watch { /* a queue that entries depend on */
	queue_id queue;
	bool is_guard; /* its use counts, in row */
	bool is_roomy; /* but not exactly */
	bool has_apps; /* its pods count */
	uint64_t members;
	int64_t row[RES_MAX];
};

struct search_cache_memory {
	struct kind kind;
	struct state state;
	const struct ledger *ledger;
	struct vocab *vocab; /* NULL: not in use */
	uint64_t last_use;
	uint32_t n;
	struct search_cache_entry *entries; /* by node id */
	ARRAY(struct watch) watches;
	struct map by_queue;
	int64_t need[RES_MAX]; /* the most that is used on one node */
	queue_id last_queue;   /* of search_cache_watch, and what it said */
	bool last_has_app;
	uint64_t last_bits;
};

struct search_cache {
	bool keeps_nothing;
	struct search_scratch scratch;
	uint64_t clock;
	struct filter_memory filters[FILTERS];
	struct search_cache_memory searches[SEARCHES];
};

struct search_cache *search_cache_new(void)
{
	return mem_alloc(sizeof(struct search_cache));
}

void search_cache_keep_nothing(struct search_cache *s)
{
	s->keeps_nothing = true;
}

struct search_scratch *search_cache_scratch(struct search_cache *s)
{
	return &s->scratch;
}

/* ---- filters ---- */

static void filter_forget(struct filter_memory *m)
{
	if (m->vocab)
		shape_drop(m->vocab, m->shape);
	mem_free(m->entries);
	mem_free(m->statuses);
	mem_free(m->has_leaving);
	*m = (struct filter_memory){0};
}

static bool filter_is_for(const struct filter_memory *m, const struct cede_cycle *c)
{
	return m->vocab && m->framework == c->framework && m->shape == c->p->shape && m->priority == c->priority;
}

/* The memory for this kind of pod; the one not used for longest makes room. */
static struct filter_memory *filter_memory_for(struct search_cache *s, const struct cede_cycle *c)
{
	struct filter_memory *m = &s->filters[0];

	for (int i = 0; i < FILTERS && !filter_is_for(m, c); i++)
		if (filter_is_for(&s->filters[i], c) || s->filters[i].last_use < m->last_use)
			m = &s->filters[i];
	if (!filter_is_for(m, c)) {
		filter_forget(m);
		m->framework = c->framework;
		m->shape = c->p->shape;
		m->priority = c->priority;
		m->vocab = ledger_vocab(c->ledger);
		shape_keep(m->vocab, m->shape);
	}
	if (m->n < c->n_nodes) {
		m->entries = mem_resize(m->entries, c->n_nodes, sizeof(*m->entries));
		memset(m->entries + m->n, 0, (c->n_nodes - m->n) * sizeof(*m->entries));
		m->statuses = mem_resize(m->statuses, c->n_nodes, sizeof(*m->statuses));
		m->has_leaving = mem_resize(m->has_leaving, c->n_nodes, sizeof(*m->has_leaving));
		m->n = c->n_nodes;
	}
	m->last_use = ++s->clock;
	return m;
}

static void filter_look(struct filter_memory *m, struct cede_cycle *c, uint32_t i)
{
	const struct ledger_node *n = ledger_node(c->ledger, c->nodes[i]);

	m->statuses[i] = cycle_fits(c, c->nodes[i]);
	m->has_leaving[i] = ledger_node_leaving(c->ledger, c->nodes[i])[RES_PODS] != 0;
	/* who is patient no longer gives another answer: that depends on the time */
	m->entries[i] = (struct filter_entry){n->nominated.n && m->has_leaving[i] ? 0 : n->generation, c->nodes[i]};
}

static bool can_be_kept(const struct cede_cycle *c)
{
	return displace_is_fast(c) && status_is_success(&c->pre_filter) && !c->has_node_set && c->n_nodes;
}

bool search_cache_filter(struct search_cache *s, struct cede_cycle *c, struct search_cache_filters *ret)
{
	const struct ledger_node *nodes;
	struct filter_memory *m;

	if (s->keeps_nothing || !can_be_kept(c))
		return false;
	m = filter_memory_for(s, c);
	*ret = (struct search_cache_filters){.statuses = m->statuses, .has_leaving = m->has_leaving};
	nodes = ledger_node(c->ledger, 0);
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const struct filter_entry *e = &m->entries[i];

		if (e->node != c->nodes[i] || e->generation != nodes[c->nodes[i]].generation)
			filter_look(m, c, i);
		if (!status_is_success(&m->statuses[i]))
			continue;
		if (!ret->feasible)
			ret->feasible = arena_n(c->arena, c->n_nodes, node_id);
		ret->feasible[ret->n_feasible++] = c->nodes[i];
	}
	return true;
}

/* ---- memories of searches ---- */

static void empty(struct search_cache_memory *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		mem_free(m->entries[i].protected);
	if (m->n)
		memset(m->entries, 0, m->n * sizeof(*m->entries));
	m->watches.n = 0;
	map_free(&m->by_queue);
	memset(m->need, 0, sizeof(m->need));
	m->last_queue = QUEUE_NONE;
}

static void forget(struct search_cache_memory *m)
{
	empty(m);
	if (m->vocab) {
		shape_drop(m->vocab, m->kind.shape);
		names_drop(vocab_names(m->vocab), m->kind.app);
		names_drop(vocab_names(m->vocab), m->kind.ns);
	}
	mem_free(m->entries);
	array_free(&m->watches);
	*m = (struct search_cache_memory){.last_queue = QUEUE_NONE};
}

void search_cache_free(struct search_cache *s)
{
	if (!s)
		return;
	for (int i = 0; i < FILTERS; i++)
		filter_forget(&s->filters[i]);
	for (int i = 0; i < SEARCHES; i++)
		forget(&s->searches[i]);
	search_scratch_free(&s->scratch);
	mem_free(s);
}

static struct kind kind_of(const struct search *search)
{
	const struct cede_cycle *c = search->c;
	bool has_app = search->j->app != NAME_NONE;

	return (struct kind){.framework = c->framework,
			     .shape = c->p->shape,
			     .priority = c->priority,
			     .queue = c->p->queue,
			     .app = has_app ? search->j->app : NAME_NONE,
			     .ns = has_app ? search->j->ns : NAME_NONE,
			     .action = search->j->action,
			     .with_opted_out = search->with_opted_out};
}

static bool is_for(const struct search_cache_memory *m, const struct kind *k)
{
	const struct kind *a = &m->kind;

	return m->vocab && a->framework == k->framework && a->shape == k->shape && a->priority == k->priority &&
	       a->queue == k->queue && a->app == k->app && a->ns == k->ns && a->action == k->action &&
	       a->with_opted_out == k->with_opted_out;
}

static struct search_cache_memory *memory_for(struct search_cache *s, const struct ledger *l, const struct kind *k)
{
	struct search_cache_memory *m = &s->searches[0];
	uint32_t n = ledger_node_limit(l);

	for (int i = 0; i < SEARCHES && !is_for(m, k); i++)
		if (is_for(&s->searches[i], k) || s->searches[i].last_use < m->last_use)
			m = &s->searches[i];
	if (!is_for(m, k)) {
		forget(m);
		m->kind = *k;
		m->vocab = ledger_vocab(l);
		shape_keep(m->vocab, k->shape);
		names_keep(vocab_names(m->vocab), k->app);
		names_keep(vocab_names(m->vocab), k->ns);
	}
	if (m->n < n) {
		m->entries = mem_resize(m->entries, n, sizeof(*m->entries));
		memset(m->entries + m->n, 0, (n - m->n) * sizeof(*m->entries));
		m->n = n;
	}
	m->ledger = l;
	m->last_use = ++s->clock;
	return m;
}

/* ---- what all entries depend on ---- */

/* Law 4, and where it refuses the numbers it does so with. */
static uint64_t entitlement(const struct judge *j)
{
	uint64_t h = 0;

	for (queue_id q = j->p->queue; q != QUEUE_NONE; q = queue_get(j->tree, q)->parent) {
		const int64_t *used = ledger_queue_used(j->ledger, q), *reserved = ledger_queue_reserved(j->ledger, q);

		for (uint64_t left = queue_get(j->tree, q)->spec.guaranteed.mask & j->asked; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);
			int64_t held = used[r] + reserved[r];

			h = hash_mix(h,
				     held >= queue_guarantee(queue_get(j->tree, q), r) ? (uint64_t)held : UINT64_MAX);
		}
	}
	return h;
}

static void state_of(const struct search *search, struct state *ret)
{
	const struct ledger *l = search->c->ledger;

	*ret = (struct state){.now_ns = search->c->now_ns,
			      .tree = ledger_tree_generation(l),
			      .budgets = ledger_budget_generation(l),
			      .entitled = search->j->action == ACTION_RECLAIM ? entitlement(search->j) : 0,
			      .stride = ledger_stride(l)};
	memcpy(ret->capacity, ledger_capacity(l), ret->stride * sizeof(*ret->capacity));
}

static bool same_state(const struct state *a, const struct state *b)
{
	return a->now_ns == b->now_ns && a->tree == b->tree && a->budgets == b->budgets && a->entitled == b->entitled &&
	       a->stride == b->stride && !memcmp(a->capacity, b->capacity, a->stride * sizeof(*a->capacity));
}

/* ---- what some entries depend on ---- */

/* Does no law speak for it, whatever goes on one node? */
static bool is_roomy(const struct search_cache_memory *m, queue_id q)
{
	const struct queue *queue = queue_get(ledger_queues(m->ledger), q);
	const int64_t *used = ledger_queue_used(m->ledger, q);

	for (uint64_t left = queue->spec.guaranteed.mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t g = queue_guarantee(queue, r);

		if (g > 0 && (used[r] <= g || used[r] - m->need[r] < g))
			return false;
	}
	return true;
}

static bool has_changed(const struct search_cache_memory *m, const struct watch *w)
{
	bool now_roomy;

	if (w->has_apps && w->members != ledger_queue_members(m->ledger, w->queue))
		return true;
	if (!w->is_guard)
		return false;
	now_roomy = is_roomy(m, w->queue);
	return now_roomy != w->is_roomy || (!now_roomy && memcmp(w->row, ledger_queue_used(m->ledger, w->queue),
								 m->state.stride * sizeof(*w->row)) != 0);
}

static void drop_changed(struct search_cache_memory *m)
{
	uint64_t changed = 0;

	for (uint32_t i = 0; i < m->watches.n; i++)
		if (has_changed(m, &m->watches.v[i]))
			changed |= UINT64_C(1) << (i % 64);
	for (uint32_t i = 0; changed && i < m->n; i++)
		if (m->entries[i].watches & changed)
			m->entries[i].generation = 0;
}

static uint64_t watch(struct search_cache_memory *m, queue_id q, bool is_guard, bool has_apps)
{
	uint32_t at = map_get(&m->by_queue, q);

	if (at == MAP_NONE) {
		struct watch new = {.queue = q};

		at = m->watches.n;
		array_push(&m->watches, new);
		map_put(&m->by_queue, q, at);
	}
	m->watches.v[at].is_guard |= is_guard;
	m->watches.v[at].has_apps |= has_apps;
	return UINT64_C(1) << (at % 64);
}

uint64_t search_cache_watch(struct search_cache_memory *m, struct judge *j, const struct pod *p)
{
	bool has_app = p->obj->app != NAME_NONE;
	const struct victim_queue *o;

	if (p->queue == m->last_queue && (m->last_has_app || !has_app))
		return m->last_bits;
	o = judge_queue(j, p->queue);
	m->last_queue = p->queue;
	m->last_has_app = has_app;
	m->last_bits = has_app ? watch(m, p->queue, false, true) : 0;
	for (uint32_t i = 0; i < o->n_guards; i++)
		m->last_bits |= watch(m, o->guards[i], true, false);
	return m->last_bits;
}

/* ---- the search ---- */

struct search_cache_memory *search_cache_begin(struct search_cache *s, const struct search *search)
{
	struct kind kind = kind_of(search);
	struct search_cache_memory *m;
	struct state state;

	if (s->keeps_nothing || search->lacking || search->reports || !search->protected ||
	    search->j->p->group != GROUP_NONE || search->j->action == ACTION_REQUIRED_NODE || !can_be_kept(search->c))
		return NULL;
	m = memory_for(s, search->c->ledger, &kind);
	state_of(search, &state);
	if (!same_state(&m->state, &state))
		empty(m);
	m->state = state;
	drop_changed(m);
	return m;
}

const struct search_cache_entry *search_cache_known(const struct search_cache_memory *m, node_id node,
						    bool with_protected)
{
	const struct search_cache_entry *e = &m->entries[node];

	return e->generation && e->generation == ledger_node(m->ledger, node)->generation &&
			       (e->has_protected || !with_protected)
		       ? e
		       : NULL;
}

void search_cache_learn(struct search_cache_memory *m, node_id node, const struct search_cache_entry *what)
{
	struct search_cache_entry *e = &m->entries[node];
	const int64_t *used = ledger_node_used(m->ledger, node);

	mem_free(e->protected);
	*e = *what;
	e->protected = NULL;
	if (e->n_protected && e->has_protected) {
		e->protected = mem_alloc(e->n_protected * sizeof(*e->protected));
		memcpy(e->protected, what->protected, e->n_protected * sizeof(*e->protected));
	}
	for (uint32_t r = 0; r < m->state.stride; r++)
		m->need[r] = used[r] > m->need[r] ? used[r] : m->need[r];
}

/* Only now is it known how much is used on one node at most. */
void search_cache_end(struct search_cache_memory *m)
{
	for (uint32_t i = 0; i < m->watches.n; i++) {
		struct watch *w = &m->watches.v[i];

		w->members = ledger_queue_members(m->ledger, w->queue);
		w->is_roomy = is_roomy(m, w->queue);
		memcpy(w->row, ledger_queue_used(m->ledger, w->queue), m->state.stride * sizeof(*w->row));
	}
}
