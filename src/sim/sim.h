/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - a cluster in virtual time: the engine's decisions are carried out, and time passes.
 *
 * Discrete events on the real engine and the real ledger: jobs arrive, pods end, evicted ones are gone when their grace
 * is over and come back as their controller would have it, nodes fail and return, settings change. After all that
 * happens at one time the engine decides, again and again until nothing more comes of it. See README.md for the order
 * of events and for what always holds.
 *
 * Virtual time only: the same input gives the same bytes.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "cluster/cluster.h"
#include "engine/engine.h"
#include "sim/load.h"
#include "sim/outcome.h"

struct sim;

/* An eviction as it happens; strings are good during the call. */
struct sim_eviction {
	int64_t at_ns;
	const char *pod, *queue, *node;	 /* ns/name */
	const char *for_pod, *for_queue; /* "" for quota, stale-gang */
	enum action action;
	enum rule_id overridden; /* soft rule, or RULE_NONE */
	int64_t lost_ns;	 /* as the engine counts it */
	uint32_t nth;		 /* how many of this pod, with this one */
	uint64_t decision;	 /* number of the decision, from 1 */
	const struct decision *why;
	const struct victim *victim; /* of that decision */
};

struct sim_watcher { /* all may be NULL */
	void *ctx;
	/* Of every decision that moved something (placed, nominated, evicted), after its moves were made. */
	void (*decision)(void *ctx, struct sim *s, const struct decision *d, uint64_t number);
	/* Of every other: the pod waits. */
	void (*waiting)(void *ctx, struct sim *s, const struct decision *d);
	void (*eviction)(void *ctx, struct sim *s, const struct sim_eviction *ev);
	void (*start)(void *ctx, struct sim *s, pod_id pod);
	void (*finish)(void *ctx, struct sim *s, pod_id pod); /* it is still there */
	/* Now and then, for progress bars: how far the load is, 0 to 1, or -1 if nobody knows. */
	void (*progress)(void *ctx, int64_t now_ns, double done, uint64_t events);
	/* Of everything that happened at one time, before the engine decides; nothing may be changed. */
	void (*before)(void *ctx, struct sim *s);
	/* After everything that happened at one time. */
	void (*moment)(void *ctx, struct sim *s);
};

struct sim_options {			    /* zero-initialised but for these */
	struct cluster *cluster;	    /* as it is in the beginning: borrowed, and changed */
	const struct engine_config *config; /* borrowed */
	const struct framework_plugin *plugins;
	uint32_t n_plugins;
	int64_t from_ns;
	int64_t until_ns;		/* TIME_NONE: until the load has ended and nothing is left to do */
	bool ends_then;			/* until_ns is where the load itself ends: nobody cut it short */
	struct sim_load *load;		/* NULL: nothing arrives */
	const struct sim_event *events; /* in order of time */
	uint32_t n_events;
	const volatile sig_atomic_t *interrupt; /* set: stop and say what is known; NULL: nobody does */
	struct sim_watcher watcher;
	double (*load_done)(void *ctx); /* of the load, for progress; NULL: not known */
	/* Says of a pod that is in the cluster already how long it runs, and how; NULL: all run until the end. */
	void (*describe)(void *ctx, const struct obj_pod *o, struct sim_job *job);
	void *describe_ctx;
	bool keeps_series;
	bool checks;	    /* conservation and the ledger after every event: for tests */
	bool is_exhaustive; /* try everything that waits each time: for tests of what is skipped */
	bool compares;	    /* each pass with the same pass if everybody were asked; an error where they differ */
};

struct sim *sim_new(const struct sim_options *o, struct err *e);
/* Until the end. Errors are of the load or the events; what was simulated until then stays readable. */
enum err_code sim_run(struct sim *s, struct err *e);
void sim_free(struct sim *s);

/* Good until sim_free; after sim_run. */
struct sim_outcome *sim_get_outcome(struct sim *s);
/*
 * The series, if it was kept: a point for each step (from outcome.from_ns on, each step_ns long, the last may be
 * shorter) and queue, by its number in outcome.queues, or SERIES_TOTAL. NULL past the end; good until the next call.
 */
const struct series_point *sim_series(const struct sim *s, uint32_t step, uint32_t queue);
uint32_t sim_series_steps(const struct sim *s, int64_t *ret_step_ns);

/* For watchers. */
struct cluster *sim_cluster(struct sim *s);
struct engine *sim_engine(struct sim *s);
int64_t sim_now(const struct sim *s);
bool sim_was_changed(const struct sim *s); /* an event changed settings or objects: what was read does not say all */
