/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/search_cache.h"

/* Kinds of waiting pods remembered: as many as there is room for so many nodes of each. */
enum { FILTERS_MIN = 24, FILTERS = 64, ENTRIES = 1 << 19 };

struct filter_entry {
	uint64_t generation; /* 0: nothing known */
	node_id node;
	int64_t from_ns, until_ns; /* when: who leaves may be counted on until then */
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
	uint8_t *leaving; /* enum leaving_says */
};

struct search_cache {
	bool keeps_nothing;
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

static void filter_look(struct filter_memory *m, struct cede_cycle *c, uint32_t i)
{
	struct filter_entry e = {ledger_node(c->ledger, c->nodes[i])->generation, c->nodes[i], c->now_ns, INT64_MAX};
	int64_t gone[RES_MAX];
	struct status soon;

	m->statuses[i] = cycle_fits(c, c->nodes[i]);
	m->leaving[i] = 0;
	if (ledger_node_leaving(c->ledger, c->nodes[i])[RES_PODS]) {
		memset(gone, 0, ledger_stride(c->ledger) * sizeof(*gone));
		m->leaving[i] = sum_leaving(c, c->nodes[i], gone, &e.until_ns);
	}
	if (m->leaving[i] & HAS_LEAVING && m->statuses[i].verdict.code == CEDE_UNSCHEDULABLE) {
		soon = cycle_fits_without(c, c->nodes[i], gone);
		m->leaving[i] |= status_is_success(&soon) ? FITS_SOON : 0;
	}
	m->entries[i] = e;
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
	*ret = (struct search_cache_filters){.statuses = m->statuses, .leaving = m->leaving};
	nodes = ledger_node(c->ledger, 0);
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		const struct filter_entry *e = &m->entries[i];

		if (e->node != c->nodes[i] || e->generation != nodes[c->nodes[i]].generation ||
		    c->now_ns < e->from_ns || c->now_ns >= e->until_ns)
			filter_look(m, c, i);
		if (!status_is_success(&m->statuses[i]))
			continue;
		if (!ret->feasible)
			ret->feasible = arena_n(c->arena, c->n_nodes, node_id);
		ret->feasible[ret->n_feasible++] = c->nodes[i];
	}
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
