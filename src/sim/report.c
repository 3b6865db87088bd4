/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/report.h"

#include <math.h>
#include <stdio.h>

#include "base/bits.h"
#include "base/clock.h"
#include "sim/page.h"
#include "units/timestamp.h"

/* ---- numbers ---- */

/* Enough digits for a picture. */
static void number(struct emit *e, const char *key, double v)
{
	char words[40];

	snprintf(words, sizeof(words), "%.5g", isfinite(v) ? v : 0.0);
	emit_plain(e, key, words);
}

static void seconds(struct emit *e, const char *key, __int128 ns)
{
	char words[48];

	snprintf(words, sizeof(words), "%.0f", outcome_seconds(ns));
	emit_plain(e, key, words);
}

static void emit_times(struct emit *e, const char *key, struct times *t)
{
	emit_object(e, key);
	number(e, "mean", times_mean(t));
	number(e, "p50", times_quantile(t, 0.5));
	number(e, "p95", times_quantile(t, 0.95));
	number(e, "p99", times_quantile(t, 0.99));
	number(e, "max", (double)t->max_ns / 1e9);
	emit_end(e);
}

void report_emit_counts(struct emit *e, const struct sim_outcome *o, struct outcome_counts *c)
{
	emit_int(e, "submitted", (int64_t)c->submitted);
	emit_int(e, "finished", (int64_t)c->finished);
	emit_int(e, "running", (int64_t)c->running);
	emit_int(e, "waiting", (int64_t)c->waiting);
	emit_int(e, "abandoned", (int64_t)c->abandoned);
	emit_int(e, "evictions", (int64_t)c->evictions);
	emit_int(e, "repeatedEvictions", (int64_t)c->repeated_evictions);
	emit_int(e, "mostEvictions", (int64_t)c->most_evictions);
	seconds(e, "usefulSeconds", c->useful_sum);
	seconds(e, "lostSeconds", c->lost_sum);
	emit_times(e, "waitSeconds", &c->waits);
	emit_times(e, "slowdown", &c->slowdowns);
	emit_object(e, "utilisation");
	for (res_id r = 0; r < o->n_types; r++)
		if (o->capacity[r] > 0)
			number(e, o->types[r], outcome_utilisation(o, c, r));
	emit_end(e);
	seconds(e, "belowGuaranteeSeconds", c->below_guarantee_sum);
	number(e, "guaranteeReached", outcome_guarantee_reached(c));
}

/* Whole units: cpu is counted in thousandths. */
static double amount(res_id r, double v)
{
	return r == RES_CPU ? v / 1000 : v;
}

/* ---- queues ---- */

static const struct queue *queue_of(struct sim *s, const char *path)
{
	const struct queue_tree *t = ledger_queues(cluster_ledger(sim_cluster(s)));
	queue_id q = queue_tree_find(t, path, strlen(path));

	return q == QUEUE_NONE ? NULL : queue_get(t, q);
}

static void emit_guaranteed(struct emit *e, struct sim *s, const struct sim_outcome *o, const char *path)
{
	const struct queue *q = queue_of(s, path);

	emit_object(e, "guaranteed");
	for (res_id r = 0; q && r < o->n_types; r++) {
		int64_t v = res_has(&q->spec.guaranteed, r) ? q->spec.guaranteed.v[r] : 0;

		if (v > 0 && v != RES_UNLIMITED)
			number(e, o->types[r], amount(r, (double)v));
	}
	emit_end(e);
}

static void emit_queues(struct emit *e, struct sim *s, struct sim_outcome *o)
{
	emit_list(e, "queues");
	for (uint32_t i = 0; i < o->n_queues; i++) {
		emit_object(e, NULL);
		emit_str(e, "queue", o->queues[i].path);
		report_emit_counts(e, o, &o->queues[i].counts);
		emit_guaranteed(e, s, o, o->queues[i].path);
		emit_end(e);
	}
	emit_end(e);
}

static void emit_types(struct emit *e, const struct sim_outcome *o)
{
	double span = (double)time_since(o->to_ns, o->from_ns);

	emit_list(e, "types");
	for (res_id r = 0; r < o->n_types; r++) {
		if (o->capacity[r] <= 0 || r == RES_PODS)
			continue;
		emit_object(e, NULL);
		emit_str(e, "name", o->types[r]);
		number(e, "capacity", span > 0 ? amount(r, (double)o->capacity[r] / span) : 0);
		number(e, "used", outcome_utilisation(o, &o->totals, r));
		emit_end(e);
	}
	emit_end(e);
}

/* ---- series: so many steps of the simulation's become one of the page's ---- */

struct steps {
	struct sim *s;
	uint32_t n, every; /* of the simulation's */
};

