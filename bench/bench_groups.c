/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_groups [OUT.json [NODES [SHAPE]]] - cycles of profile kai on full clusters of 8 GPUs a node:
 *
 *	gang		one waiting gang of N/10 pods of 8 GPUs, 8N running jobs of one GPU in another queue, by node
 *	scattered	the same, but the running jobs are of all ages on all nodes: whole nodes have to be found
 *	impossible	the same gang, but its queue deserves one GPU less than it asks for: nothing may go
 *	preempt		one waiting pod of 8 GPUs in the only queue, all others of lower priority
 *	cycle		8N running and 8N waiting jobs of one GPU, in two queues of equal weight
 *	default		the gang of the first row in profile default
 *
 * A cycle is everything: the session is made of the ledger, all actions run, decisions are written. Time of the
 * processor, best of three. Growth: the exponent of N since the row above (1 is linear).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/emit.h"
#include "engine/engine.h"
#include "manifest/manifest.h"
#include "results.h"

enum kind { GANG, SCATTERED, IMPOSSIBLE, PREEMPT, CYCLE, GANG_IN_DEFAULT, KINDS };
static const char *const kind_names[KINDS] = {"gang", "scattered", "impossible", "preempt", "cycle", "default"};

struct row {
	enum kind kind;
	uint32_t nodes;
	double ms;
	uint32_t placed, nominated, waiting, victims;
};

#define NOW_NS (INT64_C(1763208000) * NS_PER_S)

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_groups: %s: %s\n", what, why);
	exit(1);
}

/* ---- the cluster ---- */

static void add_queue(struct text *t, const char *name, const char *parent, double quota, double weight)
{
	text_printf(
		t,
		"{\"apiVersion\":\"scheduling.run.ai/v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
		"\"parentQueue\":\"%s\",\"resources\":{\"gpu\":{\"quota\":%g,\"limit\":-1,\"overQuotaWeight\":%g},"
		"\"cpu\":{\"quota\":-1,\"limit\":-1,\"overQuotaWeight\":1},"
		"\"memory\":{\"quota\":-1,\"limit\":-1,\"overQuotaWeight\":1}}}},\n",
		name, parent, quota, weight);
}

static void add_group(struct text *t, const char *prefix, uint32_t i, const char *queue, const char *class,
		      uint32_t min, uint32_t age_s)
{
	text_printf(t,
		    "{\"apiVersion\":\"scheduling.run.ai/"
		    "v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{\"namespace\":\"n\","
		    "\"name\":\"%s%06u\",\"creationTimestamp\":\"2025-11-%02uT%02u:%02u:%02uZ\"},\"spec\":{\"queue\":"
		    "\"%s\","
		    "\"priorityClassName\":\"%s\",\"minMember\":%u}},\n",
		    prefix, i, 1 + age_s / 86400 % 14, age_s / 3600 % 24, age_s / 60 % 60, age_s % 60, queue, class,
		    min);
}

static void add_pod(struct text *t, const char *prefix, uint32_t group, uint32_t i, uint32_t gpus, int64_t node)
{
	text_printf(t,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"n\",\"name\":\"%s%06u-%u\","
		    "\"annotations\":{\"pod-group-name\":\"%s%06u\"}},\"spec\":{\"containers\":[{\"name\":\"c\","
		    "\"resources\":{\"requests\":{\"cpu\":\"100m\",\"memory\":\"100Mi\",\"nvidia.com/gpu\":\"%u\"}}}]",
		    prefix, group, i, prefix, group, gpus);
	if (node >= 0)
		text_printf(t, ",\"nodeName\":\"node-%05u\"},\"status\":{\"phase\":\"Running\"}},\n", (unsigned)node);
	else
		text_add(t, "},\"status\":{\"phase\":\"Pending\"}},\n");
}

static void add_waiting(struct text *t, enum kind kind, uint32_t nodes)
{
	uint32_t gang = nodes / 10;

	if (kind == CYCLE) {
		for (uint32_t i = 0; i < 8 * nodes; i++) {
			add_group(t, "w", i, "team", "train", 1, i);
			add_pod(t, "w", i, 0, 1, -1);
		}
		return;
	}
	if (kind == PREEMPT)
		gang = 1;
	add_group(t, "w", 0, "team", kind == PREEMPT ? "build-preemptible" : "train", gang, 0);
	for (uint32_t i = 0; i < gang; i++)
		add_pod(t, "w", 0, i, 8, -1);
}

