/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_cache.h - what is kept from one decision to the next where queues count: the filters' answers, and the rows
 * that bounds are made of (node_rows.h, search_bound.h).
 *
 * For a pod that only resources can stop, what filters say depends on its shape and priority and on the node's content
 * (its generation). A decision looks anew only at nodes that changed since the last one for a pod alike, and what
 * follows from all answers together (how many gave which, who may be helped by evictions) is kept with them. Of a pod
 * that minds more, so it is with nodes that are too full for it; those that are not are asked in every decision.
 */
#pragma once

#include "engine/engine_internal.h"
#include "engine/search.h"

/* Look at everything every time: for tests. */
void search_cache_keep_nothing(struct search_cache *s);
bool search_cache_looks_at_all(const struct search_cache *s);
/* Keep bounds of so few nodes too that looking at all pods again is faster: for tests. */
void search_cache_keep_of_few(struct search_cache *s);
bool search_cache_keeps_bounds(const struct search_cache *s, uint32_t n_nodes);
struct search_scratch *search_cache_scratch(struct search_cache *s);
struct search_bounds; /* search_bound.c */
struct search_bounds *search_cache_bounds(struct search_cache *s);
struct search_bounds *search_bounds_new(void);
void search_bounds_free(struct search_bounds *b);

/* ---- filters ---- */

enum leaving_says {
	HAS_LEAVING = 1,  /* pods that can be counted on to go */
	FITS_SOON = 2,	  /* the pod fits once they are gone */
	HAS_STUCK = 4,	  /* pods that should have gone long ago */
	MAY_FIT_SOON = 8, /* there is room for it then: filters have to be asked */
};

struct filter_memory;
struct search_cache_filters { /* in the order of the cycle's nodes; good until the next call */
	const struct filter_memory *memory;
	const struct status_count *counts; /* what nodes say, counted; in the cycle's arena */
	uint32_t n_counts;
	struct status *statuses; /* instead, of each node, where too many say different things; else NULL */
	const uint8_t *leaving;	 /* enum leaving_says */
	bool has_soon;		 /* FITS_SOON, MAY_FIT_SOON or HAS_STUCK is said of some node */
	uint32_t n_feasible;
	node_id *feasible; /* in the cycle's arena */
	uint32_t n_possible;
	const node_id *possible; /* evictions may help there: no filter says never */
	uint8_t *closed;	 /* as in struct search */
};
/* What cycle_fits would say of all nodes. False: nothing is kept for this pod, and nothing was done. */
bool search_cache_filter(struct search_cache *s, struct cede_cycle *c, struct search_cache_filters *ret);
enum cede_code search_cache_code(const struct search_cache_filters *f, uint32_t i); /* of the i-th node */
