/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/replay_view.h"

#include "explain/emit_fields.h"

enum { SHOWN = 5 }; /* decisions word by word, unless wide */

/* ---- words ---- */

static int64_t ns_of(int64_t seconds)
{
	return time_multiply(seconds, NS_PER_S);
}

/* "nominated on gpu-3 (reclaim)", "waiting" */
static void place_text(const struct journal_decision *d, struct text *out)
{
	if (!d) {
		text_add(out, "not decided on");
		return;
	}
	text_add(out, d->outcome);
	if (*d->node)
		text_printf(out, " on %s", d->node);
	if (*d->action && !str_eq(d->action, "allocate"))
		text_printf(out, " (%s)", d->action);
}

static void cell_place(struct table *t, enum tone tone, const struct journal_decision *d)
{
	struct text s = {0};

	place_text(d, &s);
	table_cell(t, tone, "%s", text_str(&s));
	text_free(&s);
}

/* ---- tables ---- */

static void eviction_table(const eviction_list *list, enum tone tone, const struct look *look, struct text *out)
{
	struct table t = {0};

	eviction_columns(&t, "ROOM FOR");
	table_column(&t, "OF QUEUE", COLUMN_LEFT);
	table_column(&t, "ACTION", 0);
	table_column(&t, "AGAINST", 0);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct eviction *x = &list->v[i];

		eviction_cells(&t, tone, x);
		table_cell(&t, TONE_FAINT, "%s", x->by->queue);
		table_cell(&t, TONE_PLAIN, "%s", x->by->action);
		table_cell(&t, TONE_BAD, "%s", x->victim->rule);
	}
	table_print(&t, look, out);
	table_free(&t);
}

static void shifted_table(const struct run_diff *d, const struct look *look, struct text *out)
{
	struct table t = {0};

	table_column(&t, "POD", COLUMN_LEFT);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "WENT FOR", COLUMN_LEFT);
	table_column(&t, "BY", 0);
	table_column(&t, "GOES FOR", COLUMN_LEFT);
	table_column(&t, "BY", 0);
	for (uint32_t i = 0; i < d->shifted_was.n; i++) {
		const struct eviction *was = &d->shifted_was.v[i], *is = &d->shifted_is.v[i];

		table_row(&t);
		table_cell(&t, TONE_WARN, "%s", was->victim->pod);
		table_cell(&t, TONE_FAINT, "%s", was->victim->queue);
		cell_for(&t, was->by);
		table_cell(&t, TONE_PLAIN, "%s", was->by->action);
		cell_for(&t, is->by);
		table_cell(&t, TONE_PLAIN, "%s", is->by->action);
	}
	table_print(&t, look, out);
	table_free(&t);
}

static void moved_table(const struct run_diff *d, const char *is_title, const struct look *look, struct text *out)
{
	struct table t = {0};

	table_column(&t, "POD", COLUMN_LEFT);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "WAS", 0);
	table_column(&t, is_title, 0);
	for (uint32_t i = 0; i < d->moved_was.n; i++) {
		const struct journal_decision *was = d->moved_was.v[i], *is = d->moved_is.v[i];

		table_row(&t);
		table_cell(&t, TONE_WARN, "%s", was ? was->pod : is->pod);
		table_cell(&t, TONE_FAINT, "%s", was ? was->queue : is->queue);
		cell_place(&t, TONE_PLAIN, was);
		cell_place(&t, TONE_PLAIN, is);
	}
	table_print(&t, look, out);
	table_free(&t);
}

static void tables(const struct run_diff *d, const char *is, const struct look *look, struct text *out)
{
	if (d->spared.n) {
		text_add_heading(out, look, "EVICTIONS NO LONGER NEEDED", d->spared.n);
		eviction_table(&d->spared, TONE_GOOD, look, out);
	}
	if (d->added.n) {
		text_add_heading(out, look, "NEW EVICTIONS", d->added.n);
		eviction_table(&d->added, TONE_BAD, look, out);
	}
	if (d->shifted_was.n) {
		text_add_heading(out, look, "EVICTIONS FOR ANOTHER REASON", d->shifted_was.n);
		shifted_table(d, look, out);
	}
	if (d->moved_was.n) {
		text_add_heading(out, look, "OTHER ANSWERS", d->moved_was.n);
		moved_table(d, is, look, out);
	}
}

/* ---- word by word ---- */

static const char *json_at(const struct journal_run *run, uint32_t i)
{
	return i < run->n_decisions ? run->decisions[i].json : "";
}

static void add_words(struct text *out, const char *what, const char *json)
{
	text_printf(out, "  %s ", what);
	text_add_visible(out, *json ? json : "nothing");
	text_add_char(out, '\n');
}

