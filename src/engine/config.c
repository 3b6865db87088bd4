/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/config.h"

#include "base/text.h"

struct engine_config *engine_config_new(void)
{
	struct arena *a = arena_new(4096);
	struct engine_config *c = arena_type(a, struct engine_config);

	*c = (struct engine_config){
		.arena = a,
		.profile = PROFILE_DEFAULT,
		.preemptibility_threshold = 100,
		.preemptibility_reach = REACH_KAI,
		.min_runtime_covers_consolidation = true,
		.patience_ns = 300 * NS_PER_S,
		.thrash = {.soft = 2, .hard = 4, .window_ns = 21600 * NS_PER_S, .protection_ns = 600 * NS_PER_S},
		.kai = {.n_actions = KAI_ACTIONS,
			.actions = {ACTION_ALLOCATE, ACTION_CONSOLIDATE, ACTION_RECLAIM, ACTION_PREEMPT,
				    ACTION_STALE_GANG},
			.staleness_grace_ns = 60 * NS_PER_S,
			.saturation = 1,
			.search_steps = 20000000,
			.max_consolidation_preemptees = 16},
		.n_kube_profiles = 1,
		.kube_profiles = arena_type(a, struct kube_profile),
		.initial_backoff_ns = 1 * NS_PER_S,
		.max_backoff_ns = 10 * NS_PER_S,
		.threads = 1,
	};
	for (int i = 0; i < ACTION_COUNT; i++)
		c->kai.queue_depth[i] = KAI_ALL;
	c->kube_profiles[0].scheduler_name = "default-scheduler";
	plugin_args_default(&c->kube_profiles[0].args);
	return c;
}

void engine_config_free(struct engine_config *c)
{
	if (!c)
		return;
	name_bag_drop(&c->bag);
	arena_free(c->arena);
}

const struct kube_profile *engine_config_kube_profile(const struct engine_config *c, const char *scheduler_name)
{
	for (uint32_t i = 0; i < c->n_kube_profiles; i++)
		if (str_eq(c->kube_profiles[i].scheduler_name, scheduler_name))
			return &c->kube_profiles[i];
	return &c->kube_profiles[0];
}

struct cluster_options engine_config_cluster_options(const struct engine_config *c, int64_t now_ns)
{
	struct cluster_options o = cluster_options_default();

	o.profile = c->profile;
	o.preemptibility_threshold = c->preemptibility_threshold;
	o.reach = c->preemptibility_reach;
	o.now_ns = now_ns;
	return o;
}

enum reclaim_by engine_config_reclaims_by(const struct engine_config *c)
{
	return c->profile == PROFILE_DEFAULT ? c->reclaim_by : profile_get(c->profile)->reclaim_by;
}
