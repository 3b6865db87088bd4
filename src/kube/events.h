/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - what happened to an object, for people: events.k8s.io/v1, repeated ones as a series.
 *
 * The same thing said again within six minutes is not written again, but counted: at once when it happens the second
 * time, then once a minute at most. What was not said for six minutes is forgotten, with its last count written. The
 * recorder makes requests and does not send them; it reads no clock.
 */
#pragma once

#include "base/map.h"
#include "base/names.h"
#include "kube/write.h"

struct kube_event {
	const char *api, *kind, *ns, *name, *uid, *version;  /* what it is about; ns "" for cluster-wide objects */
	const char *type;				     /* Normal, Warning */
	const char *reason, *action;			     /* "Preempted", "Preempting" */
	const char *note;				     /* at most 1 KiB of it is written */
	const char *related_ns, *related_name, *related_uid; /* another pod it has to do with; NULL */
};

struct events;

/* controller: "cede", of the schedulerName; instance: who we are among its replicas. Both are copied. */
struct events *events_new(const char *controller, const char *instance);
void events_free(struct events *v);
/* true: send *w. */
bool events_note(struct events *v, const struct kube_event *e, int64_t wall_ns, struct kube_write *w);
/* Series that ended: call now and then until it says false. */
bool events_flush(struct events *v, int64_t wall_ns, struct kube_write *w);
uint32_t events_count(const struct events *v); /* remembered */
