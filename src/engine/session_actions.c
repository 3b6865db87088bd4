/* SPDX-License-Identifier: Apache-2.0 */
/* The five actions of profile kai, one after the other over all workloads that wait. */
#include "engine/limits.h"
#include "engine/search.h"
#include "engine/session.h"

/* ---- who is considered ---- */

static bool is_ready(const struct session *s, const struct workload *u)
{
	for (uint32_t i = 0; i < u->n_podsets; i++) {
		const struct session_podset *p = &s->podsets[u->first_podset + i];

		if (podset_count(p, SET_ACTIVE) + p->count[IS_PENDING] < (uint32_t)p->min)
			return false;
	}
	return true;
}

struct depth_count { /* workloads are asked queue by queue, the first to come first */
	enum action action;
	uint32_t queue, n;
};

/* Of each queue only so many as the action looks at, the first. */
static enum pick_of_workload may_ask(struct session *s, uint32_t workload, void *ctx)
{
	const struct workload *u = &s->workloads[workload];
	struct depth_count *l = ctx;

	if (!is_ready(s, u) || (l->action == ACTION_CONSOLIDATE && !u->is_preemptible) ||
	    (s->is_for_moves && u->group == GROUP_NONE))
		return PASS_WORKLOAD;
	if (l->queue != u->queue)
		*l = (struct depth_count){l->action, u->queue, 0};
	return l->n++ < s->settings->queue_depth[l->action] ? TAKE_WORKLOAD : PASS_WORKLOAD;
}

static void begin_waiting(struct session *s, enum action action)
{
	struct depth_count l = {action, NONE, 0};

	order_begin(s, ORDER_ACTION, may_ask, &l, NULL, 0);
}

/* ---- whom an action looks at ---- */

struct preemptor {
	enum action action;
	uint32_t workload;
	bool with_spared; /* nothing else works: what soft rules keep may go too */
};

static enum pick_of_workload may_lose(struct session *s, uint32_t victim, void *ctx)
{
	struct preemptor *q = ctx;
	bool is_own_leaf = s->workloads[victim].queue == s->workloads[q->workload].queue;

	if (is_own_leaf != (q->action == ACTION_PREEMPT) && q->action != ACTION_CONSOLIDATE)
		return NO_MORE_WORKLOADS;
	if (victim == q->workload)
		return PASS_WORKLOAD;
	switch (session_verdict(s, victim)) {
	case WORKLOAD_IS_TOO_HIGH: /* lowest priority first: what comes after it is too high as well */
		return NO_MORE_WORKLOADS;
	case WORKLOAD_STAYS:
		return PASS_WORKLOAD;
	case WORKLOAD_IS_SPARED:
		return q->with_spared ? TAKE_WORKLOAD : PASS_WORKLOAD;
	default:
		return TAKE_WORKLOAD;
	}
}

/* ---- allocate ---- */

/* A gang of which too few are bound waits as a whole for the room to be free. */
static bool must_wait(const struct session *s, const struct workload *u)
{
	for (uint32_t i = 0; i < u->n_podsets; i++) {
		const struct session_podset *p = &s->podsets[u->first_podset + i];

		if (p->count[IS_NOMINATED] > 0 && podset_count(p, SET_ALLOCATED) < (uint32_t)p->min)
			return true;
	}
	return false;
}

/* MR-8. Its window begins: what was said of it as a victim may be different now. */
static void start(struct session *s, struct workload *u)
{
	if (u->group == GROUP_NONE)
		return;
	u->has_started = true;
	ledger_set_group_started(s->ledger, u->group, s->now_ns);
	session_leave_kind(s, s->by_rank[u->rank]);
	s->n_starts++;
}

static void allocate_one(struct session *s, uint32_t workload)
{
	struct workload *u = &s->workloads[workload];
	bool had_any = workload_count(u, SET_ALLOCATED) > 0, waits;

	session_next_members(s, workload, false);
	if (!session_place(s, workload, NULL, false))
		return;
	waits = must_wait(s, u);
	if (waits)
		session_bound_to_nominated(s, workload);
	session_commit(s, ACTION_ALLOCATE, workload);
	if (!waits && !had_any)
		start(s, u);
	if (u->count[IS_PENDING] > 0)
		order_push(s, ORDER_ACTION, (struct order_item){workload, NONE, workload_state(s, u)});
}

