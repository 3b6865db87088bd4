/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TaintToleration: a pod needs a toleration for every NoSchedule and NoExecute taint of its node, and is better off on
 * nodes with few PreferNoSchedule taints that it does not tolerate.
 */
#include "filters/builtin.h"

static const char *const reasons[] = {"node(s) had untolerated taint(s)"};

static bool is_tolerated(const struct cede_cycle *c, const struct taint *t)
{
	return tolerations_match(c->names, c->shape->tolerations, c->shape->n_tolerations, t,
				 framework_args(c->framework)->toleration_bounds);
}

/* detail: which of the node's taints. */
static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct obj_node *o = ledger_node(c->ledger, node)->obj;

	for (uint32_t i = 0; i < o->n_taints; i++)
		if (o->taints[i].effect != EFFECT_PREFER_NO_SCHEDULE && !is_tolerated(c, &o->taints[i]))
			return cede_answer(CEDE_UNRESOLVABLE, 0, i);
	return cede_ok();
}

static int64_t score(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct obj_node *o = ledger_node(c->ledger, node)->obj;
	int64_t n = 0;

	for (uint32_t i = 0; i < o->n_taints; i++)
		n += o->taints[i].effect == EFFECT_PREFER_NO_SCHEDULE && !is_tolerated(c, &o->taints[i]);
	return n;
}

static void normalize(void *self, const struct cede_cycle *c, const cede_node *nodes, int64_t *scores, size_t n)
{
	scores_to_percent(scores, n, true);
}

const struct cede_plugin taint_toleration_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.flags = CEDE_FILTER_IS_STATIC,
	.name = "TaintToleration",
	.filter = filter,
	.score = score,
	.normalize = normalize,
	.reasons = reasons,
	.n_reasons = sizeof(reasons) / sizeof(*reasons),
};
