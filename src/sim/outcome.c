/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/outcome.h"

#include <stdlib.h>

/* ---- distributions ---- */

enum { TIMES_BITS = 13 }; /* of a bucket's number that are the time's own: 1/8192 of its size */

/* Times are cut to microseconds; small ones have a bucket each. */
static uint32_t bucket_of(int64_t ns)
{
	uint64_t us = ns < 0 ? 0 : (uint64_t)ns / 1000;
	unsigned over = 0;

	while (us >> over >= (UINT64_C(2) << TIMES_BITS))
		over++;
	return (uint32_t)(over << (TIMES_BITS + 1) | us >> over);
}

void times_add(struct times *t, int64_t ns)
{
	uint32_t bucket = bucket_of(ns), at = map_get(&t->at, bucket);

	if (at == MAP_NONE) {
		if (t->n_buckets == t->cap) {
			t->cap = array_next_cap(t->cap, t->n_buckets + 1);
			t->v = mem_resize(t->v, t->cap, sizeof(*t->v));
		}
		at = t->n_buckets++;
		t->v[at] = (struct times_bucket){.bucket = bucket};
		map_put(&t->at, bucket, at);
		t->is_sorted = false;
	}
	t->v[at].n++;
	t->v[at].sum += ns;
	t->n++;
	t->sum += ns;
	if (ns > t->max_ns)
		t->max_ns = ns;
}

static int by_bucket(const void *a, const void *b)
{
	const struct times_bucket *x = a, *y = b;

	return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

void times_settle(struct times *t)
{
	if (t->is_sorted || !t->n_buckets)
		return;
	qsort(t->v, t->n_buckets, sizeof(*t->v), by_bucket);
	for (uint32_t i = 0; i < t->n_buckets; i++)
		map_put(&t->at, t->v[i].bucket, i);
	t->is_sorted = true;
}

double outcome_seconds(__int128 ns)
{
	return (double)ns / (double)NS_PER_S;
}

double times_mean(const struct times *t)
{
	return t->n ? outcome_seconds(t->sum) / (double)t->n : 0;
}

/* What a bucket holds is told as its mean: exact where all in it are the same. */
double times_quantile(struct times *t, double fraction)
{
	uint64_t seen = 0;

	times_settle(t);
	for (uint32_t i = 0; i < t->n_buckets; i++) {
		seen += t->v[i].n;
		if ((double)seen >= fraction * (double)t->n)
			return outcome_seconds(t->v[i].sum) / (double)t->v[i].n;
	}
	return 0;
}

void times_free(struct times *t)
{
	map_free(&t->at);
	mem_free(t->v);
	*t = (struct times){0};
}

/* ---- what people ask ---- */

double outcome_utilisation(const struct sim_outcome *o, const struct outcome_counts *c, res_id r)
{
	return o->capacity[r] > 0 ? (double)c->used[r] / (double)o->capacity[r] : 0;
}

double outcome_guarantee_reached(const struct outcome_counts *c)
{
	return c->claim_sum > 0 ? (double)c->reached_sum / (double)c->claim_sum : 1;
}

double outcome_fairness(const struct sim_outcome *o)
{
	double sum = 0, squares = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < o->n_queues; i++) {
		const struct outcome_counts *c = &o->queues[i].counts;
		double ran = (double)(c->useful_sum + c->lost_sum), waited = (double)c->waited_sum, part;

		if (!c->submitted)
			continue;
		part = ran + waited > 0 ? ran / (ran + waited) : 1;
		sum += part;
		squares += part * part;
		n++;
	}
	return squares > 0 ? sum * sum / ((double)n * squares) : 1;
}

void outcome_free(struct sim_outcome *o)
{
	for (uint32_t i = 0; i < o->n_queues; i++)
		mem_free(o->queues[i].path);
	mem_free(o->queues);
	for (res_id r = 0; r < o->n_types; r++)
		mem_free(o->types[r]);
	mem_free(o->longest.pod);
	mem_free(o->longest.why);
	*o = (struct sim_outcome){0};
}
