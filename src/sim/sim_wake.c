/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_wake.h"

#include <stdlib.h>
#include <string.h>

#include "rules/judge.h"
#include "sim/sim_classes.h"

enum { WAKING_NODES = 6 }; /* that are remembered of a kind; more: it is asked in any case */

struct wait_kind {
	bool is_live, is_awake;
	bool is_listed; /* among those that are awake */
	bool must_ask;	/* awake for more than room on some nodes */
	uint32_t n_nodes;
	node_id nodes[WAKING_NODES]; /* that got room since it was refused */
	bool is_wary;		     /* filters look at other pods, or at volumes: anything may help it */
	bool is_group;
	bool is_nominated;		/* one pod, or a group of which some have reserved room */
	bool fitted_max, could_reclaim; /* when it was refused */
	struct wait_need need;
	labelset_id labelset;
	name_id app;
	enum owner_kind owner;
	uint64_t hash;
	uint32_t next_of_hash;
	uint32_t at; /* among the live ones */
	uint32_t timer;
	bool was_decided;	    /* in the present pass: refused, gated or nominated */
	ledger_mark refused_at;	    /* in the present pass */
	ledger_mark passed_at;	    /* in the present pass: with the ledger as of this mark nothing helped it */
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
	ARRAY(uint32_t) awake;	   /* those that are, and some that fell asleep since the last pass */
	ARRAY(uint32_t) nominated; /* kinds of one pod with reserved room */
	uint32_t n_wary;
	uint64_t seen_tree;	 /* its generation and 1, when shares_limits was found out */
	ARRAY(node_id) grown_on; /* where pods of the queue are that grew, once it is looked for */
	bool knows_grown;
	bool shares_limits; /* a queue that is no leaf guarantees or limits something */
	ARRAY(struct waiter) waiters;
	struct map by_hash;
	ARRAY(pod_id) tried;
	uint32_t n_seen; /* decisions of the pass that were looked at */
	const struct decisions *plan;
	bool has_victims; /* the pass has */
	bool has_windows; /* times end that groups are told of only when they are asked */
	bool has_looked;  /* in the present pass, with the ledger as of this mark */
	ledger_mark looked_at;
};

static struct asleep *of(struct sim *s)
{
	if (!s->asleep)
		s->asleep = mem_alloc(sizeof(*s->asleep));
	return s->asleep;
}

static void remove_from(uint32_t *v, uint32_t *n, uint32_t what)
{
	uint32_t i = 0;

	while (i < *n && v[i] != what)
		i++;
	if (i < *n)
		v[i] = v[--*n];
}

static struct waiter *waiter_of(struct asleep *a, pod_id pod)
{
	while (a->waiters.n <= pod)
		array_push(&a->waiters, ((struct waiter){.kind = SLOT_NONE, .nominated = NODE_NONE}));
	return &a->waiters.v[pod];
}

/* ---- kinds ---- */

static bool is_wary(const struct sim *s, const struct pod *p)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	const struct shape *x = shape_get(s->vocab, p->shape);

	for (queue_id q = p->queue; q != QUEUE_NONE; q = queue_get(t, q)->parent)
		if (queue_get(t, q)->spec.n_limits || queue_get(t, q)->spec.max_apps)
			return true;
	return p->has_volumes || x->has_claims || x->affinity.n || x->anti_affinity.n || x->n_spreads || x->n_ports ||
	       x->runs_on != NAME_NONE;
}

static struct wait_kind kind_like(const struct sim *s, const struct pod *p, bool is_nominated)
{
	struct wait_kind k = {.is_live = true, .must_ask = true, .timer = SLOT_NONE};

	k.need = (struct wait_need){.queue = p->queue,
				    .shape = p->shape,
				    .priority = p->priority,
				    .group = p->group,
				    .is_kept = p->preemptibility == NON_PREEMPTIBLE,
				    .reclaims_from_ns = TIME_NONE};
	k.is_group = p->group != GROUP_NONE;
	k.is_nominated = is_nominated && !k.is_group;
	k.is_wary = is_wary(s, p);
	k.labelset = p->labelset;
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
	const struct wait_need *x = &a->need, *y = &b->need;

	if (a->is_group || b->is_group)
		return x->group == y->group;
	return x->queue == y->queue && x->shape == y->shape && a->labelset == b->labelset &&
	       x->priority == y->priority && x->is_kept == y->is_kept && a->app == b->app && a->owner == b->owner;
}

static uint32_t find_kind(const struct asleep *a, const struct wait_kind *like)
{
	uint32_t at = map_get(&a->by_hash, like->hash);

	while (at != MAP_NONE && !are_alike(&a->kinds.v[at], like))
		at = a->kinds.v[at].next_of_hash;
	return at;
}

