/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/displace_sums.h"

#include <assert.h>

#include "engine/eviction_order.h"

void displace_sums_free(struct displace_sums *s)
{
	for (int i = 0; i < SUM_TABLES; i++)
		mem_free(s->tables[i].v);
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
	*t = (struct sum_table){.types = types};
	memset(t->slot, SUM_TYPES, sizeof(t->slot));
	for (uint64_t left = types; left; left &= left - 1)
		t->slot[__builtin_ctzll(left)] = n++;
	t->n_types = n;
	t->width = SUM_STARTS + 2 * t->n_types;
	t->stride = sizeof(struct node_sums) + (size_t)SUM_LEVELS * t->width * sizeof(int64_t);
}

static void table_fit(struct sum_table *t, uint32_t n_nodes)
{
	if (t->n >= n_nodes)
		return;
	t->v = mem_resize(t->v, n_nodes, t->stride);
	for (; t->n < n_nodes; t->n++)
		sums_at(t, t->n)->generation = 0;
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

/* No branches here and below where they would go either way: starts and priorities come in no order. */
static inline void note_start(int64_t *latest, int64_t start)
{
	for (int i = 0; i < SUM_STARTS; i++) {
		int64_t was = latest[i];

		latest[i] = start > was ? start : was;
		start = start > was ? was : start;
	}
}

static inline int64_t *row_at(const struct sum_table *t, struct node_sums *s, uint32_t level)
{
	return s->rows + (size_t)level * t->width;
}

static inline void add_types(const struct sum_table *t, int64_t *to, const int64_t *from)
{
	for (uint32_t k = SUM_STARTS; k < SUM_STARTS + t->n_types; k++)
		to[k] += from[k];
	for (uint32_t k = SUM_STARTS + t->n_types; k < t->width; k++)
		to[k] = from[k] > to[k] ? from[k] : to[k];
}

/* The two highest become one. */
static void merge_last(const struct sum_table *t, struct node_sums *s)
{
	const int64_t *from = row_at(t, s, s->n - 1);
	int64_t *to = row_at(t, s, s->n - 2);

	s->n_pods[s->n - 2] += s->n_pods[s->n - 1];
	for (int k = 0; k < SUM_STARTS; k++)
		note_start(to, from[k]);
	add_types(t, to, from);
	s->is_mixed = true;
	s->priority[--s->n] = INT32_MAX;
}

static uint32_t level_insert(const struct sum_table *t, struct node_sums *s, uint32_t at, int32_t priority)
{
	size_t width = t->width * sizeof(int64_t);
	int64_t *row = row_at(t, s, at);

	if (at == s->n && (s->is_mixed || at == SUM_LEVELS)) { /* higher than all: it joins the last */
		s->is_mixed = true;
		return s->n - 1;
	}
	if (s->n == SUM_LEVELS)
		merge_last(t, s);
	for (uint32_t i = s->n; i > at; i--) {
		memcpy(row_at(t, s, i), row_at(t, s, i - 1), width);
		s->priority[i] = s->priority[i - 1];
		s->n_pods[i] = s->n_pods[i - 1];
	}
	s->n++;
	s->priority[at] = priority;
	s->n_pods[at] = 0;
	for (uint32_t k = 0; k < t->width; k++)
		row[k] = k < SUM_STARTS ? INT64_MIN : 0;
	return at;
}

static inline uint32_t level_for(const struct sum_table *t, struct node_sums *s, int32_t priority)
{
	uint32_t i = 0;

	for (int k = 0; k < SUM_LEVELS; k++)
		i += s->priority[k] < priority;
	return i < s->n && s->priority[i] == priority ? i : level_insert(t, s, i, priority);
}

static inline void add_pod(const struct sum_table *t, struct node_sums *s, const struct pod *p,
			   const struct res_list *usage)
{
	uint32_t level = level_for(t, s, p->priority);
	int64_t *row = row_at(t, s, level), *frees = row + SUM_STARTS, *most = frees + t->n_types;

	s->n_pods[level]++;
	note_start(row, p->started_ns == TIME_NONE ? INT64_MAX : p->started_ns);
	for (uint32_t i = 0; i < usage->n; i++) {
		uint8_t slot = t->slot[usage->v[i].type];
		int64_t amount = usage->v[i].amount;

		if (slot == SUM_TYPES)
			continue;
		frees[slot] += amount;
		most[slot] = amount > most[slot] ? amount : most[slot];
	}
	s->has_groups |= p->group != GROUP_NONE;
}

static void sum_up(const struct sum_table *t, const struct cede_cycle *c, const struct ledger_node *n,
		   struct node_sums *s)
{
	const struct pod *pods = n->pods.n ? ledger_pod(c->ledger, 0) : NULL;

	s->n = 0;
	s->has_groups = s->is_mixed = false;
	for (int k = 0; k < SUM_LEVELS; k++)
		s->priority[k] = INT32_MAX;
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = &pods[n->pods.v[i]];

		add_pod(t, s, p, &shape_get(c->vocab, p->shape)->usage);
	}
	for (uint32_t i = 1; i < s->n; i++) { /* each level with those below it */
		s->n_pods[i] += s->n_pods[i - 1];
		add_types(t, row_at(t, s, i), row_at(t, s, i - 1));
	}
	s->generation = n->generation;
}

