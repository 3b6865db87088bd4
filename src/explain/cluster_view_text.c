/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view as tables, for a terminal of 100 columns and somebody who wants to see at once what is wrong: who has more
 * than is guaranteed, who has less and waits, which nodes are full or ill. Long lists are cut after LINES_MAX lines;
 * wide ones never.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "explain/cluster_view_text.h"
#include "units/duration.h"
#include "units/timestamp.h"

enum { QUEUE_TYPES_MAX = 4 };

/* ---- small words ---- */

const char *page_type_title(const struct view_page *p, res_id r)
{
	char *title = arena_printf(p->arena, "%s", view_short_type(p->v, r));

	for (char *s = title; *s; s++)
		*s = (char)toupper((unsigned char)*s);
	return title;
}

/* Thousandths of many cores are hard to read: "23.5", but "500m". */
static void cores_text(int64_t milli, struct text *out)
{
	int64_t part = llabs(milli % 1000);

	if (!part || llabs(milli) < 1000) {
		res_amount_text(RES_CPU, milli, out);
		return;
	}
	text_printf(out, "%" PRId64 ".%03" PRId64, milli / 1000, part);
	while (out->s[out->n - 1] == '0')
		out->s[--out->n] = '\0';
}

const char *page_amount(const struct view_page *p, res_id r, int64_t amount)
{
	struct text t = {0};
	const char *s;

	if (amount == RES_UNLIMITED)
		return "∞";
	if (r == RES_CPU)
		cores_text(amount, &t);
	else
		res_amount_text(r, amount, &t);
	s = arena_strndup(p->arena, text_str(&t), t.n);
	text_free(&t);
	return s;
}

void page_note(struct text *notes, const char *fmt, ...)
{
	va_list ap;

	if (notes->n)
		text_add(notes, ", ");
	va_start(ap, fmt);
	text_vprintf(notes, fmt, ap);
	va_end(ap);
}

void page_section(const struct view_page *p, const struct table *t, uint32_t n_left_out)
{
	if (!t->n_rows)
		return;
	text_add_char(p->out, '\n');
	table_print(t, p->look, p->out);
	if (n_left_out)
		text_printf(p->out, "… and %u more; -o wide lists all\n", n_left_out);
}

/* "6m50s"; what lies ahead is "in 5m". */
static const char *ago(const struct view_page *p, int64_t then_ns)
{
	struct text t = {0};
	const char *s;
	int64_t age = res_sub_sat(p->v->now_ns, then_ns);

	if (then_ns == TIME_NONE)
		return "-";
	if (age < 0)
		text_add(&t, "in ");
	duration_text_short(age < 0 ? res_sub_sat(0, age) : age, &t);
	s = arena_strndup(p->arena, text_str(&t), t.n);
	text_free(&t);
	return s;
}

static const char *may_go(enum preemptibility p)
{
	static const char *const words[] = {"-", "yes", "no", "semi"};

	return words[p];
}

/* ---- queues ---- */

/* An unlimited guarantee or maximum tells nothing in a table. */
static bool is_finite(const struct res_vec *v, res_id r)
{
	return res_has(v, r) && v->v[r] != RES_UNLIMITED;
}

static bool is_guaranteed_or_limited(const struct cluster_view *v, res_id r)
{
	for (uint32_t i = 0; i < v->queues.n; i++) {
		const struct queue_spec *s = &queue_get(v->tree, v->queues.v[i])->spec;

		if (is_finite(&s->guaranteed, r) || is_finite(&s->max, r))
			return true;
	}
	return false;
}

/* Types that some queue guarantees or limits; where none does, those of the nodes. */
static void queue_types(const struct view_page *p, id_list32 *ret)
{
	const struct cluster_view *v = p->v;
	const int64_t *capacity = ledger_capacity(v->ledger);
	bool has_any;

	for (uint32_t i = 0; i < v->res.n; i++)
		if (is_guaranteed_or_limited(v, v->res.v[i]))
			array_push(ret, v->res.v[i]);
	has_any = ret->n;
	for (uint32_t i = 0; !has_any && i < v->res.n; i++)
		if (v->res.v[i] == RES_CPU || v->res.v[i] == RES_MEMORY ||
		    (view_is_gpu(v, v->res.v[i]) && capacity[v->res.v[i]]))
			array_push(ret, v->res.v[i]);
	if (!p->is_wide && ret->n > QUEUE_TYPES_MAX)
		ret->n = QUEUE_TYPES_MAX;
}

