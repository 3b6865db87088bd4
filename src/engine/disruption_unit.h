/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disruption_unit.h - which running pods go together.
 *
 * A pod goes alone, unless it is of a PodGroup of scheduling.k8s.io with disruptionMode all: then whoever takes one of
 * its pods takes all of them, on whatever nodes they run, and the group is one victim with the group's priority. For
 * engine/ and who tests it.
 */
#pragma once

#include "engine/displace.h"

struct disruption_unit {
	group_id whole; /* the group that goes as a whole; GROUP_NONE: a pod alone */
	uint32_t n_pods;
	const pod_id *pods; /* by name */
	int32_t priority;
	bool is_grouped; /* its pods name a PodGroup, whether that is there or not */
	int64_t start;	 /* of the pod that runs longest */
	bool is_spared;	 /* a rule would rather keep one of its pods */
};

struct disruption_units {
	uint32_t n, n_pods; /* n_pods: in all of them */
	struct disruption_unit *v;
	bool has_whole; /* some unit is a whole group */
};

/* Does it go with its whole group? */
static inline bool pod_goes_whole(const struct ledger *l, const struct pod *p)
{
	return p->group != GROUP_NONE && ledger_group(l, p->group)->obj->goes_whole;
}
static inline bool pod_is_grouped(const struct pod *p)
{
	return p->obj->group_is_k8s && p->obj->group != NAME_NONE;
}

/*
 * Units that may go for the cycle's pod and of which something is on the node, or on any node; most important first. In
 * the cycle's arena. Every pod of a unit is judged: if one is protected, all of it stays.
 */
struct disruption_units units_on_node(const struct cede_cycle *c, const struct displace_options *o, node_id node);
struct disruption_units units_everywhere(const struct cede_cycle *c, const struct displace_options *o);

/*
 * <0: a is more important (goes later): priority, then groups before single pods, then more pods, then the earlier
 * start; 0 where only names are left to tell them apart.
 */
int unit_cmp(const struct disruption_unit *a, const struct disruption_unit *b);

/* Units taken apart: their pods in a row, unit after unit. In the cycle's arena. */
enum reprieve_class { CLASS_SPARED, CLASS_VIOLATING, CLASS_REST, CLASSES }; /* in this order they are given back */
struct unit_rows {
	pod_id *pods;
	node_id *homes;	  /* where they run */
	bool *violates;	  /* a budget has no room for it */
	bool *goes;	  /* to be filled in */
	uint8_t *classes; /* by unit: enum reprieve_class */
};
struct unit_rows unit_rows_of(const struct cede_cycle *c, const struct displace_options *o,
			      const struct disruption_units *u);
