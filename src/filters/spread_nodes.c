/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/spread_nodes.h"

static void drop(struct spread_nodes *x, struct vocab *v)
{
	if (x->is_used)
		shape_drop(v, x->shape);
	for (uint32_t i = 0; i < x->n_rules; i++)
		bits_free(&x->there[i]);
	mem_free(x->there);
	mem_free(x->rules);
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

static bool same_labels(const struct labels *a, const struct labels *b)
{
	bool is_same = a->n == b->n;

	for (uint32_t i = 0; is_same && i < a->n; i++)
		is_same = a->kv[i].key == b->kv[i].key && a->kv[i].value == b->kv[i].value;
	return is_same;
}

static bool same_tolerations(const struct shape *a, const struct shape *b)
{
	bool is_same = a->n_tolerations == b->n_tolerations;

	for (uint32_t i = 0; is_same && i < a->n_tolerations; i++) {
		const struct toleration *x = &a->tolerations[i], *y = &b->tolerations[i];

		is_same = x->key == y->key && x->value == y->value && x->op == y->op && x->effect == y->effect;
	}
	return is_same;
}

/* May both use the same nodes? Where a shape has terms about nodes only itself is looked at. */
static bool same_nodes(const struct vocab *v, shape_id x, shape_id y)
{
	const struct shape *a = shape_get(v, x), *b = shape_get(v, y);

	return x == y || (!a->has_required_terms && !b->has_required_terms &&
			  same_labels(&a->node_selector, &b->node_selector) && same_tolerations(a, b));
}

static bool same_rules(const struct spread_nodes *x, const struct spread_rules *rules)
{
	bool is_same = x->n_rules == rules->n;

	for (uint32_t i = 0; is_same && i < rules->n; i++)
		is_same = x->rules[i].topology == rules->v[i].topology && x->rules[i].needs == rules->v[i].needs;
	return is_same;
}

static bool is_of(const struct spread_nodes *x, const struct cede_cycle *c, const struct spread_rules *rules)
{
	return x->is_used && x->is_good && x->n == ledger_node_limit(c->ledger) && same_rules(x, rules) &&
	       same_nodes(c->vocab, x->shape, c->p->shape);
}

/* One that is good; else one of the shape that is no more; else the one not used for longest makes room. */
static struct spread_nodes *find(struct spread_nodes_cache *s, const struct cede_cycle *c,
				 const struct spread_rules *rules)
{
	struct spread_nodes *x = &s->v[0];

	for (int i = 0; i < SPREAD_SHAPES; i++)
		if (is_of(&s->v[i], c, rules))
			return &s->v[i];
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
	x->rules = mem_resize(x->rules, n_rules + 1, sizeof(*x->rules));
	for (uint32_t i = x->n_rules; i < n_rules; i++)
		x->there[i] = (struct bits){0};
	x->n_rules = n_rules;
}

static void make(struct spread_nodes *x, const struct cede_cycle *c, const struct spread_rules *rules)
{
	fit(x, ledger_node_limit(c->ledger), rules->n);
	if (x->n)
		memset(x->v, 0, x->n);
	for (uint32_t i = 0; i < rules->n; i++) {
		bits_reset(&x->there[i]);
		x->rules[i] = (struct spread_nodes_rule){rules->v[i].topology, rules->v[i].needs};
	}
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
	struct spread_nodes *x = find(s, c, rules);

	if (!is_of(x, c, rules))
		make(x, c, rules);
	x->last_use = ++s->clock;
	return x;
}
