/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/text.h"

static void failing_says_what(void **state)
{
	struct err e = {0};
	assert_int_equal(err_fail(&e, ERR_INPUT, "bad quantity '%s'", "4x"), ERR_INPUT);
	assert_int_equal(e.code, ERR_INPUT);
	assert_string_equal(e.msg, "bad quantity '4x'");
	assert_int_equal(err_fail(NULL, ERR_IO, "nobody listens to %d", 1), ERR_IO);
}

static void context_comes_in_front(void **state)
{
	static const struct {
		const char *why, *context, *whole;
	} rows[] = {
		{"a colon is put between", "pod a/b", "pod a/b: too big"},
		{"unless it is there already", "pod a/b: ", "pod a/b: too big"},
		{"or the context runs on", "while reading: it was ", "while reading: it was too big"},
		{"no context, no colon", "", "too big"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err e;
		err_fail(&e, ERR_LIMIT, "too big");
		assert_int_equal(err_wrap(&e, "%s", rows[i].context), ERR_LIMIT);
		if (strcmp(e.msg, rows[i].whole) != 0)
			fail_msg("%s: %s", rows[i].why, e.msg);
	}
	assert_int_equal(err_wrap(NULL, "no %s", "one"), ERR_INTERNAL);
}

static void context_may_quote_the_message_itself(void **state)
{
	struct err e;
	err_fail(&e, ERR_CONFLICT, "two");
	err_fail(&e, ERR_CONFLICT, "%s and %s", e.msg, e.msg);
	assert_string_equal(e.msg, "two and two");
	err_wrap(&e, "<%s>", e.msg);
	assert_string_equal(e.msg, "<two and two>: two and two");
}

static void the_front_survives_and_the_tail_is_cut(void **state)
{
	struct err e;
	err_fail(&e, ERR_INPUT, "%0600d", 0);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	for (int i = 0; i < 20; i++)
		err_wrap(&e, "level %d of the tree", i);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	assert_memory_equal(e.msg, "level 19 of the tree: level 18 of the tree: ", 44);
	err_wrap(&e, "%0600d", 0);
	assert_int_equal(strspn(e.msg, "0"), sizeof(e.msg) - 1);
}

/* Whatever the length in front, what is left after the cut is whole characters. */
static void a_cut_never_splits_a_character(void **state)
{
	static const char *const letters[] = {"e", "é", "€", "😀"};
	for (size_t k = 0; k < sizeof(letters) / sizeof(letters[0]); k++) {
		for (int shift = 0; shift < 8; shift++) {
			struct text t = {0};
			text_pad(&t, '.', (size_t)shift);
			while (t.n < 600)
				text_add(&t, letters[k]);
			struct err e;
			err_fail(&e, ERR_INPUT, "%s", text_str(&t));
			assert_true(strlen(e.msg) > sizeof(e.msg) - 5);
			err_wrap(&e, "at %d", shift);
			assert_true(strlen(e.msg) > sizeof(e.msg) - 5);
			for (const char *s = e.msg; *s != '\0';)
				assert_true(text_next(&s) != TEXT_BAD);
			text_free(&t);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failing_says_what),
		cmocka_unit_test(context_comes_in_front),
		cmocka_unit_test(context_may_quote_the_message_itself),
		cmocka_unit_test(the_front_survives_and_the_tail_is_cut),
		cmocka_unit_test(a_cut_never_splits_a_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
