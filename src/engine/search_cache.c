/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search_cache.h"

/* Kinds of waiting pods remembered: as many as there is room for so many nodes of each. */
enum { FILTERS_MIN = 24, FILTERS = 64, ENTRIES = 1 << 19 };

/* So few are bounded anew in less time than it takes to see what changed about them. */
enum { FEW_NODES = 64 };

enum { ANSWERS = 16, APART = UINT8_MAX }; /* different ones that are counted; one of more than that */

struct filter_memory {
	const struct framework *framework;
	shape_id shape;
	int32_t priority;
	bool minds;	     /* more than numbers */
	struct vocab *vocab; /* where the reference to the shape is; NULL: not in use */
	uint64_t last_use;
	/*
	 * In the order of nodes. Few different answers, many nodes, and most shapes are new: what has to be written
	 * for each node is what a shape costs.
	 */
	uint32_t n;
	uint64_t *generations;
	uint8_t *answers;     /* in counts; APART: in apart */
	uint8_t *leaving;     /* enum leaving_says */
	struct status *apart; /* NULL: none is */
	/* of all nodes together */
	uint64_t version, changes; /* of the list of nodes, and of nodes that were looked at; version 0: nothing */
	int64_t from_ns, until_ns; /* who leaves may be counted on from and until then, at least */
	uint32_t n_apart;
	struct status_count counts[ANSWERS]; /* of no node: the place is free */
	uint32_t n_soon;		     /* FITS_SOON, MAY_FIT_SOON or HAS_STUCK */
	struct bits feasible;		     /* places */
	struct bits open;		     /* numbers do not tell: they are asked every time */
	uint32_t n_feasible, n_possible;
	bool knows_possible;
	ARRAY(node_id) possible; /* unless all are */
	/* as in struct search; while all nodes are as they were, of pods with these labels, and ids mean the same */
	uint8_t *closed;
	uint32_t n_closed;
	labelset_id labelset;
	uint64_t reuses;
};

struct search_cache {
	bool keeps_nothing, keeps_of_few;
	struct search_scratch scratch;
	uint64_t clock;
	struct filter_memory filters[FILTERS];
	struct search_bounds *bounds;
};

struct search_cache *search_cache_new(void)
{
	struct search_cache *s = mem_alloc(sizeof(*s));

	s->bounds = search_bounds_new();
	return s;
}

void search_cache_keep_nothing(struct search_cache *s)
{
	s->keeps_nothing = true;
}

bool search_cache_looks_at_all(const struct search_cache *s)
{
	return s->keeps_nothing;
}

void search_cache_keep_of_few(struct search_cache *s)
{
	s->keeps_of_few = true;
}

bool search_cache_keeps_bounds(const struct search_cache *s, uint32_t n_nodes)
{
	return n_nodes > FEW_NODES || s->keeps_of_few;
}

struct search_bounds *search_cache_bounds(struct search_cache *s)
{
	return s->bounds;
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
	mem_free(m->generations);
	mem_free(m->answers);
	mem_free(m->leaving);
	mem_free(m->apart);
	bits_free(&m->feasible);
	bits_free(&m->open);
	array_free(&m->possible);
	mem_free(m->closed);
	*m = (struct filter_memory){0};
}

static bool filter_is_for(const struct filter_memory *m, const struct cede_cycle *c)
{
	return m->vocab && m->framework == c->framework && m->shape == c->p->shape && m->priority == c->priority &&
	       m->minds != displace_is_fast(c);
}

/* The memory for this kind of pod; the one not used for longest makes room. */
static struct filter_memory *filter_memory_for(struct search_cache *s, const struct cede_cycle *c)
{
	struct filter_memory *m = &s->filters[0];
	uint32_t n = ENTRIES / c->n_nodes;

