/* SPDX-License-Identifier: Apache-2.0 */
/* One decision in full: a sentence first, then the table behind it. */
#include <inttypes.h>

#include "explain/plan_view.h"
#include "units/duration.h"
#include "units/timestamp.h"

static void tie_numbers(const struct plan_view *v, const struct decision *d, const char *what, struct text *out)
{
	text_printf(out, "%s (%" PRId64 "; next best %s: %" PRId64 ")", what, d->tie_mine, node_text(v, d->runner_up), d->tie_theirs);
}

void tie_text(const struct plan_view *v, const struct decision *d, struct text *out)
{
	struct text t = {0};

	switch (d->tie) {
	case TIE_ONLY_ONE:
		text_add(out, "no other node would do");
		break;
	case TIE_NOMINATED:
		text_add(out, "the node it was promised");
		break;
	case TIE_SCORE:
		tie_numbers(v, d, "highest score", out);
		break;
	case TIE_VIOLATIONS:
		tie_numbers(v, d, "fewest budget violations", out);
		break;
	case TIE_HIGHEST:
		tie_numbers(v, d, "its most important victim has the lowest priority", out);
		break;
	case TIE_SUM:
		text_printf(out, "smallest sum of victims' priorities (next best %s)", node_text(v, d->runner_up));
		break;
	case TIE_COUNT:
		tie_numbers(v, d, "fewest victims", out);
		break;
	case TIE_START:
		timestamp_text(-d->tie_mine, &t);
		text_printf(out, "its most important victims started last (%s; next best %s)", text_str(&t), node_text(v, d->runner_up));
		break;
	case TIE_NAME:
		text_printf(out, "as good as %s, and first by name", node_text(v, d->runner_up));
		break;
	}
	text_free(&t);
}

/* ---- the sentence ---- */

static void victims_inline(const struct plan_view *v, const struct decision *d, struct text *out)
{
	for (uint32_t i = 0; i < d->n_victims; i++) {
		if (i == 3 && d->n_victims > 4) {
			text_printf(out, " and %u more", d->n_victims - i);
			return;
		}
		text_add(out, i == 0 ? "" : i + 1 == d->n_victims ? " and " : ", ");
		pod_path(v, d->victims[i].pod, out);
	}
}

static void sentence(const struct plan_view *v, const struct decision *d, struct text *out)
{
	pod_path(v, d->pod, out);
	switch (d->outcome) {
	case OUTCOME_PLACED:
		text_printf(out, " goes to %s now: ", node_text(v, d->node));
		tie_text(v, d, out);
		text_add_char(out, '.');
		break;
	case OUTCOME_NOMINATED:
		text_printf(out, " gets %s as soon as ", node_text(v, d->node));
		victims_inline(v, d, out);
		text_printf(out, " %s gone: ", d->n_victims == 1 ? "is" : "are");
		tie_text(v, d, out);
		text_add_char(out, '.');
		break;
	case OUTCOME_GATED:
		text_printf(out, " is not tried: %s.", d->message ? d->message : "gated");
		break;
	default:
		text_printf(out, " waits: %s", d->message ? d->message : "");
		break;
	}
}

/* ---- the table ---- */

static void fate_cell(const struct plan_view *v, struct table *t, const struct node_report *r, const struct decision *d,
		      const struct cede_cycle *words)
{
	struct text s = {0};

	switch ((enum node_fate)r->fate) {
	case FATE_FEASIBLE:
		table_cell(t, TONE_GOOD, "fits");
		break;
	case FATE_CANDIDATE:
		table_cell(t, r->node == d->node ? TONE_GOOD : TONE_PLAIN, "fits if %u %s", r->n_victims, r->n_victims == 1 ? "goes" : "go");
		break;
	default:
		status_message(words, &r->refusal, &s);
		table_cell(t, TONE_WARN, "%s", text_str(&s));
		break;
	}
	text_free(&s);
	(void)v;
}

static void detail_cell(const struct plan_view *v, struct table *t, const struct node_report *r, const struct cede_cycle *words)
{
	struct text s = {0};

	if (r->fate == FATE_FEASIBLE) {
		text_printf(&s, "score %" PRId64, r->score);
	} else if (r->fate == FATE_CANDIDATE) {
		struct decision d = {.n_victims = 0};
		struct victim few[8];

		for (uint32_t i = 0; i < r->n_victims && i < 8; i++)
			few[d.n_victims++] = (struct victim){.pod = r->victims[i]};
		d.victims = few;
		victims_inline(v, &d, &s);
		if (r->n_violations)
			text_printf(&s, " (%u against a budget)", r->n_violations);
	} else if (r->fate == FATE_NO_HELP) {
		text_add(&s, "evictions do not help: ");
		status_message(words, &r->after, &s);
	} else if (r->refusal.verdict.code == CEDE_UNRESOLVABLE) {
		text_add(&s, "evictions cannot help");
	}
	table_cell(t, TONE_FAINT, "%s", text_str(&s));
	text_free(&s);
}

static void node_table(const struct plan_view *v, const struct decision *d, const struct cede_cycle *words, const struct look *look,
		       struct text *out)
{
	struct table t = {0};

	if (!d->n_nodes)
		return;
	text_add_char(out, '\n');
	table_column(&t, "NODE", COLUMN_CUT);
	table_column(&t, "RESULT", 0);
	table_column(&t, "MORE", 0);
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		table_row(&t);
		table_cell(&t, d->nodes[i].node == d->node ? TONE_STRONG : TONE_PLAIN, "%s", node_text(v, d->nodes[i].node));
		fate_cell(v, &t, &d->nodes[i], d, words);
		detail_cell(v, &t, &d->nodes[i], words);
	}
	table_print(&t, look, out);
	table_free(&t);
}

void decision_text(const struct plan_view *v, const struct decision *d, const struct cede_cycle *words, const struct look *look,
		   struct text *out)
{
	struct text s = {0};

	sentence(v, d, &s);
	text_add_visible(out, text_str(&s));
	text_add_char(out, '\n');
	text_free(&s);
	if (words)
		node_table(v, d, words, look, out);
}
