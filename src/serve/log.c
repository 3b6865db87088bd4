/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "serve/log_internal.h"

enum { MAX_ENTRIES = 10000, STREAM_BYTES = 16 << 10 };
#define MAX_BYTES ((size_t)32 << 20)

struct serve_log *serve_log_new(int64_t wall_ns, uint32_t max_entries, size_t max_bytes)
{
	struct serve_log *l = mem_alloc(sizeof(*l));

	pthread_mutex_init(&l->lock, NULL);
	l->cap = max_entries ? max_entries : MAX_ENTRIES;
	l->max_bytes = max_bytes ? max_bytes : MAX_BYTES;
	l->ring = mem_alloc(l->cap * sizeof(*l->ring));
	l->began = l->last = l->lost = wall_ns > 0 ? (uint64_t)wall_ns / 1000 : 0;
	return l;
}

static void drop_first(struct serve_log *l)
{
	struct log_entry *e = log_at(l, 0);

	l->lost = e->id;
	l->bytes -= e->n + e->facts.n;
	mem_free(e->json);
	text_free(&e->facts);
	l->first = (l->first + 1) % l->cap;
	l->n--;
}

void serve_log_free(struct serve_log *l)
{
	if (!l)
		return;
	while (l->n)
		drop_first(l);
	pthread_mutex_destroy(&l->lock);
	mem_free(l->ring);
	mem_free(l);
}

void serve_log_listen(struct serve_log *l, void (*wake)(void *ctx), void *ctx)
{
	pthread_mutex_lock(&l->lock);
	l->wake = wake;
	l->wake_ctx = ctx;
	pthread_mutex_unlock(&l->lock);
}

/* JSON may have line ends between its values, an event may not; inside of strings they are written as \n anyway. */
static char *one_line(const char *json, size_t *ret_n)
{
	char *s = mem_strdup(json);
	size_t n = strlen(s);

	while (n && s[n - 1] == '\n')
		s[--n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (s[i] == '\n' || s[i] == '\r')
			s[i] = ' ';
	*ret_n = n;
	return s;
}

static uint64_t add(struct serve_log *l, struct log_entry *e)
{
	size_t bytes = e->n + e->facts.n;
	void (*wake)(void *ctx);
	void *ctx;

	pthread_mutex_lock(&l->lock);
	while (l->n && (l->n == l->cap || l->bytes + bytes > l->max_bytes))
		drop_first(l);
	e->id = ++l->last;
	l->bytes += bytes;
	*log_at(l, l->n++) = *e;
	wake = l->wake;
	ctx = l->wake_ctx;
	pthread_mutex_unlock(&l->lock);
	if (wake)
		wake(ctx);
	return e->id;
}

uint64_t serve_log_add(struct serve_log *l, const char *kind, int64_t wall_ns, const char *json)
{
	struct log_entry e = {.wall_ns = wall_ns};

	if (!l)
		return 0;
	assert(strlen(kind) < sizeof(e.kind));
	memcpy(e.kind, kind, strlen(kind));
	e.json = one_line(json, &e.n);
	e.is_decision = str_eq(kind, "decision");
	if (e.is_decision)
		facts_read(&e.facts, e.json, e.n);
	return add(l, &e);
}

/* The facts are found before the lock is taken: whoever reads the log does not wait for it. */
uint64_t serve_log_decision(struct serve_log *l, int64_t wall_ns, const char *json, const struct text *more)
{
	struct log_entry e = {.wall_ns = wall_ns, .kind = "decision", .is_decision = true};

	if (!l)
		return 0;
	e.json = one_line(json, &e.n);
	facts_read(&e.facts, e.json, e.n);
	text_add_n(&e.facts, text_str(more), more->n);
	return add(l, &e);
}

uint64_t serve_log_last(struct serve_log *l)
{
	uint64_t last;

	pthread_mutex_lock(&l->lock);
	last = l->last;
	pthread_mutex_unlock(&l->lock);
	return last;
}

uint32_t log_position(struct serve_log *l, uint64_t after)
{
	uint32_t low = 0, high = l->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (log_at(l, middle)->id <= after)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t serve_log_stream(struct serve_log *l, uint64_t after, struct text *out)
{
	size_t before = out->n;

	pthread_mutex_lock(&l->lock);
	if (after < l->lost || after > l->last) { /* or of a clock that was set back */
		text_printf(out, "id: %llu\nevent: reset\ndata: {}\n\n", (unsigned long long)l->lost);
		after = l->lost;
	}
	for (uint32_t i = log_position(l, after); i < l->n && out->n - before < STREAM_BYTES; i++) {
		const struct log_entry *e = log_at(l, i);

		text_printf(out, "id: %llu\nevent: %s\ndata: ", (unsigned long long)e->id, e->kind);
		text_add_n(out, e->json, e->n);
		text_add(out, "\n\n");
		after = e->id;
	}
	pthread_mutex_unlock(&l->lock);
	return after;
}