	n = n < FILTERS_MIN ? FILTERS_MIN : n > FILTERS ? FILTERS : n;
	for (uint32_t i = 0; i < n && !filter_is_for(m, c); i++)
		if (filter_is_for(&s->filters[i], c) || s->filters[i].last_use < m->last_use)
			m = &s->filters[i];
	if (!filter_is_for(m, c)) {
		filter_forget(m);
		m->framework = c->framework;
		m->shape = c->p->shape;
		m->priority = c->priority;
		m->minds = !displace_is_fast(c);
		m->vocab = ledger_vocab(c->ledger);
		shape_keep(m->vocab, m->shape);
	}
	if (m->n < c->n_nodes) {
		m->generations = mem_resize(m->generations, c->n_nodes, sizeof(*m->generations));
		m->answers = mem_resize(m->answers, c->n_nodes, sizeof(*m->answers));
		m->leaving = mem_resize(m->leaving, c->n_nodes, sizeof(*m->leaving));
		m->n = c->n_nodes;
		m->version = 0;
	}
	m->last_use = ++s->clock;
	return m;
}

/* What those take who are leaving and can be counted on, into gone; and until when they can. */
static uint8_t sum_leaving(const struct cede_cycle *c, node_id node, int64_t *gone, int64_t *ret_until_ns)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	uint8_t says = 0;

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(c->ledger, n->pods.v[i]);
		int64_t until =
			p->obj->deleted_ns == TIME_NONE ? INT64_MAX : time_add(p->obj->deleted_ns, c->patience_ns);

		if (p->state != POD_LEAVING)
			continue;
		if (pod_is_stuck(p, c->now_ns, c->patience_ns)) {
			says |= HAS_STUCK;
			continue;
		}
		says |= HAS_LEAVING;
		*ret_until_ns = until < *ret_until_ns ? until : *ret_until_ns;
		cycle_add_usage(c, p, gone, 1);
	}
	return says;
}

/* ---- one node ---- */

struct asking { /* all nodes, for one pod */
	struct cede_cycle *c;
	struct want want;
	bool minds;
	bool by_numbers; /* room is the first thing that filters look at, beside the node's object */
	const struct ledger_node *nodes;
	const int64_t *has, *used, *leaving; /* of the first node */
	uint32_t stride;
};

static void asking_begin(struct asking *a, struct cede_cycle *c, bool minds)
{
	*a = (struct asking){.c = c,
			     .minds = minds,
			     .by_numbers = !minds || cycle_room_comes_first(c),
			     .nodes = ledger_node(c->ledger, 0),
			     .has = ledger_node_allocatable(c->ledger, 0),
			     .used = ledger_node_used(c->ledger, 0),
			     .leaving = ledger_node_leaving(c->ledger, 0),
			     .stride = ledger_stride(c->ledger)};
	want_of(c, &a->want);
}

/* What the pod lacks on a node where nobody's place is kept and that is right in itself. */
static inline struct lack lacks_on(const struct asking *a, node_id node)
{
	const int64_t *has = a->has + (size_t)node * a->stride, *used = a->used + (size_t)node * a->stride;
	struct lack lack = {0};

	for (uint32_t k = 0; k < a->want.n; k++) {
		res_id r = a->want.type[k];

		lack_note(&lack, &a->want, k, has[r], a->want.amount[k] - (has[r] - used[r]));
	}
	return lack;
}

/* Do numbers tell what cycle_fits says of the node, whenever it is asked? Who leaves makes it a matter of time. */
static inline bool numbers_tell(const struct asking *a, node_id node, struct lack *ret)
{
	if (!a->by_numbers || a->nodes[node].nominated.n || !cycle_passes_static(a->c, node) ||
	    a->leaving[(size_t)node * a->stride + RES_PODS])
		return false;
	*ret = lacks_on(a, node);
	return ret->wanted || !a->minds;
}

static struct status fits(const struct asking *a, node_id node)
{
	if (a->nodes[node].nominated.n || !cycle_passes_static(a->c, node))
		return cycle_fits(a->c, node);
	return lack_status(&a->want, lacks_on(a, node));
}