static void queue_cell(const struct view_page *p, struct table *t, queue_id q, res_id r)
{
	static const enum tone tones[] = {TONE_PLAIN, TONE_WARN, TONE_BAD};
	const struct queue_spec *s = &queue_get(p->v->tree, q)->spec;
	int64_t used = ledger_queue_used(p->v->ledger, q)[r];

	table_cell(t, tones[view_standing(p->v, q, r)], "%s/%s/%s", page_amount(p, r, used),
		   res_has(&s->guaranteed, r) ? page_amount(p, r, s->guaranteed.v[r]) : "-",
		   res_has(&s->max, r) ? page_amount(p, r, s->max.v[r]) : "-");
}

/* "12 gpu over", "4 gpu short". */
static void add_standing(const struct view_page *p, queue_id q, enum standing which, const char *word, struct text *out)
{
	const int64_t *used = ledger_queue_used(p->v->ledger, q);

	for (uint32_t i = 0; i < p->v->res.n; i++) {
		res_id r = p->v->res.v[i];
		int64_t guaranteed = queue_get(p->v->tree, q)->spec.guaranteed.v[r];

		if (view_standing(p->v, q, r) != which)
			continue;
		page_note(out, "%s %s %s", page_amount(p, r, llabs(used[r] - guaranteed)), view_short_type(p->v, r),
			  word);
	}
}

static void standing_cell(const struct view_page *p, struct table *t, queue_id q)
{
	struct text words = {0};
	enum tone tone;

	add_standing(p, q, STANDING_SHORT, "short", &words);
	tone = words.n ? TONE_BAD : TONE_WARN;
	add_standing(p, q, STANDING_OVER, "over", &words);
	table_cell(t, tone, "%s", text_str(&words));
	text_free(&words);
}

static void note_duration(struct text *notes, const char *what, int64_t ns)
{
	struct text t = {0};

	duration_text_short(ns, &t);
	page_note(notes, "%s %s", what, text_str(&t));
	text_free(&t);
}

/* The delay counts where pods are, and where a queues.yaml may set it. */
static void note_delay(const struct view_page *p, queue_id id, struct text *notes)
{
	const struct queue *q = queue_get(p->v->tree, id);
	bool may_set = q->spec.sources & (FROM_YUNIKORN | FROM_TEMPLATE);

	if (queue_is_leaf(p->v->tree, id) && may_set && q->props.preemption_delay_ns != PREEMPTION_DELAY_DEFAULT_NS)
		note_duration(notes, "delay", q->props.preemption_delay_ns);
}

static void settings_cell(const struct view_page *p, struct table *t, queue_id id)
{
	const struct queue *q = queue_get(p->v->tree, id);
	struct text notes = {0};

	if (q->is_draining)
		page_note(&notes, "draining");
	if (q->props.preemption_policy != POLICY_DEFAULT)
		page_note(&notes, "%s", q->props.preemption_policy == POLICY_FENCE ? "fence" : "disabled");
	note_delay(p, id, &notes);
	if (q->spec.preempt_min_runtime_ns != TIME_NONE)
		note_duration(&notes, "preempt after", q->spec.preempt_min_runtime_ns);
	if (q->spec.reclaim_min_runtime_ns != TIME_NONE)
		note_duration(&notes, "reclaim after", q->spec.reclaim_min_runtime_ns);
	if (q->props.priority_offset)
		page_note(&notes, "priority %+" PRId32, q->props.priority_offset);
	if (q->props.is_priority_fence)
		page_note(&notes, "priority fence");
	table_cell(t, q->is_draining ? TONE_WARN : TONE_PLAIN, "%s", text_str(&notes));
	text_free(&notes);
}

