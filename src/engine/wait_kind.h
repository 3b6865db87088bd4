/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_kind.h - waiting pods of which nothing that is decided can differ.
 *
 * Two pods without a group, a nomination, volumes or limits are of one kind if they are of one shape, queue, priority
 * and preemptibility; labels and owners count only where a filter looks at them, applications only if others of them
 * run or wait. Where one of them has waited in vain and nothing has moved since, so does the other.
 */
#pragma once

#include "engine/engine.h"

struct waiting_kind { /* everything that an attempt asks of such a pod; no padding: compared as bytes */
	queue_id queue;
	shape_id shape;
	int32_t priority;
	uint32_t preemptibility;
	uint32_t is_daemon, never_preempts;
	labelset_id labelset; /* where a filter may look at it, like the owner; else LABELSET_NONE */
	uint32_t owner_kind;
	name_id owner, ns, app; /* app: if others of it run or wait */
};

/* Do filters look at labels of pods that do not ask for it themselves? It holds while shapes stay. */
bool wait_kind_labels_matter(const struct vocab *v, const struct engine_config *config);
/* False: it is like nobody. */
bool wait_kind_of(const struct cluster *c, bool labels_matter, pod_id pod, struct waiting_kind *ret);
/* Of one of a gang: what it has beside what its group decides. */
bool wait_kind_of_member(const struct cluster *c, bool labels_matter, pod_id pod, struct waiting_kind *ret);
/* Of two of one kind one may be old enough to reclaim, and the other not. */
bool wait_kind_is_young(const struct ledger *l, const struct pod *p, int64_t now_ns);
