/* SPDX-License-Identifier: Apache-2.0 */
/* The list of built-in plugins. */
#include "filters/builtin.h"

/* Preemption is the engine's own work: the table is the name by which a profile switches it on and off. */
const struct cede_plugin default_preemption_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "DefaultPreemption",
};

#define TABLE(table, weight) &(table),
const struct cede_plugin *const builtin_plugins[] = {BUILTIN_PLUGINS(TABLE)};
#undef TABLE
const size_t builtin_plugin_count = sizeof(builtin_plugins) / sizeof(*builtin_plugins);

#define WEIGHT(table, weight) weight,
static const int32_t weights[] = {BUILTIN_PLUGINS(WEIGHT)};
#undef WEIGHT

int32_t builtin_weight(const struct cede_plugin *p)
{
	for (size_t i = 0; i < builtin_plugin_count; i++)
		if (builtin_plugins[i] == p)
			return weights[i];
	return 0;
}
