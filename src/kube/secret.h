/* SPDX-License-Identifier: Apache-2.0 */
/*
 * secret.h - tokens, keys and passwords: memory that is overwritten before it is given back, and left out of core
 * dumps.
 *
 * A secret never goes into an error, a log line or a journal. Whoever reads one from a file or a program reads it into
 * this memory, so that no other copy of it stays behind. Zero-initialised is "no secret".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct secret {
	char *s; /* NUL-terminated; NULL: none */
	size_t n;
	size_t mapped;
};

void secret_set(struct secret *x, const char *s, size_t n); /* a copy; what it held before is wiped */
void secret_free(struct secret *x);			    /* wipes; nothing happens without one */
bool secret_equal(const struct secret *a, const struct secret *b);
static inline bool secret_is_set(const struct secret *x)
{
	return x->s != NULL;
}
/* Cuts blanks and line ends off both ends, as tokens in files have them. */
void secret_trim(struct secret *x);

/* A whole file of at most max bytes. The error names the path and never what is in it. */
enum err_code secret_read(struct secret *x, const char *path, size_t max, struct err *e);
/* All that can be read from fd until its end, at most max bytes, or until deadline_ns (steady clock). */
enum err_code secret_drain(struct secret *x, int fd, size_t max, int64_t deadline_ns, const char *name, struct err *e);
/* Standard base64 with or without padding, blanks and line ends ignored. false: it is not. */
bool secret_decode_base64(struct secret *x, const char *s, size_t n);

/* From now on this process writes no core dump and nobody of the same user may look into it. */
void secret_hide_process(void);
