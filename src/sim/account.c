/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of queues: an account is summed up only when something in it changes, so an event costs what it touches.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/sim_internal.h"

/* ---- which account ---- */

/* A guarantee of zero is none. */
static struct res_vec guarantee_of(const struct sim *s, queue_id q)
{
	struct res_vec g = {0};

	if (q == QUEUE_NONE)
		return g;
	g = queue_get(ledger_queues(s->ledger), q)->spec.guaranteed;
	for (uint64_t left = g.mask; left; left &= left - 1)
		if (g.v[__builtin_ctzll(left)] <= 0)
			g.mask &= ~(left & -left);
	return g;
}

static uint32_t find_account(const struct sim *s, const char *path)
{
	for (uint32_t i = 1; i < s->accounts.n; i++)
		if (str_eq(s->accounts.v[i].path, path))
			return i;
	return SLOT_NONE;
}

static uint32_t account_for(struct sim *s, queue_id q, const char *path)
{
	uint32_t at = find_account(s, path);

	if (at == SLOT_NONE) {
		struct account new = {.path = mem_strdup(path), .since_ns = s->now_ns, .queue = QUEUE_NONE};

		at = s->accounts.n;
		array_push(&s->accounts, new);
	}
	s->accounts.v[at].queue = q;
	s->accounts.v[at].guaranteed = guarantee_of(s, q);
	return at;
}

uint32_t account_of_queue(struct sim *s, queue_id q)
{
	if (ledger_tree_generation(s->ledger) != s->tree_generation)
		accounts_refresh(s);
	if (q == QUEUE_NONE)
		return account_for(s, q, "");
	while (s->account_of.n <= q)
		array_push(&s->account_of, SLOT_NONE);
	if (s->account_of.v[q] == SLOT_NONE)
		s->account_of.v[q] =
			account_for(s, q, name_str(s->names, queue_get(ledger_queues(s->ledger), q)->path));
	return s->account_of.v[q];
}

/* ---- sums ---- */

/* How much of its guarantee it has claim to, and how much of that it has, in parts of the guarantee. */
static void sum_guarantee(struct account *a, int64_t dt)
{
	for (uint64_t left = a->guaranteed.mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t g = a->guaranteed.v[r], wanted = res_add_sat(a->used[r], a->demand[r]);

		if (g == RES_UNLIMITED)
			continue;
		wanted = wanted < g ? wanted : g;
		a->counts.claim_sum += (__int128)dt * wanted / g;
		a->counts.reached_sum += (__int128)dt * (a->used[r] < wanted ? a->used[r] : wanted) / g;
	}
}

void account_close(struct sim *s, struct account *a)
{
	int64_t dt = time_since(s->now_ns, a->since_ns);

	if (dt <= 0)
		return;
	for (res_id r = 0; r < a->n_types; r++)
		a->counts.used[r] += (__int128)a->occupied[r] * dt;
	a->counts.waited_sum += (__int128)a->counts.waiting * dt;
	a->running_sum += (__int128)a->counts.running * dt;
	if (a->is_below)
		a->counts.below_guarantee_sum += dt;
	if (a->guaranteed.mask)
		sum_guarantee(a, dt);
	a->since_ns = s->now_ns;
}

static bool falls_short(const struct account *a)
{
	for (uint64_t left = a->guaranteed.mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);

		if (r < a->n_types && a->demand[r] > 0 && a->used[r] < a->guaranteed.v[r])
			return true;
	}
	return false;
}

static void see_below(struct sim *s, struct account *a)
{
	bool is_below = falls_short(a);

	if (is_below && !a->is_below)
		a->below_since_ns = s->now_ns;
	if (!is_below && a->is_below && time_since(s->now_ns, a->below_since_ns) > a->longest_below_ns)
		a->longest_below_ns = time_since(s->now_ns, a->below_since_ns);
	a->is_below = is_below;
}

struct account *account_open(struct sim *s, uint32_t account)
{
	struct account *a = &s->accounts.v[account];

	account_close(s, a);
	return a;
}

