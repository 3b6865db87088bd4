/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tree.h - trees as text, for tests of the readers.
 *
 * A document is written {key=value ...} [item ...] 'string' #number +true -false null; with places each value, and each
 * key, is preceded by line:column. Documents stand in a line each; those of a typed list end in " <Kind api>". The
 * error, if there is one, is the last line.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/text.h"
#include "manifest/tree.h"

static inline void show_value(struct text *out, const struct tree *t, bool with_places);

static inline void show_place(struct text *out, uint32_t line, uint32_t col, bool with_places)
{
	if (with_places)
		text_printf(out, "%u:%u", line, col);
}

static inline void show_map(struct text *out, const struct tree *t, bool with_places)
{
	text_add(out, "{");
	for (uint32_t i = 0; i < t->n; i++) {
		const struct tree_field *f = &t->fields[i];
		assert_int_equal(strlen(f->key), f->key_len);
		text_add(out, i > 0 ? " " : "");
		show_place(out, f->line, f->col, with_places);
		text_printf(out, "%s=", f->key);
		show_value(out, f->value, with_places);
	}
	text_add(out, "}");
}

static inline void show_list(struct text *out, const struct tree *t, bool with_places)
{
	text_add(out, "[");
	for (uint32_t i = 0; i < t->n; i++) {
		text_add(out, i > 0 ? " " : "");
		show_value(out, t->items[i], with_places);
	}
	text_add(out, "]");
}

static inline void show_value(struct text *out, const struct tree *t, bool with_places)
{
	show_place(out, t->line, t->col, with_places);
	if (t->kind == TREE_MAP) {
		show_map(out, t, with_places);
		return;
	}
	if (t->kind == TREE_LIST) {
		show_list(out, t, with_places);
		return;
	}
	assert_int_equal(strlen(t->text), t->n);
	if (t->kind == TREE_STRING)
		text_printf(out, "'%s'", t->text);
	else if (t->kind == TREE_NUMBER)
		text_printf(out, "#%s", t->text);
	else if (t->kind == TREE_BOOL)
		text_printf(out, "%c%s", t->truth ? '+' : '-', t->text);
	else
		text_add(out, "null");
}

/* All documents of the input. The arena is emptied between them, as a loader would. */
static inline void show_input_n(struct text *out, const char *input, size_t n, bool with_places)
{
	struct arena *a = arena_new(64);
	/* A copy of the exact size, so that the address sanitizer sees reads past the end. */
	char *copy = memcpy(mem_alloc(n), input, n);
	struct tree_reader *r = tree_reader_new("f", copy, n);
	struct tree_doc doc;
	struct err e;
	for (;;) {
		arena_reset(a);
		if (tree_next(r, a, &doc, &e) != ERR_OK) {
			text_printf(out, "%s\n", e.msg);
			assert_null(doc.root);
			assert_int_equal(tree_next(r, a, &doc, &e), ERR_OK);
			assert_null(doc.root);
			break;
		}
		if (doc.root == NULL)
			break;
		show_value(out, doc.root, with_places);
		if (doc.list_kind[0] != '\0')
			text_printf(out, " <%s %s>", doc.list_kind, doc.list_api);
		text_add(out, "\n");
	}
	tree_reader_free(r);
	arena_free(a);
	mem_free(copy);
}

struct tree_row {
	const char *says; /* what the row shows */
	const char *input;
	const char *gives; /* documents and error, without the last newline */
};

static inline void check_row(const struct tree_row *row, bool with_places)
{
	struct text out = {0};
	show_input_n(&out, row->input, strlen(row->input), with_places);
	if (out.n > 0)
		out.s[--out.n] = '\0';
	if (strcmp(text_str(&out), row->gives) != 0)
		fail_msg("%s\n  input: %s\n  want:  %s\n  got:   %s", row->says, row->input, row->gives,
			 text_str(&out));
	text_free(&out);
}

#define CHECK_ROWS(rows, with_places)                                            \
	do {                                                                     \
		for (size_t i_ = 0; i_ < sizeof(rows) / sizeof((rows)[0]); i_++) \
			check_row(&(rows)[i_], (with_places));                   \
	} while (0)
