/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"
#include "units/duration.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

#define MS INT64_C(1000000)
#define S (1000 * MS)
#define M (60 * S)
#define H (60 * M)
#define D (24 * H)

static int64_t must_parse(const char *s, bool with_days)
{
	int64_t ns = 0;
	struct err e = {0};
	if (duration_parse(s, strlen(s), with_days, &ns, &e) != ERR_OK)
		fail_msg("%s: %s", s, e.msg);
	return ns;
}

static void MR_12_reads_durations(void **state)
{
	static const struct {
		const char *story, *in;
		int64_t ns;
	} rows[] = {
		{"zero needs no unit", "0", 0},
		{"not even with a sign", "-0", 0},
		{"zero with a unit", "0h", 0},
		{"two units", "1h30m", 90 * M},
		{"all units", "1h2m3s4ms5us6ns", H + 2 * M + 3 * S + 4 * MS + 5006},
		{"any order, and the same twice", "3s1m3s", M + 6 * S},
		{"a fraction", "1.5s", 1500 * MS},
		{"a fraction without digits before it", ".5s", 500 * MS},
		{"a point without digits after it", "7.s", 7 * S},
		{"negative", "-5s", -5 * S},
		{"the sign is for the whole", "-1m30s", -90 * S},
		{"plus", "+5s", 5 * S},
		{"micro sign", "12\u00B5s", 12000},
		{"Greek mu", "12\u03BCs", 12000},
		{"less than a nanosecond is dropped", "0.9ns", 0},
		{"an hour in decimals", "0.1h", 6 * M},
		{"a third of an hour, as close as one can write", "0.3333333333333333333h", 20 * M},
		{"more digits than count", "0.100000000000000000000000000000h", 6 * M},
		{"the longest", "9223372036854775807ns", INT64_MAX},
		{"the longest in parts", "2562047h47m16.854775807s", INT64_MAX},
		{"the most negative", "-9223372036854775808ns", INT64_MIN},
		{"the most negative in parts", "-2562047h47m16.854775808s", INT64_MIN},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int with_days = 0; with_days <= 1; with_days++) {
			int64_t got = must_parse(rows[i].in, with_days);
			if (got != rows[i].ns)
				fail_msg("%s: %lld", rows[i].story, (long long)got);
		}
	}
}

static void MR_12_reads_days_only_where_allowed(void **state)
{
	static const struct {
		const char *story, *in;
		int64_t ns;
	} rows[] = {
		{"a day", "1d", D},	      {"a week", "1w", 7 * D},	      {"mixed", "2w3d4h", 17 * D + 4 * H},
		{"in parts", "1.5d", 36 * H}, {"negative", "-0.5w", -84 * H},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ns = 4711;
		struct err e = {0};
		if (must_parse(rows[i].in, true) != rows[i].ns)
			fail_msg("%s", rows[i].story);
		assert_int_equal(duration_parse(rows[i].in, strlen(rows[i].in), false, &ns, &e), ERR_INPUT);
		assert_int_equal(ns, 4711);
		assert_non_null(strstr(e.msg, "expected the units ns us ms s m h"));
		assert_null(strstr(e.msg, "m h d w"));
	}
}

