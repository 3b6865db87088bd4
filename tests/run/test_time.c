/* SPDX-License-Identifier: Apache-2.0 */
/* CL_5: time alone is enough. What was waited for ends, nothing else happens, and the decision follows. */
#include "run/fake_api.h"

#define HEAD "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: default\n"
#define PATIENCE HEAD "actions: {reclaim: {patience: 60s}}\n"
#define RATE HEAD "rules: {eviction-rate: {perHour: 1}}\n"

#define VERSIONED "{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"77\"}}"

static void put(struct fake_api *f, const char *name, const char *node, int priority, bool is_leaving, const char *type)
{
	fake_put(f, &(struct fake_pod){name, node, 4, priority, is_leaving, NULL, NULL, NULL}, type);
}

static void answer_all(struct fake_api *f)
{
	while (fake_open(f) != UINT32_MAX)
		fake_answer(f, 200, VERSIONED);
}

static struct fake_api *two_nodes(const char *settings)
{
	struct fake_api *f = fake_new(settings);

	fake_node(f, "n0", 4);
	fake_node(f, "n1", 4);
	put(f, "low-0", "n0", 1, false, "ADDED");
	put(f, "low-1", "n1", 2, false, "ADDED");
	put(f, "high", NULL, 9, false, "ADDED");
	answer_all(f);
	assert_non_null(strstr(text_str(&f->log), "delete low-0 uid-low-0 77; "));
	assert_null(strstr(text_str(&f->log), "low-1"));
	return f;
}

static void CL_5_a_victim_that_does_not_go_is_waited_for_no_longer_than_one_has_patience(void **state)
{
	struct fake_api *f = two_nodes(PATIENCE);

	(void)state;
	put(f, "low-0", "n0", 1, true, "MODIFIED"); /* it should be gone at 12:00:10 */
	fake_pass(f, 40);
	assert_null(strstr(text_str(&f->log), "low-1"));
	fake_pass(f, 40);
	answer_all(f);
	assert_non_null(strstr(text_str(&f->log), "target low-1 True; delete low-1 uid-low-1 77; "));
	fake_free(f);
}

static void CL_5_a_victim_that_goes_late_is_still_good_if_nothing_else_works(void **state)
{
	struct fake_api *f = two_nodes(PATIENCE);

	(void)state;
	put(f, "low-0", "n0", 1, true, "MODIFIED");
	put(f, "low-0", "n0", 1, true, "DELETED");
	assert_non_null(strstr(text_str(&f->log), "bind high n0; "));
	fake_pass(f, 400);
	assert_null(strstr(text_str(&f->log), "low-1"));
	fake_free(f);
}

static void CL_5_the_end_of_a_window_of_evictions_wakes_who_waits_for_it(void **state)
{
	struct fake_api *f = two_nodes(RATE);

	(void)state;
	put(f, "low-0", "n0", 1, true, "MODIFIED");
	put(f, "low-0", "n0", 1, true, "DELETED");
	answer_all(f);
	put(f, "high", "n0", 9, false, "MODIFIED");
	put(f, "higher", NULL, 8, false, "ADDED");
	answer_all(f);
	fake_pass(f, 3590);
	answer_all(f);
	assert_null(strstr(text_str(&f->log), "low-1"));
	fake_pass(f, 15); /* an hour after the first */
	answer_all(f);
	assert_non_null(strstr(text_str(&f->log), "delete low-1 uid-low-1 77; "));
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_5_a_victim_that_does_not_go_is_waited_for_no_longer_than_one_has_patience),
		cmocka_unit_test(CL_5_a_victim_that_goes_late_is_still_good_if_nothing_else_works),
		cmocka_unit_test(CL_5_the_end_of_a_window_of_evictions_wakes_who_waits_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
