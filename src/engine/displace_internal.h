/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displace_internal.h - what displace.c and displace_fast.c share; for them alone.
 */
#pragma once

#include "engine/displace.h"
#include "rules/victim_set.h"

int64_t victim_start(const struct cede_cycle *c, const struct pod *p);
void sort_by_importance(const struct cede_cycle *c, const struct displace_options *o, pod_id *pods, uint32_t n);
void collect_victims(struct displace_node *r, const pod_id *pods, const bool *goes, const bool *violates, uint32_t n,
		     struct arena *a);

struct want { /* the request as short lists, `pods` first */
	uint32_t n;
	res_id type[RES_MAX];
	int64_t amount[RES_MAX];
	uint32_t fit_plugin; /* index of NodeResourcesFit, in whose name it does not fit */
};
void want_of(const struct cede_cycle *c, struct want *w);
/* Of the wanted types, beside those whose nominations hold against this pod. */
void displace_room(const struct cede_cycle *c, const struct want *w, node_id node, int64_t *ret);

/* Is nothing in this pod's way but resources and what does not depend on pods, and no plugin judges victims? */
bool displace_is_fast(const struct cede_cycle *c);
void displace_fast(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o,
		   struct displace_node *ret);
