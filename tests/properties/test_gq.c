/* SPDX-License-Identifier: Apache-2.0 */
/* Guarantee-driven preemption between queues: the seven laws, each with the smallest cluster that shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/plan_view.h"
#include "properties/story.h"

/* Plans, compares the line, ends the story. */
static void expect(struct story *s, const char *sentence, const char *line)
{
	struct text got = {0};

	story_plan(s);
	story_line(s, &got);
	if (!str_eq(text_str(&got), line))
		print_error("%s\n", sentence);
	assert_string_equal(text_str(&got), line);
	text_free(&got);
	story_end(s);
}

/* The first protected pod of the first decision: "name rule". */
static void expect_protected(struct story *s, const char *name, const char *rule)
{
	const struct decision *d;
	bool is_found = false;

	story_plan(s);
	d = &s->plan.v.v[0];
	for (uint32_t i = 0; i < d->n_protected; i++) {
		if (!str_eq(story_name(s, d->protected[i].pod), name))
			continue;
		assert_string_equal(rule_text((enum rule_id)d->protected[i].verdict.rule), rule);
		is_found = true;
	}
	assert_true(is_found);
	story_end(s);
}

static void two_queues(struct story *s, const char *prod, const char *test)
{
	story_begin(s);
	story_queue(s, "root.prod", prod);
	story_queue(s, "root.test", test);
}

static void GQ_1_an_opted_out_pod_goes_only_as_the_last_resort(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "asleep", "root.test", 2, "n1", "opted-out age 10");
	story_pod(&s, "plain", "root.test", 2, "n1", "age 9999");
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect(&s, "the plain pod goes though it loses more work", "want reclaim n1 [plain]");

	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "asleep", "root.test", 2, "n1", "opted-out");
	story_pod(&s, "mine", "root.prod", 2, "n1", "priority -1");
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect(&s, "preempting in the own queue comes before breaking an opt-out", "want preempt n1 [mine]");

	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "asleep", "root.test", 4, "n1", "opted-out");
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect(&s, "nothing else works, so it goes", "want reclaim n1 [asleep]");

	two_queues(&s, "guaranteed 4", NULL);
	s.config = "rules: {opt-out: {mode: hard}}";
	story_node(&s, "n1", 4);
	story_pod(&s, "asleep", "root.test", 4, "n1", "opted-out");
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect(&s, "hard opt-outs stay", "want waiting");
}

static void GQ_2_no_queue_is_taken_below_its_guarantee(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 10", "guaranteed 10");
	story_node(&s, "n1", 20);
	story_pod(&s, "big", "root.test", 10, "n1", "age 1");
	story_pod(&s, "small", "root.test", 1, "n1", NULL);
	story_pod(&s, "other", "root.prod", 9, "n1", NULL);
	story_pod(&s, "want", "root.prod", 5, NULL, NULL);
	expect(&s, "test is above by one: taking ten would leave it below", "want waiting");

	two_queues(&s, "guaranteed 10", "guaranteed 4");
	story_node(&s, "n1", 8);
	for (int i = 0; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "t%d", i);
		story_pod(&s, name, "root.test", 2, "n1", i < 3 ? "age 500" : "age 100");
	}
	story_pod(&s, "want", "root.prod", 4, NULL, NULL);
	story_pod(&s, "want2", "root.prod", 2, NULL, "age 10");
	expect(&s, "each of the two may go, and both together", "want reclaim n1 [t2 t3]; want2 waiting (delay)");
}

static void GQ_2_holds_for_all_victims_together(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 10", "guaranteed 4");
	story_node(&s, "n1", 8);
	for (int i = 0; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "t%d", i);
		story_pod(&s, name, "root.test", 2, "n1", NULL);
	}
	story_pod(&s, "want", "root.prod", 6, NULL, NULL);
	expect(&s, "each of the three may go alone, but not all of them", "want waiting");
}

