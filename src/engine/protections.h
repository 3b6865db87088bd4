/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protections.h - what protects the pods of one node from those who wait, without making a plan.
 *
 * Each pod on the node is judged for each of the waiting pods that are named, by the action that could take it: it may
 * go for it, or the first rule that speaks keeps it. That is what the rules say of the pod alone; a plan may leave
 * it, or keep it together with others. Plugins are not asked. Pure, as a plan is.
 */
#pragma once

#include "engine/engine.h"

struct protection {
	pod_id pod, waiting;
	enum action action;	     /* by which it could be taken; ACTION_NONE: by none */
	struct rule_verdict verdict; /* answer MAY_GO: it may */
};
typedef ARRAY(struct protection) protection_list;

/* One for each pod of the node and each that waits, in this order; appended. */
void engine_protections(struct engine *en, const struct engine_run *run, node_id node, const pod_id *waiting,
			uint32_t n, protection_list *ret);

/*
 * Whom to ask about: of each leaf queue the waiting pod that comes first by priority, then age, then namespace and
 * name; those of the highest priorities, at most max of them. How many there are.
 */
uint32_t engine_first_waiting(const struct engine *en, pod_id *ret, uint32_t max);
