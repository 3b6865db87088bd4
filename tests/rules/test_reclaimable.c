/* SPDX-License-Identifier: Apache-2.0 */
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

enum { MANY = 4000 };

/* ---- may a queue ask others ---- */

static struct share_queue plain_queue(uint32_t parent, uint32_t rank)
{
	struct share_queue q = {.parent = parent, .rank = rank};

	for (int r = 0; r < KAI_RES; r++)
		q.r[r] = (struct share){.deserved = NO_LIMIT, .limit = NO_LIMIT, .fair = NO_LIMIT};
	return q;
}

static struct share gpus(double deserved, double fair, double allocated)
{
	return (struct share){.deserved = deserved, .limit = NO_LIMIT, .fair = fair, .allocated = allocated};
}

static void who_may_ask_others(void **state)
{
	static const struct {
		const char *sentence;
		double deserved, fair, allocated, core, cpu_fair, cpu_allocated, request;
		bool is_core, want;
	} rows[] = {
		{"up to its fair share", 2, 4, 3, 0, NO_LIMIT, 9, 1, false, true},
		{"not beyond its fair share", 2, 4, 4, 0, NO_LIMIT, 9, 1, false, false},
		{"core work up to quota", 2, 4, 3, 1, NO_LIMIT, 9, 1, true, true},
		{"core work not beyond quota", 2, 4, 3, 2, NO_LIMIT, 9, 1, true, false},
		{"core work where quota is without end", NO_LIMIT, 4, 3, 3, NO_LIMIT, 9, 1, true, true},
		{"not if it is above its share of something it does not ask for", 2, 4, 0, 0, 8, 9, 1, false, false},
		{"without end, whatever it has", 0, NO_LIMIT, 90, 0, NO_LIMIT, 9, 50, false, true},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct share_queue q = plain_queue(TOP, 0);
		const double request[KAI_RES] = {[KAI_GPU] = rows[i].request};

		q.r[KAI_GPU] = gpus(rows[i].deserved, rows[i].fair, rows[i].allocated);
		q.r[KAI_GPU].allocated_core = rows[i].core;
		q.r[KAI_CPU].fair = rows[i].cpu_fair;
		q.r[KAI_CPU].allocated = rows[i].cpu_allocated;
		if (share_can_reclaim(&q, 0, request, rows[i].is_core, NULL) != rows[i].want)
			fail_msg("%s", rows[i].sentence);
	}
}

/* ---- reclaim ---- */

/* Two departments (0, 1) with two leaves each: 2 and 3 under 0, 4 and 5 under 1. Queue 2 asks for GPUs. */
enum { DEPT_A, DEPT_B, MINE, SIBLING, FAR, FAR_SIBLING, LEAVES_END };

struct reclaim_row {
	const char *sentence;
	struct {
		double deserved, fair, allocated;
	} q[LEAVES_END];
	double request, core; /* core: of mine, not preemptible */
	bool is_core;
	uint32_t n_batches;
	struct {
		uint32_t queue;
		double gpus;
	} batches[4];
	double multiplier;
	struct share_verdict want;
};

