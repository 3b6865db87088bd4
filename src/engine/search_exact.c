/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best set of victims on one node: branch and bound over the candidates, in eviction order.
 *
 * Each candidate is taken or kept. A branch ends when the pod fits (more victims only cost more), when what is left
 * cannot free enough, when a rule on sets refuses a victim (every larger set would be refused too), and when the least
 * it can cost is not below the best set known. That least is, for each short amount, the better of two bounds on the
 * work lost: candidates taken by lost work per amount, the last one in part; and the cheapest so many, where fewer
 * cannot be enough.
 *
 * Candidates of one kind (queue, shape, labels, podset) are taken in one order: who is kept keeps everybody of the kind
 * who costs as much or more. So a node with many pods of few kinds is no problem.
 *
 * Where filters look at pods, those without whom the pod does not fit whatever else goes are taken at once, and those
 * who free nothing that is short and may all stay are left out.
 */
#include <stdlib.h>

#include "engine/search_internal.h"

enum { STEPS_MAX = 50000, STEPS_ALL = 1000000, STEPS_MIN = 500, DEPTH_MAX = 4000, PARTS = 1000000 };

struct item {
	struct candidate *m;
	uint32_t dominator; /* of its kind and never dearer; UINT32_MAX: nobody. Kept means: this one is kept too */
	bool is_kept, is_forced;
	int64_t lost_work; /* at least */
};

struct short_amount { /* something the pod is short of */
	res_id type;
	bool is_path;	     /* below a maximum on the pod's path, not on the node */
	bool is_sum;	     /* of all the others before it, each in parts of what is needed of it */
	int64_t need, whole; /* still, and at first */
	int64_t *size;	     /* by item; no more than whole, because more is of no use */
	uint32_t *by_ratio;  /* items, least lost work per size first; those without any left out */
	uint32_t n;
	int64_t *supply; /* supply[i]: all that items 0 … i-1 hold */
};

struct exact {
	struct node_search *g;
	struct best_set *best;
	struct item *items; /* last to be evicted first, as the candidates */
	uint32_t n;
	uint32_t *by_lost; /* items, least lost work first */
	struct short_amount amounts[2 * RES_MAX + 1];
	uint32_t n_amounts;
	uint32_t least_below; /* of set_cost.n_below: no set has less */
	uint64_t steps;
};

/* ---- what is short ---- */

static int64_t plain_size_of(const struct candidate *m, const struct short_amount *a)
{
	if (a->is_path)
		return a->type == RES_PODS ? (int64_t)m->v.n_pods : res_list_get(m->v.usage, a->type);
	return candidate_frees(m, a->type);
}

/* Rounded up: what is added up must not be less than it is. */
static int64_t sum_of_parts(const struct exact *x, const struct candidate *m)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < x->n_amounts && !x->amounts[k].is_sum; k++) {
		__int128 part = (__int128)plain_size_of(m, &x->amounts[k]) * PARTS;
		int64_t whole = x->amounts[k].whole;

		part = (part + whole - 1) / whole;
		sum += part < PARTS ? (int64_t)part : PARTS;
	}
	return sum;
}

static int64_t size_of(const struct exact *x, const struct candidate *m, const struct short_amount *a)
{
	return a->is_sum ? sum_of_parts(x, m) : plain_size_of(m, a);
}

static void add_amount(struct exact *x, res_id type, bool is_path, int64_t need)
{
	if (need > 0)
		x->amounts[x->n_amounts++] =
			(struct short_amount){.type = type, .is_path = is_path, .need = need, .whole = need};
}

/* Where several amounts are short the bound of their sum is often the best: victims that free one rarely free all. */
static void add_sum(struct exact *x)
{
	int64_t whole = (int64_t)x->n_amounts * PARTS;

	if (x->n_amounts > 1)
		x->amounts[x->n_amounts++] = (struct short_amount){.is_sum = true, .need = whole, .whole = whole};
}

static void find_amounts(struct exact *x)
{
	const struct node_search *g = x->g;

	for (uint32_t k = 0; k < g->want.n; k++)
		add_amount(x, g->want.type[k], false, g->want.amount[k] - g->room[k]);
	for (uint64_t left = g->s->lacking; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		add_amount(x, r, true, node_search_path_lacks(g, r));
	}
	add_sum(x);
}

/* ---- kinds ---- */

