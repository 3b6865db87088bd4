/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_wake.h"

#include <stdlib.h>
#include <string.h>

struct wait_kind {
	bool is_live, is_awake;
	bool is_wary; /* filters look at other pods, or at volumes: anything may help it */
	bool is_group;
	bool is_nominated;		/* one pod, or a group of which some have reserved room */
	bool fitted_max, could_reclaim; /* when it was refused */
	queue_id queue;
	shape_id shape;
	labelset_id labelset;
	int32_t priority;
	name_id app;
	enum owner_kind owner;
	group_id group;
	uint64_t hash;
	uint32_t next_of_hash;
	uint32_t at; /* among the live ones */
	uint32_t timer;
	int64_t reclaims_from_ns;   /* its delay ends; TIME_NONE: none */
	bool was_decided;	    /* in the present pass: refused, gated or nominated */
	ledger_mark refused_at;	    /* in the present pass */
	uint32_t n_tried, n_placed; /* of the pass */
	ARRAY(pod_id) pods;	    /* oldest first, from head on; POD_NONE: left */
	uint32_t head, n_waiting;
};

struct waiter {
	uint32_t kind; /* SLOT_NONE: does not wait */
	uint32_t pos;
	node_id nominated;
};

struct asleep {
	ARRAY(struct wait_kind) kinds;
	ARRAY(uint32_t) free_kinds, live;
	ARRAY(struct waiter) waiters;
	struct map by_hash;
	ARRAY(pod_id) tried;
	uint32_t n_seen; /* decisions of the pass that were looked at */
	const struct decisions *plan;
	bool has_victims; /* the pass has */
};

static struct asleep *of(struct sim *s)
{
	if (!s->asleep)
		s->asleep = mem_alloc(sizeof(*s->asleep));
	return s->asleep;
}

static struct waiter *waiter_of(struct asleep *a, pod_id pod)
{
	while (a->waiters.n <= pod)
		array_push(&a->waiters, ((struct waiter){.kind = SLOT_NONE, .nominated = NODE_NONE}));
	return &a->waiters.v[pod];
}

static const struct engine_config *config_of(const struct sim *s)
{
	return s->own_config ? s->own_config : s->o.config;
}

/* ---- kinds ---- */

static bool is_wary(const struct sim *s, const struct pod *p)
{
	const struct shape *x = shape_get(s->vocab, p->shape);

	return p->has_volumes || x->has_claims || x->affinity.n || x->anti_affinity.n || x->n_spreads || x->n_ports ||
	       x->runs_on != NAME_NONE;
}

static struct wait_kind kind_like(const struct sim *s, const struct pod *p, bool is_nominated)
{
	struct wait_kind k = {
		.is_live = true, .is_awake = true, .queue = p->queue, .group = p->group, .timer = SLOT_NONE};

	k.is_group = p->group != GROUP_NONE;
	k.is_nominated = is_nominated && !k.is_group;
	k.is_wary = is_wary(s, p);
	k.reclaims_from_ns = TIME_NONE;
	k.shape = p->shape;
	k.labelset = p->labelset;
	k.priority = p->priority;
	k.app = p->obj->app;
	k.owner = p->obj->owner_kind == OWNER_DAEMONSET ? OWNER_DAEMONSET : OWNER_NONE;
	if (k.is_group)
		k.hash = hash_mix(1, p->group);
	else
		k.hash = hash_mix(hash_mix(hash_mix(map_key2(p->queue, p->shape), map_key2(p->labelset, k.app)),
					   (uint32_t)p->priority),
				  k.owner);
	return k;
}

static bool are_alike(const struct wait_kind *a, const struct wait_kind *b)
{
	if (a->is_group || b->is_group)
		return a->group == b->group;
	return a->queue == b->queue && a->shape == b->shape && a->labelset == b->labelset &&
	       a->priority == b->priority && a->app == b->app && a->owner == b->owner;
}

