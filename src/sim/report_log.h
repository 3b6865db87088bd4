/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_log.h - what a report wants to know of a simulation besides its outcome: evictions one by one, who displaced
 * whom, how long work of each priority waited.
 *
 * Bounded: of the evictions those are kept that lost most work, REPORT_EVICTIONS of them; sums count all.
 */
#pragma once

#include "base/names.h"
#include "sim/sim.h"

enum { REPORT_EVICTIONS = 4000, REPORT_FLOWS_MAX = 100000, REPORT_PRIORITIES_MAX = 64 };

struct report_eviction {
	int64_t at_ns, lost_ns;
	uint64_t number, decision;
	uint32_t nth;
	/* names of report_log; job: without what a new pod of the same job has in its name */
	name_id pod, queue, node, for_pod, for_queue, why, job, for_job;
	const char *action, *rule; /* rule: that was overridden, "" if none */
};

struct report_flow {
	name_id from, to; /* queues: the one that got the room, the one that lost pods */
	uint64_t evictions;
	__int128 lost_sum;
};

struct report_priority {
	int32_t priority;
	struct times waits; /* until a start */
};

struct report_log {
	struct names *names;
	ARRAY(struct report_eviction) evictions; /* up to twice as many as are kept in the end */
	uint64_t n_evictions;
	ARRAY(struct report_flow) flows;
	struct map flow_at; /* map_key2(from, to) */
	ARRAY(struct report_priority) priorities;
};

void report_log_init(struct report_log *l);
void report_log_free(struct report_log *l);

/*
 * Why a victim has to go, in the words of plans, without the numbers that only a plan of its own would find. d is a
 * decision of now.
 */
struct victim;
struct decision;
void report_eviction_text(struct sim *s, const struct decision *d, const struct victim *x, struct text *out);

/* For sim_watcher, with the log as ctx. */
void report_log_eviction(void *log, struct sim *s, const struct sim_eviction *ev);
void report_log_start(void *log, struct sim *s, pod_id pod);

/* Afterwards: no more than REPORT_EVICTIONS, in the order of time; flows by names. */
void report_log_settle(struct report_log *l);
/* Waiting of the highest priority that at least one start in a hundred has; NULL: nothing started. */
struct report_priority *report_log_high(struct report_log *l);
