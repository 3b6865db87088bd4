/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "units/timestamp.h"

const char *const difference_way_words[] = {"same", "better", "worse", "mixed", "none"};

/* ---- differences ---- */

static double value_of(const struct figures *r, const char *queue, enum figure f)
{
	const struct figures_queue *q = queue ? figures_find(r, queue) : NULL;

	return !queue ? r->total[f] : q ? q->v[f] : 0;
}

static enum difference_way way_of(const struct figure_spread *by, int better)
{
	if (by->min == 0 && by->max == 0)
		return WAY_SAME;
	if (by->min < 0 && by->max > 0)
		return WAY_MIXED;
	return (by->mean > 0) == (better > 0) ? WAY_BETTER : WAY_WORSE;
}

struct difference comparison_difference(const struct comparison *c, uint32_t side, const char *queue, enum figure f)
{
	double *v = mem_alloc(3 * sizeof(*v) * c->n_seeds), *was = v, *is = v + c->n_seeds, *by = is + c->n_seeds;
	struct difference d;

	for (uint32_t s = 0; s < c->n_seeds; s++) {
		was[s] = value_of(&c->sides[0].runs[s], queue, f);
		is[s] = value_of(&c->sides[side].runs[s], queue, f);
		by[s] = is[s] - was[s];
	}
	d.was = figure_spread_of(was, c->n_seeds);
	d.is = figure_spread_of(is, c->n_seeds);
	d.by = figure_spread_of(by, c->n_seeds);
	d.way = way_of(&d.by, figure_infos[f].better);
	if (f == FIGURE_BELOW && c->sides[0].runs[0].has_guarantees != c->sides[side].runs[0].has_guarantees)
		d.way = WAY_NONE;
	mem_free(v);
	return d;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void comparison_all_queues(const struct comparison *c, comparison_queues *ret)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_sides * c->n_seeds; i++) {
		const struct figures *r = &c->sides[i / c->n_seeds].runs[i % c->n_seeds];

		for (uint32_t k = 0; k < r->queues.n; k++)
			array_push(ret, r->queues.v[k].path);
	}
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_text);
	for (uint32_t i = 0; i < ret->n; i++)
		if (!i || !str_eq(ret->v[i], ret->v[n - 1]))
			ret->v[n++] = ret->v[i];
	ret->n = n;
}

/* ---- text ---- */

static const enum tone way_tones[] = {TONE_FAINT, TONE_GOOD, TONE_BAD, TONE_WARN, TONE_FAINT};

/* "-2,100 (-40 %)" */
static void change_text(const struct difference *d, enum figure f, struct text *out)
{
	if (d->way == WAY_SAME || d->way == WAY_NONE) {
		text_add(out, d->way == WAY_SAME ? "same" : "");
		return;
	}
	figure_change_text(figure_infos[f].unit, d->by.mean, out);
	if (d->was.mean > 0 && fabs(d->by.mean / d->was.mean) >= 0.005)
		text_printf(out, " (%+.0f %%)", d->by.mean / d->was.mean * 100);
}

static void way_text(const struct comparison *c, const struct difference *d, enum figure f, struct text *out)
{
	enum figure_unit unit = figure_infos[f].unit;

	if (d->way == WAY_SAME)
		return;
	if (d->way == WAY_NONE) {
		text_add(out, "not comparable: one of them knows no queues with guarantees");
		return;
	}
	text_add(out, difference_way_words[d->way]);
	if (c->n_seeds == 1)
		return;
	if (d->way != WAY_MIXED)
		text_add(out, d->by.min == 0 || d->by.max == 0 ? " or the same" : " under every seed");
	text_add(out, ", ");
	figure_change_text(unit, d->by.min, out);
	text_add(out, " to ");
	figure_change_text(unit, d->by.max, out);
}

