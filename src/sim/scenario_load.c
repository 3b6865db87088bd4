/* SPDX-License-Identifier: Apache-2.0 */
/* What arrives in a scenario: its workloads, each with a stream of chance of its own, merged in order of time. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "manifest/manifest.h"
#include "sim/random.h"
#include "sim/scenario_internal.h"
#include "units/duration.h"

static const char *const workload_fields[] = {
	"name",	    "namespace",     "queue",	    "labels",	"annotations", "requests",   "spec",
	"priority", "priorityClass", "pods",	    "together", "count",       "at",	     "every",
	"until",    "runs",	     "checkpoints", "grace",	"goes",	       "controller", NULL};

struct scenario_workload {
	const char *name;
	uint32_t line, col; /* in the scenario's file */
	struct obj_pod template;
	bool has_template;
	int64_t n_jobs; /* INT64_MAX: until its end */
	int64_t n_pods, together;
	int64_t first_ns, until_ns;
	bool has_gaps;
	struct distribution every, runs;
	bool is_endless;
	int64_t checkpoint_ns, grace_ns, lingers_ns;
	enum sim_controller controller;
	struct random_source gaps, lengths;
	/* the next one */
	int64_t next_ns; /* TIME_NONE: no more */
	int64_t n_made;
};

struct load_state {
	struct vocab *vocab;
	ARRAY(struct scenario_workload) v;
	const char *path;
	struct text name, where; /* of the job given last */
};

/* ---- a pod of the workload, as a manifest would say it ---- */

static const struct tree *text_tree(struct arena *a, const char *text, const struct tree *where)
{
	struct tree *t = arena_type(a, struct tree);

	*t = (struct tree){.kind = TREE_STRING, .line = where->line, .col = where->col, .n = (uint32_t)strlen(text)};
	t->text = text;
	return t;
}

struct scenario_draft {
	struct tree_field fields[16];
	uint32_t n;
};

static void put(struct scenario_draft *m, const char *key, const struct tree *value)
{
	if (value)
		m->fields[m->n++] = (struct tree_field){key, (uint32_t)strlen(key), value->line, value->col, value};
}

static const struct tree *map_tree(struct arena *a, const struct scenario_draft *m, const struct tree *where)
{
	struct tree *t = arena_type(a, struct tree);
	struct tree_field *fields = arena_n(a, m->n + 1, struct tree_field);

	memcpy(fields, m->fields, m->n * sizeof(*fields));
	*t = (struct tree){.kind = TREE_MAP, .line = where->line, .col = where->col, .n = m->n};
	t->fields = fields;
	return t;
}

static const struct tree *list_of_one(struct arena *a, const struct tree *item)
{
	struct tree *t = arena_type(a, struct tree);
	const struct tree **items = arena_n(a, 1, const struct tree *);

	items[0] = item;
	*t = (struct tree){.kind = TREE_LIST, .line = item->line, .col = item->col, .n = 1};
	t->items = items;
	return t;
}

/* Its own spec if it has one, else one container that asks for the requests. */
static const struct tree *spec_tree(struct arena *a, const struct tree *w)
{
	struct scenario_draft resources = {0}, container = {0}, spec = {0};

	if (tree_get(w, "spec"))
		return tree_get(w, "spec");
	put(&resources, "requests", tree_get(w, "requests"));
	put(&container, "name", text_tree(a, "main", w));
	put(&container, "resources", map_tree(a, &resources, w));
	put(&spec, "containers", list_of_one(a, map_tree(a, &container, w)));
	put(&spec, "priority", tree_get(w, "priority"));
	put(&spec, "priorityClassName", tree_get(w, "priorityClass"));
	return map_tree(a, &spec, w);
}

static const struct tree *pod_tree(struct arena *a, const struct tree *w, const char *name, const char *ns)
{
	struct scenario_draft metadata = {0}, pod = {0};

	put(&metadata, "name", text_tree(a, name, w));
	put(&metadata, "namespace", text_tree(a, ns, w));
	put(&metadata, "labels", tree_get(w, "labels"));
	put(&metadata, "annotations", tree_get(w, "annotations"));
	put(&pod, "metadata", map_tree(a, &metadata, w));
	put(&pod, "spec", spec_tree(a, w));
	return map_tree(a, &pod, w);
}

static enum err_code read_template(const struct scenario *s, const struct reader *r, const struct at *at,
				   struct scenario_workload *w, struct err *e)
{
	const char *ns = "default", *queue = NULL;
	struct object_source src = {.name = s->path};
	struct at priority = at_field(at, "priority");

