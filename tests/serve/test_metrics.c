/* SPDX-License-Identifier: Apache-2.0 */
/* CL_9: what Prometheus reads. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/metrics.h"

static const char *text_of(struct metrics *m)
{
	static struct text out;

	text_reset(&out);
	metrics_text(m, &out);
	return text_str(&out);
}

static void assert_has(struct metrics *m, const char *line)
{
	if (!strstr(text_of(m), line))
		fail_msg("no line '%s'", line);
}

static void CL_9_numbers_are_written_as_prometheus_reads_them(void **state)
{
	static const struct {
		const char *name;
		double value;
		const char *line;
	} rows[] = {
		{"a whole number", 12, "\ncede_watch_lag_seconds 12\n"},
		{"a fraction, as short as it can be", 0.1, "\ncede_watch_lag_seconds 0.1\n"},
		{"a large number, exactly", 123456789012, "\ncede_watch_lag_seconds 123456789012\n"},
		{"nothing that is a number", NAN, "\ncede_watch_lag_seconds NaN\n"},
		{"without end", INFINITY, "\ncede_watch_lag_seconds +Inf\n"},
	};
	struct metrics *m = metrics_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("  %s\n", rows[i].name);
		metrics_set(m, METRIC_WATCH_LAG, rows[i].value, NULL);
		assert_has(m, rows[i].line);
	}
	metrics_free(m);
}

static void CL_9_label_values_may_be_any_text(void **state)
{
	static const struct {
		const char *name, *value, *line;
	} rows[] = {
		{"a name", "root.ads", "\ncede_repeated_victims_total{queue=\"root.ads\"} 1\n"},
		{"nothing", "", "\ncede_repeated_victims_total{queue=\"\"} 1\n"},
		{"quotes, backslashes and line ends are escaped", "a\"b\\c\nd",
		 "\ncede_repeated_victims_total{queue=\"a\\\"b\\\\c\\nd\"} 1\n"},
		{"other alphabets stay", "\xc3\xa4", "\ncede_repeated_victims_total{queue=\"\xc3\xa4\"} 1\n"},
		{"bytes that are no text are made visible", "\xff", "{queue=\"\\\\xff\"} 1\n"},
	};
	struct metrics *m = metrics_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		print_message("  %s\n", rows[i].name);
		metrics_add(m, METRIC_REPEATED_VICTIMS, 1, METRIC_LABELS(rows[i].value));
		assert_has(m, rows[i].line);
	}
	metrics_free(m);
}

static void CL_9_a_histogram_counts_up_to_each_bound(void **state)
{
	struct metrics *m = metrics_new();

	metrics_observe(m, METRIC_PREEMPTION_VICTIMS, 1, NULL); /* on a bound: below it */
	metrics_observe(m, METRIC_PREEMPTION_VICTIMS, 3, NULL);
	metrics_observe_n(m, METRIC_PREEMPTION_VICTIMS, 1000, 1, NULL); /* beyond the last */
	assert_has(m, "# TYPE scheduler_preemption_victims histogram\n"
		      "scheduler_preemption_victims_bucket{le=\"1\"} 1\n"
		      "scheduler_preemption_victims_bucket{le=\"2\"} 1\n"
		      "scheduler_preemption_victims_bucket{le=\"4\"} 2\n"
		      "scheduler_preemption_victims_bucket{le=\"8\"} 2\n"
		      "scheduler_preemption_victims_bucket{le=\"16\"} 2\n"
		      "scheduler_preemption_victims_bucket{le=\"32\"} 2\n"
		      "scheduler_preemption_victims_bucket{le=\"64\"} 2\n"
		      "scheduler_preemption_victims_bucket{le=\"+Inf\"} 3\n"
		      "scheduler_preemption_victims_sum 1004\n"
		      "scheduler_preemption_victims_count 3\n");
	metrics_observe(m, METRIC_SCHEDULING_ATTEMPT_SECONDS, 0.003, METRIC_LABELS("scheduled", "default"));
	assert_has(m, "_seconds_bucket{result=\"scheduled\",profile=\"default\",le=\"0.002\"} 0\n");
	assert_has(m, "_seconds_bucket{result=\"scheduled\",profile=\"default\",le=\"0.004\"} 1\n");
	metrics_free(m);
}

