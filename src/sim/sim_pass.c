/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of the engine: whom it asks, who is passed over, and who sleeps after it. */
#include "sim/sim_asleep.h"

/* YuniKorn's order of queues depends on all that waits in them: nobody sleeps there. */
static bool order_needs_all(const struct sim *s)
{
	return profile_get(helps_config(s)->profile)->order == ORDER_YUNIKORN;
}

/* Whom no event woke, and who is asked all the same. */
static void wake_others(struct sim *s, bool wakes_all)
{
	struct asleep *a = s->asleep;

	if (!wakes_all && !a->has_windows && !a->n_loose)
		return;
	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		k->must_ask |= wakes_all || k->is_loose;
		if (wakes_all || k->is_loose)
			kind_rouse(a, k);
		else if (a->has_windows && !k->is_awake && k->is_group)
			kind_wake_for_time(s, k);
	}
}

static void forget_sleepers(struct asleep *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->awake.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->awake.v[i]];

		k->is_listed = k->is_awake;
		if (k->is_awake)
			a->awake.v[n++] = a->awake.v[i];
	}
	a->awake.n = n;
}

static void collect_kind(struct sim *s, struct wait_kind *k, bool wants_all)
{
	struct asleep *a = s->asleep;

	kind_put_in_order(s, k);
	k->pass = a->pass;
	k->n_tried = k->n_placed = 0;
	k->refused_at = k->passed_at = UINT32_MAX;
	k->was_decided = false;
	k->n_grown = 0;
	for (uint32_t p = k->head; p < k->pods.n && (wants_all || k->n_tried < k->at_most); p++)
		if (k->pods.v[p] != POD_NONE) {
			array_push(&a->tried, k->pods.v[p]);
			k->n_tried++;
		}
}

bool wake_collect(struct sim *s, bool is_again, const pod_id **ret, uint32_t *ret_n)
{
	struct asleep *a = asleep_of(s);
	bool needs_all = order_needs_all(s);

	a->tried.n = 0;
	a->n_seen = 0;
	a->pass = 0;
	a->n_grown = 0;
	a->n_refused = 0;
	a->has_victims = a->has_missed = a->has_unseen = false;
	if (a->now_ns != s->now_ns)
		a->before_ns = a->now_ns;
	a->now_ns = s->now_ns;
	a->has_windows = wake_has_windows(s) || s->spared_until_ns > a->before_ns;
	a->has_looked = false;
	wait_classes_look_again(s);
	wake_others(s, needs_all || profile_get(helps_config(s)->profile)->search_mode == MODE_SCENARIOS);
	forget_sleepers(a);
	a->pass = ++a->n_passes;
	for (uint32_t i = 0; i < a->awake.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->awake.v[i]];

		if (!is_again || k->at_most < AT_FIRST)
			k->at_most = AT_FIRST;
		collect_kind(s, k, k->is_group || needs_all);
	}
	*ret = a->tried.v;
	*ret_n = a->tried.n;
	return a->awake.n > 0;
}

void wake_follow(struct sim *s, const struct decisions *plan)
{
	asleep_of(s)->plan = plan;
}

/* Of a kind of many a nomination is one's own: the others have still to be asked. */
static bool speaks_for_kind(const struct wait_kind *k, const struct decision *d)
{
	if (d->outcome == OUTCOME_NOMINATED)
		return k->is_group || k->is_nominated;
	return d->outcome != OUTCOME_PLACED;
}

/* Who waits for pods that should have gone long ago may reserve room that others count on who wait for others. */
static bool is_overdue(const struct decision *d, const struct pod *p)
{
	return d->overdue.node != NODE_NONE && p->nomination != NOMINATION_NONE;
}

/* Room that was reserved for it, and which it does not need any more. */
static void see_given_up(struct sim *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	node_id kept = asleep_waiter(s->asleep, pod)->nominated;

	if (kept == NODE_NONE || (p->node == kept && (p->state == POD_PLACED || p->nomination != NOMINATION_NONE)))
		return;
	wake_node_gained(s, kept);
	wake_queue_lost(s, p->queue);
}

/*
 * A pass asks everybody in turn, so what one gets may help the next in the same pass, whether he was awake or not: his
 * queue grew, and others may take from who was there before; or he gave up room that was reserved for him.
 */
static void see_helps(struct sim *s, const struct decision *d)
{
	const struct pod *p = ledger_pod(s->ledger, d->pod);
	node_id kept = asleep_waiter(s->asleep, d->pod)->nominated;

	if (d->outcome == OUTCOME_PLACED)
		wake_queue_grew(s, p->queue, p->group);
	s->asleep->n_grown += d->outcome == OUTCOME_PLACED;
	if (is_overdue(d, p) && p->node != kept)
		wake_node_taken(s, p->node);
	see_given_up(s, d->pod);
}

