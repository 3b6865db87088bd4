/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - the node search: who on which node has to go so that a waiting pod fits, by the rules.
 *
 * On each node: gather the running pods that may go, take away as many as the laws allow, in eviction order; if the
 * pod then fits (all filters, and the maximums of its queues), give back as many as possible, last to be evicted first.
 * Whoever is left is needed. Of all nodes the set that costs least wins: fewest opted-out pods, fewest drivers, no
 * queue below its guarantee in other types, lowest highest priority, least lost work, nearest queues, fewest victims,
 * youngest, name of the node. That is a total order; all nodes are looked at, always.
 *
 * Who goes is a pod, or (profile default) a group: of a group with a minimum the surplus goes pod by pod, and after
 * that the whole rest together, on whatever nodes it runs. Such a group counts with all its pods, for laws, budgets and
 * costs.
 *
 * If taking them in eviction order does not free enough within the laws, sets are tried one by one where there are
 * few candidates: a node is not overlooked because a small pod used up an excess that a bigger one needed.
 */
#pragma once

#include "engine/displace_internal.h"
#include "rules/judge.h"

struct set_cost {
	uint32_t n_opted_out, n_drivers, n_thrashing, n_below;
	int64_t highest, lost_work;
	uint32_t distance, n;
	int64_t earliest; /* start of the victim that runs longest: later is better */
	int64_t oldest;	  /* when the oldest was made, if starts are equal */
};

struct search_result {
	node_id node; /* NODE_NONE: no lawful set anywhere */
	uint32_t n_victims;
	const pod_id *victims;	/* last to be evicted first; in the cycle's arena */
	const bool *with_group; /* which of them because their group goes as a whole */
	struct set_cost cost;
	node_id second; /* the next best node, NODE_NONE */
	struct set_cost second_cost;
};

struct search_scratch {			 /* memory that searches use one after the other; zero-initialised */
	struct queue_loss *queue_losses; /* by queue id */
	uint32_t n;
	struct candidate *candidates; /* of one node */
	uint32_t n_candidates;
	uint64_t stamp; /* only grows, so nothing has to be cleared */
};
void search_scratch_free(struct search_scratch *s);

struct search {
	struct cede_cycle *c;
	struct judge *j;
	bool with_opted_out; /* they may be taken too */
	int64_t patience_ns; /* with pods that are leaving */
	uint64_t lacking;    /* types the queues on the pod's path lack below their maximums */
	/* Who is protected, each once: filled if the arrays are there. */
	struct protected_list *protected;
	struct node_report **reports;	   /* of each node: what would have to go there; NULL: nobody asked */
	struct arena *keep;		   /* for them */
	struct search_cache *search_cache; /* what nodes said before */
};

struct protected_list {
	ARRAY(struct protected_pod) v;
	struct bits seen; /* pods */
	uint32_t max;	  /* no more than that */
};

/* nodes: where the filters do not say that taking pods away cannot help. */
void search_run(struct search *s, const node_id *nodes, uint32_t n, struct search_result *ret);

/* At most so many pods like this one could have room on these nodes by this action, whatever rules and laws say. */
uint64_t search_slots(struct search *s, const node_id *nodes, uint32_t n);

/* Types in which a queue on the pod's path has no room left below its maximum, and the first such queue. */
uint64_t queue_lacking(const struct ledger *l, const struct pod *p, const struct shape *shape, queue_id *ret_queue,
		       res_id *ret_type);
/* Leaving, and should have gone longer ago than one has patience: its room is not counted on. */
bool pod_is_stuck(const struct pod *p, int64_t now_ns, int64_t patience_ns);
/* Share of the cluster that so much is, in millionths, added up over types: what a second of it is worth. */
int64_t share_of_cluster(const struct ledger *l, const struct res_list *usage);
/* Work lost if it goes now: since its start, or its last checkpoint if later. */
int64_t lost_ns_of(const struct pod *p, int64_t now_ns);
/* The same in seconds, times the share of the cluster that it holds in millionths, added up over types. */
int64_t lost_work_of(const struct ledger *l, const struct pod *p, int64_t now_ns);
/* <0: a is better. */
int set_cost_cmp(const struct set_cost *a, const struct set_cost *b);
