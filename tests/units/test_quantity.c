/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"
#include "units/quantity.h"
#include "units/quantity_upstream.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))

static struct quantity must_parse(const char *s)
{
	struct quantity q;
	struct err e = {0};
	if (quantity_parse(s, strlen(s), &q, &e) != ERR_OK)
		fail_msg("%s: %s", s, e.msg);
	return q;
}

static void check_text(const char *story, void (*print)(const struct quantity *, struct text *),
		       const struct quantity *q, const char *want)
{
	struct text t = {0};
	print(q, &t);
	if (strcmp(text_str(&t), want) != 0)
		fail_msg("%s: got %s, want %s", story, text_str(&t), want);
	text_free(&t);
}

static const struct parse_row {
	const char *story, *in, *canonical, *decimal;
	enum quantity_format format;
	int64_t value, milli;
} parses[] = {
	{"a plain number", "17", "17", "17", QUANTITY_DECIMAL_SI, 17, 17000},
	{"a plus sign is dropped", "+17", "17", "17", QUANTITY_DECIMAL_SI, 17, 17000},
	{"leading zeros do not count", "0042k", "42k", "42000", QUANTITY_DECIMAL_SI, 42000, 42000000},
	{"half a core", "0.5", "500m", "0.5", QUANTITY_DECIMAL_SI, 1, 500},
	{"one and a half gibibytes", "1.5Gi", "1536Mi", "1610612736", QUANTITY_BINARY_SI, 1610612736, 1610612736000},
	{"millis rise to a unit", "3000m", "3", "3", QUANTITY_DECIMAL_SI, 3, 3000},
	{"millis that do not", "2750m", "2750m", "2.75", QUANTITY_DECIMAL_SI, 3, 2750},
	{"a negative amount rounds away from zero", "-2750m", "-2750m", "-2.75", QUANTITY_DECIMAL_SI, -3, -2750},
	{"micros and nanos count up to a milli", "1u", "1u", "0.000001", QUANTITY_DECIMAL_SI, 1, 1},
	{"finer than a nano is rounded up", "2.25n", "3n", "0.000000003", QUANTITY_DECIMAL_SI, 1, 1},
	{"the faintest trace is one nano", "0.00000000000000000000000000000000000000000001", "1n", "0.000000001",
	 QUANTITY_DECIMAL_SI, 1, 1},
	{"also when negative", "-1e-40", "-1e-9", "-0.000000001", QUANTITY_DECIMAL_EXPONENT, -1, -1},
	{"trailing zeros are no trace", "7.00000000000000000000000000", "7", "7", QUANTITY_DECIMAL_SI, 7, 7000},
	{"digits may be missing after the point", "4.", "4", "4", QUANTITY_DECIMAL_SI, 4, 4000},
	{"or before it", ".25", "250m", "0.25", QUANTITY_DECIMAL_SI, 1, 250},
	{"or on both sides", ".", "0", "0", QUANTITY_DECIMAL_SI, 0, 0},
	{"a sign alone is zero", "+", "0", "0", QUANTITY_DECIMAL_SI, 0, 0},
	{"a minus alone is zero", "-", "0", "0", QUANTITY_DECIMAL_SI, 0, 0},
	{"a suffix alone is zero", "m", "0", "0", QUANTITY_DECIMAL_SI, 0, 0},
	{"a binary one too", "Ti", "0", "0", QUANTITY_BINARY_SI, 0, 0},
	{"minus zero is zero", "-0.000", "0", "0", QUANTITY_DECIMAL_SI, 0, 0},
	{"zero keeps its kind of suffix", "0.0Gi", "0", "0", QUANTITY_BINARY_SI, 0, 0},
	{"E alone is a suffix", "2E", "2E", "2000000000000000000", QUANTITY_DECIMAL_SI, 2000000000000000000, INT64_MAX},
	{"E with digits is an exponent", "2E2", "200", "200", QUANTITY_DECIMAL_EXPONENT, 200, 200000},
	{"exponents come in threes", "25e7", "250e6", "250000000", QUANTITY_DECIMAL_EXPONENT, 250000000, 250000000000},
	{"negative exponents as well", "25e-4", "2500e-6", "0.0025", QUANTITY_DECIMAL_EXPONENT, 1, 3},
	{"a signed exponent", "1.25e+1", "12500e-3", "12.5", QUANTITY_DECIMAL_EXPONENT, 13, 12500},
	{"an exponent of zero is not written", "12e0", "12", "12", QUANTITY_DECIMAL_EXPONENT, 12, 12000},
	{"zero stays zero under any exponent", "0e9000000000000000000", "0", "0", QUANTITY_DECIMAL_EXPONENT, 0, 0},
	{"a fraction of a binary unit", "0.3Ki", "307200m", "307.2", QUANTITY_BINARY_SI, 308, 307200},
	{"binary but not whole is shown in millis", "1.3Ki", "1331200m", "1331.2", QUANTITY_BINARY_SI, 1332, 1331200},
	{"binary below 1024 is shown in decimal", "0.5Ki", "512", "512", QUANTITY_BINARY_SI, 512, 512000},
	{"also when that has a suffix", "0.9765625Ki", "1k", "1000", QUANTITY_BINARY_SI, 1000, 1000000},
	{"binary below one becomes decimal", "0.0002Ki", "204800u", "0.2048", QUANTITY_DECIMAL_SI, 1, 205},
	{"every digit of a binary fraction counts", "0.00000000000000000100000000000000000001Ei", "1152921505n",
	 "1.152921505", QUANTITY_BINARY_SI, 2, 1153},
	{"nines that do not quite reach", "0.99999999999999999999999999999999999999999Ei", "1Ei", "1152921504606846976",
	 QUANTITY_BINARY_SI, 1152921504606846976, INT64_MAX},
	{"more than 2^63-1 in decimal", "98765432109876543210", "98765432109876543210", "98765432109876543210",
	 QUANTITY_DECIMAL_SI, INT64_MAX, INT64_MAX},
	{"less than -2^63 in decimal", "-98765432109876543210", "-98765432109876543210", "-98765432109876543210",
	 QUANTITY_DECIMAL_SI, INT64_MIN, INT64_MIN},
	{"more E than a suffix can say", "5000E", "5000E", "5000000000000000000000", QUANTITY_DECIMAL_SI, INT64_MAX,
	 INT64_MAX},
	{"the largest value", "9223372036854775807", "9223372036854775807", "9223372036854775807", QUANTITY_DECIMAL_SI,
	 INT64_MAX, INT64_MAX},
	{"the smallest value", "-9223372036854775808", "-9223372036854775808", "-9223372036854775808",
	 QUANTITY_DECIMAL_SI, INT64_MIN, INT64_MIN},
	{"the largest milli value", "9223372036854775807m", "9223372036854775807m", "9223372036854775.807",
	 QUANTITY_DECIMAL_SI, 9223372036854776, INT64_MAX},
};

