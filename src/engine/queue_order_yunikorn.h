/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_order_yunikorn.h - the order of waiting work in profile yunikorn.
 *
 * Pods with reserved room come before all others (queue_order.c), by priority, age and name; then all others: top-down
 * from the root, worked out anew after each decision. Among siblings with untried work: by the highest
 * priority that waits there, as the queues pass it up (an offset is added, a priority fence replaces it), then the
 * smallest fair share, then the most pending; with application.sort.priority: disabled on the parent the share comes
 * before the priority. In the leaf among applications, by application.sort.policy: fifo by the time of the first
 * pod, fair by what they hold of the leaf's guarantee, priority before or after as among queues. In an application
 * by priority and age. All ties end in names.
 *
 * Fair share: the largest of held/guaranteed over types, against the nearest maximum or the cluster for types that the
 * queue does not guarantee. Held is what runs and what is reserved. Pods that were tried and still wait lend their
 * priority to their queue, as they would when the original comes around again.
 */
#pragma once

#include "engine/engine_internal.h"

struct queue_order_yunikorn;

struct queue_order_yunikorn *queue_order_yunikorn_new(const struct engine *en, const pod_id *waiting, uint32_t n);
void queue_order_yunikorn_free(struct queue_order_yunikorn *t);
pod_id queue_order_yunikorn_next(struct queue_order_yunikorn *t); /* POD_NONE: everybody in a queue had theirs */
