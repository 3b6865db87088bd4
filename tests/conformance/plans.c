/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about whole attempts: a pod waits, the engine decides. */
#include "engine/engine.h"
#include "preemption.h"

struct plan {
	struct engine *engine;
	struct decisions decisions;
	const struct decision *mine; /* about the fact's pod; NULL: none */
};

static bool plan_make(struct plan *p, struct world *w, pod_id pod)
{
	struct engine_run run = {.now_ns = world_now_ns, .cycles = 1, .report = POD_NONE};
	struct err e;

	*p = (struct plan){.decisions = {.arena = w->f->arena}};
	p->engine = engine_new(w->cluster, w->config, NULL, 0, &e);
	if (!p->engine || engine_plan(p->engine, &run, &p->decisions, &e)) {
		fact_differs(w->f, "plan", "decisions", e.msg);
		return false;
	}
	for (uint32_t i = 0; i < p->decisions.v.n; i++)
		if (p->decisions.v.v[i].pod == pod)
			p->mine = &p->decisions.v.v[i];
	if (!p->mine)
		fact_differs(w->f, "plan", "a decision", "none");
	return p->mine != NULL;
}

static void plan_end(struct plan *p)
{
	array_free(&p->decisions.v);
	engine_free(p->engine);
}

static pod_id open_with_pod(struct world *w, struct fact *f)
{
	if (!world_open(w, f))
		return POD_NONE;
	world_disable(w, tree_path(f->t, "config.disabledPlugins"));
	return world_put_pod(w, fact_arg(f, "pod"), true);
}

void run_schedule(struct fact *f)
{
	struct plan p = {0};
	struct world w;
	pod_id pod = open_with_pod(&w, f);

	if (pod != POD_NONE && plan_make(&p, &w, pod)) {
		if (p.mine->outcome != OUTCOME_PLACED)
			fact_differs(f, "outcome", "placed", outcome_text(p.mine->outcome));
		same_text(f, "node", fact_expect(f, "node"), world_node_name(&w, p.mine->node));
	}
	plan_end(&p);
	world_close(&w);
}

void run_schedule_with_preemption(struct fact *f)
{
	struct plan p = {0};
	struct world w;
	pod_id pod;

	if (skip_composite(f))
		return;
	pod = open_with_pod(&w, f);
	if (pod != POD_NONE && plan_make(&p, &w, pod)) {
		const struct decision *d = p.mine;
		pod_id *victims = arena_n(f->arena, d->n_victims + 1, pod_id);

		for (uint32_t i = 0; i < d->n_victims; i++)
			victims[i] = d->victims[i].pod;
		same_victims(&w, "preempted", fact_expect(f, "preempted"), victims, d->n_victims, false);
		same_bool(f, "preemptorNominated", fact_expect(f, "preemptorNominated"),
			  d->outcome == OUTCOME_NOMINATED);
		same_bool(f, "preemptorUnschedulable", fact_expect(f, "preemptorUnschedulable"),
			  d->outcome == OUTCOME_WAITING);
	}
	plan_end(&p);
	world_close(&w);
}