static bool is_same_kind(const struct node_search *g, const struct candidate *a, const struct candidate *b)
{
	const struct pod *p = a->v.p, *q = b->v.p;

	return !a->rest && !b->rest && p->queue == q->queue && p->shape == q->shape &&
	       a->v.is_of_gang == b->v.is_of_gang && (!a->v.is_of_gang || p->podset == q->podset) &&
	       (p->labelset == q->labelset || (g->is_fast && !g->set.has_budgets));
}

static bool is_never_dearer(const struct candidate *a, const struct candidate *b)
{
	return a->is_spared <= b->is_spared && a->is_opted_out <= b->is_opted_out && a->is_driver <= b->is_driver &&
	       a->is_thrashing <= b->is_thrashing && a->v.p->priority <= b->v.p->priority && a->rank <= b->rank &&
	       a->lost_work <= b->lost_work && a->start >= b->start && a->created >= b->created;
}

static void find_dominators(struct exact *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		x->items[i].dominator = UINT32_MAX;
		for (uint32_t k = i + 1; k < x->n; k++) {
			if (!is_same_kind(x->g, x->items[k].m, x->items[i].m) ||
			    !is_never_dearer(x->items[k].m, x->items[i].m))
				continue;
			x->items[i].dominator = k;
			break;
		}
	}
}

/* ---- orders ---- */

static int by_ratio(const void *a, const void *b, void *ctx)
{
	const void **args = ctx;
	const struct exact *x = args[0];
	const struct short_amount *amount = args[1];
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	__int128 left = (__int128)x->items[i].lost_work * amount->size[k],
		 right = (__int128)x->items[k].lost_work * amount->size[i];

	if (left != right)
		return left < right ? -1 : 1;
	return (i > k) - (i < k);
}

static int by_lost(const void *a, const void *b, void *ctx)
{
	const struct exact *x = ctx;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (x->items[i].lost_work != x->items[k].lost_work)
		return x->items[i].lost_work < x->items[k].lost_work ? -1 : 1;
	return (i > k) - (i < k);
}

static void prepare_amount(struct exact *x, struct short_amount *a)
{
	struct arena *in = x->g->s->c->arena;
	const void *args[] = {x, a};

	a->size = arena_n(in, x->n + 1, int64_t);
	a->supply = arena_n(in, x->n + 1, int64_t);
	a->by_ratio = arena_n(in, x->n + 1, uint32_t);
	for (uint32_t i = 0; i < x->n; i++) {
		a->size[i] = size_of(x, x->items[i].m, a);
		a->size[i] = a->size[i] < a->whole ? a->size[i] : a->whole;
		a->supply[i + 1] = res_add_sat(a->supply[i], a->size[i]);
		if (a->size[i] > 0)
			a->by_ratio[a->n++] = i;
	}
	if (a->n)
		qsort_r(a->by_ratio, a->n, sizeof(*a->by_ratio), by_ratio, (void *)args);
}

static void prepare_orders(struct exact *x)
{
	x->by_lost = arena_n(x->g->s->c->arena, x->n + 1, uint32_t);
	for (uint32_t i = 0; i < x->n; i++)
		x->by_lost[i] = i;
	if (x->n)
		qsort_r(x->by_lost, x->n, sizeof(*x->by_lost), by_lost, x);
	for (uint32_t k = 0; k < x->n_amounts; k++)
		prepare_amount(x, &x->amounts[k]);
}

/* ---- bounds ---- */

static bool has_supply(const struct exact *x, uint32_t n)
{
	for (uint32_t k = 0; k < x->n_amounts; k++)
		if (x->amounts[k].need > x->amounts[k].supply[n])
			return false;
	return true;
}

/* With so much taken, are opted-out pods, drivers and thrashing ones as many as in the best set? */
static bool is_level(const struct exact *x, const struct set_cost *c)
{
	const struct set_cost *best = &x->best->cost;

	return c->v[COST_OPTED_OUT] == best->v[COST_OPTED_OUT] && c->v[COST_DRIVERS] == best->v[COST_DRIVERS] &&
	       c->v[COST_THRASHING] == best->v[COST_THRASHING] && best->v[COST_BELOW] == x->least_below;
}

/* Would a set with it be dearer than the best for a reason that comes before lost work? */
static bool is_too_dear(const struct exact *x, const struct set_cost *c, const struct candidate *m)
{
	return x->best->is_found && is_level(x, c) &&
	       (m->is_opted_out || m->is_driver || m->is_thrashing || m->v.p->priority > x->best->cost.v[COST_HIGHEST]);
}

static bool is_open(const struct exact *x, uint32_t i, uint32_t n, const struct set_cost *c)
{
	return i < n && !is_too_dear(x, c, x->items[i].m);
}

