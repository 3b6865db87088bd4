/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "base/emit.h"
#include "serve/serve_internal.h"
#include "units/timestamp.h"

enum { MAX_ENTRIES = 10000, STREAM_BYTES = 16 << 10 };
#define MAX_BYTES ((size_t)32 << 20)

struct entry {
	uint64_t id;
	int64_t wall_ns;
	char kind[24];
	char *json;
	size_t n;
};

struct serve_log {
	pthread_mutex_t lock;
	struct entry *ring;
	uint32_t first, n, cap;
	size_t bytes, max_bytes;
	uint64_t began, last; /* numbers */
	uint64_t lost;	      /* the latest number that is not there any more, or of a process before this one */
	void (*wake)(void *ctx);
	void *wake_ctx;
};

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

static struct entry *at(struct serve_log *l, uint32_t i)
{
	return &l->ring[(l->first + i) % l->cap];
}

static void drop_first(struct serve_log *l)
{
	struct entry *e = at(l, 0);

	l->lost = e->id;
	l->bytes -= e->n;
	mem_free(e->json);
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

uint64_t serve_log_add(struct serve_log *l, const char *kind, int64_t wall_ns, const char *json)
{
	struct entry e = {.wall_ns = wall_ns};
	void (*wake)(void *ctx);
	void *ctx;

	if (!l)
		return 0;
	assert(strlen(kind) < sizeof(e.kind));
	memcpy(e.kind, kind, strlen(kind));
	e.json = one_line(json, &e.n);
	pthread_mutex_lock(&l->lock);
	while (l->n && (l->n == l->cap || l->bytes + e.n > l->max_bytes))
		drop_first(l);
	e.id = ++l->last;
	l->bytes += e.n;
	*at(l, l->n++) = e;
	wake = l->wake;
	ctx = l->wake_ctx;
	pthread_mutex_unlock(&l->lock);
	if (wake)
		wake(ctx);
	return e.id;
}

uint64_t serve_log_last(struct serve_log *l)
{
	uint64_t last;

	pthread_mutex_lock(&l->lock);
	last = l->last;
	pthread_mutex_unlock(&l->lock);
	return last;
}

/* Position of the first entry after a number. */
static uint32_t position(struct serve_log *l, uint64_t after)
{
	uint32_t low = 0, high = l->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (at(l, middle)->id <= after)
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
	for (uint32_t i = position(l, after); i < l->n && out->n - before < STREAM_BYTES; i++) {
		const struct entry *e = at(l, i);

		text_printf(out, "id: %llu\nevent: %s\ndata: ", (unsigned long long)e->id, e->kind);
		text_add_n(out, e->json, e->n);
		text_add(out, "\n\n");
		after = e->id;
	}
	pthread_mutex_unlock(&l->lock);
	return after;
}

static void add_decision(struct text *out, const struct entry *e, bool is_first)
{
	struct text when = {0};

	timestamp_text(e->wall_ns, &when);
	text_printf(out, "%s\n  {\"id\": %llu, \"at\": \"%s\", \"decision\": ", is_first ? "" : ",",
		    (unsigned long long)e->id, text_str(&when));
	text_add_n(out, e->json, e->n);
	text_add_char(out, '}');
	text_free(&when);
}

void serve_log_decisions(struct serve_log *l, uint64_t since, uint32_t limit, struct text *out)
{
	uint32_t n = 0, i;

	pthread_mutex_lock(&l->lock);
	since = since ? since : l->began;
	text_printf(out, "{\"kind\": \"DecisionList\", \"complete\": %s, \"items\": [",
		    since < l->lost || since > l->last ? "false" : "true");
	if (since > l->last)
		since = l->lost;
	for (i = position(l, since); i < l->n && n < limit; i++) {
		const struct entry *e = at(l, i);

		if (str_eq(e->kind, "decision"))
			add_decision(out, e, n++ == 0);
		since = e->id;
	}
	text_printf(out, "%s], \"next\": %llu, \"more\": %s}\n", n ? "\n" : "", (unsigned long long)since,
		    i < l->n ? "true" : "false");
	pthread_mutex_unlock(&l->lock);
}
