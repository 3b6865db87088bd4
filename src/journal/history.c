/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/history.h"

#include <stdlib.h>

#include "explain/emit_fields.h"
#include "journal/evictions.h"
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

static bool is_asked_for(const struct history_filter *f, const struct journal_eviction *x)
{
	if (f->queue && !is_in_queue(x->victim.queue, f->queue) && !is_in_queue(x->for_queue, f->queue))
		return false;
	if (f->pod && !str_eq(x->victim.pod, f->pod) && !str_eq(x->for_pod, f->pod))
		return false;
	if (f->action && !str_eq(x->action, f->action))
		return false;
	if (f->has_state && x->state != f->state)
		return false;
	return !f->rule || str_eq(x->victim.rule, f->rule);
}

static bool is_in_time(const struct history_filter *f, int64_t ns)
{
	return (f->since_ns == TIME_NONE || ns >= f->since_ns) && (f->until_ns == TIME_NONE || ns <= f->until_ns);
}

/* A daemon's run lasts, and counts if anything of it is inside. */
static bool overlaps(const struct history_filter *f, const struct journal_run *run)
{
	return (f->since_ns == TIME_NONE || run->end_ns >= f->since_ns) &&
	       (f->until_ns == TIME_NONE || run->now_ns <= f->until_ns);
}

/* ---- taking in ---- */

static enum history_class class_of(enum journal_state state)
{
	static const enum history_class classes[] = {
		[JOURNAL_PLANNED] = HISTORY_PLANNED,  [JOURNAL_DECIDED] = HISTORY_PENDING,
		[JOURNAL_CARRIED_OUT] = HISTORY_DONE, [JOURNAL_OBSERVED] = HISTORY_DONE,
		[JOURNAL_FAILED] = HISTORY_FAILED,
	};

	return classes[state];
}

static const char *copy(struct history *h, const char *s)
{
	return *s ? arena_strndup(h->arena, s, strlen(s)) : "";
}

static void add_row(struct history *h, const struct journal_run *run, const struct journal_eviction *x)
{
	struct history_row row = {.run = run->id, .source = run->source, .profile = copy(h, run->profile), .x = *x};
	const char **texts[] = {&row.x.victim.pod,  &row.x.victim.uid,	    &row.x.victim.group, &row.x.victim.queue,
				&row.x.victim.node, &row.x.victim.workload, &row.x.victim.rule,	 &row.x.action,
				&row.x.for_pod,	    &row.x.for_group,	    &row.x.for_queue,	 &row.x.for_node,
				&row.x.reason};
	struct history_sum *sum = &h->sums[class_of(x->state)];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		*texts[i] = copy(h, *texts[i]);
	sum->n++;
	sum->lost_seconds = res_add_sat(sum->lost_seconds, x->victim.lost_seconds);
	array_push(&h->rows, row);
}

void history_add(struct history *h, const struct journal_run *run)
{
	h->n_evictions += run->n_evictions;
	if (!overlaps(&h->filter, run))
		return;
	if (!h->n_runs || run->now_ns < h->first_ns)
		h->first_ns = run->now_ns;
	if (!h->n_runs || run->end_ns > h->last_ns)
		h->last_ns = run->end_ns;
	h->n_runs++;
	h->n_lost += run->n_lost;
	for (uint32_t i = 0; i < run->n_evictions; i++) {
		const struct journal_eviction *x = &run->evictions[i];

		if (is_in_time(&h->filter, x->at_ns) && is_asked_for(&h->filter, x))
			add_row(h, run, x);
	}
}

/* ---- sums ---- */

struct queue_sum {
	const char *queue;
	struct history_sum lost[HISTORY_CLASSES], got[HISTORY_CLASSES]; /* went from it, and went for it */
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

static void count(struct history_sum *s, int64_t seconds)
{
	s->n++;
	s->lost_seconds = res_add_sat(s->lost_seconds, seconds);
}

static void sum_queues(const struct history *h, sum_list *out)
{
	struct name_index x = {0};

	for (uint32_t i = 0; i < h->rows.n; i++) {
		const struct journal_eviction *r = &h->rows.v[i].x;
		enum history_class class = class_of(r->state);

		count(&sum_for(out, &x, r->victim.queue)->lost[class], r->victim.lost_seconds);
		count(&sum_for(out, &x, r->for_queue)->got[class], r->victim.lost_seconds);
	}
	name_index_free(&x);
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), by_queue);
}

