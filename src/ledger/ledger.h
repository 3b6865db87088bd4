/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.h - the one mutable state of a cluster.
 *
 * Nodes, pods, queues, groups and budgets, in dense arrays addressed by ids. Every change is a move that is written to
 * a journal; ledger_rollback takes moves back in reverse and restores every byte of derived state, so a dry run is a
 * mark, some moves and a rollback, and nothing is ever cloned. Everything derived (room on nodes, use of queues on the
 * whole path, counts of groups, budgets) is kept true by the moves themselves. Listeners hear of every pod that appears
 * on or disappears from a node, on moves and on undoing them alike: state that depends on pods cannot drift (KF-2).
 *
 * States of a pod:
 *
 *	waiting --place--> placed --evict--> leaving        leaving --unevict--> placed
 *	   ^                  |                 |
 *	   +-----vacate-------+-----vacate------+           finished: done, takes no room
 *
 * A waiting pod may be nominated to a node: it was chosen, and the pod waits for victims to leave it. The room it will
 * take is reserved there: against pods of lower priority (advisory, as Kubernetes does) or against everybody. A leaving
 * pod still takes its room on the node and counts as gone everywhere else.
 *
 * What a pod takes: shape.usage (and one of RES_PODS) while placed or leaving, shape.request while it is nominated.
 *
 * One thread writes. Many may read while nobody writes. The ledger reads no clock; times are data.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"
#include "model/objects.h"
#include "model/queue.h"

typedef uint32_t pod_id;
typedef uint32_t node_id;
typedef uint32_t group_id;
typedef uint32_t podset_id; /* a sub-group of a group; a group without sub-groups has one, called "default" */
typedef uint32_t pdb_id;
#define POD_NONE UINT32_MAX
#define NODE_NONE UINT32_MAX
#define GROUP_NONE UINT32_MAX
#define PODSET_NONE UINT32_MAX
#define PDB_NONE UINT32_MAX

enum pod_state { POD_FREE /* the id is not in use */, POD_WAITING, POD_PLACED, POD_LEAVING, POD_FINISHED };
enum nomination { NOMINATION_NONE, NOMINATION_ADVISORY, NOMINATION_RESERVED };

/* The engine's part: 136 bytes or less; the rest of what the object said is in obj. */
struct pod {
	uint8_t state;		/* enum pod_state */
	uint8_t nomination;	/* enum nomination, of a waiting pod */
	uint8_t preemptibility; /* enum preemptibility, effective; UNSET until somebody resolves it */
	bool is_evicted : 1;	/* leaving because of ledger_evict, not because it was leaving when it came */
	/* What obj says, for whoever looks at all pods: an object is far away from the next. */
	bool has_volumes : 1;
	bool is_daemon : 1;	       /* a DaemonSet owns it */
	bool has_class : 1;	       /* it names a priority class */
	bool has_checkpoint : 1;       /* checkpointed_ns is there */
	uint8_t allows_preemption : 2; /* enum tristate */
	int32_t priority;	       /* effective */
	node_id node;		       /* placed, leaving: where; waiting: where it is nominated to; else NODE_NONE */
	queue_id queue;		       /* QUEUE_NONE: names a queue that does not exist (or has no right to it) */
	group_id group;		       /* GROUP_NONE: a pod on its own */
	podset_id podset;
	shape_id shape;
	labelset_id labelset;
	name_id name;
	uint32_t placed_in; /* the engine's cycle that gave it its place; 0: none did */
	int64_t started_ns; /* effective start, TIME_NONE if it never started */
	int64_t created_ns; /* TIME_NONE if not known */
	/* its index in the node's list: pods while placed or leaving, nominated while it is nominated */
	uint32_t node_pos;
	uint32_t queue_pos;  /* bookkeeping of the leaf queue's list */
	struct obj_pod *obj; /* what the object said; owned by the ledger */
};

