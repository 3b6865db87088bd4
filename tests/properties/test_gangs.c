/* SPDX-License-Identifier: Apache-2.0 */
/* Groups that start together in the default profile, with all other rules beside them (ONE-1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/kai_story.h"

#define MINUTE (60 * NS_PER_S)

/* So many waiting pods "name-0" … of a group, each a second younger than the one before. */
static void waiting(struct story *s, const char *group, int n, int units, const char *words)
{
	for (int i = 0; i < n; i++) {
		char name[32], more[128];

		snprintf(name, sizeof(name), "%s-%d", group, i);
		snprintf(more, sizeof(more), "group %s age %d %s", group, 3600 - i, words ? words : "");
		story_pod(s, name, NULL, units, NULL, more);
	}
}

static void running(struct story *s, const char *stem, const char *queue, int n, int units, const char *node,
		    const char *words)
{
	for (int i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%s-%d", stem, i);
		story_pod(s, name, queue, units, node, words);
	}
}

static const char *message_of(const struct story *s, const char *pod)
{
	for (uint32_t i = 0; i < s->plan.v.n; i++)
		if (str_eq(story_name(s, s->plan.v.v[i].pod), pod))
			return s->plan.v.v[i].message;
	return "";
}

static void expect_message(const struct story *s, const char *pod, const char *start)
{
	if (!str_starts(message_of(s, pod), start))
		print_error("%s\n", message_of(s, pod));
	assert_true(str_starts(message_of(s, pod), start));
}

/* ---- all or nothing ---- */

static void begin(struct story *s, int units)
{
	story_begin(s);
	story_queue(s, "root.a", "delay 1ms");
	story_node(s, "n1", units);
}

static void a_gang_starts_together_or_not_at_all(void **state)
{
	struct story s;

	(void)state;
	begin(&s, 4);
	kai_group(&s, "g", "root.a", 4, TIME_NONE, NULL);
	waiting(&s, "g", 4, 1, NULL);
	expect(&s, "all four fit", "g-0 placed n1; g-1 placed n1; g-2 placed n1; g-3 placed n1");

	begin(&s, 3);
	kai_group(&s, "g", "root.a", 4, TIME_NONE, NULL);
	waiting(&s, "g", 4, 1, NULL);
	story_pod(&s, "small", "root.a", 3, NULL, "age 10");
	expect_line(&s, "three of four are not enough, and hold no room",
		    "g-0 waiting; g-1 waiting; g-2 waiting; g-3 waiting; small placed n1");
	expect_message(
		&s, "g-0",
		"group d/g needs 4 pods at once; 3 fit: 0/1 nodes are available: 1 Insufficient example.com/unit");
	expect_message(&s, "g-3", "group d/g needs 4 pods at once; 3 fit: 0/1 nodes");
	story_end(&s);

	begin(&s, 8);
	kai_group(&s, "g", "root.a", 4, TIME_NONE, NULL);
	waiting(&s, "g", 3, 1, NULL);
	expect_line(&s, "one pod is not there", "g-0 waiting; g-1 waiting; g-2 waiting");
	expect_message(&s, "g-1", "group d/g has 3 of 4 pods");
	story_end(&s);
}

static void a_gated_pod_is_not_there_yet(void **state)
{
	struct story s;

	(void)state;
	begin(&s, 8);
	kai_group(&s, "g", "root.a", 2, TIME_NONE, NULL);
	waiting(&s, "g", 1, 1, NULL);
	text_add(&s.objects, "---\napiVersion: v1\nkind: Pod\nmetadata: {name: late, namespace: d, creationTimestamp: "
			     "\"2020-01-01T00:00:00Z\", annotations: {pod-group-name: g}}\nspec: {schedulingGates: "
			     "[{name: x}], containers: [{name: c}]}\n");
	expect_line(&s, "it is gated, the other waits for it", "g-0 waiting; late gated");
	expect_message(&s, "g-0", "group d/g has 1 of 2 pods");
	story_end(&s);
}

