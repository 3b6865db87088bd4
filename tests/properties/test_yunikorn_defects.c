/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was seen to go wrong in YuniKorn's preemption when it ran, each as a small cluster in which cede must not do the
 * same. Tests are named after the defect. Amounts in thousandths of a core, as there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "properties/story.h"

static void expect(struct story *s, const char *sentence, const char *line)
{
	struct text got = {0};

	s->profile = PROFILE_YUNIKORN;
	story_plan(s);
	story_line(s, &got);
	if (!str_eq(text_str(&got), line))
		print_error("%s\n", sentence);
	assert_string_equal(text_str(&got), line);
	text_free(&got);
	story_end(s);
}

/* A node of four cores with four pods of 900m: 400m are free. */
static void four_on(struct story *s, const char *node)
{
	char name[96];

	story_node(s, node, 4000);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s-%d", node, i);
		story_pod(s, name, "root.test", 900, node, NULL);
	}
}

static void victims_end_at_two_because_each_holds_a_slot(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.prod", "guaranteed 4000");
	story_queue(&s, "root.test", NULL);
	four_on(&s, "n1");
	story_pod(&s, "want", "root.prod", 3970, NULL, NULL);
	s.cycles = 2;
	expect(&s, "all four have to go, and then it runs", "want reclaim n1 [n1-0 n1-1 n1-2 n1-3]; want placed n1");
}

static void every_ask_evicts_and_none_is_placed(void **state)
{
	struct story s;
	char name[32];

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.prod", "guaranteed 40000");
	story_queue(&s, "root.test", NULL);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		four_on(&s, name);
		snprintf(name, sizeof(name), "want-%d", i);
		story_pod(&s, name, "root.prod", 3970, NULL, NULL);
	}
	s.cycles = 2;
	s.profile = PROFILE_YUNIKORN;
	story_plan(&s);
	assert_int_equal(s.plan.placed, 10);
	assert_int_equal(s.plan.victims, 40);
	story_end(&s);
}

static void a_pod_that_evicted_once_never_tries_again(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.prod", "guaranteed 4000");
	story_queue(&s, "root.test", NULL);
	story_node(&s, "n1", 1000);
	story_node(&s, "n2", 1000);
	story_pod(&s, "back", "root.test", 1000, "n1", "age 5");
	story_pod(&s, "other", "root.test", 1000, "n2", NULL);
	story_pod(&s, "want", "root.prod", 1000, NULL, "nominated n1");
	expect(&s, "somebody else took the room reserved for it: it takes it anew", "want reclaim n1 [back]");
}

static void free_room_of_the_node_is_not_counted(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.prod", "guaranteed 4000");
	story_queue(&s, "root.test", NULL);
	four_on(&s, "n1");
	story_pod(&s, "want", "root.prod", 1300, NULL, NULL);
	expect(&s, "900m of one victim and 400m that are free", "want reclaim n1 [n1-3]");
}

static void a_leaf_below_its_guarantee_loses_because_its_parent_is_above(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.t", "guaranteed 9");
	story_queue(&s, "root.t.x", "guaranteed 8");
	story_queue(&s, "root.t.y", "guaranteed 1");
	story_queue(&s, "root.p", "guaranteed 3");
	story_node(&s, "n1", 13);
	story_pod(&s, "x", "root.t.x", 3, "n1", "age 1");
	story_pod(&s, "y", "root.t.y", 7, "n1", "age 9999");
	story_pod(&s, "y2", "root.t.y", 3, "n1", "age 9999");
	story_pod(&s, "want", "root.p", 3, NULL, NULL);
	expect(&s, "x uses 3 of 8, y is 9 over: y's pod goes, though x's is the youngest", "want reclaim n1 [y2]");
}

