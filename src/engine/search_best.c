/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best set of victims on a node, the plain way where that is provably the best, else by search_exact; and nodes
 * that need not be searched because no set of theirs can be better than what others offer.
 */
#include "engine/search_internal.h"

/* ---- the plain way ---- */

static void reprieve(struct node_search *g)
{
	for (uint32_t i = 0; i < g->n; i++) {
		if (!g->candidates[i].goes || node_search_rest_goes(g, &g->candidates[i]))
			continue;
		node_search_give_back(g, &g->candidates[i]);
		if (!node_search_fits(g))
			node_search_take(g, &g->candidates[i]);
	}
}

/* Would it be enough if all of them went, whatever the laws say? */
static bool could_fit(const struct node_search *g)
{
	for (uint32_t k = 0; k < g->want.n; k++) {
		int64_t room = g->room[k];

		for (uint32_t i = 0; i < g->n && room < g->want.amount[k]; i++)
			room += candidate_frees(&g->candidates[i], g->want.type[k]);
		if (room < g->want.amount[k])
			return false;
	}
	return true;
}

/* As many as the rules on sets allow, in eviction order. */
static void take_lawful(struct node_search *g)
{
	for (uint32_t i = g->n; i-- > 0;) {
		struct candidate *m = &g->candidates[i];
		struct rule_verdict says = node_search_refusal(g, m);

		if (says.answer == MAY_GO) {
			node_search_take(g, m);
			continue;
		}
		g->was_refused |= !m->rest || !g->spares_rest;
		m->is_at_minimum |= m->v.is_of_gang && (says.rule == RULE_NONE || says.rule == RULE_MIN_RUNTIME);
	}
}

/* The plain way to a set: all that may go, then back with as many as possible, last to be evicted first. */
static bool take_greedily(struct node_search *g)
{
	take_lawful(g);
	if (node_search_fits(g)) {
		reprieve(g);
		return true;
	}
	node_search_give_back_all(g);
	return false;
}

/* ---- the best set so far ---- */

static void remember(struct node_search *g, struct best_set *best)
{
	struct set_cost cost = node_search_cost(g);

	if (best->is_found && set_cost_cmp(&cost, &best->cost) >= 0)
		return;
	best->is_found = true;
	best->cost = cost;
	for (uint32_t i = 0; i < g->n; i++)
		best->goes[i] = g->candidates[i].goes;
}

/* In eviction order, as it was found: what the rest of a group consists of depends on who went before. */
static void take_set(struct node_search *g, const struct best_set *best)
{
	for (uint32_t i = g->n; i-- > 0;) {
		if (!best->goes[i])
			continue;
		if (g->candidates[i].rest)
			node_search_fill_rest(g, &g->candidates[i], true);
		node_search_take(g, &g->candidates[i]);
	}
}

static void try_greedily(struct node_search *g, struct best_set *best)
{
	if (take_greedily(g))
		remember(g, best);
	node_search_give_back_all(g);
}

/* So many victims at least, by the biggest amounts anybody holds. */
static uint64_t least_victims(const struct node_search *g)
{
	uint64_t least = 0;

	for (uint32_t k = 0; k < g->want.n; k++) {
		int64_t lacks = g->want.amount[k] - g->room[k], most = 0;

		for (uint32_t i = 0; lacks > 0 && i < g->n; i++) {
			int64_t frees = candidate_frees(&g->candidates[i], g->want.type[k]);

			most = frees > most ? frees : most;
		}
		if (lacks > 0 && most > 0 && (uint64_t)((lacks - 1) / most + 1) > least)
			least = (uint64_t)((lacks - 1) / most + 1);
	}
	return least;
}

/* Between two of one priority: would a set rather take x? */
static bool costs_less(const struct candidate *x, const struct candidate *y)
{
	if (x->lost_work != y->lost_work)
		return x->lost_work < y->lost_work;
	return x->distance != y->distance ? x->distance < y->distance : x->start > y->start;
}

/*
 * Is the set of the plain way provably the best? Its last victim in eviction order could not be given back although
 * everybody before was gone: so every set that is enough takes somebody as late, and has at least that priority. Is it
 * the only victim, no other set costs less. Are the victims the first m in eviction order, no set is enough with fewer
 * than m, and nobody else of a priority that may go costs less than one of them, no other set costs less either. All of
 * this holds only if nobody was refused on the way, and if filters say the same whoever goes.
 */
static bool is_proven(const struct node_search *g, const struct best_set *best)
{
	uint32_t m = best->cost.v[COST_COUNT];
	const struct candidate *next, *dearest;

	if (g->was_refused || g->has_rest || best->cost.v[COST_BELOW] || best->cost.v[COST_OPTED_OUT] ||
	    best->cost.v[COST_DRIVERS] || best->cost.v[COST_THRASHING] || g->moves)
		return false;
	if (m == 1)
		return true;
	for (uint32_t i = g->n - m; i < g->n; i++)
		if (!best->goes[i])
			return false;
	dearest = &g->candidates[g->n - m];
	for (uint32_t i = g->n - m; i < g->n; i++)
		if (costs_less(dearest, &g->candidates[i]))
			dearest = &g->candidates[i];
	next = g->n > m ? &g->candidates[g->n - m - 1] : NULL;
	if (next && next->v.p->priority == best->cost.v[COST_HIGHEST] && costs_less(next, dearest))
		return false;
	return least_victims(g) == m;
}

