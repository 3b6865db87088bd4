/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - a cluster as the scenario search sees it: workloads and their members, dense, with moves that are taken
 * back.
 *
 * A workload is a pod group, or a pod that is in none; it is what waits, is placed and gives way. Its members are pods,
 * in podsets (sub-groups), each with a minimum. The search evicts and places thousands of times before it decides once,
 * and needs things the ledger does not keep: a pod that is leaving one node and nominated to another. So a session is
 * made of the ledger once per cycle, and what was decided is carried back into it at the end. For engine/ alone.
 *
 * Statuses are KAI's: pending, gated, bound (in this cycle), running, nominated (waits for somebody to leave: KAI's
 * pipelined), leaving, done, failed.
 */
#pragma once

#include "base/bits.h"
#include "engine/engine_internal.h"
#include "rules/fair_share.h"
#include "rules/victim_set.h"

enum member_status { IS_PENDING, IS_GATED, IS_BOUND, IS_RUNNING, IS_NOMINATED, IS_LEAVING, IS_DONE, IS_FAILED };
enum { STATUSES = 8 };
enum status_set {
	SET_ALLOCATED = 1 << IS_BOUND | 1 << IS_RUNNING,
	SET_ACTIVE = SET_ALLOCATED | 1 << IS_NOMINATED,
	SET_USED = SET_ACTIVE | 1 << IS_LEAVING, /* in use: takes room now or soon */
	SET_ALIVE = SET_ACTIVE | 1 << IS_PENDING | 1 << IS_GATED,
};
static inline bool is_in(enum member_status s, enum status_set set)
{
	return (unsigned)set >> s & 1u;
}

#define NONE UINT32_MAX

/* Amounts: the first are those of enum kai_res, then pods, then every other type that somebody asks for. */
enum { AMOUNT_PODS = KAI_RES, AMOUNTS_FIXED };

struct signature { /* what members of one shape ask; a member with volumes has one of its own */
	shape_id shape;
	pod_id example;
	int64_t *ask;	       /* n_amounts */
	double share[KAI_RES]; /* the same, as shares count it */
	bool is_tiny;	       /* so little that it fits everywhere: KAI's best effort */
	bool is_asked;	       /* allowed is known */
	struct bits allowed;   /* nodes that filters other than room let it use; by index */
	uint64_t no_room;      /* = session.room_stamp: no node of the present set had room */
	uint64_t none_now;     /* = session.n_freed + 1: no node had room for it at once */
	/* nodes that are allowed and have room now or soon, as of so many changes; 0: not known */
	struct bits fits;
	uint64_t fits_at;
	/* for how many there is room (session_slots.c), as of so many of counts.changes and one; 0: not known */
	int64_t slots, gpu_slots;
	name_id slots_apart;
	uint32_t slots_at;
	uint32_t n_volumes; /* what was decided for its claims when the searches ended */
	struct assumption *volumes;
};

struct member {
	pod_id pod;
	uint32_t workload, podset, signature;
	uint32_t node;	     /* index; NONE */
	uint32_t copies;     /* first of its copies on nodes; NONE */
	uint32_t evicted_by; /* the move of the present transaction that evicted it; NONE */
	uint32_t hint;	     /* the node it was nominated to in an earlier cycle */
	uint8_t status;
	bool is_virtual;     /* its status is of the present transaction only */
	bool is_core;	     /* counts as not preemptible */
	bool was_running;    /* when the cycle began */
	uint8_t overridden;  /* enum rule_id: the soft rule it moves against */
	uint8_t read_status; /* when the cycle began */
	uint32_t batch;	     /* of the search */
	uint64_t recorded;   /* = search stamp: fixed by an earlier step of the search */
};

struct session_podset {
	name_id name;
	uint32_t workload, first, n; /* members: session.members[first .. first + n), in the order they are taken */
	uint32_t rank;		     /* of the set of podsets it is in: sets are filled in this order */
	int32_t min;
	uint32_t count[STATUSES];
};

