/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displace_cache.h - looking at all nodes without looking again at what did not change.
 *
 * For a pod that only resources can stop, what a node says (fits, does not, would after these go) depends on the pod's
 * shape and priority and on the node's content. Answers are kept per node, with the node's generation: a decision then
 * looks anew only at nodes that changed since the last one for a pod alike, and compares numbers for the rest. Of most
 * nodes nothing is known but what evictions would cost there at least (displace_sums.h); who would go is found out,
 * cheapest first, until no other node can be one of the two best. Answers of nodes where a budget covers a pod, where a
 * pod does not say since when it runs or would take its whole group with it are not kept. The answer is that of
 * displace_try and displace_pick on every node; a property test holds it to that.
 */
#pragma once

#include "engine/displace.h"

struct displace_cache;

struct displace_cache *displace_cache_new(void);
void displace_cache_free(struct displace_cache *s);
/* For who looks at nodes in another way. */
struct displace_sums *displace_cache_sums(struct displace_cache *s);
struct eviction_orders *displace_cache_orders(struct displace_cache *s);

struct displace_cache_result {
	uint32_t n_feasible;	     /* nodes that fit now: nobody has to go */
	node_id *feasible;	     /* they, by name */
	node_id best, second;	     /* candidates; NODE_NONE */
	struct displace_node winner; /* of best, victims in the cycle's arena */
	enum tie_break tie;
	int64_t mine, theirs;
	/* how often which answer: of the filters, and of preemption on potential nodes (if best is NODE_NONE) */
	uint32_t n_refusals, n_after;
	const struct status_count *refusals, *after; /* in the cycle's arena */
};

/* False: this pod needs more than resources looked at; nothing was done. */
bool displace_cache_run(struct displace_cache *s, struct cede_cycle *c, const struct displace_options *o,
			struct displace_cache_result *ret);
