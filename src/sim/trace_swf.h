/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_swf.h - jobs in the Standard Workload Format: a line of 18 numbers each; lines that begin with ';' are
 * comments, and "; Name: value" among them describe the machine.
 *
 * -1 is "not known". A job whose run time or number of processors is not known, or that was cancelled before it
 * started (run time 0 and no processors), cannot be simulated: is_usable is false, and whoever reads counts those.
 */
#pragma once

#include <stdbool.h>

#include "base/text.h"
#include "sim/trace_input.h"

enum { SWF_FIELDS = 18, SWF_LINE_BYTES_MAX = 1 << 16, SWF_PROCESSORS_MAX = 1 << 24 };

struct swf_job {
	int64_t number;
	int64_t submit_ns, duration_ns; /* since the trace began */
	uint32_t processors;
	int64_t memory_bytes;		       /* of each processor; -1: not known */
	int64_t user, group, queue, partition; /* -1: not known */
	bool is_usable;
	uint32_t line;
};

struct swf_reader {
	struct trace_input *in;
	struct text words; /* the line */
	uint32_t line;
	int64_t start_ns;     /* UnixStartTime of the comments read so far, in ns since 1970; 0: not said */
	int64_t n_processors; /* MaxProcs, else MaxNodes; 0: not said */
};

void swf_begin(struct swf_reader *r, struct trace_input *in);
enum err_code swf_next(struct swf_reader *r, struct swf_job *ret, bool *ret_has_job, struct err *e);
void swf_end(struct swf_reader *r);
