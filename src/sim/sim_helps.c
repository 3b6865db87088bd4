/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/sim_helps.h"

#include "rules/judge.h"
#include "sim/sim_asleep.h"

const struct engine_config *helps_config(const struct sim *s)
{
	return s->own_config ? s->own_config : s->o.config;
}

void helps_see_settings(struct sim *s)
{
	const struct engine_config *c = helps_config(s);
	bool is_default = c->profile == PROFILE_DEFAULT;

	s->helps = (struct helps_settings){.by_guarantees = is_default && !(c->rules_off >> RULE_GUARANTEE & 1) &&
							    engine_config_reclaims_by(c) == RECLAIM_GUARANTEE,
					   .by_priority = is_default && !(c->rules_off >> RULE_PRIORITY & 1),
					   .by_pods = profile_get(c->profile)->search_mode == MODE_PODS,
					   .reclaims =
						   !c->reclaim_is_off && profile_has_action(c->profile, ACTION_RECLAIM),
					   .counts_room = engine_counts_room(s->engine)};
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

bool helps_may_reclaim(const struct sim *s, const struct wait_need *k)
{
	if (k->queue == QUEUE_NONE || !s->helps.reclaims)
		return false;
	return k->reclaims_from_ns == TIME_NONE || s->now_ns >= k->reclaims_from_ns;
}

/* Could it take from others if it lacks these types? Slots of nodes are left to the engine. */
static bool is_entitled(const struct sim *s, const struct wait_need *k, uint64_t lacking)
{
	if (!helps_may_reclaim(s, k))
		return false;
	lacking &= ~(UINT64_C(1) << RES_PODS);
	if (!s->helps.by_guarantees || !lacking)
		return true;
	for (; lacking; lacking &= lacking - 1)
		if (is_owed(s, k->queue, (res_id)__builtin_ctzll(lacking)))
			return true;
	return false;
}

bool helps_reclaim(const struct sim *s, const struct wait_need *k)
{
	const struct res_list *l = request_of(s, k);

	if (!helps_may_reclaim(s, k))
		return false;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->v[i].amount > 0 && is_entitled(s, k, UINT64_C(1) << l->v[i].type))
			return true;
	return l->n == 0;
}

bool helps_has_no_maximums(const struct sim *s)
{
	return s->boundless_tree == ledger_tree_generation(s->ledger) + 1;
}

bool helps_max(const struct sim *s, const struct wait_need *k)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	const struct res_list *l = request_of(s, k);

	if (helps_has_no_maximums(s))
		return true;
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

/* A gang that can spare none goes as a whole. */
static bool goes_with_all(const struct sim *s, const struct pod *v)
{
	const struct group *g =
		v->group == GROUP_NONE || v->podset == PODSET_NONE ? NULL : ledger_group(s->ledger, v->group);
	const struct podset *p = g ? ledger_podset(s->ledger, v->podset) : NULL;

	return g && g->n_podsets == 1 && p->n_placed > 1 && judge_minimum(s->ledger, v->podset) != INT32_MAX &&
	       !judge_can_spare(s->ledger, v->podset, 1);
}

static int64_t usage_of(const struct sim *s, const struct pod *v, res_id r)
{
	return res_list_get(&shape_get(s->vocab, v->shape)->usage, r);
}

/* What its queue loses with it. */
static int64_t takes(const struct sim *s, const struct pod *v, res_id r)
{
	int64_t sum = 0;

	if (!goes_with_all(s, v))
		return usage_of(s, v, r);
	for (pod_id i = cluster_group_first(s->cluster, v->group); i != POD_NONE;
	     i = cluster_group_next(s->cluster, i)) {
		const struct pod *p = ledger_pod(s->ledger, i);

		if (p->group == v->group && p->state == POD_PLACED && p->queue == v->queue)
			sum = res_add_sat(sum, usage_of(s, p, r));
	}
	return sum;
}

/* Laws 5 and 2: its queue uses more than it is guaranteed, and still does without it. */
static bool is_above(const struct sim *s, const struct pod *v, uint64_t lacking)
{

	lacking &= ~(UINT64_C(1) << RES_PODS);
	if (v->queue == QUEUE_NONE || !lacking || !s->helps.by_guarantees)
		return true;
	for (; lacking; lacking &= lacking - 1) {
		res_id r = (res_id)__builtin_ctzll(lacking);
		int64_t g = guaranteed(s, v->queue, r), used = ledger_queue_used(s->ledger, v->queue)[r];

		if (g <= 0 || (used > g && used - takes(s, v, r) >= g))
			return true;
	}
	return false;
}

