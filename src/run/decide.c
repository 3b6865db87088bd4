/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns of decisions. Profile kubernetes: one pod after the other, as the queue gives them, for some milliseconds.
 * Profiles whose order of work is that of queues: everybody who is awake in one plan, when what happens together has
 * been gathered.
 *
 * The ledger keeps what was decided: it is committed, and undone move by move if it cannot be carried out. A dry run
 * takes it back.
 */
#include "run/scheduler_internal.h"

#define GATHER_NS (NS_PER_S / 50) /* what happens together is decided together */
#define PLAN_GAP_MAX_NS NS_PER_S
enum { BINDS_READY_MAX = 1000, STATUSES_READY_MAX = 10000 }; /* what was decided is written before more is decided */

static struct plan_view view_of(const struct scheduler *s, const struct decisions *plan)
{
	const struct engine_config *c = s->world->config;

	return (struct plan_view){.cluster = s->world->cluster,
				  .plan = plan,
				  .profile = c->profile,
				  .by_fair_share = engine_config_reclaims_by(c) == RECLAIM_FAIR_SHARE,
				  .now_ns = s->now.wall_ns};
}

static struct engine_run run_of(const struct scheduler *s)
{
	return (struct engine_run){
		.now_ns = s->now.wall_ns, .cycles = 1, .report = POD_NONE, .eviction_history = &s->history};
}

/* ---- words, while the ledger is as it was before ---- */

struct decision_words { /* of one decision */
	struct text message;
	struct text *victims; /* why each has to go */
	uint64_t ticket;      /* of whoever keeps the decision */
};

static void victim_words(const struct plan_view *v, const struct decision *d, const struct victim *x, struct text *out)
{
	text_printf(out, "cede: %s", action_text(d->action));
	if (d->pod != POD_NONE) {
		text_add(out, " for ");
		pod_path(v, d->pod, out);
	}
	text_add(out, ": ");
	eviction_text(v, d, x, out);
}

static struct decision_words words_of(const struct plan_view *v, const struct decision *d)
{
	struct decision_words w = {0};

	if (d->outcome != OUTCOME_PLACED && d->pod != POD_NONE)
		report_message(v, d, &w.message);
	if (d->n_victims)
		w.victims = mem_alloc(d->n_victims * sizeof(*w.victims));
	for (uint32_t i = 0; i < d->n_victims; i++)
		victim_words(v, d, &d->victims[i], &w.victims[i]);
	return w;
}

static void words_free(struct decision_words *w, const struct decision *d)
{
	text_free(&w->message);
	for (uint32_t i = 0; w->victims && i < d->n_victims; i++)
		text_free(&w->victims[i]);
	mem_free(w->victims);
}

/* is_before: the ledger is as it was before the plan. */
static void describe(struct scheduler *s, const struct decisions *plan, bool is_before, struct decision_words *ret)
{
	struct plan_view v = view_of(s, plan);
	struct plan_notes *notes = is_before ? plan_notes_new(s->world->cluster, plan) : NULL;

	v.notes = notes;
	for (uint32_t i = 0; i < plan->v.n; i++) {
		ret[i] = words_of(&v, &plan->v.v[i]);
		if (s->o.hooks.decided)
			ret[i].ticket = s->o.hooks.decided(s->o.hooks.ctx, &v, &plan->v.v[i], &s->now);
	}
	plan_notes_free(notes);
}

static void words_free_all(struct decision_words *w, const struct decisions *d)
{
	for (uint32_t i = 0; w && i < d->v.n; i++)
		words_free(&w[i], &d->v.v[i]);
	mem_free(w);
}

/* ---- deciding ---- */

static bool has_victims(const struct decisions *d)
{
	for (uint32_t i = 0; i < d->v.n; i++)
		if (d->v.v[i].n_victims)
			return true;
	return false;
}

/* One pod; POD_NONE: everybody who is awake, in a dry run everybody. */
static enum err_code decide_once(struct scheduler *s, pod_id pod, struct decisions *ret, struct err *e)
{
	struct engine_run run = run_of(s);

	if (pod != POD_NONE)
		return engine_try(s->world->engine, &run, pod, ret, e);
	run.only = s->o.is_dry ? NULL : &s->batch;
	run.quota_held = s->o.is_dry ? NULL : quota_held(s);
	return engine_plan(s->world->engine, &run, ret, e);
}

