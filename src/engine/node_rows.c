/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/node_rows.h"

#include <stdlib.h>
#include <string.h>

enum { KINDS_MAX = 1 << 20 }; /* more than that are old ones: all is made anew */

void node_rows_free(struct node_rows *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		mem_free(r->v[i].v);
	mem_free(r->v);
	array_free(&r->kinds);
	array_free(&r->found);
	array_free(&r->of_queue);
	map_free(&r->kind_at);
	mem_free(r->shapes);
	mem_free(r->labelsets);
	*r = (struct node_rows){0};
}

void node_rows_forget(struct node_rows *r, node_id node)
{
	if (node < r->n)
		r->v[node].generation = 0;
}

void node_rows_forget_all(struct node_rows *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		r->v[i].generation = 0;
		r->v[i].n = 0;
	}
	r->kinds.n = r->of_queue.n = r->n_of_groups = 0;
	map_free(&r->kind_at);
	memset(r->alike, 0, sizeof(r->alike));
	r->ranks.n = 0;
	r->epoch++;
	r->kin_stamp++;
}

static void fit_kin(struct kin **v, uint32_t *n, uint32_t want)
{
	if (*n >= want)
		return;
	*v = mem_resize(*v, want, sizeof(**v));
	memset(*v + *n, 0, (want - *n) * sizeof(**v));
	*n = want;
}

void node_rows_begin(struct node_rows *r, const struct ledger *l)
{
	uint32_t n = ledger_node_limit(l);

	if (r->n < n) {
		r->v = mem_resize(r->v, n, sizeof(*r->v));
		memset(r->v + r->n, 0, (n - r->n) * sizeof(*r->v));
		r->n = n;
	}
	if (r->budgets != ledger_budget_generation(l) || r->kinds.n > KINDS_MAX)
		node_rows_forget_all(r);
	r->budgets = ledger_budget_generation(l);
	r->kin_stamp += r->reuses != vocab_reuses(ledger_vocab(l)) || !r->kin_stamp;
	r->reuses = vocab_reuses(ledger_vocab(l));
	fit_kin(&r->shapes, &r->n_shapes, shape_limit(ledger_vocab(l)));
	fit_kin(&r->labelsets, &r->n_labelsets, labelset_limit(ledger_vocab(l)));
}

/* ---- kinds ---- */

static uint64_t hash_of(const struct row_kind *k)
{
	uint64_t h = hash_mix(map_key2(k->queue, (uint32_t)k->priority), map_key2(k->group, k->podset));

	h = hash_mix(h, (uint32_t)k->least);
	h = hash_mix(h, map_key2(k->ns, k->scheduler));
	h = hash_mix(h, map_key2(k->class, k->budgeted));
	return hash_mix(h, (uint64_t)k->preemptibility << 16 | (uint64_t)k->allows_preemption << 8 | k->is_daemon);
}

static bool same_kind(const struct row_kind *a, const struct row_kind *b)
{
	return a->queue == b->queue && a->priority == b->priority && a->least == b->least && a->group == b->group &&
	       a->podset == b->podset && a->ns == b->ns && a->scheduler == b->scheduler && a->class == b->class &&
	       a->budgeted == b->budgeted && a->preemptibility == b->preemptibility &&
	       a->allows_preemption == b->allows_preemption && a->is_daemon == b->is_daemon;
}

/* The number of a priority; RANKS: there are too many. */
static uint32_t rank_of(struct ranks *x, int32_t priority)
{
	uint32_t i = 0, at;

	while (i < x->n && x->priority[i] != priority)
		i++;
	if (i < x->n || i == RANKS)
		return i;
	for (at = x->n; at > 0 && x->priority[x->ascending[at - 1]] > priority; at--)
		x->ascending[at] = x->ascending[at - 1];
	x->ascending[at] = x->n;
	x->priority[x->n++] = priority;
	return i;
}

static void chain_to_queue(struct node_rows *r, uint32_t kind)
{
	struct row_kind *k = &r->kinds.v[kind];

	while (r->of_queue.n <= k->queue)
		array_push(&r->of_queue, MAP_NONE);
	k->next_of_queue = r->of_queue.v[k->queue];
	r->of_queue.v[k->queue] = kind;
}