static void surplus_pods_are_tried_one_by_one(void **state)
{
	struct story s;

	(void)state;
	begin(&s, 3);
	kai_group(&s, "g", "root.a", 2, TIME_NONE, NULL);
	waiting(&s, "g", 4, 1, NULL);
	expect_line(&s, "two together, then one, then none",
		    "g-0 placed n1; g-1 placed n1; g-2 placed n1; g-3 waiting");
	assert_true(str_starts(message_of(&s, "g-3"), "0/1 nodes are available"));
	story_end(&s);

	begin(&s, 1);
	kai_group(&s, "g", "root.a", 2, TIME_NONE, NULL);
	waiting(&s, "g", 4, 1, NULL);
	expect_line(&s, "no surplus before the minimum", "g-0 waiting; g-1 waiting; g-2 waiting; g-3 waiting");
	expect_message(&s, "g-3", "group d/g needs 2 pods at once; 1 fits");
	story_end(&s);

	begin(&s, 1);
	kai_group(&s, "g", "root.a", 2, TIME_NONE, NULL);
	waiting(&s, "g", 4, 1, NULL);
	s.cycles = 2;
	story_plan(&s);
	for (uint32_t i = 0; i < s.plan.v.n; i++) /* of the surplus too it is said in which cycle it waited */
		assert_int_equal(s.plan.v.v[i].cycle, i / 4 + s.plan.v.v[0].cycle);
	assert_int_equal(s.plan.v.n, 8);
	story_end(&s);

	begin(&s, 5);
	kai_group(&s, "g", "root.a", 3, TIME_NONE, NULL);
	running(&s, "old", NULL, 2, 1, "n1", "group g");
	waiting(&s, "g", 3, 1, NULL);
	expect(&s, "one is missing, the others are surplus", "g-0 placed n1; g-1 placed n1; g-2 placed n1");
}

static void each_part_of_a_group_has_its_minimum(void **state)
{
	static const char *const parts = "subGroups: [{name: head, minMember: 1}, {name: work, minMember: 2}]";
	struct story s;

	(void)state;
	begin(&s, 3);
	kai_group(&s, "g", "root.a", 3, TIME_NONE, parts);
	story_pod(&s, "w-0", NULL, 1, NULL, "group g podset work age 99");
	story_pod(&s, "w-1", NULL, 1, NULL, "group g podset work age 98");
	story_pod(&s, "w-2", NULL, 1, NULL, "group g podset work age 97");
	story_pod(&s, "h-0", NULL, 1, NULL, "group g podset head age 10");
	expect(&s, "the head is part of the claim though it is the youngest",
	       "h-0 placed n1; w-0 placed n1; w-1 placed n1; w-2 waiting");

	begin(&s, 9);
	kai_group(&s, "g", "root.a", 3, TIME_NONE, parts);
	story_pod(&s, "w-0", NULL, 1, NULL, "group g podset work age 99");
	story_pod(&s, "w-1", NULL, 1, NULL, "group g podset work age 98");
	story_pod(&s, "w-2", NULL, 1, NULL, "group g podset work age 97");
	expect_line(&s, "three workers are no head", "w-0 waiting; w-1 waiting; w-2 waiting");
	expect_message(&s, "w-0", "group d/g (head) has 0 of 1 pod");
	story_end(&s);

	begin(&s, 3);
	kai_group(&s, "g", "root.a", 3, TIME_NONE, parts);
	running(&s, "w", NULL, 2, 1, "n1", "group g podset work");
	story_pod(&s, "w-9", NULL, 1, NULL, "group g podset work age 99");
	story_pod(&s, "h-0", NULL, 1, NULL, "group g podset head age 10");
	expect(&s, "the missing head comes before one more worker", "h-0 placed n1; w-9 waiting");
}

static void the_biggest_first_if_the_order_does_not_work(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.a", "delay 1ms");
	story_node(&s, "n1", 4);
	story_node(&s, "n2", 8);
	kai_group(&s, "g", "root.a", 2, TIME_NONE, NULL);
	story_pod(&s, "small", NULL, 4, NULL, "group g age 99");
	story_pod(&s, "big", NULL, 8, NULL, "group g age 98");
	expect(&s, "the small one would take the big one's node", "small placed n1; big placed n2");
}

static void MR_8_the_start_of_a_gang_is_stamped_when_it_starts(void **state)
{
	const struct ledger *l;
	struct story s;

	(void)state;
	begin(&s, 2);
	kai_group(&s, "g", "root.a", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 1, NULL);
	story_plan(&s);
	l = cluster_ledger(s.cluster);
	assert_int_equal(ledger_group(l, 0)->started_ns, STORY_NOW_NS);
	story_end(&s);

	begin(&s, 1);
	kai_group(&s, "g", "root.a", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 1, NULL);
	story_plan(&s);
	l = cluster_ledger(s.cluster);
	assert_int_equal(ledger_group(l, 0)->started_ns, TIME_NONE);
	story_end(&s);
}