static void parses_and_prints(void **state)
{
	for (size_t i = 0; i < COUNT(parses); i++) {
		const struct parse_row *r = &parses[i];
		struct quantity q = must_parse(r->in);
		if (q.format != r->format || quantity_value(&q) != r->value || quantity_milli(&q) != r->milli)
			fail_msg("%s: %s, value %lld, milli %lld", r->story, quantity_format_text(q.format),
				 (long long)quantity_value(&q), (long long)quantity_milli(&q));
		assert_false(q.is_saturated);
		check_text(r->story, quantity_text, &q, r->canonical);
		check_text(r->story, quantity_text_decimal, &q, r->decimal);
	}
}

static void refuses_what_is_no_quantity(void **state)
{
	static const struct {
		const char *story, *in, *expected;
	} rows[] = {
		{"nothing", "", "expected a number and a suffix"},
		{"a blank before", " 5", "expected a number and a suffix"},
		{"a blank after", "5 ", "expected a number and a suffix"},
		{"two points", "1.2.3", "expected a number and a suffix"},
		{"two signs", "--1", "expected one of the suffixes"},
		{"hexadecimal", "0x10", "expected a number and a suffix"},
		{"an unknown letter", "4x", "expected a number and a suffix"},
		{"digits after a suffix and more", "4Gi2Gi", "expected a number and a suffix"},
		{"capital K is not kilo", "4K", "expected one of the suffixes"},
		{"a small letter of a binary suffix", "4ki", "expected one of the suffixes"},
		{"i alone", "4i", "expected one of the suffixes"},
		{"two suffixes", "4mm", "expected one of the suffixes"},
		{"digits after a suffix", "4Gi2", "expected one of the suffixes"},
		{"e without exponent", "4e", "expected one of the suffixes"},
		{"an exponent without digits", "4e-", "expected one of the suffixes"},
		{"an exponent beyond 64 bits", "4e9223372036854775808", "expected one of the suffixes"},
		{"no digits before a large suffix", "Pi", "expected digits"},
		{"no digits with a point either", "-.Ei", "expected digits"},
		{"no digits before a small exponent", ".e-10", "expected digits"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct quantity q = {.nano = 77};
		struct err e = {0};
		assert_int_equal(quantity_parse(rows[i].in, strlen(rows[i].in), &q, &e), ERR_INPUT);
		assert_true(q.nano == 77);
		assert_int_equal(quantity_parse(rows[i].in, strlen(rows[i].in), &q, NULL), ERR_INPUT);
		if (strstr(e.msg, rows[i].expected) == NULL || strstr(e.msg, rows[i].in) == NULL)
			fail_msg("%s: %s", rows[i].story, e.msg);
	}
}

static void reads_no_further_than_told(void **state)
{
	struct quantity q;
	assert_int_equal(quantity_parse("12Gi", 2, &q, NULL), ERR_OK);
	assert_int_equal(quantity_value(&q), 12);
	assert_int_equal(quantity_parse("1\0002", 3, &q, NULL), ERR_INPUT);
}

static void saturates_and_says_so(void **state)
{
	static const struct {
		const char *story, *in, *canonical;
		bool is_saturated;
	} rows[] = {
		{"binary amounts end at 2^63-1", "8Ei", "9223372036854775807", true},
		{"also from above", "123456789012345678901234567890Ki", "9223372036854775807", true},
		{"also when 128 bits would come round to nothing", "1152921504606846976Ei", "9223372036854775807",
		 true},
		{"and when only the last digits lead there", "7.99999999999999999999Ei", "9223372036854775807", true},
		{"also negative ones", "-8Ei", "-9223372036854775807", true},
		{"a binary amount just below is exact", "8191Pi", "8191Pi", false},
		{"decimal amounts end at 1.7e29", "1.8e29", "170e27", true},
		{"which itself is still exact", "170000000000E", "170000000000E", false},
		{"one nano more is not", "170000000000000000000000000000.000000001", "170000000000E", true},
		{"nor is a trace more", "170000000000000000000000000000.0000000000001", "170000000000E", true},
		{"a very large exponent", "1e9223372036854775807", "170e27", true},
		{"a very large negative number", "-1e400", "-170e27", true},
		{"many digits", "9999999999999999999999999999999999999999999999999999999n", "170000000000E", true},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct quantity q = must_parse(rows[i].in);
		if (q.is_saturated != rows[i].is_saturated)
			fail_msg("%s: saturated: %d", rows[i].story, q.is_saturated);
		check_text(rows[i].story, quantity_text, &q, rows[i].canonical);
	}
}

static void knows_what_fits_64_bits(void **state)
{
	static const struct {
		const char *story, *in;
		bool fits_value, fits_milli;
	} rows[] = {
		{"small amounts fit both", "-12.5", true, true},
		{"the last value", "9223372036854775807", true, false},
		{"rounding up decides", "9223372036854775807.000000001", false, false},
		{"the first value", "-9223372036854775808", true, false},
		{"one less", "-9223372036854775808.1", false, false},
		{"the last milli", "9223372036854775.807", true, true},
		{"rounding up decides there too", "9223372036854775.8070001", true, false},
		{"far out", "1e25", false, false},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct quantity q = must_parse(rows[i].in);
		if (quantity_fits_value(&q) != rows[i].fits_value || quantity_fits_milli(&q) != rows[i].fits_milli)
			fail_msg("%s", rows[i].story);
	}
}

static void compares_by_value(void **state)
{
	static const char *const rising[] = {"-1e400", "-3Ei",
					     "-1",     "-1n",
					     "0",      "1n",
					     "999m",   "1023",
					     "1Ki",    "1.0000000001Ki",
					     "1M",     "1Mi",
					     "1E",     "18446744073709551616",
					     "1e400"};
	for (size_t i = 0; i < COUNT(rising); i++) {
		struct quantity a = must_parse(rising[i]);
		for (size_t j = 0; j < COUNT(rising); j++) {
			struct quantity b = must_parse(rising[j]);
			assert_int_equal(quantity_cmp(&a, &b), (i > j) - (i < j));
		}
	}
	assert_int_equal(
		quantity_cmp(&(struct quantity){1, QUANTITY_BINARY_SI, 0, 0, 0}, &(struct quantity){.nano = 1}), 0);
}

static void adds_exactly(void **state)
{
	static const struct {
		const char *story, *a, *b, *sum;
		bool is_saturated;
	} rows[] = {
		{"same suffix", "100m", "900m", "1", false},
		{"the first operand names the format", "1Gi", "1M", "1074741824", false},
		{"unless it is zero", "0", "1Gi", "1Gi", false},
		{"a zero of another kind on the right changes nothing", "5e3", "0Ki", "5e3", false},
		{"opposite signs cancel", "1.5", "-1500m", "0", false},
		{"nanos are not lost beside exas", "1E", "1n", "1000000000000000000000000001n", false},
		{"sums do not stop at 2^63", "7Ei", "7Ei", "14Ei", false},
		{"nothing is larger than Ei", "7Ei", "1172521170185163374592", "1024Ei", false},
		{"but at 1.7e29", "1e29", "1e29", "170e27", true},
		{"the largest twice", "17e28", "17e28", "170e27", true},
		{"on both sides", "-17e28", "-1e0", "-170e27", true},
		{"once saturated, always saturated", "9Ei", "-1Ki", "9223372036854774783", true},
		{"on either side", "-1Ki", "9Ei", "9223372036854774783", true},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct quantity a = must_parse(rows[i].a), b = must_parse(rows[i].b);
		struct quantity sum = quantity_add(&a, &b);
		check_text(rows[i].story, quantity_text, &sum, rows[i].sum);
		if (sum.is_saturated != rows[i].is_saturated)
			fail_msg("%s: saturated: %d", rows[i].story, sum.is_saturated);
	}
}

static void rounds_up_to_a_scale(void **state)
{
	static const struct {
		const char *story, *in;
		int scale;
		const char *out;
		bool is_exact;
	} rows[] = {
		{"nothing to do", "2.5", -1, "2.5", true},
		{"nanos are always exact", "0.000000007", -9, "0.000000007", true},
		{"up to a unit", "2.000000001", 0, "3", false},
		{"away from zero below it", "-2.000000001", 0, "-3", false},
		{"to thousands", "1001", 3, "2000", false},
		{"to the largest step", "1", 18, "1000000000000000000", false},
		{"zero stays", "0", 18, "0", true},
		{"the largest amount stays", "1e40", 18, "170000000000000000000000000000", true},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct quantity q = must_parse(rows[i].in);
		if (quantity_round_up(&q, rows[i].scale) != rows[i].is_exact)
			fail_msg("%s: exactness is wrong", rows[i].story);
		check_text(rows[i].story, quantity_text_decimal, &q, rows[i].out);
	}
	struct quantity q = must_parse("1.125k");
	assert_true(q.is_verbatim && quantity_round_up(&q, 0) && q.is_verbatim);
	assert_true(!quantity_round_up(&q, 1) && !q.is_verbatim);
}

static void prints_integers_for_people(void **state)
{
	struct text t = {0};
	quantity_text_value(4294967296, QUANTITY_BINARY_SI, &t);
	text_add_char(&t, ' ');
	quantity_text_value(12000, QUANTITY_DECIMAL_SI, &t);
	text_add_char(&t, ' ');
	quantity_text_value(-12000, QUANTITY_DECIMAL_EXPONENT, &t);
	text_add_char(&t, ' ');
	quantity_text_value(INT64_MIN, QUANTITY_BINARY_SI, &t);
	text_add_char(&t, ' ');
	quantity_text_milli(1500, &t);
	text_add_char(&t, ' ');
	quantity_text_milli(INT64_MAX, &t);
	assert_string_equal(text_str(&t), "4Gi 12k -12e3 -8Ei 1500m 9223372036854775807m");
	text_free(&t);
}

static void knows_how_the_api_server_shows_it(void **state)
{
	static const struct {
		const char *story, *in, *shown;
		int64_t value;
	} rows[] = {
		{"a text that passes its test is repeated", "20.125k", "20.125k", 20125},
		{"even with an empty fraction", "3.M", "3.M", 3000000},
		{"or a capital exponent", "5E3", "5E3", 5000},
		{"a leading zero fails the test", "0.125", "125m", 1},
		{"so do three zeros at the end", "5000", "5k", 5000},
		{"and a power of ten between suffixes", "2.5k", "2500", 2500},
		{"binary: not a multiple of eight", "1025Mi", "1025Mi", 1074790400},
		{"binary: of four alone", "+1028Mi", "+1028Mi", 1077936128},
		{"binary: as many digits as it cares for", "+99Ti", "+99Ti", 108851651149824},
		{"binary: one more", "+101Ti", "101Ti", 111050674405376},
		{"decimal: as many digits as it cares for", "+123456789012345678", "+123456789012345678",
		 123456789012345678},
		{"decimal: one more", "+1234567890123456789", "1234567890123456789", 1234567890123456789},
		{"binary: a multiple of eight", "2048Mi", "2Gi", 2147483648},
		{"many digits are never repeated", "1.000000000000000000k", "1k", 1000},
		{"negative and held as a big decimal", "-1.5Gi", "-1536Mi", -1610612736},
		{"then rounded the wrong way", "-0.3Ki", "-307200m", -306},
		{"and cut to 64 bits", "-100000000000.0000000000", "-100G", -7766279630},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text t = {0};
		struct quantity q = must_parse(rows[i].in);
		quantity_upstream_text(&q, rows[i].in, strlen(rows[i].in), &t);
		if (strcmp(text_str(&t), rows[i].shown) != 0 || quantity_upstream_scaled(&q, 0) != rows[i].value)
			fail_msg("%s: %s, %lld", rows[i].story, text_str(&t),
				 (long long)quantity_upstream_scaled(&q, 0));
		text_free(&t);
	}
}

/* Texts of all shapes, most of them valid. */
static void random_text(struct rng *r, char *buf, size_t cap)
{
	static const char *const suffixes[] = {"",   "n",  "u",	 "m",  "k",  "M",  "G",	 "T",	"P",	"E",
					       "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-5", "e+11", "e-9"};
	size_t n = 0, n_whole = rng_below(r, 22), n_fraction = rng_below(r, 3) > 0 ? 0 : 1 + rng_below(r, 30);

	if (rng_below(r, 3) == 0)
		buf[n++] = '-';
	buf[n++] = (char)('0' + rng_below(r, 10));
	for (size_t i = 0; i < n_whole; i++)
		buf[n++] = (char)('0' + (rng_below(r, 2) ? rng_below(r, 10) : 0));
	for (size_t i = 0; i < n_fraction; i++)
		buf[n++] = i == 0 ? '.' : (char)('0' + rng_below(r, 10));
	const char *suffix = suffixes[rng_below(r, COUNT(suffixes))];
	assert_true(n + strlen(suffix) < cap);
	memcpy(buf + n, suffix, strlen(suffix) + 1);
}

static void every_text_reads_back_the_same(void **state)
{
	struct rng r = {20};
	for (int i = 0; i < 20000; i++) {
		char in[80];
		struct text canonical = {0}, decimal = {0};
		random_text(&r, in, sizeof(in));
		struct quantity q = must_parse(in);
		quantity_text(&q, &canonical);
		quantity_text_decimal(&q, &decimal);
		struct quantity again = must_parse(text_str(&canonical)), number = must_parse(text_str(&decimal));
		if (quantity_cmp(&q, &again) != 0 || quantity_cmp(&q, &number) != 0)
			fail_msg("%s became %s and %s", in, text_str(&canonical), text_str(&decimal));
		text_reset(&decimal);
		again.format = q.format;
		quantity_text(&again, &decimal);
		assert_string_equal(text_str(&decimal), text_str(&canonical));
		text_free(&canonical);
		text_free(&decimal);
	}
}

static void rounding_up_is_tight(void **state)
{
	struct rng r = {21};
	for (int i = 0; i < 20000; i++) {
		char in[80];
		int scale = (int)rng_below(&r, 28) - 9;
		quantity_nano step = 1;
		random_text(&r, in, sizeof(in));
		struct quantity q = must_parse(in), up = q;
		for (int k = -9; k < scale; k++)
			step *= 10;
		bool is_exact = quantity_round_up(&up, scale);
		quantity_nano gap = q.nano < 0 ? q.nano - up.nano : up.nano - q.nano;
		if (up.nano % step != 0 || gap < 0 || gap >= step || is_exact != (gap == 0))
			fail_msg("%s at scale %d", in, scale);
		assert_true(quantity_round_up(&up, scale));
	}
}

static void GQ_14_reads_queue_resources(void **state)
{
	enum { BAD = -1, TOO_LARGE = -2 };
	static const struct {
		const char *story, *in;
		int64_t plain, vcore;
	} rows[] = {
		{"a plain number is thousandths of vcore", "12", 12, 12000},
		{"leading zeros", "0012", 12, 12000},
		{"decimal suffixes", "3k", 3000, 3000000},
		{"binary suffixes", "3Gi", INT64_C(3) << 30, (INT64_C(3) << 30) * 1000},
		{"blanks around and between", "\t 12 \n Mi\r ", 12 << 20, INT64_C(12000) << 20},
		{"m is for vcore alone", "250m", BAD, 250},
		{"the largest", "9223372036854775807", INT64_MAX, TOO_LARGE},
		{"the largest of vcore", "9223372036854775807m", BAD, INT64_MAX},
		{"one more", "9223372036854775808", TOO_LARGE, TOO_LARGE},
		{"too large by its suffix", "8Ei", TOO_LARGE, TOO_LARGE},
		{"far too large", "99999999999999999999999999E", TOO_LARGE, TOO_LARGE},
		{"no sign", "+5", BAD, BAD},
		{"no minus", "-5", BAD, BAD},
		{"no fraction", "1.5", BAD, BAD},
		{"no exponent", "1e3", BAD, BAD},
		{"no capital K", "1K", BAD, BAD},
		{"no micro", "1u", BAD, BAD},
		{"no blank between digits", "1 000", BAD, BAD},
		{"a suffix alone", "k", BAD, BAD},
		{"nothing", "", BAD, BAD},
		{"blanks alone", "  ", BAD, BAD},
		{"a vertical tab is no blank", "1\v", BAD, BAD},
		{"something after the suffix", "1k x", BAD, BAD},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (int is_vcore = 0; is_vcore <= 1; is_vcore++) {
			int64_t got = 4711, want = is_vcore ? rows[i].vcore : rows[i].plain;
			struct err e = {0};
			enum err_code code =
				yunikorn_quantity_parse(rows[i].in, strlen(rows[i].in), is_vcore, &got, &e);
			enum err_code want_code = want == BAD ? ERR_INPUT : want == TOO_LARGE ? ERR_LIMIT : ERR_OK;
			if (code != want_code || got != (code == ERR_OK ? want : 4711))
				fail_msg("%s: code %d, value %lld", rows[i].story, code, (long long)got);
			assert_true(code == ERR_OK || strstr(e.msg, rows[i].in) != NULL);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_and_prints),
		cmocka_unit_test(refuses_what_is_no_quantity),
		cmocka_unit_test(reads_no_further_than_told),
		cmocka_unit_test(saturates_and_says_so),
		cmocka_unit_test(knows_what_fits_64_bits),
		cmocka_unit_test(compares_by_value),
		cmocka_unit_test(adds_exactly),
		cmocka_unit_test(rounds_up_to_a_scale),
		cmocka_unit_test(prints_integers_for_people),
		cmocka_unit_test(knows_how_the_api_server_shows_it),
		cmocka_unit_test(every_text_reads_back_the_same),
		cmocka_unit_test(rounding_up_is_tight),
		cmocka_unit_test(GQ_14_reads_queue_resources),
	};
	return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
