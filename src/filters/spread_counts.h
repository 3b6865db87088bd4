/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread_counts.h - how many pods the hard constraints of a pod count in each domain, in one cycle, whoever comes and
 * goes meanwhile.
 */
#pragma once

#include "filters/spread_nodes.h"

struct spread_domain {
	int32_t n_pods;
	bool is_there; /* a node of it counts */
};

struct spread_domains { /* of one constraint */
	uint32_t n, n_there;
	struct spread_domain *v;
	int32_t fewest;
	/* how many domains have lowest, lowest + 1, ... pods: so the fewest is known, whatever comes and goes */
	int32_t lowest;
	uint32_t n_tallies;
	uint32_t *tallies;
};

struct spread_counts {
	struct spread_rules rules;
	struct spread_domains *domains; /* per rule */
	uint32_t n_nodes, n_pods;
	uint8_t *nodes;	  /* enum spread_node, by node id */
	bool *has_pods;	  /* by node id: somebody there was counted in the beginning */
	bool has_groups;  /* of some group */
	uint8_t *leavers; /* enum leaver, by pod id; NULL while none was heard of */
};

/* Does the rule look at the node? */
static inline bool spread_counts_look_at(const struct spread_counts *s, const struct spread_rule *r, node_id node)
{
	return node < s->n_nodes && spread_node_counts(s->nodes[node], r);
}
/* May somebody count less who goes from the node, or a group of which one is there? As things were in the beginning. */
bool spread_counts_may_fall(const struct spread_counts *s, node_id node);
/* Do the rules say the same of both nodes, now and if the same pods came there? */
bool spread_counts_are_alike(const struct spread_counts *s, node_id a, node_id b);
/* As things are now. Memory of a. */
struct spread_counts *spread_counts_of(const struct cede_cycle *c, struct arena *a, struct spread_rules rules);
/* Would those of c's pod, with these rules, be the same? */
bool spread_counts_are_of(const struct spread_counts *s, const struct cede_cycle *c, const struct spread_rules *rules);
/* A pod came to the node (by 1) or went (by -1); c is of the pod whose constraints they are. */
void spread_counts_change(const struct cede_cycle *c, struct spread_counts *s, pod_id pod, node_id node, int by);
/* The same in one domain, by 1 or -1. */
void spread_domains_change(struct arena *a, struct spread_domains *d, uint32_t domain, int by);