static uint32_t find_kind(const struct asleep *a, const struct wait_kind *like)
{
	uint32_t at = map_get(&a->by_hash, like->hash);

	while (at != MAP_NONE && !are_alike(&a->kinds.v[at], like))
		at = a->kinds.v[at].next_of_hash;
	return at;
}

static uint32_t add_kind(struct asleep *a, struct wait_kind *k)
{
	uint32_t at = a->free_kinds.n ? array_pop(&a->free_kinds) : a->kinds.n;

	if (at == a->kinds.n)
		array_push(&a->kinds, (struct wait_kind){0});
	k->next_of_hash = MAP_NONE;
	if (!k->is_nominated) {
		k->next_of_hash = map_get(&a->by_hash, k->hash);
		map_put(&a->by_hash, k->hash, at);
	}
	k->at = a->live.n;
	array_push(&a->live, at);
	a->kinds.v[at] = *k;
	return at;
}

static void unchain(struct asleep *a, uint32_t at)
{
	struct wait_kind *k = &a->kinds.v[at];
	uint32_t *link, first = map_get(&a->by_hash, k->hash);

	if (k->is_nominated)
		return;
	if (first == at) {
		if (k->next_of_hash == MAP_NONE)
			map_del(&a->by_hash, k->hash);
		else
			map_put(&a->by_hash, k->hash, k->next_of_hash);
		return;
	}
	for (link = &a->kinds.v[first].next_of_hash; *link != at; link = &a->kinds.v[*link].next_of_hash)
		;
	*link = k->next_of_hash;
}

static void drop_kind(struct sim *s, uint32_t at)
{
	struct asleep *a = s->asleep;
	struct wait_kind *k = &a->kinds.v[at];
	uint32_t last = array_last(&a->live);

	unchain(a, at);
	timer_cancel(s, &k->timer);
	a->live.v[k->at] = last;
	a->kinds.v[last].at = k->at;
	a->live.n--;
	array_free(&k->pods);
	*k = (struct wait_kind){0};
	array_push(&a->free_kinds, at);
}

/* ---- who waits ---- */

static bool comes_before(const struct sim *s, pod_id a, pod_id b)
{
	const struct pod *x = ledger_pod(s->ledger, a), *y = ledger_pod(s->ledger, b);
	int64_t made_x = x->created_ns == TIME_NONE ? INT64_MAX : x->created_ns;
	int64_t made_y = y->created_ns == TIME_NONE ? INT64_MAX : y->created_ns;

	if (made_x != made_y)
		return made_x < made_y;
	return name_cmp(s->names, x->name, y->name) < 0;
}

static void put_in_order(struct sim *s, uint32_t at, pod_id pod)
{
	struct asleep *a = s->asleep;
	struct wait_kind *k = &a->kinds.v[at];
	uint32_t pos = k->pods.n;

	array_push(&k->pods, pod);
	for (; pos > k->head && (k->pods.v[pos - 1] == POD_NONE || comes_before(s, pod, k->pods.v[pos - 1])); pos--) {
		k->pods.v[pos] = k->pods.v[pos - 1];
		if (k->pods.v[pos] != POD_NONE)
			waiter_of(a, k->pods.v[pos])->pos = pos;
	}
	k->pods.v[pos] = pod;
	waiter_of(a, pod)->pos = pos;
	k->n_waiting++;
}

static void wake(struct sim *s, struct wait_kind *k)
{
	k->is_awake = true;
	timer_cancel(s, &k->timer);
}

static void enter(struct sim *s, pod_id pod, node_id nominated)
{
	struct asleep *a = of(s);
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct wait_kind like = kind_like(s, p, nominated != NODE_NONE);
	uint32_t at = like.is_nominated ? MAP_NONE : find_kind(a, &like);

	if (at == MAP_NONE)
		at = add_kind(a, &like);
	*waiter_of(a, pod) = (struct waiter){.kind = at, .nominated = nominated};
	put_in_order(s, at, pod);
}