static void run_allocate(struct session *s)
{
	struct order_item item;

	s->room_stamp++;
	begin_waiting(s, ACTION_ALLOCATE);
	while (order_pop(s, ORDER_ACTION, &item))
		allocate_one(s, item.workload);
}

/* ---- actions that make room ---- */

static void core_request(struct session *s, uint32_t workload, double ret[KAI_RES])
{
	session_next_members(s, workload, true);
	for (uint32_t r = 0; r < KAI_RES; r++) {
		ret[r] = 0;
		for (uint32_t i = 0; i < s->tasks.n; i++)
			ret[r] += s->members[s->tasks.v[i]].is_core
					  ? s->signatures[s->members[s->tasks.v[i]].signature].share[r]
					  : 0;
	}
}

static bool has_core(const double request[KAI_RES])
{
	return request[KAI_GPU] > 0 || request[KAI_CPU] > 0 || request[KAI_MEMORY] > 0;
}

/* What can be said without looking for victims. */
static bool is_worth_a_try(struct session *s, enum action action, uint32_t workload)
{
	const struct workload *u = &s->workloads[workload];
	struct workload_fate *f = &s->fates[workload];
	double core[KAI_RES];

	switch (action) {
	case ACTION_CONSOLIDATE:
		return (double)session_counts(s)->gpus >= workload_request(s, workload)[KAI_GPU];
	case ACTION_RECLAIM:
		core_request(s, workload, core);
		f->is_refused = judge_asks(&s->judge, RULE_FAIR_SHARE) &&
				!share_can_reclaim(s->shares, u->queue, workload_request(s, workload),
						   !u->is_preemptible || (u->is_semi && has_core(core)), &f->refusal);
		return !f->is_refused;
	default:
		core_request(s, workload, core);
		return !session_core_over_quota(s, workload, core);
	}
}

/* First without those whom soft rules spare. */
static bool solve(struct session *s, struct preemptor *q)
{
	if (session_solve(s, q->action, q->workload, may_lose, q))
		return true;
	if (!judge_has_soft_rules(&s->judge))
		return false;
	q->with_spared = true;
	return session_solve(s, q->action, q->workload, may_lose, q);
}

static void note_overridden(struct session *s)
{
	for (uint32_t i = 0; judge_has_soft_rules(&s->judge) && i < s->moves.n; i++)
		if (s->moves.v[i].kind == MOVE_EVICT && s->moves.v[i].is_valid) {
			struct member *m = &s->members[s->moves.v[i].member];

			m->overridden = (uint8_t)judge_overridden(&s->judge, m->pod);
		}
}

/*
 * Would its next members, one after the other, pass a maximum of their queues or a limit of a user, group or
 * application? Then room on nodes is no help.
 */
static bool is_over_limit(const struct session *s)
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

/* ---- who would search in vain again ---- */

struct vain { /* a workload that found nothing, nothing having moved since */
	uint32_t workload, n_tasks, signature;
	bool is_core;
	uint32_t n_refused_before;	 /* scenarios of it, by actions before this one */
	uint32_t n_scenarios, n_refused; /* in this one */
	bool kinds_matter;		 /* to its search: which requests stand before it in its queue */
	uint64_t kinds_before;
};
typedef ARRAY(struct vain) vain_list;

/* Do rules say of victims what they would say for any other of its queue and priority? */
static bool is_judged_like_others(const struct session *s)
{
	const struct judge *j = &s->judge;
	pod_id own = judge_asks(j, RULE_APPLICATION) ? ledger_app_first(s->ledger, j->ns, j->app) : POD_NONE;

	if (!s->is_for_moves)
		return s->judged_for.workload == NONE;
	while (own != POD_NONE && ledger_pod(s->ledger, own)->state != POD_PLACED)
		own = ledger_app_next(s->ledger, own);
	return own == POD_NONE && !judge_asks(j, RULE_PLUGIN);
}