/*
 * Words and the journal need the ledger as it was before: who was leaving already is no victim. Where somebody has to
 * go the moves are taken back for that, and made again: the same state and time give the same decisions.
 */
static enum err_code decide_with_words(struct scheduler *s, pod_id pod, struct decisions *ret,
				       struct decision_words **ret_words, struct err *e)
{
	ledger_mark mark = ledger_get_mark(s->ledger);
	struct decisions again = {.arena = s->arena};
	enum err_code rc = decide_once(s, pod, ret, e);
	bool is_again = !rc && !s->o.is_dry && has_victims(ret);

	if (rc)
		return rc;
	if (is_again || s->o.is_dry)
		ledger_rollback(s->ledger, mark);
	*ret_words = mem_alloc((ret->v.n + 1) * sizeof(**ret_words));
	describe(s, ret, is_again || s->o.is_dry, *ret_words);
	if (is_again)
		rc = decide_once(s, pod, &again, e);
	assert(rc || !is_again || again.v.n == ret->v.n);
	array_free(&again.v);
	return rc;
}

/* ---- carrying out ---- */

static void note_ends(struct scheduler *s, pod_id pod, const struct decision *d)
{
	if (d->own_rule != RULE_NONE && d->until_ns != TIME_NONE)
		note_until(s, pod, d->until_ns);
	for (uint32_t i = 0; i < d->n_protected; i++)
		if (d->protected[i].verdict.until_ns != TIME_NONE)
			note_until(s, pod, d->protected[i].verdict.until_ns);
}

/* Of those alone whose protection from the pod ends by itself it is asked when the first of them ends. */
static int64_t first_end(struct scheduler *s, pod_id pod)
{
	struct decisions times = {.arena = s->arena};
	struct engine_run run = run_of(s);
	ledger_mark mark = ledger_get_mark(s->ledger);
	int64_t first = INT64_MAX;
	struct err e;

	run.tells_times = true;
	if (!engine_try(s->world->engine, &run, pod, &times, &e))
		for (uint32_t i = 0; i < times.v.n; i++)
			for (uint32_t k = 0; k < times.v.v[i].n_protected; k++) {
				int64_t until = times.v.v[i].protected[k].verdict.until_ns;

				first = until != TIME_NONE && until > s->now.wall_ns && until < first ? until : first;
			}
	ledger_rollback(s->ledger, mark);
	array_free(&times.v);
	return first;
}

/*
 * Where more are protected than are told of. Who waits like the one before, of whom the same is told, is not asked
 * about again. Not where all workloads are decided about together: that is too much for one of them.
 */
static void note_untold_ends(struct scheduler *s, const struct decision *d)
{
	struct untold_end *u = &s->untold_end;
	struct waiting_kind kind = {0};
	bool has_kind;

	if (d->n_protected < PROTECTED_MAX || d->outcome != OUTCOME_WAITING ||
	    profile_get(s->world->config->profile)->search_mode == MODE_SCENARIOS)
		return;
	has_kind = wait_kind_of(s->world->cluster, true, d->pod, &kind) &&
		   !wait_kind_is_young(s->ledger, ledger_pod(s->ledger, d->pod), s->now.wall_ns);
	if (!has_kind || u->of != d->protected || memcmp(&u->kind, &kind, sizeof(kind)) != 0) {
		u->at_ns = first_end(s, d->pod);
		u->of = has_kind ? d->protected : NULL;
		u->kind = kind;
	}
	note_until(s, d->pod, u->at_ns);
}

/* Whatever ends with time and held it back is looked at again then (CL-5). */
static void note_times(struct scheduler *s, const struct decision *d)
{
	forget_until(s, d->pod);
	note_ends(s, d->pod, d);
	note_untold_ends(s, d);
}

/* Room of pods that should be gone is counted on no longer than one has patience. */
static void note_patience(struct scheduler *s, const struct decision *d)
{
	const struct ledger_node *n = d->node != NODE_NONE ? ledger_node(s->ledger, d->node) : NULL;

	for (uint32_t i = 0; n && i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(s->ledger, n->pods.v[i]);

		if (p->state == POD_LEAVING && p->obj->deleted_ns != TIME_NONE)
			note_until(s, d->pod, time_add(time_add(p->obj->deleted_ns, s->world->config->patience_ns), 1));
	}
}

