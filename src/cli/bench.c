/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cede bench preempt: how long a full preemption decision takes on a synthetic full cluster.
 *
 * A decision is everything the engine does for one waiting pod that fits nowhere: all filters on all nodes, who would
 * have to go on each of them, the choice, the evictions and the nomination. After each one the victims go for good, the
 * pod takes its place, and then it goes too and new victims come back where the old ones were: the cluster is full
 * again and one node has changed, as it is in a cluster that lives.
 */
#include <assert.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "cli/common.h"
#include "cli/synthetic.h"
#include "engine/engine.h"

struct bench_options {
	struct cli_output output;
	struct synthetic_options cluster;
	uint32_t decisions, threads;
	const char *what;
};

enum { KEY_NODES = 0x500, KEY_PODS, KEY_SHAPE, KEY_CYCLES, KEY_THREADS, KEY_SEED, KEY_QUEUES };

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bench_options *o = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->output;
		return 0;
	case KEY_NODES:
		o->cluster.nodes = cli_number(state, "nodes", arg, 1, 1000000);
		return 0;
	case KEY_PODS:
		o->cluster.pods_per_node = cli_number(state, "pods-per-node", arg, 1, 1000);
		return 0;
	case KEY_SHAPE:
		if (!synthetic_shape_parse(arg, &o->cluster.shape))
			argp_error(state, "--shape: expected uniform, mixed, affinity or spread, found '%s'", arg);
		return 0;
	case KEY_CYCLES:
		o->decisions = cli_number(state, "cycles", arg, 1, 10000000);
		return 0;
	case KEY_THREADS:
		o->threads = cli_number(state, "threads", arg, 1, 64);
		return 0;
	case KEY_QUEUES:
		o->cluster.queues = cli_number(state, "queues", arg, 2, 100000);
		return 0;
	case KEY_SEED:
		o->cluster.seed = cli_number(state, "seed", arg, 0, UINT32_MAX);
		return 0;
	case ARGP_KEY_ARG:
		if (o->what || !str_eq(arg, "preempt"))
			argp_error(state, "'%s' cannot be measured; known: preempt", arg);
		o->what = arg;
		return 0;
	case ARGP_KEY_END:
		if (!o->what)
			argp_error(state,
				   "what is measured? for example: cede bench preempt --nodes 5000 --pods-per-node 4");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option argp_options[] = {
	{"nodes", KEY_NODES, "N", 0, "Nodes of the cluster (default 5000)", 0},
	{"pods-per-node", KEY_PODS, "K", 0, "Pods on each of them (default 4)", 0},
	{"shape", KEY_SHAPE, "NAME", 0,
	 "uniform (default): pods and nodes alike; mixed: three sizes, five priorities; "
	 "affinity, spread: mixed, and the waiting pods have such constraints",
	 0},
	{"cycles", KEY_CYCLES, "C", 0, "Decisions to measure (default 200)", 0},
	{"threads", KEY_THREADS, "T", 0, "Look at nodes with T threads (default 1)", 0},
	{"queues", KEY_QUEUES, "N", 0,
	 "Reclaim between N queues, five levels deep from ten on (default 0: none, default preemption by priority)", 0},
	{"seed", KEY_SEED, "S", 0, "Another number, another cluster of the same kind (default 1)", 0},
	{0},
};

static const char doc[] = "Measure full preemption decisions of the engine on a synthetic full cluster: "
			  "all filters on all nodes, every node's victims, the choice, the evictions. "
			  "Between two decisions one node changes.";

struct bench_series { /* of one clock; in the order of the decisions, then sorted */
	int64_t *ns;
	int64_t first_ns;
};

struct result {
	struct bench_series wall;
	struct bench_series
		cpu; /* of all threads together; with one thread, wall on a machine that has nothing else to do */
	uint32_t n;
	uint64_t victims;
	double bytes_per_pod;
};

static int64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return time_add(time_multiply(t.tv_sec, NS_PER_S), t.tv_nsec);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void series_sort(struct bench_series *s, uint32_t n)
{
	s->first_ns = s->ns[0];
	qsort(s->ns, n, sizeof(*s->ns), by_size);
}

/* The smallest time that so many percent of the decisions did not exceed. */
static int64_t percentile(const struct bench_series *s, uint32_t n, uint32_t percent)
{
	assert(n && s->ns);
	return s->ns[((uint64_t)n * percent + 99) / 100 - 1];
}

