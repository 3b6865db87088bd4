/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/diff.h"

#include "base/clock.h"
#include "base/text.h"
#include "model/res.h"
#include "units/duration.h"

/* ---- evictions ---- */

static bool is_alike(const struct eviction *a, const struct eviction *b)
{
	return str_eq(a->by->pod, b->by->pod) && str_eq(a->by->queue, b->by->queue) &&
	       str_eq(a->by->action, b->by->action) && str_eq(a->victim->rule, b->victim->rule);
}

static void index_evictions(const eviction_list *list, struct name_index *out)
{
	for (uint32_t i = 0; i < list->n; i++)
		name_index_put(out, list->v[i].victim->pod, i);
}

static void compare_evictions(struct run_diff *d)
{
	eviction_list was = {0}, is = {0};
	struct name_index of_was = {0}, of_is = {0};

	evictions_of(d->was, &was);
	evictions_of(d->is, &is);
	index_evictions(&was, &of_was);
	index_evictions(&is, &of_is);
	for (uint32_t i = 0; i < was.n; i++) {
		uint32_t k = name_index_get(&of_is, was.v[i].victim->pod);

		if (k == INDEX_NONE) {
			array_push(&d->spared, was.v[i]);
		} else if (!is_alike(&was.v[i], &is.v[k])) {
			array_push(&d->shifted_was, was.v[i]);
			array_push(&d->shifted_is, is.v[k]);
		}
	}
	for (uint32_t i = 0; i < is.n; i++)
		if (name_index_get(&of_was, is.v[i].victim->pod) == INDEX_NONE)
			array_push(&d->added, is.v[i]);
	name_index_free(&of_was);
	name_index_free(&of_is);
	array_free(&was);
	array_free(&is);
}

/* ---- places ---- */

static void index_last(const struct journal_run *run, struct name_index *out)
{
	for (uint32_t i = 0; i < run->n_decisions; i++)
		if (*run->decisions[i].pod)
			name_index_put(out, run->decisions[i].pod, i);
}

static bool is_placed_alike(const struct journal_decision *a, const struct journal_decision *b)
{
	return a && b && str_eq(a->outcome, b->outcome) && str_eq(a->node, b->node) && str_eq(a->action, b->action);
}

static const struct journal_decision *last_of(const struct journal_run *run, const struct name_index *x,
					      const char *pod)
{
	uint32_t i = name_index_get(x, pod);

	return i == INDEX_NONE ? NULL : &run->decisions[i];
}

static void add_move(struct run_diff *d, const struct journal_decision *was, const struct journal_decision *is)
{
	if (is_placed_alike(was, is))
		return;
	array_push(&d->moved_was, was);
	array_push(&d->moved_is, is);
}

static void compare_places(struct run_diff *d)
{
	struct name_index of_was = {0}, of_is = {0};

	index_last(d->was, &of_was);
	index_last(d->is, &of_is);
	for (uint32_t i = 0; i < d->was->n_decisions; i++) {
		const char *pod = d->was->decisions[i].pod;

		if (*pod && name_index_get(&of_was, pod) == i)
			add_move(d, &d->was->decisions[i], last_of(d->is, &of_is, pod));
	}
	for (uint32_t i = 0; i < d->is->n_decisions; i++) {
		const char *pod = d->is->decisions[i].pod;

		if (*pod && name_index_get(&of_is, pod) == i && name_index_get(&of_was, pod) == INDEX_NONE)
			add_move(d, NULL, &d->is->decisions[i]);
	}
	name_index_free(&of_was);
	name_index_free(&of_is);
}

/* ---- all ---- */

static uint32_t count_differing(const struct journal_run *a, const struct journal_run *b)
{
	uint32_t common = a->n_decisions < b->n_decisions ? a->n_decisions : b->n_decisions, n;

	n = a->n_decisions + b->n_decisions - 2 * common;
	for (uint32_t i = 0; i < common; i++)
		n += !str_eq(a->decisions[i].json, b->decisions[i].json);
	return n;
}

void run_diff_init(struct run_diff *d, const struct journal_run *was, const struct journal_run *is)
{
	*d = (struct run_diff){.was = was, .is = is};
	d->n_differ = count_differing(was, is);
	d->state_differs = was->state && is->state && !str_eq(was->state, is->state);
	compare_evictions(d);
	compare_places(d);
}

void run_diff_free(struct run_diff *d)
{
	array_free(&d->spared);
	array_free(&d->added);
	array_free(&d->shifted_was);
	array_free(&d->shifted_is);
	array_free(&d->moved_was);
	array_free(&d->moved_is);
}

bool run_diff_is_same(const struct run_diff *d)
{
	return !d->n_differ;
}

static int64_t lost_seconds(const eviction_list *list)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < list->n; i++)
		sum = res_add_sat(sum, list->v[i].victim->lost_seconds);
	return sum;
}

void diff_sums_add(struct diff_sums *s, const struct run_diff *d)
{
	s->runs++;
	s->same += run_diff_is_same(d);
	s->spared += d->spared.n;
	s->added += d->added.n;
	s->shifted += d->shifted_was.n;
	s->moved += d->moved_was.n;
	s->spared_seconds = res_add_sat(s->spared_seconds, lost_seconds(&d->spared));
	s->added_seconds = res_add_sat(s->added_seconds, lost_seconds(&d->added));
}

/* ---- tables ---- */

void cell_for(struct table *t, const struct journal_decision *d)
{
	if (*d->pod)
		table_cell(t, TONE_PLAIN, "%s", d->pod);
	else
		table_cell(t, TONE_PLAIN, "(%s)", *d->queue ? d->queue : d->group);
}

void eviction_columns(struct table *t, const char *for_whom)
{
	table_column(t, "POD", COLUMN_LEFT);
	table_column(t, "QUEUE", COLUMN_LEFT);
	table_column(t, "NODE", COLUMN_LEFT);
	table_column(t, "LOST", COLUMN_RIGHT);
	table_column(t, for_whom, COLUMN_LEFT);
}

void eviction_cells(struct table *t, enum tone tone, const struct eviction *x)
{
	struct text lost = {0};

	duration_text_short(time_multiply(x->victim->lost_seconds, NS_PER_S), &lost);
	table_row(t);
	table_cell(t, tone, "%s", x->victim->pod);
	table_cell(t, TONE_FAINT, "%s", x->victim->queue);
	table_cell(t, TONE_PLAIN, "%s", x->victim->node);
	table_cell(t, TONE_PLAIN, "%s", text_str(&lost));
	cell_for(t, x->by);
	text_free(&lost);
}
