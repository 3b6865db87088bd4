/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodeResourcesBalancedAllocation: prefers the node whose resources the pod would bring to more even use.
 *
 * Balance is 100 less the standard deviation of the used fractions in percent. The score is the change the pod makes:
 * half of the scale for no change, more for better balance, less for worse. It counts what is really asked for, without
 * defaults, and says nothing about pods that ask for nothing: they would all go to one node.
 */
#include "filters/builtin.h"
#include "filters/scored.h"

#include <math.h>

static double deviation(const double *v, uint32_t n)
{
	double mean = 0, sum = 0;

	if (n < 2)
		return 0;
	if (n == 2)
		return fabs((v[0] - v[1]) / 2);
	for (uint32_t i = 0; i < n; i++)
		mean += v[i];
	mean /= n;
	for (uint32_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sqrt(sum / n);
}

static int64_t balance(const struct scored *s, const int64_t *has, const int64_t *used, bool with_pod)
{
	double fractions[RES_MAX];
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct scored_type *t = &s->v[i];
		int64_t in_use = used[t->type] + (with_pod ? t->asked : 0);

		if (has[t->type])
			fractions[n++] = fmin((double)in_use / (double)has[t->type], 1);
	}
	return (int64_t)((1 - deviation(fractions, n)) * CEDE_SCORE_MAX);
}

static bool asks_something(const struct scored *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->v[i].asked)
			return true;
	return false;
}

static struct cede_verdict pre_score(void *self, struct cede_cycle *c, const cede_node *nodes, size_t n)
{
	const struct plugin_args *args = framework_args(c->framework);
	struct scored *s = cede_alloc(c, sizeof(*s));

	scored_keep(s, c, args->balanced_resources, args->n_balanced_resources, false);
	if (!asks_something(s))
		return cede_answer(CEDE_SKIP, 0, 0);
	cede_set_state(c, &balanced_allocation_plugin, s);
	return cede_ok();
}

static int64_t score(void *self, const struct cede_cycle *c, cede_node node)
{
	const int64_t *has = ledger_node_allocatable(c->ledger, node), *used = ledger_node_used(c->ledger, node);
	const struct scored *s = cede_get_state(c, &balanced_allocation_plugin);
	const struct plugin_args *args = framework_args(c->framework);
	struct scored_type room[RES_MAX];
	struct scored own = {.v = room};

	if (!s) {
		scored_init(&own, c, args->balanced_resources, args->n_balanced_resources, false);
		s = &own;
		if (!asks_something(s))
			return 0;
	}
	return CEDE_SCORE_MAX / 2 +
	       (CEDE_SCORE_MAX / 2 + balance(s, has, used, true) - balance(s, has, used, false)) / 2;
}

const struct cede_plugin balanced_allocation_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "NodeResourcesBalancedAllocation",
	.pre_score = pre_score,
	.score = score,
};
