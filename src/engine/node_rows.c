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
	r->kinds.n = 0;
	map_free(&r->kind_at);
	memset(r->alike, 0, sizeof(r->alike));
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

	h = hash_mix(h, map_key2(k->ns, k->scheduler));
	h = hash_mix(h, map_key2(k->class, k->budgeted));
	return hash_mix(h, (uint64_t)k->preemptibility << 16 | (uint64_t)k->allows_preemption << 8 | k->is_daemon);
}

static bool same_kind(const struct row_kind *a, const struct row_kind *b)
{
	return a->queue == b->queue && a->priority == b->priority && a->group == b->group && a->podset == b->podset &&
	       a->ns == b->ns && a->scheduler == b->scheduler && a->class == b->class && a->budgeted == b->budgeted &&
	       a->preemptibility == b->preemptibility && a->allows_preemption == b->allows_preemption &&
	       a->is_daemon == b->is_daemon;
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

static inline const struct kin *shape_kin(struct node_rows *r, const struct ledger *l, shape_id id)
{
	if (r->shapes[id].stamp != r->kin_stamp)
		learn_shape(r, l, id);
	return &r->shapes[id];
}

static inline const struct kin *labelset_kin(struct node_rows *r, const struct ledger *l, labelset_id id)
{
	if (r->labelsets[id].stamp != r->kin_stamp)
		learn_labelset(r, l, id);
	return &r->labelsets[id];
}

/* Pods of one kind come again and again: most are found where the last one was. */
static uint32_t kind_of(struct node_rows *r, const struct ledger *l, const struct pod *p)
{
	const struct kin *shape = shape_kin(r, l, p->shape), *labelset = labelset_kin(r, l, p->labelset);
	bool is_grouped = p->group != GROUP_NONE && !is_plain(l, p);
	struct row_kind k = {.queue = p->queue,
			     .priority = p->priority,
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
static inline uint32_t kind_by_pod(struct node_rows *r, const struct ledger *l, const struct pod *p)
{
	const struct kin *shape = shape_kin(r, l, p->shape), *labelset = labelset_kin(r, l, p->labelset);
	uint64_t spec = map_key2(shape->name, labelset->name), rank = map_key2(p->queue, (uint32_t)p->priority);
	uint64_t flags, mix;
	struct alike *x;
	uint32_t says;

	memcpy(&says, p, offsetof(struct pod, priority));
	flags = map_key2(labelset->budgeted, says);
	mix = (spec + flags) * UINT64_C(0x9E3779B97F4A7C15) + rank * UINT64_C(0xC2B2AE3D27D4EB4F);
	x = &r->alike[(mix ^ mix >> 32) * UINT64_C(0x165667B19E3779F9) >> (64 - ALIKE_BITS)];
	if (p->group != GROUP_NONE || p->has_class)
		return kind_of(r, l, p);
	if ((x->spec ^ spec) | (x->rank ^ rank) | (x->flags ^ flags))
		*x = (struct alike){.spec = spec, .rank = rank, .flags = flags, .kind = kind_of(r, l, p)};
	return x->kind;
}
_Static_assert(offsetof(struct pod, priority) == sizeof(uint32_t), "what a pod says in bits is one number");

/* ---- rows ---- */

/* As lost_ns_of has it. */
int64_t pod_since(const struct pod *p)
{
	int64_t at = p->started_ns != TIME_NONE ? p->started_ns : p->obj->started_ns;

	if (p->has_checkpoint && (at == TIME_NONE || p->obj->checkpointed_ns > at))
		at = p->obj->checkpointed_ns;
	return at;
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

static int by_rank(const void *a, const void *b)
{
	const struct pod_row *x = a, *y = b;

	if (x->priority != y->priority)
		return x->priority < y->priority ? -1 : 1;
	return (x->pod > y->pod) - (x->pod < y->pod);
}

/* Few and mostly in order: each to its place; many by qsort. */
static void sort_rows(struct pod_row *v, uint32_t n)
{
	if (n > 48) {
		qsort(v, n, sizeof(*v), by_rank);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct pod_row row = v[i];
		uint32_t at = i;

		for (; at > 0 && by_rank(&v[at - 1], &row) > 0; at--)
			v[at] = v[at - 1];
		v[at] = row;
	}
}

enum { BUCKETS = 8, LINED_UP = 256 }; /* priorities and pods on a node: more are put in order the plain way */

struct buckets {
	uint32_t n;
	int32_t priority[BUCKETS];
	uint32_t from[BUCKETS]; /* how many there are of each; once placed, where the next goes */
	uint8_t guess[64];	/* by hash of the priority: which it may be */
};

static uint32_t bucket_find(struct buckets *x, int32_t priority)
{
	uint32_t i = 0;

	while (i < x->n && x->priority[i] != priority)
		i++;
	if (i == x->n && i < BUCKETS) {
		x->priority[x->n] = priority;
		x->from[x->n++] = 0;
	}
	return i;
}

/* BUCKETS: there are too many. Priorities come in any order: a search would be guessed wrong for every other pod. */
static inline uint32_t bucket_of(struct buckets *x, int32_t priority)
{
	uint8_t *guess = &x->guess[(uint32_t)priority * UINT32_C(0x9E3779B1) >> 26];

	if (*guess >= x->n || x->priority[*guess] != priority)
		*guess = (uint8_t)bucket_find(x, priority);
	return *guess;
}

/* Where each begins. */
static void buckets_place(struct buckets *x)
{
	uint32_t size[BUCKETS];

	memcpy(size, x->from, sizeof(size));
	for (uint32_t i = 0; i < x->n; i++) {
		x->from[i] = 0;
		for (uint32_t k = 0; k < x->n; k++)
			x->from[i] += x->priority[k] < x->priority[i] ? size[k] : 0;
	}
}

/* Who has a row, as they stand in the node's list, and where it goes. */
struct line_up {
	struct buckets buckets;
	uint8_t bucket[LINED_UP];
	uint32_t n;
	bool is_few;  /* their buckets are known: rows go to their places, and each bucket's in the list's order */
	bool ascends; /* which is that of their ids */
};

/* Placed pods with a queue, each found with what it counts with. Few priorities, and ids that mostly ascend. */
static void line_up(const struct ledger *l, const struct ledger_node *n, const struct pod *pods, uint64_t *found,
		    struct line_up *ret)
{
	bool is_few = n->pods.n <= LINED_UP, ascends = true;
	uint32_t count = 0;
	pod_id last = 0;

	ret->buckets = (struct buckets){0};
	for (uint32_t i = 0; i < n->pods.n; i++) {
		pod_id id = n->pods.v[i];
		const struct pod *p = &pods[id];
		int32_t priority;

		if (p->state != POD_PLACED || p->queue == QUEUE_NONE)
			continue;
		priority = p->group == GROUP_NONE ? p->priority : lowest_of_group(l, n, p);
		if (is_few) {
			uint32_t at = bucket_of(&ret->buckets, priority);

			is_few = at < BUCKETS;
			ret->bucket[count] = (uint8_t)at;
			ret->buckets.from[at % BUCKETS]++;
		}
		ascends &= id >= last;
		last = id;
		found[count++] = map_key2((uint32_t)priority, id);
	}
	ret->n = count;
	ret->is_few = is_few;
	ret->ascends = ascends;
}

static inline bool is_apart(const struct pod *p)
{
	return (p->has_checkpoint || p->started_ns == TIME_NONE) && pod_since(p) != p->started_ns;
}

static inline void fill_row(struct node_rows *r, const struct ledger *l, node_id node, const struct pod *p,
			    uint64_t found, struct pod_row *row)
{
	uint32_t id = kind_by_pod(r, l, p);
	struct row_kind *kind = &r->kinds.v[id];

	*row = (struct pod_row){.pod = (pod_id)found,
				.kind = id & ((1U << 30) - 1),
				.is_placed = p->placed_in != 0,
				.is_apart = is_apart(p),
				.shape = p->shape,
				.priority = (int32_t)(found >> 32),
				.started_ns = p->started_ns};
	kind->at = node;
	kind->n_rows++;
}

static void fill_rows(struct node_rows *r, const struct ledger *l, node_id node, const struct pod *pods,
		      struct pod_rows *rows)
{
	const uint64_t *found = r->found.v;
	struct line_up x;
	bool has_groups = false, is_of_one = true;
	queue_id first;

	line_up(l, ledger_node(l, node), pods, r->found.v, &x);
	if (x.is_few)
		buckets_place(&x.buckets);
	first = x.n ? pods[(pod_id)found[0]].queue : QUEUE_NONE;
	for (uint32_t i = 0; i < x.n; i++) {
		const struct pod *p = &pods[(pod_id)found[i]];

		fill_row(r, l, node, p, found[i], &rows->v[x.is_few ? x.buckets.from[x.bucket[i]]++ : i]);
		has_groups |= p->group != GROUP_NONE;
		is_of_one &= p->queue == first;
	}
	if (!x.is_few || !x.ascends)
		sort_rows(rows->v, x.n);
	rows->n = x.n;
	rows->has_groups = has_groups;
	rows->queue = is_of_one ? first : QUEUE_NONE;
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
		fill_rows(r, l, node, ledger_pod(l, 0), rows);
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
