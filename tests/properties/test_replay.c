/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was recorded comes out again (ONE-3): random clusters are planned with random settings, the runs go into a
 * journal, and what is read back from it is planned again, with names and ids numbered anew. All decisions must be the
 * same bytes, and so must the cluster. Half of the clusters have something odd in every field, the others are crowded,
 * so that somebody has to go.
 *
 * CEDE_N: how many clusters; CEDE_SECONDS: how long instead.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "journal/diff.h"
#include "journal/rebuild.h"
#include "journal/record.h"
#include "properties/random_manifest.h"

#define NOW_NS (INT64_C(1800000000) * NS_PER_S)

static const enum profile profiles[] = {PROFILE_DEFAULT, PROFILE_KUBERNETES, PROFILE_YUNIKORN, PROFILE_KAI};
enum { PROFILES = sizeof(profiles) / sizeof(*profiles) };

struct counts {
	uint64_t runs, decisions, evictions;
};

/* ---- crowded clusters ---- */

static void crowd_queues(struct rng *r, struct text *t)
{
	text_add(t, "partitions:\n- name: default\n");
	if (rng_below(r, 3) == 0)
		text_printf(t, "  preemption: {enabled: %s, quotapreemptionenabled: %s}\n",
			    rng_below(r, 2) ? "true" : "false", rng_below(r, 2) ? "true" : "false");
	text_add(t, "  queues:\n  - name: root\n    submitacl: '*'\n    queues:\n");
	for (int i = 0; i < 4; i++) {
		text_printf(t, "    - name: q%d\n      resources: {guaranteed: {vcore: %u}%s}\n", i, rng_below(r, 12),
			    rng_below(r, 4) ? "" : ", max: {vcore: 14}");
		text_printf(t, "      properties: {preemption.delay: %us%s, quota.preemption.delay: 1m}\n",
			    rng_below(r, 2) ? 1 : 600, rng_below(r, 5) ? "" : ", preemption.policy: fence");
	}
}

static void crowd_pod(struct rng *r, struct text *t, uint32_t i, uint32_t n_nodes)
{
	bool runs = rng_below(r, 3) != 0;

	text_printf(t,
		    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: p%u\n  namespace: ns%u\n"
		    "  creationTimestamp: \"2027-01-15T0%u:00:00Z\"\n  labels: {app: a%u, applicationId: x%u%s",
		    i, rng_below(r, 2), rng_below(r, 8), rng_below(r, 3), rng_below(r, 9),
		    rng_below(r, 4) ? "" : ", kai.scheduler/queue: q1");
	if (rng_below(r, 5))
		text_printf(t, ", queue: root.q%u", rng_below(r, 4));
	text_add(t, "}\n");
	if (rng_below(r, 4) == 0)
		text_printf(t, "  annotations: {%s}\n",
			    rng_below(r, 2) ? "yunikorn.apache.org/allow-preemption: \"false\""
					    : "pod-group-name: g1, cede.dev/checkpointed-at: \"2027-01-15T07:00:00Z\"");
	text_printf(t, "spec:\n  priority: %u\n", (runs ? rng_below(r, 3) : 1 + rng_below(r, 4)) * 10);
	if (rng_below(r, 8) == 0)
		text_add(t, "  preemptionPolicy: Never\n");
	if (runs)
		text_printf(t, "  nodeName: n%u\n", rng_below(r, n_nodes));
	text_printf(t, "  containers: [{name: c, resources: {requests: {cpu: \"%u\", memory: %uMi}}}]\n",
		    1 + rng_below(r, 4), 1 + rng_below(r, 500));
	if (runs)
		text_printf(t, "status: {phase: Running, startTime: \"2027-01-15T0%u:30:00Z\"}\n", rng_below(r, 8));
}

