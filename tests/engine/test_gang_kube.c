/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' PodGroups that wait: together or not at all. */
#include "engine/engine_fixture.h"

#define THREE "pod a 5 cpu=1 &g; pod b 5 cpu=1 &g; pod c 5 cpu=1 &g; "

/* ---- together ---- */

static const struct plan_row places[] = {
	{"a gang gets its places together", "node m cpu=2; node n cpu=1; group g 5 min=3; " THREE, "a->m; b->m; c->n",
	 0},
	{"or none at all", "node m cpu=2; group g 5 min=3; " THREE, "a waits; b waits; c waits", 0},
	{"more than the minimum is welcome, not needed", "node m cpu=2; group g 5 min=2; " THREE, "a->m; b->m; c waits",
	 0},
	{"a group that is no gang takes what it gets", "node m cpu=2; group g 5; " THREE, "a->m; b->m; c waits", 0},
	{"what it gave back is free for others", "node m cpu=2; group g 5 min=3; " THREE "pod z 1 cpu=2",
	 "a waits; b waits; c waits; z->m", 0},
	{"pods that run count for the minimum",
	 "node m cpu=3; group g 5 min=3; pod x@m 5 cpu=1 &g; pod y@m 5 cpu=1 &g; pod a 5 cpu=1 &g", "a->m", 0},
	{"pods that leave do not", "node m cpu=3; group g 5 min=2; pod x@m 5 cpu=1 &g ~; pod a 5 cpu=1 &g", "a waits",
	 0},
	{"members in the order of their age, then by name",
	 "node m cpu=2; group g 5; pod c 5 cpu=1 &g <1; pod b 5 cpu=1 &g <2; pod a 5 cpu=1 &g <2",
	 "c->m; a->m; b waits", 0},
	{"each sees those before it", "node m cpu=2 pods=2; node n cpu=9 pods=1; group g 5 min=3; " THREE,
	 "a->n; b->m; c->m", 0},
	{"a group has its turn when its first pod has, and all of it then",
	 "node m cpu=3; group g 5 min=2; pod a 5 cpu=1 &g <1; pod y 5 cpu=1 <2; pod b 5 cpu=1 &g <3; pod z 5 cpu=1 <4",
	 "a->m; b->m; y->m; z waits", 0},
	{"the node it is nominated to is used as long as it fits",
	 "node m cpu=9; node n cpu=1; group g 5 min=1; pod a 5 cpu=1 &g ^n", "a->n", 0},
	{"higher priority comes before",
	 "node m cpu=2; group g 5 min=2; pod a 5 cpu=1 &g; pod b 5 cpu=1 &g; pod z 6 cpu=1", "z->m; a waits; b waits",
	 0},
};

static void KF_3_a_gang_is_placed_together_or_not_at_all(void **state)
{
	(void)state;
	check_plans(places, COUNT(places));
}

/* ---- held back ---- */

static const struct plan_row gates[] = {
	{"until its PodGroup is there", "node m cpu=9; pod a 5 cpu=1 &g; pod z 1 cpu=1", "a gated; z->m", 0},
	{"until there are enough pods", "node m cpu=9; group g 5 min=4; " THREE, "a gated; b gated; c gated", 0},
	{"one is not two", "node m cpu=9; group g 5 min=2; pod a 5 cpu=1 &g", "a gated", 0},
	{"as long as one of them is gated", "node m cpu=9; group g 5 min=2; pod a 5 &g; pod b 5 &g gate=x; pod c 5 &g",
	 "a gated; b gated; c gated", 0},
	{"another priority than the group's is a mistake",
	 "node m cpu=9; group g 5; pod a 5 cpu=1 &g; pod b 6 cpu=1 &g", "a waits; b waits", 0},
};

static void KF_3_a_group_is_held_back_as_a_whole(void **state)
{
	(void)state;
	check_plans(gates, COUNT(gates));
}

