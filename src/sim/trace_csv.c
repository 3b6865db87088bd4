/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_csv.h"

#include <inttypes.h>

#include "base/clock.h"
#include "manifest/fields.h"
#include "units/timestamp.h"

enum { QUOTED_MAX = 60 }; /* of a wrong value, in messages */

void csv_init(struct csv *c, struct trace_input *in)
{
	*c = (struct csv){.in = in, .line = 1, .column = 1};
}

void csv_free(struct csv *c)
{
	text_free(&c->words);
	array_free(&c->fields);
}

/* ---- one row ---- */

static enum err_code wrong(const struct csv *c, const char *what, struct err *e)
{
	return err_fail(e, ERR_INPUT, "%s:%" PRIu32 ":%" PRIu32 ": %s", c->in->name, c->line, c->column, what);
}

static int take(struct csv *c)
{
	int ch = trace_input_next(c->in);

	if (ch == '\n') {
		c->line++;
		c->column = 1;
	} else if (ch >= 0) {
		c->column++;
	}
	return ch;
}

static enum err_code add_byte(struct csv *c, int ch, struct err *e)
{
	if (ch == '\0')
		return err_fail(e, ERR_INPUT, "%s:%" PRIu32 ": a NUL byte: this is no text", c->in->name, c->line);
	if (c->words.n >= CSV_ROW_BYTES_MAX)
		return err_fail(e, ERR_LIMIT, "%s:%" PRIu32 ": a row of more than 1 MiB (is a quote not closed?)",
				c->in->name, c->line);
	text_add_char(&c->words, (char)ch);
	return ERR_OK;
}

/* CR counts as the end of a line only before LF. */
static bool is_line_end(struct csv *c, int ch)
{
	return ch == '\n' || (ch == '\r' && trace_input_peek(c->in) == '\n');
}

static enum err_code read_plain(struct csv *c, struct err *e)
{
	for (;;) {
		int ch = trace_input_peek(c->in);

		if (ch < 0 || ch == ',' || ch == '\n')
			return ERR_OK;
		if (ch == '"')
			return wrong(c, "a quote inside a field that does not begin with one", e);
		take(c);
		if (is_line_end(c, ch))
			return ERR_OK;
		TRY(add_byte(c, ch, e));
	}
}

static enum err_code read_quoted(struct csv *c, struct err *e)
{
	const struct csv begin = {.in = c->in, .line = c->line, .column = c->column};

	take(c);
	for (;;) {
		int ch = take(c);

		if (ch == TRACE_END)
			return wrong(&begin, "this quote is not closed", e);
		if (ch == TRACE_FAILED)
			return trace_input_error(c->in, e);
		if (ch == '"' && trace_input_peek(c->in) != '"')
			break;
		if (ch == '"')
			take(c);
		TRY(add_byte(c, ch, e));
	}
	if (trace_input_peek(c->in) == '\r') {
		take(c);
		return trace_input_peek(c->in) == '\n' ? ERR_OK : wrong(c, "a carriage return without line feed", e);
	}
	return ERR_OK;
}

/* Up to the comma or line end behind it, which stays. */
static enum err_code read_field(struct csv *c, struct err *e)
{
	struct csv_field f = {.at = c->words.n, .line = c->line, .column = c->column};
	bool is_quoted = trace_input_peek(c->in) == '"';
	int ch;

	if (c->fields.n == CSV_COLUMNS_MAX)
		return err_fail(e, ERR_LIMIT, "%s:%" PRIu32 ": more than %d fields in a row", c->in->name, c->line,
				CSV_COLUMNS_MAX);
	TRY(is_quoted ? read_quoted(c, e) : read_plain(c, e));
	text_add_char(&c->words, '\0');
	array_push(&c->fields, f);
	ch = trace_input_peek(c->in);
	if (ch == TRACE_FAILED)
		return trace_input_error(c->in, e);
	return ch < 0 || ch == ',' || ch == '\n' ? ERR_OK : wrong(c, "text behind a closed quote", e);
}

static enum err_code read_line(struct csv *c, bool *ret_has_row, struct err *e)
{
	text_reset(&c->words);
	c->fields.n = 0;
	*ret_has_row = trace_input_peek(c->in) != TRACE_END;
	for (bool more = *ret_has_row; more;) {
		TRY(read_field(c, e));
		more = take(c) == ',';
	}
	return ERR_OK;
}

/* In a table of one column an empty line is an empty field; else there is nothing in it. */
static bool is_empty_line(const struct csv *c)
{
	return c->fields.n == 1 && !c->words.s[0] && c->n_columns != 1;
}

static enum err_code read_row(struct csv *c, bool *ret_has_row, struct err *e)
{
	do
		TRY(read_line(c, ret_has_row, e));
	while (is_empty_line(c));
	return ERR_OK;
}

/* ---- the header ---- */

static void skip_mark(struct csv *c)
{
	static const unsigned char mark[] = {0xef, 0xbb, 0xbf};

	if (trace_input_peek(c->in) != mark[0])
		return;
	for (size_t i = 0; i < sizeof(mark) && trace_input_peek(c->in) == mark[i]; i++)
		trace_input_next(c->in);
}

static const char *field_str(const struct csv *c, uint32_t column)
{
	return c->words.s + c->fields.v[column].at;
}

static enum err_code find_column(struct csv *c, uint32_t i, struct err *e)
{
	uint32_t n_found = 0;

