/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_sim [OUT.json [ROW]] - whole simulations in virtual time, profile default with all of its actions:
 *
 *	philly		the whole Philly trace on the cluster that is made for it (a quarter more than its mean demand)
 *	philly-roomy	the same with a third more nodes: hardly any backlog
 *	openb		OpenB, arrivals compressed 100 times, on the cluster that is made for it
 *	made-N		a made load on N nodes of 8 GPUs that asks for a tenth more than there is; jobs grow with N
 *
 * Traces are those of ../shared/traces; rows whose trace is not there are left out. Each row runs in a process of its
 * own: time of the processor and the most memory it had. Growth: of the time for one event, over that of the row
 * above, as an exponent of the number of nodes (0: an event costs the same on every cluster).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manifest/manifest.h"
#include "results.h"
#include "sim/random.h"
#include "sim/sim.h"
#include "sim/trace_load.h"

#define PHILLY "../shared/traces/philly/philly_sia.csv"
#define OPENB "../shared/traces/openb/openb_pod_list_default.csv"
#define START_NS (INT64_C(1763208000) * NS_PER_S)

struct row {
	const char *name, *path; /* no path: the load is made */
	enum trace_format format;
	uint32_t nodes, compress;
	/* measured */
	uint64_t jobs, events, decisions, evictions;
	double seconds, megabytes;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "bench_sim: %s: %s\n", what, why);
	exit(1);
}

/* ---- a made load ---- */

enum { JOBS_PER_NODE = 40, QUEUES = 8 };

struct made {
	struct vocab *vocab;
	struct random_source chance;
	struct obj_pod template;
	bool has_template;
	uint32_t nodes, given;
	int64_t at_ns;
	char name[32];
};

static uint32_t draw_gpus(struct random_source *r)
{
	uint64_t x = random_below(r, 20);

	return x < 15 ? 1 : x < 17 ? 2 : x < 19 ? 4 : 8;
}

static enum err_code next_made(void *ctx, struct sim_job *ret, bool *ret_has, struct err *e)
{
	static const int64_t mean_run_s = 3600, mean_gpus_x20 = 15 + 4 + 8 + 8;
	struct made *m = ctx;
	struct load_request gpus = {"nvidia.com/gpu", draw_gpus(&m->chance)};
	char queue[16];
	struct load_pod p = {.ns = "b", .queue = queue, .has_priority = true, .n_requests = 1, .requests = &gpus};
	double gap_s = (double)(mean_run_s * mean_gpus_x20) / 20 / (m->nodes * 8 * 1.1);

	*ret_has = m->given < m->nodes * JOBS_PER_NODE;
	if (!*ret_has)
		return ERR_OK;
	snprintf(queue, sizeof(queue), "root.q%u", (unsigned)random_below(&m->chance, QUEUES));
	p.priority = random_below(&m->chance, 10) == 0 ? 100 : 0;
	m->at_ns += (int64_t)(-fixed_log(random_unit(&m->chance)) * gap_s * (double)NS_PER_S);
	snprintf(m->name, sizeof(m->name), "j%u", m->given++);
	if (m->has_template)
		obj_pod_drop(m->vocab, &m->template);
	m->has_template = true;
	*ret = (struct sim_job){
		.arrives_ns = m->at_ns,
		.name = m->name,
		.template = &m->template,
		.n_pods = 1,
		.run_ns = (int64_t)(-fixed_log(random_unit(&m->chance)) * mean_run_s * (double)NS_PER_S) + NS_PER_S,
		.grace_ns = SIM_GRACE_NS,
		.lingers_ns = SIM_GRACE_NS,
		.controller = SIM_JOB};
	return load_template(m->vocab, &p, &m->template, e);
}

static void made_cluster(uint32_t nodes, struct text *out)
{
	for (uint32_t i = 0; i < nodes; i++)
		text_printf(out,
			    "{apiVersion: v1, kind: Node, metadata: {name: n%05u}, status: {allocatable: {cpu: 96, "
			    "memory: 768Gi, nvidia.com/gpu: 8, pods: 110}}}\n---\n",
			    i);
	text_add(out, "partitions:\n- name: default\n  queues:\n  - name: root\n    submitacl: \"*\"\n    queues:\n");
	for (uint32_t i = 0; i < QUEUES; i++)
		text_printf(out, "    - {name: q%u, resources: {guaranteed: {nvidia.com/gpu: %u}}}\n", i, nodes);
}

/* ---- one row ---- */

