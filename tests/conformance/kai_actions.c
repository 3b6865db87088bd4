/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about KAI's actions: a cluster, some rounds of the scheduler, and the state of every task after them. */
#include <stdio.h>

#include "kai_world.h"
#include "model/objects.h"
#include "world.h"

/* ---- what is not run ---- */

static const struct {
	const char *feature, *why;
} left_out[] = {
	{"fraction", "cede shares no GPU between pods"},
	{"multi_fraction", "cede shares no GPU between pods"},
	{"gpu_memory", "cede does not count memory of GPUs"},
	{"node_gpu_memory", "cede does not count memory of GPUs"},
	{"mig", "cede counts slices of GPUs as resources of their own, not as parts of GPUs in shares of queues"},
	{"dra", "cede does not read resource claims"},
	{"topology", "cede does not read topologies of groups"},
};

static const char *why_not(const struct fact *f)
{
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		if (tree_has(tree_get(f->t, "features"), left_out[i].feature))
			return left_out[i].why;
	if (tree_truth(tree_path(f->t, "run.fail_all_binds")))
		return "a plan has no bindings that could fail";
	return NULL;
}

/* ---- comparing ---- */

static const char *words(struct fact *f, const char *status, const char *node)
{
	return *node ? arena_printf(f->arena, "%s on %s", status, node) : status;
}

/* A node counts where it is expected. */
static void compare_task(struct kai_world *w, const struct kai_task *t, const struct tree *expected)
{
	const char *status = tree_text(tree_get(expected, "status"), ""),
		   *node = tree_text(tree_get(expected, "node"), "");
	int64_t older_ms = tree_int(tree_get(expected, "last_start_older_than_ms"), -1);

	if (!str_eq(t->status, status) || (*node && !str_eq(t->node, node)))
		fact_differs(w->f, t->id, words(w->f, status, node), words(w->f, t->status, t->node));
	if (older_ms >= 0 && (t->started_ns == TIME_NONE || world_now_ns - t->started_ns < older_ms * NS_IN_MS))
		fact_differs(w->f, t->id, "an earlier start", "a later one");
}

static void compare_tasks(struct kai_world *w)
{
	const struct tree *jobs = tree_path(w->f->t, "expected.jobs"), *tasks = tree_path(w->f->t, "expected.tasks"),
			  *nodes = tree_path(w->f->t, "expected.nodes");

	if (nodes && nodes->n)
		fact_differs(w->f, "expected", "something that is compared", "nodes");
	for (uint32_t i = 0; i < w->n; i++) {
		const struct kai_task *t = &w->tasks[i];
		const struct tree *job = tree_get(jobs, tree_text(tree_get(t->job, "name"), "")),
				  *task = tree_get(tasks, t->id);

		if (job)
			compare_task(w, t, job);
		if (task)
			compare_task(w, t, task);
	}
}

static void at_most(struct fact *f, const char *what, uint32_t got)
{
	int64_t most = tree_int(tree_get(tree_get(f->t, "limits_per_round"), what), -1);

	if (got > most)
		fact_differs(f, what, arena_printf(f->arena, "at most %lld", (long long)most),
			     arena_printf(f->arena, "%u", got));
}

static void compare_limits(struct kai_world *w)
{
	at_most(w->f, "max_binds", w->binds);
	at_most(w->f, "max_evictions", w->evictions);
	at_most(w->f, "max_pipelines", w->pipelines);
}

/* ---- rounds ---- */

/* A round of the whole, after which things are as they will be when everybody who leaves is gone. */
static bool settled_round(struct kai_world *w)
{
	if (!kai_world_round(w))
		return false;
	compare_limits(w);
	kai_world_settle(w);
	return !w->f->diff.n;
}

/* What was reached must last: the rounds after it change nothing. */
static void run_rounds(struct kai_world *w)
{
	const struct tree *run = tree_get(w->f->t, "run");
	int64_t until = tree_int(tree_get(run, "rounds_until_match"), 1),
		after = tree_int(tree_get(run, "rounds_after_match"), 0);

	for (int64_t i = 0; i < until; i++)
		if (!settled_round(w))
			return;
	compare_tasks(w);
	for (int64_t i = 0; i < after && !w->f->diff.n; i++) {
		if (!kai_world_round(w))
			return;
		compare_limits(w);
		compare_tasks(w);
		kai_world_settle(w);
	}
}

void run_kai_actions(struct fact *f)
{
	struct kai_world w;

	if (why_not(f)) {
		fact_skip(f, why_not(f));
		return;
	}
	kai_world_init(&w, f);
	if (!str_eq(tree_text(tree_path(f->t, "run.mode"), ""), "single-action")) {
		run_rounds(&w);
	} else if (kai_world_round(&w)) {
		compare_limits(&w);
		compare_tasks(&w);
	}
}
