/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_topology_spread.h - what the filter and the score of PodTopologySpread share: the constraints of a pod, made
 * ready for one cycle.
 *
 * A pod without constraints of its own gets the default ones: a profile's list, or the system's two soft ones (hostname
 * and zone). Those have no selector; they count the pods of the pod's Services and of its ReplicaSet,
 * ReplicationController or StatefulSet. A pod of none has no default constraints.
 */
#pragma once

#include "filters/builtin.h"
#include "filters/roster.h"
#include "filters/topology.h"

/* What a node has; a constraint looks only at nodes that have all it needs. */
enum spread_node {
	SPREAD_KEYS = 1 << 0,	  /* the topology keys of all constraints */
	SPREAD_AFFINITY = 1 << 1, /* node selector and affinity of the pod hold */
	SPREAD_TAINTS = 1 << 2,	  /* its taints are tolerated */
};

struct spread_rule {
	int32_t max_skew;
	uint32_t min_domains; /* at least 1 */
	uint8_t needs;	      /* of enum spread_node, but SPREAD_KEYS */
	bool is_hostname;
	bool counts_self; /* the pod itself matches */
	struct selector selector;
	const struct topology *topology;
	struct labelset_memo memo;
};

struct spread_rules {
	uint32_t n;
	struct spread_rule *v;
	bool are_system; /* defaults nobody asked for: nodes without the keys count too */
};

/* The hard ones or the soft ones, in their order. Memory of a. */
struct spread_rules spread_rules(const struct cede_cycle *c, struct arena *a, bool are_hard);
bool spread_rule_matches(const struct cede_cycle *c, const struct spread_rule *r, labelset_id labelset);
/* What a live node has of what the rules need; SPREAD_KEYS always among it where it is so. */
uint8_t spread_node(const struct cede_cycle *c, const struct spread_rules *rules, node_id node);

/*
 * Calls fn with every pod that a rule counts: of the pod's namespace, matched, not leaving. Its node may be one that
 * nobody described. An empty selector counts nobody.
 */
typedef void (*spread_count)(void *ctx, const struct pod *p);
void spread_each(const struct cede_cycle *c, const struct spread_rule *r, spread_count fn, void *ctx);

struct spread_counts;
struct spread_holders;
struct spread_score;

struct spread_asked { /* a node on which those hold room who are alike, and what the filter said with them there */
	node_id node;
	uint32_t n;	      /* of them; where there are none the rest does not matter */
	labelset_id labelset; /* of each */
	enum nomination nomination;
	const struct spread_holders *with; /* whom each is counted with */
	bool refuses;
};
enum { SPREAD_ASKED = 8 };

struct spread_state { /* of a cycle; any may be missing */
	struct spread_counts *filter;
	struct spread_holders *holders; /* who holds reserved room, and minds where the pod goes */
	struct spread_score *score;
	struct spread_asked asked[SPREAD_ASKED]; /* the last ones, while nothing is moved */
	uint32_t n_asked;
};

struct cede_verdict spread_pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n);
int64_t spread_score(void *self, const struct cede_cycle *c, cede_node node);
void spread_normalize(void *self, const struct cede_cycle *c, const cede_node *nodes, int64_t *scores, size_t n);
