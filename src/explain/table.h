/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table.h - tables of text for people: columns as wide as what is in them, headings on top, nothing at the end of a
 * line.
 *
 *	struct table t = {0};
 *	table_column(&t, "NODE", COLUMN_LEFT);
 *	table_column(&t, "PODS", COLUMN_RIGHT);
 *	table_row(&t); table_cell(&t, TONE_PLAIN, "%s", name); table_cell(&t, TONE_BAD, "%u", n);
 *	table_print(&t, &look, &out);
 *	table_free(&t);
 *
 * A column in which every cell is empty is left out. What comes from a cluster is not trusted: control characters,
 * which could move the cursor or forge a line, are written as \x1b. Zero-initialised is an empty table, which prints
 * nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/text.h"

enum column_flags { COLUMN_LEFT = 0, COLUMN_RIGHT = 1 };

enum tone { TONE_PLAIN, TONE_STRONG, TONE_FAINT, TONE_GOOD, TONE_WARN, TONE_BAD };

/* What the place where it will be read can show. */
struct look {
	uint32_t width; /* columns of the terminal; 0: no end */
	bool has_color;
};

struct table_column {
	const char *title; /* borrowed until the table is printed */
	unsigned flags;
};

struct table_cell {
	size_t at; /* in words, NUL-terminated */
	enum tone tone;
};

struct table {
	ARRAY(struct table_column) columns;
	ARRAY(struct table_cell) cells; /* row by row, as many as there are columns */
	uint32_t n_rows;
	struct text words;
};

void table_column(struct table *t, const char *title, unsigned flags); /* before the first row */
void table_row(struct table *t); /* the cells left out of the row before stay empty */
void table_cell(struct table *t, enum tone tone, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/*
 * Names are never cut. Where lines are longer than look->width the last column is broken between words, below itself;
 * if there is too little room left for it, or the other columns do not fit either, a row goes on in the next line, four
 * columns in, and so do the titles.
 */
void table_print(const struct table *t, const struct look *look, struct text *out);
void table_free(struct table *t);

/* Words in a tone, on terminals that have them. */
void text_add_toned(struct text *out, const struct look *look, enum tone tone, const char *s);
/*
 * Words from column `at` of a line on, broken between words so that no line is longer than width (0: no end); the next
 * lines begin at column `indent`. A word that is too long by itself is left whole.
 */
void text_add_wrapped(struct text *out, const char *s, uint32_t at, uint32_t indent, uint32_t width);
/* An empty line and "WORDS (n)". */
void text_add_heading(struct text *out, const struct look *look, const char *words, uint32_t n);
