/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_helps.h - might a kind of waiting pods get a place, by what is free, leaves or may be asked to go?
 *
 * Answers are bounds: no means that the engine would refuse it, yes that it has to be asked. They are worked out from
 * amounts, priorities and guarantees alone, which costs a thousandth of an attempt; rules that only protect more
 * (windows, budgets, fences) are left to the engine.
 */
#pragma once

#include "sim/sim_internal.h"

struct wait_need { /* what all pods of a kind have in common */
	queue_id queue;
	shape_id shape;
	int32_t priority;
	group_id group;		  /* GROUP_NONE: each stands for itself */
	bool is_kept;		  /* nobody may take it back: it waits for the quota of its queue */
	int64_t reclaims_from_ns; /* its delay ends; TIME_NONE: none */
	uint32_t class_at;	  /* sim_classes.h */
};

const struct engine_config *helps_config(const struct sim *s);
/* To be called when the engine is made, and when it is another one because settings changed. */
void helps_see_settings(struct sim *s);
/* Could one of its pods start on the node, now or when others have left? */
bool helps_node(const struct sim *s, const struct wait_need *k, node_id node);
/* Is there room on the node as it is? */
bool helps_now(const struct sim *s, const struct wait_need *k, node_id node);
/* Did it get its place in the pass that is under way? Then it does not go in it (rules/same_cycle.c). */
bool helps_is_new(const struct sim *s, const struct pod *v);
/* Are there places enough for as many of the group as have to start together? */
bool helps_group(const struct sim *s, const struct wait_need *k);
/* The same in two steps: what there is for any number of such pods, and whether it is enough for so many. */
struct group_room_sums {
	int64_t at_most; /* of the type it asks for, by sums alone; INT64_MAX: they do not tell */
	int64_t sum;	 /* of the one type it asks for */
	uint64_t places;
};
void helps_group_room(const struct sim *s, const struct wait_need *k, struct group_room_sums *ret);
bool helps_room_is_enough(const struct sim *s, const struct wait_need *k, const struct group_room_sums *x, uint32_t n);
/* So many of the group have to get a place together. */
uint32_t helps_needed(const struct sim *s, const struct wait_need *k);
/* Another queue grew: may more go than before, besides who came, for a kind that may reclaim; are such on the node? */
bool helps_growth_for(const struct sim *s, const struct wait_need *k, queue_id leaf);
/* No: such growth helps nobody at all. */
bool helps_growth_of(const struct sim *s, queue_id leaf);
bool helps_growth_on(const struct sim *s, queue_id leaf, node_id node);
/* Is its queue below its guarantee, in something that it asks for? */
bool helps_reclaim(const struct sim *s, const struct wait_need *k);
bool helps_max(const struct sim *s, const struct wait_need *k); /* one of it fits below the maximums */
bool helps_has_no_maximums(const struct sim *s);		/* in the whole tree */
bool helps_has_max(const struct sim *s, const struct wait_need *k);
/* Do guarantees and priorities decide alone, so that sums by queue and priority tell what can be had at most? */
bool helps_by_sums(const struct sim *s);
/* By its delay and the settings. */
bool helps_may_reclaim(const struct sim *s, const struct wait_need *k);
/* For who lacks this type alone on a node: may it take from other queues? */
bool helps_reclaim_of(const struct sim *s, const struct wait_need *k, res_id r);
/* What victims of a queue free together at most of a type, by law 2. */
int64_t helps_excess(const struct sim *s, const struct wait_need *k, queue_id q, res_id r);
/* Room of a type that is reserved on a node for others than the group. */
int64_t helps_reserved(const struct sim *s, group_id group, node_id node, res_id r);
/* To be called when the tree of queues may be another: what follows from it is found out once. */
void helps_see_tree(struct sim *s);
/* Law 6 between two queues that show priorities as they are. */
bool helps_compares_plainly(const struct sim *s, queue_id a, queue_id b);
/* Might it be asked to go for the kind? */
bool helps_to_evict(const struct sim *s, const struct wait_need *k, const struct pod *v);