static void crowd(struct rng *r, struct text *t)
{
	uint32_t n_nodes = 2 + rng_below(r, 4), n_pods = n_nodes * 7;

	crowd_queues(r, t);
	for (uint32_t i = 0; i < n_nodes; i++)
		text_printf(t,
			    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%u}\n"
			    "status: {allocatable: {cpu: \"10\", memory: 64Gi, pods: \"20\"}}\n",
			    i);
	for (uint32_t i = 0; i < 2; i++)
		text_printf(t,
			    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b%u, namespace: "
			    "ns%u}\nspec: {selector: {matchLabels: {app: a%u}}}\nstatus: {disruptionsAllowed: %u}\n",
			    i, i, rng_below(r, 3), rng_below(r, 3));
	text_add(t,
		 "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {name: g1, namespace: ns0}\n"
		 "spec: {minMember: 2, queue: q1}\n");
	for (uint32_t i = 0; i < n_pods; i++)
		crowd_pod(r, t, i, n_nodes);
}

static void some_settings(struct rng *r, struct text *t)
{
	static const char *const cede[] = {
		"rules: {opt-out: {mode: hard}}\n",
		"rules:\n  preemptibility: {threshold: 20, reach: all}\n  guarantee: {types: all}\n",
		"schedulerNames: [default-scheduler, \"12\", \"yes\"]\nrules: {min-runtime: {consolidation: False}}\n",
	};

	text_printf(t, "apiVersion: cede.dev/v1\nkind: CedeConfiguration\n%s", cede[rng_below(r, 3)]);
	if (rng_below(r, 2))
		text_printf(
			t,
			"---\napiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
			"profiles:\n- schedulerName: default-scheduler\n  pluginConfig:\n"
			"  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        type: MostAllocated\n"
			"        resources: [{name: cpu, weight: %u}]\n",
			1 + rng_below(r, 90));
}

/* ---- planning ---- */

struct world {
	struct vocab *vocab;
	struct manifest *manifest;
	struct engine_config *config;
	struct cluster *cluster;
};

static struct world world_new(void)
{
	struct world w = {.vocab = vocab_new(), .config = engine_config_new()};

	w.manifest = manifest_new(w.vocab);
	return w;
}

static void world_free(struct world *w)
{
	if (w->cluster)
		cluster_free(w->cluster);
	engine_config_free(w->config);
	manifest_free(w->manifest);
	vocab_free(w->vocab);
}

