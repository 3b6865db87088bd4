/* SPDX-License-Identifier: Apache-2.0 */
#include "reading_fixture.h"

static void read_doc(struct reading *r, const char *doc)
{
	const struct tree *t = reading_begin(r, "cede.yaml", doc);

	if (t)
		r->rc = manifest_cede_config(&r->f.src, t, r->config, &r->f.e);
	/* Everything the configuration needs must be its own by now. */
	arena_reset(r->f.arena);
}

static void defaults_are_those_of_the_interface(void **state)
{
	struct engine_config *c = engine_config_new();
	const struct plugin_args *a = &c->kube_profiles[0].args;
	struct cluster_options o = engine_config_cluster_options(c, 42);

	assert_int_equal(c->profile, PROFILE_DEFAULT);
	assert_int_equal(c->n_scheduler_names, 0);
	assert_int_equal(c->opt_out, OPT_OUT_SOFT);
	assert_int_equal(c->guarantee_types, GUARANTEE_SHORT);
	assert_int_equal(c->preemptibility_threshold, 100);
	assert_int_equal(c->preemptibility_reach, REACH_KAI);
	assert_true(c->min_runtime_covers_consolidation);
	assert_int_equal(c->min_runtime.preempt_ns, 0);
	assert_int_equal(c->min_runtime.reclaim_ns, 0);
	assert_int_equal(c->min_runtime.resolve, RESOLVE_LCA);
	assert_int_equal(c->reclaim_by, RECLAIM_GUARANTEE);
	assert_int_equal(c->patience_ns, 300 * NS_PER_S);
	assert_int_equal(c->kai.staleness_grace_ns, 60 * NS_PER_S);
	assert_int_equal(c->kai.max_consolidation_preemptees, 16);
	assert_false(c->kai.forbids_consolidating_reclaim);
	assert_int_equal(c->initial_backoff_ns, NS_PER_S);
	assert_int_equal(c->max_backoff_ns, 10 * NS_PER_S);
	assert_int_equal(c->n_plugins, 0);
	assert_int_equal(c->threads, 1);
	assert_int_equal(c->n_kube_profiles, 1);
	assert_string_equal(c->kube_profiles[0].scheduler_name, "default-scheduler");
	assert_int_equal(a->hard_pod_affinity_weight, 1);
	assert_int_equal(a->fit_strategy, FIT_LEAST_ALLOCATED);
	assert_int_equal(a->n_fit_resources, 2);
	assert_string_equal(a->fit_resources[1].name, "memory");
	assert_int_equal(a->fit_resources[0].weight, 1);
	assert_int_equal(a->n_balanced_resources, 2);
	assert_string_equal(a->balanced_resources[0].name, "cpu");
	assert_int_equal(a->min_candidate_percentage, 10);
	assert_int_equal(a->min_candidate_absolute, 100);
	assert_false(a->spread_defaults_are_listed);
	assert_int_equal(o.profile, PROFILE_DEFAULT);
	assert_int_equal(o.preemptibility_threshold, 100);
	assert_int_equal(o.reach, REACH_KAI);
	assert_int_equal(o.now_ns, 42);
	engine_config_free(c);
	engine_config_free(NULL);
}

static void PP_9_settings_reach_the_cluster(void **state)
{
	struct reading r;
	struct cluster_options o;

	read_doc(&r, "kind: CedeConfiguration\nprofile: kai\nrules: {preemptibility: {threshold: -7, reach: all}}\n");
	o = engine_config_cluster_options(r.config, 1);
	assert_int_equal(o.profile, PROFILE_KAI);
	assert_int_equal(o.preemptibility_threshold, -7);
	assert_int_equal(o.reach, REACH_ALL);
	drop_doc(&r);
}

