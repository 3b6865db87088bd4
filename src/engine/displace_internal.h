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
struct lack {		 /* of room, for a want */
	uint64_t wanted; /* which amounts do not fit, as bits */
	bool is_never;	 /* nor would they if the node were empty */
};
/* So much more is wanted than there is room. */
static inline void lack_note(struct lack *l, const struct want *w, uint32_t k, int64_t has, int64_t lacks)
{
	l->wanted |= (uint64_t)(lacks > 0) << k;
	l->is_never |= (w->type[k] != RES_PODS) & (w->amount[k] > has);
}
/* With so much room on a node that has so much. */
static inline struct lack want_lacks(const struct want *w, const int64_t *has, const int64_t *room)
{
	struct lack lack = {0};

	for (uint32_t k = 0; k < w->n; k++)
		lack_note(&lack, w, k, has[w->type[k]], w->amount[k] - room[k]);
	return lack;
}
/* As NodeResourcesFit would put it. */
static inline struct status lack_status(const struct want *w, struct lack lack)
{
	uint64_t types = 0;

	if (!lack.wanted)
		return (struct status){cede_ok(), PLUGIN_FRAMEWORK};
	for (uint32_t k = 0; k < w->n; k++)
		types |= (lack.wanted >> k & 1) << w->type[k];
	return (struct status){cede_answer(lack.is_never ? CEDE_UNRESOLVABLE : CEDE_UNSCHEDULABLE, 0, types),
			       w->fit_plugin};
}
/*
 * What cycle_fits says of the node, where room is what filters look at first (cycle_room_comes_first) and all nodes may
 * be used: most are too full, which needs no filter.
 */
struct status fits_by_numbers(struct cede_cycle *c, const struct want *w, node_id node);
/* How much more is wanted than displace_room says. */
void displace_lacks(const struct cede_cycle *c, const struct want *w, node_id node, int64_t *ret);
/* Of the wanted types, beside those whose nominations hold against this pod. */
void displace_room(const struct cede_cycle *c, const struct want *w, node_id node, int64_t *ret);

/* Is nothing in this pod's way but resources and what does not depend on pods, and no plugin judges victims? */
bool displace_is_fast(const struct cede_cycle *c);
void displace_fast(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o,
		   struct displace_node *ret);
