/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/plan_focus.h"

void plan_list_waiting(const struct ledger *l, waiting_list *ret, struct engine_run *run)
{
	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		if (ledger_pod(l, i)->state == POD_WAITING)
			array_push(ret, i);
	array_reserve(ret, 1); /* nobody is not the same as not told */
	run->these = ret->v;
	run->n_these = ret->n;
}

static bool is_group_waiting(const struct ledger *l, const struct engine_run *run)
{
	for (uint32_t i = 0; i < run->n_these; i++)
		if (ledger_pod(l, run->these[i])->group != GROUP_NONE)
			return true;
	return false;
}

bool plan_ends_with(const struct cluster *c, const struct engine_config *config, const struct engine_run *run,
		    pod_id pod)
{
	const struct ledger *l = cluster_ledger(c);

	return !config->looks_at_all && !config->n_plugins && run->cycles == 1 &&
	       ledger_pod(l, pod)->state == POD_WAITING &&
	       profile_get(config->profile)->search_mode != MODE_SCENARIOS && run->these && !is_group_waiting(l, run);
}

static bool is_passed_over(void *ctx, pod_id pod)
{
	struct plan_focus *f = ctx;

	return (f->passes && bits_has(f->passes, pod)) ||
	       (!bits_has(&f->tells_of, pod) && refusals_pass_over(&f->refusals, pod));
}

static bool is_over(void *ctx, uint32_t n_cycles)
{
	struct plan_focus *f = ctx;

	(void)n_cycles;
	for (; f->pod != POD_NONE && !f->is_over && f->n_looked < f->made->v.n; f->n_looked++)
		f->is_over = f->made->v.v[f->n_looked].pod == f->pod;
	return f->is_over;
}

void plan_focus_on_decision(struct plan_focus *f, pod_id pod, const struct alike *alike, const struct decisions *made,
			    struct engine_run *run)
{
	*f = (struct plan_focus){.pod = pod, .made = made, .n_looked = made->v.n};
	refusals_init(&f->refusals, alike, made, run->now_ns);
	run->tells_of = &f->tells_of;
	run->passes_over = is_passed_over;
	run->is_over = is_over;
	run->driver = f;
}

static bool is_below(const struct queue_tree *tree, queue_id q, queue_id top)
{
	while (q != QUEUE_NONE && q != top)
		q = queue_get(tree, q)->parent;
	return q == top;
}

/* Of a pod in a group all that wait with it: they are one request, whoever of them looked for room. */
static void tell_of(struct plan_focus *f, const struct ledger *l, const struct explain_target *t)
{
	group_id group = t->pod == POD_NONE ? t->group : ledger_pod(l, t->pod)->group;

	for (uint32_t i = 0; i < f->waiting.n; i++) {
		pod_id pod = f->waiting.v[i];
		const struct pod *p = ledger_pod(l, pod);

		if (pod == t->pod || (group != GROUP_NONE && p->group == group) ||
		    (t->queue != QUEUE_NONE && is_below(ledger_queues(l), p->queue, t->queue)))
			bits_set(&f->tells_of, pod);
	}
}

static bool is_running(const struct cluster *c, const struct explain_target *t)
{
	const struct ledger *l = cluster_ledger(c);

	if (t->pod != POD_NONE)
		return ledger_pod(l, t->pod)->state != POD_WAITING;
	for (pod_id i = t->group == GROUP_NONE ? POD_NONE : cluster_group_first(c, t->group); i != POD_NONE;
	     i = cluster_group_next(c, i))
		if (ledger_pod(l, i)->group == t->group && ledger_pod(l, i)->state == POD_PLACED)
			return true;
	return false;
}

void plan_focus_on(struct plan_focus *f, const struct cluster *c, const struct engine_config *config,
		   const struct explain_target *t, const struct decisions *made, struct engine_run *run)
{
	const struct ledger *l = cluster_ledger(c);

	*f = (struct plan_focus){0};
	run->report = t->pod;
	if (config->looks_at_all || is_running(c, t))
		return;
	plan_focus_on_decision(f, POD_NONE, NULL, made, run);
	plan_list_waiting(l, &f->waiting, run);
	alike_init(&f->alike, c, config, run, t->pod);
	refusals_init(&f->refusals, &f->alike, made, run->now_ns);
	tell_of(f, l, t);
	if (t->pod != POD_NONE && plan_ends_with(c, config, run, t->pod))
		f->pod = t->pod;
}

void plan_focus_free(struct plan_focus *f)
{
	refusals_free(&f->refusals);
	alike_free(&f->alike);
	bits_free(&f->tells_of);
	array_free(&f->waiting);
}