	TRY(get_text(r, at, "namespace", &ns, e));
	TRY(get_text(r, at, "queue", &queue, e));
	if (priority.t && tree_get(at->t, "spec"))
		return at_expected(r, &priority, e, "the priority in the spec, since there is one");
	TRY(manifest_pod(r->vocab, &src, pod_tree(s->arena, at->t, w->name, ns), &w->template, e));
	w->has_template = true;
	names_drop(r->names, w->template.name);
	w->template.name = NAME_NONE;
	/* a path of queues.yaml, or the name of a queue of either kind */
	if (queue && str_starts(queue, "root."))
		w->template.yunikorn_queue = names_hold_str(r->names, queue);
	else if (queue)
		w->template.kai_queue = names_hold_str(r->names, queue);
	return ERR_OK;
}

/* ---- numbers ---- */

static enum err_code read_distribution(const struct reader *r, const struct at *up, const char *key,
				       struct distribution *ret, bool *ret_has, struct err *e)
{
	struct at at = at_field(up, key);
	const char *text = NULL;
	struct err why = {0};

	TRY(get_text(r, up, key, &text, e));
	*ret_has = text != NULL;
	return text && distribution_parse(text, ret, &why) ? at_fail(r, &at, e, "%s", why.msg) : ERR_OK;
}

static enum err_code read_duration(const struct reader *r, const struct at *up, const char *key, int64_t *ret,
				   struct err *e)
{
	struct at at = at_field(up, key);
	const char *text = NULL;

	TRY(get_text(r, up, key, &text, e));
	if (text && (duration_parse(text, strlen(text), true, ret, NULL) || *ret < 0))
		return at_expected(r, &at, e, "a duration such as 30m");
	return ERR_OK;
}

static enum err_code read_when(const struct reader *r, const struct at *up, const char *key, int64_t from_ns,
			       int64_t *ret, struct err *e)
{
	struct at at = at_field(up, key);
	const char *text = NULL;
	struct err why = {0};

	TRY(get_text(r, up, key, &text, e));
	return text && when_parse(text, from_ns, ret, &why) ? at_fail(r, &at, e, "%s", why.msg) : ERR_OK;
}

static enum err_code read_runs(const struct reader *r, const struct at *at, struct scenario_workload *w, struct err *e)
{
	struct at runs = at_field(at, "runs");
	bool has_runs;

	w->is_endless = !runs.t || (runs.t->kind == TREE_STRING && str_eq(runs.t->text, "forever"));
	if (!w->is_endless)
		TRY(read_distribution(r, at, "runs", &w->runs, &has_runs, e));
	TRY(read_duration(r, at, "checkpoints", &w->checkpoint_ns, e));
	w->grace_ns = SIM_GRACE_NS;
	TRY(read_duration(r, at, "grace", &w->grace_ns, e));
	w->lingers_ns = w->grace_ns;
	return read_duration(r, at, "goes", &w->lingers_ns, e);
}

static enum err_code read_arrivals(const struct reader *r, const struct at *at, int64_t from_ns, bool has_end,
				   struct scenario_workload *w, struct err *e)
{
	struct at every = at_field(at, "every");
	int64_t count = 0;

	w->first_ns = from_ns;
	w->until_ns = TIME_LAST;
	TRY(read_when(r, at, "at", from_ns, &w->first_ns, e));
	TRY(read_when(r, at, "until", from_ns, &w->until_ns, e));
	TRY(get_int(r, at, "count", 1, 100000000, &count, e));
	TRY(read_distribution(r, at, "every", &w->every, &w->has_gaps, e));
	if (w->has_gaps && !count && w->until_ns == TIME_LAST && !has_end)
		return at_expected(r, &every, e, "an end: count or until here, or until for the scenario");
	if (w->has_gaps && !count && distribution_is_zero(&w->every))
		return at_expected(r, &every, e, "a time above zero, or a count: else there is no end of them at once");
	w->n_jobs = count ? count : w->has_gaps ? INT64_MAX : 1;
	return ERR_OK;
}

static enum err_code read_size(const struct reader *r, const struct at *at, struct scenario_workload *w, struct err *e)
{
	struct at together = at_field(at, "together"), controller = at_field(at, "controller");
	const char *word = NULL;
	int known;

	w->n_pods = 1;
	TRY(get_int(r, at, "pods", 1, 100000, &w->n_pods, e));
	TRY(get_int(r, at, "together", 0, 100000, &w->together, e));
	if (w->together > w->n_pods)
		return at_expected(r, &together, e, "no more than it has pods");
	w->controller = w->together ? SIM_OPERATOR : SIM_JOB;
	TRY(get_text(r, at, "controller", &word, e));
	known = word ? words_find(sim_controller_words, word) : 0;
	if (known < 0)
		return at_expected(r, &controller, e, "bare, job, replicas, stateful or operator");
	if (word)
		w->controller = (enum sim_controller)known;
	return ERR_OK;
}