const struct node_sums *displace_sums_of(struct sum_table *t, const struct cede_cycle *c, node_id node)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	struct node_sums *s = sums_at(t, node);

	if (s->generation != n->generation)
		sum_up(t, c, n, s);
	return s;
}

/* ---- what it costs at least ---- */

struct sums_question { /* about one node */
	const struct sum_table *t;
	const struct cede_cycle *c;
	const struct want *w;
	node_id node;
	int64_t room[SUM_TYPES + 1], lacks[SUM_TYPES + 1];
};

static const int64_t *frees_of(const struct sums_question *q, const struct node_sums *s, uint32_t level)
{
	return s->rows + (size_t)level * q->t->width + SUM_STARTS;
}

static bool is_enough(const struct sums_question *q, const struct node_sums *s, uint32_t level)
{
	const int64_t *frees = frees_of(q, s, level);

	if (s->n_pods[level] < q->lacks[0])
		return false;
	for (uint32_t k = 1; k < q->w->n; k++)
		if (frees[q->t->slot[q->w->type[k]]] < q->lacks[k])
			return false;
	return true;
}

/* So many victims at least, by the biggest amounts anybody of them frees. */
static uint32_t least_victims(const struct sums_question *q, const struct node_sums *s, uint32_t level)
{
	const int64_t *most = frees_of(q, s, level) + q->t->n_types;
	int64_t least = q->lacks[0] > 1 ? q->lacks[0] : 1;

	for (uint32_t k = 1; k < q->w->n; k++) {
		int64_t one = most[q->t->slot[q->w->type[k]]], lacks = q->lacks[k];

		if (lacks > one && one > 0)
			least = (lacks - 1) / one + 1 > least ? (lacks - 1) / one + 1 : least;
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

/* Everybody who may go is not enough. */
static struct status status_out(const struct sums_question *q)
{
	const struct ledger_node *n = ledger_node(q->c->ledger, q->node);
	int64_t room[SUM_TYPES + 1];
	uint32_t n_lower = 0;

	memcpy(room, q->room, sizeof(room));
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(q->c->ledger, n->pods.v[i]);
		const struct res_list *usage = &shape_get(q->c->vocab, p->shape)->usage;

		if (p->priority >= q->c->priority)
			continue;
		n_lower++;
		for (uint32_t k = 1; k < q->w->n; k++)
			room[k] += res_list_get(usage, q->w->type[k]);
	}
	if (!n_lower)
		return status_of_framework(CEDE_UNRESOLVABLE, FW_NO_VICTIMS, 0);
	room[0] += n_lower;
	return displace_lacks(q->c, q->w, q->node, room);
}

enum sums_say displace_sums_ask(struct sum_table *t, const struct cede_cycle *c, const struct want *w, node_id node,
				struct status *ret_status, struct least_cost *ret)
{
	const struct node_sums *s = displace_sums_of(t, c, node);
	struct sums_question q = {.t = t, .c = c, .w = w, .node = node};

	if (s->has_groups)
		return SUMS_ASK;
	displace_room(c, w, node, q.room);
	for (uint32_t k = 0; k < w->n; k++)
		q.lacks[k] = w->amount[k] - q.room[k];
	for (uint32_t i = 0; i < s->n && s->priority[i] < c->priority; i++)
		if (is_enough(&q, s, i)) {
			*ret = cost_of(&q, s, i);
			return SUMS_LEAST;
		}
	*ret_status = status_out(&q);
	return SUMS_OUT;
}
