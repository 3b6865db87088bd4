/* SPDX-License-Identifier: Apache-2.0 */
/* What share_most_lost allows is never less than what share_reclaimable allows of those that are gone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rng.h"
#include "rules/fair_share.h"

enum { TOPS = 3, LEAVES = 3, QUEUES = TOPS + TOPS * LEAVES, BATCHES = 12 };
enum { ME = TOPS }; /* the first leaf, below queue 0 */

struct world {
	struct share_queue q[QUEUES];
	struct share_batch gone[BATCHES], lost[BATCHES];
	uint32_t n_gone, n_lost;
	double request[KAI_RES], grain, multiplier;
};

static struct share random_share(struct rng *r, double allocated)
{
	double around = allocated + rng_below(r, 9) - 4;

	return (struct share){.deserved = rng_below(r, 5) ? (around < 0 ? 0 : around) : SHARE_UNLIMITED,
			      .limit = SHARE_UNLIMITED,
			      .allocated = allocated,
			      .fair = rng_below(r, 12) + allocated / 2};
}

static void random_world(struct rng *r, struct world *w)
{
	double sum[TOPS][KAI_RES] = {{0}};

	*w = (struct world){.multiplier = rng_below(r, 2) ? 1 : 1.25, .grain = 1 + rng_below(r, 3)};
	for (uint32_t i = TOPS; i < QUEUES; i++) {
		w->q[i].parent = (i - TOPS) / LEAVES;
		for (int k = 0; k < KAI_RES; k++) {
			double allocated = i == ME ? rng_below(r, 3) : rng_below(r, 12);

			w->q[i].r[k] = random_share(r, allocated);
			sum[w->q[i].parent][k] += allocated;
		}
	}
	for (uint32_t i = 0; i < TOPS; i++) {
		w->q[i].parent = SHARE_NO_QUEUE;
		for (int k = 0; k < KAI_RES; k++)
			w->q[i].r[k] = random_share(r, sum[i][k]);
	}
	for (int k = 0; k < KAI_RES; k++)
		w->request[k] = rng_below(r, 4);
}

/* Batches of one queue follow one another; no queue loses more than it holds. */
static void random_victims(struct rng *r, struct world *w)
{
	double held[QUEUES][KAI_RES];

	for (uint32_t i = 0; i < QUEUES; i++)
		for (int k = 0; k < KAI_RES; k++)
			held[i][k] = w->q[i].r[k].allocated;
	for (uint32_t q = ME + 1; q < QUEUES && w->n_gone < BATCHES; q += 1 + rng_below(r, 3))
		for (uint32_t n = rng_below(r, 4); n > 0 && w->n_gone < BATCHES; n--) {
			struct share_batch b = {.queue = q};

			for (int k = 0; k < KAI_RES; k++) {
				b.r[k] = w->grain * rng_below(r, 3);
				if (b.r[k] > held[q][k])
					b.r[k] = w->grain * floor(held[q][k] / w->grain);
				held[q][k] -= b.r[k];
			}
			w->gone[w->n_gone++] = b;
			if (rng_below(r, 3))
				w->lost[w->n_lost++] = b;
		}
}

static bool is_of_side(const struct world *w, uint32_t leaf, uint32_t side)
{
	return leaf == side || w->q[leaf].parent == side;
}

static void sum_of(const struct world *w, const struct share_batch *v, uint32_t n, uint32_t side, double ret[KAI_RES])
{
	for (int k = 0; k < KAI_RES; k++)
		ret[k] = 0;
	for (uint32_t i = 0; i < n; i++)
		for (int k = 0; k < KAI_RES && is_of_side(w, v[i].queue, side); k++)
			ret[k] += v[i].r[k];
}

static void take_away(const struct world *w, struct share_side *side)
{
	for (uint32_t i = 0; i < w->n_gone; i++)
		if (is_of_side(w, w->gone[i].queue, side->queue))
			share_side_add(side, w->gone[i].r, w->gone[i].r, w->gone[i].r);
}

/* Whatever was allowed is within the bound; the number of bounds that were below what is gone. */
static int check(const struct world *w)
{
	int n_tight = 0;

	for (uint32_t i = 1; i < TOPS + LEAVES; i++) {
		struct share_side side = share_side_of(w->q, i, i < TOPS ? 0 : ME, w->request);
		double inside[KAI_RES] = {0}, lost[KAI_RES], most[KAI_RES];
		struct share_verdict why;

		if (i == ME)
			continue;
		take_away(w, &side);
		sum_of(w, w->lost, w->n_lost, i, lost);
		if (i < TOPS)
			sum_of(w, w->gone, w->n_gone, 0, inside);
		n_tight += !share_most_lost(w->q, &side, w->request, inside, w->multiplier, most, &why);
		for (int k = 0; k < KAI_RES; k++)
			assert_true(lost[k] <= most[k]);
	}
	return n_tight;
}

static void what_is_allowed_is_within_the_bound(void **state)
{
	struct share_scratch scratch = {0};
	struct rng r = {7};
	int n_allowed = 0, n_tight = 0;

	(void)state;
	for (int round = 0; round < 300000; round++) {
		struct world w;

		random_world(&r, &w);
		random_victims(&r, &w);
		if (w.n_lost == 0 || !share_reclaimable(w.q, QUEUES, ME, w.request, false, w.lost, w.n_lost,
							w.multiplier, &scratch, NULL))
			continue;
		n_allowed++;
		n_tight += check(&w);
	}
	share_scratch_free(&scratch);
	assert_true(n_allowed > 5000 && n_tight > 1000); /* else it proves nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_allowed_is_within_the_bound)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
