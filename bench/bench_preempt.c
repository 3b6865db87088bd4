/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_preempt [OUT.json [CEDE]] - full preemption decisions from 1,000 nodes to 100,000: runs `cede bench preempt`
 * for every size and shape, each in a process of its own, and puts what they say into one table.
 *
 *	first	the decision on a cluster nobody has looked at yet: every node is new
 *	p50 p99	decisions after one node changed since the one before; what is known of the others is used again
 *	growth	of the times since the row above with as many pods on a node; as much as the nodes is linear
 *
 * Times are of the processor, but for those called wall: other load of the machine is in these, and most of all in
 * their p99. Of the fast shapes each number is the best of three runs.
 */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/emit.h"
#include "manifest/tree.h"
#include "results.h"

struct size {
	uint32_t nodes, pods_per_node, fast_cycles, slow_cycles;
};

static const struct size sizes[] = {
	{1000, 4, 1000, 200},	{5000, 4, 1000, 100},	{5000, 30, 1000, 100},
	{10000, 30, 1000, 100}, {100000, 30, 1000, 10},
};

struct shape_row {
	const char *name, *shape, *queues; /* queues: how many to reclaim between; NULL: by priority alone */
	bool is_slow;			   /* every node is looked at each time */
};

static const struct shape_row shapes[] = {
	{"uniform", "uniform", NULL, false}, {"mixed", "mixed", NULL, false},	{"affinity", "affinity", NULL, true},
	{"spread", "spread", NULL, true},    {"reclaim", "mixed", "100", true},
};

#define N_SIZES (sizeof(sizes) / sizeof(*sizes))
#define N_SHAPES (sizeof(shapes) / sizeof(*shapes))

#define FAST_RUNS 3
/* Below this many, the 99th of a hundred says nothing. */
#define P99_LEAST 100

struct row {
	const struct shape_row *shape;
	const struct size *size;
	uint32_t decisions;
	double first_ms, p50_ms, p99_ms; /* of the processor */
	double wall_first_ms, wall_p50_ms, wall_p99_ms;
	double victims, bytes_per_pod;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_preempt: %s: %s\n", what, why);
	exit(1);
}

/* What the program prints; its complaints go where ours go. */
static void run(char *const *argv, struct text *out)
{
	posix_spawn_file_actions_t actions;
	char buffer[4096];
	int ends[2], status;
	ssize_t n;
	pid_t child;
	if (pipe(ends) != 0 || posix_spawn_file_actions_init(&actions) != 0)
		fail("pipe", strerror(errno));
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	if ((status = posix_spawn(&child, argv[0], &actions, NULL, argv, environ)) != 0)
		fail(argv[0], strerror(status));
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while ((n = read(ends[0], buffer, sizeof(buffer))) > 0)
		text_add_n(out, buffer, (size_t)n);
	close(ends[0]);
	if (waitpid(child, &status, 0) != child || status != 0)
		fail(argv[0], "failed");
}

static double number(const struct tree *t, const char *path)
{
	const struct tree *v = tree_path(t, path);
	if (!tree_is(v, TREE_NUMBER))
		fail(path, "not in what cede bench says");
	return strtod(v->text, NULL);
}

static void read_row(const struct text *json, struct row *row)
{
	struct arena *a = arena_new(4096);
	struct tree_reader *r = tree_reader_new("cede bench", json->s, json->n);
	struct tree_doc doc;
	struct err e;
	if (tree_next(r, a, &doc, &e) != ERR_OK)
		fail("cede bench", e.msg);
	row->decisions = (uint32_t)number(doc.root, "decisions");
	row->first_ms = number(doc.root, "cpuNsPerDecision.first") / 1e6;
	row->p50_ms = number(doc.root, "cpuNsPerDecision.p50") / 1e6;
	row->p99_ms = number(doc.root, "cpuNsPerDecision.p99") / 1e6;
	row->wall_first_ms = number(doc.root, "nsPerDecision.first") / 1e6;
	row->wall_p50_ms = number(doc.root, "nsPerDecision.p50") / 1e6;
	row->wall_p99_ms = number(doc.root, "nsPerDecision.p99") / 1e6;
	row->victims = number(doc.root, "victimsPerDecision");
	row->bytes_per_pod = number(doc.root, "bytesPerPod");
	tree_reader_free(r);
	arena_free(a);
}

