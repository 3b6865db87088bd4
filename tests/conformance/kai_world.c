/* SPDX-License-Identifier: Apache-2.0 */
#include "kai_world.h"

#include <inttypes.h>

#include "engine/engine.h"
#include "manifest/manifest.h"
#include "units/timestamp.h"
#include "world.h"

static const char ns[] = "team";

void kai_world_init(struct kai_world *w, struct fact *f)
{
	const struct tree *jobs = tree_get(f->t, "jobs");
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree_count(jobs); i++)
		n += tree_count(tree_get(jobs->items[i], "tasks"));
	*w = (struct kai_world){.f = f, .tasks = arena_n(f->arena, n + 1, struct kai_task)};
	for (uint32_t i = 0; i < tree_count(jobs); i++) {
		const struct tree *tasks = tree_get(jobs->items[i], "tasks");

		for (uint32_t k = 0; k < tree_count(tasks); k++)
			w->tasks[w->n++] =
				(struct kai_task){.id = tree_text(tree_get(tasks->items[k], "id"), ""),
						  .t = tasks->items[k],
						  .job = jobs->items[i],
						  .status = tree_text(tree_get(tasks->items[k], "state"), ""),
						  .node = tree_text(tree_get(tasks->items[k], "node"), ""),
						  .started_ns = TIME_NONE};
	}
}

/* ---- objects, as text ---- */

static const char *word(const struct tree *t, const char *key)
{
	return tree_text(tree_get(t, key), "");
}

static bool is_zero(const struct tree *t, const char *key)
{
	return tree_int(tree_get(t, key), 0) == 0;
}

static void add_time(struct text *out, const char *key, int64_t ago_ns)
{
	text_printf(out, "\"%s\": \"", key);
	timestamp_text(world_now_ns - ago_ns, out);
	text_add(out, "\"");
}

/* ", "key": "value"" for each */
static void add_pairs(struct text *out, const struct tree *map)
{
	for (uint32_t i = 0; tree_is(map, TREE_MAP) && i < map->n; i++)
		text_printf(out, ", \"%s\": \"%s\"", map->fields[i].key, tree_text(map->fields[i].value, ""));
}

static void add_amounts(struct text *out, const struct tree *t)
{
	text_printf(out, "\"cpu\": \"%sm\", \"memory\": \"%s\"", word(t, "cpu_milli"), word(t, "memory_bytes"));
	if (!is_zero(t, "gpus"))
		text_printf(out, ", \"nvidia.com/gpu\": \"%s\"", word(t, "gpus"));
}

static void add_node(struct text *out, const struct tree *n)
{
	text_printf(out,
		    "{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"%s\", \"uid\": \"%s\", "
		    "\"labels\": {\"kubernetes.io/hostname\": \"%s\"",
		    word(n, "name"), word(n, "name"), word(n, "name"));
	add_pairs(out, tree_get(n, "labels"));
	text_add(out, "}}, \"status\": {\"allocatable\": {");
	add_amounts(out, n);
	text_printf(out, ", \"pods\": \"%s\"}, \"conditions\": [{\"type\": \"Ready\", \"status\": \"True\"}]}}",
		    word(n, "max_pods"));
}

static void add_share(struct text *out, const char *name, const struct tree *s)
{
	text_printf(out, "\"%s\": {\"quota\": %s, \"limit\": %s, \"overQuotaWeight\": %s}", name, word(s, "quota"),
		    word(s, "limit"), word(s, "over_quota_weight"));
}

static void add_window(struct text *out, const char *key, const struct tree *ms)
{
	if (tree_text(ms, NULL))
		text_printf(out, ", \"%s\": \"%sms\"", key, tree_text(ms, ""));
}