/* ---- for people ---- */

static int64_t ns_of(int64_t seconds)
{
	return time_multiply(seconds, NS_PER_S);
}

static void cell_seconds(struct table *t, enum tone tone, int64_t seconds)
{
	struct text s = {0};

	duration_text_short(ns_of(seconds), &s);
	table_cell(t, tone, "%s", text_str(&s));
	text_free(&s);
}

/* Whole seconds are enough for people; programs get all of it. */
static void add_time(int64_t ns, struct text *out)
{
	timestamp_text(time_floor(ns, NS_PER_S), out);
}

static void cell_time(struct table *t, int64_t ns)
{
	struct text s = {0};

	add_time(ns, &s);
	table_cell(t, TONE_FAINT, "%s", text_str(&s));
	text_free(&s);
}

/* Whom it made room for: a pod, or a queue that had to give back. */
static void cell_by(struct table *t, const struct journal_eviction *x)
{
	if (*x->for_pod)
		table_cell(t, TONE_PLAIN, "%s", x->for_pod);
	else
		table_cell(t, TONE_PLAIN, "(%s)", *x->for_queue ? x->for_queue : x->for_group);
}

/* What was planned by a daemon that only watches says so. */
static void cell_state(struct table *t, const struct history_row *r)
{
	static const enum tone tones[] = {[HISTORY_PLANNED] = TONE_FAINT,
					  [HISTORY_DONE] = TONE_PLAIN,
					  [HISTORY_PENDING] = TONE_WARN,
					  [HISTORY_FAILED] = TONE_BAD};
	bool is_watcher = r->source == JOURNAL_DRY_RUN || r->source == JOURNAL_SHADOW;

	table_cell(t, tones[class_of(r->x.state)], "%s",
		   is_watcher ? journal_source_text(r->source) : journal_state_text(r->x.state));
}

static void columns(struct table *t, bool is_wide)
{
	table_column(t, "WHEN", 0);
	table_column(t, "RUN", COLUMN_RIGHT);
	table_column(t, "STATE", 0);
	table_column(t, "POD", COLUMN_LEFT);
	table_column(t, "QUEUE", COLUMN_LEFT);
	table_column(t, "NODE", COLUMN_LEFT);
	table_column(t, "LOST", COLUMN_RIGHT);
	table_column(t, "MADE ROOM FOR", COLUMN_LEFT);
	table_column(t, "OF QUEUE", COLUMN_LEFT);
	table_column(t, "ACTION", 0);
	table_column(t, "AGAINST", 0);
	table_column(t, "BECAUSE", COLUMN_LEFT);
	if (!is_wide)
		return;
	table_column(t, "GROUP", COLUMN_LEFT);
	table_column(t, "FOR GROUP", COLUMN_LEFT);
	table_column(t, "CYCLE", COLUMN_RIGHT);
	table_column(t, "PROFILE", 0);
	table_column(t, "DECIDED BY", 0);
}

static void eviction_cells(struct table *t, const struct history_row *r, bool is_wide)
{
	const struct journal_eviction *x = &r->x;

	table_row(t);
	cell_time(t, x->at_ns);
	table_cell(t, TONE_PLAIN, "%lld", (long long)r->run);
	cell_state(t, r);
	table_cell(t, TONE_BAD, "%s", x->victim.pod);
	table_cell(t, TONE_FAINT, "%s", x->victim.queue);
	table_cell(t, TONE_PLAIN, "%s", x->victim.node);
	cell_seconds(t, TONE_PLAIN, x->victim.lost_seconds);
	cell_by(t, x);
	table_cell(t, TONE_FAINT, "%s", x->for_queue);
	table_cell(t, TONE_PLAIN, "%s", x->action);
	table_cell(t, TONE_BAD, "%s", x->victim.rule);
	table_cell(t, TONE_PLAIN, "%s", x->reason);
	if (!is_wide)
		return;
	table_cell(t, TONE_PLAIN, "%s", x->victim.group);
	table_cell(t, TONE_PLAIN, "%s", x->for_group);
	table_cell(t, TONE_PLAIN, "%u", x->cycle);
	table_cell(t, TONE_PLAIN, "%s", r->profile);
	table_cell(t, TONE_PLAIN, "%s", journal_source_text(r->source));
}

