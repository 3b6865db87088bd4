/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_csv.h - rows of comma-separated values, strictly (RFC 4180), one at a time.
 *
 *	struct csv c;
 *	csv_init(&c, &input);
 *	TRY(csv_header(&c, wanted, n_wanted, e));          the first row: which column is which
 *	while (!(rc = csv_next(&c, &has_row, e)) && has_row)
 *		rc = csv_int(&c, GPUS, 0, 64, &gpus, e);   fields by their number in wanted
 *	csv_free(&c);
 *
 * Fields may be quoted; inside quotes commas and line ends are text and "" is one quote. Lines end in LF or CRLF. A
 * byte order mark in front and empty lines are passed over. Every row has as many fields as the header. What is refused
 * is refused with file:line:column and the name of the field. Only the row that was read last is kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/text.h"
#include "sim/trace_input.h"

enum { CSV_COLUMNS_MAX = 256, CSV_ROW_BYTES_MAX = 1 << 20, CSV_WANTED_MAX = 32 };

struct csv_field {
	size_t at; /* in words, NUL-terminated */
	uint32_t line, column;
};

struct csv {
	struct trace_input *in;
	uint32_t line, column; /* of the next byte, from 1 */
	uint32_t n_columns;    /* of the header; 0: not read yet */
	struct text words;
	ARRAY(struct csv_field) fields;
	const char *const *wanted; /* names of the columns that are asked for */
	uint32_t wanted_at[CSV_WANTED_MAX];
};

void csv_init(struct csv *c, struct trace_input *in); /* borrows the input, at its beginning */
void csv_free(struct csv *c);

/* The header must name each of the n wanted columns once; more columns and any order are fine. Borrows the names. */
enum err_code csv_header(struct csv *c, const char *const *wanted, uint32_t n, struct err *e);
enum err_code csv_next(struct csv *c, bool *ret_has_row, struct err *e);

/* Fields of the row read last, by their number in wanted. Strings are good until the next row. */
const char *csv_str(const struct csv *c, uint32_t i);
uint32_t csv_line(const struct csv *c); /* of the row's first field */
/* A whole number from min to max. */
enum err_code csv_int(const struct csv *c, uint32_t i, int64_t min, int64_t max, int64_t *ret, struct err *e);
/* Seconds from 0 on, with a fraction ("66.0"), as nanoseconds. */
enum err_code csv_seconds(const struct csv *c, uint32_t i, int64_t *ret_ns, struct err *e);
/* "2017-10-09 07:01:55" (UTC; a T between and a fraction are fine too), as nanoseconds since 1970. */
enum err_code csv_time(const struct csv *c, uint32_t i, int64_t *ret_ns, struct err *e);
/* ERR_INPUT: "file:line:column: field: 'text' is not WHAT". */
enum err_code csv_bad(const struct csv *c, uint32_t i, const char *what, struct err *e);

/* Strict numbers, for readers of other formats too. False: it is not one, or is more than fits. */
bool trace_parse_int(const char *s, size_t n, int64_t *ret);
bool trace_parse_seconds(const char *s, size_t n, int64_t *ret_ns);
