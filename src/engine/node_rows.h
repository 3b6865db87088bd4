/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_rows.h - the running pods of each node as rows of numbers, kept until the node changes.
 *
 * What rules say of a pod depends, with few exceptions, on its kind: queue, priority, preemptibility, whether it opted
 * out, whose it is, its group, and its budgets if it has any. Where each job has a group of its own, most of them run
 * one pod: those count as pods without a group, for who is alone goes with nobody. A cluster has far fewer kinds than
 * pods, so a search asks the rules once for each kind and looks the answer up for each row (search_bound.c). A row has
 * what is left and asked of all: size and start. What few have (a checkpoint, a place of the present cycle) is marked,
 * and asked of the pod: rows of all pods are what a first decision writes.
 *
 * Nothing here depends on who waits, on the time, or on what queues use: rows are good for every search until their
 * node's generation changes, or one of its pods is no longer alone (node_rows_forget). Ids in kinds are not held: only
 * pods that are there now are looked up by them, and those hold their names. For engine/ only.
 */
#pragma once

#include "base/map.h"
#include "ledger/ledger.h"

struct pod_row {
	pod_id pod;
	uint32_t kind : 30;
	bool is_placed : 1; /* by a cycle: the pod knows which */
	bool is_apart : 1;  /* work would be lost since another time than its start: row_since */
	shape_id shape;
	int32_t priority;   /* what it counts with in costs at least: the lowest of its group's pods here */
	int64_t started_ns; /* TIME_NONE: not said; for windows */
};

struct pod_rows {
	uint64_t generation; /* 0: not known */
	bool has_groups;     /* some are of one, be it alone */
	queue_id queue;	     /* of all of them; QUEUE_NONE: of several, or there is nobody */
	uint32_t n, cap;
	struct pod_row *v; /* lowest priority first; of placed pods with a queue */
};

struct row_kind {
	queue_id queue;
	int32_t priority;
	group_id group;
	podset_id podset;
	name_id ns, scheduler, class;
	labelset_id budgeted; /* where budgets cover it; LABELSET_NONE */
	uint8_t preemptibility, allows_preemption;
	bool is_daemon;
	uint32_t next; /* of the same hash, MAP_NONE */
	node_id at;    /* where a pod of it was seen last */
	uint32_t row;  /* and perhaps in which row */
	uint32_t n_rows;
};

enum { SEEN_BITS = 13, ALIKE_BITS = 10 };

/* Pods on their own that say the same where kinds are told apart: the next one's kind is often known by that. */
struct alike {
	uint64_t spec;	/* scheduler and namespace; 0: nobody, for a namespace has a name */
	uint64_t rank;	/* queue and priority */
	uint64_t flags; /* of the pod, and whose budgets cover it */
	uint32_t kind;
};

struct kin { /* what kinds are told apart by, of a shape or a label set */
	uint64_t stamp;
	name_id name;	      /* of the scheduler; of the namespace */
	labelset_id budgeted; /* as of a kind */
};

struct node_rows {
	struct pod_rows *v; /* by node id */
	uint32_t n;
	ARRAY(struct row_kind) kinds;
	struct map kind_at;		/* by hash: the first of them */
	uint64_t budgets;		/* their generation when the kinds were made */
	uint64_t epoch;			/* changes when kinds get other numbers */
	int64_t most[RES_MAX];		/* what one pod takes at most of each type; only grows */
	ARRAY(uint64_t) found;		/* of one node: what each pod counts with, and its id */
	struct kin *shapes, *labelsets; /* by id */
	uint32_t n_shapes, n_labelsets;
	uint64_t kin_stamp; /* only grows */
	uint64_t reuses;    /* of ids, when they were learned */
	struct alike alike[1 << ALIKE_BITS];
	uint32_t seen[1 << SEEN_BITS]; /* kinds that were found, and one more: the next pod's is often one of them */
};

void node_rows_free(struct node_rows *r);
/* What the rows of the node say is good no more. */
void node_rows_forget(struct node_rows *r, node_id node);
void node_rows_forget_all(struct node_rows *r);
/* To be called before a search: room for all nodes, and nothing kept that is good no more. */
void node_rows_begin(struct node_rows *r, const struct ledger *l);
const struct pod_rows *node_rows_of(struct node_rows *r, const struct ledger *l, node_id node);
int64_t pod_since(const struct pod *p); /* when work would be lost from; TIME_NONE: none would */
static inline int64_t row_since(const struct ledger *l, const struct pod_row *row)
{
	return row->is_apart ? pod_since(ledger_pod(l, row->pod)) : row->started_ns;
}
/* Some pod of a kind that is there now; POD_NONE: there is none. */
pod_id node_rows_example(struct node_rows *r, const struct ledger *l, uint32_t kind);