static void queue_row(const struct view_page *p, struct table *t, queue_id id, const id_list32 *types)
{
	const struct queue *q = queue_get(p->v->tree, id);

	table_row(t);
	table_cell(t, TONE_PLAIN, "%*s%s", (int)(2 * q->depth), "", name_str(p->v->names, q->segment));
	table_cell(t, TONE_PLAIN, "%" PRId64, ledger_queue_used(p->v->ledger, id)[RES_PODS]);
	table_cell(t, TONE_PLAIN, "%" PRIu32, ledger_queue_waiting(p->v->ledger, id));
	for (uint32_t i = 0; i < types->n; i++)
		queue_cell(p, t, id, types->v[i]);
	standing_cell(p, t, id);
	settings_cell(p, t, id);
}

/* Pods that no queue counts must not vanish from the sight of whoever adds up. */
static void stray_row(const struct view_page *p, struct table *t)
{
	table_row(t);
	table_cell(t, TONE_BAD, "in queues that do not exist");
	table_cell(t, TONE_PLAIN, "%" PRIu32, p->v->n_stray[POD_PLACED]);
	table_cell(t, TONE_PLAIN, "%" PRIu32, p->v->n_stray[POD_WAITING]);
}

static void queues(const struct view_page *p)
{
	struct table t = {0};
	id_list32 types = {0};

	queue_types(p, &types);
	table_column(&t, "QUEUE (used/guaranteed/max)", COLUMN_LEFT);
	table_column(&t, "RUN", COLUMN_RIGHT);
	table_column(&t, "WAIT", COLUMN_RIGHT);
	for (uint32_t i = 0; i < types.n; i++)
		table_column(&t, page_type_title(p, types.v[i]), COLUMN_LEFT);
	table_column(&t, "STANDING", COLUMN_LEFT);
	table_column(&t, "SETTINGS", COLUMN_LEFT);
	for (uint32_t i = 0; i < p->v->queues.n; i++)
		queue_row(p, &t, p->v->queues.v[i], &types);
	if (p->v->n_stray[POD_PLACED] || p->v->n_stray[POD_WAITING])
		stray_row(p, &t);
	page_section(p, &t, 0);
	table_free(&t);
	array_free(&types);
}

/* ---- pods ---- */

static const char *amounts(const struct view_page *p, const struct pod *pod)
{
	const struct res_list *l = view_pod_amounts(p->v, pod);
	struct text t = {0};
	const char *s;

	for (uint32_t i = 0; i < p->v->res.n; i++) {
		int64_t amount = res_list_get(l, p->v->res.v[i]);

		if (amount)
			page_note(&t, "%s %s", view_short_type(p->v, p->v->res.v[i]),
				  page_amount(p, p->v->res.v[i], amount));
	}
	s = arena_strndup(p->arena, text_str(&t), t.n);
	text_free(&t);
	return *s ? s : "nothing";
}

static const char *group_of(const struct view_page *p, const struct pod *pod)
{
	return pod->group == GROUP_NONE ? "" : name_str(p->v->names, ledger_group(p->v->ledger, pod->group)->obj->name);
}

static void queue_name_cell(const struct view_page *p, struct table *t, pod_id id)
{
	const struct pod *pod = ledger_pod(p->v->ledger, id);

	if (pod->queue != QUEUE_NONE)
		table_cell(t, TONE_PLAIN, "%s", view_queue_path(p->v, pod->queue));
	else
		table_cell(t, TONE_BAD, "%s?", cluster_wanted_queue(p->v->cluster, id));
}

static void note_waiting(const struct view_page *p, const struct pod *pod, struct text *notes)
{
	const struct shape *s = shape_get(p->v->vocab, pod->shape);

	if (pod->queue == QUEUE_NONE)
		page_note(notes, "no such queue");
	for (uint32_t i = 0; i < s->n_gates; i++)
		page_note(notes, "gate %s", name_str(p->v->names, s->gates[i]));
	if (pod->nomination == NOMINATION_ADVISORY)
		page_note(notes, "nominated to %s", view_node_name(p->v, pod->node));
	if (pod->nomination == NOMINATION_RESERVED)
		page_note(notes, "has room on %s", view_node_name(p->v, pod->node));
	if (s->never_preempts)
		page_note(notes, "never preempts");
}

/* What every list of pods says first. */
static void pod_columns(struct table *t, const char *title, bool has_node)
{
	table_column(t, title, COLUMN_LEFT);
	if (has_node)
		table_column(t, "NODE", COLUMN_LEFT);
	table_column(t, "QUEUE", COLUMN_LEFT);
	table_column(t, "PRIORITY", COLUMN_RIGHT);
}