static bool shifts_priorities(const struct sim *s, queue_id q)
{
	for (; q != QUEUE_NONE; q = parent_of(s, q)) {
		const struct queue_props *p = &queue_get(ledger_queues(s->ledger), q)->props;

		if (p->is_priority_fence || p->priority_offset)
			return true;
	}
	return false;
}

void helps_see_tree(struct sim *s)
{
	uint64_t tree = ledger_tree_generation(s->ledger) + 1;
	const struct queue_tree *t = ledger_queues(s->ledger);
	bool shifts = false, has_max = false;

	if (s->seen_tree == tree)
		return;
	for (queue_id q = 0; q < t->q.n; q++) {
		shifts |= shifts_priorities(s, q);
		has_max |= queue_get(t, q)->spec.max.mask != 0;
	}
	s->seen_tree = tree;
	s->plain_tree = shifts ? 0 : tree;
	s->boundless_tree = has_max ? 0 : tree;
}

bool helps_compares_plainly(const struct sim *s, queue_id a, queue_id b)
{
	if (!s->helps.by_priority || b == QUEUE_NONE)
		return false;
	if (s->plain_tree == ledger_tree_generation(s->ledger) + 1)
		return true;
	return !shifts_priorities(s, a) && !shifts_priorities(s, b);
}

bool helps_is_new(const struct sim *s, const struct pod *v)
{
	return s->asleep && s->asleep->pass && ledger_is_new(s->ledger, v);
}

static bool may_go(const struct sim *s, const struct wait_need *k, const struct pod *v, bool reclaims, uint64_t lacking)
{
	if (v->state != POD_PLACED || helps_is_new(s, v))
		return false;
	if (k->queue == v->queue || s->helps.by_pods)
		return v->priority < k->priority || (v->group != GROUP_NONE && !s->helps.by_priority);
	return reclaims && (v->priority <= k->priority || !helps_compares_plainly(s, k->queue, v->queue)) &&
	       is_above(s, v, lacking);
}

bool helps_to_evict(const struct sim *s, const struct wait_need *k, const struct pod *v)
{
	return may_go(s, k, v, helps_may_reclaim(s, k), 0);
}

bool helps_by_sums(const struct sim *s)
{
	return s->helps.by_guarantees && s->helps.by_priority && !s->has_queueless;
}

/* Below its maximums it is entitled by what it lacks; beyond them that is left to the engine. */
bool helps_reclaim_of(const struct sim *s, const struct wait_need *k, res_id r)
{
	return is_entitled(s, k, helps_max(s, k) ? UINT64_C(1) << r : 0);
}

int64_t helps_excess(const struct sim *s, const struct wait_need *k, queue_id q, res_id r)
{
	int64_t g = q == k->queue ? 0 : guaranteed(s, q, r), used = ledger_queue_used(s->ledger, q)[r];

	return g <= 0 ? INT64_MAX : used > g ? used - g : 0;
}

/* ---- nodes ---- */

struct gap { /* what one pod of a kind lacks on a node when whoever is leaving has left */
	int64_t by[RES_MAX];
	uint64_t types;
	bool never_fits;
};

/* Where nominations are advisory the engine has to be asked. */
int64_t helps_reserved(const struct sim *s, group_id group, node_id node, res_id r)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);
	int64_t sum = 0;

	for (uint32_t i = 0; i < n->nominated.n; i++) {
		const struct pod *p = ledger_pod(s->ledger, n->nominated.v[i]);

		if (p->nomination != NOMINATION_RESERVED || (p->group != GROUP_NONE && p->group == group))
			continue;
		sum += r == RES_PODS ? 1 : res_list_get(&shape_get(s->vocab, p->shape)->request, r);
	}
	return sum;
}

static void measure(const struct sim *s, const struct wait_need *k, node_id node, struct gap *g)
{
	const struct res_list *l = request_of(s, k);
	bool has_nominated = ledger_node(s->ledger, node)->nominated.n;
	const int64_t *has = ledger_node_allocatable(s->ledger, node), *used = ledger_node_used(s->ledger, node),
		      *leaving = ledger_node_leaving(s->ledger, node);

	g->types = 0;
	g->never_fits = false;
	for (uint32_t i = 0; i <= l->n; i++) {
		res_id r = i < l->n ? l->v[i].type : RES_PODS;
		int64_t amount = i < l->n ? l->v[i].amount : 1;

		g->by[r] = amount - (has[r] - used[r] + leaving[r]);
		if (has_nominated)
			g->by[r] += helps_reserved(s, k->group, node, r);
		g->never_fits |= amount > has[r];
		if (g->by[r] > 0)
			g->types |= UINT64_C(1) << r;
	}
}