struct workload {
	group_id group; /* GROUP_NONE: */
	pod_id pod;	/* a pod alone */
	uint32_t queue; /* NONE: no queue it may use */
	int32_t priority;
	uint32_t rank; /* by creation and uid; no two alike */
	uint32_t first_podset, n_podsets, n_members;
	bool is_preemptible, is_semi;
	bool has_started; /* in this cycle */
	int64_t stale_ns;
	uint32_t count[STATUSES];
	double allocated[KAI_RES], listed_allocated[KAI_RES]; /* now; and without the present transaction */
	/* where it stands in the lists of its queue */
	bool is_listed_pending, is_listed_victim;
	uint8_t pending_state, victim_state;
};

/*
 * What searches note of a workload. Apart from what every workload has: most are never looked at, and memory that
 * nobody touches costs nothing.
 */
struct workload_search {
	uint64_t in_trial;    /* = stamp: its place in the trial's order is its own */
	uint64_t batch_stamp; /* = search stamp: has batches */
	uint64_t gone_stamp;  /* = search stamp + 1: lost something in this trial */
	uint64_t has_room;    /* = stamp: found room in this rehearsal */
	uint64_t seen_stamp;
	uint64_t order_key; /* among those with batches: recorded ones first, then as they came */
	uint32_t first_batch, last_batch;
	bool has_copies; /* in a rehearsal: some member has copies beside the one where it is */
	bool is_held;	 /* some member is only nominated */
	/* what the rules say of it as a victim of the present preemptor */
	uint8_t verdict; /* enum workload_verdict */
	uint64_t judged; /* = session.judge_stamp: known */
};

/* What one asks for that waits or has to look for room again, and how it fared: of few, and so apart from the above. */
struct workload_fate {
	bool knows_request; /* what it asks for next */
	double request[KAI_RES];
	uint32_t n_scenarios, n_refused;
	enum rule_id refused_rule;
	struct share_verdict refusal;
	bool hit_bound;
	bool is_too_large; /* empty nodes have room for n_bearable of the n_together that start together */
	uint32_t n_together, n_bearable;
	bool is_refused; /* by the rule above, before any victim was looked for */
};

/* What workloads ask for next, each different request once. */
struct request_kind {
	uint32_t signature, n;
};

struct session_node {
	node_id id;
	bool is_usable, has_gpu;
	uint64_t by_node_stamp; /* = search stamp: first_by_node is good */
	uint32_t first_by_node, last_by_node;
	uint64_t seen;
};

typedef ARRAY(uint32_t) workload_list;

struct session_queue {
	queue_id id;
	bool is_leaf;
	uint32_t first_child, next; /* NONE */
	double may[KAI_RES];	    /* share_allocatable of it */
	uint64_t n_moves;	    /* so many times something of it moved, or was taken back */
	workload_list pending;	    /* workloads with pending members, first come first */
	ARRAY(uint32_t) kinds;	    /* of their requests */
	double most[KAI_RES];	    /* none of them asks for more than this */
	workload_list victims;	    /* workloads with active members, first to go first */
	uint64_t share_stamp;
	uint32_t share_index, n_shares;
	uint64_t lent_stamp; /* its shares are kept for the end of this rehearsal */
	uint32_t first_kind; /* of its workloads as victims; NONE */
};

/* Nodes that have room, by their room of one resource, of equal ones by name (session_rooms.c). */
struct room_order {
	enum kai_res res;
	bool is_now;	 /* what is free now; else also what will be */
	bool has_plain;	 /* some node has no GPUs; of the order of processors */
	bool has_others; /* some has */
	uint32_t *nodes; /* NULL: not made yet */
	uint32_t n;
	double *room; /* of each node, as it stands here */
	uint64_t at;  /* as of so many changes */
};

/* What searches begin with: the room of all nodes, now and soon, without the present transaction (session_counts.c). */
struct room_counts {
	int64_t *room;		 /* n_amounts a node; a search takes from it and gives back. NULL: not made yet */
	uint64_t spare[RES_MAX]; /* of all nodes that have any; sums that are too large wrap around */
	int64_t gpus;		 /* of all nodes, also of those that have less than none */
	struct bits with_gpus;	 /* nodes on which some are free or will be */
	uint32_t n_followed;	 /* of session.done */
	ARRAY(uint32_t) changes; /* nodes whose room became another one */
	ARRAY(int64_t) rows;	 /* of each of them: n_amounts before, n_amounts after */
	uint64_t *seen, stamp;	 /* of each node, for session_slots.c; goes on from search to search */
};

