/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_openb.h - the two tables of the OpenB trace: nodes (sn,cpu_milli,memory_mib,gpu,model) and pods
 * (name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time).
 *
 * Times are whole seconds since the trace began. Pods that never got a place have no scheduled_time, and so no run
 * time.
 */
#pragma once

#include "sim/trace_csv.h"

struct openb_node {
	const char *name, *model; /* model "": no GPU; both good until the next node */
	int64_t cpu_milli, memory_bytes;
	uint32_t gpus;
	uint32_t line;
};

enum openb_qos { OPENB_LS, OPENB_GUARANTEED, OPENB_BURSTABLE, OPENB_BE };
extern const char *const openb_qos_words[]; /* "LS", "Guaranteed", "Burstable", "BE", NULL */

struct openb_pod {
	const char *name; /* good until the next pod */
	int64_t cpu_milli, memory_bytes;
	uint32_t gpus, gpu_milli; /* gpu_milli: of each, up to 1000; a part of one when it is less */
	enum openb_qos qos;
	int64_t created_ns;  /* since the trace began */
	int64_t duration_ns; /* deletion - scheduled; TIME_NONE: it never ran */
	uint32_t line;
};

struct openb_reader {
	struct csv csv;
};

enum err_code openb_nodes_begin(struct openb_reader *r, struct trace_input *in, struct err *e);
enum err_code openb_node_next(struct openb_reader *r, struct openb_node *ret, bool *ret_has_node, struct err *e);
enum err_code openb_pods_begin(struct openb_reader *r, struct trace_input *in, struct err *e);
enum err_code openb_pod_next(struct openb_reader *r, struct openb_pod *ret, bool *ret_has_pod, struct err *e);
void openb_end(struct openb_reader *r);