/* Of a pod that minds more than numbers: are they enough to refuse the node? Else all filters are asked. */
static struct status fits_all(struct cede_cycle *c, node_id node, bool *ret_is_open)
{
	struct status s;

	*ret_is_open = !cycle_is_full(c, node, &s);
	return *ret_is_open ? cycle_fits(c, node) : s;
}

/* Once those are gone who leave and can be counted on, which is so much. */
static uint8_t fits_soon(struct cede_cycle *c, node_id node, const int64_t *gone, bool minds)
{
	struct status soon;

	if (minds)
		return cycle_is_full_without(c, node, ledger_node_leaving(c->ledger, node)) ? 0 : MAY_FIT_SOON;
	soon = cycle_fits_without(c, node, gone);
	return status_is_success(&soon) ? FITS_SOON : 0;
}

struct asked { /* of one node */
	struct status says;
	bool is_open;
	uint8_t leaving;
	int64_t from_ns, until_ns;
};

static struct asked filter_ask(const struct asking *a, node_id node)
{
	struct cede_cycle *c = a->c;
	struct asked x = {.from_ns = INT64_MIN, .until_ns = INT64_MAX};
	int64_t gone[RES_MAX];

	x.says = a->minds ? fits_all(c, node, &x.is_open) : fits(a, node);
	if (ledger_node_leaving(c->ledger, node)[RES_PODS]) {
		memset(gone, 0, ledger_stride(c->ledger) * sizeof(*gone));
		x.leaving = sum_leaving(c, node, gone, &x.until_ns);
		x.from_ns = c->now_ns; /* without anybody who leaves, time does not matter */
	}
	if (x.leaving & HAS_LEAVING && x.says.verdict.code == CEDE_UNSCHEDULABLE)
		x.leaving |= fits_soon(c, node, gone, a->minds);
	return x;
}

/* ---- all answers together ---- */

static bool is_possible(const struct status *s)
{
	return s->verdict.code != CEDE_UNRESOLVABLE && s->verdict.code != CEDE_ERROR;
}

static const struct status *answer_at(const struct filter_memory *m, uint32_t i)
{
	return m->answers[i] == APART ? &m->apart[i] : &m->counts[m->answers[i]].s;
}

static uint8_t place_of(struct filter_memory *m, const struct status *s)
{
	uint8_t place = APART;

	for (uint32_t i = 0; i < ANSWERS; i++) {
		if (m->counts[i].count && status_same(&m->counts[i].s, s))
			return (uint8_t)i;
		if (!m->counts[i].count && place == APART)
			place = (uint8_t)i;
	}
	if (place != APART)
		m->counts[place].s = *s;
	return place;
}

static void keep_apart(struct filter_memory *m, uint32_t i, const struct status *s)
{
	if (!m->apart)
		m->apart = mem_resize(NULL, m->n, sizeof(*m->apart));
	m->apart[i] = *s;
}

static void add_answer(struct filter_memory *m, uint32_t i, const struct status *s)
{
	m->answers[i] = place_of(m, s);
	if (m->answers[i] == APART)
		keep_apart(m, i, s);
	else
		m->counts[m->answers[i]].count++;
	m->n_apart += m->answers[i] == APART;
	m->n_possible += is_possible(s);
	m->n_soon += (m->leaving[i] & (FITS_SOON | MAY_FIT_SOON | HAS_STUCK)) != 0;
	if (!status_is_success(s))
		return;
	m->n_feasible++;
	bits_set(&m->feasible, i);
}

static void drop_answer(struct filter_memory *m, uint32_t i)
{
	const struct status *s = answer_at(m, i);

	m->n_possible -= is_possible(s);
	m->n_soon -= (m->leaving[i] & (FITS_SOON | MAY_FIT_SOON | HAS_STUCK)) != 0;
	if (status_is_success(s)) {
		m->n_feasible--;
		bits_clear(&m->feasible, i);
	}
	if (m->answers[i] == APART)
		m->n_apart--;
	else
		m->counts[m->answers[i]].count--;
}