struct copy { /* of a member, on a node */
	uint32_t node, next;
	uint8_t status;
};

enum move_kind { MOVE_EVICT, MOVE_NOMINATE, MOVE_BIND, MOVE_SPARE /* takes an eviction back */ };
struct session_move {
	uint8_t kind, old_status;
	bool old_virtual, is_valid;
	uint32_t member, node, old_node;
	uint32_t spares; /* MOVE_SPARE: the eviction */
};

struct transaction { /* one decision that stands */
	enum action action;
	uint32_t workload;	      /* that it was for */
	uint32_t first_move, n_moves; /* in session.done */
};

/* Victims of whom the rules say the same to one preemptor. */
struct victim_kind {
	uint32_t queue, next; /* of the same queue; NONE */
	int32_t priority;
	uint8_t preemptibility;
	uint8_t verdict;
	bool is_protected;	/* each of its running pods */
	uint64_t judged, noted; /* = session.judge_stamp: verdict is known; is_protected is */
};

/* Preemptors for whom the rules say the same of every victim. */
struct judge_key {
	enum action action; /* ACTION_NONE: none yet */
	uint32_t queue, n_starts;
	int32_t priority;
	uint32_t workload; /* NONE: whoever it is */
};

/* Whom the rules protected from preemptors of one kind, noted when they were asked. */
struct protected_memo {
	struct judge_key key;
	struct protected_list list;
	const struct protected_pod *kept; /* of the list, in the plan's arena; NULL: not yet */
};

struct session_build; /* session_build.h */
struct solver_memory; /* session_solver.h */

struct session {
	struct engine *en;
	struct session_build *build; /* what it was made of */
	struct ledger *ledger;
	const struct names *names;
	const struct kai_settings *settings;
	struct arena *arena; /* of the cycle */
	int64_t now_ns;
	bool tells_nobody; /* why somebody waits, or who is protected from him */
	res_id gpu;
	uint32_t n_amounts;
	res_id amount_type[RES_MAX];
	uint32_t n_nodes, n_signatures, n_members, n_podsets, n_workloads, n_queues;
	struct session_node *nodes;	 /* in the order of their names */
	int64_t *capacity, *idle, *soon; /* n_amounts a node; soon: what is being freed less what is reserved of it */
	struct signature *signatures;
	struct member *members;
	struct session_podset *podsets;
	struct workload *workloads;
	struct workload_search *searched; /* of each workload */
	struct workload_fate *fates;	  /* the same */
	uint32_t *by_rank;		  /* workloads, in the order of their ranks */
	struct session_queue *queues;	  /* parents first; without the root */
	uint32_t first_queue;		  /* at the top; NONE */
	struct share_queue *shares;	  /* as they are now, moves of the present transaction included */
	struct share_queue *settled;	  /* without them */
	double total[KAI_RES];
	int64_t share_unit
		[KAI_RES]; /* amounts are shared out in multiples of this power of two; 1 unless they are huge */
	ARRAY(struct copy) copies;
	uint32_t *copy_row;	   /* of each member, plus 1; 0: it never had two copies */
	ARRAY(uint64_t) copy_bits; /* rows, a bit for each node: there is a copy on it */
	uint32_t free_copy;
	ARRAY(struct session_move) moves; /* of the present transaction */
	ARRAY(struct session_move) done;  /* of those that stand */
	ARRAY(struct transaction) transactions;
	ARRAY(uint32_t) moved; /* workloads of the transaction that was settled last */
	bool is_for_moves;     /* consolidation in profile default: nominations hold */
	/* who may go for the present preemptor (session_judge.c) */
	struct judge judge;
	struct victim_set_memory sets;
	struct judge_key judged_for;
	uint64_t judge_stamp;
	ARRAY(struct victim_kind) kinds;
	uint32_t *kind_of_rank;	   /* of each workload, by its rank; NONE: it is judged by itself */
	struct cede_cycle plugins; /* in which they are asked; begun if framework is there */
	uint32_t n_starts;	   /* workloads that started in this cycle: their windows began */
	ARRAY(struct protected_memo *) memos;
	struct protected_memo *memo; /* for those like the present preemptor; NULL: there are too many kinds */
	bool is_mirrored;	     /* filters look at other pods: the ledger follows every move */
	uint64_t stamp, room_stamp;
	/* nodes whose room changed, the latest of them; and how many there were before these */
	ARRAY(uint32_t) changes;
	uint64_t n_old_changes;
	uint64_t n_freed;		 /* so many times some node got more room that is free at once */
	struct room_order by_room[2][2]; /* of processors, of GPUs; free in the end, free now */
	struct room_counts counts;
	struct solver_memory *solver_memory; /* of searches, one after the other; NULL: there was none yet */
	ARRAY(struct request_kind) request_kinds;
	struct share_scratch share_scratch;
	struct order *orders[3];      /* of the action, of victims, of a trial */
	ARRAY(uint32_t) tasks;	      /* what session_next_members found last */
	bool tasks_are_step;	      /* of the workload that a trial tries to place */
	double step_request[KAI_RES]; /* of the step that a trial tries to place */
	uint64_t steps;		      /* of the present search */
	bool takes_all_queues;	      /* into the order of a trial, and nothing is passed over */
	bool place_matters;	      /* to some trial of it: where in its queue's list the workload stands */
	bool kinds_matter;	      /* or what those ask for, at least, that stand before it there */
};

