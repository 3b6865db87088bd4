/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_view.h - a cluster as it stands, for people and for programs: the same facts as tables and as data.
 *
 * Everything is listed in an order that depends on names alone: queues as a tree by path, the rest by namespace and
 * name, resource types with GPUs first, then cpu, memory, and the others by name. What is shown of pods and groups
 * (queue, priority, preemptibility, start) is what the cluster resolved, not what the objects say.
 *
 * A view borrows the cluster: it is good until the cluster changes.
 */
#pragma once

#include "base/emit.h"
#include "cluster/cluster.h"
#include "explain/table.h"

typedef ARRAY(uint32_t) id_list32;

/* What is known of a queue beside what the ledger knows. */
struct queue_facts {
	struct res_vec wanted; /* what its waiting pods ask for, and those below it */
};

struct cluster_view {
	struct cluster *cluster;
	const struct ledger *ledger;
	const struct queue_tree *tree;
	const struct vocab *vocab;
	const struct names *names;
	const struct res_types *types;
	int64_t now_ns;
	id_list32 pods, nodes, queues, groups, budgets; /* in their orders */
	id_list32 res;					/* all resource types there are, most interesting first */
	uint32_t n_pods[POD_FINISHED + 1];		/* by state */
	uint32_t n_stray[POD_FINISHED + 1];		/* of these, in a queue that does not exist */
	uint32_t n_dropped;				/* of the finished, deleted before they got a place */
	struct queue_facts *queue_facts;		/* by id */
};

void cluster_view_init(struct cluster_view *v, struct cluster *c, int64_t now_ns);
/* The same without lists of pods, groups and budgets, of which there may be very many; pods are counted. */
void cluster_view_init_brief(struct cluster_view *v, struct cluster *c, int64_t now_ns);
/* Of pods, groups and budgets only those of a namespace. Queues and nodes stay: what they hold is everybody's. */
void cluster_view_narrow(struct cluster_view *v, const char *ns);
void cluster_view_free(struct cluster_view *v);

/* Tables. Wide ones also list what is running, every node and all types, however many there are. */
void cluster_view_text(const struct cluster_view *v, const struct look *look, bool is_wide, struct text *out);
/* One object, kind ClusterView. Amounts are exact quantities, times RFC 3339; what has no value is left out. */
void cluster_view_emit(const struct cluster_view *v, struct emit *e);
/* The same without nodes and pods, of which there may be very many. */
void cluster_view_emit_summary(const struct cluster_view *v, struct emit *e);
/* One of each, as in it. */
void view_emit_queue(struct emit *e, const struct cluster_view *v, queue_id id);
void view_emit_queue_fields(struct emit *e, const struct cluster_view *v,
			    queue_id id); /* into the object that is open */
void view_emit_node(struct emit *e, const struct cluster_view *v, node_id id);
void view_emit_pod(struct emit *e, const struct cluster_view *v, pod_id id);
void view_emit_pod_fields(struct emit *e, const struct cluster_view *v, pod_id id); /* into the object that is open */

/* ---- for the two of them ---- */

/* "ns/name", in a buffer that the next call with the same text overwrites. */
const char *view_pod_name(const struct cluster_view *v, const struct pod *p, struct text *buf);
const char *view_queue_path(const struct cluster_view *v, queue_id q);
const char *view_node_name(const struct cluster_view *v, node_id n);
/* "gpu" for nvidia.com/gpu, if no other type ends so. */
const char *view_short_type(const struct cluster_view *v, res_id r);
bool view_is_gpu(const struct cluster_view *v, res_id r); /* by its name */
/* What a pod takes where it is, or asks for where it waits. */
const struct res_list *view_pod_amounts(const struct cluster_view *v, const struct pod *p);
bool view_is_gated(const struct cluster_view *v, const struct pod *p);

/*
 * How a queue stands in a type it guarantees: more than that in use, or less while work that asks for it waits. A
 * guarantee of nothing, or without end, is none.
 */
enum standing { STANDING_FINE, STANDING_OVER, STANDING_SHORT };
enum standing view_standing(const struct cluster_view *v, queue_id q, res_id r);
/* The first type in which the node holds more than it has; RES_NONE. */
res_id view_overbooked(const struct cluster_view *v, node_id n);
