/* SPDX-License-Identifier: Apache-2.0 */
/* Cannot be set up without an argument `node`; with it, no pod may run anywhere else. */
#include "cede_plugin.h"

#include <stdio.h>
#include <string.h>

static char node_name[64];

static bool create(const struct cede_arg *args, size_t n_args, void **ret_self, char *why, size_t why_size)
{
	if (n_args != 1 || strcmp(args[0].key, "node") != 0) {
		snprintf(why, why_size, "args: expected node, got %zu others", n_args);
		return false;
	}
	snprintf(node_name, sizeof(node_name), "%s", args[0].value);
	*ret_self = node_name;
	return true;
}

static void destroy(void *self)
{
	memset(self, 0, sizeof(node_name));
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const char *wanted = self;

	return strcmp(cede_node_name(c, node), wanted) == 0 ? cede_ok() : cede_answer(CEDE_UNRESOLVABLE, 0, 0);
}

static const char *const reasons[] = {"node(s) were not the one"};

const struct cede_plugin cede_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.flags = CEDE_FILTER_IS_STATIC,
	.name = "needs-args",
	.create = create,
	.destroy = destroy,
	.filter = filter,
	.reasons = reasons,
	.n_reasons = 1,
};
