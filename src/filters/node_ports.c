/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodePorts: two pods on a node cannot have the same host port of the same protocol on the same address, and all
 * addresses is the same as any.
 *
 * The ports in use are read off the node's pods at each call, so of two pods that share a port (which only the kubelet
 * could have allowed) the one left behind still holds it.
 */
#include "filters/builtin.h"

static const char *const reasons[] = {"node(s) didn't have free ports for the requested pod ports"};

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	return c->shape->n_ports ? cede_ok() : cede_answer(CEDE_SKIP, 0, 0);
}

static bool ports_clash(const struct host_port *a, const struct host_port *b)
{
	return a->port == b->port && a->protocol == b->protocol &&
	       (a->ip == b->ip || a->ip == NAME_NONE || b->ip == NAME_NONE);
}

static bool shapes_clash(const struct shape *a, const struct shape *b)
{
	for (uint32_t i = 0; i < a->n_ports; i++)
		for (uint32_t k = 0; k < b->n_ports; k++)
			if (ports_clash(&a->ports[i], &b->ports[k]))
				return true;
	return false;
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const pod_list *pods = &ledger_node(c->ledger, node)->pods;

	if (!c->shape->n_ports)
		return cede_ok();
	for (uint32_t i = 0; i < pods->n; i++) {
		const struct shape *there = shape_get(c->vocab, ledger_pod(c->ledger, pods->v[i])->shape);

		if (there->n_ports && shapes_clash(c->shape, there))
			return cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
	}
	return cede_ok();
}

const struct cede_plugin node_ports_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "NodePorts",
	.pre_filter = pre_filter,
	.filter = filter,
	.reasons = reasons,
	.n_reasons = sizeof(reasons) / sizeof(*reasons),
};
