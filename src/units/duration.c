/* SPDX-License-Identifier: Apache-2.0 */
#include "units/duration.h"

#include <inttypes.h>
#include <string.h>

#define MICROSECOND UINT64_C(1000)
#define MILLISECOND (1000 * MICROSECOND)
#define SECOND (1000 * MILLISECOND)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define WEEK (7 * DAY)

/* The most negative duration has one nanosecond more than the longest one. */
#define MOST ((uint64_t)INT64_MAX + 1)

static const struct unit {
	const char *text;
	uint64_t ns;
	bool is_days;
} units[] = {
	{"ns", 1, false},
	{"us", MICROSECOND, false},
	{"\u00B5s", MICROSECOND, false},
	{"\u03BCs", MICROSECOND, false}, /* micro sign; Greek mu */
	{"ms", MILLISECOND, false},
	{"s", SECOND, false},
	{"m", MINUTE, false},
	{"h", HOUR, false},
	{"d", DAY, true},
	{"w", WEEK, true},
};

/* 0: no such unit. */
static uint64_t unit_ns(const char *s, size_t len, bool with_days)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strlen(units[i].text) == len && memcmp(units[i].text, s, len) == 0)
			return units[i].is_days && !with_days ? 0 : units[i].ns;
	}
	return 0;
}

/* What is still to be read, and the text it is part of, for messages. */
struct duration_reader {
	const char *s, *end;
	const char *all;
	bool with_days;
	struct err *e;
};

static enum err_code bad(const struct duration_reader *r, enum err_code code, const char *why)
{
	enum { QUOTED = 64 };
	size_t len = (size_t)(r->end - r->all);
	return err_fail(r->e, code, "bad duration '%.*s': %s", (int)(len < QUOTED ? len : QUOTED), r->all, why);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* False: beyond MOST by more than a digit. */
static bool whole_read(struct duration_reader *r, uint64_t *ret)
{
	uint64_t x = 0;
	for (; r->s < r->end && is_digit(*r->s); r->s++) {
		if (x > MOST / 10)
			return false;
		x = x * 10 + (uint64_t)(*r->s - '0');
	}
	*ret = x;
	return true;
}

/*
 * The fraction of a unit. Go computes it in floating point, so 0.3333333333333333333h is twenty minutes sharp there;
 * the same steps are taken here to come to the same nanosecond. Digits beyond what 63 bits hold are ignored, also as
 * there.
 */
struct fraction {
	uint64_t digits;
	double scale;
};

static void fraction_read(struct duration_reader *r, struct fraction *ret)
{
	*ret = (struct fraction){0, 1};
	for (; r->s < r->end && is_digit(*r->s); r->s++) {
		if (ret->digits > INT64_MAX / 10)
			continue;
		ret->digits = ret->digits * 10 + (uint64_t)(*r->s - '0');
		ret->scale *= 10;
	}
}

static uint64_t fraction_ns(const struct fraction *f, uint64_t unit)
{
	return f->digits == 0 ? 0 : (uint64_t)((double)f->digits * ((double)unit / f->scale));
}

/* Digits, perhaps with a point; at least one. */
static enum err_code number_read(struct duration_reader *r, uint64_t *ret_whole, struct fraction *ret_fraction)
{
	const char *start = r->s;

	*ret_fraction = (struct fraction){0, 1};
	if (!whole_read(r, ret_whole))
		return bad(r, ERR_LIMIT, "too long");
	size_t n = (size_t)(r->s - start);
	if (r->s < r->end && *r->s == '.') {
		start = ++r->s;
		fraction_read(r, ret_fraction);
		n += (size_t)(r->s - start);
	}
	return n > 0 ? ERR_OK : bad(r, ERR_INPUT, "expected digits and a unit, like 90s, 1h30m or 1.5h");
}

/* Everything up to the next number is the unit. */
static enum err_code unit_read(struct duration_reader *r, uint64_t *ret)
{
	const char *start = r->s;
	while (r->s < r->end && *r->s != '.' && !is_digit(*r->s))
		r->s++;
	if (r->s == start)
		return bad(r, ERR_INPUT, "a number without a unit");
	*ret = unit_ns(start, (size_t)(r->s - start), r->with_days);
	if (*ret > 0)
		return ERR_OK;
	return bad(r, ERR_INPUT,
		   r->with_days ? "expected the units ns us ms s m h d w" : "expected the units ns us ms s m h");
}

/* May be beyond MOST, by less than a unit. */
static enum err_code term_read(struct duration_reader *r, uint64_t *ret)
{
	struct fraction f;
	uint64_t whole = 0, unit = 1;
	enum err_code code = number_read(r, &whole, &f);
	if (code == ERR_OK)
		code = unit_read(r, &unit);
	if (code != ERR_OK)
		return code;
	if (whole > MOST / unit)
		return bad(r, ERR_LIMIT, "too long");
	*ret = whole * unit + fraction_ns(&f, unit);
	return ERR_OK;
}

enum err_code duration_parse(const char *s, size_t len, bool with_days, int64_t *ret_ns, struct err *e)
{
	struct duration_reader r = {.s = s, .end = s + len, .all = s, .with_days = with_days, .e = e};
	bool is_negative = len > 0 && *s == '-';
	uint64_t sum = 0;