static void decisions_text(const struct run_diff *d, bool is_wide, const struct look *look, struct text *out)
{
	uint32_t n = d->was->n_decisions > d->is->n_decisions ? d->was->n_decisions : d->is->n_decisions, shown = 0;

	text_add_heading(out, look, "Decisions that are not the same", d->n_differ);
	for (uint32_t i = 0; i < n; i++) {
		if (str_eq(json_at(d->was, i), json_at(d->is, i)))
			continue;
		if (shown++ == SHOWN && !is_wide) {
			text_printf(out, "… and %u more; -o wide has all\n", d->n_differ - SHOWN);
			return;
		}
		text_printf(out, "decision %u\n", i + 1);
		add_words(out, "recorded", json_at(d->was, i));
		add_words(out, "now     ", json_at(d->is, i));
	}
}

/* ---- the whole ---- */

static void run_words(const struct run_diff *d, struct text *out)
{
	text_printf(out, "Run %lld at ", (long long)d->was->id);
	timestamp_text(d->was->now_ns, out);
	text_printf(out, ", profile %s", d->was->profile);
	if (!str_eq(d->was->profile, d->is->profile))
		text_printf(out, ", now %s", d->is->profile);
	text_add(out, ": ");
}

static void head_line(const struct replay_view *v, struct text *out)
{
	const struct run_diff *d = v->diff;

	run_words(d, out);
	if (run_diff_is_same(d))
		text_printf(out, "%u %s, the same again\n", d->was->n_decisions,
			    d->was->n_decisions == 1 ? "decision" : "decisions");
	else if (v->has_other_settings)
		text_printf(out, "%u %s would not have happened, %u would be new, %u %s\n", d->spared.n,
			    d->spared.n == 1 ? "eviction" : "evictions", d->added.n, d->moved_was.n,
			    d->moved_was.n == 1 ? "answer changes" : "answers change");
	else
		text_printf(out, "%u %s recorded, %u now; %u not the same\n", d->was->n_decisions,
			    d->was->n_decisions == 1 ? "decision" : "decisions", d->is->n_decisions, d->n_differ);
}

void replay_view_text(const struct replay_view *v, const struct look *look, bool is_wide, struct text *out)
{
	const struct run_diff *d = v->diff;
	struct text head = {0};

	head_line(v, &head);
	text_add_toned(out, look, run_diff_is_same(d) ? TONE_PLAIN : TONE_STRONG, text_str(&head));
	text_free(&head);
	if (!v->has_other_settings && d->state_differs)
		text_add(out, "The recorded cluster reads back as another one.\n");
	if (!run_diff_is_same(d) && !str_eq(d->was->version, d->is->version))
		text_printf(out, "It was recorded by cede %s; this is %s.\n", d->was->version, d->is->version);
	tables(d, v->has_other_settings ? "WOULD BE" : "IS", look, out);
	if (!v->has_other_settings && d->n_differ)
		decisions_text(d, is_wide, look, out);
	else if (d->n_differ && !d->spared.n && !d->added.n && !d->shifted_was.n && !d->moved_was.n)
		text_add(out, "The same pods go and get the same places; only reasons change (-o json has them).\n");
}

void replay_sums_text(const struct diff_sums *s, bool has_other_settings, const struct look *look, struct text *out)
{
	struct text line = {0}, spared = {0}, added = {0};

	duration_text_short(ns_of(s->spared_seconds), &spared);
	duration_text_short(ns_of(s->added_seconds), &added);
	text_printf(&line, "%u %s replayed: ", s->runs, s->runs == 1 ? "run" : "runs");
	if (s->same == s->runs)
		text_add(&line, "all the same\n");
	else if (has_other_settings)
		text_printf(&line,
			    "%u not the same; evictions that would not have happened: %u (%s of work kept); new ones: "
			    "%u (%s lost); other answers: %u\n",
			    s->runs - s->same, s->spared, text_str(&spared), s->added, text_str(&added), s->moved);
	else
		text_printf(&line, "%u the same, %u not\n", s->same, s->runs - s->same);
	text_add_toned(out, look, TONE_STRONG, text_str(&line));
	text_free(&line);
	text_free(&spared);
	text_free(&added);
}

/* ---- for programs ---- */