static void profile_yunikorn_leaves_groups_alone(void **state)
{
	struct story s;

	(void)state;
	begin(&s, 3);
	s.profile = PROFILE_YUNIKORN;
	kai_group(&s, "g", "root.a", 4, TIME_NONE, NULL);
	for (int i = 0; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "g-%d", i);
		story_pod(&s, name, "root.a", 1, NULL, "group g");
	}
	expect(&s, "each for itself", "g-0 placed n1; g-1 placed n1; g-2 placed n1; g-3 waiting");
}

/* ---- taking room ---- */

/* prod is owed four units, test has all of two nodes with four each. */
static void two_queues(struct story *s, const char *prod, const char *test)
{
	story_begin(s);
	story_queue(s, "root.prod", prod ? prod : "guaranteed 4 delay 1ms");
	story_queue(s, "root.test", test ? test : "delay 1ms");
	story_node(s, "n1", 4);
	story_node(s, "n2", 4);
}

static void ONE_1_a_gang_reclaims_across_queues_on_the_nodes_it_uses(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, NULL, NULL);
	running(&s, "t", "root.test", 4, 1, "n1", "age 100");
	running(&s, "u", "root.test", 4, 1, "n2", "age 200");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 3, NULL);
	expect(&s, "victims on both nodes, told once", "g-0 reclaim n1 [t-1 t-2 t-3 u-1 u-2 u-3]; g-1 reclaim n2");

	two_queues(&s, NULL, NULL);
	running(&s, "t", "root.test", 4, 1, "n1", "age 100");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 3, NULL);
	s.cycles = 2;
	expect(&s, "one fits now and waits for the other; both start together",
	       "g-0 reclaim n2 [t-1 t-2 t-3]; g-1 reclaim n1; g-0 placed n2; g-1 placed n1");
}

static void GQ_4_law_4_is_judged_once_for_a_gang(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 3 delay 1ms", NULL);
	running(&s, "t", "root.test", 4, 1, "n1", "age 100");
	running(&s, "u", "root.test", 4, 1, "n2", "age 200");
	kai_group(&s, "g", "root.prod", 4, TIME_NONE, NULL);
	waiting(&s, "g", 5, 2, NULL);
	expect(&s, "three are owed, the gang takes eight; one more is not owed anything",
	       "g-0 reclaim n1 [t-2 t-3 t-0 t-1 u-2 u-3 u-0 u-1]; g-1 reclaim n1; g-2 reclaim n2; g-3 reclaim n2; "
	       "g-4 waiting");

	two_queues(&s, "guaranteed 3 delay 1ms", NULL);
	running(&s, "t", "root.test", 4, 1, "n1", "age 100");
	running(&s, "p", "root.prod", 3, 1, "n2", "age 200 priority 60");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 1, NULL);
	expect(&s, "at its guarantee it is owed nothing", "g-0 waiting; g-1 waiting");
}

static void GQ_2_law_2_holds_on_all_victims_of_a_gang(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4 delay 1ms", "guaranteed 5 delay 1ms");
	running(&s, "t", "root.test", 4, 1, "n1", "age 100");
	running(&s, "u", "root.test", 4, 1, "n2", "age 200");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 2, NULL);
	expect_line(&s, "test may lose three, not four", "g-0 waiting; g-1 waiting");
	assert_int_equal(ledger_get_mark(cluster_ledger(s.cluster)), 1); /* the cycle began; nothing else remains */
	story_end(&s);

	two_queues(&s, "guaranteed 4 delay 1ms", "guaranteed 4 delay 1ms");
	running(&s, "t", "root.test", 4, 1, "n1", "age 100");
	running(&s, "u", "root.test", 4, 1, "n2", "age 200");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 2, NULL);
	expect(&s, "it may lose four", "g-0 reclaim n1 [t-2 t-3 t-0 t-1]; g-1 reclaim n1");
}

static void a_gang_preempts_in_its_own_leaf_and_never_mixes(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 0 delay 1ms", NULL);
	running(&s, "low", "root.prod", 4, 1, "n1", "age 100");
	running(&s, "t", "root.test", 4, 1, "n2", "age 100");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 2, NULL);
	expect(&s, "lower work of its own queue", "g-0 preempt n1 [low-2 low-3 low-0 low-1]; g-1 preempt n1");

	two_queues(&s, "guaranteed 6 delay 1ms", "guaranteed 2 delay 1ms");
	running(&s, "low", "root.prod", 4, 1, "n1", "age 100");
	running(&s, "t", "root.test", 4, 1, "n2", "age 100");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 3, NULL);
	expect(&s, "two from test and three of its own would do, but not both in one decision",
	       "g-0 waiting; g-1 waiting");
}

