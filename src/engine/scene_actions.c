/* SPDX-License-Identifier: Apache-2.0 */
/* The five actions of profile kai, one after the other over all units that wait. */
#include "engine/limits.h"
#include "engine/scene.h"
#include "engine/search.h"

/* ---- who takes part ---- */

static bool is_ready(const struct scene *s, const struct unit *u)
{
	for (uint32_t i = 0; i < u->n_parts; i++) {
		const struct part *p = &s->parts[u->first_part + i];

		if (part_count(p, SET_ACTIVE) + p->count[IS_PENDING] < (uint32_t)p->min)
			return false;
	}
	return true;
}

struct line { /* units are asked queue by queue, the first to come first */
	enum action action;
	uint32_t queue, n;
};

/* Of each queue only so many as the action looks at, the first. */
static enum pick_of_unit may_ask(struct scene *s, uint32_t unit, void *ctx)
{
	const struct unit *u = &s->units[unit];
	struct line *l = ctx;

	if (!is_ready(s, u) || (l->action == ACTION_CONSOLIDATE && !u->is_preemptible) ||
	    (s->is_for_moves && u->group == GROUP_NONE))
		return PASS_UNIT;
	if (l->queue != u->queue)
		*l = (struct line){l->action, u->queue, 0};
	return l->n++ < s->settings->queue_depth[l->action] ? TAKE_UNIT : PASS_UNIT;
}

static void line_up(struct scene *s, enum action action)
{
	struct line l = {action, NONE, 0};

	order_begin(s, ORDER_ACTION, may_ask, &l, NULL, 0);
}

/* ---- windows ---- */

static struct min_runtime window(const struct scene *s, bool is_preempt, uint32_t by, uint32_t victim)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	const struct min_runtime_settings *c = &s->en->config->min_runtime;
	queue_id v = s->queues[s->units[victim].queue].id;

	return is_preempt ? min_runtime_preempt(t, c, v)
			  : min_runtime_reclaim(t, c, s->queues[s->units[by].queue].id, v);
}

static bool is_inside(const struct scene *s, const struct unit *v, struct min_runtime w, int64_t *ret_until_ns)
{
	if (v->started_ns == TIME_NONE || s->now_ns - v->started_ns >= w.ns)
		return false;
	if (ret_until_ns != NULL)
		*ret_until_ns = v->started_ns + w.ns;
	return true;
}

bool scene_is_protected(const struct scene *s, enum action action, uint32_t by, uint32_t victim, int64_t *ret_until_ns)
{
	const struct unit *v = &s->units[victim];

	if (scene_rule_is_off(s, RULE_MIN_RUNTIME))
		return false;
	switch (action) {
	case ACTION_PREEMPT:
		return is_inside(s, v, window(s, true, by, victim), ret_until_ns);
	case ACTION_RECLAIM:
		return is_inside(s, v, window(s, false, by, victim), ret_until_ns);
	case ACTION_CONSOLIDATE:
		return s->en->config->min_runtime_covers_consolidation &&
		       (is_inside(s, v, window(s, true, by, victim), ret_until_ns) ||
			is_inside(s, v, window(s, false, by, victim), ret_until_ns));
	default:
		return false;
	}
}

/* ---- whom an action looks at ---- */

struct quest {
	enum action action;
	uint32_t unit;
};

/* All of it runs, and no rule has a word against it. */
static bool may_move(struct scene *s, uint32_t unit)
{
	const struct unit *u = &s->units[unit];
	uint32_t first = s->parts[u->first_part].first;

	for (uint32_t i = first; i < first + u->n_members; i++) {
		const struct member *m = &s->members[i];

		if (m->status == IS_PROMISED || m->status == IS_BOUND ||
		    (m->status == IS_RUNNING && judge_victim(s->judge, m->pod).answer != MAY_GO))
			return false;
	}
	return !u->is_semi;
}

static enum pick_of_unit may_lose(struct scene *s, uint32_t victim, void *ctx)
{
	struct quest *q = ctx;
	const struct unit *v = &s->units[victim], *u = &s->units[q->unit];