static void GQ_3_never_from_the_own_application(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "sister", "root.test", 4, "n1", "app spark");
	story_pod(&s, "want", "root.prod", 2, NULL, "app spark");
	expect_protected(&s, "sister", "application");
}

static void GQ_4_only_below_its_guarantee_a_queue_triggers(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 2", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "have", "root.prod", 2, "n1", NULL);
	story_pod(&s, "t", "root.test", 2, "n1", NULL);
	story_pod(&s, "want", "root.prod", 1, NULL, NULL);
	expect(&s, "at its guarantee it waits", "want waiting");

	two_queues(&s, "guaranteed 3", NULL);
	story_node(&s, "n1", 6);
	story_pod(&s, "have", "root.prod", 2, "n1", NULL);
	story_pod(&s, "t0", "root.test", 2, "n1", NULL);
	story_pod(&s, "t1", "root.test", 2, "n1", "age 10");
	story_pod(&s, "want0", "root.prod", 2, NULL, "age 100");
	story_pod(&s, "want1", "root.prod", 2, NULL, "age 90");
	expect(&s, "the pod may carry it over its guarantee; the next one waits",
	       "want0 reclaim n1 [t1]; want1 waiting");

	story_begin(&s);
	story_queue(&s, "root.team", "guaranteed 10");
	story_queue(&s, "root.team.a", NULL);
	story_queue(&s, "root.team.b", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "b0", "root.team.b", 4, "n1", NULL);
	story_pod(&s, "want", "root.team.a", 2, NULL, NULL);
	expect(&s, "a guarantee of the shared parent lets nobody raid a sibling", "want waiting");
}

static void GQ_5_only_queues_above_their_guarantee_lose(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.t", "guaranteed 10");
	story_queue(&s, "root.t.a", "guaranteed 5");
	story_queue(&s, "root.t.b", "guaranteed 5");
	story_queue(&s, "root.z", "guaranteed 5");
	story_node(&s, "n1", 20);
	story_pod(&s, "a1", "root.t.a", 5, "n1", "age 1");
	story_pod(&s, "b0", "root.t.b", 5, "n1", "age 10");
	story_pod(&s, "b1", "root.t.b", 5, "n1", "age 11");
	story_pod(&s, "b2", "root.t.b", 5, "n1", "age 12");
	story_pod(&s, "want", "root.z", 5, NULL, NULL);
	expect(&s, "the leaf at its guarantee keeps its pod though its parent is above", "want reclaim n1 [b0]");
}

static void GQ_6_lower_or_equal_priority_as_the_queues_adjust_it(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "equal", "root.test", 2, "n1", "priority 5");
	story_pod(&s, "want", "root.prod", 2, NULL, "priority 5");
	expect(&s, "equal priorities give way between queues", "want reclaim n1 [equal]");

	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "higher", "root.test", 2, "n1", "priority 6");
	story_pod(&s, "want", "root.prod", 2, NULL, "priority 5");
	expect_protected(&s, "higher", "priority");

	two_queues(&s, "guaranteed 4 offset 10", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "higher", "root.test", 2, "n1", "priority 6");
	story_pod(&s, "want", "root.prod", 2, NULL, "priority 5");
	expect(&s, "an offset lifts the waiting queue", "want reclaim n1 [higher]");

	two_queues(&s, "guaranteed 4", "priority-fence offset 3");
	story_node(&s, "n1", 2);
	story_pod(&s, "higher", "root.test", 2, "n1", "priority 600");
	story_pod(&s, "want", "root.prod", 2, NULL, "priority 5");
	expect(&s, "a priority fence lets the queue's offset alone be seen outside", "want reclaim n1 [higher]");
}

