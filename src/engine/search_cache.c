/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search_cache.h"

/* Kinds of waiting pods remembered: as many as there is room for so many nodes of each. */
enum { FILTERS_MIN = 24, FILTERS = 64, ENTRIES = 1 << 19 };

/* So few are bounded anew in less time than it takes to see what changed about them. */
enum { FEW_NODES = 64 };

enum { ANSWERS = 16 }; /* different ones that are counted */

struct filter_entry {
	uint64_t generation; /* 0: nothing known */
	node_id node;
	int64_t from_ns, until_ns; /* when: who leaves may be counted on until then */
	bool is_open;		   /* numbers do not tell: it is asked every time */
};

struct filter_memory {
	const struct framework *framework;
	shape_id shape;
	int32_t priority;
	bool minds;	     /* more than numbers */
	struct vocab *vocab; /* where the reference to the shape is; NULL: not in use */
	uint64_t last_use;
	uint32_t n;
	struct filter_entry *entries; /* in the order of nodes */
	struct status *statuses;
	uint8_t *leaving; /* enum leaving_says */
	/* of all entries together */
	uint64_t version, changes; /* of the list of nodes, and of nodes that were looked at; version 0: nothing */
	int64_t from_ns, until_ns; /* all of them are good from and until then, at least */
	uint32_t n_counts;	   /* more than ANSWERS: not counted */
	struct status_count counts[ANSWERS];
	uint32_t n_soon;	    /* FITS_SOON, MAY_FIT_SOON or HAS_STUCK */
	struct bits feasible, open; /* places */
	uint32_t n_feasible;
	bool knows_possible;
	ARRAY(node_id) possible;
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
	mem_free(m->entries);
	mem_free(m->statuses);
	mem_free(m->leaving);
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
		m->entries = mem_resize(m->entries, c->n_nodes, sizeof(*m->entries));
		memset(m->entries + m->n, 0, (c->n_nodes - m->n) * sizeof(*m->entries));
		m->statuses = mem_resize(m->statuses, c->n_nodes, sizeof(*m->statuses));
		m->leaving = mem_resize(m->leaving, c->n_nodes, sizeof(*m->leaving));
		m->n = c->n_nodes;
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

/* What cycle_fits says of a node, by numbers alone where nobody's place there is kept and the node itself is right. */
static struct status fits(struct cede_cycle *c, const struct want *w, node_id node)
{
	const int64_t *has = ledger_node_allocatable(c->ledger, node), *used = ledger_node_used(c->ledger, node);
	uint64_t lacking = 0;
	bool never = false; /* not even if it were empty; of pods that is not said */

	if (ledger_node(c->ledger, node)->nominated.n || !cycle_passes_static(c, node))
		return cycle_fits(c, node);
	for (uint32_t k = 0; k < w->n; k++) {
		res_id r = w->type[k];

		lacking |= (uint64_t)(w->amount[k] > has[r] - used[r]) << r;
		never |= r != RES_PODS && w->amount[k] > has[r];
	}
	if (!lacking)
		return (struct status){cede_ok(), PLUGIN_FRAMEWORK};
	return (struct status){cede_answer(never ? CEDE_UNRESOLVABLE : CEDE_UNSCHEDULABLE, 0, lacking), w->fit_plugin};
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

static struct filter_entry filter_ask(struct cede_cycle *c, const struct want *w, uint32_t i, bool minds,
				      struct status *ret, uint8_t *ret_leaving)
{
	node_id node = c->nodes[i];
	struct filter_entry e = {ledger_node(c->ledger, node)->generation, node, INT64_MIN, INT64_MAX, false};
	int64_t gone[RES_MAX];