static void filter_look(struct filter_memory *m, const struct asking *a, uint32_t i)
{
	node_id node = a->c->nodes[i];
	struct asked x = filter_ask(a, node);

	m->generations[i] = a->nodes[node].generation;
	m->leaving[i] = x.leaving;
	add_answer(m, i, &x.says);
	if (x.is_open)
		bits_set(&m->open, i);
	else
		bits_clear(&m->open, i);
	m->from_ns = x.from_ns > m->from_ns ? x.from_ns : m->from_ns;
	m->until_ns = x.until_ns < m->until_ns ? x.until_ns : m->until_ns;
}

static bool is_good(const struct filter_memory *m, const struct asking *a, uint32_t i)
{
	return !bits_has(&m->open, i) && m->generations[i] == a->nodes[a->c->nodes[i]].generation;
}

/* One node that changed or is open; the others are good. */
static void look_again(struct filter_memory *m, const struct asking *a, uint32_t i)
{
	bool was_possible = is_possible(answer_at(m, i));

	if (is_good(m, a, i))
		return;
	drop_answer(m, i);
	filter_look(m, a, i);
	m->knows_possible &= is_possible(answer_at(m, i)) == was_possible;
}

static void forget_answers(struct filter_memory *m)
{
	memset(m->counts, 0, sizeof(m->counts));
	m->n_apart = m->n_soon = m->n_feasible = m->n_possible = 0;
	bits_reset(&m->feasible);
	bits_reset(&m->open);
	mem_free(m->apart);
	m->apart = NULL;
	m->knows_possible = false;
	m->from_ns = INT64_MIN;
	m->until_ns = INT64_MAX;
}

/* Most nodes are full, and lack what the one before them does: then one more says the same. */
static void look_at_all(struct filter_memory *m, const struct asking *a)
{
	const struct cede_cycle *c = a->c;
	struct lack lack, last = {0};
	uint8_t said = APART;

	forget_answers(m);
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		struct status s;

		if (!numbers_tell(a, c->nodes[i], &lack)) {
			filter_look(m, a, i);
			continue;
		}
		m->generations[i] = a->nodes[c->nodes[i]].generation;
		m->leaving[i] = 0;
		if (said != APART && lack.wanted == last.wanted && lack.is_never == last.is_never) {
			m->answers[i] = said;
			m->counts[said].count++;
			m->n_possible += !lack.is_never;
			continue;
		}
		s = lack_status(&a->want, lack);
		add_answer(m, i, &s);
		said = lack.wanted ? m->answers[i] : APART; /* of who has room, the place is noted too */
		last = lack;
	}
	m->version = framework_nodes_version(c->framework);
	m->changes = ledger_node_changes(c->ledger);
}

/* Of other nodes it is said at any time. */
static void look_at_leaving(struct filter_memory *m, const struct asking *a)
{
	m->from_ns = INT64_MIN;
	m->until_ns = INT64_MAX;
	for (uint32_t i = 0; i < a->c->n_nodes; i++) {
		if (!m->leaving[i])
			continue;
		m->generations[i] = 0;
		look_again(m, a, i);
	}
}

/* Only the nodes that changed, where the list of nodes allows it, or do with time. Returns whether none did. */
static bool follow(struct filter_memory *m, struct cede_cycle *c)
{
	uint64_t n = ledger_node_changes(c->ledger);
	bool is_same = true, is_of_time = c->now_ns < m->from_ns || c->now_ns >= m->until_ns;
	struct asking a;

	asking_begin(&a, c, m->minds);
	if (m->version != framework_nodes_version(c->framework) ||
	    (m->changes < n && ledger_node_change(c->ledger, m->changes) == NODE_NONE)) {
		look_at_all(m, &a);
		return false;
	}
	for (; m->changes < n; m->changes++) {
		node_id node = ledger_node_change(c->ledger, m->changes);
		uint32_t i = framework_place(c->framework, node);

		is_same &= i != UINT32_MAX && m->generations[i] == a.nodes[node].generation;
		if (i != UINT32_MAX && !bits_has(&m->open, i))
			look_again(m, &a, i);
	}
	if (is_of_time)
		look_at_leaving(m, &a);
	for (uint32_t i = bits_next(&m->open, 0); i != UINT32_MAX; i = bits_next(&m->open, i + 1))
		look_again(m, &a, i);
	return is_same && !is_of_time;
}

