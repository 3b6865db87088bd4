/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents go from thread to thread in batches, whose memory goes round: a batch that was used is filled again. So a
 * thread seldom waits for the other, and what is under way stays small enough for the caches that both share.
 */
#include "manifest/tree_ahead.h"

#include <pthread.h>

#include "base/array.h"

#define WORTH_A_THREAD ((size_t)1 << 20) /* bytes of input */
enum { BATCHES = 4, BATCH_DOCS = 32 };
#define BATCH_BYTES ((size_t)1 << 20) /* of trees, after which a batch ends early */

struct batch {
	struct arena *arena;
	ARRAY(struct tree_doc) docs;
	enum err_code code; /* of what came after them */
	struct err e;
	bool is_last;
};

struct tree_ahead {
	struct tree_reader *reader;
	bool has_thread;
	pthread_t thread;
	struct batch batches[BATCHES];
	uint32_t next_doc; /* of the batch that is being used */
	bool is_using;	   /* there is one: number n_used */
	/* under the lock */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint64_t n_filled, n_used; /* batches, since the beginning */
	bool is_ending;
};

/* True: the input is at its end, or there was an error. */
static bool read_one(struct tree_reader *r, struct batch *b)
{
	struct tree_doc doc;

	b->code = tree_next(r, b->arena, &doc, &b->e);
	if (b->code || !doc.root)
		return true;
	array_push(&b->docs, doc);
	return false;
}

static void fill(struct tree_reader *r, struct batch *b, uint32_t most)
{
	arena_reset(b->arena);
	b->docs.n = 0;
	b->is_last = false;
	while (!b->is_last && b->docs.n < most && arena_bytes(b->arena) <= 2 * BATCH_BYTES)
		b->is_last = read_one(r, b);
}

/* A free batch; NULL: nobody wants more. */
static struct batch *wait_for_room(struct tree_ahead *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->n_filled - t->n_used == BATCHES && !t->is_ending)
		pthread_cond_wait(&t->changed, &t->lock);
	struct batch *b = t->is_ending ? NULL : &t->batches[t->n_filled % BATCHES];
	pthread_mutex_unlock(&t->lock);
	return b;
}

static void count(struct tree_ahead *t, uint64_t *n)
{
	pthread_mutex_lock(&t->lock);
	++*n;
	pthread_cond_signal(&t->changed);
	pthread_mutex_unlock(&t->lock);
}

static void *read_ahead(void *arg)
{
	struct tree_ahead *t = arg;
	struct batch *b;
	bool is_last = false;

	while (!is_last && (b = wait_for_room(t))) {
		fill(t->reader, b, BATCH_DOCS);
		is_last = b->is_last; /* once it is counted, it is the other thread's */
		count(t, &t->n_filled);
	}
	return NULL;
}

struct tree_ahead *tree_ahead_new(struct tree_reader *r, size_t len)
{
	struct tree_ahead *t = mem_alloc(sizeof(*t));
	bool is_large = len >= WORTH_A_THREAD;

	t->reader = r;
	for (int i = 0; i < (is_large ? BATCHES : 1); i++)
		t->batches[i].arena = arena_new(is_large ? BATCH_BYTES : (size_t)1 << 16);
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	t->has_thread = is_large && !pthread_create(&t->thread, NULL, read_ahead, t);
	return t;
}

void tree_ahead_free(struct tree_ahead *t)
{
	if (t->has_thread) {
		pthread_mutex_lock(&t->lock);
		t->is_ending = true;
		pthread_cond_signal(&t->changed);
		pthread_mutex_unlock(&t->lock);
		pthread_join(t->thread, NULL);
	}
	for (int i = 0; i < BATCHES; i++) {
		arena_free(t->batches[i].arena);
		array_free(&t->batches[i].docs);
	}
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	mem_free(t);
}

static struct batch *wait_for_docs(struct tree_ahead *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->n_filled == t->n_used)
		pthread_cond_wait(&t->changed, &t->lock);
	struct batch *b = &t->batches[t->n_used % BATCHES];
	pthread_mutex_unlock(&t->lock);
	return b;
}

/* The one that is being used while it has more, or is the last; else the next. */
static struct batch *present_batch(struct tree_ahead *t)
{
	struct batch *b = &t->batches[t->has_thread ? t->n_used % BATCHES : 0];

	if (t->is_using && (t->next_doc < b->docs.n || b->is_last))
		return b;
	if (t->is_using && t->has_thread)
		count(t, &t->n_used);
	t->is_using = true;
	t->next_doc = 0;
	if (t->has_thread)
		return wait_for_docs(t);
	fill(t->reader, b, 1);
	return b;
}

enum err_code tree_ahead_next(struct tree_ahead *t, struct tree_doc *ret, struct err *e)
{
	struct batch *b = present_batch(t);

	*ret = (struct tree_doc){NULL, "", ""};
	if (t->next_doc < b->docs.n) {
		*ret = b->docs.v[t->next_doc++];
		return ERR_OK;
	}
	if (b->code && e)
		*e = b->e;
	return b->code;
}
