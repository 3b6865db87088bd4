/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeName: a pod that names its node (spec.nodeName) runs there or nowhere.
 *
 * Not CEDE_FILTER_IS_STATIC, though it looks so: the name is not part of a pod's shape, and static answers are kept by
 * shape.
 */
#include "filters/builtin.h"

static const char *const reasons[] = {"node(s) didn't match the requested node name"};

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	name_id wanted = c->p->obj->node_name;

	if (wanted == NAME_NONE)
		return cede_answer(CEDE_SKIP, 0, 0);
	cycle_restrict_names(c, &node_name_plugin, &wanted, 1);
	return cede_ok();
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	name_id wanted = c->p->obj->node_name;

	if (wanted == NAME_NONE || wanted == ledger_node(c->ledger, node)->name)
		return cede_ok();
	return cede_answer(CEDE_UNRESOLVABLE, 0, 0);
}

const struct cede_plugin node_name_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "NodeName",
	.pre_filter = pre_filter,
	.filter = filter,
	.reasons = reasons,
	.n_reasons = sizeof(reasons) / sizeof(*reasons),
};
