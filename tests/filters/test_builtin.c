/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static void KF_1_built_in_plugins_in_the_order_and_with_the_weights_of_kube_scheduler(void **state)
{
	static const struct {
		const char *name;
		int32_t weight;
	} want[] = {
		{"SchedulingGates", 0},	   {"PrioritySort", 0},
		{"NodeName", 0},	   {"NodeUnschedulable", 0},
		{"TaintToleration", 3},	   {"NodeAffinity", 2},
		{"NodePorts", 0},	   {"NodeResourcesFit", 1},
		{"VolumeRestrictions", 0}, {"NodeVolumeLimits", 0},
		{"VolumeBinding", 0},	   {"VolumeZone", 0},
		{"PodTopologySpread", 2},  {"InterPodAffinity", 2},
		{"DefaultPreemption", 0},  {"NodeResourcesBalancedAllocation", 1},
		{"ImageLocality", 1},	   {"DefaultBinder", 0},
	};

	assert_int_equal(builtin_plugin_count, COUNT(want));
	for (size_t i = 0; i < COUNT(want); i++) {
		const struct cede_plugin *p = builtin_plugins[i];

		assert_string_equal(p->name, want[i].name);
		assert_int_equal(p->abi, CEDE_PLUGIN_ABI);
		assert_int_equal(builtin_weight(p), want[i].weight);
		assert_true(!p->score || want[i].weight);
	}
	assert_int_equal(builtin_weight(&(const struct cede_plugin){.name = "NodeAffinity"}), 0);
}

static void scores_become_percent(void **state)
{
	static const struct {
		const char *says;
		bool is_reversed;
		int64_t in[3], out[3];
	} rows[] = {
		{"in proportion to the largest, cut", false, {0, 2, 5}, {0, 40, 100}},
		{"nothing stays nothing", false, {0, 0, 0}, {0, 0, 0}},
		{"reversed: the largest is worst", true, {0, 1, 2}, {100, 50, 0}},
		{"reversed: nothing is best for all", true, {0, 0, 0}, {100, 100, 100}},
		{"thirds", false, {1, 2, 3}, {33, 66, 100}},
		{"reversed thirds", true, {1, 2, 3}, {67, 34, 0}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t v[3];

		memcpy(v, rows[i].in, sizeof(v));
		scores_to_percent(v, 3, rows[i].is_reversed);
		if (memcmp(v, rows[i].out, sizeof(v)) != 0)
			fail_msg("%s: %d %d %d", rows[i].says, (int)v[0], (int)v[1], (int)v[2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(KF_1_built_in_plugins_in_the_order_and_with_the_weights_of_kube_scheduler),
		cmocka_unit_test(scores_become_percent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
