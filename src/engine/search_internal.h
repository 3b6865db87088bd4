/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_internal.h - one search at work: what search.c (who may go, which nodes, which set), search_groups.c (who goes
 * with whom) and search_laws.c (what taking somebody away means for queues, budgets and the pod's room) share; for them
 * alone.
 */
#pragma once

#include "engine/search.h"

/*
 * A running pod that may go, or the rest of a group, which goes together: all of it, here and on other nodes, but for
 * pods that are candidates of their own and go already.
 */
struct candidate {
	pod_id pod; /* of the rest: one of it that is on this node */
	const struct pod *p;
	const struct res_list *usage, *here; /* of all of them; of those on this node */
	uint32_t n_pods, n_here;
	struct rest *rest; /* NULL: the one pod */
	group_id group;	   /* a gang: of its pods no more than the surplus go by themselves; else GROUP_NONE */
	bool was_refused;  /* because there is no more surplus */
	uint32_t n_opted_out, n_drivers, n_thrashing;
	const struct victim_queue *victim_queue; /* of its queue */
	bool is_opted_out, is_driver, is_thrashing, goes;
	bool is_spared; /* by a plugin: as good as opted out */
	int64_t lost_work, start, created;
	uint32_t distance;
};

struct queue_loss { /* what was taken from a queue so far */
	uint64_t stamp;
	uint64_t roomy_stamp; /* of is_roomy */
	bool is_roomy;	      /* all that is on the node may go and no law speaks for the queue: nothing is counted */
	int64_t v[RES_MAX];
};

struct spending { /* of a budget, by the victims so far */
	uint64_t stamp;
	int32_t n;
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

struct node_search { /* one search, all nodes */
	struct search *s;
	struct want want;
	bool is_fast, has_laws, has_opinions;
	bool judges_all;		 /* law 2 in every type */
	bool has_gangs;			 /* pods of some are on this node */
	bool spares_rest;		 /* for now no group goes as a whole */
	bool has_rest;			 /* somebody on this node may take a whole group along */
	struct queue_loss *queue_losses; /* by queue id */
	struct spending *budgets;	 /* by budget id; NULL: they do not count */
	uint64_t stamp;
	uint32_t stride;       /* resource types there are */
	int64_t room[RES_MAX]; /* of the node, per wanted type */
	node_id node;
	struct candidate *candidates;
	uint32_t n;
	uint32_t protected_from;	    /* where those protected on this node begin among all */
	struct search_cache_memory *memory; /* NULL: none */
	bool is_lasting;		    /* nothing that is not watched has a say on this node */
	uint64_t watches;
	struct map whole_at;	      /* of groups, in wholes */
	ARRAY(struct whole *) wholes; /* in the cycle's arena */
};

/* May it go by itself? If so *ret says what it is; if not, it is recorded as protected. */
bool node_search_consider(struct node_search *g, pod_id pod, struct candidate *ret, struct rule_verdict *ret_says);
void node_search_note_protected(struct node_search *g, pod_id pod, const struct pod *p,
				const struct rule_verdict *says);
int node_search_eviction_order(const void *a, const void *b, void *node_search); /* last to be evicted first */

/*
 * Of groups with a minimum the surplus goes pod by pod; the rest of the group together or not at all, after them. The
 * candidates are sorted before and after. There must be room for one more for each of them.
 */
void node_search_join_groups(struct node_search *g);
/* What it consists of, beside those that go already. */
void node_search_fill_rest(struct node_search *g, struct candidate *m);
bool node_search_rest_goes(const struct node_search *g, const struct candidate *m); /* the rest of its group */
/* Who stays because there is no more surplus. */
void node_search_tell_refused(struct node_search *g);
void node_search_forget_groups(struct node_search *g);

void node_search_take(struct node_search *g, struct candidate *m);
void node_search_give_back(struct node_search *g, struct candidate *m);
/* May it go too, beside those that go already? */
bool node_search_keeps_laws(struct node_search *g, struct candidate *m);
bool node_search_fits(struct node_search *g);		 /* with those gone that go */
struct set_cost node_search_cost(struct node_search *g); /* of those that go */
