/* SPDX-License-Identifier: Apache-2.0 */
/* Minimum runtime of groups that run more pods than their minimum: the surplus may go, the minimum stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/kai_story.h"

#define MINUTE (60 * NS_PER_S)
#define HOUR (60 * MINUTE)
#define HIGH "priorityClassName: build-preemptible" /* 75; others have 50 */

/* Group `el` of n pods on one node in b, one minute into an hour of both windows. */
static void elastic(struct story *s, int n, int min)
{
	story_begin(s);
	kai_queue(s, "a", "", 100, "");
	kai_queue(s, "b", "", 0, "reclaim 1h preempt 1h");
	kai_node(s, "n1", n);
	kai_group(s, "el", "b", min, MINUTE, NULL);
	for (int i = 0; i < n; i++) {
		char name[16];

		snprintf(name, sizeof(name), "el-%d", i);
		kai_pod(s, name, "el", 1, "n1", "age 60");
	}
}

static void claims(struct story *s, const char *queue, int n, int gpus, const char *words)
{
	for (int i = 0; i < n; i++) {
		char group[16], name[16];

		snprintf(group, sizeof(group), "new%d", i);
		snprintf(name, sizeof(name), "w%d", i);
		kai_group(s, group, queue, 1, TIME_NONE, HIGH);
		kai_pod(s, name, group, gpus, NULL, words);
	}
}

static uint32_t placed_of(const struct story *s, group_id g)
{
	const struct ledger *l = cluster_ledger(s->cluster);

	return ledger_podset(l, ledger_group(l, g)->first_podset)->n_placed;
}

static void MR_10_the_minimum_stays_while_the_window_runs(void **state)
{
	static const struct {
		const char *sentence;
		int n_claims, gpus;
		uint32_t left;
	} rows[] = {
		{"one claim for one more than the surplus takes nothing", 1, 5, 8},
		{"one claim for the surplus takes it", 1, 4, 4},
		{"eight small claims take no more than that", 8, 1, 4},
		{"two big ones neither", 2, 4, 4},
		{"what is left over after three stays one claim's", 2, 3, 5},
	};
	static const struct {
		const char *queue, *words;
	} ways[] = {{"a", "age 60"}, {"b", "age 60"}, {"a", "age 60 picky"}, {"b", "age 60 picky"}};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
			elastic(&s, 8, 4);
			claims(&s, ways[k].queue, rows[i].n_claims, rows[i].gpus, ways[k].words);
			story_plan(&s);
			if (placed_of(&s, 0) != rows[i].left)
				print_error("%s (%s, %s)\n", rows[i].sentence, ways[k].queue, ways[k].words);
			assert_int_equal(placed_of(&s, 0), rows[i].left);
			story_end(&s);
		}
	}
}

static void MR_10_pods_on_their_way_out_do_not_count_as_staying(void **state)
{
	struct story s;

	(void)state;
	elastic(&s, 4, 2);
	kai_node(&s, "n2", 2);
	kai_pod(&s, "gone-0", "el", 1, "n2", "age 60 leaving");
	kai_pod(&s, "gone-1", "el", 1, "n2", "age 60 leaving");
	claims(&s, "a", 1, 3, "age 60");
	expect(&s, "four stay and two may go, six would be three more", "w0 waiting");

	elastic(&s, 4, 2);
	claims(&s, "a", 3, 1, "age 60");
	s.cycles = 4;
	story_plan(&s);
	assert_int_equal(placed_of(&s, 0), 2);
	story_end(&s);
}

static void MR_10_after_the_window_all_may_go(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	kai_queue(&s, "a", "", 100, "");
	kai_queue(&s, "b", "", 0, "reclaim 1h");
	kai_node(&s, "n1", 2);
	kai_group(&s, "el", "b", 1, HOUR, NULL);
	kai_pod(&s, "el-0", "el", 1, "n1", NULL);
	kai_pod(&s, "el-1", "el", 1, "n1", NULL);
	claims(&s, "a", 1, 2, "age 60");
	expect(&s, "an hour is over", "w0 reclaim n1 [el-0 el-1]");
}

static void MR_10_a_whole_gang_and_a_broken_one_stay(void **state)
{
	struct story s;

	(void)state;
	elastic(&s, 2, 2);
	claims(&s, "a", 1, 1, "age 60");
	expect_line(&s, "no surplus", "w0 waiting");
	expect_why(&s, 0, "el-0", "min-runtime: protected until 08:59:00 by root.b: reclaim 1h, runs 1m");
	story_end(&s);

	elastic(&s, 2, 3);
	kai_pod(&s, "el-9", "el", 1, NULL, "age 10");
	claims(&s, "a", 1, 1, "age 60");
	story_plan(&s);
	assert_int_equal(placed_of(&s, 0), 2);
	story_end(&s);

	elastic(&s, 2, 2);
	kai_pod(&s, "el-9", "el", 100, NULL, "age 10");
	claims(&s, "a", 1, 1, "age 60");
	expect_line(&s, "elastic, but the surplus is not running", "w0 waiting; el-9 waiting");
	expect_why(&s, 0, "el-0",
		   "min-runtime: protected until 08:59:00 by root.b: reclaim 1h, runs 1m; d/el has 2 pods and keeps 2");
	story_end(&s);
}

