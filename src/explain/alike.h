/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alike.h - waiting pods of which nothing that is decided can differ.
 *
 * Two pods without a group, a nomination, volumes or limits are alike if they are of one shape, queue, priority and
 * preemptibility; labels and owners count only where a filter looks at them, applications only if others of them run or
 * wait. Where one of them has waited in vain and nothing has moved since, the other does so too, and is not asked. With
 * engine_config.looks_at_all, or plugins of one's own, nobody is alike.
 */
#pragma once

#include "engine/engine.h"

struct alike { /* who is like whom; it holds while nobody comes and what pods are made of stays */
	const struct cluster *cluster;
	struct map kind_of; /* by pod; absent: like nobody */
	uint32_t n_kinds;
};

/* Those of a run that lists who waits, but for one: he is asked in any case. POD_NONE: but for nobody. */
void alike_init(struct alike *a, const struct cluster *c, const struct engine_config *config,
		const struct engine_run *run, pod_id but);
void alike_free(struct alike *a);

struct refused { /* where things stood when the last of a kind waited in vain */
	ledger_mark mark;
	uint32_t cycle; /* of the ledger; 0: none did */
};

struct refusals {		   /* of one run so far */
	const struct alike *alike; /* NULL: nobody is passed over */
	const struct decisions *made;
	int64_t now_ns;
	uint32_t n_looked;
	pod_id asked; /* the last that was not passed over, POD_NONE if he had a nomination; and where things stood */
	ledger_mark mark;
	struct refused *last; /* by kind */
};
void refusals_init(struct refusals *r, const struct alike *a, const struct decisions *made, int64_t now_ns);
void refusals_free(struct refusals *r);
/* Asked when a pod's turn comes: did one like it wait in vain, and nothing has moved since? */
bool refusals_pass_over(struct refusals *r, pod_id pod);
