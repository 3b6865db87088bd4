/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a pod is: in the heap of active pods, in one of two heaps of pods that back off (those that met an error are
 * apart, because nobody is to pop them early), in the pool of those that sleep or are gated, or in flight. One record
 * per pod id says where and why.
 *
 * Plugins are bits: a record holds the set that refused its pod, and while the pod is in flight the set of those whose
 * refusal would be worth another try after what happened meanwhile. The last bit stands for all plugins nobody told us
 * about.
 */
#include "engine/waiting.h"

#include "base/clock.h"
#include "base/heap.h"
#include "base/text.h"

#define POOL_CHECK_NS (30 * NS_PER_S)
#define BIT(i) (UINT64_C(1) << (i))
#define STRANGER WAITING_PLUGINS_MAX
#define ALL_PLUGINS UINT64_MAX

struct waiting_record {
	uint8_t place;	 /* enum waiting_place */
	bool was_called; /* in flight: a wildcard event was for it */
	uint8_t gate;	 /* gated: bit of the plugin */
	uint32_t attempts;
	uint32_t at;		   /* its index in the pool or among those in flight */
	uint64_t seq;		   /* of its (re-)entry: breaks ties */
	uint64_t refused, pending; /* by whom; pending: of these the ones without penalty */
	uint64_t heard;		   /* in flight: plugins that would let it try again */
	int64_t since_ns, first_ns, flushed_ns;
	struct backoff backoff;
	const char *gate_name;
};

typedef ARRAY(pod_id) id_list;

struct waiting {
	const struct ledger *ledger;
	struct waiting_options o;
	int64_t window_ns;
	ARRAY(struct waiting_record) records; /* by pod id */
	struct heap active, backoff, errors;
	id_list pool, in_flight;
	uint32_t n_gated;
	uint64_t next_seq;
	int64_t checked_ns; /* the pool, for sleepers */
};

enum strategy { SLEEP, AFTER_BACKOFF, AT_ONCE };

/* ---- orders ---- */

static struct waiting_record *record_of(const struct waiting *w, pod_id pod)
{
	return pod < w->records.n ? &w->records.v[pod] : NULL;
}

static int by_time(const struct waiting_record *a, const struct waiting_record *b)
{
	if (a->since_ns != b->since_ns)
		return a->since_ns < b->since_ns ? -1 : 1;
	return (a->seq > b->seq) - (a->seq < b->seq);
}

static int by_queue_sort(const void *ctx, uint32_t a, uint32_t b)
{
	const struct waiting *w = ctx;
	int32_t pa, pb;
	int d = w->o.order ? w->o.order(w->o.ctx, a, b) : 0;

	if (d)
		return d;
	pa = ledger_pod(w->ledger, a)->priority;
	pb = ledger_pod(w->ledger, b)->priority;
	if (!w->o.order && pa != pb)
		return pa > pb ? -1 : 1;
	return by_time(&w->records.v[a], &w->records.v[b]);
}

static int64_t ends(const struct waiting *w, pod_id pod)
{
	return backoff_ends(&w->records.v[pod].backoff, w->o.initial_backoff_ns, w->o.max_backoff_ns, w->window_ns);
}

static int by_end(const void *ctx, uint32_t a, uint32_t b)
{
	int64_t ea = ends(ctx, a), eb = ends(ctx, b);

	return ea != eb ? (ea < eb ? -1 : 1) : by_queue_sort(ctx, a, b);
}

static int by_end_alone(const void *ctx, uint32_t a, uint32_t b)
{
	const struct waiting *w = ctx;
	int64_t ea = ends(ctx, a), eb = ends(ctx, b);

	return ea != eb ? (ea < eb ? -1 : 1) : by_time(&w->records.v[a], &w->records.v[b]);
}

/* ---- the queue itself ---- */

struct waiting_options waiting_options_default(void)
{
	return (struct waiting_options){
		.initial_backoff_ns = 1 * NS_PER_S,
		.max_backoff_ns = 10 * NS_PER_S,
		.flush_after_ns = 300 * NS_PER_S,
		.pops_early = true,
	};
}

struct waiting *waiting_new(const struct ledger *l, const struct waiting_options *o)
{
	struct waiting *w = mem_alloc(sizeof(*w));

