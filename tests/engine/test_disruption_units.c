/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes' PodGroups as victims: who goes with whom. */
#include "engine/disruption_unit.h"
#include "engine/engine_fixture.h"

/* ---- disruptionMode ---- */

static const struct plan_row modes[] = {
	{"a group of mode all goes as a whole, on all its nodes",
	 "node m cpu=1; node n cpu=1; group g 1 all; pod a@m 1 cpu=1 &g; pod b@n 1 cpu=1 &g; pod p 5 cpu=1 ?zone=; "
	 "node o cpu=1 zone=; pod c@o 1 cpu=1 &g",
	 "p=>o:a,b,c", 0},
	{"one of mode single pod by pod",
	 "node m cpu=1; group g 1; pod a@m 1 cpu=500m &g +1; pod b@m 1 cpu=500m &g +2; pod p 5 cpu=500m", "p=>m:b", 0},
	{"what is on the node alone would be enough, and all go",
	 "node m cpu=2; group g 1 all; pod a@m 1 cpu=1 &g; pod b@m 1 cpu=1 &g; pod p 5 cpu=1", "p=>m:a,b", 0},
	{"a group that need not go stays as a whole",
	 "node m cpu=3; group g 2 all; pod a@m 1 cpu=1 &g; pod b@m 1 cpu=1 &g; pod c@m 1 cpu=1; pod p 5 cpu=1",
	 "p=>m:c", 0},
	{"the node where fewer would go is taken: pods of other nodes count",
	 "node m cpu=1; node n cpu=1; node o cpu=2; group g 1 all; pod a@m 1 cpu=1 &g +5; pod b@n 1 cpu=1 &g +5; "
	 "pod c@o 1 cpu=1; pod d@o 1 cpu=1; pod p 5 cpu=1",
	 "p=>o:d", 0},
	{"equal priority never gives way, nor does the group of a pod that says it is lower",
	 "node m cpu=1; group g 5 all; pod a@m 1 cpu=1 &g; pod p 5 cpu=1", "p waits", 0},
	{"the group's priority counts, not its pods'", "node m cpu=1; group g 1 all; pod a@m 9 cpu=1 &g; pod p 5 cpu=1",
	 "p=>m:a", 0},
	{"where it leaves that to its pods, the priority of the first of them",
	 "node m cpu=1; node n cpu=2; node o cpu=2; group g all; pod a@m 1 cpu=1 &g; pod b@n 9 cpu=2 &g; "
	 "pod c@o 4 cpu=2; pod p 5 cpu=2",
	 "p=>n:a,b", 0},
	{"a group that is not there cannot say that it goes whole",
	 "node m cpu=2; pod a@m 1 cpu=1 &g +2; pod b@m 1 cpu=1 &g +1; pod p 5 cpu=1", "p=>m:a", 0},
	{"who is leaving already goes with it",
	 "node m cpu=1; node n cpu=1; group g 1 all; pod a@m 1 cpu=1 &g; pod b@n 1 cpu=1 &g ~; pod q@n 9; pod p 5 "
	 "cpu=1 "
	 "?zone=; node o cpu=1 zone=; pod c@o 1 cpu=1 &g",
	 "p=>o:a,b,c", 0},
	{"who of the group has finished or waits is no victim",
	 "node m cpu=1; group g 1 all; pod a@m 1 cpu=1 &g; pod b 1 cpu=9 &g; pod p 5 cpu=1", "p=>m:a; b waits", 0},
};

static void KF_5_a_group_of_mode_all_is_one_victim(void **state)
{
	(void)state;
	check_plans(modes, COUNT(modes));
}

/* ---- importance ---- */

static const struct plan_row importance[] = {
	{"a pod of a group is given back before a pod alone, though it started later",
	 "node m cpu=2; group g 1; pod a@m 1 cpu=1 &g +9; pod b@m 1 cpu=1 +1; pod p 5 cpu=1", "p=>m:b", 0},
	{"also if the group is not there", "node m cpu=2; pod a@m 1 cpu=1 &g +9; pod b@m 1 cpu=1 +1; pod p 5 cpu=1",
	 "p=>m:b", 0},
	{"priority comes first", "node m cpu=2; group g 1; pod a@m 1 cpu=1 &g +1; pod b@m 2 cpu=1 +9; pod p 5 cpu=1",
	 "p=>m:a", 0},
	{"the larger group is given back first",
	 "node m cpu=2; node n cpu=9; group g 1 all; group h 1 all; pod a@m 1 cpu=1 &g +1; pod b@m 1 cpu=1 &h +9; "
	 "pod c@n 1 cpu=1 &h; pod q@n 9 cpu=8; pod p 5 cpu=1",
	 "p=>m:a", 0},
	{"of groups of one size the one that runs longer, by its oldest pod wherever that is",
	 "node m cpu=2; node n cpu=9; group g 1 all; group h 1 all; pod a@m 1 cpu=1 &g +5; pod b@m 1 cpu=1 &h +9; "
	 "pod c@n 1 cpu=1 &g +5; pod d@n 1 cpu=1 &h +1; pod q@n 9 cpu=7; pod p 5 cpu=1",
	 "p=>m:a,c", 0},
};

