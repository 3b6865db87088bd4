/* SPDX-License-Identifier: Apache-2.0 */
#include "units/quantity.h"

#include <assert.h>
#include <string.h>

typedef unsigned __int128 u128;

enum {
	NANO_DIGITS = 9,
	CHUNK_DIGITS = 18, /* as many as fit 64 bits and, shifted by the largest binary suffix, 128 */
	NARROW_DIGITS = 18,
	NARROW_BINARY_DIGITS = 14,
	QUOTED = 64, /* bytes of the input that an error repeats */
};

#define NANOS 1000000000
#define CHUNK UINT64_C(1000000000000000000)
#define BINARY_MAX ((u128)INT64_MAX * NANOS)
#define NANO_MAX ((u128)QUANTITY_NANO_MAX)

/* What a suffix means: a power of ten, or of two for QUANTITY_BINARY_SI. */
struct quantity_suffix {
	enum quantity_format format;
	int64_t exponent;
};

static const struct suffix {
	char text[3];
	struct quantity_suffix unit;
} suffixes[] = {
	{"n", {QUANTITY_DECIMAL_SI, -9}}, {"u", {QUANTITY_DECIMAL_SI, -6}}, {"m", {QUANTITY_DECIMAL_SI, -3}},
	{"", {QUANTITY_DECIMAL_SI, 0}},	  {"k", {QUANTITY_DECIMAL_SI, 3}},  {"M", {QUANTITY_DECIMAL_SI, 6}},
	{"G", {QUANTITY_DECIMAL_SI, 9}},  {"T", {QUANTITY_DECIMAL_SI, 12}}, {"P", {QUANTITY_DECIMAL_SI, 15}},
	{"E", {QUANTITY_DECIMAL_SI, 18}}, {"Ki", {QUANTITY_BINARY_SI, 10}}, {"Mi", {QUANTITY_BINARY_SI, 20}},
	{"Gi", {QUANTITY_BINARY_SI, 30}}, {"Ti", {QUANTITY_BINARY_SI, 40}}, {"Pi", {QUANTITY_BINARY_SI, 50}},
	{"Ei", {QUANTITY_BINARY_SI, 60}},
};

static const struct suffix *suffix_find(const char *s, size_t len)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (strlen(suffixes[i].text) == len && memcmp(suffixes[i].text, s, len) == 0)
			return &suffixes[i];
	}
	return NULL;
}

/* "" if there is none, which is the case of 2^0. */
static const char *suffix_text(enum quantity_format format, int exponent)
{
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (suffixes[i].unit.format == format && suffixes[i].unit.exponent == exponent)
			return suffixes[i].text;
	}
	return "";
}

