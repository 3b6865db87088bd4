/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static void KF_1_gated_pods_are_not_tried(void **state)
{
	static const struct {
		const char *says, *gates, *answer;
	} rows[] = {
		{"no gates", NULL, "SUCCESS"},
		{"one gate", "example.com/quota", "UNRESOLVABLE waiting for scheduling gates: [example.com/quota]"},
		{"several, in their order", "b a c", "UNRESOLVABLE waiting for scheduling gates: [b a c]"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		cycle_start("SchedulingGates", put_pod((struct pod_text){.name = "p", .gates = rows[i].gates}));
		struct status s = cycle_pre_enqueue(&f.cycle);

		expect_text(rows[i].says, status_of(&s), rows[i].answer);
	}
}

static void KF_1_long_lists_of_gates_are_cut(void **state)
{
	static const char whole[] = "waiting for scheduling gates: [one two]";
	struct cede_cycle *c =
		cycle_start("SchedulingGates", put_pod((struct pod_text){.name = "p", .gates = "one two"}));
	struct cede_verdict v = scheduling_gates_plugin.pre_enqueue(NULL, c);
	char out[64];

	for (size_t size = 1; size <= sizeof(whole) + 2; size++) {
		size_t want = size <= sizeof(whole) ? size - 1 : sizeof(whole) - 1;

		memset(out, 'x', sizeof(out));
		assert_true(scheduling_gates_plugin.reason_text(NULL, c, v, 0, out, size));
		assert_int_equal(strlen(out), want);
		assert_memory_equal(out, whole, want);
		assert_int_equal(out[size], 'x');
	}
	assert_false(scheduling_gates_plugin.reason_text(NULL, c, v, 1, out, sizeof(out)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FIXTURE_TEST(KF_1_gated_pods_are_not_tried),
		FIXTURE_TEST(KF_1_long_lists_of_gates_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