/* Constraints that the pod does not write itself depend on more. */
static void begin_closed(struct filter_memory *m, const struct cede_cycle *c, bool is_same)
{
	uint32_t n = ledger_node_limit(c->ledger);
	uint64_t reuses = vocab_reuses(c->vocab);

	if (is_same && m->n_closed == n && m->labelset == c->p->labelset && m->reuses == reuses && c->shape->n_spreads)
		return;
	m->closed = mem_resize(m->closed, n + 1, sizeof(*m->closed));
	memset(m->closed, 0, n + 1);
	m->n_closed = n;
	m->labelset = c->p->labelset;
	m->reuses = reuses;
}

static const node_id *list_possible(struct filter_memory *m, const struct cede_cycle *c)
{
	if (m->n_possible == c->n_nodes)
		return c->nodes;
	if (m->knows_possible)
		return m->possible.v;
	m->possible.n = 0;
	array_reserve(&m->possible, m->n_possible + 1);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (is_possible(answer_at(m, i)))
			m->possible.v[m->possible.n++] = c->nodes[i];
	m->knows_possible = true;
	return m->possible.v;
}

static void list_answers(const struct filter_memory *m, const struct cede_cycle *c, struct search_cache_filters *ret)
{
	struct status_count *counts = arena_n(c->arena, ANSWERS, struct status_count);

	for (uint32_t i = 0; i < ANSWERS; i++)
		if (m->counts[i].count)
			counts[ret->n_counts++] = m->counts[i];
	ret->counts = counts;
	if (!m->n_apart)
		return;
	ret->n_counts = 0;
	ret->statuses = arena_n(c->arena, c->n_nodes, struct status);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		ret->statuses[i] = *answer_at(m, i);
}

static node_id *list_feasible(const struct filter_memory *m, const struct cede_cycle *c)
{
	node_id *v = arena_n(c->arena, m->n_feasible + 1, node_id);
	uint32_t n = 0;

	for (uint32_t i = bits_next(&m->feasible, 0); i != UINT32_MAX; i = bits_next(&m->feasible, i + 1))
		v[n++] = c->nodes[i];
	return v;
}

static bool can_be_kept(const struct cede_cycle *c)
{
	return (displace_is_fast(c) || !c->moves_all) && status_is_success(&c->pre_filter) && !c->has_node_set &&
	       c->n_nodes;
}

bool search_cache_filter(struct search_cache *s, struct cede_cycle *c, struct search_cache_filters *ret)
{
	struct filter_memory *m;
	bool is_same;

	if (s->keeps_nothing || !can_be_kept(c))
		return false;
	m = filter_memory_for(s, c);
	is_same = follow(m, c);
	if (m->minds)
		begin_closed(m, c, is_same);
	*ret = (struct search_cache_filters){.memory = m,
					     .leaving = m->leaving,
					     .has_soon = m->n_soon > 0,
					     .n_feasible = m->n_feasible,
					     .feasible = m->n_feasible ? list_feasible(m, c) : NULL,
					     .n_possible = m->n_possible,
					     .possible = list_possible(m, c),
					     .closed = m->closed};
	list_answers(m, c, ret);
	return true;
}

enum cede_code search_cache_code(const struct search_cache_filters *f, uint32_t i)
{
	return answer_at(f->memory, i)->verdict.code;
}

void search_cache_free(struct search_cache *s)
{
	if (!s)
		return;
	for (int i = 0; i < FILTERS; i++)
		filter_forget(&s->filters[i]);
	search_bounds_free(s->bounds);
	search_scratch_free(&s->scratch);
	mem_free(s);
}
