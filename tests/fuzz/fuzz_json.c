/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Properties: what was read as JSON, written again and read again is the same; and it is the same when read as YAML, of
 * which JSON is a part as long as it keeps to one line, short keys and characters that YAML allows.
 */
#include "fuzz_tree.h"

static bool is_plain_character(const unsigned char *p, size_t left)
{
	if (*p >= 0x20 && *p < 0x7F)
		return true;
	if (*p < 0x80)
		return false;
	if (*p == 0xC2 && left > 1)
		return p[1] >= 0xA0;
	if (*p == 0xE2 && left > 2)
		return p[1] != 0x80 || (p[2] != 0xA8 && p[2] != 0xA9);
	return *p != 0xEF;
}

/* Blanks for line breaks and tabs; false if the rest is not the JSON that YAML understands. */
static bool is_yaml_too(char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\n' || s[i] == '\r' || s[i] == '\t')
			s[i] = ' ';
		if (!is_plain_character((unsigned char *)s + i, n - i))
			return false;
		if (s[i] == '\\' && i + 2 < n && s[i + 1] == 'u' && (s[i + 2] == 'd' || s[i + 2] == 'D'))
			return false;
	}
	return n < 1000;
}

static enum err_code next(struct tree_reader *r, struct arena *a, struct tree_doc *ret)
{
	struct err e;
	arena_reset(a);
	return tree_next(r, a, ret, &e);
}

/* Whether all of it can be read; every document of it is checked. */
static bool read_all(const char *data, size_t n)
{
	struct tree_reader *r = tree_reader_new("f", data, n);
	struct arena *a = arena_new(256);
	struct tree_doc doc;
	enum err_code code;
	while ((code = next(r, a, &doc)) == ERR_OK && doc.root != NULL) {
		check_root(doc.root);
		check_round_trip(doc.root);
	}
	tree_reader_free(r);
	arena_free(a);
	return code == ERR_OK;
}

static void compare(const char *json, size_t n_json, const char *yaml, size_t n_yaml)
{
	struct tree_reader *x = tree_reader_new("json", json, n_json), *y = tree_reader_new("yaml", yaml, n_yaml);
	struct arena *a = arena_new(256), *b = arena_new(256);
	struct tree_doc doc, other;
	do {
		assert(next(x, a, &doc) == ERR_OK);
		assert(next(y, b, &other) == ERR_OK);
		assert((doc.root == NULL) == (other.root == NULL));
		assert(doc.root == NULL || tree_equal(doc.root, other.root, false));
		assert(strcmp(doc.list_kind, other.list_kind) == 0 && strcmp(doc.list_api, other.list_api) == 0);
	} while (doc.root != NULL);
	tree_reader_free(x);
	tree_reader_free(y);
	arena_free(a);
	arena_free(b);
}

/* Values one after the other are documents in JSON alone. It is known to be JSON. */
static bool has_several_values(const char *s, size_t n)
{
	int depth = 0;
	bool is_string = false;
	size_t i = 0;

	for (; i < n && (depth > 0 || i == 0); i++) {
		if (is_string && s[i] == '\\')
			i++;
		else if (s[i] == '"')
			is_string = !is_string;
		else if (!is_string)
			depth += (s[i] == '{' || s[i] == '[') - (s[i] == '}' || s[i] == ']');
	}
	while (i < n && strchr(" \t\r\n", s[i]) != NULL)
		i++;
	return i < n && (s[i] == '{' || s[i] == '[');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *start = "{[\"";
	if (n == 0 || strchr(start, data[0]) == NULL || data[0] == '\0' || !read_all((const char *)data, n))
		return 0;
	struct text t = {0};
	text_add(&t, "--- ");
	text_add_n(&t, (const char *)data, n);
	if (data[0] != '"' && !has_several_values(t.s + 4, n) && is_yaml_too(t.s + 4, n) && read_all(t.s + 4, n))
		compare(t.s + 4, n, t.s, t.n);
	text_free(&t);
	return 0;
}
