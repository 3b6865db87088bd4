/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/shadow.h"

#include "base/clock.h"
#include "units/timestamp.h"

void shadow_init(struct shadow *s)
{
	*s = (struct shadow){.arena = arena_new(1 << 16)};
}

void shadow_free(struct shadow *s)
{
	array_free(&s->rows);
	map_free(&s->open);
	arena_free(s->arena);
}

static const char *copy(struct shadow *s, const char *text)
{
	return arena_strndup(s->arena, text, strlen(text));
}

/* The row of a pod that they have not placed yet. */
static struct shadow_row *row_of(struct shadow *s, const struct journal_decision *d)
{
	uint64_t key = hash_bytes(d->uid, strlen(d->uid));
	uint32_t i = map_get(&s->open, key);

	if (i != MAP_NONE)
		return &s->rows.v[i];
	map_put(&s->open, key, s->rows.n);
	array_push(&s->rows, ((struct shadow_row){.pod = copy(s, d->pod),
						  .scheduler = "",
						  .their_node = "",
						  .outcome = "",
						  .node = "",
						  .message = ""}));
	return &array_last(&s->rows);
}

static void add_ours(struct shadow *s, const struct journal_decision *d)
{
	struct shadow_row *r = row_of(s, d);

	r->outcome = copy(s, d->outcome);
	r->node = copy(s, d->node);
	r->message = copy(s, d->message);
	r->n_victims = d->n_victims;
	r->at_ns = d->at_ns;
}

static void add_theirs(struct shadow *s, const struct journal_decision *d)
{
	struct shadow_row *r = row_of(s, d);

	r->scheduler = copy(s, d->message);
	r->their_node = copy(s, d->node);
	r->at_ns = d->at_ns;
	map_del(&s->open, hash_bytes(d->uid, strlen(d->uid)));
}

void shadow_add(struct shadow *s, const struct journal_run *run)
{
	for (uint32_t i = 0; run->source == JOURNAL_SHADOW && i < run->n_decisions; i++) {
		const struct journal_decision *d = &run->decisions[i];

		if (!*d->pod || !*d->uid)
			continue;
		if (str_eq(d->action, "theirs"))
			add_theirs(s, d);
		else
			add_ours(s, d);
	}
}

static bool gives_a_node(const struct shadow_row *r)
{
	return *r->node && !str_eq(r->outcome, "waiting");
}

void shadow_end(struct shadow *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->rows.n; i++) {
		struct shadow_row *r = &s->rows.v[i];

		if (!*r->their_node && !gives_a_node(r))
			continue; /* it waits for both */
		r->result = !*r->their_node		     ? SHADOW_ONLY_HERE
			    : !gives_a_node(r)		     ? SHADOW_ONLY_THERE
			    : str_eq(r->node, r->their_node) ? SHADOW_SAME
							     : SHADOW_OTHER;
		s->counts[r->result]++;
		s->rows.v[n++] = *r;
	}
	s->rows.n = n;
	map_free(&s->open);
	s->open = (struct map){0};
}

static const char *const result_words[SHADOW_RESULTS] = {[SHADOW_SAME] = "same",
							 [SHADOW_OTHER] = "other node",
							 [SHADOW_ONLY_THERE] = "only there",
							 [SHADOW_ONLY_HERE] = "only here"};

static void ours_text(const struct shadow_row *r, struct text *out)
{
	if (!*r->outcome) {
		text_add(out, "not decided before");
		return;
	}
	text_printf(out, "%s%s%s", r->outcome, *r->node ? " " : "", r->node);
	if (r->n_victims)
		text_printf(out, ", %u would have to go", r->n_victims);
	if (str_eq(r->outcome, "waiting") && *r->message)
		text_printf(out, ": %s", r->message);
}

static void add_row(struct table *t, const struct shadow_row *r)
{
	struct text at = {0}, ours = {0};

	timestamp_text(time_floor(r->at_ns, NS_PER_S), &at);
	ours_text(r, &ours);
	table_row(t);
	table_cell(t, TONE_FAINT, "%s", text_str(&at));
	table_cell(t, TONE_PLAIN, "%s", r->pod);
	table_cell(t, r->result == SHADOW_SAME ? TONE_GOOD : TONE_WARN, "%s", result_words[r->result]);
	table_cell(t, TONE_PLAIN, "%s%s%s", r->scheduler, *r->their_node ? ": " : "", r->their_node);
	table_cell(t, TONE_PLAIN, "%s", text_str(&ours));
	text_free(&at);
	text_free(&ours);
}

void shadow_text(const struct shadow *s, const struct look *look, bool is_wide, struct text *out)
{
	struct table t = {0};

	text_printf(out, "%u %s on the same node, %u on another, %u placed only there, %u only here.\n",
		    s->counts[SHADOW_SAME], s->counts[SHADOW_SAME] == 1 ? "pod" : "pods", s->counts[SHADOW_OTHER],
		    s->counts[SHADOW_ONLY_THERE], s->counts[SHADOW_ONLY_HERE]);
	table_column(&t, "WHEN", COLUMN_LEFT);
	table_column(&t, "POD", COLUMN_LEFT);
	table_column(&t, "RESULT", COLUMN_LEFT);
	table_column(&t, "THEIRS", COLUMN_LEFT);
	table_column(&t, "CEDE'S", COLUMN_LEFT);
	for (uint32_t i = 0; i < s->rows.n; i++)
		if (is_wide || s->rows.v[i].result != SHADOW_SAME)
			add_row(&t, &s->rows.v[i]);
	if (t.n_rows)
		text_add_char(out, '\n');
	table_print(&t, look, out);
	table_free(&t);
}

static void emit_row(struct emit *e, const struct shadow_row *r)
{
	struct text at = {0};

	timestamp_text(r->at_ns, &at);
	emit_object(e, NULL);
	emit_str(e, "pod", r->pod);
	emit_str(e, "result", result_words[r->result]);
	emit_str(e, "at", text_str(&at));
	if (*r->their_node) {
		emit_str(e, "scheduler", r->scheduler);
		emit_str(e, "theirNode", r->their_node);
	}
	if (*r->outcome)
		emit_str(e, "outcome", r->outcome);
	if (*r->node)
		emit_str(e, "node", r->node);
	emit_int(e, "victims", r->n_victims);
	emit_end(e);
	text_free(&at);
}

void shadow_emit(const struct shadow *s, struct emit *e)
{
	emit_object(e, NULL);
	emit_str(e, "kind", "ShadowHistory");
	emit_int(e, "same", s->counts[SHADOW_SAME]);
	emit_int(e, "otherNode", s->counts[SHADOW_OTHER]);
	emit_int(e, "onlyThere", s->counts[SHADOW_ONLY_THERE]);
	emit_int(e, "onlyHere", s->counts[SHADOW_ONLY_HERE]);
	emit_list(e, "pods");
	for (uint32_t i = 0; i < s->rows.n; i++)
		emit_row(e, &s->rows.v[i]);
	emit_end(e);
	emit_end(e);
}
