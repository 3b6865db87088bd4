/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/displace_answers.h"

void answers_free(struct answers *a)
{
	mem_free(a->v);
	array_free(&a->tally.v);
	array_free(&a->blocks);
	array_free(&a->stale_blocks);
	*a = (struct answers){0};
}

uint32_t status_intern_other(struct status_tally *t, const struct status *s)
{
	uint32_t k = 0;

	while (k < t->v.n && !status_same(&t->v.v[k].s, s))
		k++;
	if (k == t->v.n) {
		struct status_use none = {.s = *s};

		array_push(&t->v, none);
		assert(t->v.n < STATUS_NONE);
	}
	t->last = k;
	return k;
}

/* ---- costs ---- */

struct cost_difference cost_difference(const struct answer_cost *a, const struct answer_cost *b)
{
#define X(tie, field)             \
	if (a->field != b->field) \
		return (struct cost_difference){tie, a->field, b->field};
	COST_CRITERIA(X)
#undef X
	return (struct cost_difference){.by = TIE_NAME};
}

/* ---- blocks ---- */

void answers_reset_blocks(struct answers *a, uint32_t n_nodes)
{
	uint32_t n = (n_nodes + BLOCK_NODES - 1) / BLOCK_NODES;

	array_reserve(&a->blocks, n);
	a->blocks.n = n;
	a->stale_blocks.n = 0;
}

void answers_sum_up_block(struct answers *a, const node_id *nodes, uint32_t n_nodes, uint32_t block)
{
	struct answer_block b = {.least.at = UINT32_MAX};
	const struct answer_cost *least = NULL;
	uint32_t from = block * BLOCK_NODES, to = from + BLOCK_NODES < n_nodes ? from + BLOCK_NODES : n_nodes;

	for (uint32_t i = from; i < to; i++) {
		const struct node_answer *e = &a->v[nodes[i]];

		b.n_feasible += answer_fits(e);
		if (e->is_candidate && (!least || cost_is_less(&e->cost, least)))
			least = &e->cost;
	}
	if (least)
		b.least = *least;
	a->blocks.v[block] = b;
}

void answers_node_changed(struct answers *a, uint32_t at)
{
	struct answer_block *b = &a->blocks.v[at / BLOCK_NODES];

	if (b->is_stale)
		return;
	b->is_stale = true;
	array_push(&a->stale_blocks, at / BLOCK_NODES);
}

void answers_sum_up_stale(struct answers *a, const node_id *nodes, uint32_t n_nodes)
{
	while (a->stale_blocks.n)
		answers_sum_up_block(a, nodes, n_nodes, array_pop(&a->stale_blocks));
}

/* ---- the choice ---- */

static struct node_answer *answer_at(const struct answer_choice *ch, uint32_t at)
{
	return &ch->answers->v[ch->nodes[at]];
}

static const struct answer_cost *cost_at(const struct answer_choice *ch, uint32_t at)
{
	return &answer_at(ch, at)->cost;
}

static const struct answer_cost *open_cost(const struct answer_choice *ch, uint32_t id)
{
	uint32_t n = ch->answers->blocks.n;

	return id < n ? &ch->answers->blocks.v[id].least : cost_at(ch, id - n);
}

/* A block and its cheapest node cost the same; which of them comes first does not matter. */
static int by_cost(const void *ctx, uint32_t a, uint32_t b)
{
	const struct answer_choice *ch = ctx;

	return cost_is_less(open_cost(ch, a), open_cost(ch, b)) ? -1 : 1;
}

void answers_open_init(struct heap *h)
{
	heap_init(h, by_cost, NULL);
}

/* Is it one of the two best so far, or may it be? */
static inline bool may_win(const struct answer_choice *ch, const struct answer_cost *cost)
{
	return ch->second == UINT32_MAX || cost_is_less(cost, cost_at(ch, ch->second));
}

static void rank(struct answer_choice *ch, uint32_t at)
{
	if (ch->best == UINT32_MAX || cost_is_less(cost_at(ch, at), cost_at(ch, ch->best))) {
		ch->second = ch->best;
		ch->best = at;
	} else if (may_win(ch, cost_at(ch, at))) {
		ch->second = at;
	}
}

/* Those who are known are ranked, of the others those that may win are open. */
static void open_block(struct answer_choice *ch, uint32_t block)
{
	uint32_t from = block * BLOCK_NODES, n = ch->answers->blocks.n;

	for (uint32_t i = from; i < ch->n_nodes && i < from + BLOCK_NODES; i++) {
		const struct node_answer *e = answer_at(ch, i);

		if (!e->is_candidate || !may_win(ch, &e->cost))
			continue;
		if (e->is_least)
			heap_push(ch->open, n + i);
		else
			rank(ch, i);
	}
}

static void look_and_rank(struct answer_choice *ch, uint32_t at)
{
	struct node_answer *e = answer_at(ch, at);

	ch->look(ch->ctx, ch->nodes[at], e);
	if (!e->is_candidate)
		ch->answers->tally.v.v[e->after].n_after++;
	else
		rank(ch, at);
	answers_node_changed(ch->answers, at);
}

/* UINT32_MAX: there is no candidate. */
static uint32_t cheapest_block(const struct answer_choice *ch)
{
	const struct answer_block *b = ch->answers->blocks.v;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < ch->answers->blocks.n; i++)
		if (b[i].least.at != UINT32_MAX && (least == UINT32_MAX || cost_is_less(&b[i].least, &b[least].least)))
			least = i;
	return least;
}

/* The cheapest of all, and another one of its block: they rule most of the others out. */
static uint32_t begin(struct answer_choice *ch)
{
	uint32_t block = cheapest_block(ch), n = ch->answers->blocks.n;

	if (block == UINT32_MAX)
		return block;
	open_block(ch, block);
	for (int i = 0; i < 2 && ch->open->items.n && may_win(ch, open_cost(ch, heap_peek(ch->open))); i++)
		look_and_rank(ch, heap_pop(ch->open) - n);
	return block;
}

void answers_choose(struct answer_choice *ch)
{
	const struct answers *a = ch->answers;
	uint32_t begun;

	ch->best = ch->second = UINT32_MAX;
	heap_clear(ch->open);
	ch->open->ctx = ch;
	begun = begin(ch);
	for (uint32_t i = 0; i < a->blocks.n; i++)
		if (i != begun && a->blocks.v[i].least.at != UINT32_MAX && may_win(ch, &a->blocks.v[i].least))
			heap_push(ch->open, i);
	while (ch->open->items.n && may_win(ch, open_cost(ch, heap_peek(ch->open)))) {
		uint32_t id = heap_pop(ch->open);

		if (id < a->blocks.n)
			open_block(ch, id);
		else
			look_and_rank(ch, id - a->blocks.n);
	}
}
