/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/spared.h"

#include "explain/table.h"
#include "rules/judge.h"

static bool is_of(const struct spared_work *w, pod_id pod)
{
	if (w->group == GROUP_NONE)
		return pod == w->pod;
	return ledger_pod(cluster_ledger(w->view->cluster), pod)->group == w->group;
}

const struct protected_pod *spared_from(const struct spared_work *w, const struct decision *d)
{
	if (d->pod == POD_NONE || d->cycle > 1 || is_of(w, d->pod))
		return NULL;
	for (uint32_t i = 0; i < d->n_protected; i++)
		if (is_of(w, d->protected[i].pod))
			return &d->protected[i];
	return NULL;
}

uint32_t spared_count(const struct spared_work *w)
{
	const struct decisions *p = w->view->plan;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->v.n; i++)
		n += spared_from(w, &p->v.v[i]) != NULL;
	return n;
}

/* ---- for people ---- */

struct spared_row {
	const struct decision *first;
	const char *rule, *why;
	uint32_t n;
};

struct spared_rows {
	struct arena *arena;
	ARRAY(struct spared_row) v;
};

/* Waiting pods of one queue that were told the same stand together. */
static void add_row(const struct spared_work *w, struct spared_rows *rows, const struct decision *d)
{
	const struct rule_verdict *says = &spared_from(w, d)->verdict;
	struct spared_row row = {.first = d, .rule = rule_verdict_name(says), .n = 1};
	struct text why = {0};

	rule_verdict_text(w->view->cluster, says, &why);
	row.why = arena_strndup(rows->arena, text_str(&why), why.n);
	text_free(&why);
	for (uint32_t i = 0; i < rows->v.n; i++) {
		struct spared_row *r = &rows->v.v[i];

		if (r->first->queue == d->queue && str_eq(r->rule, row.rule) && str_eq(r->why, row.why)) {
			r->n++;
			return;
		}
	}
	array_push(&rows->v, row);
}

static void row_cells(const struct spared_work *w, const struct spared_row *r, struct table *t)
{
	struct text pod = {0};

	pod_path(w->view, r->first->pod, &pod);
	if (r->n > 1)
		text_printf(&pod, " and %u more", r->n - 1);
	table_row(t);
	table_cell(t, TONE_PLAIN, "%s", text_str(&pod));
	table_cell(t, TONE_FAINT, "%s", queue_path(w->view, r->first->queue));
	table_cell(t, TONE_PLAIN, "%s", r->rule);
	table_cell(t, TONE_FAINT, "%s", r->why);
	text_free(&pod);
}

void spared_table(const struct spared_work *w, const struct look *look, struct text *out)
{
	const struct decisions *p = w->view->plan;
	struct spared_rows rows = {.arena = arena_new(1 << 12)};
	struct table t = {0};

	text_add_heading(out, look, "SPARED FROM", spared_count(w));
	table_column(&t, "WAITING POD", COLUMN_LEFT);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "RULE", COLUMN_LEFT);
	table_column(&t, "BECAUSE", COLUMN_LEFT);
	for (uint32_t i = 0; i < p->v.n; i++)
		if (spared_from(w, &p->v.v[i]))
			add_row(w, &rows, &p->v.v[i]);
	for (uint32_t i = 0; i < rows.v.n; i++)
		row_cells(w, &rows.v.v[i], &t);
	table_print(&t, look, out);
	table_free(&t);
	array_free(&rows.v);
	arena_free(rows.arena);
}

/* ---- for programs ---- */

static void emit_pod(const struct spared_work *w, struct emit *e, const char *key, pod_id pod)
{
	struct text t = {0};

	pod_path(w->view, pod, &t);
	emit_str(e, key, text_str(&t));
	text_free(&t);
}

void spared_emit(const struct spared_work *w, struct emit *e)
{
	const struct decisions *p = w->view->plan;

	emit_list(e, "sparedFrom");
	for (uint32_t i = 0; i < p->v.n; i++) {
		const struct protected_pod *s = spared_from(w, &p->v.v[i]);

		if (!s)
			continue;
		emit_object(e, NULL);
		emit_pod(w, e, "pod", p->v.v[i].pod);
		if (w->group != GROUP_NONE)
			emit_pod(w, e, "member", s->pod);
		plan_emit_verdict(w->view, e, &s->verdict);
		emit_end(e);
	}
	emit_end(e);
}
