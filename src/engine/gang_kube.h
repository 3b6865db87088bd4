/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_kube.h - Kubernetes' PodGroups that wait, in profile kubernetes: their pods are tried together.
 *
 * All waiting pods of a group are tried at once. They are placed one after the other in the ledger; if at least
 * minCount of the group's pods then have a place (a group that is no gang: at least one), those that got one keep it,
 * and the rest is tried once more as a group of its own. If not, everything is taken back and the group preempts as
 * one: all units (disruption_unit.h) of lower priority on all nodes go, the group is placed once, and what need not go
 * for exactly these places comes back, budget-protected units first, more important before less. Members are nominated
 * to their nodes; all of them wait for all victims.
 *
 * A group is held back, and nobody of it tried, until its PodGroup is there, as many pods as minCount exist and no
 * member is gated. For engine/ and who tests it.
 */
#pragma once

#include "engine/engine_internal.h"

struct gang_pod { /* a member that waits */
	pod_id pod;
	bool is_open;	   /* without a place so far, and not refused for good */
	bool is_plain;	   /* nothing but resources and what does not depend on pods can be in its way */
	node_id node;	   /* where the last round put it; NODE_NONE: nowhere */
	const char *words; /* why it fits nowhere; NULL: it does, or was not tried */
	struct decision d;
};

struct kube_gang {
	struct engine *en;
	const struct engine_run *run;
	struct arena *keep, *arena; /* of the decisions; of this attempt */
	group_id id;
	uint32_t min; /* so many of its pods need a place, 1 at least */
	uint32_t n;
	struct gang_pod *v; /* in the order they are placed: priority, age, name */
	bool is_dry;	    /* a round in which victims are away: nothing is told of it */
};

/* Does the group decide when this pod is tried? */
bool gang_kube_concerns(const struct engine *en, pod_id pod);
/* It is nominated, or somebody of its group is: they come after the others. */
bool gang_kube_is_nominated(const struct engine *en, const struct pod *p);

/* One attempt for the group of a waiting pod; a decision for each of its pods that wait, in keep. */
enum err_code gang_kube_try(struct engine *en, const struct engine_run *run, pod_id pod, struct arena *keep,
			    const struct decision **ret, uint32_t *ret_n, struct err *e);

/* ---- parts of it ---- */

void gang_open(struct kube_gang *g, struct engine *en, const struct engine_run *run, group_id id, struct arena *keep);
void gang_close(struct kube_gang *g);
/* Places for the open ones, into gang_pod.node; the ledger is as before. True in *ret: enough of them. */
enum err_code gang_round(struct kube_gang *g, bool *ret, struct err *e);

struct gang_victims {
	bool is_found;
	bool is_ongoing; /* it waits for its victims already; nominations are kept */
	bool is_never;	 /* it may not preempt at all */
	const char *why; /* not found: Kubernetes' words where it has some */
	uint32_t n, n_violations;
	const pod_id *pods; /* most important first; in the gang's arena */
	const bool *violates, *is_spared;
};

/* gang_displace.c: false, and why in *ret: it may not preempt, or need not because its victims are on their way out. */
bool gang_may_preempt(struct kube_gang *g, struct gang_victims *ret);
/* Who has to go for the open ones; their nodes are then those that this makes free. No moves remain. */
enum err_code gang_find_victims(struct kube_gang *g, struct gang_victims *ret, struct err *e);
