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
		mem_fail();
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

bool text_is_hidden(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} ranges[] = {
		{0x00AD, 0x00AD},   /* soft hyphen */
		{0x034F, 0x034F},   /* combining grapheme joiner */
		{0x061C, 0x061C},   /* Arabic letter mark */
		{0x115F, 0x1160},   /* Hangul fillers */
		{0x17B4, 0x17B5},   /* Khmer inherent vowels */
		{0x180B, 0x180F},   /* Mongolian variation selectors and vowel separator */
		{0x200B, 0x200F},   /* zero-width space and joiners, marks of direction */
		{0x2028, 0x202E},   /* line and paragraph separators, embeddings and overrides of direction */
		{0x2060, 0x206F},   /* word joiner, invisible operators, isolates of direction */
		{0x3164, 0x3164},   /* Hangul filler */
		{0xFE00, 0xFE0F},   /* variation selectors */
		{0xFEFF, 0xFEFF},   /* byte order mark */
		{0xFFA0, 0xFFA0},   /* halfwidth Hangul filler */
		{0xFFF0, 0xFFFB},   /* interlinear annotation */
		{0x1D173, 0x1D17A}, /* musical formatting */
		{0xE0000, 0xE0FFF}, /* tags and more variation selectors */
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges) && c >= ranges[i].from; i++)
		if (c <= ranges[i].to)
			return true;
	return false;
}

void text_add_visible(struct text *t, const char *s)
{
	for (const char *start = s; *s != '\0'; start = s) {
		uint32_t c = text_next(&s);
		if (c == TEXT_BAD)
			text_printf(t, "\\x%02x", (unsigned char)*start);
		else if (c == '\n')
			text_add(t, "\\n");
		else if (c < 0x20 || (c >= 0x7F && c < 0xA0))
			text_printf(t, "\\x%02x", (unsigned)c);
		else if (text_is_hidden(c))
			text_printf(t, c > 0xFFFF ? "\\U%08x" : "\\u%04x", (unsigned)c);
		else
			text_add_n(t, start, (size_t)(s - start));
	}
}