/* The picture: two tenants with fences, one with a fence on a leaf, and a system queue without. */
static void fence_picture(struct story *s, const char *who)
{
	static const char *const leaves[] = {"root.t1.a", "root.t1.b", "root.t2.q1", "root.t2.q2", "root.system"};

	story_begin(s);
	story_queue(s, "root.t1", "fence");
	story_queue(s, "root.t1.a", "fence guaranteed 4");
	story_queue(s, "root.t1.b", "guaranteed 4");
	story_queue(s, "root.t2", "fence");
	story_queue(s, "root.t2.q1", "guaranteed 4");
	story_queue(s, "root.t2.q2", "guaranteed 4");
	story_queue(s, "root.system", "guaranteed 4");
	for (int i = 0; i < 5; i++) {
		char node[8], pod[32];

		if (str_eq(leaves[i], who))
			continue;
		snprintf(node, sizeof(node), "n%d", i);
		snprintf(pod, sizeof(pod), "of-%s", strrchr(leaves[i], '.') + 1);
		story_node(s, node, 8);
		story_pod(s, pod, leaves[i], 4, node, NULL);
		pod[0] = '2';
		story_pod(s, pod, leaves[i], 4, node, NULL);
	}
	story_pod(s, "want", who, 2, NULL, NULL);
}

static uint32_t spared_by_fence(struct story *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->plan.v.v[0].n_protected; i++)
		n += s->plan.v.v[0].protected[i].verdict.rule == RULE_FENCE;
	return n;
}

static void GQ_7_fences_stop_the_search_and_let_others_in(void **state)
{
	static const struct {
		const char *who;
		bool finds;
		uint32_t fenced; /* pods outside the fence */
	} rows[] = {{"root.t1.a", false, 8},
		    {"root.t1.b", true, 6},
		    {"root.t2.q1", true, 6},
		    {"root.t2.q2", true, 6},
		    {"root.system", true, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct story s;

		fence_picture(&s, rows[i].who);
		story_plan(&s);
		assert_int_equal(s.plan.v.v[0].outcome, rows[i].finds ? OUTCOME_NOMINATED : OUTCOME_WAITING);
		assert_int_equal(spared_by_fence(&s), rows[i].fenced);
		story_end(&s);
	}
}

static void GQ_7_disabled_protects_but_does_not_hold_back(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4", "disabled");
	story_node(&s, "n1", 2);
	story_pod(&s, "t", "root.test", 2, "n1", NULL);
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect_protected(&s, "t", "policy");

	two_queues(&s, "guaranteed 4 disabled", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "t", "root.test", 2, "n1", NULL);
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect(&s, "its own work may reclaim", "want reclaim n1 [t]");
}

static void GQ_8_nothing_is_reclaimed_for_work_younger_than_the_delay(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4 delay 60s", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "t", "root.test", 2, "n1", NULL);
	story_pod(&s, "want", "root.prod", 2, NULL, "age 59");
	story_plan(&s);
	assert_int_equal(s.plan.v.v[0].outcome, OUTCOME_WAITING);
	assert_int_equal(s.plan.v.v[0].own_rule, RULE_DELAY);
	assert_true(s.plan.v.v[0].until_ns == STORY_NOW_NS + NS_PER_S);
	story_end(&s);

	two_queues(&s, "guaranteed 4 delay 2562047h", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "t", "root.test", 2, "n1", NULL);
	story_pod(&s, "want", "root.prod", 2, NULL, "age 999999");
	expect(&s, "a delay that leads beyond all time never ends", "want waiting (delay)");

	two_queues(&s, "guaranteed 4 delay 60s", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "t", "root.test", 2, "n1", NULL);
	story_pod(&s, "want", "root.prod", 2, NULL, "age 60");
	expect(&s, "on the second it may", "want reclaim n1 [t]");

	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "t", "root.test", 2, "n1", NULL);
	story_pod(&s, "want", "root.prod", 2, NULL, "age 29");
	expect(&s, "thirty seconds where nothing is said", "want waiting (delay)");
}

