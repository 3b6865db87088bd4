/* SPDX-License-Identifier: Apache-2.0 */
#include "test_tree.h"

static void yaml_plain_scalars_have_kinds_by_the_core_schema(void **state)
{
	static const struct tree_row rows[] = {
		{"nulls", "[x, null, Null, NULL, ~, ]", "['x' null null null null]"},
		{"an empty value is null", "a:\nb: 1", "{a=null b=#1}"},
		{"no nulls", "[nUll, nil, none, '~', \"null\"]", "['nUll' 'nil' 'none' '~' 'null']"},
		{"bools keep their letters", "[x, true, True, TRUE, false, False, FALSE]",
		 "['x' +true +True +TRUE -false -False -FALSE]"},
		{"yes, no, on, off, y and n are strings", "[yes, No, on, OFF, y, n, tRue]",
		 "['yes' 'No' 'on' 'OFF' 'y' 'n' 'tRue']"},
		{"integers", "[x, 0, -0, +12, 007, 0x1F, 0o17]", "['x' #0 #-0 #+12 #007 #0x1F #0o17]"},
		{"no integers", "[x, 0x, 0o8, -0x1, 1_000, 12:30, 0b1]",
		 "['x' '0x' '0o8' '-0x1' '1_000' '12:30' '0b1']"},
		{"floats", "[x, 1.5, .5, 5., -1e3, 1.5E+3, +.5e-3, .inf, -.Inf, .NaN]",
		 "['x' #1.5 #.5 #5. #-1e3 #1.5E+3 #+.5e-3 #.inf #-.Inf #.NaN]"},
		{"no floats", "[x, ., -, 1.2.3, 1e, 1e+, e3, inf, nan, +.nan]",
		 "['x' '.' '-' '1.2.3' '1e' '1e+' 'e3' 'inf' 'nan' '+.nan']"},
		{"quantities are strings", "[x, 100m, 1Gi, 1e3Mi]", "['x' '100m' '1Gi' '1e3Mi']"},
		{"dates are strings", "a: 2026-03-01", "{a='2026-03-01'}"},
		{"quoted numbers are strings", "[x, \"1\", '2', \"true\"]", "['x' '1' '2' 'true']"},
		{"block text is a string", "a: |\n  12\nb: >\n  x\n  y\n", "{a='12\n' b='x y\n'}"},
	};
	CHECK_ROWS(rows, false);
}

static void yaml_tags_count_where_they_say_the_kind(void **state)
{
	static const struct tree_row rows[] = {
		{"a number as a string", "a: !!str 12", "{a='12'}"},
		{"a quoted number as a number", "a: !!int \"12\"", "{a=#12}"},
		{"an integer as a float", "a: !!float 12", "{a=#12}"},
		{"a quoted bool", "a: !!bool 'true'", "{a=+true}"},
		{"a quoted null", "a: !!null ''", "{a=null}"},
		{"! makes a string", "a: ! 12", "{a='12'}"},
		{"other tags are ignored",
		 "a: !thing 12\nb: !!set {x: 1}\nc: !!binary aGk=", "{a=#12 b={x=#1} c='aGk='}"},
		{"no integer", "a: !!int 1.5", "f:1:4: '1.5' is not a number, as its tag says"},
		{"no bool", "a: !!bool yes", "f:1:4: 'yes' is not true or false, as its tag says"},
		{"no null", "a: !!null 0", "f:1:4: '0' is not nothing, as its tag says"},
	};
	CHECK_ROWS(rows, false);
}

static void yaml_documents_come_one_by_one(void **state)
{
	static const struct tree_row rows[] = {
		{"several", "a: 1\n---\nb: 2\n---\n- c\n", "{a=#1}\n{b=#2}\n['c']"},
		{"empty ones are skipped", "---\n---\n# nothing\n---\na: 1\n---\n~\n---\nnull\n", "{a=#1}"},
		{"comments only", "# nothing\n\n", ""},
		{"explicit ends", "a: 1\n...\n---\nb: 2\n...\n", "{a=#1}\n{b=#2}"},
		{"a version", "%YAML 1.2\n---\na: 1\n", "{a=#1}"},
		{"CR LF", "a: 1\r\nb:\r\n- c\r\n", "{a=#1 b=['c']}"},
		{"a byte order mark",
		 "\xEF\xBB\xBF"
		 "a: 1\n",
		 "{a=#1}"},
		{"all but the broken one", "a: 1\n---\nb: [\n",
		 "{a=#1}\nf:4:1: expected a value, found the end of the input"},
	};
	CHECK_ROWS(rows, false);
}

