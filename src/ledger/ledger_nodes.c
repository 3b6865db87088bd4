/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes come, change and go. A node without an object is a ghost: the pods on it are still there. A dropped node is a
 * ghost like any other, and ghosts that hold nothing are swept away on commit; until then a node of that name finds its
 * old id.
 */
#include "ledger/ledger_internal.h"

static struct obj_node *take(struct obj_node *o)
{
	struct obj_node *mine = mem_alloc(sizeof(*mine));
	*mine = *o;
	*o = (struct obj_node){.labelset = LABELSET_NONE};
	return mine;
}

static void let_go(struct ledger *l, struct obj_node *o)
{
	if (o == NULL)
		return;
	obj_node_drop(l->vocab, o);
	mem_free(o);
}

static void capacity_add(struct ledger *l, const struct obj_node *o, int sign)
{
	for (res_id r = 0; o != NULL && r < l->types->n; r++) {
		l->capacity_wide[r] += sign * (wide)o->allocatable.v[r];
		l->capacity[r] = l->capacity_wide[r] > INT64_MAX ? INT64_MAX : (int64_t)l->capacity_wide[r];
	}
}

static void set_object(struct ledger *l, node_id n, struct obj_node *o)
{
	struct ledger_node *node = &l->nodes.v[n];
	int64_t *row = row_of(l, &l->allocatable, n);
	capacity_add(l, node->obj, -1);
	capacity_add(l, o, 1);
	memset(row, 0, l->stride * sizeof(*row));
	for (res_id r = 0; o != NULL && r < l->types->n; r++)
		row[r] = o->allocatable.v[r];
	node->obj = o;
	node->is_live = o != NULL;
	node->is_tainted = o != NULL && (o->n_taints > 0 || o->is_unschedulable);
	node_note_ghost(l, n);
}

/* The old object goes to the journal. */
static void swap_object(struct ledger *l, node_id n, struct obj_node *o)
{
	ledger_fit_stride(l);
	struct journal_entry *e = journal_hold(l, ENTRY_NODE_SWAP, n, l->nodes.v[n].obj);
	e->node = n;
	e->generation = l->nodes.v[n].generation;
	set_object(l, n, o);
	node_touch(l, n);
	tell_node(l, n, false);
	ledger_moved(l);
}

void undo_node_swap(struct ledger *l, const struct journal_entry *e)
{
	struct obj_node *o = l->nodes.v[e->id].obj;
	set_object(l, e->id, e->held);
	l->nodes.v[e->id].generation = e->generation;
	note_node_change(l, e->id);
	tell_node(l, e->id, true);
	let_go(l, o);
}

void settle_node_swap(struct ledger *l, const struct journal_entry *e)
{
	let_go(l, e->held);
}

node_id ledger_node_find(const struct ledger *l, name_id name)
{
	return map_get(&l->node_by_name, name);
}

/* Ids that are taken again are not looked at closely. */
static void note_order(struct ledger *l, node_id n, bool is_fresh)
{
	name_id before = n > 0 ? l->nodes.v[n - 1].name : NAME_NONE;

	if (n > 0 && (!is_fresh || before == NAME_NONE || name_cmp(l->names, before, l->nodes.v[n].name) > 0))
		l->has_unordered_nodes = true;
}

bool ledger_nodes_by_name(const struct ledger *l)
{
	return !l->has_unordered_nodes;
}

node_id ledger_node_ghost(struct ledger *l, name_id name)
{
	assert(name != NAME_NONE);
	node_id n = ledger_node_find(l, name);
	if (n != NODE_NONE)
		return n;
	bool is_fresh;
	n = ids_take(&l->node_ids, &is_fresh);
	array_cover(&l->nodes, l->node_ids.limit);
	rows_grow(l, &l->allocatable, l->node_ids.limit);
	rows_grow(l, &l->node_used, l->node_ids.limit);
	rows_grow(l, &l->node_leaving, l->node_ids.limit);
	rows_grow(l, &l->node_reserved, l->node_ids.limit);
	names_keep(l->names, name);
	l->nodes.v[n].name = name;
	note_order(l, n, is_fresh);
	map_put(&l->node_by_name, name, n);
	journal_add(l, ENTRY_NODE_NEW, n)->flag = is_fresh;
	node_touch(l, n);
	node_note_ghost(l, n);
	ledger_moved(l);
	return n;
}

/* Its lists are empty; their memory stays for whoever gets the id next. */
static void forget(struct ledger *l, node_id n)
{
	struct ledger_node *node = &l->nodes.v[n];
	assert(node->obj == NULL && node->pods.n == 0 && node->nominated.n == 0);
	map_del(&l->node_by_name, node->name);
	names_drop(l->names, node->name);
	node->name = NAME_NONE;
	node->generation = 0;
	note_node_change(l, n);
}

void undo_node_new(struct ledger *l, const struct journal_entry *e)
{
	forget(l, e->id);
	ids_untake(&l->node_ids, e->id, e->flag);
}

node_id ledger_node_add(struct ledger *l, struct obj_node *o)
{
	node_id n = ledger_node_ghost(l, o->name);
	assert(!l->nodes.v[n].is_live);
	swap_object(l, n, take(o));
	return n;
}

void ledger_node_set(struct ledger *l, node_id n, struct obj_node *o)
{
	assert(n < l->node_ids.limit && l->nodes.v[n].is_live && l->nodes.v[n].name == o->name);
	swap_object(l, n, take(o));
}

void ledger_node_drop(struct ledger *l, node_id n)
{
	assert(n < l->node_ids.limit && l->nodes.v[n].is_live);
	while (l->nodes.v[n].nominated.n > 0)
		ledger_clear_nomination(l, array_last(&l->nodes.v[n].nominated));
	swap_object(l, n, NULL);
}

void nodes_drop_ghosts(struct ledger *l)
{
	if (!l->has_empty_ghosts)
		return;
	for (node_id n = bits_next(&l->empty_ghosts, 0); n < l->node_ids.limit;
	     n = bits_next(&l->empty_ghosts, n + 1)) {
		const struct ledger_node *node = &l->nodes.v[n];
		if (node->name == NAME_NONE || node->is_live || node->pods.n > 0 || node->nominated.n > 0)
			continue;
		forget(l, n);
		ids_give(&l->node_ids, n);
	}
	bits_reset(&l->empty_ghosts);
	l->has_empty_ghosts = false;
}

void nodes_free(struct ledger *l)
{
	for (node_id n = 0; n < l->nodes.n; n++) {
		struct ledger_node *node = &l->nodes.v[n];
		names_drop(l->names, node->name);
		let_go(l, node->obj);
		array_free(&node->pods);
		array_free(&node->nominated);
	}
	array_free(&l->nodes);
	array_free(&l->node_ids.free);
	map_free(&l->node_by_name);
	bits_free(&l->empty_ghosts);
	mem_free(l->allocatable.v);
	mem_free(l->node_used.v);
	mem_free(l->node_leaving.v);
	mem_free(l->node_reserved.v);
}

uint64_t ledger_node_changes(const struct ledger *l)
{
	return l->n_node_changes;
}

node_id ledger_node_change(const struct ledger *l, uint64_t i)
{
	return i < l->n_node_changes && l->n_node_changes - i <= NODE_CHANGES ? l->node_changes[i % NODE_CHANGES]
									      : NODE_NONE;
}
