/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/node_memo.h"

bool node_memo_create(const struct cede_arg *args, size_t n_args, void **ret_self, char *why, size_t why_size)
{
	*ret_self = mem_alloc(sizeof(struct node_memo));
	return true;
}

void node_memo_destroy(void *self)
{
	struct node_memo *m = self;

	if (m)
		array_free(&m->nodes);
	mem_free(m);
}

static struct memo_sums sum_now(const struct cede_cycle *c, const struct ledger_node *n, node_sum_fn sum)
{
	struct memo_sums s = {.generation = n->generation};

	sum(c, n, &s);
	return s;
}

static void make_room(struct node_memo *m, const struct ledger *l)
{
	uint32_t limit = ledger_node_limit(l), n_known = m->ledger == l ? m->nodes.n : 0;

	m->ledger = l;
	if (n_known >= limit)
		return;
	array_reserve(&m->nodes, limit);
	memset(m->nodes.v + n_known, 0, (limit - n_known) * sizeof(*m->nodes.v));
	m->nodes.n = limit;
}

void node_memo_refresh(struct node_memo *m, const struct cede_cycle *c, const node_id *nodes, size_t n, node_sum_fn sum)
{
	if (!m)
		return;
	make_room(m, c->ledger);
	for (size_t i = 0; i < n; i++) {
		const struct ledger_node *node = ledger_node(c->ledger, nodes[i]);

		if (m->nodes.v[nodes[i]].generation != node->generation)
			m->nodes.v[nodes[i]] = sum_now(c, node, sum);
	}
}

const struct memo_sums *node_memo_find(const struct node_memo *m, const struct cede_cycle *c, node_id node)
{
	if (!m || m->ledger != c->ledger || node >= m->nodes.n)
		return NULL;
	return m->nodes.v[node].generation == ledger_node(c->ledger, node)->generation ? &m->nodes.v[node] : NULL;
}

struct memo_sums node_memo_ask(const struct node_memo *m, const struct cede_cycle *c, node_id node, node_sum_fn sum)
{
	const struct memo_sums *known = node_memo_find(m, c, node);

	return known ? *known : sum_now(c, ledger_node(c->ledger, node), sum);
}
