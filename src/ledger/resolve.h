/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.h - the rules by which objects become entries of the ledger: which queue, group, priority, since when,
 * interruptible or not.
 *
 * They read the cluster and change nothing. Per profile:
 *
 *	            queue                             group's priority  start
 *	default     group, KAI label, YuniKorn label  group's class    annotation, status, condition, creation, now
 *	yunikorn    the same                          the same         the same
 *	kai         group, KAI label                  the same         annotation alone
 *	kubernetes  root.default for all              (no KAI groups)  status, now
 */
#pragma once

#include "ledger/cluster_internal.h"

/* What is wrong with a pod or group: bits. */
enum complaint {
	UNKNOWN_CLASS = 1 << 0,
	UNKNOWN_SUBGROUP = 1 << 1,
	BAD_POD_LABEL = 1 << 2,
	BAD_OWNER_LABEL = 1 << 3,
};

enum pod_state resolve_state(const struct obj_pod *o);

/* Which queue. The joint for placement rules: everything that names a queue is decided here and nowhere else. */
struct queue_answer {
	queue_id queue;	 /* QUEUE_NONE: there is no such leaf */
	bool is_default; /* the queue of those without one; it may have to be made first (queue is QUEUE_NONE then) */
	name_id wanted;	 /* the name that was given; NAME_NONE if none was */
};
/* has_node: a queue that is being drained keeps work that has a node and takes no other. */
struct queue_answer resolve_queue(const struct queue_tree *t, enum profile profile, const struct obj_pod *pod,
				  const struct obj_namespace *ns, const struct obj_group *group, bool has_node);

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
int64_t resolve_start(const struct cluster *c, const struct obj_pod *o, group_id group);

/* Of a group as a whole; its speaker may be NULL (no members). */
int32_t resolve_group_priority(const struct cluster *c, const struct obj_group *g, const struct obj_pod *speaker,
			       uint32_t *complaints);
enum preemptibility resolve_group_preemptibility(const struct cluster *c, const struct obj_group *g,
						 const struct obj_pod *speaker, queue_id queue, int32_t priority);
