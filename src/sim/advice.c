/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/advice.h"

#include <inttypes.h>
#include <math.h>

const enum figure advice_figures[ADVICE_FIGURES] = {FIGURE_EVICTIONS, FIGURE_LOST, FIGURE_WAIT_HIGH, FIGURE_BELOW};

enum { THIN_EVICTIONS = 10, THIN_STARTS = 50 };
#define NOTICEABLE 0.01 /* of the larger of two numbers */

/* ---- judging ---- */

static double run_value(const struct advice *a, uint32_t point, uint32_t seed, int f)
{
	return a->points[point].runs[seed].total[advice_figures[f]];
}

static void find_spreads(struct advice *a)
{
	double *v = mem_alloc(a->n_seeds * sizeof(*v));

	for (uint32_t p = 0; p < a->n_points; p++) {
		for (int f = 0; f < ADVICE_FIGURES; f++) {
			for (uint32_t s = 0; s < a->n_seeds; s++)
				v[s] = run_value(a, p, s, f);
			a->points[p].spread[f] = figure_spread_of(v, a->n_seeds);
		}
	}
	mem_free(v);
}

static bool dominates(const struct advice_point *x, const struct advice_point *y)
{
	bool is_better = false;

	for (int f = 0; f < ADVICE_FIGURES; f++) {
		if (x->spread[f].mean > y->spread[f].mean)
			return false;
		is_better |= x->spread[f].mean < y->spread[f].mean;
	}
	return is_better;
}

static void find_dominated(struct advice *a)
{
	for (uint32_t p = 0; p < a->n_points; p++) {
		a->points[p].is_dominated = false;
		for (uint32_t q = 0; q < a->n_points && !a->points[p].is_dominated; q++)
			a->points[p].is_dominated = dominates(&a->points[q], &a->points[p]);
	}
}

static bool is_noticeable(double x, double y)
{
	return fabs(x - y) > NOTICEABLE * fmax(fabs(x), fabs(y));
}

/* The points with the smallest and the largest mean. */
static void extremes(const struct advice *a, int f, uint32_t *ret_low, uint32_t *ret_high)
{
	*ret_low = *ret_high = 0;
	for (uint32_t p = 1; p < a->n_points; p++) {
		if (a->points[p].spread[f].mean < a->points[*ret_low].spread[f].mean)
			*ret_low = p;
		if (a->points[p].spread[f].mean > a->points[*ret_high].spread[f].mean)
			*ret_high = p;
	}
}

/* Between the two values that differ most, under every seed the same way: else it is chance. */
static bool depends_on_value(const struct advice *a, int f, bool *ret_differs)
{
	uint32_t low, high;
	bool is_same_way = true;

	extremes(a, f, &low, &high);
	if (!is_noticeable(a->points[low].spread[f].mean, a->points[high].spread[f].mean))
		return false;
	*ret_differs = true;
	for (uint32_t s = 0; s < a->n_seeds; s++)
		is_same_way &= run_value(a, low, s, f) < run_value(a, high, s, f);
	return is_same_way;
}

static bool is_thin(const struct advice *a)
{
	uint64_t starts = 0;
	double evictions = 0, below = 0;

	for (uint32_t p = 0; p < a->n_points; p++) {
		evictions = fmax(evictions, a->points[p].spread[0].max);
		below = fmax(below, a->points[p].spread[3].max);
		for (uint32_t s = 0; s < a->n_seeds; s++)
			starts = a->points[p].runs[s].starts > starts ? a->points[p].runs[s].starts : starts;
	}
	return starts < THIN_STARTS || (evictions < THIN_EVICTIONS && below <= 0);
}

/*
 * What a value loses against the best in each figure, in parts of what the setting can change there. seed: under one of
 * them; n_seeds: in the mean.
 */
static double losses(const struct advice *a, uint32_t point, uint32_t seed)
{
	double sum = 0;

	for (int f = 0; f < ADVICE_FIGURES; f++) {
		double low = INFINITY, high = -INFINITY, mine = 0;

		if (!a->depends[f])
			continue;
		for (uint32_t p = 0; p < a->n_points; p++) {
			double v = seed < a->n_seeds ? run_value(a, p, seed, f) : a->points[p].spread[f].mean;

			low = fmin(low, v);
			high = fmax(high, v);
			mine = p == point ? v : mine;
		}
		sum += high > low ? (mine - low) / (high - low) : 0;
	}
	return sum;
}

static uint32_t best_point(const struct advice *a, uint32_t seed)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t p = 0; p < a->n_points; p++)
		if (!a->points[p].is_dominated && (best == UINT32_MAX || losses(a, p, seed) < losses(a, best, seed)))
			best = p;
	return best;
}

