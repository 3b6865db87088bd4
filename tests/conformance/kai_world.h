/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kai_world.h - the cluster of a fact about KAI's actions, round after round.
 *
 * A round writes the fact's nodes, queues, pod groups and pods, in the states they have by then, as the objects that
 * users of KAI write, reads them, and runs one cycle of the engine. What the cycle did is told in KAI's own words for
 * the state of a task: a pod that was placed is Binding, one that waits for others to leave is Pipelined, one that has
 * to leave is Releasing, unless it is nominated to another node at once: then it is Pipelined there.
 */
#pragma once

#include "conform.h"
#include "rules/min_runtime.h"

enum { NS_IN_MS = 1000000 };

struct kai_task {
	const char *id;
	const struct tree *t, *job;
	const char *status, *node; /* "" if it has none */
	int64_t started_ns;	   /* of its group, after the round; TIME_NONE */
};

struct kai_world {
	struct fact *f;
	struct min_runtime_settings min_runtime; /* none unless set */
	uint32_t n;
	struct kai_task *tasks;		      /* of all jobs, in the fact's arena */
	uint32_t binds, pipelines, evictions; /* of the last round */
};

/*
 * All tasks as the fact has them. Beside what such facts have, queues may have preempt_min_runtime_ms and
 * reclaim_min_runtime_ms, and jobs last_start_ms_ago (null: they never started).
 */
void kai_world_init(struct kai_world *w, struct fact *f);
/* One cycle. False: it failed, and the fact says why. */
bool kai_world_round(struct kai_world *w);
/* Who was to leave is gone, and waits again unless it is deleted for good; who was bound runs. */
void kai_world_settle(struct kai_world *w);
