/* SPDX-License-Identifier: Apache-2.0 */
#include "test_tree.h"

#include <stdio.h>

static void json_values_are_read_as_written(void **state)
{
	static const struct tree_row rows[] = {
		{"an empty map", "{}", "{}"},
		{"an empty list", " [ ] ", "[]"},
		{"fields stay in order", "{\"b\": 1, \"a\": 2}", "{b=#1 a=#2}"},
		{"all kinds", "[null, true, false, 1, \"s\", [], {}]", "[null +true -false #1 's' [] {}]"},
		{"numbers keep their letters", "[0, -0, 1.50, 1e3, 2E+5, -3.0e-07]",
		 "[#0 #-0 #1.50 #1e3 #2E+5 #-3.0e-07]"},
		{"numbers of any length", "[123456789012345678901234567890]", "[#123456789012345678901234567890]"},
		{"every escape", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]", "['\"\\/\b\f\n\r\t']"},
		{"escapes by number", "[\"\\u0041\\u00e4\\u20AC\\ud83d\\ude00\"]", "['Aä€😀']"},
		{"an escape among plain letters", "[\"left\\tmiddle\\tright\"]", "['left\tmiddle\tright']"},
		{"raw characters of every length", "[\"aä€😀\"]", "['aä€😀']"},
		{"the last characters before and after the surrogates", "[\"\\ud7ff\\ue000\"]",
		 "['\xed\x9f\xbf\xee\x80\x80']"},
		{"an empty key", "{\"\": 1}", "{=#1}"},
		{"a key with an escape", "{\"a\\u002eb\": 1}", "{a.b=#1}"},
		{"a key like another's beginning", "{\"a\": 1, \"ab\": 2}", "{a=#1 ab=#2}"},
		{"<< is a key like others", "{\"<<\": {\"a\": 1}}", "{<<={a=#1}}"},
		{"blanks of all kinds", "\t\r\n {\t\"a\"\r\n :\t1 }\n\n", "{a=#1}"},
		{"no blanks", "{\"a\":[{\"b\":1},{\"c\":2}]}", "{a=[{b=#1} {c=#2}]}"},
		{"a byte order mark", "\xEF\xBB\xBF{\"a\": 1}", "{a=#1}"},
		{"JSON, then YAML documents", "{\"a\": 1}\n---\nb: 2\n", "{a=#1}\n{b=#2}"},
	};
	CHECK_ROWS(rows, false);
}

static void json_knows_where_values_stand(void **state)
{
	static const struct tree_row rows[] = {
		{"lines and columns from 1", "{\"a\": 1,\n \"b\": [true,\n  \"x\"]}",
		 "1:1{1:2a=1:7#1 2:2b=2:7[2:8+true 3:3'x']}"},
		{"a line may end in CR LF", "[1,\r\n2]", "1:1[1:2#1 2:1#2]"},
		{"columns count characters, not bytes", "[\"ä€😀\", 1, {\"ü\": 2}]",
		 "1:1[1:2'ä€😀' 1:9#1 1:12{1:13ü=1:18#2}]"},
		{"a tab is one column", "[\t1]", "1:1[1:3#1]"},
		{"a byte order mark is none", "\xEF\xBB\xBF[1]", "1:1[1:2#1]"},
		{"escapes are as wide as written", "[\"\\u00e4\", 1]", "1:1[1:2'ä' 1:12#1]"},
		{"YAML after JSON goes on counting", "{}\n\n---\na: 1\n", "1:1{}\n4:1{4:1a=4:4#1}"},
	};
	CHECK_ROWS(rows, true);
}

