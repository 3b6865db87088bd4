/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/turn.h"

#include "engine/turn_yunikorn.h"

/* Of one queue. */
struct lane {
	ARRAY(pod_id) pods; /* a leaf's, in their order */
	uint32_t next;
	uint32_t untried; /* in it and below */
};

struct turn {
	const struct ledger *l;
	const struct queue_tree *tree;
	struct lane *lanes; /* by queue id */
	uint32_t n;
	ARRAY(pod_id) stray; /* pods without a queue: last */
	uint32_t next_stray;
	struct turn_yunikorn *yunikorn; /* in that profile everybody with a queue is there */
};

static void add(struct turn *t, pod_id pod)
{
	queue_id q = ledger_pod(t->l, pod)->queue;

	if (q == QUEUE_NONE || q >= t->n) {
		array_push(&t->stray, pod);
		return;
	}
	if (t->yunikorn)
		return;
	array_push(&t->lanes[q].pods, pod);
	for (; q != QUEUE_NONE; q = queue_get(t->tree, q)->parent)
		t->lanes[q].untried++;
}

struct turn *turn_new(const struct engine *en, const pod_id *waiting, uint32_t n)
{
	struct turn *t = mem_alloc(sizeof(*t));

	t->l = en->ledger;
	t->tree = ledger_queues(t->l);
	t->n = t->tree->q.n;
	t->lanes = mem_alloc((t->n + 1) * sizeof(*t->lanes));
	if (profile_get(en->config->profile)->order == ORDER_YUNIKORN)
		t->yunikorn = turn_yunikorn_new(en, waiting, n);
	for (uint32_t i = 0; i < n; i++)
		add(t, waiting[i]);
	return t;
}

void turn_free(struct turn *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		array_free(&t->lanes[i].pods);
	mem_free(t->lanes);
	array_free(&t->stray);
	if (t->yunikorn)
		turn_yunikorn_free(t->yunikorn);
	mem_free(t);
}

/* ---- who is furthest below ---- */

struct share { /* a fraction, compared exactly */
	int64_t used, of;
};

/* <0: a is smaller. Fractions of non-negative numbers. */
static int share_cmp(const struct share *a, const struct share *b)
{
	__int128 x = (__int128)a->used * b->of, y = (__int128)b->used * a->of;

	return (x > y) - (x < y);
}

static int64_t held(const struct turn *t, queue_id q, res_id r)
{
	return ledger_queue_used(t->l, q)[r] + ledger_queue_claimed(t->l, q)[r];
}

/*
 * used/guaranteed of the most used guaranteed type; without a guarantee 1 and its largest share of the cluster on top.
 */
static struct share share_of(const struct turn *t, queue_id q)
{
	const struct res_vec *g = &queue_get(t->tree, q)->spec.guaranteed;
	const int64_t *capacity = ledger_capacity(t->l);
	struct share most = {0, 1};
	bool has_guarantee = false;

	for (uint64_t left = g->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		struct share s = {held(t, q, r), g->v[r]};

		if (g->v[r] <= 0)
			continue;
		has_guarantee = true;
		if (share_cmp(&s, &most) > 0)
			most = s;
	}
	if (has_guarantee)
		return most;
	for (res_id r = 0; r < ledger_stride(t->l); r++) {
		struct share s = {held(t, q, r), capacity[r]};

		if (r != RES_PODS && capacity[r] > 0 && share_cmp(&s, &most) > 0)
			most = s;
	}
	return (struct share){most.used + most.of, most.of};
}

/* Is a ahead of b? Children are sorted by path, so of equals the first stays. */
static bool is_ahead(const struct turn *t, queue_id a, queue_id b)
{
	struct share x = share_of(t, a), y = share_of(t, b);

	return share_cmp(&x, &y) < 0;
}

static queue_id best_child(const struct turn *t, queue_id q)
{
	const struct queue *queue = queue_get(t->tree, q);
	queue_id best = QUEUE_NONE;

	for (uint32_t i = 0; i < queue->children.n; i++) {
		queue_id child = queue->children.v[i];

		if (t->lanes[child].untried && (best == QUEUE_NONE || is_ahead(t, child, best)))
			best = child;
	}
	return best;
}

pod_id turn_next(struct turn *t)
{
	queue_id q = QUEUE_ROOT, child;
	pod_id pod = t->yunikorn ? turn_yunikorn_next(t->yunikorn) : POD_NONE;

	if (pod != POD_NONE)
		return pod;
	if (!t->n || !t->lanes[QUEUE_ROOT].untried)
		return t->next_stray < t->stray.n ? t->stray.v[t->next_stray++] : POD_NONE;
	while (t->lanes[q].next >= t->lanes[q].pods.n && (child = best_child(t, q)) != QUEUE_NONE)
		q = child;
	pod = t->lanes[q].pods.v[t->lanes[q].next++];
	for (; q != QUEUE_NONE; q = queue_get(t->tree, q)->parent)
		t->lanes[q].untried--;
	return pod;
}
