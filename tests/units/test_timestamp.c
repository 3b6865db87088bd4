/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "rng.h"
#include "units/timestamp.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define S INT64_C(1000000000)

static int64_t must_parse(const char *s)
{
	int64_t ns = 0;
	struct err e = {0};
	if (timestamp_parse(s, strlen(s), &ns, &e) != ERR_OK)
		fail_msg("%s: %s", s, e.msg);
	return ns;
}

static void reads_and_prints(void **state)
{
	static const struct {
		const char *story, *in;
		int64_t ns;
		const char *out; /* NULL: as it was written */
	} rows[] = {
		{"the beginning", "1970-01-01T00:00:00Z", 0, NULL},
		{"one nanosecond before", "1969-12-31T23:59:59.999999999Z", -1, NULL},
		{"an ordinary moment", "2026-11-15T12:03:10Z", 1794744190 * S, NULL},
		{"a fraction", "2026-11-15T12:03:10.5Z", 1794744190 * S + S / 2, NULL},
		{"nine digits", "2026-11-15T12:03:10.000000001Z", 1794744190 * S + 1, NULL},
		{"trailing zeros go", "2026-11-15T12:03:10.1200Z", 1794744190 * S + S / 25 * 3,
		 "2026-11-15T12:03:10.12Z"},
		{"a fraction of zero goes", "2026-11-15T12:03:10.000Z", 1794744190 * S, "2026-11-15T12:03:10Z"},
		{"more than nine digits are cut", "2026-11-15T12:03:10.9999999999999Z", 1794744190 * S + S - 1,
		 "2026-11-15T12:03:10.999999999Z"},
		{"east of Greenwich", "2026-11-15T14:03:10+02:00", 1794744190 * S, "2026-11-15T12:03:10Z"},
		{"west of it, into the next day", "2026-11-14T23:33:10-12:30", 1794744190 * S, "2026-11-15T12:03:10Z"},
		{"an offset of zero", "2026-11-15T12:03:10-00:00", 1794744190 * S, "2026-11-15T12:03:10Z"},
		{"the largest offset", "2026-11-16T12:02:10+23:59", 1794744190 * S, "2026-11-15T12:03:10Z"},
		{"a leap day", "2024-02-29T00:00:00Z", 1709164800 * S, NULL},
		{"a leap day at the turn of a century", "2000-02-29T23:59:59Z", 951868799 * S, NULL},
		{"the day after none", "1900-03-01T00:00:00Z", -2203891200 * S, NULL},
		{"the last day of a leap year", "2024-12-31T23:59:59Z", 1735689599 * S, NULL},
		{"the first day of the year after", "2025-01-01T00:00:00Z", 1735689600 * S, NULL},
		{"the last moment", "2262-04-11T23:47:16.854775807Z", INT64_MAX, NULL},
		{"the first moment", "1677-09-21T00:12:43.145224193Z", TIME_FIRST, NULL},
		{"an offset that leads back in", "2262-04-12T01:47:16.854775807+02:00", INT64_MAX,
		 "2262-04-11T23:47:16.854775807Z"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text t = {0};
		int64_t ns = must_parse(rows[i].in);
		timestamp_text(rows[i].ns, &t);
		const char *want = rows[i].out != NULL ? rows[i].out : rows[i].in;
		if (ns != rows[i].ns || strcmp(text_str(&t), want) != 0)
			fail_msg("%s: %lld, %s", rows[i].story, (long long)ns, text_str(&t));
		text_free(&t);
	}
}

static void refuses_what_is_no_time(void **state)
{
	static const struct {
		const char *story, *in;
		enum err_code code;
		const char *why;
	} rows[] = {
		{"nothing", "", ERR_INPUT, "expected a date"},
		{"a date alone", "2026-11-15", ERR_INPUT, "expected T"},
		{"a year of three digits", "926-11-15T12:03:10Z", ERR_INPUT, "expected a date"},
		{"a year of five digits", "12026-11-15T12:03:10Z", ERR_INPUT, "expected a date"},
		{"a month of one digit", "2026-1-15T12:03:10Z", ERR_INPUT, "expected a date"},
		{"month zero", "2026-00-15T12:03:10Z", ERR_INPUT, "no such month"},
		{"month thirteen", "2026-13-15T12:03:10Z", ERR_INPUT, "no such month"},
		{"day zero", "2026-11-00T12:03:10Z", ERR_INPUT, "no such day"},
		{"the 31st of a short month", "2026-11-31T12:03:10Z", ERR_INPUT, "no such day"},
		{"a leap day in a common year", "2026-02-29T12:03:10Z", ERR_INPUT, "no such day"},
		{"a leap day in a century year", "1900-02-29T12:03:10Z", ERR_INPUT, "no such day"},
		{"slashes", "2026/11/15T12:03:10Z", ERR_INPUT, "expected a date"},
		{"a small t", "2026-11-15t12:03:10Z", ERR_INPUT, "expected T"},
		{"a blank for the T", "2026-11-15 12:03:10Z", ERR_INPUT, "expected T"},
		{"an hour of one digit", "2026-11-15T2:03:10Z", ERR_INPUT, "expected a time of day"},
		{"no seconds", "2026-11-15T12:03Z", ERR_INPUT, "expected a time of day"},
		{"hour 24", "2026-11-15T24:00:00Z", ERR_INPUT, "no such time of day"},
		{"minute 60", "2026-11-15T12:60:00Z", ERR_INPUT, "no such time of day"},
		{"a leap second", "2016-12-31T23:59:60Z", ERR_INPUT, "no such time of day"},
		{"an empty fraction", "2026-11-15T12:03:10.Z", ERR_INPUT, "expected digits after the point"},
		{"a comma for the point", "2026-11-15T12:03:10,5Z", ERR_INPUT, "expected Z or an offset"},
		{"no zone", "2026-11-15T12:03:10", ERR_INPUT, "expected Z or an offset"},
		{"a small z", "2026-11-15T12:03:10z", ERR_INPUT, "expected Z or an offset"},
		{"an offset without minutes", "2026-11-15T12:03:10+02", ERR_INPUT, "expected Z or an offset"},
		{"an offset without colon", "2026-11-15T12:03:10+0200", ERR_INPUT, "expected Z or an offset"},
		{"an offset of a day", "2026-11-15T12:03:10+24:00", ERR_INPUT, "expected Z or an offset"},
		{"an offset with sixty minutes", "2026-11-15T12:03:10-02:60", ERR_INPUT, "expected Z or an offset"},
		{"something after it", "2026-11-15T12:03:10Z ", ERR_INPUT, "expected Z or an offset"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ns = 4711;
		struct err e = {0};
		enum err_code code = timestamp_parse(rows[i].in, strlen(rows[i].in), &ns, &e);
		if (code != rows[i].code || ns != 4711 || strstr(e.msg, rows[i].why) == NULL ||
		    strstr(e.msg, rows[i].in) == NULL)
			fail_msg("%s: code %d, %s", rows[i].story, code, e.msg);
		assert_int_equal(timestamp_parse(rows[i].in, strlen(rows[i].in), &ns, NULL), rows[i].code);
	}
}

static void times_that_do_not_fit_are_the_first_and_the_last(void **state)
{
	static const struct {
		const char *story, *in;
		int64_t ns;
	} rows[] = {
		{"just too late", "2262-04-11T23:47:16.854775808Z", TIME_LAST},
		{"the last year", "9999-12-31T23:59:59Z", TIME_LAST},
		{"just too early", "1677-09-21T00:12:43.145224191Z", TIME_FIRST},
		{"what stands for no time", "1677-09-21T00:12:43.145224192Z", TIME_FIRST},
		{"the first year", "0001-01-01T00:00:00Z", TIME_FIRST},
	};
	for (size_t i = 0; i < COUNT(rows); i++)
		if (must_parse(rows[i].in) != rows[i].ns)
			fail_msg("%s", rows[i].story);
}

static void refuses_every_cut(void **state)
{
	static const char whole[] = "2026-11-15T12:03:10.25+02:00";
	int64_t ns = 4711;
	for (size_t len = 0; len < sizeof(whole) - 1; len++)
		assert_int_equal(timestamp_parse(whole, len, &ns, NULL), ERR_INPUT);
	assert_int_equal(ns, 4711);
}

static void every_text_reads_back_the_same(void **state)
{
	struct rng r = {40};
	for (int i = 0; i < 50000; i++) {
		struct text t = {0};
		int64_t ns = (int64_t)rng_next(&r);
		if (i % 2)
			ns -= ns % S;
		timestamp_text(ns, &t);
		if (must_parse(text_str(&t)) != ns)
			fail_msg("%lld became %s", (long long)ns, text_str(&t));
		text_free(&t);
	}
}

/* Counting days one by one with the calendar in the hand, through every leap rule. */
static void every_day_follows_the_one_before(void **state)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int64_t ns = must_parse("1678-01-01T00:00:00Z");
	for (int year = 1678; year < 2262; year++) {
		bool is_leap = year % 400 == 0 || (year % 100 != 0 && year % 4 == 0);
		for (int month = 1; month <= 12; month++) {
			for (int day = 1; day <= days[month - 1] + (month == 2 && is_leap); day++, ns += 86400 * S) {
				struct text got = {0}, want = {0};
				timestamp_text(ns, &got);
				text_printf(&want, "%04d-%02d-%02dT00:00:00Z", year, month, day);
				assert_string_equal(text_str(&got), text_str(&want));
				assert_int_equal(must_parse(text_str(&want)), ns);
				text_free(&got);
				text_free(&want);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_prints),
		cmocka_unit_test(refuses_what_is_no_time),
		cmocka_unit_test(times_that_do_not_fit_are_the_first_and_the_last),
		cmocka_unit_test(refuses_every_cut),
		cmocka_unit_test(every_text_reads_back_the_same),
		cmocka_unit_test(every_day_follows_the_one_before),
	};
	return cmocka_run_group_tests_name("timestamp", tests, NULL, NULL);
}