void wake_enter(struct sim *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct wait_kind *k;

	enter(s, pod, p->nomination != NOMINATION_NONE ? p->node : NODE_NONE);
	k = &s->asleep->kinds.v[waiter_of(s->asleep, pod)->kind];
	if (k->is_group || k->is_wary)
		wake(s, k);
}

static void compact(struct asleep *a, struct wait_kind *k)
{
	uint32_t n = 0;

	while (k->head < k->pods.n && k->pods.v[k->head] == POD_NONE)
		k->head++;
	if (k->head < 64 || k->head < k->pods.n / 2)
		return;
	for (uint32_t i = k->head; i < k->pods.n; i++) {
		if (k->pods.v[i] == POD_NONE)
			continue;
		k->pods.v[n] = k->pods.v[i];
		waiter_of(a, k->pods.v[n])->pos = n;
		n++;
	}
	k->pods.n = n;
	k->head = 0;
}

void wake_leave(struct sim *s, pod_id pod)
{
	struct asleep *a = of(s);
	struct waiter *w = waiter_of(a, pod);
	uint32_t at = w->kind;
	struct wait_kind *k;

	if (at == SLOT_NONE)
		return;
	k = &a->kinds.v[at];
	k->pods.v[w->pos] = POD_NONE;
	w->kind = SLOT_NONE;
	w->nominated = NODE_NONE;
	if (--k->n_waiting == 0)
		drop_kind(s, at);
	else
		compact(a, k);
}

/* ---- what may help a kind ---- */

void sim_wake_all(struct sim *s)
{
	struct asleep *a = of(s);

	for (uint32_t i = 0; i < a->live.n; i++)
		wake(s, &a->kinds.v[a->live.v[i]]);
	s->is_dirty = true;
}

void sim_wake_time(struct sim *s, uint32_t what)
{
	struct wait_kind *k = &s->asleep->kinds.v[what];

	k->timer = SLOT_NONE;
	k->is_awake = true;
}

static bool has_guarantee_left(const struct sim *s, queue_id q)
{
	const struct queue_tree *t = ledger_queues(s->ledger);

	for (; q != QUEUE_NONE; q = queue_get(t, q)->parent) {
		const struct res_vec *g = &queue_get(t, q)->spec.guaranteed;
		const int64_t *used = ledger_queue_used(s->ledger, q);

		for (uint64_t left = g->mask; left; left &= left - 1) {
			res_id r = (res_id)__builtin_ctzll(left);

			if (used[r] < g->v[r])
				return true;
		}
	}
	return false;
}

static bool can_reclaim(const struct sim *s, const struct wait_kind *k)
{
	if (k->queue == QUEUE_NONE || !profile_has_action(config_of(s)->profile, ACTION_RECLAIM))
		return false;
	if (k->reclaims_from_ns != TIME_NONE && s->now_ns < k->reclaims_from_ns)
		return false;
	return has_guarantee_left(s, k->queue);
}

static bool fits_max(const struct sim *s, const struct wait_kind *k)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	const struct res_list *l = &shape_get(s->vocab, k->shape)->request;

	for (queue_id q = k->queue; q != QUEUE_NONE; q = queue_get(t, q)->parent) {
		const struct res_vec *max = &queue_get(t, q)->spec.max;
		const int64_t *used = ledger_queue_used(s->ledger, q);

		for (uint32_t i = 0; max->mask && i < l->n; i++)
			if (max->mask >> l->v[i].type & 1 &&
			    res_add_sat(used[l->v[i].type], l->v[i].amount) > max->v[l->v[i].type])
				return false;
	}
	return true;
}

/* Might it be asked to go for the kind? Too often yes is fine. */
static bool may_go(const struct sim *s, const struct wait_kind *k, const struct pod *v, bool reclaims)
{
	if (v->state != POD_PLACED)
		return false;
	if (k->queue == v->queue || profile_get(config_of(s)->profile)->search_mode == MODE_PODS)
		return v->priority < k->priority || v->group != GROUP_NONE;
	return reclaims;
}

