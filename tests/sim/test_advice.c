/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SI-4 and SI-5: differences have a direction only where every seed agrees, and advice is withheld where nothing
 * tells.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/advice.h"
#include "sim/comparison.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
enum { SEEDS = 3, VALUES = 3 };

/* Evictions, lost work, waiting of the highest priority, below guarantee; by value and seed. */
typedef double advice_rows[VALUES][SEEDS][ADVICE_FIGURES];

struct tried {
	struct figures runs[VALUES][SEEDS];
	struct advice_point points[VALUES];
	struct advice a;
};

static void judge(struct tried *t, const advice_rows rows, uint64_t starts)
{
	static const char *const values[VALUES] = {"0s", "10m", "1h"};

	*t = (struct tried){.a = {.setting = "queue.root.reclaimMinRuntime",
				  .load = "a load",
				  .first_seed = 1,
				  .n_seeds = SEEDS,
				  .n_points = VALUES,
				  .points = t->points}};
	for (int p = 0; p < VALUES; p++) {
		t->points[p] = (struct advice_point){.value = values[p], .runs = t->runs[p]};
		for (int s = 0; s < SEEDS; s++) {
			t->runs[p][s].starts = starts;
			t->runs[p][s].has_high = true;
			t->runs[p][s].high_priority = 100;
			for (int f = 0; f < ADVICE_FIGURES; f++)
				t->runs[p][s].total[advice_figures[f]] = rows[p][s][f];
		}
	}
	advice_judge(&t->a);
}

#define SAME3(...)                                           \
	{                                                    \
		{__VA_ARGS__}, {__VA_ARGS__}, {__VA_ARGS__}, \
	}

static void SI_5_advice_is_given_or_withheld(void **state)
{
	static const struct {
		const char *story;
		uint64_t starts;
		enum advice_verdict verdict;
		const char *best; /* NULL: none */
		const char *dominated[VALUES];
		const char *sentence;
		advice_rows rows;
	} rows[] = {
		{"a value that is best in everything is taken, and the others are dominated",
		 1000,
		 ADVICE_GIVEN,
		 "10m",
		 {"yes", "no", "yes"},
		 "Take 10m: no other value is better in anything; against 0s: evictions -50 %, lost work -20 %, "
		 "waiting of "
		 "priority 100 (p95) the same, below guarantee -50 %. It is the best under 3 of 3 seeds: sure.",
		 {SAME3(100, 36000, 60, 100), SAME3(50, 28800, 60, 50), SAME3(60, 30000, 60, 60)}},
		{"between fewer evictions and less lost work stands a balance",
		 1000,
		 ADVICE_GIVEN,
		 "10m",
		 {"no", "no", "no"},
		 "Take 10m: the best balance; against 0s: evictions -80 %, lost work +10 %, waiting of priority 100 "
		 "(p95) the "
		 "same, below guarantee the same. It is the best under 3 of 3 seeds: sure.",
		 {SAME3(1000, 1000, 60, 0), SAME3(200, 1100, 60, 0), SAME3(100, 2000, 60, 0)}},
		{"where nothing changes there is nothing to say",
		 1000,
		 ADVICE_NO_EFFECT,
		 NULL,
		 {"no", "no", "no"},
		 "No advice: on this load queue.root.reclaimMinRuntime makes no difference; none of the four figures "
		 "changes by "
		 "a hundredth between the values.",
		 {SAME3(100, 1000, 60, 5), SAME3(100, 1000, 60, 5), SAME3(100, 1000, 60, 5)}},
		{"less than a hundredth is nothing",
		 1000,
		 ADVICE_NO_EFFECT,
		 NULL,
		 {"yes", "yes", "no"},
		 NULL,
		 {SAME3(1009, 1000, 60, 5), SAME3(1005, 1000, 60, 5), SAME3(1000, 1000, 60, 5)}},
		{"a load without evictions tells nothing",
		 1000,
		 ADVICE_THIN,
		 NULL,
		 {"yes", "no", "yes"},
		 "No advice: the load is too thin to tell; at most 9 evictions in a run.",
		 {SAME3(9, 1000, 60, 0), SAME3(3, 500, 60, 0), SAME3(9, 1000, 60, 0)}},
		{"nor does one of a few pods",
		 49,
		 ADVICE_THIN,
		 NULL,
		 {"yes", "no", "yes"},
		 NULL,
		 {SAME3(90, 1000, 60, 50), SAME3(30, 500, 60, 20), SAME3(90, 1000, 60, 50)}},
		{"seeds that disagree make no advice",
		 1000,
		 ADVICE_CHANCE,
		 NULL,
		 {"yes", "no", "yes"},
		 "No advice: the figures change with queue.root.reclaimMinRuntime, but one way under one seed and the "
		 "other "
		 "way under another; more seeds (--seeds) may tell.",
		 {{{100, 100, 1, 1}, {200, 100, 1, 1}, {100, 100, 1, 1}},
		  {{120, 100, 1, 1}, {100, 100, 1, 1}, {110, 100, 1, 1}},
		  {{130, 100, 1, 1}, {130, 100, 1, 1}, {130, 100, 1, 1}}}},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tried t;
		struct text said = {0};

		judge(&t, rows[i].rows, rows[i].starts);
		advice_sentence(&t.a, &said);
		if (t.a.verdict != rows[i].verdict)
			fail_msg("%s: verdict %d", rows[i].story, t.a.verdict);
		if (rows[i].best && !str_eq(t.points[t.a.best].value, rows[i].best))
			fail_msg("%s: %s", rows[i].story, t.points[t.a.best].value);
		for (int p = 0; p < VALUES; p++)
			if (t.points[p].is_dominated != str_eq(rows[i].dominated[p], "yes"))
				fail_msg("%s: %s is dominated: %d", rows[i].story, t.points[p].value,
					 t.points[p].is_dominated);
		if (rows[i].sentence && !str_eq(text_str(&said), rows[i].sentence))
			fail_msg("%s: %s", rows[i].story, text_str(&said));
		text_free(&said);
	}
}

