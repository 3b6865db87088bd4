/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue_order.h"

#include "base/heap.h"
#include "base/map.h"
#include "engine/entitled_work.h"
#include "engine/gang.h"
#include "engine/queue_order_yunikorn.h"

/* Pods of one leaf that ask for the same: alike in shape, group and whether room is reserved for them. */
struct kind {
	uint64_t what;
	uint32_t first, last; /* their ranks: places in the order of all that wait; first: of the next one */
};

struct kind_ref { /* a kind of a group's pods */
	queue_id leaf;
	uint32_t at, next; /* next: another of the same group, MAP_NONE */
};

struct used_share { /* a fraction, compared exactly */
	uint64_t used, of;
};

/* A queue with work that was not tried yet, in it or below. */
struct queue_backlog {
	const struct queue_order *t;
	queue_id queue;
	bool is_used; /* something waits there, or did; else it is only kept for the next time */
	uint32_t at;  /* among the parent's kids */
	uint32_t untried;
	struct used_share share;
	int64_t *held; /* as last seen; NULL: it guarantees nothing */
	/* of a leaf: kinds by their first pod, those that may be entitled and those that are not */
	ARRAY(struct kind) kinds;
	struct map kind_at; /* of those beyond the first few */
	struct heap maybe, others;
	/* of a parent: children by their share, with work that may be entitled, and with any */
	ARRAY(queue_id) kids;
	struct heap maybe_kids, all_kids;
};

struct queue_order {
	const struct engine *en;
	struct ledger *l;
	const struct queue_tree *tree;
	const pod_id *waiting;
	struct queue_backlog **backlogs; /* by queue id, NULL where nothing ever waited */
	uint32_t n;
	uint64_t tree_generation; /* of which they are */
	uint32_t stride;
	ARRAY(queue_id) used;
	ARRAY(uint32_t) next_rank; /* by rank: of the next pod of the same kind; MAP_NONE: it is the last */
	ARRAY(struct kind_ref) group_kinds;
	struct map first_kind; /* of a group: where in group_kinds */
	struct bits tried;     /* groups */
	ARRAY(pod_id) stray;   /* pods without a queue: last */
	uint32_t next_stray;
	struct queue_order_yunikorn *yunikorn; /* in that profile everybody with a queue is there, */
	ARRAY(pod_id) nominated;	       /* and these come first */
	uint32_t next_nominated;
	struct bits was_first;
};

static queue_id parent_of(const struct queue_order *t, queue_id q)
{
	return queue_get(t->tree, q)->parent;
}

/* ---- who is furthest below ---- */

/* <0: a is smaller. */
static int share_cmp(const struct used_share *a, const struct used_share *b)
{
	unsigned __int128 x = (unsigned __int128)a->used * b->of, y = (unsigned __int128)b->used * a->of;

	return (x > y) - (x < y);
}

static int64_t held(const struct queue_order *t, queue_id q, res_id r)
{
	return res_add_sat(ledger_queue_used(t->l, q)[r], ledger_queue_reserved(t->l, q)[r]);
}

static struct used_share share_in(const struct queue_order *t, queue_id q, res_id r, int64_t of)
{
	return (struct used_share){(uint64_t)held(t, q, r), (uint64_t)of};
}

/*
 * used/guaranteed of the most used guaranteed type; without a guarantee 1 and its largest share of the cluster on top.
 */
static struct used_share share_of(const struct queue_order *t, queue_id q)
{
	const struct res_vec *g = &queue_get(t->tree, q)->spec.guaranteed;
	const int64_t *capacity = ledger_capacity(t->l);
	struct used_share most = {0, 1};
	bool has_guarantee = false;

	for (uint64_t left = g->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		struct used_share s = share_in(t, q, r, g->v[r]);

		if (g->v[r] <= 0)
			continue;
		has_guarantee = true;
		if (share_cmp(&s, &most) > 0)
			most = s;
	}
	if (has_guarantee)
		return most;
	for (res_id r = 0; r < ledger_stride(t->l); r++) {
		struct used_share s = share_in(t, q, r, capacity[r]);

		if (r != RES_PODS && capacity[r] > 0 && share_cmp(&s, &most) > 0)
			most = s;
	}
	return (struct used_share){most.used + most.of, most.of};
}

