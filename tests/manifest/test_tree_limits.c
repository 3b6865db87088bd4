/* SPDX-License-Identifier: Apache-2.0 */
#include "test_tree.h"

#include <stdio.h>
#include <sys/mman.h>

#include "manifest/tree_reader.h"

/* The error of the input, or "" if all of it can be read; at most max_bytes of arena for a document. */
static void check_big(const char *says, const struct text *input, const char *message, enum err_code code,
		      size_t max_bytes)
{
	struct arena *a = arena_new(4096);
	struct tree_reader *r = tree_reader_new("f", input->s, input->n);
	struct tree_doc doc;
	struct err e = {0};
	do {
		arena_reset(a);
		if (tree_next(r, a, &doc, &e) == ERR_OK && arena_bytes(a) > max_bytes)
			fail_msg("%s: took %zu bytes", says, arena_bytes(a));
	} while (doc.root != NULL);
	if (strcmp(e.msg, message) != 0 || e.code != code)
		fail_msg("%s\n  want: %d %s\n  got:  %d %s", says, (int)code, message, (int)e.code, e.msg);
	tree_reader_free(r);
	arena_free(a);
}

static struct text nested(const char *before, const char *open, uint32_t n, const char *close)
{
	struct text t = {0};
	text_add(&t, before);
	for (uint32_t i = 0; i < n; i++)
		text_add(&t, open);
	text_add(&t, "1");
	for (uint32_t i = 0; i < n; i++)
		text_add(&t, close);
	return t;
}

