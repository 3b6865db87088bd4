/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that gets no processor until everything is taken is not waited for: it finds nothing to do, and nothing of
 * the caller's is touched. So the loop is on the heap, and the last who knows it frees it.
 */
#include "engine/spread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena.h"

enum { PIECES = 8 }; /* for each thread */

struct spread {
	spread_fn f;
	void *ctx;
	uint32_t n, size;
	_Atomic uint64_t next; /* where the next piece begins */
	pthread_mutex_t lock;
	pthread_cond_t is_done;
	/* under the lock: */
	uint32_t n_users;   /* who know it: the caller, and threads that have not ended */
	uint32_t n_started; /* threads that work or did */
	uint32_t n_working;
};

static struct spread *spread_new(uint32_t n, uint32_t size, spread_fn f, void *ctx)
{
	struct spread *s = mem_alloc(sizeof(*s));

	s->f = f;
	s->ctx = ctx;
	s->n = n;
	s->size = size;
	s->n_users = 1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->is_done, NULL);
	return s;
}

/* The lock is held, and is not any more. */
static void leave(struct spread *s)
{
	bool is_last = --s->n_users == 0;

	pthread_mutex_unlock(&s->lock);
	if (!is_last)
		return;
	pthread_cond_destroy(&s->is_done);
	pthread_mutex_destroy(&s->lock);
	mem_free(s);
}

static void work(struct spread *s, uint32_t thread)
{
	uint64_t from;

	while ((from = atomic_fetch_add_explicit(&s->next, s->size, memory_order_relaxed)) < s->n)
		s->f(s->ctx, thread, (uint32_t)from, s->n - from < s->size ? s->n : (uint32_t)from + s->size);
}

static void *run(void *arg)
{
	struct spread *s = arg;
	uint32_t thread;

	pthread_mutex_lock(&s->lock);
	thread = ++s->n_started;
	s->n_working++;
	pthread_mutex_unlock(&s->lock);
	work(s, thread);
	pthread_mutex_lock(&s->lock);
	s->n_working--;
	pthread_cond_signal(&s->is_done);
	leave(s);
	return NULL;
}

static void start(struct spread *s)
{
	pthread_t thread;

	pthread_mutex_lock(&s->lock);
	s->n_users++;
	pthread_mutex_unlock(&s->lock);
	if (!pthread_create(&thread, NULL, run, s)) {
		pthread_detach(thread);
		return;
	}
	pthread_mutex_lock(&s->lock);
	leave(s);
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
	struct spread *s = spread_new(n, size, f, ctx);

	for (uint32_t i = 1; i < threads; i++)
		start(s);
	work(s, 0);
	pthread_mutex_lock(&s->lock);
	while (s->n_working)
		pthread_cond_wait(&s->is_done, &s->lock);
	leave(s);
}
