/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "rng.h"

static void empty_text_is_an_empty_string(void **state)
{
	struct text t = {0};
	assert_string_equal(text_str(&t), "");
	text_reset(&t);
	text_free(&t);
	text_add(&t, "x");
	text_reset(&t);
	assert_string_equal(text_str(&t), "");
	assert_int_equal(t.n, 0);
	text_free(&t);
	assert_string_equal(text_str(&t), "");
}

static void pieces_are_put_together(void **state)
{
	struct text t = {0};
	text_add(&t, "node");
	text_add_char(&t, '-');
	text_printf(&t, "%03d", 7);
	text_pad(&t, '.', 3);
	text_pad(&t, '!', 0);
	text_add_n(&t, "abcdef", 2);
	text_add_n(&t, NULL, 0);
	text_printf(&t, "%s", "");
	assert_string_equal(text_str(&t), "node-007...ab");
	assert_int_equal(t.n, 13);
	text_free(&t);
}

static void it_grows_at_every_length(void **state)
{
	struct rng r = {3};
	struct text t = {0};
	char plain[3000];
	size_t n = 0;
	for (int round = 0; round < 200; round++) {
		text_reset(&t);
		for (n = 0; n < 2500;) {
			uint32_t len = rng_below(&r, 90);
			char c = (char)('a' + rng_below(&r, 26));
			memset(plain + n, c, len);
			n += len;
			if (rng_below(&r, 2) == 0)
				text_pad(&t, c, len);
			else
				text_printf(&t, "%.*s", (int)len, plain + n - len);
			assert_int_equal(t.n, n);
			assert_int_equal(strlen(text_str(&t)), n);
		}
		assert_memory_equal(text_str(&t), plain, n);
	}
	text_free(&t);
}

static void width_counts_characters(void **state)
{
	assert_int_equal(text_width(""), 0);
	assert_int_equal(text_width("pod"), 3);
	assert_int_equal(text_width("µé€😀"), 4);
}

static void next_reads_utf8_and_nothing_else(void **state)
{
	static const struct {
		const char *why, *s;
		uint32_t c;
		int step;
	} rows[] = {
		{"the end is 0 and stays", "", 0, 0},
		{"ASCII is itself", "a", 'a', 1},
		{"the last of one byte", "\x7F", 0x7F, 1},
		{"the first of two bytes", "\xC2\x80", 0x80, 2},
		{"the last of two bytes", "\xDF\xBF", 0x7FF, 2},
		{"the first of three bytes", "\xE0\xA0\x80", 0x800, 3},
		{"the last before the surrogates", "\xED\x9F\xBF", 0xD7FF, 3},
		{"the first after the surrogates", "\xEE\x80\x80", 0xE000, 3},
		{"the last of three bytes", "\xEF\xBF\xBF", 0xFFFF, 3},
		{"the first of four bytes", "\xF0\x90\x80\x80", 0x10000, 4},
		{"the last of all", "\xF4\x8F\xBF\xBF", 0x10FFFF, 4},
		{"a surrogate is no character", "\xED\xA0\x80", TEXT_BAD, 1},
		{"past the last is none", "\xF4\x90\x80\x80", TEXT_BAD, 1},
		{"two bytes for an ASCII letter", "\xC1\xA1", TEXT_BAD, 1},
		{"three bytes where two do", "\xE0\x9F\xBF", TEXT_BAD, 1},
		{"four bytes where three do", "\xF0\x8F\xBF\xBF", TEXT_BAD, 1},
		{"a follower without a leader", "\x80", TEXT_BAD, 1},
		{"a leader at the end", "\xE2\x82", TEXT_BAD, 1},
		{"a leader before ASCII", "\xC3(", TEXT_BAD, 1},
		{"bytes UTF-8 never uses", "\xFF\xFE", TEXT_BAD, 1},
		{"five-byte forms are gone", "\xF8\x88\x80\x80\x80", TEXT_BAD, 1},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *s = rows[i].s;
		if (text_next(&s) != rows[i].c || s - rows[i].s != rows[i].step)
			fail_msg("%s", rows[i].why);
	}
}

static void encode(struct text *t, uint32_t c)
{
	if (c < 0x80) {
		text_add_char(t, (char)c);
	} else if (c < 0x800) {
		text_add_char(t, (char)(0xC0 | c >> 6));
		text_add_char(t, (char)(0x80 | (c & 63)));
	} else if (c < 0x10000) {
		text_add_char(t, (char)(0xE0 | c >> 12));
		text_add_char(t, (char)(0x80 | (c >> 6 & 63)));
		text_add_char(t, (char)(0x80 | (c & 63)));
	} else {
		text_add_char(t, (char)(0xF0 | c >> 18));
		text_add_char(t, (char)(0x80 | (c >> 12 & 63)));
		text_add_char(t, (char)(0x80 | (c >> 6 & 63)));
		text_add_char(t, (char)(0x80 | (c & 63)));
	}
}

static void every_code_point_reads_back(void **state)
{
	struct text t = {0};
	for (uint32_t c = 1; c <= 0x10FFFF; c++) {
		if (c >= 0xD800 && c <= 0xDFFF)
			continue;
		text_reset(&t);
		encode(&t, c);
		const char *s = text_str(&t);
		if (text_next(&s) != c || s != text_str(&t) + t.n)
			fail_msg("U+%04X", (unsigned)c);
	}
	text_free(&t);
}

static void what_nobody_sees_is_made_visible(void **state)
{
	static const struct {
		const char *why, *s, *shown;
	} rows[] = {
		{"letters of the world stay", "\xC3\xA9\xE2\x82\xAC\xE4\xB8\xAD\xF0\x9F\x98\x80",
		 "\xC3\xA9\xE2\x82\xAC\xE4\xB8\xAD\xF0\x9F\x98\x80"},
		{"control characters", "a\033[1m\x7F", "a\\x1b[1m\\x7f"},
		{"control characters of eight bits", "\xC2\x9B", "\\x9b"},
		{"line breaks", "a\nb", "a\\nb"},
		{"bytes that are no UTF-8", "a\xFF", "a\\xff"},
		{"what turns the direction",
		 "a\xE2\x80\xAE"
		 "b\xE2\x81\xA6",
		 "a\\u202e"
		 "b\\u2066"},
		{"an Arabic letter mark", "\xD8\x9C", "\\u061c"},
		{"spaces and joiners of no width",
		 "a\xE2\x80\x8B"
		 "b\xE2\x80\x8D",
		 "a\\u200b"
		 "b\\u200d"},
		{"a word joiner", "\xE2\x81\xA0", "\\u2060"},
		{"a byte order mark", "\xEF\xBB\xBFx", "\\ufeffx"},
		{"a soft hyphen",
		 "a\xC2\xAD"
		 "b",
		 "a\\u00ad"
		 "b"},
		{"a Hangul filler", "\xE3\x85\xA4", "\\u3164"},
		{"a tag, beyond 16 bits", "\xF3\xA0\x81\x81", "\\U000e0041"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text t = {0};
		text_add_visible(&t, rows[i].s);
		if (!str_eq(text_str(&t), rows[i].shown))
			fail_msg("%s: %s", rows[i].why, text_str(&t));
		text_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_text_is_an_empty_string),    cmocka_unit_test(pieces_are_put_together),
		cmocka_unit_test(it_grows_at_every_length),	    cmocka_unit_test(width_counts_characters),
		cmocka_unit_test(next_reads_utf8_and_nothing_else), cmocka_unit_test(every_code_point_reads_back),
		cmocka_unit_test(what_nobody_sees_is_made_visible),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