static uint32_t find_or_add(struct node_rows *r, const struct row_kind *new)
{
	uint64_t hash = hash_of(new);
	uint32_t first = map_get(&r->kind_at, hash);

	for (uint32_t i = first; i != MAP_NONE; i = r->kinds.v[i].next)
		if (same_kind(&r->kinds.v[i], new))
			return i;
	map_put(&r->kind_at, hash, r->kinds.n);
	array_push(&r->kinds, *new);
	r->kinds.v[r->kinds.n - 1].next = first;
	r->kinds.v[r->kinds.n - 1].rank = rank_of(&r->ranks, new->least);
	chain_to_queue(r, r->kinds.n - 1);
	r->n_of_groups += new->podset != PODSET_NONE;
	return r->kinds.n - 1;
}

/* Its group has no say: it is alone, and neither is it the group's core nor does it count with its priority. */
static bool is_plain(const struct ledger *l, const struct pod *p)
{
	return pod_is_lone(l, p) && p->preemptibility != SEMI_PREEMPTIBLE &&
	       !ledger_group(l, p->group)->obj->goes_whole;
}

/* Amounts of a shape that has gone stay: they only grow. */
static void note_size(struct node_rows *r, const struct res_list *usage)
{
	for (uint32_t i = 0; i < usage->n; i++)
		if (usage->v[i].amount > r->most[usage->v[i].type])
			r->most[usage->v[i].type] = usage->v[i].amount;
}

static void learn_shape(struct node_rows *r, const struct ledger *l, shape_id id)
{
	const struct shape *s = shape_get(ledger_vocab(l), id);

	note_size(r, &s->usage);
	r->shapes[id] = (struct kin){.stamp = r->kin_stamp, .name = s->scheduler_name};
}

static void learn_labelset(struct node_rows *r, const struct ledger *l, labelset_id id)
{
	uint32_t n = 0;

	if (ledger_pdb_limit(l))
		ledger_labelset_pdbs(l, id, &n);
	r->labelsets[id] = (struct kin){.stamp = r->kin_stamp,
					.name = labelset_get(ledger_vocab(l), id)->ns,
					.budgeted = n ? id : LABELSET_NONE};
}

static inline uint32_t slot_of(const struct row_kind *k)
{
	uint64_t mix = map_key2(k->queue, (uint32_t)k->priority) * UINT64_C(0x9E3779B97F4A7C15) +
		       map_key2(k->group, k->ns) * UINT64_C(0xC2B2AE3D27D4EB4F) +
		       (map_key2(k->class, k->budgeted) ^ k->scheduler ^ (uint64_t)k->preemptibility << 16 ^
			(uint64_t)k->allows_preemption << 8) *
			       UINT64_C(0x165667B19E3779F9);

	return (uint32_t)((mix ^ mix >> 32) * UINT64_C(0x9E3779B97F4A7C15) >> (64 - SEEN_BITS));
}

/* Seldom called from a loop over all pods, which is faster without it inside. */
static __attribute__((noinline)) void learn(struct node_rows *r, const struct ledger *l, const struct pod *p)
{
	learn_shape(r, l, p->shape);
	learn_labelset(r, l, p->labelset);
}

/* A group that goes as a whole counts as one of its pods here, whichever comes first. */
static int32_t lowest_of_group(const struct ledger *l, const struct ledger_node *n, const struct pod *p)
{
	int32_t lowest = p->priority;

	for (uint32_t i = 0; p->group != GROUP_NONE && i < n->pods.n; i++) {
		const struct pod *x = ledger_pod(l, n->pods.v[i]);

		if (x->group == p->group && x->priority < lowest)
			lowest = x->priority;
	}
	return lowest;
}

/* Pods of one kind come again and again: most are found where the last one was. */
static __attribute__((noinline)) uint32_t kind_of(struct node_rows *r, const struct ledger *l,
						  const struct ledger_node *n, const struct pod *p)
{
	const struct kin *shape = &r->shapes[p->shape], *labelset = &r->labelsets[p->labelset];
	bool is_grouped = p->group != GROUP_NONE && !is_plain(l, p);
	struct row_kind k = {.queue = p->queue,
			     .priority = p->priority,
			     .least = lowest_of_group(l, n, p),
			     .group = is_grouped ? p->group : GROUP_NONE,
			     .podset = is_grouped ? p->podset : PODSET_NONE,
			     .ns = labelset->name,
			     .scheduler = shape->name,
			     .class = p->has_class ? p->obj->priority_class : NAME_NONE,
			     .budgeted = labelset->budgeted,
			     .preemptibility = p->preemptibility,
			     .allows_preemption = p->allows_preemption,
			     .is_daemon = p->is_daemon};
	uint32_t slot = slot_of(&k), at = r->seen[slot] - 1; /* of nothing: beyond all */

	if (at >= r->kinds.n || !same_kind(&r->kinds.v[at], &k)) {
		at = find_or_add(r, &k);
		r->seen[slot] = at + 1;
	}
	return at;
}