static void reads_every_setting(void **state)
{
	static const char doc[] = "apiVersion: cede.dev/v1\n"
				  "kind: CedeConfiguration\n"
				  "profile: default\n"
				  "schedulerNames: [cede, batch]\n"
				  "rules:\n"
				  "  opt-out: {mode: hard}\n"
				  "  guarantee: {types: all}\n"
				  "  preemptibility: {reach: off}\n"
				  "  min-runtime: {consolidation: false}\n"
				  "actions:\n"
				  "  reclaim: {by: fair-share, patience: 1m30s}\n"
				  "kai: {stalenessGracePeriod: -1s, maxConsolidationPreemptees: -1, "
				  "allowConsolidatingReclaim: false}\n"
				  "plugins:\n"
				  "- lib/one.so\n"
				  "- path: lib/two.so\n"
				  "  args: {zone: a, limit: 5, loud: true}\n";
	struct reading r;
	const struct engine_config *c;

	read_doc(&r, doc);
	c = r.config;
	assert_string_equal(r.f.e.msg, "");
	assert_int_equal(c->n_scheduler_names, 2);
	assert_string_equal(c->scheduler_names[0], "cede");
	assert_string_equal(c->scheduler_names[1], "batch");
	assert_int_equal(c->opt_out, OPT_OUT_HARD);
	assert_int_equal(c->guarantee_types, GUARANTEE_ALL);
	assert_int_equal(c->preemptibility_reach, REACH_OFF);
	assert_int_equal(c->preemptibility_threshold, 100);
	assert_false(c->min_runtime_covers_consolidation);
	assert_int_equal(c->reclaim_by, RECLAIM_FAIR_SHARE);
	assert_int_equal(c->patience_ns, 90 * NS_PER_S);
	assert_int_equal(c->kai.staleness_grace_ns, -1 * NS_PER_S);
	assert_int_equal(c->kai.max_consolidation_preemptees, -1);
	assert_true(c->kai.forbids_consolidating_reclaim);
	assert_int_equal(c->n_plugins, 2);
	assert_string_equal(c->plugins[0].path, "lib/one.so");
	assert_string_equal(c->plugins[0].where, "cede.yaml:14:3");
	assert_int_equal(c->plugins[0].n_args, 0);
	assert_string_equal(c->plugins[1].path, "lib/two.so");
	assert_string_equal(c->plugins[1].where, "cede.yaml:15:3");
	assert_int_equal(c->plugins[1].n_args, 3);
	assert_string_equal(c->plugins[1].arg_keys[0], "zone");
	assert_string_equal(c->plugins[1].arg_values[1], "5");
	assert_string_equal(c->plugins[1].arg_values[2], "true");
	drop_doc(&r);
}

static void reads_every_profile(void **state)
{
	static const struct {
		const char *doc;
		enum profile profile;
	} rows[] = {
		{"profile: default\n", PROFILE_DEFAULT},
		{"profile: kubernetes\n", PROFILE_KUBERNETES},
		{"profile: yunikorn\nactions: {reclaim: {by: guarantee}}\n", PROFILE_YUNIKORN},
		{"profile: kai\nactions: {reclaim: {by: fair-share}}\n", PROFILE_KAI},
		{"{\"kind\": \"CedeConfiguration\", \"profile\": \"kai\"}", PROFILE_KAI},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;

		read_doc(&r, rows[i].doc);
		if (r.rc || r.config->profile != rows[i].profile)
			fail_msg("%s: %s", rows[i].doc, r.f.e.msg);
		drop_doc(&r);
	}
}