/* What the cluster resolved for a pod before it enters. */
struct pod_entry {
	enum pod_state state;
	node_id node; /* placed, leaving */
	queue_id queue;
	group_id group;
	podset_id podset;
	int32_t priority;
	enum preemptibility preemptibility;
	int64_t started_ns;
	enum nomination nomination; /* waiting: with nominated_node */
	node_id nominated_node;
};

struct podset {
	name_id name;
	group_id group;
	int32_t min_member;							  /* at least 1 */
	uint32_t n_pods, n_waiting, n_placed, n_leaving, n_finished, n_nominated; /* nominated: of the waiting */
};

struct group {
	bool is_live;
	struct obj_group *obj; /* owned; NULL never */
	queue_id queue;
	int32_t priority;
	enum preemptibility preemptibility;
	int64_t started_ns;
	podset_id first_podset;
	uint32_t n_podsets;  /* ids are consecutive */
	uint32_t n_on_nodes; /* placed or leaving, of all podsets */
	pod_id mix;	     /* of the ids of those on nodes, so that of one alone it is known which */
};

struct pdb {
	bool is_live;
	struct obj_pdb *obj;
	int32_t spent; /* pods leaving by our own evictions that count against it */
};

typedef ARRAY(pod_id) pod_list;

struct ledger_node {	      /* a line of cache */
	bool is_live;	      /* the Node object is there; otherwise a ghost that still holds pods */
	bool is_tainted;      /* what obj says, for whoever looks at all nodes: it has taints or is cordoned */
	name_id name;	      /* NAME_NONE: the id is not in use */
	struct obj_node *obj; /* NULL for a ghost */
	/*
	 * Changes whenever anything on the node does: its object, pods that come, go or leave, nominations, start times
	 * of its pods. Equal generation, equal content. (Groups, queues and budgets are not content of a node.) Never 0
	 * while in use.
	 */
	uint64_t generation;
	pod_list pods;	    /* placed and leaving, in order of arrival */
	pod_list nominated; /* waiting pods that are nominated to it */
	uint32_t n_due;	    /* leaving pods that say by when they should be gone: others are never stuck */
};

struct ledger;

/*
 * Hears of pods on nodes. Called after the ledger's own state has changed, in order of registration; undo in reverse. A
 * pod that is leaving when it appears is announced by on_add and then on_leaving(true); before on_remove of a leaving
 * pod comes on_leaving(false): who counts by calls counts right. What else the pod says (shape, label set, queue,
 * group, priority) changes only while it is on no node, so on_remove sees what on_add saw. A listener must not move
 * anything.
 */
struct ledger_listener {
	void *ctx;
	void (*on_add)(void *ctx, const struct ledger *l, pod_id pod, node_id node);	/* now on the node */
	void (*on_remove)(void *ctx, const struct ledger *l, pod_id pod, node_id node); /* no longer on it */
	/* placed <-> leaving; may be NULL */
	void (*on_leaving)(void *ctx, const struct ledger *l, pod_id pod, bool leaving);
	/* a wary pod (ledger_next_wary) holds reserved room on the node, or no longer does; may be NULL */
	void (*on_hold)(void *ctx, const struct ledger *l, pod_id pod, node_id node, bool holds);
	/* its object changed, came or went; may be NULL */
	void (*on_node)(void *ctx, const struct ledger *l, node_id node);
	bool hears_of_moves_alone; /* not of those who are on nodes when it is registered */
	/* For the self-check: recompute from scratch and compare. May be NULL. */
	enum err_code (*check)(void *ctx, const struct ledger *l, struct err *e);
};

struct ledger *ledger_new(struct vocab *v);
void ledger_free(struct ledger *l);
struct vocab *ledger_vocab(const struct ledger *l);

