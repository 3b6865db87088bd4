/* SPDX-License-Identifier: Apache-2.0 */
/*
 * victim_set.h - victims judged together: what one pod may lose alone, several may not lose together.
 *
 * judge_victim says of one pod whether it may go for an action. A set grows by victims (a pod, or the rest of a group
 * that goes as a whole): victim_set_refusal says which rule forbids one more and with which numbers, victim_set_take
 * and victim_set_give_back count it. Kept by all victims of a set together:
 *
 *	minimum of groups	a podset keeps its minimum unless the rest of the group goes too (MR-10)
 *	guarantee		no queue of a victim's branch falls below its guarantee (law 2)
 *	budget			disruption budgets are not overspent
 *	eviction-rate		a queue loses no more than its allowance within the hour
 *
 * Each is downward closed: if a set is lawful, so is every part of it. Searches rely on that.
 *
 * Amounts are counted against what the ledger says. Where the search really takes pods off their nodes the ledger has
 * counted them already: then follows_ledger is set. Memory is reused from set to set; nothing is allocated per victim.
 */
#pragma once

#include "rules/judge.h"

struct set_victim {
	pod_id pod; /* of several, one of them */
	const struct pod *p;
	const struct res_list *usage; /* of all of them together */
	uint32_t n_pods;
	const pod_id *pods; /* NULL: the one pod */
	const struct victim_queue *queue;
	bool is_of_gang; /* its podset has a minimum to keep, and it does not go with the rest of its group */
};

struct queue_loss { /* what a set takes from one queue */
	uint64_t stamp, ample_stamp;
	bool is_ample; /* everything on the node may go and the queue stays above its guarantee: nothing is counted */
	uint32_t n_pods;
	int64_t v[RES_MAX];
};

struct count_at {
	uint64_t stamp;
	uint32_t n, n_in_window;
};

struct victim_set_memory {	   /* used by one set after the other; zero-initialised */
	struct queue_loss *queues; /* by queue id */
	struct count_at *budgets;  /* by budget id */
	struct count_at *podsets;  /* by podset id */
	struct rate *rates;	   /* by queue id, of one search */
	uint64_t *rate_stamps;
	uint32_t n_queues, n_budgets, n_podsets, n_rates;
	uint64_t stamp;		      /* only grows, so nothing has to be cleared */
	struct budget_slacks *slacks; /* as in judge_scratch */
};
void victim_set_memory_free(struct victim_set_memory *m);

struct victim_set {
	struct judge *j;
	struct victim_set_memory *m;
	node_id node;	      /* all single victims are on it; NODE_NONE: they are on several nodes */
	bool follows_ledger;  /* victims are off their nodes in the ledger */
	bool keeps_law_2;     /* in the types that were found for the queue */
	bool keeps_all_types; /* law 2 in every type */
	bool has_budgets;
	bool needs_labels;    /* budgets count for pods with labels alone, and select by some (kube-scheduler) */
	bool may_be_ample;    /* the short cut of queue_loss.is_ample may be used */
	uint32_t most;	      /* pods that can be in it at most; UINT32_MAX: not known */
	bool breaks_gangs;    /* a podset may lose its minimum, unless one that goes is inside its window (quota) */
	uint64_t law_2_types; /* law 2 in these; 0: in those of the queue */
	uint64_t path_types;  /* types counted for the shared ancestors too, because a maximum is in the way */
	uint64_t search_stamp;
};

/* For all sets of one search. */
void victim_set_init(struct victim_set *s, struct judge *j, struct victim_set_memory *m);
/* A new, empty set. */
void victim_set_begin(struct victim_set *s, node_id node, bool may_be_ample);

/* Is no set refused of pods that are on the node, in no group and in this queue, whoever goes beside them? */
bool victim_set_is_free(struct victim_set *s, queue_id q);

/*
 * May this one go too? MAY_GO, or the rule that speaks first with its numbers. Where a group's minimum refuses it and
 * no window says until when, the rule is RULE_NONE: it may go with the rest of its group.
 */
struct rule_verdict victim_set_refusal(struct victim_set *s, const struct set_victim *v);
void victim_set_take(struct victim_set *s, const struct set_victim *v);
void victim_set_give_back(struct victim_set *s, const struct set_victim *v);

/*
 * Before a dry run takes a pod off its node that is leaving by an earlier eviction: the budgets and the allowance that
 * eviction has used stay used for this set, though the ledger no longer counts the pod.
 */
void victim_set_count_evicted(struct victim_set *s, pod_id pod);

/* Does some queue of this victim's branch fall below its guarantee, in a type law 2 was not judged in? */
bool victim_set_takes_below(struct victim_set *s, const struct set_victim *v);
/*
 * Of pods that go in this order, which would overspend a budget? All of them are counted, those who would too. As
 * kube-scheduler has it: no budget counts for a pod without labels, and none with an empty selector. Several threads
 * may ask at once.
 */
void victim_set_overspending(struct judge *j, const pod_id *pods, uint32_t n, bool *ret);
/* What the set takes from a queue, type by type. */
const int64_t *victim_set_loss(struct victim_set *s, queue_id q);
