/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_notes.h - what is to be said of a plan and stands in no single decision: which victims get a new place, and what
 * the queues on both sides used when a pod was taken from one for the other.
 *
 * The numbers are found by making the plan's moves again, one decision after the other, and looking at the ledger
 * before each; the moves are taken back. So they are those the laws were judged by, not those of the cluster before or
 * after the plan.
 */
#pragma once

#include "cluster/cluster.h"
#include "engine/decision.h"

struct queue_side {
	queue_id queue; /* the lowest on the way up to the common ancestor that guarantees the type; else the leaf */
	int64_t used;
	int64_t entitled; /* guaranteed, or its fair share; 0: nothing, RES_UNLIMITED: without end */
};

struct eviction_numbers {
	res_id type; /* that the waiting pod is short of; RES_NONE: there are no numbers */
	struct queue_side taker, loser;
};

struct plan_notes;

struct plan_notes *plan_notes_new(struct cluster *c, const struct decisions *plan);
void plan_notes_free(struct plan_notes *n); /* NULL is fine */

/* Where a pod of the plan that runs is moved to; NODE_NONE. */
node_id plan_notes_moves_to(const struct plan_notes *n, pod_id pod);
/* Of victim i of decision d of the plan. */
struct eviction_numbers plan_notes_numbers(const struct plan_notes *n, uint32_t d, uint32_t i);