static inline uint32_t podset_count(const struct session_podset *p, enum status_set set)
{
	uint32_t n = 0;

	for (unsigned s = 0; s < STATUSES; s++)
		n += is_in(s, set) ? p->count[s] : 0;
	return n;
}
static inline uint32_t workload_count(const struct workload *u, enum status_set set)
{
	uint32_t n = 0;

	for (unsigned s = 0; s < STATUSES; s++)
		n += is_in(s, set) ? u->count[s] : 0;
	return n;
}
static inline const int64_t *member_ask(const struct session *s, uint32_t m)
{
	return s->signatures[s->members[m].signature].ask;
}

/* What is free on a node at once, and what will be when those have gone who leave it. */
static inline void session_room(const struct session *s, uint32_t node, int64_t *ret)
{
	size_t at = (size_t)node * s->n_amounts;

	for (uint32_t a = 0; a < s->n_amounts; a++)
		ret[a] = s->idle[at + a] + s->soon[at + a];
}

static inline struct workload_search *search_of(const struct session *s, const struct workload *u)
{
	return &s->searched[u - s->workloads];
}

/* Without what the present transaction evicted. */
static inline enum member_status settled_status(const struct session *s, const struct member *m)
{
	return m->evicted_by != NONE && s->moves.v[m->evicted_by].is_valid ? s->moves.v[m->evicted_by].old_status
									   : m->status;
}

/* ---- session.c ---- */
/* Where every cycle is one, that of the cycle before follows the ledger, and is kept for the next when it is freed. */
struct session *session_new(struct engine *en, int64_t now_ns, bool is_for_moves);
void session_free(struct session *s);
void session_forget(struct engine *en); /* the one that is kept */

/* What was never made comes last. */
static inline int64_t created_or_late(int64_t t)
{
	return t == TIME_NONE ? INT64_MAX : t;
}

/* ---- session_podsets.c, session_ranks.c: parts of it ---- */
void session_make_podsets(struct session *s);
bool session_minds_amounts(const struct ledger *l, queue_id q, res_id r, int64_t more); /* engine_minds_amounts */
void session_rank_workloads(struct session *s); /* into rank of each, and by_rank */

/* ---- session_moves.c ---- */
void session_evict(struct session *s, uint32_t member);
/* False: it is on that node already and was not evicted from it. simulated: an evicted member may stay where it is. */
bool session_nominate(struct session *s, uint32_t member, uint32_t node, bool simulated);
void session_bind(struct session *s, uint32_t member, uint32_t node);
uint32_t session_mark(const struct session *s);
void session_rollback(struct session *s, uint32_t mark);
/*
 * For a rehearsal: so many of a signature (negative: are gone) take room on a node, or count for a queue; no move is
 * made. n_held: of those who were only nominated, which take what is free at once while they are leaving.
 */