static void refuses_what_is_not_right(void **state)
{
#define HEAD "CedeConfiguration: "
	static const struct {
		const char *story, *doc, *error;
	} rows[] = {
		{"an unknown field", "kind: CedeConfiguration\nschedulerName: [a]\n",
		 "cede.yaml:2:1: " HEAD "schedulerName: unknown field; did you mean \"schedulerNames\"?"},
		{"an unknown rule", "rules:\n  optout: {mode: hard}\n",
		 "cede.yaml:2:3: " HEAD "rules.optout: unknown field; did you mean \"opt-out\"?"},
		{"a rule that has no settings", "rules: {fence: {}}\n",
		 "cede.yaml:1:9: " HEAD "rules.fence: unknown field; known here: preemptibility, min-runtime, "
		 "guarantee, eviction-rate, opt-out, thrash"},
		{"an unknown setting of a rule", "rules: {opt-out: {modus: hard}}\n",
		 "cede.yaml:1:19: " HEAD "rules.opt-out.modus: unknown field; did you mean \"mode\"?"},
		{"an unknown action", "actions: {recliam: {}}\n",
		 "cede.yaml:1:11: " HEAD "actions.recliam: unknown field; did you mean \"reclaim\"?"},
		{"another version", "apiVersion: cede.dev/v2\n",
		 "cede.yaml:1:13: " HEAD
		 "apiVersion: expected cede.dev/v1, found \"cede.dev/v2\"; did you mean \"cede.dev/v1\"?"},
		{"another kind", "kind: Pod\n",
		 "cede.yaml:1:7: " HEAD "kind: expected CedeConfiguration, found \"Pod\""},
		{"a profile nobody knows", "profile: yunicorn\n",
		 "cede.yaml:1:10: " HEAD "profile: expected default, kubernetes, yunikorn or kai, found \"yunicorn\"; "
		 "did you mean \"yunikorn\"?"},
		{"a profile that is a list", "profile: [kai]\n",
		 "cede.yaml:1:10: " HEAD "profile: expected default, kubernetes, yunikorn or kai, found a list"},
		{"a mode nobody knows", "rules: {opt-out: {mode: harder}}\n",
		 "cede.yaml:1:25: " HEAD
		 "rules.opt-out.mode: expected soft or hard, found \"harder\"; did you mean \"hard\"?"},
		{"types nobody knows", "rules: {guarantee: {types: none}}\n",
		 "cede.yaml:1:28: " HEAD "rules.guarantee.types: expected short or all, found \"none\""},
		{"a reach nobody knows", "rules: {preemptibility: {reach: none}}\n",
		 "cede.yaml:1:33: " HEAD "rules.preemptibility.reach: expected kai, all or off, found \"none\""},
		{"a threshold that is a word", "rules: {preemptibility: {threshold: high}}\n",
		 "cede.yaml:1:37: " HEAD "rules.preemptibility.threshold: expected a whole number, found \"high\""},
		{"a threshold past 32 bits", "rules: {preemptibility: {threshold: 2147483648}}\n",
		 "cede.yaml:1:37: " HEAD
		 "rules.preemptibility.threshold: expected a number from -2147483648 to 2147483647, found 2147483648"},
		{"a threshold that reaches nobody", "rules: {preemptibility: {threshold: 5, reach: off}}\n",
		 "cede.yaml:1:37: " HEAD
		 "rules.preemptibility.threshold: contradicts reach: off, with which no threshold has an effect"},
		{"a flag that is a word", "rules: {min-runtime: {consolidation: yes}}\n",
		 "cede.yaml:1:38: " HEAD "rules.min-runtime.consolidation: expected true or false, found \"yes\""},
		{"a patience that is no duration", "actions: {reclaim: {patience: soon}}\n",
		 "cede.yaml:1:31: " HEAD
		 "actions.reclaim.patience: bad duration 'soon': expected digits and a unit, like 90s, 1h30m or 1.5h"},
		{"a negative patience", "actions: {reclaim: {patience: -5m}}\n",
		 "cede.yaml:1:31: " HEAD "actions.reclaim.patience: \"-5m\" is negative"},
		{"a slip in what KAI has as flags", "kai: {stalenessGracePeriods: 1m}\n",
		 "cede.yaml:1:7: " HEAD
		 "kai.stalenessGracePeriods: unknown field; did you mean \"stalenessGracePeriod\"?"},
		{"a grace period that is no duration", "kai: {stalenessGracePeriod: 60}\n",
		 "cede.yaml:1:29: " HEAD "kai.stalenessGracePeriod: bad duration '60': a number without a unit"},
		{"fewer than none to move", "kai: {maxConsolidationPreemptees: -2}\n",
		 "cede.yaml:1:35: " HEAD
		 "kai.maxConsolidationPreemptees: expected a number from -1 to 2147483647, found -2"},
		{"a permission that is a number", "kai: {allowConsolidatingReclaim: 1}\n",
		 "cede.yaml:1:34: " HEAD "kai.allowConsolidatingReclaim: expected true or false, found 1"},
		{"kubernetes does not reclaim", "profile: kubernetes\nactions: {reclaim: {by: guarantee}}\n",
		 "cede.yaml:2:20: " HEAD "actions.reclaim: contradicts profile: kubernetes, which does not reclaim"},
		{"kai reclaims by fair share", "profile: kai\nactions: {reclaim: {by: guarantee}}\n",
		 "cede.yaml:2:25: " HEAD "actions.reclaim.by: contradicts profile: kai, which reclaims by fair-share"},
		{"yunikorn reclaims by guarantee", "profile: yunikorn\nactions: {reclaim: {by: fair-share}}\n",
		 "cede.yaml:2:25: " HEAD
		 "actions.reclaim.by: contradicts profile: yunikorn, which reclaims by guarantee"},
		{"a name twice", "schedulerNames: [a, b, a]\n",
		 "cede.yaml:1:24: " HEAD "schedulerNames[2]: \"a\" is listed twice"},
		{"an empty name", "schedulerNames: ['']\n",
		 "cede.yaml:1:18: " HEAD "schedulerNames[0]: expected a string that is not empty, found \"\""},
		{"names that are no list", "schedulerNames: cede\n",
		 "cede.yaml:1:17: " HEAD "schedulerNames: expected a list, found \"cede\""},
		{"a plugin without path", "plugins: [{args: {}}]\n",
		 "cede.yaml:1:11: " HEAD "plugins[0].path: expected the path of a plugin, found nothing"},
		{"a plugin that is a number", "plugins: [7]\n",
		 "cede.yaml:1:11: " HEAD
		 "plugins[0]: expected the path of a plugin, or a map with path and args, found 7"},
		{"a plugin twice", "plugins:\n- a.so\n- {path: a.so}\n",
		 "cede.yaml:3:3: " HEAD "plugins[1]: \"a.so\" is listed twice; the first is at cede.yaml:2:3"},
		{"an argument that is a list", "plugins: [{path: a.so, args: {x: []}}]\n",
		 "cede.yaml:1:34: " HEAD "plugins[0].args.x: expected a string, a number, true or false, found a list"},
		{"a document that is no map", "[1]\n", "cede.yaml:1:1: " HEAD "expected a map, found a list"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;

		read_doc(&r, rows[i].doc);
		if (r.rc != ERR_INPUT || strcmp(r.f.e.msg, rows[i].error))
			fail_msg("%s:\n  got  %s\n  want %s", rows[i].story, r.f.e.msg, rows[i].error);
		drop_doc(&r);
	}
}

static void a_refused_document_changes_nothing(void **state)
{
	struct reading r;

	read_doc(&r, "profile: kai\nschedulerNames: [a]\nrules: {opt-out: {mode: hard}}\nplugins: [1]\n");
	assert_int_equal(r.rc, ERR_INPUT);
	assert_int_equal(r.config->profile, PROFILE_DEFAULT);
	assert_int_equal(r.config->n_scheduler_names, 0);
	assert_int_equal(r.config->opt_out, OPT_OUT_SOFT);
	drop_doc(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_those_of_the_interface),
		cmocka_unit_test(PP_9_settings_reach_the_cluster),
		cmocka_unit_test(reads_every_setting),
		cmocka_unit_test(reads_every_profile),
		cmocka_unit_test(refuses_what_is_not_right),
		cmocka_unit_test(a_refused_document_changes_nothing),
	};

	return cmocka_run_group_tests_name("cede_config", tests, NULL, NULL);
}
