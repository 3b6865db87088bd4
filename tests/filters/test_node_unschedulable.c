/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#define REFUSED "UNRESOLVABLE node(s) were unschedulable"

static void KF_4_cordoned_nodes(void **state)
{
	static const struct {
		const char *says;
		bool is_cordoned;
		const char *tolerations, *filter;
	} rows[] = {
		{"a node that is not cordoned takes any pod", false, NULL, "SUCCESS"},
		{"a cordoned node takes none", true, NULL, REFUSED},
		{"it takes a pod that tolerates the taint of a cordon", true,
		 "node.kubernetes.io/unschedulable:NoSchedule", "SUCCESS"},
		{"with the empty value that taint has", true, "node.kubernetes.io/unschedulable=:NoSchedule",
		 "SUCCESS"},
		{"another value does not match it", true, "node.kubernetes.io/unschedulable=x:NoSchedule", REFUSED},
		{"nor another effect", true, "node.kubernetes.io/unschedulable:NoExecute", REFUSED},
		{"any effect does", true, "node.kubernetes.io/unschedulable", "SUCCESS"},
		{"tolerating everything does", true, ":", "SUCCESS"},
		{"tolerating something else does not", true, "maintenance", REFUSED},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		put_node((struct node_text){.name = "n", .is_cordoned = rows[i].is_cordoned});
		pod_id p = put_pod((struct pod_text){.name = "p", .tolerations = rows[i].tolerations});

		expect_text(rows[i].says, filter_text("NodeUnschedulable", p, "n"), rows[i].filter);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {FIXTURE_TEST(KF_4_cordoned_nodes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