static void see(struct sim *s, const struct decision *d)
{
	struct asleep *a = s->asleep;
	uint32_t at = d->pod == POD_NONE ? SLOT_NONE : asleep_waiter(a, d->pod)->kind;

	a->has_victims |= d->n_victims > 0;
	if (at == SLOT_NONE)
		return;
	if (!s->o.is_exhaustive && !a->has_victims)
		see_helps(s, d);
	else
		a->has_unseen |= d->outcome == OUTCOME_PLACED;
	if (d->outcome != OUTCOME_PLACED)
		a->kinds.v[at].n_grown = a->n_grown;
	a->kinds.v[at].was_decided |= speaks_for_kind(&a->kinds.v[at], d);
	if (d->outcome == OUTCOME_WAITING)
		a->kinds.v[at].refused_at = ledger_get_mark(s->ledger);
	else
		a->kinds.v[at].n_placed++;
}

static void catch_up(struct sim *s)
{
	struct asleep *a = s->asleep;

	for (; a->n_seen < a->plan->v.n; a->n_seen++)
		see(s, &a->plan->v.v[a->n_seen]);
}

/* Who is refused leaves no trace: where no more was moved than the last time, all is as it was. */
static void look_again(struct sim *s)
{
	struct asleep *a = s->asleep;
	ledger_mark mark = ledger_get_mark(s->ledger);

	if (!a->has_looked || a->looked_at != mark)
		wait_classes_look_again(s);
	a->has_looked = true;
	a->looked_at = mark;
}

/*
 * If all went who might be asked to, at whatever time, it would still lack room: it is refused for sure, time alone
 * does not help it, and only who wants to hear why has to ask. Who may not take from others yet is told when he may,
 * and a group until when those stay where they are who might move for it.
 */
static bool is_hopeless(struct sim *s, const struct wait_kind *k)
{
	if (k->is_group || k->is_nominated || k->need.reclaims_from_ns > s->now_ns)
		return false;
	return !s->o.watcher.waiting && !wake_is_unclear(s) && !class_helps_any_node(s, &k->need);
}

uint64_t wake_n_refused(const struct sim *s)
{
	return s->asleep->n_refused;
}

/* A pass ends where somebody has to go: what he leaves behind may be of use to those who were asleep. */
bool wake_passes_over_rest(void *sim)
{
	struct sim *s = sim;

	catch_up(s);
	return s->asleep->has_victims;
}

/* Asked after wake_passes_over_rest, which has seen what was decided so far. */
bool wake_passes_over(void *sim, pod_id pod)
{
	struct sim *s = sim;
	struct asleep *a = s->asleep;
	struct wait_kind *k = &a->kinds.v[asleep_waiter(a, pod)->kind];
	ledger_mark mark = ledger_get_mark(s->ledger);

	if (s->o.is_exhaustive)
		return false;
	if (!k->is_awake)
		return true;
	if (k->is_wary)
		return false;
	if ((!k->is_group && k->refused_at == mark) || k->passed_at == mark)
		return true;
	look_again(s);
	if (kind_is_still_helped(s, k) && !(k->must_ask && is_hopeless(s, k)))
		return false;
	a->n_refused += k->must_ask; /* it is a decision all the same */
	k->passed_at = mark;
	k->n_grown = a->n_grown;
	k->was_decided = true; /* and sleeps on */
	return true;
}

bool wake_was_cut(struct sim *s)
{
	struct asleep *a = s->asleep;
	bool was_cut = false;

	catch_up(s);
	for (uint32_t i = 0; i < a->awake.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->awake.v[i]];

		if (!k->n_tried || k->n_placed < k->n_tried || k->n_waiting <= k->n_tried)
			continue;
		k->at_most *= MORE;
		was_cut = true;
	}
	return was_cut;
}

bool wake_has_missed(struct sim *s)
{
	catch_up(s);
	return s->asleep->has_missed;
}

bool wake_has_loose(const struct sim *s)
{
	return s->asleep && s->asleep->n_loose;
}

static bool group_may_move(struct sim *s, const struct class_kinds *c)
{
	for (uint32_t i = 0; i < c->v.n; i++) {
		const struct wait_kind *k = &s->asleep->kinds.v[c->v.v[i]];

		if (k->is_group && (k->is_wary || class_may_move(s, &k->need)))
			return true;
	}
	return false;
}

