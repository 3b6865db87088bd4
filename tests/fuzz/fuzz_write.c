/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a file of objects: if a cluster comes of it, what is written of the cluster is readable, and the cluster
 * that comes of that is written with the same bytes again.
 */
#include <stdlib.h>

#include "base/emit.h"
#include "manifest/manifest.h"

#define HOLDS(condition)          \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)

static struct cluster *build(struct vocab *v, const char *data, size_t size, struct err *e)
{
	struct manifest *m = manifest_new(v);
	struct cluster_options o = cluster_options_default();
	struct cluster *c = NULL;

	o.now_ns = INT64_C(1800000000) * NS_PER_S;
	if (!manifest_read_bytes(m, "input", data, size, e))
		manifest_build(m, &o, &c, e);
	manifest_free(m);
	return c;
}

static struct text written(const struct cluster *c, enum emit_format format)
{
	struct text t = {0};
	struct emit e;

	emit_init(&e, &t, format);
	manifest_write(c, &e);
	return t;
}

static bool is_cut(const struct res_vec *v)
{
	for (res_id r = 0; r < RES_MAX; r++)
		if (v->v[r] >= RES_AMOUNT_MAX)
			return true;
	return false;
}

/* Amounts of queues that were cut may no longer add up. */
static bool has_cut_queues(const struct cluster *c)
{
	uint32_t n;
	const struct queue_def *defs = cluster_queue_defs(c, FROM_YUNIKORN, &n);

	for (uint32_t i = 0; i < n; i++)
		if (is_cut(&defs[i].spec.guaranteed) || is_cut(&defs[i].spec.max))
			return true;
	return false;
}

static void check(const struct cluster *c, enum emit_format format)
{
	struct vocab *v = vocab_new();
	struct text first = written(c, format), second;
	struct err e = {0};
	struct cluster *again = build(v, first.s, first.n, &e);

	HOLDS(again || has_cut_queues(c));
	if (again) {
		second = written(again, format);
		HOLDS(str_eq(first.s, second.s));
		text_free(&second);
		cluster_free(again);
	}
	text_free(&first);
	vocab_free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vocab *v = vocab_new();
	struct err e = {0};
	struct cluster *c = build(v, (const char *)data, size, &e);

	if (c) {
		check(c, EMIT_YAML);
		check(c, EMIT_JSON);
		cluster_free(c);
	}
	vocab_free(v);
	return 0;
}
