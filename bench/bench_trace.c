/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_trace [OUT.json] - decisions on a cluster of a recorded trace: the machines of OpenB, full of pods with the
 * sizes and priorities of its pods. Where the trace is not there, that is said and nothing is measured.
 *
 * Assigned by rule: eight teams with equal guarantees, half of them far above and half below; running pods in
 * applications of ten, of all ages up to a day, one of two hundred inside its first five minutes; a budget over every
 * fiftieth application that lets one go. What waits is drawn from the trace too, seven of ten of the teams that are
 * owed, each an application of its own, every tenth a gang of four. Shares of a GPU count as whole ones.
 *
 * bench_trace - PROFILE COPIES WAITING: one row alone; the trace's machines so many times.
 */
#include <unistd.h>

#include "live_run.h"
#include "manifest/manifest.h"
#include "results.h"
#include "sim/trace_openb.h"
#include "units/timestamp.h"

#define TRACE "../shared/traces/openb/"
enum { TEAMS = 8, GANG = 4, GANG_EVERY = 10, MISSES = 16, APP_PODS = 10, BUDGET_EVERY = 50 };

struct size {
	int64_t cpu_milli, memory_bytes;
	uint32_t gpus;
	int32_t priority;
};

struct trace {
	ARRAY(struct size) nodes, pods;
};

struct row {
	enum profile profile;
	uint32_t copies, waiting;
	bool is_live;
	uint32_t n_nodes, n_running, n_waiting;
	struct live_run run;
};

/* ---- the trace ---- */

static void read_nodes(struct trace *t)
{
	struct openb_reader r = {0};
	struct trace_input in = {0};
	struct openb_node n;
	bool has = true;
	struct err e;

	live_must(trace_input_open(&in, TRACE "openb_node_list_all_node.csv", &e), &e);
	live_must(openb_nodes_begin(&r, &in, &e), &e);
	while (live_must(openb_node_next(&r, &n, &has, &e), &e), has) {
		struct size s = {n.cpu_milli, n.memory_bytes, n.gpus, 0};

		array_push(&t->nodes, s);
	}
	openb_end(&r);
	trace_input_close(&in);
}

static void read_pods(struct trace *t)
{
	static const int32_t priorities[] = {1000, 800, 500, 0}; /* LS, Guaranteed, Burstable, BE */
	struct openb_reader r = {0};
	struct trace_input in = {0};
	struct openb_pod p;
	bool has = true;
	struct err e;

	live_must(trace_input_open(&in, TRACE "openb_pod_list_default.csv", &e), &e);
	live_must(openb_pods_begin(&r, &in, &e), &e);
	while (live_must(openb_pod_next(&r, &p, &has, &e), &e), has) {
		struct size s = {p.cpu_milli, p.memory_bytes, p.gpus, priorities[p.qos]};

		array_push(&t->pods, s);
	}
	openb_end(&r);
	trace_input_close(&in);
}

/* ---- the cluster, written as objects ---- */

struct writer {
	struct text t;
	const struct trace *trace;
	struct row *row;
	uint64_t random;
	uint32_t n_apps;
	struct size all; /* of all nodes */
};

static uint32_t below(struct writer *w, uint32_t n)
{
	w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(w->random >> 33) % n;
}

static const struct size *draw(struct writer *w)
{
	return &w->trace->pods.v[below(w, w->trace->pods.n)];
}

static void add_node(struct writer *w, uint32_t i, const struct size *s)
{
	text_printf(&w->t,
		    "{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"node-%05u\"},\"status\":{"
		    "\"allocatable\":{\"cpu\":\"%lldm\",\"memory\":\"%lld\",\"pods\":\"110\",\"nvidia.com/"
		    "gpu\":\"%u\"}}},\n",
		    i, (long long)s->cpu_milli, (long long)s->memory_bytes, s->gpus);
	w->all.cpu_milli += s->cpu_milli;
	w->all.memory_bytes += s->memory_bytes;
	w->all.gpus += s->gpus;
}

static void add_times(struct writer *w, int64_t age_s, bool is_running)
{
	struct text at = {0};

	timestamp_text(time_since(LIVE_NOW_NS, time_multiply(age_s, NS_PER_S)), &at);
	text_printf(&w->t, ",\"creationTimestamp\":\"%s\"},\"status\":{\"phase\":\"%s\"", text_str(&at),
		    is_running ? "Running" : "Pending");
	if (is_running)
		text_printf(&w->t, ",\"startTime\":\"%s\"", text_str(&at));
	text_add(&w->t, "},");
	text_free(&at);
}

struct pod_words {
	uint32_t team, app;
	int64_t age_s;
	int64_t node; /* -1: it waits */
	bool is_gang;
};

