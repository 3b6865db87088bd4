/* SPDX-License-Identifier: Apache-2.0 */
/*
 * objects.h - what the objects of a cluster say: plain data, names interned, nothing resolved yet.
 *
 * Readers (manifest, kube) fill them, the cluster (cluster/cluster.h) takes them in and resolves names to ids. Every
 * object holds references to its names, shape and label set; obj_*_drop lets them go: a name_id that is a field of the
 * object itself has a reference of its own, names inside arrays and selectors are held by its bag. Passing an object to
 * the cluster moves all of it: the cluster owns it afterwards. Arrays inside are heap-allocated and owned by the
 * object.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "model/res.h"
#include "model/shape.h"
#include "model/storage.h"
#include "model/uid.h"
#include "units/week_hours.h"

enum pod_phase { PHASE_PENDING, PHASE_RUNNING, PHASE_SUCCEEDED, PHASE_FAILED, PHASE_UNKNOWN };
enum tristate { UNSET = 0, YES, NO };
enum preemptibility { PREEMPTIBILITY_UNSET, PREEMPTIBLE, NON_PREEMPTIBLE, SEMI_PREEMPTIBLE };
const char *preemptibility_text(enum preemptibility p);		    /* "" when unset */
bool preemptibility_parse(const char *s, enum preemptibility *ret); /* false: not a value */

enum owner_kind {
	OWNER_NONE,
	OWNER_DEPLOYMENT,
	OWNER_REPLICASET,
	OWNER_STATEFULSET,
	OWNER_DAEMONSET,
	OWNER_JOB,
	OWNER_RC,
	OWNER_NODE,
	OWNER_OTHER,
};

struct gang_task_group { /* a task group */
	name_id name;
	int32_t min_member;
};

/*
 * What a pod says about a gang that has no PodGroup: cede.dev/gang and cede.dev/min-member, or YuniKorn's task groups,
 * whose gang is the application. Immutable, counted.
 */
struct pod_gang {
	uint32_t refs;
	bool is_yunikorn;
	bool is_hard;		/* gangSchedulingStyle Hard; a soft one goes on pod by pod after its timeout */
	int64_t timeout_ns;	/* placeholderTimeoutInSeconds */
	int32_t min_member;	/* cede.dev */
	name_id task_group;	/* the one it is of; NAME_NONE: of none */
	uint32_t n_task_groups; /* task groups that it defines */
	struct gang_task_group task_groups[];
};
/* Copies, and takes references to the names. */
struct pod_gang *pod_gang_new(struct names *names, const struct pod_gang *draft,
			      const struct gang_task_group *task_groups);
struct pod_gang *pod_gang_keep(struct pod_gang *g); /* NULL is fine */
void pod_gang_drop(struct names *names, struct pod_gang *g);

/* What few pods say. */
struct pod_extra {
	name_id subgroup;      /* label kai.scheduler/subgroup-name */
	name_id user;	       /* of yunikorn.apache.org/user.info */
	name_id user_groups;   /* of the same, joined by commas */
	struct pod_gang *gang; /* NULL: it says nothing of one, or names a PodGroup */
};

struct obj_pod {
	/* what decisions look at of every running pod comes first, in one line of memory */
	int64_t started_ns, checkpointed_ns, deleted_ns; /* TIME_NONE if not there */
	name_id app;					 /* YuniKorn application id if given */
	name_id priority_class;
	enum owner_kind owner_kind : 8;	     /* the controller */
	enum tristate allows_preemption : 8; /* annotation yunikorn.apache.org/allow-preemption */
	enum pod_phase phase : 8;
	bool has_priority : 1;
	bool is_preempted : 1;			/* condition DisruptionTarget True, reason PreemptionByScheduler */
	bool group_is_k8s : 1;			/* group is spec.schedulingGroup.podGroupName */
	enum preemptibility preemptibility : 4; /* label kai.scheduler/preemptibility */
	int32_t priority;
	name_id name;
	labelset_id labelset; /* namespace and labels */
	shape_id shape;
	name_id node_name;	/* spec.nodeName */
	name_id nominated_node; /* status.nominatedNodeName */
	name_id group;		/* annotation pod-group-name, or group_is_k8s; of a gang its name */
	int64_t created_ns, scheduled_ns;
	int64_t run_ns; /* annotation cede.dev/run-time: how long it will work, for simulations; 0: it does not say */
	name_id owner_name, owner_uid;
	name_id kai_queue, yunikorn_queue; /* as the pod's labels and annotations name them */
	struct uid uid;
	/*
	 * What it mounts that filters look at; NULL: nothing. Not part of the shape: each pod of a StatefulSet has
	 * claims of its own, and all of them are one shape.
	 */
	struct pod_volumes *volumes;
	struct pod_extra *extra; /* owned; NULL: it says nothing of that */
};

