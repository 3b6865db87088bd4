/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/movable.h"

/* They go by the pod, its queue, the time and the queue that is moved for; not by who else has a place. */
static const uint64_t rules_of_pods = UINT64_C(1) << RULE_FOREIGN | UINT64_C(1) << RULE_DAEMONSET |
				      UINT64_C(1) << RULE_POLICY | UINT64_C(1) << RULE_MIN_RUNTIME;

void movable_free(struct movable *m)
{
	bits_free(&m->nodes);
	bits_free(&m->pods);
}

static void ask_for(struct movable *m, pod_id waiting)
{
	struct rule_settings settings = engine_rule_settings(m->en);
	queue_id queue = ledger_pod(m->en->ledger, waiting)->queue;

	if (m->judge.cluster && m->queue == queue)
		return;
	judge_init(&m->judge, m->en->cluster, m->en->ledger, &settings, ACTION_CONSOLIDATE, waiting, m->now_ns,
		   &m->en->scratch);
	m->judge.on &= rules_of_pods;
	m->queue = queue;
	bits_reset(&m->nodes);
	bits_reset(&m->pods);
}

static void ask_pods(struct movable *m, node_id node, const struct ledger_node *n)
{
	if (bits_has(&m->nodes, node))
		return;
	bits_set(&m->nodes, node);
	for (uint32_t i = 0; i < n->pods.n; i++)
		if (ledger_pod(m->en->ledger, n->pods.v[i])->state == POD_PLACED &&
		    judge_victim(&m->judge, n->pods.v[i]).answer != IS_PROTECTED)
			bits_set(&m->pods, n->pods.v[i]);
}

static void add_usage(const struct res_list *usage, const struct res_list *request, int64_t *room)
{
	for (uint32_t i = 0; i < request->n; i++)
		room[i] += res_list_get(usage, request->v[i].type);
}

/* At most so many the node would have, when whoever is leaving has left. */
static uint32_t places(struct movable *m, node_id node, const struct res_list *request)
{
	const struct ledger *l = m->en->ledger;
	const struct ledger_node *n = ledger_node(l, node);
	const int64_t *has = ledger_node_allocatable(l, node), *used = ledger_node_used(l, node),
		      *leaving = ledger_node_leaving(l, node);
	int64_t room[RES_MAX], least = has[RES_PODS];

	for (uint32_t i = 0; i < request->n; i++) {
		res_id r = request->v[i].type;

		room[i] = has[r] - used[r] + leaving[r];
	}
	ask_pods(m, node, n);
	for (uint32_t i = 0; i < n->pods.n; i++)
		if (bits_has(&m->pods, n->pods.v[i]))
			add_usage(&shape_get(ledger_vocab(l), ledger_pod(l, n->pods.v[i])->shape)->usage, request,
				  room);
	for (uint32_t i = 0; i < request->n; i++)
		if (request->v[i].amount > 0 && room[i] / request->v[i].amount < least)
			least = room[i] / request->v[i].amount;
	return least < 0 ? 0 : least > UINT32_MAX ? UINT32_MAX : (uint32_t)least;
}

bool movable_gives(struct movable *m, pod_id waiting, uint32_t n)
{
	const struct ledger *l = m->en->ledger;
	const struct res_list *request = &shape_get(ledger_vocab(l), ledger_pod(l, waiting)->shape)->request;
	uint64_t found = 0;

	ask_for(m, waiting);
	for (node_id i = 0; found < n && i < ledger_node_limit(l); i++)
		if (ledger_node(l, i)->is_live)
			found += places(m, i, request);
	return found >= n;
}