static void KF_3_who_is_held_back_is_told_why(void **state)
{
	(void)state;
	put_cluster("node m cpu=1; group g 5 min=2; pod a 5 &g; pod b 5 &g gate=x; group h 4 min=2; pod c 4 &h; pod d "
		    "3 &i; "
		    "group k 2 min=2; pod e 2 cpu=1 &k; pod f 2 cpu=1 &k; group l 1; pod q 0 &l");
	plan(1);
	assert_int_equal(en.last.v.n, 7);
	assert_string_equal(en.last.v.v[0].message,
			    "its pod group waits for default/b: waiting for scheduling gates: [x]");
	assert_string_equal(en.last.v.v[1].message, "waiting for scheduling gates: [x]");
	assert_string_equal(en.last.v.v[2].message,
			    "waiting for minCount pods from a gang to appear in scheduling queue");
	assert_string_equal(en.last.v.v[3].message, "waiting for its pod group default/i to appear");
	assert_string_equal(en.last.v.v[4].message,
			    "pod group default/k needs places for 2 pods together and has none for 1 of its 2. "
			    "preemption: No preemption victims found for incoming preemptor");
	assert_string_equal(en.last.v.v[5].message, "0/1 nodes are available: 1 Insufficient cpu. "
						    "preemption: No preemption victims found for incoming preemptor");
	assert_string_equal(en.last.v.v[6].message, "priority of pod default/q is not that of its pod group default/l");
}

/* ---- taking room ---- */

static const struct plan_row preemptions[] = {
	{"a gang preempts as one, on all nodes it needs",
	 "node m cpu=1; node n cpu=2; group g 5 min=3; " THREE "pod x@m 1 cpu=1; pod y@n 1 cpu=1; pod z@n 1 cpu=1",
	 "a=>n:x,y,z; b=>m:x,y,z; c=>n:x,y,z / a->n; b->m; c->n", 2},
	{"and takes nothing if that is not enough",
	 "node m cpu=1; node n cpu=2; group g 5 min=3; " THREE "pod x@m 1 cpu=1; pod y@n 1 cpu=1; pod z@n 6 cpu=1",
	 "a waits; b waits; c waits", 0},
	{"places that are free are used, and kept until the others are",
	 "node m cpu=1; node n cpu=2; group g 5 min=3; " THREE "pod x@m 1 cpu=1; pod w 1 cpu=1",
	 "a=>n:x; b=>m:x; c=>n:x; w waits / w waits; a->n; b->m; c->n", 2},
	{"who need not go stays",
	 "node m cpu=4; group g 5 min=2; pod a 5 cpu=1 &g; pod b 5 cpu=1 &g; pod x@m 3 cpu=1; "
	 "pod y@m 1 cpu=1; pod z@m 2 cpu=1; pod w@m 9 cpu=1",
	 "a=>m:z,y; b=>m:z,y", 0},
	{"budgets are given back first",
	 "node m cpu=3; group g 5 min=1; pod a 5 cpu=1 &g; pod x@m 3 cpu=1; pod y@m 1 cpu=1 .app=y; pod z@m 2 cpu=1 "
	 ".app=y; pdb y app=y 0",
	 "a=>m:x", 0},
	{"a budget that cannot be kept",
	 "node m cpu=1; group g 5 min=1; pod a 5 cpu=1 &g; pod x@m 3 cpu=1 .app=x; pdb x app=x 0", "a=>m:x", 0},
	{"groups of mode all go whole for it",
	 "node m cpu=1; node n cpu=9; group g 5 min=1; pod a 5 cpu=1 &g; group h 1 all; pod x@m 1 cpu=1 &h; pod y@n 1 "
	 "cpu=1 "
	 "&h; pod w@n 9 cpu=8",
	 "a=>m:x,y", 0},
	{"equal priority never gives way", "node m cpu=1; group g 5 min=1; pod a 5 cpu=1 &g; pod x@m 5 cpu=1",
	 "a waits", 0},
	{"nor does its own kind", "node m cpu=1; group g 5 min=1; pod a 5 cpu=1 &g; pod x@m 1 cpu=1 &g", "a waits", 0},
	{"a group that may not preempt waits", "node m cpu=1; group g 5 min=1 never; pod a 5 cpu=1 &g; pod x@m 1 cpu=1",
	 "a waits", 0},
	{"so does one with a pod that may not",
	 "node m cpu=2; group g 5 min=2; pod a 5 cpu=1 &g; pod b 5 cpu=1 &g never; pod x@m 1 cpu=1", "a waits; b waits",
	 0},
	{"who of it gets no place waits alone",
	 "node m cpu=1; node n cpu=1; group g 5 min=1; " THREE "pod x@m 1 cpu=1; "
	 "pod y@n 1 cpu=1",
	 "a=>m:x,y; b=>n:x,y; c waits", 0},
	{"what fits is placed at once, and the rest preempts",
	 "node m cpu=1; node n cpu=1; group g 5 min=1; pod a 5 cpu=1 &g; pod b 5 cpu=1 &g; pod x@n 1 cpu=1",
	 "a->m; b=>n:x", 0},
	{"nobody goes if other places do without",
	 "node k cpu=2; node m cpu=2; pod x@k 1 cpu=1; group g 5 min=2; pod a 5 cpu=1 &g; pod b 5 cpu=2 &g",
	 "a->k; b->m", 0},
	{"while its victims leave it waits for them and takes nobody else",
	 "node m cpu=1; node n cpu=1; group g 5 min=1; pod a 5 cpu=1 &g ^m; pod x@m 1 cpu=1 ~~; pod y@n 1 cpu=1",
	 "a waits", 0},
	{"and comes after the others, who leave its room alone",
	 "node m cpu=1; node n cpu=1; group g 5 min=1; pod a 5 cpu=1 &g ^m; pod x@m 1 cpu=1 ~~; pod z 1 cpu=1",
	 "z->n; a waits", 0},
};

