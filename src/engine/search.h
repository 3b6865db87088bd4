/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search.h - the node search: who on which node has to go so that a waiting pod fits, by the rules.
 *
 * Candidates of a node are the running pods that the rules let go one by one and that free something of what the pod
 * is short of there; or (profile default) groups: of a group with a minimum the surplus goes pod by pod, and after that
 * the whole rest together, on whatever nodes it runs, counting with all its pods for laws, budgets and costs.
 *
 * Wanted is the best lawful set: victim_set.h says what is lawful, the pod must really fit then (all filters, and the
 * maximums of its queues), and the best is the one that costs least: fewest opted-out pods, fewest drivers, fewest that
 * were evicted again and again, no queue below its guarantee in other types, lowest highest priority, least lost work,
 * nearest queues, fewest victims, youngest, names. The same order decides between nodes, and all nodes are looked at.
 *
 * The plain way comes first: take away all that may go, in eviction order, and give back as many as possible, last to
 * be evicted first. What it finds is most often provably the best (search.c says when); where it is not, and where the
 * plain way finds nothing because rules on sets refused somebody, all sets are searched with bounds (search_exact.c).
 */
#pragma once

#include "engine/displace_internal.h"
#include "rules/victim_set.h"

/* What a set of victims costs: criteria in the order they are asked, with the words for what was better. */
#define COST_LIST(X)                                                                          \
	X(OPTED_OUT, "fewest opted-out pods")                                                 \
	X(DRIVERS, "fewest drivers")                                                          \
	X(THRASHING, "fewest pods that were evicted before")                                  \
	X(BELOW, "no queue below its guarantee in other types")                               \
	X(HIGHEST, "lowest highest priority")                                                 \
	X(RANK, "a plugin's order") /* on one node alone */                                   \
	X(LOST, "least lost work")  /* displace: smallest sum of priorities */                \
	X(DISTANCE, "nearest queues")                                                         \
	X(COUNT, "fewest victims")                                                            \
	X(EARLIEST, "youngest victims") /* minus the start of the victim that runs longest */ \
	X(OLDEST, "latest created")	/* minus the creation of the oldest */

#define X(id, words) COST_##id,
enum cost { COST_LIST(X) COSTS };
#undef X

struct set_cost {
	int64_t v[COSTS]; /* smaller is better; a set never costs less with one victim more */
};
extern const struct set_cost set_cost_none; /* of the empty set */
/* <0: a is better. */
int set_cost_cmp(const struct set_cost *a, const struct set_cost *b);
/* What tells them apart; COSTS: nothing. */
enum cost set_cost_difference(const struct set_cost *a, const struct set_cost *b);
const char *cost_text(enum cost c);

struct search_result {
	node_id node; /* NODE_NONE: no lawful set anywhere */
	uint32_t n_victims;
	const pod_id *victims;	/* last to be evicted first; in the cycle's arena */
	const bool *with_group; /* which of them because their group goes as a whole */
	struct set_cost cost;
	node_id second; /* the next best node, NODE_NONE */
	struct set_cost second_cost;
	uint32_t at, second_at; /* their places among the nodes */
	uint32_t n_bounded;	/* nodes whose search ended before all sets were ruled out */
	bool spares_nobody;	/* nobody was left because he goes only if nothing else works; false: perhaps */
};

struct search_scratch { /* memory that searches use one after the other; zero-initialised */
	struct victim_set_memory sets;
	struct candidate *candidates; /* of one node */
	bool *goes;		      /* by candidate, of the best set so far and of another */
	uint32_t n_candidates;
	struct node_bound *bounds; /* of nodes */
	uint32_t n_bounds;
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
	bool tells_in_any_order;	   /* those of one node; where not all find room in the list by name as ever */
	bool tells_times;		   /* of them those alone whose protection ends by itself, and who is spared */
	bool best_is_enough;		   /* nobody wants to know which node comes second */
	struct node_report **reports;	   /* of each node: what would have to go there; NULL: nobody asked */
	struct arena *keep;		   /* for them */
	struct search_cache *search_cache; /* what is kept from search to search */
	uint64_t run;			   /* of the engine: within one nothing changes but what the ledger says */
	/* by node id, at first 0: is the pod spread with too many there? NULL: nothing is kept */
	uint8_t *closed;
};

/* nodes: where the filters do not say that taking pods away cannot help. */
void search_run(struct search *s, const node_id *nodes, uint32_t n, struct search_result *ret);
/* Those of one node by name, as they are told. */
void search_sort_protected(struct cede_cycle *c, struct protected_list *l);

/*
 * At most so many pods like this one, which has none, could have room on these nodes by this action, whatever rules and
 * laws say; where it is enough no further is counted.
 */
uint64_t search_slots(struct search *s, const node_id *nodes, uint32_t n, uint64_t enough);

/* Types in which a queue on the pod's path has no room left below its maximum, and the first such queue. */
uint64_t queue_lacking(const struct ledger *l, const struct pod *p, const struct shape *shape, queue_id *ret_queue,
		       res_id *ret_type);
/* Share of the cluster that so much is, all of it being 10^10, added up over types: what a second of it is worth. */
int64_t share_of_cluster(const struct ledger *l, const struct res_list *usage);
/* Work lost if it goes now: since its start, or its last checkpoint if later. */
int64_t lost_ns_of(const struct pod *p, int64_t now_ns);
/* Whole seconds times a share of the cluster; more than can be counted is the most that can. */
static inline int64_t lost_in_seconds(int64_t share, int64_t lost_s)
{
	int64_t work;

	return __builtin_mul_overflow(share, lost_s, &work) ? INT64_MAX : work;
}
static inline int64_t lost_work(int64_t share, int64_t lost_ns)
{
	return lost_in_seconds(share, lost_ns / NS_PER_S);
}
/* That of a pod, since its start or its last checkpoint. */
int64_t lost_work_of(const struct ledger *l, const struct pod *p, int64_t now_ns);
