/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explain/table.h"

static void add_row(struct table *t, const char *a, const char *b, const char *c)
{
	table_row(t);
	table_cell(t, TONE_PLAIN, "%s", a);
	table_cell(t, TONE_BAD, "%s", b);
	table_cell(t, TONE_PLAIN, "%s", c);
}

static void check(const struct table *t, struct look look, const char *expected)
{
	struct text out = {0};

	table_print(t, &look, &out);
	assert_string_equal(text_str(&out), expected);
	text_free(&out);
}

static void three_columns(struct table *t)
{
	table_column(t, "NAME", COLUMN_LEFT);
	table_column(t, "N", COLUMN_RIGHT);
	table_column(t, "NOTES", COLUMN_LEFT);
}

static void columns_are_as_wide_as_their_cells_and_no_line_ends_in_blanks(void **state)
{
	struct table t = {0};

	three_columns(&t);
	add_row(&t, "a", "1", "");
	add_row(&t, "längst", "1000", "note");
	check(&t, (struct look){0},
	      "NAME       N  NOTES\n"
	      "a          1\n"
	      "längst  1000  note\n");
	table_free(&t);
}

static void a_table_without_rows_prints_nothing(void **state)
{
	struct table t = {0};

	three_columns(&t);
	check(&t, (struct look){0}, "");
	table_free(&t);
	check(&t, (struct look){0}, "");
}

static void a_column_with_nothing_in_it_is_left_out(void **state)
{
	struct table t = {0};

	three_columns(&t);
	add_row(&t, "a", "", "x");
	add_row(&t, "b", "", "y");
	check(&t, (struct look){0}, "NAME  NOTES\na     x\nb     y\n");
	table_free(&t);
}

static void cells_left_out_of_a_row_are_empty(void **state)
{
	struct table t = {0};

	three_columns(&t);
	table_row(&t);
	table_cell(&t, TONE_PLAIN, "short");
	add_row(&t, "a", "1", "x");
	table_row(&t);
	check(&t, (struct look){0}, "NAME   N  NOTES\nshort\na      1  x\n\n");
	table_free(&t);
}

static void the_last_column_is_broken_between_words_and_names_never(void **state)
{
	struct table t = {0};

	three_columns(&t);
	add_row(&t, "namespace/a-pod-0", "1", "a sentence that says why this one, and not another, has to go");
	add_row(&t, "b", "20", "short");
	check(&t, (struct look){.width = 60},
	      "NAME                N  NOTES\n"
	      "namespace/a-pod-0   1  a sentence that says why this one,\n"
	      "                       and not another, has to go\n"
	      "b                  20  short\n");
	check(&t, (struct look){.width = 40},
	      "NAME                N\n"
	      "    NOTES\n"
	      "namespace/a-pod-0   1\n"
	      "    a sentence that says why this one,\n"
	      "    and not another, has to go\n"
	      "b                  20\n"
	      "    short\n");
	check(&t, (struct look){.width = 84},
	      "NAME                N  NOTES\n"
	      "namespace/a-pod-0   1  a sentence that says why this one, and not another, has to go\n"
	      "b                  20  short\n");
	table_free(&t);
}

static void columns_that_do_not_fit_go_on_in_the_next_line(void **state)
{
	struct table t = {0};

	three_columns(&t);
	add_row(&t, "namespace/a-very-long-name-of-a-pod-0", "1", "x");
	add_row(&t, "b", "2", "");
	check(&t, (struct look){.width = 38},
	      "NAME\n"
	      "    N  NOTES\n"
	      "namespace/a-very-long-name-of-a-pod-0\n"
	      "    1  x\n"
	      "b\n"
	      "    2\n");
	check(&t, (struct look){.width = 20},
	      "NAME\n"
	      "    N  NOTES\n"
	      "namespace/a-very-long-name-of-a-pod-0\n"
	      "    1  x\n"
	      "b\n"
	      "    2\n");
	table_free(&t);
}

static void words_and_letters_of_several_bytes_are_never_torn(void **state)
{
	struct table t = {0};

	table_column(&t, "Ü", COLUMN_LEFT);
	table_row(&t);
	table_cell(&t, TONE_PLAIN, "ääääääääääääääääääääääääääääääääääää öö");
	check(&t, (struct look){.width = 12}, "Ü\nääääääääääääääääääääääääääääääääääää\nöö\n");
	table_free(&t);
}

static void sentences_are_broken_between_words(void **state)
{
	struct text out = {0};

	text_add(&out, "ab");
	text_add_wrapped(&out, " one two three-and-four five", 2, 1, 10);
	assert_string_equal(text_str(&out), "ab one two\n three-and-four\n five");
	text_reset(&out);
	text_add_wrapped(&out, "one two", 0, 4, 0);
	assert_string_equal(text_str(&out), "one two");
	text_free(&out);
}

static void colour_wraps_the_words_and_not_the_blanks(void **state)
{
	struct table t = {0};

	three_columns(&t);
	add_row(&t, "a", "1", "x");
	check(&t, (struct look){.has_color = true},
	      "\033[1mNAME\033[0m  \033[1mN\033[0m  \033[1mNOTES\033[0m\n"
	      "a     \033[1;31m1\033[0m  x\n");
	table_free(&t);
}

static void nothing_in_a_cell_can_move_the_cursor(void **state)
{
	static const struct {
		const char *why, *in, *out;
	} rows[] = {
		{"an escape sequence", "a\033[2Jb", "a\\x1b[2Jb"},
		{"a forged line", "a\nb", "a\\nb"},
		{"a carriage return", "a\rb", "a\\x0db"},
		{"the C1 form of an escape",
		 "a\xc2\x9b"
		 "2J",
		 "a\\x9b2J"},
		{"a change of direction",
		 "a\xe2\x80\xae"
		 "b",
		 "a\\u202eb"},
		{"bytes that are no letter",
		 "a\xff"
		 "b",
		 "a\\xffb"},
		{"letters stay", "grün ∞", "grün ∞"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct table t = {0};
		struct text expected = {0};

		print_message("%s\n", rows[i].why);
		table_column(&t, "X", COLUMN_LEFT);
		table_row(&t);
		table_cell(&t, TONE_PLAIN, "%s", rows[i].in);
		text_printf(&expected, "X\n%s\n", rows[i].out);
		check(&t, (struct look){0}, text_str(&expected));
		text_free(&expected);
		table_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_as_wide_as_their_cells_and_no_line_ends_in_blanks),
		cmocka_unit_test(a_table_without_rows_prints_nothing),
		cmocka_unit_test(a_column_with_nothing_in_it_is_left_out),
		cmocka_unit_test(cells_left_out_of_a_row_are_empty),
		cmocka_unit_test(the_last_column_is_broken_between_words_and_names_never),
		cmocka_unit_test(columns_that_do_not_fit_go_on_in_the_next_line),
		cmocka_unit_test(words_and_letters_of_several_bytes_are_never_torn),
		cmocka_unit_test(sentences_are_broken_between_words),
		cmocka_unit_test(colour_wraps_the_words_and_not_the_blanks),
		cmocka_unit_test(nothing_in_a_cell_can_move_the_cursor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
