/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread_nodes.h - which nodes and domains the hard constraints of a pod count, kept until a node changes.
 *
 * That depends on little of the shape, and on nodes: topology keys, node affinity, taints. Each pod that holds reserved
 * room asks for it in each attempt (pod_topology_spread.c), so it is found once, for all shapes that say the same of
 * these: jobs that are spread alike differ in their sizes. For the thread that has the cycle.
 */
#pragma once

#include "base/bits.h"
#include "filters/pod_topology_spread.h"

enum { SPREAD_SHAPES = 32 };

struct spread_nodes_rule { /* what matters of one */
	const struct topology *topology;
	uint8_t needs;
};

struct spread_nodes {
	shape_id shape; /* one of those it is of; held while it is in use */
	bool is_used, is_good;
	uint64_t last_use;
	uint32_t n;	  /* node ids are below it */
	uint8_t *v;	  /* enum spread_node, by node id */
	uint32_t n_rules; /* of the shape */
	struct spread_nodes_rule *rules;
	struct bits *there; /* per rule: domains in which a node counts */
};

struct spread_nodes_cache {
	uint64_t clock;
	struct spread_nodes v[SPREAD_SHAPES];
};

struct spread_nodes_cache *framework_spread_nodes(struct framework *f);
/* Good until the next call. */
const struct spread_nodes *spread_nodes_get(struct spread_nodes_cache *s, const struct cede_cycle *c,
					    const struct spread_rules *rules);
void spread_nodes_forget(struct spread_nodes_cache *s); /* some node is another one now */
void spread_nodes_free(struct spread_nodes_cache *s, struct vocab *v);
/* Does the rule look at a node that has this? */
static inline bool spread_node_counts(uint8_t has, const struct spread_rule *r)
{
	uint8_t needs = SPREAD_KEYS | r->needs;

	return (has & needs) == needs;
}