static int by_share(const void *ctx, uint32_t a, uint32_t b)
{
	const struct queue_backlog *parent = ctx;
	const struct queue_order *t = parent->t;
	queue_id x = parent->kids.v[a], y = parent->kids.v[b];
	int d = share_cmp(&t->backlogs[x]->share, &t->backlogs[y]->share);

	return d ? d : name_cmp(t->tree->names, queue_get(t->tree, x)->path, queue_get(t->tree, y)->path);
}

static int by_first_pod(const void *ctx, uint32_t a, uint32_t b)
{
	const struct queue_backlog *leaf = ctx;
	const struct kind *x = &leaf->kinds.v[a], *y = &leaf->kinds.v[b];

	return x->first < y->first ? -1 : 1;
}

/* ---- beginning ---- */

static bool has_guarantee(const struct queue_order *t, queue_id q)
{
	return queue_get(t->tree, q)->spec.guaranteed.mask != 0;
}

static void see_held(struct queue_backlog *backlog)
{
	uint32_t stride = ledger_stride(backlog->t->l);

	for (res_id r = 0; backlog->held && r < stride; r++)
		backlog->held[r] = held(backlog->t, backlog->queue, r);
}

/* The backlog of a queue; NULL: nothing waits there. */
static struct queue_backlog *backlog_at(const struct queue_order *t, queue_id q)
{
	return t->backlogs[q] && t->backlogs[q]->is_used ? t->backlogs[q] : NULL;
}

static struct queue_backlog *backlog_new(struct queue_order *t, queue_id q)
{
	struct queue_backlog *backlog = mem_alloc(sizeof(*backlog));

	*backlog = (struct queue_backlog){.t = t, .queue = q};
	if (has_guarantee(t, q))
		backlog->held = mem_alloc(t->stride * sizeof(*backlog->held));
	heap_init(&backlog->maybe, by_first_pod, backlog);
	heap_init(&backlog->others, by_first_pod, backlog);
	heap_init(&backlog->maybe_kids, by_share, backlog);
	heap_init(&backlog->all_kids, by_share, backlog);
	return backlog;
}

static struct queue_backlog *backlog_of(struct queue_order *t, queue_id q)
{
	queue_id up = parent_of(t, q);
	struct queue_backlog *backlog = backlog_at(t, q), *parent;

	if (backlog)
		return backlog;
	parent = up == QUEUE_NONE ? NULL : backlog_of(t, up);
	if (!t->backlogs[q])
		t->backlogs[q] = backlog_new(t, q);
	backlog = t->backlogs[q];
	backlog->is_used = true;
	backlog->share = share_of(t, q);
	see_held(backlog);
	array_push(&t->used, q);
	if (parent) {
		backlog->at = parent->kids.n;
		array_push(&parent->kids, q);
		heap_push(&parent->all_kids, backlog->at);
		heap_push(&parent->maybe_kids, backlog->at);
	}
	return backlog;
}

static void chain_kind(struct queue_order *t, const struct pod *p, uint32_t at)
{
	struct kind_ref ref = {.leaf = p->queue, .at = at, .next = map_get(&t->first_kind, p->group)};

	map_put(&t->first_kind, p->group, t->group_kinds.n);
	array_push(&t->group_kinds, ref);
}

enum { FEW_KINDS = 8 }; /* are looked through */

static uint32_t find_kind(const struct queue_backlog *leaf, uint64_t what)
{
	for (uint32_t i = 0; i < leaf->kinds.n && i < FEW_KINDS; i++)
		if (leaf->kinds.v[i].what == what)
			return i;
	return leaf->kinds.n > FEW_KINDS ? map_get(&leaf->kind_at, what) : MAP_NONE;
}

static uint32_t kind_of(struct queue_order *t, struct queue_backlog *leaf, const struct pod *p)
{
	uint64_t what = map_key2(p->shape << 1 | (p->nomination != NOMINATION_NONE), p->group);
	uint32_t at = find_kind(leaf, what);

	if (at != MAP_NONE)
		return at;
	at = leaf->kinds.n;
	if (at >= FEW_KINDS)
		map_put(&leaf->kind_at, what, at);
	array_push(&leaf->kinds, ((struct kind){.what = what, .first = MAP_NONE}));
	if (p->group != GROUP_NONE)
		chain_kind(t, p, at);
	return at;
}

