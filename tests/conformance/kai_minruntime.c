/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about KAI's minimum runtimes: which queue's counts, whom it protects, and how durations are written.
 *
 * What protects whom is seen in what the engine does. To find out which queue counts, the queues are put into a tree as
 * they are, a queue whose parent is not there at its top: a cluster would leave it out, and with it every pod that
 * could ask.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "conform.h"
#include "kai_world.h"
#include "manifest/manifest.h"
#include "rules/min_runtime.h"

struct forest {
	struct fact *f;
	struct names *names;
	struct queue_tree tree;
};

static int64_t nanoseconds(const struct tree *seconds)
{
	const char *text = tree_text(seconds, NULL);

	return text ? (int64_t)(strtod(text, NULL) * 1e9) : TIME_NONE;
}

static queue_id find(const struct forest *t, const char *name)
{
	name_id id = names_find(t->names, name, strlen(name));

	return id == NAME_NONE ? QUEUE_NONE : queue_tree_find_kai(&t->tree, id);
}

static void add(struct forest *t, const char *name, const struct tree *q, queue_id parent)
{
	struct queue_spec spec;
	struct err e;
	queue_id id;

	queue_spec_init(&spec, t->names);
	spec.sources = FROM_KAI;
	spec.kai_name = name_bag_add_str(&spec.bag, name);
	spec.preempt_min_runtime_ns = nanoseconds(tree_get(q, "preempt"));
	spec.reclaim_min_runtime_ns = nanoseconds(tree_get(q, "reclaim"));
	if (!queue_tree_add(&t->tree, parent, name, strlen(name), &spec, &id, &e))
		return;
	fact_differs(t->f, "queue", name, e.msg);
	queue_spec_free(&spec);
}

/* Parents first, however they are listed. */
static void add_all(struct forest *t, const struct tree *map)
{
	bool has_grown = true;

	while (has_grown && map) {
		has_grown = false;
		for (uint32_t i = 0; i < map->n && !t->f->diff.n; i++) {
			const char *parent = tree_text(tree_get(map->fields[i].value, "parent"), "");
			queue_id above = tree_get(map, parent) ? find(t, parent) : QUEUE_ROOT;

			if (above == QUEUE_NONE || find(t, map->fields[i].key) != QUEUE_NONE)
				continue;
			add(t, map->fields[i].key, map->fields[i].value, above);
			has_grown = true;
		}
	}
}

static bool is_in(const struct tree *list, const struct tree *t)
{
	for (uint32_t i = 0; i < tree_count(list); i++)
		if (list->items[i] == t)
			return true;
	return false;
}

/* The section of the file that the fact belongs to, if it has queues of its own. */
static const struct tree *queues_of(const struct fact *f)
{
	static const char *const sections[] = {"seed_example_reclaim", "seed_example_preempt"};

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		const struct tree *section = tree_get(f->root, sections[i]);

		if (is_in(tree_get(section, "cases"), f->t))
			return tree_get(section, "queues");
	}
	return tree_get(f->root, "queues");
}

static struct min_runtime_settings settings_of(const struct fact *f)
{
	bool is_protection = tree_get(f->t, "fn");
	const struct tree *defaults =
		tree_get(f->root, is_protection ? "defaults_for_protection_cases_s" : "defaults_for_resolver_cases_s");
	bool is_by_queue = str_eq(tree_text(tree_get(f->t, "method"), "lca"), "queue");

	return (struct min_runtime_settings){.preempt_ns = nanoseconds(tree_get(defaults, "preempt")),
					     .reclaim_ns = nanoseconds(tree_get(defaults, "reclaim")),
					     .resolve = is_by_queue ? RESOLVE_QUEUE : RESOLVE_LCA};
}

static int64_t window(const struct forest *t, bool is_reclaim)
{
	struct min_runtime_settings s = settings_of(t->f);
	queue_id victim = find(t, tree_text(tree_get(t->f->t, "victim"), ""));

	if (!is_reclaim)
		return min_runtime_preempt(&t->tree, &s, victim).ns;
	return min_runtime_reclaim(&t->tree, &s, find(t, tree_text(tree_get(t->f->t, "preemptor"), "")), victim).ns;
}

static void compare(struct forest *t)
{
	const struct tree *seconds = tree_get(t->f->t, "expected_s");
	bool is_reclaim = str_eq(tree_text(tree_get(t->f->t, "kind"), ""), "reclaim");

	if (seconds)
		same_int(t->f, "seconds", seconds, window(t, is_reclaim) / 1000000000);
	else
		fact_differs(t->f, "expected", "something", "nothing");
}

static void run_queues(struct fact *f)
{
	struct forest t = {.f = f, .names = names_new()};

	queue_tree_init(&t.tree, t.names);
	add_all(&t, queues_of(f));
	add_all(&t, tree_get(f->t, "extra_queues"));
	if (!f->diff.n)
		compare(&t);
	queue_tree_free(&t.tree);
	names_free(t.names);
}

/* ---- protection ---- */

/* Everybody on the way to who asks deserves all there is, nobody else anything. */
static bool is_on_way(const struct tree *queues, const char *name, const char *asking)
{
	for (; *asking; asking = tree_text(tree_get(tree_get(queues, asking), "parent"), ""))
		if (str_eq(name, asking))
			return true;
	return false;
}

static void add_stage_window(struct text *out, const char *key, const struct tree *seconds)
{
	if (tree_text(seconds, NULL))
		text_printf(out, ", %s: %" PRId64, key, nanoseconds(seconds) / NS_IN_MS);
}

