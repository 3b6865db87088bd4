/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_input.h - the bytes of a trace, a piece at a time, so that a trace may be larger than the memory.
 *
 *	struct trace_input in;
 *	TRY(trace_input_open(&in, "philly.csv", e));      "-" is standard input
 *	while ((c = trace_input_next(&in)) >= 0) ...
 *	trace_input_close(&in);
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum { TRACE_END = -1, TRACE_FAILED = -2 };

struct trace_input {
	const char *name; /* for messages; borrowed */
	FILE *file;	  /* NULL: data is everything there is */
	const char *data;
	char *buffer; /* of the file */
	size_t at, n; /* in data */
	int os_error; /* why reading failed */
};

enum err_code trace_input_open(struct trace_input *in, const char *path, struct err *e);
void trace_input_memory(struct trace_input *in, const char *name, const char *data, size_t n); /* borrows data */
void trace_input_close(struct trace_input *in); /* also after a failed open, and zero-initialised */

/* Fills the buffer again: the next byte, TRACE_END or TRACE_FAILED. */
int trace_input_refill(struct trace_input *in);
static inline int trace_input_next(struct trace_input *in)
{
	return in->at < in->n ? (unsigned char)in->data[in->at++] : trace_input_refill(in);
}
/* The byte that trace_input_next will give, which stays. */
static inline int trace_input_peek(struct trace_input *in)
{
	int c = trace_input_next(in);

	if (c >= 0)
		in->at--;
	return c;
}
/* After TRACE_FAILED. */
enum err_code trace_input_error(const struct trace_input *in, struct err *e);
