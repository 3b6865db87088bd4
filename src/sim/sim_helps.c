/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_helps.h"

#include <stdlib.h>

const struct engine_config *helps_config(const struct sim *s)
{
	return s->own_config ? s->own_config : s->o.config;
}

static const struct res_list *request_of(const struct sim *s, const struct wait_need *k)
{
	return &shape_get(s->vocab, k->shape)->request;
}

/* ---- queues ---- */

static int64_t guaranteed(const struct sim *s, queue_id q, res_id r)
{
	const struct res_vec *g = &queue_get(ledger_queues(s->ledger), q)->spec.guaranteed;

	return g->mask >> r & 1 ? g->v[r] : 0;
}

static queue_id parent_of(const struct sim *s, queue_id q)
{
	return queue_get(ledger_queues(s->ledger), q)->parent;
}

/* Do guarantees decide who may take from whom, as judge.h has it? */
static bool goes_by_guarantees(const struct sim *s)
{
	const struct engine_config *c = helps_config(s);

	return c->profile == PROFILE_DEFAULT && !(c->rules_off >> RULE_GUARANTEE & 1) &&
	       engine_config_reclaims_by(c) == RECLAIM_GUARANTEE;
}

/* Law 4 for one type: something on its path guarantees it, and its own queue is below that. */
static bool is_owed(const struct sim *s, queue_id leaf, res_id r)
{
	int64_t own = guaranteed(s, leaf, r);

	if (own > 0)
		return ledger_queue_used(s->ledger, leaf)[r] + ledger_queue_reserved(s->ledger, leaf)[r] < own;
	for (queue_id q = parent_of(s, leaf); q != QUEUE_NONE; q = parent_of(s, q))
		if (guaranteed(s, q, r) > 0)
			return true;
	return false;
}

static bool may_reclaim(const struct sim *s, const struct wait_need *k)
{
	const struct engine_config *c = helps_config(s);

	if (k->queue == QUEUE_NONE || c->reclaim_is_off || !profile_has_action(c->profile, ACTION_RECLAIM))
		return false;
	return k->reclaims_from_ns == TIME_NONE || s->now_ns >= k->reclaims_from_ns;
}

/* Could it take from others if it lacks these types? Slots of nodes are left to the engine. */
static bool is_entitled(const struct sim *s, const struct wait_need *k, uint64_t lacking)
{
	if (!may_reclaim(s, k))
		return false;
	lacking &= ~(UINT64_C(1) << RES_PODS);
	if (!goes_by_guarantees(s) || !lacking)
		return true;
	for (; lacking; lacking &= lacking - 1)
		if (is_owed(s, k->queue, (res_id)__builtin_ctzll(lacking)))
			return true;
	return false;
}

bool helps_reclaim(const struct sim *s, const struct wait_need *k)
{
	const struct res_list *l = request_of(s, k);

	if (!may_reclaim(s, k))
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->v[i].amount > 0 && is_entitled(s, k, UINT64_C(1) << l->v[i].type))
			return true;
	return l->n == 0;
}

bool helps_max(const struct sim *s, const struct wait_need *k)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	const struct res_list *l = request_of(s, k);

	for (queue_id q = k->queue; q != QUEUE_NONE; q = queue_get(t, q)->parent) {
		const struct res_vec *max = &queue_get(t, q)->spec.max;
		const int64_t *used = ledger_queue_used(s->ledger, q), *held = ledger_queue_reserved(s->ledger, q);

		for (uint32_t i = 0; max->mask && i < l->n; i++) {
			res_id r = l->v[i].type;

			if (max->mask >> r & 1 && res_add_sat(used[r] + held[r], l->v[i].amount) > max->v[r])
				return false;
		}
	}
	return true;
}

bool helps_has_max(const struct sim *s, const struct wait_need *k)
{
	const struct queue_tree *t = ledger_queues(s->ledger);

	for (queue_id q = k->queue; q != QUEUE_NONE; q = queue_get(t, q)->parent)
		if (queue_get(t, q)->spec.max.mask)
			return true;
	return false;
}

/* ---- who may go ---- */

/* Laws 5 and 2: its queue uses more than it is guaranteed, and still does without it. */
static bool is_above(const struct sim *s, const struct pod *v, uint64_t lacking)
{
	const struct res_list *takes = &shape_get(s->vocab, v->shape)->usage;

	lacking &= ~(UINT64_C(1) << RES_PODS);
	if (v->queue == QUEUE_NONE || !lacking || !goes_by_guarantees(s))
		return true;
	for (; lacking; lacking &= lacking - 1) {
		res_id r = (res_id)__builtin_ctzll(lacking);
		int64_t g = guaranteed(s, v->queue, r), used = ledger_queue_used(s->ledger, v->queue)[r];

		if (g <= 0 || (used > g && used - res_list_get(takes, r) >= g))
			return true;
	}
	return false;
}

