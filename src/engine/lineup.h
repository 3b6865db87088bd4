/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lineup.h - the pods of a node in the order of their importance, kept until the node changes.
 *
 * The order (priority, in a group or not, start, name) does not depend on who waits, so all preemptors share it: those
 * that may go for a pod of priority P are a tail of it. For engine/ only.
 */
#pragma once

#include "engine/displace.h"
#include "engine/displace_internal.h"

struct lineup_pod {
	int32_t priority;
	bool is_grouped; /* names a PodGroup of Kubernetes' */
	pod_id pod;
	queue_id queue;
	kin_id kin;
	int64_t start; /* TIME_NONE: not said */
	const struct res_list *usage;
};

struct lineup {
	uint64_t generation; /* 0: not known */
	uint32_t n, cap;
	bool has_unset_start, has_groups;
	struct lineup_pod *v;
};

struct lineups {
	struct lineup *v; /* by node id */
	uint32_t n;
};

void lineups_fit(struct lineups *l, uint32_t n_nodes); /* room for so many node ids */
void lineups_free(struct lineups *l);

/*
 * What displace_try would say of a node without claims, for a pod that displace_is_fast. *ret_is_lasting stays true if
 * the answer depends on nothing but the pod's shape and priority, the node's content and what groups say; it is set to
 * false where budgets, the time or, because a whole group would go, other nodes take part.
 */
struct displace_node lineup_displace(struct lineups *l, struct cede_cycle *c, const struct displace_options *o,
				     const struct want *w, node_id node, bool *ret_is_lasting);
