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
	array_free(&r->keys);
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

/* Pods of one kind come again and again: most are found where the last one was. */
static inline uint32_t kind_of(struct node_rows *r, const struct ledger *l, const struct pod *p)
{
	const struct kin *shape = &r->shapes[p->shape], *labelset = &r->labelsets[p->labelset];
	bool is_grouped = p->group != GROUP_NONE && !is_plain(l, p);
	struct row_kind k;
	uint32_t slot, at;

	if (shape->stamp != r->kin_stamp)
		learn_shape(r, l, p->shape);
	if (labelset->stamp != r->kin_stamp)
		learn_labelset(r, l, p->labelset);
	k = (struct row_kind){.queue = p->queue,
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
	slot = slot_of(&k);
	at = r->seen[slot] - 1; /* of nothing: beyond all */
	if (at >= r->kinds.n || !same_kind(&r->kinds.v[at], &k)) {
		at = find_or_add(r, &k);
		r->seen[slot] = at + 1;
	}
	return at;
}

/* The same by what the pod says itself, without what its shape and labels stand for. */
static inline uint32_t kind_by_pod(struct node_rows *r, const struct ledger *l, const struct pod *p)
{
	struct alike is = {.stamp = r->kin_stamp,
			   .spec = map_key2(p->shape, p->labelset),
			   .rank = map_key2(p->queue, (uint32_t)p->priority),
			   .flags = (uint32_t)p->preemptibility << 8 | (uint32_t)p->allows_preemption << 1 |
				    p->is_daemon};
	uint64_t mix = is.spec * UINT64_C(0x9E3779B97F4A7C15) + is.rank * UINT64_C(0xC2B2AE3D27D4EB4F) + is.flags;
	struct alike *x = &r->alike[mix * UINT64_C(0x165667B19E3779F9) >> (64 - ALIKE_BITS)];

	if (p->group != GROUP_NONE || p->has_class)
		return kind_of(r, l, p);
	if ((x->stamp ^ is.stamp) | (x->spec ^ is.spec) | (x->rank ^ is.rank) | (x->flags ^ is.flags)) {
		is.kind = kind_of(r, l, p);
		*x = is;
	}
	return x->kind;
}

/* ---- rows ---- */

/* As lost_ns_of has it. */
int64_t pod_since(const struct pod *p)
{
	int64_t at = p->started_ns != TIME_NONE ? p->started_ns : p->obj->started_ns;

	if (p->obj->checkpointed_ns != TIME_NONE && (at == TIME_NONE || p->obj->checkpointed_ns > at))
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

static int by_key(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Few and mostly in order: each to its place; many by qsort. */
static void sort_keys(uint64_t *v, uint32_t n)
{
	if (n > 48) {
		qsort(v, n, sizeof(*v), by_key);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint64_t key = v[i];
		uint32_t at = i;

		for (; at > 0 && v[at - 1] > key; at--)
			v[at] = v[at - 1];
		v[at] = key;
	}
}

enum { BUCKETS = 8, LINED_UP = 256 }; /* priorities and pods on a node: more are put in order the plain way */

struct buckets {
	uint32_t n;
	uint32_t key[BUCKETS], from[BUCKETS]; /* priorities in the order of numbers, and how many there are of each */
	uint8_t guess[64];		      /* by hash of the priority: which it may be */
};

static uint32_t bucket_find(struct buckets *x, uint32_t key)
{
	uint32_t i = 0;

	while (i < x->n && x->key[i] != key)
		i++;
	if (i == x->n && i < BUCKETS) {
		x->key[x->n] = key;
		x->from[x->n++] = 0;
	}
	return i;
}

/* BUCKETS: there are too many. Priorities come in any order: a search would be guessed wrong for every other pod. */
static inline uint32_t bucket_of(struct buckets *x, uint32_t key)
{
	uint8_t *guess = &x->guess[key * UINT32_C(0x9E3779B1) >> 26];

	if (*guess >= x->n || x->key[*guess] != key)
		*guess = (uint8_t)bucket_find(x, key);
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
			x->from[i] += x->key[k] < x->key[i] ? size[k] : 0;
	}
}

/*
 * Placed pods with a queue by priority, then id; returns how many. There is room for twice as many as there are. Few
 * priorities, and ids that mostly ascend: there is little to sort.
 */
static uint32_t line_up(const struct ledger *l, const struct ledger_node *n, const struct pod *pods, uint64_t *keys)
{
	uint64_t *found = keys + n->pods.n;
	bool is_few = n->pods.n <= LINED_UP, ascends = true;
	struct buckets x = {0};
	uint8_t at[LINED_UP];
	uint32_t count = 0;
	pod_id last = 0;

	for (uint32_t i = 0; i < n->pods.n; i++) {
		pod_id id = n->pods.v[i];
		const struct pod *p = &pods[id];
		uint32_t key;

		if (p->state != POD_PLACED || p->queue == QUEUE_NONE)
			continue;
		key = (uint32_t)(p->group == GROUP_NONE ? p->priority : lowest_of_group(l, n, p)) ^ UINT32_C(1) << 31;
		if (is_few) {
			at[count] = (uint8_t)bucket_of(&x, key);
			is_few = at[count] < BUCKETS;
			x.from[at[count] % BUCKETS]++;
		}
		ascends = ascends && id >= last;
		last = id;
		found[count++] = (uint64_t)key << 32 | id;
	}
	if (is_few)
		buckets_place(&x);
	for (uint32_t i = 0; i < count; i++)
		keys[is_few ? x.from[at[i]]++ : i] = found[i];
	if (!is_few || !ascends)
		sort_keys(keys, count);
	return count;
}

/* As pod_since has it: for most pods what the object says does not matter. */
static inline bool is_apart(const struct pod *p)
{
	return (p->has_checkpoint || p->started_ns == TIME_NONE) && pod_since(p) != p->started_ns;
}

static inline void fill_row(struct node_rows *r, const struct ledger *l, node_id node, const struct pod *p,
			    uint64_t key, struct pod_row *row)
{
	uint32_t id = kind_by_pod(r, l, p);
	struct row_kind *kind = &r->kinds.v[id];

	*row = (struct pod_row){.pod = (pod_id)key,
				.kind = id & ((1U << 30) - 1),
				.is_placed = p->placed_in != 0,
				.is_apart = is_apart(p),
				.shape = p->shape,
				.priority = (int32_t)((uint32_t)(key >> 32) ^ UINT32_C(1) << 31),
				.started_ns = p->started_ns};
	kind->at = node;
	kind->n_rows++;
}

/* As they were lined up. */
static void fill_rows(struct node_rows *r, const struct ledger *l, node_id node, const struct pod *pods,
		      struct pod_rows *rows)
{
	const uint64_t *keys = r->keys.v;
	struct pod_row *v = rows->v;
	uint32_t n = rows->n;
	queue_id first = n ? pods[(pod_id)keys[0]].queue : QUEUE_NONE;
	bool has_groups = false, is_of_one = true;

	for (uint32_t i = 0; i < n; i++) {
		const struct pod *p = &pods[(pod_id)keys[i]];

		fill_row(r, l, node, p, keys[i], &v[i]);
		has_groups |= p->group != GROUP_NONE;
		is_of_one &= p->queue == first;
	}
	rows->has_groups = has_groups;
	rows->queue = is_of_one ? first : QUEUE_NONE;
}

static void build(struct node_rows *r, const struct ledger *l, node_id node, struct pod_rows *rows)
{
	const struct ledger_node *n = ledger_node(l, node);
	const struct pod *pods = n->pods.n ? ledger_pod(l, 0) : NULL;

	for (uint32_t i = 0; i < rows->n; i++)
		r->kinds.v[rows->v[i].kind].n_rows--;
	if (rows->cap < n->pods.n) {
		rows->cap = n->pods.n;
		rows->v = mem_resize(rows->v, rows->cap, sizeof(*rows->v));
	}
	if (r->keys.cap < 2 * n->pods.n)
		array_reserve(&r->keys, 2 * n->pods.n);
	rows->n = n->pods.n ? line_up(l, n, pods, r->keys.v) : 0;
	fill_rows(r, l, node, pods, rows);
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
