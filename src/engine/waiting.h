/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.h - the queue of waiting pods: who is tried next, who backs off, who sleeps until something changes.
 *
 * Three places, as in kube-scheduler: active (a heap in the order of the QueueSort), backoff (until a time),
 * unschedulable (until an event that a rejecting plugin cares for, or five minutes). Events that happen while a pod is
 * being tried are not missed. Time is an argument everywhere; nothing here reads a clock. Ties end in arrival order,
 * and nothing depends on the order of ids.
 *
 * A pod that failed comes back with a new time of arrival, so retried pods stand behind fresh ones of their priority.
 *
 * What kube-scheduler keeps as a list of events while pods are in flight is kept here as answers: each event is judged
 * at once, for every plugin that could come to refuse the pod. Objects an event speaks of need not outlive the call,
 * and an attempt that takes long costs no memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ledger/ledger.h"

/* What can wake a pod. Resource and action as in spec 3.8 and 3.9. */
enum event_resource {
	EV_WILDCARD,
	EV_NODE,
	EV_ASSIGNED_POD,
	EV_UNSCHEDULED_POD,
	EV_TARGET_POD,
	EV_POD_GROUP,
	EV_OTHER
};
enum event_action {
	EV_ADD = 1 << 0,
	EV_DELETE = 1 << 1,
	EV_NODE_ALLOCATABLE = 1 << 2,
	EV_NODE_LABEL = 1 << 3,
	EV_NODE_TAINT = 1 << 4,
	EV_NODE_CONDITION = 1 << 5,
	EV_NODE_ANNOTATION = 1 << 6,
	EV_POD_LABEL = 1 << 7,
	EV_POD_SCALE_DOWN = 1 << 8,
	EV_POD_SCALE_UP = 1 << 9,
	EV_POD_TOLERATION = 1 << 10,
	EV_POD_GATES_GONE = 1 << 11,
	/* nothing in particular changed: only who asks for all updates hears of it */
	EV_UPDATE = EV_NODE_ALLOCATABLE | EV_NODE_LABEL | EV_NODE_TAINT | EV_NODE_CONDITION | EV_NODE_ANNOTATION |
		    EV_POD_LABEL | EV_POD_SCALE_DOWN | EV_POD_SCALE_UP | EV_POD_TOLERATION | EV_POD_GATES_GONE,
};

/*
 * Told after the ledger has the new state; a deletion before it loses the old one. A wildcard wakes everybody, or the
 * pod it names, whatever refused it; EV_TARGET_POD is about a waiting pod itself and wakes nobody else.
 */
struct cluster_event {
	enum event_resource resource;
	uint32_t actions;   /* of enum event_action */
	pod_id pod;	    /* the pod or */
	node_id node;	    /* node it is about; NONE if not one */
	const void *before; /* struct obj_pod / obj_node before an update, or NULL */
	bool is_bounded;    /* a nomination was given up: of no use to pods of higher priority than */
	int32_t up_to;	    /* this, who never minded it */
};

enum hint { HINT_SKIP, HINT_QUEUE };
/* Would this event make the pod, rejected by this plugin, worth another try? (spec, appendix A) */
typedef enum hint (*hint_fn)(const void *ctx, const char *plugin, pod_id pod, const struct cluster_event *ev);
/* Does the plugin listen to events of this kind at all? Must be true where a hint says HINT_QUEUE. */
typedef bool (*interest_fn)(const void *ctx, const char *plugin, const struct cluster_event *ev);
/* PreEnqueue: NULL if the pod may enter active or backoff, else the plugin that holds it back. */
typedef const char *(*gate_fn)(const void *ctx, pod_id pod);
/* QueueSort: <0: a is tried first. */
typedef int (*order_fn)(const void *ctx, pod_id a, pod_id b);

struct waiting;

enum { WAITING_PLUGINS_MAX = 63 };

