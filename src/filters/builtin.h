/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin.h - the tables of cede's own plugins, one file each, in the default order of kube-scheduler, with the default
 * weights of their scores.
 *
 * A filter that refuses says whether taking pods away could help: UNSCHEDULABLE it could, UNRESOLVABLE it could not.
 * Texts of reasons are kube-scheduler's, byte for byte. Unlike a plugin from outside, these read the cycle, the ledger
 * and the cluster directly. Filters and scores also answer if their pre_filter or pre_score did not run (a profile may
 * leave them out); they are only slower then.
 */
#pragma once

#include "filters/framework.h"

/* X(table, weight of its score; 0: it has none). Filters run in this order: the first to fail on a node is reported. */
#define BUILTIN_PLUGINS(X)               \
	X(scheduling_gates_plugin, 0)    \
	X(priority_sort_plugin, 0)       \
	X(node_name_plugin, 0)           \
	X(node_unschedulable_plugin, 0)  \
	X(taint_toleration_plugin, 3)    \
	X(node_affinity_plugin, 2)       \
	X(node_ports_plugin, 0)          \
	X(resources_fit_plugin, 1)       \
	X(volume_restrictions_plugin, 0) \
	X(node_volume_limits_plugin, 0)  \
	X(volume_binding_plugin, 0)      \
	X(volume_zone_plugin, 0)         \
	X(pod_topology_spread_plugin, 2) \
	X(inter_pod_affinity_plugin, 2)  \
	X(default_preemption_plugin, 0)  \
	X(balanced_allocation_plugin, 1) \
	X(image_locality_plugin, 1)      \
	X(default_binder_plugin, 0)

#define BUILTIN_DECLARE(table, weight) extern const struct cede_plugin table;
BUILTIN_PLUGINS(BUILTIN_DECLARE)
#undef BUILTIN_DECLARE

/* Default weight of a built-in's score, as above; 0 for any other table. */
int32_t builtin_weight(const struct cede_plugin *p);

/* NodePorts: do pods of these two shapes want the same port? */
bool host_ports_clash(const struct shape *a, const struct shape *b);
/*
 * InterPodAffinity, PodTopologySpread: may it matter to the filter whether this pod, which runs, is on its node? Said
 * by its label set and shape alone.
 */
bool affinity_cares(const struct cede_cycle *c, const struct pod *p);
bool spread_cares(const struct cede_cycle *c, const struct pod *p);
/* InterPodAffinity: does somebody keep the pod away from the node who holds reserved room, and stays whoever goes? */
bool affinity_is_held(const struct cede_cycle *c, node_id node);
/*
 * PodTopologySpread: may it matter to the filter that somebody goes who runs on the node, or a group of which one does?
 * Asked while nothing is moved.
 */
bool spread_may_be_helped(const struct cede_cycle *c, node_id node);
/* PodTopologySpread: a wary pod holds reserved room on the node now, or no longer does. */
void spread_pod_holds(struct cede_cycle *c, pod_id pod, node_id node, bool holds);
/* PodTopologySpread: would it refuse the node, if these had come who hold room there? Asked while nothing is moved. */
bool spread_refuses(struct cede_cycle *c, node_id node, const pod_id *holders, uint32_t n);
/* NodeResourcesFit: is the profile told not to look at this type? */
bool resources_fit_ignores(const struct cede_cycle *c, res_id type);

/*
 * Brings scores into 0..CEDE_SCORE_MAX in proportion to the largest, cutting fractions; reversed: the largest gets 0
 * and 0 the most. Where all are 0 they stay, or all get the most.
 */
static inline void scores_to_percent(int64_t *scores, size_t n, bool is_reversed)
{
	int64_t max = 0;

	for (size_t i = 0; i < n; i++)
		max = scores[i] > max ? scores[i] : max;
	for (size_t i = 0; i < n; i++) {
		int64_t s = max ? CEDE_SCORE_MAX * scores[i] / max : 0;

		scores[i] = is_reversed ? CEDE_SCORE_MAX - s : s;
	}
}
