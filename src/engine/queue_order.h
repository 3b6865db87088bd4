/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_order.h - the order of waiting work where queues count.
 *
 * Entitled work (entitled_work.h) comes before all other, so that nobody takes free room that somebody within his
 * guarantee waits for. Inside each of the two: top-down from the root, among siblings with such work the one that is
 * furthest below its guarantee; in the leaf by priority, age and name. As if worked out anew after each decision,
 * because a placement changes who is entitled and who is furthest below. Profile yunikorn has an order of its own
 * (queue_order_yunikorn.h).
 *
 * Cost: the next choice looks again only at what the decisions since the last one touched (ledger_touched_queues). Pods
 * of a leaf that ask for the same are of one kind and are asked about once; a kind that was found not to be entitled is
 * asked again only when a queue with a guarantee above it uses less than before. Siblings and kinds are kept in heaps.
 */
#pragma once

#include "engine/engine_internal.h"

struct queue_order;

struct queue_order *queue_order_new(const struct engine *en);
void queue_order_free(struct queue_order *t); /* NULL is fine */
/* waiting: in the order of the leaf (priority, age, name). Borrowed until the end. */
void queue_order_begin(struct queue_order *t, const pod_id *waiting, uint32_t n);
pod_id queue_order_next(struct queue_order *t); /* POD_NONE: everybody had theirs */
void queue_order_end(struct queue_order *t);	/* nothing is left but memory, for the next time */
