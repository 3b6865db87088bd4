/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.h - takes in objects as they are written and keeps the ledger right.
 *
 * Objects come in any order and may change at any time: pods before their node, group, priority class or queue. The
 * cluster keeps what was said, resolves it (which queue, which group, which priority, since when, may it be
 * interrupted) as the requirements say, and resolves again what depends on an object that came, changed or went. A
 * manifest is one batch; a daemon feeds it for months.
 *
 * Every cluster_* call that fails leaves everything as it was. A call that succeeds is committed, unless the ledger's
 * journal was not empty when it came: then somebody outside holds a mark, and committing is his. Who rolls the ledger
 * back over calls made here calls cluster_resync afterwards, and keeps to pods, groups, nodes and budgets: classes,
 * namespaces, owners, objects of storage, sets of queues and placement rules are not in the journal.
 *
 * What the engine moved since an object was written (placed here and not bound there yet; evicted and not deleted yet;
 * a nomination) outlives a new version of the object that does not contradict it. A pod of the same name with another
 * uid is another pod.
 */
#pragma once

#include "cluster/placement.h"
#include "ledger/ledger.h"
#include "model/profile.h"

enum preemptibility_reach { REACH_KAI, REACH_ALL, REACH_OFF };

struct cluster_options { /* what resolving depends on */
	enum profile profile;
	int32_t preemptibility_threshold; /* 100 */
	enum preemptibility_reach reach;
	int64_t now_ns; /* for pods that run without saying since when; TIME_NONE: such pods have no start */
};
struct cluster_options cluster_options_default(void);

struct cluster;

struct cluster *cluster_new(struct vocab *v, const struct cluster_options *o);
void cluster_free(struct cluster *c);
struct ledger *cluster_ledger(const struct cluster *c);
const struct cluster_options *cluster_get_options(const struct cluster *c);
/*
 * For who follows a cluster: a start that is said from now on is of the future only if it is after this. Pods that do
 * not say since when they run are taken to have started when the cluster was made all the same: they must not start
 * again with everything that is heard of them.
 */
void cluster_set_now(struct cluster *c, int64_t now_ns);
int64_t cluster_now(const struct cluster *c); /* the latest it was told; TIME_NONE: nobody knows */
/* Other options: resolves everything again. */
void cluster_set_options(struct cluster *c, const struct cluster_options *o);
void cluster_resync(struct cluster *c);
/* What lists and tables took in advance is given back: for after many objects came at once. */
void cluster_trim(struct cluster *c);

/* Add or replace by name. The object is moved in on success and stays the caller's on failure. */
enum err_code cluster_put_node(struct cluster *c, struct obj_node *o, struct err *e);
enum err_code cluster_put_pod(struct cluster *c, struct obj_pod *o, struct err *e);
enum err_code cluster_put_group(struct cluster *c, struct obj_group *o, struct err *e);
enum err_code cluster_put_pdb(struct cluster *c, struct obj_pdb *o, struct err *e);
enum err_code cluster_put_class(struct cluster *c, struct obj_class *o, struct err *e);
enum err_code cluster_put_namespace(struct cluster *c, struct obj_namespace *o, struct err *e);
enum err_code cluster_put_owner(struct cluster *c, struct obj_owner *o, struct err *e);

/* Of storage (cluster/storage.h). They never fail. */
enum err_code cluster_put_pv(struct cluster *c, struct obj_pv *o, struct err *e);
enum err_code cluster_put_pvc(struct cluster *c, struct obj_pvc *o, struct err *e);
enum err_code cluster_put_storage_class(struct cluster *c, struct obj_storage_class *o, struct err *e);
enum err_code cluster_put_csi_node(struct cluster *c, struct obj_csi_node *o, struct err *e);
enum err_code cluster_put_csi_driver(struct cluster *c, struct obj_csi_driver *o, struct err *e);
enum err_code cluster_put_csi_capacity(struct cluster *c, struct obj_csi_capacity *o, struct err *e);
enum err_code cluster_put_attachment(struct cluster *c, struct obj_attachment *o, struct err *e);

void cluster_drop_pv(struct cluster *c, const char *name);
void cluster_drop_pvc(struct cluster *c, const char *ns, const char *name);
void cluster_drop_storage_class(struct cluster *c, const char *name);
void cluster_drop_csi_node(struct cluster *c, const char *name);
void cluster_drop_csi_driver(struct cluster *c, const char *name);
void cluster_drop_csi_capacity(struct cluster *c, const char *ns, const char *name);
void cluster_drop_attachment(struct cluster *c, const char *name);

void cluster_drop_node(struct cluster *c, const char *name);
void cluster_drop_pod(struct cluster *c, const char *ns, const char *name);
void cluster_drop_group(struct cluster *c, const char *ns, const char *name, bool is_k8s);
void cluster_drop_pdb(struct cluster *c, const char *ns, const char *name);
void cluster_drop_class(struct cluster *c, const char *name);
void cluster_drop_namespace(struct cluster *c, const char *name);
void cluster_drop_owner(struct cluster *c, const char *kind, const char *ns, const char *name);

