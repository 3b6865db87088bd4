/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_rows.h - the running pods of each node as rows of numbers, kept until the node changes.
 *
 * What rules say of a pod depends, with few exceptions, on its kind: queue, priority, preemptibility, whether it opted
 * out, whose it is, its group, and its budgets if it has any. Where each job has a group of its own, most of them run
 * one pod: those count as pods without a group, for who is alone goes with nobody. A cluster has far fewer kinds than
 * pods, so a search asks the rules once for each kind and looks the answer up for each row (search_bound.c). A row has
 * what is left and asked of all: size and start. What few have (a checkpoint, a start that is not a whole second, a
 * place of the present cycle) is marked, and asked of the pod: rows of all pods are what a first decision writes, and
 * memory that is written for the first time costs more than what is written.
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
	uint32_t kind;
	shape_id shape;
	uint32_t started_s; /* and work is lost since then; ROW_APART: the pod has to be asked */
};

#define ROW_APART UINT32_MAX

struct pod_rows {
	uint64_t generation; /* 0: not known */
	bool has_groups;     /* some are of one, be it alone */
	queue_id queue;	     /* of all of them; QUEUE_NONE: of several, or there is nobody */
	uint32_t n, cap;
	struct pod_row *v; /* lowest priority first; of placed pods with a queue */
};

enum { RANKS = 32 };

struct row_kind {
	queue_id queue;
	int32_t priority;
	int32_t least; /* what it counts with in costs at least: the lowest of its group's pods on the node */
	group_id group;
	podset_id podset;
	name_id ns, scheduler, class;
	labelset_id budgeted; /* where budgets cover it; LABELSET_NONE */
	uint8_t preemptibility, allows_preemption;
	bool is_daemon;
	uint32_t next; /* of the same hash, MAP_NONE */
	uint32_t next_of_queue;
	node_id at;   /* where a pod of it was seen last */
	uint32_t row; /* and perhaps in which row */
	uint32_t n_rows;
	uint32_t rank; /* number of its least priority; RANKS: there are too many */
};

enum { SEEN_BITS = 13, ALIKE_BITS = 10 };

/* Pods on their own that say the same where kinds are told apart: the next one's kind is often known by that. */
struct alike {
	uint64_t says;	/* in bits, and its priority */
	uint64_t whose; /* queue and scheduler */
	uint64_t where; /* namespace, and whose budgets cover it; 0: nobody, for a namespace has a name */
	uint32_t kind;
};

struct kin { /* what kinds are told apart by, of a shape or a label set */
	uint64_t stamp;
	name_id name;	      /* of the scheduler; of the namespace */
	labelset_id budgeted; /* as of a kind */
};

struct found_row { /* of one node, as they stand in its list */
	struct pod_row row;
	uint64_t rank; /* that of its kind; where there are too many, or ids do not ascend, priority and id */
};

struct ranks { /* of priorities, numbered as they were found */
	uint32_t n;
	int32_t priority[RANKS];
	uint32_t ascending[RANKS];
};

struct node_rows {
	struct pod_rows *v; /* by node id */
	uint32_t n;
	ARRAY(struct row_kind) kinds;
	struct map kind_at;	  /* by hash: the first of them */
	ARRAY(uint32_t) of_queue; /* by queue: the last of its kinds, MAP_NONE */
	uint32_t n_of_groups;	  /* kinds of which the podset tells who goes with whom */
	uint64_t budgets;	  /* their generation when the kinds were made */
	uint64_t epoch;		  /* changes when kinds get other numbers */
	int64_t most[RES_MAX];	  /* what one pod takes at most of each type; only grows */
	struct ranks ranks;
	ARRAY(struct found_row) found;
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
/* Was it given its place in that cycle? */
static inline bool row_is_placed_in(const struct ledger *l, const struct pod_row *row, uint32_t cycle)
{
	return row->started_s == ROW_APART && ledger_pod(l, row->pod)->placed_in == cycle;
}
static inline int64_t row_started(const struct ledger *l, const struct pod_row *row) /* TIME_NONE: not said */
{
	return row->started_s == ROW_APART ? ledger_pod(l, row->pod)->started_ns
					   : time_multiply(row->started_s, NS_PER_S);
}
static inline int64_t row_since(const struct ledger *l, const struct pod_row *row)
{
	return row->started_s == ROW_APART ? pod_since(ledger_pod(l, row->pod))
					   : time_multiply(row->started_s, NS_PER_S);
}
static inline int32_t row_priority(const struct node_rows *r, const struct pod_row *row)
{
	return r->kinds.v[row->kind].least;
}
/* The kinds of a queue begin with this one, from the last to the first; MAP_NONE: there are none. */
static inline uint32_t node_rows_kind_of(const struct node_rows *r, queue_id q)
{
	return q < r->of_queue.n ? r->of_queue.v[q] : MAP_NONE;
}
/* Some pod of a kind that is there now; POD_NONE: there is none. */
pod_id node_rows_example(struct node_rows *r, const struct ledger *l, uint32_t kind);