static void GQ_9_one_node_the_fewest_losses(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 9", NULL);
	story_node(&s, "n1", 4);
	story_node(&s, "n2", 4);
	story_pod(&s, "old", "root.test", 4, "n1", "age 5000");
	story_pod(&s, "young0", "root.test", 2, "n2", "age 100");
	story_pod(&s, "young1", "root.test", 2, "n2", "age 100");
	story_pod(&s, "want", "root.prod", 4, NULL, NULL);
	expect(&s, "two that lose little before one that loses much", "want reclaim n2 [young0 young1]");

	story_begin(&s);
	story_queue(&s, "root.prod", NULL);
	story_queue(&s, "root.prod.a", "guaranteed 4");
	story_queue(&s, "root.prod.near", NULL);
	story_queue(&s, "root.far", NULL);
	story_node(&s, "n1", 2);
	story_node(&s, "n2", 2);
	story_pod(&s, "far", "root.far", 2, "n1", NULL);
	story_pod(&s, "near", "root.prod.near", 2, "n2", NULL);
	story_pod(&s, "want", "root.prod.a", 2, NULL, NULL);
	expect(&s, "of equals the nearer queue gives way", "want reclaim n2 [near]");
}

static void GQ_9_idle_room_counts_and_big_candidates_do_not_end_the_search(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 6", NULL);
	story_node(&s, "n1", 10);
	story_pod(&s, "s1", "root.test", 4, "n1", "age 10");
	story_pod(&s, "s2", "root.test", 4, "n1", "age 5");
	story_pod(&s, "want", "root.prod", 6, NULL, NULL);
	expect(&s, "four freed and two idle are six", "want reclaim n1 [s2]");

	two_queues(&s, "guaranteed 5", "guaranteed 3");
	story_node(&s, "n1", 8);
	story_pod(&s, "three", "root.test", 3, "n1", "age 1");
	story_pod(&s, "five", "root.test", 5, "n1", "age 9999");
	story_pod(&s, "want", "root.prod", 5, NULL, NULL);
	expect(&s, "the small one would use up the excess; the big one alone is lawful and enough",
	       "want reclaim n1 [five]");
}

static void GQ_10_the_room_is_kept_until_the_victims_are_gone(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 2", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "t", "root.test", 2, "n1", NULL);
	story_pod(&s, "want", "root.prod", 2, NULL, "age 100");
	story_pod(&s, "again", "root.test", 2, NULL, "age 99 priority 1000");
	s.cycles = 2;
	expect(&s, "a victim's successor cannot take it, whatever its priority",
	       "want reclaim n1 [t]; again waiting; want placed n1; again waiting");

	two_queues(&s, "guaranteed 2", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "t", "root.test", 4, "n1", NULL);
	story_pod(&s, "want", "root.prod", 2, NULL, "age 100");
	story_pod(&s, "small", "root.test", 2, NULL, "age 99");
	expect(&s, "the rest of the node stays usable", "want reclaim n1 [t]; small allocate n1");

	two_queues(&s, "guaranteed 2", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "going", "root.test", 2, "n1", "leaving");
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect(&s, "room that is being freed is used before anybody has to go", "want allocate n1");
}

static void GQ_10_reserved_room_holds_against_everybody(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4", "guaranteed 1");
	story_node(&s, "n1", 4);
	story_pod(&s, "gone", "root.test", 4, "n1", "leaving late 1");
	story_pod(&s, "mine", "root.prod", 4, NULL, "nominated n1");
	story_pod(&s, "high", "root.test", 1, NULL, "age 5 priority 1000");
	expect(&s, "who comes first and is entitled does not take it either", "high waiting (delay); mine allocate n1");

	story_begin(&s);
	story_node(&s, "n1", 4);
	story_pod(&s, "gone", NULL, 4, "n1", "leaving late 1");
	story_pod(&s, "mine", NULL, 4, NULL, "nominated n1");
	story_pod(&s, "high", NULL, 1, NULL, "age 5 priority 1000");
	expect(&s, "KF-9: among pods without a queue a higher priority may", "high allocate n1; mine waiting");
}

