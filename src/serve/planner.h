/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planner.h - a cluster that is asked questions: what would be decided now, and why?
 *
 * Plans are made between a mark and a rollback, so that the cluster is afterwards as it was. On the cluster's thread,
 * while nobody else holds a mark.
 */
#pragma once

#include "engine/engine.h"
#include "explain/plan_focus.h"
#include "explain/plan_view.h"
#include "explain/table.h"
#include "manifest/manifest.h"
#include "manifest/plugins.h"

struct serve_world { /* everything is borrowed */
	struct cluster *cluster;
	struct engine_config *config;
	const struct manifest *manifest; /* that the settings were read with */
	bool has_profile;		 /* it was named by an option, which counts more than settings */
	const struct plugins *plugins;
	struct engine *engine;				 /* NULL: one is made for each plan */
	const struct eviction_history *eviction_history; /* NULL: nothing is known */
	int64_t now_ns;
};

struct plan_question {
	uint32_t cycles;		     /* 0: 1 */
	const struct explain_target *target; /* it is made to explain this alone; NULL: everything */
	const char *ns;			     /* only of this namespace is told; NULL: all */
	bool lists_all;
};

struct world_plan {
	struct engine *engine, *own; /* own: to be freed */
	struct decisions plan;
	struct plan_notes *notes;
	struct plan_view view;
	uint32_t cycles;
	waiting_list waiting; /* everybody who waited before it was made, where it was made to explain something */
};

/* One of its own, to be freed; NULL: the error says why. */
struct engine *world_engine(const struct serve_world *w, struct err *e);

/* To be freed also after a failure. */
enum err_code world_plan(const struct serve_world *w, const struct plan_question *q, struct world_plan *ret,
			 struct err *e);
void world_plan_free(struct world_plan *p);

/* ---- one thing that is asked about ---- */

/*
 * "ns/name" or "name" of a pod or group, or the path of a queue, or the name of its KAI Queue; a pod is meant before a
 * group, and a group before a queue. The error says what may have been meant.
 */
enum err_code explain_find(const struct cluster *c, const char *default_ns, const char *text,
			   struct explain_target *ret, struct err *e);

struct explain_look {
	bool is_data, is_wide;
	enum emit_format format; /* of data */
	struct look look;	 /* of text */
};
/* kind Explanation, GroupExplanation or QueueExplanation; or text. The plan must have been made for it. */
void explain_write(const struct serve_world *w, const struct world_plan *p, const struct explain_target *t,
		   const struct explain_look *look, struct text *out);
