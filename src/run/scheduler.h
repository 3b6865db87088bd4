/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scheduler.h - decides for a cluster that it follows, and carries out what was decided.
 *
 * A state machine without a thread, a clock or a connection: news and the time come in, requests go out through a
 * transport. README.md says how a pod and a victim go through it, and what always holds.
 *
 *	s = scheduler_new(world, &options, &now);
 *	while (...) {
 *		scheduler_take(s, news, &now);	 for each answer and each line of a watch
 *		scheduler_tick(s, &now);	 all that was there is taken; time passes
 *		scheduler_decide(s, &now);	 one turn of decisions
 *	}
 *
 * Who may not write (a replica that stands by) follows the cluster all the same and decides nothing.
 */
#pragma once

#include "explain/plan_view.h"
#include "kube/events.h"
#include "kube/feed.h"
#include "rules/eviction_history.h"
#include "run/world.h"

struct moment {		   /* now, on both clocks */
	int64_t steady_ns; /* for pauses and deadlines of our own */
	int64_t wall_ns;   /* for everything objects and decisions speak of */
};

enum task_kind { TASK_BIND, TASK_STATUS, TASK_EVICT, TASK_EVENT, TASK_GROUP, TASK_VOLUME, TASK_KINDS };
const char *task_kind_text(enum task_kind k); /* "bind" */

struct their_placement {
	const char *pod, *uid, *node, *queue, *scheduler; /* pod: "ns/name" */
};

/* What happened, for those who keep, count and tell it. Everything may be NULL. */
struct scheduler_hooks {
	void *ctx;
	/*
	 * A decision was made; the ledger is as it was before it where the words need that. Its evictions wait until
	 * is_kept says that what was returned is on the disk; 0: they wait for nothing.
	 */
	uint64_t (*decided)(void *ctx, const struct plan_view *v, const struct decision *d, const struct moment *now);
	bool (*is_kept)(void *ctx, uint64_t ticket);
	void (*turn_ended)(void *ctx, uint32_t n_decisions, int64_t took_ns);
	/* A write ended. */
	void (*wrote)(void *ctx, enum task_kind k, const struct kube_news *n);
	/* What came of a decision about the pod with this uid: bound, or asked to go. error "": it went well. */
	void (*bound)(void *ctx, const char *uid, const char *error, const struct moment *now);
	void (*evicted)(void *ctx, const char *uid, const char *error, const struct moment *now);
	void (*observed)(void *ctx, const char *uid, bool is_eviction, const struct moment *now);
	/* A pod is about to go, or to be over; it is still there. */
	void (*gone)(void *ctx, pod_id pod, const struct moment *now);
	void (*undone)(void *ctx, const char *reason);
	void (*gang)(void *ctx, const char *outcome); /* "bound", "completed", "undone" */
	/* Somebody else gave a pod a node that we look at without writing. */
	void (*theirs)(void *ctx, const struct their_placement *p, const struct moment *now);
	/* A ConfigMap of settings; NULL: it is gone. */
	void (*settings_changed)(void *ctx, const char *name, const char *uid, const struct tree *map);
	void (*refused)(void *ctx, const struct kube_object *o, const char *words);
	/* For people. */
	void (*said)(void *ctx, bool is_warning, const char *words);
};

struct scheduler_options {
	struct kube_transport transport;
	const char *ns;	      /* of the ConfigMaps with settings; "": they are not watched */
	const char *instance; /* who we are among the replicas; outlives it */
	bool is_dry;	      /* decides, takes it back and writes nothing */
	int64_t turn_ns;      /* of deciding pod by pod, before news are looked at again; 0: 20 ms */
	uint64_t seed;
	struct clock steady; /* to measure, and to end a turn in time; decisions do not depend on it */
	struct scheduler_hooks hooks;
	const struct eviction_history *history; /* from before; copied; NULL: nothing is known */
	struct reflector_options reflector;
};
struct scheduler_options scheduler_options_default(void);

struct scheduler;

/* The world is moved in. Begins to follow the cluster. */
struct scheduler *scheduler_new(struct world *w, const struct scheduler_options *o, const struct moment *now);
void scheduler_free(struct scheduler *s); /* and its world; breaks off what is under way */

bool scheduler_take(struct scheduler *s, const struct kube_news *n, const struct moment *now); /* false: not for it */
void scheduler_tick(struct scheduler *s, const struct moment *now);
/* One turn, if there is something to decide and it may. true: there is more to do at once. */
bool scheduler_decide(struct scheduler *s, const struct moment *now);
/* When the next tick or turn may do something by itself, on the steady clock. */
int64_t scheduler_next_ns(const struct scheduler *s, const struct moment *now);

/*
 * It leads from now on, and may write. Everything is listed anew first, because the one before may have written what
 * our watches do not have yet. Who leads no more is freed and made anew.
 */
void scheduler_lead(struct scheduler *s, const struct moment *now);
/* Decides nothing more and begins no evictions; what is under way goes on. For ending, and before other settings. */
void scheduler_drain(struct scheduler *s);
bool scheduler_is_drained(const struct scheduler *s); /* no write is under way that anybody minds */
bool scheduler_is_silent(const struct scheduler *s);  /* and no event either */
bool scheduler_is_synced(const struct scheduler *s);

/* What decided returned is kept up to this: evictions that waited for it go on. */
void scheduler_kept(struct scheduler *s, uint64_t ticket, const struct moment *now);

struct world *scheduler_world(const struct scheduler *s);
struct kube_feed *scheduler_feed(const struct scheduler *s);
struct waiting *scheduler_waiting(const struct scheduler *s);
const struct eviction_history *scheduler_history(const struct scheduler *s);

struct scheduler_counts {
	uint32_t active, backoff, unschedulable, gated; /* waiting pods */
	uint32_t assumed;				/* placed here, and not seen bound yet */
	uint32_t leaving;				/* victims that are still there */
	uint32_t in_flight;				/* requests */
	uint32_t stuck;					/* victims that should have gone */
};
struct scheduler_counts scheduler_counts(const struct scheduler *s, const struct moment *now);
/* An event that is about no pod: "ConfigurationRefused" on an object. Before it leads it is kept, and written then. */
void scheduler_event(struct scheduler *s, const struct kube_event *e, const struct moment *now);
