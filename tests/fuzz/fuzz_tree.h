/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_tree.h - comparing what two readers made of an input, for the fuzzers of JSON and YAML. Places do not count.
 */
#pragma once

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "manifest/tree.h"

/*
 * is_loose: one side went through JSON, so True and true are the same, and numbers that JSON does not know came back as
 * strings.
 */
static inline bool tree_equal(const struct tree *x, const struct tree *y, bool is_loose);

static inline bool fields_equal(const struct tree *x, const struct tree *y, bool is_loose)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const struct tree_field *f = &x->fields[i], *g = &y->fields[i];
		if (f->key_len != g->key_len || memcmp(f->key, g->key, f->key_len) != 0 ||
		    !tree_equal(f->value, g->value, is_loose))
			return false;
	}
	return true;
}

static inline bool items_equal(const struct tree *x, const struct tree *y, bool is_loose)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (!tree_equal(x->items[i], y->items[i], is_loose))
			return false;
	return true;
}

static inline bool tree_equal(const struct tree *x, const struct tree *y, bool is_loose)
{
	if (x->kind == TREE_BOOL && y->kind == TREE_BOOL && is_loose)
		return x->truth == y->truth;
	bool is_number_as_string = is_loose && x->kind == TREE_NUMBER && y->kind == TREE_STRING;
	if ((x->kind != y->kind && !is_number_as_string) || x->n != y->n || x->truth != y->truth)
		return false;
	if (x->kind == TREE_MAP)
		return fields_equal(x, y, is_loose);
	if (x->kind == TREE_LIST)
		return items_equal(x, y, is_loose);
	return memcmp(x->text, y->text, x->n + 1) == 0;
}

static inline void put_string(struct text *out, const char *s, size_t n)
{
	text_add_char(out, '"');
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)s[i] < 0x20)
			text_printf(out, "\\u%04x", (unsigned)s[i]);
		else if (s[i] == '"' || s[i] == '\\')
			text_printf(out, "\\%c", s[i]);
		else
			text_add_char(out, s[i]);
	}
	text_add_char(out, '"');
}

static inline bool is_json_number(const char *s)
{
	s += *s == '-';
	size_t n = strspn(s, "0123456789");
	if (n == 0 || (*s == '0' && n > 1))
		return false;
	s += n;
	if (*s == '.') {
		n = strspn(++s, "0123456789");
		if (n == 0)
			return false;
		s += n;
	}
	if (*s == 'e' || *s == 'E') {
		s++;
		s += *s == '+' || *s == '-';
		n = strspn(s, "0123456789");
		if (n == 0)
			return false;
		s += n;
	}
	return *s == '\0';
}

/* False if there are more values than *budget. */
static inline bool put_json(struct text *out, const struct tree *t, uint32_t *budget)
{
	if (*budget == 0)
		return false;
	--*budget;
	if (t->kind == TREE_MAP || t->kind == TREE_LIST) {
		bool is_map = t->kind == TREE_MAP;
		text_add(out, is_map ? "{" : "[");
		for (uint32_t i = 0; i < t->n; i++) {
			text_add(out, i > 0 ? "," : "");
			if (is_map) {
				put_string(out, t->fields[i].key, t->fields[i].key_len);
				text_add_char(out, ':');
			}
			if (!put_json(out, is_map ? t->fields[i].value : t->items[i], budget))
				return false;
		}
		text_add(out, is_map ? "}" : "]");
	} else if (t->kind == TREE_STRING || (t->kind == TREE_NUMBER && !is_json_number(t->text))) {
		put_string(out, t->text, t->n);
	} else {
		text_add(out, t->kind == TREE_NULL     ? "null"
			      : t->kind == TREE_NUMBER ? t->text
			      : t->truth	       ? "true"
						       : "false");
	}
	return true;
}

static inline void check_root(const struct tree *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->kind == TREE_MAP)
			assert(strlen(t->fields[i].key) == t->fields[i].key_len && t->fields[i].line > 0 &&
			       t->fields[i].col > 0);
		else if (t->kind != TREE_LIST)
			break;
	}
	assert(t->line > 0 && t->col > 0);
	if (t->kind < TREE_LIST)
		assert(strlen(t->text) == t->n);
}

/* What the tree says, written as JSON, is read as the same. Under a key of its own, so that no List is taken apart. */
static inline void check_round_trip(const struct tree *t)
{
	struct text out = {0};
	uint32_t budget = 20000;
	text_add(&out, "{\"v\":");
	if (put_json(&out, t, &budget)) {
		struct arena *a = arena_new(4096);
		struct tree_doc doc;
		struct err e = {0};
		text_add(&out, "}");
		struct tree_reader *r = tree_reader_new("again", out.s, out.n);
		if (tree_next(r, a, &doc, &e) == ERR_OK)
			assert(tree_equal(t, tree_get(doc.root, "v"), true));
		else
			assert(strstr(e.msg, "nested deeper") != NULL);
		tree_reader_free(r);
		arena_free(a);
	}
	text_free(&out);
}
