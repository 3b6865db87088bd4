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
	text_add_visible(&line, text_str(&msg));
	text_add_char(&line, '\n');
	fwrite(text_str(&line), 1, line.n, stderr); /* one call, so that lines of threads do not mix */
	text_free(&line);
	text_free(&msg);
	errno = saved_errno;
}
