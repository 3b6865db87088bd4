/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/history.h"

#include <stdlib.h>

#include "explain/emit_fields.h"
#include "model/res.h"

void history_init(struct history *h, const char *file, const struct history_filter *filter)
{
	*h = (struct history){.file = file,
			      .filter = *filter,
			      .arena = arena_new(1 << 16),
			      .first_ns = TIME_NONE,
			      .last_ns = TIME_NONE};
}

void history_free(struct history *h)
{
	array_free(&h->rows);
	arena_free(h->arena);
}

/* ---- what is asked for ---- */

static bool is_in_queue(const char *queue, const char *asked)
{
	size_t n = strlen(asked);

	return str_starts(queue, asked) && (!queue[n] || queue[n] == '.');
}

static bool is_asked_for(const struct history_filter *f, const struct eviction *x)
{
	if (f->queue && !is_in_queue(x->victim->queue, f->queue) && !is_in_queue(x->by->queue, f->queue))
		return false;
	if (f->pod && !str_eq(x->victim->pod, f->pod) && !str_eq(x->by->pod, f->pod))
		return false;
	if (f->action && !str_eq(x->by->action, f->action))
		return false;
	return !f->rule || str_eq(x->victim->rule, f->rule);
}

static bool is_in_time(const struct history_filter *f, int64_t now_ns)
{
	return (f->since_ns == TIME_NONE || now_ns >= f->since_ns) &&
	       (f->until_ns == TIME_NONE || now_ns <= f->until_ns);
}

/* ---- taking in ---- */

static const char *copy(struct history *h, const char *s)
{
	return *s ? arena_strndup(h->arena, s, strlen(s)) : "";
}

static void add_row(struct history *h, const struct journal_run *run, const struct eviction *x)
{
	const struct journal_victim *v = x->victim;
	struct history_row row = {
		.run = run->id,
		.now_ns = run->now_ns,
		.cycle = x->by->cycle,
		.source = copy(h, run->source),
		.profile = copy(h, run->profile),
		.action = copy(h, x->by->action),
		.victim = {.pod = copy(h, v->pod),
			   .group = copy(h, v->group),
			   .queue = copy(h, v->queue),
			   .node = copy(h, v->node),
			   .rule = copy(h, v->rule),
			   .lost_seconds = v->lost_seconds},
		.by_pod = copy(h, x->by->pod),
		.by_group = copy(h, x->by->group),
		.by_queue = copy(h, x->by->queue),
		.by_node = copy(h, x->by->node),
	};

	array_push(&h->rows, row);
}

void history_add(struct history *h, const struct journal_run *run)
{
	eviction_list list = {0};

	if (!is_in_time(&h->filter, run->now_ns))
		return;
	if (!h->n_runs || run->now_ns < h->first_ns)
		h->first_ns = run->now_ns;
	if (!h->n_runs || run->now_ns > h->last_ns)
		h->last_ns = run->now_ns;
	h->n_runs++;
	evictions_of(run, &list);
	for (uint32_t i = 0; i < list.n; i++)
		if (is_asked_for(&h->filter, &list.v[i]))
			add_row(h, run, &list.v[i]);
	array_free(&list);
}

/* ---- sums ---- */

struct queue_sum {
	const char *queue;
	uint32_t lost, got; /* pods that went from it, and that went for it */
	int64_t lost_seconds, got_seconds;
};
typedef ARRAY(struct queue_sum) sum_list;

static struct queue_sum *sum_for(sum_list *sums, struct name_index *x, const char *queue)
{
	uint32_t i = name_index_get(x, queue);

	if (i == INDEX_NONE) {
		i = sums->n;
		name_index_put(x, queue, i);
		array_push(sums, ((struct queue_sum){.queue = queue}));
	}
	return &sums->v[i];
}

static int by_queue(const void *a, const void *b)
{
	return strcmp(((const struct queue_sum *)a)->queue, ((const struct queue_sum *)b)->queue);
}

static void sum_queues(const struct history *h, sum_list *out)
{
	struct name_index x = {0};

	for (uint32_t i = 0; i < h->rows.n; i++) {
		const struct history_row *r = &h->rows.v[i];
		struct queue_sum *s = sum_for(out, &x, r->victim.queue);

		s->lost++;
		s->lost_seconds = res_add_sat(s->lost_seconds, r->victim.lost_seconds);
		s = sum_for(out, &x, r->by_queue);
		s->got++;
		s->got_seconds = res_add_sat(s->got_seconds, r->victim.lost_seconds);
	}
	name_index_free(&x);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_queue);
}

