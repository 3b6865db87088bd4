/* SPDX-License-Identifier: Apache-2.0 */
/* What happens, and whom of those that sleep it may help. */
#include "sim/sim_wake.h"

#include "rules/judge.h"
#include "sim/sim_asleep.h"

void sim_wake_all(struct sim *s)
{
	struct asleep *a = asleep_of(s);

	for (uint32_t i = 0; i < a->live.n; i++)
		kind_wake(s, &a->kinds.v[a->live.v[i]]);
	s->is_dirty = s->moves_due = true;
}

void sim_wake_time(struct sim *s, uint32_t what)
{
	struct asleep *a = asleep_of(s);
	struct wait_kind *k = what >= WAKE_ALL ? NULL : &a->kinds.v[what];

	if (what == WAKE_ALL)
		sim_wake_all(s);
	if (!k)
		return;
	k->timer = SLOT_NONE;
	k->must_ask = true;
	kind_rouse(a, k);
}

bool wake_is_unclear(const struct sim *s)
{
	const struct engine_config *c = helps_config(s);

	return s->o.is_exhaustive || !s->helps.counts_room || profile_get(c->profile)->search_mode == MODE_SCENARIOS ||
	       c->n_plugins || s->o.n_plugins || engine_config_reclaims_by(c) == RECLAIM_FAIR_SHARE || s->has_budgets;
}

bool wake_looks_everywhere(const struct sim *s)
{
	return s->helps.by_pods;
}

/* Where queues count, a pod with a nomination looks at its own node, and at others only if that can no longer be. */
bool kind_is_helped_by_node(struct sim *s, const struct wait_kind *k, node_id node)
{
	if (k->is_wary)
		return true;
	if (node == NODE_NONE || (k->is_nominated && !wake_looks_everywhere(s)))
		return false;
	if (!k->is_group)
		return class_helps_node(s, &k->need, node);
	return class_helps_node(s, &k->need, node) && class_helps_group(s, &k->need);
}

/* By the time it has its turn, others may have taken the room: then it needs not be asked (kind_is_still_helped). */
void kind_wake_by_node(struct sim *s, struct wait_kind *k, node_id node)
{
	if (k->must_ask)
		return;
	if (k->is_wary || k->n_nodes == WAKING_NODES) {
		kind_wake(s, k);
		return;
	}
	kind_rouse(s->asleep, k);
	for (uint32_t i = 0; i < k->n_nodes; i++)
		if (k->nodes[i] == node)
			return;
	if (!k->is_group)
		k->nodes[k->n_nodes++] = node;
}

/* Sums alone say no most often. */
static bool others_may_move(struct sim *s, const struct wait_kind *k)
{
	return class_may_move(s, &k->need) && engine_may_move(s->engine, k->need.group);
}

bool kind_is_still_helped(struct sim *s, const struct wait_kind *k)
{
	if (k->is_group && !k->must_ask)
		return class_helps_group(s, &k->need) || (s->asleep->has_windows && others_may_move(s, k));
	for (uint32_t i = 0; !k->must_ask && i < k->n_nodes; i++)
		if (ledger_node(s->ledger, k->nodes[i])->is_live && class_helps_node(s, &k->need, k->nodes[i]))
			return true;
	return k->must_ask;
}

static void wake_class_by_node(struct sim *s, const struct class_kinds *c, node_id node, bool is_live)
{
	for (uint32_t i = 0; i < c->v.n; i++) {
		struct wait_kind *k = &s->asleep->kinds.v[c->v.v[i]];

		if (!k->must_ask && !(k->is_group && k->is_awake) &&
		    kind_is_helped_by_node(s, k, is_live ? node : NODE_NONE))
			kind_wake_by_node(s, k, node);
	}
}

void wake_node_gained(struct sim *s, node_id node)
{
	struct asleep *a = asleep_of(s);
	bool is_live = node != NODE_NONE && ledger_node(s->ledger, node)->is_live;

	s->moves_due = true;
	if (wake_is_unclear(s)) {
		sim_wake_all(s);
		return;
	}
	wait_classes_look_again(s);
	for (uint32_t i = 0; i < a->classes.n; i++) {
		const struct class_kinds *c = &a->classes.v[i];

		if (c->v.n && (c->n_wary || (is_live && class_helps_some(s, i, node))))
			wake_class_by_node(s, c, node, is_live);
	}
	wake_node_taken(s, node);
}

bool kind_is_nominated_to(struct asleep *a, const struct wait_kind *k, node_id node)
{
	for (uint32_t i = k->head; i < k->pods.n; i++)
		if (k->pods.v[i] != POD_NONE && asleep_waiter(a, k->pods.v[i])->nominated == node)
			return true;
	return false;
}

