/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/group_text.h"

#include <stdlib.h>

#include "explain/emit_fields.h"
#include "explain/spared.h"
#include "rules/judge.h"
#include "units/duration.h"

/* ---- what the plan says of it ---- */

struct group_view {
	const struct plan_view *v;
	const struct ledger *l;
	const struct group *g;
	group_id id;
	pod_id *pods; /* its members, by podset and name */
	uint32_t n;
	const struct decision **own; /* of each, its last; NULL if it did not wait or move */
	const bool *goes;	     /* of each: somebody needs it gone */
	uint32_t placed, nominated, waiting, gated, running, leaving, losing;
	const struct decision *first; /* of its decisions, the first with room */
	const struct decision *waits; /* the first that waits, of those that tell who is protected if any does */
	const struct decision *taker; /* the first that takes something of it */
};

static const struct pod *pod_of(const struct group_view *x, pod_id p)
{
	return ledger_pod(x->l, p);
}

static int by_podset_and_name(const void *a, const void *b, void *ctx)
{
	const struct group_view *x = ctx;
	const struct pod *p = pod_of(x, *(const pod_id *)a), *q = pod_of(x, *(const pod_id *)b);

	if (p->podset != q->podset)
		return p->podset < q->podset ? -1 : 1;
	return name_cmp(vocab_names(ledger_vocab(x->l)), p->name, q->name);
}

static uint32_t position(const struct group_view *x, pod_id pod)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->pods[i] == pod)
			return i;
	return UINT32_MAX;
}

static void look_at(struct group_view *x, const struct decision *d, bool *goes)
{
	for (uint32_t i = 0; i < d->n_victims; i++)
		if (pod_of(x, d->victims[i].pod)->group == x->id) {
			goes[position(x, d->victims[i].pod)] = true;
			x->taker = x->taker ? x->taker : d;
		}
	if (d->pod == POD_NONE || pod_of(x, d->pod)->group != x->id)
		return;
	x->own[position(x, d->pod)] = d;
	if (d->outcome == OUTCOME_PLACED || d->outcome == OUTCOME_NOMINATED)
		x->first = x->first ? x->first : d;
	else if (d->outcome != OUTCOME_EVICTED) /* that says no more than for whom others went */
		x->waits = x->waits && (x->waits->n_protected || !d->n_protected) ? x->waits : d;
}

static void count(struct group_view *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct decision *d = x->own[i];
		const struct pod *p = pod_of(x, x->pods[i]);

		x->placed += d && d->outcome == OUTCOME_PLACED;
		x->nominated += d && d->outcome == OUTCOME_NOMINATED && p->state == POD_WAITING;
		x->waiting += d && d->outcome == OUTCOME_WAITING;
		x->gated += d && d->outcome == OUTCOME_GATED;
		x->running += p->state == POD_PLACED;
		x->leaving += p->state == POD_LEAVING;
		x->losing += x->goes[i];
	}
}

static void group_view_init(struct group_view *x, const struct plan_view *v, group_id g)
{
	bool *goes;

	*x = (struct group_view){.v = v, .l = cluster_ledger(v->cluster), .id = g};
	x->g = ledger_group(x->l, g);
	x->pods = mem_alloc((ledger_pod_limit(x->l) + 1) * sizeof(*x->pods));
	for (pod_id p = 0; p < ledger_pod_limit(x->l); p++)
		if (pod_of(x, p)->state != POD_FREE && pod_of(x, p)->group == g)
			x->pods[x->n++] = p;
	if (x->n > 1)
		qsort_r(x->pods, x->n, sizeof(*x->pods), by_podset_and_name, x);
	x->own = mem_alloc((x->n + 1) * sizeof(struct decision *));
	goes = mem_alloc((x->n + 1) * sizeof(*goes));
	x->goes = goes;
	for (uint32_t i = 0; i < v->plan->v.n; i++)
		look_at(x, &v->plan->v.v[i], goes);
	count(x);
}

static void group_view_free(struct group_view *x)
{
	mem_free(x->pods);
	mem_free(x->own);
	mem_free((void *)x->goes);
}

/* ---- for people ---- */

static void minimum_clause(const struct group_view *x, struct text *out)
{
	const struct names *names = vocab_names(ledger_vocab(x->l));

	text_printf(out, " in %s needs ", x->g->queue == QUEUE_NONE ? "no queue" : queue_path(x->v, x->g->queue));
	for (uint32_t i = 0; i < x->g->n_podsets; i++) {
		const struct podset *p = ledger_podset(x->l, x->g->first_podset + i);

		text_printf(out, "%s%d of its %u", i > 0 ? ", " : "", p->min_member, p->n_pods);
		if (x->g->n_podsets > 1)
			text_printf(out, " %s", name_str(names, p->name));
	}
	text_add(out, x->n > 1 ? " pods at once; " : x->n == 1 ? " pod; " : " pods; ");
}