static void GQ_10_what_is_free_beside_reserved_room_is_used_now(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 2", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "gone", "root.test", 3, "n1", "leaving late 1");
	story_pod(&s, "mine", "root.prod", 3, NULL, "nominated n1");
	story_pod(&s, "small", "root.test", 1, NULL, "age 5");
	expect(&s, "three are freed for one, the fourth is free", "small placed n1; mine allocate n1");

	two_queues(&s, "guaranteed 2", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "gone", "root.test", 3, "n1", "leaving late 1");
	story_pod(&s, "mine", "root.prod", 4, NULL, "nominated n1");
	story_pod(&s, "small", "root.test", 1, NULL, "age 5");
	expect(&s, "not what is reserved itself", "small waiting (delay); mine allocate n1");

	two_queues(&s, "guaranteed 2", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "hangs", "root.test", 1, "n1", "leaving late 900");
	story_pod(&s, "gone", "root.test", 2, "n1", "leaving late 1");
	story_pod(&s, "mine", "root.prod", 3, NULL, "nominated n1");
	story_pod(&s, "small", "root.test", 1, NULL, "age 5");
	expect(&s, "nor where the room of a pod that hangs would have to do for it: then small waits for that",
	       "small allocate n1; mine allocate n1");
}

/* A node whose pods hang, one with work that may go; the waiting pod is nominated to the first. */
static void stuck(struct story *s, const char *leaving, const char *other)
{
	two_queues(s, "guaranteed 4", NULL);
	story_node(s, "n1", 2);
	story_node(s, "n2", 2);
	story_pod(s, "h1", "root.test", 1, "n1", leaving);
	story_pod(s, "h2", "root.test", 1, "n1", leaving);
	if (other)
		story_pod(s, "t", "root.test", 2, "n2", other);
	story_pod(s, "want", "root.prod", 2, NULL, "nominated n1");
}

static void GQ_10_victims_that_do_not_go_make_the_pod_look_again(void **state)
{
	struct story s;

	(void)state;
	stuck(&s, "leaving late 299", "age 10");
	expect(&s, "within five minutes it waits for them", "want allocate n1");

	stuck(&s, "leaving late -20", "age 10");
	expect(&s, "their grace period is not over", "want allocate n1");

	stuck(&s, "leaving late 420", "age 10");
	expect(&s, "later it takes room elsewhere", "want reclaim n2 [t]");

	stuck(&s, "leaving late 420", "leaving late 10");
	expect(&s, "room that others are leaving comes first", "want allocate n2");

	stuck(&s, "leaving late 420", "age 10 priority 5");
	expect(&s, "where nothing else works it keeps its place in the line", "want allocate n1");

	stuck(&s, "leaving late 420", NULL);
	expect(&s, "and where something is free it goes there", "want placed n2");

	stuck(&s, "leaving late 40", "age 10");
	s.config = "actions: {reclaim: {patience: 30s}}";
	expect(&s, "how long is a setting", "want reclaim n2 [t]");
}

static void GQ_10_no_more_than_needed_goes_beside_those_who_hang(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 5);
	story_pod(&s, "h", "root.test", 2, "n1", "leaving late 900");
	story_pod(&s, "going", "root.test", 1, "n1", "leaving late 1");
	story_pod(&s, "t1", "root.test", 1, "n1", "age 10");
	story_pod(&s, "t2", "root.test", 1, "n1", "age 20");
	story_pod(&s, "want", "root.prod", 2, NULL, "nominated n1");
	expect(&s, "one is going and one more has to", "want reclaim n1 [t1]");
}

static void GQ_10_says_who_should_have_gone(void **state)
{
	struct story s;
	struct text t = {0};
	struct look plain = {0};
	struct plan_view v;

	(void)state;
	stuck(&s, "leaving late 420", "age 10");
	story_plan(&s);
	v = (struct plan_view){.cluster = s.cluster, .plan = &s.plan, .now_ns = STORY_NOW_NS};
	decision_text(&v, &s.plan.v.v[0], NULL, &plain, false, &t);
	if (!strstr(text_str(&t), " 2 pods on n1 should have gone 7m ago."))
		fail_msg("%s", text_str(&t));
	text_free(&t);
	story_end(&s);
}

