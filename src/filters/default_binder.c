/* SPDX-License-Identifier: Apache-2.0 */
/* DefaultBinder: agrees to every node. The binding itself is written by whoever carries decisions out. */
#include "filters/builtin.h"

static struct cede_verdict bind_pod(void *self, struct cede_cycle *c, cede_node node)
{
	return cede_ok();
}

const struct cede_plugin default_binder_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "DefaultBinder",
	.bind = bind_pod,
};
