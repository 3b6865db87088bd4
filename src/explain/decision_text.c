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
		text_add(out, "its nominated node");
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
	case TIE_OFFERED:
		text_printf(out, "the plugin %s offers it", d->tie_words);
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
		until_text(v, d->until_ns, out);
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

/* Where nothing but pods that are leaving makes the room: until when that is waited for. */
static void patience_text(const struct plan_view *v, const struct decision *d, struct text *out)
{
	const struct ledger *l = cluster_ledger(v->cluster);
	const struct ledger_node *n = ledger_node(l, d->node);
	int64_t until_ns = TIME_NONE;

	if (d->n_victims || d->overdue.node != NODE_NONE || v->patience_ns <= 0 ||
	    profile_get(v->profile)->search_mode != MODE_QUEUES)
		return;
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(l, n->pods.v[i]);
		int64_t end_ns =
			p->obj->deleted_ns == TIME_NONE ? TIME_NONE : time_add(p->obj->deleted_ns, v->patience_ns);

		if (p->state == POD_LEAVING && end_ns > v->now_ns && (until_ns == TIME_NONE || end_ns < until_ns))
			until_ns = end_ns;
	}
	if (until_ns == TIME_NONE)
		return;
	text_add(out, " That room is counted on until ");
	until_text(v, until_ns, out);
	text_add_char(out, '.');
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
		patience_text(v, d, out);
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

struct node_row {	   /* nodes of which the same is to be said */
	uint32_t first, n; /* first: in the decision's nodes */
	enum tone tone;
	const char *result;
};

struct node_lines {
	struct arena *arena;
	ARRAY(struct node_row) v;
};

static void victims_text(const struct plan_view *v, const struct node_report *r, bool is_wide, struct text *out)
{
	text_printf(out, "fits if %u %s: ", r->n_victims, r->n_victims == 1 ? "goes" : "go");
	for (uint32_t i = 0; i < r->n_victims && list_goes_on(out, i, r->n_victims, is_wide); i++)
		pod_path(v, r->victims[i], out);
	if (r->n_violations)
		text_printf(out, " (%u against a budget)", r->n_violations);
}

static void refusal_text(const struct node_report *r, const struct cede_cycle *words, struct text *out)
{
	status_message(words, &r->refusal, out);
	if (r->fate == FATE_SPARED) {
		text_add(out, "; not enough of its pods may go");
	} else if (r->fate == FATE_NO_HELP) {
		text_add(out, "; evictions do not help: ");
		status_message(words, &r->after, out);
	} else if (r->refusal.verdict.code == CEDE_UNRESOLVABLE) {
		text_add(out, "; evictions cannot help");
	}
}

static void result_text(const struct plan_view *v, const struct node_report *r, const struct decision *d,
			const struct cede_cycle *words, bool is_wide, struct text *out)
{
	switch ((enum node_fate)r->fate) {
	case FATE_FEASIBLE:
		text_add(out, "fits");
		if (d->tie != TIE_ONLY_ONE && d->outcome != OUTCOME_NOMINATED)
			text_printf(out, ", score %" PRId64, r->score);
		break;
	case FATE_CANDIDATE:
		victims_text(v, r, is_wide, out);
		break;
	case FATE_SOON:
		text_add(out, "fits when leaving pods are gone");
		break;
	default:
		refusal_text(r, words, out);
		break;
	}
}

static enum tone result_tone(const struct node_report *r, const struct decision *d)
{
	if (r->fate == FATE_FEASIBLE || r->fate == FATE_SOON || (r->fate == FATE_CANDIDATE && r->node == d->node))
		return TONE_GOOD;
	return r->fate == FATE_CANDIDATE ? TONE_PLAIN : TONE_WARN;
}

/* The row that says the same; the chosen node stands alone. */
static struct node_row *same_row(struct node_lines *rows, const struct decision *d, const char *result)
{
	for (uint32_t i = 0; i < rows->v.n; i++)
		if (d->nodes[rows->v.v[i].first].node != d->node && str_eq(rows->v.v[i].result, result))
			return &rows->v.v[i];
	return NULL;
}