static void pod_cells(const struct view_page *p, struct table *t, pod_id id, bool has_node)
{
	const struct pod *pod = ledger_pod(p->v->ledger, id);
	struct text name = {0};

	table_row(t);
	table_cell(t, TONE_PLAIN, "%s", view_pod_name(p->v, pod, &name));
	if (has_node)
		table_cell(t, TONE_PLAIN, "%s", view_node_name(p->v, pod->node));
	queue_name_cell(p, t, id);
	table_cell(t, TONE_PLAIN, "%" PRId32, pod->priority);
	text_free(&name);
}

static void waiting_columns(const struct view_page *p, struct table *t)
{
	pod_columns(t, "WAITING POD", false);
	if (p->is_wide) {
		table_column(t, "PREEMPTIBLE", COLUMN_LEFT);
		table_column(t, "GROUP", COLUMN_LEFT);
	}
	table_column(t, "REQUESTS", COLUMN_LEFT);
	table_column(t, "AGE", COLUMN_RIGHT);
	table_column(t, "NOTES", COLUMN_LEFT);
}

static void waiting_row(const struct view_page *p, struct table *t, pod_id id)
{
	const struct pod *pod = ledger_pod(p->v->ledger, id);
	struct text notes = {0};

	pod_cells(p, t, id, false);
	if (p->is_wide) {
		table_cell(t, TONE_PLAIN, "%s", may_go(pod->preemptibility));
		table_cell(t, TONE_PLAIN, "%s", group_of(p, pod));
	}
	note_waiting(p, pod, &notes);
	table_cell(t, TONE_PLAIN, "%s", amounts(p, pod));
	table_cell(t, TONE_PLAIN, "%s", ago(p, pod->created_ns));
	table_cell(t, view_is_gated(p->v, pod) ? TONE_WARN : TONE_PLAIN, "%s", text_str(&notes));
	text_free(&notes);
}

/* The deletion timestamp is when the pod should be gone: one that lies behind is a pod that hangs. */
static void leaving_columns(const struct view_page *p, struct table *t)
{
	(void)p;
	pod_columns(t, "LEAVING POD", true);
	table_column(t, "TAKES", COLUMN_LEFT);
	table_column(t, "DUE", COLUMN_LEFT);
}

static void leaving_row(const struct view_page *p, struct table *t, pod_id id)
{
	const struct pod *pod = ledger_pod(p->v->ledger, id);
	int64_t due = pod->obj->deleted_ns;

	pod_cells(p, t, id, true);
	table_cell(t, TONE_PLAIN, "%s", amounts(p, pod));
	if (due != TIME_NONE)
		table_cell(t, due < p->v->now_ns ? TONE_WARN : TONE_PLAIN, "%s%s", ago(p, due),
			   due <= p->v->now_ns ? " ago" : "");
}

static void running_columns(const struct view_page *p, struct table *t)
{
	(void)p;
	pod_columns(t, "RUNNING POD", true);
	table_column(t, "PREEMPTIBLE", COLUMN_LEFT);
	table_column(t, "GROUP", COLUMN_LEFT);
	table_column(t, "TAKES", COLUMN_LEFT);
	table_column(t, "RUNS FOR", COLUMN_RIGHT);
}

static void running_row(const struct view_page *p, struct table *t, pod_id id)
{
	const struct pod *pod = ledger_pod(p->v->ledger, id);

	pod_cells(p, t, id, true);
	table_cell(t, TONE_PLAIN, "%s", may_go(pod->preemptibility));
	table_cell(t, TONE_PLAIN, "%s", group_of(p, pod));
	table_cell(t, TONE_PLAIN, "%s", amounts(p, pod));
	table_cell(t, TONE_PLAIN, "%s", ago(p, pod->started_ns));
}

