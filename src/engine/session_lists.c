/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workloads within their queues: by priority, state and age, those that wait and, the other way round, those that may
 * have to go; and what a workload asks for next.
 */
#include "engine/session_build.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

uint8_t workload_state(const struct session *s, const struct workload *u)
{
	bool is_above = false;

	for (uint32_t i = 0; i < u->n_podsets; i++) {
		const struct session_podset *p = &s->podsets[u->first_podset + i];
		uint32_t n = podset_count(p, SET_ACTIVE);

		if (n < (uint32_t)p->min)
			return 0;
		is_above |= n > (uint32_t)p->min;
	}
	return is_above ? 2 : 1;
}

bool workload_before(const struct session *s, uint32_t a, uint8_t state_a, uint32_t b, uint8_t state_b)
{
	const struct workload *x = &s->workloads[a], *y = &s->workloads[b];

	if (x->priority != y->priority)
		return x->priority > y->priority;
	if (state_a != state_b)
		return state_a < state_b;
	return x->rank < y->rank;
}

bool podset_before(const struct session *s, const struct session_podset *a, uint32_t active_a,
		   const struct session_podset *b, uint32_t active_b)
{
	bool short_a = active_a < (uint32_t)a->min, short_b = active_b < (uint32_t)b->min;

	if (short_a != short_b)
		return short_a;
	if (!short_a) {
		/* active / min, without fractions */
		uint64_t x = (uint64_t)active_a * (uint32_t)b->min, y = (uint64_t)active_b * (uint32_t)a->min;

		if (x != y)
			return x < y;
	}
	return name_cmp(s->names, a->name, b->name) < 0;
}

/* ---- what to place next ---- */

static bool is_candidate(const struct member *m, bool simulated)
{
	return m->status == IS_PENDING || (simulated && m->status == IS_LEAVING && m->is_virtual);
}

static bool take_from_podset(struct session *s, const struct session_podset *p, bool simulated)
{
	uint32_t active = podset_count(p, SET_ACTIVE), n = 0;
	uint32_t want = active >= (uint32_t)p->min ? 1 : (uint32_t)p->min - active;

	for (uint32_t i = p->first; i < p->first + p->n && n < want; i++)
		if (is_candidate(&s->members[i], simulated)) {
			array_push(&s->tasks, i);
			n++;
		}
	return n > 0;
}

/* The podset that comes next after one given (NONE: the first). */
static uint32_t next_podset(const struct session *s, const struct workload *u, const bool *is_taken)
{
	uint32_t best = NONE;

	for (uint32_t i = u->first_podset; i < u->first_podset + u->n_podsets; i++)
		if (!is_taken[i - u->first_podset] &&
		    (best == NONE || podset_before(s, &s->podsets[i], podset_count(&s->podsets[i], SET_ACTIVE),
						   &s->podsets[best], podset_count(&s->podsets[best], SET_ACTIVE))))
			best = i;
	return best;
}

void session_next_members(struct session *s, uint32_t workload, bool simulated)
{
	const struct workload *u = &s->workloads[workload];
	uint32_t n_short = 0, n = 0;

	s->tasks.n = 0;
	if (u->n_podsets == 1) {
		take_from_podset(s, &s->podsets[u->first_podset], simulated);
		return;
	}
	bool *is_taken = mem_alloc(u->n_podsets * sizeof(*is_taken));

	for (uint32_t i = u->first_podset; i < u->first_podset + u->n_podsets; i++)
		n_short += podset_count(&s->podsets[i], SET_ACTIVE) < (uint32_t)s->podsets[i].min;
	for (uint32_t i = 0; i < u->n_podsets && n < (n_short > 0 ? n_short : 1); i++) {
		uint32_t p = next_podset(s, u, is_taken);

		is_taken[p - u->first_podset] = true;
		n += take_from_podset(s, &s->podsets[p], simulated);
	}
	mem_free(is_taken);
}

const double *workload_find_request(struct session *s, uint32_t workload)
{
	const struct workload *u = &s->workloads[workload];
	struct workload_fate *f = &s->fates[workload];

	if (u->n_members == 1 && is_candidate(&s->members[s->podsets[u->first_podset].first], true))
		return s->signatures[s->members[s->podsets[u->first_podset].first].signature].share;
	session_next_members(s, workload, true);
	memset(f->request, 0, sizeof(f->request));
	for (uint32_t i = 0; i < s->tasks.n; i++)
		for (uint32_t r = 0; r < KAI_RES; r++)
			f->request[r] += s->signatures[s->members[s->tasks.v[i]].signature].share[r];
	f->knows_request = true;
	return f->request;
}

/* ---- lists of the queues ---- */

