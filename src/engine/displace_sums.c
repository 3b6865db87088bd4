/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/displace_sums.h"

#include <assert.h>

#include "engine/eviction_order.h"

void displace_sums_free(struct displace_sums *s)
{
	for (int i = 0; i < SUM_TABLES; i++) {
		mem_free(s->tables[i].v);
		mem_free(s->tables[i].generations);
	}
	*s = (struct displace_sums){0};
}

/* ---- tables ---- */

static uint64_t types_of(const struct want *w)
{
	uint64_t types = 0;

	for (uint32_t k = 1; k < w->n; k++)
		types |= UINT64_C(1) << w->type[k];
	return types;
}

static struct node_sums *sums_at(const struct sum_table *t, node_id node)
{
	return (struct node_sums *)(void *)(t->v + node * t->stride);
}

/* A set of types always has the same slots. */
static void table_reset(struct sum_table *t, uint64_t types)
{
	uint8_t n = 0;

	mem_free(t->v);
	mem_free(t->generations);
	*t = (struct sum_table){.types = types};
	memset(t->slot, SUM_TYPES, sizeof(t->slot));
	for (uint64_t left = types; left; left &= left - 1)
		t->slot[__builtin_ctzll(left)] = n++;
	t->n_types = n;
	t->width = SUM_STARTS + 2 * t->n_types;
	t->stride = sizeof(struct node_sums) + (size_t)SUM_LEVELS * t->width * sizeof(int64_t);
}

/* Sums are not touched before they are needed, and then by whom they are needed. */
static void table_fit(struct sum_table *t, uint32_t n_nodes)
{
	if (t->n >= n_nodes)
		return;
	t->v = mem_resize(t->v, n_nodes, t->stride);
	t->generations = mem_resize(t->generations, n_nodes, sizeof(*t->generations));
	memset(t->generations + t->n, 0, (n_nodes - t->n) * sizeof(*t->generations));
	t->n = n_nodes;
}

struct sum_table *displace_sums_for(struct displace_sums *s, const struct cede_cycle *c, const struct want *w)
{
	uint32_t n_nodes = ledger_node_limit(c->ledger), n = SUM_ENTRIES / (n_nodes + 1);
	struct sum_table *t = &s->tables[0];
	uint64_t types = types_of(w);

	if (w->n > SUM_TYPES + 1)
		return NULL;
	n = n < 1 ? 1 : n > SUM_TABLES ? SUM_TABLES : n;
	for (uint32_t i = 0; i < n; i++) {
		struct sum_table *x = &s->tables[i];

		if (x->last_use && x->types == types) {
			t = x;
			break;
		}
		if (x->last_use < t->last_use)
			t = x;
	}
	if (!t->last_use || t->types != types)
		table_reset(t, types);
	table_fit(t, n_nodes);
	t->last_use = ++s->clock;
	return t;
}

/* ---- sums ---- */

struct shape_amounts displace_sums_amounts(const struct sum_table *t, const struct cede_cycle *c, uint32_t n_nodes)
{
	struct shape_amounts a = {0};
	uint32_t n_shapes = shape_limit(c->vocab);

	if (n_shapes > n_nodes || !t->n_types) /* most would be looked up for one pod */
		return a;
	a.v = arena_n(c->arena, (size_t)n_shapes * t->n_types, int64_t);
	a.n = n_shapes;
	for (uint32_t i = 0; i < n_shapes; i++)
		a.v[(size_t)i * t->n_types] = -1;
	return a;
}

static void amounts_of(const struct sum_table *t, const struct cede_cycle *c, shape_id shape, int64_t *ret)
{
	const struct res_list *usage = &shape_get(c->vocab, shape)->usage;

	for (uint32_t k = 0; k < t->n_types; k++)
		ret[k] = 0;
	for (uint32_t i = 0; i < usage->n; i++) {
		uint8_t slot = t->slot[usage->v[i].type];

		if (slot != SUM_TYPES)
			ret[slot] += usage->v[i].amount;
	}
}

/* No branches here and below where they would go either way: starts and priorities come in no order. */
static inline void note_start(int64_t *latest, int64_t start)
{
	for (int i = 0; i < SUM_STARTS; i++) {
		int64_t was = latest[i];

		latest[i] = start > was ? start : was;
		start = start > was ? was : start;
	}
}

static inline int64_t *row_at(struct node_sums *s, uint32_t level, uint32_t n_types)
{
	return s->rows + (size_t)level * (SUM_STARTS + 2 * n_types);
}

