/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_cache.h - what nodes said before, where queues count: the filters' answers, and what the search found on each
 * node.
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
void search_cache_keep_nothing(struct search_cache *s);
struct search_scratch *search_cache_scratch(struct search_cache *s);

/* ---- filters ---- */

struct search_cache_filters { /* in the order of the cycle's nodes; good until the next call */
	struct status *statuses;
	const bool *has_leaving;
	uint32_t n_feasible;
	node_id *feasible; /* in the cycle's arena */
};
/* What cycle_fits would say of all nodes. False: this pod needs more than resources looked at; nothing was done. */
bool search_cache_filter(struct search_cache *s, struct cede_cycle *c, struct search_cache_filters *ret);

/* ---- searches ---- */

struct search_cache_entry {
	uint64_t generation; /* of the node; 0: nothing known */
	uint64_t watches;    /* which queues it depends on, as search_cache_watch told */
	struct set_cost cost;
	bool is_found, has_protected;
	bool is_beaten, is_bounded; /* as in search_internal.h; the cost of a beaten one is a lower bound */
	uint32_t n_protected;
	struct protected_pod *protected; /* who is protected there, if has_protected */
};

struct search_cache_memory;

/* For this search; NULL: nothing can be kept. */
struct search_cache_memory *search_cache_begin(struct search_cache *s, const struct search *search);
/* What is known of the node, NULL if nothing is; with_protected: who is protected must be known too. */
const struct search_cache_entry *search_cache_known(const struct search_cache_memory *m, node_id node,
						    bool with_protected);
/* The answer depends on pods of this queue: bits for search_cache_entry.watches. */
uint64_t search_cache_watch(struct search_cache_memory *m, struct judge *j, const struct pod *p);
/* left is copied. */
void search_cache_learn(struct search_cache_memory *m, node_id node, const struct search_cache_entry *what);
void search_cache_end(struct search_cache_memory *m);
