/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of the ledger: ids, rows, reading, the journal and the listeners. README.md tells how it hangs together.
 */
#include <stdalign.h>

#include "ledger/ledger_internal.h"

#define STRIDE_MIN 8
#define JOURNAL_KEEP 65536 /* entries whose memory stays after a commit */

const struct entry_ops entry_ops[ENTRY_KINDS] = {
	[ENTRY_PLACE] = {undo_place, NULL},
	[ENTRY_VACATE] = {undo_vacate, NULL},
	[ENTRY_LEAVE] = {undo_leave, NULL},
	[ENTRY_RETURN] = {undo_return, NULL},
	[ENTRY_NOMINATE] = {undo_nominate, NULL},
	[ENTRY_CLEAR_NOMINATION] = {undo_clear_nomination, NULL},
	[ENTRY_FINISH] = {undo_finish, NULL},
	[ENTRY_UNFINISH] = {undo_unfinish, NULL},
	[ENTRY_STARTED] = {undo_started, NULL},
	[ENTRY_PRIORITY] = {undo_priority, NULL},
	[ENTRY_CYCLE] = {undo_cycle, NULL},
	[ENTRY_GROUP_STARTED] = {undo_group_started, NULL},
	[ENTRY_POD_NEW] = {undo_pod_new, NULL},
	[ENTRY_POD_GONE] = {undo_pod_gone, settle_pod_gone},
	[ENTRY_POD_SWAP] = {undo_pod_swap, settle_pod_swap},
	[ENTRY_NODE_NEW] = {undo_node_new, NULL},
	[ENTRY_NODE_SWAP] = {undo_node_swap, settle_node_swap},
	[ENTRY_GROUP_NEW] = {undo_group_new, NULL},
	[ENTRY_GROUP_GONE] = {undo_group_gone, settle_group_gone},
	[ENTRY_GROUP_SWAP] = {undo_group_swap, settle_group_swap},
	[ENTRY_PDB_NEW] = {undo_pdb_new, NULL},
	[ENTRY_PDB_GONE] = {undo_pdb_gone, settle_pdb_gone},
	[ENTRY_PDB_SWAP] = {undo_pdb_swap, settle_pdb_swap},
	[ENTRY_PDB_LOWER] = {undo_pdb_lower, NULL},
	[ENTRY_QUEUE_NEW] = {undo_queue_new, NULL},
	[ENTRY_QUEUE_GONE] = {undo_queue_gone, settle_queue_gone},
	[ENTRY_QUEUE_SWAP] = {undo_queue_swap, settle_queue_swap},
	[ENTRY_QUEUE_MOVE] = {undo_queue_move, NULL},
	[ENTRY_QUEUE_DRAIN] = {undo_queue_drain, NULL},
	[ENTRY_ASSUME] = {undo_assume, NULL},
	[ENTRY_UNASSUME] = {undo_unassume, settle_unassume},
	[ENTRY_SETTLE_ASSUMED] = {undo_settle_assumed, NULL},
};

struct ledger *ledger_new(struct vocab *v)
{
	struct ledger *l = mem_alloc(sizeof(*l));
	l->vocab = v;
	l->names = vocab_names(v);
	l->types = vocab_res(v);
	l->default_name = names_hold_str(l->names, "default");
	l->stride = STRIDE_MIN;
	l->pod_objects = blocks_of(alignof(struct obj_pod));
	ledger_fit_stride(l);
	queues_init(l);
	return l;
}

void ledger_free(struct ledger *l)
{
	if (l == NULL)
		return;
	ledger_commit(l);
	pods_free(l);
	nodes_free(l);
	groups_free(l);
	pdbs_free(l);
	queues_free(l);
	touched_free(&l->touched_queues);
	touched_free(&l->touched_groups);
	assumptions_free(l);
	array_free(&l->journal);
	array_free(&l->listeners);
	names_drop(l->names, l->default_name);
	mem_free(l);
}

