/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_wake.h - who of those that wait is worth another try.
 *
 * Waiting pods that are alike (queue, shape, labels, priority, application) are one kind, and so are all of a group; a
 * pod with a nomination is a kind of its own. A kind that was refused sleeps until something happens that may let it
 * start, and no more is tried of a kind that was refused while nothing moved since. What wakes it:
 *
 *	- a node got room, and with it and with whoever may go there one of its pods might fit that node (sim_helps.h);
 *	- its queue came below a guarantee or a maximum that it was not below before;
 *	- it is below its guarantee, and another queue grew above its own: there may be victims now;
 *	- time: a window, delay or rate ends that was named when it was refused, or patience with pods that do not go;
 *	- what others got in the same pass, before its turn: then the pass is planned again with it;
 *	- others might move for a group: then nobody is asked again, but the engine looks for moves (engine_may_move);
 *	- whatever is not clear: budgets, filters that look at other pods, fair shares, a changed tree or cluster.
 *
 * Being woken in vain costs time, sleeping on would change results: tests/sim compares with trying everything always
 * (sim_options.is_exhaustive), and pass by pass (sim_options.compares).
 */
#pragma once

#include "sim/sim_internal.h"

void wake_enter(struct sim *s, pod_id pod); /* it waits from now on */
void wake_leave(struct sim *s, pod_id pod); /* it does not any more; before its object goes */
/* What changed: told after the ledger knows. */
void wake_node_gained(struct sim *s, node_id node); /* room came free, or will */
void wake_node_taken(struct sim *s, node_id node);  /* somebody got a place there */
void wake_queue_lost(struct sim *s, queue_id leaf);
void wake_queue_grew(struct sim *s, queue_id leaf, group_id group);	 /* in a pass */
void wake_queue_has_grown(struct sim *s, queue_id leaf, group_id group); /* after it */

/*
 * The pods to try in one pass: of each kind that is awake some, first in the engine's order; if the pass is planned
 * again, more of those that were cut. False: nobody is. wake_passes_over follows the engine through the pass, with the
 * plan that was told before.
 */
bool wake_collect(struct sim *s, bool is_again, const pod_id **ret, uint32_t *ret_n);
void wake_follow(struct sim *s, const struct decisions *plan);
bool wake_passes_over(void *sim, pod_id pod);
bool wake_passes_over_rest(void *sim);
/* A kind got all through that were tried, and has more: others may have been tried before their turn. */
bool wake_was_cut(struct sim *s);
/* Decisions of the pass that no plan has: nobody was asked, for they were sure to wait. */
uint64_t wake_n_refused(const struct sim *s);
/* What the pass decided may have helped kinds that it did not ask: they are awake now. */
bool wake_has_missed(struct sim *s);
/* Is somebody asked at every moment, because nobody knows when he should be? */
bool wake_has_loose(const struct sim *s);
/* For the engine: might others move for a group that waits and is not tried? */
bool wake_groups_wait(void *sim);
/* Is nobody awake, but others might move for a group that waits? */
bool wake_may_move(struct sim *s);
/* A pass that was only tried is over, and nothing comes of it. */
void wake_drop_pass(struct sim *s);
/* What came of the pass, before it is carried out: who sleeps now, and for how long. */
void wake_settle(struct sim *s, const struct decisions *plan);
/* When time alone may change what was decided; TIME_NONE: never. */
int64_t wake_next_time(const struct sim *s, const struct decision *d);
