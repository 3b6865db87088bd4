/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's turn: it decides until nothing more comes of it, and what it decides is carried out. */
#include <string.h>

#include "sim/sim_shadow.h"
#include "sim/sim_wake.h"

enum { PASSES_MAX = 1000 }; /* at one time: more is a loop */
static const pod_id nobody = POD_NONE;

static void full_name(const struct sim *s, pod_id pod, struct text *out)
{
	const struct pod *p = ledger_pod(s->ledger, pod);

	text_printf(out, "%s/%s", name_str(s->names, labelset_get(s->vocab, p->labelset)->ns),
		    name_str(s->names, p->name));
}

static const char *path_of(const struct sim *s, queue_id q)
{
	return q == QUEUE_NONE ? "" : name_str(s->names, queue_get(ledger_queues(s->ledger), q)->path);
}

static void tell_eviction(struct sim *s, const struct decision *d, const struct victim *v)
{
	struct text pod = {0}, for_pod = {0};
	uint32_t slot = sim_incarnation(s, v->pod)->slot;

	if (sim_incarnation(s, v->pod)->is_old)
		return; /* Kubernetes names those again that are leaving already */
	full_name(s, v->pod, &pod);
	if (d->pod != POD_NONE)
		full_name(s, d->pod, &for_pod);
	struct sim_eviction ev = {.at_ns = s->now_ns,
				  .pod = text_str(&pod),
				  .queue = path_of(s, v->queue),
				  .node = name_str(s->names, ledger_node(s->ledger, v->node)->name),
				  .for_pod = text_str(&for_pod),
				  .for_queue = path_of(s, d->queue),
				  .action = d->action,
				  .overridden = v->overridden,
				  .lost_ns = v->lost_ns,
				  .nth = slot == SLOT_NONE ? 0 : s->pods.v[slot].n_evictions + 1,
				  .decision = s->n_decisions,
				  .why = d,
				  .victim = v};
	s->o.watcher.eviction(s->o.watcher.ctx, s, &ev);
	text_free(&pod);
	text_free(&for_pod);
}

static bool moves_something(const struct decision *d)
{
	return d->outcome == OUTCOME_PLACED || d->n_victims > 0;
}

/* Watchers first: they see the cluster as it was decided, and victims under the names they had. */
static void tell(struct sim *s, const struct decision *d)
{
	if (!moves_something(d) && d->outcome != OUTCOME_NOMINATED) {
		if (s->o.watcher.waiting)
			s->o.watcher.waiting(s->o.watcher.ctx, s, d);
		return;
	}
	s->n_decisions++;
	if (s->o.watcher.decision)
		s->o.watcher.decision(s->o.watcher.ctx, s, d, s->n_decisions);
	for (uint32_t i = 0; s->o.watcher.eviction && i < d->n_victims; i++)
		tell_eviction(s, d, &d->victims[i]);
}

/* Where pods of a gang go one by one, what is left of it cannot work on. */
static void restart_gangs(struct sim *s, const struct decision *d)
{
	for (uint32_t i = 0; i < d->n_victims; i++) {
		group_id g = ledger_pod(s->ledger, d->victims[i].pod)->group;

		if (g != GROUP_NONE)
			sim_restart_gang(s, g);
	}
}

/* Or was: in profile kubernetes a later decision of the same pass may take it again. */
static bool is_on_node(const struct sim *s, pod_id pod)
{
	enum pod_state state = ledger_pod(s->ledger, pod)->state;

	return state == POD_PLACED || state == POD_LEAVING;
}

/* A victim is told by the decision it goes for; where several name it, it goes once. */
static bool carry_out(struct sim *s, const struct decisions *plan)
{
	bool has_moved = false;

	for (uint32_t i = 0; i < plan->v.n; i++)
		tell(s, &plan->v.v[i]);
	ledger_commit(s->ledger);
	for (uint32_t i = 0; i < plan->v.n; i++) {
		const struct decision *d = &plan->v.v[i];

		has_moved |= moves_something(d);
		for (uint32_t k = 0; k < d->n_victims; k++)
			sim_evicted(s, d->victims[k].pod);
		if (d->outcome == OUTCOME_PLACED && is_on_node(s, d->pod))
			sim_started(s, d->pod);
	}
	for (uint32_t i = 0; i < plan->v.n; i++)
		restart_gangs(s, &plan->v.v[i]);
	return has_moved;
}

static enum err_code plan_once(struct sim *s, const struct engine_run *run, struct decisions *plan, struct err *e)
{
	struct clock clock = clock_steady();
	int64_t began = clock_now(&clock);
	enum err_code rc;

	plan->v.n = 0;
	rc = engine_plan(s->engine, run, plan, e);
	s->outcome.engine_ns = time_add(s->outcome.engine_ns, time_since(clock_now(&clock), began));
	s->outcome.cycles++;
	return rc;
}

