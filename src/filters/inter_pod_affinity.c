/* SPDX-License-Identifier: Apache-2.0 */
/* InterPodAffinity: the name alone; the terms are not looked at here yet. */
#include "filters/builtin.h"

const struct cede_plugin inter_pod_affinity_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "InterPodAffinity",
};