	assert(o->n_plugins <= WAITING_PLUGINS_MAX);
	w->ledger = l;
	w->o = *o;
	w->window_ns = o->pops_early ? NS_PER_S : 1;
	w->checked_ns = TIME_NONE;
	heap_init(&w->active, by_queue_sort, w);
	heap_init(&w->backoff, by_end, w);
	heap_init(&w->errors, by_end_alone, w);
	return w;
}

void waiting_free(struct waiting *w)
{
	if (!w)
		return;
	heap_free(&w->active);
	heap_free(&w->backoff);
	heap_free(&w->errors);
	array_free(&w->records);
	array_free(&w->pool);
	array_free(&w->in_flight);
	mem_free(w);
}

static uint8_t plugin_bit(const struct waiting *w, const char *name)
{
	for (uint32_t i = 0; i < w->o.n_plugins; i++)
		if (str_eq(w->o.plugins[i], name))
			return (uint8_t)i;
	return STRANGER;
}

/* ---- lists ---- */

static void list_add(struct waiting *w, id_list *list, pod_id pod)
{
	w->records.v[pod].at = list->n;
	array_push(list, pod);
}

static void list_remove(struct waiting *w, id_list *list, pod_id pod)
{
	uint32_t at = w->records.v[pod].at;
	pod_id last = array_pop(list);

	list->v[at] = last;
	w->records.v[last].at = at;
}

/* Off wherever it is; the record stays. */
static void take_out(struct waiting *w, pod_id pod)
{
	struct waiting_record *r = &w->records.v[pod];

	switch ((enum waiting_place)r->place) {
	case WAITING_ACTIVE:
		heap_remove(&w->active, pod);
		break;
	case WAITING_BACKOFF:
		heap_remove(heap_has(&w->errors, pod) ? &w->errors : &w->backoff, pod);
		break;
	case WAITING_GATED:
		w->n_gated--;
		list_remove(w, &w->pool, pod);
		break;
	case WAITING_UNSCHEDULABLE:
		list_remove(w, &w->pool, pod);
		break;
	case WAITING_IN_FLIGHT:
		list_remove(w, &w->in_flight, pod);
		break;
	case WAITING_NOWHERE:
		break;
	}
	r->place = WAITING_NOWHERE;
}

static void put_in_pool(struct waiting *w, pod_id pod, enum waiting_place place)
{
	w->records.v[pod].place = place;
	w->n_gated += place == WAITING_GATED;
	list_add(w, &w->pool, pod);
}

/* PreEnqueue: a pod that is held back goes to the pool. True if it was. */
static bool gate(struct waiting *w, pod_id pod)
{
	struct waiting_record *r = &w->records.v[pod];
	const char *by = w->o.gate ? w->o.gate(w->o.ctx, pod) : NULL;

	r->gate_name = by;
	if (!by)
		return false;
	r->gate = plugin_bit(w, by);
	r->refused |= BIT(r->gate);
	put_in_pool(w, pod, WAITING_GATED);
	return true;
}

static void put_in_active(struct waiting *w, pod_id pod, int64_t now_ns)
{
	struct waiting_record *r = &w->records.v[pod];

	if (r->first_ns == TIME_NONE)
		r->first_ns = now_ns;
	r->place = WAITING_ACTIVE;
	heap_push(&w->active, pod);
}

static bool backs_off(const struct waiting *w, pod_id pod, int64_t now_ns)
{
	int64_t end = ends(w, pod);

	return end != TIME_NONE && end >= time_floor(now_ns, w->window_ns);
}

/*
 * A pod that is nowhere finds its place.
 * Where backoff may be popped early nobody enters it who would be held back from active.
 */
static void settle(struct waiting *w, pod_id pod, enum strategy s, int64_t now_ns)
{
	struct waiting_record *r = &w->records.v[pod];
	bool to_backoff = s == AFTER_BACKOFF && backs_off(w, pod, now_ns);
	bool is_error = !r->refused;

	if (s == SLEEP) {
		put_in_pool(w, pod, WAITING_UNSCHEDULABLE);
		return;
	}
	if ((w->o.pops_early || !to_backoff) && gate(w, pod))
		return;
	if (!to_backoff) {
		put_in_active(w, pod, now_ns);
		return;
	}
	r->place = WAITING_BACKOFF;
	heap_push(is_error ? &w->errors : &w->backoff, pod);
}

/* ---- pods come, are tried, go ---- */

