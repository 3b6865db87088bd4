/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displace_internal.h - what displace.c and displace_fast.c share; for them alone.
 */
#pragma once

#include "base/map.h"
#include "engine/displace.h"

int64_t victim_start(const struct cede_cycle *c, const struct pod *p);
/* Pods of lower priority on the node, in order of arrival; ret has room for all its pods. */
uint32_t lower_pods(const struct cede_cycle *c, node_id node, pod_id *ret);
void sort_by_importance(const struct cede_cycle *c, const struct displace_options *o, pod_id *pods, uint32_t n);
void collect_victims(struct displace_node *r, const pod_id *pods, const bool *goes, const bool *violates, uint32_t n, struct arena *a);

/* Can nothing but resources, and what does not depend on pods, be in this pod's way? */
bool displace_is_fast(const struct cede_cycle *c);
void displace_fast(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o, struct displace_node *ret);