/*
 * Queues come as whole sets, because they are validated as wholes: the queues of one source replace those of the same
 * source. A queue that loses its last source is drained, and dropped when no pod is in it: pods that have a node stay
 * in it, waiting ones are in none. Two definitions that disagree, and parents in a circle: ERR_CONFLICT, nothing
 * changed. A KAI queue whose parent is not there is left out with everything below it, with a warning.
 */
struct queue_def {
	const char *path;		   /* YuniKorn: "root.a.b" in lower case; KAI: NULL */
	const char *kai_name, *kai_parent; /* KAI: names of Queue objects; parent "" is a top queue */
	struct queue_spec spec;		   /* moved in on success */
	const char *where;		   /* "queues.yaml:12:9", for errors; may be NULL */
};
enum err_code cluster_put_queues(struct cluster *c, enum queue_source source, struct queue_def *defs, uint32_t n,
				 struct err *e);

/* The queues of one source as they were put, also those left out of the tree; for writing the cluster out again. */
const struct queue_def *cluster_queue_defs(const struct cluster *c, enum queue_source source, uint32_t *ret_n);

/*
 * YuniKorn's placement rules (placement.h), copied. Without rules, but with queues of YuniKorn, pods go where they say
 * ("provided"). Queues that a rule makes are made for the first pod and go with the last; what they have follows the
 * child template above them and the annotations of their pods' namespaces. They are found by rules that may create, and
 * by nobody else. root.default is never one of them. An expression that is none: ERR_INPUT, nothing changed.
 */
enum err_code cluster_put_placement(struct cluster *c, const struct placement_rule *rules, uint32_t n, struct err *e);
const struct placement_rule *cluster_placement(const struct cluster *c, uint32_t *ret_n);

/*
 * Pods that name a group, in no meaningful order; POD_NONE: no more. Whether they are its members, and not gone, says
 * the pod itself (state, group).
 */
pod_id cluster_group_first(const struct cluster *c, group_id g);
pod_id cluster_group_next(const struct cluster *c, pod_id pod);

/*
 * Gangs without a PodGroup are groups too, made for the first pod that says so and gone with the last. A PodGroup of
 * that name takes their place. Those whose time is over by now have no minimum any more: a journalled move, for who
 * decides at that time.
 */
void cluster_relax_gangs(struct cluster *c, int64_t now_ns);

/* Look-ups by the names people use. */
pod_id cluster_find_pod(const struct cluster *c, const char *ns, const char *name);
const struct obj_namespace *cluster_namespace(const struct cluster *c, name_id name); /* NULL */
const struct obj_class *cluster_class(const struct cluster *c, name_id name);
/* The class of a pod: the one it names, else the global default; NULL. Its policy and annotations count for the pod. */
const struct obj_class *cluster_pod_class(const struct cluster *c, const struct obj_pod *o);
const struct obj_owner *cluster_owner(const struct cluster *c, name_id kind, name_id ns, name_id name);
/* Of a pod: its controller, or what that was made by, as far as they are there; NULL. */
const struct obj_owner *cluster_top_owner(const struct cluster *c, const struct obj_pod *pod);
/* All services and owners with a selector in a namespace, for default spread. */
const struct obj_owner *const *cluster_selecting_owners(const struct cluster *c, name_id ns, uint32_t *ret_n);
/*
 * All classes, namespaces and owners in name order (owners: kind, namespace, name), for writing the cluster out again.
 * The first look at owners after a change sorts them, so it is for one thread.
 */
uint32_t cluster_class_count(const struct cluster *c);
const struct obj_class *cluster_class_at(const struct cluster *c, uint32_t i);
uint32_t cluster_namespace_count(const struct cluster *c);
const struct obj_namespace *cluster_namespace_at(const struct cluster *c, uint32_t i);
uint32_t cluster_owner_count(const struct cluster *c);
const struct obj_owner *cluster_owner_at(const struct cluster *c, uint32_t i);

/* Why a pod has no queue: the name it asked for ("" if it has one). */
const char *cluster_wanted_queue(const struct cluster *c, pod_id pod);
/* And what is wrong with it, in words ("there is no such queue"). */
const char *cluster_queue_trouble(const struct cluster *c, pod_id pod);
/* Is it of KAI's world (PP-9): in a PodGroup, or in a queue that a KAI Queue object defines? */
bool cluster_is_kai_world(const struct cluster *c, pod_id pod);

/*
 * Things worth a warning that resolving found ("pod a/b: unknown priority class x") and that are still so, each once;
 * cleared by reading. NULL: no more. The text is good until the next call.
 */
const char *cluster_next_warning(struct cluster *c);