static int64_t sum_all(const struct history *h)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < h->rows.n; i++)
		sum = res_add_sat(sum, h->rows.v[i].victim.lost_seconds);
	return sum;
}

/* ---- for people ---- */

static int64_t ns_of(int64_t seconds)
{
	return seconds > INT64_MAX / NS_PER_S ? INT64_MAX : seconds * NS_PER_S;
}

static void cell_seconds(struct table *t, enum tone tone, int64_t seconds)
{
	struct text s = {0};

	duration_text_short(ns_of(seconds), &s);
	table_cell(t, tone, "%s", text_str(&s));
	text_free(&s);
}

static void cell_time(struct table *t, int64_t ns)
{
	struct text s = {0};

	timestamp_text(ns, &s);
	table_cell(t, TONE_FAINT, "%s", text_str(&s));
	text_free(&s);
}

/* Whom it made room for: a pod, or a queue that had to give back. */
static void cell_by(struct table *t, const struct history_row *r)
{
	if (*r->by_pod)
		table_cell(t, TONE_PLAIN, "%s", r->by_pod);
	else
		table_cell(t, TONE_PLAIN, "(%s)", *r->by_queue ? r->by_queue : r->by_group);
}

static void columns(struct table *t, bool is_wide)
{
	table_column(t, "WHEN", 0);
	table_column(t, "RUN", COLUMN_RIGHT);
	table_column(t, "POD", COLUMN_CUT);
	table_column(t, "QUEUE", COLUMN_CUT);
	table_column(t, "NODE", COLUMN_CUT);
	table_column(t, "LOST", COLUMN_RIGHT);
	table_column(t, "MADE ROOM FOR", COLUMN_CUT);
	table_column(t, "OF QUEUE", COLUMN_CUT);
	table_column(t, "ACTION", 0);
	table_column(t, "AGAINST", 0);
	if (!is_wide)
		return;
	table_column(t, "GROUP", COLUMN_CUT);
	table_column(t, "FOR GROUP", COLUMN_CUT);
	table_column(t, "CYCLE", COLUMN_RIGHT);
	table_column(t, "PROFILE", 0);
	table_column(t, "DECIDED BY", 0);
}

static void eviction_row(struct table *t, const struct history_row *r, bool is_wide)
{
	table_row(t);
	cell_time(t, r->now_ns);
	table_cell(t, TONE_PLAIN, "%lld", (long long)r->run);
	table_cell(t, TONE_BAD, "%s", r->victim.pod);
	table_cell(t, TONE_FAINT, "%s", r->victim.queue);
	table_cell(t, TONE_PLAIN, "%s", r->victim.node);
	cell_seconds(t, TONE_PLAIN, r->victim.lost_seconds);
	cell_by(t, r);
	table_cell(t, TONE_FAINT, "%s", r->by_queue);
	table_cell(t, TONE_PLAIN, "%s", r->action);
	table_cell(t, TONE_BAD, "%s", r->victim.rule);
	if (!is_wide)
		return;
	table_cell(t, TONE_PLAIN, "%s", r->victim.group);
	table_cell(t, TONE_PLAIN, "%s", r->by_group);
	table_cell(t, TONE_PLAIN, "%u", r->cycle);
	table_cell(t, TONE_PLAIN, "%s", r->profile);
	table_cell(t, TONE_PLAIN, "%s", r->source);
}

static void eviction_table(const struct history *h, const struct look *look, bool is_wide, struct text *out)
{
	struct table t = {0};

	columns(&t, is_wide);
	for (uint32_t i = 0; i < h->rows.n; i++)
		eviction_row(&t, &h->rows.v[i], is_wide);
	table_print(&t, look, out);
	table_free(&t);
}

static void count_cell(struct table *t, uint32_t n, int64_t seconds)
{
	if (!n)
		table_cell(t, TONE_FAINT, "-");
	else
		table_cell(t, TONE_PLAIN, "%u", n);
	if (!n)
		table_cell(t, TONE_FAINT, "-");
	else
		cell_seconds(t, TONE_PLAIN, seconds);
}

static void sum_row(struct table *t, const struct queue_sum *s)
{
	table_row(t);
	table_cell(t, TONE_PLAIN, "%s", *s->queue ? s->queue : "(none)");
	count_cell(t, s->lost, s->lost_seconds);
	count_cell(t, s->got, s->got_seconds);
}