bool helps_now(const struct sim *s, const struct wait_need *k, node_id node)
{
	const struct res_list *l = request_of(s, k);
	const int64_t *has = ledger_node_allocatable(s->ledger, node), *used = ledger_node_used(s->ledger, node);

	for (uint32_t i = 0; i < l->n; i++)
		if (l->v[i].amount > has[l->v[i].type] - used[l->v[i].type])
			return false;
	return used[RES_PODS] < has[RES_PODS];
}

/*
 * Law 2: what victims of one queue free together is no more than what it uses above its guarantee. Judged in the types
 * that are short there, which are these at least.
 */
struct excess {
	struct {
		queue_id queue;
		res_id type;
		int64_t left;
	} v[16];
	uint32_t n;
};

/* So much of what the victim frees may be counted. */
static int64_t draw(const struct sim *s, struct excess *x, const struct wait_need *k, queue_id q, res_id r, int64_t by)
{
	int64_t g = q == QUEUE_NONE || q == k->queue || r == RES_PODS ? 0 : guaranteed(s, q, r), left;
	uint32_t i = 0;

	if (g <= 0 || by <= 0 || !s->helps.by_guarantees)
		return by;
	while (i < x->n && (x->v[i].queue != q || x->v[i].type != r))
		i++;
	if (i == sizeof(x->v) / sizeof(*x->v))
		return by;
	if (i == x->n) {
		left = ledger_queue_used(s->ledger, q)[r] - g;
		x->v[x->n].queue = q;
		x->v[x->n].type = r;
		x->v[x->n++].left = left > 0 ? left : 0;
	}
	left = by < x->v[i].left ? by : x->v[i].left;
	x->v[i].left -= left;
	return left;
}

static void take_off(const struct sim *s, const struct wait_need *k, const struct pod *v, struct excess *x,
		     struct gap *g)
{
	const struct res_list *usage = &shape_get(s->vocab, v->shape)->usage;

	for (uint64_t left = g->types; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		g->by[r] -= r == RES_PODS ? 1 : draw(s, x, k, v->queue, r, res_list_get(usage, r));
		if (g->by[r] <= 0)
			g->types &= ~(left & -left);
	}
}

bool helps_node(const struct sim *s, const struct wait_need *k, node_id node)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);
	struct excess x = {.n = 0};
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
			take_off(s, k, v, &x, &g);
	}
	return !g.types;
}

/* Does more in it leave what other queues may lose as it was? Nothing above it but the root guarantees anything. */
static bool grows_alone(const struct sim *s, queue_id leaf)
{
	for (queue_id q = parent_of(s, leaf); q != QUEUE_NONE; q = parent_of(s, q))
		if (q != QUEUE_ROOT && queue_get(ledger_queues(s->ledger), q)->spec.guaranteed.mask)
			return false;
	return true;
}

/* Where nothing is guaranteed its pods could go before, and where it is not above its guarantee they still cannot. */
static bool can_lose_more(const struct sim *s, const struct wait_need *k, queue_id leaf)
{
	const struct res_list *l = request_of(s, k);

	for (uint32_t i = 0; i <= l->n; i++) {
		res_id r = i < l->n ? l->v[i].type : RES_PODS;
		int64_t g = guaranteed(s, leaf, r);

		if (g > 0 && ledger_queue_used(s->ledger, leaf)[r] > g)
			return true;
	}
	return false;
}

bool helps_growth_of(const struct sim *s, queue_id leaf)
{
	const struct res_vec *g;

	if (leaf == QUEUE_NONE || !s->helps.by_guarantees || !grows_alone(s, leaf))
		return true;
	g = &queue_get(ledger_queues(s->ledger), leaf)->spec.guaranteed;
	for (uint64_t left = g->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		if (g->v[r] > 0 && ledger_queue_used(s->ledger, leaf)[r] > g->v[r])
			return true;
	}
	return false;
}

bool helps_growth_for(const struct sim *s, const struct wait_need *k, queue_id leaf)
{
	return leaf == QUEUE_NONE || !s->helps.by_guarantees || !grows_alone(s, leaf) || can_lose_more(s, k, leaf);
}

bool helps_growth_on(const struct sim *s, queue_id leaf, node_id node)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);

	for (uint32_t i = 0; i < n->pods.n; i++)
		if (leaf == QUEUE_NONE || ledger_pod(s->ledger, n->pods.v[i])->queue == leaf)
			return true;
	return n->pods.n && !grows_alone(s, leaf);
}

/* ---- groups ---- */

uint32_t helps_needed(const struct sim *s, const struct wait_need *k)
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

/*
 * Of one type alone, laws are judged in that type whoever is looked for; of several, victims that go for the sake of
 * one may free more of another.
 */
static bool asks_for_one_type(const struct res_list *l)
{
	return l->n == 1 && l->v[0].amount > 0;
}

