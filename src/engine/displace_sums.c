/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/displace_sums.h"

#include <assert.h>

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
	t->stride = sizeof(struct node_sums) + (size_t)SUM_LEVELS * (1 + 2 * t->n_types) * sizeof(int64_t);
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

/* ---- what is looked up once ---- */

static inline void sums_clear(struct priority_sums *p, uint32_t n_types)
{
	p->n_pods = 0;
	for (int i = 0; i < SUM_STARTS; i++)
		p->starts[i] = INT64_MIN;
	for (uint32_t k = 0; k < n_types; k++)
		p->frees[k] = p->most[k] = 0;
}

struct sums_lookup *displace_sums_lookup(struct sum_table *t, const struct cede_cycle *c, const struct want *w,
					 uint32_t n_nodes)
{
	struct sums_lookup *l = arena_take(c->arena, sizeof(*l));
	uint32_t n_shapes = shape_limit(c->vocab);

	l->t = t;
	l->c = c;
	l->w = w;
	l->nodes = ledger_node_limit(c->ledger) ? ledger_node(c->ledger, 0) : NULL;
	l->pods = ledger_pod_limit(c->ledger) ? ledger_pod(c->ledger, 0) : NULL;
	l->amounts = NULL;
	l->n_priorities = 0;
	l->is_shared = false;
	memset(l->slots, 0, sizeof(l->slots));
	if (n_shapes > n_nodes || !t->n_types) /* most would be looked up for one pod */
		return l;
	l->amounts = arena_n(c->arena, (size_t)n_shapes * t->n_types, int64_t);
	for (uint32_t i = 0; i < n_shapes; i++)
		l->amounts[(size_t)i * t->n_types] = -1;
	return l;
}

static __attribute__((noinline)) void amounts_of(const struct sum_table *t, const struct cede_cycle *c, shape_id shape,
						 int64_t *ret)
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

static inline uint32_t slot_of(int32_t priority)
{
	return (uint32_t)priority * UINT32_C(0x9e3779b1) >> 25;
}

static void fill_slots(struct sums_lookup *l)
{
	memset(l->slots, 0, sizeof(l->slots));
	for (uint32_t i = 0; i < l->n_priorities; i++) {
		uint32_t k = slot_of(l->priorities[i]);

		while (l->slots[k].rank)
			k = (k + 1) % SUM_SLOTS;
		l->slots[k].priority = l->priorities[i];
		l->slots[k].rank = i + 1;
	}
}

/*
 * The rank of a priority that was not met before. UINT32_MAX: others have another one from now on, and what was summed
 * up so far is forgotten.
 */
static __attribute__((noinline)) uint32_t learn(struct sums_lookup *l, int32_t priority, uint64_t summed_up)
{
	uint32_t at = 0;

	while (at < l->n_priorities && l->priorities[at] < priority)
		at++;
	l->is_shared |= l->n_priorities == SUM_RANKS;
	if (at == SUM_RANKS)
		return SUM_RANKS - 1;
	for (; summed_up; summed_up &= summed_up - 1)
		sums_clear(&l->sums[__builtin_ctzll(summed_up)], SUM_TYPES);
	if (l->n_priorities < SUM_RANKS)
		sums_clear(&l->sums[l->n_priorities++], SUM_TYPES);
	memmove(l->priorities + at + 1, l->priorities + at, (l->n_priorities - 1 - at) * sizeof(*l->priorities));
	l->priorities[at] = priority;
	fill_slots(l);
	return UINT32_MAX;
}

/* UINT32_MAX: not met before. */
static inline uint32_t rank_of(const struct sums_lookup *l, int32_t priority)
{
	uint32_t k = slot_of(priority);

	while (l->slots[k].priority != priority && l->slots[k].rank)
		k = (k + 1) % SUM_SLOTS;
	return l->slots[k].rank - 1;
}

/* ---- sums ---- */

static inline int64_t max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* No branches here and below where they would go either way: starts come in no order. */
static inline void note_start(int64_t *latest, int64_t start)
{
	for (int i = 0; i < SUM_STARTS; i++) {
		int64_t was = latest[i];

		latest[i] = max64(start, was);
		start = start > was ? was : start;
	}
}

static inline void add_pod(struct priority_sums *s, const struct pod *p, const int64_t *amounts, uint32_t n_types)
{
	s->n_pods++;
	note_start(s->starts, p->started_ns == TIME_NONE ? INT64_MAX : p->started_ns);
	for (uint32_t k = 0; k < n_types; k++) {
		int64_t amount = amounts[k];

		s->frees[k] += amount;
		s->most[k] = max64(s->most[k], amount);
	}
}

