/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about KAI's minimum runtimes: which queue's counts, whom it protects, and how durations are written.
 *
 * The queues are put into a tree as they are, a queue whose parent is not there at its top: a cluster would leave it
 * out, and with it every pod that could ask.
 */
#include <stdlib.h>

#include "conform.h"
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

/* Nobody is asked about pods beyond the minimum, nor about work that has run for long enough. */
static bool may_go(const struct forest *t)
{
	const char *fn = tree_text(tree_get(t->f->t, "fn"), "");
	int64_t ran_ns = nanoseconds(tree_get(t->f->t, "started_ago_s")), min = tree_int(tree_get(t->f->t, "min"), 0),
		pods = tree_int(tree_get(t->f->t, "pods"), 0), going = tree_int(tree_get(t->f->t, "victim_tasks"), 1);

	if (ran_ns == TIME_NONE || ran_ns >= window(t, !strncmp(fn, "reclaim", strlen("reclaim"))))
		return true;
	return pods - going >= min;
}

static void compare(struct forest *t)
{
	const struct tree *seconds = tree_get(t->f->t, "expected_s"), *answer = tree_get(t->f->t, "expected");
	bool is_reclaim = str_eq(tree_text(tree_get(t->f->t, "kind"), ""), "reclaim");

	if (seconds)
		same_int(t->f, "seconds", seconds, window(t, is_reclaim) / 1000000000);
	else if (answer)
		same_bool(t->f, "may go", answer, may_go(t));
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
	if (tree_is(f->t, TREE_MAP))
		run_queues(f);
	else
		run_duration(f);
}