/* A time that a verdict of the plan names is a moment, whoever sleeps. */
static void note_times(struct sim *s, const struct decisions *plan)
{
	int64_t at = TIME_NONE;

	for (uint32_t i = 0; i < plan->v.n; i++) {
		int64_t next = wake_next_time(s, &plan->v.v[i]);

		at = next != TIME_NONE && (at == TIME_NONE || next < at) ? next : at;
	}
	if (at != TIME_NONE)
		timer_set(s, at, TIMER_WAKE, WAKE_NOBODY);
}

/* The pass with everybody, taken back again. */
static enum err_code plan_shadow(struct sim *s, struct engine_run run, struct shadow *ret, struct err *e)
{
	ledger_mark mark = ledger_get_mark(s->ledger);
	struct decisions plan = {.arena = s->arena};
	enum err_code rc;

	s->o.is_exhaustive = true;
	wake_collect(s, false, &run.these, &run.n_these);
	run.these = NULL;
	wake_follow(s, &plan);
	rc = plan_once(s, &run, &plan, e);
	s->o.is_exhaustive = false;
	wake_drop_pass(s);
	note_times(s, &plan);
	for (uint32_t i = 0; i < plan.v.n; i++)
		ret->has_moves |= plan.v.v[i].action == ACTION_CONSOLIDATE;
	shadow_take(s, ret);
	ledger_rollback(s->ledger, mark);
	array_free(&plan.v);
	return rc;
}

/* With so many of each kind that the order in which they are tried is that of all. */
static enum err_code plan_pass(struct sim *s, struct engine_run *run, struct decisions *plan, struct err *e)
{
	ledger_mark mark = ledger_get_mark(s->ledger);

	for (bool is_again = false;; is_again = true) {
		enum err_code rc;

		if (!wake_collect(s, is_again, &run->these, &run->n_these) && !s->is_dirty && !s->o.is_exhaustive &&
		    !wake_may_move(s))
			return ERR_OK;
		if (!run->these)
			run->these = &nobody;
		if (s->o.is_exhaustive)
			run->these = NULL;
		rc = plan_once(s, run, plan, e);
		if (rc || s->o.is_exhaustive || (!wake_was_cut(s) && !wake_has_missed(s)))
			return rc;
		ledger_rollback(s->ledger, mark);
	}
}

static enum err_code plan_and_compare(struct sim *s, struct engine_run *run, struct decisions *plan, struct err *e)
{
	struct shadow shadow = {0};
	enum err_code rc = plan_shadow(s, *run, &shadow, e);

	wake_follow(s, plan);
	if (!rc && !s->is_probe)
		rc = plan_pass(s, run, plan, e);
	if (!rc && !(s->is_probe && (shadow.has_moves || wake_has_loose(s)))) /* README.md says why */
		rc = shadow_compare(s, &shadow, e);
	array_free(&shadow.pods);
	return rc;
}

/* Does anybody want to know who was protected from whom? If not, it only matters until when. */
static bool hears_why(const struct sim *s)
{
	return s->o.watcher.decision || s->o.watcher.waiting || s->o.watcher.eviction;
}

static enum err_code pass(struct sim *s, bool *ret_has_moved, struct err *e)
{
	struct engine_run run = {.now_ns = s->now_ns,
				 .cycles = 1,
				 .report = POD_NONE,
				 .groups_wait = wake_groups_wait,
				 .tells_times = !hears_why(s),
				 .eviction_history = &s->history,
				 .passes_over = wake_passes_over,
				 .passes_over_rest = wake_passes_over_rest,
				 .driver = s};
	struct decisions plan = {.arena = s->arena};
	enum err_code rc;

	wake_follow(s, &plan);
	rc = s->o.compares ? plan_and_compare(s, &run, &plan, e) : plan_pass(s, &run, &plan, e);
	s->is_dirty &= s->is_probe;
	if (!rc && !s->is_probe) {
		wake_settle(s, &plan);
		s->outcome.attempts += plan.v.n + wake_n_refused(s);
		*ret_has_moved = carry_out(s, &plan);
		s->moves_due = *ret_has_moved;
		if (*ret_has_moved)
			s->moved_ns = s->now_ns;
	}
	array_free(&plan.v);
	arena_reset(s->arena);
	return rc;
}

enum err_code sim_decide(struct sim *s, struct err *e)
{
	enum err_code rc = ERR_OK;
	bool has_moved = true;

	for (unsigned i = 0; !rc && has_moved && i < PASSES_MAX && !sim_is_interrupted(s); i++) {
		has_moved = false;
		sim_count_budgets(s);
		rc = pass(s, &has_moved, e);
	}
	return rc;
}
