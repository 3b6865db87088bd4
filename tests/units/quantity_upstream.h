/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity_upstream.h - what Kubernetes' own Quantity says of the text that q was parsed from, where that differs from
 * quantity.h on purpose. For tests that compare with facts recorded there.
 *
 *	String()      repeats some texts as they were written
 *	Value() etc.  of amounts held as big decimals: negative ones are cut to 64 bits of nano units,
 *		      and what is then left is rounded towards plus infinity
 */
#pragma once

#include "units/quantity.h"

static inline void quantity_upstream_text(const struct quantity *q, const char *s, size_t len, struct text *out)
{
	if (q->is_verbatim)
		text_add_n(out, s, len);
	else
		quantity_text(q, out);
}

/* Value() for digits 0, MilliValue() for digits 3; only where the true answer fits an int64_t. */
static inline int64_t quantity_upstream_scaled(const struct quantity *q, int digits)
{
	int64_t divisor = digits == 0 ? 1000000000 : 1000000;
	if (!q->is_wide || q->is_saturated || q->nano >= 0)
		return digits == 0 ? quantity_value(q) : quantity_milli(q);
	int64_t cut = (int64_t)(uint64_t)q->nano;
	return cut / divisor + (cut % divisor != 0);
}