/* A text taken apart: digits before the point without leading zeros, digits after it, and the rest. */
struct parts {
	bool is_negative, has_digits;
	const char *whole, *fraction, *suffix;
	size_t n_whole, n_fraction, n_suffix;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t count_digits(const char *s, const char *end)
{
	const char *p = s;
	while (p < end && is_digit(*p))
		p++;
	return (size_t)(p - s);
}

/* The scanner is lax on purpose: what may follow the number is looked at, whether it means anything is not. */
static bool looks_like_suffix(const char *s, const char *end)
{
	while (s < end && *s != '\0' && strchr("eEinumkKMGTP", *s) != NULL)
		s++;
	if (s < end && (*s == '-' || *s == '+'))
		s++;
	return s + count_digits(s, end) == end;
}

static bool parts_scan(const char *s, size_t len, struct parts *p)
{
	const char *end = s + len;

	*p = (struct parts){.is_negative = len > 0 && *s == '-'};
	if (len > 0 && (*s == '-' || *s == '+'))
		s++;
	p->n_whole = count_digits(s, end);
	p->has_digits = p->n_whole > 0;
	for (p->whole = s; p->n_whole > 0 && *p->whole == '0'; p->whole++)
		p->n_whole--;
	p->fraction = s = p->whole + p->n_whole;
	if (s < end && *s == '.') {
		p->fraction = ++s;
		p->n_fraction = count_digits(s, end);
		p->has_digits |= p->n_fraction > 0;
		s += p->n_fraction;
	}
	p->suffix = s;
	p->n_suffix = (size_t)(end - s);
	return len > 0 && looks_like_suffix(s, end);
}

/* [+-]digits that fit an int64_t. */
static bool exponent_read(const char *s, size_t len, int64_t *ret)
{
	const char *end = s + len;
	bool is_negative = len > 0 && *s == '-';
	int64_t x = 0;

	if (len > 0 && (*s == '-' || *s == '+'))
		s++;
	if (s == end || s + count_digits(s, end) != end)
		return false;
	for (; s < end; s++) {
		int digit = is_negative ? '0' - *s : *s - '0';
		if (__builtin_mul_overflow(x, 10, &x) || __builtin_add_overflow(x, digit, &x))
			return false;
	}
	*ret = x;
	return true;
}

static bool unit_read(const struct parts *p, struct quantity_suffix *ret)
{
	const struct suffix *known = suffix_find(p->suffix, p->n_suffix);
	if (known != NULL) {
		*ret = known->unit;
		return true;
	}
	ret->format = QUANTITY_DECIMAL_EXPONENT;
	return p->n_suffix > 1 && (*p->suffix == 'e' || *p->suffix == 'E') &&
	       exponent_read(p->suffix + 1, p->n_suffix - 1, &ret->exponent);
}

/*
 * The API server's parser has a fast path for numbers that fit an int64_t and a power of ten. It is part of the
 * grammar: only there may digits be missing altogether ("Mi" is zero, "Pi" is not a number).
 */
static bool is_narrow(const struct parts *p, const struct quantity_suffix *u)
{
	size_t n_whole = p->n_whole > 0 ? p->n_whole : 1;
	if (u->format == QUANTITY_BINARY_SI)
		return p->n_fraction == 0 && (int64_t)n_whole + u->exponent / 10 * 3 <= NARROW_BINARY_DIGITS;
	return n_whole + p->n_fraction <= NARROW_DIGITS && u->exponent >= (int64_t)p->n_fraction - NANO_DIGITS;
}

static int digit_at(const struct parts *p, size_t i)
{
	return (i < p->n_whole ? p->whole[i] : p->fraction[i - p->n_whole]) - '0';
}

/* The number formed by the last three digits. */
static int last_three(const struct parts *p)
{
	size_t n = p->n_whole + p->n_fraction;
	int x = 0;
	for (size_t i = n > 3 ? n - 3 : 0; i < n; i++)
		x = x * 10 + digit_at(p, i);
	return x;
}

/* Its quick test for "already canonical", which lets through what is not; see quantity.h. */
static bool is_verbatim(const struct parts *p, const struct quantity_suffix *u)
{
	if (!is_narrow(p, u))
		return false;
	if (u->format == QUANTITY_BINARY_SI)
		return last_three(p) % 8 != 0;
	bool ends_in_000 = p->n_whole + p->n_fraction >= 3 && last_three(p) == 0;
	return p->n_whole > 0 && !ends_in_000 && (u->exponent - (int64_t)p->n_fraction) % 3 == 0;
}

/* acc * 10 + digit; false if that is beyond NANO_MAX by more than a digit. */
static bool push_digit(u128 *acc, int digit)
{
	if (*acc > NANO_MAX / 10)
		return false;
	*acc = *acc * 10 + (unsigned)digit;
	return true;
}

/* The number times 10^exponent in nano units, rounded down; *ret_lost if that took something away. False: too large. */
static bool decimal_nano(const struct parts *p, int64_t exponent, u128 *ret, bool *ret_lost)
{
	enum { FAR = 1 << 30 }; /* no text we read has as many digits, so farther away makes no difference */
	size_t n = p->n_whole + p->n_fraction;
	u128 acc = 0;

	exponent = exponent > FAR ? FAR : exponent < -FAR ? -FAR : exponent;
	int64_t weight = (int64_t)p->n_whole + exponent + NANO_DIGITS; /* of the digit just taken; 0 are the nanos */
	*ret_lost = false;
	for (size_t i = 0; i < n; i++) {
		int digit = digit_at(p, i);
		if (--weight < 0)
			*ret_lost |= digit > 0;
		else if (!push_digit(&acc, digit))
			return false;
	}
	for (; weight > 0 && acc > 0; weight--) {
		if (!push_digit(&acc, 0))
			return false;
	}
	*ret = acc;
	return true;
}

/*
 * The digits after the ninth of the fraction, times 2^shift, in nano units, rounded down. Long multiplication from the
 * right in chunks of digits: what is carried out of the leftmost chunk is the whole part of the product.
 */
static uint64_t tail_nano(const struct parts *p, int shift, bool *ret_lost)
{
	size_t n = p->n_fraction > NANO_DIGITS ? p->n_fraction - NANO_DIGITS : 0;
	const char *tail = n > 0 ? p->fraction + NANO_DIGITS : NULL;
	uint64_t carry = 0;

	*ret_lost = false;
	for (size_t chunk = (n + CHUNK_DIGITS - 1) / CHUNK_DIGITS; chunk-- > 0;) {
		uint64_t x = 0;
		for (size_t i = chunk * CHUNK_DIGITS; i < (chunk + 1) * CHUNK_DIGITS; i++)
			x = x * 10 + (i < n ? (uint64_t)(tail[i] - '0') : 0);
		u128 product = ((u128)x << shift) + carry;
		carry = (uint64_t)(product / CHUNK);
		*ret_lost |= product % CHUNK != 0;
	}
	return carry;
}

/* Both round up and give false when they had to saturate. */
static bool decimal_amount(const struct parts *p, int64_t exponent, u128 *ret)
{
	bool lost;
	if (decimal_nano(p, exponent, ret, &lost) && *ret + lost <= NANO_MAX) {
		*ret += lost;
		return true;
	}
	*ret = NANO_MAX;
	return false;
}

static bool binary_amount(const struct parts *p, int shift, u128 *ret)
{
	bool lost;
	if (decimal_nano(p, 0, ret, &lost) && *ret <= BINARY_MAX >> shift) {
		*ret = (*ret << shift) + tail_nano(p, shift, &lost);
		*ret += lost;
		if (*ret <= BINARY_MAX)
			return true;
	}
	*ret = BINARY_MAX;
	return false;
}

static enum err_code bad_quantity(struct err *e, enum err_code code, const char *s, size_t len, const char *why)
{
	return err_fail(e, code, "bad quantity '%.*s': %s", (int)(len < QUOTED ? len : QUOTED), s, why);
}

enum err_code quantity_parse(const char *s, size_t len, struct quantity *ret, struct err *e)
{
	struct parts p;
	struct quantity_suffix u;
	u128 nano;

