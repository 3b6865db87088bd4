/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* s was cut to n bytes by a limit: take away what is left of a UTF-8 character cut in two. */
static void trim_partial(char *s, size_t n)
{
	size_t start = n;
	while (start > 0 && n - start < 3 && ((unsigned char)s[start - 1] & 0xC0) == 0x80)
		start--;
	if (start == 0)
		return;
	unsigned char lead = (unsigned char)s[start - 1];
	size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
	if (n - (start - 1) < want)
		s[start - 1] = '\0';
}

__attribute__((format(printf, 3, 0))) static void format(char *buf, size_t cap, const char *fmt, va_list ap)
{
	int n = vsnprintf(buf, cap, fmt, ap);
	if (n < 0)
		buf[0] = '\0';
	else if ((size_t)n >= cap)
		trim_partial(buf, cap - 1);
}

void err_set(struct err *e, enum err_code code, const char *fmt, ...)
{
	if (e == NULL)
		return;
	/* The arguments may point into e->msg. */
	char msg[sizeof(e->msg)];
	va_list ap;
	va_start(ap, fmt);
	format(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	e->code = code;
	memcpy(e->msg, msg, strlen(msg) + 1);
}

enum err_code err_wrap(struct err *e, const char *fmt, ...)
{
	if (e == NULL)
		return ERR_INTERNAL;
	char msg[sizeof(e->msg)];
	va_list ap;
	va_start(ap, fmt);
	format(msg, sizeof(msg), fmt, ap);
	va_end(ap);

	size_t n = strlen(msg);
	const char *between = n > 0 && msg[n - 1] != ' ' ? ": " : "";
	int more = snprintf(msg + n, sizeof(msg) - n, "%s%s", between, e->msg);
	if (more >= 0 && (size_t)more >= sizeof(msg) - n)
		trim_partial(msg, sizeof(msg) - 1);
	memcpy(e->msg, msg, strlen(msg) + 1);
	return e->code;
}