static void sleeps(struct scheduler *s, const struct decision *d)
{
	static const char *const any = "cede";
	static const bool is_pending = true;
	const char *names[64];
	uint32_t n = 0;

	if (is_pod_by_pod(s)) {
		const struct framework *f = engine_framework(s->world->engine, d->pod);

		for (uint64_t left = d->rejecters; left; left &= left - 1)
			names[n++] = framework_plugin(f, (uint32_t)__builtin_ctzll(left))->table->name;
	}
	if (n)
		waiting_failed(s->waiting, d->pod, names, n, NULL, s->now.steady_ns);
	else
		waiting_failed(s->waiting, d->pod, &any, 1, &is_pending, s->now.steady_ns);
}

static bool may_profit_from_placements(const struct scheduler *s, const struct decision *d)
{
	const struct shape *shape = shape_get(s->world->vocab, ledger_pod(s->ledger, d->pod)->shape);

	return d->n_protected || shape->affinity.n || shape->anti_affinity.n || shape->n_spreads;
}

static void stays_waiting(struct scheduler *s, const struct decision *d, const struct decision_words *w)
{
	note_times(s, d);
	note_of(s, d->pod)->hears_placements = may_profit_from_placements(s, d);
	sleeps(s, d);
	if (s->o.is_dry || d->outcome == OUTCOME_GATED)
		return;
	status_unschedulable(s, d->pod, text_str(&w->message));
	report_pod_event(s, d->pod, "Warning", "FailedScheduling", "Scheduling", text_str(&w->message), POD_NONE);
}

static void placed(struct scheduler *s, const struct decision *d)
{
	struct cluster_event ev = {EV_ASSIGNED_POD, EV_ADD, d->pod, d->node, .before = NULL};

	forget_until(s, d->pod);
	waiting_remove(s->waiting, d->pod);
	bind_begin(s, d->pod, d->node, gang_bind_for(s, d->pod));
	tell_event(s, &ev);
	if (d->group != GROUP_NONE)
		group_placed(s, d->group);
}

static void nominated(struct scheduler *s, const struct decision *d, const struct decision_words *w)
{
	if (ledger_pod(s->ledger, d->pod)->state != POD_WAITING)
		return; /* it runs, and moves: whoever makes it anew finds the room */
	bits_set(&s->nominated, d->pod);
	stays_waiting(s, d, w);
	note_patience(s, d);
}

/* What was decided stands in the ledger; now the cluster is told. */
static void carry_out(struct scheduler *s, const struct decision *d, const struct decision_words *w)
{
	if (d->pod == POD_NONE) {
		evict_begin(s, d, w->victims, w->ticket);
		return;
	}
	bits_clear(&s->batch, d->pod);
	switch (d->outcome) {
	case OUTCOME_PLACED:
		placed(s, d);
		break;
	case OUTCOME_NOMINATED:
		nominated(s, d, w);
		break;
	default:
		stays_waiting(s, d, w);
		break;
	}
	evict_begin(s, d, w->victims, w->ticket);
}

/* ---- pod by pod ---- */

static void try_failed(struct scheduler *s, pod_id pod, const struct err *e)
{
	say(s, true, "%s/%s: %s", str_of(s, pod_ns(s, ledger_pod(s->ledger, pod))),
	    str_of(s, ledger_pod(s->ledger, pod)->name), e->msg);
	waiting_failed(s->waiting, pod, NULL, 0, NULL, s->now.steady_ns);
	status_error(s, pod, e->msg);
}

static void try_pod(struct scheduler *s, pod_id pod)
{
	struct decisions d = {.arena = s->arena};
	struct decision_words *words = NULL;
	struct err e = {0};

	if (decide_with_words(s, pod, &d, &words, &e)) {
		ledger_rollback(s->ledger, 0);
		try_failed(s, pod, &e);
	} else {
		ledger_commit(s->ledger);
		for (uint32_t i = 0; i < d.v.n; i++)
			carry_out(s, &d.v.v[i], &words[i]);
	}
	words_free_all(words, &d);
	if (waiting_where(s->waiting, pod) == WAITING_IN_FLIGHT) /* decided with its group, or not at all */
		waiting_failed(s->waiting, pod, NULL, 0, NULL, s->now.steady_ns);
	array_free(&d.v);
	s->untold_end.of = NULL;
	arena_reset(s->arena);
}