void session_lend_room(struct session *s, uint32_t signature, uint32_t node, int32_t n, int32_t n_held);
void session_lend_share(struct session *s, uint32_t signature, uint32_t queue, bool is_core, int32_t n);
/* May the member stay or be nominated there once it is evicted from where it is? */
bool session_may_return(struct session *s, uint32_t member, uint32_t node);
/* All members of the workload that were bound in this transaction wait for the room to be free instead. */
void session_bound_to_nominated(struct session *s, uint32_t workload);
/* What was done stands. */
void session_commit(struct session *s, enum action action, uint32_t workload);

/* ---- session_lists.c ---- */
/* 0: some podset is below its minimum, 1: all are exactly there, 2: some are above. */
uint8_t workload_state(const struct session *s, const struct workload *u);
/* The order of workloads in a queue: priority, state, age. */
bool workload_before(const struct session *s, uint32_t a, uint8_t state_a, uint32_t b, uint8_t state_b);
/* Does podset a come before b when room is given out? */
bool podset_before(const struct session *s, const struct session_podset *a, uint32_t active_a,
		   const struct session_podset *b, uint32_t active_b);
/* Members to place next, into s->tasks: a gang up to its minimum, then one at a time. */
void session_next_members(struct session *s, uint32_t workload, bool simulated);
const double *workload_find_request(struct session *s, uint32_t workload);
static inline const double *workload_request(struct session *s, uint32_t workload)
{
	const struct workload_fate *f = &s->fates[workload];

	return f->knows_request ? f->request : workload_find_request(s, workload);
}
void session_list_workloads(struct session *s); /* all workloads into the lists of their queues */
/* After workloads changed: those in s->moved, which bear this stamp as seen. */
void session_relist(struct session *s, uint64_t stamp);
/* Of two in one list of their queue, of those that wait or of victims. */
bool workload_comes_before(const struct session *s, bool victims, uint32_t a, uint8_t state_a, uint32_t b,
			   uint8_t state_b);
uint8_t workload_listed_state(const struct session *s, bool victims, uint32_t workload);

/* ---- session_order.c ---- */
enum order_role { ORDER_ACTION, ORDER_VICTIMS, ORDER_TRIAL };
struct order_item {
	uint32_t workload;
	uint32_t entry; /* ORDER_VICTIMS: what is left of it, NONE: all; ORDER_TRIAL: enum trial_role */
	uint8_t state;
};
enum trial_role { TRIAL_ASKS = 1, TRIAL_LOST, TRIAL_LOST_AND_WAITS }; /* NONE: only waits, and is passed over */
enum pick_of_workload {
	TAKE_WORKLOAD,
	PASS_WORKLOAD,
	NO_MORE_WORKLOADS /* of this queue: they only get better from here */
};
typedef enum pick_of_workload (*order_filter)(struct session *s, uint32_t workload, void *ctx);
/*
 * Starts an order: of pending workloads, or of victims. filter NULL: all. Extra items (sorted, first to come first)
 * stand for their workloads.
 */
void order_begin(struct session *s, enum order_role role, order_filter filter, void *ctx,
		 const struct order_item *extra, uint32_t n_extra);
bool order_pop(struct session *s, enum order_role role, struct order_item *ret);
/*
 * In the order of a trial queues are left out that do not matter, unless some stood alike so far whom only what they
 * may have decides between: then it may be another one with all of them (session.takes_all_queues).
 */
bool order_is_unclear(const struct session *s);
void order_push(struct session *s, enum order_role role, struct order_item item);
/* What is left of a workload among the victims. */
struct victim_entry {
	uint32_t workload;
	uint32_t *members; /* active ones, by podset */
	uint32_t *n_left;  /* of each podset */
	uint32_t *first;   /* of each podset, in members */
	double allocated[KAI_RES];
};
/* All its active members. nominated_first: who is only nominated goes before those who run. */
uint32_t order_entry(struct session *s, uint32_t workload, bool nominated_first);
struct victim_entry *order_get_entry(struct session *s, uint32_t entry);
void order_free(struct session *s);

