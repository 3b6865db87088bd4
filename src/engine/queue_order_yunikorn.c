/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/queue_order_yunikorn.h"

#include "base/map.h"

#define NO_PRIORITY INT32_MIN /* nothing waits */

struct waiting_app {
	name_id ns, id;	      /* id NAME_NONE: of all pods of the namespace that have none */
	ARRAY(pod_id) pods;   /* that wait, by priority and age */
	uint32_t next, first; /* not tried yet from here; still waiting from here */
	int64_t submitted_ns; /* its first pod */
	int64_t *held;	      /* where the leaf is fair */
};

struct yunikorn_backlog { /* of one queue */
	ARRAY(struct waiting_app) apps;
	struct map by_id;
	uint32_t untried; /* in it and below */
	int32_t priority; /* of what waits in it and below, before its own policy */
	int64_t *pending; /* requests of what waits in it and below */
	int64_t *seen;	  /* the rows that apps' held goes with: used, then reserved */
};

struct queue_order_yunikorn {
	const struct ledger *l;
	const struct vocab *vocab;
	const struct names *names;
	const struct queue_tree *tree;
	uint32_t n, stride;
	struct yunikorn_backlog *backlogs; /* by queue id */
	struct arena *arena;
	pod_id last; /* what became of it is not known yet */
	queue_id last_queue;
	uint32_t last_app;
};

static queue_id parent_of(const struct queue_order_yunikorn *t, queue_id q)
{
	return queue_get(t->tree, q)->parent;
}

static name_id ns_of(const struct queue_order_yunikorn *t, const struct pod *p)
{
	return labelset_get(t->vocab, p->labelset)->ns;
}

/* ---- what waits ---- */

static void add_request(const struct queue_order_yunikorn *t, int64_t *row, const struct pod *p, int sign)
{
	const struct res_list *asks = &shape_get(t->vocab, p->shape)->request;

	row[RES_PODS] += sign;
	for (uint32_t i = 0; i < asks->n; i++)
		if (asks->v[i].type != RES_PODS && asks->v[i].type < t->stride)
			row[asks->v[i].type] += sign * asks->v[i].amount;
}

static void count_pending(struct queue_order_yunikorn *t, queue_id q, const struct pod *p, int sign)
{
	for (; q != QUEUE_NONE; q = parent_of(t, q))
		add_request(t, t->backlogs[q].pending, p, sign);
}

static int32_t clamped(int64_t priority)
{
	return priority < INT32_MIN ? INT32_MIN : priority > INT32_MAX ? INT32_MAX : (int32_t)priority;
}

static int32_t passed_up(const struct queue_order_yunikorn *t, queue_id q)
{
	const struct queue_props *p = &queue_get(t->tree, q)->props;
	int32_t priority = t->backlogs[q].priority;

	if (priority == NO_PRIORITY)
		return priority;
	return p->is_priority_fence ? p->priority_offset : clamped((int64_t)priority + p->priority_offset);
}

/* The highest of its outstanding pods. */
static int32_t app_priority(const struct queue_order_yunikorn *t, const struct waiting_app *a)
{
	return a->first < a->pods.n ? ledger_pod(t->l, a->pods.v[a->first])->priority : NO_PRIORITY;
}

static void set_priority(struct queue_order_yunikorn *t, queue_id q)
{
	const struct queue *queue = queue_get(t->tree, q);
	struct yunikorn_backlog *backlog = &t->backlogs[q];

	backlog->priority = NO_PRIORITY;
	for (uint32_t i = 0; i < backlog->apps.n; i++) {
		int32_t p = app_priority(t, &backlog->apps.v[i]);

		backlog->priority = p > backlog->priority ? p : backlog->priority;
	}
	for (uint32_t i = 0; i < queue->children.n; i++) {
		int32_t p = passed_up(t, queue->children.v[i]);

		backlog->priority = p > backlog->priority ? p : backlog->priority;
	}
}

static void set_all_priorities(struct queue_order_yunikorn *t, queue_id q)
{
	const struct queue *queue = queue_get(t->tree, q);

	for (uint32_t i = 0; i < queue->children.n; i++)
		set_all_priorities(t, queue->children.v[i]);
	set_priority(t, q);
}

/* ---- beginning ---- */

