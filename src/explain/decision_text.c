/* SPDX-License-Identifier: Apache-2.0 */
/* One decision in full: a sentence first, then the table behind it. */
#include <inttypes.h>

#include "explain/plan_view.h"
#include "rules/judge.h"
#include "units/duration.h"
#include "units/timestamp.h"

static void tie_numbers(const struct plan_view *v, const struct decision *d, const char *what, struct text *out)
{
	text_printf(out, "%s (%" PRId64 "; next best %s: %" PRId64 ")", what, d->tie_mine, node_text(v, d->runner_up),
		    d->tie_theirs);
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
	case TIE_SPARED:
		tie_numbers(v, d, "fewest victims that a plugin would spare", out);
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
		text_printf(out, "its most important victims started last (%s; next best %s)", text_str(&t),
			    node_text(v, d->runner_up));
		break;
	case TIE_LEAVING:
		text_add(out, "room is being freed there anyway");
		break;
	case TIE_COST:
		text_printf(out, "%s within the rules (next best %s)",
			    d->tie_words ? d->tie_words : "the first by name of equals", node_text(v, d->runner_up));
		break;
	case TIE_FULLEST:
		text_add(out, "the fullest node that fits");
		break;
	case TIE_EMPTIEST:
		text_add(out, "the emptiest node that fits");
		break;
	case TIE_NAME:
		text_printf(out, "as good as %s, and first by name", node_text(v, d->runner_up));
		break;
	}
	text_free(&t);
}

/* ---- the sentence ---- */

enum { FEW = 3 }; /* so many of a long list are named */

/* Between two names of a list, or " and 9 more" in place of the rest: then false. */
static bool list_goes_on(struct text *out, uint32_t i, uint32_t n, bool in_full)
{
	if (i == FEW && n > FEW + 1 && !in_full) {
		text_printf(out, " and %u more", n - i);
		return false;
	}
	text_add(out, i == 0 ? "" : i + 1 == n ? " and " : ", ");
	return true;
}

static void victims_inline(const struct plan_view *v, const struct decision *d, struct text *out)
{
	for (uint32_t i = 0; i < d->n_victims && list_goes_on(out, i, d->n_victims, false); i++)
		pod_path(v, d->victims[i].pod, out);
}

void own_rule_text(const struct plan_view *v, const struct decision *d, struct text *out)
{
	if (d->own_rule == RULE_NONE || profile_get(v->profile)->search_mode == MODE_PODS)
		return;
	text_printf(out, " It takes room from nobody (%s)", rule_text(d->own_rule));
	if (d->until_ns != TIME_NONE) {
		text_add(out, " until ");
		timestamp_text(d->until_ns, out);
	}
	text_add_char(out, '.');
}

/* Why it looked again, or what it still waits for. */
static void overdue_text(const struct plan_view *v, const struct decision *d, struct text *out)
{
	if (d->overdue.node == NODE_NONE)
		return;
	text_printf(out, " %u %s on %s should have gone ", d->overdue.n, d->overdue.n == 1 ? "pod" : "pods",
		    node_text(v, d->overdue.node));
	duration_text_short(d->overdue.for_ns, out);
	text_add(out, " ago.");
}

/* It runs and gets another place. */
static void moves_sentence(const struct plan_view *v, const struct decision *d, struct text *out)
{
	text_printf(out,
		    " moves from %s to %s (%s): ", node_text(v, ledger_pod(cluster_ledger(v->cluster), d->pod)->node),
		    node_text(v, d->node), action_text(d->action));
	tie_text(v, d, out);
	text_add_char(out, '.');
}

/* A group of Kubernetes' gets its places together. */
static void together(const struct plan_view *v, const struct decision *d, struct text *out)
{
	if (profile_get(v->profile)->search_mode != MODE_PODS || d->group == GROUP_NONE)
		return;
	text_add(out, " All pods of its group ");
	group_path(v, d->group, out);
	text_add(out, " that get a place wait for this together.");
}

/* The victims of a gang stand at its first pod; the others wait for them as well. */
bool waits_with_group(const struct decision *d)
{
	return d->outcome == OUTCOME_NOMINATED && !d->n_victims && d->group != GROUP_NONE &&
	       d->action != ACTION_ALLOCATE;
}

void volumes_text(const struct plan_view *v, const struct decision *d, struct text *out)
{
	const struct names *names = vocab_names(ledger_vocab(cluster_ledger(v->cluster)));

	for (uint32_t i = 0; i < d->n_volumes; i++) {
		const struct decided_volume *x = &d->volumes[i];

		text_printf(out, "%s%s for %s/%s", i ? ", " : "", x->volume ? name_str(names, x->volume) : "a new one",
			    name_str(names, x->ns), name_str(names, x->claim));
	}
}

