/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_solver.h - one scenario search under way: what session_solve.c (its steps), session_candidates.c (who may go
 * next), session_trial.c (one scenario tried) and session_law.c (and judged) share; for them alone.
 *
 * Victims of earlier steps are recorded: they stay evicted in the session from the beginning of a step on, and each
 * trial is taken back to there. As long as every victim is a whole workload, nobody found room again and the quick look
 * says that those looked at so far cannot be enough, the next step goes on where the last one ended; otherwise it
 * starts afresh. The answer is the same.
 */
#pragma once

#include "engine/session.h"

struct batch {			     /* members that go together */
	uint32_t workload, first, n; /* in solver.members */
	uint32_t next;		     /* of the same workload; NONE */
	bool is_recorded;
	/* where there are sides (session_sides.c) */
	uint32_t side;
	double held[KAI_RES], grain[KAI_RES]; /* by its members; share_grain of what each holds */
	uint64_t summed;		      /* in this sum of sides */
};

struct by_node { /* workloads with candidates on a node */
	uint32_t workload, next, first_batch;
};

struct victim_ahead {
	uint32_t workload, podset, first; /* its first podset, and the first member of that */
};

enum { SLOT_KINDS = 4 };
struct slot_kind {	       /* members of one signature that a search wants to place */
	uint32_t signature, n; /* n: in this step */
	name_id apart;	       /* no two of them bear each other where nodes have this label; NAME_NONE */
	/*
	 * For how many there is room: before anybody is gone; with everybody gone who was looked at; with the recorded
	 * victims gone; and in this trial.
	 */
	int64_t clean, most, base, now;
};

struct freed { /* of one who was looked at */
	uint32_t node, signature;
};

struct side {				/* session_sides.c */
	struct share_side share;	/* in this trial */
	struct share_side base;		/* with recorded victims gone alone */
	uint32_t level;			/* 0: siblings of the workload's own queue; 1: of the one above it */
	bool is_live;			/* somebody of it is gone */
	bool is_touched;		/* somebody of it is on the node of this trial */
	double base_most[KAI_RES];	/* it may lose, with recorded victims gone alone */
	bool base_loses_all, loses_all; /* is that all of it? Then, and in this trial */
};

struct level_sum {			     /* of the sides of one level */
	double base[KAI_RES], gone[KAI_RES]; /* by recorded victims; in this trial */
};

struct lent { /* room that somebody takes in a rehearsal */
	uint32_t node, signature;
	int32_t n, n_held; /* as session_lend_room has it */
};

struct lent_share { /* of a queue, before a rehearsal */
	uint32_t queue;
	double allocated[KAI_RES], allocated_core[KAI_RES];
};

typedef ARRAY(struct batch) batch_list;
typedef ARRAY(struct by_node) by_node_list;
typedef ARRAY(struct victim_ahead) ahead_list;
typedef ARRAY(struct freed) freed_list;

/*
 * Lists that grow with what a search looks at. One search after the other has them, so that not each asks for their
 * memory anew and copies them while they grow.
 */
struct solver_memory {
	batch_list batches;
	workload_list members;
	by_node_list by_node;
	ahead_list sequence;
	freed_list freed;
};

typedef ARRAY(struct order_item) item_list;
typedef ARRAY(struct share_batch) share_list;

