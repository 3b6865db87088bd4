/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/table.h"

#include <assert.h>

enum { GAP = 2, INDENT = 4, WRAP_LEAST = 12, WRAP_ENOUGH = 32 };

void table_column(struct table *t, const char *title, unsigned flags)
{
	struct table_column c = {title, flags};

	assert(t->n_rows == 0);
	array_push(&t->columns, c);
}

/* Offset 0 of the words is the empty text. */
static void fill_row(struct table *t)
{
	struct table_cell empty = {0};

	while (t->cells.n < t->n_rows * t->columns.n)
		array_push(&t->cells, empty);
}

void table_row(struct table *t)
{
	if (t->words.n == 0)
		text_add_char(&t->words, '\0');
	fill_row(t);
	t->n_rows++;
}

void table_cell(struct table *t, enum tone tone, const char *fmt, ...)
{
	struct table_cell cell = {t->words.n, tone};
	struct text raw = {0};
	va_list ap;

	assert(t->n_rows > 0 && t->cells.n < t->n_rows * t->columns.n);
	va_start(ap, fmt);
	text_vprintf(&raw, fmt, ap);
	va_end(ap);
	text_add_visible(&t->words, text_str(&raw));
	text_add_char(&t->words, '\0');
	array_push(&t->cells, cell);
	text_free(&raw);
}

void table_free(struct table *t)
{
	array_free(&t->columns);
	array_free(&t->cells);
	text_free(&t->words);
	t->n_rows = 0;
}

static const struct table_cell *cell_at(const struct table *t, uint32_t row, uint32_t column)
{
	static const struct table_cell empty = {0};
	uint32_t i = row * t->columns.n + column;

	return i < t->cells.n ? &t->cells.v[i] : &empty;
}

static const char *cell_words(const struct table *t, const struct table_cell *c)
{
	return text_str(&t->words) + c->at;
}

/* 0: nothing in it. */
static uint32_t natural_width(const struct table *t, uint32_t column)
{
	uint32_t width = 0, title = (uint32_t)text_width(t->columns.v[column].title);

	for (uint32_t row = 0; row < t->n_rows; row++) {
		uint32_t w = (uint32_t)text_width(cell_words(t, cell_at(t, row, column)));

		width = w > width ? w : width;
	}
	return width > 0 && width < title ? title : width;
}

/* ---- where columns stand ---- */

struct layout {
	uint32_t *widths; /* 0: left out */
	uint32_t *at;	  /* the column of the line that it begins in */
	bool *is_below;	  /* it begins a new line */
	uint32_t last;	  /* the last that is shown */
};

static struct layout layout_new(const struct table *t)
{
	struct layout l = {.widths = mem_alloc((t->columns.n + 1) * sizeof(*l.widths)),
			   .at = mem_alloc((t->columns.n + 1) * sizeof(*l.at)),
			   .is_below = mem_alloc((t->columns.n + 1) * sizeof(*l.is_below))};

	for (uint32_t i = 0; i < t->columns.n; i++) {
		l.widths[i] = natural_width(t, i);
		if (l.widths[i])
			l.last = i;
	}
	return l;
}

static void layout_free(struct layout *l)
{
	mem_free(l->widths);
	mem_free(l->at);
	mem_free(l->is_below);
}

static bool may_wrap(const struct table *t, const struct layout *l, uint32_t i)
{
	return i == l->last && !(t->columns.v[i].flags & COLUMN_RIGHT);
}

/* What a column must have beside the others: the last one can do with half of it, or with enough for a few words. */
static uint32_t least_width(const struct table *t, const struct layout *l, uint32_t i)
{
	uint32_t title = (uint32_t)text_width(t->columns.v[i].title), least = (l->widths[i] + 1) / 2;

	if (!may_wrap(t, l, i) || l->widths[i] <= WRAP_LEAST)
		return l->widths[i];
	least = least < WRAP_LEAST ? WRAP_LEAST : least > WRAP_ENOUGH ? WRAP_ENOUGH : least;
	return least < title ? title : least;
}

static void lay_out(const struct table *t, struct layout *l, uint32_t width)
{
	uint32_t end = 0; /* of the line so far */

	for (uint32_t i = 0; i < t->columns.n; i++) {
		if (!l->widths[i])
			continue;
		l->at[i] = end ? end + GAP : 0;
		l->is_below[i] = width && end && l->at[i] + least_width(t, l, i) > width;
		if (l->is_below[i])
			l->at[i] = INDENT;
		if (width && may_wrap(t, l, i) && l->at[i] + l->widths[i] > width) {
			uint32_t least = least_width(t, l, i), left = width > l->at[i] ? width - l->at[i] : 0;

			l->widths[i] = left > least ? left : least;
		}
		end = l->at[i] + l->widths[i];
	}
}

