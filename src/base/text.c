/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Room for extra more bytes and the NUL. */
static void reserve(struct text *t, size_t extra)
{
	if (extra > SIZE_MAX / 4 - t->n)
		abort();
	size_t want = t->n + extra + 1;
	if (want <= t->cap)
		return;
	size_t cap = t->cap != 0 ? t->cap : 32;
	while (cap < want)
		cap *= 2;
	t->s = mem_resize(t->s, cap, 1);
	t->cap = cap;
}

void text_add_n(struct text *t, const char *s, size_t n)
{
	reserve(t, n);
	if (n > 0)
		memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_add_n(t, s, strlen(s));
}

void text_add_char(struct text *t, char c)
{
	text_add_n(t, &c, 1);
}

void text_pad(struct text *t, char c, size_t n)
{
	reserve(t, n);
	memset(t->s + t->n, c, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void text_vprintf(struct text *t, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	reserve(t, 0);
	int n = vsnprintf(t->s + t->n, t->cap - t->n, fmt, ap);
	if (n < 0)
		abort();
	if ((size_t)n >= t->cap - t->n) {
		reserve(t, (size_t)n);
		vsnprintf(t->s + t->n, t->cap - t->n, fmt, again);
	}
	va_end(again);
	t->n += (size_t)n;
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	text_vprintf(t, fmt, ap);
	va_end(ap);
}

const char *text_str(const struct text *t)
{
	return t->s != NULL ? t->s : "";
}

void text_reset(struct text *t)
{
	t->n = 0;
	if (t->s != NULL)
		t->s[0] = '\0';
}

void text_free(struct text *t)
{
	mem_free(t->s);
	*t = (struct text){0};
}

size_t text_width(const char *s)
{
	size_t n = 0;
	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xC0) != 0x80;
	return n;
}

/* Bytes of the character beyond ASCII that c begins; 0 if none begins with it. */
static int lead_length(unsigned char c)
{
	if (c >= 0xC2 && c <= 0xDF)
		return 2;
	if (c >= 0xE0 && c <= 0xEF)
		return 3;
	if (c >= 0xF0 && c <= 0xF4)
		return 4;
	return 0;
}

uint32_t text_next(const char **ps)
{
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	const unsigned char *s = (const unsigned char *)*ps;
	*ps += *s != '\0';
	if (*s < 0x80)
		return *s;
	int n = lead_length(*s);
	if (n == 0)
		return TEXT_BAD;
	uint32_t cp = *s & (0xFFu >> (n + 1));
	for (int i = 1; i < n; i++) {
		if ((s[i] & 0xC0) != 0x80)
			return TEXT_BAD;
		cp = cp << 6 | (s[i] & 0x3Fu);
	}
	if (cp < smallest[n] || cp > 0x10FFFF || (cp >= 0xD800 && cp <= 0xDFFF))
		return TEXT_BAD;
	*ps += n - 1;
	return cp;
}
