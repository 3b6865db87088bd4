/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_internal.h - one search at work: what search.c (candidates, nodes, the plain way to a set), search_exact.c
 * (the best set), search_groups.c (who goes with whom) and search_cost.c (room, maximums and what a set costs) share;
 * for them alone.
 */
#pragma once

#include "engine/search.h"

/*
 * A running pod that may go, or the rest of a group, which goes together: all of it, here and on other nodes, but for
 * pods that are candidates of their own and go already.
 */
struct candidate {
	struct set_victim v;	     /* of the rest: one of it that is on this node, and all of them */
	const struct res_list *here; /* what goes on this node */
	uint32_t n_here;
	struct rest *rest;  /* NULL: the one pod */
	group_id group;	    /* a gang: of its pods no more than the surplus go by themselves; else GROUP_NONE */
	bool is_at_minimum; /* refused because there is no more surplus */
	uint32_t n_opted_out, n_drivers, n_thrashing;
	bool is_opted_out, is_driver, is_thrashing, goes;
	bool is_spared; /* by a plugin: as good as opted out */
	int64_t lost_work, start, created;
	uint32_t distance;
	uint32_t rank; /* among the candidates of a node, by plugins: who goes first has 0 */
};

/* What is known of a group that would go as a whole, for the short types of the present node. */
struct whole {
	uint64_t short_types;
	bool may_go;
	struct rule_verdict says; /* if not */
	uint32_t n;
	const struct candidate *candidates; /* each of its pods by itself, by name */
	const node_id *homes;
};

struct rest { /* as it is at the moment */
	const struct whole *whole;
	pod_id *pods;
	node_id *homes;
	struct res_list usage, here;
	struct res_amount *usage_v, *here_v;
	bool *is_apart; /* of whole.candidates: those that are candidates of their own on this node */
};

enum filters_say { FILTERS_NOT_ASKED, FILTERS_LET, FILTERS_REFUSE };

struct search_rooms { /* rows of the first node: those of the others follow */
	const struct ledger_node *nodes;
	const int64_t *has, *used, *leaving, *reserved;
	uint32_t stride;
};

struct node_search { /* one search, all nodes */
	struct search *s;
	struct want want;
	bool is_fast, plugins_judge;
	bool may_settle; /* filters beside the resources can tell who matters to them */
	bool moves;	 /* who goes from this node goes in the ledger, so that filters see it; else numbers tell */
	enum filters_say filters;     /* beside the resources, where nothing is moved */
	bool has_gangs;		      /* pods of some are on this node */
	bool spares_rest;	      /* for now no group goes as a whole */
	bool has_rest;		      /* somebody on this node may take a whole group along */
	struct victim_set set;	      /* who goes on this node */
	uint64_t short_here;	      /* types the pod lacks on this node */
	bool was_refused;	      /* a rule on sets refused a candidate on the plain way */
	uint64_t max_steps;	      /* of the exact search of one node */
	bool is_beaten;		      /* no set of this node is better than the rival: it was not searched */
	bool is_bounded;	      /* the exact search of this node ended early */
	const struct set_cost *rival; /* only sets better than this are of interest; NULL: all */
	struct search_rooms rooms;
	int64_t room[RES_MAX]; /* of the node, per wanted type */
	node_id node;
	struct candidate *candidates;
	uint32_t n;
	uint32_t protected_from; /* where those protected on this node begin among all */
	bool looks_at_all;	 /* no node is skipped because it cannot win */
	bool has_bounds;	 /* search_bound_all was asked: it is known what rules say of kinds of pods */
	bool spares_nobody;	 /* no kind goes only if nothing else works; false: perhaps */
	bool is_listing;	 /* who is protected is written down */
	/* who may go, but not with the others that would have to; told only where no set was found at all */
	ARRAY(struct protected_pod) refused;
	struct map whole_at;	      /* of groups, in wholes */
	ARRAY(struct whole *) wholes; /* in the cycle's arena */
};

/* May it go by itself? Then *ret says what it is. is_open: all rules are asked; else those that its kind leaves out. */
bool node_search_consider(struct node_search *g, pod_id pod, bool is_open, struct candidate *ret,
			  struct rule_verdict *ret_says);
/* is_refused_in_set: he may go, but not with the others that would have to. Told only where no set was found at all. */
void node_search_protect(struct node_search *g, pod_id pod, const struct pod *p, const struct rule_verdict *says,
			 bool is_refused_in_set);
/* Does what protects it end by itself, or does it go where nothing else works? */
static inline bool verdict_is_timed(const struct rule_verdict *says)
{
	return says->until_ns != TIME_NONE || says->answer == IS_SPARED;
}

