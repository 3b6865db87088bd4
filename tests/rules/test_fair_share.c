/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "rng.h"
#include "rules/fair_share.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define TOP SHARE_NO_QUEUE
#define NO_LIMIT SHARE_UNLIMITED

/* ---- division ---- */

struct division_row {
	const char *sentence;
	double total, k;
	uint32_t n;
	struct {
		uint32_t parent;
		int32_t priority;
		double deserved, limit, weight, request, usage, fair;
	} q[6];
};

static const struct division_row divisions[] = {
	{"a queue that asks for less than its quota gets what it asks for",
	 10,
	 1,
	 2,
	 {{TOP, 0, 6, NO_LIMIT, 0, 4, 0, 4}, {TOP, 0, 4, NO_LIMIT, 0, 9, 0, 4}}},
	{"quotas that promise more than there is are not scaled down",
	 10,
	 1,
	 2,
	 {{TOP, 0, 8, NO_LIMIT, 1, 9, 0, 8}, {TOP, 0, 6, NO_LIMIT, 1, 9, 0, 6}}},
	{"a quota without limit is all of the level",
	 10,
	 1,
	 2,
	 {{TOP, 0, NO_LIMIT, NO_LIMIT, 1, 12, 0, 10}, {TOP, 0, 0, NO_LIMIT, 1, 9, 0, 0}}},
	{"what is beyond quotas goes by weight",
	 12,
	 1,
	 2,
	 {{TOP, 0, 2, NO_LIMIT, 3, 50, 0, 8}, {TOP, 0, 2, NO_LIMIT, 1, 50, 0, 4}}},
	{"what one does not want goes to the others",
	 30,
	 1,
	 3,
	 {{TOP, 0, 0, NO_LIMIT, 1, 4, 0, 4}, {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 13}, {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 13}}},
	{"nobody gets more than its limit",
	 30,
	 1,
	 2,
	 {{TOP, 0, 4, 7, 5, 50, 0, 7}, {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 23}}},
	{"a limit below the quota counts", 30, 1, 1, {{TOP, 0, 10, 7, 1, 50, 0, 7}}},
	{"a queue without weight gets its quota and no more",
	 30,
	 1,
	 2,
	 {{TOP, 0, 4, NO_LIMIT, 0, 50, 0, 4}, {TOP, 0, 0, NO_LIMIT, 1, 5, 0, 5}}},
	{"nothing asked for is nothing given",
	 30,
	 1,
	 2,
	 {{TOP, 0, 4, NO_LIMIT, 1, 0, 0, 0}, {TOP, 0, 0, NO_LIMIT, 1, 0, 0, 0}}},
	{"a queue of higher priority is satisfied before others get anything beyond quota",
	 10,
	 1,
	 3,
	 {{TOP, 1, 0, NO_LIMIT, 1, 50, 0, 0}, {TOP, 5, 0, NO_LIMIT, 1, 50, 0, 8}, {TOP, 1, 2, NO_LIMIT, 1, 50, 0, 2}}},
	{"priority does not touch quotas",
	 10,
	 1,
	 2,
	 {{TOP, 1, 6, NO_LIMIT, 1, 50, 0, 6}, {TOP, 9, 0, NO_LIMIT, 1, 50, 0, 4}}},
	{"what the higher priority leaves goes to the lower",
	 10,
	 1,
	 2,
	 {{TOP, 9, 0, NO_LIMIT, 1, 3, 0, 3}, {TOP, 1, 0, NO_LIMIT, 1, 50, 0, 7}}},
	{"the largest fraction gets the unit that rounding held back",
	 11,
	 1,
	 3,
	 {{TOP, 0, 0, NO_LIMIT, 1, 50, 0, 2}, {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 2}, {TOP, 0, 0, NO_LIMIT, 3, 50, 0, 7}}},
	{"of equal fractions the elder queue is served first",
	 8,
	 1,
	 3,
	 {{TOP, 0, 0, NO_LIMIT, 1, 50, 0, 3}, {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 3}, {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 2}}},
	{"a fraction of a unit is not rounded up beyond what is asked for",
	 5,
	 1,
	 3,
	 {{TOP, 0, 0, NO_LIMIT, 1, 1.8, 0, 1.8},
	  {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 2},
	  {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 1.2}}},
	{"children divide what their parent got, not the cluster",
	 20,
	 1,
	 4,
	 {{TOP, 0, 12, NO_LIMIT, 0, 60, 0, 12},
	  {TOP, 0, 8, NO_LIMIT, 0, 60, 0, 8},
	  {0, 0, 0, NO_LIMIT, 2, 60, 0, 8},
	  {0, 0, 0, NO_LIMIT, 1, 60, 0, 4}}},
	{"grandchildren divide what the child got",
	 20,
	 1,
	 5,
	 {{TOP, 0, 0, NO_LIMIT, 1, 60, 0, 20},
	  {0, 0, 0, NO_LIMIT, 1, 60, 0, 10},
	  {0, 0, 10, NO_LIMIT, 0, 60, 0, 10},
	  {1, 0, 1, NO_LIMIT, 1, 60, 0, 7},
	  {1, 0, 0, NO_LIMIT, 1, 3, 0, 3}}},
	{"a child's quota without limit is its parent's share",
	 20,
	 1,
	 3,
	 {{TOP, 0, 5, NO_LIMIT, 0, 60, 0, 5},
	  {0, 0, NO_LIMIT, NO_LIMIT, 1, 60, 0, 5},
	  {0, 0, 0, NO_LIMIT, 1, 9, 0, 0}}},
	{"who used more than its weight in the past gets less now",
	 10,
	 1,
	 2,
	 {{TOP, 0, 0, NO_LIMIT, 1, 50, 0.75, 2}, {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 8}}},
	{"past use that does not count changes nothing",
	 12,
	 0,
	 2,
	 {{TOP, 0, 0, NO_LIMIT, 1, 50, 0.75, 6}, {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 6}}},
	{"who used far too much waits",
	 12,
	 1,
	 2,
	 {{TOP, 0, 0, NO_LIMIT, 1, 50, 1, 0}, {TOP, 0, 0, NO_LIMIT, 1, 50, 0, 12}}},
};