struct waiting_options {
	int64_t initial_backoff_ns, max_backoff_ns; /* 1 s, 10 s */
	int64_t flush_after_ns;			    /* 5 min in unschedulable */
	bool pops_early;			    /* an empty active takes from backoff */
	/*
	 * Plugins that hint knows, WAITING_PLUGINS_MAX at most; the strings outlive the queue.
	 * Any other that refuses a pod wakes it at every event.
	 */
	uint32_t n_plugins;
	const char *const *plugins;
	hint_fn hint;	      /* NULL: every event wakes */
	interest_fn interest; /* NULL: everybody listens to everything */
	gate_fn gate;	      /* NULL: nobody is held back */
	order_fn order;	      /* NULL: by priority, then time of arrival */
	const void *ctx;
};
struct waiting_options waiting_options_default(void); /* without callbacks */

struct waiting *waiting_new(const struct ledger *l, const struct waiting_options *o);
void waiting_free(struct waiting *w);

enum waiting_place {
	WAITING_NOWHERE,
	WAITING_ACTIVE,
	WAITING_BACKOFF,
	WAITING_UNSCHEDULABLE,
	WAITING_GATED,
	WAITING_IN_FLIGHT
};

void waiting_add(struct waiting *w, pod_id pod, int64_t now_ns); /* nothing happens if it is somewhere already */
/*
 * It is gone, or somebody else placed it. Call before its id can mean another pod; what is said of it later is ignored.
 */
void waiting_remove(struct waiting *w, pod_id pod);
enum waiting_place waiting_where(const struct waiting *w, pod_id pod);
/* The next to try, POD_NONE if nobody is ready; it is then in flight until waiting_done or waiting_failed. */
pod_id waiting_pop(struct waiting *w, int64_t now_ns);
void waiting_done(struct waiting *w, pod_id pod);
/* rejecters: names of the plugins that refused it (none: an error), pending: of these the ones without penalty. */
void waiting_failed(struct waiting *w, pod_id pod, const char *const *rejecters, uint32_t n, const bool *is_pending,
		    int64_t now_ns);
/*
 * It was done, and what was decided could not be carried out: it comes back and backs off as after an error. With
 * at_once it is tried again without a pause.
 */
void waiting_return(struct waiting *w, pod_id pod, bool at_once, int64_t now_ns);
void waiting_event(struct waiting *w, const struct cluster_event *ev, int64_t now_ns);
/*
 * The pod's own object changed: an event of EV_TARGET_POD with these actions.
 * It finds its new place in the order, or enters if it was nowhere.
 */
void waiting_update(struct waiting *w, pod_id pod, uint32_t actions, const struct obj_pod *before, int64_t now_ns);
void waiting_activate(struct waiting *w, pod_id pod, int64_t now_ns);
/*
 * Time passes: backoffs that ended (whole seconds), five-minute sleepers (looked for every 30 s).
 * Call at least every second.
 */
void waiting_flush(struct waiting *w, int64_t now_ns);
/* When time alone may next make waiting_flush move somebody; INT64_MAX: never. */
int64_t waiting_next_ns(const struct waiting *w);
uint32_t waiting_count(const struct waiting *w, enum waiting_place where);

/* What is known of a pod in the queue, for those who explain and measure. */
struct waiting_info {
	enum waiting_place place;
	uint32_t attempts;
	int64_t since_ns;	  /* came, or came back */
	int64_t first_ns;	  /* was first ready to be tried; TIME_NONE: never was */
	int64_t backoff_until_ns; /* TIME_NONE: no backoff */
	const char *gate;	  /* gated: by whom, as the gate named it */
};
struct waiting_info waiting_get(const struct waiting *w, pod_id pod);
size_t waiting_bytes(const struct waiting *w);

/* 1, 2, 4, 8, 10, 10 s …; a group's maximum grows with the square root of its size. 0 if count is 0. */
int64_t backoff_duration(int64_t initial_ns, int64_t max_ns, uint32_t count, uint32_t entity_size);
/* When it ends: start + duration, cut to whole seconds. TIME_NONE: no backoff. */
int64_t backoff_until(int64_t initial_ns, int64_t max_ns, uint32_t count, uint32_t entity_size, int64_t start_ns);

/* How often an entity failed in vain. Errors in a row count alone; else refusals. */
struct backoff {
	uint32_t n_refused, n_errors;
	int64_t since_ns; /* of the last failure */
	int64_t until_ns; /* once known; TIME_NONE: to be computed */
};
/* As backoff_until, cut to a multiple of window_ns; computed once and kept. */
int64_t backoff_ends(struct backoff *b, int64_t initial_ns, int64_t max_ns, int64_t window_ns);
