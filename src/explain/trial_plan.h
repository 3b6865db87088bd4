/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial_plan.h - the plan again with one thing different: what becomes of one pod in it?
 *
 * All trials of a question use one engine, so that what nodes say is found out once, and decide nothing that cannot
 * matter to the pod (plan_focus.h). Where only the pod's own priority is different, those before it who waited in vain
 * would do so again: it can only come earlier than it did, and until then nothing is different.
 */
#pragma once

#include "explain/plan_focus.h"

struct trial_question {
	struct cluster *cluster;
	struct engine_config *config;	      /* a rule may be left out meanwhile; afterwards it is as before */
	const struct framework_plugin *extra; /* plugins the plan was made with */
	uint32_t n_extra;
	struct engine *engine;	      /* the plan was made with; NULL: one is made */
	bool is_engine_lent;	      /* somebody decides with it now: it is not asked about other times */
	const struct decisions *plan; /* NULL: not known */
	const struct alike *alike;    /* NULL: nobody is */
	const waiting_list *waiting;  /* everybody who waits; NULL: they are looked for */
	struct engine_run run;
	const struct decision *waits; /* the pod's own */
};

struct trials {
	const struct trial_question *q;
	struct engine *engine, *own; /* own: to be freed */
	bool ends_with_pod;
	struct bits in_vain; /* who waited in the plan, or came after the pod, and holds nothing */
};
void trials_init(struct trials *t, const struct trial_question *q);
void trials_free(struct trials *t);

enum trial_change { CHANGED_PRIORITY, CHANGED_RULES, CHANGED_NUMBERS };
/* As things stand in the ledger and the configuration now; the pod's last decision. False: it did not get room. */
bool trial_gets_room(struct trials *t, enum trial_change change, struct decision *ret);
