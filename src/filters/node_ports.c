/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NodePorts: two pods on a node cannot have the same host port of the same protocol on the same address, and all
 * addresses is the same as any.
 *
 * The ports in use are those of the node's pods, counted one by one: of two pods that share a port (which only the
 * kubelet could have allowed) the one left behind still holds it. Few pods have host ports, so a memo tells for most
 * nodes at once that none can clash.
 */
#include "filters/builtin.h"
#include "filters/node_memo.h"

static const char *const reasons[] = {"node(s) didn't have free ports for the requested pod ports"};

/* A bit for each port, by its number alone: sets that share no bit share no port. */
static uint64_t port_bits(const struct shape *s)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; i < s->n_ports; i++)
		bits |= UINT64_C(1) << (s->ports[i].port % 64);
	return bits;
}

static const struct shape *shape_at(const struct cede_cycle *c, pod_id pod)
{
	return shape_get(c->vocab, ledger_pod(c->ledger, pod)->shape);
}

static void sum_ports(const struct cede_cycle *c, const struct ledger_node *n, struct memo_sums *ret)
{
	for (uint32_t i = 0; i < n->pods.n; i++)
		ret->a |= (int64_t)port_bits(shape_at(c, n->pods.v[i]));
}

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	if (!c->shape->n_ports)
		return cede_answer(CEDE_SKIP, 0, 0);
	if (!c->has_node_set)
		node_memo_refresh(self, c, c->nodes, c->n_nodes, sum_ports);
	return cede_ok();
}

static bool ports_clash(const struct host_port *a, const struct host_port *b)
{
	return a->port == b->port && a->protocol == b->protocol &&
	       (a->ip == b->ip || a->ip == NAME_NONE || b->ip == NAME_NONE);
}

bool host_ports_clash(const struct shape *a, const struct shape *b)
{
	for (uint32_t i = 0; i < a->n_ports; i++)
		for (uint32_t k = 0; k < b->n_ports; k++)
			if (ports_clash(&a->ports[i], &b->ports[k]))
				return true;
	return false;
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct memo_sums *known = node_memo_find(self, c, node);
	const pod_list *pods = &ledger_node(c->ledger, node)->pods;

	if (known && !((uint64_t)known->a & port_bits(c->shape)))
		return cede_ok();
	for (uint32_t i = 0; i < pods->n; i++)
		if (host_ports_clash(c->shape, shape_at(c, pods->v[i])))
			return cede_answer(CEDE_UNSCHEDULABLE, 0, 0);
	return cede_ok();
}

const struct cede_plugin node_ports_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "NodePorts",
	.create = node_memo_create,
	.destroy = node_memo_destroy,
	.pre_filter = pre_filter,
	.filter = filter,
	.reasons = reasons,
	.n_reasons = sizeof(reasons) / sizeof(*reasons),
};