struct solver {
	struct session *s;
	enum action action;
	uint32_t workload;
	order_filter filter;
	void *ctx;
	uint64_t stamp; /* what workloads and nodes keep for this search, until it starts afresh */
	/* nodes that may be used: from the beginning; with those of recorded victims; in this step; in this trial */
	struct bits base, kept_set, feasible, trial_set;
	uint32_t *want;		 /* members to place */
	uint32_t n_want, n_step; /* the step places the first n_step */
	/* candidates so far */
	batch_list batches;
	workload_list members;
	by_node_list by_node;
	uint32_t n_candidates;		 /* batches that are not recorded */
	uint32_t n_looked_at;		 /* workloads with batches */
	uint32_t n_open;		 /* of them, those of whom more may be popped */
	uint32_t last_workload;		 /* of the newest candidate */
	uint64_t next_key, recorded_key; /* of candidates; of recorded workloads, which come before them */
	bool has_pushed_back;		 /* some workload goes in several batches */
	/* victims in their order, as far as it was looked into, as long as each of them goes as a whole */
	ahead_list sequence;
	uint32_t sequence_at;
	bool has_order, has_sequence;
	uint64_t nowhere_seen;
	/* recorded victims: evicted from the beginning of the step on */
	uint32_t base_mark, n_base_gone, n_base_complex;
	item_list base_items;
	item_list late_items; /* that belong there and were not sorted in yet */
	item_list heads;      /* the first of each queue */
	bool is_tight; /* who was placed in the last step used all room there was for them, and nobody found any */
	share_list base_shares;
	/* the trial */
	ARRAY(uint32_t) gone; /* members taken away, recorded ones first */
	ARRAY(uint32_t) new_workloads;
	uint32_t evict_mark; /* moves up to here are evictions */
	uint32_t n_complex;  /* workloads that lost only some of their members */
	bool all_lost;	     /* nobody found room again, and nobody can */
	bool is_widened;     /* a trial of this step was refused, and its nodes may be used */
	bool is_uniform;     /* members to place are alike, and nowhere */
	item_list items, new_items;
	share_list shares, sorted;
	ARRAY(uint32_t) signatures; /* of those gone */
	uint32_t n_base_signatures;
	/* kept for a fresh start */
	ARRAY(struct batch) kept;
	ARRAY(uint32_t) kept_members;
	ARRAY(bool) kept_goes;	   /* for each of them: it lost its place or moves */
	ARRAY(uint32_t) workloads; /* scratch */
	ARRAY(uint32_t) settled;   /* workloads that solver_settle_base made recorded, in order */
	/* the quick look, at free GPUs of each node with all candidates gone */
	int64_t need;	/* of every member, if they all want the same; else -1 */
	int64_t slots;	/* how many of them there is room for */
	int64_t *needs; /* of the step, largest first, if they differ */
	/* room, of all amounts (session_slots.c) */
	uint32_t n_slot_kinds; /* 0: nothing is left out */
	struct slot_kind slot_kinds[SLOT_KINDS];
	struct room_counts *counts; /* of all nodes before anybody is gone */
	int64_t clean_gpu_slots;    /* for how many GPUs are free with nobody gone, if each wants what the first does */
	bool base_is_all;
	bool cannot_move; /* a consolidation of which nothing can come: all would have to have room in the end */
	freed_list freed; /* who of them was counted as gone in counts->room */
	ARRAY(uint32_t) slot_nodes; /* that the trial has changed */
	uint32_t n_summed;	    /* of them: those whose room was looked at last */
	/* who may be lost (session_sides.c) */
	ARRAY(struct side) sides; /* empty: not asked */
	uint32_t *side_of;	  /* of each queue; NONE: on the workload's own path */
	struct level_sum *levels;
	uint32_t n_levels;
	ARRAY(uint32_t) live_sides, touched_sides;
	bool knows_base_most;	    /* in this step */
	double base_most[KAI_RES];  /* all sides together */
	uint32_t n_base_live;	    /* of them, those of recorded victims */
	double free_share[KAI_RES]; /* before anybody is gone */
	uint32_t touched_level;	    /* the innermost of this trial's */
	/* trials that are rehearsed (session_rehearsal.c) */
	bool may_rehearse;		   /* in this search */
	bool is_rehearsing;		   /* new_workloads are counted as gone, and are not */
	bool base_is_singles, are_singles; /* recorded victims; all that are gone: workloads of one member each */
	uint8_t rehearsal_state;	   /* of the step: enum in session_rehearsal.c */
	uint32_t n_failed;		   /* trials of this search that were made in vain */
	ARRAY(struct lent) lent;	   /* first what those who go leave (n is negative), then what is taken */
	ARRAY(struct lent_share) lent_shares;
	uint64_t lent_stamp;
	ARRAY(uint32_t) room_nodes;	/* that have any, once the workload has room */
	struct room_memory rooms;	/* with recorded victims gone */
	ARRAY(uint32_t) base_workloads; /* recorded ones, in their order */
};

/* ---- session_candidates.c ---- */
void quick_begin(struct solver *v);
bool quick_look(struct solver *v); /* could it be enough? */
void solver_add_batch(struct solver *v, uint32_t workload, const uint32_t *members, uint32_t n, bool is_recorded);
void victims_afresh(struct solver *v);	     /* candidates come from the first on */
bool solver_add_candidate(struct solver *v); /* false: there are no more */
/* What stays in any case: work inside its window keeps its minimum, and so does work whose core may not be touched. */
bool solver_keeps_core(const struct solver *v, uint32_t workload);

