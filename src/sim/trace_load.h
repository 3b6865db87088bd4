/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_load.h - a trace as a load: its jobs in order of time, and a cluster for them where none is given.
 *
 * Traces do not say everything a simulation needs. What is missing is assigned by rule, from the seed where chance is
 * in it, and trace_note says so, a sentence for each rule; reports repeat them.
 *
 * A trace is read twice: once to see how large it is and whether it is in order of time, and then job by job as the
 * simulation asks. Only a trace that is not in order is kept in memory, with 32 bytes a job, and sorted.
 */
#pragma once

#include "sim/load.h"

enum trace_format { TRACE_PHILLY, TRACE_OPENB, TRACE_SWF, TRACE_FORMATS };

struct trace_options {
	const char *path;
	enum trace_format format;
	uint64_t seed;
	/* Zero: the default. */
	uint32_t nodes;		  /* of the cluster that trace_cluster makes; default: as many as the load needs */
	uint32_t compress;	  /* arrivals come so many times faster; run times stay as they are */
	int64_t checkpoint_ns;	  /* work is saved this often; default: never */
	bool has_yunikorn_queues; /* trace_cluster makes a queues.yaml instead of KAI Queues */
	uint32_t max_jobs;	  /* only the first ones, in order of time */
};

struct trace_load;

enum err_code trace_load_open(const struct trace_options *o, struct trace_load **ret, struct err *e);
void trace_load_free(struct trace_load *t); /* NULL is fine */

/*
 * The jobs, from the first one on, for a cluster with this vocab. To be freed before the vocab and the
 * trace_load go.
 */
struct sim_load trace_load_jobs(struct trace_load *t, struct vocab *v);
double trace_load_done(void *trace_load); /* the part that was asked for, 0 to 1 */

int64_t trace_load_from(const struct trace_load *t); /* when the first job arrives */
uint32_t trace_load_count(const struct trace_load *t);
/* Nodes and queues as YAML, as -f would take them: queues by the trace, with guarantees by their share of the work. */
void trace_cluster(const struct trace_load *t, struct text *out);

uint32_t trace_note_count(const struct trace_load *t);
const char *trace_note(const struct trace_load *t, uint32_t i);
