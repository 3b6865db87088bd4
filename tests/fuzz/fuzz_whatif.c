/* SPDX-License-Identifier: Apache-2.0 */
/* The body of POST /api/v1/whatif: whatever it says, the cluster that is asked about stays as it is. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "serve/views.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char cluster_text[] =
	"{\"apiVersion\": \"v1\", \"kind\": \"Node\", \"metadata\": {\"name\": \"n1\"}, \"status\": {\"allocatable\": "
	"{\"cpu\": \"4\", \"pods\": \"9\"}}}\n"
	"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\", \"namespace\": \"ns\", \"uid\": "
	"\"1\"}, \"spec\": {\"nodeName\": \"n1\","
	" \"priority\": 1, \"containers\": [{\"name\": \"c\", \"resources\": {\"requests\": {\"cpu\": \"3\"}}}]}}\n"
	"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"b\", \"namespace\": \"ns\", \"uid\": "
	"\"2\"}, \"spec\": {"
	" \"priority\": 9, \"containers\": [{\"name\": \"c\", \"resources\": {\"requests\": {\"cpu\": \"2\"}}}]}}\n"
	"{\"partitions\": [{\"name\": \"default\", \"queues\": [{\"name\": \"root\", \"queues\": [{\"name\": "
	"\"q\"}]}]}]}\n";

static struct serve_world world;

static void make_world(void)
{
	struct cluster_options options;
	struct manifest *m = manifest_new(vocab_new());
	struct err e;

	world.config = engine_config_new();
	world.manifest = m;
	world.now_ns = INT64_C(1794744000) * 1000000000;
	assert(!manifest_read_bytes(m, "cluster", cluster_text, strlen(cluster_text), &e));
	assert(!manifest_configure(m, world.config, &e));
	options = engine_config_cluster_options(world.config, world.now_ns);
	assert(!manifest_build(m, &options, &world.cluster, &e));
}

static void write_all(struct text *out)
{
	struct emit e;

	emit_init(&e, out, EMIT_JSON_LINE);
	manifest_write(world.cluster, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text before = {0}, after = {0}, out = {0};
	struct err e = {0};

	if (size > 65536)
		return 0;
	if (!world.cluster)
		make_world();
	write_all(&before);
	if (views_whatif(&world, (const char *)data, size, &out, &e))
		assert(*e.msg);
	else
		assert(out.n);
	write_all(&after);
	assert(before.n == after.n && memcmp(before.s, after.s, before.n) == 0);
	text_free(&before);
	text_free(&after);
	text_free(&out);
	return 0;
}
