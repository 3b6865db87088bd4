/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displace_answers.h - what all nodes said to one kind of waiting pod, and which of them costs least.
 *
 * An answer is a few numbers. Nodes that are next to each other by name are a block, which knows the cheapest of its
 * candidates: a decision looks at the blocks, and into those alone that may hold one of the two best. How often which
 * refusal was heard is counted along. So a decision costs what changed since the last one of its kind, and a few
 * numbers for each block. For displace*.c alone.
 */
#pragma once

#include "base/heap.h"
#include "engine/displace.h"
#include "filters/framework.h"

enum { BLOCK_NODES = 64 };
#define STATUS_NONE ((UINT32_C(1) << 29) - 1)

struct answer_cost { /* as displace_pick has it; smaller is better */
	int64_t sum;
	int64_t not_before; /* minus the earliest start of the victims of the highest priority */
	uint32_t n_victims, n_violations;
	int32_t highest;
	uint32_t at; /* index of the node, by name */
};
#define COST_CRITERIA(X)                \
	X(TIE_VIOLATIONS, n_violations) \
	X(TIE_HIGHEST, highest)         \
	X(TIE_SUM, sum)                 \
	X(TIE_COUNT, n_victims)         \
	X(TIE_START, not_before)
/* Equal ones are decided by name. */
static inline bool cost_is_less(const struct answer_cost *a, const struct answer_cost *b)
{
#define X(tie, field)             \
	if (a->field != b->field) \
		return a->field < b->field;
	COST_CRITERIA(X)
#undef X
	return a->at < b->at;
}
/* What its victims cost (displace.c). */
struct answer_cost displace_cost(const struct cede_cycle *c, const struct displace_node *v, uint32_t at);

struct node_answer {
	uint64_t generation; /* of the node; 0: nothing known that lasts */
	struct answer_cost cost;
	uint32_t filter;     /* which status; STATUS_NONE: it fits */
	uint32_t after : 29; /* of a potential node that is no candidate: which status; else STATUS_NONE */
	bool is_candidate : 1;
	bool is_least : 1;  /* it costs so much at least; who would go was not looked at */
	bool is_unkept : 1; /* for this decision alone */
};

struct status_use {
	struct status s;
	uint32_t n_filter, n_after; /* nodes that say so at once; after evictions */
};

struct status_tally {
	ARRAY(struct status_use) v;
	uint32_t last; /* that was asked for */
};

struct answer_block {
	struct answer_cost least; /* of its candidates; at UINT32_MAX: none. Never more than what is true */
	uint32_t n_feasible;
	bool is_stale; /* something in it is another now */
};

struct answers {
	struct node_answer *v; /* by node id */
	uint32_t n;
	struct status_tally tally;
	ARRAY(struct answer_block) blocks;
	ARRAY(uint32_t) stale_blocks;
};

void answers_free(struct answers *a);
uint32_t status_intern_other(struct status_tally *t, const struct status *s);
/* Its number. Most nodes say what the one before them said. */
static inline uint32_t status_intern(struct status_tally *t, const struct status *s)
{
	return t->last < t->v.n && status_same(&t->v.v[t->last].s, s) ? t->last : status_intern_other(t, s);
}

static inline bool answer_fits(const struct node_answer *e)
{
	return e->filter == STATUS_NONE;
}
/* What a node says, into the counts or (by -1) out of them. */
static inline void answer_count(struct status_tally *t, const struct node_answer *e, uint32_t by)
{
	if (!answer_fits(e))
		t->v.v[e->filter].n_filter += by;
	if (e->after != STATUS_NONE)
		t->v.v[e->after].n_after += by;
}

/* Blocks for so many nodes, of which nothing is known. */
void answers_reset_blocks(struct answers *a, uint32_t n_nodes);
void answers_sum_up_block(struct answers *a, const node_id *nodes, uint32_t n_nodes, uint32_t block);
void answers_node_changed(struct answers *a, uint32_t at);
void answers_sum_up_stale(struct answers *a, const node_id *nodes, uint32_t n_nodes);

struct cost_difference {
	enum tie_break by;
	int64_t mine, theirs;
};
struct cost_difference cost_difference(const struct answer_cost *a, const struct answer_cost *b);

struct answer_choice {
	struct answers *answers;
	const node_id *nodes;
	uint32_t n_nodes;
	struct heap *open; /* blocks, and behind them nodes of which only the least is known */
	/* Who would go is looked at now; the answer is then no least any more. */
	void (*look)(void *ctx, node_id node, struct node_answer *e);
	void *ctx;
	uint32_t best, second; /* indices; UINT32_MAX: none */
};
void answers_open_init(struct heap *h);
/* The two best; blocks are up to date before, and those that were looked into stale after it. */
void answers_choose(struct answer_choice *ch);
