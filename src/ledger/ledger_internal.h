/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_internal.h - what the files of the ledger share. For src/ledger/ledger*.c only.
 *
 * Every change is one journal entry of some kind, and every kind knows how to take itself back (undo) and, if its entry
 * keeps something alive, how to let go of it when it can no longer be taken back (settle). Larger moves are rows of
 * small ones: a leaving pod that changes returns, is vacated, is swapped, is placed and leaves again. After each small
 * move everything derived is true.
 */
#pragma once

#include "base/bits.h"
#include "base/blocks.h"
#include "base/id_table.h"
#include "base/map.h"
#include "ledger/id_index.h"
#include "ledger/ledger.h"

enum entry_kind {
	ENTRY_PLACE,
	ENTRY_VACATE,
	ENTRY_LEAVE,
	ENTRY_RETURN,
	ENTRY_NOMINATE,
	ENTRY_CLEAR_NOMINATION,
	ENTRY_FINISH,
	ENTRY_UNFINISH,
	ENTRY_STARTED,
	ENTRY_PRIORITY,
	ENTRY_CYCLE,
	ENTRY_GROUP_STARTED,
	ENTRY_POD_NEW,
	ENTRY_POD_GONE,
	ENTRY_POD_SWAP,
	ENTRY_NODE_NEW,
	ENTRY_NODE_SWAP, /* its object came, changed or went */
	ENTRY_GROUP_NEW,
	ENTRY_GROUP_GONE,
	ENTRY_GROUP_SWAP,
	ENTRY_PDB_NEW,
	ENTRY_PDB_GONE,
	ENTRY_PDB_SWAP,
	ENTRY_PDB_LOWER,
	ENTRY_QUEUE_NEW,
	ENTRY_QUEUE_GONE,
	ENTRY_QUEUE_SWAP,
	ENTRY_QUEUE_MOVE,
	ENTRY_QUEUE_DRAIN,
	ENTRY_ASSUME,
	ENTRY_UNASSUME,
	ENTRY_SETTLE_ASSUMED,
	ENTRY_KINDS
};

struct journal_entry { /* 32 bytes; only what undo cannot see in the state itself */
	uint8_t kind;
	uint8_t nomination; /* enum nomination before */
	bool flag;	    /* LEAVE, RETURN: is_evicted; *_NEW: the id was never used before; DRAIN: as before */
	uint32_t id;
	uint32_t node;	     /* or the queue's old parent */
	uint32_t pos;	     /* index in the list it left */
	uint64_t generation; /* of the node before */
	union {
		int64_t ns;
		void *held; /* the object or record before */
	};
};

struct entry_ops {
	void (*undo)(struct ledger *l, const struct journal_entry *e);
	void (*settle)(struct ledger *l, const struct journal_entry *e); /* NULL: nothing is held */
};
extern const struct entry_ops entry_ops[ENTRY_KINDS];

/* Rows of amounts, one behind the other. */
struct rows {
	int64_t *v;
	uint32_t n, cap; /* rows */
};

struct touched { /* ids, each once: since the last question, and what was answered to it */
	ARRAY(uint32_t) now, before;
	struct bits in_now;
};

/* What the ledger knows of a queue besides its rows. */
struct queue_use {
	queue_id parent; /* as in the tree, beside each other for the walk up */
	uint32_t n_waiting;
	pod_list pods;
	uint64_t members; /* only grows: how often the list changed */
};

/* of a label set with pods in the ledger; zero otherwise, so a reused label set id starts afresh */
struct labelset_use {
	uint32_t n_pods;
	uint32_t n_on_nodes; /* of them: placed or leaving */
	uint32_t n_pdbs;
	pdb_id *pdbs;	/* heap, ascending; NULL if none */
	uint64_t cover; /* a hash of them */
};

struct ids { /* ids in use are below limit; freed ones are taken again last in, first out */
	ARRAY(uint32_t) free;
	uint32_t limit;
};

typedef __int128 wide;

enum { LONE_CHANGES = 64, NODE_CHANGES = 1 << 13, MOVES_KEPT = 1 << 14 }; /* of them are remembered; powers of two */