/* The row in one resource, something else in the others: they must not meddle. */
static void fill(const struct division_row *row, enum kai_res res, struct share_queue *q, double *total)
{
	for (int r = 0; r < KAI_RES; r++)
		total[r] = r == (int)res ? row->total : 7;
	for (uint32_t i = 0; i < row->n; i++) {
		q[i] = (struct share_queue){.parent = row->q[i].parent, .priority = row->q[i].priority, .rank = i};
		for (int r = 0; r < KAI_RES; r++)
			q[i].r[r] = (struct share){.limit = NO_LIMIT, .weight = i + 1, .request = 100, .fair = 77};
		q[i].r[res] = (struct share){.deserved = row->q[i].deserved,
					     .limit = row->q[i].limit,
					     .weight = row->q[i].weight,
					     .request = row->q[i].request,
					     .usage = row->q[i].usage,
					     .fair = 77};
	}
}

static void shares_are_divided(void **state)
{
	for (size_t i = 0; i < COUNT(divisions); i++) {
		const struct division_row *row = &divisions[i];

		for (int res = 0; res < KAI_RES; res++) {
			struct share_queue q[COUNT(row->q)];
			double total[KAI_RES];

			fill(row, res, q, total);
			share_divide(q, row->n, total, row->k);
			for (uint32_t k = 0; k < row->n; k++)
				if (fabs(q[k].r[res].fair - row->q[k].fair) > 1e-9)
					fail_msg("%s: queue %u gets %g, not %g", row->sentence, k, q[k].r[res].fair,
						 row->q[k].fair);
		}
	}
}

static void no_queues_are_fine(void **state)
{
	const double total[KAI_RES] = {1, 1, 1};

	share_divide(NULL, 0, total, 1);
}

/* Rank decides, not where a queue stands in the array. */
static void the_order_of_the_array_does_not_matter(void **state)
{
	const double total[KAI_RES] = {8, 8, 8};
	struct share_queue q[3] = {{.parent = TOP, .rank = 2}, {.parent = TOP, .rank = 0}, {.parent = TOP, .rank = 1}};

	for (int i = 0; i < 3; i++)
		for (int r = 0; r < KAI_RES; r++)
			q[i].r[r] = (struct share){.limit = NO_LIMIT, .weight = 1, .request = 50};
	share_divide(q, 3, total, 1);
	assert_true(q[0].r[KAI_GPU].fair == 2 && q[1].r[KAI_GPU].fair == 3 && q[2].r[KAI_GPU].fair == 3);
}

/* ---- properties of division ---- */

enum { MANY = 4000 };

static struct share random_share(struct rng *r)
{
	struct share s = {.deserved = rng_below(r, 5) ? rng_below(r, 40) : NO_LIMIT,
			  .limit = rng_below(r, 4) ? NO_LIMIT : rng_below(r, 60),
			  .weight = rng_below(r, 6),
			  .request = rng_below(r, 3) ? rng_below(r, 80) : ldexp(1, (int)rng_below(r, 45))};

	return s;
}

static void random_queues(struct rng *r, struct share_queue *q, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		q[i] = (struct share_queue){.parent = i && rng_below(r, 4) ? rng_below(r, i) : TOP,
					    .priority = (int32_t)rng_below(r, 3),
					    .rank = i};
		for (int k = 0; k < KAI_RES; k++)
			q[i].r[k] = random_share(r);
	}
}

