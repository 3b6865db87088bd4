/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_kai [OUT.json] - cycles of profile kai on full clusters, in the shapes that made its search slow:
 *
 *	singles		waiting pods of many sizes in a few queues, everybody a workload of its own (live_cluster.h)
 *	queues		the same in 200 queues
 *	gangs		as many gangs of 20 pods as nodes, in 5 departments of 10 queues
 *	apart		one gang of one pod more than nodes, no two of which bear each other on a node
 *	gpus		one gang of a tenth of the nodes, whole nodes of GPUs each
 *
 * A cycle is everything: the session is made of the ledger, all actions run, decisions are written. Time of the
 * processor; making the cluster is not counted. Growth: the exponent of the nodes since the row above of the same
 * shape. bench_kai - SHAPE NODES PODS QUEUES WAITING: one row alone.
 */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <time.h>

#include "base/emit.h"
#include "live_cluster.h"
#include "manifest/manifest.h"
#include "results.h"

enum shape_of_row { SINGLES, QUEUES, GANGS, APART, GPUS, SHAPES };
static const char *const shape_names[SHAPES] = {"singles", "queues", "gangs", "apart", "gpus"};

enum { DEPARTMENTS = 5, GANG = 20 };

struct row {
	enum shape_of_row shape;
	uint32_t nodes, pods, queues, waiting;
	double ms;
	uint32_t placed, nominated, waits, victims;
};

/* ---- clusters written as objects ---- */

struct writer {
	struct text t;
	uint32_t random;
};

static uint32_t below(struct writer *w, uint32_t n)
{
	w->random = w->random * 1664525u + 1013904223u;
	return (w->random >> 8) % n;
}

static void add_queue(struct writer *w, const char *name, const char *parent, const char *type, double quota)
{
	static const char *const types[] = {"gpu", "cpu", "memory"};

	text_printf(&w->t,
		    "{\"apiVersion\":\"scheduling.run.ai/v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"%s\"},"
		    "\"spec\":{\"parentQueue\":\"%s\",\"resources\":{",
		    name, parent);
	for (int i = 0; i < 3; i++)
		text_printf(&w->t, "%s\"%s\":{\"quota\":%g,\"limit\":-1,\"overQuotaWeight\":1}", i ? "," : "", types[i],
			    strcmp(types[i], type) == 0 ? quota : -1);
	text_add(&w->t, "}}},\n");
}

static void add_node(struct writer *w, uint32_t i, uint32_t cpus, uint32_t gpus)
{
	text_printf(&w->t,
		    "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"node-%05u\",\"labels\":{"
		    "\"kubernetes.io/hostname\":\"node-%05u\"}},\"status\":{\"allocatable\":{\"cpu\":\"%u\","
		    "\"memory\":\"512Gi\",\"pods\":\"200\",\"nvidia.com/gpu\":\"%u\"}}},\n",
		    i, i, cpus, gpus);
}

static void add_group(struct writer *w, const char *name, const char *queue, uint32_t min, uint32_t age_s)
{
	text_printf(&w->t,
		    "{\"apiVersion\":\"scheduling.run.ai/v2alpha2\",\"kind\":\"PodGroup\",\"metadata\":{"
		    "\"namespace\":\"n\",\"name\":\"%s\",\"creationTimestamp\":\"2025-11-%02uT%02u:%02u:%02uZ\"},"
		    "\"spec\":{\"queue\":\"%s\",\"priorityClassName\":\"train\",\"minMember\":%u}},\n",
		    name, 1 + age_s / 86400 % 14, age_s / 3600 % 24, age_s / 60 % 60, age_s % 60, queue, min);
}

static void add_pod(struct writer *w, const char *group, uint32_t i, const char *requests, int64_t node, bool is_apart)
{
	text_printf(&w->t,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"n\",\"name\":\"%s-%u\","
		    "\"labels\":{\"group\":\"%s\"},\"annotations\":{\"pod-group-name\":\"%s\"}},\"spec\":{",
		    group, i, is_apart ? "apart" : "any", group);
	if (is_apart)
		text_add(&w->t,
			 "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{"
			 "\"topologyKey\":\"kubernetes.io/hostname\","
			 "\"labelSelector\":{\"matchLabels\":{\"group\":\"apart\"}}}]}},");
	text_printf(&w->t, "\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{%s}}}]", requests);
	if (node >= 0)
		text_printf(&w->t, ",\"nodeName\":\"node-%05u\"},\"status\":{\"phase\":\"Running\"}},\n",
			    (unsigned)node);
	else
		text_add(&w->t, "},\"status\":{\"phase\":\"Pending\"}},\n");
}

static void queue_name(const struct row *row, uint32_t i, char *out, size_t size)
{
	snprintf(out, size, "team-%u", i % row->queues);
}