static void add_queue(struct text *out, const struct tree *q)
{
	text_printf(out,
		    "{\"apiVersion\": \"scheduling.run.ai/v2\", \"kind\": \"Queue\", \"metadata\": {\"name\": \"%s\", "
		    "\"uid\": \"%s\", ",
		    word(q, "name"), word(q, "name"));
	add_time(out, "creationTimestamp",
		 (INT64_C(7) * 24 * 60 - tree_int(tree_get(q, "creation_order"), 0)) * 60 * NS_PER_S);
	text_printf(out, "}, \"spec\": {\"priority\": %s, \"parentQueue\": \"%s\", \"resources\": {",
		    word(q, "priority"), word(q, "parent"));
	add_share(out, "gpu", tree_get(q, "gpu"));
	text_add(out, ", ");
	add_share(out, "cpu", tree_get(q, "cpu_milli"));
	text_add(out, ", ");
	add_share(out, "memory", tree_get(q, "memory_mb"));
	text_add(out, "}");
	add_window(out, "preemptMinRuntime", tree_get(q, "preempt_min_runtime_ms"));
	add_window(out, "reclaimMinRuntime", tree_get(q, "reclaim_min_runtime_ms"));
	text_add(out, "}}");
}

static void add_class(struct text *out, const struct tree *job)
{
	text_printf(out,
		    "{\"apiVersion\": \"scheduling.k8s.io/v1\", \"kind\": \"PriorityClass\", \"metadata\": "
		    "{\"name\": \"prio-%s\"}, \"value\": %s}",
		    word(job, "priority"), word(job, "priority"));
}

static void add_subgroup(struct text *out, const char *name, const char *min, const char *parent)
{
	text_printf(out, "%s{\"name\": \"%s\", \"minMember\": %s, \"parent\": \"%s\"}",
		    out->s[out->n - 1] == '[' ? "" : ", ", name, min, parent);
}

/* Groups hold groups and sets of pods. Returns how many pods all of them need. */
static int64_t add_subgroups(struct text *out, const struct tree *g, const char *parent)
{
	const struct tree *groups = tree_get(g, "groups"), *sets = tree_get(g, "pod_sets");
	int64_t sum = 0;

	for (uint32_t i = 0; i < tree_count(groups); i++) {
		add_subgroup(out, word(groups->items[i], "name"), "1", parent);
		sum += add_subgroups(out, groups->items[i], word(groups->items[i], "name"));
	}
	for (uint32_t i = 0; i < tree_count(sets); i++) {
		add_subgroup(out, word(sets->items[i], "name"), word(sets->items[i], "min_available"), parent);
		sum += tree_int(tree_get(sets->items[i], "min_available"), 1);
	}
	return sum;
}

/* One set of pods that has no name of its own. */
static bool is_plain(const struct tree *g)
{
	const struct tree *sets = tree_get(g, "pod_sets");

	return !tree_count(tree_get(g, "groups")) && tree_count(sets) == 1 &&
	       str_eq(word(sets->items[0], "name"), "default");
}

static void add_members(struct text *out, const struct tree *job)
{
	const struct tree *g = tree_get(job, "sub_groups");
	int64_t sum;

	if (is_plain(g)) {
		text_printf(out, "\"minMember\": %s", word(tree_get(g, "pod_sets")->items[0], "min_available"));
		return;
	}
	text_add(out, "\"subGroups\": [");
	sum = add_subgroups(out, g, "");
	text_printf(out, "], \"minMember\": %" PRId64, sum);
}

static bool is_running(const struct kai_task *t)
{
	return str_eq(t->status, "Running") || str_eq(t->status, "Binding");
}

/* A minute ago if anything of it runs and the fact says nothing else; negative: never. */
static int64_t started_ms_ago(const struct kai_world *w, const struct tree *job)
{
	const struct tree *told = tree_get(job, "last_start_ms_ago");

	if (told)
		return tree_int(told, -1);
	for (uint32_t i = 0; i < w->n; i++)
		if (w->tasks[i].job == job && is_running(&w->tasks[i]))
			return 60000;
	return -1;
}