/* Requests of one signature and number are alike; others are each of a kind of its own. */
static uint32_t request_kind(struct session *s, uint32_t workload)
{
	struct request_kind k = {NONE, 0};

	session_next_members(s, workload, true);
	for (uint32_t i = 0; i < s->tasks.n; i++) {
		uint32_t signature = s->members[s->tasks.v[i]].signature;

		if (i > 0 && signature != k.signature)
			return UINT32_MAX - workload;
		k = (struct request_kind){signature, i + 1};
	}
	for (uint32_t i = 0; i < s->request_kinds.n; i++)
		if (s->request_kinds.v[i].signature == k.signature && s->request_kinds.v[i].n == k.n)
			return i;
	if (s->request_kinds.n >= 64)
		return UINT32_MAX - workload;
	array_push(&s->request_kinds, k);
	return s->request_kinds.n - 1;
}

static void note_request(struct session *s, struct session_queue *q, uint32_t workload)
{
	const double *request = workload_request(s, workload);

	for (uint32_t r = 0; r < KAI_RES; r++)
		q->most[r] = fmax(q->most[r], request[r]);
}

bool workload_comes_before(const struct session *s, bool victims, uint32_t a, uint8_t state_a, uint32_t b,
			   uint8_t state_b)
{
	return victims ? workload_before(s, b, state_b, a, state_a) : workload_before(s, a, state_a, b, state_b);
}

uint8_t workload_listed_state(const struct session *s, bool victims, uint32_t workload)
{
	return victims ? s->workloads[workload].victim_state : s->workloads[workload].pending_state;
}

/* Where it is, or belongs, in a sorted list. */
static uint32_t list_position(const struct session *s, bool victims, const uint32_t *v, uint32_t n, uint32_t workload)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (workload_comes_before(s, victims, v[mid], workload_listed_state(s, victims, v[mid]), workload,
					  workload_listed_state(s, victims, workload)))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void unlist(struct session *s, uint32_t workload)
{
	struct workload *u = &s->workloads[workload];
	struct session_queue *q = &s->queues[u->queue];
	uint32_t at;

	if (u->is_listed_pending) {
		at = list_position(s, false, q->pending.v, q->pending.n, workload);
		array_remove(&q->pending, at);
		array_remove(&q->kinds, at);
	}
	if (u->is_listed_victim)
		array_remove(&q->victims, list_position(s, true, q->victims.v, q->victims.n, workload));
}

/* All that bear the stamp, at one go: taking them out one by one moves the rest of the list each time. */
static void unlist_seen(struct session *s, struct session_queue *q, uint64_t stamp)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < q->pending.n; i++) {
		if (s->searched[q->pending.v[i]].seen_stamp == stamp)
			continue;
		q->kinds.v[n] = q->kinds.v[i];
		q->pending.v[n++] = q->pending.v[i];
	}
	q->pending.n = q->kinds.n = n;
	n = 0;
	for (uint32_t i = 0; i < q->victims.n; i++)
		if (s->searched[q->victims.v[i]].seen_stamp != stamp)
			q->victims.v[n++] = q->victims.v[i];
	q->victims.n = n;
}

static void list_again(struct session *s, uint32_t workload)
{
	struct workload *u = &s->workloads[workload];
	struct session_queue *q = &s->queues[u->queue];
	uint32_t at;

	u->pending_state = u->victim_state = workload_state(s, u);
	u->is_listed_pending = u->count[IS_PENDING] > 0;
	u->is_listed_victim = workload_count(u, SET_ACTIVE) > 0;
	if (u->is_listed_pending) {
		at = list_position(s, false, q->pending.v, q->pending.n, workload);
		array_insert(&q->pending, at, workload);
		array_insert(&q->kinds, at, request_kind(s, workload));
		note_request(s, q, workload);
	}
	if (u->is_listed_victim)
		array_insert(&q->victims, list_position(s, true, q->victims.v, q->victims.n, workload), workload);
}

/* It stays where it is in both lists, and asks for what it asked for. */
static bool stays_listed(const struct session *s, const struct workload *u)
{
	return !u->is_listed_pending && u->count[IS_PENDING] == 0 && u->is_listed_victim &&
	       workload_count(u, SET_ACTIVE) > 0 && workload_state(s, u) == u->victim_state;
}

enum { MANY_MOVED = 16 };

void session_relist(struct session *s, uint64_t stamp)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->moved.n; i++) {
		struct workload *u = &s->workloads[s->moved.v[i]];

		memcpy(u->listed_allocated, u->allocated, sizeof(u->allocated));
		if (u->queue == NONE || stays_listed(s, u))
			search_of(s, u)->seen_stamp = 0;
		else
			s->moved.v[n++] = s->moved.v[i];
	}
	s->moved.n = n;
	for (uint32_t i = 0; i < n; i++) {
		struct session_queue *q = &s->queues[s->workloads[s->moved.v[i]].queue];

		if (n < MANY_MOVED)
			unlist(s, s->moved.v[i]);
		else if (q->share_stamp != stamp)
			unlist_seen(s, q, stamp);
		q->share_stamp = stamp;
	}
	for (uint32_t i = 0; i < n; i++)
		list_again(s, s->moved.v[i]);
}