static int measure(const struct bench_options *o, struct synthetic *s, struct engine *en, struct result *r)
{
	struct clock clock = clock_system();
	struct engine_run run = {.now_ns = SYNTHETIC_NOW_NS, .cycles = 1, .report = POD_NONE};

	r->wall.ns = mem_alloc(o->decisions * sizeof(*r->wall.ns));
	r->cpu.ns = mem_alloc(o->decisions * sizeof(*r->cpu.ns));
	for (uint32_t i = 0; i < o->decisions; i++) {
		struct decisions d = {.arena = arena_new(1 << 16)};
		struct err e;
		int64_t began, cpu_began;

		synthetic_submit(s);
		cpu_began = cpu_now();
		began = clock_now(&clock);
		if (engine_try(en, &run, s->waiting, &d, &e))
			return cli_fail(&e);
		r->wall.ns[r->n] = clock_now(&clock) - began;
		r->cpu.ns[r->n] = cpu_now() - cpu_began;
		if (d.v.n != 1 || d.v.v[0].outcome != OUTCOME_NOMINATED) {
			err_set(&e, ERR_INTERNAL, "bench: a pod was not nominated: %s",
				d.v.n ? d.v.v[0].message : "no decision");
			return cli_fail(&e);
		}
		r->n++;
		r->victims += d.v.v[0].n_victims;
		synthetic_refill(s, &d.v.v[0]);
		array_free(&d.v);
		arena_free(d.arena);
	}
	series_sort(&r->wall, r->n);
	series_sort(&r->cpu, r->n);
	return 0;
}

static void emit_series(struct emit *e, const char *key, const struct bench_series *s, uint32_t n)
{
	emit_object(e, key);
	emit_int(e, "p50", percentile(s, n, 50));
	emit_int(e, "p99", percentile(s, n, 99));
	emit_int(e, "first", s->first_ns);
	emit_end(e);
}

static void print_result(const struct bench_options *o, const struct result *r)
{
	struct text out = {0};
	struct emit e;

	if (cli_is_data(&o->output)) {
		emit_init(&e, &out, cli_emit_format(&o->output));
		emit_object(&e, NULL);
		emit_int(&e, "nodes", o->cluster.nodes);
		emit_int(&e, "podsPerNode", o->cluster.pods_per_node);
		emit_str(&e, "shape", synthetic_shape_text(o->cluster.shape));
		emit_int(&e, "queues", o->cluster.queues);
		emit_int(&e, "threads", o->threads);
		emit_int(&e, "decisions", r->n);
		emit_series(&e, "nsPerDecision", &r->wall, r->n);
		emit_series(&e, "cpuNsPerDecision", &r->cpu, r->n);
		emit_double(&e, "victimsPerDecision", (double)r->victims / r->n);
		emit_double(&e, "bytesPerPod", r->bytes_per_pod);
		emit_end(&e);
	} else {
		text_printf(&out,
			    "%u nodes x %u pods, %s, %u %s: %u decisions, p50 %.1f us, p99 %.1f us, first %.1f us; "
			    "%.2f victims each; %.0f bytes a pod\n",
			    o->cluster.nodes, o->cluster.pods_per_node, synthetic_shape_text(o->cluster.shape),
			    o->threads, o->threads == 1 ? "thread" : "threads", r->n,
			    (double)percentile(&r->wall, r->n, 50) / 1e3, (double)percentile(&r->wall, r->n, 99) / 1e3,
			    (double)r->wall.first_ns / 1e3, (double)r->victims / r->n, r->bytes_per_pod);
	}
	cli_print(&out);
	text_free(&out);
}

int command_bench(int argc, char **argv)
{
	static const struct argp_child children[] = {{&cli_output_argp, 0, "Output:", 2}, {0}};
	const struct argp argp = {
		.options = argp_options, .parser = parse, .args_doc = "preempt", .doc = doc, .children = children};
	struct bench_options o = {
		.cluster = {.nodes = 5000, .pods_per_node = 4, .seed = 1}, .decisions = 200, .threads = 1};
	struct engine_config *config;
	struct synthetic s;
	struct result r = {0};
	struct engine *en;
	struct err e;
	int rc;

	cli_parse(&argp, argc, argv, &o);
	config = engine_config_new();
	config->profile = o.cluster.queues ? PROFILE_DEFAULT : PROFILE_KUBERNETES;
	config->threads = o.threads;
	synthetic_init(&s, &o.cluster);
	en = engine_new(s.cluster, config, NULL, 0, &e);
	rc = en ? measure(&o, &s, en, &r) : cli_fail(&e);
	if (!rc) {
		struct ledger_memory m = ledger_memory(cluster_ledger(s.cluster));

		r.bytes_per_pod = (double)(m.engine + m.objects) / ((double)o.cluster.nodes * o.cluster.pods_per_node);
		print_result(&o, &r);
	}
	engine_free(en);
	engine_config_free(config);
	synthetic_free(&s);
	mem_free(r.wall.ns);
	mem_free(r.cpu.ns);
	return rc;
}