static void nesting_ends_at_200(void **state)
{
	static const struct {
		const char *says, *before, *open, *close;
		uint32_t n;
		const char *message;
	} rows[] = {
		{"200 lists in JSON", "", "[", "]", 200, ""},
		{"201 lists in JSON", "", "[", "]", 201, "f:1:201: nested deeper than 200 levels"},
		{"200 maps in JSON", "", "{\"a\":", "}", 200, ""},
		{"201 maps in JSON", "", "{\"a\":", "}", 201, "f:1:1001: nested deeper than 200 levels"},
		{"200 lists in YAML", "--- ", "[", "]", 200, ""},
		{"201 lists in YAML", "--- ", "[", "]", 201, "f:1:205: nested deeper than 200 levels"},
		{"201 maps in YAML", "--- ", "{a: ", "}", 201, "f:1:805: nested deeper than 200 levels"},
		{"201 lists in block style", "", "- ", "", 201, "f:1:401: nested deeper than 200 levels"},
		{"198 lists in an item", "{\"kind\":\"List\",\"items\":[", "[", "]", 198,
		 "f:1:422: expected ',' or ']' after a value, found the end of the input"},
		{"199 lists in an item", "{\"kind\":\"List\",\"items\":[", "[", "]", 199,
		 "f:1:223: nested deeper than 200 levels"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text t = nested(rows[i].before, rows[i].open, rows[i].n, rows[i].close);
		enum err_code code = rows[i].message[0] == '\0'			 ? ERR_OK
				     : strstr(rows[i].message, "nested") != NULL ? ERR_LIMIT
										 : ERR_INPUT;
		check_big(rows[i].says, &t, rows[i].message, code, 65536);
		text_free(&t);
	}
}

static void a_hundred_megabytes_of_brackets_end_at_once(void **state)
{
	struct text t = {0};
	text_pad(&t, '[', 100 << 20);
	check_big("JSON", &t, "f:1:201: nested deeper than 200 levels", ERR_LIMIT, 65536);
	memcpy(t.s, "---\n", 4);
	check_big("YAML", &t, "f:2:201: nested deeper than 200 levels", ERR_LIMIT, 65536);
	text_free(&t);
}

static void aliases_that_explode_are_refused(void **state)
{
	struct text t = {0};
	text_add(&t, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 10; i++) {
		text_printf(&t, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			text_printf(&t, "%s*a%d", k > 0 ? ", " : "", i - 1);
		text_add(&t, "]\n");
	}
	check_big("ten times ten times ten", &t, "f:6:45: aliases that expand to more than 1000000 values", ERR_LIMIT,
		  65536);
	text_reset(&t);
	text_add(&t, "kind: List\nitems:\n- &a [");
	for (int i = 0; i < 1000; i++)
		text_add(&t, "1, ");
	text_add(&t, "]\n");
	for (int i = 0; i < 998; i++)
		text_add(&t, "- *a\n");
	check_big("998 items of a thousand", &t, "", ERR_OK, 1 << 20);
	text_add(&t, "- *a\n");
	check_big("one more", &t, "f:1002:3: aliases that expand to more than 1000000 values", ERR_LIMIT, 1 << 20);
	text_free(&t);
}

static void aliases_cannot_nest_deeper_either(void **state)
{
	struct text t = nested("a: &a ", "[", 100, "]");
	text_add(&t, "\nb: &b ");
	text_pad(&t, '[', 98);
	text_add(&t, "*a, 1");
	text_pad(&t, ']', 98);
	text_add(&t, "\nc: [*b, [*b]]");
	check_big("1 + 1 + 98 + 100, then one more", &t, "f:3:10: nested deeper than 200 levels", ERR_LIMIT, 65536);
	text_free(&t);
}

static void many_anchors_and_merges_take_no_quadratic_time(void **state)
{
	struct text t = {0};
	for (int i = 0; i < 20000; i++)
		text_printf(&t, "k%d: &a%d %d\n", i, i, i);
	for (int i = 0; i < 20000; i++)
		text_printf(&t, "l%d: *a%d\n", i, i);
	text_add(&t, "<<: {");
	for (int i = 0; i < 20000; i++)
		text_printf(&t, "k%d: x, m%d: x, ", i, i);
	text_add(&t, "}\n");
	check_big("20,000 anchors", &t, "", ERR_OK, SIZE_MAX);
	text_free(&t);
}

static void add_keys(struct text *t, int n)
{
	text_add(t, "{");
	for (int i = 0; i < n; i++)
		text_printf(t, "%s\"key-%d\":%d", i > 0 ? ",\n" : "", i, i);
}

static void a_hundred_thousand_keys_are_fine(void **state)
{
	struct text t = {0};
	add_keys(&t, 100000);
	text_add(&t, "}");
	check_big("JSON", &t, "", ERR_OK, SIZE_MAX);
	t.s[t.n - 1] = ',';
	text_add(&t, "\n\"key-70000\":1,\n\"key-5\":1}");
	check_big("JSON with doubles", &t, "f:100001:1: duplicate key 'key-70000', first at 70001:1", ERR_INPUT,
		  SIZE_MAX);
	text_reset(&t);
	add_keys(&t, 100000);
	text_add(&t, ",\n\"key-5\":1,\n\"key-70000\":1}");
	check_big("JSON with doubles the other way", &t, "f:100001:1: duplicate key 'key-5', first at 6:1", ERR_INPUT,
		  SIZE_MAX);
	text_reset(&t);
	text_add(&t, "---\n");
	add_keys(&t, 100000);
	text_add(&t, ",\n\"key-1\":1}");
	check_big("YAML with doubles", &t, "f:100002:1: duplicate key 'key-1', first at 3:1", ERR_INPUT, SIZE_MAX);
	text_free(&t);
}

static void doubles_are_found_in_maps_of_every_size(void **state)
{
	for (int n = 1; n <= 40; n++) {
		struct text t = {0};
		char message[80];
		add_keys(&t, n);
		text_printf(&t, ",\n\"key-%d\":1}", n / 2);
		snprintf(message, sizeof(message), "f:%d:1: duplicate key 'key-%d', first at %d:%d", n + 1, n / 2,
			 n / 2 + 1, n / 2 == 0 ? 2 : 1);
		check_big("a double", &t, message, ERR_INPUT, SIZE_MAX);
		text_free(&t);
	}
}

static void keys_end_at_a_kilobyte(void **state)
{
	for (int is_yaml = 0; is_yaml < 2; is_yaml++) {
		struct text t = {0};
		text_add(&t, is_yaml ? "? " : "{\"");
		text_pad(&t, 'k', 1024);
		text_add(&t, is_yaml ? "\n: 1\n" : "\":1}");
		check_big("1024", &t, "", ERR_OK, 65536);
		text_reset(&t);
		text_add(&t, is_yaml ? "? " : "{\"");
		text_pad(&t, 'k', 1025);
		text_add(&t, is_yaml ? "\n: 1\n" : "\":1}");
		check_big("1025", &t,
			  is_yaml ? "f:1:3: a key of 1025 bytes; at most 1024 are read"
				  : "f:1:2: a key of 1025 bytes; at most 1024 are read",
			  ERR_LIMIT, 65536);
		text_free(&t);
	}
}

static void values_are_counted(void **state)
{
	static const char *const inputs[] = {"[1,2,3,4]", "--- [1, 2, 3, 4]", "- &a [1, 2]\n- *a\n"};
	static const char *const messages[] = {"f:1:8: more than 4 values in one document",
					       "f:1:16: more than 4 values in one document",
					       "f:3:1: more than 4 values in one document"};
	for (size_t i = 0; i < 3; i++) {
		struct arena *a = arena_new(4096);
		struct tree_reader *r = tree_reader_new("f", inputs[i], strlen(inputs[i]));
		struct tree_doc doc;
		struct err e;
		r->max_values = 4;
		assert_int_equal(tree_next(r, a, &doc, &e), ERR_LIMIT);
		assert_string_equal(e.msg, messages[i]);
		tree_reader_free(r);
		arena_free(a);
	}
}

static void more_than_two_gigabytes_are_refused_unread(void **state)
{
	struct text t = {.n = ((size_t)2 << 30) + 1};
	t.s = mmap(NULL, t.n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_true(t.s != MAP_FAILED);
	check_big("2 GiB and a byte", &t, "f:1:1: more than 2 GiB", ERR_LIMIT, 65536);
	munmap(t.s, t.n);
}

static void what_is_not_text_is_named(void **state)
{
	static const struct {
		const char *says, *input;
		size_t n;
		const char *message;
	} rows[] = {
		{"a program",
		 "\x7F"
		 "ELF\2\1\1\0\0",
		 9, "f:1:8: a NUL byte: this is a binary file, not YAML or JSON"},
		{"NUL in YAML", "a: 1\nb: ä\0", 11, "f:2:5: a NUL byte: this is a binary file, not YAML or JSON"},
		{"NUL in JSON", "{\"a\": \"\0\"}", 10, "f:1:8: a NUL byte: this is a binary file, not YAML or JSON"},
		{"gzip", "\x1F\x8B\x08", 3, "f:1:1: this is a gzip file; unpack it first"},
		{"UTF-16, little end first", "\xFF\xFE{\0}\0", 6, "f:1:1: this is UTF-16 text; save it as UTF-8"},
		{"UTF-16, big end first", "\xFE\xFF\0{\0}", 6, "f:1:1: this is UTF-16 text; save it as UTF-8"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text t = {.s = (char *)(uintptr_t)rows[i].input, .n = rows[i].n};
		check_big(rows[i].says, &t, rows[i].message, ERR_INPUT, 65536);
	}
	struct text t = {0};
	text_add(&t, "a: 1\n#");
	text_pad(&t, 'x', 20000);
	text_add_char(&t, '\0');
	check_big("NUL far behind, in YAML", &t, "f:2:20002: a NUL byte: this is a binary file, not YAML or JSON",
		  ERR_INPUT, 65536);
	memcpy(t.s, "[1,   ", 6);
	memset(t.s + 6, ' ', 20000);
	check_big("NUL far behind, in JSON", &t, "f:1:20007: expected a value, found byte 0x00", ERR_INPUT, 65536);
	text_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nesting_ends_at_200),
		cmocka_unit_test(a_hundred_megabytes_of_brackets_end_at_once),
		cmocka_unit_test(aliases_that_explode_are_refused),
		cmocka_unit_test(aliases_cannot_nest_deeper_either),
		cmocka_unit_test(many_anchors_and_merges_take_no_quadratic_time),
		cmocka_unit_test(a_hundred_thousand_keys_are_fine),
		cmocka_unit_test(doubles_are_found_in_maps_of_every_size),
		cmocka_unit_test(keys_end_at_a_kilobyte),
		cmocka_unit_test(values_are_counted),
		cmocka_unit_test(more_than_two_gigabytes_are_refused_unread),
		cmocka_unit_test(what_is_not_text_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