/* Running pods are of the first half of the queues, each a workload of its own and of any age. */
static void add_running(struct writer *w, const struct row *row, const char *requests)
{
	uint32_t half = row->queues > 1 ? row->queues / 2 : 1, n = row->nodes * row->pods;
	char name[32], queue[32];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "r%06u", i);
		queue_name(row, below(w, half), queue, sizeof(queue));
		add_group(w, name, queue, 1, below(w, 14 * 86400));
		add_pod(w, name, 0, requests, i / row->pods, false);
	}
}

/* Waiting gangs are of the second half. */
static void add_gangs(struct writer *w, const struct row *row, uint32_t members, const char *requests, bool is_apart)
{
	uint32_t half = row->queues / 2;
	char name[32], queue[32];

	for (uint32_t i = 0; i < row->waiting; i++) {
		snprintf(name, sizeof(name), "w%06u", i);
		queue_name(row, half + below(w, row->queues - half), queue, sizeof(queue));
		add_group(w, name, queue, members, below(w, 86400));
		for (uint32_t k = 0; k < members; k++)
			add_pod(w, name, k, requests, -1, is_apart);
	}
}

static void add_queues(struct writer *w, const struct row *row)
{
	bool has_departments = row->shape == GANGS;
	const char *type = row->shape == GPUS ? "gpu" : "cpu";
	double all = row->shape == GPUS ? 8.0 * row->nodes : 1000.0 * row->pods * row->nodes;
	char name[32], parent[32];

	add_queue(w, "all", "", type, -1);
	for (uint32_t i = 0; has_departments && i < DEPARTMENTS; i++) {
		snprintf(name, sizeof(name), "department-%u", i);
		add_queue(w, name, "all", type, all / DEPARTMENTS);
	}
	for (uint32_t i = 0; i < row->queues; i++) {
		queue_name(row, i, name, sizeof(name));
		snprintf(parent, sizeof(parent), "department-%u", i % DEPARTMENTS);
		add_queue(w, name, has_departments ? parent : "all", type,
			  row->shape == APART || row->shape == GPUS ? (i >= row->queues / 2 ? all : 0)
								    : all / row->queues);
	}
}

static void write_cluster(struct writer *w, const struct row *row)
{
	bool is_gpus = row->shape == GPUS;

	text_add(&w->t, "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n");
	add_queues(w, row);
	for (uint32_t i = 0; i < row->nodes; i++)
		add_node(w, i, is_gpus ? 64 : row->pods, is_gpus ? 8 : 0);
	add_running(w, row,
		    is_gpus ? "\"cpu\":\"100m\",\"memory\":\"100Mi\",\"nvidia.com/gpu\":\"1\""
			    : "\"cpu\":\"1\",\"memory\":\"1Gi\"");
	if (row->shape == GANGS)
		add_gangs(w, row, GANG, "\"cpu\":\"2\",\"memory\":\"1Gi\"", false);
	else if (row->shape == APART)
		add_gangs(w, row, row->nodes + 1, "\"cpu\":\"2\",\"memory\":\"1Gi\"", true);
	else
		add_gangs(w, row, row->nodes / 10, "\"cpu\":\"100m\",\"memory\":\"100Mi\",\"nvidia.com/gpu\":\"8\"",
			  false);
	w->t.n -= 2; /* the last comma */
	text_add(&w->t, "]}\n");
}

/* ---- measuring ---- */

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void plan(struct row *row, struct cluster *c, struct engine_config *config)
{
	struct engine_run run = {.now_ns = LIVE_NOW_NS, .cycles = 1, .report = POD_NONE};
	struct decisions d = {.arena = arena_new(1 << 16)};
	struct engine *en;
	double began;
	struct err e;

	en = engine_new(c, config, NULL, 0, &e);
	live_must(en ? ERR_OK : ERR_INTERNAL, &e);
	began = now_ms();
	live_must(engine_plan(en, &run, &d, &e), &e);
	row->ms = now_ms() - began;
	row->placed = d.placed;
	row->nominated = d.nominated;
	row->waits = d.waiting;
	row->victims = d.victims;
	array_free(&d.v);
	arena_free(d.arena);
	engine_free(en);
}

static void measure_live(struct row *row, struct engine_config *config)
{
	struct live_options o = {.profile = PROFILE_KAI,
				 .nodes = row->nodes,
				 .pods = row->pods,
				 .queues = row->queues,
				 .waiting = row->waiting};
	struct live_cluster s;

	live_cluster_init(&s, &o);
	plan(row, s.cluster, config);
	live_cluster_free(&s);
}

