/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entitled_work.h - is waiting work within the guarantees of its queues?
 *
 * Entitled is work with which every queue on its path stays within its guarantee in every type it asks for; of each of
 * them somebody on the path must guarantee something. Slots (pods) count where a queue guarantees them, and are asked
 * for by nobody. Work that asks for nothing is not entitled: nobody guarantees it anything.
 *
 * The work of a pod whose group has to start together is the group's: of each podset the pods it lacks.
 */
#pragma once

#include "engine/engine_internal.h"

struct work {		/* what it would add to its queue, beside what is reserved for it already */
	uint64_t asked; /* types it asks for */
	int64_t adds[RES_MAX];
};

/* Of the pod alone, or of its whole group. */
void work_of_pod(const struct ledger *l, pod_id pod, struct work *ret);
void work_of_group(const struct engine *en, group_id group, struct work *ret);
bool work_is_entitled(const struct ledger *l, queue_id leaf, const struct work *w);