/* Its next members, if they are all alike and nobody of it has a place: only then can it speak for others. */
static bool is_plain(struct session *s, uint32_t workload, struct vain *ret)
{
	const struct workload *u = &s->workloads[workload];

	if (s->en->config->looks_at_all || s->is_mirrored || !is_judged_like_others(s) || u->n_podsets != 1 ||
	    workload_count(u, SET_USED) > 0)
		return false;
	session_next_members(s, workload, true);
	for (uint32_t i = 0; i < s->tasks.n; i++) {
		const struct member *m = &s->members[s->tasks.v[i]], *first = &s->members[s->tasks.v[0]];

		if (m->signature != first->signature || m->is_core != first->is_core || m->copies != NONE ||
		    m->hint != NONE)
			return false;
	}
	if (s->tasks.n > 0)
		*ret = (struct vain){.workload = workload,
				     .n_tasks = s->tasks.n,
				     .signature = s->members[s->tasks.v[0]].signature,
				     .is_core = s->members[s->tasks.v[0]].is_core,
				     .n_refused_before = s->fates[workload].n_refused};
	return s->tasks.n > 0;
}

/*
 * Does anybody who runs in their queue come after one and before the other? Then they are not placed in one order.
 * Where it is told how a search went, those are not noted whose place among others mattered.
 */
static bool is_somebody_between(const struct session *s, const struct workload *x, const struct workload *y)
{
	const struct session_queue *q = &s->queues[x->queue];
	uint32_t from = x->rank < y->rank ? x->rank : y->rank, to = x->rank < y->rank ? y->rank : x->rank;

	for (uint32_t i = 0; i < q->victims.n; i++) {
		const struct workload *w = &s->workloads[q->victims.v[i]];

		if (w->priority == x->priority && w->rank > from && w->rank < to)
			return true;
	}
	return false;
}

enum { KINDS_KNOWN = 64 };

/* Of the requests of those that wait before it in its queue, a bit for each kind. False: some are of no kind. */
static bool find_kinds_before(const struct session *s, uint32_t workload, uint64_t *ret)
{
	const struct session_queue *q = &s->queues[s->workloads[workload].queue];

	*ret = 0;
	for (uint32_t i = 0; i < q->pending.n && q->pending.v[i] != workload; i++) {
		if (q->kinds.v[i] >= KINDS_KNOWN)
			return false;
		*ret |= UINT64_C(1) << q->kinds.v[i];
	}
	return true;
}

/* Do the same requests stand before both, if that matters? */
static bool stands_alike(const struct session *s, const struct vain *a, const struct vain *b)
{
	uint64_t kinds;

	return !a->kinds_matter || (find_kinds_before(s, b->workload, &kinds) && kinds == a->kinds_before);
}

static bool is_as_vain(const struct session *s, const struct vain *a, const struct vain *b)
{
	const struct workload *x = &s->workloads[a->workload], *y = &s->workloads[b->workload];

	return a->n_tasks == b->n_tasks && a->signature == b->signature && a->is_core == b->is_core &&
	       a->n_refused_before == b->n_refused_before && x->queue == y->queue && x->priority == y->priority &&
	       x->n_members == y->n_members && x->is_preemptible == y->is_preemptible && x->is_semi == y->is_semi &&
	       x->pending_state == y->pending_state &&
	       s->podsets[x->first_podset].min == s->podsets[y->first_podset].min &&
	       (s->is_for_moves ? !is_somebody_between(s, x, y) : stands_alike(s, a, b));
}

/* As the other did. */
static void fare_in_vain(struct session *s, const struct vain *other, uint32_t workload)
{
	const struct workload_fate *x = &s->fates[other->workload];
	struct workload_fate *u = &s->fates[workload];

	u->n_scenarios += other->n_scenarios;
	u->n_refused += other->n_refused;
	if (other->n_refused > 0) {
		u->refused_rule = x->refused_rule;
		u->refusal = x->refusal;
	}
	u->is_too_large = x->is_too_large;
	u->n_together = x->n_together;
	u->n_bearable = x->n_bearable;
}

static bool was_in_vain(struct session *s, const vain_list *l, uint32_t workload)
{
	struct vain x;

	if (!l->n || !is_plain(s, workload, &x))
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		if (is_as_vain(s, &l->v[i], &x)) {
			if (!s->is_for_moves)
				fare_in_vain(s, &l->v[i], workload);
			return true;
		}
	return false;
}