static void ONE_1_plain_pods_beside_both(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, NULL, NULL);
	running(&s, "plain", NULL, 4, 1, "n1", "age 100");
	running(&s, "t", "root.test", 4, 1, "n2", "age 50");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 2, NULL);
	story_pod(&s, "extra", NULL, 1, NULL, "priority 5 age 10");
	expect(&s, "a gang of a queue of queues.yaml takes the youngest work; a plain pod displaces a plain one",
	       "g-0 reclaim n2 [t-2 t-3 t-0 t-1]; g-1 reclaim n2; extra displace n1 [plain-3]");

	story_begin(&s);
	story_node(&s, "n1", 4);
	running(&s, "plain", NULL, 4, 1, "n1", "age 100");
	kai_group(&s, "g", "root.default", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 2, NULL);
	expect(&s, "a gang without a queue displaces",
	       "g-0 displace n1 [plain-2 plain-3 plain-0 plain-1]; g-1 displace n1");
}

static void ONE_1_KAI_groups_in_YuniKorn_queues_wait_for_the_delay(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4 delay 2h", NULL);
	running(&s, "t", "root.test", 4, 1, "n1", "age 100");
	running(&s, "u", "root.test", 4, 1, "n2", "age 100");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 2, NULL);
	expect(&s, "an hour old", "g-0 waiting (delay); g-1 waiting (delay)");
}