/*
 * The same with fewer comparisons, for those who have neither a group nor a class. All that a pod says in bits is taken
 * as one number: it tells more pods apart than kinds do, and none less.
 */
static inline uint32_t kind_by_pod(struct node_rows *r, const struct ledger *l, const struct ledger_node *n,
				   const struct pod *p)
{
	const struct kin *shape = &r->shapes[p->shape], *labelset = &r->labelsets[p->labelset];
	uint64_t says, whose, where;
	struct alike *x;

	if ((shape->stamp ^ r->kin_stamp) | (labelset->stamp ^ r->kin_stamp))
		learn(r, l, p);
	if (p->group != GROUP_NONE)
		return kind_of(r, l, n, p);
	memcpy(&says, p, sizeof(says));
	memcpy(&where, &labelset->name, sizeof(where));
	whose = map_key2(p->queue, shape->name);
	x = &r->alike[(says * UINT64_C(0x9E3779B97F4A7C15) + whose * UINT64_C(0xC2B2AE3D27D4EB4F) +
		       where * UINT64_C(0x165667B19E3779F9)) >>
		      (64 - ALIKE_BITS)];
	if (!((x->says ^ says) | (x->whose ^ whose) | (x->where ^ where)))
		return x->kind;
	if (p->has_class)
		return kind_of(r, l, n, p);
	*x = (struct alike){.says = says, .whose = whose, .where = where, .kind = kind_of(r, l, n, p)};
	return x->kind;
}
_Static_assert(offsetof(struct pod, node) == sizeof(uint64_t),
	       "what a pod says in bits, and its priority, is one number");
_Static_assert(sizeof(struct kin) == offsetof(struct kin, name) + sizeof(uint64_t),
	       "and so is what it is told apart by");

/* ---- rows ---- */

/* As lost_ns_of has it. */
int64_t pod_since(const struct pod *p)
{
	int64_t at = p->started_ns != TIME_NONE ? p->started_ns : p->obj->started_ns;

	if (p->has_checkpoint && (at == TIME_NONE || p->obj->checkpointed_ns > at))
		at = p->obj->checkpointed_ns;
	return at;
}

static int by_rank(const void *a, const void *b)
{
	const struct found_row *x = a, *y = b;

	return (x->rank > y->rank) - (x->rank < y->rank);
}

/* By priority and id. Few and mostly in order: each to its place; many by qsort. */
static void sort_found(const struct node_rows *r, struct found_row *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		v[i].rank = map_key2((uint32_t)row_priority(r, &v[i].row) ^ UINT32_C(1) << 31, v[i].row.pod);
	if (n > 48) {
		qsort(v, n, sizeof(*v), by_rank);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct found_row row = v[i];
		uint32_t at = i;

		for (; at > 0 && v[at - 1].rank > row.rank; at--)
			v[at] = v[at - 1];
		v[at] = row;
	}
}

/* Most started at a whole second, and what few have besides is asked of the pod. */
static inline uint32_t started_s_of(const struct pod *p)
{
	uint64_t s = (uint64_t)p->started_ns / (uint64_t)NS_PER_S; /* huge where it is none, or before 1970 */

	return s * (uint64_t)NS_PER_S != (uint64_t)p->started_ns || s >= ROW_APART || p->has_checkpoint || p->placed_in
		       ? ROW_APART
		       : (uint32_t)s;
}

struct gathered {
	uint32_t n, count[RANKS + 1]; /* in all, and of each rank */
	bool ascends;		      /* by id */
};

/* Placed pods with a queue, as they stand in the node's list. */
static void gather(struct node_rows *r, const struct ledger *l, node_id node, struct pod_rows *rows,
		   struct gathered *ret)
{
	const struct ledger_node *n = ledger_node(l, node);
	const struct pod *pods = ledger_pod(l, 0);
	struct found_row *at = r->found.v;
	queue_id any_queue = 0, all_queues = QUEUE_NONE; /* bits that one has, and all */
	group_id all_groups = GROUP_NONE;
	bool descends = false;
	pod_id last = 0;