/* Who has room reserved there looks again, whatever happened. */
void wake_node_taken(struct sim *s, node_id node)
{
	struct asleep *a = asleep_of(s);
	const struct ledger_node *n;

	if (node == NODE_NONE || node >= ledger_node_limit(s->ledger))
		return;
	n = ledger_node(s->ledger, node);
	for (uint32_t i = 0; i < n->nominated.n; i++) {
		uint32_t at = asleep_waiter(a, n->nominated.v[i])->kind;

		if (at != SLOT_NONE)
			kind_wake(s, &a->kinds.v[at]);
	}
	for (uint32_t i = 0; i < a->nominated.n; i++) {
		struct wait_kind *k = &a->kinds.v[a->nominated.v[i]];

		if (!k->must_ask && kind_is_nominated_to(a, k, node))
			kind_wake(s, k);
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

static void wake_class_by_loss(struct sim *s, const struct class_kinds *c)
{
	for (uint32_t i = 0; i < c->v.n; i++) {
		struct wait_kind *k = &s->asleep->kinds.v[c->v.v[i]];

		if (k->must_ask)
			continue;
		if (k->is_wary || k->need.is_kept || (k->is_group && helps_has_max(s, &k->need)) || !k->fitted_max ||
		    (!k->could_reclaim && now_reclaims(s, k)))
			kind_wake(s, k);
	}
}

void wake_queue_lost(struct sim *s, queue_id leaf)
{
	struct asleep *a = asleep_of(s);
	bool shares;

	if (leaf == QUEUE_NONE)
		return;
	shares = any_shares_limits(s);
	wait_classes_look_again(s);
	for (uint32_t i = 0; i < a->classes.n; i++) {
		queue_id queue = a->classes.v[i].v.n ? class_queue(s, i) : QUEUE_NONE;

		if (queue != QUEUE_NONE && (shares ? shares_path(s, queue, leaf) : queue == leaf))
			wake_class_by_loss(s, &a->classes.v[i]);
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
		if (class_helps_group(s, &k->need))
			kind_rouse(a, k);
		return;
	}
	find_grown(s, leaf);
	for (uint32_t i = 0; !k->must_ask && i < a->grown_on.n; i++)
		if (class_helps_node(s, &k->need, a->grown_on.v[i]))
			kind_wake_by_node(s, k, a->grown_on.v[i]);
}

/* A gang that started goes as a whole or not at all: nobody of it who ran before may go by himself now. */
static bool is_tight(const struct sim *s, group_id group)
{
	const struct group *g = ledger_group(s->ledger, group);
	const struct podset *p = ledger_podset(s->ledger, g->first_podset);

	return helps_config(s)->profile == PROFILE_DEFAULT && g->n_podsets == 1 &&
	       p->n_placed <= (uint32_t)p->min_member && judge_minimum(s->ledger, g->first_podset) == p->min_member;
}

static void wake_kind_by_growth(struct sim *s, struct wait_kind *k, queue_id leaf, bool is_elastic)
{
	if (k->must_ask)
		return;
	if (k->is_wary || is_elastic)
		kind_wake(s, k);
	else if (!k->is_nominated && !(k->is_group && k->is_awake) && class_helps_growth(s, &k->need, leaf))
		wake_by_growth(s, k, leaf);
}

void wake_queue_grew(struct sim *s, queue_id leaf, group_id group)
{
	struct asleep *a = asleep_of(s);
	bool is_elastic = group != GROUP_NONE && !is_tight(s, group);

	wait_classes_look_again(s);
	a->knows_grown = false;
	if (!a->n_wary && !is_elastic && !helps_growth_of(s, leaf))
		return;
	for (uint32_t i = 0; i < a->classes.n; i++) {
		const struct class_kinds *c = &a->classes.v[i];

		if (!c->v.n || !(is_elastic || c->n_wary || class_helps_some_growth(s, i, leaf)))
			continue;
		for (uint32_t k = 0; k < c->v.n; k++)
			wake_kind_by_growth(s, &a->kinds.v[c->v.v[k]], leaf, is_elastic);
	}
}

/*
 * Who was not asked in the pass was not helped by what grew in it, or it would have been planned again; and who had his
 * turn after that was asked. (Those who came may go from now on: wake_for_newcomer.)
 */
static bool has_seen_growth(const struct asleep *a, const struct wait_kind *k)
{
	return k->pass != a->n_passes || k->n_grown == a->n_grown;
}

void wake_queue_has_grown(struct sim *s, queue_id leaf, group_id group)
{
	struct asleep *a = asleep_of(s);
	uint32_t n = a->awake.n;

	if (a->has_unseen || s->o.is_exhaustive) {
		wake_queue_grew(s, leaf, group);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (!has_seen_growth(a, &a->kinds.v[a->awake.v[i]])) {
			wake_queue_grew(s, leaf, group);
			return;
		}
}

/* Does anything keep others from going or moving for a while? A group is not told of all that ends by itself. */
bool wake_has_windows(const struct sim *s)
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

void kind_wake_for_time(struct sim *s, struct wait_kind *k)
{
	if (s->asleep->has_windows && (class_helps_group(s, &k->need) || others_may_move(s, k)))
		kind_rouse(s->asleep, k);
}
