/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a trace, in every format. A reader ends, refuses with a place, or gives rows whose times and amounts are
 * in their bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sim/trace_openb.h"
#include "sim/trace_philly.h"
#include "sim/trace_swf.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

/* What is refused is the input's fault, and names it. */
static void check_error(enum err_code rc, const struct err *e)
{
	if (rc)
		HOLDS((rc == ERR_INPUT || rc == ERR_LIMIT) && e->code == rc && !strncmp(e->msg, "trace:", 6));
}

static void read_philly(struct trace_input in)
{
	struct philly_reader r;
	struct philly_job job;
	struct err e;
	bool has_job;
	uint32_t last_line = 0;
	enum err_code rc = philly_begin(&r, &in, &e);

	while (!rc && !(rc = philly_next(&r, &job, &has_job, &e)) && has_job) {
		HOLDS(job.duration_ns >= 0 && job.gpus >= 1 && job.gpus <= PHILLY_GPUS_MAX && *job.cluster);
		HOLDS(job.submit_ns != TIME_NONE && job.line > last_line);
		last_line = job.line;
	}
	check_error(rc, &e);
	philly_end(&r);
}

static void read_openb(struct trace_input in)
{
	struct openb_reader r;
	struct openb_pod pod;
	struct openb_node node;
	struct trace_input again = in;
	struct err e;
	bool has_row;
	enum err_code rc = openb_pods_begin(&r, &in, &e);

	while (!rc && !(rc = openb_pod_next(&r, &pod, &has_row, &e)) && has_row)
		HOLDS(*pod.name && pod.created_ns >= 0 && (pod.duration_ns >= 0 || pod.duration_ns == TIME_NONE) &&
		      pod.gpu_milli <= 1000 && pod.memory_bytes >= 0);
	check_error(rc, &e);
	openb_end(&r);
	rc = openb_nodes_begin(&r, &again, &e);
	while (!rc && !(rc = openb_node_next(&r, &node, &has_row, &e)) && has_row)
		HOLDS(*node.name && node.cpu_milli >= 0 && node.memory_bytes >= 0);
	check_error(rc, &e);
	openb_end(&r);
}

static void read_swf(struct trace_input in)
{
	struct swf_reader r;
	struct swf_job job;
	struct err e;
	bool has_job;
	enum err_code rc;

	swf_begin(&r, &in);
	while (!(rc = swf_next(&r, &job, &has_job, &e)) && has_job)
		HOLDS(!job.is_usable || (job.submit_ns >= 0 && job.duration_ns >= 0 && job.processors));
	check_error(rc, &e);
	swf_end(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct trace_input in;

	trace_input_memory(&in, "trace", (const char *)data, n);
	read_philly(in);
	read_openb(in);
	read_swf(in);
	return 0;
}
