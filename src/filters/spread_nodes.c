/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/spread_nodes.h"

static void drop(struct spread_nodes *x, struct vocab *v)
{
	if (x->is_used)
		shape_drop(v, x->shape);
	for (uint32_t i = 0; i < x->n_rules; i++)
		bits_free(&x->there[i]);
	mem_free(x->there);
	mem_free(x->v);
	*x = (struct spread_nodes){0};
}

void spread_nodes_free(struct spread_nodes_cache *s, struct vocab *v)
{
	for (int i = 0; i < SPREAD_SHAPES; i++)
		drop(&s->v[i], v);
}

void spread_nodes_forget(struct spread_nodes_cache *s)
{
	for (int i = 0; i < SPREAD_SHAPES; i++)
		s->v[i].is_good = false;
}

/* The one not used for longest makes room. */
static struct spread_nodes *find(struct spread_nodes_cache *s, const struct cede_cycle *c)
{
	struct spread_nodes *x = &s->v[0];

	for (int i = 0; i < SPREAD_SHAPES; i++) {
		if (s->v[i].is_used && s->v[i].shape == c->p->shape)
			return &s->v[i];
		if (s->v[i].last_use < x->last_use)
			x = &s->v[i];
	}
	drop(x, ledger_vocab(c->ledger));
	x->is_used = true;
	x->shape = c->p->shape;
	shape_keep(ledger_vocab(c->ledger), x->shape);
	return x;
}

static void fit(struct spread_nodes *x, uint32_t n_nodes, uint32_t n_rules)
{
	if (x->n < n_nodes)
		x->v = mem_resize(x->v, n_nodes, sizeof(*x->v));
	x->n = n_nodes;
	for (uint32_t i = n_rules; i < x->n_rules; i++)
		bits_free(&x->there[i]);
	x->there = mem_resize(x->there, n_rules + 1, sizeof(*x->there));
	for (uint32_t i = x->n_rules; i < n_rules; i++)
		x->there[i] = (struct bits){0};
	x->n_rules = n_rules;
}

static void make(struct spread_nodes *x, const struct cede_cycle *c, const struct spread_rules *rules)
{
	fit(x, ledger_node_limit(c->ledger), rules->n);
	if (x->n)
		memset(x->v, 0, x->n);
	for (uint32_t i = 0; i < rules->n; i++)
		bits_reset(&x->there[i]);
	for (uint32_t k = 0; k < c->n_nodes; k++) {
		node_id node = c->nodes[k];

		x->v[node] = spread_node(c, rules, node);
		for (uint32_t i = 0; i < rules->n; i++)
			if (spread_node_counts(x->v[node], &rules->v[i]))
				bits_set(&x->there[i], topology_domain(rules->v[i].topology, node));
	}
	x->is_good = true;
}

const struct spread_nodes *spread_nodes_get(struct spread_nodes_cache *s, const struct cede_cycle *c,
					    const struct spread_rules *rules)
{
	struct spread_nodes *x = find(s, c);

	if (!x->is_good || x->n_rules != rules->n || x->n != ledger_node_limit(c->ledger))
		make(x, c, rules);
	x->last_use = ++s->clock;
	return x;
}