static void eviction_table(const struct history *h, const struct look *look, bool is_wide, struct text *out)
{
	struct table t = {0};

	columns(&t, is_wide);
	for (uint32_t i = 0; i < h->rows.n; i++)
		eviction_cells(&t, &h->rows.v[i], is_wide);
	table_print(&t, look, out);
	table_free(&t);
}

static void sum_cells(struct table *t, const struct history_sum *s)
{
	if (s->n) {
		table_cell(t, TONE_PLAIN, "%u", s->n);
		cell_seconds(t, TONE_PLAIN, s->lost_seconds);
	} else {
		table_cell(t, TONE_FAINT, "-");
		table_cell(t, TONE_FAINT, "-");
	}
}

static void sum_row(struct table *t, const struct queue_sum *s, enum history_class class)
{
	if (!s->lost[class].n && !s->got[class].n)
		return;
	table_row(t);
	table_cell(t, TONE_PLAIN, "%s", *s->queue ? s->queue : "(none)");
	sum_cells(t, &s->lost[class]);
	sum_cells(t, &s->got[class]);
}

static void sum_table(const struct history *h, const sum_list *sums, enum history_class class, const struct look *look,
		      struct text *out)
{
	struct table t = {0};

	table_column(&t, class == HISTORY_PLANNED ? "PLANNED, BY QUEUE" : "DONE, BY QUEUE", COLUMN_LEFT);
	table_column(&t, "PODS LOST", COLUMN_RIGHT);
	table_column(&t, "WORK LOST", COLUMN_RIGHT);
	table_column(&t, "PODS GONE FOR IT", COLUMN_RIGHT);
	table_column(&t, "WORK GONE FOR IT", COLUMN_RIGHT);
	for (uint32_t i = 0; i < sums->n; i++)
		sum_row(&t, &sums->v[i], class);
	table_row(&t);
	table_cell(&t, TONE_STRONG, "all");
	sum_cells(&t, &h->sums[class]);
	sum_cells(&t, &h->sums[class]);
	text_add_char(out, '\n');
	table_print(&t, look, out);
	table_free(&t);
}

static void sum_tables(const struct history *h, const struct look *look, struct text *out)
{
	sum_list sums = {0};

	sum_queues(h, &sums);
	for (int i = HISTORY_PLANNED; i <= HISTORY_DONE; i++)
		if (h->sums[i].n)
			sum_table(h, &sums, (enum history_class)i, look, out);
	array_free(&sums);
}

static void add_class(struct text *out, const char *words, const struct history_sum *s)
{
	if (!s->n)
		return;
	text_printf(out, "; %s: %u %s, ", words, s->n, s->n == 1 ? "pod" : "pods");
	duration_text_short(ns_of(s->lost_seconds), out);
	text_add(out, " of work");
}

static void add_times(const struct history *h, struct text *out)
{
	bool is_one;

	if (!h->n_runs)
		return;
	is_one = time_floor(h->first_ns, NS_PER_S) == time_floor(h->last_ns, NS_PER_S);
	text_add(out, is_one ? " at " : " from ");
	add_time(h->first_ns, out);
	if (is_one)
		return;
	text_add(out, " to ");
	add_time(h->last_ns, out);
}

/* That nobody went must not be read out of a question that was too narrow. */
static void add_nothing(const struct history *h, struct text *out)
{
	if (h->n_evictions)
		text_printf(out, "; nothing matches what was asked for, and the journal has %llu %s",
			    (unsigned long long)h->n_evictions, h->n_evictions == 1 ? "eviction" : "evictions");
	else
		text_add(out, "; nobody had to go");
}