static void append(struct queue_order *t, struct queue_backlog *leaf, uint32_t at, uint32_t rank)
{
	struct kind *k = &leaf->kinds.v[at];
	bool is_first = k->first == MAP_NONE;

	t->next_rank.v[rank] = MAP_NONE;
	if (is_first)
		k->first = rank;
	else
		t->next_rank.v[k->last] = rank;
	k->last = rank;
	if (is_first)
		heap_push(&leaf->maybe, at);
}

static void add(struct queue_order *t, uint32_t rank)
{
	const struct pod *p = ledger_pod(t->l, t->waiting[rank]);
	struct queue_backlog *leaf;

	if (p->queue == QUEUE_NONE || p->queue >= t->n) {
		array_push(&t->stray, t->waiting[rank]);
		return;
	}
	if (t->yunikorn) {
		if (p->nomination != NOMINATION_NONE)
			array_push(&t->nominated, t->waiting[rank]);
		return;
	}
	leaf = backlog_of(t, p->queue);
	append(t, leaf, kind_of(t, leaf, p), rank);
	for (queue_id q = p->queue; q != QUEUE_NONE; q = parent_of(t, q))
		t->backlogs[q]->untried++;
}

struct queue_order *queue_order_new(const struct engine *en)
{
	struct queue_order *t = mem_alloc(sizeof(*t));

	t->en = en;
	t->l = en->ledger;
	t->tree = ledger_queues(t->l);
	return t;
}

static void backlog_free(struct queue_backlog *backlog)
{
	if (!backlog)
		return;
	array_free(&backlog->kinds);
	array_free(&backlog->kids);
	map_free(&backlog->kind_at);
	heap_free(&backlog->maybe);
	heap_free(&backlog->others);
	heap_free(&backlog->maybe_kids);
	heap_free(&backlog->all_kids);
	mem_free(backlog->held);
	mem_free(backlog);
}

static void forget_backlogs(struct queue_order *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		backlog_free(t->backlogs[i]);
	mem_free(t->backlogs);
	t->backlogs = NULL;
	t->n = 0;
}

/* What is kept of queues is good for one tree, and rows of one length. */
static void see_tree(struct queue_order *t)
{
	uint64_t generation = ledger_tree_generation(t->l);

	if (t->backlogs && t->tree_generation == generation && t->stride == ledger_stride(t->l))
		return;
	forget_backlogs(t);
	t->tree_generation = generation;
	t->stride = ledger_stride(t->l);
	t->n = t->tree->q.n;
	t->backlogs = mem_alloc((t->n + 1) * sizeof(*t->backlogs));
}

void queue_order_begin(struct queue_order *t, const pod_id *waiting, uint32_t n)
{
	uint32_t n_touched;

	see_tree(t);
	t->waiting = waiting;
	while (t->next_rank.n < n)
		array_push(&t->next_rank, MAP_NONE);
	if (profile_get(t->en->config->profile)->order == ORDER_YUNIKORN)
		t->yunikorn = queue_order_yunikorn_new(t->en, waiting, n);
	ledger_touched_queues(t->l, &n_touched); /* what was before does not matter */
	ledger_touched_groups(t->l, &n_touched);
	for (uint32_t i = 0; i < n; i++)
		add(t, i);
}

/* Its memory stays. */
static void backlog_clear(struct queue_backlog *backlog)
{
	backlog->is_used = false;
	backlog->untried = 0;
	backlog->kinds.n = backlog->kids.n = 0;
	map_free(&backlog->kind_at);
	heap_clear(&backlog->maybe);
	heap_clear(&backlog->others);
	heap_clear(&backlog->maybe_kids);
	heap_clear(&backlog->all_kids);
}

void queue_order_end(struct queue_order *t)
{
	for (uint32_t i = 0; i < t->used.n; i++)
		backlog_clear(t->backlogs[t->used.v[i]]);
	t->used.n = t->group_kinds.n = t->stray.n = t->nominated.n = 0;
	t->next_stray = t->next_nominated = 0;
	map_free(&t->first_kind);
	bits_free(&t->tried);
	bits_free(&t->was_first);
	if (t->yunikorn)
		queue_order_yunikorn_free(t->yunikorn);
	t->yunikorn = NULL;
	t->waiting = NULL;
}