enum column { WAITING, RUNNING, EVICTIONS, LOST, USED, CAPACITY };

static double value_of(const struct series_point *p, enum column c, res_id r)
{
	switch (c) {
	case WAITING:
		return p->waiting;
	case RUNNING:
		return p->running;
	case EVICTIONS:
		return p->evictions;
	case LOST:
		return p->lost_s;
	case CAPACITY:
		return amount(r, p->capacity[r]);
	default:
		return amount(r, p->used[r]);
	}
}

static double step_value(const struct steps *t, uint32_t at, uint32_t queue, enum column c, res_id r)
{
	uint32_t n = 0;
	double sum = 0;

	for (uint32_t i = at; i < at + t->every && i < t->n; i++) {
		const struct series_point *p = sim_series(t->s, i, queue);

		sum += p ? value_of(p, c, r) : 0;
		n++;
	}
	return c == EVICTIONS || c == LOST ? sum : sum / n;
}

static void emit_column(struct emit *e, const struct steps *t, uint32_t queue, const char *key, enum column c, res_id r)
{
	emit_list(e, key);
	for (uint32_t at = 0; at < t->n; at += t->every)
		number(e, NULL, step_value(t, at, queue, c, r));
	emit_end(e);
}

static void emit_series_of(struct emit *e, const struct steps *t, const struct sim_outcome *o, uint32_t queue)
{
	const struct outcome_counts *c = &o->queues[queue].counts;

	emit_object(e, NULL);
	emit_column(e, t, queue, "waiting", WAITING, 0);
	emit_column(e, t, queue, "running", RUNNING, 0);
	emit_column(e, t, queue, "evictions", EVICTIONS, 0);
	emit_column(e, t, queue, "lost", LOST, 0);
	emit_object(e, "used");
	for (res_id r = 0; r < o->n_types; r++)
		if (c->used[r] > 0 && o->capacity[r] > 0)
			emit_column(e, t, queue, o->types[r], USED, r);
	emit_end(e);
	emit_end(e);
}

static void emit_series(struct emit *e, struct sim *s, const struct sim_outcome *o)
{
	int64_t step_ns;
	struct steps t = {.s = s, .n = sim_series_steps(s, &step_ns)};
	double step, start = (double)o->from_ns / 1e9;
	uint32_t n;

	t.every = t.n > REPORT_STEPS ? (t.n + REPORT_STEPS - 1) / REPORT_STEPS : 1;
	n = (t.n + t.every - 1) / t.every;
	step = (double)step_ns / 1e9 * t.every;
	emit_int(e, "steps", n);
	emit_double(e, "step", step);
	emit_double(e, "start", start);
	emit_double(e, "end", start + step * (n ? n : 1));
	emit_object(e, "capacity");
	for (res_id r = 0; r < o->n_types; r++)
		if (o->totals.used[r] > 0 && r != RES_PODS)
			emit_column(e, &t, SERIES_TOTAL, o->types[r], CAPACITY, r);
	emit_end(e);
	emit_list(e, "series");
	for (uint32_t i = 0; i < o->n_queues; i++)
		emit_series_of(e, &t, o, i);
	emit_end(e);
}

/* ---- evictions: names once, rows of numbers that point to them ---- */

struct report_words {
	const struct names *names;
	ARRAY(uint32_t) place; /* by name id, 0: none yet */
	ARRAY(const char *) list;
};

static uint32_t place_of_text(struct report_words *w, const char *s)
{
	for (uint32_t i = 0; i < w->list.n; i++)
		if (w->list.v[i] == s)
			return i;
	array_push(&w->list, s);
	return w->list.n - 1;
}

static uint32_t place_of(struct report_words *w, name_id id)
{
	if (id == NAME_NONE)
		return 0;
	while (w->place.n <= id)
		array_push(&w->place, 0);
	if (!w->place.v[id]) {
		w->place.v[id] = w->list.n;
		array_push(&w->list, name_str(w->names, id));
	}
	return w->place.v[id];
}

/* The columns that evictions.js knows as EVICTION. */
static void emit_eviction(struct emit *e, struct report_words *w, const struct report_eviction *x)
{
	int64_t ms = x->at_ns / 1000000;

	emit_list(e, NULL);
	emit_double(e, NULL, (double)ms / 1e3);
	emit_int(e, NULL, place_of(w, x->pod));
	emit_int(e, NULL, place_of(w, x->queue));
	emit_int(e, NULL, place_of(w, x->node));
	emit_int(e, NULL, place_of(w, x->for_pod));
	emit_int(e, NULL, place_of(w, x->for_queue));
	emit_int(e, NULL, place_of_text(w, x->action));
	emit_int(e, NULL, place_of_text(w, x->rule));
	number(e, NULL, (double)x->lost_ns / 1e9);
	emit_int(e, NULL, x->nth);
	emit_int(e, NULL, (int64_t)x->decision);
	emit_int(e, NULL, place_of(w, x->why));
	emit_int(e, NULL, place_of(w, x->job));
	emit_int(e, NULL, place_of(w, x->for_job));
	emit_end(e);
}

