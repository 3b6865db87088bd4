/* SPDX-License-Identifier: Apache-2.0 */
#include "units/week_hours.h"

#include <string.h>

#include "base/clock.h"
#include "units/timestamp.h"

enum { DAYS = 7, DAY_MIN = 24 * 60, OFFSET_MAX = 14 * 60 };
#define NS_PER_MIN (60 * NS_PER_S)

static const char *const day_names[DAYS] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

/* ---- reading ---- */

struct cursor {
	const char *s, *end;
};

static bool take_char(struct cursor *c, char want)
{
	if (c->s == c->end || *c->s != want)
		return false;
	c->s++;
	return true;
}

static bool take_day(struct cursor *c, unsigned *ret)
{
	for (unsigned i = 0; i < DAYS && c->end - c->s >= 3; i++)
		if (memcmp(c->s, day_names[i], 3) == 0) {
			c->s += 3;
			*ret = i;
			return true;
		}
	return false;
}

static bool take_days(struct cursor *c, struct week_hours *h)
{
	unsigned from, to;

	do {
		if (!take_day(c, &from))
			return false;
		to = from;
		if (take_char(c, '-') && !take_day(c, &to))
			return false;
		for (unsigned d = from;; d = (d + 1) % DAYS) {
			h->days |= (uint8_t)(1u << d);
			if (d == to)
				break;
		}
	} while (take_char(c, ','));
	return true;
}

static bool take_two(struct cursor *c, int *ret)
{
	if (c->end - c->s < 2 || c->s[0] < '0' || c->s[0] > '9' || c->s[1] < '0' || c->s[1] > '9')
		return false;
	*ret = (c->s[0] - '0') * 10 + (c->s[1] - '0');
	c->s += 2;
	return true;
}

/* HH:MM, in minutes. */
static bool take_time(struct cursor *c, int most, int16_t *ret)
{
	int hours, minutes;

	if (!take_two(c, &hours) || !take_char(c, ':') || !take_two(c, &minutes) || minutes > 59 ||
	    hours * 60 + minutes > most)
		return false;
	*ret = (int16_t)(hours * 60 + minutes);
	return true;
}

static bool take_offset(struct cursor *c, struct week_hours *h)
{
	bool is_west = c->s != c->end && *c->s == '-';

	if (take_char(c, 'Z'))
		return true;
	if ((!take_char(c, '+') && !take_char(c, '-')) || !take_time(c, OFFSET_MAX, &h->offset_min))
		return false;
	if (is_west)
		h->offset_min = (int16_t)-h->offset_min;
	return true;
}

static bool take_all(struct cursor *c, struct week_hours *h)
{
	if (!take_days(c, h) || !take_char(c, ' ') || !take_time(c, DAY_MIN - 1, &h->from_min) || !take_char(c, '-') ||
	    !take_time(c, DAY_MIN, &h->to_min) || !take_char(c, ' ') || !take_offset(c, h))
		return false;
	if (h->to_min == 0) /* midnight, said in the other way */
		h->to_min = DAY_MIN;
	return c->s == c->end && h->from_min != h->to_min;
}

enum err_code week_hours_parse(const char *s, size_t len, struct week_hours *ret, struct err *e)
{
	struct cursor c = {s, s + len};
	struct week_hours h = {0};

	if (!take_all(&c, &h))
		return err_fail(e, ERR_INPUT, "bad hours \"%.*s\": expected hours such as Mon-Fri 09:00-17:00 +01:00",
				(int)(len < 60 ? len : 60), s);
	*ret = h;
	return ERR_OK;
}

/* ---- writing ---- */

/* Runs of days as ranges; one that passes Sunday is written as two. */
static void days_text(uint8_t days, struct text *out)
{
	const char *between = "";

	for (unsigned d = 0; d < DAYS; d++) {
		unsigned last = d;

		if (!(days >> d & 1))
			continue;
		while (last + 1 < DAYS && days >> (last + 1) & 1)
			last++;
		text_printf(out, "%s%s", between, day_names[d]);
		if (last > d)
			text_printf(out, "-%s", day_names[last]);
		between = ",";
		d = last;
	}
}

void week_hours_text(const struct week_hours *h, struct text *out)
{
	int offset = h->offset_min < 0 ? -h->offset_min : h->offset_min;

	if (!h->days)
		return;
	days_text(h->days, out);
	text_printf(out, " %02d:%02d-%02d:%02d ", h->from_min / 60, h->from_min % 60, h->to_min / 60, h->to_min % 60);
	if (offset)
		text_printf(out, "%c%02d:%02d", h->offset_min < 0 ? '-' : '+', offset / 60, offset % 60);
	else
		text_add_char(out, 'Z');
}

/* ---- asking ---- */

static int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static bool has_day(const struct week_hours *h, int64_t day)
{
	int64_t weekday = (day + 3) % DAYS; /* 1970 began with a Thursday */

	return h->days >> (weekday < 0 ? weekday + DAYS : weekday) & 1;
}

/* The end of the hours that the minute is in; both in minutes since 1970, as clocks there show them. */
static bool end_of(const struct week_hours *h, int64_t minute, int64_t *ret_end)
{
	int64_t day = floor_div(minute, DAY_MIN), in_day = minute - day * DAY_MIN;
	bool is_overnight = h->to_min <= h->from_min;

	if (has_day(h, day) && in_day >= h->from_min && (is_overnight || in_day < h->to_min)) {
		*ret_end = (day + is_overnight) * DAY_MIN + h->to_min;
		return true;
	}
	if (is_overnight && has_day(h, day - 1) && in_day < h->to_min) {
		*ret_end = day * DAY_MIN + h->to_min;
		return true;
	}
	return false;
}

bool week_hours_has(const struct week_hours *h, int64_t now_ns, int64_t *ret_until_ns)
{
	int64_t end, minute = floor_div(now_ns, NS_PER_MIN) + h->offset_min;

	if (!h->days || !end_of(h, minute, &end))
		return false;
	for (int i = 0; i < DAYS + 1 && end_of(h, end, &end); i++)
		if (i == DAYS) {
			*ret_until_ns = TIME_NONE;
			return true;
		}
	*ret_until_ns = (end - h->offset_min) * NS_PER_MIN;
	return true;
}
