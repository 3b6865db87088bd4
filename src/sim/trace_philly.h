/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_philly.h - jobs of the Philly trace as a table: timestamp,duration,num_gpus,gpu_time,cluster.
 *
 * Times are UTC. The file is in no order of time. It has no nodes, priorities or users: whoever makes a load of it
 * assigns those and says so.
 */
#pragma once

#include "sim/trace_csv.h"

enum { PHILLY_GPUS_MAX = 1 << 20 };

struct philly_job {
	int64_t submit_ns, duration_ns; /* since 1970; 0 or more */
	uint32_t gpus;			/* 1 or more */
	const char *cluster;		/* virtual cluster; good until the next job */
	uint32_t line;
};

struct philly_reader {
	struct csv csv;
};

enum err_code philly_begin(struct philly_reader *r, struct trace_input *in, struct err *e);
enum err_code philly_next(struct philly_reader *r, struct philly_job *ret, bool *ret_has_job, struct err *e);
void philly_end(struct philly_reader *r);
