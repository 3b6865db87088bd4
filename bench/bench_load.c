/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_load [OUT.json [NODES PODS]] - how fast a cluster's manifests are read, and in how much memory, beside the bare
 * parsers on the same bytes: cJSON on each object of the JSON, libyaml's events of the YAML.
 *
 *	trees	every object as a tree, forgotten again at once
 *	load	everything: trees, objects, and a cluster whose ledger stands and can be decided on
 *
 * Seconds are of the processor, of all threads together, and of the wall clock: loading uses two threads. Memory is
 * what the resident set grew to at most; the text itself is not counted. What stays of a pod is told by its parts, and
 * as what the heap holds in the end, for the manifest and everything of nodes and queues too.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <yaml.h>

#include "gen_cluster.h"
#include "manifest/manifest.h"
#include "manifest/tree.h"
#include "results.h"

/* What a load made; let go outside of what is measured. */
struct loaded {
	struct vocab *vocab;
	struct manifest *manifest;
	struct cluster *cluster;
};

struct run {
	const char *name, *against; /* against: the run to compare with */
	uint64_t (*read)(const struct gen_cluster *g, const struct text *t,
			 struct loaded *l); /* the number of objects */
	enum emit_format format;
	double seconds, wall_s, mb_per_s;
	long peak_kb;
	size_t heap_bytes; /* held by what was loaded */
	uint64_t n_objects;
	struct ledger_memory memory; /* of what was loaded */
};

static void fail(const char *why)
{
	fprintf(stderr, "bench_load: %s\n", why);
	exit(1);
}

static uint64_t read_trees(const struct gen_cluster *g, const struct text *t, struct loaded *l)
{
	uint64_t n = 0;
	struct arena *a = arena_new(65536);
	struct tree_reader *r = tree_reader_new("cluster", t->s, t->n);
	struct tree_doc doc;
	struct err e;
	for (;; n++) {
		arena_reset(a);
		if (tree_next(r, a, &doc, &e) != ERR_OK)
			fail(e.msg);
		if (doc.root == NULL)
			break;
	}
	tree_reader_free(r);
	arena_free(a);
	return n;
}

static uint64_t read_cluster(const struct gen_cluster *g, const struct text *t, struct loaded *l)
{
	struct cluster_options options = cluster_options_default();
	struct err e;
	l->vocab = vocab_new();
	l->manifest = manifest_new(l->vocab);
	if (manifest_read_bytes(l->manifest, "cluster", t->s, t->n, &e) != ERR_OK ||
	    manifest_build(l->manifest, &options, &l->cluster, &e) != ERR_OK)
		fail(e.msg);
	const struct ledger *ledger = cluster_ledger(l->cluster);
	return GEN_FIRST_NODE + ledger_node_limit(ledger) + ledger_pod_limit(ledger);
}

static void loaded_free(struct loaded *l)
{
	if (l->vocab == NULL)
		return;
	cluster_free(l->cluster);
	manifest_free(l->manifest);
	vocab_free(l->vocab);
	*l = (struct loaded){0};
}

static uint64_t read_cjson(const struct gen_cluster *g, const struct text *t, struct loaded *l)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < g->start.n; i++) {
		cJSON *tree = cJSON_ParseWithLength(t->s + g->start.v[i], g->end.v[i] - g->start.v[i]);
		n += tree != NULL;
		cJSON_Delete(tree);
	}
	return n;
}

