/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_bound.h - what the best set of victims on each node costs at least, without looking at pods one by one; and
 * who is protected there.
 *
 * Rules are asked once for each kind of pod (node_rows.h). From the rows of a node follows whether everybody who may go
 * would be enough, which priority has to go at least, and how much work is lost at least. The search then looks at the
 * nodes that may be best, and stops where the least of the rest is more than the second best found (search.c).
 *
 * Where the kind does not tell, the pod counts as one who may go: a bound is never too high. Who is protected is asked
 * of the rules themselves, for those pods alone of which the rows do not say that they may go. For search*.c only.
 */
#pragma once

#include "engine/search_internal.h"

struct node_bound {
	int64_t opted_out;  /* victims that opted out, at least: 0 or 1 */
	bool needs_drivers; /* one of them is a driver, at least */
	bool is_below;	    /* some queue falls below its guarantee, in types laws do not look at */
	int64_t highest, lost;
	uint32_t at; /* place among the nodes */
	bool is_refined;
	bool is_block; /* of several nodes, from this place on, the least */
};

/* Can rows speak for this search at all? */
bool search_bound_serves(const struct node_search *g);
/*
 * Of all nodes on which a set may be enough, into ret (room for n); returns how many. Who is protected on any of the
 * nodes is written down, in their order. with_blocks: nodes of which nothing changed since a search alike come as
 * blocks, to be opened where one is the least of all.
 */
uint32_t search_bound_all(struct node_search *g, const node_id *nodes, uint32_t n, bool with_blocks,
			  struct node_bound *ret);
enum { BOUND_BLOCK_MAX = 64 };
/* The nodes of a block, into ret (room for BOUND_BLOCK_MAX); returns how many. */
uint32_t search_bound_open(struct node_search *g, const struct node_bound *block, struct node_bound *ret);
struct row_says {
	pod_id pod;
	bool is_open; /* of it all rules have to be asked; else only those that the kind does not tell of */
};
/*
 * Pods of the present node of which kinds do not say that they stay, into ret (room for all pods of the node); returns
 * how many. After search_bound_all.
 */
uint32_t search_bound_who(struct node_search *g, struct row_says *ret);
/* Does no rule on sets refuse anybody on the node, whoever goes? Not known of groups. After search_bound_all. */
bool search_bound_refuses_nobody(struct node_search *g, node_id node);
/* A closer look at one of them: never lower than before. False: no set is enough. */
bool search_bound_refine(struct node_search *g, node_id node, struct node_bound *b);
/* <0: a comes first; places decide between equals. */
int node_bound_cmp(const struct node_bound *a, const struct node_bound *b);
/* Is no set of the node better than this one, found at that place? */
bool node_bound_is_beaten(const struct node_bound *b, const struct set_cost *cost, uint32_t at);