static void KF_5_a_group_preempts_as_one(void **state)
{
	(void)state;
	check_plans(preemptions, COUNT(preemptions));
}

/* Victims are nobody's but the nominated members'; each knows all of them, and the counts tell of nobody twice. */
static void KF_5_every_member_waits_for_all_victims(void **state)
{
	(void)state;
	put_cluster("node m cpu=1; node n cpu=1; group g 5 min=2; pod a 5 cpu=1 &g; pod b 5 cpu=1 &g; pod x@m 1 cpu=1 "
		    ".app=x; "
		    "pod y@n 1 cpu=1; pdb x app=x 0");
	assert_string_equal(plan(1), "a=>m:x,y; b=>n:x,y");
	assert_int_equal(en.last.victims, 2);
	assert_int_equal(en.last.nominated, 2);
	assert_int_equal(en.last.v.v[1].victims[0].overridden, RULE_BUDGET);
	assert_int_equal(en.last.v.v[1].victims[1].overridden, RULE_NONE);
}

/* A nomination that came to nothing is given up, unless it may not look for another. */
static void KF_9_a_group_that_finds_nothing_keeps_no_nomination(void **state)
{
	(void)state;
	put_cluster(
		"node m cpu=1; pod z@m 9 cpu=1; group g 5; pod a 5 cpu=1 &g ^m; group h 4 never; pod b 4 cpu=1 &h ^m");
	assert_string_equal(plan(1), "a waits; b waits");
	assert_int_equal(ledger_pod(f.ledger, pod_named("a"))->nomination, NOMINATION_NONE);
	assert_int_equal(ledger_pod(f.ledger, pod_named("b"))->nomination, NOMINATION_ADVISORY);
}

/* ---- plugins ---- */

static struct cede_verdict a_beside_b(void *self, const struct cede_cycle *c, cede_node node)
{
	(void)self;
	for (size_t i = 0; i < cede_node_pod_count(c, node); i++)
		if (str_eq(cede_pod_name(c, cede_node_pod_at(c, node, i)), "b"))
			return cede_ok();
	return str_eq(cede_pod_name(c, cede_cycle_pod(c)), "b") ? cede_ok() : cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
}

/* A pod of another node may be in the way too: who minds pods elsewhere is asked again about each that comes back. */
static struct cede_verdict not_while_x(void *self, const struct cede_cycle *c, cede_node node)
{
	(void)self;
	(void)node;
	for (size_t n = 0; n < cede_node_count(c); n++)
		for (size_t i = 0; i < cede_node_pod_count(c, cede_node_at(c, n)); i++)
			if (str_eq(cede_pod_name(c, cede_node_pod_at(c, cede_node_at(c, n), i)), "x"))
				return cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
	return cede_ok();
}

static void KF_5_who_is_in_the_way_from_another_node_goes(void **state)
{
	static const char *const reasons[] = {"x is there"};
	static const struct cede_plugin table = {
		.abi = CEDE_PLUGIN_ABI, .name = "no-x", .filter = not_while_x, .reasons = reasons, .n_reasons = 1};
	static const struct framework_plugin extra = {.table = &table};

	(void)state;
	en.extra = &extra;
	en.n_extra = 1;
	put_cluster("node m cpu=1; node n cpu=2; pod x@n 1 cpu=1; pod y@n 1 cpu=1; group g 5 min=1; pod a 5 cpu=1 &g "
		    "?zone=; "
		    "node o cpu=1 zone=");
	assert_string_equal(plan(1), "a=>o:x");
}