static void rouse(struct asleep *a, struct wait_kind *k)
{
	k->is_awake = true;
	if (!k->is_listed)
		array_push(&a->awake, (uint32_t)(k - a->kinds.v));
	k->is_listed = true;
}

static uint32_t add_kind(struct sim *s, struct wait_kind *k)
{
	struct asleep *a = s->asleep;
	uint32_t at = a->free_kinds.n ? array_pop(&a->free_kinds) : a->kinds.n;

	if (at == a->kinds.n)
		array_push(&a->kinds, (struct wait_kind){0});
	k->next_of_hash = MAP_NONE;
	if (!k->is_nominated) {
		k->next_of_hash = map_get(&a->by_hash, k->hash);
		map_put(&a->by_hash, k->hash, at);
	}
	k->need.class_at = wait_classes_enter(s, &k->need);
	k->at = a->live.n;
	array_push(&a->live, at);
	a->kinds.v[at] = *k;
	a->n_wary += k->is_wary;
	if (k->is_nominated)
		array_push(&a->nominated, at);
	rouse(a, &a->kinds.v[at]);
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
	wait_classes_leave(s, k->need.class_at);
	timer_cancel(s, &k->timer);
	a->live.v[k->at] = last;
	a->kinds.v[last].at = k->at;
	a->live.n--;
	a->n_wary -= k->is_wary;
	if (k->is_nominated)
		remove_from(a->nominated.v, &a->nominated.n, at);
	if (k->is_listed)
		remove_from(a->awake.v, &a->awake.n, at);
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

/* Who asks everybody keeps the times at which somebody would have been woken: those are moments too. */
static void wake(struct sim *s, struct wait_kind *k)
{
	rouse(s->asleep, k);
	k->must_ask = true;
	if (!s->o.is_exhaustive)
		timer_cancel(s, &k->timer);
}

static void enter(struct sim *s, pod_id pod, node_id nominated)
{
	struct asleep *a = of(s);
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct wait_kind like = kind_like(s, p, nominated != NODE_NONE);
	uint32_t at = like.is_nominated ? MAP_NONE : find_kind(a, &like);

	if (at == MAP_NONE) {
		at = add_kind(s, &like);
	} else if (!a->kinds.v[at].is_wary && a->kinds.v[at].need.shape != p->shape) { /* a mixed group */
		a->kinds.v[at].is_wary = true;
		a->n_wary++;
	}
	*waiter_of(a, pod) = (struct waiter){.kind = at, .nominated = nominated};
	put_in_order(s, at, pod);
}

void wake_enter(struct sim *s, pod_id pod)
{
	const struct pod *p = ledger_pod(s->ledger, pod);
	struct wait_kind *k;

	sim_see_pod(s, p);
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
	s->is_dirty = s->moves_due = true;
}

void sim_wake_time(struct sim *s, uint32_t what)
{
	struct wait_kind *k = &s->asleep->kinds.v[what];

	k->timer = SLOT_NONE;
	k->must_ask = true;
	rouse(s->asleep, k);
}

static bool is_unclear(const struct sim *s)
{
	const struct engine_config *c = helps_config(s);

	return s->o.is_exhaustive || profile_get(c->profile)->search_mode == MODE_SCENARIOS || c->n_plugins ||
	       s->o.n_plugins || engine_config_reclaims_by(c) == RECLAIM_FAIR_SHARE || s->has_budgets;
}

static bool looks_everywhere(const struct sim *s)
{
	return profile_get(helps_config(s)->profile)->search_mode == MODE_PODS;
}

/* Where queues count, a pod with a nomination looks at its own node, and at others only if that can no longer be. */
static bool is_helped_by_node(struct sim *s, const struct wait_kind *k, node_id node)
{
	if (k->is_wary)
		return true;
	if (node == NODE_NONE || (k->is_nominated && !looks_everywhere(s)))
		return false;
	if (!k->is_group)
		return class_helps_node(s, &k->need, node);
	return class_helps_node(s, &k->need, node) && class_helps_group(s, &k->need);
}

/* By the time it has its turn, others may have taken the room: then it needs not be asked (still_helped). */
static void wake_by_node(struct sim *s, struct wait_kind *k, node_id node)
{
	if (k->must_ask)
		return;
	if (k->is_wary || k->n_nodes == WAKING_NODES) {
		wake(s, k);
		return;
	}
	rouse(s->asleep, k);
	for (uint32_t i = 0; i < k->n_nodes; i++)
		if (k->nodes[i] == node)
			return;
	if (!k->is_group)
		k->nodes[k->n_nodes++] = node;
}

static bool still_helped(struct sim *s, const struct wait_kind *k)
{
	if (k->is_group && !k->must_ask)
		return class_helps_group(s, &k->need) ||
		       (s->asleep->has_windows && engine_may_move(s->engine, k->need.group));
	for (uint32_t i = 0; !k->must_ask && i < k->n_nodes; i++)
		if (ledger_node(s->ledger, k->nodes[i])->is_live && class_helps_node(s, &k->need, k->nodes[i]))
			return true;
	return k->must_ask;
}

void wake_node_gained(struct sim *s, node_id node)
{
	struct asleep *a = of(s);
	bool is_live = node != NODE_NONE && ledger_node(s->ledger, node)->is_live;

	s->moves_due = true;
	if (is_unclear(s)) {
		sim_wake_all(s);
		return;
	}
	wait_classes_look_again(s);
	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (!k->must_ask && !(k->is_group && k->is_awake) &&
		    is_helped_by_node(s, k, is_live ? node : NODE_NONE))
			wake_by_node(s, k, node);
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
	for (uint32_t i = 0; i < a->nominated.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->nominated.v[i]];

		if (!k->must_ask && is_nominated_to(a, k, node))
			wake(s, k);
	}
}

