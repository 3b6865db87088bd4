/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts that are small stories: pods come, the scheduler runs, pods go. One plan of the engine is one turn of the
 * scheduler's loop. Victims leave when they are chosen and are gone when the story says so, which is all that is left
 * here of who deletes whom in the background.
 */
#include "engine/engine.h"
#include "world.h"

struct story {
	struct world w;
	struct fact *f;
	struct engine *engine;
	bool is_stepwise; /* the scheduler runs when told to; otherwise after every change */
	uint32_t n_made;
	pod_id made[64]; /* pods in the order they were created */
};

static pod_id find(const struct story *s, const char *name)
{
	return cluster_find_pod(s->w.cluster, "default", name);
}

static const struct pod *named(const struct story *s, const struct tree *step, const char *what)
{
	static const struct pod nobody;
	pod_id pod = find(s, tree_text(tree_get(step, what), ""));

	return pod == POD_NONE ? &nobody : ledger_pod(s->w.ledger, pod);
}

static void turn(struct story *s)
{
	struct engine_run run = {.now_ns = world_now_ns, .cycles = 1, .report = POD_NONE};
	struct decisions decisions = {.arena = s->f->arena};
	struct err e;

	if (engine_plan(s->engine, &run, &decisions, &e))
		fact_differs(s->f, "plan", "decisions", e.msg);
	array_free(&decisions.v);
	ledger_commit(s->w.ledger);
}

static void changed(struct story *s)
{
	if (!s->is_stepwise)
		turn(s);
}

/* ---- what happens ---- */

static void create_pod(struct story *s, const struct tree *step)
{
	const struct tree *pod = tree_get(step, "createPod");
	const char *prefix = tree_text(tree_path(pod, "metadata.generateName"), NULL);
	int64_t count = tree_int(tree_get(step, "count"), 1);

	for (int64_t i = 0; i < count && s->n_made < 64; i++) {
		const char *name = prefix ? arena_printf(s->f->arena, "%s%u", prefix, s->n_made) : NULL;

		s->made[s->n_made++] = world_put_named(&s->w, pod, name);
	}
	changed(s);
}

static void create_node(struct story *s, const struct tree *step)
{
	world_put_node(&s->w, tree_get(step, "createNode"));
	changed(s);
}

static void delete_node(struct story *s, const struct tree *step)
{
	cluster_drop_node(s->w.cluster, tree_text(tree_get(step, "deleteNode"), ""));
	changed(s);
}

static void force_delete_pod(struct story *s, const struct tree *step)
{
	cluster_drop_pod(s->w.cluster, "default", tree_text(tree_get(step, "forceDeletePod"), ""));
	changed(s);
}

/* A turn tries everybody who waits, so the pod may have got its place in an earlier one. */
static void schedule_one(struct story *s, const struct tree *step)
{
	const char *expected = tree_text(tree_get(step, "expect"), "unchecked"),
		   *name = tree_text(tree_get(step, "scheduleOne"), "");
	bool is_placed;

	turn(s);
	is_placed = named(s, step, "scheduleOne")->state == POD_PLACED;
	if (!str_eq(expected, "unchecked") && str_eq(expected, "scheduled") != is_placed)
		fact_differs(s->f, name, expected, is_placed ? "scheduled" : "unschedulable");
}

/* Whoever leaves the node that the pod is nominated to is gone. */
static void complete_preemption(struct story *s, const struct tree *step)
{
	const struct pod *p = named(s, step, "completePreemption");
	const struct ledger_node *node;

	if (p->nomination == NOMINATION_NONE)
		return;
	node = ledger_node(s->w.ledger, p->node);
	for (uint32_t i = 0; i < node->pods.n;) {
		const struct pod *q = ledger_pod(s->w.ledger, node->pods.v[i]);

		if (q->state == POD_LEAVING)
			cluster_drop_pod(s->w.cluster, "default", world_pod_name(&s->w, node->pods.v[i]));
		else
			i++;
	}
}

/* A binding that was held up goes on: nothing of it is left here, as pods are where they were placed at once. */
static void resume_bind(struct story *s, const struct tree *step)
{
}

/* ---- what must be so ---- */

static void must(struct story *s, const struct tree *step, const char *what, bool holds)
{
	const struct tree *name = tree_get(step, what);

	if (!holds)
		fact_differs(s->f, what, tree_text(name, "it"), "not so");
}

