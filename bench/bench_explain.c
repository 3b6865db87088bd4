/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_explain [OUT.json] - what `cede explain` costs beside reading, on full clusters as people have them
 * (live_cluster.h) in which work waits: the plan, every node's answer, what it would take and when it starts.
 *
 *	held	its queue is above its guarantee, and nobody in it is of lower priority
 *	windows	its queue is owed room, and all who could go are inside a minimum runtime, each with an end of its own
 *
 * Time of the processor. bench_explain - ROW NODES PODS QUEUES WAITING: one row alone, and the answer on standard
 * output.
 */
#include <errno.h>
#include <time.h>

#include "base/emit.h"
#include "live_cluster.h"
#include "results.h"
#include "serve/planner.h"

enum asked { ASKED_POD, ASKED_GROUP, ASKED_QUEUE };

struct row {
	const char *name;
	struct live_options o;
	enum asked asked;
	bool has_windows; /* that are longer than anybody runs */
	double ms, plan_ms;
	size_t n_bytes; /* of the answer */
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* The waiting pod that was added last, or what it is in. */
static struct explain_target target_of(const struct row *row, const struct ledger *l)
{
	struct explain_target t = {POD_NONE, GROUP_NONE, QUEUE_NONE};
	pod_id last = POD_NONE;

	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		if (ledger_pod(l, i)->state == POD_WAITING)
			last = i;
	if (last == POD_NONE)
		return t;
	if (row->asked == ASKED_POD)
		t.pod = last;
	else if (row->asked == ASKED_GROUP)
		t.group = ledger_pod(l, last)->group;
	else
		t.queue = ledger_pod(l, last)->queue;
	return t;
}

static void measure(struct row *row, struct text *answer)
{
	struct engine_config *config = engine_config_new();
	struct live_cluster s;
	struct serve_world w = {.config = config, .now_ns = LIVE_NOW_NS};
	struct explain_look look = {.look = {.width = 120}};
	struct plan_question q = {.cycles = 1};
	struct explain_target t;
	struct world_plan p;
	struct err e;
	double began;

	config->profile = row->o.profile;
	config->min_runtime.reclaim_ns = row->has_windows ? 90000 * NS_PER_S : 300 * NS_PER_S;
	config->min_runtime.preempt_ns = row->has_windows ? 90000 * NS_PER_S : 0;
	live_cluster_init(&s, &row->o);
	w.cluster = s.cluster;
	t = target_of(row, cluster_ledger(s.cluster));
	q.target = &t;
	began = now_ms();
	live_must(world_plan(&w, &q, &p, &e), &e);
	row->plan_ms = now_ms() - began;
	explain_write(&w, &p, &t, &look, answer);
	row->ms = now_ms() - began;
	row->n_bytes = answer->n;
	world_plan_free(&p);
	live_cluster_free(&s);
	engine_config_free(config);
}

static void tell(const struct row *row)
{
	fprintf(stderr, "%-16s %-10s %6u x %-3u %5u queues %5u waiting  %9.1f ms, of them the plan %9.1f\n", row->name,
		profile_text(row->o.profile), row->o.nodes, row->o.pods, row->o.queues, row->o.waiting, row->ms,
		row->plan_ms);
}

/* clang-format off */
#define ROW(what, prof, n, p, q, w, ...) \
	{.name = (what), \
	 .o = {.profile = PROFILE_##prof, .nodes = (n), .pods = (p), .queues = (q), .waiting = (w)}, \
	 __VA_ARGS__}
static const struct row rows[] = {
	ROW("held", DEFAULT, 5000, 30, 2, 1, .o.is_held = true),
	ROW("held-100", DEFAULT, 5000, 30, 2, 101, .o.is_held = true),
	ROW("held-queues", DEFAULT, 5000, 30, 200, 101, .o.is_held = true),
	ROW("windows", DEFAULT, 5000, 30, 2, 1, .has_windows = true),
	ROW("windows-100", DEFAULT, 5000, 30, 2, 101, .has_windows = true),
	ROW("gang", DEFAULT, 5000, 30, 2, 1, .asked = ASKED_GROUP, .has_windows = true, .o.gang = 8),
	ROW("gang-12", DEFAULT, 5000, 30, 2, 13, .asked = ASKED_GROUP, .has_windows = true, .o.gang = 8),
	ROW("queue-100", DEFAULT, 5000, 30, 2, 101, .asked = ASKED_QUEUE, .o.is_held = true),
	ROW("yunikorn-100", YUNIKORN, 5000, 30, 2, 101, .o.is_held = true),
	ROW("kubernetes-100", KUBERNETES, 5000, 30, 2, 101, .o.is_held = true),
	ROW("kai", KAI, 1000, 30, 2, 1, .o.is_held = true),
	ROW("kai-100", KAI, 1000, 30, 2, 101, .o.is_held = true),
};
/* clang-format on */

static int one(char **argv)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct row row = rows[i];
		struct text answer = {0};

		if (strcmp(row.name, argv[0]) != 0)
			continue;
		live_size_of(&row.o, argv + 1);
		measure(&row, &answer);
		tell(&row);
		fputs(text_str(&answer), stdout);
		text_free(&answer);
		return 0;
	}
	fprintf(stderr, "bench_explain: there is no row '%s'\n", argv[0]);
	return 1;
}

static void emit_row(struct emit *e, const void *row)
{
	const struct row *x = row;

	emit_str(e, "row", x->name);
	emit_str(e, "profile", profile_text(x->o.profile));
	results_size(e, x->o.nodes, x->o.pods, x->o.queues, x->o.waiting);
	emit_double(e, "ms", x->ms);
	emit_double(e, "planMs", x->plan_ms);
}

int main(int argc, char **argv)
{
	enum { N = sizeof(rows) / sizeof(*rows) };
	static struct row done[N];

	if (argc == 7 && strcmp(argv[1], "-") == 0)
		return one(argv + 2);
	for (size_t i = 0; i < N; i++) {
		struct text answer = {0};

		done[i] = rows[i];
		measure(&done[i], &answer);
		tell(&done[i]);
		text_free(&answer);
	}
	if (argc > 1)
		results_rows(argv[1], done, N, sizeof(*done), emit_row);
	return 0;
}
