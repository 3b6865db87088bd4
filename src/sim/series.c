/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time series in bounded memory: sums over steps of time. The first step is a second long; when there are more than
 * SERIES_MAX steps, pairs of them become one.
 */
#include <string.h>

#include "sim/sim_internal.h"

enum { COL_RUNNING, COL_WAITING, COL_CLAIM, COL_REACHED, COL_LOST, COL_EVICTIONS, COL_USED }; /* then by type */

struct step {
	uint32_t n_accounts, n_types;
	double v[]; /* rows by account, then what the nodes had by type */
};

struct series {
	int64_t from_ns, step_ns, done_to_ns;
	ARRAY(struct step *) steps;
	struct series_point point;
	double used[RES_MAX], capacity[RES_MAX];
	__int128 seen_capacity[RES_MAX];
};

struct series *series_new(int64_t from_ns)
{
	struct series *x = mem_alloc(sizeof(*x));

	x->from_ns = x->done_to_ns = from_ns;
	x->step_ns = NS_PER_S;
	return x;
}

void series_free(struct series *x)
{
	if (!x)
		return;
	for (uint32_t i = 0; i < x->steps.n; i++)
		mem_free(x->steps.v[i]);
	array_free(&x->steps);
	mem_free(x);
}

/* ---- recording ---- */

static struct step *step_new(uint32_t n_accounts, uint32_t n_types)
{
	size_t n = (size_t)n_accounts * (COL_USED + n_types) + n_types;
	struct step *t = mem_alloc(sizeof(*t) + n * sizeof(double));

	t->n_accounts = n_accounts;
	t->n_types = n_types;
	return t;
}

static double *row(struct step *t, uint32_t account)
{
	return t->v + (size_t)account * (COL_USED + t->n_types);
}

static double *capacity_row(struct step *t)
{
	return row(t, t->n_accounts);
}

/* How much a sum has grown since it was last seen. */
static double grown(__int128 *seen, __int128 now)
{
	double by = outcome_seconds(now - *seen);

	*seen = now;
	return by;
}

static void record(struct account *a, double *v, uint32_t n_types)
{
	const struct outcome_counts *c = &a->counts;

	v[COL_RUNNING] = grown(&a->seen.running, a->running_sum);
	v[COL_WAITING] = grown(&a->seen.waiting, c->waited_sum);
	v[COL_CLAIM] = grown(&a->seen.claim, c->claim_sum);
	v[COL_REACHED] = grown(&a->seen.reached, c->reached_sum);
	v[COL_LOST] = grown(&a->seen.lost, c->lost_sum);
	v[COL_EVICTIONS] = (double)(c->evictions - a->seen.evictions);
	a->seen.evictions = c->evictions;
	for (res_id r = 0; r < n_types && r < a->n_types; r++)
		v[COL_USED + r] = grown(&a->seen.used[r], c->used[r]);
}

static void push_step(struct sim *s, struct series *x, int64_t to_ns)
{
	struct step *t = step_new(s->accounts.n, s->accounts.v[0].n_types);
	int64_t now = s->now_ns;

	s->now_ns = to_ns;
	accounts_close(s);
	sim_sum_room(s);
	s->now_ns = now;
	for (uint32_t i = 0; i < s->accounts.n; i++)
		record(&s->accounts.v[i], row(t, i), t->n_types);
	for (res_id r = 0; r < t->n_types; r++)
		capacity_row(t)[r] = grown(&x->seen_capacity[r], s->outcome.capacity[r]);
	array_push(&x->steps, t);
	x->done_to_ns = to_ns;
}

static struct step *merged(struct step *a, struct step *b)
{
	struct step *t = step_new(b->n_accounts, b->n_types); /* accounts and types only become more */

	for (uint32_t i = 0; i < b->n_accounts; i++) {
		for (uint32_t k = 0; k < COL_USED + b->n_types; k++)
			row(t, i)[k] = row(b, i)[k];
		for (uint32_t k = 0; i < a->n_accounts && k < COL_USED + a->n_types; k++)
			row(t, i)[k] += row(a, i)[k];
	}
	for (res_id r = 0; r < b->n_types; r++)
		capacity_row(t)[r] = capacity_row(b)[r] + (r < a->n_types ? capacity_row(a)[r] : 0);
	mem_free(a);
	mem_free(b);
	return t;
}

static void halve(struct series *x)
{
	for (uint32_t i = 0; i < x->steps.n / 2; i++)
		x->steps.v[i] = merged(x->steps.v[2 * (size_t)i], x->steps.v[2 * (size_t)i + 1]);
	x->steps.n /= 2;
	x->step_ns = time_multiply(x->step_ns, 2);
}

void series_upto(struct sim *s, int64_t to_ns)
{
	struct series *x = s->series;

	while (time_add(x->done_to_ns, x->step_ns) <= to_ns) {
		push_step(s, x, time_add(x->done_to_ns, x->step_ns));
		if (x->steps.n == SERIES_MAX)
			halve(x);
	}
}

void series_end(struct sim *s)
{
	series_upto(s, s->now_ns);
	if (s->series->done_to_ns < s->now_ns)
		push_step(s, s->series, s->now_ns);
}

/* ---- reading ---- */

uint32_t sim_series_steps(const struct sim *s, int64_t *ret_step_ns)
{
	*ret_step_ns = s->series ? s->series->step_ns : 0;
	return s->series ? s->series->steps.n : 0;
}

static uint32_t account_at(const struct sim *s, uint32_t queue)
{
	if (queue == SERIES_TOTAL)
		return 0;
	for (uint32_t i = 1; i < s->accounts.n; i++)
		if (str_eq(s->accounts.v[i].path, s->outcome.queues[queue].path))
			return i;
	return SLOT_NONE;
}

/* The last step may be shorter than the others. */
static double seconds_of(const struct series *x, uint32_t step)
{
	int64_t begins = time_add(x->from_ns, time_multiply(x->step_ns, step));
	int64_t ends = time_add(begins, x->step_ns);

	return outcome_seconds(time_since(ends < x->done_to_ns ? ends : x->done_to_ns, begins));
}

const struct series_point *sim_series(const struct sim *s, uint32_t step, uint32_t queue)
{
	struct series *x = s->series;
	uint32_t at = account_at(s, queue);
	struct step *t = x && step < x->steps.n ? x->steps.v[step] : NULL;
	double seconds;
	const double *v;

	if (!t)
		return NULL;
	seconds = seconds_of(x, step);
	memset(x->used, 0, sizeof(x->used));
	memset(x->capacity, 0, sizeof(x->capacity));
	for (res_id r = 0; r < t->n_types; r++)
		x->capacity[r] = capacity_row(t)[r] / seconds;
	x->point = (struct series_point){.used = x->used, .capacity = x->capacity};
	if (at == SLOT_NONE || at >= t->n_accounts)
		return &x->point;
	v = row(t, at);
	for (res_id r = 0; r < t->n_types; r++)
		x->used[r] = v[COL_USED + r] / seconds;
	x->point.running = v[COL_RUNNING] / seconds;
	x->point.waiting = v[COL_WAITING] / seconds;
	x->point.guarantee_gap = v[COL_CLAIM] > 0 ? 1 - v[COL_REACHED] / v[COL_CLAIM] : 0;
	x->point.evictions = (uint32_t)v[COL_EVICTIONS];
	x->point.lost_s = v[COL_LOST];
	return &x->point;
}
