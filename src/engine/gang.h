/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang.h - groups that start together (profile default).
 *
 * A group that has fewer pods placed than the minimum of one of its podsets is one request: of each podset as many
 * waiting pods as it lacks, the oldest first. All of them get room, or none: into free room; else with victims by
 * one action, reclaim or the action inside the own leaf; else the same two with opted-out pods; everything that did
 * not work out is rolled back. Who is entitled to room and whose queue is above its guarantee is asked once, before
 * the first pod; what must stay (guarantees, budgets, minimums) is kept by all victims together. If one of them has
 * to wait for its room, all do: their room is reserved, and they start when all of it is free. More pods than the
 * minimum are tried one by one as if they were on their own, and start no earlier than the rest.
 *
 * Pods are tried one after the other, in their order and then, if they are not all alike, the biggest first: a gang
 * that would fit only by trying more than that waits.
 */
#pragma once

#include "engine/engine_internal.h"

/* What became of groups in one cycle. */
struct gangs;

struct gangs *gangs_new(struct engine *en);
void gangs_free(struct gangs *g);
struct engine *gangs_engine(const struct gangs *g);
/* If the pod's group has to start together, it is tried, once; decisions of its members go to ret. */
enum err_code gangs_try(struct gangs *g, const struct engine_run *run, pod_id pod, uint32_t cycle,
			struct decisions *ret, struct err *e);
/* Was it decided with its group? */
bool gangs_decided(const struct gangs *g, pod_id pod);

/* Has it fewer pods placed than it has to start with, so that these are one request? */
bool gang_is_short(const struct engine *en, group_id group);
/* With this pod placed too, would some podset of its group still be below its minimum? Then it does not start. */
bool gang_must_wait(const struct engine *en, const struct pod *p);
/* Pods of a podset that have to run together; 0 where each stands for itself. */
uint32_t gang_minimum(const struct ledger *l, podset_id s);
/* Of two pod_id, which member is tried first (ctx: the ledger): nominated ones, then the oldest, then by name. */
int gang_member_order(const void *a, const void *b, void *ctx);
/* Groups that were below their minimum for longer than the grace period go as a whole. */
void stale_gangs_run(struct engine *en, int64_t now_ns, uint32_t cycle, struct decisions *ret);
/* When that is, of this one; TIME_NONE: never, as it is now. */
int64_t stale_gang_due(const struct engine *en, group_id group);
