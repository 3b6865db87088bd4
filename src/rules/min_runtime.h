/* SPDX-License-Identifier: Apache-2.0 */
/*
 * min_runtime.h - how long work runs before it may be interrupted (MR-1 … MR-7): pure look-ups in the queue tree.
 */
#pragma once

#include "model/queue.h"

enum reclaim_resolve { RESOLVE_LCA, RESOLVE_QUEUE }; /* whose reclaimMinRuntime counts: MR-5, MR-6 */

struct min_runtime_settings {
	int64_t preempt_ns, reclaim_ns; /* where no queue says anything (MR-3) */
	enum reclaim_resolve resolve;
};

struct min_runtime {
	int64_t ns;
	queue_id queue; /* that says so; QUEUE_NONE: the default */
};

/* Inside one leaf: from the victim's queue upward. */
struct min_runtime min_runtime_preempt(const struct queue_tree *t, const struct min_runtime_settings *s,
				       queue_id victim);
/* Between leaves. QUEUE_NONE on either side: the default. */
struct min_runtime min_runtime_reclaim(const struct queue_tree *t, const struct min_runtime_settings *s,
				       queue_id reclaimer, queue_id victim);
