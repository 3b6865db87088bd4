/* SPDX-License-Identifier: Apache-2.0 */
/* A plan for people: who has to go, who waits, who runs where. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "explain/plan_view.h"
#include "units/duration.h"
#include "units/timestamp.h"

enum { GROUP_FROM = 20 }; /* more evictions than this are shown in groups */

static const struct pod *pod_of(const struct plan_view *v, pod_id p)
{
	return ledger_pod(cluster_ledger(v->cluster), p);
}

static void cell_pod(const struct plan_view *v, struct table *t, enum tone tone, pod_id pod)
{
	struct text s = {0};

	pod_path(v, pod, &s);
	table_cell(t, tone, "%s", text_str(&s));
	text_free(&s);
}

static void cell_duration(struct table *t, int64_t ns)
{
	struct text s = {0};

	duration_text_short(ns, &s);
	table_cell(t, TONE_PLAIN, "%s", text_str(&s));
	text_free(&s);
}

/* ---- who has to go ---- */

/* The law that let it go, and what else there is to know of it. */
static void cell_why(const struct plan_view *v, struct table *t, const struct decision *d, const struct victim *x)
{
	struct text why = {0};

	eviction_text(v, d, x, &why);
	table_cell(t, x->overridden == RULE_NONE ? TONE_PLAIN : TONE_BAD, "%s: %s", action_text(d->action),
		   text_str(&why));
	text_free(&why);
}

/* For whom it goes; the queue or the group itself, if nobody waits for it. */
static void cell_for(const struct plan_view *v, struct table *t, const struct decision *d)
{
	struct text s = {0};

	if (d->pod != POD_NONE) {
		cell_pod(v, t, TONE_PLAIN, d->pod);
		return;
	}
	if (d->action == ACTION_STALE_GANG)
		group_path(v, d->group, &s);
	else
		text_add(&s, queue_path(v, d->queue));
	table_cell(t, TONE_PLAIN, "(%s)", text_str(&s));
	text_free(&s);
}

/*
 * Two decisions may need the same pod gone; it is shown at the first of them. Who was leaving before is not sent away
 * by the plan, though somebody may wait for that room.
 */
static bool is_sent_away(const struct plan_view *v, struct bits *seen, const struct victim *x)
{
	if (bits_has(seen, x->pod) || pod_of(v, x->pod)->state == POD_LEAVING)
		return false;
	bits_set(seen, x->pod);
	return true;
}

static void victims_each(const struct plan_view *v, const struct look *look, struct text *out)
{
	struct table t = {0};
	struct bits seen = {0};

	table_column(&t, "POD", COLUMN_LEFT);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "NODE", COLUMN_LEFT);
	table_column(&t, "LOST", COLUMN_RIGHT);
	table_column(&t, "MAKES ROOM FOR", COLUMN_LEFT);
	table_column(&t, "WHY", 0);
	for (uint32_t i = 0; i < v->plan->v.n; i++) {
		const struct decision *d = &v->plan->v.v[i];

		for (uint32_t k = 0; is_told(v, d) && k < d->n_victims; k++) {
			if (!is_sent_away(v, &seen, &d->victims[k]))
				continue;
			table_row(&t);
			cell_pod(v, &t, TONE_BAD, d->victims[k].pod);
			table_cell(&t, TONE_FAINT, "%s", queue_path(v, d->victims[k].queue));
			table_cell(&t, TONE_PLAIN, "%s", node_text(v, d->victims[k].node));
			cell_duration(&t, d->victims[k].lost_ns);
			cell_for(v, &t, d);
			cell_why(v, &t, d, &d->victims[k]);
		}
	}
	table_print(&t, look, out);
	table_free(&t);
	bits_free(&seen);
}

struct victim_group { /* evictions that look alike */
	queue_id from, to;
	name_id ns;
	int32_t priority;
	uint32_t count, n_violations;
	struct bits nodes;
	int64_t lost_ns;
};

static struct victim_group *group_for(const struct plan_view *v, struct victim_group *g, uint32_t *n,
				      const struct decision *d, const struct victim *x)
{
	const struct pod *p = pod_of(v, x->pod);
	name_id ns = labelset_get(ledger_vocab(cluster_ledger(v->cluster)), p->labelset)->ns;

	for (uint32_t i = 0; i < *n; i++)
		if (g[i].from == x->queue && g[i].to == d->queue && g[i].ns == ns && g[i].priority == p->priority)
			return &g[i];
	g[*n] = (struct victim_group){.from = x->queue, .to = d->queue, .ns = ns, .priority = p->priority};
	return &g[(*n)++];
}