/* Only below such a queue do leaves share anything that one may lose for the other. */
static bool any_shares_limits(struct sim *s)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	uint64_t generation = ledger_tree_generation(s->ledger);
	struct asleep *a = s->asleep;

	if (a->seen_tree == generation + 1)
		return a->shares_limits;
	a->seen_tree = generation + 1;
	a->shares_limits = false;
	for (queue_id q = 0; q < t->q.n; q++)
		a->shares_limits |= !queue_is_leaf(t, q) &&
				    (queue_get(t, q)->spec.guaranteed.mask || queue_get(t, q)->spec.max.mask);
	return a->shares_limits;
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

/* Below its guarantee, which it was not when it was refused: is there anybody to take from? */
static bool now_reclaims(struct sim *s, const struct wait_kind *k)
{
	if (k->is_nominated || !class_helps_reclaim(s, &k->need))
		return false;
	return k->is_group ? class_helps_group(s, &k->need) : class_helps_any_node(s, &k->need);
}

void wake_queue_lost(struct sim *s, queue_id leaf)
{
	struct asleep *a = of(s);
	bool shares;

	if (leaf == QUEUE_NONE)
		return;
	shares = any_shares_limits(s);
	wait_classes_look_again(s);
	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->must_ask || k->need.queue == QUEUE_NONE ||
		    !(shares ? shares_path(s, k->need.queue, leaf) : k->need.queue == leaf))
			continue;
		if (k->is_wary || k->need.is_kept || (k->is_group && helps_has_max(s, &k->need)) ||
		    (!k->fitted_max && helps_max(s, &k->need)) || (!k->could_reclaim && now_reclaims(s, k)))
			wake(s, k);
	}
}

static void find_grown(struct sim *s, queue_id leaf)
{
	struct asleep *a = s->asleep;

	if (a->knows_grown)
		return;
	a->knows_grown = true;
	a->grown_on.n = 0;
	for (node_id n = 0; n < ledger_node_limit(s->ledger); n++)
		if (ledger_node(s->ledger, n)->is_live && helps_growth_on(s, leaf, n))
			array_push(&a->grown_on, n);
}

/* Its pods may go now, or more of them: could the kind start where some of them are? */
static void wake_by_growth(struct sim *s, struct wait_kind *k, queue_id leaf)
{
	struct asleep *a = s->asleep;

	if (k->is_group) {
		if (!k->is_awake && class_helps_group(s, &k->need))
			rouse(a, k);
		return;
	}
	find_grown(s, leaf);
	for (uint32_t i = 0; !k->must_ask && i < a->grown_on.n; i++)
		if (class_helps_node(s, &k->need, a->grown_on.v[i]))
			wake_by_node(s, k, a->grown_on.v[i]);
}

/* A gang that started goes as a whole or not at all: nobody of it who ran before may go by himself now. */
static bool is_tight(const struct sim *s, group_id group)
{
	const struct group *g = ledger_group(s->ledger, group);
	const struct podset *p = ledger_podset(s->ledger, g->first_podset);

	return helps_config(s)->profile == PROFILE_DEFAULT && g->n_podsets == 1 &&
	       p->n_placed <= (uint32_t)p->min_member && judge_minimum(s->ledger, g->first_podset) == p->min_member;
}

