/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_changes.h - what changed from one kept cluster of a journal to the next, as events.
 *
 * Nodes, budgets, PriorityClasses, Namespaces and queues are held against what the cluster before said of them. What is
 * new or says something else is put into the simulated cluster at the time of the later one; a node that is gone fails
 * then, a budget that is gone is removed. When in between it happened nobody knows. What a budget's status says does
 * not count: the simulation counts budgets itself. Queues come as whole sets, as everywhere.
 */
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "base/names.h"
#include "base/text.h"
#include "sim/load.h"

struct kept_object {
	int kind;	     /* of kept_kinds */
	const char *name;    /* NAME, or NS/NAME */
	char *says, *object; /* what counts of it; all of it, in YAML */
	uint32_t seen;	     /* number of the cluster that had it last */
	bool is_gone;
};

struct trace_changes {	     /* Zero-initialised: nothing was seen */
	struct arena *arena; /* of what events point to */
	struct names *names;
	struct map by_name; /* "KIND NS/NAME" -> place in objects */
	ARRAY(struct kept_object) objects;
	ARRAY(struct sim_event) events; /* in order of time */
	uint32_t n_clusters;
	uint32_t n_changed, n_gone;    /* objects */
	bool passes_over_queues;       /* they are set otherwise */
	bool has_kai_changes;	       /* in the cluster that is read */
	struct text documents, queues; /* what it changes */
};

/* The next kept cluster, in order of time; the first is what the others are held against. path: for messages. */
enum err_code trace_changes_see(struct trace_changes *c, const char *path, const char *state, int64_t at_ns,
				struct err *e);
void trace_changes_free(struct trace_changes *c);