static void json_errors_say_where_and_what_was_expected(void **state)
{
	static const struct tree_row rows[] = {
		{"nothing after {", "{", "f:1:2: expected a key in double quotes or '}', found the end of the input"},
		{"nothing after [", "[\n", "f:2:1: expected a value, found the end of the input"},
		{"a word after a value", "{\"a\": 1 x}", "f:1:9: expected ',' or '}' after a value, found 'x'"},
		{"no comma in a list", "[1\n 2]", "f:2:2: expected ',' or ']' after a value, found '2'"},
		{"the wrong bracket", "{\"a\": [1}", "f:1:9: expected ',' or ']' after a value, found '}'"},
		{"a comma before ]", "[1,]", "f:1:4: expected a value, found ']'"},
		{"a comma before }", "{\"a\": 1,}", "f:1:9: expected a key in double quotes after ',', found '}'"},
		{"two commas", "[1,,2]", "f:1:4: expected a value, found ','"},
		{"no colon", "{\"a\" 1}", "f:1:6: expected ':' after a key, found '1'"},
		{"no value", "{\"a\":}", "f:1:6: expected a value, found '}'"},
		{"a key that is no string", "{\"a\": 1, 2: 3}",
		 "f:1:10: expected a key in double quotes after ',', found '2'"},
		{"single quotes", "{\"a\": 'x'}", "f:1:7: expected a value, found '''"},
		{"a word in capitals", "{\"a\": True}", "f:1:7: expected a value, found 'True'"},
		{"a word cut off", "{\"a\": nul", "f:1:7: expected a value, found 'nul'"},
		{"a word too long", "[1, nullx]", "f:1:9: expected ',' or ']' after a value, found 'x'"},
		{"a comment", "{\"a\": 1 // x\n}", "f:1:9: expected ',' or '}' after a value, found '/'"},
		{"text after the value", "{}\n}",
		 "{}\nf:2:1: expected the end of the input after the value, found '}'"},
		{"two values are two documents", "{} {} 7",
		 "{}\n{}\nf:1:7: expected the end of the input after the value, found '7'"},
		{"--- must begin a line", "{} ---\na: 1\n",
		 "{}\nf:1:4: expected the end of the input after the value, found '-'"},
		{"a number that begins with 0", "[01]", "f:1:2: a number must not begin with 0"},
		{"a minus alone", "[-]", "f:1:3: expected a digit after '-', found ']'"},
		{"a plus", "{\"a\": +1}", "f:1:7: expected a value, found '+'"},
		{"nothing after the point", "[1.]", "f:1:4: expected a digit after '.' in a number, found ']'"},
		{"nothing before the point", "{\"a\": .5}", "f:1:7: expected a value, found '.'"},
		{"nothing in the exponent", "[1e]", "f:1:4: expected a digit in the exponent of a number, found ']'"},
		{"nothing after the exponent's sign", "[1e+]",
		 "f:1:5: expected a digit in the exponent of a number, found ']'"},
		{"a hexadecimal number", "[0x10]", "f:1:3: expected ',' or ']' after a value, found 'x10'"},
		{"infinity", "{\"a\": Infinity}", "f:1:7: expected a value, found 'Infinity'"},
		{"a string without end", "{\"a\": \"x\\\"", "f:1:7: a string that begins here is not closed"},
		{"a string that ends in a backslash", "[\"x\\", "f:1:2: a string that begins here is not closed"},
		{"a line break in a string", "{\"a\": \"x\ny\"}",
		 "f:1:9: a line break in a string; is its closing '\"' missing?"},
		{"a tab in a string", "[\"ä\t\"]", "f:1:4: control character 0x09 in a string; write \\u0009"},
		{"an unknown escape", "[\"ä\\q\"]", "f:1:4: unknown escape '\\q' in a string"},
		{"an escape of a long character", "[\"\\ä\"]", "f:1:3: unknown escape '\\ä' in a string"},
		{"too few digits", "[\"\\u12\"]", "f:1:3: expected four hexadecimal digits after '\\u12' in a string"},
		{"digits that are none", "[\"\\u12g4\"]",
		 "f:1:3: expected four hexadecimal digits after '\\u12g4' in a string"},
		{"half a pair", "[\"\\ud83d\"]", "f:1:3: a surrogate without its other half: '\\ud83d' in a string"},
		{"half a pair, then another escape", "[\"\\ud83d\\u0041\"]",
		 "f:1:3: a surrogate without its other half: '\\ud83d' in a string"},
		{"the second half alone", "[\"a\\ude00\"]",
		 "f:1:4: a surrogate without its other half: '\\ude00' in a string"},
		{"an escaped NUL", "[\"a\\u0000\"]", "f:1:4: NUL is not allowed in text: '\\u0000' in a string"},
		{"a lone continuation byte", "[\"ä\x80\"]", "f:1:4: invalid UTF-8: byte 0x80"},
		{"an overlong character", "[\"\xC0\xAF\"]", "f:1:3: invalid UTF-8: byte 0xc0"},
		{"a surrogate in UTF-8", "[\"\xED\xA0\x80\"]", "f:1:3: invalid UTF-8: byte 0xed"},
		{"a character past the last", "[\"\xF4\x90\x80\x80\"]", "f:1:3: invalid UTF-8: byte 0xf4"},
		{"a character cut off by the end", "[\"\xE2\x82", "f:1:3: invalid UTF-8: byte 0xe2"},
		{"a bad byte between values", "[1,\xFF]", "f:1:4: expected a value, found byte 0xff"},
		{"a control character between values", "[1,\x01]", "f:1:4: expected a value, found byte 0x01"},
		{"a character between values", "[1 €]", "f:1:4: expected ',' or ']' after a value, found '€'"},
		{"a key twice", "{\"a\": 1,\n \"b\": 2, \"a\": 3}", "f:2:10: duplicate key 'a', first at 1:2"},
		{"a key twice, once escaped", "{\"a\": 1, \"\\u0061\": 2}", "f:1:10: duplicate key 'a', first at 1:2"},
		{"a key twice, deep inside", "{\"a\": [{\"x\": 1, \"x\": 2}]}",
		 "f:1:17: duplicate key 'x', first at 1:9"},
		{"the first of the doubles is told", "{\"a\":1,\"b\":2,\"c\":3,\"b\":4,\"a\":5}",
		 "f:1:20: duplicate key 'b', first at 1:8"},
		{"a key that would garble a terminal", "{\"\\u001b[1m\": 1, \"\\u001b[1m\": 2}",
		 "f:1:18: duplicate key '\\x1b[1m', first at 1:2"},
	};
	CHECK_ROWS(rows, false);
}

