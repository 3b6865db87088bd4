/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CL_5: time alone is enough. What was waited for ends, nothing else happens, and the decision follows.
 * MR_1: not before.
 */
#include "run/fake_api.h"

#include "manifest/manifest.h"
#include "units/timestamp.h"

#define HEAD "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: default\n"
#define PATIENCE HEAD "actions: {reclaim: {patience: 60s}}\n"
#define RATE HEAD "rules: {eviction-rate: {perHour: 1}}\n"
#define WINDOW                                                                                                \
	HEAD "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kai-scheduler-default, "                 \
	     "namespace: kai-scheduler}\ndata:\n  config.yaml: |\n    tiers: [{plugins: [{name: minruntime, " \
	     "arguments: {defaultPreemptMinRuntime: 120s}}]}]\n"

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

/* Of priority 1; start_ns: what its status says, TIME_NONE: nothing yet. */
static void start(struct fake_api *f, const char *name, const char *node, int64_t start_ns)
{
	struct text at = {0}, pod = {0};

	if (start_ns != TIME_NONE) {
		text_add(&at, ",\"startTime\":\"");
		timestamp_text(start_ns / NS_PER_S * NS_PER_S, &at);
		text_add(&at, "\"");
	}
	text_printf(&pod,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"d\","
		    "\"uid\":\"uid-%s\",\"resourceVersion\":\"%u\",\"creationTimestamp\":\"2026-11-15T12:00:00Z\"},"
		    "\"spec\":{\"schedulerName\":\"cede\",\"priority\":1,\"nodeName\":\"%s\",\"containers\":[{\"name\":"
		    "\"c\",\"resources\":{\"requests\":{\"cpu\":\"4\"}}}]},"
		    "\"status\":{\"phase\":\"%s\"%s}}",
		    name, name, ++f->version + 100, node, at.n ? "Running" : "Pending", text_str(&at));
	fake_watch(f, "/pods?", "ADDED", text_str(&pod));
	text_free(&at);
	text_free(&pod);
}

/* It starts now: setting up took some time since the scheduler began. */
static void start_low(struct fake_api *f, const char *node)
{
	start(f, "low", node, f->now.wall_ns);
	fake_run(f);
}

/* Its window ends, and that alone wakes who waits. */
static void expect_its_whole_window(struct fake_api *f)
{
	put(f, "waits", NULL, 5, false, "ADDED");
	answer_all(f);
	assert_null(strstr(text_str(&f->log), "delete"));
	fake_pass(f, 110);
	answer_all(f);
	assert_null(strstr(text_str(&f->log), "delete"));
	fake_pass(f, 15);
	answer_all(f);
	assert_non_null(strstr(text_str(&f->log), "delete low "));
	fake_free(f);
}

/* The scheduler has been running for longer than the window when the pod starts. */
static void MR_1_who_starts_after_the_scheduler_has_its_whole_window(void **state)
{
	struct fake_api *f = fake_new(WINDOW);

	(void)state;
	fake_node(f, "n0", 4);
	fake_pass(f, 1000);
	start_low(f, "n0");
	expect_its_whole_window(f);
}

/*
 * More pods are higher than are told of in one decision; behind them one is lower, and inside its minimum runtime.
 * Whoever is not told of is still waited for.
 */
static void CL_5_the_end_of_a_minimum_runtime_that_is_not_told_of_wakes_who_waits_for_it(void **state)
{
	struct fake_api *f = fake_new(WINDOW);
	char name[16], node[16];

	(void)state;
	ledger_check_always(cluster_ledger(scheduler_world(f->s)->cluster), false);
	for (int i = 0; i < 12; i++) {
		snprintf(node, sizeof(node), "n%02d", i);
		fake_node(f, node, 400);
		for (int k = i == 11; k < 100; k++) {
			snprintf(name, sizeof(name), "p%02d-%02d", i, k);
			put(f, name, node, 9, false, "ADDED");
		}
	}
	start_low(f, "n11");
	expect_its_whole_window(f);
}

