/* SPDX-License-Identifier: Apache-2.0 */
/*
 * week_hours.h - hours of a week, as "Mon-Fri 09:00-17:00 +01:00".
 *
 * Days: Mon Tue Wed Thu Fri Sat Sun, one, a range (which may pass Sunday: Sat-Mon) or several with commas between them.
 * Hours: from the first minute to before the last one; 24:00 is the end of a day, and an end that is not after the
 * beginning is on the next day (22:00-06:00). Then the distance from UTC, or Z: daylight saving is not known here. One
 * blank between the three, nothing else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

struct week_hours {
	uint8_t days;		  /* bit 0: Monday; 0: no hours at all */
	int16_t from_min, to_min; /* of the day; to_min 1 to 1440 */
	int16_t offset_min;	  /* east of UTC */
};

/* Strict: ERR_INPUT that says what was expected. */
enum err_code week_hours_parse(const char *s, size_t len, struct week_hours *ret, struct err *e);
/* Reads back the same; "" for no hours. */
void week_hours_text(const struct week_hours *h, struct text *out);
/* Is it in these hours now? Until when, those that follow at once included; TIME_NONE (INT64_MIN): they never end. */
bool week_hours_has(const struct week_hours *h, int64_t now_ns, int64_t *ret_until_ns);
