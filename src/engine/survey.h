/* SPDX-License-Identifier: Apache-2.0 */
/*
 * survey.h - what nodes said before, where queues count: the filters' answers, and what the search found on each node.
 *
 * For a pod that only resources can stop, both depend on the kind of pod (shape, priority, queue, application), on the
 * node's content (its generation), on the time, on what queues were told, and on how much some queues use. A decision
 * looks anew only at nodes for which any of that changed since the last one for a pod alike; the answer is the same as
 * if it had looked at all (a property test holds it to that).
 *
 * Use of queues: while a queue's use is so far above its guarantee that taking everything on any one node would not
 * bring it there, no law speaks for it and the exact number does not matter. Nodes with pods of queues that are nearer,
 * or that came nearer or got away, are looked at anew when the number changes.
 *
 * Never kept: nodes with pods that a budget covers or that are of a group, because what they say depends on other
 * nodes.
 */
#pragma once

#include "engine/engine_internal.h"
#include "engine/search.h"

/* Look at everything every time: for tests. */
void survey_keep_nothing(struct survey *s);
struct search_scratch *survey_scratch(struct survey *s);

/* ---- filters ---- */

struct survey_filters { /* in the order of the cycle's nodes; good until the next call */
	struct status *statuses;
	const bool *has_leaving;
	uint32_t n_feasible;
	node_id *feasible; /* in the cycle's arena */
};
/* What cycle_fits would say of all nodes. False: this pod needs more than resources looked at; nothing was done. */
bool survey_filter(struct survey *s, struct cede_cycle *c, struct survey_filters *ret);

/* ---- searches ---- */

struct survey_entry {
	uint64_t generation; /* of the node; 0: nothing known */
	uint64_t watches;    /* which queues it depends on, as survey_watch told */
	struct set_cost cost;
	bool is_found, has_left;
	uint32_t n_left;
	struct protected_pod *left; /* who had to be left there, if has_left */
};

struct survey_memory;

/* For this search; NULL: nothing can be kept. */
struct survey_memory *survey_begin(struct survey *s, const struct search *search);
/* What is known of the node, NULL if nothing is; with_left: who had to be left must be known too. */
const struct survey_entry *survey_known(const struct survey_memory *m, node_id node, bool with_left);
/* The answer depends on pods of this queue: bits for survey_entry.watches. */
uint64_t survey_watch(struct survey_memory *m, struct judge *j, const struct pod *p);
/* left is copied. */
void survey_learn(struct survey_memory *m, node_id node, const struct survey_entry *what);
void survey_end(struct survey_memory *m);