static inline void add_types(int64_t *to, const int64_t *from, uint32_t n_types)
{
	for (uint32_t k = SUM_STARTS; k < SUM_STARTS + n_types; k++)
		to[k] += from[k];
	for (uint32_t k = SUM_STARTS + n_types; k < SUM_STARTS + 2 * n_types; k++)
		to[k] = from[k] > to[k] ? from[k] : to[k];
}

/* The two highest become one. */
static void merge_last(struct node_sums *s, uint32_t n_types)
{
	const int64_t *from = row_at(s, s->n - 1, n_types);
	int64_t *to = row_at(s, s->n - 2, n_types);

	s->n_pods[s->n - 2] += s->n_pods[s->n - 1];
	for (int k = 0; k < SUM_STARTS; k++)
		note_start(to, from[k]);
	add_types(to, from, n_types);
	s->is_mixed = true;
	s->priority[--s->n] = INT32_MAX;
}

static uint32_t level_insert(struct node_sums *s, uint32_t at, int32_t priority, uint32_t n_types)
{
	uint32_t width = SUM_STARTS + 2 * n_types;
	int64_t *row = row_at(s, at, n_types);

	if (at == s->n && (s->is_mixed || at == SUM_LEVELS)) { /* higher than all: it joins the last */
		s->is_mixed = true;
		return s->n - 1;
	}
	if (s->n == SUM_LEVELS)
		merge_last(s, n_types);
	for (uint32_t i = s->n; i > at; i--) {
		memcpy(row_at(s, i, n_types), row_at(s, i - 1, n_types), width * sizeof(int64_t));
		s->priority[i] = s->priority[i - 1];
		s->n_pods[i] = s->n_pods[i - 1];
	}
	s->n++;
	s->priority[at] = priority;
	s->n_pods[at] = 0;
	for (uint32_t k = 0; k < width; k++)
		row[k] = k < SUM_STARTS ? INT64_MIN : 0;
	return at;
}

static inline uint32_t level_for(struct node_sums *s, int32_t priority, uint32_t n_types)
{
	uint32_t i = 0;

	for (int k = 0; k < SUM_LEVELS; k++)
		i += s->priority[k] < priority;
	return i < s->n && s->priority[i] == priority ? i : level_insert(s, i, priority, n_types);
}

static inline const int64_t *pod_amounts(const struct sum_table *t, const struct cede_cycle *c, shape_id shape,
					 const struct shape_amounts *a, int64_t *own, uint32_t n_types)
{
	int64_t *v = a->n ? a->v + (size_t)shape * n_types : own;

	if (!a->n || (n_types && *v < 0))
		amounts_of(t, c, shape, v);
	return v;
}

static inline void add_pod(struct node_sums *s, const struct pod *p, const int64_t *amounts, uint32_t n_types)
{
	uint32_t level = level_for(s, p->priority, n_types);
	int64_t *row = row_at(s, level, n_types), *frees = row + SUM_STARTS, *most = frees + n_types;

	s->n_pods[level]++;
	note_start(row, p->started_ns == TIME_NONE ? INT64_MAX : p->started_ns);
	for (uint32_t k = 0; k < n_types; k++) {
		frees[k] += amounts[k];
		most[k] = amounts[k] > most[k] ? amounts[k] : most[k];
	}
	s->has_groups |= p->group != GROUP_NONE;
}

static inline __attribute__((always_inline)) void sum_up_types(const struct sum_table *t, const struct cede_cycle *c,
							       const struct ledger_node *n, struct node_sums *s,
							       const struct shape_amounts *a, uint32_t n_types)
{
	const struct pod *pods = n->pods.n ? ledger_pod(c->ledger, 0) : NULL;
	int64_t own[SUM_TYPES];

	s->n = 0;
	s->has_groups = s->is_mixed = false;
	for (int k = 0; k < SUM_LEVELS; k++)
		s->priority[k] = INT32_MAX;
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = &pods[n->pods.v[i]];

		add_pod(s, p, pod_amounts(t, c, p->shape, a, own, n_types), n_types);
	}
	for (uint32_t i = 1; i < s->n; i++) { /* each level with those below it */
		s->n_pods[i] += s->n_pods[i - 1];
		add_types(row_at(s, i, n_types), row_at(s, i - 1, n_types), n_types);
	}
}

/* Nearly everybody asks for processors and memory: with their number known the loops above are none. */
static void sum_up(const struct sum_table *t, const struct cede_cycle *c, const struct ledger_node *n,
		   struct node_sums *s, const struct shape_amounts *a)
{
	if (t->n_types == 2)
		sum_up_types(t, c, n, s, a, 2);
	else
		sum_up_types(t, c, n, s, a, t->n_types);
}

