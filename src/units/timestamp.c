/* SPDX-License-Identifier: Apache-2.0 */
#include "units/timestamp.h"

#include <stdbool.h>

#include "base/clock.h"

#define NANOS INT64_C(1000000000)

enum {
	DAY_SECONDS = 24 * 60 * 60,
	ERA_DAYS = 146097,  /* of 400 years, after which the calendar repeats */
	EPOCH_DAY = 719162, /* 1970-01-01, counted from 0001-01-01 */
};

static bool is_leap(int year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int month_days(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 0001-01-01 to the first of January; year 0 comes out a day late, which is out of range all the same. */
static int64_t year_start(int year)
{
	int64_t before = year - 1;
	return before * 365 + before / 4 - before / 100 + before / 400;
}

static int64_t days_since_epoch(int year, int month, int day)
{
	int64_t days = year_start(year) + day - 1;
	for (int m = 1; m < month; m++)
		days += month_days(year, m);
	return days - EPOCH_DAY;
}

/* What is still to be read, and the text it is part of, for messages. */
struct time_reader {
	const char *s, *end;
	const char *all;
	struct err *e;
};

static enum err_code bad(const struct time_reader *r, enum err_code code, const char *why)
{
	enum { QUOTED = 64 };
	size_t len = (size_t)(r->end - r->all);
	return err_fail(r->e, code, "bad time '%.*s': %s", (int)(len < QUOTED ? len : QUOTED), r->all, why);
}

static bool is_next(struct time_reader *r, char c)
{
	if (r->s == r->end || *r->s != c)
		return false;
	r->s++;
	return true;
}

static bool next_digit(struct time_reader *r, int *ret)
{
	if (r->s == r->end || *r->s < '0' || *r->s > '9')
		return false;
	*ret = *r->s++ - '0';
	return true;
}

/* Exactly n digits. */
static bool number_read(struct time_reader *r, int n, int *ret)
{
	int x = 0, digit;
	for (; n > 0; n--) {
		if (!next_digit(r, &digit))
			return false;
		x = x * 10 + digit;
	}
	*ret = x;
	return true;
}

/* Nothing, or a point and digits; those after the ninth are read and dropped. */
static bool fraction_read(struct time_reader *r, int64_t *ret_ns)
{
	int64_t unit = NANOS / 10;
	int digit;

	*ret_ns = 0;
	if (!is_next(r, '.'))
		return true;
	if (!next_digit(r, &digit))
		return false;
	do {
		*ret_ns += digit * unit;
		unit /= 10;
	} while (next_digit(r, &digit));
	return true;
}

/* Z or +hh:mm; seconds east of UTC. */
static bool offset_read(struct time_reader *r, int *ret_seconds)
{
	int hour, minute;

	*ret_seconds = 0;
	if (is_next(r, 'Z'))
		return true;
	bool is_west = r->s < r->end && *r->s == '-';
	if (!is_next(r, '-') && !is_next(r, '+'))
		return false;
	if (!number_read(r, 2, &hour) || !is_next(r, ':') || !number_read(r, 2, &minute) || hour > 23 || minute > 59)
		return false;
	*ret_seconds = (hour * 60 + minute) * (is_west ? -60 : 60);
	return true;
}

static enum err_code date_read(struct time_reader *r, int64_t *ret_days)
{
	int year, month, day;

	if (!number_read(r, 4, &year) || !is_next(r, '-') || !number_read(r, 2, &month) || !is_next(r, '-') ||
	    !number_read(r, 2, &day))
		return bad(r, ERR_INPUT, "expected a date like 2026-11-15");
	if (month < 1 || month > 12)
		return bad(r, ERR_INPUT, "no such month");
	if (day < 1 || day > month_days(year, month))
		return bad(r, ERR_INPUT, "no such day in that month");
	*ret_days = days_since_epoch(year, month, day);
	return ERR_OK;
}

static enum err_code clock_read(struct time_reader *r, int *ret_seconds)
{
	int hour, minute, second;

	if (!number_read(r, 2, &hour) || !is_next(r, ':') || !number_read(r, 2, &minute) || !is_next(r, ':') ||
	    !number_read(r, 2, &second))
		return bad(r, ERR_INPUT, "expected a time of day like 12:03:10");
	if (hour > 23 || minute > 59 || second > 59)
		return bad(r, ERR_INPUT, "no such time of day");
	*ret_seconds = (hour * 60 + minute) * 60 + second;
	return ERR_OK;
}

enum err_code timestamp_parse(const char *s, size_t len, int64_t *ret_ns, struct err *e)
{
	struct time_reader r = {.s = s, .end = s + len, .all = s, .e = e};
	int64_t days = 0, fraction;
	int seconds = 0, offset;

	enum err_code code = date_read(&r, &days);
	if (code != ERR_OK)
		return code;
	if (!is_next(&r, 'T'))
		return bad(&r, ERR_INPUT, "expected T between date and time");
	code = clock_read(&r, &seconds);
	if (code != ERR_OK)
		return code;
	if (!fraction_read(&r, &fraction))
		return bad(&r, ERR_INPUT, "expected digits after the point");
	if (!offset_read(&r, &offset) || r.s != r.end)
		return bad(&r, ERR_INPUT, "expected Z or an offset like +02:00 at the end");

	__int128 ns = (__int128)(days * DAY_SECONDS + seconds - offset) * NANOS + fraction;
	*ret_ns = ns < TIME_FIRST ? TIME_FIRST : ns > TIME_LAST ? TIME_LAST : (int64_t)ns;
	return ERR_OK;
}

static void add_date(int64_t days, struct text *out)
{
	days += EPOCH_DAY;
	/* The mean year leads to the right one or the one before. */
	int year = (int)(days * 400 / ERA_DAYS) + 1, month = 1;
	if (year_start(year + 1) <= days)
		year++;
	days -= year_start(year);
	for (; days >= month_days(year, month); month++)
		days -= month_days(year, month);
	text_printf(out, "%04d-%02d-%02d", year, month, (int)days + 1);
}

void timestamp_text(int64_t ns, struct text *out)
{
	int64_t seconds = ns / NANOS, fraction = ns % NANOS;
	if (fraction < 0) {
		fraction += NANOS;
		seconds--;
	}
	int64_t days = seconds / DAY_SECONDS;
	int rest = (int)(seconds % DAY_SECONDS), digits = 9;
	if (rest < 0) {
		rest += DAY_SECONDS;
		days--;
	}
	add_date(days, out);
	text_printf(out, "T%02d:%02d:%02d", rest / 3600, rest / 60 % 60, rest % 60);
	if (fraction > 0) {
		for (; fraction % 10 == 0; digits--)
			fraction /= 10;
		text_printf(out, ".%0*d", digits, (int)fraction);
	}
	text_add_char(out, 'Z');
}