/* With all that is free, leaves or may go, is there room for one of its pods? */
static bool might_fit(const struct sim *s, const struct wait_kind *k, node_id node)
{
	const struct res_list *l = &shape_get(s->vocab, k->shape)->request;
	const struct ledger_node *n = ledger_node(s->ledger, node);
	const int64_t *has = ledger_node_allocatable(s->ledger, node), *used = ledger_node_used(s->ledger, node),
		      *leaving = ledger_node_leaving(s->ledger, node);
	int64_t lacks[RES_MAX];
	bool reclaims = can_reclaim(s, k), is_short = used[RES_PODS] - leaving[RES_PODS] >= has[RES_PODS];

	for (uint32_t i = 0; i < l->n; i++) {
		res_id r = l->v[i].type;

		lacks[i] = l->v[i].amount - (has[r] - used[r] + leaving[r]);
		if (l->v[i].amount > has[r])
			return false;
		is_short |= lacks[i] > 0;
	}
	for (uint32_t p = 0; is_short && p < n->pods.n; p++) {
		const struct pod *v = ledger_pod(s->ledger, n->pods.v[p]);

		if (!may_go(s, k, v, reclaims))
			continue;
		is_short = false;
		for (uint32_t i = 0; i < l->n; i++) {
			lacks[i] -= res_list_get(&shape_get(s->vocab, v->shape)->usage, l->v[i].type);
			is_short |= lacks[i] > 0;
		}
	}
	return !is_short;
}

/* A group that others may move for needs as much room as it asks for, wherever it is. */
static bool might_fit_moved(const struct sim *s, const struct wait_kind *k)
{
	const struct res_list *l = &shape_get(s->vocab, k->shape)->request;
	const int64_t *used = s->accounts.v[0].used;

	if (!profile_has_action(config_of(s)->profile, ACTION_CONSOLIDATE))
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		if (s->room[l->v[i].type] - used[l->v[i].type] < l->v[i].amount * k->n_waiting)
			return false;
	return true;
}

static bool is_unclear(const struct sim *s)
{
	const struct engine_config *c = config_of(s);

	return s->o.is_exhaustive || profile_get(c->profile)->search_mode == MODE_SCENARIOS || c->n_plugins ||
	       s->o.n_plugins || engine_config_reclaims_by(c) == RECLAIM_FAIR_SHARE || s->has_budgets;
}

void wake_node_gained(struct sim *s, node_id node)
{
	struct asleep *a = of(s);
	bool is_live = node != NODE_NONE && ledger_node(s->ledger, node)->is_live;

	if (is_unclear(s)) {
		sim_wake_all(s);
		return;
	}
	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->is_awake)
			continue;
		if (k->is_wary || (is_live && might_fit(s, k, node)) || (k->is_group && might_fit_moved(s, k)))
			wake(s, k);
	}
	wake_node_taken(s, node);
}

static bool is_nominated_to(struct asleep *a, const struct wait_kind *k, node_id node)
{
	for (uint32_t i = k->head; i < k->pods.n; i++)
		if (k->pods.v[i] != POD_NONE && waiter_of(a, k->pods.v[i])->nominated == node)
			return true;
	return false;
}

/* Who has room reserved there looks again, whatever happened. */
void wake_node_taken(struct sim *s, node_id node)
{
	struct asleep *a = of(s);
	const struct ledger_node *n;

	if (node == NODE_NONE || node >= ledger_node_limit(s->ledger))
		return;
	n = ledger_node(s->ledger, node);
	for (uint32_t i = 0; i < n->nominated.n; i++) {
		uint32_t at = waiter_of(a, n->nominated.v[i])->kind;

		if (at != SLOT_NONE)
			wake(s, &a->kinds.v[at]);
	}
	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (!k->is_awake && k->is_nominated && is_nominated_to(a, k, node))
			wake(s, k);
	}
}

