/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PrioritySort: higher priority first, then the older pod, then by namespace and name.
 *
 * Older is by creation. Pods that come back after a failed attempt are put behind others of their priority by the
 * waiting queue, which knows when they came back.
 */
#include "filters/builtin.h"

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Unknown is after all known: such a pod has not been written yet. */
static int64_t born(const struct pod *p)
{
	return p->created_ns == TIME_NONE ? INT64_MAX : p->created_ns;
}

static int queue_sort(void *self, const struct cede_cycle *c, cede_pod a, cede_pod b)
{
	const struct pod *pa = ledger_pod(c->ledger, a), *pb = ledger_pod(c->ledger, b);
	int d = compare(pb->priority, pa->priority);

	if (!d)
		d = compare(born(pa), born(pb));
	if (!d)
		d = name_cmp(c->names, labelset_get(c->vocab, pa->labelset)->ns,
			     labelset_get(c->vocab, pb->labelset)->ns);
	return d ? d : name_cmp(c->names, pa->name, pb->name);
}

const struct cede_plugin priority_sort_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "PrioritySort",
	.queue_sort = queue_sort,
};
