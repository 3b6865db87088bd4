/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/trace_openb.h"

#include "base/clock.h"
#include "manifest/fields.h"

enum { CPU_MILLI_MAX = 1 << 30, MEMORY_MIB_MAX = 1 << 30, GPUS_MAX = 1024, MILLI = 1000 };
#define SECONDS_MAX (INT64_MAX / NS_PER_S / 2)

const char *const openb_qos_words[] = {"LS", "Guaranteed", "Burstable", "BE", NULL};

/* ---- nodes ---- */

enum { NODE_NAME, NODE_CPU, NODE_MEMORY, NODE_GPU, NODE_MODEL };
static const char *const node_columns[] = {"sn", "cpu_milli", "memory_mib", "gpu", "model"};

enum err_code openb_nodes_begin(struct openb_reader *r, struct trace_input *in, struct err *e)
{
	csv_init(&r->csv, in);
	return csv_header(&r->csv, node_columns, sizeof(node_columns) / sizeof(*node_columns), e);
}

static enum err_code read_node(const struct csv *c, struct openb_node *ret, struct err *e)
{
	struct openb_node node = {.name = csv_str(c, NODE_NAME), .model = csv_str(c, NODE_MODEL), .line = csv_line(c)};
	int64_t memory_mib, gpus;

	if (!*node.name)
		return csv_bad(c, NODE_NAME, "the name of a node", e);
	TRY(csv_int(c, NODE_CPU, 0, CPU_MILLI_MAX, &node.cpu_milli, e));
	TRY(csv_int(c, NODE_MEMORY, 0, MEMORY_MIB_MAX, &memory_mib, e));
	TRY(csv_int(c, NODE_GPU, 0, GPUS_MAX, &gpus, e));
	node.memory_bytes = memory_mib << 20;
	node.gpus = (uint32_t)gpus;
	*ret = node;
	return ERR_OK;
}

enum err_code openb_node_next(struct openb_reader *r, struct openb_node *ret, bool *ret_has_node, struct err *e)
{
	bool has_row;

	TRY(csv_next(&r->csv, &has_row, e));
	if (has_row)
		TRY(read_node(&r->csv, ret, e));
	*ret_has_node = has_row;
	return ERR_OK;
}

/* ---- pods ---- */

enum { POD_NAME, POD_CPU, POD_MEMORY, POD_GPUS, POD_GPU_MILLI, POD_QOS, POD_CREATED, POD_DELETED, POD_SCHEDULED };
static const char *const pod_columns[] = {"name", "cpu_milli",	   "memory_mib",    "num_gpu",	     "gpu_milli",
					  "qos",  "creation_time", "deletion_time", "scheduled_time"};

enum err_code openb_pods_begin(struct openb_reader *r, struct trace_input *in, struct err *e)
{
	csv_init(&r->csv, in);
	return csv_header(&r->csv, pod_columns, sizeof(pod_columns) / sizeof(*pod_columns), e);
}

static enum err_code read_amounts(const struct csv *c, struct openb_pod *pod, struct err *e)
{
	int64_t memory_mib, gpus, gpu_milli;

	TRY(csv_int(c, POD_CPU, 0, CPU_MILLI_MAX, &pod->cpu_milli, e));
	TRY(csv_int(c, POD_MEMORY, 0, MEMORY_MIB_MAX, &memory_mib, e));
	TRY(csv_int(c, POD_GPUS, 0, GPUS_MAX, &gpus, e));
	TRY(csv_int(c, POD_GPU_MILLI, 0, MILLI, &gpu_milli, e));
	pod->memory_bytes = memory_mib << 20;
	pod->gpus = (uint32_t)gpus;
	pod->gpu_milli = (uint32_t)gpu_milli;
	return ERR_OK;
}

static enum err_code read_qos(const struct csv *c, enum openb_qos *ret, struct err *e)
{
	for (int i = 0; openb_qos_words[i]; i++) {
		if (str_eq(csv_str(c, POD_QOS), openb_qos_words[i])) {
			*ret = (enum openb_qos)i;
			return ERR_OK;
		}
	}
	return csv_bad(c, POD_QOS, "one of LS, Guaranteed, Burstable, BE", e);
}

static enum err_code read_times(const struct csv *c, struct openb_pod *pod, struct err *e)
{
	int64_t created, deleted, scheduled;

	TRY(csv_int(c, POD_CREATED, 0, SECONDS_MAX, &created, e));
	TRY(csv_int(c, POD_DELETED, created, SECONDS_MAX, &deleted, e));
	pod->created_ns = time_multiply(created, NS_PER_S);
	pod->duration_ns = TIME_NONE;
	if (!*csv_str(c, POD_SCHEDULED))
		return ERR_OK;
	TRY(csv_int(c, POD_SCHEDULED, created, deleted, &scheduled, e));
	pod->duration_ns = time_multiply(deleted - scheduled, NS_PER_S);
	return ERR_OK;
}

enum err_code openb_pod_next(struct openb_reader *r, struct openb_pod *ret, bool *ret_has_pod, struct err *e)
{
	const struct csv *c = &r->csv;
	struct openb_pod pod;
	bool has_row;

	TRY(csv_next(&r->csv, &has_row, e));
	*ret_has_pod = has_row;
	if (!has_row)
		return ERR_OK;
	pod = (struct openb_pod){.name = csv_str(c, POD_NAME), .line = csv_line(c)};
	if (!*pod.name)
		return csv_bad(c, POD_NAME, "the name of a pod", e);
	TRY(read_amounts(c, &pod, e));
	TRY(read_qos(c, &pod.qos, e));
	TRY(read_times(c, &pod, e));
	*ret = pod;
	return ERR_OK;
}

void openb_end(struct openb_reader *r)
{
	csv_free(&r->csv);
}
