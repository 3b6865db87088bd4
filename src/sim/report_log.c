/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report_log.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/clock.h"
#include "explain/plan_view.h"

void report_log_init(struct report_log *l)
{
	*l = (struct report_log){.names = names_new()};
}

static void drop(struct report_log *l, struct report_eviction *x)
{
	const name_id held[] = {x->pod, x->queue, x->node, x->for_pod, x->for_queue, x->why, x->job, x->for_job};

	for (size_t i = 0; i < sizeof(held) / sizeof(*held); i++)
		names_drop(l->names, held[i]);
}

void report_log_free(struct report_log *l)
{
	for (uint32_t i = 0; i < l->evictions.n; i++)
		drop(l, &l->evictions.v[i]);
	for (uint32_t i = 0; i < l->flows.n; i++) {
		names_drop(l->names, l->flows.v[i].from);
		names_drop(l->names, l->flows.v[i].to);
	}
	for (uint32_t i = 0; i < l->priorities.n; i++)
		times_free(&l->priorities.v[i].waits);
	array_free(&l->evictions);
	array_free(&l->flows);
	array_free(&l->priorities);
	map_free(&l->flow_at);
	names_free(l->names);
}

/* ---- evictions ---- */

static int by_cost(const void *a, const void *b)
{
	const struct report_eviction *x = a, *y = b;

	if (x->lost_ns != y->lost_ns)
		return x->lost_ns > y->lost_ns ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static int by_number(const void *a, const void *b)
{
	const struct report_eviction *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void keep_costliest(struct report_log *l)
{
	if (l->evictions.n <= REPORT_EVICTIONS)
		return;
	qsort(l->evictions.v, l->evictions.n, sizeof(*l->evictions.v), by_cost);
	while (l->evictions.n > REPORT_EVICTIONS) {
		l->evictions.n--;
		drop(l, &l->evictions.v[l->evictions.n]);
	}
}

/* "a/job-7-r2" is the third pod of a/job-7. */
static name_id job_of(struct report_log *l, const char *pod)
{
	size_t n = strlen(pod), digits = 0;

	while (digits < n && isdigit((unsigned char)pod[n - 1 - digits]))
		digits++;
	if (digits && n > digits + 2 && pod[n - digits - 1] == 'r' && pod[n - digits - 2] == '-')
		n -= digits + 2;
	return names_hold(l->names, pod, n);
}

void report_eviction_text(struct sim *s, const struct decision *d, const struct victim *x, struct text *out)
{
	struct decisions one = {.v = {.v = (struct decision *)d, .n = 1, .cap = 1}};
	struct plan_view v = {.cluster = sim_cluster(s), .plan = &one, .now_ns = sim_now(s)};

	eviction_text(&v, d, x, out);
}

static name_id sentence(struct report_log *l, struct sim *s, const struct sim_eviction *ev)
{
	struct text words = {0};
	name_id id;

	report_eviction_text(s, ev->why, ev->victim, &words);
	id = names_hold_str(l->names, text_str(&words));
	text_free(&words);
	return id;
}

static struct report_flow *flow_of(struct report_log *l, const char *from, const char *to)
{
	name_id a = names_find(l->names, from, strlen(from)), b = names_find(l->names, to, strlen(to));
	uint32_t at = map_get(&l->flow_at, map_key2(a, b));

	if (at != MAP_NONE && (a != NAME_NONE || !*from) && (b != NAME_NONE || !*to))
		return &l->flows.v[at];
	if (l->flows.n == REPORT_FLOWS_MAX)
		return NULL;
	a = names_hold_str(l->names, from);
	b = names_hold_str(l->names, to);
	map_put(&l->flow_at, map_key2(a, b), l->flows.n);
	array_push(&l->flows, ((struct report_flow){.from = a, .to = b}));
	return &array_last(&l->flows);
}

void report_log_eviction(void *log, struct sim *s, const struct sim_eviction *ev)
{
	struct report_log *l = log;
	struct report_flow *flow = flow_of(l, ev->for_queue, ev->queue);
	struct report_eviction x = {.at_ns = ev->at_ns,
				    .lost_ns = ev->lost_ns,
				    .number = l->n_evictions++,
				    .decision = ev->decision,
				    .nth = ev->nth,
				    .action = action_text(ev->action),
				    .rule = rule_text(ev->overridden)};

	if (flow) {
		flow->evictions++;
		flow->lost_sum += ev->lost_ns;
	}
	x.pod = names_hold_str(l->names, ev->pod);
	x.queue = names_hold_str(l->names, ev->queue);
	x.node = names_hold_str(l->names, ev->node);
	x.for_pod = names_hold_str(l->names, ev->for_pod);
	x.for_queue = names_hold_str(l->names, ev->for_queue);
	x.job = job_of(l, ev->pod);
	x.for_job = job_of(l, ev->for_pod);
	x.why = sentence(l, s, ev);
	array_push(&l->evictions, x);
	if (l->evictions.n == 2 * REPORT_EVICTIONS)
		keep_costliest(l);
}

/* ---- waiting by priority ---- */

static struct report_priority *priority_of(struct report_log *l, int32_t priority)
{
	for (uint32_t i = 0; i < l->priorities.n; i++)
		if (l->priorities.v[i].priority == priority)
			return &l->priorities.v[i];
	if (l->priorities.n == REPORT_PRIORITIES_MAX)
		return NULL;
	array_push(&l->priorities, ((struct report_priority){.priority = priority}));
	return &array_last(&l->priorities);
}

void report_log_start(void *log, struct sim *s, pod_id pod)
{
	const struct pod *p = ledger_pod(cluster_ledger(sim_cluster(s)), pod);
	struct report_priority *of = priority_of(log, p->priority);

	if (of && p->obj->created_ns != TIME_NONE)
		times_add(&of->waits, time_since(sim_now(s), p->obj->created_ns));
}

struct report_priority *report_log_high(struct report_log *l)
{
	struct report_priority *high = NULL;
	uint64_t n = 0;

	for (uint32_t i = 0; i < l->priorities.n; i++)
		n += l->priorities.v[i].waits.n;
	for (uint32_t i = 0; i < l->priorities.n; i++) {
		struct report_priority *p = &l->priorities.v[i];

		if (p->waits.n && p->waits.n * 100 >= n && (!high || p->priority > high->priority))
			high = p;
	}
	return high;
}

/* ---- the end ---- */

static int by_names(const void *a, const void *b, void *names)
{
	const struct report_flow *x = a, *y = b;
	int order = name_cmp(names, x->from, y->from);

	return order ? order : name_cmp(names, x->to, y->to);
}

void report_log_settle(struct report_log *l)
{
	keep_costliest(l);
	if (l->evictions.n)
		qsort(l->evictions.v, l->evictions.n, sizeof(*l->evictions.v), by_number);
	map_free(&l->flow_at);
	if (l->flows.n)
		qsort_r(l->flows.v, l->flows.n, sizeof(*l->flows.v), by_names, l->names);
}
