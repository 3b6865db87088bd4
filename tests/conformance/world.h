/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - the cluster of a fact and a framework on it, for facts about filters, scores and preemption.
 *
 *	struct world w;
 *	if (world_open(&w, f) && world_only(&w, names, n) && world_begin(&w, tree)) ...
 *	world_close(&w);
 *
 * Every step that fails says so in the fact and gives false. Objects may lack what an API server would have filled in;
 * an object without a namespace is in the namespace "". The ledger checks itself after every move.
 */
#pragma once

#include "conform.h"
#include "engine/config.h"
#include "filters/framework.h"

struct world {
	struct fact *f;
	struct vocab *vocab;
	struct cluster *cluster;
	struct ledger *ledger;
	struct engine_config *config; /* its only kube profile is the fact's */
	struct kube_profile *profile;
	struct framework *framework;
	struct arena *cycle_arena;
	struct cede_cycle cycle;
	bool is_begun;
};

extern const int64_t world_now_ns;

/* Takes in nodes, namespaces, groups, pods, budgets and other objects. On false the world is open all the same. */
bool world_open(struct world *w, struct fact *f);
void world_close(struct world *w);

bool world_put_node(struct world *w, const struct tree *t);
bool world_put_group(struct world *w, const struct tree *t);
/*
 * A pod as written; with is_waiting without its node, so that it waits to be placed. POD_NONE if it could not be read.
 */
pod_id world_put_pod(struct world *w, const struct tree *t, bool is_waiting);
/* As written, with another name (NULL: its own). */
pod_id world_put_named(struct world *w, const struct tree *t, const char *name);
/* As written, in a PodGroup whatever the pod says. */
pod_id world_put_member(struct world *w, const struct tree *t, const char *group);
/* As with world_put_pod, onto a node whatever the pod says. */
pod_id world_put_pod_on(struct world *w, const struct tree *t, const char *node);

/* Arguments of a plugin, as a KubeSchedulerConfiguration has them. */
enum err_code world_args(struct world *w, const char *plugin, const struct tree *args, struct err *e);
/* Feature gates that change what filters do. */
void world_features(struct world *w);
/* A profile of these plugins alone; a point in without (a bit of enum plugin_point) runs none of them. */
bool world_only(struct world *w, const struct tree *plugins, uint32_t without);
bool world_only_one(struct world *w, const char *plugin, uint32_t without);
/*
 * The default profile but for some plugins; names that cede does not have are fine.
 * world_disable makes the profile and no framework.
 */
void world_disable(struct world *w, const struct tree *disabled);
bool world_default(struct world *w, const struct tree *disabled);

/* A cycle for a pod that waits: reads it, puts it into the cluster, runs PreFilter. */
bool world_begin(struct world *w, const struct tree *pod);
bool world_begin_id(struct world *w, pod_id pod);
void world_end(struct world *w);

node_id world_node(const struct world *w, const char *name); /* NODE_NONE: no such live node */
const char *world_node_name(const struct world *w, node_id node);
const char *world_pod_name(const struct world *w, pod_id pod);

/*
 * "Unschedulable: Insufficient cpu, Insufficient memory": a status in words, of the fact and of cede.
 * In the fact's arena.
 */
const char *status_words(const struct world *w, const struct status *s);
const char *status_words_expected(const struct fact *f, const struct tree *t);
void same_status(struct world *w, const char *what, const struct tree *expected, const struct status *got);
bool status_code_parse(const char *s, enum cede_code *ret);
const char *status_code_name(const struct status *s);