static void GQ_11_never_holds_back_the_waiting_pod(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 2);
	story_pod(&s, "t", "root.test", 2, "n1", NULL);
	story_pod(&s, "want", "root.prod", 2, NULL, "never");
	expect(&s, "preemptionPolicy Never", "want waiting (never)");
}

static void GQ_12_drivers_are_spared_while_anything_else_works(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "head", "root.test", 2, "n1", "app x driver age 1");
	story_pod(&s, "hand", "root.test", 2, "n1", "app x age 9999");
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect(&s, "the executor goes though it loses more", "want reclaim n1 [hand]");

	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "first", "root.test", 2, "n1", "app x age 500");
	story_pod(&s, "second", "root.test", 2, "n1", "app x age 400");
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect(&s, "the oldest of an application is its driver", "want reclaim n1 [second]");

	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "head", "root.test", 2, "n1", "app x driver");
	story_pod(&s, "asleep", "root.test", 2, "n1", "opted-out");
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect(&s, "losing an opt-out is worse than losing a driver", "want reclaim n1 [head]");
}

static void GQ_13_daemonset_pods_take_room_on_their_node(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, NULL, "guaranteed 4");
	story_node(&s, "n1", 4);
	story_node(&s, "n2", 4);
	story_pod(&s, "t", "root.test", 4, "n1", "priority 0");
	story_pod(&s, "ds", "root.prod", 2, NULL, "daemon n1 age 1");
	expect(&s, "not bound by guarantees or delay", "ds required-node n1 [t]");

	two_queues(&s, NULL, NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "higher", "root.test", 4, "n1", "priority 5");
	story_pod(&s, "ds", "root.prod", 2, NULL, "daemon n1");
	expect(&s, "but by priority", "ds waiting");

	two_queues(&s, NULL, NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "asleep", "root.test", 2, "n1", "opted-out");
	story_pod(&s, "plain", "root.test", 2, "n1", "age 99999");
	story_pod(&s, "ds", "root.prod", 2, NULL, "daemon n1");
	expect(&s, "an opt-out is broken last", "ds required-node n1 [plain]");

	two_queues(&s, "guaranteed 4", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "agent", "root.test", 4, "n1", "of-daemonset");
	story_pod(&s, "want", "root.prod", 2, NULL, NULL);
	expect_protected(&s, "agent", "daemonset");
}

/* The replica sets of the seed: Prod and Test are siblings; evicted pods are made anew at once. */
static void GQ_15_the_three_situations_of_prod_and_test(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 5", "guaranteed 2");
	story_node(&s, "n1", 8);
	story_pod(&s, "prod-0", "root.prod", 4, "n1", NULL);
	story_pod(&s, "test-0", "root.test", 2, "n1", NULL);
	story_pod(&s, "test-1", "root.test", 2, "n1", "age 100");
	story_pod(&s, "prod-1", "root.prod", 2, NULL, "age 200");
	story_pod(&s, "prod-2", "root.prod", 2, NULL, "age 199");
	story_pod(&s, "test-2", "root.test", 2, NULL, "age 198");
	expect(&s, "one pod gets its room, then Prod is above and the others wait; Test cannot take it back",
	       "prod-1 reclaim n1 [test-1]; test-2 waiting; prod-2 waiting");

	two_queues(&s, "guaranteed 6", "guaranteed 3");
	story_node(&s, "n1", 8);
	story_pod(&s, "prod-0", "root.prod", 4, "n1", NULL);
	story_pod(&s, "test-0", "root.test", 2, "n1", NULL);
	story_pod(&s, "test-1", "root.test", 2, "n1", NULL);
	story_pod(&s, "prod-1", "root.prod", 2, NULL, NULL);
	expect(&s, "taking a pod would leave Test below its guarantee: nothing happens", "prod-1 waiting");

	two_queues(&s, "guaranteed 8", NULL);
	story_node(&s, "n1", 8);
	story_pod(&s, "prod-0", "root.prod", 2, "n1", NULL);
	story_pod(&s, "test-0", "root.test", 2, "n1", "age 300");
	story_pod(&s, "test-1", "root.test", 2, "n1", "age 200");
	story_pod(&s, "test-2", "root.test", 2, "n1", "age 100");
	story_pod(&s, "prod-1", "root.prod", 2, NULL, "age 90");
	story_pod(&s, "prod-2", "root.prod", 2, NULL, "age 80");
	expect(&s, "Prod stays below its guarantee and goes on taking",
	       "prod-1 reclaim n1 [test-2]; prod-2 reclaim n1 [test-1]");
}

