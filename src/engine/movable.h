/* SPDX-License-Identifier: Apache-2.0 */
/*
 * movable.h - how many places would there be if everybody moved away who may? An upper bound, to be asked before a
 * session is made for consolidation (moves.h): while all are inside windows nothing comes of it.
 *
 * Who may move is asked of the rules that look at nothing but the pod and its queue; others only protect more. Pods are
 * asked node by node, and only as long as there are too few places. What a node's pods said is kept from plan to plan:
 * it holds while the node is the same and no window on it has ended. For engine/ only.
 */
#pragma once

#include "engine/engine_internal.h"

struct movable {
	struct engine *en;
	int64_t now_ns;
	const struct res_list *failed; /* what one asked for of whom there were too few places; NULL: nobody yet */
	uint32_t n_failed;	       /* and how many of it */
	queue_id queue;		       /* for whose pods it was asked */
	struct judge judge;
};

/* Are there n places for pods like this waiting one? */
bool movable_gives(struct movable *m, pod_id waiting, uint32_t n);