void wake_queue_grew(struct sim *s, queue_id leaf, group_id group)
{
	struct asleep *a = of(s);
	bool is_elastic = group != GROUP_NONE && !is_tight(s, group);

	wait_classes_look_again(s);
	a->knows_grown = false;
	if (!a->n_wary && !is_elastic && !helps_growth_of(s, leaf))
		return;
	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->must_ask)
			continue;
		if (k->is_wary || is_elastic)
			wake(s, k);
		else if (!k->is_nominated && class_helps_growth(s, &k->need, leaf))
			wake_by_growth(s, k, leaf);
	}
}

/* Does anything keep others from going or moving for a while? A group is not told of all that ends by itself. */
static bool has_windows(const struct sim *s)
{
	const struct engine_config *c = helps_config(s);
	const struct queue_tree *t = ledger_queues(s->ledger);

	if (!c->min_runtime_covers_consolidation || !profile_has_action(c->profile, ACTION_CONSOLIDATE))
		return false;
	if (c->min_runtime.preempt_ns > 0 || c->min_runtime.reclaim_ns > 0)
		return true;
	for (queue_id q = 0; q < t->q.n; q++)
		if (min_runtime_preempt(t, &c->min_runtime, q).ns > 0)
			return true;
	return false;
}

static void wake_for_time(struct sim *s, struct wait_kind *k)
{
	if (s->asleep->has_windows && (class_helps_group(s, &k->need) || engine_may_move(s->engine, k->need.group)))
		rouse(s->asleep, k);
}

/* ---- one pass ---- */

/* YuniKorn's order of queues depends on all that waits in them: nobody sleeps there. */
static bool order_needs_all(const struct sim *s)
{
	return profile_get(helps_config(s)->profile)->order == ORDER_YUNIKORN;
}

/* Whom no event woke, and who is asked all the same. */
static void wake_others(struct sim *s, bool wakes_all)
{
	struct asleep *a = s->asleep;

	if (!wakes_all && !a->has_windows)
		return;
	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		k->must_ask |= wakes_all;
		if (wakes_all)
			rouse(a, k);
		else if (!k->is_awake && k->is_group)
			wake_for_time(s, k);
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

static void collect_kind(struct asleep *a, struct wait_kind *k, uint32_t at_most)
{
	k->n_tried = k->n_placed = 0;
	k->refused_at = k->passed_at = UINT32_MAX;
	k->was_decided = false;
	for (uint32_t p = k->head; p < k->pods.n && k->n_tried < at_most; p++)
		if (k->pods.v[p] != POD_NONE) {
			array_push(&a->tried, k->pods.v[p]);
			k->n_tried++;
		}
}

bool wake_collect(struct sim *s, uint32_t per_kind, const pod_id **ret, uint32_t *ret_n)
{
	struct asleep *a = of(s);
	bool needs_all = order_needs_all(s);

	a->tried.n = 0;
	a->n_seen = 0;
	a->has_victims = false;
	a->has_windows = has_windows(s);
	a->has_looked = false;
	wait_classes_look_again(s);
	wake_others(s, needs_all || profile_get(helps_config(s)->profile)->search_mode == MODE_SCENARIOS);
	forget_sleepers(a);
	for (uint32_t i = 0; i < a->awake.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->awake.v[i]];

		collect_kind(a, k, k->is_group || needs_all ? UINT32_MAX : per_kind);
	}
	*ret = a->tried.v;
	*ret_n = a->tried.n;
	return a->awake.n > 0;
}

void wake_follow(struct sim *s, const struct decisions *plan)
{
	of(s)->plan = plan;
}

/* Of a kind of many a nomination is one's own: the others have still to be asked. */
static bool speaks_for_kind(const struct wait_kind *k, const struct decision *d)
{
	if (d->outcome == OUTCOME_NOMINATED)
		return k->is_group || k->is_nominated;
	return d->outcome != OUTCOME_PLACED;
}