/* ---- reading ---- */
uint32_t ledger_pod_limit(const struct ledger *l); /* all ids are below; skip state POD_FREE */
const struct pod *ledger_pod(const struct ledger *l, pod_id id);
uint32_t ledger_node_limit(const struct ledger *l);			   /* skip !is_live && pods.n == 0 */
const struct ledger_node *ledger_node(const struct ledger *l, node_id id); /* they lie one after the other */
/* Are ids of nodes in the order of their names? They are if nodes came in that order; false: perhaps. */
bool ledger_nodes_by_name(const struct ledger *l);
uint32_t ledger_group_limit(const struct ledger *l);
const struct group *ledger_group(const struct ledger *l, group_id id);
const struct podset *ledger_podset(const struct ledger *l, podset_id id);
uint32_t ledger_pdb_limit(const struct ledger *l);
const struct pdb *ledger_pdb(const struct ledger *l, pdb_id id);
const struct queue_tree *ledger_queues(const struct ledger *l);
/*
 * Leaving, and should have gone longer ago than one has patience: its room is not counted on. The deletion timestamp is
 * when a pod should be gone, its grace period over.
 */
bool pod_is_stuck(const struct pod *p, int64_t now_ns, int64_t patience_ns);
/*
 * Waiting pods that hold reserved room and have required anti-affinity, topology spread or volumes, ascending: the
 * first from id on; POD_NONE.
 */
pod_id ledger_next_wary(const struct ledger *l, pod_id from);
/* Is it the only pod of its group that is on a node? */
bool pod_is_lone(const struct ledger *l, const struct pod *p);
/*
 * Nodes whose generation changed, forward or back, one after the other: how many there were, and number i. NODE_NONE:
 * that is forgotten. Who knows something of every node has to look only at those that changed since.
 */
uint64_t ledger_node_changes(const struct ledger *l);
node_id ledger_node_change(const struct ledger *l, uint64_t i);
/*
 * Nodes of pods that began or ceased to be lone by what happened elsewhere, or whose group goes whole now or no longer
 * does while they are, one after the other: how many there were, and number i. NODE_NONE: that is forgotten.
 */
uint64_t ledger_lone_changes(const struct ledger *l);
node_id ledger_lone_change(const struct ledger *l, uint64_t i);
/*
 * What was done to the state, or taken back, one move after the other: how many there were, and number i. Who made a
 * copy of it has to look only at what moved since.
 */
enum ledger_move_kind {
	MOVED_POD,  /* where the pod is, if it is at all, its nomination, priority or start; nothing else of it */
	MOVED_NODE, /* the node's object */
	MOVED_ELSE, /* starts of groups, budgets, volumes, the cycle */
	MOVED_ALL,  /* anything; or it is forgotten */
};
struct ledger_move {
	enum ledger_move_kind kind;
	uint32_t id;
};
uint64_t ledger_moves(const struct ledger *l);
struct ledger_move ledger_get_move(const struct ledger *l, uint64_t i);
/*
 * Budgets whose selector matches pods of a label set, ascending ids. An empty selector matches all pods of its
 * namespace; a missing one none. For label sets of pods that are in the ledger; for others the list is empty.
 */
const pdb_id *ledger_labelset_pdbs(const struct ledger *l, labelset_id labelset, uint32_t *ret_n);
/* How many of its pods are placed or leaving; and of all pods those whose shape has terms about other pods. */
uint32_t ledger_labelset_on_nodes(const struct ledger *l, labelset_id labelset);
uint32_t ledger_with_terms(const struct ledger *l);
/*
 * Changes whenever a budget comes to cover other pods than before:
 * caches of who is covered by none are good while it is the same.
 */
uint64_t ledger_budget_generation(const struct ledger *l);
/* Changes whenever what any budget allows, or what of it is spent, does; never has an earlier value again. */
uint64_t ledger_budget_standing(const struct ledger *l);
/* Label sets that the same budgets cover have the same; others most often not: their lists have to be compared. */
uint64_t ledger_labelset_cover(const struct ledger *l, labelset_id labelset);
/* Changes whenever a group comes, goes or says something else: for caches of what groups say. */
uint64_t ledger_group_generation(const struct ledger *l);
/* Members of groups, whichever, that are nominated. */
uint32_t ledger_nominated_members(const struct ledger *l);
/* Pods of a leaf queue that are not finished, in no meaningful order. */
const pod_id *ledger_queue_pods(const struct ledger *l, queue_id q, uint32_t *ret_n);