static void total_table(const struct comparison *c, uint32_t side, const struct look *look, struct text *out)
{
	struct table t = {0};
	struct text change = {0}, way = {0}, was = {0}, is = {0};

	table_column(&t, "IN TOTAL", COLUMN_LEFT);
	table_column(&t, c->sides[0].name, COLUMN_RIGHT);
	table_column(&t, c->sides[side].name, COLUMN_RIGHT);
	table_column(&t, "CHANGE", COLUMN_RIGHT);
	table_column(&t, "", COLUMN_LEFT);
	for (int f = 0; f < FIGURES; f++) {
		struct difference d = comparison_difference(c, side, NULL, (enum figure)f);

		figure_text(figure_infos[f].unit, d.was.mean, &was);
		figure_text(figure_infos[f].unit, d.is.mean, &is);
		change_text(&d, (enum figure)f, &change);
		way_text(c, &d, (enum figure)f, &way);
		table_row(&t);
		table_cell(&t, TONE_PLAIN, "%s", figure_infos[f].title);
		table_cell(&t, TONE_PLAIN, "%s", text_str(&was));
		table_cell(&t, TONE_PLAIN, "%s", text_str(&is));
		table_cell(&t, way_tones[d.way], "%s", text_str(&change));
		table_cell(&t, way_tones[d.way], "%s", text_str(&way));
		text_reset(&was);
		text_reset(&is);
		text_reset(&change);
		text_reset(&way);
	}
	table_print(&t, look, out);
	table_free(&t);
	text_free(&was);
	text_free(&is);
	text_free(&change);
	text_free(&way);
}

/* Figures that queues are told of; the rest is in -o wide and json. */
static const enum figure queue_figures[] = {FIGURE_EVICTIONS, FIGURE_LOST, FIGURE_WAIT_P95, FIGURE_BELOW};
enum { QUEUE_FIGURES = sizeof(queue_figures) / sizeof(*queue_figures) };

static bool queue_differs(const struct comparison *c, uint32_t side, const char *queue)
{
	for (int f = 0; f < FIGURES; f++)
		if (!figure_infos[f].is_total && comparison_difference(c, side, queue, (enum figure)f).way != WAY_SAME)
			return true;
	return false;
}

static void queue_row(struct table *t, const struct comparison *c, uint32_t side, const char *queue)
{
	struct text words = {0};

	table_row(t);
	table_cell(t, TONE_PLAIN, "%s", *queue ? queue : "(no queue)");
	for (int i = 0; i < QUEUE_FIGURES; i++) {
		enum figure f = queue_figures[i];
		struct difference d = comparison_difference(c, side, queue, f);

		figure_text(figure_infos[f].unit, d.was.mean, &words);
		if (d.way != WAY_SAME) {
			text_add(&words, " -> ");
			figure_text(figure_infos[f].unit, d.is.mean, &words);
		}
		table_cell(t, way_tones[d.way], "%s", text_str(&words));
		text_reset(&words);
	}
	text_free(&words);
}

static void queues_table(const struct comparison *c, uint32_t side, bool is_wide, const struct look *look,
			 struct text *out)
{
	comparison_queues queues = {0};
	uint32_t n_same = 0;
	struct table t = {0};

	comparison_all_queues(c, &queues);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "EVICTIONS", COLUMN_RIGHT);
	table_column(&t, "LOST WORK", COLUMN_RIGHT);
	table_column(&t, "WAITING, P95", COLUMN_RIGHT);
	table_column(&t, "BELOW GUARANTEE", COLUMN_RIGHT);
	for (uint32_t i = 0; i < queues.n; i++) {
		if (is_wide || queue_differs(c, side, queues.v[i]))
			queue_row(&t, c, side, queues.v[i]);
		else
			n_same++;
	}
	text_add_char(out, '\n');
	table_print(&t, look, out);
	if (n_same)
		text_printf(out, "%" PRIu32 " %s without any difference\n", n_same, n_same == 1 ? "queue" : "queues");
	table_free(&t);
	array_free(&queues);
}

static void sentence_line(const char *name, const char *sentence, const struct look *look, struct text *out)
{
	struct text visible = {0};

	text_add_visible(&visible, sentence);
	text_printf(out, "  %s: ", name);
	text_add_wrapped(out, text_str(&visible), (uint32_t)strlen(name) + 4, 5, look->width);
	text_add_char(out, '\n');
	text_free(&visible);
}

static void part_text(const struct comparison *c, uint32_t side, const struct look *look, struct text *out)
{
	const struct comparison_part *p = &c->sides[side].part;

	if (!p->differs) {
		text_printf(out, "\n%s and %s take the same decisions, all of them.\n", c->sides[0].name,
			    c->sides[side].name);
		return;
	}
	text_printf(out, "\nThey part at decision %" PRIu64 ", ", p->decision);
	timestamp_text(p->at_ns, out);
	text_add(out, ":\n");
	sentence_line(c->sides[0].name, p->first, look, out);
	sentence_line(c->sides[side].name, p->mine, look, out);
}