static void pods(const struct view_page *p, enum pod_state state,
		 void (*columns)(const struct view_page *p, struct table *t),
		 void (*row)(const struct view_page *p, struct table *t, pod_id id))
{
	uint32_t n = p->v->n_pods[state], shown = p->is_wide || n < LINES_MAX ? n : LINES_MAX;
	struct table t = {0};

	columns(p, &t);
	for (uint32_t i = 0; t.n_rows < shown; i++)
		if (ledger_pod(p->v->ledger, p->v->pods.v[i])->state == state)
			row(p, &t, p->v->pods.v[i]);
	page_section(p, &t, n - shown);
	table_free(&t);
}

/* ---- groups ---- */

struct member_counts {
	uint32_t min, running, waiting, leaving;
	bool is_incomplete; /* some run, and not as many as it takes */
};

static void count_podset(const struct podset *s, struct member_counts *sum)
{
	sum->min += (uint32_t)s->min_member;
	sum->running += s->n_placed;
	sum->waiting += s->n_waiting;
	sum->leaving += s->n_leaving;
	sum->is_incomplete |= s->n_placed && s->n_placed < (uint32_t)s->min_member;
}

static void member_cells(struct table *t, const struct member_counts *c)
{
	table_cell(t, TONE_PLAIN, "%" PRIu32, c->min);
	table_cell(t, TONE_PLAIN, "%" PRIu32, c->running);
	table_cell(t, TONE_PLAIN, "%" PRIu32, c->waiting);
	table_cell(t, TONE_PLAIN, "%" PRIu32, c->leaving);
}

static void podset_rows(const struct view_page *p, struct table *t, const struct group *g)
{
	for (uint32_t i = 0; i < g->n_podsets; i++) {
		const struct podset *s = ledger_podset(p->v->ledger, g->first_podset + i);
		struct member_counts c = {0};

		count_podset(s, &c);
		table_row(t);
		table_cell(t, TONE_PLAIN, "  %s", name_str(p->v->names, s->name));
		for (int empty = 0; empty < 3; empty++)
			table_cell(t, TONE_PLAIN, "%s", "");
		member_cells(t, &c);
		table_cell(t, TONE_PLAIN, "%s", "");
		table_cell(t, TONE_WARN, "%s", c.is_incomplete ? "below its minimum" : "");
	}
}

static void group_row(const struct view_page *p, struct table *t, group_id id)
{
	const struct group *g = ledger_group(p->v->ledger, id);
	struct member_counts c = {0};

	for (uint32_t i = 0; i < g->n_podsets; i++)
		count_podset(ledger_podset(p->v->ledger, g->first_podset + i), &c);
	table_row(t);
	table_cell(t, TONE_PLAIN, "%s/%s", name_str(p->v->names, g->obj->ns), name_str(p->v->names, g->obj->name));
	if (g->queue != QUEUE_NONE)
		table_cell(t, TONE_PLAIN, "%s", view_queue_path(p->v, g->queue));
	else
		table_cell(t, TONE_BAD, "%s?", name_str(p->v->names, g->obj->queue));
	table_cell(t, TONE_PLAIN, "%" PRId32, g->priority);
	table_cell(t, TONE_PLAIN, "%s", may_go(g->preemptibility));
	member_cells(t, &c);
	table_cell(t, TONE_PLAIN, "%s", ago(p, g->started_ns));
	table_cell(t, TONE_WARN, "%s", c.is_incomplete ? "below its minimum" : "");
	if (g->obj->n_subgroups)
		podset_rows(p, t, g);
}

static void groups(const struct view_page *p)
{
	uint32_t n = p->v->groups.n, shown = p->is_wide || n < LINES_MAX ? n : LINES_MAX;
	struct table t = {0};

	table_column(&t, "GROUP", COLUMN_LEFT);
	table_column(&t, "QUEUE", COLUMN_LEFT);
	table_column(&t, "PRIORITY", COLUMN_RIGHT);
	table_column(&t, "PREEMPTIBLE", COLUMN_LEFT);
	table_column(&t, "MIN", COLUMN_RIGHT);
	table_column(&t, "RUNNING", COLUMN_RIGHT);
	table_column(&t, "WAITING", COLUMN_RIGHT);
	table_column(&t, "LEAVING", COLUMN_RIGHT);
	table_column(&t, "RUNS FOR", COLUMN_RIGHT);
	table_column(&t, "NOTES", COLUMN_LEFT);
	for (uint32_t i = 0; i < shown; i++)
		group_row(p, &t, p->v->groups.v[i]);
	page_section(p, &t, n - shown);
	table_free(&t);
}