static enum err_code read_workload(const struct scenario *s, const struct reader *r, const struct at *at,
				   int64_t from_ns, struct scenario_workload *w, struct err *e)
{
	struct at name = at_field(at, "name");

	TRY(at_want(r, at, TREE_MAP, e));
	TRY(at_only(r, at, workload_fields, e));
	TRY(get_text(r, at, "name", &w->name, e));
	if (!w->name)
		return at_expected(r, &name, e, "a name");
	w->line = at->t->line;
	w->col = at->t->col;
	TRY(read_size(r, at, w, e));
	TRY(read_arrivals(r, at, from_ns, s->until != NULL, w, e));
	TRY(read_runs(r, at, w, e));
	return read_template(s, r, at, w, e);
}

/* ---- one after the other ---- */

static void set_next(struct scenario_workload *w)
{
	int64_t gap = w->n_made && w->has_gaps ? distribution_draw(&w->every, &w->gaps) : 0;

	w->next_ns = w->n_made ? time_add(w->next_ns, gap) : w->first_ns;
	if (w->n_made >= w->n_jobs || w->next_ns > w->until_ns)
		w->next_ns = TIME_NONE;
}

static struct scenario_workload *earliest(struct load_state *l)
{
	struct scenario_workload *first = NULL;

	for (uint32_t i = 0; i < l->v.n; i++)
		if (l->v.v[i].next_ns != TIME_NONE && (!first || l->v.v[i].next_ns < first->next_ns))
			first = &l->v.v[i];
	return first;
}

static enum err_code next_job(void *ctx, struct sim_job *ret, bool *ret_has, struct err *e)
{
	struct load_state *l = ctx;
	struct scenario_workload *w = earliest(l);
	int64_t runs;

	(void)e;
	*ret_has = w != NULL;
	if (!w)
		return ERR_OK;
	runs = w->is_endless ? SIM_ENDLESS : distribution_draw(&w->runs, &w->lengths);
	text_reset(&l->where);
	text_printf(&l->where, "%s:%u:%u", l->path, w->line, w->col);
	text_reset(&l->name);
	text_add(&l->name, w->name);
	if (w->n_jobs > 1)
		text_printf(&l->name, "-%" PRId64, w->n_made + 1);
	*ret = (struct sim_job){.arrives_ns = w->next_ns,
				.name = text_str(&l->name),
				.template = &w->template,
				.n_pods = (uint32_t)w->n_pods,
				.min_member = (int32_t)w->together,
				.run_ns = runs > 0 ? runs : 1,
				.checkpoint_ns = w->checkpoint_ns,
				.grace_ns = w->grace_ns,
				.lingers_ns = w->lingers_ns,
				.controller = w->controller,
				.where = text_str(&l->where)};
	w->n_made++;
	set_next(w);
	return ERR_OK;
}

static void free_load(void *ctx)
{
	struct load_state *l = ctx;

	for (uint32_t i = 0; i < l->v.n; i++)
		if (l->v.v[i].has_template)
			obj_pod_drop(l->vocab, &l->v.v[i].template);
	array_free(&l->v);
	text_free(&l->name);
	text_free(&l->where);
	mem_free(l);
}

enum err_code scenario_load(const struct scenario *s, struct vocab *v, uint64_t seed, int64_t from_ns,
			    struct sim_load *ret, struct err *e)
{
	struct reader r = scenario_reader(s, v);
	struct at root = at_root(s->root), list = at_field(&root, "workloads");
	struct load_state *l = mem_alloc(sizeof(*l));
	enum err_code rc = at_want(&r, &list, TREE_LIST, e);

	l->vocab = v;
	l->path = s->path;
	for (uint32_t i = 0; !rc && i < at_count(&list); i++) {
		struct at item = at_item(&list, i);
		struct scenario_workload w = {0};

		rc = read_workload(s, &r, &item, from_ns, &w, e);
		if (rc && w.has_template)
			obj_pod_drop(v, &w.template);
		if (rc)
			break;
		w.gaps = random_stream(seed, arena_printf(s->arena, "arrivals of %s", w.name));
		w.lengths = random_stream(seed, arena_printf(s->arena, "runs of %s", w.name));
		set_next(&w);
		array_push(&l->v, w);
	}
	*ret = (struct sim_load){l, next_job, free_load};
	if (rc)
		sim_load_free(ret);
	return rc;
}
