/* SPDX-License-Identifier: Apache-2.0 */
/* NodeUnschedulable: a cordoned node takes only pods that tolerate the taint a cordon stands for. */
#include "filters/builtin.h"

static const char *const reasons[] = {"node(s) were unschedulable"};

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	static const char key[] = "node.kubernetes.io/unschedulable";
	struct taint cordon = {.effect = EFFECT_NO_SCHEDULE};

	if (!ledger_node(c->ledger, node)->obj->is_unschedulable)
		return cede_ok();
	/* A key that nobody holds is named by no toleration; those for any key match all the same. */
	cordon.key = names_find(c->names, key, sizeof(key) - 1);
	if (tolerations_match(c->names, c->shape->tolerations, c->shape->n_tolerations, &cordon,
			      framework_args(c->framework)->toleration_bounds))
		return cede_ok();
	return cede_answer(CEDE_UNRESOLVABLE, 0, 0);
}

const struct cede_plugin node_unschedulable_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.flags = CEDE_FILTER_IS_STATIC,
	.name = "NodeUnschedulable",
	.filter = filter,
	.reasons = reasons,
	.n_reasons = sizeof(reasons) / sizeof(*reasons),
};