static void emit_evictions(struct emit *e, const char *key, const eviction_list *list)
{
	emit_list(e, key);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct eviction *x = &list->v[i];

		emit_object(e, NULL);
		emit_str(e, "pod", x->victim->pod);
		emit_some(e, "queue", x->victim->queue);
		emit_some(e, "node", x->victim->node);
		emit_some(e, "rule", x->victim->rule);
		emit_int(e, "lostSeconds", x->victim->lost_seconds);
		emit_some(e, "action", x->by->action);
		emit_some(e, "reason", x->victim->reason);
		emit_object(e, "for");
		emit_some(e, "pod", x->by->pod);
		emit_some(e, "group", x->by->group);
		emit_some(e, "queue", x->by->queue);
		emit_end(e);
		emit_end(e);
	}
	emit_end(e);
}

static void emit_reason(struct emit *e, const char *key, const struct eviction *x)
{
	emit_object(e, key);
	emit_some(e, "action", x->by->action);
	emit_some(e, "rule", x->victim->rule);
	emit_some(e, "pod", x->by->pod);
	emit_some(e, "queue", x->by->queue);
	emit_end(e);
}

static void emit_shifted(struct emit *e, const struct run_diff *d)
{
	emit_list(e, "otherReasons");
	for (uint32_t i = 0; i < d->shifted_was.n; i++) {
		emit_object(e, NULL);
		emit_str(e, "pod", d->shifted_was.v[i].victim->pod);
		emit_reason(e, "was", &d->shifted_was.v[i]);
		emit_reason(e, "now", &d->shifted_is.v[i]);
		emit_end(e);
	}
	emit_end(e);
}

static void emit_place(struct emit *e, const char *key, const struct journal_decision *d)
{
	if (!d)
		return;
	emit_object(e, key);
	emit_str(e, "outcome", d->outcome);
	emit_some(e, "action", d->action);
	emit_some(e, "node", d->node);
	if (!*d->node)
		emit_some(e, "message", d->message);
	if (d->why)
		emit_some(e, "why", d->why);
	emit_end(e);
}

static void emit_moved(struct emit *e, const struct run_diff *d)
{
	emit_list(e, "otherAnswers");
	for (uint32_t i = 0; i < d->moved_was.n; i++) {
		const struct journal_decision *was = d->moved_was.v[i], *is = d->moved_is.v[i];

		emit_object(e, NULL);
		emit_str(e, "pod", was ? was->pod : is->pod);
		emit_some(e, "queue", was ? was->queue : is->queue);
		emit_place(e, "was", was);
		emit_place(e, "now", is);
		emit_end(e);
	}
	emit_end(e);
}

void run_diff_emit(const struct run_diff *d, struct emit *e)
{
	emit_evictions(e, "notEvicted", &d->spared);
	emit_evictions(e, "newlyEvicted", &d->added);
	emit_shifted(e, d);
	emit_moved(e, d);
}

/* As texts: what is compared is bytes. */
static void emit_decisions(struct emit *e, const struct run_diff *d)
{
	uint32_t n = d->was->n_decisions > d->is->n_decisions ? d->was->n_decisions : d->is->n_decisions;

	emit_list(e, "differences");
	for (uint32_t i = 0; i < n; i++) {
		if (str_eq(json_at(d->was, i), json_at(d->is, i)))
			continue;
		emit_object(e, NULL);
		emit_int(e, "decision", i + 1);
		emit_some(e, "was", json_at(d->was, i));
		emit_some(e, "now", json_at(d->is, i));
		emit_end(e);
	}
	emit_end(e);
}

void replay_view_emit(const struct replay_view *v, struct emit *e)
{
	const struct run_diff *d = v->diff;

	emit_object(e, NULL);
	emit_int(e, "run", d->was->id);
	emit_time(e, "now", d->was->now_ns);
	emit_str(e, "profile", d->was->profile);
	emit_str(e, "replayedProfile", d->is->profile);
	emit_str(e, "version", d->was->version);
	emit_int(e, "decisions", d->was->n_decisions);
	emit_bool(e, "same", run_diff_is_same(d));
	if (!v->has_other_settings)
		emit_bool(e, "sameCluster", !d->state_differs);
	run_diff_emit(d, e);
	emit_decisions(e, d);
	emit_end(e);
}

void replay_sums_emit(const struct diff_sums *s, struct emit *e)
{
	emit_object(e, "summary");
	emit_int(e, "runs", s->runs);
	emit_int(e, "same", s->same);
	emit_int(e, "notEvicted", s->spared);
	emit_int(e, "notEvictedSeconds", s->spared_seconds);
	emit_int(e, "newlyEvicted", s->added);
	emit_int(e, "newlyEvictedSeconds", s->added_seconds);
	emit_int(e, "otherReasons", s->shifted);
	emit_int(e, "otherAnswers", s->moved);
	emit_end(e);
}
