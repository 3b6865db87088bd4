/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a quantity, in both grammars. What is accepted must come back from its texts as the same amount, with
 * the integers derived from it in order; where both grammars accept a text they must agree on what it says.
 */
#include <stdlib.h>
#include <string.h>

#include "units/quantity.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static struct quantity parse_again(void (*print)(const struct quantity *, struct text *), const struct quantity *q)
{
	struct text t = {0};
	struct quantity again;
	print(q, &t);
	HOLDS(t.n > 0 && t.n <= 50);
	HOLDS(quantity_parse(text_str(&t), t.n, &again, NULL) == ERR_OK);
	text_free(&t);
	return again;
}

static void check_texts(const struct quantity *q)
{
	for (int format = QUANTITY_DECIMAL_SI; format <= QUANTITY_BINARY_SI; format++) {
		struct quantity other = *q;
		other.format = (enum quantity_format)format;
		struct quantity again = parse_again(quantity_text, &other);
		/* Binary suffixes end at 2^63-1, so above it this format cannot be read back. */
		HOLDS(again.nano == q->nano || (again.is_saturated && format == QUANTITY_BINARY_SI));
	}
	struct quantity number = parse_again(quantity_text_decimal, q);
	HOLDS(number.nano == q->nano && !number.is_saturated);
}

static void check_integers(const struct quantity *q)
{
	const quantity_nano value = (quantity_nano)quantity_value(q) * 1000000000;
	const quantity_nano milli = (quantity_nano)quantity_milli(q) * 1000000;
	quantity_nano sign = q->nano < 0 ? -1 : 1;
	if (quantity_fits_value(q))
		HOLDS((value - q->nano) * sign >= 0 && (value - q->nano) * sign < 1000000000);
	if (quantity_fits_milli(q))
		HOLDS((milli - q->nano) * sign >= 0 && (milli - q->nano) * sign < 1000000);
	HOLDS(!quantity_fits_milli(q) || quantity_fits_value(q));
}

static void check_sums(const struct quantity *q)
{
	struct quantity negative = *q, zero = {0};
	negative.nano = -q->nano;
	HOLDS(quantity_add(q, &negative).nano == 0);
	HOLDS(quantity_add(q, &zero).nano == q->nano);
	HOLDS(quantity_add(&zero, q).format == q->format);
	struct quantity twice = quantity_add(q, q);
	HOLDS(quantity_cmp(&twice, q) == (twice.nano == q->nano ? 0 : q->nano < 0 ? -1 : 1));
}

static void check_rounding(const struct quantity *q)
{
	struct quantity up = *q;
	for (int scale = -9; scale <= 18; scale++) {
		quantity_nano before = up.nano;
		HOLDS(quantity_round_up(&up, scale) == (up.nano == before));
		HOLDS(q->nano < 0 ? up.nano <= before : up.nano >= before);
		HOLDS(quantity_round_up(&up, scale));
	}
}

static void check_yunikorn(const char *s, size_t len, const struct quantity *q)
{
	int64_t value = -1;
	if (yunikorn_quantity_parse(s, len, false, &value, NULL) == ERR_OK) {
		HOLDS(value >= 0);
		HOLDS(q == NULL || quantity_value(q) == value);
	}
	if (yunikorn_quantity_parse(s, len, true, &value, NULL) == ERR_OK) {
		HOLDS(value >= 0);
		HOLDS(q == NULL || quantity_milli(q) == value);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct quantity q;
	struct err e = {0};
	const char *s = (const char *)data;

	if (n == 0)
		return 0;
	if (quantity_parse(s, n, &q, &e) != ERR_OK) {
		HOLDS(e.code == ERR_INPUT && strncmp(e.msg, "bad quantity", 12) == 0);
		check_yunikorn(s, n, NULL);
		return 0;
	}
	HOLDS(q.nano <= QUANTITY_NANO_MAX && q.nano >= -QUANTITY_NANO_MAX);
	check_texts(&q);
	check_integers(&q);
	check_sums(&q);
	check_rounding(&q);
	check_yunikorn(s, n, &q);
	return 0;
}