static void add_annotations(const struct kai_world *w, struct text *out, const struct tree *job)
{
	int64_t stale_ms = tree_int(tree_get(job, "stale_for_ms"), -1), started_ms = started_ms_ago(w, job);

	text_add(out, ", \"annotations\": {\"fact\": \"\"");
	if (started_ms >= 0) {
		text_add(out, ", ");
		add_time(out, "kai.scheduler/last-start-timestamp", started_ms * NS_IN_MS);
	}
	if (stale_ms >= 0) {
		text_add(out, ", ");
		add_time(out, "kai.scheduler/stale-podgroup-timestamp", stale_ms * NS_IN_MS);
	}
	text_add(out, "}");
}

static int64_t age_ns(const struct tree *job)
{
	return tree_int(tree_get(job, "age_minutes"), 0) * 60 * NS_PER_S;
}

static void add_group(const struct kai_world *w, struct text *out, const struct tree *job)
{
	text_printf(out,
		    "{\"apiVersion\": \"scheduling.run.ai/v2alpha2\", \"kind\": \"PodGroup\", \"metadata\": {\"name\": "
		    "\"%s\", \"namespace\": \"%s\", \"uid\": \"%s\", ",
		    word(job, "name"), ns, word(job, "name"));
	add_time(out, "creationTimestamp", age_ns(job));
	add_annotations(w, out, job);
	text_printf(out,
		    "}, \"spec\": {\"queue\": \"%s\", \"priorityClassName\": \"prio-%s\", \"preemptibility\": \"%s\", ",
		    word(job, "queue"), word(job, "priority"), word(job, "preemptibility"));
	add_members(out, job);
	text_add(out, "}}");
}

/* ---- pods ---- */

static void add_labels(struct text *out, const struct kai_task *t)
{
	text_printf(out, "\"labels\": {\"kai.scheduler/queue\": \"%s\"", word(t->job, "queue"));
	if (tree_get(t->t, "subgroup"))
		text_printf(out, ", \"kai.scheduler/subgroup-name\": \"%s\"", word(t->t, "subgroup"));
	if (tree_get(t->t, "task_order_priority"))
		text_printf(out, ", \"kai.scheduler/task-priority\": \"%s\"", word(t->t, "task_order_priority"));
	add_pairs(out, tree_get(t->t, "pod_labels"));
	text_add(out, "}");
}

/* To be near, or away from, pods with the same labels. */
static void add_relation(struct text *out, const char *kind, const struct kai_task *t, const char *key)
{
	const struct tree *labels = tree_get(t->t, "pod_labels");

	if (!tree_text(tree_get(t->t, key), NULL) || !labels)
		return;
	text_printf(out,
		    ", \"%s\": {\"requiredDuringSchedulingIgnoredDuringExecution\": [{\"topologyKey\": \"%s\", "
		    "\"labelSelector\": {\"matchLabels\": {",
		    kind, word(t->t, key));
	for (uint32_t i = 0; i < labels->n; i++)
		text_printf(out, "%s\"%s\": \"%s\"", i ? ", " : "", labels->fields[i].key,
			    tree_text(labels->fields[i].value, ""));
	text_add(out, "}}}]}");
}

static void add_affinity(struct text *out, const struct kai_task *t)
{
	const struct tree *nodes = tree_get(t->t, "required_nodes");

	text_add(out, "\"affinity\": {\"nodeAffinity\": {");
	if (tree_count(nodes))
		text_add(out, "\"requiredDuringSchedulingIgnoredDuringExecution\": {\"nodeSelectorTerms\": "
			      "[{\"matchExpressions\": [{\"key\": \"kai.scheduler/type\", \"operator\": \"In\", "
			      "\"values\": [");
	for (uint32_t i = 0; i < tree_count(nodes); i++)
		text_printf(out, "%s\"%s\"", i ? ", " : "", tree_text(nodes->items[i], ""));
	text_add(out, tree_count(nodes) ? "]}]}]}}" : "}");
	add_relation(out, "podAffinity", t, "pod_affinity_key");
	add_relation(out, "podAntiAffinity", t, "pod_anti_affinity_key");
	text_add(out, "}");
}

