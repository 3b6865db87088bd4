/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_live [OUT.json] - decisions on full clusters as people have them (live_cluster.h), all profiles.
 *
 *	plan	all waiting pods at one moment, as `cede plan` does
 *	live	one waiting pod after the other, each ten seconds later than the last, as a daemon does
 *
 * Time of the processor, reading not counted. bench_live - ROW NODES PODS QUEUES WAITING: one row alone.
 */
#include "live_run.h"
#include "results.h"

struct row {
	const char *name;
	struct live_options o;
	bool is_live;
	struct live_run run;
};

static void measure(struct row *row)
{
	struct engine_config *config = engine_config_new();
	struct live_cluster s;
	struct engine *en;
	struct err e;

	config->profile = row->o.profile;
	config->min_runtime.reclaim_ns = 300 * NS_PER_S;
	live_cluster_init(&s, &row->o);
	en = engine_new(s.cluster, config, NULL, 0, &e);
	live_must(en ? ERR_OK : ERR_INTERNAL, &e);
	if (row->is_live)
		live_run_one_by_one(&row->run, en, cluster_ledger(s.cluster));
	else
		live_run_plan(&row->run, en);
	engine_free(en);
	engine_config_free(config);
	live_cluster_free(&s);
	printf("%-24s %-10s %6u x %-3u %5u queues %5u waiting", row->name, profile_text(row->o.profile), row->o.nodes,
	       row->o.pods, row->o.queues, row->o.waiting);
	live_run_print(&row->run, row->is_live);
}

/* clang-format off */
#define ROW(what, prof, n, p, q, w, ...) \
	{.name = (what), \
	 .o = {.profile = PROFILE_##prof, .nodes = (n), .pods = (p), .queues = (q), .waiting = (w)}, \
	 __VA_ARGS__}
static const struct row rows[] = {
	ROW("default", DEFAULT, 5000, 30, 2, 100, .is_live = false),
	ROW("default", DEFAULT, 5000, 30, 2, 1000, .is_live = false),
	ROW("default-queues", DEFAULT, 5000, 30, 200, 100, .is_live = false),
	ROW("default-live", DEFAULT, 5000, 30, 200, 100, .is_live = true),
	ROW("yunikorn", YUNIKORN, 5000, 30, 2, 100, .is_live = false),
	ROW("yunikorn-live", YUNIKORN, 5000, 30, 200, 100, .is_live = true),
	ROW("kubernetes", KUBERNETES, 5000, 30, 2, 100, .is_live = false),
	ROW("kubernetes-live", KUBERNETES, 5000, 30, 2, 100, .is_live = true),
	ROW("kubernetes-200", KUBERNETES, 1000, 30, 2, 200, .is_live = false),
	ROW("kubernetes-400", KUBERNETES, 1000, 30, 2, 400, .is_live = false),
	ROW("kubernetes-800", KUBERNETES, 1000, 30, 2, 800, .is_live = false),
	ROW("kai", KAI, 5000, 30, 2, 100, .is_live = false),
	ROW("kai-queues", KAI, 5000, 30, 200, 100, .is_live = false),
	ROW("kai-gangs-50", KAI, 50, 20, 55, 50, .o.gang = 20),
	ROW("kai-gangs-100", KAI, 100, 20, 55, 100, .o.gang = 20),
	ROW("kai-gangs-200", KAI, 200, 20, 55, 200, .o.gang = 20),
	ROW("default-gangs-200", DEFAULT, 200, 20, 55, 200, .o.gang = 20),
	ROW("budgets", DEFAULT, 50, 20, 2, 50, .o.budgets = 2000),
	ROW("affinity", DEFAULT, 5000, 30, 2, 20, .is_live = true, .o.shape = LIVE_AFFINITY),
	ROW("spread", DEFAULT, 5000, 30, 2, 20, .is_live = true, .o.shape = LIVE_SPREAD),
	ROW("affinity-kubernetes", KUBERNETES, 5000, 30, 2, 20, .is_live = true, .o.shape = LIVE_AFFINITY),
	ROW("spread-kubernetes", KUBERNETES, 5000, 30, 2, 20, .is_live = true, .o.shape = LIVE_SPREAD),
	ROW("default-large", DEFAULT, 100000, 30, 2, 1000, .is_live = false),
};
/* clang-format on */

static int one(char **argv)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct row row = rows[i];

		if (strcmp(row.name, argv[0]) != 0)
			continue;
		live_size_of(&row.o, argv + 1);
		measure(&row);
		return 0;
	}
	fprintf(stderr, "bench_live: there is no row '%s'\n", argv[0]);
	return 1;
}

static void emit_row(struct emit *e, const void *row)
{
	const struct row *x = row;

	emit_str(e, "row", x->name);
	emit_str(e, "profile", profile_text(x->o.profile));
	results_size(e, x->o.nodes, x->o.pods, x->o.queues, x->o.waiting);
	live_run_emit(e, &x->run);
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
	}
	if (argc > 1)
		results_rows(argv[1], done, N, sizeof(*done), emit_row);
	return 0;
}