static void add_to(struct account *a, const struct res_list *l, enum account_field f, int n)
{
	int64_t *v = f == IN_DEMAND ? a->demand : f == IN_USE ? a->used : a->occupied;

	for (uint32_t i = 0; i < l->n; i++) {
		v[l->v[i].type] += n * l->v[i].amount;
		if (l->v[i].type >= a->n_types)
			a->n_types = l->v[i].type + 1;
	}
	if (a->n_types <= RES_PODS)
		a->n_types = RES_PODS + 1;
	v[RES_PODS] += n;
}

void account_add(struct sim *s, uint32_t account, const struct pod *p, enum account_field f, int n)
{
	const struct shape *shape = shape_get(s->vocab, p->shape);
	const struct res_list *l = f == IN_DEMAND ? &shape->request : &shape->usage;
	struct account *a = account_open(s, account);

	add_to(a, l, f, n);
	see_below(s, a);
	add_to(account_open(s, 0), l, f, n);
}

void accounts_refresh(struct sim *s)
{
	const struct queue_tree *tree = ledger_queues(s->ledger);

	s->tree_generation = ledger_tree_generation(s->ledger);
	accounts_close(s);
	s->account_of.n = 0;
	for (uint32_t i = 1; i < s->accounts.n; i++) {
		struct account *a = &s->accounts.v[i];

		a->queue = a->path[0] ? queue_tree_find(tree, a->path, strlen(a->path)) : QUEUE_NONE;
		a->guaranteed = guarantee_of(s, a->queue);
		see_below(s, a);
	}
}

void accounts_close(struct sim *s)
{
	for (uint32_t i = 0; i < s->accounts.n; i++)
		account_close(s, &s->accounts.v[i]);
}

static void counts_free(struct outcome_counts *c)
{
	times_free(&c->waits);
	times_free(&c->slowdowns);
}

void accounts_free(struct sim *s)
{
	for (uint32_t i = 0; i < s->accounts.n; i++) {
		mem_free(s->accounts.v[i].path);
		counts_free(&s->accounts.v[i].counts);
	}
	array_free(&s->accounts);
	array_free(&s->account_of);
}

/* ---- the outcome ---- */

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct outcome_queue *)a)->path, ((const struct outcome_queue *)b)->path);
}

static bool is_told(const struct account *a)
{
	return a->counts.submitted || a->guaranteed.mask;
}

/* Distributions stay the account's; the outcome looks at them. */
static void tell_types(struct sim *s)
{
	const struct res_types *t = vocab_res(s->vocab);

	for (res_id r = s->outcome.n_types; r < t->n; r++)
		s->outcome.types[r] = mem_strdup(res_type_name(t, r));
	s->outcome.n_types = t->n;
}

void accounts_to_outcome(struct sim *s)
{
	struct sim_outcome *o = &s->outcome;

	for (queue_id q = 0; q < ledger_queues(s->ledger)->q.n; q++)
		if (queue_get(ledger_queues(s->ledger), q)->is_live && queue_is_leaf(ledger_queues(s->ledger), q) &&
		    guarantee_of(s, q).mask)
			account_of_queue(s, q);
	accounts_close(s);
	for (uint32_t i = 0; i < o->n_queues; i++)
		mem_free(o->queues[i].path);
	mem_free(o->queues);
	o->queues = mem_alloc((s->accounts.n + 1) * sizeof(*o->queues));
	o->n_queues = 0;
	for (uint32_t i = 0; i < s->accounts.n; i++) {
		times_settle(&s->accounts.v[i].counts.waits);
		times_settle(&s->accounts.v[i].counts.slowdowns);
	}
	o->totals = s->accounts.v[0].counts;
	for (uint32_t i = 1; i < s->accounts.n; i++) {
		const struct account *a = &s->accounts.v[i];

		if (!is_told(a))
			continue;
		o->totals.below_guarantee_sum += a->counts.below_guarantee_sum;
		o->totals.claim_sum += a->counts.claim_sum;
		o->totals.reached_sum += a->counts.reached_sum;
		o->queues[o->n_queues++] =
			(struct outcome_queue){mem_strdup(a->path), a->guaranteed.mask != 0, a->counts};
	}
	if (o->n_queues)
		qsort(o->queues, o->n_queues, sizeof(*o->queues), by_path);
	tell_types(s);
}