static void running_clause(const struct group_view *x, struct text *out)
{
	if (x->running > 0)
		text_printf(out, "%u %s", x->running, x->running == 1 ? "runs" : "run");
	else
		text_add(out, "none runs");
	if (x->leaving > 0)
		text_printf(out, ", %u %s leaving", x->leaving, x->leaving == 1 ? "is" : "are");
	text_add_char(out, '.');
}

static void fate_clause(const struct group_view *x, struct text *out)
{
	if (x->placed > 0)
		text_printf(out, " %u of its pods %s now.", x->placed, x->placed == 1 ? "gets a place" : "get places");
	if (x->first && x->nominated > 0) {
		text_printf(out, " %u %s nominated by %s", x->nominated, x->nominated == 1 ? "is" : "are",
			    action_text(x->first->action));
		if (x->first->n_victims > 0)
			text_printf(out, ", for which %u %s to go or move", x->first->n_victims,
				    x->first->n_victims == 1 ? "pod has" : "pods have");
		text_add_char(out, '.');
	}
	if (x->taker && x->losing > 0 && x->taker->pod != POD_NONE) {
		text_printf(out, " %u of its pods %s to go or move for ", x->losing, x->losing == 1 ? "has" : "have");
		pod_path(x->v, x->taker->pod, out);
		text_printf(out, " (%s).", action_text(x->taker->action));
	} else if (x->taker && x->losing > 0) {
		text_printf(out, " What is left of it has to go: too few of its pods run (%s).",
			    action_text(x->taker->action));
	}
	if (x->waiting > 0)
		text_printf(out, " %u %s: %s", x->waiting, x->waiting == 1 ? "waits" : "wait",
			    x->waits->message ? x->waits->message : "");
	if (x->gated > 0)
		text_printf(out, " %u %s held back by scheduling gates.", x->gated, x->gated == 1 ? "is" : "are");
}

static void sentence(const struct group_view *x, struct text *out)
{
	text_add(out, "Group ");
	group_path(x->v, x->id, out);
	minimum_clause(x, out);
	running_clause(x, out);
	fate_clause(x, out);
}

static const char *fate_of(const struct group_view *x, uint32_t i, enum tone *ret_tone)
{
	const struct decision *d = x->own[i];
	const struct pod *p = pod_of(x, x->pods[i]);

	*ret_tone = TONE_WARN;
	if (d && d->outcome == OUTCOME_NOMINATED)
		return p->state == POD_PLACED ? "moves here" : "nominated";
	*ret_tone = d && d->outcome != OUTCOME_PLACED ? TONE_WARN : d ? TONE_GOOD : TONE_PLAIN;
	if (d)
		return outcome_text(d->outcome);
	if (x->goes[i]) {
		*ret_tone = TONE_BAD;
		return "has to go";
	}
	return p->state == POD_PLACED ? "runs" : p->state == POD_LEAVING ? "is leaving" : "finished";
}

static node_id node_of(const struct group_view *x, uint32_t i)
{
	const struct decision *d = x->own[i];
	const struct pod *p = pod_of(x, x->pods[i]);

	return d && d->node != NODE_NONE ? d->node : p->state == POD_WAITING ? NODE_NONE : p->node;
}

/* How many from i on have the same sub-group, node and state: they stand in one line. */
static uint32_t count_alike(const struct group_view *x, uint32_t i, bool is_wide)
{
	enum tone tone;
	const char *fate = fate_of(x, i, &tone);
	uint32_t n = 1;

	while (!is_wide && i + n < x->n && pod_of(x, x->pods[i + n])->podset == pod_of(x, x->pods[i])->podset &&
	       node_of(x, i + n) == node_of(x, i) && str_eq(fate_of(x, i + n, &tone), fate))
		n++;
	return n;
}

static void member_table(const struct group_view *x, const struct look *look, bool is_wide, struct text *out)
{
	const struct names *names = vocab_names(ledger_vocab(x->l));
	struct table t = {0};

	table_column(&t, "POD", COLUMN_LEFT);
	table_column(&t, x->g->n_podsets > 1 ? "SUB-GROUP" : "", COLUMN_LEFT);
	table_column(&t, "NODE", COLUMN_LEFT);
	table_column(&t, "STATE", COLUMN_LEFT);
	for (uint32_t i = 0, n; i < x->n; i += n) {
		const struct pod *p = pod_of(x, x->pods[i]);
		struct text name = {0};
		enum tone tone;
		const char *fate = fate_of(x, i, &tone);

		n = count_alike(x, i, is_wide);
		pod_path(x->v, x->pods[i], &name);
		if (n > 1)
			text_printf(&name, " and %u more", n - 1);
		table_row(&t);
		table_cell(&t, TONE_PLAIN, "%s", text_str(&name));
		table_cell(&t, TONE_FAINT, "%s",
			   x->g->n_podsets > 1 && p->podset != PODSET_NONE
				   ? name_str(names, ledger_podset(x->l, p->podset)->name)
				   : "");
		table_cell(&t, TONE_PLAIN, "%s", node_text(x->v, node_of(x, i)));
		table_cell(&t, tone, "%s", fate);
		text_free(&name);
	}
	table_print(&t, look, out);
	table_free(&t);
}