static void head_line(const struct history *h, const struct look *look, struct text *out)
{
	struct text s = {0};

	text_add_visible(&s, h->file);
	text_printf(&s, ": %u %s", h->n_runs, h->n_runs == 1 ? "run" : "runs");
	add_times(h, &s);
	add_class(&s, "planned to go", &h->sums[HISTORY_PLANNED]);
	add_class(&s, "evicted", &h->sums[HISTORY_DONE]);
	add_class(&s, "decided, nothing known of it yet", &h->sums[HISTORY_PENDING]);
	add_class(&s, "failed", &h->sums[HISTORY_FAILED]);
	if (!h->rows.n)
		add_nothing(h, &s);
	if (h->n_lost)
		text_printf(&s, "; %u %s could not be written down", h->n_lost,
			    h->n_lost == 1 ? "decision" : "decisions");
	text_add_char(&s, '\n');
	text_add_toned(out, look, TONE_STRONG, text_str(&s));
	text_free(&s);
}

void history_text(const struct history *h, const struct look *look, bool is_wide, struct text *out)
{
	head_line(h, look, out);
	if (!h->rows.n)
		return;
	text_add_char(out, '\n');
	eviction_table(h, look, is_wide, out);
	sum_tables(h, look, out);
}

/* ---- for programs ---- */

static const char *const class_words[] = {"planned", "done", "pending", "failed"};

static void emit_row(struct emit *e, const struct history_row *r)
{
	const struct journal_eviction *x = &r->x;

	emit_object(e, NULL);
	emit_int(e, "run", r->run);
	emit_time(e, "now", x->at_ns);
	emit_str(e, "source", journal_source_text(r->source));
	emit_str(e, "state", journal_state_text(x->state));
	emit_time(e, "stateSince", x->state_ns);
	emit_some(e, "reason", x->reason);
	emit_str(e, "profile", r->profile);
	emit_int(e, "cycle", x->cycle);
	emit_str(e, "pod", x->victim.pod);
	emit_some(e, "uid", x->victim.uid);
	emit_some(e, "group", x->victim.group);
	emit_some(e, "queue", x->victim.queue);
	emit_some(e, "node", x->victim.node);
	emit_some(e, "rule", x->victim.rule);
	emit_int(e, "lostSeconds", x->victim.lost_seconds);
	emit_some(e, "action", x->action);
	emit_object(e, "for");
	emit_some(e, "pod", x->for_pod);
	emit_some(e, "group", x->for_group);
	emit_some(e, "queue", x->for_queue);
	emit_some(e, "node", x->for_node);
	emit_end(e);
	emit_end(e);
}

static void emit_queue_class(struct emit *e, const struct queue_sum *s, int class)
{
	if (!s->lost[class].n && !s->got[class].n)
		return;
	emit_object(e, class_words[class]);
	emit_int(e, "podsLost", s->lost[class].n);
	emit_int(e, "lostSeconds", s->lost[class].lost_seconds);
	emit_int(e, "podsGoneForIt", s->got[class].n);
	emit_int(e, "goneForItSeconds", s->got[class].lost_seconds);
	emit_end(e);
}

static void emit_queues(const struct history *h, struct emit *e)
{
	sum_list sums = {0};

	sum_queues(h, &sums);
	emit_list(e, "queues");
	for (uint32_t i = 0; i < sums.n; i++) {
		emit_object(e, NULL);
		emit_some(e, "queue", sums.v[i].queue);
		for (int class = 0; class < HISTORY_CLASSES; class ++)
			emit_queue_class(e, &sums.v[i], class);
		emit_end(e);
	}
	emit_end(e);
	array_free(&sums);
}

static void emit_summary(const struct history *h, struct emit *e)
{
	emit_object(e, "summary");
	for (int i = 0; i < HISTORY_CLASSES; i++) {
		emit_object(e, class_words[i]);
		emit_int(e, "evictions", h->sums[i].n);
		emit_int(e, "lostSeconds", h->sums[i].lost_seconds);
		emit_end(e);
	}
	emit_int(e, "decisionsNotWritten", h->n_lost);
	emit_end(e);
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
	emit_queues(h, e);
	emit_summary(h, e);
	emit_end(e);
}