void waiting_add(struct waiting *w, pod_id pod, int64_t now_ns)
{
	while (w->records.n <= pod)
		array_push(&w->records, (struct waiting_record){0});
	if (w->records.v[pod].place != WAITING_NOWHERE)
		return;
	w->records.v[pod] = (struct waiting_record){
		.seq = w->next_seq++, .since_ns = now_ns, .first_ns = TIME_NONE, .flushed_ns = TIME_NONE};
	w->records.v[pod].backoff.until_ns = TIME_NONE;
	settle(w, pod, AT_ONCE, now_ns);
}

void waiting_remove(struct waiting *w, pod_id pod)
{
	if (record_of(w, pod))
		take_out(w, pod);
}

enum waiting_place waiting_where(const struct waiting *w, pod_id pod)
{
	const struct waiting_record *r = record_of(w, pod);

	return r ? (enum waiting_place)r->place : WAITING_NOWHERE;
}

static void flush_heap(struct waiting *w, struct heap *h, int64_t now_ns)
{
	while (h->items.n && !backs_off(w, heap_peek(h), now_ns)) {
		pod_id pod = heap_peek(h);

		take_out(w, pod);
		if (w->o.pops_early || !gate(w, pod)) /* held back or not was asked when it entered */
			put_in_active(w, pod, now_ns);
	}
}

static void flush_backoffs(struct waiting *w, int64_t now_ns)
{
	flush_heap(w, &w->backoff, now_ns);
	flush_heap(w, &w->errors, now_ns);
}

pod_id waiting_pop(struct waiting *w, int64_t now_ns)
{
	struct waiting_record *r;
	pod_id pod;

	flush_backoffs(w, now_ns);
	if (w->active.items.n)
		pod = heap_peek(&w->active);
	else if (w->o.pops_early && w->backoff.items.n)
		pod = heap_peek(&w->backoff);
	else
		return POD_NONE;
	take_out(w, pod);
	r = &w->records.v[pod];
	r->place = WAITING_IN_FLIGHT;
	r->attempts++;
	r->backoff.until_ns = TIME_NONE;
	r->refused = r->pending = r->heard = 0;
	r->was_called = false;
	if (r->first_ns == TIME_NONE)
		r->first_ns = now_ns;
	list_add(w, &w->in_flight, pod);
	return pod;
}

void waiting_done(struct waiting *w, pod_id pod)
{
	if (waiting_where(w, pod) == WAITING_IN_FLIGHT)
		take_out(w, pod);
}

/* What happened while it was tried decides whether it sleeps. */
static enum strategy after_flight(const struct waiting_record *r)
{
	if (!r->refused)
		return AFTER_BACKOFF;
	if (r->heard & r->pending)
		return AT_ONCE;
	return (r->heard & r->refused) || r->was_called ? AFTER_BACKOFF : SLEEP;
}

void waiting_failed(struct waiting *w, pod_id pod, const char *const *rejecters, uint32_t n, const bool *is_pending,
		    int64_t now_ns)
{
	struct waiting_record *r = record_of(w, pod);

	if (!r || r->place != WAITING_IN_FLIGHT)
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint8_t bit = plugin_bit(w, rejecters[i]);

		r->refused |= BIT(bit);
		r->pending |= is_pending && is_pending[i] ? BIT(bit) : 0;
	}
	r->backoff.n_errors = n ? 0 : r->backoff.n_errors + 1;
	r->backoff.n_refused += n != 0;
	r->backoff.since_ns = r->since_ns = now_ns;
	r->backoff.until_ns = TIME_NONE;
	r->seq = w->next_seq++;
	take_out(w, pod);
	settle(w, pod, after_flight(r), now_ns);
}

void waiting_return(struct waiting *w, pod_id pod, bool at_once, int64_t now_ns)
{
	struct waiting_record *r = record_of(w, pod);

	if (!r || r->place != WAITING_NOWHERE) {
		waiting_add(w, pod, now_ns);
		return;
	}
	r->refused = r->pending = r->heard = 0;
	r->backoff.n_errors++;
	r->backoff.since_ns = r->since_ns = now_ns;
	r->backoff.until_ns = TIME_NONE;
	r->seq = w->next_seq++;
	settle(w, pod, at_once ? AT_ONCE : AFTER_BACKOFF, now_ns);
}

