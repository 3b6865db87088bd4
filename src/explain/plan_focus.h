/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan_focus.h - a plan that is made to explain one thing: what the explanation does not need is not found out.
 *
 * Who is protected is told of the work in question alone. About a waiting pod nobody is asked who comes after it, where
 * that cannot change what becomes of it: in one cycle, while no group waits that others could move for, without plugins
 * of one's own. Of others that are alike one is asked while nothing moves (alike.h). With engine_config.looks_at_all
 * nothing is left out; a property compares both (tests/properties/test_outlook.c).
 */
#pragma once

#include "explain/alike.h"

struct explain_target { /* one of them */
	pod_id pod;
	group_id group;
	queue_id queue;
};

typedef ARRAY(pod_id) waiting_list;

struct plan_focus {
	pod_id pod;		      /* after whose decision the plan is over; POD_NONE: it is not */
	const struct decisions *made; /* so far */
	uint32_t n_looked;	      /* of them */
	bool is_over;
	const struct bits *passes; /* these are passed over in any case; NULL: nobody */
	struct alike alike;	   /* where the plan is the first one */
	struct refusals refusals;
	struct bits tells_of;
	waiting_list waiting;
};

/* Everybody who waits, found once for runs in which nobody else comes; the run borrows the list. */
void plan_list_waiting(const struct ledger *l, waiting_list *ret, struct engine_run *run);

/* Does nothing that is decided after a pod change what becomes of it? Only of a run that lists who waits. */
bool plan_ends_with(const struct cluster *c, const struct engine_config *config, const struct engine_run *run,
		    pod_id pod);
/*
 * Narrows a run whose decisions go to made. The run borrows the focus. A pod that runs, or a group of which
 * some do, is explained by what becomes of all others: then nothing is left out.
 */
void plan_focus_on(struct plan_focus *f, const struct cluster *c, const struct engine_config *config,
		   const struct explain_target *t, const struct decisions *made, struct engine_run *run);
/* Nothing is told but what is decided, and not after that pod; POD_NONE: of everybody. alike may be NULL. */
void plan_focus_on_decision(struct plan_focus *f, pod_id pod, const struct alike *alike, const struct decisions *made,
			    struct engine_run *run);
void plan_focus_free(struct plan_focus *f);
