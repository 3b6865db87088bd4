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

/*
 * Nanoseconds, to the same one as Go's parser. With days, also d (24h) and w (7d), as KAI's plugin arguments allow.
 * More than int64_t holds is ERR_LIMIT, anything else ERR_INPUT.
 */
enum err_code duration_parse(const char *s, size_t len, bool with_days, int64_t *ret_ns, struct err *e);

/* Go's own text: "1h30m0s", "1.5s", "2ms", "0s". Reads back the same. */
void duration_text(int64_t ns, struct text *out);
/* For people: the two largest units (the second only if not zero), rounded towards zero: "6m50s", "3d4h", "2h". */
void duration_text_short(int64_t ns, struct text *out);
