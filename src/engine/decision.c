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