static void run_once(const char *cede, const char *cycles, struct row *row)
{
	char nodes[16], pods[16];
	struct text json = {0};
	snprintf(nodes, sizeof(nodes), "%u", row->size->nodes);
	snprintf(pods, sizeof(pods), "%u", row->size->pods_per_node);
	const char *queues = row->shape->queues;
	const char *argv[] = {cede,
			      "bench",
			      "preempt",
			      "-o",
			      "json",
			      "--nodes",
			      nodes,
			      "--pods-per-node",
			      pods,
			      "--cycles",
			      cycles,
			      "--shape",
			      row->shape->shape,
			      queues != NULL ? "--queues" : NULL,
			      queues,
			      NULL};
	run((char *const *)argv, &json);
	read_row(&json, row);
	text_free(&json);
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* The best of some runs: the other load of a machine only ever adds, and the first decision comes once in a run. */
static void measure(const char *cede, struct row *row)
{
	bool is_slow = row->shape->is_slow;
	char cycles[16];
	snprintf(cycles, sizeof(cycles), "%u", is_slow ? row->size->slow_cycles : row->size->fast_cycles);
	run_once(cede, cycles, row);
	for (int i = 1; !is_slow && i < FAST_RUNS; i++) {
		struct row again = *row;
		run_once(cede, cycles, &again);
		row->first_ms = least(row->first_ms, again.first_ms);
		row->p50_ms = least(row->p50_ms, again.p50_ms);
		row->p99_ms = least(row->p99_ms, again.p99_ms);
		row->wall_first_ms = least(row->wall_first_ms, again.wall_first_ms);
		row->wall_p50_ms = least(row->wall_p50_ms, again.wall_p50_ms);
		row->wall_p99_ms = least(row->wall_p99_ms, again.wall_p99_ms);
	}
}

/* The last row before this one that has the same shape and as many pods on a node, or NULL. */
static const struct row *smaller(const struct row *rows, size_t i)
{
	for (size_t k = i; k > 0; k--)
		if (rows[k - 1].shape == rows[i].shape &&
		    rows[k - 1].size->pods_per_node == rows[i].size->pods_per_node)
			return &rows[k - 1];
	return NULL;
}

static void print_head(void)
{
	printf("%-9s %12s %9s %9s %9s %9s  %9s %9s %8s  %s\n", "shape", "nodes x pods", "decisions", "first ms",
	       "p50 ms", "p99 ms", "wall p50", "wall p99", "victims", "growth");
}

/* A number of milliseconds, or "-" where there were too few decisions. */
static const char *ms_text(char text[16], double ms, bool is_known)
{
	snprintf(text, 16, ms < 100 ? "%.3f" : "%.0f", ms);
	return is_known ? text : "-";
}

static void print_row(const struct row *row, const struct row *base)
{
	char size[32], first[16], p50[16], p99[16], wall_p50[16], wall_p99[16];
	bool has_p99 = row->decisions >= P99_LEAST;
	snprintf(size, sizeof(size), "%u x %u", row->size->nodes, row->size->pods_per_node);
	printf("%-9s %12s %9u %9s %9s %9s  %9s %9s %8.2f", row->shape->name, size, row->decisions,
	       ms_text(first, row->first_ms, true), ms_text(p50, row->p50_ms, true), ms_text(p99, row->p99_ms, has_p99),
	       ms_text(wall_p50, row->wall_p50_ms, true), ms_text(wall_p99, row->wall_p99_ms, has_p99), row->victims);
	if (base != NULL)
		printf("  nodes x %u: first x %.1f, p50 x %.1f", row->size->nodes / base->size->nodes,
		       row->first_ms / base->first_ms, row->p50_ms / base->p50_ms);
	printf("\n");
	fflush(stdout);
}

static void emit_times(struct emit *e, const char *key, const struct row *row, double first, double p50, double p99)
{
	emit_object(e, key);
	emit_double(e, "first", first);
	emit_double(e, "p50", p50);
	if (row->decisions >= P99_LEAST)
		emit_double(e, "p99", p99);
	emit_end(e);
}

static void emit_row(struct emit *e, const struct row *row, const struct row *base)
{
	emit_object(e, NULL);
	emit_str(e, "shape", row->shape->name);
	emit_int(e, "nodes", row->size->nodes);
	emit_int(e, "podsPerNode", row->size->pods_per_node);
	emit_int(e, "queues", row->shape->queues != NULL ? strtol(row->shape->queues, NULL, 10) : 0);
	emit_int(e, "threads", 1);
	emit_int(e, "decisions", row->decisions);
	emit_times(e, "cpuMs", row, row->first_ms, row->p50_ms, row->p99_ms);
	emit_times(e, "wallMs", row, row->wall_first_ms, row->wall_p50_ms, row->wall_p99_ms);
	emit_double(e, "victimsPerDecision", row->victims);
	emit_double(e, "bytesPerPod", row->bytes_per_pod);
	if (base != NULL) {
		emit_object(e, "growth");
		emit_double(e, "nodes", (double)row->size->nodes / base->size->nodes);
		emit_double(e, "first", row->first_ms / base->first_ms);
		emit_double(e, "p50", row->p50_ms / base->p50_ms);
		emit_end(e);
	}
	emit_end(e);
}

static void write_json(const char *path, const struct row *rows, size_t n)
{
	struct text out = {0};
	struct emit e;
	emit_init(&e, &out, EMIT_JSON);
	emit_object(&e, NULL);
	emit_str(&e, "name", "preempt");
	emit_list(&e, "runs");
	for (size_t i = 0; i < n; i++)
		emit_row(&e, &rows[i], smaller(rows, i));
	emit_end(&e);
	emit_end(&e);
	results_save(path, &out);
}

/* The program stands one folder above this one. */
static void find_cede(const char *self, struct text *ret)
{
	const char *slash = strrchr(self, '/');
	text_printf(ret, "%.*s/../cede", slash != NULL ? (int)(slash - self) : 1, slash != NULL ? self : ".");
}

int main(int argc, char **argv)
{
	struct row rows[N_SHAPES * N_SIZES];
	struct text cede = {0};
	size_t n = 0;
	if (argc > 2)
		text_add(&cede, argv[2]);
	else
		find_cede(argv[0], &cede);
	print_head();
	for (size_t shape = 0; shape < N_SHAPES; shape++) {
		for (size_t i = 0; i < N_SIZES; i++, n++) {
			rows[n] = (struct row){.shape = &shapes[shape], .size = &sizes[i]};
			measure(text_str(&cede), &rows[n]);
			print_row(&rows[n], smaller(rows, n));
		}
	}
	if (argc > 1)
		write_json(argv[1], rows, n);
	text_free(&cede);
	return 0;
}