/* Pods of a namespace that name an application, finished ones too, in no meaningful order; POD_NONE ends. */
pod_id ledger_app_first(const struct ledger *l, name_id ns, name_id app);
pod_id ledger_app_next(const struct ledger *l, pod_id pod);

/* Changes whenever a pod comes to the list of a leaf queue or leaves it. */
uint64_t ledger_queue_members(const struct ledger *l, queue_id q);
uint64_t ledger_members(const struct ledger *l); /* of any leaf queue */
/* Changes whenever a queue comes, goes, moves or is told something else. */
uint64_t ledger_tree_generation(const struct ledger *l);

/*
 * Rows of amounts, one int64_t per resource type, RES_PODS counted too (every pod takes 1). Valid until the next move
 * from outside. Rows of one kind lie one after the other, ledger_stride apart. The stride is a multiple of 4, at least
 * 8, and covers all types that were known at the last move from outside or commit.
 */
uint32_t ledger_stride(const struct ledger *l);
const int64_t *ledger_node_allocatable(const struct ledger *l, node_id n);
const int64_t *ledger_node_used(const struct ledger *l, node_id n);	/* placed and leaving pods */
const int64_t *ledger_node_leaving(const struct ledger *l, node_id n);	/* of these, the leaving */
const int64_t *ledger_node_reserved(const struct ledger *l, node_id n); /* for nominated pods */
const int64_t *ledger_queue_used(const struct ledger *l, queue_id q);	/* placed pods of it and everything below */
const int64_t *ledger_queue_leaving(const struct ledger *l, queue_id q);
const int64_t *ledger_queue_reserved(const struct ledger *l, queue_id q);
const int64_t *ledger_queue_core(const struct ledger *l, queue_id q); /* used and claimed by non-preemptible pods */
uint32_t ledger_queue_waiting(const struct ledger *l, queue_id q);    /* pods waiting in it and below */
/*
 * Leaf queues whose use or claims moves or their undoing touched since the last call, each once; what is above them was
 * touched too. Good until the next move. For one user at a time: a call forgets.
 */
const queue_id *ledger_touched_queues(struct ledger *l, uint32_t *ret_n);
/* Likewise groups of which pods got or lost a place or a claim. */
const group_id *ledger_touched_groups(struct ledger *l, uint32_t *ret_n);
/* Sum of allocatable over live nodes. */
const int64_t *ledger_capacity(const struct ledger *l);

/* ---- moves of the engine ---- */
void ledger_place(struct ledger *l, pod_id pod, node_id node); /* waiting -> placed; drops its nomination */
/* The same of one that was only taken away for a while, and holds no nomination: it is as new or old as it was. */
void ledger_put_back(struct ledger *l, pod_id pod, node_id node);
void ledger_vacate(struct ledger *l, pod_id pod);  /* placed or leaving -> waiting, off the node */
void ledger_evict(struct ledger *l, pod_id pod);   /* placed -> leaving; spends budgets */
void ledger_unevict(struct ledger *l, pod_id pod); /* leaving -> placed */
/* waiting; replaces an older one */
void ledger_set_nomination(struct ledger *l, pod_id pod, node_id node, enum nomination kind);
void ledger_clear_nomination(struct ledger *l, pod_id pod); /* and what was decided about its volumes */
static inline void ledger_nominate(struct ledger *l, pod_id pod, node_id node)
{
	ledger_set_nomination(l, pod, node, NOMINATION_ADVISORY);
}
static inline void ledger_reserve(struct ledger *l, node_id node, pod_id pod)
{
	ledger_set_nomination(l, pod, node, NOMINATION_RESERVED);
}
/* A new cycle of the engine begins: who is placed from now on got his place in it. */
void ledger_begin_cycle(struct ledger *l);
bool ledger_is_new(const struct ledger *l, const struct pod *p); /* it got its place in the present cycle */
uint32_t ledger_cycle(const struct ledger *l);			 /* the present one; 0: none began yet */
void ledger_set_started(struct ledger *l, pod_id pod, int64_t started_ns);
/* A waiting pod's, as if it had been written so: for asking "what if". */
void ledger_set_priority(struct ledger *l, pod_id pod, int32_t priority);
void ledger_set_group_started(struct ledger *l, group_id group, int64_t started_ns);