static int64_t fractional(const struct exact *x, const struct short_amount *a, uint32_t n, const struct set_cost *c)
{
	int64_t need = a->need, lost = 0;

	for (uint32_t k = 0; k < a->n && need > 0; k++) {
		uint32_t i = a->by_ratio[k];

		if (!is_open(x, i, n, c))
			continue;
		if (a->size[i] > need)
			return res_add_sat(lost, (int64_t)((__int128)x->items[i].lost_work * need / a->size[i]));
		lost = res_add_sat(lost, x->items[i].lost_work);
		need -= a->size[i];
	}
	return need > 0 ? INT64_MAX : lost;
}

static int64_t cheapest(const struct exact *x, const struct short_amount *a, uint32_t n, const struct set_cost *c)
{
	int64_t most = 0, lost = 0, count;

	for (uint32_t k = 0; k < a->n; k++)
		if (is_open(x, a->by_ratio[k], n, c) && a->size[a->by_ratio[k]] > most)
			most = a->size[a->by_ratio[k]];
	count = most > 0 ? (a->need - 1) / most + 1 : 0;
	for (uint32_t k = 0; k < x->n && count > 0; k++) {
		uint32_t i = x->by_lost[k];

		if (!is_open(x, i, n, c) || a->size[i] <= 0)
			continue;
		lost = res_add_sat(lost, x->items[i].lost_work);
		count--;
	}
	return lost;
}

/* Nothing that items 0 … n-1 can add to c is better than the best set. */
static bool is_hopeless(const struct exact *x, uint32_t n, const struct set_cost *c)
{
	struct set_cost least = *c;
	int64_t more = 0;

	if (!x->best->is_found)
		return false;
	for (uint32_t k = 0; k < x->n_amounts; k++) {
		const struct short_amount *a = &x->amounts[k];
		int64_t bound;

		if (a->need <= 0)
			continue;
		bound = fractional(x, a, n, c);
		more = bound > more ? bound : more;
		bound = cheapest(x, a, n, c);
		more = bound > more ? bound : more;
	}
	least.v[COST_BELOW] = x->least_below;
	least.v[COST_LOST] = res_add_sat(least.v[COST_LOST], more);
	return set_cost_cmp(&least, &x->best->cost) >= 0;
}

/* ---- the search ---- */

static void take(struct exact *x, uint32_t i)
{
	struct candidate *m = x->items[i].m;

	node_search_take(x->g, m);
	for (uint32_t k = 0; k < x->n_amounts; k++)
		x->amounts[k].need -= size_of(x, m, &x->amounts[k]);
}

static void give_back(struct exact *x, uint32_t i)
{
	struct candidate *m = x->items[i].m;

	for (uint32_t k = 0; k < x->n_amounts; k++)
		x->amounts[k].need += size_of(x, m, &x->amounts[k]);
	node_search_give_back(x->g, m);
}

static void remember(struct exact *x)
{
	struct set_cost cost = node_search_cost(x->g);

	if (x->best->is_found && set_cost_cmp(&cost, &x->best->cost) >= 0)
		return;
	x->best->is_found = true;
	x->best->cost = cost;
	for (uint32_t i = 0; i < x->n; i++)
		x->best->goes[i] = x->items[i].m->goes;
}

static bool is_over(struct exact *x)
{
	if (x->steps++ < x->g->max_steps)
		return false;
	x->g->is_bounded = true;
	return true;
}

static bool is_kept_with_its_kind(const struct exact *x, uint32_t i)
{
	uint32_t d = x->items[i].dominator;

	return d != UINT32_MAX && x->items[d].is_kept;
}

static void explore(struct exact *x, uint32_t n, const struct set_cost *c);

static void explore_taking(struct exact *x, uint32_t i, const struct set_cost *c)
{
	struct set_cost with = *c;

	if (is_kept_with_its_kind(x, i) || is_too_dear(x, c, x->items[i].m) ||
	    node_search_refusal(x->g, x->items[i].m).answer != MAY_GO)
		return;
	take(x, i);
	set_cost_add(&with, x->items[i].m, x->g->s->j->action);
	explore(x, i, &with);
	give_back(x, i);
}

/* Items 0 … n-1 are open; c is what those cost that go. */
static void explore(struct exact *x, uint32_t n, const struct set_cost *c)
{
	if (is_over(x))
		return;
	if (has_supply(x, 0) && node_search_fits(x->g)) {
		remember(x);
		return;
	}
	if (n == 0 || !has_supply(x, n) || is_hopeless(x, n, c))
		return;
	explore_taking(x, n - 1, c);
	if (x->items[n - 1].is_forced)
		return;
	x->items[n - 1].is_kept = true;
	explore(x, n - 1, c);
	x->items[n - 1].is_kept = false;
}