struct vocab *ledger_vocab(const struct ledger *l)
{
	return l->vocab;
}

uint32_t ids_take(struct ids *ids, bool *ret_is_fresh)
{
	*ret_is_fresh = ids->free.n == 0;
	return *ret_is_fresh ? ids->limit++ : array_pop(&ids->free);
}

void ids_untake(struct ids *ids, uint32_t id, bool is_fresh)
{
	if (!is_fresh) {
		array_push(&ids->free, id);
		return;
	}
	assert(id == ids->limit - 1);
	ids->limit--;
}

void ids_give(struct ids *ids, uint32_t id)
{
	array_push(&ids->free, id);
}

void rows_grow(const struct ledger *l, struct rows *r, uint32_t n)
{
	if (n <= r->n)
		return;
	if (n > r->cap) {
		r->cap = array_next_cap(r->cap, n);
		r->v = mem_resize(r->v, r->cap, l->stride * sizeof(*r->v));
	}
	memset(row_of(l, r, r->n), 0, (size_t)(n - r->n) * l->stride * sizeof(*r->v));
	r->n = n;
}

static void rows_widen(struct rows *r, uint32_t from, uint32_t to)
{
	if (r->cap == 0)
		return;
	int64_t *v = mem_alloc((size_t)r->cap * to * sizeof(*v));
	for (size_t i = 0; i < r->n; i++)
		memcpy(v + i * to, r->v + i * from, from * sizeof(*v));
	mem_free(r->v);
	r->v = v;
}

/*
 * Before a move that may bring a type into a row.
 * Wider rows never become narrow again: nothing can tell the difference.
 */
void ledger_fit_stride(struct ledger *l)
{
	uint32_t to = (l->types->n + 3) / 4 * 4;
	if (to <= l->stride)
		return;
	struct rows *all[] = {&l->allocatable, &l->node_used,	  &l->node_leaving,   &l->node_reserved,
			      &l->queue_used,  &l->queue_leaving, &l->queue_reserved, &l->queue_core};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		rows_widen(all[i], l->stride, to);
	l->stride = to;
}

uint32_t ledger_pod_limit(const struct ledger *l)
{
	return l->pod_ids.limit;
}

const struct pod *ledger_pod(const struct ledger *l, pod_id id)
{
	assert(id < l->pod_ids.limit);
	return &l->pods.v[id];
}

pod_id ledger_next_wary(const struct ledger *l, pod_id from)
{
	return l->n_wary > 0 ? bits_next(&l->wary, from) : POD_NONE;
}

uint32_t ledger_nominated_members(const struct ledger *l)
{
	return l->n_nominated_members;
}

uint32_t ledger_node_limit(const struct ledger *l)
{
	return l->node_ids.limit;
}

const struct ledger_node *ledger_node(const struct ledger *l, node_id id)
{
	assert(id < l->node_ids.limit);
	return &l->nodes.v[id];
}

uint32_t ledger_group_limit(const struct ledger *l)
{
	return l->group_ids.limit;
}

const struct group *ledger_group(const struct ledger *l, group_id id)
{
	assert(id < l->group_ids.limit);
	return &l->groups.v[id];
}

const struct podset *ledger_podset(const struct ledger *l, podset_id id)
{
	assert(id < l->podsets.n);
	return &l->podsets.v[id];
}

uint32_t ledger_pdb_limit(const struct ledger *l)
{
	return l->pdb_ids.limit;
}

const struct pdb *ledger_pdb(const struct ledger *l, pdb_id id)
{
	assert(id < l->pdb_ids.limit);
	return &l->pdbs.v[id];
}

const struct queue_tree *ledger_queues(const struct ledger *l)
{
	return &l->tree;
}

const pdb_id *ledger_labelset_pdbs(const struct ledger *l, labelset_id labelset, uint32_t *ret_n)
{
	if (labelset >= l->labelsets.n) {
		*ret_n = 0;
		return NULL;
	}
	*ret_n = l->labelsets.v[labelset].n_pdbs;
	return l->labelsets.v[labelset].pdbs;
}

