/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/settings.h"

void plugin_args_default(struct plugin_args *a)
{
	static const struct weighted_resource cpu_and_memory[] = {{"cpu", 1}, {"memory", 1}};

	*a = (struct plugin_args){
		.hard_pod_affinity_weight = 1,
		.fit_strategy = FIT_LEAST_ALLOCATED,
		.n_fit_resources = 2,
		.fit_resources = cpu_and_memory,
		.n_balanced_resources = 2,
		.balanced_resources = cpu_and_memory,
		.min_candidate_percentage = 10,
		.min_candidate_absolute = 100,
		.bind_timeout_seconds = 600,
	};
}