static bool may_go(const struct sim *s, const struct wait_need *k, const struct pod *v, bool reclaims, uint64_t lacking)
{
	if (v->state != POD_PLACED)
		return false;
	if (k->queue == v->queue || profile_get(helps_config(s)->profile)->search_mode == MODE_PODS)
		return v->priority < k->priority || v->group != GROUP_NONE;
	return reclaims && is_above(s, v, lacking);
}

bool helps_to_evict(const struct sim *s, const struct wait_need *k, const struct pod *v)
{
	return may_go(s, k, v, may_reclaim(s, k), 0);
}

/* ---- nodes ---- */

struct gap { /* what one pod of a kind lacks on a node when whoever is leaving has left */
	int64_t by[RES_MAX];
	uint64_t types;
	bool never_fits;
};

/* Room that is reserved for others; where nominations are advisory the engine has to be asked. */
static int64_t reserved(const struct sim *s, const struct wait_need *k, node_id node, res_id r)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);
	int64_t sum = 0;

	for (uint32_t i = 0; i < n->nominated.n; i++) {
		const struct pod *p = ledger_pod(s->ledger, n->nominated.v[i]);

		if (p->nomination != NOMINATION_RESERVED || (p->group != GROUP_NONE && p->group == k->group))
			continue;
		sum += r == RES_PODS ? 1 : res_list_get(&shape_get(s->vocab, p->shape)->request, r);
	}
	return sum;
}

static void measure_with(const struct sim *s, const struct wait_need *k, node_id node, bool has_nominated,
			 struct gap *g)
{
	const struct res_list *l = request_of(s, k);
	const int64_t *has = ledger_node_allocatable(s->ledger, node), *used = ledger_node_used(s->ledger, node),
		      *leaving = ledger_node_leaving(s->ledger, node);

	g->types = 0;
	g->never_fits = false;
	for (uint32_t i = 0; i <= l->n; i++) {
		res_id r = i < l->n ? l->v[i].type : RES_PODS;
		int64_t amount = i < l->n ? l->v[i].amount : 1;

		g->by[r] = amount - (has[r] - used[r] + leaving[r]);
		if (has_nominated)
			g->by[r] += reserved(s, k, node, r);
		g->never_fits |= amount > has[r];
		if (g->by[r] > 0)
			g->types |= UINT64_C(1) << r;
	}
}

static void measure(const struct sim *s, const struct wait_need *k, node_id node, struct gap *g)
{
	measure_with(s, k, node, ledger_node(s->ledger, node)->nominated.n, g);
}

static void take_off(const struct sim *s, const struct pod *v, struct gap *g)
{
	const struct res_list *usage = &shape_get(s->vocab, v->shape)->usage;

	for (uint64_t left = g->types; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		g->by[r] -= r == RES_PODS ? 1 : res_list_get(usage, r);
		if (g->by[r] <= 0)
			g->types &= ~(left & -left);
	}
}

bool helps_node(const struct sim *s, const struct wait_need *k, node_id node)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);
	uint64_t lacking;
	bool reclaims;
	struct gap g;

	measure(s, k, node, &g);
	if (g.never_fits || !g.types)
		return !g.never_fits;
	lacking = helps_max(s, k) ? g.types : 0;
	reclaims = is_entitled(s, k, lacking);
	for (uint32_t i = 0; g.types && i < n->pods.n; i++) {
		const struct pod *v = ledger_pod(s->ledger, n->pods.v[i]);

		if (may_go(s, k, v, reclaims, lacking))
			take_off(s, v, &g);
	}
	return !g.types;
}

bool helps_any_node(const struct sim *s, const struct wait_need *k)
{
	for (node_id n = 0; n < ledger_node_limit(s->ledger); n++)
		if (ledger_node(s->ledger, n)->is_live && helps_node(s, k, n))
			return true;
	return false;
}

/* ---- groups ---- */

/* So many have to get a place together. */
static uint32_t needed(const struct sim *s, const struct wait_need *k)
{
	const struct group *g = ledger_group(s->ledger, k->group);
	const struct podset *p = ledger_podset(s->ledger, g->first_podset);

	if (g->n_podsets != 1 || (uint32_t)p->min_member <= p->n_placed + p->n_finished + 1)
		return 1;
	return (uint32_t)p->min_member - p->n_placed - p->n_finished;
}

/* Places on a node for pods of the kind, with so much more than what one of them lacks. */
static uint32_t places(const struct sim *s, const struct wait_need *k, const struct gap *g)
{
	const struct res_list *l = request_of(s, k);
	int64_t least = g->by[RES_PODS] > 0 ? 0 : 1 - g->by[RES_PODS];

	for (uint32_t i = 0; i < l->n; i++) {
		int64_t room = l->v[i].amount - g->by[l->v[i].type];

		if (l->v[i].amount > 0 && room / l->v[i].amount < least)
			least = room < 0 ? 0 : room / l->v[i].amount;
	}
	return (uint32_t)least;
}

