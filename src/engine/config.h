/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - everything the engine's answers depend on beside the cluster and the time.
 *
 * Plain data with defaults. Readers (manifest/) fill it from CedeConfiguration, KubeSchedulerConfiguration and KAI's
 * scheduler configuration; the engine only reads it. All memory is the config's own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/names.h"
#include "cluster/cluster.h"
#include "filters/settings.h"
#include "rules/judge.h"

enum opt_out_mode { OPT_OUT_SOFT, OPT_OUT_HARD };
enum guarantee_types { GUARANTEE_SHORT, GUARANTEE_ALL };

/* A plugin to load. */
struct plugin_file {
	const char *path, *where; /* where: "config.yaml:12:5" */
	uint32_t n_args;
	const char *const *arg_keys, *const *arg_values;
};

enum { KAI_ACTIONS = 5 };
#define KAI_ALL UINT32_MAX
struct kai_settings { /* profile kai, and what other profiles take from it */
	uint32_t n_actions;
	enum action actions[KAI_ACTIONS];
	int64_t staleness_grace_ns;    /* 60 s; negative: gangs below their minimum stay */
	bool gpu_spreads, cpu_spreads; /* nodeplacement: spread instead of binpack */
	double saturation;	       /* of plugin proportion; 1 */
	/* workloads one consolidation looks at; 16; -1: all, 0: no consolidation */
	int32_t max_consolidation_preemptees;
	uint32_t queue_depth[ACTION_COUNT]; /* workloads of each queue an action looks at, the first ones; KAI_ALL */
	uint64_t search_steps;		    /* after so many a search ends, and says so; 20 million */
	bool forbids_consolidating_reclaim; /* victims that get a new place count as lost all the same */
	bool has_no_predicates;		    /* plugin predicates left out: only room counts */
};

struct engine_config {
	struct arena *arena;
	struct name_bag bag; /* names in node terms; with some in it, the config must go before the vocab they are of */
	enum profile profile;
	uint32_t n_scheduler_names; /* none: all */
	const char *const *scheduler_names;
	/* rules */
	enum opt_out_mode opt_out;
	enum guarantee_types guarantee_types;
	int32_t preemptibility_threshold;
	enum preemptibility_reach preemptibility_reach;
	bool min_runtime_covers_consolidation; /* true */
	uint64_t rules_off; /* bit set of enum rule_id: as if they were not there; for asking "what if" alone */
	struct thrash_settings thrash;		 /* 2, 4 within 6h, 10m */
	uint32_t evictions_per_hour;		 /* of a queue; 0: as many as it takes */
	struct min_runtime_settings min_runtime; /* 0s, 0s, lca unless set */
	/* actions */
	enum reclaim_by reclaim_by;
	bool evicts_through_api; /* for who carries it out: victims by the Eviction API, instead of deletions */
	int64_t patience_ns;	 /* room of a pod that should have gone longer ago than this is not counted on; 5 min */
	struct kai_settings kai;
	/* a YuniKorn partition's preemption.enabled: false, quotapreemptionenabled: true */
	bool reclaim_is_off, quota_is_on;
	/* kube-scheduler */
	uint32_t n_kube_profiles; /* at least one */
	struct kube_profile *kube_profiles;
	int64_t initial_backoff_ns, max_backoff_ns; /* 1 s, 10 s */
	uint32_t n_plugins;
	const struct plugin_file *plugins;
	uint32_t threads; /* 1 unless told */
	/* nothing is kept from one decision to the next, nothing skipped: slower, the same answers; for tests */
	bool looks_at_all;
	bool keeps_of_few; /* searches over few nodes keep what they found, as those over many do; for tests */
};

struct engine_config *engine_config_new(void); /* defaults */
void engine_config_free(struct engine_config *c);
/* The profile for a pod's schedulerName; the first if none has that name. */
const struct kube_profile *engine_config_kube_profile(const struct engine_config *c, const char *scheduler_name);
/* What reclaim goes by: in profile default as configured, in others as the profile has it. */
enum reclaim_by engine_config_reclaims_by(const struct engine_config *c);
struct cluster_options engine_config_cluster_options(const struct engine_config *c, int64_t now_ns);
