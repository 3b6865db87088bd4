/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as hours of a week. What is read comes back from its text, and its end is after now and outside. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "units/timestamp.h"
#include "units/week_hours.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static void check(const struct week_hours *h)
{
	struct text t = {0};
	struct week_hours again;

	week_hours_text(h, &t);
	HOLDS(week_hours_parse(text_str(&t), t.n, &again, NULL) == ERR_OK && again.days == h->days &&
	      again.from_min == h->from_min && again.to_min == h->to_min && again.offset_min == h->offset_min);
	text_free(&t);
	for (int64_t hour = -24; hour < 200; hour++) {
		int64_t now = hour * 3600 * NS_PER_S, until = 0, more;

		if (week_hours_has(h, now, &until) && until != TIME_NONE)
			HOLDS(until > now && !week_hours_has(h, until, &more));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct week_hours h;
	struct err e = {0};

	if (n == 0)
		return 0;
	if (week_hours_parse((const char *)data, n, &h, &e) == ERR_OK)
		check(&h);
	else
		HOLDS(e.code == ERR_INPUT && strncmp(e.msg, "bad hours", 9) == 0);
	return 0;
}