static void make_cluster(struct text *t, enum kind kind, uint32_t nodes)
{
	double gang = 8.0 * (nodes / 10);
	uint32_t random = 12345;

	text_add(t, "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n");
	add_queue(t, "all", "", -1, 1);
	add_queue(t, "batch", "all", kind == IMPOSSIBLE ? 8.0 * nodes : 0, 1);
	add_queue(t, "team", "all",
		  kind == CYCLE	       ? 0
		  : kind == IMPOSSIBLE ? gang - 1
				       : gang,
		  kind == IMPOSSIBLE ? 0 : 1);
	for (uint32_t i = 0; i < nodes; i++)
		text_printf(
			t,
			"{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"node-%05u\"},\"status\":{"
			"\"allocatable\":{\"cpu\":\"64\",\"memory\":\"512Gi\",\"pods\":\"110\",\"nvidia.com/"
			"gpu\":\"8\"}}},\n",
			i);
	for (uint32_t i = 0; i < 8 * nodes; i++) {
		random = random * 1664525u + 1013904223u;
		add_group(t, "r", i, kind == PREEMPT ? "team" : "batch", "train", 1,
			  kind == SCATTERED ? random >> 12 : i);
		add_pod(t, "r", i, 0, 1, i / 8);
	}
	add_waiting(t, kind, nodes);
	t->n -= 2; /* the last comma */
	text_add(t, "]}\n");
}

/* ---- measuring ---- */

static double now_ms(void)
{
	struct timespec t; /* of the processor: other load of the machine is not in it */

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void plan_once(struct engine *en, struct ledger *l, struct row *row)
{
	struct engine_run run = {.now_ns = NOW_NS, .cycles = 1, .report = POD_NONE};
	struct decisions d = {.arena = arena_new(1 << 16)};
	ledger_mark mark = ledger_get_mark(l);
	struct err e;
	double began = now_ms(), ms;

	if (engine_plan(en, &run, &d, &e))
		fail("plan", e.msg);
	ms = now_ms() - began;
	if (row->ms == 0 || ms < row->ms)
		row->ms = ms;
	row->placed = d.placed;
	row->nominated = d.nominated;
	row->waiting = d.waiting;
	row->victims = d.victims;
	ledger_rollback(l, mark);
	array_free(&d.v);
	arena_free(d.arena);
}

static void measure(struct row *row)
{
	struct engine_config *config = engine_config_new();
	struct vocab *v = vocab_new();
	struct manifest *m = manifest_new(v);
	struct cluster *c = NULL;
	struct text t = {0};
	struct err e;

	config->profile = row->kind == GANG_IN_DEFAULT ? PROFILE_DEFAULT : PROFILE_KAI;
	make_cluster(&t, row->kind, row->nodes);
	struct cluster_options o = engine_config_cluster_options(config, NOW_NS);

	if (manifest_read_bytes(m, "bench", text_str(&t), t.n, &e) || manifest_build(m, &o, &c, &e))
		fail("cluster", e.msg);
	struct engine *en = engine_new(c, config, NULL, 0, &e);

	if (en == NULL)
		fail("engine", e.msg);
	for (int i = 0; i < 3; i++)
		plan_once(en, cluster_ledger(c), row);
	engine_free(en);
	cluster_free(c);
	manifest_free(m);
	engine_config_free(config);
	vocab_free(v);
	text_free(&t);
}

/* ---- the table ---- */

static double exponent(const struct row *row, const struct row *base)
{
	if (base == NULL || base->kind != row->kind)
		return 0;
	return log(row->ms / base->ms) / log((double)row->nodes / base->nodes);
}

static void print_row(const struct row *row, const struct row *base)
{
	double x = exponent(row, base);

	printf("%-11s %6u %10.3f %8u %9u %8u %8u", kind_names[row->kind], row->nodes, row->ms, row->placed,
	       row->nominated, row->waiting, row->victims);
	if (x != 0)
		printf("   N^%.2f", x);
	printf("\n");
	fflush(stdout);
}

static void write_json(const char *path, const struct row *rows, size_t n)
{
	struct text out = {0};
	struct emit e;

	emit_init(&e, &out, EMIT_JSON);
	emit_object(&e, NULL);
	emit_str(&e, "name", "groups");
	emit_list(&e, "runs");
	for (size_t i = 0; i < n; i++) {
		emit_object(&e, NULL);
		emit_str(&e, "kind", kind_names[rows[i].kind]);
		emit_int(&e, "nodes", rows[i].nodes);
		emit_double(&e, "ms", rows[i].ms);
		emit_int(&e, "nominated", rows[i].nominated);
		emit_int(&e, "waiting", rows[i].waiting);
		emit_int(&e, "victims", rows[i].victims);
		emit_end(&e);
	}
	emit_end(&e);
	emit_end(&e);
	results_save(path, &out);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {10, 100, 200, 500, 1000, 2000, 5000};
	uint32_t most = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5000;
	struct row rows[KINDS * sizeof(sizes) / sizeof(*sizes)];
	size_t n = 0;

	printf("%-11s %6s %10s %8s %9s %8s %8s   growth\n", "shape", "nodes", "ms", "placed", "nominated", "waiting",
	       "victims");
	for (int kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			if (sizes[i] > most || (kind == CYCLE && sizes[i] > 1000) ||
			    (argc > 3 && strcmp(argv[3], kind_names[kind]) != 0))
				continue;
			rows[n] = (struct row){.kind = (enum kind)kind, .nodes = sizes[i]};
			measure(&rows[n]);
			print_row(&rows[n], n > 0 ? &rows[n - 1] : NULL);
			n++;
		}
	if (argc > 1 && *argv[1] != '\0')
		write_json(argv[1], rows, n);
	return 0;
}