uint32_t ledger_labelset_on_nodes(const struct ledger *l, labelset_id labelset)
{
	return labelset < l->labelsets.n ? l->labelsets.v[labelset].n_on_nodes : 0;
}

uint32_t ledger_with_terms(const struct ledger *l)
{
	return l->n_with_terms;
}

const pod_id *ledger_queue_pods(const struct ledger *l, queue_id q, uint32_t *ret_n)
{
	*ret_n = l->queues.v[q].pods.n;
	return l->queues.v[q].pods.v;
}

uint64_t ledger_queue_members(const struct ledger *l, queue_id q)
{
	return l->queues.v[q].members;
}

uint64_t ledger_members(const struct ledger *l)
{
	return l->members;
}

uint32_t ledger_stride(const struct ledger *l)
{
	return l->stride;
}

static const int64_t *read_row(const struct ledger *l, const struct rows *r, uint32_t i)
{
	assert(i < r->n);
	return row_of(l, r, i);
}

const int64_t *ledger_node_allocatable(const struct ledger *l, node_id n)
{
	return read_row(l, &l->allocatable, n);
}

const int64_t *ledger_node_used(const struct ledger *l, node_id n)
{
	return read_row(l, &l->node_used, n);
}

const int64_t *ledger_node_leaving(const struct ledger *l, node_id n)
{
	return read_row(l, &l->node_leaving, n);
}

const int64_t *ledger_node_reserved(const struct ledger *l, node_id n)
{
	return read_row(l, &l->node_reserved, n);
}

const int64_t *ledger_queue_used(const struct ledger *l, queue_id q)
{
	return read_row(l, &l->queue_used, q);
}

const int64_t *ledger_queue_leaving(const struct ledger *l, queue_id q)
{
	return read_row(l, &l->queue_leaving, q);
}

const int64_t *ledger_queue_reserved(const struct ledger *l, queue_id q)
{
	return read_row(l, &l->queue_reserved, q);
}

const int64_t *ledger_queue_core(const struct ledger *l, queue_id q)
{
	return read_row(l, &l->queue_core, q);
}

uint32_t ledger_queue_waiting(const struct ledger *l, queue_id q)
{
	assert(q < l->queues.n);
	return l->queues.v[q].n_waiting;
}

const int64_t *ledger_capacity(const struct ledger *l)
{
	return l->capacity;
}

ledger_mark ledger_get_mark(const struct ledger *l)
{
	return l->journal.n;
}

void ledger_rollback(struct ledger *l, ledger_mark to)
{
	assert(to <= l->journal.n);
	while (l->journal.n > to) {
		struct journal_entry e = array_pop(&l->journal);
		if (entry_ops[e.kind].settle != NULL)
			l->n_held--;
		entry_ops[e.kind].undo(l, &e);
		note_move(l, e.kind, e.id);
		ledger_moved(l);
	}
}

static enum ledger_move_kind kind_of_move(enum entry_kind kind)
{
	switch (kind) {
	case ENTRY_PLACE:
	case ENTRY_VACATE:
	case ENTRY_LEAVE:
	case ENTRY_RETURN:
	case ENTRY_NOMINATE:
	case ENTRY_CLEAR_NOMINATION:
	case ENTRY_FINISH:
	case ENTRY_UNFINISH:
	case ENTRY_STARTED:
	case ENTRY_PRIORITY:
	case ENTRY_POD_GONE:
		return MOVED_POD;
	case ENTRY_NODE_SWAP:
		return MOVED_NODE;
	case ENTRY_GROUP_STARTED:
	case ENTRY_CYCLE:
	case ENTRY_PDB_NEW:
	case ENTRY_PDB_GONE:
	case ENTRY_PDB_SWAP:
	case ENTRY_PDB_LOWER:
	case ENTRY_ASSUME:
	case ENTRY_UNASSUME:
	case ENTRY_SETTLE_ASSUMED:
		return MOVED_ELSE;
	default:
		return MOVED_ALL;
	}
}