	for (uint32_t k = 0; k < c->n_columns; k++) {
		if (!str_eq(field_str(c, k), c->wanted[i]))
			continue;
		c->wanted_at[i] = k;
		n_found++;
	}
	if (n_found == 1)
		return ERR_OK;
	return err_fail(e, ERR_INPUT, "%s:%" PRIu32 ": %s column '%s' in the header", c->in->name,
			c->n_columns ? csv_line(c) : 1, n_found ? "more than one" : "no", c->wanted[i]);
}

enum err_code csv_header(struct csv *c, const char *const *wanted, uint32_t n, struct err *e)
{
	bool has_row;

	assert(n <= CSV_WANTED_MAX && !c->n_columns);
	skip_mark(c);
	TRY(read_row(c, &has_row, e));
	c->wanted = wanted;
	c->n_columns = c->fields.n;
	for (uint32_t i = 0; i < n; i++)
		TRY(find_column(c, i, e));
	return ERR_OK;
}

enum err_code csv_next(struct csv *c, bool *ret_has_row, struct err *e)
{
	bool has_row;

	TRY(read_row(c, &has_row, e));
	if (has_row && c->fields.n != c->n_columns)
		return err_fail(e, ERR_INPUT, "%s:%" PRIu32 ": %" PRIu32 " fields, the header has %" PRIu32,
				c->in->name, csv_line(c), c->fields.n, c->n_columns);
	*ret_has_row = has_row;
	return ERR_OK;
}

/* ---- fields ---- */

const char *csv_str(const struct csv *c, uint32_t i)
{
	return field_str(c, c->wanted_at[i]);
}

uint32_t csv_line(const struct csv *c)
{
	return c->fields.v[0].line;
}

enum err_code csv_bad(const struct csv *c, uint32_t i, const char *what, struct err *e)
{
	const struct csv_field *f = &c->fields.v[c->wanted_at[i]];
	const char *s = csv_str(c, i);

	if (!*s)
		return err_fail(e, ERR_INPUT, "%s:%" PRIu32 ":%" PRIu32 ": %s: empty, not %s", c->in->name, f->line,
				f->column, c->wanted[i], what);
	return err_fail(e, ERR_INPUT, "%s:%" PRIu32 ":%" PRIu32 ": %s: '%.*s' is not %s", c->in->name, f->line,
			f->column, c->wanted[i], QUOTED_MAX, s, what);
}

bool trace_parse_int(const char *s, size_t n, int64_t *ret)
{
	bool is_negative = n && s[0] == '-';
	int64_t v = 0;

	if (n == (size_t)is_negative)
		return false;
	for (size_t i = is_negative; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return false;
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_sub_overflow(v, s[i] - '0', &v))
			return false;
	}
	if (!is_negative && v == INT64_MIN)
		return false;
	*ret = is_negative ? v : -v;
	return true;
}

/* The digits of a fraction as nanoseconds; finer ones are dropped. */
static bool parse_fraction(const char *s, size_t n, int64_t *ret_ns)
{
	int64_t v = 0;

	for (size_t i = 0; i < n || i < 9; i++) {
		if (i < n && (s[i] < '0' || s[i] > '9'))
			return false;
		if (i < 9)
			v = v * 10 + (i < n ? s[i] - '0' : 0);
	}
	*ret_ns = v;
	return true;
}

bool trace_parse_seconds(const char *s, size_t n, int64_t *ret_ns)
{
	const char *point = memchr(s, '.', n);
	size_t whole = point ? (size_t)(point - s) : n;
	int64_t seconds, fraction_ns = 0;

	if (!trace_parse_int(s, whole, &seconds) || s[0] == '-' || seconds > INT64_MAX / NS_PER_S - 1)
		return false;
	if (point && (whole + 1 == n || !parse_fraction(point + 1, n - whole - 1, &fraction_ns)))
		return false;
	*ret_ns = time_add(time_multiply(seconds, NS_PER_S), fraction_ns);
	return true;
}

enum err_code csv_int(const struct csv *c, uint32_t i, int64_t min, int64_t max, int64_t *ret, struct err *e)
{
	const char *s = csv_str(c, i);
	char what[96];
	int64_t v;

	if (trace_parse_int(s, strlen(s), &v) && v >= min && v <= max) {
		*ret = v;
		return ERR_OK;
	}
	snprintf(what, sizeof(what), "a whole number from %" PRId64 " to %" PRId64, min, max);
	return csv_bad(c, i, what, e);
}

enum err_code csv_seconds(const struct csv *c, uint32_t i, int64_t *ret_ns, struct err *e)
{
	const char *s = csv_str(c, i);

	if (trace_parse_seconds(s, strlen(s), ret_ns))
		return ERR_OK;
	return csv_bad(c, i, "a number of seconds from 0 on, as in 66.0", e);
}

/* 2262-01-01; what runs after it would end after the last time there is. */
#define CSV_TIME_LAST (INT64_C(9214646400) * NS_PER_S)

enum err_code csv_time(const struct csv *c, uint32_t i, int64_t *ret_ns, struct err *e)
{
	const char *s = csv_str(c, i);
	size_t n = strlen(s);
	char rfc3339[40];

	if (n < 19 || n > 30 || (s[10] != ' ' && s[10] != 'T'))
		return csv_bad(c, i, "a time, as in 2017-10-09 07:01:55", e);
	snprintf(rfc3339, sizeof(rfc3339), "%sZ", s);
	rfc3339[10] = 'T';
	if (timestamp_parse(rfc3339, n + 1, ret_ns, NULL))
		return csv_bad(c, i, "a time, as in 2017-10-09 07:01:55", e);
	if (*ret_ns >= CSV_TIME_LAST || *ret_ns <= TIME_FIRST)
		return csv_bad(c, i, "a time before the year 2262", e);
	return ERR_OK;
}