/* Returns the ranks that have pods, as bits. */
static inline uint64_t add_pods(struct sums_lookup *l, const struct ledger_node *n, bool *ret_has_groups,
				uint32_t n_types)
{
	const pod_id *ids = n->pods.v;
	const struct pod *pods = l->pods;
	int64_t *by_shape = l->amounts, own[SUM_TYPES] = {0};
	group_id groups = GROUP_NONE;
	uint64_t ranks = 0;

	for (uint32_t i = 0; i < n->pods.n;) { /* no pointer to its end: a node without pods has none */
		const struct pod *p = &pods[ids[i]];
		int64_t *amounts = by_shape ? by_shape + (size_t)p->shape * n_types : own;
		uint32_t rank = rank_of(l, p->priority);

		if (__builtin_expect(rank == UINT32_MAX, 0)) {
			rank = learn(l, p->priority, ranks);
			if (rank == UINT32_MAX) { /* once more, with ranks as they are now */
				ranks = 0;
				i = 0;
				continue;
			}
		}
		ranks |= UINT64_C(1) << rank;
		groups &= p->group;
		if (__builtin_expect(!by_shape || *amounts < 0, 0))
			amounts_of(l->t, l->c, p->shape, amounts);
		add_pod(&l->sums[rank], p, amounts, n_types);
		i++;
	}
	*ret_has_groups = groups != GROUP_NONE;
	return ranks;
}

static inline void add_priority(struct priority_sums *to, const struct priority_sums *from, uint32_t n_types)
{
	to->n_pods += from->n_pods;
	for (uint32_t k = 0; k < n_types; k++) {
		to->frees[k] += from->frees[k];
		to->most[k] = max64(to->most[k], from->most[k]);
	}
}

/* With those up to it. */
static inline void put_level(struct node_sums *s, uint32_t level, int64_t latest, const struct priority_sums *all,
			     uint32_t n_types)
{
	int64_t *row = s->rows + (size_t)level * (1 + 2 * n_types);

	s->n_pods[level] = all->n_pods;
	row[0] = latest;
	for (uint32_t k = 0; k < n_types; k++) {
		row[1 + k] = all->frees[k];
		row[1 + n_types + k] = all->most[k];
	}
}

static inline __attribute__((always_inline)) void sum_up(struct sums_lookup *l, const struct ledger_node *n,
							 struct node_sums *s, uint32_t n_types)
{
	uint64_t ranks = add_pods(l, n, &s->has_groups, n_types), left = ranks;
	struct priority_sums all;
	int64_t latest = INT64_MIN;
	uint32_t level;

	sums_clear(&all, n_types);
	s->is_mixed = l->is_shared && ranks >> (SUM_RANKS - 1);
	if (ranks)
		memcpy(s->starts, l->sums[__builtin_ctzll(ranks)].starts, sizeof(s->starts));
	for (level = 0; level < SUM_LEVELS && left; level++, left &= left - 1) {
		uint32_t rank = (uint32_t)__builtin_ctzll(left);

		s->priority[level] = l->priorities[rank];
		latest = l->sums[rank].starts[0];
		add_priority(&all, &l->sums[rank], n_types);
		put_level(s, level, latest, &all, n_types);
		sums_clear(&l->sums[rank], n_types);
	}
	s->n = (uint8_t)level;
	for (; left; left &= left - 1) { /* whoever is higher still */
		struct priority_sums *p = &l->sums[__builtin_ctzll(left)];

		s->is_mixed = true;
		latest = max64(latest, p->starts[0]);
		add_priority(&all, p, n_types);
		put_level(s, SUM_LEVELS - 1, latest, &all, n_types);
		sums_clear(p, n_types);
	}
}

/* ---- what it costs at least: wanted types and the table's are the same, in the same order ---- */

static const int64_t *row_of(const struct node_sums *s, uint32_t level, uint32_t n_types)
{
	return s->rows + (size_t)level * (1 + 2 * n_types);
}

static inline bool is_enough(const int64_t *lacks, const struct node_sums *s, uint32_t level, uint32_t n_types)
{
	const int64_t *frees = row_of(s, level, n_types) + 1;
	bool is = s->n_pods[level] >= lacks[0];

	for (uint32_t k = 0; k < n_types; k++)
		is &= frees[k] >= lacks[1 + k];
	return is;
}