static void plan(struct world *w, uint32_t cycles, struct journal_run *ret)
{
	struct decisions plan = {.arena = arena_new(1 << 16)};
	struct engine_run run = {.now_ns = NOW_NS, .cycles = cycles, .report = POD_NONE};
	struct plan_view view = {.cluster = w->cluster, .plan = &plan, .profile = w->config->profile, .now_ns = NOW_NS};
	struct record_source src = {JOURNAL_PLAN, w->manifest, w->config, cycles};
	struct ledger *l = cluster_ledger(w->cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct engine *en;
	struct err e = {0};

	en = engine_new(w->cluster, w->config, NULL, 0, &e);
	if (!en || engine_plan(en, &run, &plan, &e))
		fail_msg("%s", e.msg);
	ledger_rollback(l, mark);
	if (journal_record(&view, &src, ret, &e))
		fail_msg("%s", e.msg);
	engine_free(en);
	array_free(&plan.v);
	arena_free(plan.arena);
}

static void make_cluster(struct rng *r, struct world *w)
{
	enum profile profile = profiles[rng_below(r, PROFILES)];
	struct cluster_options o;
	struct text text = {0};
	struct gen g = {0};
	struct err e = {0};

	if (rng_below(r, 2)) {
		gen_file(&g, rng_next(r), profile == PROFILE_KUBERNETES);
		assert_int_equal(manifest_read_bytes(w->manifest, "odd", g.out.s, g.out.n, &e), ERR_OK);
	} else {
		crowd(r, &text);
		if (manifest_read_bytes(w->manifest, "crowd", text.s, text.n, &e))
			fail_msg("%s", e.msg);
	}
	text_reset(&text);
	some_settings(r, &text);
	if (rng_below(r, 2) && manifest_read_bytes(w->manifest, "settings", text.s, text.n, &e))
		fail_msg("%s", e.msg);
	assert_int_equal(manifest_configure(w->manifest, w->config, &e), ERR_OK);
	w->config->profile = profile;
	o = engine_config_cluster_options(w->config, NOW_NS);
	if (manifest_build(w->manifest, &o, &w->cluster, &e))
		fail_msg("%s", e.msg);
	text_free(&text);
	text_free(&g.out);
}

static void record_one(struct journal *j, uint64_t seed)
{
	struct rng r = {seed * UINT64_C(0x9e3779b97f4a7c15)};
	struct world w = world_new();
	struct journal_run run;
	struct err e = {0};

	make_cluster(&r, &w);
	plan(&w, 1 + rng_below(&r, 3), &run);
	if (journal_append(j, &run, &e))
		fail_msg("seed %llu: %s", (unsigned long long)seed, e.msg);
	journal_run_free(&run);
	world_free(&w);
}

static void replay_one(struct journal *j, int64_t id, uint64_t seed, struct counts *n)
{
	struct world w = world_new();
	struct journal_run was, is;
	eviction_list evictions = {0};
	struct run_diff d;
	struct err e = {0};

	if (journal_read(j, id, true, &was, &e) || rebuild_run(&was, w.manifest, w.config, &w.cluster, &e))
		fail_msg("seed %llu: %s", (unsigned long long)seed, e.msg);
	plan(&w, was.cycles, &is);
	run_diff_init(&d, &was, &is);
	if (d.state_differs)
		fail_msg("seed %llu: the cluster is another one:\n%s\n%s", (unsigned long long)seed, was.state,
			 is.state);
	for (uint32_t i = 0; d.n_differ && i < was.n_decisions && i < is.n_decisions; i++)
		if (strcmp(was.decisions[i].json, is.decisions[i].json) != 0)
			fail_msg("seed %llu, profile %s: decision %u:\n%s\n%s", (unsigned long long)seed, was.profile,
				 i, was.decisions[i].json, is.decisions[i].json);
	assert_true(run_diff_is_same(&d));
	assert_int_equal(d.spared.n + d.added.n + d.shifted_was.n + d.moved_was.n, 0);
	evictions_of(&was, &evictions);
	n->runs++;
	n->decisions += was.n_decisions;
	n->evictions += evictions.n;
	array_free(&evictions);
	run_diff_free(&d);
	journal_run_free(&was);
	journal_run_free(&is);
	world_free(&w);
}

/* One journal of a few runs, written, closed, looked through and replayed. */
static void one_journal(const char *path, uint64_t first, uint64_t n_runs, struct counts *n)
{
	struct text complaints = {0};
	struct journal_report report = {.complaints = &complaints};
	struct journal *j;
	struct err e = {0};

	assert_int_equal(journal_open(path, JOURNAL_WRITE, &j, &e), ERR_OK);
	for (uint64_t i = 0; i < n_runs; i++)
		record_one(j, first + i);
	journal_close(j);
	if (journal_open(path, JOURNAL_READ, &j, &e) || journal_check(j, &report, &e) || complaints.n)
		fail_msg("seeds from %llu: %s", (unsigned long long)first, complaints.n ? complaints.s : e.msg);
	assert_int_equal(journal_run_count(j), n_runs);
	for (uint64_t i = 0; i < n_runs; i++)
		replay_one(j, (int64_t)i + 1, first + i, n);
	journal_close(j);
	unlink(path);
}

static uint64_t env_number(const char *name, uint64_t otherwise)
{
	const char *s = getenv(name);

	return s ? strtoull(s, NULL, 10) : otherwise;
}

static void ONE_3_replay_is_the_record_on_random_clusters(void **state)
{
	enum { RUNS = 20 };
	char folder[64], path[96];
	uint64_t n = env_number("CEDE_N", 600), seconds = env_number("CEDE_SECONDS", 0);
	time_t end = time(NULL) + (time_t)seconds;
	struct counts counts = {0};

	(void)state;
	snprintf(folder, sizeof(folder), "%s/cede-replay-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/journal.db", folder);
	for (uint64_t seed = 1; seconds ? time(NULL) < end : seed <= n; seed += RUNS)
		one_journal(path, seed, RUNS, &counts);
	rmdir(folder);
	printf("replay: %llu runs, %llu decisions with %llu evictions, 0 violations\n", (unsigned long long)counts.runs,
	       (unsigned long long)counts.decisions, (unsigned long long)counts.evictions);
	assert_true(counts.evictions > counts.runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ONE_3_replay_is_the_record_on_random_clusters)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