/* ---- where filters look at pods ---- */

static bool frees_anything(const struct exact *x, const struct candidate *m)
{
	for (uint32_t k = 0; k < x->n_amounts; k++)
		if (size_of(x, m, &x->amounts[k]) > 0)
			return true;
	return false;
}

static void move_all(struct exact *x, bool is_back)
{
	for (uint32_t k = 0; k < x->n; k++) {
		struct candidate *m = x->items[is_back ? k : x->n - 1 - k].m;

		if (is_back && m->goes)
			node_search_give_back(x->g, m);
		else if (!is_back && !m->rest)
			node_search_take(x->g, m);
	}
}

/* Gone they must be, whoever else goes. */
static void find_forced(struct exact *x)
{
	for (uint32_t i = 0; i < x->n; i++) {
		struct candidate *m = x->items[i].m;

		if (!m->goes || (x->best->is_found && !x->best->goes[i]))
			continue;
		node_search_give_back(x->g, m);
		x->items[i].is_forced = !node_search_fits(x->g);
		node_search_take(x->g, m);
	}
}

/* Can all who free nothing that is short stay, but for those who must go? Then they are no candidates. */
static void drop_bystanders(struct exact *x)
{
	bool is_fit;

	for (uint32_t i = 0; i < x->n; i++)
		if (x->items[i].m->goes && !x->items[i].is_forced && !frees_anything(x, x->items[i].m))
			node_search_give_back(x->g, x->items[i].m);
	is_fit = node_search_fits(x->g);
	for (uint32_t i = 0; i < x->n; i++)
		if (!x->items[i].m->goes && !x->items[i].m->rest)
			x->items[i].is_kept = is_fit;
}

static void ask_filters(struct exact *x)
{
	move_all(x, false);
	if (node_search_fits(x->g)) {
		find_forced(x);
		drop_bystanders(x);
	}
	move_all(x, true);
}

/* Dropped ones leave the items; the best set's flags stay by candidate. */
static bool *drop_kept(struct exact *x, bool *by_candidate)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		if (x->items[i].is_kept)
			continue;
		by_candidate[n] = x->best->is_found && x->best->goes[i];
		x->items[n++] = x->items[i];
	}
	x->n = n;
	return by_candidate;
}

static void write_back(struct exact *x, struct best_set *best)
{
	if (!x->best->is_found || (best->is_found && set_cost_cmp(&x->best->cost, &best->cost) >= 0))
		return;
	best->is_found = true;
	best->cost = x->best->cost;
	for (uint32_t i = 0; i < x->g->n; i++)
		best->goes[i] = false;
	for (uint32_t i = 0; i < x->n; i++)
		best->goes[x->items[i].m - x->g->candidates] = x->best->goes[i];
}

/* The rest of a group holds at most all of it that is here, and costs at least what is of no candidate of its own. */
static struct item item_of(struct node_search *g, struct candidate *m)
{
	struct item i = {.m = m};

	if (m->rest)
		node_search_fill_rest(g, m, false);
	i.lost_work = m->lost_work;
	if (m->rest)
		node_search_fill_rest(g, m, true);
	return i;
}

uint64_t search_exact_steps(uint32_t n_nodes)
{
	uint64_t share = STEPS_ALL / (n_nodes ? n_nodes : 1);

	return share < STEPS_MIN ? STEPS_MIN : share > STEPS_MAX ? STEPS_MAX : share;
}

void search_exact(struct node_search *g, struct best_set *best)
{
	struct best_set own = *best;
	struct exact x = {.g = g, .best = best, .n = g->n};
	struct set_cost none = set_cost_none;

	if (g->n > DEPTH_MAX) {
		g->is_bounded = true;
		return;
	}
	x.items = arena_n(g->s->c->arena, g->n + 1, struct item);
	for (uint32_t i = 0; i < g->n; i++)
		x.items[i] = item_of(g, &g->candidates[i]);
	x.least_below = best->is_found && !g->set.keeps_all_types ? best->cost.v[COST_BELOW] : 0;
	find_amounts(&x);
	if (!g->is_fast)
		ask_filters(&x);
	own.goes = drop_kept(&x, arena_n(g->s->c->arena, g->n + 1, bool));
	x.best = &own;
	find_dominators(&x);
	prepare_orders(&x);
	explore(&x, x.n, &none);
	write_back(&x, best);
}