bool wake_groups_wait(void *sim)
{
	struct sim *s = sim;
	struct asleep *a = s->asleep;

	if (s->o.is_exhaustive)
		return true;
	wait_classes_look_again(s);
	a->has_looked = false;
	for (uint32_t i = 0; i < a->classes.n; i++) {
		const struct class_kinds *c = &a->classes.v[i];

		if (c->v.n && (c->n_wary || class_has_room_to_move(s, i)) && group_may_move(s, c))
			return true;
	}
	return false;
}

bool wake_may_move(struct sim *s)
{
	bool is_due = s->moves_due || s->asleep->has_windows;

	s->moves_due = false;
	return is_due && wake_groups_wait(s) && engine_may_move(s->engine, GROUP_NONE);
}

/* ---- after a pass ---- */

static int64_t earlier(int64_t a, int64_t b)
{
	return b == TIME_NONE || (a != TIME_NONE && a < b) ? a : b;
}

/*
 * Where queues lose only so many pods within an hour: when some queue may lose one more. Who needs more than one is not
 * told when that may be.
 */
static int64_t rate_eases_at(const struct sim *s)
{
	const struct eviction_history *h = &s->history;
	int64_t hour_ago = time_since(s->now_ns, 3600 * NS_PER_S);
	uint32_t from = 0, to = h->v.n;

	if (!helps_config(s)->evictions_per_hour)
		return TIME_NONE;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (h->v.v[middle].at_ns > hour_ago)
			to = middle;
		else
			from = middle + 1;
	}
	return from == h->v.n ? TIME_NONE : time_add(h->v.v[from].at_ns, 3600 * NS_PER_S);
}

int64_t wake_next_time(const struct sim *s, const struct decision *d)
{
	int64_t at = earlier(d->until_ns != TIME_NONE && d->until_ns > s->now_ns ? d->until_ns : TIME_NONE,
			     rate_eases_at(s));

	for (uint32_t i = 0; i < d->n_protected; i++) {
		int64_t until = d->protected[i].verdict.until_ns;

		if (until != TIME_NONE && until > s->now_ns)
			at = earlier(at, until);
	}
	return at;
}

static void set_wake(struct sim *s, uint32_t at, int64_t when)
{
	struct wait_kind *k = &s->asleep->kinds.v[at];

	if (when == TIME_NONE)
		return;
	if (k->timer != SLOT_NONE && s->timers.v[k->timer].at_ns <= when)
		return;
	timer_cancel(s, &k->timer);
	k->timer = timer_set(s, when, TIMER_WAKE, at);
}

static void fall_asleep(struct sim *s, uint32_t at)
{
	struct wait_kind *k = &s->asleep->kinds.v[at];

	k->is_awake = k->must_ask = false;
	k->n_nodes = 0;
	kind_set_loose(s->asleep, k, false);
	k->fitted_max = helps_max(s, &k->need);
	k->could_reclaim = helps_reclaim(s, &k->need);
}

/* Its place among kinds: who has room reserved waits for that alone. */
static void move_kind(struct sim *s, pod_id pod, node_id nominated)
{
	struct asleep *a = s->asleep;
	struct waiter *w = asleep_waiter(a, pod);
	node_id old = w->nominated;

	if (old == nominated)
		return;
	if (a->kinds.v[w->kind].is_group) {
		w->nominated = nominated;
	} else {
		wake_leave(s, pod);
		kind_enter(s, pod, nominated);
		if (nominated != NODE_NONE)
			a->kinds.v[asleep_waiter(a, pod)->kind].is_awake =
				a->kinds.v[asleep_waiter(a, pod)->kind].must_ask = false;
	}
	if (old != NODE_NONE)
		wake_node_gained(s, old);
	if (nominated == NODE_NONE)
		wake_queue_lost(s, ledger_pod(s->ledger, pod)->queue);
}

/* In profile kubernetes who takes a node takes it from lower pods that were nominated there: they look again. */
static void wake_those_who_lost(struct sim *s, node_id node)
{
	struct asleep *a = s->asleep;

	for (uint32_t i = 0; i < a->nominated.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->nominated.v[i]];

		if (kind_is_nominated_to(a, k, node) &&
		    ledger_pod(s->ledger, k->pods.v[k->head])->nomination == NOMINATION_NONE)
			kind_wake(s, k);
	}
}

/* Of several of a kind that a pass refused, the oldest may take from others first. */
static void note_delay(const struct asleep *a, struct wait_kind *k, const struct decision *d)
{
	int64_t from = d->own_rule == RULE_DELAY ? d->until_ns : TIME_NONE; /* which is before any time */

	if (k->settled != a->n_passes || from < k->need.reclaims_from_ns)
		k->need.reclaims_from_ns = from;
	k->settled = a->n_passes;
}