void queue_order_free(struct queue_order *t)
{
	if (!t)
		return;
	queue_order_end(t);
	forget_backlogs(t);
	array_free(&t->used);
	array_free(&t->next_rank);
	array_free(&t->group_kinds);
	array_free(&t->nominated);
	array_free(&t->stray);
	mem_free(t);
}

/* ---- what changed ---- */

static bool may_be_entitled(const struct queue_backlog *backlog)
{
	return backlog->maybe.items.n || backlog->maybe_kids.items.n;
}

/* It may have entitled work again, and so do those above it. */
static void note_maybe(struct queue_order *t, queue_id q)
{
	for (queue_id up = parent_of(t, q); up != QUEUE_NONE; q = up, up = parent_of(t, q))
		if (!heap_has(&t->backlogs[up]->maybe_kids, t->backlogs[q]->at))
			heap_push(&t->backlogs[up]->maybe_kids, t->backlogs[q]->at);
}

static void note_none(struct queue_order *t, queue_id q)
{
	for (queue_id up = parent_of(t, q); up != QUEUE_NONE && !may_be_entitled(t->backlogs[q]);
	     q = up, up = parent_of(t, q))
		heap_remove(&t->backlogs[up]->maybe_kids, t->backlogs[q]->at);
}

static void reopen_leaf(struct queue_order *t, struct queue_backlog *leaf)
{
	if (!leaf->others.items.n)
		return;
	while (leaf->others.items.n)
		heap_push(&leaf->maybe, heap_pop(&leaf->others));
	note_maybe(t, leaf->queue);
}

/* A queue with a guarantee uses less: ask again below it. */
static void reopen(struct queue_order *t, struct queue_backlog *backlog)
{
	reopen_leaf(t, backlog);
	for (uint32_t i = 0; i < backlog->kids.n; i++)
		if (t->backlogs[backlog->kids.v[i]]->untried)
			reopen(t, t->backlogs[backlog->kids.v[i]]);
}

static bool uses_less(const struct queue_backlog *backlog)
{
	for (uint64_t left = queue_get(backlog->t->tree, backlog->queue)->spec.guaranteed.mask; left;
	     left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		if (held(backlog->t, backlog->queue, r) < backlog->held[r])
			return true;
	}
	return false;
}

static void refresh(struct queue_order *t, struct queue_backlog *backlog)
{
	queue_id up = parent_of(t, backlog->queue);
	bool is_less = backlog->held && uses_less(backlog);

	backlog->share = share_of(t, backlog->queue);
	see_held(backlog);
	if (up != QUEUE_NONE && heap_has(&t->backlogs[up]->all_kids, backlog->at))
		heap_update(&t->backlogs[up]->all_kids, backlog->at);
	if (up != QUEUE_NONE && heap_has(&t->backlogs[up]->maybe_kids, backlog->at))
		heap_update(&t->backlogs[up]->maybe_kids, backlog->at);
	if (is_less)
		reopen(t, backlog);
}

/* What its pods ask for is not what it was. */
static void reopen_group(struct queue_order *t, group_id group)
{
	for (uint32_t i = map_get(&t->first_kind, group); i != MAP_NONE; i = t->group_kinds.v[i].next) {
		const struct kind_ref *ref = &t->group_kinds.v[i];
		struct queue_backlog *leaf = t->backlogs[ref->leaf];

		if (!heap_has(&leaf->others, ref->at))
			continue;
		heap_remove(&leaf->others, ref->at);
		heap_push(&leaf->maybe, ref->at);
		note_maybe(t, ref->leaf);
	}
}

static void refresh_touched(struct queue_order *t)
{
	uint32_t n;
	const queue_id *v = ledger_touched_queues(t->l, &n);

	for (uint32_t i = 0; i < n; i++)
		for (queue_id q = v[i]; q != QUEUE_NONE; q = parent_of(t, q))
			if (backlog_at(t, q) && t->backlogs[q]->untried)
				refresh(t, t->backlogs[q]);
	v = ledger_touched_groups(t->l, &n);
	for (uint32_t i = 0; t->group_kinds.n && i < n; i++)
		reopen_group(t, v[i]);
}

/* ---- who comes next ---- */

static uint32_t first_rank(const struct queue_backlog *leaf, uint32_t kind)
{
	return leaf->kinds.v[kind].first;
}