void advice_judge(struct advice *a)
{
	bool depends = false, differs = false;

	find_spreads(a);
	find_dominated(a);
	for (int f = 0; f < ADVICE_FIGURES; f++)
		depends |= a->depends[f] = depends_on_value(a, f, &differs);
	a->verdict = is_thin(a) ? ADVICE_THIN : depends ? ADVICE_GIVEN : differs ? ADVICE_CHANCE : ADVICE_NO_EFFECT;
	if (a->verdict != ADVICE_GIVEN)
		return;
	a->best = best_point(a, a->n_seeds);
	a->n_agree = 0;
	for (uint32_t s = 0; s < a->n_seeds; s++)
		a->n_agree += best_point(a, s) == a->best;
}

/* ---- words ---- */

static void title_text(const struct advice *a, int f, struct text *out)
{
	const struct figures *first = &a->points[0].runs[0];

	if (advice_figures[f] == FIGURE_WAIT_HIGH && first->has_high)
		text_printf(out, "waiting of priority %" PRId32 " (p95)", first->high_priority);
	else
		text_add(out, figure_infos[advice_figures[f]].title);
}

/* "evictions -40 %", against the first value. */
static void change_text(const struct advice *a, int f, struct text *out)
{
	double was = a->points[0].spread[f].mean, is = a->points[a->best].spread[f].mean;

	title_text(a, f, out);
	if (was == is)
		text_add(out, " the same");
	else if (was <= 0) {
		text_add(out, " up from none to ");
		figure_text(figure_infos[advice_figures[f]].unit, is, out);
	} else
		text_printf(out, " %+.0f %%", (is - was) / was * 100);
}

static const char *sureness(const struct advice *a)
{
	if (a->n_seeds == 1)
		return "one seed says little about how sure that is";
	if (a->n_agree == a->n_seeds)
		return "sure";
	return a->n_agree * 3 >= a->n_seeds * 2 ? "fairly sure" : "not sure";
}

static void given_sentence(const struct advice *a, struct text *out)
{
	const char *value = a->points[a->best].value;
	uint32_t n_left = 0;

	for (uint32_t p = 0; p < a->n_points; p++)
		n_left += !a->points[p].is_dominated;
	text_printf(out, "Take %s: %s", value,
		    n_left == 1 ? "no other value is better in anything" : "the best balance");
	if (a->best != 0) {
		text_printf(out, "; against %s: ", a->points[0].value);
		for (int f = 0; f < ADVICE_FIGURES; f++) {
			text_add(out, f ? ", " : "");
			change_text(a, f, out);
		}
	}
	text_printf(out, ". It is the best under %" PRIu32 " of %" PRIu32 " seeds: %s.", a->n_agree, a->n_seeds,
		    sureness(a));
}

void advice_sentence(const struct advice *a, struct text *out)
{
	switch (a->verdict) {
	case ADVICE_GIVEN:
		given_sentence(a, out);
		break;
	case ADVICE_NO_EFFECT:
		text_printf(out,
			    "No advice: on this load %s makes no difference; none of the four figures changes by a "
			    "hundredth "
			    "between the values.",
			    a->setting);
		break;
	case ADVICE_CHANCE:
		text_printf(out,
			    "No advice: the figures change with %s, but one way under one seed and the other way under "
			    "another; more seeds (--seeds) may tell.",
			    a->setting);
		break;
	case ADVICE_THIN:
		text_printf(out, "No advice: the load is too thin to tell; at most %.0f evictions in a run.",
			    fmax(a->points[0].spread[0].max, a->points[a->n_points - 1].spread[0].max));
		break;
	}
}

static void spread_cell(struct table *t, const struct advice *a, const struct advice_point *p, int f, enum tone tone)
{
	enum figure_unit unit = figure_infos[advice_figures[f]].unit;
	struct text words = {0};

	figure_text(unit, p->spread[f].mean, &words);
	if (a->n_seeds > 1 && p->spread[f].max > p->spread[f].min) {
		text_add(&words, " (");
		figure_text(unit, p->spread[f].min, &words);
		text_add(&words, " to ");
		figure_text(unit, p->spread[f].max, &words);
		text_add_char(&words, ')');
	}
	table_cell(t, tone, "%s", text_str(&words));
	text_free(&words);
}

static void point_row(struct table *t, const struct advice *a, uint32_t i)
{
	const struct advice_point *p = &a->points[i];
	bool is_best = a->verdict == ADVICE_GIVEN && i == a->best;
	enum tone tone = is_best ? TONE_GOOD : p->is_dominated ? TONE_FAINT : TONE_PLAIN;

	table_row(t);
	table_cell(t, tone, "%s", p->value);
	for (int f = 0; f < ADVICE_FIGURES; f++)
		spread_cell(t, a, p, f, tone);
	table_cell(t, tone, "%s", is_best ? "recommended" : p->is_dominated ? "dominated" : "");
}

