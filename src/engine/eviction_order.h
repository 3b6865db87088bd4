/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eviction_order.h - the pods of a node in the order of their importance, kept until the node changes.
 *
 * The order (priority, in a group or not, start, name) does not depend on who waits, so all preemptors share it: those
 * that may go for a pod of priority P are a tail of it. For engine/ only.
 */
#pragma once

#include "engine/displace.h"
#include "engine/displace_internal.h"

struct ordered_pod {
	int32_t priority;
	bool is_grouped; /* names a PodGroup of Kubernetes' */
	pod_id pod;
	labelset_id labelset;
	int64_t start; /* TIME_NONE: not said */
	const struct res_list *usage;
};

struct eviction_order {
	uint64_t generation; /* 0: not known */
	uint32_t n, cap;
	bool has_unset_start, has_groups;
	struct ordered_pod *v;
};

struct eviction_orders {
	ARRAY(struct eviction_order) v; /* of the nodes that were asked of */
	uint32_t *slots;		/* by node id: where, and one more; 0: nowhere */
	uint32_t n;			/* node ids */
};

void eviction_orders_fit(struct eviction_orders *l, uint32_t n_nodes); /* room for so many node ids */
void eviction_orders_free(struct eviction_orders *l);

/*
 * What displace_try would say of a node, for a pod that displace_is_fast. *ret_is_lasting stays
 * true if the answer depends on nothing but the pod's shape and priority, the node's content and what groups say; it is
 * set to false where budgets, the time or, because a whole group would go, other nodes take part.
 */
struct displace_node eviction_order_displace(struct eviction_orders *l, struct cede_cycle *c,
					     const struct displace_options *o, const struct want *w, node_id node,
					     bool *ret_is_lasting);
