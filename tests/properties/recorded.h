/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded.h - what was decided of random clusters, kept from one version to the next. For tests only.
 *
 * A property compares cede with a model of it, or with itself. What both have in common, and what no model says (whom a
 * tie falls to, which reason is told), may change without anybody noticing. So some of them also hold what they saw
 * against tests/properties/recorded/NAME.txt: a line per cluster, with its name and a hash of all that was said of it.
 * A cluster without a line is not compared.
 *
 * A hash does not say what is right. After a change that is meant to decide or to say something else: run the test with
 * SHOW=DIR before and after it, which writes what was said of each cluster into DIR/NAME-CLUSTER, read the differences,
 * and run it with UPDATE=1, which writes the lines anew.
 */
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

struct recorded_line {
	char cluster[48];
	uint64_t hash;
};

struct recorded {
	const char *name;
	ARRAY(struct recorded_line) known, seen;
	uint64_t n_compared;
};

static inline void recorded_path(const struct recorded *r, char *ret, size_t size)
{
	const char *source = getenv("CEDE_SOURCE");

	snprintf(ret, size, "%s/tests/properties/recorded/%s.txt", source ? source : ".", r->name);
}

static inline void recorded_begin(struct recorded *r, const char *name)
{
	struct recorded_line x;
	char path[4096];
	FILE *f;

	*r = (struct recorded){.name = name};
	recorded_path(r, path, sizeof(path));
	f = fopen(path, "r");
	if (!f && !getenv("UPDATE")) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		abort();
	}
	while (f && fscanf(f, "%47s %" SCNx64, x.cluster, &x.hash) == 2)
		array_push(&r->known, x);
	if (f)
		fclose(f);
}

static inline void recorded_show(const struct recorded *r, const char *cluster, const struct text *said)
{
	const char *dir = getenv("SHOW");
	char path[4096];
	FILE *f;

	if (!dir || !*dir)
		return;
	snprintf(path, sizeof(path), "%s/%s-%s", dir, r->name, cluster);
	f = fopen(path, "w");
	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		abort();
	}
	fwrite(text_str(said), 1, said->n, f);
	fclose(f);
}

static inline uint64_t recorded_hash(const struct text *said)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < said->n; i++)
		h = (h ^ (unsigned char)text_str(said)[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* Clusters come in any order, each once. False: another hash is known of it. */
static inline bool recorded_is_same(struct recorded *r, const char *cluster, const struct text *said)
{
	struct recorded_line x = {.hash = recorded_hash(said)};

	snprintf(x.cluster, sizeof(x.cluster), "%s", cluster);
	array_push(&r->seen, x);
	recorded_show(r, cluster, said);
	for (uint32_t i = 0; i < r->known.n && !getenv("UPDATE"); i++)
		if (strcmp(r->known.v[i].cluster, cluster) == 0) {
			r->n_compared++;
			return r->known.v[i].hash == x.hash;
		}
	return true;
}

/* The same, of clusters that have numbers. */
static inline bool recorded_is_same_as(struct recorded *r, uint64_t seed, const struct text *said)
{
	char cluster[24];

	snprintf(cluster, sizeof(cluster), "%" PRIu64, seed);
	return recorded_is_same(r, cluster, said);
}

static inline void recorded_end(struct recorded *r)
{
	char path[4096];
	FILE *f = NULL;

	recorded_path(r, path, sizeof(path));
	if (getenv("UPDATE"))
		f = fopen(path, "w");
	for (uint32_t i = 0; f && i < r->seen.n; i++)
		fprintf(f, "%s %016" PRIx64 "\n", r->seen.v[i].cluster, r->seen.v[i].hash);
	if (f)
		fclose(f);
	array_free(&r->known);
	array_free(&r->seen);
}