static void victim_table(const struct group_view *x, const struct look *look, struct text *out)
{
	struct table t = {0};

	if (!x->first || !x->first->n_victims)
		return;
	text_add_heading(out, look, "EVICTIONS", x->first->n_victims);
	table_column(&t, "POD", COLUMN_LEFT);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "NODE", COLUMN_LEFT);
	table_column(&t, "LOST", COLUMN_RIGHT);
	for (uint32_t i = 0; i < x->first->n_victims; i++) {
		const struct victim *y = &x->first->victims[i];
		struct text name = {0}, lost = {0};

		pod_path(x->v, y->pod, &name);
		duration_text_short(y->lost_ns, &lost);
		table_row(&t);
		table_cell(&t, TONE_BAD, "%s", text_str(&name));
		table_cell(&t, TONE_FAINT, "%s", queue_path(x->v, y->queue));
		table_cell(&t, TONE_PLAIN, "%s", node_text(x->v, y->node));
		table_cell(&t, TONE_PLAIN, "%s", text_str(&lost));
		text_free(&name);
		text_free(&lost);
	}
	table_print(&t, look, out);
	table_free(&t);
}

/* Others looked at what runs of it, and nobody takes any of it. */
static bool is_spared(const struct group_view *x, struct spared_work *ret)
{
	*ret = (struct spared_work){.view = x->v, .pod = POD_NONE, .group = x->id};
	return x->running > 0 && !x->losing && spared_count(ret);
}

const struct decision *group_waits(const struct plan_view *v, group_id g)
{
	const struct decision *waits;
	struct group_view x;

	group_view_init(&x, v, g);
	waits = x.waits && x.waits->outcome == OUTCOME_WAITING ? x.waits : NULL;
	group_view_free(&x);
	return waits;
}

void group_text(const struct plan_view *v, group_id g, const struct outlook *outlook, const struct look *look,
		bool is_wide, struct text *out)
{
	struct spared_work spared;
	struct group_view x;
	struct text s = {0};

	group_view_init(&x, v, g);
	sentence(&x, &s);
	add_sentence(look, text_str(&s), out);
	text_add_char(out, '\n');
	member_table(&x, look, is_wide, out);
	victim_table(&x, look, out);
	if (x.waits)
		protected_table(v, x.waits, look, is_wide, out);
	if (is_spared(&x, &spared))
		spared_table(&spared, look, out);
	if (outlook)
		outlook_text(v, outlook, look, out);
	text_free(&s);
	group_view_free(&x);
}

/* ---- for programs ---- */

static void emit_path(const struct plan_view *v, struct emit *e, pod_id pod)
{
	struct text t = {0};

	pod_path(v, pod, &t);
	emit_str(e, "pod", text_str(&t));
	text_free(&t);
}

static void emit_member(const struct group_view *x, struct emit *e, uint32_t i)
{
	static const char *const states[] = {[POD_WAITING] = "waiting",
					     [POD_PLACED] = "running",
					     [POD_LEAVING] = "leaving",
					     [POD_FINISHED] = "finished"};
	const struct decision *d = x->own[i];
	const struct pod *p = pod_of(x, x->pods[i]);

	emit_object(e, NULL);
	emit_path(x->v, e, x->pods[i]);
	emit_str(e, "state", states[p->state]);
	if (d) {
		emit_str(e, "outcome", outcome_text(d->outcome));
		emit_some(e, "action", action_text(d->action));
	}
	emit_some(e, "node", node_text(x->v, node_of(x, i)));
	if (d)
		emit_some(e, "message", d->message);
	if (x->goes[i])
		emit_bool(e, "goes", true);
	emit_end(e);
}

void group_emit(const struct plan_view *v, group_id g, const struct outlook *outlook, struct emit *e)
{
	struct text s = {0}, name = {0};
	struct spared_work spared;
	struct group_view x;

	group_view_init(&x, v, g);
	sentence(&x, &s);
	group_path(v, g, &name);
	emit_object(e, NULL);
	emit_str(e, "kind", "GroupExplanation");
	emit_str(e, "group", text_str(&name));
	emit_some(e, "queue", queue_path(v, x.g->queue));
	emit_str(e, "sentence", text_str(&s));
	emit_list(e, "pods");
	for (uint32_t i = 0; i < x.n; i++)
		emit_member(&x, e, i);
	emit_end(e);
	emit_list(e, "victims");
	for (uint32_t i = 0; x.first && i < x.first->n_victims; i++) {
		emit_object(e, NULL);
		emit_path(v, e, x.first->victims[i].pod);
		emit_some(e, "queue", queue_path(v, x.first->victims[i].queue));
		emit_some(e, "node", node_text(v, x.first->victims[i].node));
		emit_end(e);
	}
	emit_end(e);
	if (x.waits)
		plan_emit_protected(v, e, x.waits);
	if (is_spared(&x, &spared))
		spared_emit(&spared, e);
	if (outlook)
		outlook_emit(v, outlook, e);
	emit_end(e);
	text_free(&s);
	text_free(&name);
	group_view_free(&x);
}
