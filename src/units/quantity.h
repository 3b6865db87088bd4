/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.h - amounts as Kubernetes and YuniKorn write them.
 *
 * Kubernetes quantities are exact: "1.5Gi", "100m", "12e6". A value is held in nano units in 128 bits, so everything
 * up to 1.7e29 is exact; what is larger saturates (and says so), amounts with binary suffixes at 2^63-1 already; what
 * is finer than a nano is rounded away from zero, both as the API server does. Pure functions, no allocation (but for
 * the text that is written to), no locale.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

typedef __int128 quantity_nano;

/* 1.7e29 in nano units; |nano| never exceeds it. A round number, so that a saturated amount is still readable. */
#define QUANTITY_NANO_MAX \
	((quantity_nano)((unsigned __int128)UINT64_C(17000000000000000000) * UINT64_C(10000000000000000000)))

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_DECIMAL_EXPONENT, QUANTITY_BINARY_SI };

struct quantity {
	quantity_nano nano;
	enum quantity_format format; /* may be changed at will: it only guides quantity_text */
	bool is_saturated;	     /* the text said more than fits */
	/*
	 * How the API server holds what it parsed; set by quantity_parse, false otherwise. No function here looks at
	 * them: they are for showing and comparing what other programs say about the same text.
	 */
	bool is_verbatim; /* it repeats the text as written instead of the canonical one: "1E6", "100.035k", "1." */
	bool is_wide;	  /* too many digits for an int64_t and an exponent: a big decimal there */
};

/*
 * The grammar of the API server's parser (laxer than its documentation: "1.", ".", "+" and "m" are accepted).
 * Blanks are not; whoever reads JSON trims them first. ERR_INPUT with what was expected; *ret is untouched then.
 */
enum err_code quantity_parse(const char *s, size_t len, struct quantity *ret, struct err *e);

/* Rounded up (away from zero) to integers of 10^0 and 10^-3; saturate at the ends of int64_t. */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli(const struct quantity *q);
bool quantity_fits_value(const struct quantity *q); /* quantity_value did not saturate */
bool quantity_fits_milli(const struct quantity *q);

int quantity_cmp(const struct quantity *a, const struct quantity *b); /* -1, 0, 1; by value, whatever the format */
/* Sum; format of the first operand that is not zero; saturates. */
struct quantity quantity_add(const struct quantity *a, const struct quantity *b);
/* Round up (away from zero) to a multiple of 10^scale, scale in -9..18. True if nothing was lost. */
bool quantity_round_up(struct quantity *q, int scale);

/*
 * Canonical text: no fraction, largest suffix with an integral mantissa. "1500m", "1536Mi", "0". Amounts that binary
 * suffixes cannot say (below 1024, or not whole) use decimal ones. Parses back to the same value.
 */
void quantity_text(const struct quantity *q, struct text *out);
/* The exact number without any suffix: "-0.05", "9223372036854775808". Parses back to the same value. */
void quantity_text_decimal(const struct quantity *q, struct text *out);
/* For people: canonical text of an integer amount (milli: of v/1000) in the given format. */
void quantity_text_value(int64_t v, enum quantity_format format, struct text *out);
void quantity_text_milli(int64_t v, struct text *out);
const char *quantity_format_text(enum quantity_format format); /* "DecimalSI", "DecimalExponent", "BinarySI" */

/*
 * YuniKorn's own grammar for queue resources: digits, blanks, one of k M G T P E Ki Mi Gi Ti Pi Ei, or m for vcore; no
 * sign, no fraction; blanks around it are allowed. is_vcore: result in thousandths. Too large for int64_t is ERR_LIMIT,
 * anything else ERR_INPUT.
 */
enum err_code yunikorn_quantity_parse(const char *s, size_t len, bool is_vcore, int64_t *ret, struct err *e);