static bool is_waiting_for_victims(const struct story *s, pod_id pod)
{
	const struct pod *p = pod == POD_NONE ? NULL : ledger_pod(s->w.ledger, pod);
	const struct ledger_node *node;

	if (!p || p->state != POD_WAITING || p->nomination == NOMINATION_NONE)
		return false;
	node = ledger_node(s->w.ledger, p->node);
	for (uint32_t i = 0; i < node->pods.n; i++)
		if (ledger_pod(s->w.ledger, node->pods.v[i])->is_evicted)
			return true;
	return false;
}

static void expect_gated(struct story *s, const struct tree *step)
{
	pod_id pod = find(s, tree_text(tree_get(step, "expectGated"), ""));

	must(s, step, "expectGated", is_waiting_for_victims(s, pod));
}

static void expect_preemption_running(struct story *s, const struct tree *step)
{
	int64_t i = tree_int(tree_get(step, "expectPreemptionRunning"), -1);

	must(s, step, "expectPreemptionRunning", i >= 0 && i < s->n_made && is_waiting_for_victims(s, s->made[i]));
}

static bool is_on_its_way_out(const struct story *s, const char *name)
{
	pod_id pod = find(s, name);

	return pod == POD_NONE || ledger_pod(s->w.ledger, pod)->state == POD_LEAVING;
}

static void expect_deleted(struct story *s, const struct tree *step)
{
	must(s, step, "expectDeleted", is_on_its_way_out(s, tree_text(tree_get(step, "expectDeleted"), "")));
}

static void expect_not_deleted(struct story *s, const struct tree *step)
{
	must(s, step, "expectNotDeleted", !is_on_its_way_out(s, tree_text(tree_get(step, "expectNotDeleted"), "")));
}

static void expect_scheduled(struct story *s, const struct tree *step)
{
	must(s, step, "expectScheduled", named(s, step, "expectScheduled")->state == POD_PLACED);
}

static void expect_nominated(struct story *s, const struct tree *step)
{
	must(s, step, "expectNominated", named(s, step, "expectNominated")->nomination == NOMINATION_ADVISORY);
}

static void expect_not_nominated(struct story *s, const struct tree *step)
{
	must(s, step, "expectNotNominated", named(s, step, "expectNotNominated")->nomination == NOMINATION_NONE);
}

static const struct {
	const char *name;
	void (*run)(struct story *s, const struct tree *step);
} steps[] = {
	{"createPod", create_pod},
	{"createNode", create_node},
	{"deleteNode", delete_node},
	{"forceDeletePod", force_delete_pod},
	{"scheduleOne", schedule_one},
	{"completePreemption", complete_preemption},
	{"resumeBind", resume_bind},
	{"expectGated", expect_gated},
	{"expectPreemptionRunning", expect_preemption_running},
	{"expectDeleted", expect_deleted},
	{"expectNotDeleted", expect_not_deleted},
	{"expectScheduled", expect_scheduled},
	{"expectNominated", expect_nominated},
	{"expectNotNominated", expect_not_nominated},
};

static void run_step(struct story *s, const struct tree *step)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (tree_get(step, steps[i].name)) {
			steps[i].run(s, step);
			return;
		}
	}
	fact_differs(s->f, "step", "one that is known", step->n ? step->fields[0].key : "nothing");
}

static bool has_step(const struct tree *list, const char *name)
{
	for (uint32_t i = 0; i < tree_count(list); i++)
		if (tree_get(list->items[i], name))
			return true;
	return false;
}

static void tell(struct story *s, const struct tree *list)
{
	for (uint32_t i = 0; i < tree_count(list) && !s->f->diff.n; i++)
		run_step(s, list->items[i]);
}

void run_scenario(struct fact *f)
{
	const struct tree *list = fact_arg(f, "steps");
	struct story s = {.f = f, .is_stepwise = has_step(list, "scheduleOne")};
	struct err e;

	if (has_step(list, "createNode") && has_step(list, "resumeBind")) {
		fact_skip(f, "not yet: a preemptor that stays gated for a binding which is being called off needs the "
			     "daemon");
		return;
	}
	if (world_open(&s.w, f)) {
		s.engine = engine_new(s.w.cluster, s.w.config, NULL, 0, &e);
		if (s.engine)
			tell(&s, list);
		else
			fact_differs(f, "engine", "one", e.msg);
		same_bool(f, "allStepsHold", fact_expect(f, "allStepsHold"), !f->diff.n);
	}
	engine_free(s.engine);
	world_close(&s.w);
}
