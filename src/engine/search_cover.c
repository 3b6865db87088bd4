/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much work is lost at least on a node, by numbers alone: the least that candidates cost who are enough together.
 *
 * Where all pods are about as old, or were placed at one time, what is lost goes by size, and all nodes seem to cost
 * the same if parts of pods could go. So whole pods are tried: branch and bound, those first that free most of one type
 * for what is lost, with what parts of the rest would cost as the bound. A node has few candidates up to the priority
 * that has to go, so that is far less than asking rules and laws about each of them. Where it takes too many steps,
 * parts of pods are the answer: laws and filters can only make it dearer.
 */
#include "engine/search_bound_internal.h"

enum { COVER_STEPS = 2048 };

struct cover_item {
	int64_t lost;
	const int64_t *frees;
	int64_t left[WANTED]; /* what it frees with those after it */
};

struct cover {
	struct cover_item *v;
	uint32_t n, n_types;
	uint32_t main; /* the type that items are in the order of */
	int64_t best;
	uint32_t steps;
};

/* ---- parts of pods ---- */

static bool frees_more_for_it(const struct cover_item *a, const struct cover_item *b, uint32_t k)
{
	return (__int128)a->lost * b->frees[k] < (__int128)b->lost * a->frees[k];
}

/* Those who free none of it last, in any order. */
static void sort_by_type(struct cover *c, uint32_t k)
{
	for (uint32_t i = 1; i < c->n; i++) {
		struct cover_item x = c->v[i];
		uint32_t at = i;

		for (; x.frees[k] > 0 && at > 0; at--) {
			if (c->v[at - 1].frees[k] > 0 && !frees_more_for_it(&x, &c->v[at - 1], k))
				break;
			c->v[at] = c->v[at - 1];
		}
		c->v[at] = x;
	}
}

/* What so much of a type costs if parts of items could go, from one on. They are in the order of that type. */
static int64_t parts_cost(const struct cover *c, uint32_t from, uint32_t k, int64_t need)
{
	int64_t sum = 0;

	for (uint32_t i = from; i < c->n && need > 0; i++) {
		const struct cover_item *x = &c->v[i];

		if (x->frees[k] <= 0)
			break;
		if (x->frees[k] > need)
			return res_add_sat(sum, (int64_t)((__int128)x->lost * need / x->frees[k]));
		sum = res_add_sat(sum, x->lost);
		need -= x->frees[k];
	}
	return sum;
}

/* The most that any type costs by parts; items are in the order of that type then. */
static int64_t by_parts(struct cover *c, const int64_t *lacks)
{
	int64_t most = 0;
	uint32_t sorted = UINT32_MAX;

	for (uint32_t k = 0; k < c->n_types; k++) {
		int64_t cost;

		if (lacks[k] <= 0)
			continue;
		sort_by_type(c, sorted = k);
		cost = parts_cost(c, 0, k, lacks[k]);
		if (cost < most)
			continue;
		most = cost;
		c->main = k;
	}
	if (sorted != c->main && sorted != UINT32_MAX)
		sort_by_type(c, c->main);
	return most;
}

/* ---- whole pods ---- */

static bool is_enough(const struct cover *c, const int64_t *lacks)
{
	for (uint32_t k = 0; k < c->n_types; k++)
		if (lacks[k] > 0)
			return false;
	return true;
}

static bool could_be_enough(const struct cover *c, uint32_t from, const int64_t *lacks)
{
	for (uint32_t k = 0; k < c->n_types; k++)
		if (lacks[k] > 0 && (from == c->n || lacks[k] > c->v[from].left[k]))
			return false;
	return true;
}

static void explore(struct cover *c, uint32_t from, int64_t cost, const int64_t *lacks)
{
	for (; c->steps < COVER_STEPS; from++) {
		int64_t with[WANTED] = {0};

		c->steps++;
		if (is_enough(c, lacks)) {
			c->best = cost;
			return;
		}
		if (!could_be_enough(c, from, lacks) ||
		    res_add_sat(cost, parts_cost(c, from, c->main, lacks[c->main])) >= c->best)
			return;
		for (uint32_t k = 0; k < c->n_types; k++)
			with[k] = lacks[k] - c->v[from].frees[k];
		if (res_add_sat(cost, c->v[from].lost) < c->best)
			explore(c, from + 1, cost + c->v[from].lost, with);
	}
}

static void sum_up(struct cover *c)
{
	for (uint32_t i = c->n; i-- > 0;)
		for (uint32_t k = 0; k < c->n_types; k++)
			c->v[i].left[k] = c->v[i].frees[k] + (i + 1 < c->n ? c->v[i + 1].left[k] : 0);
}

int64_t rows_least_cover(struct search_bounds *b)
{
	struct cover c = {.n_types = b->g->want.n, .best = INT64_MAX};
	int64_t parts;

	c.v = arena_n(b->g->s->c->arena, b->n + 1, struct cover_item);
	for (uint32_t i = 0; i < b->n; i++) {
		const struct row_candidate *m = &b->candidates[i];

		if (m->is_last)
			continue;
		c.v[c.n].lost = row_lost(b, m->row, m->shape);
		c.v[c.n++].frees = m->shape->frees;
	}
	parts = by_parts(&c, b->lacks);
	sum_up(&c);
	explore(&c, 0, 0, b->lacks);
	return c.steps < COVER_STEPS ? c.best : parts;
}