void waiting_activate(struct waiting *w, pod_id pod, int64_t now_ns)
{
	enum waiting_place from = waiting_where(w, pod);

	if (from == WAITING_IN_FLIGHT)
		w->records.v[pod].was_called = true;
	if (from != WAITING_UNSCHEDULABLE && from != WAITING_GATED && from != WAITING_BACKOFF)
		return;
	take_out(w, pod);
	if ((from == WAITING_BACKOFF && w->o.pops_early) || !gate(w, pod))
		put_in_active(w, pod, now_ns);
}

/* ---- events ---- */

/* Plugins that listen to events of this kind. */
static uint64_t listeners(const struct waiting *w, const struct cluster_event *ev)
{
	uint64_t mask = BIT(STRANGER);

	if (ev->resource == EV_WILDCARD)
		return ALL_PLUGINS;
	for (uint32_t i = 0; i < w->o.n_plugins; i++)
		if (!w->o.interest || w->o.interest(w->o.ctx, w->o.plugins[i], ev))
			mask |= BIT(i);
	return mask;
}

static bool hints(const struct waiting *w, uint8_t plugin, pod_id pod, const struct cluster_event *ev)
{
	return plugin == STRANGER || !w->o.hint || w->o.hint(w->o.ctx, w->o.plugins[plugin], pod, ev) == HINT_QUEUE;
}

static bool is_for(const struct waiting *w, pod_id pod, const struct cluster_event *ev)
{
	if ((ev->resource == EV_WILDCARD && ev->pod != POD_NONE) || ev->resource == EV_TARGET_POD)
		return ev->pod == pod;
	return !ev->is_bounded || ledger_pod(w->ledger, pod)->priority <= ev->up_to;
}

/* Is the pod worth another try, now that this happened? */
static enum strategy judge(const struct waiting *w, pod_id pod, const struct cluster_event *ev, uint64_t mask)
{
	const struct waiting_record *r = &w->records.v[pod];
	enum strategy s = SLEEP;

	if (ev->resource == EV_WILDCARD)
		return AFTER_BACKOFF;
	for (uint64_t m = r->refused & mask; m; m &= m - 1) {
		uint8_t plugin = (uint8_t)__builtin_ctzll(m);

		if (!hints(w, plugin, pod, ev))
			continue;
		if (r->pending & BIT(plugin))
			return AT_ONCE;
		s = AFTER_BACKOFF;
		if (!r->pending)
			break;
	}
	return s;
}

static void wake(struct waiting *w, pod_id pod, const struct cluster_event *ev, uint64_t mask, int64_t now_ns)
{
	const struct waiting_record *r = &w->records.v[pod];
	enum strategy s;

	if (!is_for(w, pod, ev) || !(mask & (r->place == WAITING_GATED ? BIT(r->gate) : r->refused)))
		return;
	s = judge(w, pod, ev, mask);
	if (s == SLEEP)
		return;
	take_out(w, pod);
	settle(w, pod, s, now_ns);
}

/* It is not known yet who will refuse the pod, so everybody who listens is asked. */
static void overhear(struct waiting *w, pod_id pod, const struct cluster_event *ev, uint64_t mask)
{
	struct waiting_record *r = &w->records.v[pod];

	if (!is_for(w, pod, ev))
		return;
	if (ev->resource == EV_WILDCARD) {
		r->was_called = true;
		return;
	}
	for (uint64_t m = mask & ~r->heard; m; m &= m - 1)
		if (hints(w, (uint8_t)__builtin_ctzll(m), pod, ev))
			r->heard |= m & -m;
}

/* The pod itself changed, and with it perhaps its place in the order. */
static void target_event(struct waiting *w, const struct cluster_event *ev, int64_t now_ns)
{
	struct heap *heaps[] = {&w->active, &w->backoff, &w->errors};
	uint64_t mask = listeners(w, ev);

	switch (waiting_where(w, ev->pod)) {
	case WAITING_ACTIVE:
	case WAITING_BACKOFF:
		for (int i = 0; i < 3; i++)
			if (heap_has(heaps[i], ev->pod))
				heap_update(heaps[i], ev->pod);
		break;
	case WAITING_UNSCHEDULABLE:
	case WAITING_GATED:
		wake(w, ev->pod, ev, mask, now_ns);
		break;
	case WAITING_IN_FLIGHT:
		overhear(w, ev->pod, ev, mask);
		break;
	case WAITING_NOWHERE:
		break;
	}
}