static void measure_written(struct row *row, struct engine_config *config)
{
	struct cluster_options o = engine_config_cluster_options(config, LIVE_NOW_NS);
	struct vocab *v = vocab_new();
	struct manifest *m = manifest_new(v);
	struct writer w = {.random = 12345};
	struct cluster *c = NULL;
	struct err e;

	write_cluster(&w, row);
	live_must(manifest_read_bytes(m, "bench", text_str(&w.t), w.t.n, &e), &e);
	live_must(manifest_build(m, &o, &c, &e), &e);
	plan(row, c, config);
	cluster_free(c);
	manifest_free(m);
	vocab_free(v);
	text_free(&w.t);
}

/* Of the rows before no memory is left over: each takes its own from the system, as `cede plan` does. */
static void measure(struct row *row)
{
	struct engine_config *config = engine_config_new();

	malloc_trim(0);
	config->profile = PROFILE_KAI;
	config->min_runtime.reclaim_ns = 300 * NS_PER_S;
	if (row->shape == SINGLES || row->shape == QUEUES)
		measure_live(row, config);
	else
		measure_written(row, config);
	engine_config_free(config);
}

/* ---- the table ---- */

static void print_row(const struct row *row, const struct row *base)
{
	printf("%-8s %6u x %-3u %4u queues %4u waiting %10.2f ms %8.3f each; %u placed, %u nominated, %u wait, "
	       "%u victims",
	       shape_names[row->shape], row->nodes, row->pods, row->queues, row->waiting, row->ms,
	       row->ms / row->waiting, row->placed, row->nominated, row->waits, row->victims);
	if (base != NULL && base->shape == row->shape && base->nodes != row->nodes)
		printf("   N^%.2f", log(row->ms / base->ms) / log((double)row->nodes / base->nodes));
	printf("\n");
	fflush(stdout);
}

static const struct row rows[] = {
	{.shape = SINGLES, .nodes = 1000, .pods = 30, .queues = 2, .waiting = 100},
	{.shape = SINGLES, .nodes = 5000, .pods = 30, .queues = 2, .waiting = 100},
	{.shape = QUEUES, .nodes = 1000, .pods = 30, .queues = 200, .waiting = 100},
	{.shape = QUEUES, .nodes = 5000, .pods = 30, .queues = 200, .waiting = 100},
	{.shape = GANGS, .nodes = 50, .pods = 30, .queues = 50, .waiting = 50},
	{.shape = GANGS, .nodes = 100, .pods = 30, .queues = 50, .waiting = 100},
	{.shape = GANGS, .nodes = 200, .pods = 30, .queues = 50, .waiting = 200},
	{.shape = APART, .nodes = 100, .pods = 8, .queues = 50, .waiting = 1},
	{.shape = APART, .nodes = 200, .pods = 8, .queues = 50, .waiting = 1},
	{.shape = APART, .nodes = 400, .pods = 8, .queues = 50, .waiting = 1},
	{.shape = GPUS, .nodes = 1000, .pods = 8, .queues = 2, .waiting = 1},
	{.shape = GPUS, .nodes = 5000, .pods = 8, .queues = 2, .waiting = 1},
};

static int one(char **argv)
{
	struct row row = {.nodes = (uint32_t)strtoul(argv[1], NULL, 10),
			  .pods = (uint32_t)strtoul(argv[2], NULL, 10),
			  .queues = (uint32_t)strtoul(argv[3], NULL, 10),
			  .waiting = (uint32_t)strtoul(argv[4], NULL, 10)};

	while (row.shape < SHAPES && strcmp(shape_names[row.shape], argv[0]) != 0)
		row.shape++;
	if (row.shape == SHAPES) {
		fprintf(stderr, "bench_kai: there is no shape '%s'\n", argv[0]);
		return 1;
	}
	measure(&row);
	print_row(&row, NULL);
	return 0;
}

static void emit_row(struct emit *e, const void *row)
{
	const struct row *x = row;

	emit_str(e, "shape", shape_names[x->shape]);
	results_size(e, x->nodes, x->pods, x->queues, x->waiting);
	emit_double(e, "ms", x->ms);
	emit_int(e, "nominated", x->nominated);
	emit_int(e, "victims", x->victims);
}

int main(int argc, char **argv)
{
	enum { N = sizeof(rows) / sizeof(*rows) };
	static struct row done[N];

	if (argc == 7 && strcmp(argv[1], "-") == 0)
		return one(argv + 2);
	for (size_t i = 0; i < N; i++) {
		done[i] = rows[i];
		measure(&done[i]);
		print_row(&done[i], i > 0 ? &done[i - 1] : NULL);
	}
	if (argc > 1)
		results_rows(argv[1], done, N, sizeof(*done), emit_row);
	return 0;
}