/* ---- lines ---- */

/* Bytes of the first line: up to the last blank within width, or the first one beyond it. */
static size_t first_line(const char *s, uint32_t width)
{
	const char *p = s, *blank = NULL;

	for (uint32_t n = 0; *p; n++) {
		if (*p == ' ' && (n <= width || !blank))
			blank = p;
		if (n >= width && blank)
			return (size_t)(blank - s);
		text_next(&p);
	}
	return (size_t)(p - s);
}

static const char *next_line(const char *s, size_t n)
{
	s += n;
	while (*s == ' ')
		s++;
	return s;
}

void text_add_wrapped(struct text *out, const char *s, uint32_t at, uint32_t indent, uint32_t width)
{
	uint32_t left = width > at ? width - at : 1;

	if (!width) {
		text_add(out, s);
		return;
	}
	for (size_t n; *s; s = next_line(s, n)) {
		n = first_line(s, left);
		text_add_n(out, s, n);
		if (!*next_line(s, n))
			return;
		text_add_char(out, '\n');
		text_pad(out, ' ', indent);
		left = width > indent ? width - indent : 1;
	}
}

/* Blanks are added when something follows them, so that no line ends in one. */
struct line {
	struct text *out;
	const struct look *look;
	uint32_t at;
};

static void line_break(struct line *l)
{
	text_add_char(l->out, '\n');
	l->at = 0;
}

static void add_words(struct line *l, const char *s, size_t n, enum tone tone, uint32_t at)
{
	struct text words = {0};

	if (!n)
		return;
	text_add_n(&words, s, n);
	text_pad(l->out, ' ', at - l->at);
	text_add_toned(l->out, l->look, tone, text_str(&words));
	l->at = at + (uint32_t)text_width(text_str(&words));
	text_free(&words);
}

static void add_cell(struct line *l, const struct layout *o, uint32_t i, const char *s, enum tone tone, unsigned flags)
{
	uint32_t width = o->widths[i], n_columns = (uint32_t)text_width(s);
	size_t n;

	if (!width)
		return;
	if (o->is_below[i])
		line_break(l);
	if (flags & COLUMN_RIGHT || n_columns <= width) {
		add_words(l, s, strlen(s), tone, o->at[i] + (flags & COLUMN_RIGHT ? width - n_columns : 0));
		return;
	}
	for (; *s; s = next_line(s, n)) {
		n = first_line(s, width);
		add_words(l, s, n, tone, o->at[i]);
		if (*next_line(s, n))
			line_break(l);
	}
}

static void add_titles(const struct table *t, const struct layout *o, const struct look *look, struct text *out)
{
	struct line l = {.out = out, .look = look};

	for (uint32_t i = 0; i < t->columns.n; i++)
		add_cell(&l, o, i, t->columns.v[i].title, TONE_STRONG, t->columns.v[i].flags);
	text_add_char(out, '\n');
}

static bool is_empty_below(const struct table *t, uint32_t row, uint32_t i, const struct layout *o)
{
	for (; i < t->columns.n; i++)
		if (o->widths[i] && *cell_words(t, cell_at(t, row, i)))
			return false;
	return true;
}

static void add_row(const struct table *t, uint32_t row, const struct layout *o, const struct look *look,
		    struct text *out)
{
	struct line l = {.out = out, .look = look};

	for (uint32_t i = 0; i < t->columns.n; i++) {
		const struct table_cell *c = cell_at(t, row, i);

		if (o->is_below[i] && is_empty_below(t, row, i, o))
			break;
		add_cell(&l, o, i, cell_words(t, c), c->tone, t->columns.v[i].flags);
	}
	text_add_char(out, '\n');
}

void table_print(const struct table *t, const struct look *look, struct text *out)
{
	struct layout o;

	if (!t->n_rows)
		return;
	o = layout_new(t);
	lay_out(t, &o, look->width);
	add_titles(t, &o, look, out);
	for (uint32_t row = 0; row < t->n_rows; row++)
		add_row(t, row, &o, look, out);
	layout_free(&o);
}

void text_add_toned(struct text *out, const struct look *look, enum tone tone, const char *s)
{
	static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[1;31m"};

	if (!look->has_color || tone == TONE_PLAIN)
		text_add(out, s);
	else
		text_printf(out, "%s%s\033[0m", codes[tone], s);
}

void text_add_heading(struct text *out, const struct look *look, const char *words, uint32_t n)
{
	struct text s = {0};

	text_printf(&s, "%s (%u)", words, n);
	text_add_char(out, '\n');
	text_add_toned(out, look, TONE_STRONG, text_str(&s));
	text_add_char(out, '\n');
	text_free(&s);
}
