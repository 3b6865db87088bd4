/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scored.h - the resources a score looks at, resolved once per pod: what NodeResourcesFit and
 * NodeResourcesBalancedAllocation share.
 *
 * Left out are names that the cluster does not know, `pods`, and extended resources the pod does not ask for: nodes are
 * not better or worse for devices that nobody wants.
 */
#pragma once

#include "filters/framework.h"

struct scored_type {
	res_id type;
	int64_t weight;
	int64_t asked; /* by the pod */
};

struct scored {
	uint32_t n;
	struct scored_type *v; /* whoever asks gives room for as many as are listed, RES_MAX at most */
};

/*
 * Fill ret and what its v points to. with_defaults: cpu and memory as asked for with the defaults for containers that
 * do not say (shape.nonzero_*), so that pods without requests do not all pile up on one node.
 */
void scored_init(struct scored *ret, const struct cede_cycle *c, const struct weighted_resource *list, uint32_t n,
		 bool with_defaults);
/* The same with room that lives as long as the cycle. */
void scored_keep(struct scored *ret, struct cede_cycle *c, const struct weighted_resource *list, uint32_t n,
		 bool with_defaults);