/*
 * When it is worth another try though nothing happened. Who has reserved room that does not come free in time looks
 * everywhere, like everybody (engine/queued.c), and is not told of whom it could take it from instead, and when; nor is
 * of all times who was told of so many that some were left out.
 */
static void settle(struct sim *s, const struct decision *d)
{
	struct asleep *a = s->asleep;
	const struct pod *p = ledger_pod(s->ledger, d->pod); /* it may keep a nomination though nothing was decided */
	node_id nominated = p->nomination != NOMINATION_NONE ? p->node : NODE_NONE;
	uint32_t kind;
	bool is_new;

	if (asleep_waiter(a, d->pod)->kind == SLOT_NONE)
		return;
	is_new = asleep_waiter(a, d->pod)->nominated != nominated;
	if (is_overdue(d, p) && is_new)
		wake_node_taken(s, nominated);
	move_kind(s, d->pod, nominated);
	kind = asleep_waiter(a, d->pod)->kind;
	if (is_overdue(d, p) || d->n_protected >= PROTECTED_MAX)
		kind_set_loose(a, &a->kinds.v[kind], true);
	if (nominated != NODE_NONE) {
		if (wake_looks_everywhere(s) && d->n_victims)
			wake_those_who_lost(s, nominated);
		if (is_new && a->kinds.v[kind].is_group && helps_now(s, &a->kinds.v[kind].need, nominated))
			kind_wake(s, &a->kinds.v[kind]); /* others moved for it: it may start now */
		if (!a->kinds.v[kind].is_loose)
			return;
	}
	note_delay(a, &a->kinds.v[kind], d);
	set_wake(s, kind, wake_next_time(s, d));
}

/*
 * Nobody who got a place in a pass can be a victim in it; in the next he can. And where the place was reserved for him,
 * others could not have it before, but may be able to take it from him now.
 */
static void wake_class_for_newcomer(struct sim *s, const struct class_kinds *c, const struct pod *p, bool is_unclear)
{
	for (uint32_t i = 0; i < c->v.n; i++) {
		struct wait_kind *k = &s->asleep->kinds.v[c->v.v[i]];

		if (k->must_ask || k->is_nominated || !helps_to_evict(s, &k->need, p) ||
		    !(is_unclear || kind_is_helped_by_node(s, k, p->node)))
			continue;
		if (is_unclear)
			kind_wake(s, k);
		else
			kind_wake_by_node(s, k, p->node);
	}
}

static void wake_for_newcomer(struct sim *s, pod_id pod)
{
	struct asleep *a = s->asleep;
	const struct pod *p = ledger_pod(s->ledger, pod);
	bool is_unclear = wake_is_unclear(s);

	for (uint32_t i = 0; i < a->classes.n; i++) {
		const struct class_kinds *c = &a->classes.v[i];

		if (c->v.n && class_may_take(s, i, p) && (is_unclear || c->n_wary || class_helps_some(s, i, p->node)))
			wake_class_for_newcomer(s, c, p, is_unclear);
	}
}

/* Whose queue came up to its guarantee meanwhile is asked again when it falls below it. */
static void forget_claims(struct sim *s)
{
	struct asleep *a = s->asleep;

	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->could_reclaim && !class_helps_reclaim(s, &k->need))
			k->could_reclaim = false;
	}
}

void wake_drop_pass(struct sim *s)
{
	s->asleep->pass = 0;
}

void wake_settle(struct sim *s, const struct decisions *plan)
{
	struct asleep *a = s->asleep;

	catch_up(s);
	a->pass = 0;
	for (uint32_t i = 0; i < a->awake.n; i++)
		if (a->kinds.v[a->awake.v[i]].is_awake && a->kinds.v[a->awake.v[i]].was_decided)
			fall_asleep(s, a->awake.v[i]);
	for (uint32_t i = 0; i < plan->v.n; i++)
		if (plan->v.v[i].pod != POD_NONE && plan->v.v[i].outcome != OUTCOME_PLACED)
			settle(s, &plan->v.v[i]);
	wait_classes_look_again(s);
	forget_claims(s);
	for (uint32_t i = 0; i < plan->v.n; i++)
		if (plan->v.v[i].outcome == OUTCOME_PLACED) {
			see_given_up(s, plan->v.v[i].pod);
			wake_for_newcomer(s, plan->v.v[i].pod);
		}
}