static void ONE_1_a_fence_holds_for_gangs(void **state)
{
	static const struct {
		const char *sentence, *fence, *line;
	} rows[] = {
		{"nothing outside the fence", "guaranteed 8 fence delay 1ms", "g-0 waiting; g-1 waiting"},
		{"without it both tenants give", "guaranteed 8 delay 1ms",
		 "g-0 reclaim n1 [in-1 in-2 in-3 out-1 out-2 out-3]; g-1 reclaim n2"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		story_begin(&s);
		story_queue(&s, "root.one", rows[i].fence);
		story_queue(&s, "root.one.a", "guaranteed 6 delay 1ms");
		story_queue(&s, "root.one.b", "delay 1ms");
		story_queue(&s, "root.two", "delay 1ms");
		story_node(&s, "n1", 4);
		story_node(&s, "n2", 4);
		running(&s, "in", "root.one.b", 4, 1, "n1", "age 100");
		running(&s, "out", "root.two", 4, 1, "n2", "age 200");
		kai_group(&s, "g", "root.one.a", 2, TIME_NONE, NULL);
		waiting(&s, "g", 2, 3, NULL);
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

static void ONE_1_a_budget_stops_a_gang_s_reclaim(void **state)
{
	static const struct {
		const char *sentence;
		int allowed;
		const char *line;
	} rows[] = {
		{"three are needed, two allowed", 2, "g-0 waiting; g-1 waiting"},
		{"three allowed", 3, "g-0 reclaim n1 [t-0 t-1 u-0]; g-1 reclaim n2"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		two_queues(&s, NULL, NULL);
		story_budget(&s, "b", rows[i].allowed);
		running(&s, "t", "root.test", 2, 2, "n1", "age 100 budget b");
		running(&s, "u", "root.test", 1, 3, "n2", "age 200 budget b");
		kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
		story_pod(&s, "g-0", NULL, 4, NULL, "group g age 99");
		story_pod(&s, "g-1", NULL, 2, NULL, "group g age 98");
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

static void ONE_1_a_minimum_runtime_protects_from_a_gang(void **state)
{
	static const struct {
		const char *sentence, *age, *line;
	} rows[] = {
		{"one of the two nodes is inside its window", "age 100", "g-0 waiting; g-1 waiting"},
		{"the window is over", "age 600", "g-0 reclaim n2 [u-0 t-0]; g-1 reclaim n1"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		story_begin(&s);
		kai_queue(&s, "prod", "", 4, "");
		kai_queue(&s, "test", "", 0, "reclaim 10m");
		kai_node(&s, "n1", 4);
		kai_node(&s, "n2", 4);
		kai_pod(&s, "t-0", NULL, 4, "n1", "queue test age 700");
		kai_pod(&s, "u-0", NULL, 4, "n2", i ? "queue test age 600" : "queue test age 100");
		kai_group(&s, "g", "prod", 2, TIME_NONE, NULL);
		kai_pod(&s, "g-0", "g", 3, NULL, "age 99");
		kai_pod(&s, "g-1", "g", 3, NULL, "age 98");
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

static void ONE_1_an_opted_out_driver_in_a_gang_goes_last(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, NULL, NULL);
	running(&s, "t", "root.test", 2, 2, "n1", "age 100");
	story_pod(&s, "drv", "root.test", 2, "n2", "driver opted-out age 10");
	story_pod(&s, "w", "root.test", 2, "n2", "age 100");
	kai_group(&s, "g", "root.prod", 3, TIME_NONE, NULL);
	waiting(&s, "g", 3, 2, NULL);
	expect(&s, "three others are enough", "g-0 reclaim n1 [t-1 t-0 w]; g-1 reclaim n1; g-2 reclaim n2");

	two_queues(&s, NULL, NULL);
	running(&s, "t", "root.test", 2, 2, "n1", "age 100");
	story_pod(&s, "drv", "root.test", 2, "n2", "driver opted-out age 10");
	story_pod(&s, "w", "root.test", 2, "n2", "age 100");
	kai_group(&s, "g", "root.prod", 4, TIME_NONE, NULL);
	waiting(&s, "g", 4, 2, NULL);
	expect_line(&s, "all four are needed",
		    "g-0 reclaim n1 [t-1 t-0 w drv]; g-1 reclaim n1; g-2 reclaim n2; g-3 reclaim n2");
	assert_int_equal(s.plan.v.v[0].victims[3].overridden, RULE_OPT_OUT);
	story_end(&s);
}

static void ONE_1_semi_preemptible_above_its_guarantee(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, NULL, "guaranteed 2 delay 1ms");
	kai_group(&s, "semi", "root.test", 2, TIME_NONE, "preemptibility: semi-preemptible");
	running(&s, "old", NULL, 2, 2, "n1", "group semi age 900");
	running(&s, "new", NULL, 2, 2, "n2", "group semi age 100");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 2, NULL);
	expect(&s, "the surplus goes, the core stays", "g-0 reclaim n2 [new-1 new-0]; g-1 reclaim n2");

	two_queues(&s, NULL, "guaranteed 2 delay 1ms");
	kai_group(&s, "semi", "root.test", 3, TIME_NONE, "preemptibility: semi-preemptible");
	running(&s, "old", NULL, 2, 2, "n1", "group semi age 900");
	running(&s, "new", NULL, 2, 2, "n2", "group semi age 100");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 2, NULL);
	expect(&s, "a core of three is more than a gang of two may take apart", "g-0 waiting; g-1 waiting");
}

static void nobody_goes_for_a_member_that_another_one_made_room_for(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.prod", "guaranteed 8 delay 1ms");
	story_queue(&s, "root.test", "delay 1ms");
	story_node(&s, "n1", 5);
	story_pod(&s, "tiny", "root.test", 1, "n1", "age 10");
	story_pod(&s, "huge", "root.test", 4, "n1", "age 1000");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	story_pod(&s, "g-0", NULL, 1, NULL, "group g age 99");
	story_pod(&s, "g-1", NULL, 3, NULL, "group g age 98");
	expect(&s, "tiny was enough for the first, huge is enough for both", "g-0 reclaim n1 [huge]; g-1 reclaim n1");
}

static void a_nomination_is_kept_for_all_or_given_up_for_all(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, NULL, NULL);
	story_pod(&s, "bye", "root.test", 4, "n1", "leaving late 10");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	story_pod(&s, "g-0", NULL, 4, NULL, "group g nominated n1");
	story_pod(&s, "g-1", NULL, 4, NULL, "group g nominated n2");
	expect(&s, "one could start and waits", "g-0 allocate n1; g-1 allocate n2");

	two_queues(&s, NULL, NULL);
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	story_pod(&s, "g-0", NULL, 4, NULL, "group g nominated n1");
	story_pod(&s, "g-1", NULL, 4, NULL, "group g nominated n2");
	expect(&s, "all is free", "g-0 placed n1; g-1 placed n2");

	two_queues(&s, "delay 1ms", NULL);
	story_pod(&s, "stays", "root.test", 4, "n1", NULL);
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	story_pod(&s, "g-0", NULL, 4, NULL, "group g nominated n1");
	story_pod(&s, "g-1", NULL, 4, NULL, "group g nominated n2");
	story_pod(&s, "other", "root.prod", 4, NULL, "age 10");
	expect(&s, "the nomination broke, and the room of the other one is free again",
	       "g-0 waiting; g-1 waiting; other placed n2");
}

static void surplus_waits_with_a_gang_that_waits(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, NULL, NULL);
	running(&s, "t", "root.test", 2, 2, "n1", "age 100");
	running(&s, "u", "root.test", 1, 2, "n2", "age 100");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	story_pod(&s, "g-0", NULL, 4, NULL, "group g age 99");
	story_pod(&s, "g-1", NULL, 2, NULL, "group g age 98");
	story_pod(&s, "g-2", NULL, 0, NULL, "group g age 97");
	s.cycles = 2;
	expect(&s, "it has room at once and starts with the others",
	       "g-0 reclaim n2 [u-0 t-1]; g-1 reclaim n1; g-2 allocate n1; g-0 placed n2; g-1 placed n1; g-2 placed "
	       "n1");
}

/* ---- gangs that have to go ---- */

/* prod is owed four units; test runs a gang of four on two nodes, and one more pod on the third. */
static void gang_of_four(struct story *s, int min, const char *test)
{
	story_begin(s);
	story_queue(s, "root.prod", "guaranteed 4 delay 1ms");
	story_queue(s, "root.test", test);
	story_node(s, "n1", 2);
	story_node(s, "n2", 2);
	kai_group(s, "v", "root.test", min, TIME_NONE, NULL);
	running(s, "a", NULL, 2, 1, "n1", "group v age 100");
	running(s, "b", NULL, 2, 1, "n2", "group v age 200");
	story_pod(s, "p", "root.prod", 1, NULL, "priority 100");
}

static void a_gang_that_cannot_spare_a_pod_goes_as_a_whole(void **state)
{
	static const struct {
		const char *sentence;
		int min;
		const char *test, *line;
	} rows[] = {
		{"four of four are needed", 4, "delay 1ms", "p reclaim n1 [a-0 a-1 b-0 b-1]"},
		{"one is surplus", 3, "delay 1ms", "p reclaim n1 [a-1]"},
		{"law 2 looks at all four", 4, "guaranteed 1 delay 1ms", "p waiting"},
		{"and at one alone", 3, "guaranteed 1 delay 1ms", "p reclaim n1 [a-1]"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		gang_of_four(&s, rows[i].min, rows[i].test);
		expect(&s, rows[i].sentence, rows[i].line);
	}
	gang_of_four(&s, 4, "delay 1ms");
	story_plan(&s);
	for (uint32_t i = 0; i < 4; i++)
		assert_true(s.plan.v.v[0].victims[i].goes_with_group);
	story_end(&s);
}

static void what_keeps_one_pod_of_a_gang_keeps_it_all(void **state)
{
	struct story s;

	(void)state;
	gang_of_four(&s, 5, "delay 1ms");
	story_budget(&s, "b", 0);
	story_node(&s, "n3", 1);
	story_pod(&s, "c", NULL, 1, "n3", "group v budget b");
	expect_line(&s, "a budget of a pod on another node", "p waiting");
	expect_why(&s, 0, "a-0", "budget: the budget d/b allows 0 disruptions, 0 of them spent");
	story_end(&s);

	gang_of_four(&s, 5, "delay 1ms");
	story_node(&s, "n3", 2);
	story_pod(&s, "c", NULL, 1, "n3", "group v opted-out");
	story_pod(&s, "d", "root.test", 1, "n3", "age 100000");
	expect(&s, "an opted-out pod on another node: work that is worth more goes first", "p reclaim n3 [d]");

	gang_of_four(&s, 5, "delay 1ms");
	story_node(&s, "n3", 1);
	story_pod(&s, "c", NULL, 1, "n3", "group v opted-out age 100");
	expect(&s, "if nothing else works it goes too", "p reclaim n1 [a-0 a-1 b-0 b-1 c]");
}

static void the_right_surplus_goes_before_a_whole_gang(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.prod", "guaranteed 4 delay 1ms");
	story_queue(&s, "root.test", "delay 1ms");
	story_node(&s, "n1", 4);
	kai_group(&s, "v", "root.test", 2, TIME_NONE, NULL);
	story_pod(&s, "small-0", NULL, 1, "n1", "group v age 10");
	story_pod(&s, "small-1", NULL, 1, "n1", "group v age 10");
	story_pod(&s, "big", NULL, 2, "n1", "group v age 1000");
	story_pod(&s, "p", "root.prod", 2, NULL, "priority 100");
	expect(&s, "one is surplus, and it is the big one that helps", "p reclaim n1 [big]");
}

static void a_gang_takes_a_gang(void **state)
{
	struct story s;

	(void)state;
	gang_of_four(&s, 4, "delay 1ms");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, "priorityClassName: build");
	story_pod(&s, "g-0", NULL, 2, NULL, "group g");
	story_pod(&s, "g-1", NULL, 2, NULL, "group g");
	expect(&s, "all of it makes room for all of it; the single pod comes after",
	       "g-0 reclaim n1 [a-0 a-1 b-0 b-1]; g-1 reclaim n2; p waiting");

	story_begin(&s);
	story_queue(&s, "root.prod", "guaranteed 8 delay 1ms");
	story_queue(&s, "root.test", "delay 1ms");
	story_node(&s, "n1", 2);
	story_node(&s, "n2", 2);
	story_node(&s, "n3", 1);
	story_pod(&s, "alone", "root.test", 2, "n1", "age 10");
	kai_group(&s, "v", "root.test", 2, TIME_NONE, NULL);
	story_pod(&s, "v-0", NULL, 2, "n2", "group v age 100");
	story_pod(&s, "v-1", NULL, 1, "n3", "group v age 100");
	kai_group(&s, "g", "root.prod", 2, TIME_NONE, NULL);
	waiting(&s, "g", 2, 2, NULL);
	expect(&s, "nobody of a gang stays because nobody needs its node",
	       "g-0 reclaim n1 [alone v-0 v-1]; g-1 reclaim n2");
}

/* The last criterion but the name, of all that go with one pod. */
static void GQ_9_of_two_gangs_goes_the_one_that_was_made_later(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.prod", "guaranteed 4 delay 1ms");
	story_queue(&s, "root.test", "delay 1ms");
	story_node(&s, "n1", 2);
	story_node(&s, "n2", 2);
	kai_group(&s, "v", "root.test", 2, TIME_NONE, NULL);
	kai_group(&s, "u", "root.test", 2, TIME_NONE, NULL);
	story_pod(&s, "v-0", NULL, 1, "n1", "group v age 900 created 990");
	story_pod(&s, "v-1", NULL, 1, "n1", "group v age 900 created 970");
	story_pod(&s, "u-0", NULL, 1, "n2", "group u age 900 created 980");
	story_pod(&s, "u-1", NULL, 1, "n2", "group u age 900 created 980");
	story_pod(&s, "p", "root.prod", 2, NULL, "priority 100");
	expect(&s, "by the oldest of each", "p reclaim n2 [u-0 u-1]");
}

/* When to look again is after now, or whoever sleeps until then never does. */
static void a_time_to_look_again_is_ahead(void **state)
{
	struct story s;
	int64_t next, count = 0;

	(void)state;
	gang_of_four(&s, 4, "delay 1ms");
	story_pod(&s, "gone", "root.test", 1, "n1", "leaving age 1");
	story_load(&s);
	s.plan.arena = arena_new(64);
	for (int64_t now = STORY_NOW_NS; (next = engine_next_time(s.engine, now)) != TIME_NONE; now = next, count++)
		assert_true(next > now);
	assert_int_equal(count, 1);
	story_end(&s);
}

static void a_gang_inside_a_window_stays_as_a_whole(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	kai_queue(&s, "prod", "", 4, "");
	kai_queue(&s, "test", "", 0, "reclaim 1h");
	kai_node(&s, "n1", 1);
	kai_node(&s, "n2", 1);
	kai_group(&s, "v", "test", 2, TIME_NONE, NULL);
	kai_pod(&s, "old", "v", 1, "n1", "age 7200");
	kai_pod(&s, "new", "v", 1, "n2", "age 60");
	kai_pod(&s, "p", NULL, 1, NULL, "queue prod priority 99");
	expect_line(&s, "one of them is inside its window, on another node", "p waiting");
	assert_int_equal(s.plan.v.v[0].n_protected, 2);
	story_end(&s);
}

/* ---- gangs that are broken ---- */

static void stale_group(struct story *s, int64_t ago_s)
{
	struct text when = {0};

	timestamp_text(STORY_NOW_NS - ago_s * NS_PER_S, &when);
	text_printf(
		&s->objects,
		"---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g, namespace: d, "
		"annotations: {kai.scheduler/stale-podgroup-timestamp: \"%s\"}}\nspec: {queue: root.a, minMember: 3}\n",
		text_str(&when));
	text_free(&when);
}

static void broken_gangs_are_cleaned_up_after_a_while(void **state)
{
	static const struct {
		const char *sentence;
		int64_t ago;
		const char *waiting, *line, *words, *config;
	} rows[] = {
		{"a minute is over", 60, NULL, "stale-gang stale-gang [g-0 g-1]", "", NULL},
		{"it is not", 59, NULL, "", "", NULL},
		{"the missing one comes back in time", 100, "group g", "back placed n1", "", NULL},
		{"it does not fit", 100, "group g big", "back waiting; stale-gang stale-gang [g-0 g-1]", "", NULL},
		{"a wish keeps nobody: there is no other way", 60, NULL, "stale-gang stale-gang [g-0 g-1]", "opted-out",
		 NULL},
		{"a budget does, and who stays keeps the others", 60, NULL, "", "budget none", NULL},
		{"one disruption is not enough for two", 60, NULL, "", "budget one", NULL},
		{"an hour's allowance neither", 60, NULL, "", "", "rules: {eviction-rate: {perHour: 1}}"},
		{"other schedulers' pods are not ours", 60, NULL, "", "", "schedulerNames: [mine]"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char words[64];

		begin(&s, 4);
		s.config = rows[i].config;
		story_budget(&s, "none", 0);
		story_budget(&s, "one", 1);
		stale_group(&s, rows[i].ago);
		snprintf(words, sizeof(words), "group g %s", rows[i].words);
		running(&s, "g", NULL, 2, 1, "n1", words);
		if (rows[i].waiting)
			story_pod(&s, "back", NULL, story_word(rows[i].waiting, "big") ? 9 : 1, NULL, rows[i].waiting);
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

/* Which soft rule had to give way is told of each victim. */
static void broken_gangs_say_whose_wish_was_overridden(void **state)
{
	struct story s;

	(void)state;
	begin(&s, 4);
	stale_group(&s, 60);
	story_pod(&s, "g-0", NULL, 1, "n1", "group g");
	story_pod(&s, "g-1", NULL, 1, "n1", "group g opted-out");
	story_plan(&s);
	assert_int_equal(s.plan.v.n, 1);
	assert_int_equal(s.plan.v.v[0].n_victims, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct victim *v = &s.plan.v.v[0].victims[i];
		const char *name = name_str(vocab_names(s.vocab), ledger_pod(cluster_ledger(s.cluster), v->pod)->name);

		assert_int_equal(v->overridden, str_eq(name, "g-1") ? RULE_OPT_OUT : RULE_NONE);
	}
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gang_starts_together_or_not_at_all),
		cmocka_unit_test(a_gated_pod_is_not_there_yet),
		cmocka_unit_test(surplus_pods_are_tried_one_by_one),
		cmocka_unit_test(each_part_of_a_group_has_its_minimum),
		cmocka_unit_test(the_biggest_first_if_the_order_does_not_work),
		cmocka_unit_test(MR_8_the_start_of_a_gang_is_stamped_when_it_starts),
		cmocka_unit_test(profile_yunikorn_leaves_groups_alone),
		cmocka_unit_test(ONE_1_a_gang_reclaims_across_queues_on_the_nodes_it_uses),
		cmocka_unit_test(GQ_4_law_4_is_judged_once_for_a_gang),
		cmocka_unit_test(GQ_2_law_2_holds_on_all_victims_of_a_gang),
		cmocka_unit_test(a_gang_preempts_in_its_own_leaf_and_never_mixes),
		cmocka_unit_test(ONE_1_plain_pods_beside_both),
		cmocka_unit_test(ONE_1_KAI_groups_in_YuniKorn_queues_wait_for_the_delay),
		cmocka_unit_test(ONE_1_a_fence_holds_for_gangs),
		cmocka_unit_test(ONE_1_a_budget_stops_a_gang_s_reclaim),
		cmocka_unit_test(ONE_1_a_minimum_runtime_protects_from_a_gang),
		cmocka_unit_test(ONE_1_an_opted_out_driver_in_a_gang_goes_last),
		cmocka_unit_test(ONE_1_semi_preemptible_above_its_guarantee),
		cmocka_unit_test(nobody_goes_for_a_member_that_another_one_made_room_for),
		cmocka_unit_test(a_nomination_is_kept_for_all_or_given_up_for_all),
		cmocka_unit_test(surplus_waits_with_a_gang_that_waits),
		cmocka_unit_test(a_gang_that_cannot_spare_a_pod_goes_as_a_whole),
		cmocka_unit_test(what_keeps_one_pod_of_a_gang_keeps_it_all),
		cmocka_unit_test(the_right_surplus_goes_before_a_whole_gang),
		cmocka_unit_test(a_gang_takes_a_gang),
		cmocka_unit_test(GQ_9_of_two_gangs_goes_the_one_that_was_made_later),
		cmocka_unit_test(a_time_to_look_again_is_ahead),
		cmocka_unit_test(a_gang_inside_a_window_stays_as_a_whole),
		cmocka_unit_test(broken_gangs_are_cleaned_up_after_a_while),
		cmocka_unit_test(broken_gangs_say_whose_wish_was_overridden),
	};

	return cmocka_run_group_tests_name("gangs", tests, NULL, NULL);
}