	if (!parts_scan(s, len, &p))
		return bad_quantity(e, ERR_INPUT, s, len,
				    "expected a number and a suffix, like 2, 1.5Gi, 100m or 12e6");
	if (!unit_read(&p, &u))
		return bad_quantity(
			e, ERR_INPUT, s, len,
			"expected one of the suffixes n u m k M G T P E Ki Mi Gi Ti Pi Ei, or e and an exponent");
	if (!p.has_digits && !is_narrow(&p, &u))
		return bad_quantity(e, ERR_INPUT, s, len, "expected digits");

	bool fits = u.format == QUANTITY_BINARY_SI ? binary_amount(&p, (int)u.exponent, &nano)
						   : decimal_amount(&p, u.exponent, &nano);
	*ret = (struct quantity){
		.nano = p.is_negative ? -(quantity_nano)nano : (quantity_nano)nano,
		.format = u.format == QUANTITY_BINARY_SI && nano > 0 && nano < NANOS ? QUANTITY_DECIMAL_SI : u.format,
		.is_saturated = !fits,
		.is_verbatim = is_verbatim(&p, &u),
		.is_wide = !is_narrow(&p, &u),
	};
	return ERR_OK;
}

static u128 magnitude(quantity_nano x)
{
	return x < 0 ? -(u128)x : (u128)x;
}

/* Quotient rounded away from zero. */
static quantity_nano divide_up(quantity_nano x, quantity_nano by)
{
	quantity_nano quotient = x / by, rest = x % by;
	return quotient + (rest > 0) - (rest < 0);
}

static bool fits_int64(quantity_nano x)
{
	return x >= INT64_MIN && x <= INT64_MAX;
}

static int64_t clamp_int64(quantity_nano x)
{
	return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : (int64_t)x;
}

int64_t quantity_value(const struct quantity *q)
{
	return clamp_int64(divide_up(q->nano, NANOS));
}

int64_t quantity_milli(const struct quantity *q)
{
	return clamp_int64(divide_up(q->nano, NANOS / 1000));
}

bool quantity_fits_value(const struct quantity *q)
{
	return fits_int64(divide_up(q->nano, NANOS));
}

bool quantity_fits_milli(const struct quantity *q)
{
	return fits_int64(divide_up(q->nano, NANOS / 1000));
}

int quantity_cmp(const struct quantity *a, const struct quantity *b)
{
	return (a->nano > b->nano) - (a->nano < b->nano);
}

struct quantity quantity_add(const struct quantity *a, const struct quantity *b)
{
	struct quantity sum = {.format = a->nano != 0 ? a->format : b->format,
			       .is_saturated = a->is_saturated || b->is_saturated};
	if (__builtin_add_overflow(a->nano, b->nano, &sum.nano) || magnitude(sum.nano) > NANO_MAX) {
		/* Only two of the same sign can get there. */
		sum.nano = a->nano < 0 ? -QUANTITY_NANO_MAX : QUANTITY_NANO_MAX;
		sum.is_saturated = true;
	}
	return sum;
}

bool quantity_round_up(struct quantity *q, int scale)
{
	quantity_nano step = 1;

	assert(scale >= -NANO_DIGITS && scale <= 18);
	for (int i = -NANO_DIGITS; i < scale; i++)
		step *= 10;
	if (q->nano % step == 0)
		return true;
	q->nano = divide_up(q->nano, step) * step;
	q->is_verbatim = false;
	return false;
}

static void add_number(u128 x, struct text *out)
{
	char buf[40];
	size_t at = sizeof(buf);
	do
		buf[--at] = (char)('0' + (int)(x % 10));
	while ((x /= 10) > 0);
	text_add_n(out, buf + at, sizeof(buf) - at);
}

static void add_binary(u128 units, struct text *out)
{
	int exponent = 0;
	for (; exponent < 60 && units % 1024 == 0; exponent += 10)
		units /= 1024;
	add_number(units, out);
	text_add(out, suffix_text(QUANTITY_BINARY_SI, exponent));
}

static void add_decimal(u128 nano, bool as_exponent, struct text *out)
{
	int exponent = -NANO_DIGITS;
	for (; (as_exponent || exponent < 18) && nano % 1000 == 0; exponent += 3)
		nano /= 1000;
	add_number(nano, out);
	if (!as_exponent)
		text_add(out, suffix_text(QUANTITY_DECIMAL_SI, exponent));
	else if (exponent != 0)
		text_printf(out, "e%d", exponent);
}

void quantity_text(const struct quantity *q, struct text *out)
{
	u128 nano = magnitude(q->nano);

	if (q->nano < 0)
		text_add_char(out, '-');
	if (nano == 0)
		text_add_char(out, '0');
	else if (q->format == QUANTITY_BINARY_SI && nano >= (u128)1024 * NANOS && nano % NANOS == 0)
		add_binary(nano / NANOS, out);
	else
		add_decimal(nano, q->format == QUANTITY_DECIMAL_EXPONENT, out);
}

void quantity_text_decimal(const struct quantity *q, struct text *out)
{
	u128 nano = magnitude(q->nano);
	unsigned fraction = (unsigned)(nano % NANOS);
	int n = NANO_DIGITS;

	if (q->nano < 0)
		text_add_char(out, '-');
	add_number(nano / NANOS, out);
	if (fraction == 0)
		return;
	for (; fraction % 10 == 0; n--)
		fraction /= 10;
	text_printf(out, ".%0*u", n, fraction);
}

void quantity_text_value(int64_t v, enum quantity_format format, struct text *out)
{
	quantity_text(&(struct quantity){.nano = (quantity_nano)v * NANOS, .format = format}, out);
}

void quantity_text_milli(int64_t v, struct text *out)
{
	quantity_text(&(struct quantity){.nano = (quantity_nano)v * (NANOS / 1000)}, out);
}

const char *quantity_format_text(enum quantity_format format)
{
	static const char *const names[] = {
		[QUANTITY_DECIMAL_SI] = "DecimalSI",
		[QUANTITY_DECIMAL_EXPONENT] = "DecimalExponent",
		[QUANTITY_BINARY_SI] = "BinarySI",
	};
	return names[format];
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static void trim(const char **s, const char **end)
{
	while (*s < *end && is_blank(**s))
		++*s;
	while (*s < *end && is_blank((*end)[-1]))
		--*end;
}

/* How many of the smallest unit one of this suffix is; 0: not a suffix there. */
static int64_t yunikorn_factor(const char *s, size_t len, bool is_vcore)
{
	const struct suffix *suffix = suffix_find(s, len);
	if (suffix == NULL || suffix->unit.exponent < (is_vcore ? -3 : 0))
		return 0;
	if (suffix->unit.format == QUANTITY_BINARY_SI)
		return INT64_C(1) << suffix->unit.exponent;
	int64_t factor = 1;
	for (int64_t i = 0; i < suffix->unit.exponent; i++)
		factor *= 10;
	return factor;
}

enum err_code yunikorn_quantity_parse(const char *s, size_t len, bool is_vcore, int64_t *ret, struct err *e)
{
	const char *p = s, *end = s + len;
	int64_t value;

	trim(&p, &end);
	size_t n = count_digits(p, end);
	if (n == 0)
		return bad_quantity(e, ERR_INPUT, s, len, "expected digits and a suffix, without sign or fraction");
	bool fits = exponent_read(p, n, &value);
	p += n;
	trim(&p, &end);
	bool is_milli = is_vcore && end - p == 1 && *p == 'm';
	int64_t factor = yunikorn_factor(p, (size_t)(end - p), is_vcore);
	if (factor == 0)
		return bad_quantity(e, ERR_INPUT, s, len,
				    is_vcore ? "expected one of the suffixes m k M G T P E Ki Mi Gi Ti Pi Ei"
					     : "expected one of the suffixes k M G T P E Ki Mi Gi Ti Pi Ei");
	if (!fits || __builtin_mul_overflow(value, factor, &value) ||
	    __builtin_mul_overflow(value, is_vcore && !is_milli ? 1000 : 1, &value))
		return bad_quantity(e, ERR_LIMIT, s, len, "too large");
	*ret = value;
	return ERR_OK;
}
