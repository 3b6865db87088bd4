/* SPDX-License-Identifier: Apache-2.0 */
/*
 * duration.h - lengths of time as Go programs write them: "1h30m", "1.5s", "-2m", "0"; units ns us µs ms s m h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

/* Nanoseconds. With days, also d (24h) and w (7d), as KAI's plugin arguments allow. Overflow is an error. */
enum err_code duration_parse(const char *s, size_t len, bool with_days, int64_t *ret_ns, struct err *e);

/* Go's own text: "1h30m0s", "1.5s", "2ms", "0s". Reads back the same. */
void duration_text(int64_t ns, struct text *out);
/* For people: the two largest units, rounded down: "6m50s", "3d4h", "12s", "850ms". */
void duration_text_short(int64_t ns, struct text *out);
