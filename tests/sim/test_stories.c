/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scenarios that were computed by hand: every file in stories/ with everything it expects, conservation checked after
 * each moment (SI-2). Each is simulated three times: as it is, again (the same decisions, SI-1), and with everything
 * that waits tried at every moment (the same decisions: nothing is skipped that could have started).
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "manifest/manifest.h"
#include "sim/scenario.h"

struct stage {
	struct vocab *vocab;
	struct manifest *manifest;
	struct cluster *cluster;
	struct engine_config *config;
	struct scenario *scenario;
	struct sim_load load;
	struct sim *sim;
	struct expectations expectations;
	struct text log;
};

static struct err e;
#define OK(x)                                  \
	do {                                   \
		if (x)                         \
			fail_msg("%s", e.msg); \
	} while (0)

static void on_decision(void *ctx, struct sim *s, const struct decision *d, uint64_t number)
{
	struct stage *g = ctx;
	struct ledger *l = cluster_ledger(sim_cluster(s));
	struct names *names = vocab_names(g->vocab);

	(void)number;
	if (d->outcome == OUTCOME_NOMINATED && !d->n_victims)
		return; /* told again as often as it is looked at */
	text_printf(&g->log, "%lld %s %s %s:", (long long)sim_now(s), outcome_text(d->outcome), action_text(d->action),
		    d->pod == POD_NONE ? "" : name_str(names, ledger_pod(l, d->pod)->name));
	for (uint32_t i = 0; i < d->n_victims; i++)
		text_printf(&g->log, " %s", name_str(names, ledger_pod(l, d->victims[i].pod)->name));
	text_add(&g->log, "\n");
}

static void on_eviction(void *ctx, struct sim *s, const struct sim_eviction *ev)
{
	expect_eviction(&((struct stage *)ctx)->expectations, s, ev);
}

static void on_start(void *ctx, struct sim *s, pod_id pod)
{
	expect_start(&((struct stage *)ctx)->expectations, s, pod);
}

static void on_finish(void *ctx, struct sim *s, pod_id pod)
{
	expect_finish(&((struct stage *)ctx)->expectations, s, pod);
}

static void read_cluster(struct stage *g)
{
	struct text nodes = {0};
	struct cluster_options o;

	g->vocab = vocab_new();
	g->manifest = manifest_new(g->vocab);
	g->config = engine_config_new();
	scenario_cluster(g->scenario, &nodes);
	if (nodes.n)
		OK(manifest_read_bytes(g->manifest, "nodes", text_str(&nodes), nodes.n, &e));
	for (uint32_t i = 0; i < scenario_file_count(g->scenario); i++)
		OK(manifest_read(g->manifest, scenario_file(g->scenario, i), &e));
	OK(manifest_configure(g->manifest, g->config, &e));
	o = engine_config_cluster_options(g->config, scenario_from(g->scenario));
	OK(manifest_build(g->manifest, &o, &g->cluster, &e));
	text_free(&nodes);
}

static void play(struct stage *g, const char *path, bool is_exhaustive)
{
	struct sim_options o = {.checks = true, .is_exhaustive = is_exhaustive};

	*g = (struct stage){0};
	OK(scenario_read(path, &g->scenario, &e));
	read_cluster(g);
	o.from_ns = scenario_from(g->scenario);
	OK(scenario_until(g->scenario, o.from_ns, &o.until_ns, &e));
	OK(scenario_load(g->scenario, g->vocab, 1, o.from_ns, &g->load, &e));
	OK(scenario_events(g->scenario, o.from_ns, &o.events, &o.n_events, &e));
	OK(scenario_expectations(g->scenario, o.from_ns, &g->expectations, &e));
	o.cluster = g->cluster;
	o.config = g->config;
	o.load = &g->load;
	o.watcher = (struct sim_watcher){
		.ctx = g, .decision = on_decision, .eviction = on_eviction, .start = on_start, .finish = on_finish};
	g->sim = sim_new(&o, &e);
	assert_non_null(g->sim);
	OK(sim_run(g->sim, &e));
}

static void clear(struct stage *g)
{
	sim_free(g->sim);
	sim_load_free(&g->load);
	expectations_free(&g->expectations);
	scenario_free(g->scenario);
	cluster_free(g->cluster);
	manifest_free(g->manifest);
	engine_config_free(g->config);
	vocab_free(g->vocab);
	text_free(&g->log);
}

static bool is_yaml(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 5 && str_eq(d->d_name + n - 5, ".yaml");
}

static int only_yaml(const struct dirent *d)
{
	return is_yaml(d);
}

typedef void (*for_story)(const char *path, const char *name);

static void all_stories(for_story f)
{
	struct dirent **v;
	int n = scandir("tests/sim/stories", &v, only_yaml, alphasort);

	assert_true(n > 10);
	for (int i = 0; i < n; i++) {
		struct text path = {0};

		text_printf(&path, "tests/sim/stories/%s", v[i]->d_name);
		f(text_str(&path), v[i]->d_name);
		text_free(&path);
		free(v[i]);
	}
	free(v);
}

