/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/spread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { PIECES = 8 }; /* for each thread */

struct spread {
	spread_fn f;
	void *ctx;
	uint32_t n, size;
	_Atomic uint64_t next; /* where the next piece begins */
};

struct spread_worker {
	struct spread *s;
	uint32_t i;
	pthread_t thread;
	bool has_thread;
};

static void *work(void *arg)
{
	const struct spread_worker *w = arg;
	struct spread *s = w->s;
	uint64_t from;

	while ((from = atomic_fetch_add_explicit(&s->next, s->size, memory_order_relaxed)) < s->n)
		s->f(s->ctx, w->i, (uint32_t)from, s->n - from < s->size ? s->n : (uint32_t)from + s->size);
	return NULL;
}

uint32_t spread_threads(uint32_t threads, uint32_t n, uint32_t least)
{
	uint32_t worth = threads < SPREAD_MAX ? threads : SPREAD_MAX;

	if (worth > n / least)
		worth = n / least;
	return worth ? worth : 1;
}

uint32_t spread_size(uint32_t threads, uint32_t n)
{
	return (threads < 2 ? n : n / (threads * PIECES)) + 1;
}

void spread_run(uint32_t threads, uint32_t n, uint32_t size, spread_fn f, void *ctx)
{
	struct spread s = {.f = f, .ctx = ctx, .n = n, .size = size};
	struct spread_worker w[SPREAD_MAX];

	for (uint32_t i = 0; i < threads; i++) {
		w[i] = (struct spread_worker){.s = &s, .i = i};
		w[i].has_thread = i && !pthread_create(&w[i].thread, NULL, work, &w[i]);
	}
	work(&w[0]);
	for (uint32_t i = 1; i < threads; i++)
		if (w[i].has_thread)
			pthread_join(w[i].thread, NULL);
}