static uint64_t read_libyaml(const struct gen_cluster *g, const struct text *t, struct loaded *l)
{
	uint64_t n = 0;
	yaml_parser_t parser;
	yaml_event_t event;
	if (!yaml_parser_initialize(&parser))
		abort();
	yaml_parser_set_input_string(&parser, (const unsigned char *)t->s, t->n);
	for (bool is_end = false; !is_end;) {
		if (!yaml_parser_parse(&parser, &event))
			abort();
		is_end = event.type == YAML_STREAM_END_EVENT;
		n += event.type == YAML_DOCUMENT_START_EVENT;
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return n;
}

static double now_s(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A line of /proc/self/status, in kB. */
static long status_kb(const char *key)
{
	char line[256];
	long kb = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			kb = strtol(line + strlen(key) + 1, NULL, 10);
	if (f != NULL)
		fclose(f);
	return kb;
}

static void reset_peak(void)
{
	FILE *f = fopen("/proc/self/clear_refs", "w");
	if (f != NULL) {
		fputs("5\n", f);
		fclose(f);
	}
}

static size_t heap_bytes(void)
{
	struct mallinfo2 m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

static double measure_once(struct run *run, const struct gen_cluster *g, const struct text *t)
{
	struct loaded l = {0};
	malloc_trim(0);
	reset_peak();
	long before = status_kb("VmRSS");
	size_t heap_before = heap_bytes();
	double start = now_s(CLOCK_PROCESS_CPUTIME_ID), wall_start = now_s(CLOCK_MONOTONIC);
	run->n_objects = run->read(g, t, &l);
	double s = now_s(CLOCK_PROCESS_CPUTIME_ID) - start, wall_s = now_s(CLOCK_MONOTONIC) - wall_start;
	run->heap_bytes = heap_bytes() - heap_before;
	long peak_kb = status_kb("VmHWM") - before;
	if (l.cluster != NULL)
		run->memory = ledger_memory(cluster_ledger(l.cluster));
	loaded_free(&l);
	if (run->seconds == 0 || s < run->seconds)
		run->seconds = s;
	if (run->wall_s == 0 || wall_s < run->wall_s)
		run->wall_s = wall_s;
	if (peak_kb > run->peak_kb)
		run->peak_kb = peak_kb;
	return s;
}

/*
 * Rounds, and of each reader its best: the other load of a machine only ever adds, and to all readers of a round
 * alike. Three of them, or as many as begin within the first minute.
 */
static void measure(struct run *runs, size_t n, enum emit_format format, const struct gen_cluster *g,
		    const struct text *t)
{
	double total = 0;
	for (int round = 0; round < 3 && total < 60; round++)
		for (size_t i = 0; i < n; i++)
			if (runs[i].format == format)
				total += measure_once(&runs[i], g, t);
	for (size_t i = 0; i < n; i++) {
		if (runs[i].format != format)
			continue;
		runs[i].mb_per_s = (double)t->n / 1e6 / runs[i].seconds;
		if (runs[i].n_objects != gen_cluster_objects(g))
			fail("a reader did not read every object");
	}
}

static const struct run *run_named(const struct run *runs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (name != NULL && strcmp(runs[i].name, name) == 0)
			return &runs[i];
	return NULL;
}

static void print_table(const struct run *runs, size_t n, const size_t *bytes)
{
	printf("%-22s %8s %9s %9s %8s %10s\n", "", "MB", "seconds", "wall", "MB/s", "peak MB");
	for (size_t i = 0; i < n; i++) {
		const struct run *base = run_named(runs, n, runs[i].against);
		printf("%-22s %8.1f %9.3f %9.3f %8.1f %10.1f", runs[i].name, (double)bytes[runs[i].format] / 1e6,
		       runs[i].seconds, runs[i].wall_s, runs[i].mb_per_s, (double)runs[i].peak_kb / 1024);
		if (base != NULL)
			printf("  %.2f x the time of %s", runs[i].seconds / base->seconds, base->name);
		printf("\n");
	}
}

struct part {
	const char *name;
	double bytes_per_pod;
};

/* What stays of a pod when everything is loaded; nodes and queues are shared out among the pods. */
static void parts_of(const struct run *run, const struct gen_cluster *g, struct part parts[4])
{
	const struct ledger_memory *m = &run->memory;
	const size_t bytes[] = {m->engine, m->objects, m->shapes, m->names};
	static const char *const names[] = {"engine", "objects", "shapes", "names"};
	for (int i = 0; i < 4; i++)
		parts[i] = (struct part){names[i], (double)bytes[i] / g->n_pods};
}

static void print_kept(const struct run *run, const struct gen_cluster *g)
{
	struct part parts[4];
	double sum = 0;
	parts_of(run, g, parts);
	printf("bytes kept per pod:");
	for (int i = 0; i < 4; i++) {
		printf(" %s %.0f,", parts[i].name, parts[i].bytes_per_pod);
		sum += parts[i].bytes_per_pod;
	}
	printf(" together %.0f; of the heap %.0f\n", sum, (double)run->heap_bytes / g->n_pods);
}

static void emit_run(struct emit *e, const struct run *run, const struct run *base, const struct gen_cluster *g,
		     const size_t *bytes)
{
	struct part parts[4];
	parts_of(run, g, parts);
	emit_object(e, NULL);
	emit_str(e, "name", run->name);
	emit_int(e, "bytes", (int64_t)bytes[run->format]);
	emit_double(e, "seconds", run->seconds);
	emit_double(e, "wallSeconds", run->wall_s);
	emit_double(e, "mbPerSecond", run->mb_per_s);
	emit_int(e, "peakKb", run->peak_kb);
	if (base != NULL) {
		emit_str(e, "against", base->name);
		emit_double(e, "timesAsLong", run->seconds / base->seconds);
	}
	if (run->memory.engine > 0) {
		emit_object(e, "bytesPerPod");
		for (int i = 0; i < 4; i++)
			emit_int(e, parts[i].name, (int64_t)(parts[i].bytes_per_pod + 0.5));
		emit_int(e, "heap", (int64_t)((double)run->heap_bytes / g->n_pods + 0.5));
		emit_end(e);
	}
	emit_end(e);
}

static void write_json(const char *path, const struct gen_cluster *g, const struct run *runs, size_t n,
		       const size_t *bytes)
{
	struct text out = {0};
	struct emit e;
	emit_init(&e, &out, EMIT_JSON);
	emit_object(&e, NULL);
	emit_str(&e, "name", "load");
	emit_int(&e, "nodes", g->n_nodes);
	emit_int(&e, "pods", g->n_pods);
	emit_list(&e, "runs");
	for (size_t i = 0; i < n; i++)
		emit_run(&e, &runs[i], run_named(runs, n, runs[i].against), g, bytes);
	emit_end(&e);
	emit_end(&e);
	results_save(path, &out);
}

static uint32_t number(char **argv, int argc, int i, uint32_t usual)
{
	return i < argc ? (uint32_t)strtoul(argv[i], NULL, 10) : usual;
}

int main(int argc, char **argv)
{
	struct run runs[] = {
		{.name = "JSON, trees", .against = "JSON, cJSON", .read = read_trees, .format = EMIT_JSON},
		{.name = "JSON, load", .against = "JSON, cJSON", .read = read_cluster, .format = EMIT_JSON},
		{.name = "JSON, cJSON", .read = read_cjson, .format = EMIT_JSON},
		{.name = "one line, trees", .against = "one line, cJSON", .read = read_trees, .format = EMIT_JSON_LINE},
		{.name = "one line, load",
		 .against = "one line, cJSON",
		 .read = read_cluster,
		 .format = EMIT_JSON_LINE},
		{.name = "one line, cJSON", .read = read_cjson, .format = EMIT_JSON_LINE},
		{.name = "YAML, trees", .against = "YAML, libyaml", .read = read_trees, .format = EMIT_YAML},
		{.name = "YAML, load", .against = "YAML, libyaml", .read = read_cluster, .format = EMIT_YAML},
		{.name = "YAML, libyaml", .read = read_libyaml, .format = EMIT_YAML},
	};
	const size_t n_runs = sizeof(runs) / sizeof(runs[0]);
	size_t bytes[3] = {0};
	struct gen_cluster g = {.n_nodes = number(argv, argc, 2, 5000), .n_pods = number(argv, argc, 3, 150000)};
	for (int format = EMIT_JSON; format <= EMIT_YAML; format++) {
		struct text t = {0};
		gen_cluster_write(&g, &t, (enum emit_format)format);
		bytes[format] = t.n;
		measure(runs, n_runs, (enum emit_format)format, &g, &t);
		text_free(&t);
	}
	printf("%u nodes, %u pods\n", g.n_nodes, g.n_pods);
	print_table(runs, n_runs, bytes);
	print_kept(run_named(runs, n_runs, "YAML, load"), &g);
	if (argc > 1)
		write_json(argv[1], &g, runs, n_runs, bytes);
	gen_cluster_free(&g);
	return 0;
}