struct noted_move { /* a journal entry that was made or taken back */
	uint32_t id;
	uint8_t kind; /* enum entry_kind */
};

/* At least want elements, the new ones zeroed. */
#define array_cover(a, want)                                                          \
	do {                                                                          \
		uint32_t to_ = (want);                                                \
		if (to_ > (a)->n) {                                                   \
			array_reserve((a), to_);                                      \
			memset((a)->v + (a)->n, 0, (to_ - (a)->n) * sizeof(*(a)->v)); \
			(a)->n = to_;                                                 \
		}                                                                     \
	} while (0)

struct ledger {
	struct vocab *vocab;
	struct names *names;
	struct res_types *types;
	name_id default_name; /* "default", held */
	bool checks_always;
	uint32_t stride;

	/* Arrays addressed by ids hold zeroes from an ids.limit to their own end. */
	ARRAY(struct pod) pods;
	struct ids pod_ids;
	struct blocks pod_objects;   /* what pods.obj points to */
	struct id_table pod_by_name; /* by namespace and name */
	struct id_index by_app;	     /* pods that name an application: namespace and application */
	struct bits evicted;	     /* pods that are is_evicted */
	struct bits wary;	     /* pods that hold reserved room and mind who comes: ledger_next_wary */
	uint32_t n_wary;
	uint32_t n_nominated_members; /* of all podsets */
	wide totals[RES_MAX];	      /* over all pods, of the larger of request and usage */

	ARRAY(struct ledger_node) nodes;
	bool has_unordered_nodes; /* one has a lower id than another whose name is lower, or had */
	struct ids node_ids;
	struct map node_by_name;
	struct bits empty_ghosts; /* all of them and perhaps some that are no longer: looked at on commit */
	bool has_empty_ghosts;
	uint64_t last_generation;
	uint64_t budget_generation; /* only grows, too */
	uint64_t budget_standing;   /* likewise */
	uint64_t group_generation;  /* likewise */
	uint64_t tree_generation;   /* likewise */
	uint64_t members;	    /* likewise: those of all queues */
	struct rows allocatable, node_used, node_leaving, node_reserved;
	wide capacity_wide[RES_MAX];
	int64_t capacity[RES_MAX];

	struct queue_tree tree;
	ARRAY(struct queue_use) queues; /* as long as the tree's */
	struct rows queue_used, queue_leaving, queue_reserved, queue_core;
	struct touched touched_queues, touched_groups;
	uint32_t cycle;		/* of the engine: from 1 */
	ARRAY(pod_id) new_pods; /* that got their place in this cycle, and perhaps lost it again */
	bool has_unlisted;	/* some that did may be missing there */

	ARRAY(struct group) groups;
	uint64_t n_node_changes; /* only grows, also by what is taken back */
	node_id node_changes[NODE_CHANGES];
	uint64_t n_lone_changes; /* likewise */
	node_id lone_changes[LONE_CHANGES];
	uint64_t n_moves; /* likewise */
	struct noted_move moves[MOVES_KEPT];
	struct ids group_ids;
	struct map group_by_name;
	ARRAY(struct podset) podsets;
	ARRAY(pod_list) free_runs; /* by length: first ids of runs of podsets */

	ARRAY(struct pdb) pdbs;
	ARRAY(name_id) pdb_ns; /* NAME_NONE: not live. Apart, because it is searched for every new label set. */
	struct ids pdb_ids;
	struct map pdb_by_name;
	ARRAY(struct labelset_use) labelsets;
	uint32_t n_with_terms; /* pods on nodes whose shape says something about other pods */

	ARRAY(struct assumption) assumptions;
	struct ids assumption_ids;
	uint32_t n_assumptions; /* that hold */
	struct id_index assumed_by_pod, assumed_by_claim, assumed_by_volume;

	ARRAY(struct journal_entry) journal;
	uint32_t n_held; /* entries that have something to settle */
	ARRAY(struct ledger_listener) listeners;
};