static void group_add(const struct plan_view *v, struct victim_group *groups, uint32_t *n, const struct decision *d,
		      const struct victim *x)
{
	struct victim_group *g = group_for(v, groups, n, d, x);

	g->count++;
	g->n_violations += x->overridden == RULE_BUDGET;
	g->lost_ns = res_add_sat(g->lost_ns, x->lost_ns);
	bits_set(&g->nodes, x->node);
}

static uint32_t group_victims(const struct plan_view *v, struct victim_group *groups)
{
	struct bits seen = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->plan->v.n; i++) {
		const struct decision *d = &v->plan->v.v[i];

		for (uint32_t k = 0; is_told(v, d) && k < d->n_victims; k++)
			if (is_sent_away(v, &seen, &d->victims[k]))
				group_add(v, groups, &n, d, &d->victims[k]);
	}
	bits_free(&seen);
	return n;
}

static void group_row(const struct plan_view *v, struct table *t, const struct victim_group *g)
{
	const struct names *names = vocab_names(ledger_vocab(cluster_ledger(v->cluster)));

	table_row(t);
	table_cell(t, TONE_BAD, "%u", g->count);
	table_cell(t, TONE_PLAIN, "%s", name_str(names, g->ns));
	table_cell(t, TONE_FAINT, "%s", queue_path(v, g->from));
	table_cell(t, TONE_PLAIN, "%d", g->priority);
	table_cell(t, TONE_PLAIN, "%u", bits_count(&g->nodes));
	cell_duration(t, g->lost_ns);
	table_cell(t, TONE_PLAIN, "%s", queue_path(v, g->to));
	if (g->n_violations)
		table_cell(t, TONE_BAD, "%u", g->n_violations);
	else
		table_cell(t, TONE_PLAIN, "%s", "");
}

static void victims_grouped(const struct plan_view *v, const struct look *look, struct text *out)
{
	struct victim_group *groups = mem_alloc((v->plan->victims + 1) * sizeof(*groups));
	uint32_t n = group_victims(v, groups);
	struct table t = {0};

	table_column(&t, "PODS", COLUMN_RIGHT);
	table_column(&t, "NAMESPACE", COLUMN_LEFT);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "PRIORITY", COLUMN_RIGHT);
	table_column(&t, "NODES", COLUMN_RIGHT);
	table_column(&t, "LOST", COLUMN_RIGHT);
	table_column(&t, "MAKE ROOM FOR", COLUMN_LEFT);
	table_column(&t, "AGAINST A BUDGET", COLUMN_RIGHT);
	for (uint32_t i = 0; i < n; i++) {
		group_row(v, &t, &groups[i]);
		bits_free(&groups[i].nodes);
	}
	table_print(&t, look, out);
	text_add(out, "Every one of them: -o wide\n");
	table_free(&t);
	mem_free(groups);
}

/* ---- who waits, who runs ---- */

/* With several cycles a pod has several decisions; those that are shown are its last. */
static struct bits last_decisions(const struct plan_view *v)
{
	struct bits last = {0}, seen = {0};

	for (uint32_t i = v->plan->v.n; i-- > 0;) {
		pod_id pod = v->plan->v.v[i].pod;

		if (pod == POD_NONE || bits_has(&seen, pod))
			continue;
		bits_set(&seen, pod);
		bits_set(&last, i);
	}
	bits_free(&seen);
	return last;
}

static uint32_t count_victims(const struct plan_view *v)
{
	struct bits gone = {0};
	uint32_t n;

	for (uint32_t i = 0; i < v->plan->v.n; i++)
		for (uint32_t k = 0; is_told(v, &v->plan->v.v[i]) && k < v->plan->v.v[i].n_victims; k++)
			bits_set(&gone, v->plan->v.v[i].victims[k].pod);
	n = bits_count(&gone);
	bits_free(&gone);
	return n;
}

struct plan_counts plan_counts(const struct plan_view *v)
{
	const struct decisions *p = v->plan;
	struct plan_counts all = {p->placed, p->nominated, p->waiting, p->gated, p->victims};
	struct decisions of_ns = {0};
	struct bits last;

	if (!v->ns)
		return all;
	last = last_decisions(v);
	for (uint32_t i = 0; i < p->v.n; i++)
		if (bits_has(&last, i) && is_of_namespace(v, p->v.v[i].pod))
			decisions_count(&of_ns, &p->v.v[i]);
	bits_free(&last);
	return (struct plan_counts){of_ns.placed, of_ns.nominated, of_ns.waiting, of_ns.gated, count_victims(v)};
}

static bool waits(const struct decision *d)
{
	return d->outcome == OUTCOME_WAITING || d->outcome == OUTCOME_GATED;
}

