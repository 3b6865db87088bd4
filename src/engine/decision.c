/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/decision.h"

const char *outcome_text(enum outcome o)
{
	static const char *const texts[] = {
		[OUTCOME_PLACED] = "placed", [OUTCOME_NOMINATED] = "nominated", [OUTCOME_WAITING] = "waiting",
		[OUTCOME_GATED] = "gated",   [OUTCOME_EVICTED] = "evicted",
	};

	return texts[o];
}

void decisions_count(struct decisions *to, const struct decision *d)
{
	to->placed += d->outcome == OUTCOME_PLACED;
	to->nominated += d->outcome == OUTCOME_NOMINATED;
	to->waiting += d->outcome == OUTCOME_WAITING;
	to->gated += d->outcome == OUTCOME_GATED;
	to->victims += d->n_victims;
}

void decisions_add(struct decisions *to, const struct decision *d)
{
	array_push(&to->v, *d);
	decisions_count(to, d);
}