/* So many victims at least, by the biggest amounts anybody of them frees. */
static inline uint32_t least_victims(const int64_t *lacks, const int64_t *most, uint32_t n_types)
{
	int64_t least = max64(lacks[0], 1);

	for (uint32_t k = 0; k < n_types; k++) {
		uint64_t one = (uint64_t)max64(most[k], 1), all = (uint64_t)max64(lacks[1 + k], 0);

		least = max64(least, (int64_t)((all + one - 1) / one));
	}
	return (uint32_t)least;
}

/*
 * Somebody of this level has to go, and nobody above it. If it is the lowest, all of them are of it: the first of them
 * started no later than so many of it did.
 */
static inline void cost_of(const int64_t *lacks, const struct node_sums *s, uint32_t level, struct answer_cost *ret,
			   uint32_t n_types)
{
	const int64_t each = INT64_C(1) << 31, *row = row_of(s, level, n_types);
	uint32_t n_victims = least_victims(lacks, row + 1 + n_types, n_types);
	uint32_t nth = n_victims < SUM_STARTS ? n_victims : SUM_STARTS;

	ret->n_violations = 0;
	ret->n_victims = n_victims;
	ret->highest = s->priority[level];
	ret->sum = (n_victims - 1) * (s->priority[0] + each) + s->priority[level] + each;
	ret->not_before = -(level ? *row : s->starts[nth - 1]);
}

/* What those who may go hold, pod by pod, into room. Returns how many they are. */
static uint32_t add_lower(const struct sums_lookup *l, node_id node, int64_t *room)
{
	const struct ledger_node *n = &l->nodes[node];
	uint32_t n_lower = 0;

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = &l->pods[n->pods.v[i]];
		const struct res_list *usage = &shape_get(l->c->vocab, p->shape)->usage;

		if (p->priority >= l->c->priority)
			continue;
		n_lower++;
		for (uint32_t k = 1; k < l->w->n; k++)
			room[k] += res_list_get(usage, l->w->type[k]);
	}
	return n_lower;
}

/* The same of a number of levels, which are all of those who may go. */
static uint32_t add_levels(const struct sums_lookup *l, const struct node_sums *s, uint32_t n, int64_t *room)
{
	const int64_t *frees = n ? row_of(s, n - 1, l->t->n_types) + 1 : NULL;

	for (uint32_t k = 1; n && k < l->w->n; k++)
		room[k] += frees[k - 1];
	return n ? s->n_pods[n - 1] : 0;
}

/* Everybody who may go is not enough. */
static struct status status_out(const struct sums_lookup *l, const struct node_sums *s, node_id node,
				const int64_t *lacks)
{
	int64_t room[SUM_TYPES + 1] = {0};
	uint32_t n = 0, n_lower;

	while (n < s->n && s->priority[n] < l->c->priority)
		n++;
	for (uint32_t k = 0; k < l->w->n; k++)
		room[k] = l->w->amount[k] - lacks[k];
	n_lower = s->is_mixed && n == s->n ? add_lower(l, node, room) : add_levels(l, s, n, room);
	if (!n_lower)
		return status_of_framework(CEDE_UNRESOLVABLE, FW_NO_VICTIMS, 0);
	room[0] += n_lower;
	return lack_status(l->w, want_lacks(l->w, ledger_node_allocatable(l->c->ledger, node), room));
}

static inline __attribute__((always_inline)) enum sums_say ask(struct sums_lookup *l, struct node_sums *s, node_id node,
							       const int64_t *lacks, struct answer_cost *ret,
							       uint32_t n_types)
{
	const struct ledger_node *n = &l->nodes[node];
	uint32_t level = 0;

	if (l->t->generations[node] != n->generation)
		sum_up(l, n, s, n_types);
	l->t->generations[node] = n->generation;
	if (s->has_groups)
		return SUMS_ASK;
	while (level < s->n && !is_enough(lacks, s, level, n_types))
		level++;
	if (level == s->n || s->priority[level] >= l->c->priority)
		return SUMS_OUT;
	cost_of(lacks, s, level, ret, n_types);
	return SUMS_LEAST;
}

/* Nearly everybody asks for processors and memory: with their number known the loops above are none. */
enum sums_say displace_sums_ask(struct sums_lookup *l, node_id node, const int64_t *lacks, struct status *ret_status,
				struct answer_cost *ret)
{
	struct node_sums *s = sums_at(l->t, node);
	uint32_t n_types = l->t->n_types;
	enum sums_say says = n_types == 2 ? ask(l, s, node, lacks, ret, 2) : ask(l, s, node, lacks, ret, n_types);

	if (says == SUMS_OUT)
		*ret_status = status_out(l, s, node, lacks);
	return says;
}