	if (len > 0 && (*s == '-' || *s == '+'))
		r.s++;
	if (r.s == r.end)
		return bad(&r, ERR_INPUT, "expected digits and a unit, like 90s, 1h30m or 1.5h");
	if (r.end - r.s == 1 && *r.s == '0')
		r.s++; /* zero needs no unit */
	while (r.s < r.end) {
		uint64_t term = 0;
		enum err_code code = term_read(&r, &term);
		if (code != ERR_OK)
			return code;
		if (term > MOST - sum)
			return bad(&r, ERR_LIMIT, "too long");
		sum += term;
	}
	if (sum == MOST && !is_negative)
		return bad(&r, ERR_LIMIT, "too long");
	*ret_ns = (int64_t)(is_negative ? -sum : sum);
	return ERR_OK;
}

static uint64_t magnitude(int64_t ns)
{
	return ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
}

/* x of which the last digits are a fraction, without trailing zeros: 1500, 3 is "1.5". */
static void add_decimal(uint64_t x, int digits, const char *unit, struct text *out)
{
	uint64_t one = 1;
	for (int i = 0; i < digits; i++)
		one *= 10;
	text_printf(out, "%" PRIu64, x / one);
	uint64_t rest = x % one;
	if (rest > 0) {
		for (; rest % 10 == 0; digits--)
			rest /= 10;
		text_printf(out, ".%0*" PRIu64, digits, rest);
	}
	text_add(out, unit);
}

void duration_text(int64_t ns, struct text *out)
{
	uint64_t x = magnitude(ns);

	if (ns < 0)
		text_add_char(out, '-');
	if (x >= HOUR)
		text_printf(out, "%" PRIu64 "h", x / HOUR);
	if (x >= MINUTE)
		text_printf(out, "%" PRIu64 "m", x % HOUR / MINUTE);
	if (x >= SECOND || x == 0)
		add_decimal(x % MINUTE, 9, "s", out);
	else if (x >= MILLISECOND)
		add_decimal(x, 6, "ms", out);
	else if (x >= MICROSECOND)
		add_decimal(x, 3, "\u00B5s", out);
	else
		add_decimal(x, 0, "ns", out);
}

void duration_text_short(int64_t ns, struct text *out)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} steps[] = {{DAY, "d"}, {HOUR, "h"}, {MINUTE, "m"}, {SECOND, "s"}};
	enum { N_STEPS = sizeof(steps) / sizeof(*steps) };
	uint64_t x = magnitude(ns);
	size_t i = 0;

	if (x < SECOND) {
		/* Below a second one unit says enough. */
		uint64_t unit = x >= MILLISECOND ? MILLISECOND : x >= MICROSECOND ? MICROSECOND : 1;
		duration_text((int64_t)(x / unit * unit) * (ns < 0 ? -1 : 1), out);
		return;
	}
	if (ns < 0)
		text_add_char(out, '-');
	while (i + 1 < N_STEPS && x < steps[i].ns)
		i++;
	text_printf(out, "%" PRIu64 "%s", x / steps[i].ns, steps[i].text);
	if (i + 1 < N_STEPS && x % steps[i].ns >= steps[i + 1].ns)
		text_printf(out, "%" PRIu64 "%s", x % steps[i].ns / steps[i + 1].ns, steps[i + 1].text);
}
