/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/difference.h"

#include "explain/emit_fields.h"
#include "journal/replay_view.h"

/* ---- one namespace ---- */

static bool is_in(const char *ns, const char *pod)
{
	size_t n = strlen(ns);

	return !strncmp(pod, ns, n) && pod[n] == '/';
}

static bool concerns(const char *ns, const struct eviction *x)
{
	return is_in(ns, x->victim->pod) || is_in(ns, x->by->pod);
}

static void keep_evictions(eviction_list *list, const char *ns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		if (concerns(ns, &list->v[i]))
			list->v[n++] = list->v[i];
	list->n = n;
}

static void keep_namespace(struct run_diff *d, const char *ns)
{
	uint32_t n = 0;

	keep_evictions(&d->spared, ns);
	keep_evictions(&d->added, ns);
	for (uint32_t i = 0; i < d->shifted_was.n; i++) {
		if (!concerns(ns, &d->shifted_was.v[i]) && !concerns(ns, &d->shifted_is.v[i]))
			continue;
		d->shifted_was.v[n] = d->shifted_was.v[i];
		d->shifted_is.v[n++] = d->shifted_is.v[i];
	}
	d->shifted_was.n = d->shifted_is.n = n;
	n = 0;
	for (uint32_t i = 0; i < d->moved_was.n; i++) {
		if (!is_in(ns, d->moved_was.v[i] ? d->moved_was.v[i]->pod : d->moved_is.v[i]->pod))
			continue;
		d->moved_was.v[n] = d->moved_was.v[i];
		d->moved_is.v[n++] = d->moved_is.v[i];
	}
	d->moved_was.n = d->moved_is.n = n;
}

void plan_difference_init(struct plan_difference *d)
{
	run_diff_init(&d->diff, d->was.run, d->is.run);
	if (d->ns)
		keep_namespace(&d->diff, d->ns);
}

void running_pods_init(struct running_pods *r, const struct plan_view *v)
{
	const struct ledger *l = cluster_ledger(v->cluster);
	struct text name = {0};

	*r = (struct running_pods){.arena = arena_new(1 << 14)};
	for (node_id n = 0; n < ledger_node_limit(l); n++) {
		const struct ledger_node *node = ledger_node(l, n);
		const char *words = node->pods.n ? node_text(v, n) : "";

		if (node->pods.n)
			array_push(&r->nodes, arena_strndup(r->arena, words, strlen(words)));
		for (uint32_t i = 0; i < node->pods.n; i++) {
			text_reset(&name);
			pod_path(v, node->pods.v[i], &name);
			name_index_put(&r->at, text_str(&name), r->nodes.n - 1);
		}
	}
	text_free(&name);
}

void running_pods_free(struct running_pods *r)
{
	name_index_free(&r->at);
	array_free(&r->nodes);
	arena_free(r->arena);
}

/* NULL: it does not run. */
static const char *runs_on(const struct running_pods *r, const char *pod)
{
	uint32_t i = r ? name_index_get(&r->at, pod) : INDEX_NONE;

	return i == INDEX_NONE ? NULL : r->nodes.v[i];
}

static bool waits(const struct journal_decision *d)
{
	return d && (str_eq(d->outcome, "waiting") || str_eq(d->outcome, "gated"));
}

bool plan_difference_adds_waiting(const struct plan_difference *d)
{
	for (uint32_t i = 0; i < d->diff.moved_is.n; i++)
		if (waits(d->diff.moved_is.v[i]) && !waits(d->diff.moved_was.v[i]))
			return true;
	return false;
}

static bool is_same(const struct run_diff *d)
{
	return !d->spared.n && !d->added.n && !d->shifted_was.n && !d->moved_was.n;
}

/* ---- for people ---- */

static void eviction_table(const eviction_list *list, enum tone tone, const struct look *look, struct text *out)
{
	struct table t = {0};

	eviction_columns(&t, "MAKES ROOM FOR");
	table_column(&t, "WHY", 0);
	for (uint32_t i = 0; i < list->n; i++) {
		const struct eviction *x = &list->v[i];

		eviction_cells(&t, tone, x);
		table_cell(&t, TONE_PLAIN, "%s: %s", x->by->action, x->victim->reason ? x->victim->reason : "");
	}
	table_print(&t, look, out);
	table_free(&t);
}

