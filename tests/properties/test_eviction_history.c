/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that remember: thrash (work evicted again and again) and eviction-rate (what a queue loses within an hour). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "properties/story.h"
#include "rules/judge.h"

#define MINUTE_NS (60 * NS_PER_S)

/* Two queues: prod is short of its guarantee, test has four pods of one workload on two nodes. */
static void prod_and_test(struct story *s, const char *config)
{
	story_begin(s);
	s->config = config;
	story_queue(s, "root.prod", "guaranteed 4 delay 1s");
	story_queue(s, "root.test", "delay 1s");
	story_node(s, "n1", 2);
	story_node(s, "n2", 2);
	story_pod(s, "a", "root.test", 1, "n1", "age 100");
	story_pod(s, "b", "root.test", 1, "n1", "age 100");
	story_pod(s, "c", "root.test", 1, "n2", "age 5000");
	story_pod(s, "d", "root.test", 1, "n2", "age 5000");
}

static void evicted(struct eviction_history *p, const char *workload, int64_t minutes_ago)
{
	eviction_history_add(p, STORY_NOW_NS - minutes_ago * MINUTE_NS, workload, "root.test");
}

static void expect(struct story *s, struct eviction_history *p, const char *sentence, const char *want)
{
	struct text line = {0};

	s->eviction_history = p;
	story_plan(s);
	story_line(s, &line);
	if (!str_eq(text_str(&line), want))
		fail_msg("%s: expected \"%s\", found \"%s\"", sentence, want, text_str(&line));
	text_free(&line);
}

static void expect_why(const struct story *s, const char *pod, const char *want)
{
	struct text t = {0};

	for (uint32_t i = 0; i < s->plan.v.v[0].n_protected; i++) {
		const struct protected_pod *x = &s->plan.v.v[0].protected[i];

		if (!str_eq(story_name(s, x->pod), pod))
			continue;
		text_printf(&t, "%s: ", rule_verdict_name(&x->verdict));
		rule_verdict_text(s->cluster, &x->verdict, &t);
	}
	if (!str_eq(text_str(&t), want))
		fail_msg("%s: expected \"%s\", found \"%s\"", pod, want, text_str(&t));
	text_free(&t);
}

static void end(struct story *s, struct eviction_history *p)
{
	eviction_history_free(p);
	story_end(s);
}

static void begin(struct story *s, struct eviction_history *p, const char *config)
{
	prod_and_test(s, config);
	story_pod(s, "want", "root.prod", 1, NULL, "age 60");
	story_load(s);
	eviction_history_init(p, vocab_names(s->vocab));
}

/* One node, taken by "a", and somebody who is short of his guarantee. */
static void only_a_could_go(struct story *s, struct eviction_history *p, const char *config)
{
	story_begin(s);
	s->config = config;
	story_queue(s, "root.prod", "guaranteed 4 delay 1s");
	story_queue(s, "root.test", "delay 1s");
	story_node(s, "n1", 1);
	story_pod(s, "a", "root.test", 1, "n1", "age 100");
	story_pod(s, "want", "root.prod", 1, NULL, "age 60");
	story_load(s);
	eviction_history_init(p, vocab_names(s->vocab));
}

static void work_evicted_before_is_spared_as_long_as_anything_else_works(void **state)
{
	struct story s;
	struct eviction_history p;

	begin(&s, &p, NULL);
	expect(&s, &p, "nobody was evicted: the youngest goes", "want reclaim n1 [b]");
	end(&s, &p);

	begin(&s, &p, NULL);
	evicted(&p, "d/a", 50);
	evicted(&p, "d/b", 40);
	evicted(&p, "d/a", 30);
	evicted(&p, "d/b", 20);
	expect(&s, &p, "the two young ones were evicted twice: an old one goes", "want reclaim n2 [d]");
	end(&s, &p);

	begin(&s, &p, "rules: {thrash: {soft: 3}}");
	evicted(&p, "d/a", 50);
	evicted(&p, "d/b", 40);
	evicted(&p, "d/a", 30);
	evicted(&p, "d/b", 20);
	expect(&s, &p, "twice is not enough if it is configured so", "want reclaim n1 [b]");
	end(&s, &p);

	begin(&s, &p, NULL);
	for (int i = 0; i < 2; i++)
		for (const char *u = "abcd"; *u != '\0'; u++) {
			char name[8];

			snprintf(name, sizeof(name), "d/%c", *u);
			evicted(&p, name, 50 - i);
		}
	expect(&s, &p, "all were: then the youngest goes all the same", "want reclaim n1 [b]");
	assert_int_equal(s.plan.v.v[0].victims[0].overridden, RULE_THRASH);
	end(&s, &p);
}