static void add_pod(struct writer *w, const struct size *s, const struct pod_words *p, uint32_t i)
{
	const char *kind = p->node < 0 ? "job" : "app";

	text_printf(&w->t,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"namespace\":\"n\",\"name\":\"%s-%u-%u\","
		    "\"labels\":{"
		    "\"app\":\"%s-%u\",\"applicationId\":\"%s-%u\",",
		    kind, p->app, i, kind, p->app, kind, p->app);
	if (w->row->profile == PROFILE_KAI)
		text_printf(&w->t, "\"kai.scheduler/queue\":\"team-%u\"}", p->team);
	else
		text_printf(&w->t, "\"queue\":\"root.team-%u\"}", p->team);
	if (p->is_gang)
		text_printf(&w->t, ",\"annotations\":{\"cede.dev/gang\":\"%s-%u\",\"cede.dev/min-member\":\"%u\"}",
			    kind, p->app, GANG);
	add_times(w, p->age_s, p->node >= 0);
	text_printf(&w->t, "\"spec\":{\"priority\":%d,", s->priority);
	if (p->node >= 0)
		text_printf(&w->t, "\"nodeName\":\"node-%05u\",", (unsigned)p->node);
	text_printf(
		&w->t,
		"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%lldm\",\"memory\":\"%lld\","
		"\"nvidia.com/gpu\":\"%u\"}}}]}},\n",
		(long long)s->cpu_milli, (long long)s->memory_bytes, s->gpus);
}

static bool fits(const struct size *room, const struct size *s)
{
	return s->cpu_milli <= room->cpu_milli && s->memory_bytes <= room->memory_bytes && s->gpus <= room->gpus;
}

static void add_running(struct writer *w, const struct size *s, uint32_t node)
{
	uint32_t i = w->row->n_running++, app = i / APP_PODS;
	struct pod_words p = {.team = below(w, 20) < 17 ? app % (TEAMS / 2) : TEAMS / 2 + app % (TEAMS / 2),
			      .app = app,
			      .age_s = below(w, 200) == 0 ? 1 + below(w, 299) : 300 + below(w, 86100),
			      .node = node};

	add_pod(w, s, &p, i % APP_PODS);
}

/* Until so many pods in a row have found no room. */
static void fill(struct writer *w, uint32_t node, struct size room)
{
	for (int misses = 0; misses < MISSES;) {
		const struct size *s = draw(w);

		if (!fits(&room, s)) {
			misses++;
			continue;
		}
		room.cpu_milli -= s->cpu_milli;
		room.memory_bytes -= s->memory_bytes;
		room.gpus -= s->gpus;
		add_running(w, s, node);
	}
}

static void add_waiting(struct writer *w, uint32_t i)
{
	const struct size *s = draw(w);
	struct pod_words p = {.team = below(w, 10) < 7 ? TEAMS / 2 + below(w, TEAMS / 2) : below(w, TEAMS / 2),
			      .app = i,
			      .age_s = 600 + (int64_t)below(w, 3000),
			      .node = -1,
			      .is_gang = i % GANG_EVERY == GANG_EVERY - 1};

	for (uint32_t k = 0; k < (p.is_gang ? GANG : 1); k++, w->row->n_waiting++)
		add_pod(w, s, &p, k);
}

static void add_kai_queue(struct writer *w, const char *name, const char *parent, bool is_limited)
{
	text_printf(
		&w->t,
		"{\"apiVersion\":\"scheduling.run.ai/v2\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
		"\"parentQueue\":\"%s\",\"resources\":{\"gpu\":{\"quota\":%g,\"limit\":-1,\"overQuotaWeight\":1},"
		"\"cpu\":{\"quota\":-1,\"limit\":-1,\"overQuotaWeight\":1},"
		"\"memory\":{\"quota\":-1,\"limit\":-1,\"overQuotaWeight\":1}}}},\n",
		name, parent, is_limited ? (double)w->all.gpus / TEAMS : -1);
}

static void add_yunikorn_queues(struct writer *w)
{
	text_add(&w->t,
		 "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"namespace\":\"yunikorn\","
		 "\"name\":\"yunikorn-configs\"},\"data\":{\"queues.yaml\":\"partitions: [{name: default, queues: "
		 "[{name: root, queues: [");
	for (int i = 0; i < TEAMS; i++)
		text_printf(
			&w->t,
			"{name: team-%d, properties: {preemption.delay: 30s}, resources: {guaranteed: {vcore: %lldm, "
			"memory: %lld, nvidia.com/gpu: %u}}}, ",
			i, (long long)w->all.cpu_milli / TEAMS, (long long)w->all.memory_bytes / TEAMS,
			w->all.gpus / TEAMS);
	text_add(&w->t, "]}]}]\"}},\n");
}

static void add_queues(struct writer *w)
{
	char name[16];

	if (w->row->profile != PROFILE_KAI) {
		add_yunikorn_queues(w);
		return;
	}
	add_kai_queue(w, "all", "", false);
	for (int i = 0; i < TEAMS; i++) {
		snprintf(name, sizeof(name), "team-%d", i);
		add_kai_queue(w, name, "all", true);
	}
}

