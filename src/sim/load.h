/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - what arrives at a simulated cluster, and what happens to it.
 *
 * A load is a stream of jobs that is asked for one job at a time, in order of time: a trace of a million rows is never
 * in memory, only what is alive is. Readers of traces, the generator and scenario files make one.
 *
 * What a job's pods look like is a template, an obj_pod in the vocab of the cluster: labels with namespace, shape,
 * priority, queue. Pods of one template share shape and label set, which is what makes a simulation fast; a reader
 * keeps one template for each kind of pod and hands out the same one again and again (load_template).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/objects.h"

/* Who makes a pod again that was evicted, or whose node failed (SI-3). */
enum sim_controller {
	SIM_BARE,     /* nobody: its work is lost for good */
	SIM_JOB,      /* a Job: a new pod at once, under a new name, while the old one is still leaving */
	SIM_REPLICAS, /* a Deployment or ReplicaSet: the same */
	SIM_STATEFUL, /* a StatefulSet: the same name, once the old pod is gone */
	SIM_OPERATOR, /* of training jobs: the same; if too few of a gang are left, the rest starts again */
};
extern const char *const sim_controller_words[]; /* "bare", "job", "replicas", "stateful", "operator", NULL */

#define SIM_ENDLESS INT64_MAX /* runs until somebody ends it */

struct sim_job {
	int64_t arrives_ns;
	const char *name; /* unique in its namespace while it is alive. Pods: NAME if there is one, else NAME-0 … */
	const struct obj_pod *template; /* name, uid, group and times are set for each pod */
	uint32_t n_pods;		/* 1 at least */
	int32_t min_member;		/* pods that start together or not at all; 0: each stands for itself */
	int64_t run_ns;			/* work of each pod; SIM_ENDLESS */
	int64_t checkpoint_ns;		/* work is saved this often; 0: never */
	int64_t grace_ns;		/* an evicted pod should be gone after that */
	int64_t lingers_ns;		/* and is; longer than grace_ns: slow to go */
	enum sim_controller controller;
	const char *where; /* "scenario.yaml:12:5", for messages; NULL: not known */
};
#define SIM_GRACE_NS (30 * NS_PER_S) /* where nothing else is said */

/*
 * The next job into *ret, or *ret_has false at the end. Arrivals never go back in time: the simulation refuses a job
 * that does (ERR_INPUT). What *ret points to is good until the next call.
 */
struct sim_load {
	void *ctx;
	enum err_code (*next)(void *ctx, struct sim_job *ret, bool *ret_has, struct err *e);
	void (*free)(void *ctx); /* may be NULL */
};
void sim_load_free(struct sim_load *l);

/* Things that happen to the cluster at given times. */
enum sim_event_kind {
	SIM_NODE_FAILS,	  /* it is gone, and so are its pods, without any grace */
	SIM_NODE_RETURNS, /* as it was */
	SIM_NODE_CORDONED,
	SIM_NODE_UNCORDONED,
	SIM_CHANGE,	    /* settings and objects (text): queues, CedeConfiguration, Nodes, budgets, classes */
	SIM_JOB_DELETED,    /* somebody deletes a job: name is NS/NAME */
	SIM_BUDGET_REMOVED, /* a PodDisruptionBudget: name is NS/NAME */
};
struct sim_event {
	int64_t at_ns;
	enum sim_event_kind kind;
	const char *name; /* of the node, or job */
	const char *text; /* SIM_CHANGE: YAML or JSON */
	size_t len;
	const char *where;   /* "scenario.yaml:12:5", for messages; NULL: not from a file */
	bool has_all_queues; /* SIM_CHANGE: KAI Queues that are not in it are gone */
};

/* A template of plain pods, for readers that have numbers instead of manifests. */
struct load_request {
	const char *type; /* "cpu", "nvidia.com/gpu" */
	int64_t amount;	  /* cpu in thousandths, others whole */
};
struct load_pod {
	const char *ns;	       /* "default" if NULL */
	const char *queue;     /* path ("root.a.b") or name; NULL: none */
	const char *kai_queue; /* the name of a KAI Queue object; NULL: none. Makes it work of KAI's world (PP-9) */
	bool has_priority;
	int32_t priority;
	enum tristate allows_preemption;
	enum preemptibility preemptibility;
	uint32_t n_requests;
	const struct load_request *requests;
};
/* ERR_LIMIT: too many types of resources. To be dropped with obj_pod_drop. */
enum err_code load_template(struct vocab *v, const struct load_pod *p, struct obj_pod *ret, struct err *e);
/* A node with so much room, likewise; `pods` is 110 if it is not among them. */
enum err_code load_node(struct vocab *v, const char *name, const struct load_request *room, uint32_t n,
			struct obj_node *ret, struct err *e);