static void an_inner_queue_is_left_below_its_guarantee(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.t", "guaranteed 6");
	story_queue(&s, "root.t.a", NULL);
	story_queue(&s, "root.t.b", NULL);
	story_queue(&s, "root.p", "guaranteed 8");
	story_node(&s, "n1", 8);
	story_pod(&s, "a", "root.t.a", 2, "n1", NULL);
	story_pod(&s, "a2", "root.t.a", 2, "n1", NULL);
	story_pod(&s, "b", "root.t.b", 2, "n1", NULL);
	story_pod(&s, "b2", "root.t.b", 2, "n1", NULL);
	story_pod(&s, "want", "root.p", 4, NULL, NULL);
	expect(&s, "two are above what the inner queue guarantees, four would be too many", "want waiting");

	story_begin(&s);
	story_queue(&s, "root.t", "guaranteed 6");
	story_queue(&s, "root.t.a", NULL);
	story_queue(&s, "root.t.b", NULL);
	story_queue(&s, "root.p", "guaranteed 8");
	story_node(&s, "n1", 8);
	story_pod(&s, "a", "root.t.a", 4, "n1", "age 1");
	story_pod(&s, "b", "root.t.b", 2, "n1", NULL);
	story_pod(&s, "b2", "root.t.b", 2, "n1", NULL);
	story_pod(&s, "want", "root.p", 2, NULL, NULL);
	expect(&s, "the one that loses least work is bigger than the excess", "want reclaim n1 [b2]");
}

/* ---- what one decision costs ---- */

enum { NODES = 150, LEVELS = 5, ROUNDS = 7 };

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Two queues at work, and so many in which nothing ever happens. */
static void crowd(struct story *s, int idle)
{
	char name[64];

	story_begin(s);
	s->profile = PROFILE_YUNIKORN;
	story_queue(s, "root.prod", "guaranteed 9999999");
	story_queue(s, "root.test", NULL);
	for (int i = 0; i < idle; i++) {
		struct text path = {0};

		text_add(&path, "root"); /* chains of five */
		for (int k = i - i % LEVELS; k <= i; k++)
			text_printf(&path, ".q%d", k);
		story_queue(s, text_str(&path), i % LEVELS ? NULL : "guaranteed 1");
		text_free(&path);
	}
	for (int i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		four_on(s, name);
	}
	story_pod(s, "want", "root.prod", 3970, NULL, NULL);
	story_load(s);
	ledger_check_always(cluster_ledger(s->cluster), false);
}

/* By an engine that has seen nothing yet: what it remembers would hide what looking costs. */
static int64_t cost_of_one(struct story *s)
{
	struct engine_run run = {.now_ns = STORY_NOW_NS, .cycles = 1, .report = POD_NONE};
	struct decisions plan = {.arena = arena_new(4096)};
	struct ledger *l = cluster_ledger(s->cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct err e;
	struct engine *en = engine_new(s->cluster, s->settings, NULL, 0, &e);
	int64_t start = cpu_ns(), took;

	story_must(engine_try(en, &run, cluster_find_pod(s->cluster, "d", "want"), &plan, &e), &e);
	took = cpu_ns() - start;
	assert_int_equal(plan.victims, 4);
	ledger_rollback(l, mark);
	engine_free(en);
	array_free(&plan.v);
	arena_free(plan.arena);
	return took;
}

static int64_t cost_of_a_decision(int idle)
{
	int64_t best = INT64_MAX;
	struct story s;

	crowd(&s, idle);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t took = cost_of_one(&s);

		best = took < best ? took : best;
	}
	story_end(&s);
	return best;
}

/* There: more than six times as long with 200 queues as with two. */
static void cost_grows_with_queues_that_are_not_involved(void **state)
{
	int64_t few = cost_of_a_decision(0), many = cost_of_a_decision(200);

	(void)state;
	if (many > 3 * few)
		fail_msg("%" PRId64 " us with 2 queues, %" PRId64 " us with 202", few / 1000, many / 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(victims_end_at_two_because_each_holds_a_slot),
		cmocka_unit_test(every_ask_evicts_and_none_is_placed),
		cmocka_unit_test(a_pod_that_evicted_once_never_tries_again),
		cmocka_unit_test(free_room_of_the_node_is_not_counted),
		cmocka_unit_test(a_leaf_below_its_guarantee_loses_because_its_parent_is_above),
		cmocka_unit_test(an_inner_queue_is_left_below_its_guarantee),
		cmocka_unit_test(cost_grows_with_queues_that_are_not_involved),
	};

	return cmocka_run_group_tests_name("yunikorn_defects", tests, NULL, NULL);
}