static void SI_5_how_sure_it_is_depends_on_the_seeds(void **state)
{
	static const advice_rows two_of_three = {
		{{1000, 1000, 1, 1}, {1000, 1000, 1, 1}, {1000, 1000, 1, 1}},
		{{400, 1100, 1, 1}, {400, 1100, 1, 1}, {950, 1900, 1, 1}},
		{{100, 2000, 1, 1}, {100, 2000, 1, 1}, {100, 1950, 1, 1}},
	};
	struct tried t;
	struct text said = {0};

	judge(&t, two_of_three, 1000);
	advice_sentence(&t.a, &said);
	assert_int_equal(t.a.n_agree, 2);
	assert_non_null(strstr(text_str(&said), "It is the best under 2 of 3 seeds: fairly sure."));
	text_free(&said);
}

static void SI_5_advice_reads_well(void **state)
{
	static const advice_rows rows = {
		{{1000, 36000, 1, 60}, {1100, 36000, 1, 60}, {1200, 36000, 1, 60}},
		SAME3(400, 39600, 1, 60),
		SAME3(400, 72000, 1, 60),
	};
	static const char *const notes[] = {"priority (assigned): by chance"};
	struct look look = {0};
	struct tried t;
	struct text out = {0};

	judge(&t, rows, 1000);
	t.a.notes = notes;
	t.a.n_notes = 1;
	advice_text(&t.a, &look, &out);
	assert_string_equal(
		text_str(&out),
		"queue.root.reclaimMinRuntime on a load: 3 values, 3 seeds each\n\n"
		"VALUE               EVICTIONS  LOST WORK  WAITING OF PRIORITY 100 (P95)  BELOW GUARANTEE\n"
		"0s     1,100 (1,000 to 1,200)       10 h                           1.0s               1m\n"
		"10m                       400       11 h                           1.0s               1m  "
		"recommended\n"
		"1h                        400       20 h                           1.0s               1m  dominated\n"
		"\nTake 10m: the best balance; against 0s: evictions -64 %, lost work +10 %, waiting of priority 100 "
		"(p95) the same, below guarantee the same. It is the best under 3 of 3 seeds: sure.\n"
		"\nBy rule:\n  priority (assigned): by chance\n");
	text_free(&out);
}

/* ---- comparison ---- */

static void SI_4_comparisons_read_well(void **state)
{
	struct figures a = {.has_guarantees = true}, b = {0};
	struct comparison_side sides[] = {
		{.name = "A", .what = "a.yaml", .profile = "default", .runs = &a},
		{.name = "B",
		 .what = "kubernetes",
		 .profile = "kubernetes",
		 .runs = &b,
		 .part = {.differs = true, .decision = 7, .mine = (char *)"it waits", .first = (char *)"it runs"}},
	};
	struct comparison c = {.load = "a load", .n_seeds = 1, .n_sides = 2, .sides = sides};
	struct look look = {0};
	struct text out = {0};

	a.total[FIGURE_EVICTIONS] = 200;
	b.total[FIGURE_EVICTIONS] = 150;
	a.total[FIGURE_BELOW] = 60;
	comparison_text(&c, &look, false, &out);
	assert_non_null(strstr(text_str(&out),
			       "a load, 1 seed\n  A: a.yaml (profile default)\n  B: kubernetes (profile "
			       "kubernetes)\n\nB AGAINST A\n"));
	assert_non_null(strstr(text_str(&out), "  -50 (-25 %)  better\n"));
	assert_non_null(strstr(text_str(&out), "not comparable: one of them knows no queues with guarantees"));
	assert_non_null(strstr(text_str(&out),
			       "They part at decision 7, 1970-01-01T00:00:00Z:\n  A: it runs\n  B: it waits\n"));
	text_free(&out);
}

