/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_clusters [OUT.json [NODES [CLUSTERS]]] - what it costs cede run to keep its cluster in the journal: clusters
 * of 30 pods a node are kept one after the other, and between two of them 300 pods go and others come in their place.
 *
 *	held	how long whoever decides is held up: starting the copy of the process, the median and the most
 *	alone	what writing the cluster would take without a copy
 *	copy	what the copy works until its file is written
 *	first	what the journal's thread works for the first one, and for each further one (median): as long as that
 *		evictions may wait
 *	file	the journal after the first one, and what each further one adds
 *
 * Time of the processor, without waiting for the disk; in the folder $TMPDIR or /tmp.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/emit.h"
#include "change_pods.h"
#include "engine/config.h"
#include "gen_cluster.h"
#include "journal/fd.h"
#include "journal/live.h"
#include "journal/process.h"
#include "manifest/manifest.h"
#include "results.h"

enum { CHANGED = 300, CLUSTERS_MAX = 200 };
#define NOW_NS (INT64_C(1772323200) * NS_PER_S) /* 2026-03-01 */

struct row {
	uint32_t nodes, n;
	double alone_ms, first_ms, first_mb, more_mb, state_mb;
	double held_ms[CLUSTERS_MAX], copy_ms[CLUSTERS_MAX], keep_ms[CLUSTERS_MAX];
};

struct world {
	struct vocab *vocab;
	struct manifest *manifest;
	struct engine_config *config;
	struct cluster *cluster;
	struct text state; /* as it is written, with the changes so far */
	text_offsets pods; /* where each begins */
};

static char folder[256], path[300];

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_clusters: %s: %s\n", what, why);
	exit(1);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other load of the machine is not in it */
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double file_mb(void)
{
	struct stat st;

	return stat(path, &st) ? 0 : (double)st.st_size / 1e6;
}

/* ---- the cluster ---- */

static void make_world(struct world *w, uint32_t nodes)
{
	struct gen_cluster g = {.n_nodes = nodes, .n_pods = nodes * 30};
	struct cluster_options o;
	struct text t = {0};
	struct err e;

	*w = (struct world){.vocab = vocab_new(), .config = engine_config_new()};
	w->manifest = manifest_new(w->vocab);
	o = engine_config_cluster_options(w->config, NOW_NS);
	gen_cluster_write(&g, &t, EMIT_JSON);
	if (manifest_read_bytes(w->manifest, "bench", t.s, t.n, &e) || manifest_build(w->manifest, &o, &w->cluster, &e))
		fail("cluster", e.msg);
	text_free(&t);
	gen_cluster_free(&g);
}

static void write_state(struct world *w)
{
	struct emit e;

	emit_init(&e, &w->state, EMIT_JSON_LINE);
	manifest_write(w->cluster, &e);
	find_pods(w->state.s, &w->pods);
}

static void free_world(struct world *w)
{
	text_free(&w->state);
	array_free(&w->pods);
	cluster_free(w->cluster);
	manifest_free(w->manifest);
	engine_config_free(w->config);
	vocab_free(w->vocab);
}

/* ---- the copy ---- */

static int make_file(void)
{
	char name[300];
	int fd;

	snprintf(name, sizeof(name), "%s/c-XXXXXX", folder);
	fd = mkstemp(name);
	if (fd < 0)
		fail(name, strerror(errno));
	unlink(name);
	return fd;
}

static bool write_cluster(void *ctx, int fd)
{
	struct text t = {0};
	struct emit e;

	emit_init(&e, &t, EMIT_JSON_LINE);
	manifest_write(((struct world *)ctx)->cluster, &e);
	return fd_write(fd, text_str(&t), t.n + 1) && fd_write(fd, "", 1);
}

