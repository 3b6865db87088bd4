/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - a growing piece of text. Zero-initialised is "" (text_str never gives NULL).
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
	char *s;
	size_t n, cap;
};

void text_add(struct text *t, const char *s);
void text_add_n(struct text *t, const char *s, size_t n);
void text_add_char(struct text *t, char c);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *t, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void text_pad(struct text *t, char c, size_t n); /* n times c */
const char *text_str(const struct text *t);	 /* NUL-terminated, "" when empty */
void text_reset(struct text *t);		 /* "" again, keeps the memory */
void text_free(struct text *t);

/* Equal strings, as a question. */
static inline bool str_eq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}
static inline bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

#define TEXT_BAD UINT32_MAX
/* Columns a UTF-8 string takes on a terminal: one per code point; good enough for names and numbers. */
size_t text_width(const char *s);

/*
 * Characters that nobody sees, or that turn around what stands beside them: in a message they can make one name look
 * like another.
 */
bool text_is_hidden(uint32_t code_point);
/* s with everything made visible that is not: \xNN for control characters and bad bytes, \uNNNN for hidden ones. */
void text_add_visible(struct text *t, const char *s);

/* The code point at *ps, stepping past it. 0 at the end; TEXT_BAD for a byte that is not part of valid UTF-8. */
uint32_t text_next(const char **ps);