static void add_stage_queue(struct text *out, const struct tree *queues, uint32_t i, const char *asking)
{
	static const char unlimited[] = "{quota: -1, limit: -1, over_quota_weight: 1}";
	const struct tree_field *q = &queues->fields[i];

	text_printf(out,
		    "- {name: %s, parent: '%s', priority: 100, creation_order: 0, gpu: {quota: %d, limit: -1, "
		    "over_quota_weight: 1}, cpu_milli: %s, memory_mb: %s",
		    q->key, tree_text(tree_get(q->value, "parent"), ""), is_on_way(queues, q->key, asking) ? 64 : 0,
		    unlimited, unlimited);
	add_stage_window(out, "preempt_min_runtime_ms", tree_get(q->value, "preempt"));
	add_stage_window(out, "reclaim_min_runtime_ms", tree_get(q->value, "reclaim"));
	text_add(out, "}\n");
}

static void add_stage_victims(struct text *out, const struct tree *t, const char *queue)
{
	int64_t n = tree_int(tree_get(t, "pods"), 1), started_ns = nanoseconds(tree_get(t, "started_ago_s"));

	text_printf(out,
		    "- {name: running, queue: %s, priority: 50, preemptibility: preemptible, age_minutes: 2, "
		    "sub_groups: {groups: [], pod_sets: [{name: default, min_available: %s}]}, ",
		    queue, tree_text(tree_get(t, "min"), "1"));
	if (started_ns == TIME_NONE)
		text_add(out, "last_start_ms_ago: null, tasks: [");
	else
		text_printf(out, "last_start_ms_ago: %" PRId64 ", tasks: [", started_ns / NS_IN_MS);
	for (int64_t i = 0; i < n; i++)
		text_printf(out,
			    "%s{id: running-%" PRId64
			    ", state: Running, node: n, gpus: 1, cpu_milli: 1000, memory_bytes: 1000}",
			    i ? ", " : "", i);
	text_add(out, "]}\n");
}

static void add_stage_asking(struct text *out, const char *queue, const char *gpus)
{
	text_printf(
		out,
		"- {name: asking, queue: %s, priority: 60, preemptibility: preemptible, age_minutes: 1, "
		"sub_groups: {groups: [], pod_sets: [{name: default, min_available: 1}]}, "
		"tasks: [{id: asking-0, state: Pending, node: '', gpus: %s, cpu_milli: 1000, memory_bytes: 1000}]}\n",
		queue, gpus);
}

/*
 * A full node, with a group of the victim's queue on it, and somebody who needs the room of as many pods as the fact
 * takes: from another queue, which has a quota for it; or, who asks being of no account, more important from within.
 */
static const struct tree *stage(struct fact *f, bool is_reclaim)
{
	const struct tree *queues = tree_get(f->root, "queues"), *made;
	const char *victim = tree_text(tree_get(f->t, "victim"), ""),
		   *asking = is_reclaim ? tree_text(tree_get(f->t, "preemptor"), "") : victim;
	struct text out = {0};

	text_printf(&out,
		    "run: {actions: [%s], predicates_plugin: true}\n"
		    "nodes: [{name: n, gpus: %s, cpu_milli: 64000, memory_bytes: 64000000000, max_pods: 110}]\n"
		    "queues:\n",
		    is_reclaim ? "reclaim" : "preempt", tree_text(tree_get(f->t, "pods"), "1"));
	for (uint32_t i = 0; i < queues->n; i++)
		add_stage_queue(&out, queues, i, asking);
	text_add(&out, "jobs:\n");
	add_stage_asking(&out, asking, tree_text(tree_get(f->t, "victim_tasks"), "1"));
	add_stage_victims(&out, f->t, victim);
	made = tree_of(f, text_str(&out));
	text_free(&out);
	return made;
}

static void run_protection(struct fact *f)
{
	bool is_reclaim = str_starts(tree_text(tree_get(f->t, "fn"), ""), "reclaim");
	struct fact inner = *f;
	struct kai_world w;

	inner.t = stage(f, is_reclaim);
	kai_world_init(&w, &inner);
	w.min_runtime = settings_of(f);
	if (kai_world_round(&w))
		same_bool(&inner, "may go", tree_get(f->t, "expected"), str_eq(w.tasks[0].status, "Pipelined"));
	f->diff = inner.diff;
}

/* ---- durations ---- */

/* As an argument of the plugin. */
static int64_t argument(struct fact *f, const char *text)
{
	const char *yaml = arena_printf(f->arena,
					"actions: reclaim\n"
					"tiers:\n"
					"- plugins:\n"
					"  - name: minruntime\n"
					"    arguments: {defaultPreemptMinRuntime: \"%s\"}\n",
					text);
	struct object_source src = {.name = "arguments"};
	struct engine_config *c = engine_config_new();
	const struct tree *t = tree_of(f, yaml);
	int64_t ns = -1;
	struct err e;

	if (t && manifest_kai_config(&src, t, c, &e))
		fact_differs(f, "arguments", "read", e.msg);
	else if (t)
		ns = c->min_runtime.preempt_ns;
	engine_config_free(c);
	return ns;
}

static void run_duration(struct fact *f)
{
	bool is_valid = is_in(tree_path(f->root, "argument_durations.valid_nonzero"), f->t);
	int64_t ns = argument(f, tree_text(f->t, ""));

	if (is_valid ? ns <= 0 : ns != 0)
		fact_differs(f, tree_text(f->t, ""), is_valid ? "a duration" : "0s", ns > 0 ? "a duration" : "0s");
}

void run_kai_minruntime(struct fact *f)
{
	if (!tree_is(f->t, TREE_MAP))
		run_duration(f);
	else if (tree_get(f->t, "fn"))
		run_protection(f);
	else
		run_queues(f);
}
