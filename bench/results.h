/* SPDX-License-Identifier: Apache-2.0 */
/* results.h - what a benchmark found, for programs: a file in bench/results. */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/emit.h"

/* Frees the text. A file that cannot be written ends the benchmark. */
static inline void results_save(const char *path, struct text *out)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(text_str(out), 1, out->n, f) != out->n || fclose(f)) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(1);
	}
	text_free(out);
}

static inline void results_size(struct emit *e, uint32_t nodes, uint32_t pods, uint32_t queues, uint32_t waiting)
{
	emit_int(e, "nodes", nodes);
	emit_int(e, "podsPerNode", pods);
	emit_int(e, "queues", queues);
	emit_int(e, "waiting", waiting);
}

/* A list with an object for each row, which each() fills. */
static inline void results_rows(const char *path, const void *rows, size_t n, size_t size,
				void (*each)(struct emit *e, const void *row))
{
	struct text out = {0};
	struct emit e;

	emit_init(&e, &out, EMIT_JSON);
	emit_list(&e, NULL);
	for (size_t i = 0; i < n; i++) {
		emit_object(&e, NULL);
		each(&e, (const char *)rows + i * size);
		emit_end(&e);
	}
	emit_end(&e);
	results_save(path, &out);
}
