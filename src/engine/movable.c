/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/movable.h"

/* They go by the pod, its queue, the time and the queue that is moved for; not by who else has a place. */
static const uint64_t rules_of_pods = UINT64_C(1) << RULE_FOREIGN | UINT64_C(1) << RULE_DAEMONSET |
				      UINT64_C(1) << RULE_POLICY | UINT64_C(1) << RULE_MIN_RUNTIME;

/* ---- what is kept ---- */

struct movable_basis { /* what answers depend on beside the node and the time; compared as bytes */
	queue_id queue;
	uint32_t stride;
	uint64_t rules_off, tree;
	int64_t reclaim_ns, preempt_ns;
	uint32_t resolve, covers_moves;
};

struct movable_node {
	uint64_t generation;	    /* 0: nothing is known */
	int64_t asked_ns, until_ns; /* it holds from then, until somebody's window ends */
};

struct movable_memory {
	struct movable_basis basis;
	uint32_t n;
	struct movable_node *nodes;
	int64_t *gives; /* by node, so much of each type is of pods that may move */
};

void movable_memory_free(struct movable_memory *m)
{
	if (!m)
		return;
	mem_free(m->nodes);
	mem_free(m->gives);
	mem_free(m);
}

static struct movable_basis basis_of(const struct movable *m)
{
	const struct engine_config *c = m->en->config;

	return (struct movable_basis){.queue = m->queue,
				      .stride = ledger_stride(m->en->ledger),
				      .rules_off = c->rules_off,
				      .tree = ledger_tree_generation(m->en->ledger),
				      .reclaim_ns = c->min_runtime.reclaim_ns,
				      .preempt_ns = c->min_runtime.preempt_ns,
				      .resolve = c->min_runtime.resolve,
				      .covers_moves = c->min_runtime_covers_consolidation};
}

/* With nothing in it, unless all that answers depend on is as it was. */
static void fit_memory(struct movable *m)
{
	uint32_t n = ledger_node_limit(m->en->ledger);
	struct movable_basis basis = basis_of(m);
	struct movable_memory *x = m->en->movable;

	if (x && x->n >= n && !m->en->config->looks_at_all && memcmp(&x->basis, &basis, sizeof(basis)) == 0)
		return;
	movable_memory_free(x);
	x = m->en->movable = mem_alloc(sizeof(*x));
	x->basis = basis;
	x->n = n;
	x->nodes = mem_alloc((n + 1) * sizeof(*x->nodes));
	x->gives = mem_alloc(((size_t)n * basis.stride + 1) * sizeof(*x->gives));
}

/* ---- who may move ---- */

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
	m->failed = NULL;
	fit_memory(m);
}

/* Most often it is a window that keeps a pod: that is asked first, of nothing but numbers. */
static bool may_move(struct movable *m, pod_id pod, const struct pod *p, int64_t *until_ns)
{
	int64_t from_ns = m->judge.on >> RULE_MIN_RUNTIME & 1 ? judge_moves_from(&m->judge, p) : INT64_MIN;

	if (m->now_ns >= from_ns)
		return judge_victim(&m->judge, pod).answer != IS_PROTECTED;
	*until_ns = from_ns < *until_ns ? from_ns : *until_ns;
	return false;
}

/* What is of pods that may move, by type. */
static const int64_t *gives_of(struct movable *m, node_id node, const struct ledger_node *n)
{
	const struct ledger *l = m->en->ledger;
	struct movable_node *x = &m->en->movable->nodes[node];
	int64_t *gives = m->en->movable->gives + (size_t)node * m->en->movable->basis.stride;

	if (x->generation == n->generation && m->now_ns >= x->asked_ns && m->now_ns < x->until_ns)
		return gives;
	memset(gives, 0, m->en->movable->basis.stride * sizeof(*gives));
	*x = (struct movable_node){.generation = n->generation, .asked_ns = m->now_ns, .until_ns = INT64_MAX};
	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(l, n->pods.v[i]);
		const struct res_list *usage;

		if (p->state != POD_PLACED || !may_move(m, n->pods.v[i], p, &x->until_ns))
			continue;
		usage = &shape_get(ledger_vocab(l), p->shape)->usage;
		for (uint32_t k = 0; k < usage->n; k++)
			gives[usage->v[k].type] += usage->v[k].amount;
	}
	return gives;
}

/* At most so many the node would have, when whoever is leaving has left. */
static uint32_t places(struct movable *m, node_id node, const struct res_list *request)
{
	const struct ledger *l = m->en->ledger;
	const int64_t *has = ledger_node_allocatable(l, node), *used = ledger_node_used(l, node),
		      *leaving = ledger_node_leaving(l, node), *gives = gives_of(m, node, ledger_node(l, node));
	int64_t least = has[RES_PODS];

	for (uint32_t i = 0; i < request->n; i++) {
		res_id r = request->v[i].type;
		int64_t room = has[r] - used[r] + leaving[r] + gives[r];

		if (request->v[i].amount > 0 && room / request->v[i].amount < least)
			least = room / request->v[i].amount;
	}
	return least < 0 ? 0 : least > UINT32_MAX ? UINT32_MAX : (uint32_t)least;
}

/* Does it ask for as much at least as one before it, of whom there were too few places? */
static bool is_in_vain(const struct movable *m, const struct res_list *request, uint32_t n)
{
	for (uint32_t i = 0; m->failed && i < m->failed->n; i++)
		if (res_list_get(request, m->failed->v[i].type) < m->failed->v[i].amount)
			return false;
	return m->failed && n >= m->n_failed && !m->en->config->looks_at_all;
}

bool movable_gives(struct movable *m, pod_id waiting, uint32_t n)
{
	const struct ledger *l = m->en->ledger;
	const struct res_list *request = &shape_get(ledger_vocab(l), ledger_pod(l, waiting)->shape)->request;
	uint64_t found = 0;

	ask_for(m, waiting);
	if (is_in_vain(m, request, n))
		return false;
	for (node_id i = 0; found < n && i < ledger_node_limit(l); i++)
		if (ledger_node(l, i)->is_live)
			found += places(m, i, request);
	if (found < n) {
		m->failed = request;
		m->n_failed = n;
	}
	return found >= n;
}
