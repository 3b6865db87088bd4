/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_journal [OUT.json [NODES [RUNS]]] - what a journal costs: plans of a cluster of 30 pods a node are recorded one
 * after the other, and between two of them 300 pods go and others come in their place (another name, uid, node, start).
 * Each plan has 600 decisions and 100 evictions.
 *
 *	append	recording one run, the first and the median of the others
 *	file	the journal after all runs; whole: what the texts in it come to
 *	history	opening it, reading and checking all evictions, writing the table
 *	read	everything of the last run, as replay does
 *	check	cede journal check
 *	trim	what --journal-keep does when the older half goes, and the size afterwards
 *
 * Time of the processor, without waiting for the disk; in the folder $TMPDIR or /tmp.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/emit.h"
#include "change_pods.h"
#include "engine/config.h"
#include "gen_cluster.h"
#include "journal/history.h"
#include "journal/journal.h"
#include "manifest/manifest.h"
#include "results.h"

enum { CHANGED = 300, DECISIONS = 600, EVICTIONS = 100, RUNS_MAX = 1000 };
#define NOW_NS (INT64_C(1772323200) * NS_PER_S) /* 2026-03-01 */

struct row {
	uint32_t nodes, runs;
	double first_ms, append_ms, history_ms, read_ms, check_ms, trim_ms;
	double state_mb, file_mb, whole_mb, trimmed_mb;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_journal: %s: %s\n", what, why);
	exit(1);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* other load of the machine is not in it */
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- the cluster ---- */

struct state {
	struct text t;
	text_offsets pods; /* where each begins */
};

/* As a journal gets it: read, and written as manifests. */
static void make_state(struct state *s, uint32_t nodes)
{
	struct gen_cluster g = {.n_nodes = nodes, .n_pods = nodes * 30};
	struct engine_config *config = engine_config_new();
	struct cluster_options o = engine_config_cluster_options(config, NOW_NS);
	struct vocab *v = vocab_new();
	struct manifest *m = manifest_new(v);
	struct cluster *c = NULL;
	struct text t = {0};
	struct emit e;
	struct err why;

	gen_cluster_write(&g, &t, EMIT_JSON);
	if (manifest_read_bytes(m, "bench", t.s, t.n, &why) || manifest_build(m, &o, &c, &why))
		fail("cluster", why.msg);
	emit_init(&e, &s->t, EMIT_JSON_LINE);
	manifest_write(c, &e);
	find_pods(s->t.s, &s->pods);
	text_free(&t);
	gen_cluster_free(&g);
	cluster_free(c);
	manifest_free(m);
	engine_config_free(config);
	vocab_free(v);
}

/* ---- runs ---- */

static void make_decision(struct journal_run *run, uint32_t i)
{
	struct arena *a = run->arena;
	struct journal_decision *d = &run->decisions[i];
	uint32_t id = (uint32_t)(hash_u64(map_key2((uint32_t)(run->now_ns / NS_PER_S), i)) & 0xFFFFFF);
	bool waits = i >= DECISIONS / 2;

	/* Those that wait have waited before. */
	if (waits)
		id = i;
	*d = (struct journal_decision){
		.cycle = 1,
		.pod = arena_printf(a, "team-%u/trainer-%06x", i % 40, id),
		.uid = arena_printf(a, "%08x-0000-4000-8000-%012x", id, id),
		.group = "",
		.queue = arena_printf(a, "root.team-%u", i % 40),
		.outcome = waits ? "waiting" : "placed",
		.action = waits ? "" : "allocate",
		.node = waits ? "" : arena_printf(a, "node-%05u", id % 5000),
		.rule = "",
		.until = "",
		.message = waits ? "0/5000 nodes are available: 4700 Insufficient nvidia.com/gpu, 300 "
				   "node(s) had untolerated taint {dedicated: infra}."
				 : ""};
	if (i < EVICTIONS) {
		d->action = "reclaim";
		d->n_victims = 1;
		d->victims = arena_type(a, struct journal_victim);
		*d->victims = (struct journal_victim){.pod = arena_printf(a, "team-%u/notebook-%06x", i % 7, id),
						      .uid = d->uid,
						      .group = "",
						      .queue = arena_printf(a, "root.team-%u", i % 7),
						      .node = d->node,
						      .workload = "",
						      .rule = "",
						      .lost_seconds = id};
	}
	d->json = arena_printf(
		a, "{\"pod\":\"%s\",\"queue\":\"%s\",\"outcome\":\"%s\",\"node\":\"%s\",\"message\":\"%s\"}", d->pod,
		d->queue, d->outcome, d->node, d->message);
}

static struct journal_run make_run(const struct state *s, uint32_t n)
{
	struct journal_run run = {.arena = arena_new(1 << 16),
				  .now_ns = NOW_NS + (int64_t)n * 60 * NS_PER_S,
				  .profile = "default",
				  .version = "bench",
				  .cycles = 1,
				  .has_state = true,
				  .state = text_str(&s->t),
				  .n_decisions = DECISIONS};

