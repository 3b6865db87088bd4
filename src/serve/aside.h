/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aside.h - answers that take long, made aside: by a process that is a copy of this one.
 *
 * An explanation may plan a large cluster dozens of times. The copy (journal/process.h) has the cluster as it was
 * when it was asked, and whoever decides goes on meanwhile. One that has no answer in time is ended. Two are at work
 * at once; whoever comes then waits for one to end, or is told to come again where many wait.
 */
#pragma once

#include "serve/serve.h"

struct aside;

struct answer {
	int status;
	const char *type; /* a literal */
	struct text body;
};

struct aside *aside_new(int64_t patience_ns); /* with one answer; 0: two minutes */
/* Ends those at work and answers for them; to be called before serve_stop. NULL is fine. */
void aside_free(struct aside *a);

/* On the thread that everything make looks at belongs to. make is called in the copy; r is answered when it is done. */
void aside_answer(struct aside *a, struct serve_request *r, void (*make)(void *ctx, struct answer *ret), void *ctx);