static void KF_3_who_was_too_early_is_tried_again_after_the_others(void **state)
{
	static const char *const reasons[] = {"not beside b"};
	static const struct cede_plugin table = {
		.abi = CEDE_PLUGIN_ABI, .name = "beside-b", .filter = a_beside_b, .reasons = reasons, .n_reasons = 1};
	static const struct framework_plugin extra = {.table = &table};

	(void)state;
	en.extra = &extra;
	en.n_extra = 1;
	put_cluster("node m cpu=9; node n cpu=9; group g 5; pod a 5 cpu=1 &g; pod b 5 cpu=1 &g");
	assert_string_equal(plan(1), "a->m; b->m");
}

static struct cede_verdict not_c(void *self, struct cede_cycle *c, cede_node node)
{
	(void)self;
	(void)node;
	return str_eq(cede_pod_name(c, cede_cycle_pod(c)), "c") ? cede_answer(CEDE_UNSCHEDULABLE, 0, 0) : cede_ok();
}

static void KF_10_a_plugin_that_refuses_one_refuses_the_gang(void **state)
{
	static const char *const reasons[] = {"not c"};
	static const struct cede_plugin table = {
		.abi = CEDE_PLUGIN_ABI, .name = "not-c", .reserve = not_c, .reasons = reasons, .n_reasons = 1};
	static const struct framework_plugin extra = {.table = &table};

	(void)state;
	en.extra = &extra;
	en.n_extra = 1;
	put_cluster("node m cpu=9; group g 5 min=3; " THREE);
	assert_string_equal(plan(1), "a waits; b waits; c waits");
	assert_string_equal(en.last.v.v[0].message, "its pod group needs default/c: 0/1 nodes are available: 1 not c.");
	engine_reset();
	put_cluster("node m cpu=9; group g 5 min=2; " THREE);
	assert_string_equal(plan(1), "a->m; b->m; c waits");
}

static void a_report_of_one_names_who_goes_on_its_node(void **state)
{
	const struct node_report *r = NULL;

	(void)state;
	en.way = BY_ROWS;
	put_cluster("node m cpu=1; node n cpu=2; group g 5 min=3; pod p 5 cpu=1 &g <1; pod q 5 cpu=1 &g <2; pod r 5 "
		    "cpu=1 &g "
		    "<3; pod x@m 1 cpu=1; pod y@n 2 cpu=1; pod z@n 1 cpu=1");
	plan(1);
	assert_int_equal(en.last.v.v[0].pod, pod_named("p"));
	assert_int_equal(en.last.v.v[0].outcome, OUTCOME_NOMINATED);
	for (uint32_t i = 0; i < en.last.v.v[0].n_nodes; i++)
		if (en.last.v.v[0].nodes[i].node == en.last.v.v[0].node)
			r = &en.last.v.v[0].nodes[i];
	assert_non_null(r);
	assert_int_equal(r->fate, FATE_CANDIDATE);
	assert_int_equal(r->n_victims, 2);
	expect_text("it goes to n", node_str(r->node), "n");
	expect_text("y and z are there", arena_printf(f.arena, "%s %s", pod_str(r->victims[0]), pod_str(r->victims[1])),
		    "y z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE_TEST(KF_3_a_gang_is_placed_together_or_not_at_all),
		ENGINE_TEST(KF_3_a_group_is_held_back_as_a_whole),
		ENGINE_TEST(KF_3_who_is_held_back_is_told_why),
		ENGINE_TEST(KF_5_a_group_preempts_as_one),
		ENGINE_TEST(KF_5_every_member_waits_for_all_victims),
		ENGINE_TEST(KF_9_a_group_that_finds_nothing_keeps_no_nomination),
		ENGINE_TEST(KF_5_who_is_in_the_way_from_another_node_goes),
		ENGINE_TEST(KF_3_who_was_too_early_is_tried_again_after_the_others),
		ENGINE_TEST(KF_10_a_plugin_that_refuses_one_refuses_the_gang),
		ENGINE_TEST(a_report_of_one_names_who_goes_on_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
