/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene_solver.h - one scenario search under way: what scene_solve.c (its steps), scene_candidates.c (who may go next)
 * and scene_trial.c (one scenario tried and judged) share; for them alone.
 *
 * Victims of earlier steps are recorded: they stay evicted in the scene from the beginning of a step on, and each trial
 * is taken back to there. As long as every victim is a whole unit, nobody found room again and the quick look says that
 * those looked at so far cannot be enough, the next step goes on where the last one ended; otherwise it starts afresh.
 * The answer is the same.
 */
#pragma once

#include "engine/scene.h"

struct batch {			 /* members that go together */
	uint32_t unit, first, n; /* in solver.members */
	uint32_t next;		 /* of the same unit; NONE */
	bool is_recorded;
};

struct by_node { /* units with candidates on a node */
	uint32_t unit, next;
};

typedef ARRAY(struct order_item) item_list;
typedef ARRAY(struct share_batch) share_list;

struct solver {
	struct scene *s;
	enum action action;
	uint32_t unit;
	order_filter filter;
	void *ctx;
	uint64_t stamp; /* what units and nodes keep for this search, until it starts afresh */
	/* nodes that may be used: from the beginning; with those of recorded victims; in this step; in this trial */
	struct bits base, kept_set, feasible, trial_set;
	uint32_t *want;		 /* members to place */
	uint32_t n_want, n_part; /* the step places the first n_part */
	/* candidates so far */
	ARRAY(struct batch) batches;
	ARRAY(uint32_t) members;
	ARRAY(struct by_node) by_node;
	uint32_t n_candidates;		 /* batches that are not recorded */
	uint32_t n_looked_at;		 /* units with batches */
	uint32_t last_unit;		 /* of the newest candidate */
	uint64_t next_key, recorded_key; /* of candidates; of recorded units, which come before them */
	bool has_pushed_back;		 /* some unit goes in several batches */
	uint64_t nowhere_seen;
	/* recorded victims: evicted from the beginning of the step on */
	uint32_t base_mark, n_base_gone, n_base_complex;
	item_list base_items;
	share_list base_shares;
	/* the trial */
	ARRAY(uint32_t) gone; /* members taken away, recorded ones first */
	ARRAY(uint32_t) new_units;
	uint32_t evict_mark; /* moves up to here are evictions */
	uint32_t n_complex;  /* units that lost only some of their members */
	bool all_lost;	     /* nobody found room again, and nobody can */
	item_list items, new_items;
	share_list shares, sorted;
	ARRAY(uint32_t) forms; /* of those gone */
	uint32_t n_base_forms;
	/* kept for a fresh start */
	ARRAY(struct batch) kept;
	ARRAY(uint32_t) kept_members;
	ARRAY(bool) kept_goes;	 /* for each of them: it lost its place or moves */
	ARRAY(uint32_t) units;	 /* scratch */
	ARRAY(uint32_t) settled; /* units that solver_settle_base made recorded, in order */
	/* the quick look: free GPUs of each node with all candidates gone */
	int64_t *free_gpus;
	int64_t need;	/* of every member, if they all want the same; else -1 */
	int64_t slots;	/* how many of them there is room for */
	int64_t *needs; /* of the step, largest first, if they differ */
};

/* ---- scene_candidates.c ---- */
void quick_begin(struct solver *v);
bool quick_look(struct solver *v); /* could it be enough? */
void solver_add_batch(struct solver *v, uint32_t unit, const uint32_t *members, uint32_t n, bool is_recorded);
bool solver_add_candidate(struct solver *v); /* false: there are no more */
/* What stays in any case: work inside its window keeps its minimum, and so does work whose core may not be touched. */
bool solver_keeps_core(const struct solver *v, uint32_t unit);

/* ---- scene_trial.c ---- */
void solver_take_away(struct solver *v, uint32_t member);
/* Those taken away since the last call are a part of what every later trial begins with. */
void solver_settle_base(struct solver *v);
void solver_reset_base(struct solver *v);
/* One scenario: recorded victims and the candidates. True: solved, and its moves stand in the scene. */
bool solver_try(struct solver *v);
static inline bool solver_goes(const struct scene *s, uint32_t member)
{
	uint32_t by = s->members[member].evicted_by;

	return by != NONE && s->moves.v[by].is_valid;
}
/* Units that lost something in this trial, recorded ones first, into v->units. */
void solver_gone_units(struct solver *v);