/* One of those that are listed: last of its pod, and of the namespace that is asked for. */
static bool is_listed(const struct plan_view *v, const struct bits *last, uint32_t i, bool is_waiting)
{
	return bits_has(last, i) && waits(&v->plan->v.v[i]) == is_waiting && is_of_namespace(v, v->plan->v.v[i].pod);
}

static uint32_t count_listed(const struct plan_view *v, const struct bits *last, bool is_waiting)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->plan->v.n; i++)
		n += is_listed(v, last, i, is_waiting);
	return n;
}

/* The same rules in the same numbers, and until the same times. */
static bool is_protected_alike(const struct plan_view *v, const struct decision *a, const struct decision *b)
{
	struct text x = {0}, y = {0};
	bool is_same;

	protection_text(v, a, &x);
	protection_text(v, b, &y);
	is_same = str_eq(text_str(&x), text_str(&y));
	text_free(&x);
	text_free(&y);
	return is_same;
}

static bool has_same_template(const struct plan_view *v, pod_id a, pod_id b)
{
	const struct pod *p = pod_of(v, a), *q = pod_of(v, b);
	struct vocab *words = ledger_vocab(cluster_ledger(v->cluster));

	return p->shape == q->shape && p->queue == q->queue && p->priority == q->priority &&
	       labelset_get(words, p->labelset)->ns == labelset_get(words, q->labelset)->ns;
}

/*
 * Pods of one group that wait for the same reason stand in one line, and so do pods of one template, unless is_wide.
 * Who is protected from a group stands at one of its pods.
 */
static bool waits_alike(const struct plan_view *v, const struct decision *a, const struct decision *b, bool is_wide)
{
	if (a->group != b->group || a->outcome != b->outcome || a->own_rule != b->own_rule ||
	    a->until_ns != b->until_ns || !a->message || !b->message || !str_eq(a->message, b->message))
		return false;
	return a->group != GROUP_NONE ||
	       (!is_wide && has_same_template(v, a->pod, b->pod) && is_protected_alike(v, a, b));
}

void waiting_text(const struct plan_view *v, const struct decision *d, struct text *out)
{
	size_t n = d->message ? strlen(d->message) : 0;

	if (d->n_protected && n && d->message[n - 1] == '.')
		n--;
	text_add_n(out, n ? d->message : "", n);
	if (d->n_protected) {
		text_add(out, n ? "; " : "");
		protection_text(v, d, out);
		text_add_char(out, '.');
	}
	own_rule_text(v, d, out);
}

static void why_waiting(const struct plan_view *v, const struct decision *d, const struct look *look, struct text *out)
{
	struct text why = {0}, visible = {0};

	waiting_text(v, d, &why);
	text_add_visible(&visible, text_str(&why));
	if (visible.n) {
		text_add(out, "    ");
		text_add_wrapped(out, text_str(&visible), 4, 4, look->width);
		text_add_char(out, '\n');
	}
	text_free(&why);
	text_free(&visible);
}

static void waiting_pods(const struct plan_view *v, const struct bits *last, const struct look *look, bool is_wide,
			 struct text *out)
{
	for (uint32_t i = 0; i < v->plan->v.n; i++) {
		const struct decision *d = &v->plan->v.v[i], *tells = d;
		struct text name = {0}, visible = {0};
		uint32_t n_more;

		if (!is_listed(v, last, i, true))
			continue;
		pod_path(v, d->pod, &name);
		text_add_visible(&visible, text_str(&name));
		text_add_toned(out, look, TONE_WARN, text_str(&visible));
		for (n_more = 0; i + 1 < v->plan->v.n && is_listed(v, last, i + 1, true) &&
				 waits_alike(v, d, &v->plan->v.v[i + 1], is_wide);
		     i++, n_more++)
			tells = tells->n_protected ? tells : &v->plan->v.v[i + 1];
		if (n_more > 0)
			text_printf(out, " and %u more%s", n_more, d->group != GROUP_NONE ? " of its group" : "");
		text_printf(out, "  %s  priority %d%s\n", queue_path(v, d->queue), pod_of(v, d->pod)->priority,
			    d->outcome == OUTCOME_GATED ? "  gated" : "");
		why_waiting(v, tells, look, out);
		text_free(&name);
		text_free(&visible);
	}
}