/* ledger.c: ids, rows, journal, listeners */
uint32_t ids_take(struct ids *ids, bool *ret_is_fresh);
void ids_untake(struct ids *ids, uint32_t id, bool is_fresh); /* the exact inverse of the last take */
void ids_give(struct ids *ids, uint32_t id);

void rows_grow(const struct ledger *l, struct rows *r, uint32_t n); /* new rows are zero */
void rows_clear(const struct ledger *l, struct rows *r, uint32_t i);
void ledger_fit_stride(struct ledger *l);
static inline int64_t *row_of(const struct ledger *l, const struct rows *r, uint32_t i)
{
	return r->v + (size_t)i * l->stride;
}
/*
 * The compiler must know that writing a row changes neither the list nor the ledger:
 * hence restrict, and lists by value.
 */
static inline void row_add(int64_t *restrict row, struct res_list what)
{
	const struct res_amount *restrict v = what.v;
	row[RES_PODS] += 1;
	for (uint32_t i = 0; i < what.n; i++)
		row[v[i].type] += v[i].amount;
}
static inline void row_sub(int64_t *restrict row, struct res_list what)
{
	const struct res_amount *restrict v = what.v;
	row[RES_PODS] -= 1;
	for (uint32_t i = 0; i < what.n; i++)
		row[v[i].type] -= v[i].amount;
}

void ledger_fail_check(const struct ledger *l); /* checks, and aborts with words on a difference */
/* The end of every small move and every undo. */
static inline void ledger_moved(const struct ledger *l)
{
	if (__builtin_expect(l->checks_always, 0))
		ledger_fail_check(l);
}
static inline void note_move(struct ledger *l, uint8_t kind, uint32_t id)
{
	l->moves[l->n_moves++ % MOVES_KEPT] = (struct noted_move){id, kind};
}
static inline struct journal_entry *journal_add(struct ledger *l, enum entry_kind kind, uint32_t id)
{
	array_reserve(&l->journal, l->journal.n + 1);
	struct journal_entry *e = &l->journal.v[l->journal.n++];
	*e = (struct journal_entry){.kind = (uint8_t)kind, .id = id};
	note_move(l, e->kind, id);
	return e;
}
/* Entries that hold something are counted: without any, a commit has nothing to do. */
static inline struct journal_entry *journal_hold(struct ledger *l, enum entry_kind kind, uint32_t id, void *held)
{
	struct journal_entry *e = journal_add(l, kind, id);
	e->held = held;
	l->n_held++;
	return e;
}
static inline void note_node_change(struct ledger *l, node_id n)
{
	l->node_changes[l->n_node_changes++ % NODE_CHANGES] = n;
}
static inline void node_touch(struct ledger *l, node_id n)
{
	l->nodes.v[n].generation = ++l->last_generation;
	note_node_change(l, n);
}
void tell_node(const struct ledger *l, node_id n, bool is_undo);

/* ledger_moves.c: the small moves, for use by the large */
#define POS_LAST UINT32_MAX
/* An empty ghost is of no use to anybody once it can no longer be taken back. */
void node_note_ghost(struct ledger *l, node_id n);
void pod_place(struct ledger *l, pod_id id, node_id node, uint32_t pos);
void pod_leave(struct ledger *l, pod_id id, bool is_evicted);
void pod_nominate(struct ledger *l, pod_id id, node_id node, enum nomination kind, uint32_t pos);
void pod_finish(struct ledger *l, pod_id id);
void pod_to_waiting(struct ledger *l, pod_id id); /* from any state, without a nomination */

/* Of the leaf's list, the waiting counts of the path and the podset's n_waiting; not of n_pods. */
void pod_queue_up(struct ledger *l, pod_id id, uint32_t pos);
void pod_queue_out(struct ledger *l, pod_id id);
void touched_free(struct touched *t);