/* More are inside minimum runtimes than are told of; the one whose ends first is not among the first of them. */
static void CL_5_the_first_of_many_ends_wakes_who_waits_for_it(void **state)
{
	struct fake_api *f = fake_new(WINDOW);
	char name[16], node[16];

	(void)state;
	ledger_check_always(cluster_ledger(scheduler_world(f->s)->cluster), false);
	for (int i = 0; i < 12; i++) {
		snprintf(node, sizeof(node), "n%02d", i);
		fake_node(f, node, i == 11 ? 4 : 400);
	}
	start_low(f, "n11");
	fake_pass(f, 100);
	for (int i = 0; i < 11; i++)
		for (int k = 0; k < 100; k++) {
			snprintf(name, sizeof(name), "p%02d-%02d", i, k);
			snprintf(node, sizeof(node), "n%02d", i);
			start(f, name, node, f->now.wall_ns);
		}
	fake_run(f);
	for (int i = 0; i < 2; i++) { /* the second waits like the first, and is not asked about by itself */
		snprintf(name, sizeof(name), "waits-%d", i);
		put(f, name, NULL, 5, false, "ADDED");
	}
	answer_all(f);
	fake_pass(f, 10);
	answer_all(f);
	assert_null(strstr(text_str(&f->log), "delete"));
	fake_pass(f, 15);
	answer_all(f);
	assert_non_null(strstr(text_str(&f->log), "delete low "));
	fake_free(f);
}

/* As kube-scheduler has it: who has not started yet starts now, however long the scheduler has been running. */
static void KF_6_who_has_not_started_yet_started_last(void **state)
{
	struct fake_api *f = fake_new("apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofile: kubernetes\n");

	(void)state;
	fake_pass(f, 7200);
	fake_node(f, "n0", 4);
	fake_node(f, "n1", 4);
	start(f, "runs", "n0", f->now.wall_ns - 3600 * NS_PER_S);
	start(f, "bound", "n1", TIME_NONE);
	fake_run(f);
	put(f, "high", NULL, 9, false, "ADDED");
	answer_all(f);
	assert_non_null(strstr(text_str(&f->log), "delete bound "));
	assert_null(strstr(text_str(&f->log), "delete runs"));
	fake_free(f);
}

/* What is written of a victim that is not deleted yet: it leaves now, not when the scheduler began. */
static void CL_3_a_victim_is_written_as_leaving_since_it_was_evicted(void **state)
{
	struct fake_api *f = fake_new(HEAD);
	struct text all = {0};
	struct emit e;

	(void)state;
	fake_node(f, "n0", 4);
	put(f, "low", "n0", 1, false, "ADDED");
	fake_pass(f, 7200);
	put(f, "high", NULL, 9, false, "ADDED");
	emit_init(&e, &all, EMIT_JSON_LINE);
	manifest_write(scheduler_world(f->s)->cluster, &e);
	assert_non_null(strstr(text_str(&all), "\"deletionTimestamp\":\"2026-11-15T14:00:0"));
	text_free(&all);
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_5_a_victim_that_does_not_go_is_waited_for_no_longer_than_one_has_patience),
		cmocka_unit_test(CL_5_a_victim_that_goes_late_is_still_good_if_nothing_else_works),
		cmocka_unit_test(CL_5_the_end_of_a_window_of_evictions_wakes_who_waits_for_it),
		cmocka_unit_test(MR_1_who_starts_after_the_scheduler_has_its_whole_window),
		cmocka_unit_test(CL_5_the_end_of_a_minimum_runtime_that_is_not_told_of_wakes_who_waits_for_it),
		cmocka_unit_test(CL_5_the_first_of_many_ends_wakes_who_waits_for_it),
		cmocka_unit_test(KF_6_who_has_not_started_yet_started_last),
		cmocka_unit_test(CL_3_a_victim_is_written_as_leaving_since_it_was_evicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
