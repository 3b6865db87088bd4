/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#define TAKEN "UNSCHEDULABLE node(s) didn't have free ports for the requested pod ports"

static void KF_4_host_ports(void **state)
{
	static const struct {
		const char *says, *wanted, *taken, *pre_filter, *filter;
	} rows[] = {
		{"a pod without host ports is not asked about", NULL, "80", "SKIP", "SUCCESS"},
		{"another port is free", "80", "81", "SUCCESS", "SUCCESS"},
		{"the same port is not", "80", "80", "SUCCESS", TAKEN},
		{"another protocol is free", "80/UDP", "80/TCP", "SUCCESS", "SUCCESS"},
		{"another address is free", "10.0.0.1:80", "10.0.0.2:80", "SUCCESS", "SUCCESS"},
		{"the same address is not", "10.0.0.1:80", "10.0.0.1:80", "SUCCESS", TAKEN},
		{"all addresses include any", "80", "10.0.0.1:80", "SUCCESS", TAKEN},
		{"the other way round too", "10.0.0.1:80", "80", "SUCCESS", TAKEN},
		{"all addresses of another protocol do not", "10.0.0.1:80/UDP", "80", "SUCCESS", "SUCCESS"},
		{"one of several is enough to clash", "79 80", "81 80", "SUCCESS", TAKEN},
		{"each is compared as a whole", "10.0.0.1:80 10.0.0.2:81", "10.0.0.2:80 10.0.0.1:81", "SUCCESS",
		 "SUCCESS"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n"});
		put_pod((struct pod_text){.name = "none", .node = "n"});
		put_pod((struct pod_text){.name = "there", .node = "n", .ports = rows[i].taken});
		pod_id p = put_pod((struct pod_text){.name = "p", .ports = rows[i].wanted});

		expect_text(rows[i].says, pre_filter_text("NodePorts", p), rows[i].pre_filter);
		expect_text(rows[i].says, filter_text("NodePorts", p, "n"), rows[i].filter);
	}
}

static void KF_4_ports_are_alike_with_a_memo(void **state)
{
	node_id n = put_node((struct node_text){.name = "n"}), empty = put_node((struct node_text){.name = "empty"});
	pod_id there = put_pod((struct pod_text){.name = "there", .node = "n", .ports = "80 443/UDP"});
	struct cede_cycle *c = cycle_start("NodePorts", put_pod((struct pod_text){.name = "p", .ports = "144/TCP 80"}));
	void *self;

	assert_true(node_ports_plugin.create(NULL, 0, &self, NULL, 0));
	for (int with_memo = 0; with_memo < 2; with_memo++) {
		if (with_memo)
			node_ports_plugin.pre_filter(self, c);
		assert_int_equal(node_ports_plugin.filter(self, c, n).code, CEDE_UNSCHEDULABLE);
		assert_int_equal(node_ports_plugin.filter(self, c, empty).code, CEDE_SUCCESS);
	}
	ledger_vacate(f.ledger, there);
	assert_int_equal(node_ports_plugin.filter(self, c, n).code, CEDE_SUCCESS);
	put_pod((struct pod_text){.name = "later", .node = "empty", .ports = "144"});
	assert_int_equal(node_ports_plugin.filter(self, c, empty).code, CEDE_UNSCHEDULABLE);
	node_ports_plugin.destroy(self);
}

static void KF_7_ports_follow_pods_that_go_and_come_back(void **state)
{
	node_id n = put_node((struct node_text){.name = "n"});
	pod_id a = put_pod((struct pod_text){.name = "a", .node = "n", .ports = "80"});
	pod_id b = put_pod((struct pod_text){.name = "b", .node = "n", .ports = "80"});
	struct cede_cycle *c = cycle_start("NodePorts", put_pod((struct pod_text){.name = "p", .ports = "80"}));
	ledger_mark mark = ledger_get_mark(f.ledger);

	ledger_vacate(f.ledger, a);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE); /* b still has it */
	ledger_vacate(f.ledger, b);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_SUCCESS);
	ledger_rollback(f.ledger, mark);
	assert_int_equal(cycle_filter(c, n).verdict.code, CEDE_UNSCHEDULABLE);
}

static void KF_4_a_leaving_pod_still_has_its_ports(void **state)
{
	put_node((struct node_text){.name = "n"});
	put_pod((struct pod_text){.name = "a", .node = "n", .ports = "80", .is_leaving = true});
	pod_id p = put_pod((struct pod_text){.name = "p", .ports = "80"});

	assert_string_equal(filter_text("NodePorts", p, "n"), TAKEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_4_host_ports),
		FIXTURE_TEST(KF_4_ports_are_alike_with_a_memo),
		FIXTURE_TEST(KF_7_ports_follow_pods_that_go_and_come_back),
		FIXTURE_TEST(KF_4_a_leaving_pod_still_has_its_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
