/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fair_share.h - what every queue of a tree is entitled to, and what follows from it: pure functions.
 *
 * Three resources count (enum kai_res). A queue deserves its quota; what is left of the level above is divided among
 * those that ask for more, by queue priority, then by weight; nobody gets more than it asks for or its limit allows.
 * The fair share of a queue is what its children divide. Amounts are doubles in the units of the ledger (devices,
 * millicores, bytes), exact below 2^53; -1 is without limit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "model/queue.h"

#define SHARE_UNLIMITED (-1.0)
#define SHARE_NO_QUEUE UINT32_MAX

struct share { /* of one queue, in one resource */
	double deserved, limit, weight;
	double request;			  /* of everything running and waiting in it and below */
	double allocated, allocated_core; /* by running and nominated work; core: of it, what is not preemptible */
	double usage;			  /* in the past, as a part of the cluster; 0 if not known */
	double fair;			  /* computed */
};

/* Queues are an array; parents come before their children. */
struct share_queue {
	uint32_t parent; /* SHARE_NO_QUEUE: a top queue */
	int32_t priority;
	uint32_t rank; /* by creation, then name; no two alike among siblings */
	struct share r[KAI_RES];
};

/* Sets fair of all queues, top down. total: of the cluster. k: how much past use counts (1). */
void share_divide(struct share_queue *q, uint32_t n, const double total[KAI_RES], double k);

/* What a queue may have: the larger of quota and fair share, up to its limit; its limit if it deserves without end. */
double share_allocatable(const struct share *s);

/* What goes with one victim pod, or with a gang that goes whole. Batches of one queue follow one another. */
struct share_batch {
	uint32_t queue;
	uint32_t more; /* so many further ones just like it */
	double r[KAI_RES];
};

enum share_refusal {
	SHARE_FINE,
	/* the victim's side is within its fair share, and it is not I within quota taking from one above its own */
	SHARE_VICTIM_WITHIN,
	SHARE_MORE_SATURATED,  /* I would use more of my fair share than the sibling of its */
	SHARE_CORE_OVER_QUOTA, /* work that is not preemptible must stay within quota */
	SHARE_MINE_ABOVE,      /* I am, or would be, above my own fair share */
};

struct share_verdict {
	enum share_refusal refusal;
	uint32_t queue, other; /* the victim's side (or me), and me */
	enum kai_res res;
	double used, share, other_used, other_share; /* of queue, of other */
};

/*
 * May work of the queue (q[me], a leaf) ask others for this much: within fair share, and if it is core work within
 * quota? ret: why not, may be NULL.
 */
bool share_can_reclaim(const struct share_queue *q, uint32_t me, const double request[KAI_RES], bool is_core,
		       struct share_verdict *ret);

struct share_scratch { /* memory used again and again; zero-initialised */
	uint64_t stamp;
	uint32_t n;
	uint64_t *stamps;
	double (*remaining)[KAI_RES];
	uint8_t *involved;
	ARRAY(uint32_t) touched;
};
void share_scratch_free(struct share_scratch *s);

/*
 * May the queue me take these batches for request? multiplier >= 1: how much more saturated than its siblings a taker
 * may not become. ret may be NULL.
 */
bool share_reclaimable(const struct share_queue *q, uint32_t n, uint32_t me, const double request[KAI_RES],
		       bool is_core, const struct share_batch *batches, uint32_t n_batches, double multiplier,
		       struct share_scratch *s, struct share_verdict *ret);

/*
 * A sibling of a queue on the taker's path, with all victims in it or below: what share_reclaimable says of it before
 * it is known who of them finds room again.
 */
struct share_side {
	uint32_t queue, mine;	 /* the queue of the path is `mine` */
	int n_above;		 /* resources in which it has more than has to be kept */
	enum kai_res which;	 /* the last of them */
	double above;		 /* and so much more of it */
	double gone[KAI_RES];	 /* by everybody taken away so far */
	double largest[KAI_RES]; /* what one batch of them holds at most */
	double grain[KAI_RES];	 /* whoever of them is lost, it is a multiple of this; 0: there is nobody */
};

/* Nobody of it is gone, and somebody of the taker's path asks for so much. */
struct share_side share_side_of(const struct share_queue *q, uint32_t queue, uint32_t mine,
				const double request[KAI_RES]);
/* One more is gone of the side: a batch of this grain, whose workload holds so much. */
void share_side_add(struct share_side *side, const double gone[KAI_RES], const double whole[KAI_RES],
		    const double grain[KAI_RES]);
/* The largest amount of which both are multiples; both are whole numbers, and what is 0 says nothing. */
double share_grain(double a, double b);
/*
 * How much of what is gone of the side may be lost at most, into ret; false: not all of it, and why, which may be NULL.
 * inside: what is gone below side->mine.
 */
bool share_most_lost(const struct share_queue *q, const struct share_side *side, const double request[KAI_RES],
		     const double inside[KAI_RES], double multiplier, double ret[KAI_RES], struct share_verdict *why);

/*
 * Which of two siblings comes first (-1: a). request: of its next work (zeros for victims); taken: what victims of it
 * hold, to be subtracted (zeros for waiting work).
 */
struct share_sibling {
	const struct share_queue *q;
	const double *request, *taken;
};
int share_order(const struct share_sibling *a, const struct share_sibling *b, const double total[KAI_RES]);

/* What of a sibling decides that; for who compares one with many. */
struct share_standing {
	const struct share_queue *q;
	const double *may; /* share_allocatable of each resource, which stays the same while fair shares do */
	double dominant, dominant_now;
	bool is_over, is_within_quota, is_forbidden;
};
struct share_standing share_standing(const struct share_sibling *t, const double may[KAI_RES],
				     const double total[KAI_RES]);
int share_standing_cmp(const struct share_standing *a, const struct share_standing *b);
/*
 * Of those that stand alike by all but what they may have at most, the one that may have less of everything comes
 * first, else the name decides: which can go in circles among three, unless each two of them can be compared. So it is
 * asked whether all of these can be; may is put in another order.
 */
bool share_are_comparable(const double **may, uint32_t n);