	*ret = minds ? fits_all(c, node, &e.is_open) : fits(c, w, node);
	*ret_leaving = 0;
	if (ledger_node_leaving(c->ledger, node)[RES_PODS]) {
		memset(gone, 0, ledger_stride(c->ledger) * sizeof(*gone));
		*ret_leaving = sum_leaving(c, node, gone, &e.until_ns);
		e.from_ns = c->now_ns; /* without anybody who leaves, time does not matter */
	}
	if (*ret_leaving & HAS_LEAVING && ret->verdict.code == CEDE_UNSCHEDULABLE)
		*ret_leaving |= fits_soon(c, node, gone, minds);
	return e;
}

/* ---- all answers together ---- */

static bool is_possible(const struct status *s)
{
	return s->verdict.code != CEDE_UNRESOLVABLE && s->verdict.code != CEDE_ERROR;
}

static void count_answer(struct filter_memory *m, const struct status *s, int32_t by)
{
	uint32_t i = 0;

	if (m->n_counts > ANSWERS)
		return;
	while (i < m->n_counts && !status_same(&m->counts[i].s, s))
		i++;
	if (i == m->n_counts) {
		m->n_counts++;
		if (i == ANSWERS)
			return;
		m->counts[i] = (struct status_count){*s, 0};
	}
	m->counts[i].count += (uint32_t)by;
	if (!m->counts[i].count)
		m->counts[i] = m->counts[--m->n_counts];
}

static void count_entry(struct filter_memory *m, uint32_t i, int32_t by)
{
	count_answer(m, &m->statuses[i], by);
	m->n_soon += m->leaving[i] & (FITS_SOON | MAY_FIT_SOON | HAS_STUCK) ? (uint32_t)by : 0;
	if (!status_is_success(&m->statuses[i]))
		return;
	m->n_feasible += (uint32_t)by;
	if (by > 0)
		bits_set(&m->feasible, i);
	else
		bits_clear(&m->feasible, i);
}

static bool is_good(const struct filter_entry *e, const struct cede_cycle *c, uint32_t i)
{
	return !e->is_open && e->node == c->nodes[i] &&
	       e->generation == ledger_node(c->ledger, c->nodes[i])->generation && c->now_ns >= e->from_ns &&
	       c->now_ns < e->until_ns;
}

static void filter_look(struct filter_memory *m, struct cede_cycle *c, const struct want *w, uint32_t i)
{
	m->entries[i] = filter_ask(c, w, i, m->minds, &m->statuses[i], &m->leaving[i]);
	if (m->entries[i].is_open)
		bits_set(&m->open, i);
	else
		bits_clear(&m->open, i);
}

/* One node that changed or is open; the others are good. */
static void look_again(struct filter_memory *m, struct cede_cycle *c, const struct want *w, uint32_t i)
{
	bool was_possible = is_possible(&m->statuses[i]);

	if (is_good(&m->entries[i], c, i))
		return;
	count_entry(m, i, -1);
	filter_look(m, c, w, i);
	count_entry(m, i, 1);
	m->knows_possible &= is_possible(&m->statuses[i]) == was_possible;
	m->from_ns = m->entries[i].from_ns > m->from_ns ? m->entries[i].from_ns : m->from_ns;
	m->until_ns = m->entries[i].until_ns < m->until_ns ? m->entries[i].until_ns : m->until_ns;
}

static void look_at_all(struct filter_memory *m, struct cede_cycle *c, const struct want *w)
{
	m->n_counts = m->n_soon = m->n_feasible = 0;
	bits_reset(&m->feasible);
	m->knows_possible = false;
	m->from_ns = INT64_MIN;
	m->until_ns = INT64_MAX;
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const struct filter_entry *e = &m->entries[i];

		if (!is_good(e, c, i))
			filter_look(m, c, w, i);
		count_entry(m, i, 1);
		m->from_ns = e->from_ns > m->from_ns ? e->from_ns : m->from_ns;
		m->until_ns = e->until_ns < m->until_ns ? e->until_ns : m->until_ns;
	}
	m->version = framework_nodes_version(c->framework);
	m->changes = ledger_node_changes(c->ledger);
}

/* Only the nodes that changed, where the list of nodes and the time allow it. Returns whether none did. */
static bool follow(struct filter_memory *m, struct cede_cycle *c)
{
	uint64_t n = ledger_node_changes(c->ledger);
	bool is_same = true;
	struct want want;

	want_of(c, &want);
	if (m->version != framework_nodes_version(c->framework) || c->now_ns < m->from_ns || c->now_ns >= m->until_ns ||
	    (m->changes < n && ledger_node_change(c->ledger, m->changes) == NODE_NONE)) {
		look_at_all(m, c, &want);
		return false;
	}
	for (; m->changes < n; m->changes++) {
		node_id node = ledger_node_change(c->ledger, m->changes);
		uint32_t i = framework_place(c->framework, node);

		is_same &= i != UINT32_MAX && m->entries[i].generation == ledger_node(c->ledger, node)->generation;
		if (i != UINT32_MAX && !bits_has(&m->open, i))
			look_again(m, c, &want, i);
	}
	for (uint32_t i = bits_next(&m->open, 0); i != UINT32_MAX; i = bits_next(&m->open, i + 1))
		look_again(m, c, &want, i);
	return is_same;
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

static void list_possible(struct filter_memory *m, const struct cede_cycle *c)
{
	if (m->knows_possible)
		return;
	m->possible.n = 0;
	array_reserve(&m->possible, c->n_nodes);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		if (is_possible(&m->statuses[i]))
			m->possible.v[m->possible.n++] = c->nodes[i];
	m->knows_possible = true;
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
	list_possible(m, c);
	*ret = (struct search_cache_filters){.statuses = m->statuses,
					     .counts = m->n_counts > ANSWERS ? NULL : m->counts,
					     .n_counts = m->n_counts,
					     .leaving = m->leaving,
					     .has_soon = m->n_soon > 0,
					     .n_feasible = m->n_feasible,
					     .feasible = m->n_feasible ? list_feasible(m, c) : NULL,
					     .n_possible = m->possible.n,
					     .possible = m->possible.v,
					     .closed = m->closed};
	return true;
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
