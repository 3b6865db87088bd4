/* SPDX-License-Identifier: Apache-2.0 */
/* How each format becomes jobs, and the rules for what it does not say. */
#include "sim/trace_rows.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/map.h"
#include "manifest/fields.h"

/* ---- queues and priorities ---- */

enum { QUEUE_NAME_MAX = 63, TENTHS = 10, HIGH = 100, MIDDLE = 50 };

static bool is_queue_name(const char *s)
{
	size_t n = strlen(s);

	return n >= 1 && n <= QUEUE_NAME_MAX && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == n;
}

enum err_code trace_queue_number(struct trace_reader *r, const char *name, uint32_t line, uint32_t *ret, struct err *e)
{
	name_id id = names_find(r->names, name, strlen(name));
	uint32_t number = id == NAME_NONE ? MAP_NONE : map_get(&r->queue_at, id);

	if (number == MAP_NONE) {
		if (!is_queue_name(name))
			return err_fail(e, ERR_INPUT,
					"%s:%" PRIu32
					": '%.60s' cannot be the name of a queue: a to z, 0 to 9, - and _ are "
					"allowed, up to 63 of them",
					r->in.name, line, name);
		if (r->queues.n == TRACE_QUEUES_MAX)
			return err_fail(e, ERR_LIMIT, "%s:%" PRIu32 ": more than %d queues", r->in.name, line,
					TRACE_QUEUES_MAX);
		number = r->queues.n;
		id = names_hold_str(r->names, name);
		array_push(&r->queues, ((struct trace_queue){.name = id}));
		map_put(&r->queue_at, id, number);
	}
	*ret = number;
	return ERR_OK;
}

int16_t trace_assigned_priority(uint64_t seed, uint32_t line)
{
	uint64_t tenth = hash_mix(hash_u64(seed), line) % TENTHS;

	return (int16_t)(tenth == 0 ? HIGH : tenth <= 3 ? MIDDLE : 0);
}

/* So many of something in equal pods that fit a node; the last unit may be rounded up. */
static enum err_code split(const struct trace_reader *r, uint32_t amount, struct trace_row *row, struct err *e)
{
	uint32_t n = (amount + r->kind->node_amount - 1) / r->kind->node_amount;

	if (n > INT16_MAX)
		return err_fail(e, ERR_LIMIT, "%s:%" PRIu32 ": a job of %" PRIu32 " is larger than any cluster",
				r->in.name, row->line, amount);
	row->n_pods = (uint16_t)n;
	row->amount = (amount + n - 1) / n;
	return ERR_OK;
}

/* ---- Philly ---- */

static enum err_code begin_philly(struct trace_reader *r, struct err *e)
{
	return philly_begin(&r->as.philly, &r->in, e);
}

static enum err_code next_philly(struct trace_reader *r, struct trace_row *ret, bool *ret_has, struct err *e)
{
	struct trace_row row = {0};
	struct philly_job job;

	TRY(philly_next(&r->as.philly, &job, ret_has, e));
	if (!*ret_has)
		return ERR_OK;
	row.arrives_ns = job.submit_ns;
	row.run_ns = job.duration_ns;
	row.line = job.line;
	row.priority = trace_assigned_priority(r->seed, job.line);
	TRY(trace_queue_number(r, job.cluster, job.line, &row.queue, e));
	if (job.duration_ns > 0)
		TRY(split(r, job.gpus, &row, e));
	*ret = row;
	return ERR_OK;
}

static void end_philly(struct trace_reader *r)
{
	philly_end(&r->as.philly);
}

static const char *const philly_rules[] = {
	"queue: the virtual cluster; guaranteed: its share of the GPU time of the whole trace",
	"priority (assigned, seeded): 100 for one job in ten, 50 for three, 0 for the others; all may be preempted",
	"pods (assigned): up to 8 GPUs one pod; more are a gang of pods of equal size that runs as a whole",
	NULL,
};

/* ---- OpenB ---- */

