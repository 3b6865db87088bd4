/* SPDX-License-Identifier: Apache-2.0 */
/* PodTopologySpread: the name alone; the constraints are not looked at here yet. */
#include "filters/builtin.h"

const struct cede_plugin pod_topology_spread_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "PodTopologySpread",
};