/* Actions and rules are few and their words for ever; they come first, and are found by looking. */
static void begin_words(struct report_words *w, const struct report_log *l)
{
	*w = (struct report_words){.names = l->names};
	array_push(&w->list, "");
	for (uint32_t i = 0; i < l->evictions.n; i++) {
		place_of_text(w, l->evictions.v[i].action);
		place_of_text(w, l->evictions.v[i].rule);
	}
}

static void emit_evictions(struct emit *e, const struct report_log *l)
{
	struct report_words w;

	begin_words(&w, l);
	emit_object(e, "evictions");
	emit_int(e, "total", (int64_t)l->n_evictions);
	emit_list(e, "rows");
	for (uint32_t i = 0; i < l->evictions.n; i++)
		emit_eviction(e, &w, &l->evictions.v[i]);
	emit_end(e);
	emit_list(e, "words");
	for (uint32_t i = 0; i < w.list.n; i++)
		emit_str(e, NULL, w.list.v[i]);
	emit_end(e);
	emit_end(e);
	array_free(&w.place);
	array_free(&w.list);
}

static void emit_flows(struct emit *e, const struct report_log *l)
{
	emit_list(e, "flows");
	for (uint32_t i = 0; i < l->flows.n; i++) {
		const struct report_flow *f = &l->flows.v[i];

		emit_object(e, NULL);
		emit_str(e, "from", name_str(l->names, f->from));
		emit_str(e, "to", name_str(l->names, f->to));
		emit_int(e, "evictions", (int64_t)f->evictions);
		seconds(e, "lostSeconds", f->lost_sum);
		emit_end(e);
	}
	emit_end(e);
}

/* ---- all of it ---- */

void report_emit_checks(struct emit *e, const struct check *checks, uint32_t n)
{
	emit_list(e, "checks");
	for (uint32_t i = 0; i < n; i++) {
		emit_object(e, NULL);
		emit_str(e, "expect", checks[i].expect);
		emit_bool(e, "ok", checks[i].ok);
		emit_str(e, "found", text_str(&checks[i].found));
		emit_end(e);
	}
	emit_end(e);
}

static void emit_info(struct emit *e, const struct report_info *info)
{
	emit_str(e, "kind", "Simulation");
	emit_str(e, "version", CEDE_VERSION);
	emit_str(e, "title", info->title);
	emit_str(e, "subtitle", info->subtitle);
	emit_list(e, "notes");
	for (uint32_t i = 0; i < info->n_notes; i++)
		emit_str(e, NULL, info->notes[i]);
	emit_end(e);
	report_emit_checks(e, info->checks, info->n_checks);
}

void report_emit_longest(struct emit *e, const struct sim_outcome *o)
{
	struct text since = {0};

	if (!o->longest.pod)
		return;
	timestamp_text(time_floor(o->longest.since_ns, NS_PER_S), &since);
	emit_object(e, "waitsLongest");
	emit_str(e, "pod", o->longest.pod);
	emit_str(e, "since", text_str(&since));
	if (*o->longest.why)
		emit_str(e, "message", o->longest.why);
	emit_end(e);
	text_free(&since);
}

void report_data(struct sim *s, struct report_log *l, const struct report_info *info, struct text *json)
{
	struct sim_outcome *o = sim_get_outcome(s);
	struct emit e;

	report_log_settle(l);
	emit_init(&e, json, EMIT_JSON_LINE);
	emit_object(&e, NULL);
	emit_info(&e, info);
	if (!o->is_complete && o->stopped_by)
		emit_str(&e, "stopped", o->stopped_by);
	report_emit_longest(&e, o);
	emit_object(&e, "totals");
	report_emit_counts(&e, o, &o->totals);
	emit_end(&e);
	number(&e, "fairness", outcome_fairness(o));
	emit_types(&e, o);
	emit_queues(&e, s, o);
	emit_series(&e, s, o);
	emit_evictions(&e, l);
	emit_flows(&e, l);
	emit_end(&e);
}

enum err_code report_write(const char *path, struct sim *s, struct report_log *l, const struct report_info *info,
			   struct err *e)
{
	struct text json = {0};
	enum err_code rc;

	report_data(s, l, info, &json);
	rc = page_write(path, &json, e);
	text_free(&json);
	return rc;
}
