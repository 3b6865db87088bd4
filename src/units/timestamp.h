/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timestamp.h - points in time as RFC 3339: "2026-11-15T12:03:10Z", ".123456789", "+02:00". Nanoseconds since 1970,
 * UTC.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/*
 * Strict RFC 3339 as Go writes it: upper-case T and Z, two-digit fields, real calendar days, offsets up to 23:59, any
 * number of fraction digits after a point (cut after nine), no leap second 60; anything else is ERR_INPUT. Times before
 * TIME_FIRST (in 1677) and after TIME_LAST (in 2262) are taken for these.
 */
enum err_code timestamp_parse(const char *s, size_t len, int64_t *ret_ns, struct err *e);

/* UTC, fraction only if there is one, no trailing zeros: "2026-11-15T12:03:10.5Z". */
void timestamp_text(int64_t ns, struct text *out);
