/* SPDX-License-Identifier: Apache-2.0 */
/* A score of 1000 where 100 is the most. */
#include "cede_plugin.h"

static int64_t score(void *self, const struct cede_cycle *c, cede_node node)
{
	(void)self, (void)c, (void)node;
	return 1000;
}

const struct cede_plugin cede_plugin = {.abi = CEDE_PLUGIN_ABI, .name = "wild-score", .score = score};
