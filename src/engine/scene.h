/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene.h - a cluster as the scenario search sees it: units and their members, dense, with moves that are taken back.
 *
 * A unit is a pod group, or a pod that is in none; it is what waits, is placed and gives way. Its members are pods, in
 * parts (sub-groups), each with a minimum. The search evicts and places thousands of times before it decides once, and
 * needs things the ledger does not keep: a pod that is leaving one node and promised another. So a scene is made of the
 * ledger once per cycle, and what was decided is carried back into it at the end. For engine/ alone.
 *
 * Statuses are KAI's: pending, gated, bound (in this cycle), running, promised (waits for somebody to leave), leaving,
 * done, failed.
 */
#pragma once

#include "base/bits.h"
#include "engine/engine_internal.h"
#include "rules/fair_share.h"

enum member_status { IS_PENDING, IS_GATED, IS_BOUND, IS_RUNNING, IS_PROMISED, IS_LEAVING, IS_DONE, IS_FAILED };
enum { STATUSES = 8 };
enum status_set {
	SET_ALLOCATED = 1 << IS_BOUND | 1 << IS_RUNNING,
	SET_ACTIVE = SET_ALLOCATED | 1 << IS_PROMISED,
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

struct form { /* what members of one shape ask */
	shape_id shape;
	pod_id example;
	int64_t *ask;	       /* n_amounts */
	double share[KAI_RES]; /* the same, as shares count it */
	bool is_tiny;	       /* so little that it fits everywhere: KAI's best effort */
	bool is_asked;	       /* allowed is known */
	struct bits allowed;   /* nodes that filters other than room let it use; by index */
	uint64_t no_room;      /* = scene.room_stamp: no node of the present set had room */
};

struct member {
	pod_id pod;
	uint32_t unit, part, form;
	uint32_t node;	     /* index; NONE */
	uint32_t copies;     /* first of its copies on nodes; NONE */
	uint32_t evicted_by; /* the move of the present statement that evicted it; NONE */
	uint32_t hint;	     /* the node it was promised in an earlier cycle */
	uint8_t status;
	bool is_virtual;   /* its status is of the present statement only */
	bool is_core;	   /* counts as not preemptible */
	bool was_running;  /* when the cycle began */
	uint32_t batch;	   /* of the search */
	uint64_t recorded; /* = search stamp: fixed by an earlier step of the search */
};

struct part {
	name_id name;
	uint32_t unit, first, n; /* members: scene.members[first .. first + n), in the order they are taken */
	uint32_t rank;		 /* of the set of parts it is in: sets are filled in this order */
	int32_t min;
	uint32_t count[STATUSES];
};

struct unit {
	group_id group; /* GROUP_NONE: */
	pod_id pod;	/* a pod alone */
	uint32_t queue; /* NONE: no queue it may use */
	int32_t priority;
	uint32_t rank; /* by creation and uid; no two alike */
	uint32_t first_part, n_parts, n_members;
	bool is_preemptible, is_semi;
	int64_t started_ns, stale_ns;
	uint32_t count[STATUSES];
	double allocated[KAI_RES], listed_allocated[KAI_RES]; /* now; and without the present statement */
	bool knows_request;				      /* what it asks for next */
	double request[KAI_RES];
	/* where it stands in the lists of its queue */
	bool is_listed_pending, is_listed_victim;
	uint8_t pending_state, victim_state;
	uint64_t in_trial;    /* = stamp: its place in the trial's order is its own */
	uint64_t batch_stamp; /* = search stamp: has batches */
	uint64_t gone_stamp;  /* = search stamp + 1: lost something in this trial */
	uint64_t seen_stamp;
	uint64_t order_key; /* among those with batches: recorded ones first, then as they came */
	uint32_t first_batch, last_batch;
	/* how it fared */
	uint32_t n_scenarios, n_refused;
	enum action refused_by;
	enum rule_id refused_rule;
	struct share_verdict refusal;
	bool hit_bound;
};

/* What units ask for next, each different request once. */
struct request_kind {
	uint32_t form, n;
};

struct scene_node {
	node_id id;
	bool is_usable, has_gpu;
	uint64_t by_node_stamp; /* = search stamp: first_by_node is good */
	uint32_t first_by_node, last_by_node;
	uint64_t seen;
};

struct scene_queue {
	queue_id id;
	bool is_leaf;
	ARRAY(uint32_t) pending; /* units with pending members, first come first */
	ARRAY(uint32_t) kinds;	 /* of their requests */
	ARRAY(uint32_t) victims; /* units with active members, first to go first */
	uint64_t share_stamp;
	uint32_t share_index, n_shares;
};

struct copy { /* of a member, on a node */
	uint32_t node, next;
	uint8_t status;
};

enum move_kind { MOVE_EVICT, MOVE_PROMISE, MOVE_BIND, MOVE_SPARE /* takes an eviction back */ };
struct scene_move {
	uint8_t kind, old_status;
	bool old_virtual, is_valid;
	uint32_t member, node, old_node;
	uint32_t spares; /* MOVE_SPARE: the eviction */
};

struct statement { /* one decision that stands */
	enum action action;
	uint32_t unit;		      /* that it was for */
	uint32_t first_move, n_moves; /* in scene.done */
};

struct scene {
	struct engine *en;
	struct ledger *ledger;
	const struct names *names;
	const struct kai_settings *settings;
	struct arena *arena; /* of the cycle */
	int64_t now_ns;
	res_id gpu;
	uint32_t n_amounts;
	res_id amount_type[RES_MAX];
	uint32_t n_nodes, n_forms, n_members, n_parts, n_units, n_queues;
	struct scene_node *nodes;	 /* in the order of their names */
	int64_t *capacity, *idle, *soon; /* n_amounts a node; soon: what is being freed less what is promised of it */
	struct form *forms;
	struct member *members;
	struct part *parts;
	struct unit *units;
	uint32_t *by_rank;	     /* units, in the order of their ranks */
	struct scene_queue *queues;  /* parents first; without the root */
	struct share_queue *shares;  /* as they are now, moves of the present statement included */
	struct share_queue *settled; /* without them */
	double total[KAI_RES];
	ARRAY(struct copy) copies;
	uint32_t free_copy;
	ARRAY(struct scene_move) moves; /* of the present statement */
	ARRAY(struct scene_move) done;	/* of those that stand */
	ARRAY(struct statement) statements;
	bool is_for_moves;   /* consolidation in profile default: promises hold, all rules are asked */
	struct judge *judge; /* for it */
	bool is_mirrored;    /* filters look at other pods: the ledger follows every move */
	uint64_t stamp, room_stamp;
	ARRAY(struct request_kind) request_kinds;
	struct share_scratch share_scratch;
	struct order *orders[3];      /* of the action, of victims, of a trial */
	ARRAY(uint32_t) tasks;	      /* what scene_next_members found last */
	bool tasks_are_part;	      /* of the unit that a trial tries to place */
	double part_request[KAI_RES]; /* of the part of a unit that a trial tries to place */
	uint64_t steps;		      /* of the present search */
};

static inline bool scene_rule_is_off(const struct scene *s, enum rule_id rule)
{
	return s->en->config->rules_off >> rule & 1;
}
static inline uint32_t part_count(const struct part *p, enum status_set set)
{
	uint32_t n = 0;

	for (unsigned s = 0; s < STATUSES; s++)
		n += is_in(s, set) ? p->count[s] : 0;
	return n;
}
static inline uint32_t unit_count(const struct unit *u, enum status_set set)
{
	uint32_t n = 0;

	for (unsigned s = 0; s < STATUSES; s++)
		n += is_in(s, set) ? u->count[s] : 0;
	return n;
}
static inline const int64_t *member_ask(const struct scene *s, uint32_t m)
{
	return s->forms[s->members[m].form].ask;
}

/* Without what the present statement evicted. */
static inline enum member_status settled_status(const struct scene *s, const struct member *m)
{
	return m->evicted_by != NONE && s->moves.v[m->evicted_by].is_valid ? s->moves.v[m->evicted_by].old_status
									   : m->status;
}

/* ---- scene.c ---- */
struct scene *scene_new(struct engine *en, int64_t now_ns, bool is_for_moves);
void scene_free(struct scene *s);

/* ---- scene_moves.c ---- */
void scene_evict(struct scene *s, uint32_t member);
/* False: it is on that node already and was not evicted from it. simulated: an evicted member may stay where it is. */
bool scene_promise(struct scene *s, uint32_t member, uint32_t node, bool simulated);
void scene_bind(struct scene *s, uint32_t member, uint32_t node);
uint32_t scene_mark(const struct scene *s);
void scene_rollback(struct scene *s, uint32_t mark);
/* All members of the unit that were bound in this statement wait for the room to be free instead. */
void scene_bound_to_promised(struct scene *s, uint32_t unit);
/* What was done stands. */
void scene_commit(struct scene *s, enum action action, uint32_t unit);

/* ---- scene_order.c ---- */
enum order_role { ORDER_ACTION, ORDER_VICTIMS, ORDER_TRIAL };
/* 0: some part is below its minimum, 1: all are exactly there, 2: some are above. */
uint8_t unit_state(const struct scene *s, const struct unit *u);
/* The order of units in a queue: priority, state, age. */
bool unit_before(const struct scene *s, uint32_t a, uint8_t state_a, uint32_t b, uint8_t state_b);
/* Does part a come before b when room is given out? */
bool part_before(const struct scene *s, const struct part *a, uint32_t active_a, const struct part *b,
		 uint32_t active_b);
/* Members to place next, into s->tasks: a gang up to its minimum, then one at a time. */
void scene_next_members(struct scene *s, uint32_t unit, bool simulated);
const double *unit_request(struct scene *s, uint32_t unit);
void scene_list_units(struct scene *s);		   /* all units into the lists of their queues */
void scene_relist(struct scene *s, uint32_t unit); /* after it changed */

struct order_item {
	uint32_t unit;
	uint32_t entry; /* ORDER_VICTIMS: what is left of it, NONE: all; ORDER_TRIAL: enum trial_role */
	uint8_t state;
};
enum trial_role { TRIAL_ASKS = 1, TRIAL_LOST, TRIAL_LOST_AND_WAITS }; /* NONE: only waits, and is passed over */
enum pick_of_unit { TAKE_UNIT, PASS_UNIT, NO_MORE_UNITS /* of this queue: they only get better from here */ };
typedef enum pick_of_unit (*order_filter)(struct scene *s, uint32_t unit, void *ctx);
/*
 * Starts an order: of pending units, or of victims. filter NULL: all. Extra items (sorted, first to come first) stand
 * for their units.
 */
void order_begin(struct scene *s, enum order_role role, order_filter filter, void *ctx, const struct order_item *extra,
		 uint32_t n_extra);
bool order_pop(struct scene *s, enum order_role role, struct order_item *ret);
void order_push(struct scene *s, enum order_role role, struct order_item item);
/* What is left of a unit among the victims. */
struct entry {
	uint32_t unit;
	uint32_t *members; /* active ones, by part */
	uint32_t *n_left;  /* of each part */
	uint32_t *first;   /* of each part, in members */
	double allocated[KAI_RES];
};
/* All its active members. promised_first: who has no more than the promise of a place goes before those who run. */
uint32_t order_entry(struct scene *s, uint32_t unit, bool promised_first);
struct entry *order_get_entry(struct scene *s, uint32_t entry);
void order_free(struct scene *s);

/* ---- scene_place.c ---- */
bool scene_over_limit(const struct scene *s, uint32_t unit, const double request[KAI_RES]);
bool scene_core_over_quota(const struct scene *s, uint32_t unit, const double request[KAI_RES]);
/* All of s->tasks, or none. set: nodes that may be used; NULL: all. */
bool scene_place(struct scene *s, uint32_t unit, const struct bits *set, bool simulated);
bool scene_allows(struct scene *s, uint32_t form, uint32_t node);

/* Is there a node in the set with room for one of this form, now or soon? */
bool scene_has_room(struct scene *s, uint32_t form, const struct bits *set);

/* ---- scene_solve.c ---- */
/* The moves of the present statement are a way to let the unit run, or there are none and it is false. */
bool scene_solve(struct scene *s, enum action action, uint32_t unit, order_filter filter, void *ctx);

/* ---- scene_actions.c ---- */
void scene_run(struct scene *s);
/* Profile default: groups that wait get room by moving others. */
void scene_run_moves(struct scene *s);
/* Is the unit inside a window for this action? */
bool scene_is_protected(const struct scene *s, enum action action, uint32_t by, uint32_t victim, int64_t *ret_until_ns);
static inline bool unit_is_elastic(const struct scene *s, const struct unit *u)
{
	for (uint32_t i = 0; i < u->n_parts; i++)
		if ((uint32_t)s->parts[u->first_part + i].min < s->parts[u->first_part + i].n)
			return true;
	return false;
}

/* ---- scene_report.c ---- */
/* Into the ledger, and decisions. */
void scene_report(struct scene *s, uint32_t cycle, struct decisions *ret);
