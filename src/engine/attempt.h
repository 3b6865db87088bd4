/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h - one attempt for one waiting pod: what attempt.c (as kube-scheduler), queued.c (with queues) and
 * gang_kube.c (for a group) share; for engine/ alone.
 */
#pragma once

#include "engine/engine_internal.h"
#include "engine/search_cache.h"

/* What members of a gang may do for room in one pass, and what was so before the first of them (gang.h). */
struct gang_pass {
	enum action action;  /* ALLOCATE: nobody has to go */
	bool with_opted_out; /* they may be taken too */
	uint32_t n_alike;    /* so many of this kind need room, this one counted; 0: that was asked before */
	bool with_stuck;     /* counts on the room of pods that should have gone long ago */
	bool may_spare;	     /* searches so far may have left somebody who goes only if nothing else works */
	struct queues_before before;
	struct protected_list *protected; /* who is protected, by all members */
};

struct attempt {
	struct engine *en;
	struct cede_cycle c;
	struct arena *keep;
	struct decision *d;
	struct status *statuses; /* per node of c.nodes */
	bool is_kept;		 /* statuses are what the cache keeps, with what follows from all of them: */
	struct search_cache_filters kept;
	node_id *feasible;
	uint32_t n_feasible;
	int64_t *scores;	/* of the feasible */
	struct gang_pass *pass; /* NULL: a pod on its own */
};

struct decision attempt_decision(const struct engine *en, pod_id pod); /* it waits, and nothing is known yet */
void attempt_begin(struct attempt *a, struct engine *en, const struct engine_run *run, pod_id pod, struct arena *keep,
		   struct decision *d);
void attempt_end(struct attempt *a);
const char *attempt_keep_text(struct attempt *a, struct text *t);	      /* moves it into keep and frees t */
void attempt_filter(struct attempt *a);					      /* all nodes: statuses and feasible */
bool attempt_nominated_node_fits(struct attempt *a);			      /* the nominated node fits now */
enum err_code attempt_choose(struct attempt *a, node_id *ret, struct err *e); /* among the feasible */
/* Why it fits nowhere, in Kubernetes' words, without what preemption has to say. */
void attempt_refusal_text(struct attempt *a, struct text *out);
void attempt_place(struct attempt *a, node_id node);
/*
 * Where no node fits: plugins of one's own at PostFilter, those before preemption or those after it. True: one of them
 * offers a node, to which the pod is nominated, or says that nothing helps (its words into out).
 */
bool attempt_post_filter(struct attempt *a, bool is_after_preemption, struct text *out);
/* Into the decision; what is given back is the decision's list, to be filled further. */
struct victim *attempt_take_victims(struct attempt *a, const pod_id *victims, uint32_t n);
void attempt_report(struct attempt *a, const struct displace_node *tried, uint32_t n_tried);
bool attempt_in_default_queue(const struct attempt *a, queue_id q); /* the leaf of pods that name no queue */

/* May opted-out pods and those a plugin spares go if nothing else works? */
bool attempt_has_last_resort(const struct attempt *a);
enum action attempt_own_action(const struct attempt *a); /* inside the own leaf; ACTION_NONE: none */
/* Once whoever is leaving the node is gone, does it fit there and below the maximums of its queues? */
bool attempt_fits_in_the_end(struct attempt *a, node_id node);
/*
 * One member of a gang in the pass a->pass: says where it gets room, and evicts whom it needs; does not take the room.
 */
enum err_code attempt_member(struct attempt *a, bool wants_report, struct err *e);
/* The nominated node of a member: PLACED, it fits now; NOMINATED, soon; else WAITING. */
void attempt_nominated(struct attempt *a);
/* Profiles default and yunikorn. */
enum err_code attempt_queued(struct attempt *a, bool wants_report, struct err *e);