static void KF_5_groups_are_more_important_than_pods_alone(void **state)
{
	(void)state;
	check_plans(importance, COUNT(importance));
}

/* ---- budgets ---- */

static const struct plan_row budgets[] = {
	{"a budget of one of its pods is given back first, and with it the whole group",
	 "node m cpu=3; group g 1 all; pod a@m 1 cpu=1 &g .app=x; pod b@m 1 cpu=1 &g; pod c@m 2 cpu=1; pdb x app=x 0; "
	 "pod p 5 cpu=1",
	 "p=>m:c", 0},
	{"a budget on another node counts too: the node without is taken",
	 "node m cpu=1; node n cpu=1; node o cpu=1; group g 1 all; pod a@m 1 cpu=1 &g; pod b@n 1 cpu=1 &g .app=x; "
	 "pod c@o 4 cpu=1; pdb x app=x 0; pod p 5 cpu=1",
	 "p=>o:c", 0},
};

static void KF_5_budgets_of_a_group_count_pod_by_pod(void **state)
{
	(void)state;
	check_plans(budgets, COUNT(budgets));
}

/* ---- what is kept of nodes ---- */

/* The cache keeps what nodes said; not what the group said on another node, or before it changed. */
static void KF_6_what_a_group_said_before_is_not_remembered(void **state)
{
	(void)state;
	put_cluster(
		"node m cpu=2; node n cpu=1; group g 1; pod a@m 1 cpu=1 &g; pod c@m 4 cpu=1; pod b@n 1 cpu=1 &g +1; "
		"pod p 5 cpu=1; pod q 4 cpu=1");
	assert_string_equal(plan(1), "p=>m:a; q=>n:b");
	ledger_rollback(f.ledger, 0);
	put_cluster("group g 1 all");
	assert_string_equal(plan(1), "p=>m:a,b; q=>n:a,b");
}

static void KF_6_nor_what_it_was_on_other_nodes(void **state)
{
	(void)state;
	put_cluster("node m cpu=1; node n cpu=9; node o cpu=1; group g 1 all; pod a@m 1 cpu=1 &g +1; pod b@n 1 cpu=1 "
		    "&g +1; "
		    "pod c@n 1 cpu=1 &g +1; pod q@n 9 cpu=7 +1; pod x@o 1 cpu=500m +1; pod y@o 1 cpu=500m +1; "
		    "pod p 5 cpu=1");
	assert_string_equal(plan(1), "p=>o:x,y");
	ledger_rollback(f.ledger, 0);
	cluster_drop_pod(f.cluster, "default", "b");
	cluster_drop_pod(f.cluster, "default", "c");
	put_cluster("pod r@n 9 cpu=2");
	assert_string_equal(plan(1), "p=>m:a");
}

static void KF_5_a_victim_knows_its_own_node_and_group(void **state)
{
	const struct decision *d;

	(void)state;
	put_cluster(
		"node m cpu=1; node n cpu=9; group g 1 all; pod a@m 1 cpu=1 &g; pod b@n 1 cpu=1 &g; pod q@n 9 cpu=8; "
		"pod p 5 cpu=1");
	assert_string_equal(plan(1), "p=>m:a,b");
	d = &en.last.v.v[0];
	assert_string_equal(node_str(d->victims[0].node), "m");
	assert_string_equal(node_str(d->victims[1].node), "n");
	assert_true(d->victims[0].goes_with_group && d->victims[1].goes_with_group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ENGINE_TEST(KF_5_a_group_of_mode_all_is_one_victim),
		ENGINE_TEST(KF_5_groups_are_more_important_than_pods_alone),
		ENGINE_TEST(KF_5_budgets_of_a_group_count_pod_by_pod),
		ENGINE_TEST(KF_6_what_a_group_said_before_is_not_remembered),
		ENGINE_TEST(KF_6_nor_what_it_was_on_other_nodes),
		ENGINE_TEST(KF_5_a_victim_knows_its_own_node_and_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