static void shifted_table(const struct run_diff *d, const struct look *look, struct text *out)
{
	struct table t = {0};

	table_column(&t, "POD", 0);
	table_column(&t, "QUEUE", 0);
	table_column(&t, "TODAY FOR", 0);
	table_column(&t, "THEN FOR", 0);
	table_column(&t, "WHY THEN", 0);
	for (uint32_t i = 0; i < d->shifted_was.n; i++) {
		const struct eviction *was = &d->shifted_was.v[i], *is = &d->shifted_is.v[i];

		table_row(&t);
		table_cell(&t, TONE_WARN, "%s", was->victim->pod);
		table_cell(&t, TONE_FAINT, "%s", was->victim->queue);
		cell_for(&t, was->by);
		cell_for(&t, is->by);
		table_cell(&t, TONE_PLAIN, "%s: %s", is->by->action, is->victim->reason ? is->victim->reason : "");
	}
	table_print(&t, look, out);
	table_free(&t);
}

/* "nominated on gpu-3 (reclaim)", "waiting" */
static void cell_place(struct table *t, const struct journal_decision *d)
{
	enum tone tone = !d ? TONE_FAINT : waits(d) ? TONE_WARN : TONE_GOOD;
	struct text s = {0};

	text_add(&s, d ? d->outcome : "-");
	if (d && *d->node)
		text_printf(&s, " on %s", d->node);
	if (d && *d->action && !str_eq(d->action, "allocate"))
		text_printf(&s, " (%s)", d->action);
	table_cell(t, tone, "%s", text_str(&s));
	text_free(&s);
}

static void cell_today(struct table *t, const struct running_pods *r, const struct journal_decision *was,
		       const struct journal_decision *is)
{
	const char *node = was ? NULL : runs_on(r, is->pod);

	if (node)
		table_cell(t, TONE_PLAIN, "runs on %s", node);
	else
		cell_place(t, was);
}

/* Who is protected from a group stands at one of its pods. */
static bool has_same_group(const struct journal_decision *a, const struct journal_decision *b)
{
	return *a->group && str_eq(a->group, b->group);
}

static bool is_alike(const struct journal_decision *a, const struct journal_decision *b)
{
	return a == b ||
	       (a && b && str_eq(a->queue, b->queue) && str_eq(a->outcome, b->outcome) && str_eq(a->node, b->node) &&
		str_eq(a->action, b->action) && str_eq(a->message, b->message) &&
		(has_same_group(a, b) || (!a->why && !b->why) || (a->why && b->why && str_eq(a->why, b->why))));
}

/* Pods next to each other of which the same is to be said stand in one line. */
static uint32_t count_alike(const struct plan_difference *x, uint32_t i)
{
	const struct run_diff *d = &x->diff;
	uint32_t n = 1;

	for (; i + n < d->moved_was.n; n++) {
		const struct journal_decision *was = d->moved_was.v[i + n], *is = d->moved_is.v[i + n];

		if (!is_alike(d->moved_was.v[i], was) || !is_alike(d->moved_is.v[i], is) ||
		    (!was && runs_on(x->running, d->moved_is.v[i]->pod) != runs_on(x->running, is->pod)))
			break;
	}
	return n;
}

/* Of those that stand in one line the one that has most to say. */
static const char *why_waiting(const struct journal_decision *const *v, uint32_t n)
{
	const char *best = "";

	for (uint32_t i = 0; i < n && waits(v[0]); i++) {
		const char *why = v[i]->why ? v[i]->why : v[i]->message;

		best = strlen(why) > strlen(best) ? why : best;
	}
	return best;
}

static void answer_table(const struct plan_difference *x, const struct look *look, struct text *out)
{
	const struct run_diff *d = &x->diff;
	struct table t = {0};

	table_column(&t, "POD", 0);
	table_column(&t, "QUEUE", 0);
	table_column(&t, "TODAY", 0);
	table_column(&t, "THEN", 0);
	table_column(&t, "WHY IT WAITS", 0);
	for (uint32_t i = 0, n; i < d->moved_was.n; i += n) {
		const struct journal_decision *was = d->moved_was.v[i], *is = d->moved_is.v[i];

		n = count_alike(x, i);
		table_row(&t);
		if (n > 1)
			table_cell(&t, TONE_PLAIN, "%s and %u more", was ? was->pod : is->pod, n - 1);
		else
			table_cell(&t, TONE_PLAIN, "%s", was ? was->pod : is->pod);
		table_cell(&t, TONE_FAINT, "%s", was ? was->queue : is->queue);
		cell_today(&t, x->running, was, is);
		cell_place(&t, is);
		table_cell(&t, TONE_PLAIN, "%s", why_waiting(&d->moved_is.v[i], n));
	}
	table_print(&t, look, out);
	table_free(&t);
}

