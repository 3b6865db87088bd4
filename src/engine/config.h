/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - everything the engine's answers depend on beside the cluster and the time.
 *
 * Plain data with defaults. Readers (manifest/) fill it from CedeConfiguration, KubeSchedulerConfiguration and KAI's scheduler
 * configuration; the engine only reads it. All memory is the config's own arena.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "ledger/cluster.h"

enum opt_out_mode { OPT_OUT_SOFT, OPT_OUT_HARD };
enum guarantee_types { GUARANTEE_SHORT, GUARANTEE_ALL };
enum reclaim_by { RECLAIM_GUARANTEE, RECLAIM_FAIR_SHARE };

/* ---- kube-scheduler's part (KubeSchedulerConfiguration v1) ---- */

enum plugin_point {
	POINT_MULTI,
	POINT_PRE_ENQUEUE,
	POINT_QUEUE_SORT,
	POINT_PRE_FILTER,
	POINT_FILTER,
	POINT_POST_FILTER,
	POINT_PRE_SCORE,
	POINT_SCORE,
	POINT_RESERVE,
	POINT_PERMIT,
	POINT_PRE_BIND,
	POINT_BIND,
	POINT_POST_BIND,
	POINT_COUNT,
};

struct plugin_ref {
	const char *name; /* "*" in disabled means all */
	int32_t weight;	  /* 0: not given */
};

struct plugin_set {
	uint32_t n_enabled, n_disabled;
	const struct plugin_ref *enabled, *disabled;
};

enum fit_strategy { FIT_LEAST_ALLOCATED, FIT_MOST_ALLOCATED, FIT_REQUESTED_TO_CAPACITY };

struct weighted_resource {
	const char *name;
	int64_t weight;
};
struct shape_point {
	int32_t utilization, score;
};

struct default_spread { /* a default constraint: no selector */
	int32_t max_skew;
	const char *topology_key;
	bool is_hard;
};

struct plugin_args { /* all plugins' arguments, with their defaults */
	int32_t hard_pod_affinity_weight; /* 1 */
	bool ignore_preferred_terms_of_existing_pods;
	bool has_added_affinity; /* NodeAffinityArgs.addedAffinity */
	bool has_added_required;
	struct node_terms added_required;
	uint32_t n_added_preferred;
	const struct preferred_node_term *added_preferred;
	uint32_t n_ignored_resources, n_ignored_groups;
	const char *const *ignored_resources, *const *ignored_groups;
	enum fit_strategy fit_strategy;
	uint32_t n_fit_resources; /* cpu 1, memory 1 */
	const struct weighted_resource *fit_resources;
	uint32_t n_fit_shape;
	const struct shape_point *fit_shape;
	uint32_t n_balanced_resources; /* cpu 1, memory 1 */
	const struct weighted_resource *balanced_resources;
	bool spread_defaults_are_listed; /* defaultingType List; else System */
	uint32_t n_default_spreads;
	const struct default_spread *default_spreads;
	int32_t min_candidate_percentage, min_candidate_absolute; /* 10, 100: read and kept; cede looks at all nodes */
	/* Feature gates a fact may switch on. */
	bool toleration_bounds; /* TaintTolerationComparisonOperators */
};

struct kube_profile {
	const char *scheduler_name; /* "default-scheduler" */
	struct plugin_set points[POINT_COUNT];
	struct plugin_args args;
};

struct plugin_file { /* a plugin to load */
	const char *path, *where; /* where: "config.yaml:12:5" */
	uint32_t n_args;
	const char *const *arg_keys, *const *arg_values;
};

struct engine_config {
	struct arena *arena;
	enum profile profile;
	uint32_t n_scheduler_names; /* none: all */
	const char *const *scheduler_names;
	/* rules */
	enum opt_out_mode opt_out;
	enum guarantee_types guarantee_types;
	int32_t preemptibility_threshold;
	enum preemptibility_reach preemptibility_reach;
	bool min_runtime_covers_consolidation; /* true */
	/* actions */
	enum reclaim_by reclaim_by;
	/* kube-scheduler */
	uint32_t n_kube_profiles; /* at least one */
	struct kube_profile *kube_profiles;
	int64_t initial_backoff_ns, max_backoff_ns; /* 1 s, 10 s */
	uint32_t n_plugins;
	const struct plugin_file *plugins;
	uint32_t threads; /* 1 unless told */
};

struct engine_config *engine_config_new(void); /* defaults */
void engine_config_free(struct engine_config *c);
void plugin_args_default(struct plugin_args *a);
/* The profile for a pod's schedulerName; the first if none has that name. */
const struct kube_profile *engine_config_kube_profile(const struct engine_config *c, const char *scheduler_name);
struct cluster_options engine_config_cluster_options(const struct engine_config *c, int64_t now_ns);