static void expect_all(const char *path, const char *name)
{
	bool fails = str_starts(name, "fails-");
	struct check *checks;
	struct stage g;

	play(&g, path, false);
	assert_true(g.expectations.v.n > 0);
	checks = expectations_check(&g.expectations, g.sim);
	for (uint32_t i = 0; i < g.expectations.v.n; i++)
		if (checks[i].ok == fails)
			fail_msg("%s: %s: found %s", name, checks[i].expect, text_str(&checks[i].found));
	checks_free(checks, g.expectations.v.n);
	clear(&g);
}

static void the_same_again(const char *path, const char *name)
{
	struct stage a, b, c;

	play(&a, path, false);
	play(&b, path, false);
	play(&c, path, true);
	assert_string_equal(text_str(&a.log), text_str(&b.log));
	if (!str_eq(text_str(&a.log), text_str(&c.log)))
		fail_msg("%s: trying everything gives something else:\n%s\n---\n%s", name, text_str(&a.log),
			 text_str(&c.log));
	clear(&a);
	clear(&b);
	clear(&c);
}

static void SI_2_stories_come_out_as_computed(void **state)
{
	(void)state;
	all_stories(expect_all);
}

static void SI_1_stories_come_out_the_same_again(void **state)
{
	(void)state;
	all_stories(the_same_again);
}

/* ---- what is wrong with a scenario ---- */

static void bad_scenarios_are_refused_where_they_are_wrong(void **state)
{
	static const struct {
		const char *sentence, *text, *says;
	} rows[] = {
		{"no scenario at all", "kind: Pod\n", "s.yaml: expected a document with kind: Scenario"},
		{"an unknown field", "kind: Scenario\nworkload: []\n", "s.yaml:2:1: Scenario: workload: "},
		{"a bad distribution", "kind: Scenario\nworkloads:\n- {name: a, runs: often}\n",
		 "s.yaml:3:19: Scenario: workloads[0].runs: "},
		{"a negative duration", "kind: Scenario\nworkloads:\n- {name: a, runs: 1h, grace: -1s}\n",
		 "workloads[0].grace: expected a duration"},
		{"more together than there are", "kind: Scenario\nworkloads:\n- {name: a, pods: 2, together: 3}\n",
		 "workloads[0].together: expected no more than it has pods"},
		{"arrivals without an end", "kind: Scenario\nworkloads:\n- {name: a, every: 1m}\n",
		 "workloads[0].every: expected an end"},
		{"no end of them at once", "kind: Scenario\nworkloads:\n- {name: a, every: 0s, until: 1h}\n",
		 "s.yaml:3:20: Scenario: workloads[0].every: expected a time above zero, or a count"},
		{"nor by chance", "kind: Scenario\nuntil: 1h\nworkloads:\n- {name: a, every: exponential 0s}\n",
		 "workloads[0].every: expected a time above zero"},
		{"a node twice",
		 "kind: Scenario\ncluster: {nodes: [{name: n, count: 2, room: {cpu: 1}}, {name: n-1, room: {cpu: "
		 "1}}]}\n",
		 "s.yaml:2:56: Scenario: cluster.nodes[1]: a second node n-1"},
		{"an unknown controller", "kind: Scenario\nworkloads:\n- {name: a, controller: cron}\n",
		 "workloads[0].controller: expected bare, job"},
		{"an event without a time", "kind: Scenario\nevents:\n- {fail: n}\n", "events[0].at: expected a time"},
		{"an event that is two", "kind: Scenario\nevents:\n- {at: 1h, fail: n, cordon: n}\n",
		 "events[0]: expected one of fail"},
		{"an expectation nobody understands", "kind: Scenario\nexpect: [all is well]\n",
		 "expect[0]: not understood: 'all is well'"},
		{"an expectation of nobody", "kind: Scenario\nexpect: [train is never evicted]\n",
		 "expect[0]: expected NAMESPACE/NAME"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct scenario *s = NULL;
		struct vocab *v = vocab_new();
		struct sim_load load = {0};
		struct expectations x = {0};
		const struct sim_event *events;
		uint32_t n;
		bool is_refused = scenario_parse("s.yaml", rows[i].text, strlen(rows[i].text), &s, &e) ||
				  scenario_load(s, v, 1, 0, &load, &e) || scenario_events(s, 0, &events, &n, &e) ||
				  scenario_expectations(s, 0, &x, &e);

		if (!is_refused || !strstr(e.msg, rows[i].says))
			fail_msg("%s: %s", rows[i].sentence, is_refused ? e.msg : "was taken");
		if (load.next)
			sim_load_free(&load);
		expectations_free(&x);
		scenario_free(s);
		vocab_free(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(SI_2_stories_come_out_as_computed),
		cmocka_unit_test(SI_1_stories_come_out_the_same_again),
		cmocka_unit_test(bad_scenarios_are_refused_where_they_are_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