/* ---- session_slots.c ---- */
/* Would there be room for all that v->want says if no other pod were there? ret: for how many at most. */
bool slots_could_ever_do(struct solver *v, uint32_t *ret);
void slots_begin(struct solver *v); /* of a search; v->want is known */
void slots_end(struct solver *v);
void slots_afresh(struct solver *v);		    /* nobody was looked at */
void slots_step(struct solver *v);		    /* v->n_step is one more than in the last */
void slots_free(struct solver *v, uint32_t member); /* it was looked at; also for the quick look */
bool slots_could_do(const struct solver *v);	    /* could it be enough if everybody looked at were gone? */
void slots_trial(struct solver *v, bool is_base);   /* nobody is gone, or (not is_base) the recorded victims */
void slots_touch(struct solver *v, uint32_t node);  /* before somebody on it goes */
bool slots_are_enough(struct solver *v);	    /* in this trial? */
/* After that, with room given by the moves from this one on to others than the workload: still? */
bool slots_remain(struct solver *v, uint32_t first);
bool slots_remain_lent(struct solver *v, uint32_t first); /* the same of v->lent */
/* After slots_are_enough: is there room for just as many as are asked for, all of one signature? */
bool slots_are_exact(const struct solver *v);
/* Then, with all of them placed, is there room for no victim on the nodes of this trial? */
bool slots_leave_nothing(const struct solver *v);
void slots_settle(struct solver *v); /* who is gone now is recorded */

/* ---- session_sides.c ---- */
enum outlook { MAY_BE_LAWFUL, CANNOT_HAVE_ROOM, CANNOT_BE_LAWFUL };
void sides_begin(struct solver *v); /* of a search; v->base_is_all is known */
void sides_end(struct solver *v);
void sides_step(struct solver *v); /* nobody is gone but the recorded victims */
void sides_note_batch(struct solver *v, uint32_t batch);
/* Of a trial on this node. why: if it cannot be lawful. */
enum outlook sides_outlook(struct solver *v, uint32_t node, struct share_verdict *why);
/* Could a trial be lawful on one of the nodes where the workload has members? */
bool sides_may_be_lawful(struct solver *v, uint32_t workload);
void sides_note_refused(struct solver *v); /* after an outlook that said so */

/* ---- session_rehearsal.c ---- */
enum rehearsal { MAY_WORK, HAS_NO_ROOM, IS_REFUSED };
void rehearsal_begin(struct solver *v); /* of a search; nobody is gone, v->base_is_all is known */
void rehearsal_step(struct solver *v);
void rehearsal_end(struct solver *v);
/* How would the trial on this node end? why: by which shares it is refused. */
enum rehearsal rehearse(struct solver *v, uint32_t node, struct share_verdict *why);

/* ---- session_trial.c ---- */
/* Who looks for room in the trial, in the order of the queues. */
void solver_begin_order(struct solver *v);
bool solver_finds_nobody_room(struct solver *v, const struct bits *set);
void solver_note_signature(struct solver *v, uint32_t signature);
void solver_take_away(struct solver *v, uint32_t member);
/* Those taken away since the last call belong to what every later trial begins with. */
void solver_settle_base(struct solver *v);
void solver_reset_base(struct solver *v);
/* One scenario: recorded victims and the candidates. True: solved, and its moves stand in the session. */
bool solver_try(struct solver *v);
static inline bool solver_goes(const struct session *s, uint32_t member)
{
	uint32_t by = s->members[member].evicted_by;

	return by != NONE && s->moves.v[by].is_valid;
}

/* ---- session_law.c ---- */
enum { REFUSALS_NOTED = 64 }; /* of one search: by then everybody who matters was named */
/* Workloads that lost something in this trial, recorded ones first, into v->workloads. */
void solver_gone_workloads(struct solver *v);
/* Would shares refuse that these workloads are lost as a whole, each of members that are alike? */
bool solver_shares_refuse(struct solver *v, const uint32_t *lost, uint32_t n, struct share_verdict *why);
void solver_sort_new(struct solver *v); /* v->new_workloads, as workloads are counted */
/* How the trial stands in the session, may it? */
bool solver_is_lawful(struct solver *v);
/* What those taken away since the last recorded ones hold belongs to what later trials begin with. */
void solver_note_base_shares(struct solver *v);