	for (uint32_t i = 0; i < n->pods.n; i++) {
		pod_id id = n->pods.v[i];
		const struct pod *p = &pods[id];
		struct row_kind *kind;
		uint32_t k;

		if (p->state != POD_PLACED || p->queue == QUEUE_NONE)
			continue;
		k = kind_by_pod(r, l, n, p);
		kind = &r->kinds.v[k];
		kind->at = node;
		kind->n_rows++;
		ret->count[kind->rank]++;
		*at++ = (struct found_row){{id, k, p->shape, started_s_of(p)}, kind->rank};
		all_groups &= p->group;
		all_queues &= p->queue;
		any_queue |= p->queue;
		descends |= id < last;
		last = id;
	}
	ret->n = (uint32_t)(at - r->found.v);
	ret->ascends = !descends;
	rows->has_groups = all_groups != GROUP_NONE;
	rows->queue = any_queue == all_queues ? any_queue : QUEUE_NONE;
}
_Static_assert(GROUP_NONE == UINT32_MAX && QUEUE_NONE == UINT32_MAX, "all bits are there where nobody has one");

/* Each to its place: priorities come in any order, and comparisons would be guessed wrong for every other pod. */
static void put_by_rank(const struct node_rows *r, const struct gathered *g, struct pod_row *ret)
{
	uint32_t from[RANKS], sum = 0;

	for (uint32_t i = 0; i < r->ranks.n; i++) {
		from[r->ranks.ascending[i]] = sum;
		sum += g->count[r->ranks.ascending[i]];
	}
	for (uint32_t i = 0; i < g->n; i++)
		ret[from[r->found.v[i].rank]++] = r->found.v[i].row;
}

static void fill_rows(struct node_rows *r, const struct ledger *l, node_id node, struct pod_rows *rows)
{
	struct gathered g = {0};

	gather(r, l, node, rows, &g);
	rows->n = g.n;
	if (!g.count[RANKS] && g.ascends) {
		put_by_rank(r, &g, rows->v);
		return;
	}
	sort_found(r, r->found.v, g.n);
	for (uint32_t i = 0; i < g.n; i++)
		rows->v[i] = r->found.v[i].row;
}

static void build(struct node_rows *r, const struct ledger *l, node_id node, struct pod_rows *rows)
{
	const struct ledger_node *n = ledger_node(l, node);

	for (uint32_t i = 0; i < rows->n; i++)
		r->kinds.v[rows->v[i].kind].n_rows--;
	if (rows->cap < n->pods.n) {
		rows->cap = n->pods.n;
		rows->v = mem_resize(rows->v, rows->cap, sizeof(*rows->v));
	}
	array_reserve(&r->found, n->pods.n);
	rows->n = 0;
	rows->has_groups = false;
	rows->queue = QUEUE_NONE;
	if (n->pods.n)
		fill_rows(r, l, node, rows);
	rows->generation = n->generation;
}

/* A node that has gone has no generation, like rows that were forgotten: both are made anew. */
const struct pod_rows *node_rows_of(struct node_rows *r, const struct ledger *l, node_id node)
{
	const struct ledger_node *n = ledger_node(l, node);
	struct pod_rows *rows = &r->v[node];

	if (!rows->generation || rows->generation != n->generation)
		build(r, l, node, rows);
	return rows;
}

/* Mostly the row it was found in the last time. */
static pod_id example_on(struct node_rows *r, const struct ledger *l, node_id node, uint32_t kind)
{
	const struct pod_rows *rows = node_rows_of(r, l, node);
	uint32_t row = r->kinds.v[kind].row;

	if (row < rows->n && rows->v[row].kind == kind)
		return rows->v[row].pod;
	for (uint32_t i = 0; i < rows->n; i++) {
		if (rows->v[i].kind != kind)
			continue;
		r->kinds.v[kind].row = i;
		return rows->v[i].pod;
	}
	return POD_NONE;
}

/* Where it was seen last, or on the next node that has one. */
pod_id node_rows_example(struct node_rows *r, const struct ledger *l, uint32_t kind)
{
	for (uint32_t i = 0; i < r->n && r->kinds.v[kind].n_rows; i++) {
		node_id node = (r->kinds.v[kind].at + i) % r->n;
		pod_id pod = node < ledger_node_limit(l) ? example_on(r, l, node, kind) : POD_NONE;

		if (pod == POD_NONE)
			continue;
		r->kinds.v[kind].at = node;
		return pod;
	}
	return POD_NONE;
}
