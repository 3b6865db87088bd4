/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volumes.h - what a decision says about volumes, and deciding it where no attempt is under way. For engine/ alone.
 *
 * Whoever holds room for a pod (places it, reserves room for it, or tries that out) has its volumes written down in the
 * ledger first, so that the next who looks sees them taken: plugins at Reserve, volumes_assume within an attempt,
 * engine_assume elsewhere. A nomination as Kubernetes makes it holds no volumes there, and none here.
 */
#pragma once

#include "engine/engine_internal.h"
#include "filters/volumes.h"

static inline bool pod_has_volumes(const struct ledger *l, pod_id pod)
{
	return ledger_pod(l, pod)->has_volumes;
}
/* What its claims get on this node. No cycle is under way. */
void engine_assume(struct engine *en, pod_id pod, node_id node, int64_t now_ns);
/* What was written down for its pod, in the order of its volumes. Memory of keep. */
void decision_take_volumes(struct decision *d, const struct ledger *l, struct arena *keep);