/* Facts may know a node of a task that only waits: it means nothing. */
static void add_state(struct text *out, const struct kai_task *t)
{
	bool is_on_node = is_running(t) || str_eq(t->status, "Releasing"),
	     is_over = str_eq(t->status, "Failed") || str_eq(t->status, "Succeeded");

	if (is_on_node || (is_over && *t->node))
		text_printf(out, ", \"nodeName\": \"%s\"", t->node);
	text_printf(out, "}, \"status\": {\"phase\": \"%s\"", is_on_node ? "Running" : is_over ? t->status : "Pending");
	if (is_on_node) {
		text_add(out, ", ");
		add_time(out, "startTime", 60 * NS_PER_S);
	}
	if (str_eq(t->status, "Pipelined"))
		text_printf(out, ", \"nominatedNodeName\": \"%s\"", t->node);
	text_add(out, "}}");
}

static void add_pod(struct text *out, const struct kai_task *t)
{
	text_printf(
		out,
		"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"%s\", \"namespace\": \"%s\", "
		"\"uid\": \"%s\", \"annotations\": {\"pod-group-name\": \"%s\"}, ",
		t->id, ns, t->id, word(t->job, "name"));
	add_time(out, "creationTimestamp", age_ns(t->job));
	if (str_eq(t->status, "Releasing")) {
		text_add(out, ", ");
		add_time(out, "deletionTimestamp", 5 * NS_PER_S);
	}
	text_add(out, ", ");
	add_labels(out, t);
	text_printf(out,
		    "}, \"spec\": {\"schedulerName\": \"kai-scheduler\", \"priorityClassName\": \"prio-%s\", "
		    "\"priority\": %s, ",
		    word(t->job, "priority"), word(t->job, "priority"));
	add_affinity(out, t);
	text_add(out, ", \"containers\": [{\"name\": \"main\", \"image\": \"none\", \"resources\": {\"requests\": {");
	add_amounts(out, t->t);
	text_add(out, "}}}]");
	add_state(out, t);
}

/* ---- the whole ---- */

static bool is_first_of_priority(const struct tree *jobs, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (str_eq(word(jobs->items[k], "priority"), word(jobs->items[i], "priority")))
			return false;
	return true;
}

/* Objects are parted by commas. */
static struct text *next(struct text *out)
{
	text_add(out, out->n ? ",\n" : "");
	return out;
}

static void add_objects(const struct kai_world *w, struct text *out)
{
	const struct tree *nodes = tree_get(w->f->t, "nodes"), *queues = tree_get(w->f->t, "queues"),
			  *jobs = tree_get(w->f->t, "jobs");

	for (uint32_t i = 0; i < tree_count(nodes); i++)
		add_node(next(out), nodes->items[i]);
	for (uint32_t i = 0; i < tree_count(queues); i++)
		add_queue(next(out), queues->items[i]);
	for (uint32_t i = 0; i < tree_count(jobs); i++) {
		if (is_first_of_priority(jobs, i))
			add_class(next(out), jobs->items[i]);
		add_group(w, next(out), jobs->items[i]);
	}
	for (uint32_t i = 0; i < w->n; i++)
		add_pod(next(out), &w->tasks[i]);
}

static bool fail(struct kai_world *w, const char *what, const struct err *e)
{
	fact_differs(w->f, what, "something cede can use", e->msg);
	return false;
}

static bool build(struct kai_world *w, struct vocab *v, const struct engine_config *config, struct cluster **ret)
{
	struct cluster_options o = engine_config_cluster_options(config, world_now_ns);
	struct manifest *m = manifest_new(v);
	struct text objects = {0}, list = {0};
	bool is_built;
	struct err e;

	add_objects(w, &objects);
	text_printf(&list, "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [%s]}", text_str(&objects));
	is_built = !manifest_read_bytes(m, w->f->id, text_str(&list), list.n, &e) && !manifest_build(m, &o, ret, &e);
	text_free(&objects);
	text_free(&list);
	manifest_free(m);
	return is_built || fail(w, "objects", &e);
}