static int by_coming(const void *a, const void *b, void *ctx)
{
	const struct session *s = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (x == y)
		return 0;
	return workload_before(s, x, s->workloads[x].pending_state, y, s->workloads[y].pending_state) ? -1 : 1;
}

static int by_going(const void *a, const void *b, void *ctx)
{
	const struct session *s = ctx;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (x == y)
		return 0;
	return workload_before(s, x, s->workloads[x].victim_state, y, s->workloads[y].victim_state) ? 1 : -1;
}

struct listing { /* of one workload, by rank: workloads themselves lie apart, and each is looked at once */
	uint32_t workload, queue; /* NONE: it is no victim */
	int64_t key;		  /* priority and state as one number: the larger comes first */
};

static struct listing list_workload(struct session *s, uint32_t workload)
{
	struct workload *u = &s->workloads[workload];
	struct listing ret = {workload, NONE, 0};

	memcpy(u->listed_allocated, u->allocated, sizeof(u->allocated));
	if (u->queue == NONE)
		return ret;
	u->pending_state = u->victim_state = workload_state(s, u);
	u->is_listed_pending = u->count[IS_PENDING] > 0;
	u->is_listed_victim = workload_count(u, SET_ACTIVE) > 0;
	if (u->is_listed_victim)
		ret.queue = u->queue;
	ret.key = (int64_t)u->priority * 4 + (3 - u->pending_state);
	return ret;
}

enum { BUCKETS = 32 };

/*
 * Where the key belongs, in ascending order; added if it is new. BUCKETS: there are too many. Keys come in any order:
 * where to stop would be guessed wrong for every other one, so all are compared.
 */
static uint32_t bucket_of(int64_t *keys, uint32_t *n, int64_t key)
{
	uint32_t i = 0;

	for (uint32_t k = 0; k < *n; k++)
		i += keys[k] < key;
	if (i < *n && keys[i] == key)
		return i;
	if (*n == BUCKETS)
		return BUCKETS;
	memmove(keys + i + 1, keys + i, (*n - i) * sizeof(*keys));
	keys[i] = key;
	++*n;
	return i;
}

/* The last to come first, of a list in which that holds for those of one priority and state. False: not done. */
static bool sort_in_buckets(uint32_t *v, const int64_t *key, uint32_t n)
{
	uint32_t *sorted, n_keys = 0, at[BUCKETS + 1] = {0};
	int64_t keys[BUCKETS + 1];

	if (n < 2)
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (bucket_of(keys, &n_keys, key[i]) == BUCKETS)
			return false;
	if (n_keys == 1)
		return true;
	for (uint32_t i = 0; i < n; i++)
		at[bucket_of(keys, &n_keys, key[i]) + 1]++;
	for (uint32_t i = 0; i < n_keys; i++)
		at[i + 1] += at[i];
	sorted = mem_resize(NULL, n + 1, sizeof(*sorted));
	for (uint32_t i = 0; i < n; i++)
		sorted[at[bucket_of(keys, &n_keys, key[i])]++] = v[i];
	memcpy(v, sorted, n * sizeof(*v));
	mem_free(sorted);
	return true;
}

/* Lists are made by rank and are in order already where priorities and states are alike. */
static void sort_list(struct session *s, uint32_t *v, uint32_t n, int (*cmp)(const void *, const void *, void *))
{
	for (uint32_t i = 1; i < n; i++)
		if (cmp(&v[i - 1], &v[i], s) > 0) {
			qsort_r(v, n, sizeof(*v), cmp, s);
			return;
		}
}

/* Victims into the lists of their queues, the last to come first; keys: theirs, of each queue, in the space of all. */
static void list_victims(struct session *s, const struct listing *v, int64_t *all, int64_t **keys)
{
	uint32_t *n = mem_alloc((s->n_queues + 1) * sizeof(*n));

	for (uint32_t i = 0; i < s->n_workloads; i++)
		if (v[i].queue != NONE)
			n[v[i].queue]++;
	for (uint32_t i = 0; i < s->n_queues; all += n[i++]) {
		array_reserve(&s->queues[i].victims, n[i]);
		keys[i] = all;
	}
	for (uint32_t i = s->n_workloads; i-- > 0;) {
		struct session_queue *q = v[i].queue == NONE ? NULL : &s->queues[v[i].queue];

		if (q == NULL)
			continue;
		keys[v[i].queue][q->victims.n] = v[i].key;
		array_push(&q->victims, v[i].workload);
	}
	mem_free(n);
}