static void CL_9_label_sets_come_in_the_order_of_their_bytes(void **state)
{
	struct metrics *m = metrics_new();

	metrics_add(m, METRIC_VICTIMS, 2, METRIC_LABELS("reclaim", "root.b"));
	metrics_add(m, METRIC_VICTIMS, 1, METRIC_LABELS("reclaim", "root.a"));
	metrics_add(m, METRIC_VICTIMS, 3, METRIC_LABELS("preempt", "root.c"));
	metrics_add(m, METRIC_VICTIMS, 1, METRIC_LABELS("reclaim", "root.a"));
	assert_has(m, "cede_victims_total{action=\"preempt\",queue=\"root.c\"} 3\n"
		      "cede_victims_total{action=\"reclaim\",queue=\"root.a\"} 2\n"
		      "cede_victims_total{action=\"reclaim\",queue=\"root.b\"} 2\n");
	metrics_free(m);
}

static void CL_9_names_that_somebody_makes_up_do_not_fill_the_memory(void **state)
{
	struct metrics *m = metrics_new();
	char name[32];

	for (int i = 0; i < METRICS_MAX_SERIES + 500; i++) {
		snprintf(name, sizeof(name), "q%d", i);
		metrics_add(m, METRIC_REPEATED_VICTIMS, 1, METRIC_LABELS(name));
	}
	assert_true(metrics_get(m, METRIC_REPEATED_VICTIMS, METRIC_LABELS("other")) == 500);
	assert_true(metrics_get(m, METRIC_REPEATED_VICTIMS, METRIC_LABELS("q0")) == 1);
	metrics_clear(m, METRIC_REPEATED_VICTIMS);
	assert_null(strstr(text_of(m), "cede_repeated_victims_total"));
	metrics_free(m);
}

static void CL_9_what_has_no_labels_is_there_from_the_start(void **state)
{
	struct metrics *m = metrics_new();

	assert_has(m, "\ncede_stuck_victims 0\n");
	assert_has(m, "cede_build_info{version=\"" CEDE_VERSION "\"} 1\n");
	metrics_read_process(m);
	assert_true(metrics_get(m, METRIC_PROCESS_RESIDENT, NULL) > 100000);
	assert_true(metrics_get(m, METRIC_PROCESS_THREADS, NULL) >= 1);
	assert_true(metrics_get(m, METRIC_PROCESS_FDS, NULL) >= 3);
	assert_true(metrics_get(m, METRIC_PROCESS_START, NULL) > 1.7e9);
	metrics_add(NULL, METRIC_WATCH_EVENTS, 1, NULL); /* nobody counts */
	metrics_free(m);
}

static void *count_much(void *m)
{
	for (int i = 0; i < 20000; i++) {
		metrics_add(m, METRIC_DECISIONS, 1, METRIC_LABELS(i % 2 ? "placed" : "waiting", "none"));
		metrics_observe(m, METRIC_WRITE_SECONDS, 0.5, METRIC_LABELS("bind"));
	}
	return NULL;
}

static void CL_9_threads_lose_nothing(void **state)
{
	struct metrics *m = metrics_new();
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, count_much, m), 0);
	for (int i = 0; i < 100; i++)
		text_of(m);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	assert_true(metrics_get(m, METRIC_DECISIONS, METRIC_LABELS("placed", "none")) == 40000);
	assert_true(metrics_get(m, METRIC_WRITE_SECONDS, METRIC_LABELS("bind")) == 80000);
	metrics_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_9_numbers_are_written_as_prometheus_reads_them),
		cmocka_unit_test(CL_9_label_values_may_be_any_text),
		cmocka_unit_test(CL_9_a_histogram_counts_up_to_each_bound),
		cmocka_unit_test(CL_9_label_sets_come_in_the_order_of_their_bytes),
		cmocka_unit_test(CL_9_names_that_somebody_makes_up_do_not_fill_the_memory),
		cmocka_unit_test(CL_9_what_has_no_labels_is_there_from_the_start),
		cmocka_unit_test(CL_9_threads_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