static double asked(const struct share *s)
{
	return s->limit != NO_LIMIT && s->limit < s->request ? s->limit : s->request;
}

/* What siblings were given, and what of it their quotas were worth. */
static void check_level(const struct share_queue *q, uint32_t n, uint32_t parent, int res, double total)
{
	double given = 0, quotas = 0, hunger = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct share *s = &q[i].r[res];
		double quota = s->deserved == NO_LIMIT ? total : s->deserved;

		if (q[i].parent != parent)
			continue;
		assert_true(s->fair <= asked(s));
		assert_true(s->fair >= (quota < asked(s) ? quota : asked(s)));
		given += s->fair;
		quotas += quota < asked(s) ? quota : asked(s);
		hunger += s->weight > 0 ? asked(s) - s->fair : 0;
	}
	assert_true(given <= (quotas > total ? quotas : total) + 1e-6);
	/* nothing stays with the level while somebody with a weight could use it */
	assert_true(hunger < 1e-6 || given >= total - 1e-6);
}

static void nobody_gets_too_much_and_nothing_is_wasted(void **state)
{
	struct share_queue q[30];
	struct rng r = {11};

	for (int round = 0; round < 2000; round++) {
		uint32_t n = 1 + rng_below(&r, COUNT(q));
		double total[KAI_RES] = {rng_below(&r, 200), rng_below(&r, 200), ldexp(1, (int)rng_below(&r, 45))};

		random_queues(&r, q, n);
		share_divide(q, n, total, 1);
		for (int res = 0; res < KAI_RES; res++) {
			check_level(q, n, TOP, res, total[res]);
			for (uint32_t i = 0; i < n; i++)
				check_level(q, n, i, res, q[i].r[res].fair);
		}
	}
}

/* Sums of weights that are no whole numbers depend on the order in which they are added: it is that of the ranks. */
static void to_the_last_bit_the_order_of_the_array_does_not_matter(void **state)
{
	struct share_queue q[6], turned[COUNT(q)];
	struct rng r = {12};

	for (int round = 0; round < 2000; round++) {
		uint32_t n = 2 + rng_below(&r, COUNT(q) - 1);
		double total[KAI_RES] = {rng_below(&r, 200), rng_below(&r, 200), rng_below(&r, 200)};

		random_queues(&r, q, n);
		for (uint32_t i = 0; i < n; i++) {
			q[i].parent = TOP;
			q[i].priority /= 2;
			for (int res = 0; res < KAI_RES; res++)
				q[i].r[res].weight /= 10;
			turned[n - 1 - i] = q[i];
		}
		share_divide(q, n, total, 1);
		share_divide(turned, n, total, 1);
		for (uint32_t i = 0; i < n; i++)
			for (int res = 0; res < KAI_RES; res++)
				assert_true(q[i].r[res].fair == turned[n - 1 - i].r[res].fair);
	}
}

static void thousands_of_queues_are_divided(void **state)
{
	struct share_queue *q = mem_alloc(MANY * sizeof(*q));
	const double total[KAI_RES] = {5000, 4e6, 1e15};
	struct rng r = {3};

	for (int round = 0; round < 20; round++) {
		random_queues(&r, q, MANY);
		for (uint32_t i = 0; i < MANY && round % 2; i++)
			q[i].parent = TOP;
		share_divide(q, MANY, total, 1);
		check_level(q, MANY, TOP, KAI_MEMORY, total[KAI_MEMORY]);
	}
	mem_free(q);
}

/* ---- allocatable ---- */

static void what_a_queue_may_have(void **state)
{
	static const struct {
		const char *sentence;
		double deserved, limit, fair, want;
	} rows[] = {
		{"its fair share, if that is more than its quota", 3, NO_LIMIT, 5, 5},
		{"its quota, if that is more than its fair share", 6, NO_LIMIT, 5, 6},
		{"its limit, if that is less", 6, 4, 5, 4},
		{"its limit, if it deserves without end", NO_LIMIT, 9, 5, 9},
		{"anything, if neither ends", NO_LIMIT, NO_LIMIT, 5, NO_LIMIT},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct share s = {.deserved = rows[i].deserved, .limit = rows[i].limit, .fair = rows[i].fair};

		if (share_allocatable(&s) != rows[i].want)
			fail_msg("%s: %g", rows[i].sentence, share_allocatable(&s));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_divided),
		cmocka_unit_test(no_queues_are_fine),
		cmocka_unit_test(the_order_of_the_array_does_not_matter),
		cmocka_unit_test(nobody_gets_too_much_and_nothing_is_wasted),
		cmocka_unit_test(to_the_last_bit_the_order_of_the_array_does_not_matter),
		cmocka_unit_test(thousands_of_queues_are_divided),
		cmocka_unit_test(what_a_queue_may_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
