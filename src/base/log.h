/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - words for whoever runs a program. For src/cli, src/serve and src/kube only: everything above them returns
 * errors and results instead (the layering check sees to it).
 */
#pragma once

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level max); /* LOG_WARN unless set */
void log_set_program(const char *name); /* "cede" unless set */
/* One line on standard error: "cede: warning: ...". Control characters in the message are escaped. Thread-safe. */
void log_line(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
