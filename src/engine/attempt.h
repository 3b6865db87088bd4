/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h - one attempt for one waiting pod: what attempt.c (as kube-scheduler), queued.c (with queues) and
 * gang_kube.c (for a group) share; for engine/ alone.
 */
#pragma once

#include "engine/engine_internal.h"
#include "engine/search.h"

struct attempt {
	struct engine *en;
	struct cede_cycle c;
	struct arena *keep;
	struct decision *d;
	struct status *statuses; /* per node of c.nodes */
	const bool *has_leaving; /* likewise; NULL: not known */
	node_id *feasible;
	uint32_t n_feasible;
	int64_t *scores; /* of the feasible */
};

struct decision attempt_decision(const struct engine *en, pod_id pod);	      /* it waits, and nothing is known yet */
const char *attempt_keep_text(struct attempt *a, struct text *t);	      /* moves it into keep and frees t */
void attempt_filter(struct attempt *a);					      /* all nodes: statuses and feasible */
bool attempt_promise_fits(struct attempt *a);				      /* the node it claims fits now */
enum err_code attempt_choose(struct attempt *a, node_id *ret, struct err *e); /* among the feasible */
void attempt_place(struct attempt *a, node_id node);
/* Into the decision; what is given back is the decision's list, to be filled further. */
struct victim *attempt_take_victims(struct attempt *a, const pod_id *victims, uint32_t n);
void attempt_report(struct attempt *a, const struct displace_node *tried, uint32_t n_tried);
bool attempt_in_default_queue(const struct attempt *a, queue_id q); /* the leaf of pods that name no queue */

/* Profiles default and yunikorn. */
enum err_code attempt_queued(struct attempt *a, bool wants_report, struct err *e);