/* Strings are read eight bytes at a time: whatever means something must be seen at every place of the eight. */
static void json_strings_are_watched_at_every_place(void **state)
{
	static const struct {
		const char *letters, *read, *complaint;
		int col; /* of the complaint, from the letters */
	} rows[] = {
		{"\\n", "\n", NULL, 0},
		{"ä", "ä", NULL, 0},
		{"\x1f", NULL, "control character 0x1f in a string; write \\u001f", 0},
		{"\x80", NULL, "invalid UTF-8: byte 0x80", 0},
		{"\"", NULL, "expected ',' or ']' after a value, found 'zzzzzzzzzzzzzzzzzzzz'", 1},
	};
	static const char z[] = "zzzzzzzzzzzzzzzzzzzz";
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int place = 0; place < 20; place++) {
			char input[64], want[128];
			snprintf(input, sizeof(input), "[\"%.*s%s%s\"]", place, z, rows[i].letters, z);
			if (rows[i].read != NULL)
				snprintf(want, sizeof(want), "['%.*s%s%s']", place, z, rows[i].read, z);
			else
				snprintf(want, sizeof(want), "f:1:%d: %s", place + 3 + rows[i].col, rows[i].complaint);
			check_row(&(struct tree_row){"a letter among others", input, want}, false);
		}
	}
}

/* With a quote, a bracket or a number it is JSON; other text after { or [ is YAML. */
static void json_and_yaml_are_told_apart_by_their_beginning(void **state)
{
	static const struct tree_row rows[] = {
		{"unquoted keys are YAML", "{a: b}", "{a='b'}"},
		{"unquoted items are YAML", "[nodes, pods]", "['nodes' 'pods']"},
		{"words of JSON alone", "[true , 1]", "[+true #1]"},
		{"words that only begin so", "[truely]", "['truely']"},
		{"a comment first is YAML", "# x\n{\"a\": b}", "{a='b'}"},
		{"a string alone", "\"a\"", "'a'"},
		{"a number alone", "12", "#12"},
		{"a list in a list", "[[1], [2]]", "[[#1] [#2]]"},
		{"nothing", "", ""},
		{"blanks", " \n ", ""},
	};
	CHECK_ROWS(rows, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_values_are_read_as_written),
		cmocka_unit_test(json_knows_where_values_stand),
		cmocka_unit_test(json_errors_say_where_and_what_was_expected),
		cmocka_unit_test(json_strings_are_watched_at_every_place),
		cmocka_unit_test(json_and_yaml_are_told_apart_by_their_beginning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