void session_note_requests(struct session *s)
{
	s->request_kinds.n = 0;
	for (uint32_t i = 0; i < s->n_queues; i++) {
		struct session_queue *q = &s->queues[i];

		q->kinds.n = 0;
		memset(q->most, 0, sizeof(q->most));
		for (uint32_t k = 0; k < q->pending.n; k++) {
			array_push(&q->kinds, request_kind(s, q->pending.v[k]));
			note_request(s, q, q->pending.v[k]);
		}
	}
}

void session_list_workloads(struct session *s)
{
	struct listing *v = mem_resize(NULL, s->n_workloads + 1, sizeof(*v));
	int64_t **keys = mem_alloc((s->n_queues + 1) * sizeof(*keys)),
		*all_keys = mem_resize(NULL, s->n_workloads + 1, sizeof(*all_keys));
	struct bits pending = {0};

	for (uint32_t i = 0; i < s->n_workloads; i++) { /* as they lie in memory */
		v[s->workloads[i].rank] = list_workload(s, i);
		if (s->workloads[i].is_listed_pending)
			bits_set(&pending, s->workloads[i].rank);
	}
	for (uint32_t i = bits_next(&pending, 0); i != UINT32_MAX; i = bits_next(&pending, i + 1))
		array_push(&s->queues[s->workloads[v[i].workload].queue].pending, v[i].workload);
	list_victims(s, v, all_keys, keys);
	for (uint32_t i = 0; i < s->n_queues; i++) {
		struct session_queue *q = &s->queues[i];

		sort_list(s, q->pending.v, q->pending.n, by_coming);
		if (!sort_in_buckets(q->victims.v, keys[i], q->victims.n))
			sort_list(s, q->victims.v, q->victims.n, by_going);
	}
	session_note_requests(s);
	bits_free(&pending);
	mem_free(all_keys);
	mem_free(keys);
	mem_free(v);
}

/* ---- lists that are kept ---- */

static void leave_out(workload_list *list, const struct bits *changed)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (!bits_has(changed, list->v[i]))
			list->v[n++] = list->v[i];
	list->n = n;
}

void session_unlist_changed(struct session *s, const struct bits *changed, const struct bits *queues)
{
	for (uint32_t i = bits_next(queues, 0); i != UINT32_MAX; i = bits_next(queues, i + 1)) {
		leave_out(&s->queues[i].pending, changed);
		leave_out(&s->queues[i].victims, changed);
	}
}

/* Workloads of one queue, in the order of its list, into that: from the end on, so that nothing is moved twice. */
static void list_all(struct session *s, workload_list *list, bool victims, const uint32_t *v, uint32_t n)
{
	uint32_t left = list->n;

	array_reserve(list, left + n + 1);
	list->n += n;
	for (uint32_t i = n; i-- > 0;) {
		uint32_t at = list_position(s, victims, list->v, left, v[i]);

		memmove(list->v + at + i + 1, list->v + at, (left - at) * sizeof(*v));
		list->v[at + i] = v[i];
		left = at;
	}
}

static int by_queue(const struct session *s, uint32_t a, uint32_t b)
{
	uint32_t x = s->workloads[a].queue, y = s->workloads[b].queue;

	return x == y ? 0 : x < y ? -1 : 1;
}

static int by_queue_and_coming(const void *a, const void *b, void *ctx)
{
	int d = by_queue(ctx, *(const uint32_t *)a, *(const uint32_t *)b);

	return d != 0 ? d : by_coming(a, b, ctx);
}

static int by_queue_and_going(const void *a, const void *b, void *ctx)
{
	int d = by_queue(ctx, *(const uint32_t *)a, *(const uint32_t *)b);

	return d != 0 ? d : by_going(a, b, ctx);
}

static void list_by_queue(struct session *s, uint32_t *v, uint32_t n, bool victims)
{
	qsort_r(v, n, sizeof(*v), victims ? by_queue_and_going : by_queue_and_coming, s);
	for (uint32_t i = 0, end; i < n; i = end) {
		struct session_queue *q = &s->queues[s->workloads[v[i]].queue];

		for (end = i + 1; end < n && by_queue(s, v[i], v[end]) == 0;)
			end++;
		list_all(s, victims ? &q->victims : &q->pending, victims, v + i, end - i);
	}
}

void session_list_changed(struct session *s, const uint32_t *changed, uint32_t n)
{
	uint32_t *v = mem_alloc(2 * ((size_t)n + 1) * sizeof(*v)), *victims = v + n, n_pending = 0, n_victims = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct workload *u = &s->workloads[changed[i]];

		list_workload(s, changed[i]);
		if (u->is_listed_pending)
			v[n_pending++] = changed[i];
		if (u->is_listed_victim)
			victims[n_victims++] = changed[i];
	}
	list_by_queue(s, v, n_pending, false);
	list_by_queue(s, victims, n_victims, true);
	mem_free(v);
}
