/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage.h - what each queue used, and was guaranteed, over time.
 *
 * Looked at now and then, by whoever has the cluster: usage_note keeps what it sees if the step is over. At most
 * USAGE_POINTS points are kept; when there are more, every second one goes and the step doubles, so that an hour and a
 * month take the same memory. At most USAGE_QUEUES queues, by the order they were seen in. On the cluster's thread.
 */
#pragma once

#include "base/emit.h"
#include "cluster/cluster.h"

enum { USAGE_POINTS = 512, USAGE_QUEUES = 1000 };

struct usage;

struct usage *usage_new(int64_t step_ns); /* the first step */
void usage_free(struct usage *u);
void usage_note(struct usage *u, struct cluster *c, int64_t now_ns);
int64_t usage_next_ns(const struct usage *u); /* from then on the next point is kept; TIME_FIRST: at once */

/*
 * "points": a list of times, and for each type that the queue used or was guaranteed, lists of used, guaranteed and of
 * running and waiting pods, as numbers. Into the object that is open. Nothing is known: empty lists, and a "message" if
 * the reason is that there are too many queues.
 */
void usage_emit(const struct usage *u, const char *queue, struct emit *e);
