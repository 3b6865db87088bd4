/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_internal.h - what the files of the simulation's core share; for them alone.
 */
#pragma once

#include "base/heap.h"
#include "base/map.h"
#include "rules/eviction_history.h"
#include "sim/sim.h"

#define SLOT_NONE UINT32_MAX

/* ---- accounts: what is true of a queue now, and its sums so far ---- */

struct account {
	char *path;	  /* "": pods that have no queue */
	queue_id queue;	  /* now; QUEUE_NONE: not in the tree */
	int64_t since_ns; /* summed up to here */
	uint32_t n_types;
	int64_t occupied[RES_MAX]; /* by pods on nodes, leaving ones too */
	int64_t used[RES_MAX];	   /* by pods that run */
	int64_t demand[RES_MAX];   /* of pods that wait */
	struct res_vec guaranteed; /* types that are, more than zero */
	bool is_below;		   /* its guarantee, while work waits */
	int64_t below_since_ns, longest_below_ns;
	struct outcome_counts counts;
	struct { /* what the series has seen of it */
		__int128 used[RES_MAX], running, waiting, claim, reached, lost;
		uint64_t evictions;
	} seen;
	__int128 running_sum;
};

/* ---- what is alive ---- */

enum life {
	LIFE_FREE, /* the slot is not in use */
	LIFE_WAITING,
	LIFE_RUNNING,
	LIFE_FINISHED,	/* kept for its gang */
	LIFE_ABANDONED, /* nobody makes it again; still leaving */
};

struct sim_pod {
	uint8_t life;
	uint64_t serial; /* no other has had it */
	uint32_t job, ordinal, account;
	pod_id pod;    /* in the ledger; POD_NONE: it waits to be made again */
	uint32_t made; /* how often it was made */
	uint32_t n_evictions;
	uint32_t timer;
	int64_t submitted_ns; /* the first time */
	int64_t waits_since_ns;
	int64_t started_ns;  /* of the present run */
	int64_t saved_to_ns; /* in the present run, work is saved up to here */
	int64_t saved_ns;    /* work that is saved, of all runs */
};

struct sim_work { /* a job that is alive */
	bool is_live;
	char *name;
	struct obj_pod template;
	uint32_t n_pods, n_alive;
	uint32_t *pods; /* slots */
	int32_t min_member;
	int64_t run_ns, checkpoint_ns, grace_ns, lingers_ns;
	enum sim_controller controller;
};

enum timer_kind { TIMER_GONE, TIMER_POD, TIMER_WAKE, TIMER_KINDS }; /* in the order in which they happen at one time */

struct timer {
	int64_t at_ns;
	uint64_t seq;
	enum timer_kind kind;
	uint32_t what; /* pod_id; slot; kind of waiting pods, or one of these */
};
#define WAKE_ALL (UINT32_MAX - 1)
#define WAKE_NOBODY UINT32_MAX /* a time to compare at, where nothing happens (sim_shadow.h) */

/* A ledger pod of ours. */
struct incarnation {
	uint32_t slot;	/* SLOT_NONE: none of ours */
	uint32_t timer; /* TIMER_GONE, if it is leaving */
	bool is_old;	/* evicted: its successor is the pod of the slot, as long as the slot has the same serial */
	uint32_t account;
	uint64_t serial;
};

struct lost_node { /* failed, and may return */
	char *name;
	struct obj_node obj;
};

struct asleep;	     /* sim_asleep.h */
struct wait_classes; /* sim_classes.c */

struct helps_settings {	    /* what bounds of sim_helps.h ask of the settings, found out once */
	bool by_guarantees; /* guarantees decide who may take from whom, as judge.h has it */
	bool by_priority;   /* the priority of every single pod decides, as rules/priority.c has it */
	bool by_pods;	    /* everybody may take from everybody, by priority alone */
	bool reclaims;	    /* queues take from each other */
	bool counts_room;   /* nobody runs where he has no room, whatever is lacking */
};