const struct node_sums *displace_sums_of(struct sum_table *t, const struct cede_cycle *c, node_id node,
					 struct shape_amounts *a)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	struct node_sums *s = sums_at(t, node);

	if (t->generations[node] != n->generation)
		sum_up(t, c, n, s, a);
	t->generations[node] = n->generation;
	return s;
}

/* ---- what it costs at least: wanted types and the table's are the same, in the same order ---- */

static const int64_t *frees_of(const struct sums_question *q, const struct node_sums *s, uint32_t level)
{
	return s->rows + (size_t)level * q->t->width + SUM_STARTS;
}

static int64_t lacks(const struct sums_question *q, uint32_t k)
{
	return q->w->amount[k] - q->room[k];
}

static bool is_enough(const struct sums_question *q, const struct node_sums *s, uint32_t level)
{
	const int64_t *frees = frees_of(q, s, level);

	if (s->n_pods[level] < lacks(q, 0))
		return false;
	for (uint32_t k = 1; k < q->w->n; k++)
		if (frees[k - 1] < lacks(q, k))
			return false;
	return true;
}

/* So many victims at least, by the biggest amounts anybody of them frees. */
static uint32_t least_victims(const struct sums_question *q, const struct node_sums *s, uint32_t level)
{
	const int64_t *most = frees_of(q, s, level) + q->t->n_types;
	int64_t least = lacks(q, 0) > 1 ? lacks(q, 0) : 1;

	for (uint32_t k = 1; k < q->w->n; k++) {
		int64_t one = most[k - 1], lack = lacks(q, k);

		if (lack > one && one > 0)
			least = (lack - 1) / one + 1 > least ? (lack - 1) / one + 1 : least;
	}
	return (uint32_t)least;
}

/*
 * Somebody of this level has to go, and nobody above it. If it is the lowest, all of them are of it: the first of them
 * started no later than so many of it did.
 */
static struct least_cost cost_of(const struct sums_question *q, const struct node_sums *s, uint32_t level)
{
	const int64_t each = INT64_C(1) << 31, *latest = s->rows + (size_t)level * q->t->width;
	struct least_cost least = {.n_victims = least_victims(q, s, level), .highest = s->priority[level]};
	uint32_t nth = level ? 1 : least.n_victims < SUM_STARTS ? least.n_victims : SUM_STARTS;

	least.sum = (least.n_victims - 1) * ((int64_t)s->priority[0] + each) + least.highest + each;
	least.not_before = -latest[nth - 1];
	return least;
}

/* What those who may go hold, pod by pod, into room. Returns how many they are. */
static uint32_t add_lower(const struct sums_question *q, int64_t *room)
{
	const struct ledger_node *n = ledger_node(q->c->ledger, q->node);
	uint32_t n_lower = 0;

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(q->c->ledger, n->pods.v[i]);
		const struct res_list *usage = &shape_get(q->c->vocab, p->shape)->usage;

		if (p->priority >= q->c->priority)
			continue;
		n_lower++;
		for (uint32_t k = 1; k < q->w->n; k++)
			room[k] += res_list_get(usage, q->w->type[k]);
	}
	return n_lower;
}

/* The same of a number of levels, which are all of those who may go. */
static uint32_t add_levels(const struct sums_question *q, const struct node_sums *s, uint32_t n, int64_t *room)
{
	const int64_t *frees = n ? frees_of(q, s, n - 1) : NULL;

	for (uint32_t k = 1; n && k < q->w->n; k++)
		room[k] += frees[k - 1];
	return n ? s->n_pods[n - 1] : 0;
}

/* Everybody who may go is not enough. */
static struct status status_out(const struct sums_question *q, const struct node_sums *s)
{
	int64_t room[SUM_TYPES + 1];
	uint32_t n = 0, n_lower;

	while (n < s->n && s->priority[n] < q->c->priority)
		n++;
	memcpy(room, q->room, q->w->n * sizeof(*room));
	n_lower = s->is_mixed && n == s->n ? add_lower(q, room) : add_levels(q, s, n, room);
	if (!n_lower)
		return status_of_framework(CEDE_UNRESOLVABLE, FW_NO_VICTIMS, 0);
	room[0] += n_lower;
	return displace_lacks(q->c, q->w, q->node, room);
}

enum sums_say displace_sums_ask(const struct sums_question *q, const struct node_sums *s, struct status *ret_status,
				struct least_cost *ret)
{
	if (s->has_groups)
		return SUMS_ASK;
	for (uint32_t i = 0; i < s->n && s->priority[i] < q->c->priority; i++)
		if (is_enough(q, s, i)) {
			*ret = cost_of(q, s, i);
			return SUMS_LEAST;
		}
	*ret_status = status_out(q, s);
	return SUMS_OUT;
}
