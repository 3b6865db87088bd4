/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moves.h - consolidation where one pod or gang is tried after the other (profile default): at the end of a cycle,
 * others may move for a preemptible group that still waits.
 *
 * A session of all work decides it (session.h), and making one costs more than all that was decided before it. So it is
 * asked first whether anything can come of it: whoever moves takes as much elsewhere, so all that is free, wherever it
 * is, must be enough for those of some group that have to start together; no more may have to move than are looked at;
 * and enough of those in the way may move now (movable.h). moves_may_help counts reserved room as free; moves_run,
 * which asks last, does not.
 */
#pragma once

#include "engine/engine_internal.h"

/* No: it would not get room; GROUP_NONE: no group that waits would. */
bool moves_may_help(const struct engine *en, group_id group);
/* What was decided in this cycle so far is in ret; who gets room after all is no longer said to wait there. */
void moves_run(struct engine *en, const struct engine_run *run, uint32_t cycle, struct decisions *ret);
