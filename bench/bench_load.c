/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_load [OUT.json [NODES PODS]] - how fast a cluster's manifests become trees, and in how much memory, beside the
 * bare parsers: cJSON on each object of the same JSON, libyaml's events of the same YAML.
 *
 * Memory is what the resident set grew to at most while reading; the text itself is not counted.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <yaml.h>

#include "gen_cluster.h"
#include "manifest/tree.h"

struct run {
	const char *name, *against;					     /* against: the run to compare with */
	uint64_t (*read)(const struct gen_cluster *g, const struct text *t); /* returns the number of objects */
	enum emit_format format;
	double seconds, mb_per_s;
	long peak_kb;
	uint64_t n_objects;
};

static uint64_t read_tree(const struct gen_cluster *g, const struct text *t)
{
	uint64_t n = 0;
	struct arena *a = arena_new(65536);
	struct tree_reader *r = tree_reader_new("cluster", t->s, t->n);
	struct tree_doc doc;
	struct err e;
	for (;; n++) {
		arena_reset(a);
		if (tree_next(r, a, &doc, &e) != ERR_OK) {
			fprintf(stderr, "bench_load: %s\n", e.msg);
			exit(1);
		}
		if (doc.root == NULL)
			break;
	}
	tree_reader_free(r);
	arena_free(a);
	return n;
}

static uint64_t read_cjson(const struct gen_cluster *g, const struct text *t)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < g->start.n; i++) {
		cJSON *tree = cJSON_ParseWithLength(t->s + g->start.v[i], g->end.v[i] - g->start.v[i]);
		n += tree != NULL;
		cJSON_Delete(tree);
	}
	return n;
}

static uint64_t read_libyaml(const struct gen_cluster *g, const struct text *t)
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

/* Seconds of the processor, not of the wall: nothing here waits. */
static double now_s(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
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

/* The best of three, or of as many as fit into ten seconds: the other load of a machine only ever adds. */
static void measure(struct run *run, const struct gen_cluster *g, const struct text *t)
{
	malloc_trim(0);
	reset_peak();
	long before = status_kb("VmRSS");
	double total = 0;
	for (int i = 0; i < 3 && total < 10; i++) {
		double start = now_s();
		run->n_objects = run->read(g, t);
		double s = now_s() - start;
		total += s;
		if (i == 0 || s < run->seconds)
			run->seconds = s;
	}
	run->peak_kb = status_kb("VmHWM") - before;
	run->mb_per_s = (double)t->n / 1e6 / run->seconds;
	if (run->n_objects != gen_cluster_objects(g)) {
		fprintf(stderr, "bench_load: %s read %" PRIu64 " objects of %u\n", run->name, run->n_objects,
			gen_cluster_objects(g));
		exit(1);
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
	printf("%-22s %8s %9s %10s %10s\n", "reader", "MB", "seconds", "MB/s", "peak MB");
	for (size_t i = 0; i < n; i++) {
		const struct run *base = run_named(runs, n, runs[i].against);
		printf("%-22s %8.1f %9.3f %10.1f %10.1f", runs[i].name, (double)bytes[runs[i].format] / 1e6,
		       runs[i].seconds, runs[i].mb_per_s, (double)runs[i].peak_kb / 1024);
		if (base != NULL)
			printf("  %.2f x the time of %s", runs[i].seconds / base->seconds, base->name);
		printf("\n");
	}
}

static void write_json(const char *path, const struct gen_cluster *g, const struct run *runs, size_t n,
		       const size_t *bytes)
{
	struct text out = {0};
	struct emit e;
	emit_init(&e, &out, EMIT_JSON);
	emit_object(&e, NULL);
	emit_int(&e, "nodes", g->n_nodes);
	emit_int(&e, "pods", g->n_pods);
	emit_list(&e, "runs");
	for (size_t i = 0; i < n; i++) {
		emit_object(&e, NULL);
		emit_str(&e, "reader", runs[i].name);
		emit_int(&e, "bytes", (int64_t)bytes[runs[i].format]);
		emit_double(&e, "seconds", runs[i].seconds);
		emit_double(&e, "mb_per_s", runs[i].mb_per_s);
		emit_int(&e, "peak_kb", runs[i].peak_kb);
		emit_end(&e);
	}
	emit_end(&e);
	emit_end(&e);
	FILE *f = fopen(path, "w");
	if (f == NULL || fputs(text_str(&out), f) < 0 || fclose(f) != 0) {
		fprintf(stderr, "bench_load: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	text_free(&out);
}

int main(int argc, char **argv)
{
	struct run runs[] = {
		{.name = "tree, JSON", .against = "cJSON", .read = read_tree, .format = EMIT_JSON},
		{.name = "cJSON", .read = read_cjson, .format = EMIT_JSON},
		{.name = "tree, JSON on one line", .read = read_tree, .format = EMIT_JSON_LINE},
		{.name = "tree, YAML", .against = "libyaml, events only", .read = read_tree, .format = EMIT_YAML},
		{.name = "libyaml, events only", .read = read_libyaml, .format = EMIT_YAML},
	};
	const size_t n_runs = sizeof(runs) / sizeof(runs[0]);
	size_t bytes[3] = {0};
	struct gen_cluster g = {
		.n_nodes = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5000,
		.n_pods = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 150000,
	};
	for (int format = EMIT_JSON; format <= EMIT_YAML; format++) {
		struct text t = {0};
		gen_cluster_write(&g, &t, (enum emit_format)format);
		bytes[format] = t.n;
		for (size_t i = 0; i < n_runs; i++)
			if ((int)runs[i].format == format)
				measure(&runs[i], &g, &t);
		text_free(&t);
	}
	printf("%u nodes, %u pods\n", g.n_nodes, g.n_pods);
	print_table(runs, n_runs, bytes);
	if (argc > 1)
		write_json(argv[1], &g, runs, n_runs, bytes);
	gen_cluster_free(&g);
	return 0;
}