/* ---- settings ---- */

static enum action action_named(const char *name)
{
	static const struct {
		const char *name;
		enum action action;
	} rows[KAI_ACTIONS] = {{"allocate", ACTION_ALLOCATE},
			       {"consolidation", ACTION_CONSOLIDATE},
			       {"reclaim", ACTION_RECLAIM},
			       {"preempt", ACTION_PREEMPT},
			       {"stalegangeviction", ACTION_STALE_GANG}};

	for (int i = 0; i < KAI_ACTIONS; i++)
		if (str_eq(rows[i].name, name))
			return rows[i].action;
	return ACTION_NONE;
}

static void placement(const struct fact *f, struct kai_settings *s)
{
	const struct tree *plugins = tree_path(f->t, "scheduler_conf.plugins");

	for (uint32_t i = 0; i < tree_count(plugins); i++) {
		const struct tree *arguments = tree_get(plugins->items[i], "arguments");

		if (!str_eq(word(plugins->items[i], "name"), "nodeplacement"))
			continue;
		s->gpu_spreads = str_eq(word(arguments, "gpu"), "spread");
		s->cpu_spreads = str_eq(word(arguments, "cpu"), "spread");
	}
}

static struct engine_config *settings(const struct kai_world *w)
{
	const struct tree *run = tree_get(w->f->t, "run"), *actions = tree_get(run, "actions");
	struct engine_config *c = engine_config_new();

	c->profile = PROFILE_KAI;
	c->kai.n_actions = 0;
	for (uint32_t i = 0; i < tree_count(actions) && i < KAI_ACTIONS; i++)
		c->kai.actions[c->kai.n_actions++] = action_named(tree_text(actions->items[i], ""));
	c->kai.staleness_grace_ns = tree_int(tree_get(run, "staleness_grace_ms"), 0) * NS_IN_MS;
	c->kai.max_consolidation_preemptees = -1;
	c->kai.has_no_predicates = !tree_truth(tree_get(run, "predicates_plugin"));
	c->min_runtime = w->min_runtime;
	placement(w->f, &c->kai);
	return c;
}

/* ---- what a cycle did ---- */

struct outcome_view {
	struct kai_world *w;
	const struct cluster *cluster;
	const struct ledger *ledger;
	const struct decisions *plan;
};

static const char *node_name(const struct outcome_view *v, node_id node)
{
	const char *name = name_str(vocab_names(ledger_vocab(v->ledger)), ledger_node(v->ledger, node)->name);

	return arena_strndup(v->w->f->arena, name, strlen(name));
}

/* The node the pod itself is nominated to; NODE_NONE: nowhere. */
static node_id nominated_node(const struct outcome_view *v, pod_id pod)
{
	for (uint32_t i = v->plan->v.n; i-- > 0;)
		if (v->plan->v.v[i].pod == pod && v->plan->v.v[i].outcome == OUTCOME_NOMINATED)
			return v->plan->v.v[i].node;
	return NODE_NONE;
}

static void see_leaving(const struct outcome_view *v, struct kai_task *t, pod_id pod)
{
	node_id to = nominated_node(v, pod);

	t->status = "Releasing";
	if (to == NODE_NONE)
		return;
	t->status = "Pipelined";
	t->node = node_name(v, to);
}

static void see_waiting(const struct outcome_view *v, struct kai_task *t, const struct pod *p)
{
	if (p->nomination != NOMINATION_NONE) {
		t->status = "Pipelined";
		t->node = node_name(v, p->node);
	} else if (!str_eq(t->status, "Pending")) {
		t->status = "Pending";
		t->node = "";
	}
}

