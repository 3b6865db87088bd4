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

/* The same types always have the same slots: those of the want that is first to ask, in the order of types. */
static void table_reset(struct sum_table *t, uint64_t types)
{
	uint8_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		t->v[i].generation = 0;
	t->types = types;
	memset(t->slot, SUM_TYPES, sizeof(t->slot));
	for (uint64_t left = types; left; left &= left - 1)
		t->slot[__builtin_ctzll(left)] = n++;
}

static void table_fit(struct sum_table *t, uint32_t n_nodes)
{
	if (t->n >= n_nodes)
		return;
	t->v = mem_resize(t->v, n_nodes, sizeof(*t->v));
	for (; t->n < n_nodes; t->n++)
		t->v[t->n].generation = 0;
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

static inline void note_start(struct sum_level *x, int64_t start)
{
	int at = SUM_STARTS - 1;

	if (start <= x->latest[at])
		return;
	for (; at > 0 && x->latest[at - 1] < start; at--)
		x->latest[at] = x->latest[at - 1];
	x->latest[at] = start;
}

/* The two highest become one. */
static void merge_last(struct node_sums *s)
{
	const struct sum_level *from = &s->levels[s->n - 1];
	struct sum_level *to = &s->levels[s->n - 2];

	to->n += from->n;
	for (int k = 0; k < SUM_STARTS; k++)
		note_start(to, from->latest[k]);
	for (int k = 0; k < SUM_TYPES; k++) {
		to->frees[k] += from->frees[k];
		to->most[k] = from->most[k] > to->most[k] ? from->most[k] : to->most[k];
	}
	s->is_mixed = true;
	s->n--;
}

static struct sum_level *level_insert(struct node_sums *s, uint32_t at, int32_t priority)
{
	if (at == s->n && (s->is_mixed || at == SUM_LEVELS)) { /* higher than all: it joins the last */
		s->is_mixed = true;
		return &s->levels[s->n - 1];
	}
	if (s->n == SUM_LEVELS)
		merge_last(s);
	memmove(&s->levels[at + 1], &s->levels[at], (s->n - at) * sizeof(*s->levels));
	memmove(&s->priority[at + 1], &s->priority[at], (s->n - at) * sizeof(*s->priority));
	s->priority[at] = priority;
	s->levels[at] = (struct sum_level){.latest = {INT64_MIN, INT64_MIN, INT64_MIN}};
	s->n++;
	return &s->levels[at];
}

static inline struct sum_level *level_for(struct node_sums *s, int32_t priority)
{
	uint32_t i = 0;

	while (i < s->n && s->priority[i] < priority)
		i++;
	if (i < s->n && s->priority[i] == priority)
		return &s->levels[i];
	return level_insert(s, i, priority);
}

static inline void add_pod(struct node_sums *s, const struct sum_table *t, const struct pod *p,
			   const struct res_list *usage)
{
	struct sum_level *level = level_for(s, p->priority);

	level->n++;
	note_start(level, p->started_ns == TIME_NONE ? INT64_MAX : p->started_ns);
	for (uint32_t i = 0; i < usage->n; i++) {
		uint8_t slot = t->slot[usage->v[i].type];
		int64_t amount = usage->v[i].amount;

		if (slot == SUM_TYPES)
			continue;
		level->frees[slot] += amount;
		level->most[slot] = amount > level->most[slot] ? amount : level->most[slot];
	}
	s->has_groups |= p->group != GROUP_NONE;
}

/* Each level with those below it. */
static void accumulate(struct node_sums *s)
{
	for (uint32_t i = 1; i < s->n; i++) {
		const struct sum_level *below = &s->levels[i - 1];
		struct sum_level *x = &s->levels[i];

		x->n += below->n;
		for (int k = 0; k < SUM_TYPES; k++) {
			x->frees[k] += below->frees[k];
			x->most[k] = below->most[k] > x->most[k] ? below->most[k] : x->most[k];
		}
	}
}

static void sum_up(const struct sum_table *t, const struct cede_cycle *c, const struct ledger_node *n,
		   struct node_sums *s)
{
	const struct pod *pods = n->pods.n ? ledger_pod(c->ledger, 0) : NULL;

	s->n = 0;
	s->has_groups = s->is_mixed = false;
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = &pods[n->pods.v[i]];

		add_pod(s, t, p, &shape_get(c->vocab, p->shape)->usage);
	}
	accumulate(s);
	s->generation = n->generation;
}

