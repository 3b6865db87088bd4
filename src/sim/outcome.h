/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outcome.h - what came of a simulation: totals, the same per queue, and time series.
 *
 * All sums are whole numbers of nanoseconds (times amounts), so that they are the same on every machine; fractions are
 * made when somebody looks. Memory does not grow with the load: times are counted in buckets of 1/8192 of their size,
 * series keep at most SERIES_MAX steps and double the step when they have more.
 *
 *	waiting		from submission or eviction to the next start; counted when it ends
 *	useful		pod-seconds of work that were run and not lost (so far: what runs may still be lost)
 *	lost		pod-seconds that were run and must be run again: since the start, or the last checkpoint
 *	utilisation	what pods took on nodes (leaving ones too) of what the nodes had while they were there
 *	below guarantee	time in which a queue with a guarantee used less of some type than guaranteed, and a pod that
 *			asks for that type waited in it
 *	slowdown	(end - submission) / work of finished pods; of work below 10 s as if it were 10 s
 *	fairness	Jain's index over queues with work, of the part of their pods' time that was spent running
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/emit.h"
#include "base/map.h"
#include "base/text.h"
#include "ledger/ledger.h"

/* A distribution of times. Zero-initialised is empty. */
struct times {
	struct map at; /* bucket -> place in v */
	struct times_bucket {
		uint32_t bucket;
		uint64_t n;
		__int128 sum;
	} * v;
	uint32_t n_buckets, cap;
	bool is_sorted;
	uint64_t n;
	__int128 sum;
	int64_t max_ns;
};
void times_add(struct times *t, int64_t ns);
double times_mean(const struct times *t);		 /* seconds; 0 if there are none */
double times_quantile(struct times *t, double fraction); /* the smallest that so many are not above; seconds */
/* In order: from here on, until one is added, copies of the struct may be asked for quantiles. */
void times_settle(struct times *t);
void times_free(struct times *t);

struct outcome_counts { /* of one queue, or of all */
	/* pods; what was evicted and comes back is still the same pod */
	uint64_t submitted, finished, abandoned; /* abandoned: evicted or failed, and nobody makes them again */
	uint64_t running, waiting;		 /* now; leaving ones wait already, or are abandoned */
	uint64_t evictions, repeated_evictions;	 /* repeated: all but the first of each pod */
	uint64_t most_evictions;		 /* of one pod */
	uint64_t node_losses;			 /* pods that lost their node */
	uint64_t starts;
	/* sums of nanoseconds; pods' time but for the last three */
	__int128 useful_sum, lost_sum;
	__int128 submitted_sum; /* work that was submitted, without endless pods' */
	__int128 done_sum;	/* of it: finished or saved */
	__int128 abandoned_sum; /* of it: will never be done */
	__int128 waited_sum;	/* spent waiting, so far */
	struct times waits;
	struct times slowdowns; /* 1 is NS_PER_S */
	__int128 used[RES_MAX]; /* amount times ns, by type */
	__int128 below_guarantee_sum;
	/* of min(guaranteed, used + waiting), and of that what was used: in parts of the guarantee, over its types */
	__int128 claim_sum, reached_sum;
};

struct outcome_queue {
	char *path;
	bool has_guarantee;
	struct outcome_counts counts;
};

/* Averages over a step of time; evictions and lost_s are sums. */
enum { SERIES_MAX = 2048 };
#define SERIES_TOTAL UINT32_MAX /* instead of the number of a queue: all of them */
struct series_point {
	const double *used;	 /* on nodes, by type; outcome.n_types of them */
	const double *capacity;	 /* of all nodes that were there, likewise */
	double guarantee_gap;	 /* 0: all that the queue had claim to within its guarantee; 1: nothing of it */
	double running, waiting; /* pods */
	uint32_t evictions;
	double lost_s;
};

struct outcome_longest { /* of who waits in the end, the one that has waited longest */
	char *pod;	 /* "ns/name"; NULL: nobody waits */
	int64_t since_ns;
	char *why; /* a sentence; "": it is about to start */
};

struct sim_outcome {
	int64_t from_ns, to_ns; /* virtual time that was looked at */
	uint32_t n_types;
	char *types[RES_MAX];	    /* names, by number */
	__int128 capacity[RES_MAX]; /* amount times ns over live nodes */
	struct outcome_counts totals;
	struct outcome_queue *queues; /* leaves with work or a guarantee, by path */
	uint32_t n_queues;
	struct outcome_longest longest;
	/* the engine */
	uint64_t events, cycles, attempts; /* attempts: decisions about one pod or gang */
	int64_t engine_ns;		   /* real time spent in it; never in what is compared */
	bool is_complete;	/* the load ended and nothing was left to do; false: cut by --until, Ctrl-C, a limit */
	bool has_own_end;	/* or it came to the end that the scenario has */
	const char *stopped_by; /* why neither: "--until", "interrupted", … */
};
void outcome_free(struct sim_outcome *o);
double outcome_utilisation(const struct sim_outcome *o, const struct outcome_counts *c, res_id r);
double outcome_fairness(const struct sim_outcome *o);
double outcome_guarantee_reached(const struct outcome_counts *c); /* 1: always */
double outcome_seconds(__int128 ns);
