/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.h - the queue of waiting pods: who is tried next, who backs off, who sleeps until something changes.
 *
 * Three places, as in kube-scheduler: active (a heap in the order of the QueueSort), backoff (until a time), unschedulable (until an event that a
 * rejecting plugin cares for, or five minutes). Events that happen while a pod is being tried are not missed. Time is an argument
 * everywhere; nothing here reads a clock. Ties end in arrival order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ledger/ledger.h"

/* What can wake a pod. Resource and action as in spec 3.8 and 3.9. */
enum event_resource { EV_WILDCARD, EV_NODE, EV_ASSIGNED_POD, EV_UNSCHEDULED_POD, EV_TARGET_POD, EV_POD_GROUP, EV_OTHER };
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
	EV_UPDATE = EV_NODE_ALLOCATABLE | EV_NODE_LABEL | EV_NODE_TAINT | EV_NODE_CONDITION | EV_NODE_ANNOTATION | EV_POD_LABEL |
		    EV_POD_SCALE_DOWN | EV_POD_SCALE_UP | EV_POD_TOLERATION | EV_POD_GATES_GONE,
};

struct cluster_event {
	enum event_resource resource;
	uint32_t actions; /* of enum event_action */
	pod_id pod;	  /* the pod or */
	node_id node;	  /* node it is about; NONE if not one */
	const void *before; /* struct obj_pod / obj_node before an update, or NULL */
};

enum hint { HINT_SKIP, HINT_QUEUE };
/* Would this event make the pod, rejected by this plugin, worth another try? (spec, appendix A) */
typedef enum hint (*hint_fn)(const void *ctx, const char *plugin, pod_id pod, const struct cluster_event *ev);
/* PreEnqueue: true if the pod may enter active or backoff. */
typedef bool (*enqueue_fn)(const void *ctx, pod_id pod);

struct waiting;

struct waiting_options {
	int64_t initial_backoff_ns, max_backoff_ns; /* 1 s, 10 s */
	int64_t flush_after_ns;			    /* 5 min in unschedulable */
	bool pops_early;			    /* an empty active takes from backoff */
	hint_fn hint;
	enqueue_fn may_enqueue;
	const void *ctx;
};

struct waiting *waiting_new(const struct ledger *l, const struct waiting_options *o);
void waiting_free(struct waiting *w);

enum waiting_place { WAITING_NOWHERE, WAITING_ACTIVE, WAITING_BACKOFF, WAITING_UNSCHEDULABLE, WAITING_GATED, WAITING_IN_FLIGHT };

void waiting_add(struct waiting *w, pod_id pod, int64_t now_ns);
void waiting_remove(struct waiting *w, pod_id pod);
enum waiting_place waiting_where(const struct waiting *w, pod_id pod);
/* The next to try, POD_NONE if nobody is ready; it is then in flight until waiting_done or waiting_failed. */
pod_id waiting_pop(struct waiting *w, int64_t now_ns);
void waiting_done(struct waiting *w, pod_id pod);
/* rejecters: names of the plugins that refused it (none: an error), pending: of these the ones without penalty. */
void waiting_failed(struct waiting *w, pod_id pod, const char *const *rejecters, uint32_t n, const bool *is_pending, int64_t now_ns);
void waiting_event(struct waiting *w, const struct cluster_event *ev, int64_t now_ns);
void waiting_activate(struct waiting *w, pod_id pod, int64_t now_ns);
/* Time passes: backoffs that ended (whole seconds), five-minute sleepers. Call at least every second. */
void waiting_flush(struct waiting *w, int64_t now_ns);
uint32_t waiting_count(const struct waiting *w, enum waiting_place where);

/* 1, 2, 4, 8, 10, 10 s …; a group's maximum grows with the square root of its size. 0 if count is 0. */
int64_t backoff_duration(int64_t initial_ns, int64_t max_ns, uint32_t count, uint32_t entity_size);
/* When it ends: start + duration, cut to whole seconds. TIME_NONE: no backoff. */
int64_t backoff_until(int64_t initial_ns, int64_t max_ns, uint32_t count, uint32_t entity_size, int64_t start_ns);
