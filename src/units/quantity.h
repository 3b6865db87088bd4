/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity.h - amounts as Kubernetes and YuniKorn write them.
 *
 * Kubernetes quantities are exact: "1.5Gi", "100m", "12e6". A value is held in nano units in 128 bits, so everything
 * up to 1.7e29 is exact; what is larger saturates (and says so), what is finer than a nano is rounded away from zero,
 * both as the API server does. Pure functions, no allocation, no locale.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

typedef __int128 quantity_nano;

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_DECIMAL_EXPONENT, QUANTITY_BINARY_SI };

struct quantity {
	quantity_nano nano;
	enum quantity_format format;
	bool is_saturated; /* the text said more than fits */
};

/*
 * The grammar of the API server's parser (laxer than its documentation: "1.", ".", "+" and "m" are accepted).
 * ERR_INPUT with what was expected; *ret is untouched then.
 */
enum err_code quantity_parse(const char *s, size_t len, struct quantity *ret, struct err *e);

/* Rounded up (away from zero) to integers of 10^0 and 10^-3; saturate at the ends of int64_t. */
int64_t quantity_value(const struct quantity *q);
int64_t quantity_milli(const struct quantity *q);
bool quantity_fits_value(const struct quantity *q); /* quantity_value did not saturate */
bool quantity_fits_milli(const struct quantity *q);

int quantity_cmp(const struct quantity *a, const struct quantity *b);
/* Sum; format of the first operand that is not zero; saturates. */
struct quantity quantity_add(const struct quantity *a, const struct quantity *b);
/* Round up (away from zero) to a multiple of 10^scale, scale in -9..18. True if nothing was lost. */
bool quantity_round_up(struct quantity *q, int scale);

/* Canonical text: no fraction, largest suffix with an integral mantissa. "1500m", "1536Mi", "0". */
void quantity_text(const struct quantity *q, struct text *out);
/* For people: canonical text of an integer amount (milli: of v/1000) in the given format. */
void quantity_text_value(int64_t v, enum quantity_format format, struct text *out);
void quantity_text_milli(int64_t v, struct text *out);

/*
 * YuniKorn's own grammar for queue resources: digits, blanks, one of k M G T P E Ki Mi Gi Ti Pi Ei, or m for vcore; no sign, no
 * fraction; blanks around it are allowed. is_vcore: result in thousandths. Too large for int64_t is an error.
 */
enum err_code yunikorn_quantity_parse(const char *s, size_t len, bool is_vcore, int64_t *ret, struct err *e);