	/* lowest priority first: what comes after one that is too high is too high as well */
	if ((v->queue == u->queue) != (q->action == ACTION_PREEMPT) && q->action != ACTION_CONSOLIDATE)
		return NO_MORE_UNITS;
	if (q->action == ACTION_PREEMPT && v->priority >= u->priority && !scene_rule_is_off(s, RULE_PRIORITY))
		return NO_MORE_UNITS;
	if (victim == q->unit || (!v->is_preemptible && !scene_rule_is_off(s, RULE_PREEMPTIBILITY)))
		return PASS_UNIT;
	if (q->action != ACTION_CONSOLIDATE && unit_is_elastic(s, v))
		return TAKE_UNIT;
	if (scene_is_protected(s, q->action, q->unit, victim, NULL))
		return PASS_UNIT;
	return !s->is_for_moves || may_move(s, victim) ? TAKE_UNIT : PASS_UNIT;
}

/* ---- allocate ---- */

/* A gang of which too few are bound waits as a whole for the room to be free. */
static bool must_wait(const struct scene *s, const struct unit *u)
{
	for (uint32_t i = 0; i < u->n_parts; i++) {
		const struct part *p = &s->parts[u->first_part + i];

		if (p->count[IS_PROMISED] > 0 && part_count(p, SET_ALLOCATED) < (uint32_t)p->min)
			return true;
	}
	return false;
}

static void allocate_one(struct scene *s, uint32_t unit)
{
	struct unit *u = &s->units[unit];
	bool had_any = unit_count(u, SET_ALLOCATED) > 0, waits;

	scene_next_members(s, unit, false);
	if (!scene_place(s, unit, NULL, false))
		return;
	waits = must_wait(s, u);
	if (waits)
		scene_bound_to_promised(s, unit);
	scene_commit(s, ACTION_ALLOCATE, unit);
	if (!waits && !had_any)
		u->started_ns = s->now_ns; /* MR-8 */
	if (u->count[IS_PENDING] > 0)
		order_push(s, ORDER_ACTION, (struct order_item){unit, NONE, unit_state(s, u)});
}

static void run_allocate(struct scene *s)
{
	struct order_item item;

	s->room_stamp++;
	line_up(s, ACTION_ALLOCATE);
	while (order_pop(s, ORDER_ACTION, &item))
		allocate_one(s, item.unit);
}

/* ---- actions that make room ---- */

static double free_gpus(const struct scene *s)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++)
		n += s->idle[(size_t)i * s->n_amounts + KAI_GPU] + s->soon[(size_t)i * s->n_amounts + KAI_GPU];
	return (double)n;
}

static void core_request(struct scene *s, uint32_t unit, double ret[KAI_RES])
{
	scene_next_members(s, unit, true);
	for (uint32_t r = 0; r < KAI_RES; r++) {
		ret[r] = 0;
		for (uint32_t i = 0; i < s->tasks.n; i++)
			ret[r] += s->members[s->tasks.v[i]].is_core ? s->forms[s->members[s->tasks.v[i]].form].share[r]
								    : 0;
	}
}

static bool has_core(const double request[KAI_RES])
{
	return request[KAI_GPU] > 0 || request[KAI_CPU] > 0 || request[KAI_MEMORY] > 0;
}

/* What can be said without looking for victims. */
static bool is_worth_a_try(struct scene *s, enum action action, uint32_t unit)
{
	const struct unit *u = &s->units[unit];
	double core[KAI_RES];

	switch (action) {
	case ACTION_CONSOLIDATE:
		return free_gpus(s) >= unit_request(s, unit)[KAI_GPU];
	case ACTION_RECLAIM:
		core_request(s, unit, core);
		return scene_rule_is_off(s, RULE_FAIR_SHARE) ||
		       share_can_reclaim(&s->shares[u->queue], unit_request(s, unit),
					 !u->is_preemptible || (u->is_semi && has_core(core)));
	default:
		core_request(s, unit, core);
		return !scene_core_over_quota(s, unit, core);
	}
}

