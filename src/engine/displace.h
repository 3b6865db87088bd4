/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displace.h - Kubernetes' default preemption, over all nodes.
 *
 * On each node where taking pods away may help: take away everything of lower priority, see whether the pod fits, then
 * give back as much as possible, budget-protected pods first, more important before less. A PodGroup with
 * disruptionMode all goes or stays as a whole, so victims may be on other nodes too. Of all nodes take the one that
 * hurts least (KF-6). Exhaustive, and the same answer with any number of threads.
 */
#pragma once

#include "engine/decision.h"
#include "rules/judge.h"

struct displace_sums;
struct eviction_orders;

struct displace_node { /* the outcome of one node */
	node_id node;
	struct status status;			    /* SUCCESS: a candidate; else why not */
	uint32_t n_victims, n_violations, n_spared; /* spared: a plugin would rather keep them */
	const pod_id *victims;			    /* most important first; in the cycle's arena */
	const bool *violates; /* for each of them: its budgets had no room for it; in the same arena */
};

struct displace_options {
	struct judge *j;		/* who may go; made by displace_judge */
	struct protected_list *spoke;	/* who is protected, and by which rule but priority; NULL: nobody asks */
	uint32_t threads;		/* 1: none beside the caller's */
	bool looks_at_all;		/* every node by moves in the ledger */
	bool tells_all;			/* what every node says is asked for, not only who wins */
	struct displace_sums *sums;	/* to leave nodes out that cannot win; NULL: none is left out */
	struct eviction_orders *orders; /* kept from decision to decision; goes with the sums */
};

/* For the cycle's pod, plugins included. */
void displace_judge(struct judge *j, const struct cede_cycle *c, const struct rule_settings *s,
		    struct judge_scratch *scratch);

enum eligibility { ELIGIBLE, NOT_ELIGIBLE_NEVER, NOT_ELIGIBLE_TERMINATING };
/* nominated_status: how the filters judged its nominated node, NULL if it has none. */
enum eligibility displace_eligible(const struct cede_cycle *c, const struct status *nominated_status);
const char *eligibility_text(enum eligibility e); /* Kubernetes' words */

/* One node. Uses ledger moves and takes them all back. */
struct displace_node displace_try(struct cede_cycle *c, node_id node, const struct displace_options *o);
/*
 * Many: ret[i] for nodes[i]. Fast paths and threads give what displace_try would. Unless all is to be told, nodes that
 * cannot be one of the two best are said to be no candidates, without being looked at, where there are two.
 */
void displace_all(struct cede_cycle *c, const node_id *nodes, uint32_t n, const struct displace_options *o,
		  struct displace_node *ret);
/* The best of the candidates among them, UINT32_MAX if there is none; *tie says what decided. */
uint32_t displace_pick(const struct cede_cycle *c, const struct displace_node *v, uint32_t n, enum tie_break *ret_tie,
		       uint32_t *ret_runner_up, int64_t *ret_mine, int64_t *ret_theirs);

/*
 * Importance of two running pods that go alone: <0 if a is more important (goes later). Priority, then who names a
 * PodGroup of Kubernetes', then the earlier start.
 */
int victim_cmp(const struct cede_cycle *c, pod_id a, pod_id b);
