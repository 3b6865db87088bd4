/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/table.h"

#include <assert.h>

enum { GAP = 2, CUT_MIN = 12 };

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

static uint32_t line_width(const uint32_t *widths, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += widths[i] ? widths[i] + (sum ? GAP : 0) : 0;
	return sum;
}

/* Not below its heading, nor to where nothing can be recognised. */
static bool may_cut(const struct table_column *c, uint32_t width)
{
	return c->flags & COLUMN_CUT && width > CUT_MIN && width > text_width(c->title);
}

/* One column off the widest that may be cut, until the line fits or nothing more may be cut. */
static void fit(const struct table *t, uint32_t *widths, uint32_t width)
{
	while (width && line_width(widths, t->columns.n) > width) {
		uint32_t widest = UINT32_MAX;

		for (uint32_t i = 0; i < t->columns.n; i++)
			if (may_cut(&t->columns.v[i], widths[i]) &&
			    (widest == UINT32_MAX || widths[i] > widths[widest]))
				widest = i;
		if (widest == UINT32_MAX)
			return;
		widths[widest]--;
	}
}

static const char *skip(const char *s, size_t n)
{
	while (n-- > 0 && *s)
		text_next(&s);
	return s;
}

static void add_cut(struct text *out, const char *s, uint32_t width)
{
	size_t n = text_width(s), front = width / 2, back = width - 1 - front;

	if (n <= width) {
		text_add(out, s);
		return;
	}
	text_add_n(out, s, (size_t)(skip(s, front) - s));
	text_add(out, "…");
	text_add(out, skip(s, n - back));
}

/* Blanks are owed until something follows them, so that no line ends in one. */
struct table_line {
	struct text *out;
	const struct look *look;
	size_t owed;
	bool has_cells;
};

static void add_cell(struct table_line *l, const char *s, enum tone tone, unsigned flags, uint32_t width)
{
	struct text cut = {0};
	size_t n;

	if (!width)
		return;
	l->owed += l->has_cells ? GAP : 0;
	l->has_cells = true;
	add_cut(&cut, s, width);
	n = text_width(text_str(&cut));
	l->owed += flags & COLUMN_RIGHT ? width - n : 0;
	if (n) {
		text_pad(l->out, ' ', l->owed);
		text_add_toned(l->out, l->look, tone, text_str(&cut));
		l->owed = 0;
	}
	l->owed += flags & COLUMN_RIGHT ? 0 : width - n;
	text_free(&cut);
}

static void add_titles(const struct table *t, const uint32_t *widths, const struct look *look, struct text *out)
{
	struct table_line l = {.out = out, .look = look};

	for (uint32_t i = 0; i < t->columns.n; i++)
		add_cell(&l, t->columns.v[i].title, TONE_STRONG, t->columns.v[i].flags, widths[i]);
	text_add_char(out, '\n');
}

static void add_row(const struct table *t, uint32_t row, const uint32_t *widths, const struct look *look,
		    struct text *out)
{
	struct table_line l = {.out = out, .look = look};

	for (uint32_t i = 0; i < t->columns.n; i++) {
		const struct table_cell *c = cell_at(t, row, i);

		add_cell(&l, cell_words(t, c), c->tone, t->columns.v[i].flags, widths[i]);
	}
	text_add_char(out, '\n');
}

void table_print(const struct table *t, const struct look *look, struct text *out)
{
	uint32_t *widths;

	if (!t->n_rows)
		return;
	widths = mem_alloc((t->columns.n + 1) * sizeof(*widths));
	for (uint32_t i = 0; i < t->columns.n; i++)
		widths[i] = natural_width(t, i);
	fit(t, widths, look->width);
	add_titles(t, widths, look, out);
	for (uint32_t row = 0; row < t->n_rows; row++)
		add_row(t, row, widths, look, out);
	mem_free(widths);
}

void text_add_toned(struct text *out, const struct look *look, enum tone tone, const char *s)
{
	static const char *const codes[] = {"", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[1;31m"};

	if (!look->has_color || tone == TONE_PLAIN)
		text_add(out, s);
	else
		text_printf(out, "%s%s\033[0m", codes[tone], s);
}

/* Letters that make a terminal write the rest from right to left. */
static bool turns_direction(uint32_t c)
{
	return c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

void text_add_visible(struct text *out, const char *s)
{
	for (const char *start = s; *s; start = s) {
		uint32_t c = text_next(&s);

		if (c == TEXT_BAD)
			text_printf(out, "\\x%02x", (unsigned char)*start);
		else if (c == '\n')
			text_add(out, "\\n");
		else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			text_printf(out, "\\x%02x", (unsigned)c);
		else if (turns_direction(c))
			text_printf(out, "\\u%04x", (unsigned)c);
		else
			text_add_n(out, start, (size_t)(s - start));
	}
}