static void points_table(const struct advice *a, const struct look *look, struct text *out)
{
	struct table t = {0};
	struct text titles[ADVICE_FIGURES] = {0};

	table_column(&t, "VALUE", COLUMN_LEFT);
	for (int f = 0; f < ADVICE_FIGURES; f++) {
		title_text(a, f, &titles[f]);
		for (size_t i = 0; i < titles[f].n; i++)
			if (titles[f].s[i] >= 'a' && titles[f].s[i] <= 'z')
				titles[f].s[i] = (char)(titles[f].s[i] - 'a' + 'A');
		table_column(&t, text_str(&titles[f]), COLUMN_RIGHT);
	}
	table_column(&t, "", COLUMN_LEFT);
	for (uint32_t i = 0; i < a->n_points; i++)
		point_row(&t, a, i);
	table_print(&t, look, out);
	table_free(&t);
	for (int f = 0; f < ADVICE_FIGURES; f++)
		text_free(&titles[f]);
}

void advice_text(const struct advice *a, const struct look *look, struct text *out)
{
	struct text sentence = {0};

	text_printf(out, "%s on %s: %" PRIu32 " values, %" PRIu32 " %s each\n\n", a->setting, a->load, a->n_points,
		    a->n_seeds, a->n_seeds == 1 ? "seed" : "seeds");
	points_table(a, look, out);
	advice_sentence(a, &sentence);
	text_add_char(out, '\n');
	text_add_wrapped(out, text_str(&sentence), 0, 0, look->width);
	text_add_char(out, '\n');
	for (uint32_t i = 0; i < a->n_notes; i++) {
		struct text note = {0};

		text_printf(&note, "%s", a->notes[i]);
		text_add(out, i ? "  " : "\nBy rule:\n  ");
		text_add_wrapped(out, text_str(&note), 2, 4, look->width);
		text_add_char(out, '\n');
		text_free(&note);
	}
	text_free(&sentence);
}

/* ---- data ---- */

static void point_emit(const struct advice *a, uint32_t i, struct emit *e)
{
	const struct advice_point *p = &a->points[i];

	emit_object(e, NULL);
	emit_str(e, "value", p->value);
	for (int f = 0; f < ADVICE_FIGURES; f++)
		figure_spread_emit(e, figure_infos[advice_figures[f]].key, &p->spread[f]);
	emit_bool(e, "dominated", p->is_dominated);
	emit_bool(e, "recommended", a->verdict == ADVICE_GIVEN && i == a->best);
	emit_end(e);
}

static void counted_emit(const struct advice *a, struct emit *e)
{
	static const char *const units[] = {"count", "seconds", "podSeconds", "part", "index"};

	emit_list(e, "figures");
	for (int f = 0; f < ADVICE_FIGURES; f++) {
		struct text title = {0};

		title_text(a, f, &title);
		emit_object(e, NULL);
		emit_str(e, "key", figure_infos[advice_figures[f]].key);
		emit_str(e, "title", text_str(&title));
		emit_str(e, "unit", units[figure_infos[advice_figures[f]].unit]);
		emit_bool(e, "depends", a->depends[f]);
		emit_end(e);
		text_free(&title);
	}
	emit_end(e);
}

void advice_emit(const struct advice *a, struct emit *e)
{
	static const char *const verdicts[] = {"given", "no-effect", "thin", "chance"};
	struct text sentence = {0};

	advice_sentence(a, &sentence);
	emit_object(e, NULL);
	emit_str(e, "kind", "Advice");
	emit_str(e, "version", CEDE_VERSION);
	emit_strf(e, "title", "Advice on %s", a->setting);
	emit_strf(e, "subtitle", "%s; %" PRIu32 " values, %" PRIu32 " %s each", a->load, a->n_points, a->n_seeds,
		  a->n_seeds == 1 ? "seed" : "seeds");
	emit_str(e, "setting", a->setting);
	emit_str(e, "load", a->load);
	emit_int(e, "firstSeed", (int64_t)a->first_seed);
	emit_int(e, "seeds", a->n_seeds);
	emit_str(e, "verdict", verdicts[a->verdict]);
	emit_str(e, "sentence", text_str(&sentence));
	if (a->verdict == ADVICE_GIVEN) {
		emit_str(e, "recommended", a->points[a->best].value);
		emit_int(e, "seedsThatAgree", a->n_agree);
	}
	counted_emit(a, e);
	emit_list(e, "points");
	for (uint32_t i = 0; i < a->n_points; i++)
		point_emit(a, i, e);
	emit_end(e);
	emit_list(e, "notes");
	for (uint32_t i = 0; i < a->n_notes; i++)
		emit_str(e, NULL, a->notes[i]);
	emit_end(e);
	emit_end(e);
	text_free(&sentence);
}