/*
 * ---- volumes ----
 * What was decided about claims that are not bound yet, before the objects say it: this claim gets that volume, or has
 * one made on that node. Whoever looks for a volume later sees it (VO-2). It is said for a pod, and holds as long as
 * the pod is on a node or holds reserved room; to vacate it in a dry run does not touch it, as in Kubernetes. Several
 * pods may say the same of one claim; that two say different things of one volume is a bug (assert).
 */
struct assumption {
	pod_id pod;	   /* for whom; POD_NONE: it was carried out, and the pod is gone since */
	name_id ns, claim; /* held, like the rest */
	name_id volume;	   /* NAME_NONE: to be provisioned */
	name_id node;	   /* where */
	bool is_live;	   /* false: the id is not in use, or no longer */
};
void ledger_assume(struct ledger *l, const struct assumption *a); /* once more by the same pod: nothing happens */
void ledger_unassume(struct ledger *l, pod_id pod);		  /* everything it said */
/* It counts as carried out, whatever becomes of the pod: for who plays on and has nobody who writes objects. */
void ledger_settle_assumed(struct ledger *l, pod_id pod);
void ledger_unassume_claim(struct ledger *l, name_id ns, name_id claim);
void ledger_unassume_volume(struct ledger *l, name_id volume);
/* NULL: nobody said anything. Of a claim the i-th thing said, in no meaningful order. */
const struct assumption *ledger_volume_assumed(const struct ledger *l, name_id volume);
const struct assumption *ledger_claim_assumed(const struct ledger *l, name_id ns, name_id claim, uint32_t i);
const struct assumption *ledger_pod_assumed(const struct ledger *l, pod_id pod, uint32_t i);

/*
 * ---- the journal ----
 * A rollback also gives nodes their old generations back; new moves take numbers never used before.
 */
typedef uint32_t ledger_mark;
ledger_mark ledger_get_mark(const struct ledger *l);
void ledger_rollback(struct ledger *l, ledger_mark to);
/* Forget how to undo: everything so far stands. Lets go of what dropped objects held; ids become free for reuse. */
void ledger_commit(struct ledger *l);

/*
 * ---- moves from outside: objects appear, change, vanish ----
 * All may be rolled back until committed. An id freed by a drop is reused only after commit (but for queues, whose tree
 * gives a new one the smallest free id at once). Objects are moved in: the content of *o is taken over and *o is left
 * empty, as obj_*_drop leaves it; the struct itself stays the caller's. Adding a name that is there already is a bug
 * (assert), and so is changing namespace or name by a set.
 */
node_id ledger_node_add(struct ledger *l, struct obj_node *o); /* or brings a ghost of that name to life */
/*
 * For a pod whose node is not known (yet), or the node of that name.
 * A ghost without pods and nominations is gone after the next commit.
 */
node_id ledger_node_ghost(struct ledger *l, name_id name);
void ledger_node_set(struct ledger *l, node_id n, struct obj_node *o);
/* becomes a ghost while pods are on it; nominations to it are dropped */
void ledger_node_drop(struct ledger *l, node_id n);
node_id ledger_node_find(const struct ledger *l, name_id name); /* ghosts too */

/*
 * ERR_LIMIT if the sum over all pods of a type would pass 2^62;
 * nothing is changed then and the object stays the caller's.
 */
