/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread_holders.h - pods that hold reserved room and mind where the waiting pod goes: their hard constraints count it.
 *
 * Those whose constraints count the same are counted together. One that is placed in a dry run does not count itself:
 * it is looked at alone while it is. For the thread that has the cycle.
 */
#pragma once

#include "filters/pod_topology_spread.h"

/* All there are, NULL if none. Memory of a. */
struct spread_holders *spread_holders_of(const struct cede_cycle *c, struct arena *a);
/* Does it matter to one of them whether this pod is on its node? */
bool spread_holders_count(const struct spread_holders *first, const struct pod *p);
/* May it matter to one of them that somebody goes from the node, or a group? As things were in the beginning. */
bool spread_holders_may_fall(const struct spread_holders *first, node_id node);
/* Which of them it is counted with; NULL: with none. */
const struct spread_holders *spread_holders_find(const struct spread_holders *first, pod_id pod);
/* Do they mind the same on both nodes, now and if the same of them came there? */
bool spread_holders_are_alike(const struct spread_holders *first, node_id a, node_id b);
/* A pod came to the node (by 1) or went (by -1). */
void spread_holders_change(struct spread_holders *first, pod_id pod, node_id node, int by);
/* Another pod than the waiting one holds reserved room on the node now, or no longer does. */
void spread_holders_hold(struct spread_holders *first, pod_id pod, node_id node, bool holds);
/* Is there one that may have its room now, and might not beside the waiting pod on this node? */
bool spread_holders_mind(struct spread_holders *first, node_id node);
