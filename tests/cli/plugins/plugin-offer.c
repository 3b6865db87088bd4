/* SPDX-License-Identifier: Apache-2.0 */
/* Where no node fits, a label of the waiting pod tells it what to say: offer=NODE, or offer=none (nothing helps). */
#include "cede_plugin.h"

#include <string.h>

static struct cede_verdict post_filter(void *self, struct cede_cycle *c, cede_node *ret_node)
{
	const char *offer = cede_pod_label(c, cede_cycle_pod(c), "offer");

	(void)self;
	if (!offer)
		return cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
	for (size_t i = 0; i < cede_node_count(c); i++) {
		if (strcmp(cede_node_name(c, cede_node_at(c, i)), offer) != 0)
			continue;
		*ret_node = cede_node_at(c, i);
		return cede_ok();
	}
	return cede_answer(CEDE_UNRESOLVABLE, 0, 0);
}

static const char *const reasons[] = {"the pod is labelled to wait"};

const struct cede_plugin cede_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "offer",
	.post_filter = post_filter,
	.reasons = reasons,
	.n_reasons = 1,
};