enum err_code ledger_pod_add(struct ledger *l, struct obj_pod *o, const struct pod_entry *entry, pod_id *ret,
			     struct err *e);
/* A pod that stays on its node keeps its place there; one that was evicted and still leaves stays is_evicted. */
enum err_code ledger_pod_set(struct ledger *l, pod_id pod, struct obj_pod *o, const struct pod_entry *entry,
			     struct err *e);
void ledger_pod_drop(struct ledger *l, pod_id pod);
pod_id ledger_pod_find(const struct ledger *l, name_id ns, name_id name);

group_id ledger_group_add(struct ledger *l, struct obj_group *o, queue_id queue, int32_t priority,
			  enum preemptibility p);
/*
 * Its podsets are the leaves of the sub-groups (no other names them as parent), in their order. Which they are may
 * change only while the group has no pods (otherwise drop and add); their minimums may always. A start once known
 * stays; else the object's is taken.
 */
void ledger_group_set(struct ledger *l, group_id g, struct obj_group *o, queue_id queue, int32_t priority,
		      enum preemptibility p);
void ledger_group_drop(struct ledger *l, group_id g); /* asserts: no pods */
/* is_k8s: the one of scheduling.k8s.io; else KAI's, or a gang that pods make. GROUP_NONE. */
group_id ledger_group_find(const struct ledger *l, name_id ns, name_id name, bool is_k8s);
podset_id ledger_podset_find(const struct ledger *l, group_id g, name_id name); /* PODSET_NONE */

pdb_id ledger_pdb_add(struct ledger *l, struct obj_pdb *o);
/* A new status keeps what is spent, but for pods it lists as disrupted: those its own count has seen. */
void ledger_pdb_set(struct ledger *l, pdb_id id, struct obj_pdb *o);
/*
 * So many disruptions fewer are allowed, as if its status said so. Who lets evicted pods go and has nobody who brings
 * the status up to date lowers it by what they spent.
 */
void ledger_pdb_lower(struct ledger *l, pdb_id id, int32_t by);
void ledger_pdb_drop(struct ledger *l, pdb_id id);
pdb_id ledger_pdb_find(const struct ledger *l, name_id ns, name_id name);

enum err_code ledger_queue_add(struct ledger *l, queue_id parent, const char *segment, size_t len,
			       struct queue_spec *spec, queue_id *ret, struct err *e);
void ledger_queue_set(struct ledger *l, queue_id q, struct queue_spec *spec);
/* use moves with it */
enum err_code ledger_queue_move(struct ledger *l, queue_id q, queue_id new_parent, struct err *e);
void ledger_queue_drop(struct ledger *l, queue_id q); /* asserts: no children, no pods */
void ledger_queue_drain(struct ledger *l, queue_id q, bool draining);

/* ---- listeners and self-check ---- */
/*
 * On registration on_add (and on_leaving, for leaving ones) is called for every pod that is on a node, unless it asks
 * for moves alone.
 */
void ledger_listen(struct ledger *l, const struct ledger_listener *listener);
void ledger_unlisten(struct ledger *l, void *ctx);

/* Recompute all derived state from the pods' own fields and compare; ERR_INTERNAL names what differs. */
enum err_code ledger_check(const struct ledger *l, struct err *e);
/* Run it after every move and every undone move, and abort on a difference: for tests. */
void ledger_check_always(struct ledger *l, bool on);
/*
 * A fingerprint of all state, derived and not (but not of counters that only grow): equal before and after a rollback.
 */
uint64_t ledger_digest(const struct ledger *l);
/* What lists and tables took in advance is given back: for after a cluster was read. */
void ledger_trim(struct ledger *l);
/* Bytes kept for pods: the engine's part, and what their objects, names, shapes and label sets take apart. */
struct ledger_memory {
	size_t engine, objects, shapes, names;
};
struct ledger_memory ledger_memory(const struct ledger *l);
