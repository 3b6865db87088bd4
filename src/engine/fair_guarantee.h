/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_guarantee.h - `reclaim: {by: fair-share}` in profile default: for one cycle, fair shares stand for guarantees.
 *
 * All laws of guarantees are then laws of fair shares: who is below its own may reclaim from who is above, and nobody
 * is taken below. For engine/ alone.
 */
#pragma once

#include "engine/engine_internal.h"

struct fair_guarantee;

/* In the ledger, until fair_guarantee_end; and in the plan, for whoever tells why. */
struct fair_guarantee *fair_guarantee_begin(struct engine *en, int64_t now_ns, uint32_t cycle, struct decisions *ret);
/* Guarantees are what they were. */
void fair_guarantee_end(struct fair_guarantee *f);