static uint32_t places_on(const struct sim *s, const struct wait_need *k, node_id node)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);
	const struct res_list *l = request_of(s, k);
	bool reclaims;
	struct gap g;

	measure(s, k, node, &g);
	if (g.never_fits)
		return 0;
	reclaims = may_reclaim(s, k);
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *v = ledger_pod(s->ledger, n->pods.v[i]);

		if (!may_go(s, k, v, reclaims && is_entitled(s, k, g.types), g.types))
			continue;
		for (uint32_t r = 0; r < l->n; r++)
			g.by[l->v[r].type] -= res_list_get(&shape_get(s->vocab, v->shape)->usage, l->v[r].type);
		g.by[RES_PODS]--;
	}
	return places(s, k, &g);
}

bool helps_group(const struct sim *s, const struct wait_need *k)
{
	uint32_t n = needed(s, k), found = 0;

	for (node_id i = 0; found < n && i < ledger_node_limit(s->ledger); i++)
		if (ledger_node(s->ledger, i)->is_live)
			found += places_on(s, k, i);
	return found >= n;
}

/* At least so many workloads have to move for one more place there; groups may move for others anyway. */
static uint32_t moves_on(const struct sim *s, node_id node, const struct gap *g)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);
	uint32_t least = 0;

	for (uint64_t left = g->types; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t most = 1, lacks = g->by[r];

		for (uint32_t i = 0; i < n->pods.n; i++) {
			const struct pod *v = ledger_pod(s->ledger, n->pods.v[i]);
			int64_t takes = r == RES_PODS ? 1 : res_list_get(&shape_get(s->vocab, v->shape)->usage, r);

			if (v->state == POD_PLACED && v->group != GROUP_NONE)
				lacks -= takes;
			else if (v->state == POD_PLACED && takes > most)
				most = takes;
		}
		if (lacks > 0 && (uint32_t)((lacks + most - 1) / most) > least)
			least = (uint32_t)((lacks + most - 1) / most);
	}
	return least;
}

/* By all that run; in the middle of a pass as the ledger has it, which knows who has to go. */
static int64_t used_by_all(const struct sim *s, res_id r, bool in_pass)
{
	int64_t used = 0;

	if (!in_pass)
		return s->accounts.v[0].used[r];
	for (node_id n = 0; n < ledger_node_limit(s->ledger); n++)
		if (ledger_node(s->ledger, n)->is_live)
			used += ledger_node_used(s->ledger, n)[r] - ledger_node_leaving(s->ledger, n)[r];
	return used;
}

/* All the room there is, wherever it is, must be enough: whoever moves takes as much elsewhere. */
static bool has_room_in_all(const struct sim *s, const struct wait_need *k, uint32_t n, bool in_pass)
{
	const struct res_list *l = request_of(s, k);

	for (uint32_t i = 0; i < l->n; i++)
		if (s->room[l->v[i].type] - used_by_all(s, l->v[i].type, in_pass) < l->v[i].amount * n)
			return false;
	return true;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The fewest workloads that have to move for n places, if each node gave as many as it could ever have. */
static bool needs_few_moves(const struct sim *s, const struct wait_need *k, uint32_t n, uint32_t most)
{
	ARRAY(uint32_t) moves = {0};
	uint32_t found = 0, widest = 1, sum = 0;

	for (node_id i = 0; i < ledger_node_limit(s->ledger); i++) {
		struct gap g;

		if (!ledger_node(s->ledger, i)->is_live)
			continue;
		measure_with(s, k, i, false, &g); /* who is nominated may have to look for another place */
		if (g.never_fits)
			continue;
		found += places(s, k, &g);
		if (g.types)
			array_push(&moves, moves_on(s, i, &g));
		for (uint32_t r = 0; r < request_of(s, k)->n; r++) {
			const struct res_amount *x = &request_of(s, k)->v[r];
			int64_t all = x->amount > 0 ? ledger_node_allocatable(s->ledger, i)[x->type] / x->amount : 1;

			widest = all > widest ? (uint32_t)all : widest;
		}
	}
	if (moves.n)
		qsort(moves.v, moves.n, sizeof(*moves.v), by_number);
	for (uint32_t i = 0; found < n && i < moves.n; i++, found += widest)
		sum += moves.v[i];
	array_free(&moves);
	return found >= n && sum <= most;
}

bool helps_group_by_moves(const struct sim *s, const struct wait_need *k, uint32_t n_waiting, bool in_pass)
{
	const struct engine_config *c = helps_config(s);
	int32_t most = c->kai.max_consolidation_preemptees;
	uint32_t n = needed(s, k);

	if (!profile_has_action(c->profile, ACTION_CONSOLIDATE) ||
	    !has_room_in_all(s, k, n_waiting < n ? n_waiting : n, in_pass))
		return false;
	return most < 0 || needs_few_moves(s, k, n, (uint32_t)most);
}