struct group_room { /* if all may go who might be asked to */
	const struct wait_need *k;
	bool reclaims;
	bool is_simple;	   /* one type: what it could have on all nodes together is counted too */
	int64_t sum;	   /* of that type */
	struct excess all; /* what queues can lose on all nodes */
	uint64_t found;
};

static void look_at_victims(const struct sim *s, struct group_room *x, node_id node, struct gap *g)
{
	const struct ledger_node *n = ledger_node(s->ledger, node);
	const struct res_list *l = request_of(s, x->k);
	bool reclaims = x->reclaims && is_entitled(s, x->k, g->types);
	struct excess here = {.n = 0};
	uint64_t lacking = g->types;

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *v = ledger_pod(s->ledger, n->pods.v[i]);
		const struct res_list *usage = &shape_get(s->vocab, v->shape)->usage;

		if (!may_go(s, x->k, v, reclaims, lacking))
			continue;
		g->by[RES_PODS]--;
		for (uint32_t r = 0; r < l->n; r++) {
			res_id type = l->v[r].type;
			int64_t frees = res_list_get(usage, type);

			g->by[type] -= x->is_simple ? draw(s, &here, x->k, v->queue, type, frees) : frees;
			if (x->is_simple)
				x->sum += draw(s, &x->all, x->k, v->queue, type, frees);
		}
	}
}

static void look_at_node(const struct sim *s, struct group_room *x, node_id node)
{
	const struct res_list *l = request_of(s, x->k);
	struct gap g;

	measure(s, x->k, node, &g);
	if (g.never_fits)
		return;
	if (x->is_simple && g.by[l->v[0].type] < l->v[0].amount)
		x->sum += l->v[0].amount - g.by[l->v[0].type];
	look_at_victims(s, x, node, &g);
	x->found += places(s, x->k, &g);
}

/* What a queue could lose of the type at most; the own one only if anybody is lower. */
static int64_t can_lose(const struct sim *s, const struct wait_need *k, bool reclaims, queue_id q, res_id r)
{
	int64_t used = ledger_queue_used(s->ledger, q)[r], g = guaranteed(s, q, r);

	if (q == k->queue)
		return !s->helps.by_priority || k->priority > s->lowest_priority ? used : 0;
	if (!reclaims)
		return 0;
	return g <= 0 ? used : used > g ? used - g : 0;
}

/* Without a look at any pod: what is free on all nodes, and what leaves could lose. */
static int64_t sum_at_most(const struct sim *s, const struct group_room *x)
{
	const struct queue_tree *t = ledger_queues(s->ledger);
	bool reclaims;
	int64_t sum = 0;
	res_id r;

	if (!x->is_simple || !s->helps.by_guarantees || s->has_queueless)
		return INT64_MAX;
	r = request_of(s, x->k)->v[0].type;
	reclaims = x->reclaims && is_entitled(s, x->k, UINT64_C(1) << r);
	for (node_id i = 0; i < ledger_node_limit(s->ledger); i++) {
		int64_t room = ledger_node_allocatable(s->ledger, i)[r] - ledger_node_used(s->ledger, i)[r] +
			       ledger_node_leaving(s->ledger, i)[r];

		sum += ledger_node(s->ledger, i)->is_live && room > 0 ? room : 0;
	}
	for (queue_id q = 0; q < t->q.n; q++)
		if (queue_is_leaf(t, q))
			sum = res_add_sat(sum, can_lose(s, x->k, reclaims, q, r));
	return sum;
}

void helps_group_room(const struct sim *s, const struct wait_need *k, struct group_room_sums *ret)
{
	struct group_room x = {
		.k = k, .reclaims = helps_may_reclaim(s, k), .is_simple = asks_for_one_type(request_of(s, k))};

	for (node_id i = 0; i < ledger_node_limit(s->ledger); i++)
		if (ledger_node(s->ledger, i)->is_live)
			look_at_node(s, &x, i);
	*ret = (struct group_room_sums){.at_most = sum_at_most(s, &x), .sum = x.sum, .places = x.found};
}

bool helps_room_is_enough(const struct sim *s, const struct wait_need *k, const struct group_room_sums *x, uint32_t n)
{
	const struct res_list *l = request_of(s, k);

	if (x->places < n || !asks_for_one_type(l))
		return x->places >= n;
	return x->sum / n >= l->v[0].amount && x->at_most / n >= l->v[0].amount;
}

bool helps_group(const struct sim *s, const struct wait_need *k)
{
	struct group_room_sums x;
	uint32_t n = helps_needed(s, k);

	if (n == 0) /* it lacks nobody: whatever happens may help the rest of it */
		return true;
	helps_group_room(s, k, &x);
	return helps_room_is_enough(s, k, &x, n);
}
