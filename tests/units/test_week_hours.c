/* SPDX-License-Identifier: Apache-2.0 */
/* Hours of a week: what is read, what is refused, and when they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "units/timestamp.h"
#include "units/week_hours.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static void reads_and_writes(void **state)
{
	static const struct {
		const char *sentence, *text, *again;
	} rows[] = {
		{"working hours in winter", "Mon-Fri 09:00-17:00 +01:00", "Mon-Fri 09:00-17:00 +01:00"},
		{"one day, in UTC", "Sun 00:00-24:00 Z", "Sun 00:00-24:00 Z"},
		{"no distance is UTC", "Sun 00:00-24:00 +00:00", "Sun 00:00-24:00 Z"},
		{"several days, in their order", "Fri,Mon 08:30-12:00 -05:30", "Mon,Fri 08:30-12:00 -05:30"},
		{"a range that passes Sunday", "Sat-Mon 10:00-11:00 Z", "Mon,Sat-Sun 10:00-11:00 Z"},
		{"over midnight", "Mon 22:00-06:00 Z", "Mon 22:00-06:00 Z"},
		{"midnight is the end of the day", "Mon 22:00-00:00 Z", "Mon 22:00-24:00 Z"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text t = {0};
		struct week_hours h;
		struct err e;

		if (week_hours_parse(rows[i].text, strlen(rows[i].text), &h, &e))
			fail_msg("%s: %s", rows[i].sentence, e.msg);
		week_hours_text(&h, &t);
		assert_string_equal(text_str(&t), rows[i].again);
		text_free(&t);
	}
}

static void refuses_what_is_not_exact(void **state)
{
	static const char *const rows[] = {"",
					   "Mon",
					   "mon 09:00-17:00 Z",
					   "Mon-Fri 9:00-17:00 Z",
					   "Mon-Fri 09:00-17:00",
					   "Mon-Fri  09:00-17:00 Z",
					   "Mon-Fri 09:00-17:00 Z ",
					   "Mon-Fri 09:00 - 17:00 Z",
					   "Mon-Fri 09:60-17:00 Z",
					   "Mon-Fri 24:00-17:00 Z",
					   "Mon-Fri 09:00-24:01 Z",
					   "Mon-Fri 09:00-09:00 Z",
					   "Mon- 09:00-17:00 Z",
					   "Mon, 09:00-17:00 Z",
					   "Mon 09:00-17:00 +15:00",
					   "Mon 09:00-17:00 +1",
					   "Mon 09:00-17:00 CET",
					   "Monday 09:00-17:00 Z"};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct week_hours h;
		struct err e;

		if (week_hours_parse(rows[i], strlen(rows[i]), &h, &e) != ERR_INPUT)
			fail_msg("\"%s\" is read", rows[i]);
		assert_non_null(strstr(e.msg, "expected hours such as Mon-Fri 09:00-17:00 +01:00"));
	}
}

static void knows_when_they_are(void **state)
{
	static const struct {
		const char *sentence, *hours, *now, *until; /* until "": outside, "never": without end */
	} rows[] = {
		{"a Monday morning in Berlin", "Mon-Fri 09:00-17:00 +01:00", "2026-11-16T08:00:00Z",
		 "2026-11-16T16:00:00Z"},
		{"a second before", "Mon-Fri 09:00-17:00 +01:00", "2026-11-16T07:59:59Z", ""},
		{"the last second", "Mon-Fri 09:00-17:00 +01:00", "2026-11-16T15:59:59Z", "2026-11-16T16:00:00Z"},
		{"the end", "Mon-Fri 09:00-17:00 +01:00", "2026-11-16T16:00:00Z", ""},
		{"a Sunday", "Mon-Fri 09:00-17:00 +01:00", "2026-11-15T12:00:00Z", ""},
		{"still Sunday in New York", "Sun 20:00-24:00 -05:00", "2026-11-16T01:00:00Z", "2026-11-16T05:00:00Z"},
		{"before midnight", "Sun 22:00-06:00 Z", "2026-11-15T23:00:00Z", "2026-11-16T06:00:00Z"},
		{"after midnight", "Sun 22:00-06:00 Z", "2026-11-16T05:59:00Z", "2026-11-16T06:00:00Z"},
		{"not the night before", "Sun 22:00-06:00 Z", "2026-11-15T05:59:00Z", ""},
		{"days that follow each other are one", "Sat-Sun 00:00-24:00 Z", "2026-11-14T12:00:00Z",
		 "2026-11-16T00:00:00Z"},
		{"always", "Mon-Sun 00:00-24:00 Z", "2026-11-14T12:00:00Z", "never"},
		{"before 1970 too", "Wed 09:00-17:00 Z", "1969-12-31T10:00:00Z", "1969-12-31T17:00:00Z"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t now, until = 0;
		struct week_hours h;
		struct text t = {0};
		struct err e;

		assert_int_equal(week_hours_parse(rows[i].hours, strlen(rows[i].hours), &h, &e), ERR_OK);
		assert_int_equal(timestamp_parse(rows[i].now, strlen(rows[i].now), &now, &e), ERR_OK);
		if (week_hours_has(&h, now, &until)) {
			if (until == TIME_NONE)
				text_add(&t, "never");
			else
				timestamp_text(until, &t);
		}
		if (strcmp(text_str(&t), rows[i].until) != 0)
			fail_msg("%s: until \"%s\", not \"%s\"", rows[i].sentence, text_str(&t), rows[i].until);
		text_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_and_writes),
		cmocka_unit_test(refuses_what_is_not_exact),
		cmocka_unit_test(knows_when_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