/* before: how it had fared when this action began with it. */
static void note_vain(struct session *s, uint32_t workload, const struct workload_fate *before, vain_list *l)
{
	const struct workload_fate *u = &s->fates[workload];
	struct vain x;

	if (!is_plain(s, workload, &x) || (!s->is_for_moves && (s->place_matters || u->hit_bound)))
		return;
	x.n_refused_before = before->n_refused;
	x.n_scenarios = u->n_scenarios - before->n_scenarios;
	x.n_refused = u->n_refused - before->n_refused;
	x.kinds_matter = s->kinds_matter;
	if (!s->is_for_moves && x.kinds_matter && !find_kinds_before(s, workload, &x.kinds_before))
		return;
	array_push(l, x);
}

static void run_search(struct session *s, enum action action)
{
	struct order_item item;
	vain_list vain = {0};

	begin_waiting(s, action);
	while (order_pop(s, ORDER_ACTION, &item)) {
		struct preemptor q = {.action = action, .workload = item.workload};
		struct workload_fate before;

		if (!session_judge_for(s, action, item.workload) || (s->is_for_moves && is_over_limit(s)) ||
		    !is_worth_a_try(s, action, item.workload) || was_in_vain(s, &vain, item.workload))
			continue;
		session_note_protected(s, item.workload);
		before = s->fates[item.workload];
		s->place_matters = s->kinds_matter = false;
		if (!solve(s, &q)) {
			note_vain(s, item.workload, &before, &vain);
			continue;
		}
		note_overridden(s);
		session_commit(s, action, item.workload);
		vain.n = 0;
	}
	array_free(&vain);
}

/* ---- gangs below their minimum ---- */

static bool is_stale(const struct session *s, const struct workload *u)
{
	bool is_short = false;

	for (uint32_t i = 0; i < u->n_podsets; i++) {
		const struct session_podset *p = &s->podsets[u->first_podset + i];

		is_short |= podset_count(p, SET_USED) < (uint32_t)p->min;
	}
	return is_short && u->count[IS_DONE] == 0 && workload_count(u, SET_USED) > 0;
}

/* By rank: they are few, and none gets stale because another has to go. */
static void find_stale(const struct session *s, struct bits *ret)
{
	for (uint32_t i = 0; i < s->n_workloads; i++)
		if (is_stale(s, &s->workloads[i]))
			bits_set(ret, s->workloads[i].rank);
}

static void run_stale_gang(struct session *s)
{
	int64_t grace = s->settings->staleness_grace_ns;
	struct bits stale = {0};

	if (grace >= 0)
		find_stale(s, &stale);
	for (uint32_t i = bits_next(&stale, 0); i != UINT32_MAX; i = bits_next(&stale, i + 1)) {
		struct workload *u = &s->workloads[s->by_rank[i]];
		int64_t since = u->stale_ns == TIME_NONE ? s->now_ns : u->stale_ns;

		if (time_since(s->now_ns, since) < grace || !session_may_clean_up(s, s->by_rank[i]))
			continue;
		for (uint32_t p = u->first_podset; p < u->first_podset + u->n_podsets; p++)
			for (uint32_t k = s->podsets[p].first; k < s->podsets[p].first + s->podsets[p].n; k++)
				if (is_in(s->members[k].status, SET_ACTIVE))
					session_evict(s, k);
		session_commit(s, ACTION_STALE_GANG, s->by_rank[i]);
	}
	bits_free(&stale);
}

/*
 * Room is given out anew, and nobody has any because he was nominated before: filters that look at other pods do not
 * see him there either, as in KAI. Who called takes the moves back.
 */
static void hide_nominated(struct session *s)
{
	for (uint32_t i = 0; i < s->n_nodes && s->is_mirrored; i++) {
		const struct ledger_node *n = ledger_node(s->ledger, s->nodes[i].id);

		while (n->nominated.n > 0)
			ledger_clear_nomination(s->ledger, n->nominated.v[0]);
	}
}

void session_run(struct session *s)
{
	hide_nominated(s);
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

/*
 * Room is reserved for these, which is counted; filters that look at other pods have to see them there too, or somebody
 * gets a place beside one that will not bear it. Who called takes the moves back.
 */
static void show_nominated(struct session *s)
{
	for (uint32_t i = 0; i < s->n_nodes && s->is_mirrored; i++) {
		const struct ledger_node *n = ledger_node(s->ledger, s->nodes[i].id);

		while (n->nominated.n > 0)
			ledger_place(s->ledger, n->nominated.v[0], s->nodes[i].id);
	}
}

void session_run_moves(struct session *s)
{
	show_nominated(s);
	run_search(s, ACTION_CONSOLIDATE);
}
