/* SPDX-License-Identifier: Apache-2.0 */
/*
 * settings.h - which plugins run where, with which weights and arguments: the part of KubeSchedulerConfiguration v1
 * that filters and scores obey. Plain data; whoever fills it owns the memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/shape.h"

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
	const char *name;  /* "*" in disabled means all */
	int32_t weight;	   /* 0: not given */
	const char *where; /* "file:line:column" of it; NULL: in no file */
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

/* All plugins' arguments, with their defaults. */
struct plugin_args {
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
	int64_t bind_timeout_seconds; /* 600: how long who binds a pod waits for its volumes; plans do not wait */
	/* Feature gates a fact may switch. */
	bool toleration_bounds;		/* TaintTolerationComparisonOperators on */
	bool spread_ignores_match_keys; /* MatchLabelKeysInPodTopologySpread off */
};

struct kube_profile {
	const char *scheduler_name; /* "default-scheduler" */
	struct plugin_set points[POINT_COUNT];
	struct plugin_args args;
};

void plugin_args_default(struct plugin_args *a);
