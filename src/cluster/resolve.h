/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - the rules by which objects become entries of the ledger: which queue, group, priority, since when,
 * interruptible or not.
 *
 * They read the cluster and change nothing. Per profile:
 *
 *	            queue                             group's priority  start
 *	default     group, KAI label, YuniKorn rules  group's class    annotation, status, condition, creation, now
 *	yunikorn    the same                          the same         the same
 *	kai         group, KAI label                  the same         annotation alone
 *	kubernetes  root.default for all              (no KAI groups)  status, now
 *
 * YuniKorn's rules are those of its queues.yaml, or "provided" if it has none; without a queues.yaml its label names a
 * path.
 */
#pragma once

#include "cluster/cluster_internal.h"

/* What is wrong with a pod or group: bits. */
enum complaint {
	UNKNOWN_CLASS = 1 << 0,
	UNKNOWN_SUBGROUP = 1 << 1,
	BAD_POD_LABEL = 1 << 2,
	BAD_OWNER_LABEL = 1 << 3,
	UNKNOWN_GROUP = 1 << 4,
	ODD_START = 1 << 5, /* in the future, or before there was anything to start it */
	LOST_NODE = 1 << 6, /* it is on a node that is not there */
};

enum pod_state resolve_state(const struct obj_pod *o);

/*
 * Which queue. Everything that names a queue is decided here and nowhere else. The answer is a function of the objects,
 * but for queues that are being drained: those keep the work that runs in them and take no other.
 */
struct queue_ask {
	const struct obj_pod *pod;     /* of a group its speaker; NULL: it has none */
	const struct obj_group *group; /* NULL: a pod on its own */
	bool has_node;		       /* it runs; said of groups too, whose pods are judged one by one later */
	queue_id current;	       /* where it is now; QUEUE_NONE */
};
/* Why there is no queue. */
enum queue_trouble {
	TROUBLE_NONE,
	TROUBLE_UNKNOWN, /* no such queue, or no rule that makes it */
	TROUBLE_PARENT,	 /* not a leaf */
	TROUBLE_DRAINING,
	TROUBLE_DENIED, /* by the access lists */
	TROUBLE_NAME,	/* no name for a queue, or below a leaf */
	TROUBLE_SPLIT,	/* made for pods, as a parent: others wanted queues below it */
};
struct queue_answer {
	queue_id queue;	 /* QUEUE_NONE: there is no such leaf */
	bool is_default; /* the queue of those without one; it may have to be made first (queue is QUEUE_NONE then) */
	bool is_dynamic; /* the queue of *path; it may have to be made first, and so may those above it */
	name_id wanted;	 /* the name that was given; NAME_NONE if none was */
	enum queue_trouble trouble;
};
/* *path is overwritten; good only if is_dynamic. */
struct queue_answer resolve_queue(const struct cluster *c, const struct queue_ask *ask, struct text *path);
/* The part of YuniKorn's rules (resolve_placement.c). */
struct queue_answer resolve_placement(const struct cluster *c, const struct queue_ask *ask, struct text *path);
/* It or a queue above it is being drained. */
bool queue_is_closing(const struct queue_tree *t, queue_id q);

/* Where those without a queue go: root.default, or root.default.default below it. */
struct default_place {
	queue_id queue;	 /* QUEUE_NONE: not there */
	queue_id parent; /* make it below this one; QUEUE_NONE: impossible */
};
struct default_place resolve_default(const struct queue_tree *t);

/* The group it is in; *ret_podset goes with it. GROUP_NONE: on its own. */
group_id resolve_group(const struct cluster *c, const struct obj_pod *o, podset_id *ret_podset, uint32_t *complaints);

int32_t resolve_priority(const struct cluster *c, const struct obj_pod *o, group_id group, queue_id queue,
			 uint32_t *complaints);
enum preemptibility resolve_preemptibility(const struct cluster *c, const struct obj_pod *o, group_id group,
					   queue_id queue, int32_t priority, uint32_t *complaints);
/*
 * Since when it runs where it says; TIME_NONE: as of now, whenever that is. was: what was taken for that before, or
 * TIME_NONE; a start in the future is the time at which it was first heard of, not each time it is heard of again.
 */
int64_t resolve_start(const struct cluster *c, const struct obj_pod *o, group_id group, int64_t was,
		      uint32_t *complaints);
/*
 * What a time of start is taken for, where clocks of others are not believed blindly: in the future for now, before
 * 2000 for TIME_NONE.
 */
int64_t resolve_believed(const struct cluster *c, int64_t start_ns);
bool resolve_is_future(const struct cluster *c, int64_t start_ns); /* and so taken for now */
/* Is it taken for another time, or is it one that cannot be and is not looked at as such in this profile? */
bool resolve_is_odd(const struct cluster *c, int64_t start_ns);
/* The first odd one of a pod's times of start, up to the one that counts; TIME_NONE: none. */
int64_t resolve_odd_start(const struct cluster *c, const struct obj_pod *o, group_id group);

/* Of a group as a whole; its speaker may be NULL (no members). */
int32_t resolve_group_priority(const struct cluster *c, const struct obj_group *g, const struct obj_pod *speaker,
			       uint32_t *complaints);
enum preemptibility resolve_group_preemptibility(const struct cluster *c, const struct obj_group *g,
						 const struct obj_pod *speaker, queue_id queue, int32_t priority);