static void yaml_keys_are_text(void **state)
{
	static const struct tree_row rows[] = {
		{"numbers and words as written", "1: a\ntrue: b\n~: c\n1.50: d", "{1='a' true='b' ~='c' 1.50='d'}"},
		{"quoted keys", "\"a b\": 1\n'': 2", "{a b=#1 =#2}"},
		{"a map as key", "? {a: 1}\n: 2", "f:1:3: a key must be text, found a map"},
		{"a list as key", "x: 1\n[a]: 2", "f:2:1: a key must be text, found a list"},
		{"a template", "{{ .Values.pod }}",
		 "f:1:2: a key must be text, found a map (is this a template that was not filled in?)"},
		{"a map as key is no template", "? {a: 1}\n: 2", "f:1:3: a key must be text, found a map"},
		{"no key", "a: 1\n?\n: 2", "f:2:2: expected a key before ':'"},
		{"no key in a flow", "{a: 1, : 2}", "f:1:8: expected a value, found ':'"},
		{"an anchored key", "&k a: 1\nb: *k", "{a=#1 b='a'}"},
		{"an alias as key", "a: &k name\nb: {*k : 1}", "{a='name' b={name=#1}}"},
		{"an alias of a map as key", "a: &k {x: 1}\nb: {*k : 1}", "f:2:5: a key must be text, found a map"},
		{"a key twice", "a: 1\nb: 2\na: 3", "f:3:1: duplicate key 'a', first at 1:1"},
		{"a key twice in an item", "- x: 1\n  x: 2", "f:2:3: duplicate key 'x', first at 1:3"},
		{"a key twice, once quoted", "{a: 1, \"a\": 2}", "f:1:8: duplicate key 'a', first at 1:2"},
	};
	CHECK_ROWS(rows, false);
}

static void yaml_aliases_stand_for_their_anchors(void **state)
{
	static const struct tree_row rows[] = {
		{"a scalar", "a: &x 1\nb: *x", "{a=#1 b=#1}"},
		{"a map", "a: &x {b: [1, 2]}\nc: [*x, *x]", "{a={b=[#1 #2]} c=[{b=[#1 #2]} {b=[#1 #2]}]}"},
		{"the last anchor of a name counts", "[&x 1, *x, &x 2, *x]", "[#1 #1 #2 #2]"},
		{"anchors within anchors", "[&x [&y 1, *y], *x, *y]", "[[#1 #1] [#1 #1] #1]"},
		{"an alias alone", "*x", "f:1:1: alias '*x': there is no such anchor before it"},
		{"an anchor after its alias", "[*x, &x 1]", "f:1:2: alias '*x': there is no such anchor before it"},
		{"not from one document to the next", "a: &x 1\n---\nb: *x",
		 "{a=#1}\nf:3:4: alias '*x': there is no such anchor before it"},
		{"within itself", "a: &x [1, *x]", "f:1:11: alias '*x' stands within the value it means"},
		{"within the document itself", "&x\na: *x", "f:2:4: alias '*x' stands within the value it means"},
	};
	CHECK_ROWS(rows, false);
}

static void yaml_merge_keys_add_what_is_not_there(void **state)
{
	static const struct tree_row rows[] = {
		{"own fields win", "a: &x {p: 1, q: 2}\nb: {q: 3, <<: *x}", "{a={p=#1 q=#2} b={q=#3 p=#1}}"},
		{"also when they come later", "a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3}", "{a={p=#1 q=#2} b={q=#3 p=#1}}"},
		{"of several maps the first wins", "{a: &x {p: 1}, b: &y {p: 2, q: 3}, c: {<<: [*x, *y]}}",
		 "{a={p=#1} b={p=#2 q=#3} c={p=#1 q=#3}}"},
		{"in the top map", "a: &x {p: 1}\n<<: *x", "{a={p=#1} p=#1}"},
		{"a map written in place", "<<: {p: 1}\nq: 2", "{q=#2 p=#1}"},
		{"merged into a merged one", "[&x {p: 1}, &y {<<: *x, q: 2}, {<<: *y}]",
		 "[{p=#1} {q=#2 p=#1} {q=#2 p=#1}]"},
		{"quoted it is a key like others", "\"<<\": {p: 1}", "{<<={p=#1}}"},
		{"not a map", "a: 1\n<<: 2", "f:2:1: the value of << must be a map or a list of maps, found a number"},
		{"not only maps", "<<: [{a: 1}, x]",
		 "f:1:1: the value of << must be a map or a list of maps, found a string"},
		{"twice", "<<: {a: 1}\n<<: {b: 1}", "f:2:1: duplicate key '<<', first at 1:1"},
	};
	CHECK_ROWS(rows, false);
}

