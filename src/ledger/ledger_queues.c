/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues. The tree (model/queue.h) knows structure and settings and can be put back as it was; the ledger adds what is
 * used in each queue and everything below it. A queue that moves takes its use along: away from the old ancestors, on
 * to the new.
 */
#include "ledger/ledger_internal.h"

struct queue_was { /* a dropped queue */
	struct queue_spec spec;
	name_id segment; /* held */
	bool is_draining;
};

static void cover(struct ledger *l)
{
	while (l->queues.n < l->tree.q.n)
		array_push(&l->queues, (struct queue_use){.parent = QUEUE_NONE});
	rows_grow(l, &l->queue_used, l->tree.q.n);
	rows_grow(l, &l->queue_leaving, l->tree.q.n);
	rows_grow(l, &l->queue_reserved, l->tree.q.n);
	rows_grow(l, &l->queue_core, l->tree.q.n);
}

static void appear(struct ledger *l, queue_id q)
{
	cover(l);
	l->queues.v[q].parent = l->tree.q.v[q].parent;
}

static void vanish(struct ledger *l, queue_id q)
{
	assert(l->queues.v[q].pods.n == 0 && l->queues.v[q].n_waiting == 0);
	l->queues.v[q].parent = QUEUE_NONE;
}

void queues_init(struct ledger *l)
{
	queue_tree_init(&l->tree, l->names);
	appear(l, QUEUE_ROOT);
}

enum err_code ledger_queue_add(struct ledger *l, queue_id parent, const char *segment, size_t len,
			       struct queue_spec *spec, queue_id *ret, struct err *e)
{
	queue_id q;
	enum err_code code = queue_tree_add(&l->tree, parent, segment, len, spec, &q, e);
	l->tree_generation++;
	if (code != ERR_OK)
		return code;
	ledger_fit_stride(l);
	appear(l, q);
	journal_add(l, ENTRY_QUEUE_NEW, q);
	ledger_moved(l);
	*ret = q;
	return ERR_OK;
}

void undo_queue_new(struct ledger *l, const struct journal_entry *e)
{
	struct queue_spec spec;
	vanish(l, e->id);
	l->tree_generation++;
	queue_tree_drop(&l->tree, e->id, &spec);
	queue_spec_free(&spec);
}

void ledger_queue_set(struct ledger *l, queue_id q, struct queue_spec *spec)
{
	struct queue_spec *old = mem_alloc(sizeof(*old));
	l->tree_generation++;
	queue_tree_set(&l->tree, q, spec, old);
	ledger_fit_stride(l);
	journal_hold(l, ENTRY_QUEUE_SWAP, q, old);
	ledger_moved(l);
}

void undo_queue_swap(struct ledger *l, const struct journal_entry *e)
{
	struct queue_spec now;
	l->tree_generation++;
	queue_tree_set(&l->tree, e->id, e->held, &now);
	queue_spec_free(&now);
	mem_free(e->held);
}

void settle_queue_swap(struct ledger *l, const struct journal_entry *e)
{
	queue_spec_free(e->held);
	mem_free(e->held);
}

static void row_shift(const struct ledger *l, struct rows *rows, queue_id to, queue_id q, int sign)
{
	int64_t *row = row_of(l, rows, to);
	const int64_t *by = row_of(l, rows, q);
	for (uint32_t r = 0; r < l->stride; r++)
		row[r] += sign * by[r];
}

static void shift_ancestors(struct ledger *l, queue_id from, queue_id q, int sign)
{
	for (queue_id a = from; a != QUEUE_NONE; a = l->queues.v[a].parent) {
		row_shift(l, &l->queue_used, a, q, sign);
		row_shift(l, &l->queue_leaving, a, q, sign);
		row_shift(l, &l->queue_reserved, a, q, sign);
		row_shift(l, &l->queue_core, a, q, sign);
		l->queues.v[a].n_waiting += (uint32_t)(sign * (int32_t)l->queues.v[q].n_waiting);
	}
}

static void carry(struct ledger *l, queue_id q, queue_id new_parent)
{
	shift_ancestors(l, l->queues.v[q].parent, q, -1);
	l->queues.v[q].parent = new_parent;
	shift_ancestors(l, new_parent, q, 1);
}

enum err_code ledger_queue_move(struct ledger *l, queue_id q, queue_id new_parent, struct err *e)
{
	queue_id old = l->tree.q.v[q].parent;
	enum err_code code = queue_tree_move(&l->tree, q, new_parent, e);
	l->tree_generation++;
	if (code != ERR_OK)
		return code;
	carry(l, q, new_parent);
	journal_add(l, ENTRY_QUEUE_MOVE, q)->node = old;
	ledger_moved(l);
	return ERR_OK;
}

void undo_queue_move(struct ledger *l, const struct journal_entry *e)
{
	enum err_code code = queue_tree_move(&l->tree, e->id, e->node, NULL);
	l->tree_generation++;
	assert(code == ERR_OK);
	carry(l, e->id, e->node);
}

void ledger_queue_drop(struct ledger *l, queue_id q)
{
	struct queue_was *was = mem_alloc(sizeof(*was));
	queue_id parent = l->tree.q.v[q].parent;
	was->segment = l->tree.q.v[q].segment;
	was->is_draining = l->tree.q.v[q].is_draining;
	names_keep(l->names, was->segment);
	vanish(l, q);
	l->tree_generation++;
	queue_tree_drop(&l->tree, q, &was->spec);
	journal_hold(l, ENTRY_QUEUE_GONE, q, was)->node = parent;
	ledger_moved(l);
}

void undo_queue_gone(struct ledger *l, const struct journal_entry *e)
{
	struct queue_was *was = e->held;
	l->tree_generation++;
	queue_tree_restore(&l->tree, e->id, e->node, name_str(l->names, was->segment), &was->spec);
	l->tree_generation++;
	queue_tree_drain(&l->tree, e->id, was->is_draining);
	names_drop(l->names, was->segment);
	mem_free(was);
	appear(l, e->id);
}

void settle_queue_gone(struct ledger *l, const struct journal_entry *e)
{
	struct queue_was *was = e->held;
	queue_spec_free(&was->spec);
	names_drop(l->names, was->segment);
	mem_free(was);
}

void ledger_queue_drain(struct ledger *l, queue_id q, bool draining)
{
	journal_add(l, ENTRY_QUEUE_DRAIN, q)->flag = l->tree.q.v[q].is_draining;
	l->tree_generation++;
	queue_tree_drain(&l->tree, q, draining);
	ledger_moved(l);
}

void undo_queue_drain(struct ledger *l, const struct journal_entry *e)
{
	l->tree_generation++;
	queue_tree_drain(&l->tree, e->id, e->flag);
}

uint64_t ledger_tree_generation(const struct ledger *l)
{
	return l->tree_generation;
}

void queues_free(struct ledger *l)
{
	for (uint32_t q = 0; q < l->queues.n; q++)
		array_free(&l->queues.v[q].pods);
	array_free(&l->queues);
	mem_free(l->queue_used.v);
	mem_free(l->queue_leaving.v);
	mem_free(l->queue_reserved.v);
	mem_free(l->queue_core.v);
	queue_tree_free(&l->tree);
}
