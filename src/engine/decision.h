/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decision.h - what the engine decided about one waiting pod, and everything needed to say why.
 *
 * Compact: ids and numbers; words are made on demand (explain/). Ids are the ledger's at the time of the decision;
 * arrays live in the plan's arena.
 */
#pragma once

#include "base/bits.h"
#include "filters/framework.h"
#include "rules/rule.h"

enum outcome { OUTCOME_PLACED, OUTCOME_NOMINATED, OUTCOME_WAITING, OUTCOME_GATED, OUTCOME_EVICTED };
const char *outcome_text(enum outcome o);

struct victim {
	pod_id pod;
	node_id node;
	queue_id queue;
	enum rule_id overridden; /* the soft rule that had to give way, or RULE_NONE */
	bool goes_with_group;	 /* its PodGroup goes as a whole (disruptionMode all) */
	int64_t lost_ns;	 /* since its start, or its last checkpoint if later */
};

struct protected_pod {
	pod_id pod;
	node_id node;
	queue_id queue;
	struct rule_verdict verdict;
	bool is_refused_in_set; /* it could go alone, but not with the others that would have to */
};

/* Who is protected, while a decision is being made. Zero-initialised but for max. */
struct protected_list {
	ARRAY(struct protected_pod) v;
	struct bits seen; /* pods */
	uint32_t max;	  /* no more than that */
	uint32_t at;	  /* where one was found the last time */
	bool is_of_times; /* until when somebody is protected is all that matters, and whether anybody is spared */
	bool is_unseen;	  /* those who are there are not in seen yet */
};
enum { PROTECTED_MAX = 1000 }; /* told of one decision */
/* One who is there already stays as he is, unless what is said of him now ends by itself, and sooner. */
void protected_add(struct protected_list *l, const struct protected_pod *x);
void protected_merge(struct protected_list *into, const struct protected_list *from); /* a full list stays as it is */
/* The same, from one search in which each was told of once; what from has afterwards is to be forgotten. */
void protected_hand_over(struct protected_list *into, struct protected_list *from);
/* No more than fit. Of times the first to end is kept, and one who is spared: then there is room for others. */
void protected_cut(struct protected_list *l);
/* Those whom soft rules spare: they are asked again, and may go this time. */
void protected_drop_spared(struct protected_list *l);
void protected_clear(struct protected_list *l); /* nobody is in it; its memory stays */
void protected_free(struct protected_list *l);
bool protected_is(const struct protected_list *l, const struct protected_pod *v, uint32_t n); /* the same */

/* How one node fared: why it was refused, or what it would have cost. */
enum node_fate {
	FATE_REFUSED,
	FATE_FEASIBLE,
	FATE_CANDIDATE, /* fits after evictions */
	FATE_NO_HELP,	/* evictions do not help */
	FATE_SPARED,	/* by the rules not enough may go there */
	FATE_SOON,	/* fits once whoever is leaving is gone */
};

struct node_report {
	node_id node;
	uint8_t fate;	       /* enum node_fate */
	struct status refusal; /* of the filters, before anybody is taken away */
	struct status after;   /* FATE_NO_HELP: with everybody gone who may go */
	int64_t score;	       /* FATE_FEASIBLE */
	/* FATE_CANDIDATE: */
	uint32_t n_victims, n_violations;
	const pod_id *victims; /* most important first */
};

/* Why the chosen node was chosen: the criterion that separated it from the best of the others. */
enum tie_break {
	TIE_ONLY_ONE,	/* nothing to choose from */
	TIE_SCORE,	/* placement: the highest score */
	TIE_NOMINATED,	/* its nominated node still fits */
	TIE_VIOLATIONS, /* fewest budget violations */
	TIE_HIGHEST,	/* lowest highest priority among victims */
	TIE_SUM,	/* smallest sum of priorities */
	TIE_COUNT,	/* fewest victims */
	TIE_START,	/* youngest of the most important victims */
	TIE_NAME,	/* name of the node */
	TIE_LEAVING,	/* room that is being freed there anyway */
	TIE_COST,	/* cheapest lawful set of victims */
	TIE_SPARED,	/* fewest victims that a plugin would rather spare */
	TIE_FULLEST,	/* of the nodes that fit the one with least room left */
	TIE_EMPTIEST,	/* the one with most */
	TIE_OFFERED,	/* a plugin at PostFilter offers it */
};

/* Pods whose room is reserved for others and which should have gone long ago. */
struct overdue {
	node_id node; /* NODE_NONE: there are none */
	uint32_t n;
	int64_t for_ns; /* all of them for at least so long */
};

struct decided_volume { /* what an unbound claim gets */
	name_id ns, claim;
	name_id volume; /* NAME_NONE: one is made for it */
};

struct decision {
	pod_id pod; /* POD_NONE for quota and stale-gang */
	group_id group;
	queue_id queue;
	enum outcome outcome;
	enum action action; /* ACTION_NONE while waiting */
	node_id node;
	uint32_t cycle; /* from 1 */
	uint32_t n_victims, n_protected, n_nodes, n_volumes;
	const struct victim *victims;
	const struct protected_pod *protected;
	const struct decided_volume *volumes; /* of a pod that is placed or has reserved room */
	struct node_report *nodes;	      /* in scheduling order; only if reports were asked for */
	enum rule_id own_rule;		      /* what holds back the pod itself: delay, never */
	int64_t until_ns;
	enum tie_break tie;    /* why this node */
	const char *tie_words; /* TIE_COST: what is better about its victims, NULL: the node's name; TIE_OFFERED: who */
	node_id runner_up;     /* NODE_NONE if none */
	int64_t tie_mine, tie_theirs; /* the numbers the criterion compared */
	struct overdue overdue;	      /* why it looked again, or what it still waits for */
	const char *message;	      /* Kubernetes' own sentence; NULL if there is none */
	/* profile kubernetes: plugins of the pod's framework that refused it, by index; 0: it was none of them */
	uint64_t rejecters;
};

struct cycle_shares { /* fair shares, in a cycle in which reclaim goes by them; whole units */
	const struct cycle_shares *next;
	uint32_t cycle, n;		/* of queues */
	res_id types[KAI_RES];		/* RES_NONE: the cluster has no such resource */
	const int64_t (*fair)[KAI_RES]; /* by queue id */
};

struct decisions { /* a plan: decisions in the order they were taken */
	struct arena *arena;
	const struct cycle_shares *shares; /* of its cycles; NULL: guarantees decide */
	ARRAY(struct decision) v;
	uint32_t placed, nominated, waiting, gated, victims; /* pods */
};
/* Of a queue in a cycle; -1: shares did not decide there, or not on this type. */
int64_t decisions_fair_share(const struct decisions *d, uint32_t cycle, queue_id q, res_id r);
/* Into the decision; its arrays live in the arena. */
void decision_keep_protected(struct decision *d, const struct protected_list *l, struct arena *keep);
void decisions_count(struct decisions *to, const struct decision *d);
void decisions_add(struct decisions *to, const struct decision *d); /* and counts it */