static void sides_line(const struct plan_difference *d, struct text *out)
{
	uint32_t spared = d->diff.spared.n, added = d->diff.added.n;

	text_printf(out, "%u placed (today %u), %u nominated (%u), %u waiting (%u), %u gated (%u); ", d->is.placed,
		    d->was.placed, d->is.nominated, d->was.nominated, d->is.waiting, d->was.waiting, d->is.gated,
		    d->was.gated);
	text_printf(out, "%u more %s to go, %u no longer", added, added == 1 ? "pod has" : "pods have", spared);
}

static void changes_line(const struct plan_difference *d, struct text *out)
{
	text_add(out, "If one were to ");
	for (uint32_t i = 0; i < d->n_changes; i++)
		text_printf(out, "%s%s", i == 0 ? "" : i + 1 == d->n_changes ? " and " : ", ", d->changes[i]);
	text_add(out, ", at ");
	timestamp_text(time_floor(d->now_ns, NS_PER_S), out);
	if (d->ns)
		text_printf(out, ", namespace %s", d->ns);
	text_printf(out, ", profile %s", d->is.run->profile);
	if (!str_eq(d->was.run->profile, d->is.run->profile))
		text_printf(out, " (today %s)", d->was.run->profile);
	text_add_char(out, ':');
}

static void head_text(const struct plan_difference *d, const struct look *look, struct text *out)
{
	struct text head = {0}, visible = {0}, line = {0};

	changes_line(d, &head);
	text_add_visible(&visible, text_str(&head));
	text_add_wrapped(&line, text_str(&visible), 0, 0, look->width);
	text_add_toned(out, look, TONE_STRONG, text_str(&line));
	text_add_char(out, '\n');
	text_reset(&head);
	sides_line(d, &head);
	text_add_wrapped(out, text_str(&head), 0, 0, look->width);
	text_add_char(out, '\n');
	text_free(&head);
	text_free(&visible);
	text_free(&line);
}

void plan_difference_text(const struct plan_difference *d, const struct look *look, struct text *out)
{
	head_text(d, look, out);
	if (is_same(&d->diff)) {
		text_add(out, "Nobody gets another place, and nobody else has to go.\n");
		return;
	}
	if (d->diff.added.n) {
		text_add_heading(out, look, "NEW EVICTIONS", d->diff.added.n);
		eviction_table(&d->diff.added, TONE_BAD, look, out);
	}
	if (d->diff.spared.n) {
		text_add_heading(out, look, "EVICTIONS NO LONGER NEEDED", d->diff.spared.n);
		eviction_table(&d->diff.spared, TONE_GOOD, look, out);
	}
	if (d->diff.shifted_was.n) {
		text_add_heading(out, look, "EVICTIONS FOR ANOTHER REASON", d->diff.shifted_was.n);
		shifted_table(&d->diff, look, out);
	}
	if (d->diff.moved_was.n) {
		text_add_heading(out, look, "OTHER ANSWERS", d->diff.moved_was.n);
		answer_table(d, look, out);
	}
}

/* ---- for programs ---- */

static void emit_side(struct emit *e, const char *key, const struct plan_side *s, const char *ns)
{
	eviction_list gone = {0};

	evictions_of(s->run, &gone);
	if (ns)
		keep_evictions(&gone, ns);
	emit_object(e, key);
	emit_str(e, "profile", s->run->profile);
	emit_int(e, "placed", s->placed);
	emit_int(e, "nominated", s->nominated);
	emit_int(e, "waiting", s->waiting);
	emit_int(e, "gated", s->gated);
	emit_int(e, "victims", gone.n);
	emit_end(e);
	array_free(&gone);
}

void plan_difference_emit(const struct plan_difference *d, struct emit *e)
{
	emit_object(e, NULL);
	emit_str(e, "kind", "PlanDifference");
	emit_time(e, "now", d->now_ns);
	emit_list(e, "changes");
	for (uint32_t i = 0; i < d->n_changes; i++)
		emit_str(e, NULL, d->changes[i]);
	emit_end(e);
	emit_side(e, "today", &d->was, d->ns);
	emit_side(e, "then", &d->is, d->ns);
	run_diff_emit(&d->diff, e);
	emit_end(e);
}