static void from_the_fourth_time_on_work_is_protected_for_twice_as_long_each_time(void **state)
{
	static const struct {
		const char *sentence;
		int times;
		int64_t minutes_ago; /* the last */
		const char *want, *why;
	} rows[] = {
		{"4 times, 9 minutes ago: protected for ten", 4, 9, "want waiting",
		 "thrash: it was evicted 4 times within 6h and is left alone until 2027-01-15T08:01:00Z"},
		{"4 times, 10 minutes ago: it may go, as the last resort", 4, 10, "want reclaim n1 [a]", ""},
		{"5 times, 15 minutes ago: protected for twenty", 5, 15, "want waiting",
		 "thrash: it was evicted 5 times within 6h and is left alone until 2027-01-15T08:05:00Z"},
		{"5 times, 20 minutes ago", 5, 20, "want reclaim n1 [a]", ""},
		{"4 times, but 7 hours ago: forgotten", 4, 420, "want reclaim n1 [a]", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct story s;
		struct eviction_history p;

		only_a_could_go(&s, &p, NULL);
		for (int k = rows[i].times; k-- > 0;)
			evicted(&p, "d/a", rows[i].minutes_ago + k);
		expect(&s, &p, rows[i].sentence, rows[i].want);
		if (*rows[i].why != '\0')
			expect_why(&s, "a", rows[i].why);
		end(&s, &p);
	}
}

/* "a" was evicted five times, the last a minute ago: that protects for twenty minutes, four for ten, three do not. */
static void protection_ends_when_the_evictions_behind_it_leave_the_window(void **state)
{
	static const struct {
		const char *sentence, *config, *why;
	} rows[] = {
		{"all stay in the window", "rules: {thrash: {window: 6h}}",
		 "thrash: it was evicted 5 times within 6h and is left alone until 2027-01-15T08:19:00Z"},
		{"three are left after six minutes", "rules: {thrash: {window: 10m}}",
		 "thrash: it was evicted 5 times within 10m and is left alone until 2027-01-15T08:06:00Z"},
		{"four are left before their ten minutes are over", "rules: {thrash: {window: 14m}}",
		 "thrash: it was evicted 5 times within 14m and is left alone until 2027-01-15T08:09:00Z"},
		{"four are left when their ten minutes are over", "rules: {thrash: {window: 20m}}",
		 "thrash: it was evicted 5 times within 20m and is left alone until 2027-01-15T08:15:00Z"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct story s;
		struct eviction_history p;

		only_a_could_go(&s, &p, rows[i].config);
		for (int k = 5; k > 0; k--)
			evicted(&p, "d/a", k);
		expect(&s, &p, rows[i].sentence, "want waiting");
		expect_why(&s, "a", rows[i].why);
		end(&s, &p);
	}
}

/* "a" was evicted so often, a minute apart, the last time so long ago; it is the only one that could go. */
static void each_setting_of_the_rule_counts(void **state)
{
	static const struct {
		const char *sentence, *config;
		int times;
		int64_t minutes_ago; /* the last */
		const char *want;
	} rows[] = {
		{"twice is not often", NULL, 2, 5, "want reclaim n1 [a]"},
		{"unless it is said to be", "rules: {thrash: {hard: 2}}", 2, 5, "want waiting"},
		{"never too often", "rules: {thrash: {hard: 0}}", 9, 5, "want reclaim n1 [a]"},
		{"protected for ten minutes", NULL, 4, 20, "want reclaim n1 [a]"},
		{"protected for an hour", "rules: {thrash: {protection: 1h}}", 4, 20, "want waiting"},
		{"all within six hours", NULL, 4, 8, "want waiting"},
		{"only two within ten minutes", "rules: {thrash: {window: 10m}}", 4, 8, "want reclaim n1 [a]"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct story s;
		struct eviction_history p;

		only_a_could_go(&s, &p, rows[i].config);
		for (int k = rows[i].times; k-- > 0;)
			evicted(&p, "d/a", rows[i].minutes_ago + k);
		expect(&s, &p, rows[i].sentence, rows[i].want);
		end(&s, &p);
	}
}

static void a_queue_loses_no_more_than_its_allowance_within_an_hour(void **state)
{
	static const char config[] = "rules: {eviction-rate: {perHour: 3}}";
	struct story s;
	struct eviction_history p;

	begin(&s, &p, config);
	evicted(&p, "d/x", 59);
	evicted(&p, "d/y", 30);
	expect(&s, &p, "two within the hour: one more may go", "want reclaim n1 [b]");
	end(&s, &p);

	begin(&s, &p, config);
	evicted(&p, "d/x", 61);
	evicted(&p, "d/y", 30);
	evicted(&p, "d/z", 20);
	evicted(&p, "d/z", 10);
	expect(&s, &p, "three within the hour", "want waiting");
	expect_why(&s, "a",
		   "eviction-rate: root.test lost 3 pods within an hour and may lose 3; again at 2027-01-15T08:30:00Z");
	end(&s, &p);
}

static void one_decision_and_one_cycle_keep_the_allowance_too(void **state)
{
	struct story s;
	struct eviction_history p;

	prod_and_test(&s, "rules: {eviction-rate: {perHour: 1}}");
	story_pod(&s, "big", "root.prod", 2, NULL, "age 60");
	story_load(&s);
	eviction_history_init(&p, vocab_names(s.vocab));
	expect(&s, &p, "it would take two", "big waiting");
	end(&s, &p);

	prod_and_test(&s, "rules: {eviction-rate: {perHour: 2}}");
	story_pod(&s, "one", "root.prod", 1, NULL, "age 63");
	story_pod(&s, "two", "root.prod", 1, NULL, "age 62");
	story_pod(&s, "three", "root.prod", 1, NULL, "age 61");
	story_load(&s);
	eviction_history_init(&p, vocab_names(s.vocab));
	expect(&s, &p, "two may, the third may not", "one reclaim n1 [b]; two reclaim n1 [a]; three waiting");
	end(&s, &p);
}

static void the_allowance_is_one_over_all_cycles_of_a_plan(void **state)
{
	struct story s;
	struct eviction_history p;

	prod_and_test(&s, "rules: {eviction-rate: {perHour: 1}}");
	story_pod(&s, "one", "root.prod", 1, NULL, "age 63");
	story_pod(&s, "two", "root.prod", 1, NULL, "age 62");
	s.cycles = 3;
	story_load(&s);
	eviction_history_init(&p, vocab_names(s.vocab));
	expect(&s, &p, "who is gone after the first cycle counts in the others",
	       "one reclaim n1 [b]; two waiting; one placed n1; two waiting; two waiting");
	end(&s, &p);

	prod_and_test(&s, "rules: {eviction-rate: {perHour: 2}}");
	story_pod(&s, "one", "root.prod", 1, NULL, "age 63");
	story_pod(&s, "two", "root.prod", 1, NULL, "age 62");
	s.cycles = 2;
	story_load(&s);
	eviction_history_init(&p, vocab_names(s.vocab));
	evicted(&p, "d/z", 30);
	expect(&s, &p, "with what was before the plan", "one reclaim n1 [b]; two waiting; one placed n1; two waiting");
	end(&s, &p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(work_evicted_before_is_spared_as_long_as_anything_else_works),
		cmocka_unit_test(from_the_fourth_time_on_work_is_protected_for_twice_as_long_each_time),
		cmocka_unit_test(protection_ends_when_the_evictions_behind_it_leave_the_window),
		cmocka_unit_test(each_setting_of_the_rule_counts),
		cmocka_unit_test(a_queue_loses_no_more_than_its_allowance_within_an_hour),
		cmocka_unit_test(one_decision_and_one_cycle_keep_the_allowance_too),
		cmocka_unit_test(the_allowance_is_one_over_all_cycles_of_a_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