static void yaml_knows_where_values_stand(void **state)
{
	static const struct tree_row rows[] = {
		{"maps and lists", "a: 1\nb:\n- x\n- c: y\n", "1:1{1:1a=1:4#1 2:1b=3:1[3:3'x' 4:3{4:3c=4:6'y'}]}"},
		{"columns count characters", "{äöü: [€, 1]}", "1:1{1:2äöü=1:7[1:8'€' 1:11#1]}"},
		{"aliased and merged values stand at their anchor", "a: &x {p: 1}\nb: *x\nc: {<<: *x}\n",
		 "1:1{1:1a=1:4{1:8p=1:11#1} 2:1b=1:4{1:8p=1:11#1} 3:1c=3:4{1:8p=1:11#1}}"},
		{"documents count on", "a: 1\n---\nb: 2\n", "1:1{1:1a=1:4#1}\n3:1{3:1b=3:4#2}"},
	};
	CHECK_ROWS(rows, true);
}

static void yaml_errors_say_where_and_what_was_expected(void **state)
{
	static const struct tree_row rows[] = {
		{"a tab as indentation", "a:\n\tb: 1\n",
		 "f:2:1: a tab where YAML wants blanks: indent with blanks, not tabs"},
		{"a tab after blanks", "a:\n  \tb: 1\n",
		 "f:2:3: a tab where YAML wants blanks: indent with blanks, not tabs"},
		{"a tab in block text", "a: |\n\tx\n",
		 "f:2:1: a tab where YAML wants blanks: indent with blanks, not tabs"},
		{"a tab, counted in characters", "ä: 1\n\tb: 1\n",
		 "f:2:1: a tab where YAML wants blanks: indent with blanks, not tabs"},
		{"a colon too much", "a: b: c",
		 "f:1:5: a ':' where no key can stand; quote the text, or check the indentation"},
		{"a field too far right", "a: x\n b: y",
		 "f:2:3: a ':' where no key can stand; quote the text, or check the indentation"},
		{"a field too far left", "a:\n    b: x\n  c: y",
		 "f:3:3: expected a key in the column of the map that began at 1:1"},
		{"a field left of the document", "  a: x\n b: y",
		 "{a='x'}\nf:2:2: expected the end of the document; check the indentation"},
		{"a field among items", "- a\nb: 1", "f:2:1: expected '-' in the column of the list that began at 1:1"},
		{"a line without a colon", "a: 1\nb\nc: 2", "f:3:1: expected ':' after the key that began at 2:1"},
		{"a list without end", "a: [1, 2\nb: 3", "f:2:2: expected ',' or ']' in the list that began at 1:4"},
		{"a map without end", "a: {b: 1\nc: 3", "f:2:2: expected ',' or '}' in the map that began at 1:4"},
		{"a string without end", "a: \"x\nb: 1", "f:2:5: the end of the input in the string that began at 1:4"},
		{"a letter that YAML reserves", "a: @x", "f:1:4: text cannot begin with '@'; put it in quotes"},
		{"a version of the future", "%YAML 3.0\n---\na: 1", "f:1:1: found incompatible YAML document"},
		{"a control character", "a: ä\x01", "f:1:5: control character U+0001 is not allowed"},
		{"a delete character", "a:\n- \x7F", "f:2:3: control character U+007F is not allowed"},
		{"a control character of two bytes", "a: \xC2\x80", "f:1:4: control character U+0080 is not allowed"},
		{"a byte order mark within", "a: \xEF\xBB\xBF", "f:1:4: control character U+FEFF is not allowed"},
		{"bad UTF-8", "a: 1\nb: ä\xFF", "f:2:5: invalid UTF-8: byte 0xff"},
		{"a character cut off by the end", "a: \xE2\x82", "f:1:4: invalid UTF-8: byte 0xe2"},
		{"NUL by an escape", "a: \"x\\0\"", "f:1:4: NUL is not allowed in text"},
		{"NUL by an escape in a key", "\"x\\0\": 1", "f:1:1: NUL is not allowed in text"},
	};
	CHECK_ROWS(rows, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(yaml_plain_scalars_have_kinds_by_the_core_schema),
		cmocka_unit_test(yaml_tags_count_where_they_say_the_kind),
		cmocka_unit_test(yaml_documents_come_one_by_one),
		cmocka_unit_test(yaml_keys_are_text),
		cmocka_unit_test(yaml_aliases_stand_for_their_anchors),
		cmocka_unit_test(yaml_merge_keys_add_what_is_not_there),
		cmocka_unit_test(yaml_knows_where_values_stand),
		cmocka_unit_test(yaml_errors_say_where_and_what_was_expected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