void waiting_event(struct waiting *w, const struct cluster_event *ev, int64_t now_ns)
{
	uint64_t mask;

	if (ev->resource == EV_TARGET_POD) {
		target_event(w, ev, now_ns);
		return;
	}
	mask = listeners(w, ev);
	for (uint32_t i = w->pool.n; i-- > 0;) /* backwards: who leaves is replaced by one already seen */
		wake(w, w->pool.v[i], ev, mask, now_ns);
	for (uint32_t i = 0; i < w->in_flight.n; i++)
		overhear(w, w->in_flight.v[i], ev, mask);
}

void waiting_update(struct waiting *w, pod_id pod, uint32_t actions, const struct obj_pod *before, int64_t now_ns)
{
	struct cluster_event ev = {EV_TARGET_POD, actions, pod, NODE_NONE, .before = before};

	if (waiting_where(w, pod) == WAITING_NOWHERE)
		waiting_add(w, pod, now_ns);
	else
		waiting_event(w, &ev, now_ns);
}

/* ---- time ---- */

static bool slept_long(const struct waiting *w, const struct waiting_record *r, int64_t now_ns)
{
	int64_t since = r->flushed_ns > r->since_ns ? r->flushed_ns : r->since_ns;

	return time_since(now_ns, since) > w->o.flush_after_ns;
}

static void flush_pool(struct waiting *w, int64_t now_ns)
{
	struct cluster_event all = {.resource = EV_WILDCARD, .pod = POD_NONE, .node = NODE_NONE};
	bool is_any = false;

	for (uint32_t i = w->pool.n; i-- > 0;) {
		struct waiting_record *r = &w->records.v[w->pool.v[i]];

		if (!slept_long(w, r, now_ns))
			continue;
		r->flushed_ns = now_ns;
		is_any = true;
		wake(w, w->pool.v[i], &all, ALL_PLUGINS, now_ns);
	}
	for (uint32_t i = 0; is_any && i < w->in_flight.n; i++)
		overhear(w, w->in_flight.v[i], &all, ALL_PLUGINS);
}

void waiting_flush(struct waiting *w, int64_t now_ns)
{
	flush_backoffs(w, now_ns);
	if (w->checked_ns != TIME_NONE && time_since(now_ns, w->checked_ns) < POOL_CHECK_NS)
		return;
	w->checked_ns = now_ns;
	flush_pool(w, now_ns);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int64_t waiting_next_ns(const struct waiting *w)
{
	int64_t next = INT64_MAX;

	if (w->backoff.items.n)
		next = time_add(ends(w, heap_peek(&w->backoff)), w->window_ns);
	if (w->errors.items.n)
		next = earlier(next, time_add(ends(w, heap_peek(&w->errors)), w->window_ns));
	if (w->pool.n && w->checked_ns != TIME_NONE)
		next = earlier(next, time_add(w->checked_ns, POOL_CHECK_NS));
	return next;
}

/* ---- numbers ---- */

uint32_t waiting_count(const struct waiting *w, enum waiting_place where)
{
	switch (where) {
	case WAITING_ACTIVE:
		return w->active.items.n;
	case WAITING_BACKOFF:
		return w->backoff.items.n + w->errors.items.n;
	case WAITING_UNSCHEDULABLE:
		return w->pool.n - w->n_gated;
	case WAITING_GATED:
		return w->n_gated;
	case WAITING_IN_FLIGHT:
		return w->in_flight.n;
	case WAITING_NOWHERE:
		break;
	}
	return 0;
}

struct waiting_info waiting_get(const struct waiting *w, pod_id pod)
{
	const struct waiting_record *r = record_of(w, pod);
	struct waiting_info info = {.since_ns = TIME_NONE, .first_ns = TIME_NONE, .backoff_until_ns = TIME_NONE};

	if (!r || r->place == WAITING_NOWHERE)
		return info;
	info = (struct waiting_info){
		(enum waiting_place)r->place, r->attempts, r->since_ns, r->first_ns, ends(w, pod), NULL};
	if (r->place == WAITING_GATED)
		info.gate = r->gate_name;
	return info;
}

static size_t heap_bytes(const struct heap *h)
{
	return h->items.cap * sizeof(*h->items.v) + h->where.cap * sizeof(*h->where.v);
}

size_t waiting_bytes(const struct waiting *w)
{
	return sizeof(*w) + w->records.cap * sizeof(*w->records.v) + heap_bytes(&w->active) + heap_bytes(&w->backoff) +
	       heap_bytes(&w->errors) + (w->pool.cap + w->in_flight.cap) * sizeof(pod_id);
}
