/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_internal.h - the log of what happened, for the files that read it: log.c keeps it, log_query.c finds decisions,
 * log_chain.c follows who displaced whom.
 */
#pragma once

#include "serve/facts.h"
#include "serve/serve_internal.h"

struct log_entry {
	uint64_t id;
	int64_t wall_ns;
	char kind[24];
	bool is_decision;
	char *json;
	size_t n;
	struct text facts; /* of a decision */
};

struct serve_log {
	pthread_mutex_t lock;
	struct log_entry *ring;
	uint32_t first, n, cap;
	size_t bytes, max_bytes;
	uint64_t began, last; /* numbers */
	uint64_t lost;	      /* the latest number that is not there any more, or of a process before this one */
	void (*wake)(void *ctx);
	void *wake_ctx;
};

/* All with the lock held. */
static inline struct log_entry *log_at(struct serve_log *l, uint32_t i)
{
	return &l->ring[(l->first + i) % l->cap];
}
uint32_t log_position(struct serve_log *l, uint64_t after); /* of the first entry after a number */
/* "id", "at", "user", and the decision without its list of the protected, into the object that is open. */
struct emit;
void log_emit_brief(struct emit *e, const struct log_entry *x);