static bool shares_path(const struct sim *s, queue_id a, queue_id b)
{
	const struct queue_tree *t = ledger_queues(s->ledger);

	if (a == b)
		return true;
	for (queue_id q = a == QUEUE_NONE ? QUEUE_NONE : queue_get(t, a)->parent; q != QUEUE_NONE;
	     q = queue_get(t, q)->parent)
		if (queue_get(t, q)->spec.guaranteed.mask || queue_get(t, q)->spec.max.mask)
			for (queue_id o = b; o != QUEUE_NONE; o = queue_get(t, o)->parent)
				if (o == q)
					return true;
	return false;
}

void wake_queue_lost(struct sim *s, queue_id leaf)
{
	struct asleep *a = of(s);

	if (leaf == QUEUE_NONE)
		return;
	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->is_awake || k->queue == QUEUE_NONE || !shares_path(s, k->queue, leaf))
			continue;
		if (k->is_group || queue_get(ledger_queues(s->ledger), k->queue)->spec.sources & FROM_KAI ||
		    (!k->fitted_max && fits_max(s, k)) || (!k->could_reclaim && can_reclaim(s, k)))
			wake(s, k);
	}
}

void wake_queue_grew(struct sim *s, queue_id leaf, group_id group)
{
	struct asleep *a = of(s);

	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->is_awake)
			continue;
		if (k->is_wary || group != GROUP_NONE || (k->queue != leaf && can_reclaim(s, k)))
			wake(s, k);
	}
}

/* ---- one pass ---- */

bool wake_collect(struct sim *s, uint32_t per_kind, const pod_id **ret, uint32_t *ret_n)
{
	struct asleep *a = of(s);

	a->tried.n = 0;
	a->n_seen = 0;
	a->has_victims = false;
	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		k->n_tried = k->n_placed = 0;
		k->refused_at = UINT32_MAX;
		k->was_decided = false;
		if (!k->is_awake)
			continue;
		for (uint32_t p = k->head; p < k->pods.n && (k->is_group || k->n_tried < per_kind); p++)
			if (k->pods.v[p] != POD_NONE) {
				array_push(&a->tried, k->pods.v[p]);
				k->n_tried++;
			}
	}
	*ret = a->tried.v;
	*ret_n = a->tried.n;
	return a->tried.n > 0;
}

void wake_follow(struct sim *s, const struct decisions *plan)
{
	of(s)->plan = plan;
}

static void see(struct sim *s, const struct decision *d)
{
	struct asleep *a = s->asleep;
	uint32_t at = d->pod == POD_NONE ? SLOT_NONE : waiter_of(a, d->pod)->kind;

	a->has_victims |= d->n_victims > 0;
	if (at == SLOT_NONE)
		return;
	a->kinds.v[at].was_decided |= d->outcome != OUTCOME_PLACED;
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

/* A pass ends where somebody has to go: what he leaves behind may be of use to those who were asleep. */
bool wake_passes_over(void *sim, pod_id pod)
{
	struct sim *s = sim;
	struct asleep *a = s->asleep;
	const struct wait_kind *k = &a->kinds.v[waiter_of(a, pod)->kind];

	catch_up(s);
	if (a->has_victims)
		return true;
	return !s->o.is_exhaustive && !k->is_group && !k->is_wary && k->refused_at == ledger_get_mark(s->ledger);
}

bool wake_was_cut(struct sim *s)
{
	struct asleep *a = s->asleep;

	catch_up(s);
	for (uint32_t i = 0; i < a->live.n; i++) {
		const struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->n_tried && k->n_placed == k->n_tried && k->n_waiting > k->n_tried)
			return true;
	}
	return false;
}

/* ---- after a pass ---- */

static int64_t earlier(int64_t a, int64_t b)
{
	return b == TIME_NONE || (a != TIME_NONE && a < b) ? a : b;
}

/* When time alone may let it start; TIME_NONE: never. */
static int64_t wakes_at(const struct sim *s, const struct decision *d)
{
	int64_t at = d->until_ns != TIME_NONE && d->until_ns > s->now_ns ? d->until_ns : TIME_NONE;

	for (uint32_t i = 0; i < d->n_protected; i++) {
		int64_t until = d->protected[i].verdict.until_ns;

		if (until != TIME_NONE && until > s->now_ns)
			at = earlier(at, until);
	}
	return at;
}

