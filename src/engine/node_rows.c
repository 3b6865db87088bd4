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
	if (r->reuses != vocab_reuses(ledger_vocab(l)))
		memset(r->seen, 0, sizeof(r->seen));
	r->reuses = vocab_reuses(ledger_vocab(l));
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

static uint32_t kind_anew(struct node_rows *r, const struct ledger *l, const struct pod *p, group_id group,
			  podset_id podset)
{
	const struct vocab *v = ledger_vocab(l);
	struct row_kind new = {.queue = p->queue,
			       .priority = p->priority,
			       .group = group,
			       .podset = podset,
			       .ns = labelset_get(v, p->labelset)->ns,
			       .scheduler = shape_get(v, p->shape)->scheduler_name,
			       .class = p->obj->priority_class,
			       .budgeted = LABELSET_NONE,
			       .preemptibility = p->preemptibility,
			       .allows_preemption = (uint8_t)p->obj->allows_preemption,
			       .is_daemon = p->obj->owner_kind == OWNER_DAEMONSET};
	uint32_t n = 0;

	if (ledger_pdb_limit(l))
		ledger_labelset_pdbs(l, p->labelset, &n);
	if (n)
		new.budgeted = p->labelset;
	return find_or_add(r, &new);
}

/* Amounts of a shape that has gone stay: they only grow. */
static void note_size(struct node_rows *r, const struct ledger *l, shape_id shape)
{
	const struct res_list *usage = &shape_get(ledger_vocab(l), shape)->usage;

	for (uint32_t i = 0; i < usage->n; i++)
		if (usage->v[i].amount > r->most[usage->v[i].type])
			r->most[usage->v[i].type] = usage->v[i].amount;
}

static uint32_t rest_of(const struct pod *p)
{
	return (uint32_t)p->preemptibility << 16 | (uint32_t)p->obj->allows_preemption << 8 |
	       (p->obj->owner_kind == OWNER_DAEMONSET);
}

static void learn(struct node_rows *r, const struct ledger *l, const struct pod *p, group_id group, podset_id podset,
		  struct seen_kind *ret)
{
	note_size(r, l, p->shape);
	*ret = (struct seen_kind){.epoch = r->epoch + 1,
				  .queue = p->queue,
				  .priority = p->priority,
				  .group = group,
				  .podset = podset,
				  .labelset = p->labelset,
				  .shape = p->shape,
				  .class = p->obj->priority_class,
				  .rest = rest_of(p),
				  .kind = kind_anew(r, l, p, group, podset)};
}

static inline bool is_alike(const struct seen_kind *k, const struct pod *p, group_id group, podset_id podset)
{
	return k->shape == p->shape && k->labelset == p->labelset && k->queue == p->queue &&
	       k->priority == p->priority && k->group == group && k->podset == podset &&
	       k->class == p->obj->priority_class && k->rest == rest_of(p);
}

/* Pods of one template come again and again: most are found where the last one alike was. */
static inline uint32_t kind_of(struct node_rows *r, const struct ledger *l, const struct pod *p)
{
	uint64_t mix = ((uint64_t)p->shape << 32 ^ p->labelset ^ (uint64_t)p->queue << 16 ^
			(uint64_t)(uint32_t)p->priority << 40) *
		       UINT64_C(0x9E3779B97F4A7C15);
	struct seen_kind *k = &r->seen[mix >> (64 - SEEN_BITS)];
	bool is_grouped = p->group != GROUP_NONE && !is_plain(l, p);
	group_id group = is_grouped ? p->group : GROUP_NONE;
	podset_id podset = is_grouped ? p->podset : PODSET_NONE;

	if (k->epoch != r->epoch + 1 || !is_alike(k, p, group, podset))
		learn(r, l, p, group, podset, k);
	return k->kind;
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

enum { BUCKETS = 8 }; /* priorities on a node: more are put in order the plain way */

struct buckets {
	uint32_t n;
	uint32_t key[BUCKETS], from[BUCKETS]; /* priorities in the order of numbers, and how many there are of each */
};

static uint32_t bucket_of(struct buckets *x, uint32_t key)
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

/* Few priorities and ids that mostly ascend: what is left to sort is little. There is room for 2n keys. */
static void sort_by_bucket(uint64_t *keys, uint32_t n)
{
	uint64_t *scratch = keys + n;
	struct buckets x = {0};
	uint8_t at[256];
	bool is_few = n <= sizeof(at);

	for (uint32_t i = 0; is_few && i < n; i++) {
		at[i] = (uint8_t)bucket_of(&x, (uint32_t)(keys[i] >> 32));
		is_few = at[i] < BUCKETS;
		x.from[at[i] % BUCKETS]++;
		scratch[i] = keys[i];
	}
	if (is_few)
		buckets_place(&x);
	for (uint32_t i = 0; is_few && i < n; i++)
		keys[x.from[at[i]]++] = scratch[i];
	sort_keys(keys, n);
}

/* Placed pods with a queue by priority, then id; returns how many. There is room for twice as many as there are. */
static uint32_t line_up(const struct ledger *l, const struct ledger_node *n, const struct pod *pods, uint64_t *keys)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = &pods[n->pods.v[i]];
		int32_t priority;

		if (p->state != POD_PLACED || p->queue == QUEUE_NONE)
			continue;
		__builtin_prefetch(p->obj);
		priority = p->group == GROUP_NONE ? p->priority : lowest_of_group(l, n, p);
		keys[count++] = (uint64_t)((uint32_t)priority ^ UINT32_C(1) << 31) << 32 | n->pods.v[i];
	}
	sort_by_bucket(keys, count);
	return count;
}

static void fill_row(struct node_rows *r, const struct ledger *l, node_id node, const struct pod *p, uint64_t key,
		     struct pod_row *row)
{
	uint32_t id = kind_of(r, l, p);
	struct row_kind *kind = &r->kinds.v[id];

	*row = (struct pod_row){.pod = (pod_id)key,
				.kind = id & ((1U << 30) - 1),
				.is_placed = p->placed_in != 0,
				.is_apart = pod_since(p) != p->started_ns,
				.shape = p->shape,
				.priority = (int32_t)((uint32_t)(key >> 32) ^ UINT32_C(1) << 31),
				.started_ns = p->started_ns};
	kind->at = node;
	kind->n_rows++;
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
	for (uint32_t i = 0; i < rows->n; i++)
		fill_row(r, l, node, &pods[(pod_id)r->keys.v[i]], r->keys.v[i], &rows->v[i]);
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