void comparison_text(const struct comparison *c, const struct look *look, bool is_wide, struct text *out)
{
	text_printf(out, "%s, %" PRIu32 " %s\n", c->load, c->n_seeds, c->n_seeds == 1 ? "seed" : "seeds");
	for (uint32_t i = 0; i < c->n_sides; i++)
		text_printf(out, "  %s: %s (profile %s)\n", c->sides[i].name, c->sides[i].what, c->sides[i].profile);
	for (uint32_t i = 1; i < c->n_sides; i++) {
		struct text title = {0};

		text_printf(&title, "\n%s AGAINST %s\n", c->sides[i].name, c->sides[0].name);
		text_add_toned(out, look, TONE_STRONG, text_str(&title));
		text_free(&title);
		total_table(c, i, look, out);
		queues_table(c, i, is_wide, look, out);
		part_text(c, i, look, out);
	}
	for (uint32_t i = 0; i < c->n_notes; i++) {
		text_add(out, i ? "  " : "\nBy rule:\n  ");
		text_add_wrapped(out, c->notes[i], 2, 4, look->width);
		text_add_char(out, '\n');
	}
}

/* ---- data ---- */

static void difference_emit(const struct comparison *c, uint32_t side, const char *queue, enum figure f, struct emit *e)
{
	struct difference d = comparison_difference(c, side, queue, f);

	emit_object(e, figure_infos[f].key);
	figure_spread_emit(e, "was", &d.was);
	figure_spread_emit(e, "is", &d.is);
	figure_spread_emit(e, "by", &d.by);
	emit_str(e, "direction", difference_way_words[d.way]);
	emit_end(e);
}

static void differences_emit(const struct comparison *c, uint32_t side, const char *key, const char *queue,
			     struct emit *e)
{
	emit_object(e, key);
	if (queue)
		emit_str(e, "queue", queue);
	for (int f = 0; f < FIGURES; f++)
		if (!queue || !figure_infos[f].is_total)
			difference_emit(c, side, queue, (enum figure)f, e);
	emit_end(e);
}

static void part_emit(const struct comparison_part *p, struct emit *e)
{
	struct text at = {0};

	if (!p->differs)
		return;
	timestamp_text(p->at_ns, &at);
	emit_object(e, "firstDifference");
	emit_int(e, "decision", (int64_t)p->decision);
	emit_str(e, "at", text_str(&at));
	emit_str(e, "first", p->first);
	emit_str(e, "this", p->mine);
	emit_end(e);
	text_free(&at);
}

static void side_emit(const struct comparison *c, uint32_t side, const comparison_queues *queues, struct emit *e)
{
	const struct comparison_side *x = &c->sides[side];

	emit_object(e, NULL);
	emit_str(e, "name", x->name);
	emit_str(e, "what", x->what);
	emit_str(e, "profile", x->profile);
	differences_emit(c, side, "totals", NULL, e);
	emit_list(e, "queues");
	for (uint32_t i = 0; i < queues->n; i++)
		differences_emit(c, side, NULL, queues->v[i], e);
	emit_end(e);
	if (side)
		part_emit(&x->part, e);
	emit_end(e);
}

void comparison_emit(const struct comparison *c, struct emit *e)
{
	comparison_queues queues = {0};

	comparison_all_queues(c, &queues);
	emit_object(e, NULL);
	emit_str(e, "kind", "Comparison");
	emit_str(e, "version", CEDE_VERSION);
	emit_strf(e, "title", "%" PRIu32 " configurations on one load", c->n_sides);
	emit_strf(e, "subtitle", "%s; %" PRIu32 " %s", c->load, c->n_seeds, c->n_seeds == 1 ? "seed" : "seeds");
	emit_str(e, "load", c->load);
	emit_int(e, "firstSeed", (int64_t)c->first_seed);
	emit_int(e, "seeds", c->n_seeds);
	figure_infos_emit(e);
	emit_list(e, "sides");
	for (uint32_t i = 0; i < c->n_sides; i++)
		side_emit(c, i, &queues, e);
	emit_end(e);
	emit_list(e, "notes");
	for (uint32_t i = 0; i < c->n_notes; i++)
		emit_str(e, NULL, c->notes[i]);
	emit_end(e);
	emit_end(e);
	array_free(&queues);
}