static void SI_4_differences_have_a_direction_where_every_seed_agrees(void **state)
{
	static const struct {
		const char *story;
		enum figure figure;
		double was[SEEDS], is[SEEDS];
		enum difference_way way;
		double by;
	} rows[] = {
		{"fewer evictions are better", FIGURE_EVICTIONS, {10, 12, 14}, {5, 6, 7}, WAY_BETTER, -6},
		{"more are worse", FIGURE_EVICTIONS, {5, 6, 7}, {10, 12, 14}, WAY_WORSE, 6},
		{"more finished pods are better", FIGURE_FINISHED, {5, 6, 7}, {10, 12, 14}, WAY_BETTER, 6},
		{"one seed that says the contrary makes it mixed",
		 FIGURE_LOST,
		 {10, 10, 10},
		 {5, 5, 11},
		 WAY_MIXED,
		 -3},
		{"one that says nothing does not", FIGURE_LOST, {10, 10, 10}, {4, 10, 10}, WAY_BETTER, -2},
		{"equal is the same", FIGURE_LOST, {10, 10, 10}, {10, 10, 10}, WAY_SAME, 0},
		{"equal means of unequal runs are not", FIGURE_LOST, {10, 10, 10}, {9, 10, 11}, WAY_MIXED, 0},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct figures a[SEEDS] = {0}, b[SEEDS] = {0};
		struct comparison_side sides[] = {{.name = "A", .runs = a}, {.name = "B", .runs = b}};
		struct comparison c = {.n_seeds = SEEDS, .n_sides = 2, .sides = sides};
		struct difference d;

		for (int s = 0; s < SEEDS; s++) {
			struct figures_queue q = {.path = mem_strdup("root.a")};

			a[s].total[rows[i].figure] = rows[i].was[s];
			b[s].total[rows[i].figure] = q.v[rows[i].figure] = rows[i].is[s];
			array_push(&b[s].queues, q);
		}
		d = comparison_difference(&c, 1, NULL, rows[i].figure);
		if (d.way != rows[i].way || d.by.mean < rows[i].by - 1e-9 || d.by.mean > rows[i].by + 1e-9)
			fail_msg("%s: %s %g", rows[i].story, difference_way_words[d.way], d.by.mean);
		/* A queue that only one side knows counts as nothing on the other. */
		d = comparison_difference(&c, 1, "root.a", rows[i].figure);
		assert_true(d.was.max == 0 && d.is.max > 0);
		for (int s = 0; s < SEEDS; s++)
			figures_free(&b[s]);
	}
}

static void SI_figures_pass_between_processes(void **state)
{
	struct figures f = {.starts = 7, .has_high = true, .high_priority = -3, .digest = 99, .from_ns = 5, .to_ns = 6},
		       g;
	FILE *file = tmpfile();

	assert_non_null(file);
	f.total[FIGURE_LOST] = 1.5;
	array_push(&f.queues, ((struct figures_queue){.path = mem_strdup("root.<b>"), .v = {[FIGURE_USE] = 0.25}}));
	assert_true(figures_write(&f, file));
	rewind(file);
	assert_true(figures_read(&g, file));
	assert_true(g.starts == 7 && g.high_priority == -3 && g.digest == 99 && g.total[FIGURE_LOST] == 1.5);
	assert_true(g.queues.n == 1 && str_eq(g.queues.v[0].path, "root.<b>") && g.queues.v[0].v[FIGURE_USE] == 0.25);
	figures_free(&g);
	assert_false(figures_read(&g, file));
	rewind(file);
	assert_int_equal(ftruncate(fileno(file), 150), 0);
	assert_false(figures_read(&g, file));
	fclose(file);
	figures_free(&f);
}

static void SI_figures_read_well(void **state)
{
	static const struct {
		enum figure_unit unit;
		double v;
		const char *text, *change;
	} rows[] = {
		{UNIT_COUNT, 5213, "5,213", "+5,213"},
		{UNIT_COUNT, 999, "999", "+999"},
		{UNIT_COUNT, 1000000, "1,000,000", "+1,000,000"},
		{UNIT_TIME, 7800, "2h10m", "+2h10m"},
		{UNIT_TIME, 1.25, "1.2s", "+1.2s"},
		{UNIT_TIME, 0, "0s", "0s"},
		{UNIT_POD_TIME, 5400, "1.5 h", "+1.5 h"},
		{UNIT_POD_TIME, 36e6, "10,000 h", "+10,000 h"},
		{UNIT_PART, 0.834, "83.4 %", "+83.4 %"},
		{UNIT_PART, 0.0004, "0.0 %", "0.0 %"},
		{UNIT_COUNT, 0.3, "0", "0"},
		{UNIT_INDEX, 0.9412, "0.941", "+0.941"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text t = {0}, c = {0};

		figure_text(rows[i].unit, rows[i].v, &t);
		figure_change_text(rows[i].unit, rows[i].v, &c);
		assert_string_equal(text_str(&t), rows[i].text);
		assert_string_equal(text_str(&c), rows[i].change);
		text_free(&t);
		text_free(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(SI_5_advice_is_given_or_withheld),
		cmocka_unit_test(SI_5_how_sure_it_is_depends_on_the_seeds),
		cmocka_unit_test(SI_5_advice_reads_well),
		cmocka_unit_test(SI_4_comparisons_read_well),
		cmocka_unit_test(SI_4_differences_have_a_direction_where_every_seed_agrees),
		cmocka_unit_test(SI_figures_pass_between_processes),
		cmocka_unit_test(SI_figures_read_well),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