/* ---- session_place.c ---- */
bool session_over_limit(const struct session *s, uint32_t workload, const double request[KAI_RES]);
bool session_core_over_quota(const struct session *s, uint32_t workload, const double request[KAI_RES]);
/* All of s->tasks, or none. set: nodes that may be used; NULL: all. */
bool session_place(struct session *s, uint32_t workload, const struct bits *set, bool simulated);
bool session_allows(struct session *s, uint32_t signature, uint32_t node);
/* As many as the members of a workload that are all alike: do its queues allow them? */
bool session_queue_allows(const struct session *s, uint32_t workload, uint32_t signature, bool is_core, uint32_t n);
/* Is there, as far as is quickly seen, a node with room for one of the signature at once; has this one? */
bool session_may_fit_now(struct session *s, uint32_t signature);
bool session_fits_now(const struct session *s, uint32_t signature, uint32_t node);
/* Is room given out fullest first, node by node as they stand in the order of their room? */
bool session_is_walked(const struct session *s, uint32_t signature);
/* The first node from position `at` of the order on that has room for one of the signature. NONE: there is no more. */
uint32_t session_walk(struct session *s, const struct room_order *o, uint32_t signature, uint32_t *at);

/* Is there a node in the set with room for one of this signature, now or soon? */
bool session_has_room(struct session *s, uint32_t signature, const struct bits *set);

/* ---- session_rooms.c ---- */
/* As nodes are now. r: KAI_CPU or KAI_GPU. */
const struct room_order *session_by_room(struct session *s, enum kai_res r, bool is_now);
/*
 * An order as it is now, kept; and made so again once all nodes have the room that they had then. changes_from: what
 * room_order_at said before they changed.
 */
struct room_memory {
	ARRAY(uint32_t) nodes;
};
void room_order_keep(struct session *s, enum kai_res r, struct room_memory *ret);
uint64_t room_order_at(const struct session *s, enum kai_res r);
void room_order_restore(struct session *s, enum kai_res r, const struct room_memory *m, uint64_t changes_from);
/* The first in it that has as much room as that. */
uint32_t room_order_from(const struct room_order *o, int64_t ask);

/* ---- session_counts.c ---- */
/* As nodes are now; only where the present transaction has no moves. */
struct room_counts *session_counts(struct session *s);
void session_counts_free(struct session *s);

/* ---- session_solve.c ---- */
/* The moves of the present transaction are a way to let the workload run, or there are none and it is false. */
bool session_solve(struct session *s, enum action action, uint32_t workload, order_filter filter, void *ctx);
void session_solve_end(struct session *s); /* of the cycle */

/* ---- session_actions.c ---- */
void session_run(struct session *s);
/* Profile default: groups that wait get room by moving others. */
void session_run_moves(struct session *s);

/* ---- session_kinds.c ---- */
void session_find_kinds(struct session *s);
/* It is not what it was when the cycle began: it is judged by itself from now on. */
void session_leave_kind(struct session *s, uint32_t workload);

/* ---- session_judge.c ---- */
enum workload_verdict {
	WORKLOAD_MAY_GO,
	WORKLOAD_KEEPS_MINIMUM, /* what is above it may go */
	WORKLOAD_IS_SPARED,	/* goes if nothing else works */
	WORKLOAD_STAYS,
	WORKLOAD_IS_TOO_HIGH, /* stays, by its priority, and so do all above it */
};
/* From now on victims are judged for this workload. False: a rule holds back the workload itself. */
bool session_judge_for(struct session *s, enum action action, uint32_t workload);
/* Whom rules protect from the present preemptor is noted: the first of a kind asks of everybody, oldest first. */
void session_note_protected(struct session *s, uint32_t by);
enum workload_verdict session_verdict(struct session *s, uint32_t victim);
/* May all that is left of a gang go, for nobody? */
bool session_may_clean_up(struct session *s, uint32_t workload);
/* A finished scenario was refused by shares: whoever would have been lost is protected by them. */
void session_note_refused(struct session *s, uint32_t member, const struct share_verdict *why);
struct rule_verdict session_share_verdict(const struct session *s, const struct share_verdict *v);
void session_judge_end(struct session *s);

/* ---- session_report.c ---- */
/* Remembers what was decided for claims, before what the searches tried in the ledger is taken back. */
void session_keep_volumes(struct session *s);
/* Into the ledger, and decisions. */
void session_report(struct session *s, uint32_t cycle, struct decisions *ret);
/* The fair shares that decide in this cycle, for whoever tells why. */
void session_keep_shares(const struct session *s, uint32_t cycle, struct decisions *ret);