	run.end_ns = run.now_ns;
	run.settings = arena_n(run.arena, 1, struct journal_setting);
	run.decisions = arena_n(run.arena, DECISIONS, struct journal_decision);
	for (uint32_t i = 0; i < DECISIONS; i++)
		make_decision(&run, i);
	return run;
}

static struct journal *open_journal(const char *path, enum journal_mode mode)
{
	struct journal *j;
	struct err e;

	if (journal_open(path, mode, &j, &e))
		fail("journal", e.msg);
	return j;
}

static double append(const char *path, const struct state *s, uint32_t n)
{
	struct journal_run run = make_run(s, n);
	double began = now_ms();
	struct journal *j = open_journal(path, JOURNAL_WRITE);
	struct err e;

	if (journal_append(j, &run, &e))
		fail("journal", e.msg);
	journal_close(j);
	began = now_ms() - began;
	journal_run_free(&run);
	return began;
}

static double file_mb(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (double)st.st_size / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void write_runs(const char *path, struct row *row)
{
	static double ms[RUNS_MAX];
	struct state s = {0};

	make_state(&s, row->nodes);
	row->state_mb = (double)s.t.n / 1e6;
	for (uint32_t i = 0; i < row->runs; i++) {
		if (i)
			change_pods(s.t.s, &s.pods, CHANGED, i);
		ms[i] = append(path, &s, i);
	}
	row->first_ms = ms[0];
	qsort(ms + 1, row->runs - 1, sizeof(*ms), by_value);
	row->append_ms = ms[1 + (row->runs - 1) / 2];
	row->file_mb = file_mb(path);
	text_free(&s.t);
	array_free(&s.pods);
}

/* ---- measuring ---- */

static void measure_history(const char *path, struct row *row)
{
	struct history_filter all = {.since_ns = TIME_NONE, .until_ns = TIME_NONE};
	struct look look = {0};
	double began = now_ms();
	struct journal *j = open_journal(path, JOURNAL_READ);
	struct text out = {0};
	struct history h;
	struct err e;

	history_init(&h, path, &all);
	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run;

		if (journal_read_evictions(j, journal_run_id(j, i), &run, &e))
			fail("history", e.msg);
		history_add(&h, &run);
		journal_run_free(&run);
	}
	history_text(&h, &look, false, &out);
	row->history_ms = now_ms() - began;
	history_free(&h);
	text_free(&out);
	journal_close(j);
}

static void measure_reading(const char *path, struct row *row)
{
	struct text complaints = {0};
	struct journal_report report = {.complaints = &complaints};
	struct journal_run run;
	struct err e;
	double began = now_ms();
	struct journal *j = open_journal(path, JOURNAL_READ);

	if (journal_read(j, journal_run_id(j, journal_run_count(j) - 1), true, &run, &e))
		fail("read", e.msg);
	row->read_ms = now_ms() - began;
	journal_run_free(&run);
	began = now_ms();
	if (journal_check(j, &report, &e) || complaints.n)
		fail("check", complaints.n ? complaints.s : e.msg);
	row->check_ms = now_ms() - began;
	row->whole_mb = (double)report.text_bytes / 1e6;
	text_free(&complaints);
	journal_close(j);
}

static void measure_trim(const char *path, struct row *row)
{
	struct journal_keep keep = {.age_ns = (int64_t)(row->runs / 2) * 60 * NS_PER_S};
	double began = now_ms();
	struct journal *j = open_journal(path, JOURNAL_WRITE);
	struct err e;

	if (journal_trim(j, &keep, NOW_NS + (int64_t)row->runs * 60 * NS_PER_S, &e))
		fail("trim", e.msg);
	journal_close(j);
	row->trim_ms = now_ms() - began;
	row->trimmed_mb = file_mb(path);
}

static void measure(struct row *row)
{
	const char *tmp = getenv("TMPDIR");
	char folder[256], path[300];

	snprintf(folder, sizeof(folder), "%s/cede-bench-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder))
		fail(folder, strerror(errno));
	snprintf(path, sizeof(path), "%s/journal.db", folder);
	write_runs(path, row);
	measure_history(path, row);
	measure_reading(path, row);
	measure_trim(path, row);
	unlink(path);
	rmdir(folder);
}

/* ---- the table ---- */

static void print_row(const struct row *r)
{
	printf("%6u %5u %9.1f %9.0f %9.0f %9.1f %9.0f %10.0f %8.0f %9.0f %8.0f %9.1f\n", r->nodes, r->runs, r->state_mb,
	       r->first_ms, r->append_ms, r->file_mb, r->whole_mb, r->history_ms, r->read_ms, r->check_ms, r->trim_ms,
	       r->trimmed_mb);
	fflush(stdout);
}

static void write_json(const char *path, const struct row *rows, size_t n)
{
	struct text out = {0};
	struct emit e;

	emit_init(&e, &out, EMIT_JSON);
	emit_object(&e, NULL);
	emit_str(&e, "name", "journal");
	emit_list(&e, "runs");
	for (size_t i = 0; i < n; i++) {
		emit_object(&e, NULL);
		emit_int(&e, "nodes", rows[i].nodes);
		emit_int(&e, "podsPerNode", 30);
		emit_int(&e, "runs", rows[i].runs);
		emit_double(&e, "stateMB", rows[i].state_mb);
		emit_double(&e, "firstAppendMs", rows[i].first_ms);
		emit_double(&e, "appendMs", rows[i].append_ms);
		emit_double(&e, "fileMB", rows[i].file_mb);
		emit_double(&e, "wholeMB", rows[i].whole_mb);
		emit_double(&e, "historyMs", rows[i].history_ms);
		emit_double(&e, "readMs", rows[i].read_ms);
		emit_double(&e, "checkMs", rows[i].check_ms);
		emit_double(&e, "trimMs", rows[i].trim_ms);
		emit_double(&e, "trimmedMB", rows[i].trimmed_mb);
		emit_end(&e);
	}
	emit_end(&e);
	emit_end(&e);
	results_save(path, &out);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {100, 1000, 5000};
	uint32_t most = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 5000;
	uint32_t runs = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 200;
	struct row rows[sizeof(sizes) / sizeof(*sizes)];
	size_t n = 0;

	if (runs < 2 || runs > RUNS_MAX)
		fail("runs", "expected 2 to 1000");
	printf("%6s %5s %9s %9s %9s %9s %9s %10s %8s %9s %8s %9s\n", "nodes", "runs", "state MB", "first ms",
	       "append ms", "file MB", "whole MB", "history ms", "read ms", "check ms", "trim ms", "after MB");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (sizes[i] > most)
			continue;
		rows[n] = (struct row){.nodes = sizes[i], .runs = runs};
		measure(&rows[n]);
		print_row(&rows[n++]);
	}
	if (argc > 1 && *argv[1] != '\0')
		write_json(argv[1], rows, n);
	return 0;
}