/* ---- budgets ---- */

static void count_covered(const struct cluster_view *v, uint32_t *covered)
{
	for (uint32_t i = 0; i < v->pods.n; i++) {
		const struct pod *p = ledger_pod(v->ledger, v->pods.v[i]);
		const pdb_id *ids;
		uint32_t n;

		if (p->state != POD_PLACED)
			continue;
		ids = ledger_labelset_pdbs(v->ledger, p->labelset, &n);
		for (uint32_t k = 0; k < n; k++)
			covered[ids[k]]++;
	}
}

static void budget_row(const struct view_page *p, struct table *t, pdb_id id, uint32_t n_covered)
{
	const struct pdb *b = ledger_pdb(p->v->ledger, id);
	struct text selector = {0};

	selector_text(p->v->names, &b->obj->selector, &selector);
	if (b->obj->selector.matches_nothing)
		text_add(&selector, "no pod");
	else if (!selector.n)
		text_add(&selector, "all of the namespace");
	table_row(t);
	table_cell(t, TONE_PLAIN, "%s/%s", name_str(p->v->names, b->obj->ns), name_str(p->v->names, b->obj->name));
	table_cell(t, TONE_PLAIN, "%" PRIu32, n_covered);
	table_cell(t, b->obj->allowed > 0 ? TONE_PLAIN : TONE_WARN, "%" PRId32, b->obj->allowed);
	table_cell(t, TONE_PLAIN, "%s", text_str(&selector));
	text_free(&selector);
}

static void budgets(const struct view_page *p)
{
	uint32_t n = p->v->budgets.n, shown = p->is_wide || n < LINES_MAX ? n : LINES_MAX;
	uint32_t *covered = mem_alloc((ledger_pdb_limit(p->v->ledger) + 1) * sizeof(*covered));
	struct table t = {0};

	count_covered(p->v, covered);
	table_column(&t, "BUDGET", COLUMN_LEFT);
	table_column(&t, "RUNNING", COLUMN_RIGHT);
	table_column(&t, "MAY GO", COLUMN_RIGHT);
	table_column(&t, "COVERS", COLUMN_LEFT);
	for (uint32_t i = 0; i < shown; i++)
		budget_row(p, &t, p->v->budgets.v[i], covered[p->v->budgets.v[i]]);
	page_section(p, &t, n - shown);
	table_free(&t);
	mem_free(covered);
}

/* ---- all of it ---- */

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

static void summary(const struct view_page *p)
{
	const struct cluster_view *v = p->v;
	struct text line = {0}, broken = {0};

	text_printf(&line, "%u node%s, %u pod%s: %u running, %u waiting, %u leaving, %u finished", v->nodes.n,
		    plural(v->nodes.n), v->pods.n, plural(v->pods.n), v->n_pods[POD_PLACED], v->n_pods[POD_WAITING],
		    v->n_pods[POD_LEAVING], v->n_pods[POD_FINISHED] - v->n_dropped);
	if (v->n_dropped)
		text_printf(&line, ", %u being deleted", v->n_dropped);
	text_printf(&line, "; %u queue%s; at ", v->queues.n, plural(v->queues.n));
	timestamp_text(time_floor(v->now_ns, NS_PER_S), &line);
	text_add_wrapped(&broken, text_str(&line), 0, 0, p->look->width);
	text_add_toned(p->out, p->look, TONE_STRONG, text_str(&broken));
	text_add_char(p->out, '\n');
	text_free(&line);
	text_free(&broken);
}

void cluster_view_text(const struct cluster_view *v, const struct look *look, bool is_wide, struct text *out)
{
	struct view_page p = {.v = v, .look = look, .is_wide = is_wide, .out = out, .arena = arena_new(1 << 16)};

	summary(&p);
	queues(&p);
	page_nodes(&p);
	pods(&p, POD_WAITING, waiting_columns, waiting_row);
	pods(&p, POD_LEAVING, leaving_columns, leaving_row);
	if (is_wide)
		pods(&p, POD_PLACED, running_columns, running_row);
	groups(&p);
	budgets(&p);
	arena_free(p.arena);
}