/* When those whose room it waits for should have been gone for longer than one has patience. */
static int64_t overdue_at(const struct sim *s, node_id node)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);
	int64_t at = TIME_NONE;

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(s->ledger, n->pods.v[i]);
		int64_t late = p->state != POD_LEAVING || p->obj->deleted_ns == TIME_NONE
				       ? TIME_NONE
				       : time_add(p->obj->deleted_ns, time_add(config_of(s)->patience_ns, 1));

		if (late != TIME_NONE && late > s->now_ns)
			at = earlier(at, late);
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

	k->is_awake = false;
	k->fitted_max = fits_max(s, k);
	k->could_reclaim = can_reclaim(s, k);
}

/* Its place among kinds: who has room reserved waits for that alone. */
static void move_kind(struct sim *s, pod_id pod, node_id nominated)
{
	struct asleep *a = s->asleep;
	struct waiter *w = waiter_of(a, pod);
	node_id old = w->nominated;

	if (old == nominated)
		return;
	if (a->kinds.v[w->kind].is_group) {
		w->nominated = nominated;
	} else {
		wake_leave(s, pod);
		enter(s, pod, nominated);
		a->kinds.v[waiter_of(a, pod)->kind].is_awake &= nominated == NODE_NONE;
	}
	if (old != NODE_NONE)
		wake_node_gained(s, old);
}

/* When it is worth another try though nothing happened. */
static void settle(struct sim *s, const struct decision *d)
{
	struct asleep *a = s->asleep;
	node_id nominated = d->outcome == OUTCOME_NOMINATED ? d->node : NODE_NONE;
	uint32_t kind;

	if (waiter_of(a, d->pod)->kind == SLOT_NONE)
		return;
	move_kind(s, d->pod, nominated);
	kind = waiter_of(a, d->pod)->kind;
	if (nominated != NODE_NONE) {
		set_wake(s, kind, overdue_at(s, nominated));
		return;
	}
	a->kinds.v[kind].reclaims_from_ns = d->own_rule == RULE_DELAY ? d->until_ns : TIME_NONE;
	set_wake(s, kind, wakes_at(s, d));
	if (d->overdue.node != NODE_NONE)
		set_wake(s, kind, overdue_at(s, d->overdue.node));
}

/* Nobody who got a place in a pass can be a victim in it; in the next he can. */
static void wake_for_newcomer(struct sim *s, pod_id pod)
{
	struct asleep *a = s->asleep;
	const struct pod *p = ledger_pod(s->ledger, pod);

	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->n_tried && !k->is_awake && !k->is_nominated && may_go(s, k, p, can_reclaim(s, k)))
			k->is_awake = true;
	}
}

void wake_settle(struct sim *s, const struct decisions *plan)
{
	struct asleep *a = s->asleep;

	catch_up(s);
	for (uint32_t i = 0; i < a->live.n; i++)
		if (a->kinds.v[a->live.v[i]].is_awake && a->kinds.v[a->live.v[i]].was_decided)
			fall_asleep(s, a->live.v[i]);
	for (uint32_t i = 0; i < plan->v.n; i++)
		if (plan->v.v[i].pod != POD_NONE && plan->v.v[i].outcome != OUTCOME_PLACED)
			settle(s, &plan->v.v[i]);
	for (uint32_t i = 0; i < plan->v.n; i++)
		if (plan->v.v[i].outcome == OUTCOME_PLACED)
			wake_for_newcomer(s, plan->v.v[i].pod);
}

void sim_free_waiting(struct sim *s)
{
	struct asleep *a = s->asleep;

	if (!a)
		return;
	for (uint32_t i = 0; i < a->kinds.n; i++)
		array_free(&a->kinds.v[i].pods);
	array_free(&a->kinds);
	array_free(&a->free_kinds);
	array_free(&a->live);
	array_free(&a->waiters);
	array_free(&a->tried);
	map_free(&a->by_hash);
	mem_free(a);
}