static void MR_10_each_sub_group_keeps_its_own_minimum(void **state)
{
	struct story s;

	(void)state;
	for (int gpus = 1; gpus <= 2; gpus++) {
		story_begin(&s);
		kai_queue(&s, "a", "", 100, "");
		kai_queue(&s, "b", "", 0, "reclaim 1h");
		kai_node(&s, "n1", 4);
		kai_group(&s, "el", "b", 1, MINUTE,
			  "subGroups: [{name: head, minMember: 1}, {name: work, minMember: 2}]");
		kai_pod(&s, "head", "el", 1, "n1", "age 60 podset head");
		for (int i = 0; i < 3; i++) {
			char name[16];

			snprintf(name, sizeof(name), "work-%d", i);
			kai_pod(&s, name, "el", 1, "n1", "age 60 podset work");
		}
		claims(&s, "a", 1, gpus, "age 60");
		expect_line(&s, "one worker is surplus", gpus == 1 ? "w0 reclaim n1 [work-2]" : "w0 waiting");
		expect_why(&s, 0, "head", "min-runtime: protected until 08:59:00 by root.b: reclaim 1h, runs 1m");
		if (gpus == 2)
			expect_why(&s, 0, "work-0",
				   "min-runtime: protected until 08:59:00 by root.b: reclaim 1h, runs 1m; "
				   "d/el (work) has 3 pods and keeps 2");
		story_end(&s);
	}
}

static void MR_10_a_protected_group_does_not_hide_others(void **state)
{
	struct story s;

	(void)state;
	elastic(&s, 4, 4);
	kai_node(&s, "n2", 2);
	kai_group(&s, "old", "b", 1, 5 * HOUR, NULL);
	kai_pod(&s, "old-0", "old", 2, "n2", "age 18000");
	claims(&s, "a", 1, 2, "age 60");
	expect(&s, "what is really evicted counts, not what was looked at", "w0 reclaim n2 [old-0]");
}

static void MR_10_pods_without_a_stamp_are_judged_by_their_own_start_and_together(void **state)
{
	struct story s;

	(void)state;
	for (int gpus = 2; gpus <= 3; gpus++) {
		story_begin(&s);
		kai_queue(&s, "a", "", 100, "");
		kai_queue(&s, "b", "", 0, "reclaim 1h");
		kai_node(&s, "n1", 3);
		kai_group(&s, "el", "b", 1, TIME_NONE, NULL);
		kai_pod(&s, "old-0", "el", 1, "n1", "age 7200");
		kai_pod(&s, "old-1", "el", 1, "n1", "age 7200");
		kai_pod(&s, "young", "el", 1, "n1", "age 60");
		claims(&s, "a", 1, gpus, "age 60");
		expect(&s, "with the young one gone the minimum has to stay",
		       gpus == 2 ? "w0 reclaim n1 [old-1 young]" : "w0 waiting");
	}
}

/* ---- scenarios ---- */

static void MR_11_a_set_is_refused_as_a_whole_and_another_is_found(void **state)
{
	static const struct {
		const char *queue, *words;
	} ways[] = {{"a", "age 60"}, {"b", "age 60"}, {"a", "age 60 picky"}, {"b", "age 60 picky"}};
	struct story s;

	(void)state;
	for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
		bool is_own = str_eq(ways[k].queue, "b");

		elastic(&s, 4, 2);
		claims(&s, ways[k].queue, 1, 3, ways[k].words);
		expect_line(&s, "each of the three may go, but not all of them", "w0 waiting");
		expect_why(&s, 0, "el-0",
			   is_own ? "min-runtime: protected until 08:59:00 by root.b: preempt 1h, runs 1m; "
				    "d/el has 4 pods and keeps 2"
				  : "min-runtime: protected until 08:59:00 by root.b: reclaim 1h, runs 1m; "
				    "d/el has 4 pods and keeps 2");
		story_end(&s);

		elastic(&s, 4, 2);
		kai_group(&s, "free", "b", 1, 2 * HOUR, NULL);
		kai_node(&s, "n2", 1);
		kai_pod(&s, "free-0", "free", 1, "n2", "age 7200");
		claims(&s, ways[k].queue, 2, 2, ways[k].words);
		expect(&s, "the surplus goes once",
		       is_own ? "w0 preempt n1 [el-2 el-3]; w1 waiting" : "w0 reclaim n1 [el-2 el-3]; w1 waiting");
	}
}

static void MR_11_a_small_pod_does_not_use_up_the_surplus_a_bigger_one_needs(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	kai_queue(&s, "a", "", 100, "");
	kai_queue(&s, "b", "", 0, "reclaim 1h");
	kai_node(&s, "n1", 4);
	kai_group(&s, "el", "b", 1, MINUTE, NULL);
	kai_pod(&s, "big", "el", 3, "n1", "age 60");
	kai_pod(&s, "small", "el", 1, "n1", "age 60");
	claims(&s, "a", 1, 3, "age 60");
	expect(&s, "one of the two may go", "w0 reclaim n1 [big]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(MR_10_the_minimum_stays_while_the_window_runs),
		cmocka_unit_test(MR_10_pods_on_their_way_out_do_not_count_as_staying),
		cmocka_unit_test(MR_10_after_the_window_all_may_go),
		cmocka_unit_test(MR_10_a_whole_gang_and_a_broken_one_stay),
		cmocka_unit_test(MR_10_each_sub_group_keeps_its_own_minimum),
		cmocka_unit_test(MR_10_a_protected_group_does_not_hide_others),
		cmocka_unit_test(MR_10_pods_without_a_stamp_are_judged_by_their_own_start_and_together),
		cmocka_unit_test(MR_11_a_set_is_refused_as_a_whole_and_another_is_found),
		cmocka_unit_test(MR_11_a_small_pod_does_not_use_up_the_surplus_a_bigger_one_needs),
	};

	return cmocka_run_group_tests_name("mr_elastic", tests, NULL, NULL);
}