/*
 * Evictions do not count: whoever their room is for is to be bound as soon as it is there. Statuses count little: they
 * are written when nothing else is to be, and behind those who wait may be somebody who can start now.
 */
bool decide_is_full(const struct scheduler *s)
{
	return s->n_ready[TASK_BIND] >= BINDS_READY_MAX || s->n_ready[TASK_STATUS] >= STATUSES_READY_MAX;
}

bool decide_pods(struct scheduler *s)
{
	int64_t began = clock_now(&s->o.steady), now = began;
	uint32_t n = 0;
	pod_id pod = POD_NONE;

	while (!decide_is_full(s) && time_since(now, began) < s->o.turn_ns) {
		pod = waiting_pop(s->waiting, s->now.steady_ns);
		if (pod == POD_NONE)
			break;
		if (ledger_pod(s->ledger, pod)->state == POD_WAITING) {
			try_pod(s, pod);
			n++;
		} else {
			waiting_done(s->waiting, pod);
		}
		now = clock_now(&s->o.steady);
	}
	if (n) {
		status_sync_nominations(s);
		if (s->o.hooks.turn_ended)
			s->o.hooks.turn_ended(s->o.hooks.ctx, n, time_since(clock_now(&s->o.steady), began));
	}
	return pod != POD_NONE && !decide_is_full(s);
}

/* ---- everybody who is awake ---- */

static void collect_batch(struct scheduler *s)
{
	pod_id pod;

	bits_reset(&s->batch);
	while ((pod = waiting_pop(s->waiting, s->now.steady_ns)) != POD_NONE)
		bits_set(&s->batch, pod);
}

/* Nobody said anything of them: they were tried with others, or could not be. */
static void rest_of_batch(struct scheduler *s, const char *error)
{
	static const char *const any = "cede";
	static const bool is_pending = true;

	for (pod_id pod = bits_next(&s->batch, 0); pod != UINT32_MAX; pod = bits_next(&s->batch, pod + 1))
		waiting_failed(s->waiting, pod, &any, error ? 0 : 1, &is_pending, s->now.steady_ns);
}

static void plan(struct scheduler *s)
{
	struct decisions d = {.arena = s->arena};
	struct decision_words *words = NULL;
	struct err e = {0};

	collect_batch(s);
	if (decide_with_words(s, POD_NONE, &d, &words, &e)) {
		ledger_rollback(s->ledger, 0);
		say(s, true, "%s", e.msg);
		rest_of_batch(s, e.msg);
	} else {
		ledger_commit(s->ledger);
		for (uint32_t i = 0; i < d.v.n; i++) {
			if (s->o.is_dry && d.v.v[i].pod != POD_NONE)
				stays_waiting(s, &d.v.v[i], &words[i]);
			else if (!s->o.is_dry)
				carry_out(s, &d.v.v[i], &words[i]);
		}
		rest_of_batch(s, NULL);
		status_sync_nominations(s);
	}
	words_free_all(words, &d);
	if (s->o.hooks.turn_ended)
		s->o.hooks.turn_ended(s->o.hooks.ctx, d.v.n, time_since(clock_now(&s->o.steady), s->now.steady_ns));
	array_free(&d.v);
	s->untold_end.of = NULL;
	arena_reset(s->arena);
}

bool decide_plan(struct scheduler *s)
{
	int64_t began, took;

	if (!s->wants_plan && !waiting_count(s->waiting, WAITING_ACTIVE)) {
		s->dirty_ns = INT64_MAX;
		return false;
	}
	if (s->dirty_ns == INT64_MAX)
		s->dirty_ns = s->now.steady_ns;
	if (s->now.steady_ns < time_add(s->dirty_ns, GATHER_NS) || s->now.steady_ns < s->plan_again_ns)
		return false;
	s->wants_plan = false;
	s->dirty_ns = INT64_MAX;
	began = clock_now(&s->o.steady);
	plan(s);
	took = time_since(clock_now(&s->o.steady), began);
	s->plan_again_ns = time_add(time_add(began, took), took < PLAN_GAP_MAX_NS ? took : PLAN_GAP_MAX_NS);
	return false;
}