static bool is_same_status(const struct status *a, const struct status *b)
{
	return a->plugin == b->plugin && a->verdict.code == b->verdict.code && a->verdict.reason == b->verdict.reason &&
	       a->verdict.detail == b->verdict.detail;
}

/* The row of a node that was refused in the same way, of which no words have to be made. */
static struct node_row *refused_alike(struct node_lines *rows, const struct decision *d, const struct node_report *r)
{
	bool is_refused = r->fate == FATE_REFUSED || r->fate == FATE_SPARED || r->fate == FATE_NO_HELP;

	for (uint32_t i = 0; is_refused && i < rows->v.n; i++) {
		const struct node_report *x = &d->nodes[rows->v.v[i].first];

		if (x->node != d->node && x->fate == r->fate && is_same_status(&x->refusal, &r->refusal) &&
		    (r->fate != FATE_NO_HELP || is_same_status(&x->after, &r->after)))
			return &rows->v.v[i];
	}
	return NULL;
}

static struct node_lines group_nodes(const struct plan_view *v, const struct decision *d,
				     const struct cede_cycle *words, bool is_wide)
{
	struct node_lines rows = {.arena = arena_new(1 << 12)};
	struct text result = {0};

	for (uint32_t i = 0; i < d->n_nodes; i++) {
		const struct node_report *r = &d->nodes[i];
		bool may_join = !is_wide && r->node != d->node;
		struct node_row *same = may_join ? refused_alike(&rows, d, r) : NULL;

		text_reset(&result);
		if (!same)
			result_text(v, r, d, words, is_wide, &result);
		if (!same && may_join)
			same = same_row(&rows, d, text_str(&result));
		if (same)
			same->n++;
		else
			array_push(&rows.v,
				   ((struct node_row){i, 1, result_tone(r, d),
						      arena_strndup(rows.arena, text_str(&result), result.n)}));
	}
	text_free(&result);
	return rows;
}

static void node_table(const struct plan_view *v, const struct decision *d, const struct cede_cycle *words,
		       const struct look *look, bool is_wide, struct text *out)
{
	struct node_lines rows;
	struct table t = {0};

	if (!d->n_nodes)
		return;
	rows = group_nodes(v, d, words, is_wide);
	text_add_char(out, '\n');
	table_column(&t, "NODE", COLUMN_LEFT);
	table_column(&t, "RESULT", COLUMN_LEFT);
	for (uint32_t i = 0; i < rows.v.n; i++) {
		const struct node_row *r = &rows.v.v[i];
		node_id node = d->nodes[r->first].node;

		table_row(&t);
		if (r->n > 1)
			table_cell(&t, TONE_PLAIN, "%s and %u more", node_text(v, node), r->n - 1);
		else
			table_cell(&t, node == d->node ? TONE_STRONG : TONE_PLAIN, "%s", node_text(v, node));
		table_cell(&t, r->tone, "%s", r->result);
	}
	table_print(&t, look, out);
	table_free(&t);
	array_free(&rows.v);
	arena_free(rows.arena);
}

void add_sentence(const struct look *look, const char *s, struct text *out)
{
	struct text visible = {0};

	text_add_visible(&visible, s);
	text_add_wrapped(out, text_str(&visible), 0, 0, look->width);
	text_add_char(out, '\n');
	text_free(&visible);
}

void decision_text(const struct plan_view *v, const struct decision *d, const struct cede_cycle *words,
		   const struct look *look, bool is_wide, struct text *out)
{
	struct text s = {0};

	sentence(v, d, &s);
	add_sentence(look, text_str(&s), out);
	text_free(&s);
	if (words)
		node_table(v, d, words, look, is_wide, out);
	protected_table(v, d, look, is_wide, out);
}
