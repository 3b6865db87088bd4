/* SPDX-License-Identifier: Apache-2.0 */
#include "filters/topology.h"

enum {
	TOPOLOGIES_KEPT = 32, /* pods name keys as they like; nobody needs more at once */
	DOMAINS_SPARE = 64,
};

static uint32_t domain_of(struct topology *t, name_id value)
{
	uint32_t d;

	if (value == NAME_NONE)
		return 0;
	d = map_get(&t->by_value, value);
	if (d == MAP_NONE) {
		d = t->n++;
		map_put(&t->by_value, value, d);
	}
	return d;
}

static void place_node(struct topology *t, const struct ledger *l, node_id node)
{
	const struct ledger_node *n = ledger_node(l, node);
	name_id value;

	while (t->of_node.n <= node)
		array_push(&t->of_node, DOMAIN_NONE);
	t->of_node.v[node] = DOMAIN_NONE;
	if (n->is_live && labels_get(&labelset_get(ledger_vocab(l), n->obj->labelset)->labels, t->key, &value))
		t->of_node.v[node] = domain_of(t, value);
}

const struct topology *topologies_get(struct topologies *ts, const struct ledger *l, name_id key)
{
	struct topology *t;

	for (uint32_t i = 0; i < ts->v.n; i++)
		if (ts->v.v[i]->key == key)
			return ts->v.v[i];
	t = mem_alloc(sizeof(*t));
	t->key = key;
	t->n = 1;
	names_keep(vocab_names(ledger_vocab(l)), key);
	for (node_id node = 0; node < ledger_node_limit(l); node++)
		place_node(t, l, node);
	array_push(&ts->v, t);
	return t;
}

void topologies_node_changed(struct topologies *ts, const struct ledger *l, node_id node)
{
	for (uint32_t i = 0; i < ts->v.n; i++)
		place_node(ts->v.v[i], l, node);
}

static void drop_at(struct topologies *ts, const struct ledger *l, uint32_t i)
{
	struct topology *t = ts->v.v[i];

	names_drop(vocab_names(ledger_vocab(l)), t->key);
	array_free(&t->of_node);
	map_free(&t->by_value);
	mem_free(t);
	array_remove(&ts->v, i);
}

bool topologies_trim(struct topologies *ts, const struct ledger *l)
{
	uint32_t n = ts->v.n;

	while (ts->v.n > TOPOLOGIES_KEPT)
		drop_at(ts, l, 0);
	for (uint32_t i = ts->v.n; i-- > 0;)
		if (ts->v.v[i]->n > 2 * ledger_node_limit(l) + DOMAINS_SPARE)
			drop_at(ts, l, i);
	return ts->v.n < n;
}

void topologies_free(struct topologies *ts, const struct ledger *l)
{
	while (ts->v.n)
		drop_at(ts, l, ts->v.n - 1);
	array_free(&ts->v);
}
