/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_asleep.h - kinds of waiting pods, awake or asleep, for the files that wake them and let them sleep: sim_asleep.c
 * keeps them, sim_wake.c says what wakes them, sim_pass.c whom a pass asks and who sleeps after it. sim_wake.h is the
 * manual.
 */
#pragma once

#include "sim/sim_classes.h"
#include "sim/sim_wake.h"

enum {
	WAKING_NODES = 6, /* that are remembered of a kind; more: it is asked in any case */
	AT_FIRST = 3,	  /* pods of a kind that are tried in a pass, */
	MORE = 8,	  /* times so many if all of them got a place */
};

struct wait_kind {
	bool is_live, is_awake;
	bool is_listed; /* among those that are awake */
	bool must_ask;	/* awake for more than room on some nodes */
	uint32_t n_nodes;
	node_id nodes[WAKING_NODES]; /* that got room since it was refused */
	bool is_wary;		     /* filters look at other pods, or at volumes: anything may help it */
	bool is_loose;		     /* nobody knows what may help it, and be it time: it is asked at every moment */
	bool is_group;
	bool is_nominated;		/* one pod, or a group of which some have reserved room */
	bool fitted_max, could_reclaim; /* when it was refused */
	struct wait_need need;
	labelset_id labelset;
	name_id app;
	enum owner_kind owner;
	uint64_t hash;
	uint32_t next_of_hash;
	uint32_t at;	      /* among the live ones */
	uint32_t at_in_class; /* among those of its class */
	uint32_t timer;
	uint64_t pass;		    /* in which it was asked last */
	uint64_t settled;	    /* the pass in which its delay was noted */
	bool was_decided;	    /* in the present pass: refused, gated or nominated */
	ledger_mark refused_at;	    /* in the present pass */
	ledger_mark passed_at;	    /* in the present pass: with the ledger as of this mark nothing helped it */
	uint32_t at_most;	    /* so many of it are tried in the pass */
	uint32_t n_tried, n_placed; /* of the pass */
	uint32_t n_grown;	    /* placements before its last turn in the pass */
	ARRAY(pod_id) pods;	    /* oldest first unless it is mixed up, from head on; POD_NONE: left */
	bool is_mixed_up;
	uint32_t head, n_waiting;
};

struct waiter {
	uint32_t kind; /* SLOT_NONE: does not wait */
	uint32_t pos;
	node_id nominated;
};

/* The kinds of one class (sim_classes.h): what helps none of them is asked once. */
struct class_kinds {
	ARRAY(uint32_t) v;
	uint32_t n_wary;
};

struct asleep {
	ARRAY(struct wait_kind) kinds;
	ARRAY(struct class_kinds) classes; /* by class */
	ARRAY(uint32_t) free_kinds, live;
	ARRAY(uint32_t) awake;	   /* those that are, and some that fell asleep since the last pass */
	ARRAY(uint32_t) nominated; /* kinds of one pod with reserved room */
	uint32_t n_wary, n_loose;
	uint64_t seen_tree;	 /* its generation and 1, when shares_limits was found out */
	ARRAY(node_id) grown_on; /* where pods of the queue are that grew, once it is looked for */
	bool knows_grown;
	bool shares_limits; /* a queue that is no leaf guarantees or limits something */
	ARRAY(struct waiter) waiters;
	struct map by_hash;
	ARRAY(pod_id) tried;
	uint32_t n_seen; /* decisions of the pass that were looked at */
	const struct decisions *plan;
	uint64_t pass; /* its number; 0: none is under way */
	uint64_t n_passes;
	bool has_missed;	   /* what the pass decided may help kinds that it does not ask */
	uint64_t n_refused;	   /* decisions of the pass that nobody was asked for */
	uint32_t n_grown;	   /* placements of the pass that all kinds have been asked about */
	bool has_unseen;	   /* there are others */
	bool has_victims;	   /* the pass has */
	bool has_windows;	   /* times end that groups are told of only when they are asked */
	int64_t now_ns, before_ns; /* of this moment, and of the last at which somebody could be asked */
	bool has_looked;	   /* in the present pass, with the ledger as of this mark */
	ledger_mark looked_at;
};

/* sim_asleep.c */
struct asleep *asleep_of(struct sim *s);
struct waiter *asleep_waiter(struct asleep *a, pod_id pod);
void kind_rouse(struct asleep *a, struct wait_kind *k); /* it is asked if it is still helped when its turn comes */
void kind_wake(struct sim *s, struct wait_kind *k);	/* it is asked in any case */
void kind_enter(struct sim *s, pod_id pod, node_id nominated);
void kind_put_in_order(struct sim *s, struct wait_kind *k);
void kind_set_wary(struct asleep *a, struct wait_kind *k);
void kind_set_loose(struct asleep *a, struct wait_kind *k, bool is_loose);

/* sim_wake.c */
bool wake_is_unclear(const struct sim *s);	 /* then whatever happens may help anybody */
bool wake_looks_everywhere(const struct sim *s); /* also who has room reserved */
bool wake_has_windows(const struct sim *s);
void kind_wake_by_node(struct sim *s, struct wait_kind *k, node_id node);
void kind_wake_for_time(struct sim *s, struct wait_kind *k);
bool kind_is_helped_by_node(struct sim *s, const struct wait_kind *k, node_id node);
bool kind_is_still_helped(struct sim *s, const struct wait_kind *k);
bool kind_is_nominated_to(struct asleep *a, const struct wait_kind *k, node_id node);
