/* SPDX-License-Identifier: Apache-2.0 */
/*
 * difference.h - two plans, of the cluster as it is and of one that is thought of, side by side: who would get a place,
 * who would wait, who would have to go and who no longer. For people, and for programs as kind PlanDifference.
 */
#pragma once

#include "base/emit.h"
#include "explain/plan_view.h"
#include "journal/diff.h"

struct plan_side {
	const struct journal_run *run;
	uint32_t placed, nominated, waiting, gated; /* pods */
};

/* Where pods run before anything is decided: from "ns/name" to a position in nodes. */
struct running_pods {
	struct name_index at;
	struct arena *arena;
	ARRAY(const char *) nodes;
};
void running_pods_init(struct running_pods *r, const struct plan_view *v);
void running_pods_free(struct running_pods *r);

struct plan_difference {
	struct plan_side was, is;
	struct run_diff diff;
	const struct running_pods *running; /* today */
	const char *const *changes;	    /* in words, "add job.yaml": what was thought of */
	uint32_t n_changes;
	const char *ns; /* only what its pods get and lose is told; NULL: all */
	int64_t now_ns;
};

/* The sides and changes are set and borrowed; run_diff_free(&d->diff) when done. */
void plan_difference_init(struct plan_difference *d);
/* Work waits that does not wait today. */
bool plan_difference_adds_waiting(const struct plan_difference *d);
void plan_difference_text(const struct plan_difference *d, const struct look *look, struct text *out);
void plan_difference_emit(const struct plan_difference *d, struct emit *e);