static const struct {
	const char *queue;
	int16_t priority;
} openb_classes[] = {
	[OPENB_LS] = {"ls", 1000},
	[OPENB_GUARANTEED] = {"batch", 800},
	[OPENB_BURSTABLE] = {"batch", 500},
	[OPENB_BE] = {"be", 0},
};

static enum err_code begin_openb(struct trace_reader *r, struct err *e)
{
	return openb_pods_begin(&r->as.openb, &r->in, e);
}

static enum err_code next_openb(struct trace_reader *r, struct trace_row *ret, bool *ret_has, struct err *e)
{
	struct trace_row row = {0};
	struct openb_pod pod;

	TRY(openb_pod_next(&r->as.openb, &pod, ret_has, e));
	if (!*ret_has)
		return ERR_OK;
	row.line = pod.line;
	row.arrives_ns = pod.created_ns;
	row.run_ns = pod.duration_ns;
	row.amount = pod.gpus;
	row.n_pods = pod.duration_ns > 0 && pod.gpus > 0 && pod.gpus <= TRACE_NODE_GPUS;
	row.priority = openb_classes[pod.qos].priority;
	TRY(trace_queue_number(r, openb_classes[pod.qos].queue, pod.line, &row.queue, e));
	*ret = row;
	return ERR_OK;
}

static void end_openb(struct trace_reader *r)
{
	openb_end(&r->as.openb);
}

static const char *const openb_rules[] = {
	"queue (assigned): ls for LS, be for BE, batch for Guaranteed and Burstable; guaranteed: the share of GPU time",
	"priority (assigned): LS 1000, Guaranteed 800, Burstable 500, BE 0; all may be preempted",
	"run time: from scheduled to deleted; a part of a GPU counts as a whole one; CPU and memory are not looked at",
	NULL,
};

/* ---- Standard Workload Format ---- */

static enum err_code begin_swf(struct trace_reader *r, struct err *e)
{
	swf_begin(&r->as.swf, &r->in);
	return ERR_OK;
}

static enum err_code next_swf(struct trace_reader *r, struct trace_row *ret, bool *ret_has, struct err *e)
{
	struct trace_row row = {0};
	char name[32] = "no-queue";
	struct swf_job job;

	TRY(swf_next(&r->as.swf, &job, ret_has, e));
	if (!*ret_has)
		return ERR_OK;
	row.line = job.line;
	if (job.is_usable && job.duration_ns > 0) {
		row.arrives_ns = time_add(r->as.swf.start_ns, job.submit_ns);
		row.run_ns = job.duration_ns;
		TRY(split(r, job.processors, &row, e));
	}
	row.priority = trace_assigned_priority(r->seed, job.line);
	if (job.queue >= 0)
		snprintf(name, sizeof(name), "queue-%" PRId64, job.queue);
	TRY(trace_queue_number(r, name, job.line, &row.queue, e));
	*ret = row;
	return ERR_OK;
}

static void end_swf(struct trace_reader *r)
{
	swf_end(&r->as.swf);
}

static const char *const swf_rules[] = {
	"queue: queue-N by its number, no-queue where there is none; guaranteed (assigned): its share of CPU time",
	"priority (assigned, seeded): 100 for one job in ten, 50 for three, 0 for the others; all may be preempted",
	"pods (assigned): up to 64 processors one pod; more are a gang of pods of equal size that runs as a whole",
	"memory, users, dependencies between jobs and requested times are not looked at",
	NULL,
};

#define GPU "nvidia.com/gpu"
const struct trace_kind trace_kinds[] = {
	[TRACE_PHILLY] = {GPU, TRACE_NODE_GPUS, begin_philly, next_philly, end_philly, "job", philly_rules,
			  "their duration is zero"},
	[TRACE_OPENB] = {GPU, TRACE_NODE_GPUS, begin_openb, next_openb, end_openb, "pod", openb_rules,
			 "they never ran, or use no GPU, or more than a node has"},
	[TRACE_SWF] = {"cpu", TRACE_NODE_CPUS, begin_swf, next_swf, end_swf, "job", swf_rules,
		       "run time, submit time or number of processors are not known or zero"},
};