static uint32_t app_of(struct queue_order_yunikorn *t, queue_id q, const struct pod *p)
{
	struct yunikorn_backlog *backlog = &t->backlogs[q];
	uint64_t key = map_key2(ns_of(t, p), p->obj->app);
	uint32_t at = map_get(&backlog->by_id, key);
	struct waiting_app new = {.ns = ns_of(t, p), .id = p->obj->app, .submitted_ns = INT64_MAX};

	if (at != MAP_NONE)
		return at;
	array_push(&backlog->apps, new);
	map_put(&backlog->by_id, key, backlog->apps.n - 1);
	return backlog->apps.n - 1;
}

static void add(struct queue_order_yunikorn *t, pod_id pod)
{
	const struct pod *p = ledger_pod(t->l, pod);
	queue_id q = p->queue;
	uint32_t at;

	if (q == QUEUE_NONE || q >= t->n)
		return;
	at = app_of(t, q, p);
	array_push(&t->backlogs[q].apps.v[at].pods, pod);
	count_pending(t, q, p, 1);
	for (; q != QUEUE_NONE; q = parent_of(t, q))
		t->backlogs[q].untried++;
}

/* When the applications that wait were made: their running pods count too. */
static void set_submitted(struct queue_order_yunikorn *t, queue_id q)
{
	struct yunikorn_backlog *backlog = &t->backlogs[q];
	uint32_t n;
	const pod_id *pods = ledger_queue_pods(t->l, q, &n);

	for (uint32_t i = 0; backlog->apps.n && i < n; i++) {
		const struct pod *p = ledger_pod(t->l, pods[i]);
		uint32_t at = map_get(&backlog->by_id, map_key2(ns_of(t, p), p->obj->app));

		if (at != MAP_NONE && p->created_ns != TIME_NONE && p->created_ns < backlog->apps.v[at].submitted_ns)
			backlog->apps.v[at].submitted_ns = p->created_ns;
	}
}

struct queue_order_yunikorn *queue_order_yunikorn_new(const struct engine *en, const pod_id *waiting, uint32_t n)
{
	struct queue_order_yunikorn *t = mem_alloc(sizeof(*t));

	t->l = en->ledger;
	t->vocab = ledger_vocab(en->ledger);
	t->names = vocab_names(ledger_vocab(en->ledger));
	t->tree = ledger_queues(t->l);
	t->n = t->tree->q.n;
	t->stride = ledger_stride(t->l);
	t->backlogs = mem_alloc((t->n + 1) * sizeof(*t->backlogs));
	t->arena = arena_new(1 << 14);
	t->last = POD_NONE;
	for (queue_id q = 0; q < t->n; q++)
		t->backlogs[q].pending = arena_n(t->arena, t->stride, int64_t);
	for (uint32_t i = 0; i < n; i++)
		add(t, waiting[i]);
	for (queue_id q = 0; q < t->n; q++)
		set_submitted(t, q);
	if (t->n)
		set_all_priorities(t, QUEUE_ROOT);
	return t;
}

void queue_order_yunikorn_free(struct queue_order_yunikorn *t)
{
	for (queue_id q = 0; q < t->n; q++) {
		for (uint32_t i = 0; i < t->backlogs[q].apps.n; i++)
			array_free(&t->backlogs[q].apps.v[i].pods);
		array_free(&t->backlogs[q].apps);
		map_free(&t->backlogs[q].by_id);
	}
	mem_free(t->backlogs);
	arena_free(t->arena);
	mem_free(t);
}

/* ---- shares ---- */

struct yunikorn_share { /* a fraction of numbers that are not negative, compared exactly */
	int64_t part, of;
};

static int share_cmp(const struct yunikorn_share *a, const struct yunikorn_share *b)
{
	__int128 x = (__int128)a->part * b->of, y = (__int128)b->part * a->of;

	return (x > y) - (x < y);
}

static int64_t held_by_queue(const struct queue_order_yunikorn *t, queue_id q, res_id r)
{
	return ledger_queue_used(t->l, q)[r] + ledger_queue_reserved(t->l, q)[r];
}

/* The nearest maximum upwards, else the cluster. False: there is none of it. */
static bool fair_max(const struct queue_order_yunikorn *t, queue_id q, res_id r, int64_t *ret)
{
	for (; q != QUEUE_NONE && q != QUEUE_ROOT; q = parent_of(t, q))
		if (res_has(&queue_get(t->tree, q)->spec.max, r)) {
			*ret = queue_get(t->tree, q)->spec.max.v[r];
			return true;
		}
	*ret = ledger_capacity(t->l)[r];
	return *ret > 0;
}

