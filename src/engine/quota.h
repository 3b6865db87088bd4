/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.h - a queue that uses more than its maximum, because the maximum was lowered, gives back what is above it
 * (YuniKorn's quota preemption).
 *
 * For managed queues with quota.preemption.delay, where the partition switches it on. Never more is taken than what is
 * above the maximum, and never what lies below a guarantee on the queue's path; a parent's excess is divided among its
 * children by what each uses above its own guarantee. Whom no soft rule keeps goes first, then drivers, then opted-out
 * pods; then lower priority, then who loses less work, then the younger. A group of disruptionMode all goes as a whole.
 */
#pragma once

#include "engine/engine_internal.h"

/* What the queue has to give back, per type; empty: nothing. */
void quota_target(const struct ledger *l, queue_id q, struct res_vec *ret);
/* The part of a parent's target that falls to one of its children. */
void quota_share(const struct ledger *l, queue_id parent, queue_id child, const struct res_vec *target,
		 struct res_vec *ret);

/*
 * All queues, from the root down: decisions with outcome evicted, appended to ret; victims are evicted in the ledger.
 */
void quota_run(struct engine *en, const struct engine_run *run, uint32_t cycle, struct decisions *ret);
