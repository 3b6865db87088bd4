/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/text.h"

static atomic_int max_level = LOG_WARN;
static const char *_Atomic program = "cede";

void log_set_level(enum log_level max)
{
	atomic_store(&max_level, (int)max);
}

void log_set_program(const char *name)
{
	atomic_store(&program, name);
}

static void add_escaped(struct text *out, const char *s)
{
	for (const char *start = s; *s != '\0'; start = s) {
		uint32_t c = text_next(&s);
		if (c == TEXT_BAD)
			text_printf(out, "\\x%02x", (unsigned char)*start);
		else if (c == '\n')
			text_add(out, "\\n");
		else if (c < 0x20 || (c >= 0x7F && c < 0xA0))
			text_printf(out, "\\x%02x", (unsigned)c);
		else
			text_add_n(out, start, (size_t)(s - start));
	}
}

void log_line(enum log_level level, const char *fmt, ...)
{
	static const char *const words[] = {"error", "warning", "info", "debug"};
	if ((int)level > atomic_load(&max_level))
		return;
	const int saved_errno = errno;
	struct text msg = {0}, line = {0};
	va_list ap;
	va_start(ap, fmt);
	text_vprintf(&msg, fmt, ap);
	va_end(ap);
	text_printf(&line, "%s: %s: ", atomic_load(&program), words[level]);
	add_escaped(&line, text_str(&msg));
	text_add_char(&line, '\n');
	fwrite(text_str(&line), 1, line.n, stderr); /* one call, so that lines of threads do not mix */
	text_free(&line);
	text_free(&msg);
	errno = saved_errno;
}