static void see(struct sim *s, const struct decision *d)
{
	struct asleep *a = s->asleep;
	uint32_t at = d->pod == POD_NONE ? SLOT_NONE : waiter_of(a, d->pod)->kind;

	a->has_victims |= d->n_victims > 0;
	if (at == SLOT_NONE)
		return;
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

/* A pass ends where somebody has to go: what he leaves behind may be of use to those who were asleep. */
bool wake_passes_over(void *sim, pod_id pod)
{
	struct sim *s = sim;
	struct asleep *a = s->asleep;
	struct wait_kind *k = &a->kinds.v[waiter_of(a, pod)->kind];
	ledger_mark mark = ledger_get_mark(s->ledger);

	catch_up(s);
	if (a->has_victims)
		return true;
	if (s->o.is_exhaustive)
		return false;
	if (!k->is_awake)
		return true;
	if (k->is_wary)
		return false;
	if ((!k->is_group && k->refused_at == mark) || k->passed_at == mark)
		return true;
	look_again(s);
	if (still_helped(s, k))
		return false;
	k->passed_at = mark;
	k->was_decided = true; /* and sleeps on */
	return true;
}

bool wake_was_cut(struct sim *s)
{
	struct asleep *a = s->asleep;

	catch_up(s);
	for (uint32_t i = 0; i < a->awake.n; i++) {
		const struct wait_kind *k = &a->kinds.v[a->awake.v[i]];

		if (k->n_tried && k->n_placed == k->n_tried && k->n_waiting > k->n_tried)
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
	for (uint32_t i = 0; i < a->live.n; i++) {
		const struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->is_group && (k->is_wary || class_may_move(s, &k->need)))
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
				       : time_add(p->obj->deleted_ns, time_add(helps_config(s)->patience_ns, 1));

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

	k->is_awake = k->must_ask = false;
	k->n_nodes = 0;
	k->fitted_max = helps_max(s, &k->need);
	k->could_reclaim = helps_reclaim(s, &k->need);
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
		if (nominated != NODE_NONE)
			a->kinds.v[waiter_of(a, pod)->kind].is_awake = a->kinds.v[waiter_of(a, pod)->kind].must_ask =
				false;
	}
	if (old != NODE_NONE)
		wake_node_gained(s, old);
}

/* In profile kubernetes who takes a node takes it from lower pods that were nominated there: they look again. */
static void wake_those_who_lost(struct sim *s, node_id node)
{
	struct asleep *a = s->asleep;

	for (uint32_t i = 0; i < a->nominated.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->nominated.v[i]];

		if (is_nominated_to(a, k, node) &&
		    ledger_pod(s->ledger, k->pods.v[k->head])->nomination == NOMINATION_NONE)
			wake(s, k);
	}
}

/* When it is worth another try though nothing happened. */
static void settle(struct sim *s, const struct decision *d)
{
	struct asleep *a = s->asleep;
	const struct pod *p = ledger_pod(s->ledger, d->pod); /* it may keep a nomination though nothing was decided */
	node_id nominated = p->nomination != NOMINATION_NONE ? p->node : NODE_NONE;
	uint32_t kind;

	if (waiter_of(a, d->pod)->kind == SLOT_NONE)
		return;
	move_kind(s, d->pod, nominated);
	kind = waiter_of(a, d->pod)->kind;
	if (nominated != NODE_NONE) {
		set_wake(s, kind, overdue_at(s, nominated));
		if (looks_everywhere(s) && d->n_victims)
			wake_those_who_lost(s, nominated);
		return;
	}
	a->kinds.v[kind].need.reclaims_from_ns = d->own_rule == RULE_DELAY ? d->until_ns : TIME_NONE;
	set_wake(s, kind, wakes_at(s, d));
	if (d->overdue.node != NODE_NONE)
		set_wake(s, kind, overdue_at(s, d->overdue.node));
}

/*
 * Nobody who got a place in a pass can be a victim in it; in the next he can. And where the place was reserved for him,
 * others could not have it before, but may be able to take it from him now.
 */
static void wake_for_newcomer(struct sim *s, pod_id pod)
{
	struct asleep *a = s->asleep;
	const struct pod *p = ledger_pod(s->ledger, pod);

	for (uint32_t i = 0; i < a->live.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->live.v[i]];

		if (k->must_ask || k->is_nominated || !helps_to_evict(s, &k->need, p))
			continue;
		if (is_unclear(s))
			wake(s, k);
		else if (is_helped_by_node(s, k, p->node))
			wake_by_node(s, k, p->node);
	}
}

void wake_settle(struct sim *s, const struct decisions *plan)
{
	struct asleep *a = s->asleep;

	catch_up(s);
	for (uint32_t i = 0; i < a->awake.n; i++)
		if (a->kinds.v[a->awake.v[i]].is_awake && a->kinds.v[a->awake.v[i]].was_decided)
			fall_asleep(s, a->awake.v[i]);
	for (uint32_t i = 0; i < plan->v.n; i++)
		if (plan->v.v[i].pod != POD_NONE && plan->v.v[i].outcome != OUTCOME_PLACED)
			settle(s, &plan->v.v[i]);
	wait_classes_look_again(s);
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
	array_free(&a->awake);
	array_free(&a->nominated);
	array_free(&a->grown_on);
	array_free(&a->waiters);
	array_free(&a->tried);
	map_free(&a->by_hash);
	mem_free(a);
}
