/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expect.h - sentences that a simulation must make true.
 *
 *	ml/train is never evicted                  a pod, or all pods of a job
 *	root.a is never evicted                    nobody in the queue is
 *	group ml/train runs before 12:10           all its pods have started by then; also a duration from the beginning
 *	ml/train finishes before 14:00
 *	at most 3 evictions in root.a              without "in …": in all
 *	root.ads is never below its guarantee for more than 5m while it has work
 *	nobody in root.a waits longer than 1h      without "in …": nobody at all; who still waits counts
 *	everything finishes
 */
#pragma once

#include "base/array.h"
#include "sim/sim.h"

enum expectation_kind {
	EXPECT_NEVER_EVICTED,
	EXPECT_RUNS_BEFORE,
	EXPECT_FINISHES_BEFORE,
	EXPECT_MOST_EVICTIONS,
	EXPECT_GUARANTEE,
	EXPECT_WAITS,
	EXPECT_EVERYTHING_FINISHES,
};

struct expectation {
	enum expectation_kind kind;
	char *sentence, *whom; /* whom: "ns/name", a queue's path, or "" for all */
	bool is_queue;
	int64_t limit_ns; /* a time, or a duration */
	uint64_t most;
	/* found */
	uint64_t n_evictions;
	int64_t first_ns; /* of what went wrong; TIME_NONE: nothing did */
	char *culprit;	  /* who was evicted, and for whom */
	bool is_seen;	  /* somebody of that name started, ended or was evicted */
	uint64_t n_done;  /* of the job: seen to start, or finish, in time */
	int64_t last_ns;  /* when the last of them did */
};

struct expectations {
	ARRAY(struct expectation) v;
};
/* ERR_INPUT that says what can be expected. from_ns: what durations and times of day are counted from. */
enum err_code expect_parse(struct expectations *x, const char *sentence, int64_t from_ns, struct err *e);
void expectations_free(struct expectations *x);

/* To be called by the simulation's watcher. */
void expect_eviction(struct expectations *x, struct sim *s, const struct sim_eviction *ev);
void expect_start(struct expectations *x, struct sim *s, pod_id pod);
void expect_finish(struct expectations *x, struct sim *s, pod_id pod);

struct check { /* what came of one, after the run */
	const char *expect;
	bool ok;
	struct text found;
};
/* One for each of them. An expectation that names nobody who was there, or no queue, is not met. */
struct check *expectations_check(const struct expectations *x, struct sim *s);
void checks_free(struct check *v, uint32_t n);

/* "12:10" or "12:10:30" (the next such time at or after from, UTC), a duration after from, or RFC 3339. */
enum err_code when_parse(const char *s, int64_t from_ns, int64_t *ret_ns, struct err *e);