const struct node_sums *displace_sums_of(struct sum_table *t, const struct cede_cycle *c, node_id node)
{
	const struct ledger_node *n = ledger_node(c->ledger, node);
	struct node_sums *s = &t->v[node];

	if (s->generation != n->generation)
		sum_up(t, c, n, s);
	return s;
}

/* ---- what it costs at least ---- */

static bool is_enough(const struct sum_table *t, const struct want *w, const struct sum_level *x, const int64_t *lacks)
{
	if (x->n < lacks[0])
		return false;
	for (uint32_t k = 1; k < w->n; k++)
		if (x->frees[t->slot[w->type[k]]] < lacks[k])
			return false;
	return true;
}

/* So many victims at least, by the biggest amounts anybody of them frees. */
static uint32_t least_victims(const struct sum_table *t, const struct want *w, const struct sum_level *x,
			      const int64_t *lacks)
{
	int64_t least = lacks[0] > 1 ? lacks[0] : 1;

	for (uint32_t k = 1; k < w->n; k++) {
		int64_t most = x->most[t->slot[w->type[k]]];

		if (lacks[k] > most && most > 0) {
			int64_t n = (lacks[k] - 1) / most + 1;

			least = n > least ? n : least;
		}
	}
	return (uint32_t)least;
}

static struct status status_out(const struct sum_table *t, const struct cede_cycle *c, const struct want *w,
				node_id node, const struct sum_level *all, int64_t *room)
{
	if (!all)
		return status_of_framework(CEDE_UNRESOLVABLE, FW_NO_VICTIMS, 0);
	room[0] += all->n;
	for (uint32_t k = 1; k < w->n; k++)
		room[k] += all->frees[t->slot[w->type[k]]];
	return displace_lacks(c, w, node, room);
}

/*
 * Somebody of this level has to go, and nobody above it. If it is the lowest, all of them are of it: the first of them
 * started no later than so many of it did.
 */
static struct least_cost cost_of(const struct node_sums *s, uint32_t level, uint32_t n_victims)
{
	const int64_t each = INT64_C(1) << 31;
	uint32_t nth = level ? 1 : n_victims < SUM_STARTS ? n_victims : SUM_STARTS;
	struct least_cost least = {.n_victims = n_victims, .highest = s->priority[level]};

	least.sum = (n_victims - 1) * ((int64_t)s->priority[0] + each) + least.highest + each;
	least.not_before = -s->levels[level].latest[nth - 1];
	return least;
}

enum sums_say displace_sums_ask(struct sum_table *t, const struct cede_cycle *c, const struct want *w, node_id node,
				struct status *ret_status, struct least_cost *ret)
{
	const struct node_sums *s = displace_sums_of(t, c, node);
	int64_t room[RES_MAX], lacks[SUM_TYPES + 1];
	uint32_t n = 0, i = 0;

	if (s->has_groups)
		return SUMS_ASK;
	while (n < s->n && s->priority[n] < c->priority)
		n++;
	displace_room(c, w, node, room);
	for (uint32_t k = 0; k < w->n; k++)
		lacks[k] = w->amount[k] - room[k];
	while (i < n && !is_enough(t, w, &s->levels[i], lacks))
		i++;
	if (i < n) {
		*ret = cost_of(s, i, least_victims(t, w, &s->levels[i], lacks));
		return SUMS_LEAST;
	}
	if (n == s->n && s->is_mixed) /* some of them may not go */
		return SUMS_ASK;
	*ret_status = status_out(t, c, w, node, n ? &s->levels[n - 1] : NULL, room);
	return SUMS_OUT;
}