/* To write to: made if it is not there. */
struct pod_extra *obj_pod_extra(struct obj_pod *o);
static inline name_id obj_subgroup(const struct obj_pod *o)
{
	return o->extra ? o->extra->subgroup : NAME_NONE;
}
static inline name_id obj_user(const struct obj_pod *o)
{
	return o->extra ? o->extra->user : NAME_NONE;
}
static inline name_id obj_user_groups(const struct obj_pod *o)
{
	return o->extra ? o->extra->user_groups : NAME_NONE;
}
static inline struct pod_gang *obj_gang(const struct obj_pod *o)
{
	return o->extra ? o->extra->gang : NULL;
}

struct obj_image {
	name_id name;
	int64_t bytes;
};

struct obj_node {
	name_id name, uid;
	labelset_id labelset; /* no namespace, the node's labels */
	struct res_vec allocatable;
	bool is_unschedulable, is_not_ready; /* not ready: Ready not True, or under pressure */
	uint32_t n_taints, n_images;
	struct taint *taints;
	struct obj_image *images;
	struct name_bag bag; /* names in taints and images */
};

struct obj_namespace {
	name_id name;
	labelset_id labelset;		  /* no namespace, the labels */
	name_id parent_queue;		  /* annotation yunikorn.apache.org/parentqueue */
	struct res_vec quota, guaranteed; /* annotations …/namespace.quota, …/namespace.guaranteed */
	bool has_quota, has_guaranteed;
	uint64_t max_apps;
	struct week_hours protected_hours; /* annotation cede.dev/protected-hours */
};

struct obj_class { /* PriorityClass */
	name_id name;
	int32_t value;
	bool is_default, never_preempts;
	enum tristate allows_preemption;
};

struct obj_pdb {
	name_id ns, name;
	struct selector selector; /* its arrays live in arena */
	struct arena *arena;	  /* NULL if nothing in it */
	struct name_bag bag;
	int32_t allowed; /* status.disruptionsAllowed */
	bool has_status; /* that is there; else it has to be counted by what the spec says: */
	enum { PDB_NO_LIMIT, PDB_MIN_AVAILABLE, PDB_MAX_UNAVAILABLE } limit_kind;
	bool is_percent;
	int32_t limit;
	uint32_t n_disrupted;
	name_id *disrupted; /* names of pods already being disrupted (in bag) */
};

struct obj_owner { /* Deployment … Job, Service: labels, selector, who owns it */
	enum owner_kind kind;
	bool is_service;
	name_id kind_name; /* "ReplicaSet" */
	name_id name, uid;
	labelset_id labelset;
	name_id parent_kind, parent_name, parent_uid; /* its controller */
	bool has_selector;
	struct selector selector;
	struct arena *arena;
	struct name_bag bag;
	int32_t replicas; /* -1: not stated */
};

struct obj_subgroup {
	name_id name, parent;
	int32_t min_member;
};

struct obj_group { /* PodGroup: KAI's, or scheduling.k8s.io's (is_k8s) */
	name_id ns, name, uid;
	bool is_k8s;
	bool is_of_pods;     /* no object: what its pods say (struct pod_gang) */
	bool has_no_minimum; /* of_pods: its time is over, each pod stands for itself */
	int64_t relax_ns;    /* of_pods: when it is over; TIME_NONE: never */
	int32_t min_member;  /* gang minCount; 0: not a gang (k8s basic) or not stated */
	name_id queue, priority_class;
	bool has_priority;
	int32_t priority;
	enum preemptibility preemptibility;
	bool goes_whole; /* k8s disruptionMode all */
	bool never_preempts;
	int64_t created_ns, started_ns, stale_ns; /* annotations last-start-timestamp, stale-podgroup-timestamp */
	uint32_t n_subgroups;
	struct obj_subgroup *subgroups;
	struct name_bag bag;
};

void obj_pod_drop(struct vocab *v, struct obj_pod *o);
void obj_node_drop(struct vocab *v, struct obj_node *o);
void obj_namespace_drop(struct vocab *v, struct obj_namespace *o);
void obj_class_drop(struct vocab *v, struct obj_class *o);
void obj_pdb_drop(struct vocab *v, struct obj_pdb *o);
void obj_owner_drop(struct vocab *v, struct obj_owner *o);
void obj_group_drop(struct vocab *v, struct obj_group *o);

struct obj_pod obj_pod_copy(struct vocab *v, const struct obj_pod *o);	     /* to be dropped */
struct obj_group obj_group_copy(struct vocab *v, const struct obj_group *o); /* to be dropped */
struct obj_node obj_node_copy(struct vocab *v, const struct obj_node *o);    /* to be dropped */
