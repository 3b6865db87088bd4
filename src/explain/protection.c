/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who had to be left, and why: in a few words for a plan, as a table for one decision. Pods of which the same is said
 * stand together: a node of 110 protected pods is one line.
 */
#include "explain/plan_view.h"

#include <stdlib.h>

#include "rules/judge.h"
#include "rules/words.h"

void until_text(const struct plan_view *v, int64_t at_ns, struct text *out)
{
	words_until(at_ns, v->now_ns, out);
}

/* ---- a few words ---- */

enum { CLAUSES_MAX = 32 };

struct clause { /* what one rule, or one law of it, holds back */
	const char *rule;
	uint8_t id;
	char law; /* '\0': none is cited */
	bool is_soft;
	uint32_t n;
	int64_t until_ns; /* the first of them */
};

/* The law that a verdict's own sentence cites. */
static char cited_law(const struct plan_view *v, const struct rule_verdict *says)
{
	struct text t = {0};
	const char *cited;
	char law = '\0';

	rule_verdict_text(v->cluster, says, &t);
	cited = strstr(text_str(&t), "(law ");
	if (cited)
		law = cited[strlen("(law ")];
	text_free(&t);
	return law;
}

static struct clause *clause_for(struct clause *v, uint32_t *n, const struct rule_verdict *says, char law)
{
	const char *name = rule_verdict_name(says);
	struct clause new = {.rule = name,
			     .id = says->rule,
			     .law = law,
			     .is_soft = says->answer == IS_SPARED,
			     .until_ns = TIME_NONE};

	for (uint32_t i = 0; i < *n; i++)
		if (str_eq(v[i].rule, name) && v[i].law == law && v[i].is_soft == new.is_soft)
			return &v[i];
	if (*n == CLAUSES_MAX)
		return &v[CLAUSES_MAX - 1];
	v[*n] = new;
	return &v[(*n)++];
}

/* What holds back most comes first. */
static int by_count(const void *a, const void *b)
{
	const struct clause *x = a, *y = b;

	if (x->is_soft != y->is_soft)
		return x->is_soft ? 1 : -1;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->law != y->law ? (x->law < y->law ? -1 : 1) : strcmp(x->rule, y->rule);
}

static uint32_t list_clauses(const struct plan_view *v, const struct decision *d, struct clause *ret)
{
	struct protected_kinds kinds = protected_kinds_of(v, d, GRAIN_REASON, UINT32_MAX);
	uint32_t n = 0;

	for (uint32_t i = 0; i < kinds.v.n; i++) {
		const struct protected_kind *k = &kinds.v.v[i];
		struct clause *c = clause_for(ret, &n, &k->first->verdict, cited_law(v, &k->first->verdict));

		c->n += k->n;
		if (k->until_ns != TIME_NONE && (c->until_ns == TIME_NONE || k->until_ns < c->until_ns))
			c->until_ns = k->until_ns;
	}
	protected_kinds_free(&kinds);
	qsort(ret, n, sizeof(*ret), by_count);
	return n;
}

void protection_text(const struct plan_view *v, const struct decision *d, struct text *out)
{
	struct clause clauses[CLAUSES_MAX];
	uint32_t n = list_clauses(v, d, clauses);
	const char *verb = "";
	bool is_cut = protected_are_cut(d);

	for (uint32_t i = 0; i < n; i++) {
		const struct clause *k = &clauses[i];
		const char *now = k->is_soft ? "spared" : "protected";

		text_printf(out, "%s%s%u", i > 0 ? "; " : "", is_cut ? "at least " : "", k->n);
		if (i == 0)
			text_add(out, k->n == 1 ? " pod" : " pods");
		if (!str_eq(verb, now))
			text_printf(out, " %s", now);
		verb = now;
		text_printf(out, " by %s", k->rule);
		if (k->law)
			text_printf(out, " (law %c)", k->law);
		if (k->until_ns != TIME_NONE) {
			text_add(out, k->n == 1 ? " until "
				      : is_cut	? ", the first of these until "
						: ", the first until ");
			until_text(v, k->until_ns, out);
		}
	}
}

/* ---- the table ---- */

enum { ROWS_SHOWN = 20 };

static void add_row(const struct plan_view *v, struct table *t, const struct protected_kind *s)
{
	const struct protected_pod *x = s->first;
	struct text pod = {0};

	pod_path(v, x->pod, &pod);
	if (s->n > 1)
		text_printf(&pod, " and %u more", s->n - 1);
	table_row(t);
	table_cell(t, TONE_PLAIN, "%s", text_str(&pod));
	table_cell(t, TONE_FAINT, "%s", queue_path(v, x->queue));
	table_cell(t, TONE_PLAIN, "%s", node_text(v, x->node));
	table_cell(t, TONE_PLAIN, "%s", rule_verdict_name(&x->verdict));
	table_cell(t, TONE_FAINT, "%s", s->why);
	text_free(&pod);
}

void protected_table(const struct plan_view *v, const struct decision *d, const struct look *look, bool is_wide,
		     struct text *out)
{
	struct protected_kinds rows;
	struct table t = {0};

	if (!d->n_protected)
		return;
	is_wide |= v->lists_all;
	rows = protected_kinds_of(v, d, is_wide ? GRAIN_POD : GRAIN_SENTENCE, is_wide ? UINT32_MAX : ROWS_SHOWN);
	text_add_heading(out, look, "PROTECTED", d->n_protected);
	table_column(&t, "POD", COLUMN_LEFT);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "NODE", COLUMN_LEFT);
	table_column(&t, "RULE", COLUMN_LEFT);
	table_column(&t, "BECAUSE", COLUMN_LEFT);
	for (uint32_t i = 0; i < rows.v.n; i++)
		add_row(v, &t, &rows.v.v[i]);
	table_print(&t, look, out);
	if (rows.n_left)
		text_printf(out, "and %u more: --all lists them\n", rows.n_left);
	if (protected_are_cut(d))
		text_printf(out, "There may be others: no more than %u were written down.\n", d->n_protected);
	table_free(&t);
	protected_kinds_free(&rows);
}