/* ---- nodes that cannot win ---- */

enum { CHEAPEST = 4 }; /* victims counted one by one in the bound: more would cost more than they tell */

/* Somebody as late in eviction order as this has to go: of all that is short, those before are not enough. */
static uint32_t first_needed(const struct node_search *g)
{
	uint32_t first = g->n;

	for (uint32_t k = 0; k < g->want.n; k++) {
		int64_t lacks = g->want.amount[k] - g->room[k];
		uint32_t i = g->n;

		while (lacks > 0 && i > 0)
			lacks -= candidate_frees(&g->candidates[--i], g->want.type[k]);
		first = i < first ? i : first;
	}
	return first;
}

/* The least lost work of so many candidates up to a priority. */
static int64_t least_lost(const struct node_search *g, uint64_t n, int64_t highest)
{
	int64_t least[CHEAPEST], sum = 0;
	uint32_t count = 0, wants = n < CHEAPEST ? (uint32_t)n : CHEAPEST;

	for (uint32_t i = 0; i < g->n; i++) {
		int64_t lost = g->candidates[i].lost_work;
		uint32_t at;

		if (g->candidates[i].v.p->priority > highest ||
		    (count == wants && (!count || lost >= least[count - 1])))
			continue;
		for (at = count < wants ? count : count - 1; at > 0 && least[at - 1] > lost; at--)
			least[at] = least[at - 1];
		least[at] = lost;
		count += count < wants;
	}
	for (uint32_t i = 0; i < count; i++)
		sum = res_add_sat(sum, least[i]);
	return sum;
}

/* No set of this node costs less, whatever rules and filters say. */
static struct set_cost lower_bound(const struct node_search *g)
{
	struct set_cost least = set_cost_none;
	uint32_t first = first_needed(g);
	uint64_t n = least_victims(g);

	if (first == g->n)
		return least;
	least.v[COST_OPTED_OUT] = g->candidates[first].is_opted_out;
	least.v[COST_DRIVERS] = !least.v[COST_OPTED_OUT] && g->candidates[first].is_driver;
	least.v[COST_THRASHING] =
		!least.v[COST_OPTED_OUT] && !least.v[COST_DRIVERS] && g->candidates[first].is_thrashing;
	if (least.v[COST_OPTED_OUT] || least.v[COST_DRIVERS] || least.v[COST_THRASHING])
		return least;
	least.v[COST_HIGHEST] = g->candidates[first].v.p->priority;
	least.v[COST_COUNT] = (uint32_t)n;
	least.v[COST_LOST] = least_lost(g, n, least.v[COST_HIGHEST]);
	return least;
}

/* Groups that go as a whole free more than their candidates on this node tell. */
bool node_search_is_beaten(struct node_search *g, struct set_cost *ret)
{
	if (!g->rival || g->has_rest)
		return false;
	*ret = lower_bound(g);
	return set_cost_cmp(ret, g->rival) >= 0;
}

/*
 * Sets that take no queue below its guarantee in types the laws did not look at come before those that do. They are
 * searched first, so that the search among the others need not look for them.
 */
static void try_keeping_guarantees(struct node_search *g, struct best_set *best)
{
	bool had_all = g->set.keeps_all_types;

	g->set.keeps_all_types = true;
	try_greedily(g, best);
	search_exact(g, best);
	g->set.keeps_all_types = had_all;
}

bool node_search_find_set(struct node_search *g, struct best_set *best, struct set_cost *ret)
{
	if (!could_fit(g))
		return false;
	best->is_found = false;
	g->spares_rest = g->has_rest;
	try_greedily(g, best);
	if (g->has_rest) {
		g->spares_rest = false;
		try_greedily(g, best);
	}
	if (best->is_found && best->cost.v[COST_BELOW])
		try_keeping_guarantees(g, best);
	if (!best->is_found && !g->moves && (!g->was_refused || !node_search_filters_let(g)))
		return false;
	if (!best->is_found || !is_proven(g, best))
		search_exact(g, best);
	if (!best->is_found)
		return false;
	take_set(g, best);
	if (g->is_bounded) { /* what was found when the search ended may be more than is needed */
		reprieve(g);
		best->cost = node_search_cost(g);
	}
	*ret = best->cost;
	ret->v[COST_RANK] = 0;
	return ret->v[COST_COUNT] > 0;
}

void node_search_tell_refused_sets(struct node_search *g)
{
	for (uint32_t i = g->n; i-- > 0;) {
		struct candidate *m = &g->candidates[i];
		struct rule_verdict says = node_search_refusal(g, m);

		if (says.answer == MAY_GO)
			node_search_take(g, m);
		else if (says.rule != RULE_NONE && !m->is_at_minimum)
			node_search_protect(g, m->v.pod, m->v.p, &says, true);
	}
	node_search_give_back_all(g);
}