/* Does the action look at this pod at all? */
bool node_search_concerns(const struct node_search *g, const struct pod *p);
bool node_search_concerns_queue(const struct node_search *g, queue_id q); /* does the action look at its pods? */
/* The room of the present node, and the types the pod lacks there. */
void node_search_measure_room(struct node_search *g);
uint64_t node_search_short(const struct node_search *g);
/* Writes down who is protected on the present node: all, or one pod (why NULL: if the rules say so). */
void node_search_list_begin(struct node_search *g);
void node_search_list_all(struct node_search *g);
void node_search_list(struct node_search *g, pod_id pod, const struct rule_verdict *why);
struct listed { /* of whom it has to be told that he is protected, or at least asked */
	pod_id pod;
	const struct rule_verdict *why; /* NULL: it has to be asked */
};
void node_search_list_some(struct node_search *g, const struct listed *v, uint32_t n);
void node_search_list_end(struct node_search *g, bool is_sorted);	/* by name, as they are told */
int by_eviction_order(const void *a, const void *b, void *node_search); /* last to be evicted first */

/*
 * Of groups with a minimum the surplus goes pod by pod; the rest of the group together or not at all, after them. The
 * candidates are sorted before and after. There must be room for one more for each of them.
 */
void node_search_join_groups(struct node_search *g);
/*
 * What it consists of; with_apart: with those that are candidates of their own and do not go already, else without any
 * of them.
 */
void node_search_fill_rest(struct node_search *g, struct candidate *m, bool with_apart);
bool node_search_rest_goes(const struct node_search *g, const struct candidate *m); /* the rest of its group */
/* Who stays because there is no more surplus. */
void node_search_tell_refused(struct node_search *g);
void node_search_forget_groups(struct node_search *g);

void node_search_take(struct node_search *g, struct candidate *m);
void node_search_give_back(struct node_search *g, struct candidate *m);
void node_search_give_back_all(struct node_search *g);
/* May it go too, beside those that go already? */
struct rule_verdict node_search_refusal(struct node_search *g, struct candidate *m);
bool node_search_has_room(const struct node_search *g);	 /* resources of the node alone */
bool node_search_fits(struct node_search *g);		 /* with those gone that go */
struct set_cost node_search_cost(struct node_search *g); /* of those that go */
void set_cost_add(struct set_cost *to, const struct candidate *m, enum action action);
/* How much of a type must be given up below some maximum on the pod's path, at most, with those gone that go. */
int64_t node_search_path_lacks(const struct node_search *g, res_id r);
/* How much of a type goes from this node with it. */
int64_t candidate_frees(const struct candidate *m, res_id r);

/* ---- search_filters.c ---- */

/* Rooms are measured as filters count, and beside them only filters depend on pods that tell which of them matter. */
bool search_knows_who_matters(const struct cede_cycle *c);
/* Beside the resources, do filters say the same of the present node whoever of the candidates goes? */
bool node_search_is_settled(const struct node_search *g);
/* Where they do: do they let the pod come? */
bool node_search_filters_let(struct node_search *g);
/*
 * Is no set of this node enough because too many have room in its domain with whom the pod is spread, or because
 * somebody holds room there who keeps it away, and is nobody to be told of whom a rule on sets would refuse? False:
 * perhaps not. if_known: no filter is asked.
 */
bool node_search_is_shut(struct node_search *g, node_id node, bool if_known);

/* ---- search_best.c, search_exact.c ---- */

struct best_set { /* the cheapest lawful set that is enough, so far */
	bool is_found;
	bool *goes; /* by candidate */
	struct set_cost cost;
};
/*
 * Makes best the best set there is on this node, by set_cost_cmp. Nobody goes before and after. It ends early, and says
 * so in is_bounded, after max_steps: then best is the best of those seen. A node has steps of its own, so that its set
 * does not depend on which others were looked at before, which is for memory and bounds to say.
 */
void search_exact(struct node_search *g, struct best_set *best);
/* How many steps each node has where so many nodes are there. */
uint64_t search_exact_steps(uint32_t n_nodes);
/* The best set, which goes then; ret is its cost. best.goes is room for all candidates. False: there is none. */
bool node_search_find_set(struct node_search *g, struct best_set *best, struct set_cost *ret);
/* Is no set of this node better than the rival? ret is what they cost at least. */
bool node_search_is_beaten(struct node_search *g, struct set_cost *ret);
/* No set was found: which rule on sets refuses whom, in eviction order. */
void node_search_tell_refused_sets(struct node_search *g);
