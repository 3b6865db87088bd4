/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_rows.h - the jobs of a trace in one form, whatever its format. For trace_load.c.
 *
 * Each format fills in what it knows by its own rules and says those rules in notes.
 */
#pragma once

#include "base/map.h"
#include "base/names.h"
#include "sim/trace_load.h"
#include "sim/trace_openb.h"
#include "sim/trace_philly.h"
#include "sim/trace_swf.h"

enum { TRACE_QUEUES_MAX = 4096, TRACE_NODE_GPUS = 8, TRACE_NODE_CPUS = 64 };

struct trace_row {
	int64_t arrives_ns, run_ns;
	uint32_t queue;	 /* number, in the order of appearance */
	uint32_t line;	 /* in the file */
	uint32_t amount; /* of each pod: GPUs, or processors */
	uint16_t n_pods; /* all or none when there are several */
	int16_t priority;
};

struct trace_reader;

struct trace_kind {	      /* one for each format */
	const char *resource; /* that is counted and guaranteed */
	uint32_t node_amount; /* of it, that a node of the made cluster has */
	enum err_code (*begin)(struct trace_reader *r, struct err *e);
	/* *ret_has false at the end. A row that cannot be used has n_pods 0. */
	enum err_code (*next)(struct trace_reader *r, struct trace_row *ret, bool *ret_has, struct err *e);
	void (*end)(struct trace_reader *r);
	const char *prefix;	  /* of a job's name; its line follows */
	const char *const *rules; /* what is assigned, in sentences; NULL at the end */
	const char *unusable;	  /* why a row has n_pods 0 */
};
extern const struct trace_kind trace_kinds[]; /* by enum trace_format */

struct trace_queue {
	name_id name;
	double work; /* amount times seconds */
};

struct trace_reader {
	const struct trace_kind *kind;
	struct trace_input in;
	union {
		struct philly_reader philly;
		struct openb_reader openb;
		struct swf_reader swf;
	} as;
	struct names *names;
	ARRAY(struct trace_queue) queues;
	struct map queue_at; /* name -> number */
	uint64_t seed;
};

/* The number of the queue with this name, which must be one; where: "p.csv:12", for the message. */
enum err_code trace_queue_number(struct trace_reader *r, const char *name, uint32_t line, uint32_t *ret, struct err *e);
/* By the seed and the line alone, so that it does not depend on the order: 100, 50 or 0 for 1, 3 and 6 of ten. */
int16_t trace_assigned_priority(uint64_t seed, uint32_t line);