static void measure_copy(struct world *w, struct row *row, uint32_t i)
{
	double began = now_ms();
	int fd = make_file(), status = 0;
	struct rusage used;
	pid_t pid;

	if (process_copy(&pid, fd, 600, write_cluster, w))
		fail("copy", strerror(errno));
	row->held_ms[i] = now_ms() - began;
	if (wait4(pid, &status, 0, &used) != pid || status)
		fail("copy", "it failed");
	row->copy_ms[i] = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
			  (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
	close(fd);
}

/* ---- the journal ---- */

static void measure_keep(struct journal_live *live, const struct world *w, struct row *row, uint32_t i)
{
	struct journal_cluster c = {
		.at_ns = NOW_NS + (int64_t)i * 3600 * NS_PER_S, .profile = "default", .fd = make_file()};
	struct text problem = {0};
	double began;

	if (!fd_write(c.fd, text_str(&w->state), w->state.n + 1) || !fd_write(c.fd, "", 1))
		fail("file", strerror(errno));
	began = now_ms();
	journal_live_cluster(live, &c);
	while (journal_live_clusters_done(live, &problem) <= i)
		usleep(10000);
	row->keep_ms[i] = now_ms() - began;
	if (problem.n)
		fail("journal", text_str(&problem));
}

static struct journal_live *open_journal(void)
{
	struct journal_session s = {.source = JOURNAL_LIVE, .now_ns = NOW_NS, .profile = "default", .version = "bench"};
	struct journal_live *live;
	struct err e;

	if (journal_live_open(path, &s, &live, &e))
		fail("journal", e.msg);
	return live;
}

static void close_journal(struct journal_live *live)
{
	struct err e;

	if (journal_live_close(live, &e))
		fail("journal", e.msg);
}

/* ---- the table ---- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(struct row *row)
{
	struct journal_live *live;
	struct world w;
	double began;

	make_world(&w, row->nodes);
	began = now_ms();
	write_state(&w);
	row->alone_ms = now_ms() - began;
	row->state_mb = (double)w.state.n / 1e6;
	live = open_journal();
	measure_keep(live, &w, row, 0);
	close_journal(live);
	row->first_ms = row->keep_ms[0];
	row->first_mb = file_mb();
	live = open_journal();
	for (uint32_t i = 0; i < row->n; i++) {
		change_pods(w.state.s, &w.pods, CHANGED, i + 1);
		measure_copy(&w, row, i);
		measure_keep(live, &w, row, i);
	}
	close_journal(live);
	row->more_mb = (file_mb() - row->first_mb) / row->n;
	free_world(&w);
	unlink(path);
}

static void print_row(struct row *r)
{
	double *lists[] = {r->held_ms, r->copy_ms, r->keep_ms};

	for (int i = 0; i < 3; i++)
		qsort(lists[i], r->n, sizeof(double), by_value);
	printf("%6u %9.1f %8.1f %8.1f %9.0f %8.0f %9.0f %8.0f %9.2f %8.3f\n", r->nodes, r->state_mb,
	       r->held_ms[r->n / 2], r->held_ms[r->n - 1], r->alone_ms, r->copy_ms[r->n / 2], r->first_ms,
	       r->keep_ms[r->n / 2], r->first_mb, r->more_mb);
	fflush(stdout);
}

static void begin_json(struct emit *e, struct text *out)
{
	emit_init(e, out, EMIT_JSON);
	emit_object(e, NULL);
	emit_str(e, "name", "clusters");
	emit_list(e, "runs");
}

/* Of a row that was printed: its lists are in order. */
static void add_json(struct emit *e, const struct row *r)
{
	emit_object(e, NULL);
	emit_int(e, "nodes", r->nodes);
	emit_int(e, "podsPerNode", 30);
	emit_double(e, "stateMB", r->state_mb);
	emit_double(e, "heldMs", r->held_ms[r->n / 2]);
	emit_double(e, "heldMaxMs", r->held_ms[r->n - 1]);
	emit_double(e, "aloneMs", r->alone_ms);
	emit_double(e, "copyMs", r->copy_ms[r->n / 2]);
	emit_double(e, "firstMs", r->first_ms);
	emit_double(e, "moreMs", r->keep_ms[r->n / 2]);
	emit_double(e, "firstMB", r->first_mb);
	emit_double(e, "moreMB", r->more_mb);
	emit_end(e);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {100, 1000, 5000};
	uint32_t most = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5000;
	uint32_t n = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 12;
	const char *tmp = getenv("TMPDIR");
	static struct row row;
	struct text out = {0};
	struct emit e;

	if (n < 1 || n > CLUSTERS_MAX)
		fail("clusters", "expected 1 to 200");
	snprintf(folder, sizeof(folder), "%s/cede-bench-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		fail(folder, strerror(errno));
	snprintf(path, sizeof(path), "%s/journal.db", folder);
	printf("%6s %9s %8s %8s %9s %8s %9s %8s %9s %8s\n", "nodes", "state MB", "held ms", "at most", "alone ms",
	       "copy ms", "first ms", "more ms", "first MB", "more MB");
	begin_json(&e, &out);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes) && sizes[i] <= most; i++) {
		row = (struct row){.nodes = sizes[i], .n = n};
		measure(&row);
		print_row(&row);
		add_json(&e, &row);
	}
	rmdir(folder);
	emit_end(&e);
	emit_end(&e);
	if (argc > 1 && *argv[1] != '\0')
		results_save(argv[1], &out);
	else
		text_free(&out);
	return 0;
}