static const struct reclaim_row reclaims[] = {
	{"from a sibling above its fair share",
	 {{8, 8, 8}, {8, 8, 8}, {0, 4, 2}, {0, 4, 6}, {4, 4, 4}, {4, 4, 4}},
	 2,
	 0,
	 false,
	 2,
	 {{SIBLING, 1}, {SIBLING, 1}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
	{"not from a sibling within its fair share",
	 {{8, 8, 8}, {8, 8, 8}, {0, 4, 4}, {0, 4, 4}, {4, 4, 4}, {4, 4, 4}},
	 2,
	 0,
	 false,
	 1,
	 {{SIBLING, 2}},
	 1,
	 {SHARE_VICTIM_WITHIN, SIBLING, MINE, KAI_GPU, 4, 4, 6, 0}},
	{"not once what went before brought it down to its share",
	 {{8, 8, 8}, {8, 8, 8}, {0, 4, 2}, {0, 4, 5}, {4, 4, 4}, {4, 4, 4}},
	 2,
	 0,
	 false,
	 2,
	 {{SIBLING, 1}, {SIBLING, 1}},
	 1,
	 {SHARE_VICTIM_WITHIN, SIBLING, MINE, KAI_GPU, 4, 4, 4, 0}},
	{"a gang goes whole, even if that leaves its queue far below its share",
	 {{8, 8, 8}, {8, 8, 8}, {0, 4, 0}, {0, 4, 5}, {4, 4, 4}, {4, 4, 4}},
	 4,
	 0,
	 false,
	 1,
	 {{SIBLING, 5}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
	{"within quota, from one above its own quota, though not above its fair share",
	 {{8, 8, 8}, {8, 8, 8}, {6, 6, 2}, {2, 6, 6}, {4, 4, 4}, {4, 4, 4}},
	 2,
	 0,
	 false,
	 1,
	 {{SIBLING, 2}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
	{"not beyond quota, from one within its fair share",
	 {{8, 8, 8}, {8, 8, 8}, {3, 6, 2}, {2, 6, 6}, {4, 4, 4}, {4, 4, 4}},
	 2,
	 0,
	 false,
	 1,
	 {{SIBLING, 2}},
	 1,
	 {SHARE_VICTIM_WITHIN, SIBLING, MINE, KAI_GPU, 6, 6, 4, 3}},
	{"between departments it is the departments that are compared",
	 {{8, 8, 2}, {8, 8, 12}, {0, 8, 2}, {0, 0, 0}, {9, 9, 4}, {0, 0, 8}},
	 2,
	 0,
	 false,
	 1,
	 {{FAR, 2}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
	{"not from a department within its share, even from a queue far above its own",
	 {{8, 8, 8}, {8, 8, 8}, {4, 4, 4}, {4, 4, 4}, {0, 0, 8}, {8, 8, 0}},
	 2,
	 0,
	 false,
	 1,
	 {{FAR, 2}},
	 1,
	 {SHARE_VICTIM_WITHIN, DEPT_B, DEPT_A, KAI_GPU, 8, 8, 10, 8}},
	{"victims of two queues add up in their department",
	 {{8, 8, 6}, {8, 8, 9}, {8, 8, 6}, {0, 0, 0}, {0, 4, 5}, {0, 4, 4}},
	 2,
	 0,
	 false,
	 2,
	 {{FAR, 1}, {FAR_SIBLING, 1}},
	 1,
	 {SHARE_VICTIM_WITHIN, DEPT_B, DEPT_A, KAI_GPU, 8, 8, 8, 8}},
	{"not if I would use more of my share than the sibling of its",
	 {{8, 8, 8}, {8, 8, 8}, {0, 2, 2}, {0, 4, 6}, {4, 4, 4}, {4, 4, 4}},
	 2,
	 0,
	 false,
	 1,
	 {{SIBLING, 2}},
	 1,
	 {SHARE_MORE_SATURATED, SIBLING, MINE, KAI_GPU, 4, 4, 4, 2}},
	{"above my share, while the sibling is further above its own",
	 {{8, 8, 8}, {8, 8, 8}, {0, 4, 4}, {0, 4, 10}, {4, 4, 4}, {4, 4, 4}},
	 1,
	 0,
	 false,
	 1,
	 {{SIBLING, 1}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
	{"a multiplier asks for a greater distance",
	 {{8, 8, 8}, {8, 8, 8}, {0, 4, 4}, {0, 4, 10}, {4, 4, 4}, {4, 4, 4}},
	 1,
	 0,
	 false,
	 1,
	 {{SIBLING, 1}},
	 2,
	 {SHARE_MORE_SATURATED, SIBLING, MINE, KAI_GPU, 9, 4, 5, 4}},
	{"my department must stay behind the other one, too",
	 {{8, 8, 9}, {8, 8, 9}, {9, 9, 5}, {4, 4, 4}, {0, 4, 5}, {4, 4, 4}},
	 1,
	 0,
	 false,
	 1,
	 {{FAR, 1}},
	 1,
	 {SHARE_MORE_SATURATED, DEPT_B, DEPT_A, KAI_GPU, 8, 8, 10, 8}},
	{"a sibling without a share is no measure",
	 {{8, 8, 8}, {8, 8, 8}, {0, 2, 2}, {0, 0, 6}, {4, 4, 4}, {4, 4, 4}},
	 1,
	 0,
	 false,
	 1,
	 {{SIBLING, 1}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
	{"a share without limit is never used up",
	 {{8, 8, 8}, {8, 8, 8}, {0, NO_LIMIT, 9}, {0, 4, 6}, {4, 4, 4}, {4, 4, 4}},
	 1,
	 0,
	 false,
	 1,
	 {{SIBLING, 1}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
	{"core work must stay within quota",
	 {{8, 8, 8}, {8, 8, 8}, {3, 4, 3}, {0, 4, 8}, {4, 4, 4}, {4, 4, 4}},
	 1,
	 3,
	 true,
	 1,
	 {{SIBLING, 1}},
	 1,
	 {SHARE_CORE_OVER_QUOTA, MINE, MINE, KAI_GPU, 4, 3, 4, 3}},
	{"the quota of the department counts for core work, too",
	 {{3, 8, 8}, {8, 8, 8}, {4, 4, 3}, {0, 4, 8}, {4, 4, 4}, {4, 4, 4}},
	 1,
	 3,
	 true,
	 1,
	 {{SIBLING, 1}},
	 1,
	 {SHARE_CORE_OVER_QUOTA, DEPT_A, MINE, KAI_GPU, 4, 3, 4, 3}},
	{"work that may be preempted does not mind quota",
	 {{3, 8, 8}, {8, 8, 8}, {3, 4, 3}, {0, 4, 8}, {4, 4, 4}, {4, 4, 4}},
	 1,
	 3,
	 false,
	 1,
	 {{SIBLING, 1}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
	{"nothing taken is fine",
	 {{8, 8, 8}, {8, 8, 8}, {0, 2, 4}, {0, 4, 4}, {4, 4, 4}, {4, 4, 4}},
	 1,
	 0,
	 false,
	 0,
	 {{0}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
	{"from itself, if it is above its share",
	 {{8, 8, 8}, {8, 8, 8}, {0, 2, 4}, {0, 4, 4}, {4, 4, 4}, {4, 4, 4}},
	 1,
	 0,
	 false,
	 1,
	 {{MINE, 1}},
	 1,
	 {SHARE_FINE, TOP, TOP, 0, 0, 0, 0, 0}},
};

static void reclaim_queues(const struct reclaim_row *row, struct share_queue *q)
{
	static const uint32_t parents[LEAVES_END] = {TOP, TOP, DEPT_A, DEPT_A, DEPT_B, DEPT_B};

	for (uint32_t i = 0; i < LEAVES_END; i++) {
		q[i] = plain_queue(parents[i], i);
		q[i].r[KAI_GPU] = gpus(row->q[i].deserved, row->q[i].fair, row->q[i].allocated);
	}
	q[MINE].r[KAI_GPU].allocated_core = q[DEPT_A].r[KAI_GPU].allocated_core = row->core;
}

static bool same_verdict(const struct share_verdict *a, const struct share_verdict *b)
{
	return a->refusal == b->refusal && a->queue == b->queue && a->other == b->other && a->res == b->res &&
	       a->used == b->used && a->share == b->share && a->other_used == b->other_used &&
	       a->other_share == b->other_share;
}

static void who_may_take_what_from_whom(void **state)
{
	struct share_scratch scratch = {0};

	for (size_t i = 0; i < COUNT(reclaims); i++) {
		const struct reclaim_row *row = &reclaims[i];
		const double request[KAI_RES] = {[KAI_GPU] = row->request};
		struct share_batch batches[COUNT(row->batches)] = {{0}};
		struct share_queue q[LEAVES_END];
		struct share_verdict got;
		bool may;

		reclaim_queues(row, q);
		for (uint32_t k = 0; k < row->n_batches; k++)
			batches[k] = (struct share_batch){row->batches[k].queue, 0, {[KAI_GPU] = row->batches[k].gpus}};
		may = share_reclaimable(q, LEAVES_END, MINE, request, row->is_core, batches, row->n_batches,
					row->multiplier, &scratch, &got);
		if (may != (row->want.refusal == SHARE_FINE) || !same_verdict(&got, &row->want))
			fail_msg("%s: %d, queue %u and %u, %g of %g, %g of %g", row->sentence, got.refusal, got.queue,
				 got.other, got.used, got.share, got.other_used, got.other_share);
		assert_int_equal(may, share_reclaimable(q, LEAVES_END, MINE, request, row->is_core, batches,
							row->n_batches, row->multiplier, &scratch, NULL));
	}
	share_scratch_free(&scratch);
}

/* What neither the victims hold nor I ask for is no reason to compare. */
static void only_what_changes_hands_is_compared(void **state)
{
	const double request[KAI_RES] = {[KAI_GPU] = 1};
	struct share_batch b = {SIBLING, 0, {[KAI_GPU] = 1}};
	struct share_queue q[LEAVES_END];
	struct share_scratch scratch = {0};
	struct share_verdict got;

	reclaim_queues(&reclaims[0], q);
	q[MINE].r[KAI_CPU] = gpus(0, 1000, 4000);
	q[SIBLING].r[KAI_CPU] = gpus(0, 1000, 1000);
	assert_true(share_reclaimable(q, LEAVES_END, MINE, request, false, &b, 1, 1, &scratch, &got));
	b.r[KAI_CPU] = 100;
	assert_false(share_reclaimable(q, LEAVES_END, MINE, request, false, &b, 1, 1, &scratch, &got));
	assert_int_equal(got.res, KAI_CPU);
	assert_true(got.used == 900 && got.other_used == 4000);
	share_scratch_free(&scratch);
}

/* How many of equal batches a queue may lose is the same whether they are told one by one or as a run. */
static void a_run_of_equal_batches_is_as_many_of_them(void **state)
{
	const double request[KAI_RES] = {[KAI_GPU] = 1};
	struct share_batch single[12], run = {SIBLING, 0, {[KAI_GPU] = 1}};
	struct share_queue q[LEAVES_END];
	struct share_scratch scratch = {0};
	uint32_t n_allowed = 0;

	reclaim_queues(&reclaims[0], q);
	q[SIBLING].r[KAI_GPU] = gpus(0, 3, 8);
	for (uint32_t n = 1; n <= COUNT(single); n++) {
		bool may_single, may_run;

		single[n - 1] = run;
		single[n - 1].more = 0;
		run.more = n - 1;
		may_single = share_reclaimable(q, LEAVES_END, MINE, request, false, single, n, 1, &scratch, NULL);
		may_run = share_reclaimable(q, LEAVES_END, MINE, request, false, &run, 1, 1, &scratch, NULL);
		assert_int_equal(may_single, may_run);
		n_allowed += may_run;
	}
	assert_in_range(n_allowed, 1, COUNT(single) - 1);
	share_scratch_free(&scratch);
}

static void the_refusal_names_the_resource_that_comes_closest(void **state)
{
	const double request[KAI_RES] = {[KAI_GPU] = 1, [KAI_CPU] = 1000, [KAI_MEMORY] = 10};
	struct share_batch b = {SIBLING, 0, {1, 1000, 10}};
	struct share_queue q[LEAVES_END];
	struct share_scratch scratch = {0};
	struct share_verdict got;

	reclaim_queues(&reclaims[0], q);
	q[SIBLING].r[KAI_GPU] = gpus(0, 4, 2);
	q[SIBLING].r[KAI_CPU] = gpus(0, 4000, 3000);
	q[SIBLING].r[KAI_MEMORY] = gpus(0, 100, 20);
	assert_false(share_reclaimable(q, LEAVES_END, MINE, request, false, &b, 1, 1, &scratch, &got));
	assert_int_equal(got.refusal, SHARE_VICTIM_WITHIN);
	assert_int_equal(got.res, KAI_CPU);
	assert_true(got.used == 3000 && got.share == 4000);
	q[SIBLING].r[KAI_GPU] = gpus(0, 4, 3);
	q[SIBLING].r[KAI_MEMORY] = gpus(0, 100, 75);
	assert_false(share_reclaimable(q, LEAVES_END, MINE, request, false, &b, 1, 1, &scratch, &got));
	assert_int_equal(got.res, KAI_GPU); /* the first of those that are as close */
	share_scratch_free(&scratch);
}

/* The same memory serves trees of any size, one after the other. */
static void scratch_is_used_again(void **state)
{
	const double request[KAI_RES] = {1, 0, 0};
	struct share_queue *q = mem_alloc(MANY * sizeof(*q));
	struct share_batch *b = mem_alloc(MANY * sizeof(*b));
	struct share_scratch scratch = {0};
	uint64_t *stamps;

	for (uint32_t i = 0; i < MANY; i++) {
		q[i] = plain_queue(TOP, i);
		q[i].r[KAI_GPU] = i ? gpus(0, 1, 2) : gpus(0, MANY, 0);
		b[i] = (struct share_batch){i, 0, {1, 0, 0}};
	}
	assert_true(share_reclaimable(q, 2, 0, request, false, b + 1, 1, 1, &scratch, NULL));
	assert_true(share_reclaimable(q, MANY, 0, request, false, b + 1, MANY - 1, 1, &scratch, NULL));
	stamps = scratch.stamps;
	for (int i = 0; i < 100; i++)
		assert_true(share_reclaimable(q, MANY, 0, request, false, b + 1, MANY - 1, 1, &scratch, NULL));
	assert_ptr_equal(stamps, scratch.stamps);
	share_scratch_free(&scratch);
	mem_free(q);
	mem_free(b);
}

/* ---- order ---- */

struct order_side {
	int32_t priority;
	uint32_t rank;
	double deserved, limit, fair, allocated, request, taken;
};

static void who_comes_first(void **state)
{
	static const struct {
		const char *sentence; /* the first row's queue comes first */
		struct order_side first, second;
	} rows[] = {
		{"a queue above its fair share comes last, whatever its priority",
		 {0, 1, 0, NO_LIMIT, 4, 3, 1, 0},
		 {9, 0, 8, NO_LIMIT, 4, 5, 1, 0}},
		{"a queue that stays within quota with its next work comes first, whatever its priority",
		 {0, 1, 4, NO_LIMIT, 8, 3, 1, 0},
		 {9, 0, 2, NO_LIMIT, 8, 2, 1, 0}},
		{"a quota without limit is always kept",
		 {0, 1, NO_LIMIT, NO_LIMIT, 9, 8, 1, 0},
		 {9, 0, 2, NO_LIMIT, 8, 2, 1, 0}},
		{"then the queue of higher priority", {5, 1, 2, NO_LIMIT, 8, 7, 1, 0}, {1, 0, 2, NO_LIMIT, 8, 3, 1, 0}},
		{"then one that may have what it holds at all",
		 {1, 1, 0, NO_LIMIT, 2, 3, 0, 0},
		 {1, 0, 0, 0, 0, 1, 0, 1}},
		{"then the one that uses less of its share with its next work",
		 {1, 1, 2, NO_LIMIT, 10, 4, 2, 0},
		 {1, 0, 2, NO_LIMIT, 8, 4, 2, 0}},
		{"what victims hold is not used any more",
		 {1, 1, 2, NO_LIMIT, 8, 6, 0, 5},
		 {1, 0, 2, NO_LIMIT, 8, 4, 0, 1}},
		{"without limit the cluster is the share",
		 {1, 1, NO_LIMIT, NO_LIMIT, 8, 8, 4, 0},
		 {1, 0, NO_LIMIT, 16, 8, 8, 4, 0}},
		{"then the one that uses less of its share now",
		 {1, 1, 2, NO_LIMIT, 8, 3, 3, 0},
		 {1, 0, 2, NO_LIMIT, 8, 4, 2, 0}},
		{"then the one of smaller share", {1, 1, 2, NO_LIMIT, 4, 3, 0, 3}, {1, 0, 2, NO_LIMIT, 8, 6, 0, 6}},
		{"then the elder", {1, 0, 2, NO_LIMIT, 8, 3, 1, 0}, {1, 1, 2, NO_LIMIT, 8, 3, 1, 0}},
	};
	const double total[KAI_RES] = {100, 100, 100};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct order_side *sides[2] = {&rows[i].first, &rows[i].second};
		double request[2][KAI_RES] = {{0}}, taken[2][KAI_RES] = {{0}};
		struct share_queue q[2];
		struct share_sibling t[2];

		for (int k = 0; k < 2; k++) {
			q[k] = plain_queue(TOP, sides[k]->rank);
			q[k].priority = sides[k]->priority;
			q[k].r[KAI_GPU] = gpus(sides[k]->deserved, sides[k]->fair, sides[k]->allocated);
			q[k].r[KAI_GPU].limit = sides[k]->limit;
			/* above the fair share means in everything */
			for (int r = KAI_CPU; r < KAI_RES; r++)
				q[k].r[r] = gpus(NO_LIMIT, 0, 1);
			request[k][KAI_GPU] = sides[k]->request;
			taken[k][KAI_GPU] = sides[k]->taken;
			t[k] = (struct share_sibling){&q[k], request[k], taken[k]};
		}
		if (share_order(&t[0], &t[1], total) != -1 || share_order(&t[1], &t[0], total) != 1)
			fail_msg("%s", rows[i].sentence);
	}
}

/* What they use of their share is the same, so what they may have decides. */
static int by_may_alone(const double *a, uint32_t rank_a, const double *b, uint32_t rank_b)
{
	const struct share_queue x = plain_queue(TOP, rank_a), y = plain_queue(TOP, rank_b);
	const struct share_standing s = {.q = &x, .may = a}, t = {.q = &y, .may = b};

	return share_standing_cmp(&s, &t);
}

/* Each has more of one thing than another, and less than none of them: the first before the second, and so on. */
static void three_queues_may_come_before_each_other(void **state)
{
	const double a[KAI_RES] = {1, 1, 5}, b[KAI_RES] = {3, 0, 0}, c[KAI_RES] = {2, 2, 6};
	const double *may[] = {a, b, c};

	assert_int_equal(-1, by_may_alone(a, 2, c, 0)); /* at most as much of everything */
	assert_int_equal(-1, by_may_alone(c, 0, b, 1)); /* the elder */
	assert_int_equal(-1, by_may_alone(b, 1, a, 2)); /* the elder */
	assert_false(share_are_comparable(may, 3));
	assert_true(share_are_comparable((const double *[]){a, c}, 2));
	assert_true(share_are_comparable((const double *[]){b}, 1));
	assert_true(share_are_comparable(may, 0));
}

static bool each_two_compare(double may[][KAI_RES], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			if (!share_are_comparable((const double *[]){may[i], may[k]}, 2))
				return false;
	return true;
}

static bool is_in_line(double may[][KAI_RES], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			for (uint32_t m = 0; m < n; m++)
				if (i != k && k != m && m != i && by_may_alone(may[i], i, may[k], k) < 0 &&
				    by_may_alone(may[k], k, may[m], m) < 0 && by_may_alone(may[i], i, may[m], m) > 0)
					return false;
	return true;
}

static void queues_that_can_all_be_compared_stand_in_line(void **state)
{
	enum { QUEUES = 4, TRIES = 20000 };
	struct rng rng = {.s = 29};
	uint32_t n_lines = 0, n_circles = 0;

	for (uint32_t t = 0; t < TRIES; t++) {
		double may[QUEUES][KAI_RES];
		const double *list[QUEUES];
		bool are_comparable;

		for (uint32_t i = 0; i < QUEUES; i++) {
			list[i] = may[i];
			for (int r = 0; r < KAI_RES; r++)
				may[i][r] = rng_below(&rng, 4) == 0 ? NO_LIMIT : (double)(i * rng_below(&rng, 3));
		}
		are_comparable = share_are_comparable(list, QUEUES);
		assert_int_equal(each_two_compare(may, QUEUES), are_comparable);
		assert_true(!are_comparable || is_in_line(may, QUEUES));
		n_lines += are_comparable;
		n_circles += !is_in_line(may, QUEUES);
	}
	assert_in_range(n_lines, TRIES / 100, TRIES);
	assert_in_range(n_circles, 1, TRIES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_may_ask_others),
		cmocka_unit_test(who_may_take_what_from_whom),
		cmocka_unit_test(only_what_changes_hands_is_compared),
		cmocka_unit_test(a_run_of_equal_batches_is_as_many_of_them),
		cmocka_unit_test(the_refusal_names_the_resource_that_comes_closest),
		cmocka_unit_test(scratch_is_used_again),
		cmocka_unit_test(who_comes_first),
		cmocka_unit_test(three_queues_may_come_before_each_other),
		cmocka_unit_test(queues_that_can_all_be_compared_stand_in_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