static void see_task(const struct outcome_view *v, struct kai_task *t)
{
	pod_id pod = cluster_find_pod(v->cluster, ns, t->id);
	const struct pod *p = pod == POD_NONE ? NULL : ledger_pod(v->ledger, pod);

	if (!p) {
		fact_differs(v->w->f, t->id, "a pod", "none");
		return;
	}
	t->started_ns = p->group == GROUP_NONE ? TIME_NONE : ledger_group(v->ledger, p->group)->started_ns;
	if (p->state == POD_LEAVING) {
		see_leaving(v, t, pod);
	} else if (p->state == POD_WAITING) {
		see_waiting(v, t, p);
	} else if (p->state == POD_PLACED) {
		t->status = is_running(t) ? t->status : "Binding";
		t->node = node_name(v, p->node);
	}
}

/* What the decisions say. */
static void count(const struct outcome_view *v)
{
	struct kai_world *w = v->w;

	w->binds = w->pipelines = w->evictions = 0;
	for (uint32_t i = 0; i < v->plan->v.n; i++) {
		const struct decision *d = &v->plan->v.v[i];

		w->binds += d->outcome == OUTCOME_PLACED;
		w->pipelines += d->outcome == OUTCOME_NOMINATED;
		w->evictions += d->n_victims;
	}
}

static void same_count(struct fact *f, const char *what, uint32_t decided, uint32_t seen)
{
	if (decided != seen)
		fact_differs(f, what, arena_printf(f->arena, "%u by decisions", decided),
			     arena_printf(f->arena, "%u in the ledger", seen));
}

/* And what the ledger shows of it: nobody moves without a decision. */
static void count_again(const struct outcome_view *v)
{
	uint32_t binds = 0, pipelines = 0, evictions = 0;

	for (uint32_t i = 0; i < v->w->n; i++) {
		const struct kai_task *t = &v->w->tasks[i];

		binds += str_eq(t->status, "Binding");
		pipelines += str_eq(t->status, "Pipelined");
		evictions += ledger_pod(v->ledger, cluster_find_pod(v->cluster, ns, t->id))->is_evicted;
	}
	same_count(v->w->f, "placed", v->w->binds, binds);
	same_count(v->w->f, "nominated", v->w->pipelines, pipelines);
	same_count(v->w->f, "evicted", v->w->evictions, evictions);
}

static bool run(struct kai_world *w, struct cluster *c, const struct engine_config *config)
{
	struct engine_run how = {.now_ns = world_now_ns, .cycles = 1, .report = POD_NONE};
	struct decisions plan = {.arena = arena_new(1 << 16)};
	struct outcome_view v = {w, c, cluster_ledger(c), &plan};
	struct err e;
	struct engine *en = engine_new(c, config, NULL, 0, &e);
	bool is_fine = en && !engine_plan(en, &how, &plan, &e);

	if (is_fine) {
		for (uint32_t i = 0; i < w->n; i++)
			see_task(&v, &w->tasks[i]);
		count(&v);
		if (!w->f->diff.n)
			count_again(&v);
	} else {
		fail(w, "cycle", &e);
	}
	engine_free(en);
	array_free(&plan.v);
	arena_free(plan.arena);
	return is_fine;
}

bool kai_world_round(struct kai_world *w)
{
	struct vocab *v = vocab_new();
	struct engine_config *config = settings(w);
	struct cluster *c = NULL;
	bool is_fine = build(w, v, config, &c) && run(w, c, config);

	cluster_free(c);
	engine_config_free(config);
	vocab_free(v);
	return is_fine && !w->f->diff.n;
}

void kai_world_settle(struct kai_world *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct kai_task *t = &w->tasks[i];
		bool is_deleted = tree_truth(tree_get(t->job, "releasing_stays_releasing"));

		if (str_eq(t->status, "Binding"))
			t->status = "Running";
		if (str_eq(t->status, "Pipelined") || (str_eq(t->status, "Releasing") && !is_deleted)) {
			t->status = "Pending";
			t->node = "";
		}
	}
}
