/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preemption.h - what the facts about preemption share.
 */
#pragma once

#include "engine/displace.h"
#include "world.h"

#define NO_COMPOSITE "cede has no composite pod groups"
/* True, and the fact is skipped: it is about composite pod groups. */
bool skip_composite(struct fact *f);
/* Names of pods; without is_ordered as a set. */
/* Their names, sorted, in one line; in the fact's arena. */
const char *victims_line(struct world *w, const pod_id *victims, uint32_t n);
void same_victims(struct world *w, const char *what, const struct tree *expected, const pod_id *got, uint32_t n,
		  bool is_ordered);
/* The dry run on these nodes; in the fact's arena. */
struct displace_node *try_nodes(struct world *w, const node_id *nodes, uint32_t n);