static void MR_12_refuses_what_is_no_duration(void **state)
{
	static const struct {
		const char *story, *in;
		enum err_code code;
		const char *why;
	} rows[] = {
		{"nothing", "", ERR_INPUT, "expected digits"},
		{"a sign alone", "-", ERR_INPUT, "expected digits"},
		{"two signs", "--1s", ERR_INPUT, "expected digits"},
		{"a sign inside", "1h-30m", ERR_INPUT, "expected the units"},
		{"no unit", "5", ERR_INPUT, "a number without a unit"},
		{"no unit at the end", "1h2", ERR_INPUT, "a number without a unit"},
		{"zero twice is not the short zero", "00", ERR_INPUT, "a number without a unit"},
		{"a unit alone", "s", ERR_INPUT, "expected digits"},
		{"a point alone", ".s", ERR_INPUT, "expected digits"},
		{"two points", "1.2.3s", ERR_INPUT, "a number without a unit"},
		{"an unknown unit", "3y", ERR_INPUT, "expected the units"},
		{"a capital", "3S", ERR_INPUT, "expected the units"},
		{"a blank between", "3 s", ERR_INPUT, "expected the units"},
		{"a blank before", " 3s", ERR_INPUT, "expected digits"},
		{"a blank after", "3s ", ERR_INPUT, "expected the units"},
		{"words", "soon", ERR_INPUT, "expected digits"},
		{"one too many", "9223372036854775808ns", ERR_LIMIT, "too long"},
		{"one too many below zero", "-9223372036854775809ns", ERR_LIMIT, "too long"},
		{"too many digits", "99999999999999999999s", ERR_LIMIT, "too long"},
		{"so many that 64 bits come round", "20000000000000000000ns", ERR_LIMIT, "too long"},
		{"so long that 64 bits come round", "5124096h", ERR_LIMIT, "too long"},
		{"too many hours", "2562048h", ERR_LIMIT, "too long"},
		{"too long by its fraction", "9223372036.9s", ERR_LIMIT, "too long"},
		{"too long in sum", "2562047h2562047h", ERR_LIMIT, "too long"},
		{"a sum of 2^64 does not come round to zero", "-9223372036854775808ns9223372036854775808ns", ERR_LIMIT,
		 "too long"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t ns = 4711;
		struct err e = {0};
		enum err_code code = duration_parse(rows[i].in, strlen(rows[i].in), true, &ns, &e);
		if (code != rows[i].code || ns != 4711 || strstr(e.msg, rows[i].why) == NULL ||
		    strstr(e.msg, rows[i].in) == NULL)
			fail_msg("%s: code %d, %s", rows[i].story, code, e.msg);
		assert_int_equal(duration_parse(rows[i].in, strlen(rows[i].in), true, &ns, NULL), rows[i].code);
	}
}

static void reads_no_further_than_told(void **state)
{
	int64_t ns;
	assert_int_equal(duration_parse("15ms", 3, false, &ns, NULL), ERR_OK);
	assert_int_equal(ns, 15 * M);
	assert_int_equal(duration_parse("1s\0", 3, false, &ns, NULL), ERR_INPUT);
}

static void prints_durations(void **state)
{
	static const struct {
		const char *story;
		int64_t ns;
		const char *full, *brief;
	} rows[] = {
		{"nothing", 0, "0s", "0s"},
		{"nanoseconds", 7, "7ns", "7ns"},
		{"microseconds", 1500, "1.5\u00B5s", "1\u00B5s"},
		{"milliseconds", 850 * MS + 70000, "850.07ms", "850ms"},
		{"less than nothing", -850 * MS - 1, "-850.000001ms", "-850ms"},
		{"just not a second", S - 1, "999.999999ms", "999ms"},
		{"seconds", 12 * S + 340 * MS, "12.34s", "12s"},
		{"minutes and seconds", 6 * M + 50 * S + MS, "6m50.001s", "6m50s"},
		{"whole minutes", 6 * M, "6m0s", "6m"},
		{"just not an hour", H - 1, "59m59.999999999s", "59m59s"},
		{"hours and minutes", H + 30 * M + 59 * S, "1h30m59s", "1h30m"},
		{"hours and seconds", 2 * H + 59 * S, "2h0m59s", "2h"},
		{"days and hours", 3 * D + 4 * H + 59 * M, "76h59m0s", "3d4h"},
		{"whole days", 400 * D, "9600h0m0s", "400d"},
		{"negative", -90 * M, "-1h30m0s", "-1h30m"},
		{"the longest", INT64_MAX, "2562047h47m16.854775807s", "106751d23h"},
		{"the most negative", INT64_MIN, "-2562047h47m16.854775808s", "-106751d23h"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text full = {0}, brief = {0};
		duration_text(rows[i].ns, &full);
		duration_text_short(rows[i].ns, &brief);
		if (strcmp(text_str(&full), rows[i].full) != 0 || strcmp(text_str(&brief), rows[i].brief) != 0)
			fail_msg("%s: %s, %s", rows[i].story, text_str(&full), text_str(&brief));
		text_free(&full);
		text_free(&brief);
	}
}

/* All magnitudes alike. */
static int64_t random_ns(struct rng *r)
{
	uint64_t x = rng_next(r) >> rng_below(r, 64);
	return (int64_t)(rng_below(r, 2) ? x : -x);
}

static void every_text_reads_back_the_same(void **state)
{
	struct rng r = {30};
	for (int i = 0; i < 50000; i++) {
		struct text t = {0};
		int64_t ns = random_ns(&r);
		duration_text(ns, &t);
		if (must_parse(text_str(&t), i % 2) != ns)
			fail_msg("%lld became %s", (long long)ns, text_str(&t));
		text_free(&t);
	}
}

static void short_texts_round_towards_zero(void **state)
{
	struct rng r = {31};
	for (int i = 0; i < 50000; i++) {
		struct text t = {0};
		int64_t ns = random_ns(&r);
		duration_text_short(ns, &t);
		int64_t back = must_parse(text_str(&t), true);
		int64_t gap = ns < 0 ? back - ns : ns - back;
		uint64_t whole = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
		int64_t least = whole >= D ? H : whole >= H ? M : whole >= S ? S : whole >= MS ? MS : 1000;
		if (gap < 0 || gap >= least || (ns < 0 && back > 0))
			fail_msg("%lld became %s", (long long)ns, text_str(&t));
		text_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(MR_12_reads_durations),
		cmocka_unit_test(MR_12_reads_days_only_where_allowed),
		cmocka_unit_test(MR_12_refuses_what_is_no_duration),
		cmocka_unit_test(reads_no_further_than_told),
		cmocka_unit_test(prints_durations),
		cmocka_unit_test(every_text_reads_back_the_same),
		cmocka_unit_test(short_texts_round_towards_zero),
	};
	return cmocka_run_group_tests_name("duration", tests, NULL, NULL);
}