static void add_budgets(struct writer *w)
{
	for (uint32_t i = 0; i < w->row->n_running / APP_PODS; i += BUDGET_EVERY)
		text_printf(&w->t,
			    "{\"apiVersion\":\"policy/"
			    "v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"namespace\":\"n\","
			    "\"name\":\"budget-%u\"},\"spec\":{\"maxUnavailable\":1,\"selector\":{\"matchLabels\":{"
			    "\"app\":\"app-%u\"}}},\"status\":{\"disruptionsAllowed\":1}},\n",
			    i, i);
}

static void write_cluster(struct writer *w)
{
	struct row *row = w->row;

	text_add(&w->t, "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"items\":[\n");
	row->n_nodes = row->copies * w->trace->nodes.n;
	for (uint32_t i = 0; i < row->n_nodes; i++)
		add_node(w, i, &w->trace->nodes.v[i % w->trace->nodes.n]);
	for (uint32_t i = 0; i < row->n_nodes; i++)
		fill(w, i, w->trace->nodes.v[i % w->trace->nodes.n]);
	for (uint32_t i = 0; i < row->waiting; i++)
		add_waiting(w, i);
	if (row->profile != PROFILE_KUBERNETES)
		add_queues(w);
	add_budgets(w);
	w->t.n -= 2; /* the last comma */
	text_add(&w->t, "]}\n");
}

/* ---- measuring ---- */

static void decide(struct row *row, struct cluster *c, struct engine_config *config)
{
	struct engine *en;
	struct err e;

	en = engine_new(c, config, NULL, 0, &e);
	live_must(en ? ERR_OK : ERR_INTERNAL, &e);
	if (row->is_live)
		live_run_one_by_one(&row->run, en, cluster_ledger(c));
	else
		live_run_plan(&row->run, en);
	engine_free(en);
}

static void measure(struct row *row, const struct trace *trace)
{
	struct engine_config *config = engine_config_new();
	struct cluster_options o;
	struct vocab *v = vocab_new();
	struct manifest *m = manifest_new(v);
	struct writer w = {.trace = trace, .row = row, .random = 12345};
	struct cluster *c = NULL;
	struct err e;

	config->profile = row->profile;
	config->min_runtime.reclaim_ns = config->min_runtime.preempt_ns = 300 * NS_PER_S;
	o = engine_config_cluster_options(config, LIVE_NOW_NS);
	write_cluster(&w);
	live_must(manifest_read_bytes(m, "bench", text_str(&w.t), w.t.n, &e), &e);
	live_must(manifest_build(m, &o, &c, &e), &e);
	text_free(&w.t);
	decide(row, c, config);
	cluster_free(c);
	manifest_free(m);
	vocab_free(v);
	engine_config_free(config);
	printf("%-10s %-4s %6u nodes %6u running %5u waiting", profile_text(row->profile),
	       row->is_live ? "live" : "plan", row->n_nodes, row->n_running, row->n_waiting);
	live_run_print(&row->run, row->is_live);
}

static void emit_row(struct emit *e, const void *row)
{
	const struct row *x = row;

	emit_str(e, "profile", profile_text(x->profile));
	emit_bool(e, "live", x->is_live);
	emit_int(e, "nodes", x->n_nodes);
	emit_int(e, "running", x->n_running);
	emit_int(e, "waiting", x->n_waiting);
	live_run_emit(e, &x->run);
}

static int one(char **argv, const struct trace *t)
{
	struct row row = {.copies = (uint32_t)strtoul(argv[1], NULL, 10),
			  .waiting = (uint32_t)strtoul(argv[2], NULL, 10)};

	if (!profile_parse(argv[0], &row.profile)) {
		fprintf(stderr, "bench_trace: there is no profile '%s'\n", argv[0]);
		return 1;
	}
	row.is_live = row.profile != PROFILE_KAI; /* its cycles decide about everybody together */
	measure(&row, t);
	return 0;
}

int main(int argc, char **argv)
{
	static struct row rows[] = {
		{.profile = PROFILE_DEFAULT, .copies = 1, .waiting = 200, .is_live = true},
		{.profile = PROFILE_DEFAULT, .copies = 3, .waiting = 200, .is_live = true},
		{.profile = PROFILE_DEFAULT, .copies = 3, .waiting = 200},
		{.profile = PROFILE_YUNIKORN, .copies = 3, .waiting = 200, .is_live = true},
		{.profile = PROFILE_KUBERNETES, .copies = 3, .waiting = 200, .is_live = true},
		{.profile = PROFILE_KAI, .copies = 3, .waiting = 200},
	};
	enum { N = sizeof(rows) / sizeof(*rows) };
	struct trace t = {0};
	int rc = 0;

	if (access(TRACE "openb_pod_list_default.csv", R_OK)) {
		printf("bench_trace: no %s here, skipped\n", TRACE);
		return 0;
	}
	read_nodes(&t);
	read_pods(&t);
	if (argc == 5 && strcmp(argv[1], "-") == 0) {
		rc = one(argv + 2, &t);
	} else {
		for (size_t i = 0; i < N; i++)
			measure(&rows[i], &t);
		if (argc > 1)
			results_rows(argv[1], rows, N, sizeof(*rows), emit_row);
	}
	array_free(&t.nodes);
	array_free(&t.pods);
	return rc;
}
