/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of several lines: blocks in YAML where the text allows it, quoted strings everywhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/emit.h"

static const struct {
	const char *says, *value, *yaml;
} rows[] = {
	{"lines are a block", "a\nb: c\n", "k: |\n  a\n  b: c\n"},
	{"lines may be indented and empty ones are not", "a:\n  b\n\n  c\n", "k: |\n  a:\n    b\n\n    c\n"},
	{"nothing in a block needs quotes", "# \"x\": {\n- *\n", "k: |\n  # \"x\": {\n  - *\n"},
	{"one line is one, too", "a\n", "k: |\n  a\n"},
	{"no newline at the end", "a\nb", "k: \"a\\nb\"\n"},
	{"more than one at the end", "a\n\n", "k: \"a\\n\\n\"\n"},
	{"a blank first would be taken for indentation", " a\nb\n", "k: \" a\\nb\\n\"\n"},
	{"a first line without anything", "\na\n", "k: \"\\na\\n\"\n"},
	{"characters that must be escaped", "a\tb\n", "k: \"a\\tb\\n\"\n"},
	{"bytes that are no text", "a\xff\n", "k: \"a\xEF\xBF\xBD\\n\"\n"},
	{"nothing", "", "k: \"\"\n"},
	{"a newline alone", "\n", "k: \"\\n\"\n"},
	{"null", NULL, "k: null\n"},
};

static void blocks_where_they_read_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text t = {0};
		struct emit e;

		emit_init(&e, &t, EMIT_YAML);
		emit_object(&e, NULL);
		emit_lines(&e, "k", rows[i].value);
		emit_end(&e);
		if (!str_eq(text_str(&t), rows[i].yaml))
			fail_msg("%s: %s", rows[i].says, text_str(&t));
		text_free(&t);
	}
}

static void blocks_stand_deeper_than_what_they_belong_to(void **state)
{
	struct text t = {0};
	struct emit e;

	(void)state;
	emit_init(&e, &t, EMIT_YAML);
	emit_list(&e, NULL);
	emit_lines(&e, NULL, "a\nb\n");
	emit_object(&e, NULL);
	emit_lines(&e, "x", "a\n");
	emit_list(&e, "y");
	emit_lines(&e, NULL, "b\n");
	emit_end(&e);
	emit_int(&e, "z", 1);
	emit_end(&e);
	emit_end(&e);
	assert_string_equal(text_str(&t), "- |\n  a\n  b\n- x: |\n    a\n  \"y\":\n  - |\n    b\n  z: 1\n");
	text_free(&t);
}

static void JSON_has_strings_only(void **state)
{
	struct text t = {0};
	struct emit e;

	(void)state;
	emit_init(&e, &t, EMIT_JSON_LINE);
	emit_lines(&e, NULL, "a\nb\n");
	assert_string_equal(text_str(&t), "\"a\\nb\\n\"\n");
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_where_they_read_back),
		cmocka_unit_test(blocks_stand_deeper_than_what_they_belong_to),
		cmocka_unit_test(JSON_has_strings_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