static struct yunikorn_share fair_share(const struct queue_order_yunikorn *t, queue_id q)
{
	const struct res_vec *g = &queue_get(t->tree, q)->spec.guaranteed;
	struct yunikorn_share most = {0, 1};

	for (res_id r = 0; r < t->stride; r++) {
		struct yunikorn_share s = {held_by_queue(t, q, r), 0};

		if (s.part <= 0)
			continue;
		if (res_has(g, r))
			s.of = g->v[r];
		else if (!fair_max(t, q, r, &s.of))
			continue;
		if (s.of <= 0)
			s = (struct yunikorn_share){1, 1};
		if (share_cmp(&s, &most) > 0)
			most = s;
	}
	return most;
}

/* ---- among siblings ---- */

/* At least as much of everything, and more of something. */
static bool is_more(const int64_t *a, const int64_t *b, uint32_t n)
{
	bool differs = false;

	for (uint32_t i = 0; i < n; i++) {
		if (a[i] < b[i])
			return false;
		differs |= a[i] != b[i];
	}
	return differs;
}

/* Is a ahead of b? Children are sorted by path, so of equals the first stays. */
static bool is_ahead(const struct queue_order_yunikorn *t, queue_id a, queue_id b)
{
	bool is_share_first = queue_get(t->tree, parent_of(t, a))->props.sort_ignores_priority;
	struct yunikorn_share x = fair_share(t, a), y = fair_share(t, b);
	int32_t p = passed_up(t, a), r = passed_up(t, b);
	int by_share = share_cmp(&x, &y), by_priority = (p < r) - (p > r);
	int first = is_share_first ? by_share : by_priority, second = is_share_first ? by_priority : by_share;

	if (first || second)
		return (first ? first : second) < 0;
	return is_more(t->backlogs[a].pending, t->backlogs[b].pending, t->stride);
}

static queue_id best_child(const struct queue_order_yunikorn *t, queue_id q)
{
	const struct queue *queue = queue_get(t->tree, q);
	queue_id best = QUEUE_NONE;

	for (uint32_t i = 0; i < queue->children.n; i++) {
		queue_id child = queue->children.v[i];

		if (t->backlogs[child].untried && (best == QUEUE_NONE || is_ahead(t, child, best)))
			best = child;
	}
	return best;
}

/* ---- among applications ---- */

static void add_held(const struct queue_order_yunikorn *t, struct waiting_app *a, const struct pod *p)
{
	const struct shape *shape = shape_get(t->vocab, p->shape);
	const struct res_list *takes = p->state == POD_PLACED ? &shape->usage : &shape->request;

	a->held[RES_PODS]++;
	for (uint32_t i = 0; i < takes->n; i++)
		if (takes->v[i].type != RES_PODS)
			a->held[takes->v[i].type] += takes->v[i].amount;
}

/*
 * What each application of a fair leaf holds. Between two turns of a leaf its use only falls, so where neither row has
 * changed nothing has.
 */
static void set_held(struct queue_order_yunikorn *t, queue_id q)
{
	struct yunikorn_backlog *backlog = &t->backlogs[q];
	size_t row = t->stride * sizeof(int64_t);
	const int64_t *used = ledger_queue_used(t->l, q), *reserved = ledger_queue_reserved(t->l, q);
	uint32_t n;
	const pod_id *pods = ledger_queue_pods(t->l, q, &n);

	if (backlog->seen && !memcmp(backlog->seen, used, row) && !memcmp(backlog->seen + t->stride, reserved, row))
		return;
	if (!backlog->seen)
		backlog->seen = arena_n(t->arena, (size_t)2 * t->stride, int64_t);
	memcpy(backlog->seen, used, row);
	memcpy(backlog->seen + t->stride, reserved, row);
	for (uint32_t i = 0; i < backlog->apps.n; i++) {
		if (!backlog->apps.v[i].held)
			backlog->apps.v[i].held = arena_n(t->arena, t->stride, int64_t);
		memset(backlog->apps.v[i].held, 0, row);
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct pod *p = ledger_pod(t->l, pods[i]);
		uint32_t at = map_get(&backlog->by_id, map_key2(ns_of(t, p), p->obj->app));

		if (at != MAP_NONE &&
		    (p->state == POD_PLACED || (p->state == POD_WAITING && p->nomination != NOMINATION_NONE)))
			add_held(t, &backlog->apps.v[at], p);
	}
}