static void GQ_16_over_subscribed_guarantees_end_in_a_stable_state(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "guaranteed 8", "guaranteed 8");
	story_node(&s, "n1", 8);
	story_pod(&s, "prod-0", "root.prod", 4, "n1", NULL);
	story_pod(&s, "test-0", "root.test", 4, "n1", NULL);
	story_pod(&s, "prod-1", "root.prod", 2, NULL, NULL);
	story_pod(&s, "test-1", "root.test", 2, NULL, NULL);
	expect(&s, "both are below, neither may take from the other", "prod-1 waiting; test-1 waiting");
}

static void GQ_14_maximums_hold_on_the_whole_path(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.team", "max 4");
	story_queue(&s, "root.team.a", NULL);
	story_queue(&s, "root.team.b", NULL);
	story_node(&s, "n1", 100);
	story_pod(&s, "a0", "root.team.a", 2, "n1", NULL);
	story_pod(&s, "a1", "root.team.a", 2, NULL, "age 100");
	story_pod(&s, "b0", "root.team.b", 1, NULL, "age 99");
	expect(&s, "the parent is full after one more", "b0 placed n1; a1 waiting");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_1_an_opted_out_pod_goes_only_as_the_last_resort),
		cmocka_unit_test(GQ_2_no_queue_is_taken_below_its_guarantee),
		cmocka_unit_test(GQ_2_holds_for_all_victims_together),
		cmocka_unit_test(GQ_3_never_from_the_own_application),
		cmocka_unit_test(GQ_4_only_below_its_guarantee_a_queue_triggers),
		cmocka_unit_test(GQ_5_only_queues_above_their_guarantee_lose),
		cmocka_unit_test(GQ_6_lower_or_equal_priority_as_the_queues_adjust_it),
		cmocka_unit_test(GQ_7_fences_stop_the_search_and_let_others_in),
		cmocka_unit_test(GQ_7_disabled_protects_but_does_not_hold_back),
		cmocka_unit_test(GQ_8_nothing_is_reclaimed_for_work_younger_than_the_delay),
		cmocka_unit_test(GQ_9_one_node_the_fewest_losses),
		cmocka_unit_test(GQ_9_idle_room_counts_and_big_candidates_do_not_end_the_search),
		cmocka_unit_test(GQ_10_the_room_is_kept_until_the_victims_are_gone),
		cmocka_unit_test(GQ_10_reserved_room_holds_against_everybody),
		cmocka_unit_test(GQ_10_what_is_free_beside_reserved_room_is_used_now),
		cmocka_unit_test(GQ_10_victims_that_do_not_go_make_the_pod_look_again),
		cmocka_unit_test(GQ_10_no_more_than_needed_goes_beside_those_who_hang),
		cmocka_unit_test(GQ_10_says_who_should_have_gone),
		cmocka_unit_test(GQ_11_never_holds_back_the_waiting_pod),
		cmocka_unit_test(GQ_12_drivers_are_spared_while_anything_else_works),
		cmocka_unit_test(GQ_13_daemonset_pods_take_room_on_their_node),
		cmocka_unit_test(GQ_14_maximums_hold_on_the_whole_path),
		cmocka_unit_test(GQ_15_the_three_situations_of_prod_and_test),
		cmocka_unit_test(GQ_16_over_subscribed_guarantees_end_in_a_stable_state),
	};

	return cmocka_run_group_tests_name("gq", tests, NULL, NULL);
}