static void sum_table(const struct history *h, const struct look *look, struct text *out)
{
	sum_list sums = {0};
	struct table t = {0};

	sum_queues(h, &sums);
	table_column(&t, "QUEUE", COLUMN_CUT);
	table_column(&t, "PODS LOST", COLUMN_RIGHT);
	table_column(&t, "WORK LOST", COLUMN_RIGHT);
	table_column(&t, "PODS GONE FOR IT", COLUMN_RIGHT);
	table_column(&t, "WORK GONE FOR IT", COLUMN_RIGHT);
	for (uint32_t i = 0; i < sums.n; i++)
		sum_row(&t, &sums.v[i]);
	table_row(&t);
	table_cell(&t, TONE_STRONG, "all");
	count_cell(&t, h->rows.n, sum_all(h));
	count_cell(&t, h->rows.n, sum_all(h));
	text_add_char(out, '\n');
	table_print(&t, look, out);
	table_free(&t);
	array_free(&sums);
}

static void head_line(const struct history *h, const struct look *look, struct text *out)
{
	struct text s = {0}, lost = {0};

	text_add_visible(&s, h->file);
	text_printf(&s, ": %u %s", h->n_runs, h->n_runs == 1 ? "run" : "runs");
	if (h->n_runs) {
		text_add(&s, h->first_ns == h->last_ns ? " at " : " from ");
		timestamp_text(h->first_ns, &s);
	}
	if (h->n_runs && h->first_ns != h->last_ns) {
		text_add(&s, " to ");
		timestamp_text(h->last_ns, &s);
	}
	duration_text_short(ns_of(sum_all(h)), &lost);
	if (h->rows.n)
		text_printf(&s, "; %u %s had to go, %s of work lost\n", h->rows.n, h->rows.n == 1 ? "pod" : "pods",
			    text_str(&lost));
	else
		text_add(&s, "; nobody had to go\n");
	text_add_toned(out, look, TONE_STRONG, text_str(&s));
	text_free(&s);
	text_free(&lost);
}

void history_text(const struct history *h, const struct look *look, bool is_wide, struct text *out)
{
	head_line(h, look, out);
	if (!h->rows.n)
		return;
	text_add_char(out, '\n');
	eviction_table(h, look, is_wide, out);
	sum_table(h, look, out);
}

/* ---- for programs ---- */

static void emit_row(struct emit *e, const struct history_row *r)
{
	emit_object(e, NULL);
	emit_int(e, "run", r->run);
	emit_time(e, "now", r->now_ns);
	emit_str(e, "source", r->source);
	emit_str(e, "profile", r->profile);
	emit_int(e, "cycle", r->cycle);
	emit_str(e, "pod", r->victim.pod);
	emit_some(e, "group", r->victim.group);
	emit_some(e, "queue", r->victim.queue);
	emit_some(e, "node", r->victim.node);
	emit_some(e, "rule", r->victim.rule);
	emit_int(e, "lostSeconds", r->victim.lost_seconds);
	emit_some(e, "action", r->action);
	emit_object(e, "for");
	emit_some(e, "pod", r->by_pod);
	emit_some(e, "group", r->by_group);
	emit_some(e, "queue", r->by_queue);
	emit_some(e, "node", r->by_node);
	emit_end(e);
	emit_end(e);
}

static void emit_sums(const struct history *h, struct emit *e)
{
	sum_list sums = {0};

	sum_queues(h, &sums);
	emit_list(e, "queues");
	for (uint32_t i = 0; i < sums.n; i++) {
		const struct queue_sum *s = &sums.v[i];

		emit_object(e, NULL);
		emit_some(e, "queue", s->queue);
		emit_int(e, "podsLost", s->lost);
		emit_int(e, "lostSeconds", s->lost_seconds);
		emit_int(e, "podsGoneForIt", s->got);
		emit_int(e, "goneForItSeconds", s->got_seconds);
		emit_end(e);
	}
	emit_end(e);
	array_free(&sums);
}

void history_emit(const struct history *h, struct emit *e)
{
	emit_object(e, NULL);
	emit_str(e, "kind", "History");
	emit_int(e, "runs", h->n_runs);
	emit_time(e, "from", h->first_ns);
	emit_time(e, "to", h->last_ns);
	emit_list(e, "evictions");
	for (uint32_t i = 0; i < h->rows.n; i++)
		emit_row(e, &h->rows.v[i]);
	emit_end(e);
	emit_sums(h, e);
	emit_object(e, "summary");
	emit_int(e, "evictions", h->rows.n);
	emit_int(e, "lostSeconds", sum_all(h));
	emit_end(e);
	emit_end(e);
}
