/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_internal.h - one search at work: what search.c (who may go, which nodes, which set) and search_laws.c (what
 * taking somebody away means for queues, budgets and the pod's room) share; for them alone.
 */
#pragma once

#include "engine/search.h"

struct mate { /* a running pod that may go */
	pod_id pod;
	const struct pod *p;
	const struct res_list *usage;
	const struct queue_opinion *opinion; /* of its queue */
	bool is_opted_out, is_driver, is_thrashing, goes;
	bool is_spared;	  /* by a plugin: as good as opted out */
	bool is_young;	  /* inside its minimum runtime: goes only if its group's minimum stays */
	bool was_refused; /* because it would not */
	int64_t lost_work, start, created;
	uint32_t distance;
};

struct toll { /* what was taken from a queue so far */
	uint64_t stamp;
	uint64_t roomy_stamp; /* of is_roomy */
	bool is_roomy;	      /* all that is on the node may go and no law speaks for the queue: nothing is counted */
	int64_t v[RES_MAX];
};

struct spending { /* of a budget, by the victims so far */
	uint64_t stamp;
	int32_t n;
};

struct ground { /* one search, all nodes */
	struct search *s;
	struct want want;
	bool is_fast, has_laws, has_opinions;
	bool judges_all;	  /* law 2 in every type */
	bool has_young;		  /* somebody on this node is inside its minimum runtime */
	struct toll *tolls;	  /* by queue id */
	struct spending *budgets; /* by budget id; NULL: they do not count */
	uint64_t stamp;
	uint32_t stride;       /* resource types there are */
	int64_t room[RES_MAX]; /* of the node, per wanted type */
	node_id node;
	struct mate *mates;
	uint32_t n;
	uint32_t left_from;	      /* where those left on this node begin among all */
	struct survey_memory *memory; /* NULL: none */
	bool is_lasting;	      /* nothing that is not watched has a say on this node */
	uint64_t watches;
};

void ground_take(struct ground *g, struct mate *m);
void ground_give_back(struct ground *g, struct mate *m);
/* May it go too, beside those that go already? */
bool ground_keeps_laws(struct ground *g, struct mate *m);
bool ground_fits(struct ground *g);	       /* with those gone that go */
struct set_cost ground_cost(struct ground *g); /* of those that go */