void undo_place(struct ledger *l, const struct journal_entry *e);
void undo_vacate(struct ledger *l, const struct journal_entry *e);
void undo_leave(struct ledger *l, const struct journal_entry *e);
void undo_return(struct ledger *l, const struct journal_entry *e);
void undo_nominate(struct ledger *l, const struct journal_entry *e);
void undo_clear_nomination(struct ledger *l, const struct journal_entry *e);
void undo_finish(struct ledger *l, const struct journal_entry *e);
void undo_unfinish(struct ledger *l, const struct journal_entry *e);
void undo_started(struct ledger *l, const struct journal_entry *e);
void undo_priority(struct ledger *l, const struct journal_entry *e);
void undo_cycle(struct ledger *l, const struct journal_entry *e);
void undo_group_started(struct ledger *l, const struct journal_entry *e);

/* ledger_pods.c, ledger_nodes.c, ledger_groups.c, ledger_queues.c, ledger_budgets.c */
void undo_pod_new(struct ledger *l, const struct journal_entry *e);
void undo_pod_gone(struct ledger *l, const struct journal_entry *e);
void settle_pod_gone(struct ledger *l, const struct journal_entry *e);
void undo_pod_swap(struct ledger *l, const struct journal_entry *e);
void settle_pod_swap(struct ledger *l, const struct journal_entry *e);
void pods_trim(struct ledger *l);
void pods_free(struct ledger *l);
bool totals_fit(const struct ledger *l, shape_id old, shape_id shape, res_id *ret_type);
void totals_add(wide *totals, const struct shape *s, int sign);

void undo_node_new(struct ledger *l, const struct journal_entry *e);
void undo_node_swap(struct ledger *l, const struct journal_entry *e);
void settle_node_swap(struct ledger *l, const struct journal_entry *e);
void nodes_drop_ghosts(struct ledger *l); /* empty ghosts go */
void nodes_free(struct ledger *l);

void ledger_note_lone(struct ledger *l, pod_id pod); /* it began or ceased to be so */
void undo_group_new(struct ledger *l, const struct journal_entry *e);
void undo_group_gone(struct ledger *l, const struct journal_entry *e);
void settle_group_gone(struct ledger *l, const struct journal_entry *e);
void undo_group_swap(struct ledger *l, const struct journal_entry *e);
void settle_group_swap(struct ledger *l, const struct journal_entry *e);
void groups_free(struct ledger *l);

void undo_queue_new(struct ledger *l, const struct journal_entry *e);
void undo_queue_gone(struct ledger *l, const struct journal_entry *e);
void settle_queue_gone(struct ledger *l, const struct journal_entry *e);
void undo_queue_swap(struct ledger *l, const struct journal_entry *e);
void settle_queue_swap(struct ledger *l, const struct journal_entry *e);
void undo_queue_move(struct ledger *l, const struct journal_entry *e);
void undo_queue_drain(struct ledger *l, const struct journal_entry *e);
void queues_init(struct ledger *l);
void queues_free(struct ledger *l);

void undo_pdb_new(struct ledger *l, const struct journal_entry *e);
void undo_pdb_gone(struct ledger *l, const struct journal_entry *e);
void settle_pdb_gone(struct ledger *l, const struct journal_entry *e);
void undo_pdb_swap(struct ledger *l, const struct journal_entry *e);
void undo_pdb_lower(struct ledger *l, const struct journal_entry *e);
void settle_pdb_swap(struct ledger *l, const struct journal_entry *e);
void pdbs_free(struct ledger *l);
void labelset_enter(struct ledger *l, labelset_id labelset); /* one more pod of it */
void labelset_leave(struct ledger *l, labelset_id labelset);
void budgets_spend(struct ledger *l, const struct pod *p, int32_t by);
bool pdb_matches(const struct ledger *l, const struct obj_pdb *o, labelset_id labelset);
bool pdb_lists(const struct obj_pdb *o, name_id pod_name); /* as disrupted */

/* ledger_volumes.c */
void undo_assume(struct ledger *l, const struct journal_entry *e);
void undo_unassume(struct ledger *l, const struct journal_entry *e);
void undo_settle_assumed(struct ledger *l, const struct journal_entry *e);
void settle_unassume(struct ledger *l, const struct journal_entry *e);
enum err_code assumptions_check(const struct ledger *l, struct err *e);
uint64_t assumptions_mix(const struct ledger *l, uint64_t h);
void assumptions_free(struct ledger *l);