uint64_t ledger_moves(const struct ledger *l)
{
	return l->n_moves;
}

struct ledger_move ledger_get_move(const struct ledger *l, uint64_t i)
{
	const struct noted_move *m = &l->moves[i % MOVES_KEPT];

	if (i >= l->n_moves || l->n_moves - i > MOVES_KEPT)
		return (struct ledger_move){MOVED_ALL, 0};
	return (struct ledger_move){kind_of_move((enum entry_kind)m->kind), m->id};
}

static void settle_all(struct ledger *l)
{
	uint32_t n = l->journal.n;
	l->journal.n = l->n_held = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct journal_entry e = l->journal.v[i];
		if (entry_ops[e.kind].settle != NULL)
			entry_ops[e.kind].settle(l, &e);
	}
}

void ledger_commit(struct ledger *l)
{
	if (l->n_held > 0)
		settle_all(l);
	l->journal.n = 0;
	nodes_drop_ghosts(l);
	ledger_fit_stride(l);
	if (l->journal.cap > JOURNAL_KEEP) {
		l->journal.cap = JOURNAL_KEEP;
		l->journal.v = mem_resize(l->journal.v, JOURNAL_KEEP, sizeof(*l->journal.v));
	}
	ledger_moved(l);
}

static void rows_trim(const struct ledger *l, struct rows *r)
{
	if (r->cap == r->n || r->n == 0)
		return;
	r->v = mem_resize(r->v, r->n, l->stride * sizeof(*r->v));
	r->cap = r->n;
}

/* Not the lists of nodes: there are many, they are short, and the next decision makes most of them longer. */
void ledger_trim(struct ledger *l)
{
	pods_trim(l);
	array_trim(&l->nodes);
	rows_trim(l, &l->allocatable);
	rows_trim(l, &l->node_used);
	rows_trim(l, &l->node_leaving);
	rows_trim(l, &l->node_reserved);
	for (queue_id q = 0; q < l->queues.n; q++)
		array_trim(&l->queues.v[q].pods);
	array_trim(&l->groups);
	array_trim(&l->podsets);
	array_trim(&l->labelsets);
	if (l->journal.n == 0)
		array_free(&l->journal);
}

void tell_node(const struct ledger *l, node_id n, bool is_undo)
{
	uint32_t count = l->listeners.n;
	for (uint32_t i = 0; i < count; i++) {
		const struct ledger_listener *to = &l->listeners.v[is_undo ? count - 1 - i : i];
		if (to->on_node != NULL)
			to->on_node(to->ctx, l, n);
	}
}

void ledger_listen(struct ledger *l, const struct ledger_listener *listener)
{
	array_push(&l->listeners, *listener);
	for (node_id n = 0; !listener->hears_of_moves_alone && n < l->node_ids.limit; n++) {
		const pod_list *pods = &l->nodes.v[n].pods;
		for (uint32_t i = 0; i < pods->n; i++) {
			listener->on_add(listener->ctx, l, pods->v[i], n);
			if (l->pods.v[pods->v[i]].state == POD_LEAVING && listener->on_leaving != NULL)
				listener->on_leaving(listener->ctx, l, pods->v[i], true);
		}
	}
}

void ledger_unlisten(struct ledger *l, void *ctx)
{
	for (uint32_t i = l->listeners.n; i > 0; i--) {
		if (l->listeners.v[i - 1].ctx == ctx)
			array_remove(&l->listeners, i - 1);
	}
}

bool pod_is_stuck(const struct pod *p, int64_t now_ns, int64_t patience_ns)
{
	return p->state == POD_LEAVING && p->obj->deleted_ns != TIME_NONE &&
	       res_sub_sat(now_ns, p->obj->deleted_ns) > patience_ns;
}