/* The largest share below a bound (NULL: none), and how many types have it. */
static uint32_t next_share(const struct queue_order_yunikorn *t, const struct res_vec *g, const int64_t *held,
			   const struct yunikorn_share *below, struct yunikorn_share *ret)
{
	uint32_t n = 0;

	*ret = (struct yunikorn_share){0, 1};
	for (res_id r = 0; r < t->stride; r++) {
		struct yunikorn_share s = {held[r], res_has(g, r) && g->v[r] > 0 ? g->v[r] : 1};
		int d = share_cmp(&s, ret);

		if (s.part <= 0 || (below && share_cmp(&s, below) >= 0) || d < 0)
			continue;
		n = d > 0 ? 1 : n + 1;
		*ret = s;
	}
	return n;
}

/* Largest shares first, until they differ; who has none left is smaller. <0: a holds less. */
static int held_cmp(const struct queue_order_yunikorn *t, const struct res_vec *g, const struct waiting_app *a,
		    const struct waiting_app *b)
{
	struct yunikorn_share x, y, last;
	bool has_last = false;

	for (;;) {
		uint32_t n = next_share(t, g, a->held, has_last ? &last : NULL, &x),
			 m = next_share(t, g, b->held, has_last ? &last : NULL, &y);
		int d = share_cmp(&x, &y);

		if (d || n != m)
			return d ? d : n < m ? -1 : 1;
		if (!n)
			return 0;
		last = x;
		has_last = true;
	}
}

/* Is a ahead of b in the leaf q? */
static bool app_is_ahead(const struct queue_order_yunikorn *t, queue_id q, const struct waiting_app *a,
			 const struct waiting_app *b)
{
	const struct queue *queue = queue_get(t->tree, q);
	int32_t p = app_priority(t, a), r = app_priority(t, b);
	int by_priority = (p < r) - (p > r),
	    by_time = a->submitted_ns == b->submitted_ns  ? 0
		      : a->submitted_ns < b->submitted_ns ? -1
							  : 1,
	    by_policy = queue->props.sort == SORT_FAIR ? held_cmp(t, &queue->spec.guaranteed, a, b) : by_time;
	int order[] = {queue->props.sort_ignores_priority ? by_policy : by_priority,
		       queue->props.sort_ignores_priority ? by_priority : by_policy, by_time,
		       name_cmp(t->names, a->ns, b->ns), name_cmp(t->names, a->id, b->id)};

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (order[i])
			return order[i] < 0;
	return false;
}

static uint32_t best_app(struct queue_order_yunikorn *t, queue_id q)
{
	const struct yunikorn_backlog *backlog = &t->backlogs[q];
	uint32_t best = UINT32_MAX;

	if (queue_get(t->tree, q)->props.sort == SORT_FAIR)
		set_held(t, q);
	for (uint32_t i = 0; i < backlog->apps.n; i++) {
		const struct waiting_app *a = &backlog->apps.v[i];

		if (a->next < a->pods.n && (best == UINT32_MAX || app_is_ahead(t, q, a, &backlog->apps.v[best])))
			best = i;
	}
	return best;
}

/* ---- turns ---- */

/* What became of the last one: placed, it does not wait any more. */
static void settle_last(struct queue_order_yunikorn *t)
{
	struct waiting_app *a;

	if (t->last == POD_NONE || ledger_pod(t->l, t->last)->state == POD_WAITING)
		return;
	a = &t->backlogs[t->last_queue].apps.v[t->last_app];
	while (a->first < a->pods.n && ledger_pod(t->l, a->pods.v[a->first])->state != POD_WAITING)
		a->first++;
	count_pending(t, t->last_queue, ledger_pod(t->l, t->last), -1);
	for (queue_id q = t->last_queue; q != QUEUE_NONE; q = parent_of(t, q))
		set_priority(t, q);
}

pod_id queue_order_yunikorn_next(struct queue_order_yunikorn *t)
{
	queue_id q = QUEUE_ROOT, child;
	struct waiting_app *a;

	if (!t->n || !t->backlogs[QUEUE_ROOT].untried)
		return POD_NONE;
	settle_last(t);
	while ((t->last_app = best_app(t, q)) == UINT32_MAX && (child = best_child(t, q)) != QUEUE_NONE)
		q = child;
	a = &t->backlogs[q].apps.v[t->last_app];
	t->last_queue = q;
	t->last = a->pods.v[a->next++];
	for (; q != QUEUE_NONE; q = parent_of(t, q))
		t->backlogs[q].untried--;
	return t->last;
}
