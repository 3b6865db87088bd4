/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_classes.h - kinds of waiting pods that the same things help: of one queue, shape and priority.
 *
 * Whatever happens is asked about for every kind that waits, and many of them are gangs that differ in nothing but
 * their size. So the answers of sim_helps.h are worked out once for a class and kept until something moves
 * (wait_classes_look_again), and most of them by two sums without a look at any pod: what is free, and what those hold
 * who might be asked to go, by queue and priority. Nodes that are as they were (their generation tells) are not added
 * up again, and those where a class would lack room whatever laws say are not asked again.
 *
 * What is asked of a class is what would be asked of each of its kinds: the answers are the same.
 */
#pragma once

#include "sim/sim_helps.h"

struct wait_classes;

/* To be called for each kind that comes and goes; what is given back stands in wait_need.class_at. */
uint32_t wait_classes_enter(struct sim *s, const struct wait_need *k);
void wait_classes_leave(struct sim *s, uint32_t class_at);
void wait_classes_free(struct sim *s);

/* Something moved, or time went on, since the last question. */
void wait_classes_look_again(struct sim *s);
bool class_helps_node(struct sim *s, const struct wait_need *k, node_id node);
bool class_helps_any_node(struct sim *s, const struct wait_need *k);
bool class_helps_group(struct sim *s, const struct wait_need *k);
/* The leaf that grew: of another one it is asked only after looking again. */
bool class_helps_growth(struct sim *s, const struct wait_need *k, queue_id leaf);
bool class_helps_reclaim(struct sim *s, const struct wait_need *k);
/*
 * Of whole classes, before their kinds are asked one by one: false, and none of them is helped (but those who are wary,
 * of whom only they know). By room on the node; by the pod going, if the node helps; by the growth of the leaf; by
 * others moving, of groups.
 */
bool class_helps_some(struct sim *s, uint32_t class_at, node_id node);
bool class_may_take(struct sim *s, uint32_t class_at, const struct pod *v);
bool class_helps_some_growth(struct sim *s, uint32_t class_at, queue_id leaf);
bool class_has_room_to_move(struct sim *s, uint32_t class_at);
queue_id class_queue(const struct sim *s, uint32_t class_at);
/* Is there room for the group in all, if others moved? No: engine_may_move would say so too. */
bool class_may_move(struct sim *s, const struct wait_need *k);