struct sim {
	struct sim_options o;
	struct cluster *cluster;
	struct ledger *ledger;
	struct vocab *vocab;
	struct names *names;
	struct engine *engine;
	struct engine_config *own_config;	   /* after a change of settings; else NULL */
	ARRAY(struct engine_config *) old_configs; /* the present one may point into them */
	struct arena *arena;			   /* of one cycle */
	struct eviction_history history;
	int64_t now_ns;
	/* load */
	struct sim_job next_job;
	bool has_next;
	uint32_t next_event;
	/* alive */
	ARRAY(struct sim_pod) pods;
	ARRAY(uint32_t) free_pods;
	ARRAY(struct sim_work) works;
	ARRAY(uint32_t) free_works;
	ARRAY(struct incarnation) by_pod;
	ARRAY(struct timer) timers;
	ARRAY(uint32_t) free_timers;
	struct heap due;
	uint64_t next_seq, next_serial;
	ARRAY(struct lost_node) lost_nodes;
	ARRAY(uint32_t) half_done; /* gangs of which some finished just now */
	uint32_t n_mortal;	   /* pods alive that end by themselves some day */
	/* accounts; the first is the total of all */
	ARRAY(struct account) accounts;
	ARRAY(uint32_t) account_of; /* by queue id, SLOT_NONE: not looked up */
	uint64_t tree_generation;
	int64_t room[RES_MAX]; /* of live nodes */
	int64_t room_since_ns;
	/* deciding */
	struct asleep *asleep;
	struct wait_classes *classes;
	bool is_dirty;		     /* something changed since the engine last said there is nothing to do */
	uint32_t n_due[TIMER_KINDS]; /* timers that are set */
	int64_t moved_ns;	     /* when somebody was placed or evicted last */
	int64_t spared_until_ns;     /* work that was evicted too often is left alone, until then at the latest */
	bool moves_due;		     /* something changed since it was last asked who might move */
	bool has_budgets;	     /* PodDisruptionBudgets are there */
	struct helps_settings helps; /* of the settings that count now */
	/* the tree of queues, generation and 1: when it was looked at; if none shifts priorities, none has a maximum */
	uint64_t seen_tree, plain_tree, boundless_tree;
	/* of all pods that were ever seen */
	bool has_queueless;
	int32_t lowest_priority;
	uint64_t n_decisions;
	bool is_probe; /* nothing happened at this moment: it is only compared */
	struct sim_outcome outcome;
	struct series *series;
	bool has_run, was_changed;
};

/* sim.c */
bool sim_is_interrupted(const struct sim *s);
uint32_t timer_set(struct sim *s, int64_t at_ns, enum timer_kind kind, uint32_t what);
void timer_cancel(struct sim *s, uint32_t *timer); /* SLOT_NONE is fine, and is what it is afterwards */

/* sim_pods.c */
enum err_code sim_submit(struct sim *s, const struct sim_job *job, struct err *e);
void sim_adopt(struct sim *s); /* what is in the cluster already */
void sim_started(struct sim *s, pod_id pod);
void sim_evicted(struct sim *s, pod_id pod);
void sim_gone(struct sim *s, pod_id pod);
void sim_timer_of_pod(struct sim *s, uint32_t slot); /* ends, or saves its work */
void sim_lose_pod(struct sim *s, pod_id pod);	     /* with its node, or because somebody deletes it */
void sim_settle_gangs(struct sim *s);		     /* after all that happened at one time */
enum err_code sim_delete_work(struct sim *s, const struct sim_event *ev, struct err *e);
void sim_close_runs(struct sim *s);   /* at the end: what runs was useful so far */
void sim_tell_longest(struct sim *s); /* at the end: fills outcome.longest */
struct incarnation *sim_incarnation(struct sim *s, pod_id pod);
void sim_free_pods(struct sim *s);

/* sim_events.c */
enum err_code sim_happen(struct sim *s, const struct sim_event *ev, struct err *e);
void sim_restart_gang(struct sim *s, group_id group); /* an operator's, if too few of it are left: the rest too */
void sim_see_room(struct sim *s);		      /* nodes came, went or changed, and whatever else was put */
void sim_see_pod(struct sim *s, const struct pod *p);
void sim_sum_room(struct sim *s);
void sim_free_nodes(struct sim *s);

/* sim_budgets.c */
void sim_count_budgets(struct sim *s);

/* sim_decide.c */
enum err_code sim_decide(struct sim *s, struct err *e);

/* sim_wake.c, sim_asleep.c */
void sim_wake_time(struct sim *s, uint32_t what);
void sim_wake_all(struct sim *s);
void sim_free_waiting(struct sim *s);

/* account.c */
uint32_t account_of_queue(struct sim *s, queue_id q);
void accounts_refresh(struct sim *s);		      /* the tree of queues changed */
void account_close(struct sim *s, struct account *a); /* sums up to now */
void accounts_close(struct sim *s);
void accounts_free(struct sim *s);
/* The pod's requests, n times, added to what the account and the total say. */
enum account_field { IN_DEMAND, IN_USE, ON_NODES };
void account_add(struct sim *s, uint32_t account, const struct pod *p, enum account_field f, int n);
struct account *account_open(struct sim *s, uint32_t account); /* to change its counts; summed up to now */
/* Both of the account and of the total. */
#define ACCOUNT_COUNT(s, at, field, by)                        \
	do {                                                   \
		account_open((s), (at))->counts.field += (by); \
		account_open((s), 0)->counts.field += (by);    \
	} while (0)
void accounts_to_outcome(struct sim *s);

/* series.c */
struct series *series_new(int64_t from_ns);
void series_free(struct series *x);
void series_upto(struct sim *s, int64_t to_ns); /* before time moves there */
void series_end(struct sim *s);

/* sim_check.c */
enum err_code sim_check(struct sim *s, struct err *e);
