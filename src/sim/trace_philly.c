/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_philly.h"

#include "manifest/fields.h"

enum { TIMESTAMP, DURATION, NUM_GPUS, CLUSTER };
static const char *const columns[] = {"timestamp", "duration", "num_gpus", "cluster"};

enum err_code philly_begin(struct philly_reader *r, struct trace_input *in, struct err *e)
{
	csv_init(&r->csv, in);
	return csv_header(&r->csv, columns, sizeof(columns) / sizeof(*columns), e);
}

static enum err_code read_job(const struct csv *c, struct philly_job *ret, struct err *e)
{
	struct philly_job job = {.line = csv_line(c), .cluster = csv_str(c, CLUSTER)};
	int64_t gpus;

	TRY(csv_time(c, TIMESTAMP, &job.submit_ns, e));
	TRY(csv_seconds(c, DURATION, &job.duration_ns, e));
	TRY(csv_int(c, NUM_GPUS, 1, PHILLY_GPUS_MAX, &gpus, e));
	if (!*job.cluster)
		return csv_bad(c, CLUSTER, "the name of a virtual cluster", e);
	job.gpus = (uint32_t)gpus;
	*ret = job;
	return ERR_OK;
}

enum err_code philly_next(struct philly_reader *r, struct philly_job *ret, bool *ret_has_job, struct err *e)
{
	bool has_row;

	TRY(csv_next(&r->csv, &has_row, e));
	if (has_row)
		TRY(read_job(&r->csv, ret, e));
	*ret_has_job = has_row;
	return ERR_OK;
}

void philly_end(struct philly_reader *r)
{
	csv_free(&r->csv);
}