static void sentence(const struct plan_view *v, const struct decision *d, struct text *out)
{
	pod_path(v, d->pod, out);
	switch (d->outcome) {
	case OUTCOME_PLACED:
		text_printf(out, " goes to %s ", node_text(v, d->node));
		if (d->cycle > 1)
			text_printf(out, "in cycle %u: ", d->cycle);
		else
			text_add(out, "now: ");
		tie_text(v, d, out);
		text_add_char(out, '.');
		break;
	case OUTCOME_NOMINATED:
		if (ledger_pod(cluster_ledger(v->cluster), d->pod)->state == POD_PLACED) {
			moves_sentence(v, d, out);
			break;
		}
		text_printf(out, " gets %s as soon as ", node_text(v, d->node));
		if (waits_with_group(d)) {
			text_add(out, "its whole group ");
			group_path(v, d->group, out);
			text_add(out, " has room: ");
			tie_text(v, d, out);
			text_add_char(out, '.');
			break;
		}
		victims_inline(v, d, out);
		text_add(out, !d->n_victims	  ? "what is leaving there is gone: "
			      : d->n_victims == 1 ? " is gone: "
						  : " are gone: ");
		tie_text(v, d, out);
		text_add_char(out, '.');
		together(v, d, out);
		break;
	case OUTCOME_GATED:
		text_printf(out, " is not tried: %s.", d->message ? d->message : "gated");
		break;
	default:
		text_printf(out, " waits: %s", d->message ? d->message : "");
		own_rule_text(v, d, out);
		break;
	}
	overdue_text(v, d, out);
	if (d->n_volumes) {
		text_add(out, " Volumes: ");
		volumes_text(v, d, out);
		text_add_char(out, '.');
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
		table_cell(t, r->node == d->node ? TONE_GOOD : TONE_PLAIN, "fits if %u %s", r->n_victims,
			   r->n_victims == 1 ? "goes" : "go");
		break;
	case FATE_SOON:
		table_cell(t, TONE_GOOD, "fits when leaving pods are gone");
		break;
	default:
		status_message(words, &r->refusal, &s);
		table_cell(t, TONE_WARN, "%s", text_str(&s));
		break;
	}
	text_free(&s);
	(void)v;
}

static void detail_cell(const struct plan_view *v, struct table *t, const struct node_report *r,
			const struct decision *d, const struct cede_cycle *words, bool is_wide)
{
	struct text s = {0};

	if (r->fate == FATE_FEASIBLE) {
		if (d->tie != TIE_ONLY_ONE && d->outcome != OUTCOME_NOMINATED)
			text_printf(&s, "score %" PRId64, r->score);
	} else if (r->fate == FATE_CANDIDATE) {
		for (uint32_t i = 0; i < r->n_victims && list_goes_on(&s, i, r->n_victims, is_wide); i++)
			pod_path(v, r->victims[i], &s);
		if (r->n_violations)
			text_printf(&s, " (%u against a budget)", r->n_violations);
	} else if (r->fate == FATE_SPARED) {
		text_add(&s, "not enough of its pods may go");
	} else if (r->fate == FATE_NO_HELP) {
		text_add(&s, "evictions do not help: ");
		status_message(words, &r->after, &s);
	} else if (r->refusal.verdict.code == CEDE_UNRESOLVABLE) {
		text_add(&s, "evictions cannot help");
	}
	table_cell(t, TONE_FAINT, "%s", text_str(&s));
	text_free(&s);
}

static void node_table(const struct plan_view *v, const struct decision *d, const struct cede_cycle *words,
		       const struct look *look, bool is_wide, struct text *out)
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
		table_cell(&t, d->nodes[i].node == d->node ? TONE_STRONG : TONE_PLAIN, "%s",
			   node_text(v, d->nodes[i].node));
		fate_cell(v, &t, &d->nodes[i], d, words);
		detail_cell(v, &t, &d->nodes[i], d, words, is_wide);
	}
	table_print(&t, look, out);
	table_free(&t);
}

enum { SPARED_SHOWN = 20 };

static void protected_row(const struct plan_view *v, struct table *t, const struct protected_pod *x)
{
	struct text pod = {0}, why = {0};

	pod_path(v, x->pod, &pod);
	rule_verdict_text(v->cluster, &x->verdict, &why);
	table_row(t);
	table_cell(t, TONE_PLAIN, "%s", text_str(&pod));
	table_cell(t, TONE_FAINT, "%s", queue_path(v, x->queue));
	table_cell(t, TONE_PLAIN, "%s", node_text(v, x->node));
	table_cell(t, TONE_PLAIN, "%s", rule_verdict_name(&x->verdict));
	table_cell(t, TONE_FAINT, "%s", text_str(&why));
	text_free(&pod);
	text_free(&why);
}

void protected_table(const struct plan_view *v, const struct decision *d, const struct look *look, struct text *out)
{
	struct table t = {0};

	if (!d->n_protected)
		return;
	text_printf(out, "\nWho is left alone (%u)\n", d->n_protected);
	table_column(&t, "POD", COLUMN_CUT);
	table_column(&t, "QUEUE", COLUMN_CUT);
	table_column(&t, "NODE", COLUMN_CUT);
	table_column(&t, "RULE", 0);
	table_column(&t, "BECAUSE", 0);
	for (uint32_t i = 0; i < d->n_protected && i < SPARED_SHOWN; i++)
		protected_row(v, &t, &d->protected[i]);
	table_print(&t, look, out);
	if (d->n_protected > SPARED_SHOWN)
		text_printf(out, "and %u more: -o json\n", d->n_protected - SPARED_SHOWN);
	table_free(&t);
}

void decision_text(const struct plan_view *v, const struct decision *d, const struct cede_cycle *words,
		   const struct look *look, bool is_wide, struct text *out)
{
	struct text s = {0};

	sentence(v, d, &s);
	text_add_visible(out, text_str(&s));
	text_add_char(out, '\n');
	text_free(&s);
	if (words)
		node_table(v, d, words, look, is_wide, out);
	protected_table(v, d, look, out);
}