static bool is_claim_of_group(const struct queue_order *t, const struct pod *p)
{
	return p->group != GROUP_NONE && !bits_has(&t->tried, p->group) && gang_is_short(t->en, p->group);
}

static bool is_entitled(const struct queue_order *t, const struct queue_backlog *leaf, uint32_t kind)
{
	pod_id pod = t->waiting[first_rank(leaf, kind)];
	const struct pod *p = ledger_pod(t->l, pod);
	struct work w;

	if (is_claim_of_group(t, p))
		work_of_group(t->en, p->group, &w);
	else
		work_of_pod(t->l, pod, &w);
	return work_is_entitled(t->l, leaf->queue, &w);
}

/* Drops what is not entitled after all; false: nothing is left. */
static bool settle_maybe(struct queue_order *t, struct queue_backlog *leaf)
{
	while (leaf->maybe.items.n && !is_entitled(t, leaf, heap_peek(&leaf->maybe)))
		heap_push(&leaf->others, heap_pop(&leaf->maybe));
	return leaf->maybe.items.n > 0;
}

static struct queue_backlog *descend(struct queue_order *t, bool entitled)
{
	struct queue_backlog *backlog = t->backlogs[QUEUE_ROOT];

	while (!(entitled ? &backlog->maybe : &backlog->others)->items.n)
		backlog = t->backlogs[backlog->kids.v[heap_peek(entitled ? &backlog->maybe_kids : &backlog->all_kids)]];
	return backlog;
}

/* The leaf with the next entitled work, NULL if there is none. */
static struct queue_backlog *entitled_leaf(struct queue_order *t)
{
	while (may_be_entitled(t->backlogs[QUEUE_ROOT])) {
		struct queue_backlog *leaf = descend(t, true);

		if (settle_maybe(t, leaf))
			return leaf;
		note_none(t, leaf->queue);
	}
	return NULL;
}

/* The group was tried: who is left of it is asked about alone. */
static void note_tried(struct queue_order *t, group_id group)
{
	bits_set(&t->tried, group);
	reopen_group(t, group);
}

/* Out of its queue, and the queue out of the heaps above it if it was the last. */
static void count_out(struct queue_order *t, queue_id q)
{
	for (; q != QUEUE_NONE; q = parent_of(t, q)) {
		queue_id up = parent_of(t, q);

		if (--t->backlogs[q]->untried == 0 && up != QUEUE_NONE)
			heap_remove(&t->backlogs[up]->all_kids, t->backlogs[q]->at);
	}
}

static pod_id take(struct queue_order *t, struct queue_backlog *leaf, struct heap *from)
{
	uint32_t at = heap_peek(from);
	struct kind *kind = &leaf->kinds.v[at];
	pod_id pod = t->waiting[kind->first];
	group_id group = ledger_pod(t->l, pod)->group;

	heap_pop(from);
	kind->first = t->next_rank.v[kind->first];
	if (kind->first != MAP_NONE)
		heap_push(from, at);
	if (from == &leaf->maybe)
		note_none(t, leaf->queue);
	count_out(t, leaf->queue);
	if (group != GROUP_NONE && !bits_has(&t->tried, group))
		note_tried(t, group);
	return pod;
}

/* As there: whose room is reserved is tried before all others, so that nobody comes in between who is in its way. */
static pod_id next_of_yunikorn(struct queue_order *t)
{
	pod_id pod;

	if (t->next_nominated < t->nominated.n) {
		pod = t->nominated.v[t->next_nominated++];
		bits_set(&t->was_first, pod);
		return pod;
	}
	do
		pod = queue_order_yunikorn_next(t->yunikorn);
	while (pod != POD_NONE && bits_has(&t->was_first, pod));
	return pod;
}

pod_id queue_order_next(struct queue_order *t)
{
	pod_id pod = t->yunikorn ? next_of_yunikorn(t) : POD_NONE;
	struct queue_backlog *leaf;

	if (pod != POD_NONE)
		return pod;
	if (!t->n || !backlog_at(t, QUEUE_ROOT) || !t->backlogs[QUEUE_ROOT]->untried)
		return t->next_stray < t->stray.n ? t->stray.v[t->next_stray++] : POD_NONE;
	refresh_touched(t);
	leaf = entitled_leaf(t);
	if (leaf)
		return take(t, leaf, &leaf->maybe);
	leaf = descend(t, false);
	return take(t, leaf, &leaf->others);
}