static void cell_when(const struct plan_view *v, struct table *t, const struct decision *d)
{
	if (d->outcome == OUTCOME_NOMINATED && pod_of(v, d->pod)->state == POD_PLACED)
		table_cell(t, TONE_WARN, "moves from %s", node_text(v, pod_of(v, d->pod)->node));
	else if (waits_with_group(d))
		table_cell(t, TONE_WARN, "with its group");
	else if (d->outcome == OUTCOME_NOMINATED && !d->n_victims)
		table_cell(t, TONE_WARN, "when leaving pods are gone");
	else if (d->outcome == OUTCOME_NOMINATED)
		table_cell(t, TONE_WARN, "when %u %s gone", d->n_victims, d->n_victims == 1 ? "pod is" : "pods are");
	else if (d->cycle > 1)
		table_cell(t, TONE_PLAIN, "in cycle %u", d->cycle);
	else
		table_cell(t, TONE_PLAIN, "now");
}

static bool has_volumes(const struct plan_view *v)
{
	for (uint32_t i = 0; i < v->plan->v.n; i++)
		if (v->plan->v.v[i].n_volumes)
			return true;
	return false;
}

static void running_pods(const struct plan_view *v, const struct bits *last, const struct look *look, bool is_wide,
			 struct text *out)
{
	struct table t = {0};

	table_column(&t, "POD", COLUMN_LEFT);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "PRIORITY", COLUMN_RIGHT);
	table_column(&t, "NODE", COLUMN_LEFT);
	table_column(&t, "WHEN", 0);
	table_column(&t, is_wide ? "WHY THERE" : "", 0);
	table_column(&t, is_wide && has_volumes(v) ? "VOLUMES" : "", 0);
	for (uint32_t i = 0; i < v->plan->v.n; i++) {
		const struct decision *d = &v->plan->v.v[i];
		struct text why = {0}, volumes = {0};

		if (!is_listed(v, last, i, false))
			continue;
		table_row(&t);
		cell_pod(v, &t, TONE_GOOD, d->pod);
		table_cell(&t, TONE_FAINT, "%s", queue_path(v, d->queue));
		table_cell(&t, TONE_PLAIN, "%d", pod_of(v, d->pod)->priority);
		table_cell(&t, TONE_PLAIN, "%s", node_text(v, d->node));
		cell_when(v, &t, d);
		if (is_wide) {
			tie_text(v, d, &why);
			volumes_text(v, d, &volumes);
		}
		table_cell(&t, TONE_FAINT, "%s", text_str(&why));
		table_cell(&t, TONE_FAINT, "%s", text_str(&volumes));
		text_free(&why);
		text_free(&volumes);
	}
	table_print(&t, look, out);
	table_free(&t);
}

/* ---- the whole ---- */

static uint32_t count_sent_away(const struct plan_view *v)
{
	struct bits seen = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->plan->v.n; i++)
		for (uint32_t k = 0; is_told(v, &v->plan->v.v[i]) && k < v->plan->v.v[i].n_victims; k++)
			n += is_sent_away(v, &seen, &v->plan->v.v[i].victims[k]);
	bits_free(&seen);
	return n;
}

static void summary_line(const struct plan_view *v, uint32_t n_going, const struct look *look, struct text *out)
{
	struct plan_counts n = plan_counts(v);
	struct text s = {0}, line = {0};

	text_add(&s, "Plan at ");
	timestamp_text(time_floor(v->now_ns, NS_PER_S), &s);
	if (v->ns)
		text_printf(&s, ", namespace %s", v->ns);
	text_printf(&s, ", profile %s: %u placed, %u nominated, %u waiting, %u gated; %u %s to go",
		    profile_text(v->profile), n.placed, n.nominated, n.waiting, n.gated, n_going,
		    n_going == 1 ? "pod has" : "pods have");
	text_add_wrapped(&line, text_str(&s), 0, 0, look->width);
	text_add_toned(out, look, TONE_STRONG, text_str(&line));
	text_add_char(out, '\n');
	text_free(&s);
	text_free(&line);
}

void plan_view_text(const struct plan_view *v, const struct look *look, bool is_wide, struct text *out)
{
	struct bits last = last_decisions(v);
	uint32_t n_going = count_sent_away(v);

	summary_line(v, n_going, look, out);
	if (n_going) {
		text_add_heading(out, look, "EVICTIONS", n_going);
		if (n_going > GROUP_FROM && !is_wide)
			victims_grouped(v, look, out);
		else
			victims_each(v, look, out);
	}
	if (count_listed(v, &last, true)) {
		text_add_heading(out, look, "WAITING", count_listed(v, &last, true));
		waiting_pods(v, &last, look, is_wide, out);
	}
	if (count_listed(v, &last, false)) {
		text_add_heading(out, look, "PLACEMENTS", count_listed(v, &last, false));
		running_pods(v, &last, look, is_wide, out);
	}
	if (!v->plan->v.n)
		text_add(out, "Nothing is waiting.\n");
	bits_free(&last);
}
