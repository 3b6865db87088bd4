/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#define REFUSED "UNRESOLVABLE node(s) had untolerated taint(s)"

static void KF_4_taints_repel(void **state)
{
	static const struct {
		const char *says, *taints, *tolerations;
		bool bounds;
		const char *filter;
	} rows[] = {
		{"a node without taints takes any pod", "", NULL, false, "SUCCESS"},
		{"NoSchedule repels", "team=a:NoSchedule", NULL, false, REFUSED},
		{"NoExecute repels", "team=a:NoExecute", NULL, false, REFUSED},
		{"PreferNoSchedule does not", "team=a:PreferNoSchedule", NULL, false, "SUCCESS"},
		{"the same key and value are tolerated", "team=a:NoSchedule", "team=a:NoSchedule", false, "SUCCESS"},
		{"another value is not", "team=a:NoSchedule", "team=b:NoSchedule", false, REFUSED},
		{"any value is, by Exists", "team=a:NoSchedule", "team:NoSchedule", false, "SUCCESS"},
		{"a toleration of another effect does not help", "team=a:NoSchedule", "team=a:NoExecute", false,
		 REFUSED},
		{"one of all effects does", "team=a:NoExecute", "team=a", false, "SUCCESS"},
		{"every taint needs one", "team=a:NoSchedule disk=old:NoSchedule", "team=a:NoSchedule", false, REFUSED},
		{"each may have its own", "team=a:NoSchedule disk=old:NoSchedule", "disk team=a", false, "SUCCESS"},
		{"greater than is off by default", "sla=950:NoSchedule", "sla>750:NoSchedule", false, REFUSED},
		{"greater than compares numbers", "sla=950:NoSchedule", "sla>750:NoSchedule", true, "SUCCESS"},
		{"and refuses smaller ones", "sla=700:NoSchedule", "sla>750:NoSchedule", true, REFUSED},
		{"less than likewise", "sla=700:NoSchedule", "sla<750:NoSchedule", true, "SUCCESS"},
		{"a value that is no number is not tolerated", "sla=high:NoSchedule", "sla>750:NoSchedule", true,
		 REFUSED},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		f.args.toleration_bounds = rows[i].bounds;
		put_node((struct node_text){.name = "n", .taints = rows[i].taints});
		pod_id p = put_pod((struct pod_text){.name = "p", .tolerations = rows[i].tolerations});

		expect_text(rows[i].says, filter_text("TaintToleration", p, "n"), rows[i].filter);
	}
}

static void KF_4_the_answer_says_which_taint(void **state)
{
	put_node((struct node_text){.name = "n", .taints = "a:PreferNoSchedule b:NoSchedule c:NoSchedule"});
	struct cede_cycle *c =
		cycle_start("TaintToleration", put_pod((struct pod_text){.name = "p", .tolerations = "b"}));

	assert_int_equal(taint_toleration_plugin.filter(NULL, c, node_of("n")).detail, 2);
}

static void KF_4_taints_that_would_rather_not(void **state)
{
	static const struct {
		const char *says, *n1, *n2, *n3, *tolerations, *scores;
	} rows[] = {
		{"no such taints: all nodes are best", "", "", "x:NoSchedule", NULL, "n1=100 n2=100 n3=100"},
		{"the more untolerated taints the worse", "", "a:PreferNoSchedule",
		 "a:PreferNoSchedule b:PreferNoSchedule", NULL, "n1=100 n2=50 n3=0"},
		{"fractions are cut before they are taken off", "a:PreferNoSchedule",
		 "a:PreferNoSchedule b:PreferNoSchedule", "a:PreferNoSchedule b:PreferNoSchedule c:PreferNoSchedule",
		 NULL, "n1=67 n2=34 n3=0"},
		{"tolerated ones do not count", "a:PreferNoSchedule", "b:PreferNoSchedule", "", "a:PreferNoSchedule",
		 "n1=100 n2=0 n3=100"},
		{"a toleration for all effects covers them", "a:PreferNoSchedule", "b:PreferNoSchedule", "", "a",
		 "n1=100 n2=0 n3=100"},
		{"one for NoSchedule does not", "a:PreferNoSchedule", "", "", "a:NoSchedule", "n1=0 n2=100 n3=100"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n1", .taints = rows[i].n1});
		put_node((struct node_text){.name = "n2", .taints = rows[i].n2});
		put_node((struct node_text){.name = "n3", .taints = rows[i].n3});
		pod_id p = put_pod((struct pod_text){.name = "p", .tolerations = rows[i].tolerations});

		expect_text(rows[i].says, scores_text("TaintToleration", p, "n1 n2 n3"), rows[i].scores);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_4_taints_repel),
		FIXTURE_TEST(KF_4_the_answer_says_which_taint),
		FIXTURE_TEST(KF_4_taints_that_would_rather_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
