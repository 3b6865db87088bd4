/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static int sign(int x)
{
	return (x > 0) - (x < 0);
}

static void KF_3_order_of_waiting_pods(void **state)
{
	static const struct {
		const char *says;
		struct pod_text first, second;
	} rows[] = {
		{"higher priority first",
		 {.name = "a", .priority = 5, .created_s = 9},
		 {.name = "b", .priority = 4, .created_s = 1}},
		{"extremes do not overflow",
		 {.name = "a", .priority = INT32_MAX},
		 {.name = "b", .priority = INT32_MIN}},
		{"then the older one",
		 {.name = "b", .priority = 5, .created_s = 1},
		 {.name = "a", .priority = 5, .created_s = 2}},
		{"one whose age is not known comes last", {.name = "b", .created_s = 2}, {.name = "a"}},
		{"then by namespace",
		 {.name = "b", .ns = "x", .created_s = 1},
		 {.name = "a", .ns = "y", .created_s = 1}},
		{"then by name", {.name = "a", .created_s = 1}, {.name = "b", .created_s = 1}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		fixture_reset();
		pod_id b = put_pod(rows[i].second), a = put_pod(rows[i].first);
		struct cede_cycle *c = cycle_start("NodeName", a);

		if (sign(priority_sort_plugin.queue_sort(NULL, c, a, b)) != -1 ||
		    sign(priority_sort_plugin.queue_sort(NULL, c, b, a)) != 1)
			fail_msg("%s", rows[i].says);
		assert_int_equal(priority_sort_plugin.queue_sort(NULL, c, a, a), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {FIXTURE_TEST(KF_3_order_of_waiting_pods)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