static void ask_for(struct scene *s, uint32_t unit)
{
	struct rule_settings settings = engine_rule_settings(s->en);

	scene_next_members(s, unit, true);
	judge_init(s->judge, s->en->cluster, s->ledger, &settings, ACTION_CONSOLIDATE,
		   s->tasks.n > 0 ? s->members[s->tasks.v[0]].pod : POD_NONE, s->now_ns, &s->en->scratch);
}

/*
 * Would its next members, one after the other, pass a maximum of their queues or a limit of a user, group or
 * application? Then room on nodes is no help.
 */
static bool is_over_limit(const struct scene *s)
{
	ledger_mark mark = ledger_get_mark(s->ledger);
	bool is_over = false;

	for (uint32_t i = 0; !is_over && s->n_nodes > 0 && i < s->tasks.n; i++) {
		pod_id pod = s->members[s->tasks.v[i]].pod;
		const struct pod *p = ledger_pod(s->ledger, pod);
		queue_id queue;
		res_id type;

		is_over = queue_lacking(s->ledger, p, shape_get(ledger_vocab(s->ledger), p->shape), &queue, &type) ||
			  limits_ask(s->ledger, pod).kind != LIMIT_NONE;
		if (!is_over)
			ledger_reserve(s->ledger, s->nodes[0].id, pod); /* wherever: it counts for those after it */
	}
	ledger_rollback(s->ledger, mark);
	return is_over;
}

static void run_search(struct scene *s, enum action action)
{
	struct order_item item;

	line_up(s, action);
	while (order_pop(s, ORDER_ACTION, &item)) {
		struct quest q = {.action = action, .unit = item.unit};

		if (s->is_for_moves)
			ask_for(s, item.unit);
		if (s->is_for_moves && is_over_limit(s))
			continue;
		if (is_worth_a_try(s, action, item.unit) && scene_solve(s, action, item.unit, may_lose, &q))
			scene_commit(s, action, item.unit);
	}
}

/* ---- gangs below their minimum ---- */

static bool is_stale(const struct scene *s, const struct unit *u)
{
	bool is_short = false;

	for (uint32_t i = 0; i < u->n_parts; i++) {
		const struct part *p = &s->parts[u->first_part + i];

		is_short |= part_count(p, SET_USED) < (uint32_t)p->min;
	}
	return is_short && u->count[IS_DONE] == 0 && unit_count(u, SET_USED) > 0;
}

static void run_stale_gang(struct scene *s)
{
	int64_t grace = s->settings->staleness_grace_ns;

	for (uint32_t i = 0; i < s->n_units && grace >= 0; i++) {
		struct unit *u = &s->units[s->by_rank[i]];
		int64_t since = u->stale_ns == TIME_NONE ? s->now_ns : u->stale_ns;

		if (!is_stale(s, u) || s->now_ns - since < grace)
			continue;
		for (uint32_t p = u->first_part; p < u->first_part + u->n_parts; p++)
			for (uint32_t k = s->parts[p].first; k < s->parts[p].first + s->parts[p].n; k++)
				if (is_in(s->members[k].status, SET_ACTIVE))
					scene_evict(s, k);
		scene_commit(s, ACTION_STALE_GANG, s->by_rank[i]);
	}
}

void scene_run(struct scene *s)
{
	for (uint32_t i = 0; i < s->settings->n_actions; i++)
		switch (s->settings->actions[i]) {
		case ACTION_ALLOCATE:
			run_allocate(s);
			break;
		case ACTION_CONSOLIDATE:
			if (s->settings->max_consolidation_preemptees == 0)
				break;
			__attribute__((fallthrough));
		case ACTION_RECLAIM:
		case ACTION_PREEMPT:
			run_search(s, s->settings->actions[i]);
			break;
		case ACTION_STALE_GANG:
			run_stale_gang(s);
			break;
		default:
			break;
		}
}

void scene_run_moves(struct scene *s)
{
	struct judge j;

	s->judge = &j;
	run_search(s, ACTION_CONSOLIDATE);
	s->judge = NULL;
}
