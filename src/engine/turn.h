/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.h - whose turn it is: the order of waiting work where queues count.
 *
 * Top-down from the root, among siblings with work that was not tried yet the one that is furthest below its guarantee;
 * in the leaf by priority, age and name. Worked out anew after each decision, because a placement changes who is
 * furthest below. Profile yunikorn has an order of its own (turn_yunikorn.h).
 */
#pragma once

#include "engine/engine_internal.h"

struct turn;

/* waiting: in the order of the leaf (priority, age, name). Borrowed until turn_free. */
struct turn *turn_new(const struct engine *en, const pod_id *waiting, uint32_t n);
void turn_free(struct turn *t);
pod_id turn_next(struct turn *t); /* POD_NONE: everybody had theirs */