static void simulate(struct row *r)
{
	struct trace_options t = {
		.path = r->path, .format = r->format, .seed = 1, .nodes = r->nodes, .compress = r->compress};
	struct made made = {.chance = random_stream(1, "bench"), .nodes = r->nodes, .at_ns = START_NS};
	struct sim_options o = {.from_ns = START_NS, .until_ns = TIME_NONE};
	struct vocab *vocab = made.vocab = vocab_new();
	struct manifest *manifest = manifest_new(vocab);
	struct engine_config *config = engine_config_new();
	struct sim_load load = {&made, next_made, NULL};
	struct trace_load *trace = NULL;
	struct cluster_options co;
	struct text text = {0};
	struct sim *s;
	struct err e;

	if (r->path && trace_load_open(&t, &trace, &e))
		fail(r->path, e.msg);
	if (trace)
		trace_cluster(trace, &text);
	else
		made_cluster(r->nodes, &text);
	if (trace)
		o.from_ns = trace_load_from(trace);
	if (manifest_read_bytes(manifest, "made", text_str(&text), text.n, &e) ||
	    manifest_configure(manifest, config, &e))
		fail(r->name, e.msg);
	co = engine_config_cluster_options(config, o.from_ns);
	if (manifest_build(manifest, &co, &o.cluster, &e))
		fail(r->name, e.msg);
	if (trace)
		load = trace_load_jobs(trace, vocab);
	o.config = config;
	o.load = &load;
	s = sim_new(&o, &e);
	if (!s || sim_run(s, &e))
		fail(r->name, e.msg);
	r->jobs = trace ? trace_load_count(trace) : made.given;
	r->nodes = ledger_node_limit(cluster_ledger(o.cluster));
	r->events = sim_get_outcome(s)->events;
	r->decisions = sim_get_outcome(s)->attempts;
	r->evictions = sim_get_outcome(s)->totals.evictions;
}

/* In a process of its own, which says what it did through a pipe and what it took when it has ended. */
static void measure(struct row *r)
{
	struct rusage took;
	int fd[2], status;
	pid_t pid;

	fflush(stdout);
	if (pipe(fd))
		fail("pipe", strerror(errno));
	pid = fork();
	if (pid < 0)
		fail("fork", strerror(errno));
	if (pid == 0) {
		simulate(r);
		_exit(write(fd[1], r, sizeof(*r)) != sizeof(*r));
	}
	close(fd[1]);
	if (read(fd[0], r, sizeof(*r)) != sizeof(*r) || wait4(pid, &status, 0, &took) < 0 || status != 0)
		fail(r->name, "it did not end well");
	close(fd[0]);
	r->seconds = (double)took.ru_utime.tv_sec + (double)took.ru_utime.tv_usec / 1e6 + (double)took.ru_stime.tv_sec +
		     (double)took.ru_stime.tv_usec / 1e6;
	r->megabytes = (double)took.ru_maxrss / 1024;
}

static double growth(const struct row *r, const struct row *before)
{
	double now = r->seconds / (double)r->events, then = before->seconds / (double)before->events;

	return log(now / then) / log((double)r->nodes / before->nodes);
}

static void print_row(const struct row *r, const struct row *before)
{
	printf("%-13s %6u %8llu %9llu %10llu %9llu %8.2f %9.0f %6.1f", r->name, r->nodes, (unsigned long long)r->jobs,
	       (unsigned long long)r->events, (unsigned long long)r->decisions, (unsigned long long)r->evictions,
	       r->seconds, (double)r->events / r->seconds, r->megabytes);
	if (before && !r->path && !before->path)
		printf("   %5.2f", growth(r, before));
	printf("\n");
}

static void emit_row(struct emit *e, const void *row)
{
	const struct row *r = row;

	emit_str(e, "name", r->name);
	emit_int(e, "nodes", r->nodes);
	emit_int(e, "jobs", (int64_t)r->jobs);
	emit_int(e, "events", (int64_t)r->events);
	emit_int(e, "decisions", (int64_t)r->decisions);
	emit_int(e, "evictions", (int64_t)r->evictions);
	emit_double(e, "seconds", r->seconds);
	emit_double(e, "megabytes", r->megabytes);
}

int main(int argc, char **argv)
{
	struct row rows[] = {
		{.name = "openb", .path = OPENB, .format = TRACE_OPENB, .compress = 100},
		{.name = "philly-roomy", .path = PHILLY, .format = TRACE_PHILLY, .nodes = 78},
		{.name = "philly", .path = PHILLY, .format = TRACE_PHILLY},
		{.name = "made-25", .nodes = 25},
		{.name = "made-50", .nodes = 50},
		{.name = "made-100", .nodes = 100},
		{.name = "made-200", .nodes = 200},
		{.name = "made-400", .nodes = 400},
	};
	size_t n = 0;

	printf("%-13s %6s %8s %9s %10s %9s %8s %9s %6s   growth\n", "load", "nodes", "jobs", "events", "decisions",
	       "evictions", "s", "events/s", "MB");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (argc > 2 && strcmp(argv[2], rows[i].name) != 0)
			continue;
		if (rows[i].path && access(rows[i].path, R_OK)) {
			printf("%-13s the trace is not there, left out\n", rows[i].name);
			continue;
		}
		rows[n] = rows[i];
		measure(&rows[n]);
		print_row(&rows[n], n ? &rows[n - 1] : NULL);
		n++;
	}
	if (argc > 1 && *argv[1])
		results_rows(argv[1], rows, n, sizeof(*rows), emit_row);
	return 0;
}
