/* SPDX-License-Identifier: Apache-2.0 */
#include "reading_fixture.h"

static void read_doc(struct reading *r, const char *doc)
{
	const struct tree *t = reading_begin(r, "kube.yaml", doc);

	if (t)
		r->rc = manifest_kube_config(r->f.vocab, &r->f.src, t, r->config, &r->f.e);
	arena_reset(r->f.arena);
}

#define V1 "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
#define HEAD "KubeSchedulerConfiguration: "

struct row {
	const char *story, *doc, *error; /* NULL: accepted */
};

static void run(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *want = rows[i].error ? rows[i].error : "";
		struct reading r;

		read_doc(&r, rows[i].doc);
		if ((r.rc != ERR_OK) != (rows[i].error != NULL) || strcmp(r.f.e.msg, want))
			fail_msg("%s:\n  got  %s\n  want %s", rows[i].story, r.f.e.msg, want);
		if (rows[i].error)
			assert_string_equal(r.config->kube_profiles[0].scheduler_name, "default-scheduler");
		drop_doc(&r);
	}
}

static void reads_the_whole_document(void **state)
{
	static const struct row rows[] = {
		{"the least", V1, NULL},
		{"what cede passes over",
		 V1
		 "parallelism: 16\npercentageOfNodesToScore: 0\ndelayCacheUntilActive: false\nenableProfiling: true\n"
		 "enableContentionProfiling: true\nleaderElection: {leaderElect: true, leaseDuration: 15s}\n"
		 "clientConnection: {kubeconfig: k, qps: 50}\nextenders: []\n",
		 NULL},
		{"another version", "apiVersion: kubescheduler.config.k8s.io/v1beta3\n",
		 "kube.yaml:1:13: " HEAD "apiVersion: expected kubescheduler.config.k8s.io/v1, found "
		 "\"kubescheduler.config.k8s.io/v1beta3\"; did "
		 "you mean \"kubescheduler.config.k8s.io/v1\"?"},
		{"an unknown field", V1 "profile: []\n",
		 "kube.yaml:3:1: " HEAD "profile: unknown field; did you mean \"profiles\"?"},
		{"no parallelism", V1 "parallelism: 0\n",
		 "kube.yaml:3:14: " HEAD "parallelism: expected a number from 1 to 2147483647, found 0"},
		{"more than all nodes", V1 "percentageOfNodesToScore: 101\n",
		 "kube.yaml:3:27: " HEAD "percentageOfNodesToScore: expected a number from 0 to 100, found 101"},
		{"a flag that is a word", V1 "enableProfiling: maybe\n",
		 "kube.yaml:3:18: " HEAD "enableProfiling: expected true or false, found \"maybe\""},
		{"leader election is a map", V1 "leaderElection: true\n",
		 "kube.yaml:3:17: " HEAD "leaderElection: expected a map, found true"},
		{"extenders", V1 "extenders:\n- urlPrefix: http://example.org\n",
		 "kube.yaml:4:1: " HEAD "extenders: extenders are not supported; write a plugin instead"},
		{"no first backoff", V1 "podInitialBackoffSeconds: 0\n",
		 "kube.yaml:3:27: " HEAD "podInitialBackoffSeconds: expected a number from 1 to 9223372036, found 0"},
		{"backoffs in the wrong order", V1 "podInitialBackoffSeconds: 7\npodMaxBackoffSeconds: 6\n",
		 "kube.yaml:4:23: " HEAD "podMaxBackoffSeconds: 6 is below podInitialBackoffSeconds 7"},
		{"the default is not enough", V1 "podInitialBackoffSeconds: 11\n",
		 "kube.yaml:1:1: " HEAD "podMaxBackoffSeconds: 10 is below podInitialBackoffSeconds 11"},
	};
	struct reading r;

	run(rows, COUNT(rows));
	read_doc(&r, V1 "podInitialBackoffSeconds: 3\npodMaxBackoffSeconds: 30\n");
	assert_int_equal(r.config->initial_backoff_ns, 3 * NS_PER_S);
	assert_int_equal(r.config->max_backoff_ns, 30 * NS_PER_S);
	assert_int_equal(r.config->n_kube_profiles, 1);
	drop_doc(&r);
}

static void reads_profiles(void **state)
{
	static const struct row rows[] = {
		{"one without a name", V1 "profiles: [{}]\n", NULL},
		{"two without a name", V1 "profiles:\n- schedulerName: a\n- {percentageOfNodesToScore: 5}\n",
		 "kube.yaml:5:3: " HEAD "profiles[1].schedulerName: expected the name of a scheduler, found nothing"},
		{"two of one name", V1 "profiles: [{schedulerName: a}, {schedulerName: a}]\n",
		 "kube.yaml:3:48: " HEAD "profiles[1].schedulerName: another profile is called \"a\""},
		{"a profile is a map", V1 "profiles: [a]\n",
		 "kube.yaml:3:12: " HEAD "profiles[0]: expected a profile, found \"a\""},
		{"an unknown field", V1 "profiles: [{plugin: {}}]\n",
		 "kube.yaml:3:13: " HEAD "profiles[0].plugin: unknown field; did you mean \"plugins\"?"},
		{"an unknown point", V1 "profiles: [{plugins: {prefilter: {}}}]\n",
		 "kube.yaml:3:23: " HEAD "profiles[0].plugins.prefilter: unknown field; did you mean \"preFilter\"?"},
		{"an unknown field of a point", V1 "profiles: [{plugins: {score: {enable: []}}}]\n",
		 "kube.yaml:3:31: " HEAD "profiles[0].plugins.score.enable: unknown field; did you mean \"enabled\"?"},
		{"a plugin without a name", V1 "profiles: [{plugins: {score: {enabled: [{weight: 3}]}}}]\n",
		 "kube.yaml:3:41: " HEAD
		 "profiles[0].plugins.score.enabled[0].name: expected the name of a plugin, found nothing"},
		{"a plugin that is a word", V1 "profiles: [{plugins: {score: {enabled: [A]}}}]\n",
		 "kube.yaml:3:41: " HEAD
		 "profiles[0].plugins.score.enabled[0]: expected a map with the name of a plugin, found \"A\""},
		{"all can be disabled, not enabled", V1 "profiles: [{plugins: {score: {enabled: [{name: '*'}]}}}]\n",
		 "kube.yaml:3:48: " HEAD
		 "profiles[0].plugins.score.enabled[0].name: expected the name of a plugin, found \"*\""},
		{"a plugin twice", V1 "profiles: [{plugins: {score: {enabled: [{name: A}, {name: A}]}}}]\n",
		 "kube.yaml:3:59: " HEAD "profiles[0].plugins.score.enabled[1].name: \"A\" is listed twice"},
		{"a negative weight", V1 "profiles: [{plugins: {score: {enabled: [{name: A, weight: -1}]}}}]\n",
		 "kube.yaml:3:59: " HEAD
		 "profiles[0].plugins.score.enabled[0].weight: expected a number from 0 to 2147483647, found -1"},
		{"disabled and enabled again, with another weight",
		 V1 "profiles: [{plugins: {score: {disabled: [{name: A}], enabled: [{name: A, weight: 5}]}}}]\n", NULL},
		{"profiles that sort differently",
		 V1 "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins:\n    queueSort: {enabled: [{name: "
		    "Mine}]}\n",
		 "kube.yaml:7:16: " HEAD
		 "profiles[1].plugins.queueSort: must be the same in all profiles, which share one queue"},
	};
	struct reading r;
	const struct kube_profile *p;

	run(rows, COUNT(rows));
	read_doc(&r, V1 "profiles:\n"
			"- schedulerName: a\n"
			"  plugins:\n"
			"    multiPoint: {enabled: [{name: Mine, weight: 4}], disabled: [{name: '*'}]}\n"
			"    postBind: {disabled: [{name: X}, {name: Y}]}\n"
			"    placementScore: {enabled: [{name: Z}]}\n"
			"- schedulerName: b\n");
	assert_string_equal(r.f.e.msg, "");
	assert_int_equal(r.config->n_kube_profiles, 2);
	p = engine_config_kube_profile(r.config, "a");
	assert_int_equal(p->points[POINT_MULTI].n_enabled, 1);
	assert_string_equal(p->points[POINT_MULTI].enabled[0].name, "Mine");
	assert_int_equal(p->points[POINT_MULTI].enabled[0].weight, 4);
	assert_string_equal(p->points[POINT_MULTI].disabled[0].name, "*");
	assert_int_equal(p->points[POINT_POST_BIND].n_disabled, 2);
	assert_string_equal(p->points[POINT_POST_BIND].disabled[1].name, "Y");
	assert_int_equal(p->points[POINT_SCORE].n_enabled, 0);
	assert_string_equal(text_str(&r.f.notes),
			    "kube.yaml:8:21: " HEAD
			    "profiles[0].plugins.placementScore: not used: cede has no such extension point\n");
	assert_string_equal(engine_config_kube_profile(r.config, "b")->scheduler_name, "b");
	assert_ptr_equal(engine_config_kube_profile(r.config, "nobody"), &r.config->kube_profiles[0]);
	assert_int_equal(p->args.hard_pod_affinity_weight, 1);
	drop_doc(&r);
}

/* Arguments of one plugin, which begin at 6:11. */
#define ARGS(plugin, args) V1 "profiles:\n- pluginConfig:\n  - name: " plugin "\n    args: " args "\n"
#define AT "kube.yaml:6:"
#define PC HEAD "profiles[0].pluginConfig[0].args"

static void refuses_arguments_that_are_not_right(void **state)
{
	static const struct row rows[] = {
		{"an unknown field", ARGS("DefaultPreemption", "{minCandidates: 1}"),
		 AT "12: " PC ".minCandidates: unknown field; known here: apiVersion, kind, "
		    "minCandidateNodesPercentage, minCandidateNodesAbsolute"},
		{"another kind", ARGS("DefaultPreemption", "{kind: NodeAffinityArgs}"),
		 AT "18: " PC ".kind: expected DefaultPreemptionArgs, found \"NodeAffinityArgs\""},
		{"its own kind",
		 ARGS("NodeAffinity", "{kind: NodeAffinityArgs, apiVersion: kubescheduler.config.k8s.io/v1}"), NULL},
		{"another version", ARGS("NodeAffinity", "{apiVersion: v1}"),
		 AT "24: " PC ".apiVersion: expected kubescheduler.config.k8s.io/v1, found \"v1\""},
		{"arguments are a map", ARGS("NodeAffinity", "[]"), AT "11: " PC ": expected a map, found a list"},
		{"more than all nodes", ARGS("DefaultPreemption", "{minCandidateNodesPercentage: 101}"),
		 AT "41: " PC ".minCandidateNodesPercentage: expected a number from 0 to 100, found 101"},
		{"fewer than no nodes", ARGS("DefaultPreemption", "{minCandidateNodesAbsolute: -1}"),
		 AT "39: " PC ".minCandidateNodesAbsolute: expected a number from 0 to 2147483647, found -1"},
		{"no node at all",
		 ARGS("DefaultPreemption", "{minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 0}"),
		 AT "41: " PC ".minCandidateNodesPercentage: must not be zero together with minCandidateNodesAbsolute"},
		{"a weight past 100", ARGS("InterPodAffinity", "{hardPodAffinityWeight: 101}"),
		 AT "35: " PC ".hardPodAffinityWeight: expected a number from 0 to 100, found 101"},
		{"a flag that is a number", ARGS("InterPodAffinity", "{ignorePreferredTermsOfExistingPods: 1}"),
		 AT "48: " PC ".ignorePreferredTermsOfExistingPods: expected true or false, found 1"},
		{"no terms",
		 ARGS("NodeAffinity", "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}"),
		 AT "76: " PC ".addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: "
		    "expected at least one term"},
		{"a term that no node can match",
		 ARGS("NodeAffinity", "{addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
				      "{nodeSelectorTerms: [{matchExpressions: "
				      "[{key: a, operator: Near}]}]}}}"),
		 AT "117: " PC ".addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]."
		    "matchExpressions[0]: this term matches no "
		    "node: unknown operator 'Near'"},
		{"a preference without weight",
		 ARGS("NodeAffinity",
		      "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{preference: {}}]}}"),
		 AT "78: " PC ".addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: expected a "
		    "number from 1 to 100, found "
		    "nothing"},
		{"a strategy nobody knows", ARGS("NodeResourcesFit", "{scoringStrategy: {type: MostAlocated}}"),
		 AT "36: " PC ".scoringStrategy.type: expected LeastAllocated, MostAllocated or "
		    "RequestedToCapacityRatio, found \"MostAlocated\"; "
		    "did you mean \"MostAllocated\"?"},
		{"a resource weight past 100",
		 ARGS("NodeResourcesFit", "{scoringStrategy: {resources: [{name: cpu, weight: 101}]}}"),
		 AT "62: " PC ".scoringStrategy.resources[0].weight: expected a number from 1 to 100, found 101"},
		{"a resource that does not count",
		 ARGS("NodeResourcesFit", "{scoringStrategy: {resources: [{name: cpu, weight: 0}]}}"),
		 AT "62: " PC ".scoringStrategy.resources[0].weight: expected a number from 1 to 100, found 0"},
		{"a resource without a name", ARGS("NodeResourcesFit", "{scoringStrategy: {resources: [{weight: 1}]}}"),
		 AT "42: " PC ".scoringStrategy.resources[0].name: expected the name of a resource, found nothing"},
		{"no shape", ARGS("NodeResourcesFit", "{scoringStrategy: {type: RequestedToCapacityRatio}}"),
		 AT
		 "29: " PC
		 ".scoringStrategy.requestedToCapacityRatio.shape: RequestedToCapacityRatio needs at least one point"},
		{"a shape that goes back",
		 ARGS("NodeResourcesFit", "{scoringStrategy: {requestedToCapacityRatio: {shape: [{utilization: 50, "
					  "score: 1}, {utilization: 50}]}}}"),
		 AT "108: " PC ".scoringStrategy.requestedToCapacityRatio.shape[1].utilization: 50 must be above the "
		    "50 of the point before"},
		{"a score past 10",
		 ARGS("NodeResourcesFit",
		      "{scoringStrategy: {requestedToCapacityRatio: {shape: [{utilization: 50, score: 11}]}}}"),
		 AT
		 "90: " PC
		 ".scoringStrategy.requestedToCapacityRatio.shape[0].score: expected a number from 0 to 10, found 11"},
		{"a group with a slash", ARGS("NodeResourcesFit", "{ignoredResourceGroups: [a/b]}"),
		 AT "36: " PC ".ignoredResourceGroups[0]: \"a/b\" is not a group: it has a \"/\""},
		{"balance knows no weights",
		 ARGS("NodeResourcesBalancedAllocation", "{resources: [{name: cpu, weight: 2}]}"),
		 AT "44: " PC ".resources[0].weight: expected a number from 1 to 1, found 2"},
		{"a resource twice", ARGS("NodeResourcesBalancedAllocation", "{resources: [{name: cpu}, {name: cpu}]}"),
		 AT "44: " PC ".resources[1].name: \"cpu\" is listed twice"},
		{"constraints of the system are its own",
		 ARGS("PodTopologySpread",
		      "{defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]}"),
		 AT "32: " PC ".defaultConstraints: must be empty unless defaultingType is List"},
		{"a defaulting nobody knows", ARGS("PodTopologySpread", "{defaultingType: Lists}"),
		 AT "28: " PC ".defaultingType: expected System or List, found \"Lists\"; did you mean \"List\"?"},
		{"a constraint with a selector",
		 ARGS("PodTopologySpread",
		      "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: "
		      "ScheduleAnyway, labelSelector: {}}]}"),
		 AT "137: " PC ".defaultConstraints[0].labelSelector: a default constraint has none: it is taken from "
		    "what each pod belongs to"},
		{"a skew of zero",
		 ARGS("PodTopologySpread", "{defaultingType: List, defaultConstraints: [{maxSkew: 0}]}"),
		 AT "65: " PC ".defaultConstraints[0].maxSkew: expected a number from 1 to 2147483647, found 0"},
		{"a constraint twice",
		 ARGS("PodTopologySpread",
		      "{defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: "
		      "DoNotSchedule}, {maxSkew: 2, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]}"),
		 AT "145: " PC
		    ".defaultConstraints[1].topologyKey: a second constraint for \"z\" that is DoNotSchedule"},
		{"a negative timeout", ARGS("VolumeBinding", "{bindTimeoutSeconds: -1}"),
		 AT "32: " PC ".bindTimeoutSeconds: expected a number from 0 to 9223372036854775807, found -1"},
		{"a shape for scores that are off", ARGS("VolumeBinding", "{shape: [{utilization: 1, score: 2}]}"),
		 AT "19: " PC ".shape: nodes are not scored by free storage (StorageCapacityScoring is off)"},
		{"a timeout without unit", ARGS("DynamicResources", "{filterTimeout: '10'}"),
		 AT "27: " PC ".filterTimeout: bad duration '10': a number without a unit"},
		{"the same plugin twice",
		 V1 "profiles:\n- pluginConfig:\n  - name: NodeAffinity\n  - name: NodeAffinity\n",
		 "kube.yaml:6:11: " HEAD "profiles[0].pluginConfig[1].name: \"NodeAffinity\" is listed twice"},
		{"no plugin", V1 "profiles:\n- pluginConfig: [{args: {}}]\n",
		 "kube.yaml:4:18: " HEAD
		 "profiles[0].pluginConfig[0].name: expected the name of a plugin, found nothing"},
	};

	run(rows, COUNT(rows));
}

static const struct plugin_args *args_of(struct reading *r, const char *doc)
{
	read_doc(r, doc);
	assert_string_equal(r->f.e.msg, "");
	return &r->config->kube_profiles[0].args;
}

static void reads_arguments_of_preemption_and_affinity(void **state)
{
	struct reading r;
	const struct plugin_args *a = args_of(
		&r, V1
		"profiles:\n"
		"- pluginConfig:\n"
		"  - {name: DefaultPreemption, args: {minCandidateNodesPercentage: 0, minCandidateNodesAbsolute: 7}}\n"
		"  - {name: InterPodAffinity, args: {hardPodAffinityWeight: 0, ignorePreferredTermsOfExistingPods: "
		"true}}\n"
		"  - name: NodeAffinity\n"
		"    args:\n"
		"      addedAffinity:\n"
		"        requiredDuringSchedulingIgnoredDuringExecution:\n"
		"          nodeSelectorTerms:\n"
		"          - matchExpressions: [{key: pool, operator: In, values: [a, b]}]\n"
		"          - matchFields: [{key: metadata.name, operator: In, values: [n1]}]\n"
		"        preferredDuringSchedulingIgnoredDuringExecution:\n"
		"        - {weight: 9, preference: {matchExpressions: [{key: fast, operator: Exists}]}}\n"
		"  - {name: Nobody, args: {x: 1}}\n"
		"  - {name: NodeAfinity, args: {x: 1}}\n");

	assert_int_equal(a->min_candidate_percentage, 0);
	assert_int_equal(a->min_candidate_absolute, 7);
	assert_int_equal(a->hard_pod_affinity_weight, 0);
	assert_true(a->ignore_preferred_terms_of_existing_pods);
	assert_true(a->has_added_affinity);
	assert_true(a->has_added_required);
	assert_int_equal(a->added_required.n, 2);
	assert_int_equal(a->added_required.terms[0].exprs[0].n_values, 2);
	assert_int_equal(a->added_required.terms[1].n_fields, 1);
	assert_int_equal(a->n_added_preferred, 1);
	assert_int_equal(a->added_preferred[0].weight, 9);
	assert_string_equal(name_str(vocab_names(r.f.vocab), a->added_preferred[0].term.exprs[0].key), "fast");
	assert_string_equal(text_str(&r.f.notes),
			    "kube.yaml:16:12: " HEAD
			    "profiles[0].pluginConfig[3].name: the arguments of Nobody are not used\n"
			    "kube.yaml:17:12: " HEAD "profiles[0].pluginConfig[4].name: the arguments of NodeAfinity "
			    "are not used; did you mean \"NodeAffinity\"?\n");
	drop_doc(&r);
}

static void reads_arguments_of_resources_and_spread(void **state)
{
	struct reading r;
	const struct plugin_args *a = args_of(
		&r, V1
		"profiles:\n"
		"- pluginConfig:\n"
		"  - name: NodeResourcesFit\n"
		"    args:\n"
		"      ignoredResources: [acme.com/x, y]\n"
		"      ignoredResourceGroups: [acme.com]\n"
		"      scoringStrategy:\n"
		"        type: RequestedToCapacityRatio\n"
		"        resources: [{name: nvidia.com/gpu, weight: 5}, {name: cpu}]\n"
		"        requestedToCapacityRatio: {shape: [{utilization: 0, score: 10}, {utilization: 100}]}\n"
		"  - {name: NodeResourcesBalancedAllocation, args: {resources: [{name: nvidia.com/gpu, weight: 1}]}}\n"
		"  - name: PodTopologySpread\n"
		"    args:\n"
		"      defaultingType: List\n"
		"      defaultConstraints:\n"
		"      - {maxSkew: 3, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}\n"
		"      - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}\n"
		"  - {name: VolumeBinding, args: {bindTimeoutSeconds: 5}}\n"
		"  - {name: DynamicResources, args: {filterTimeout: 10s, bindingTimeout: 1m}}\n");

	assert_int_equal(a->bind_timeout_seconds, 5);
	assert_int_equal(a->n_ignored_resources, 2);
	assert_string_equal(a->ignored_resources[1], "y");
	assert_string_equal(a->ignored_groups[0], "acme.com");
	assert_int_equal(a->fit_strategy, FIT_REQUESTED_TO_CAPACITY);
	assert_int_equal(a->n_fit_resources, 2);
	assert_int_equal(a->fit_resources[0].weight, 5);
	assert_int_equal(a->fit_resources[1].weight, 1);
	assert_int_equal(a->n_fit_shape, 2);
	assert_int_equal(a->fit_shape[0].score, 10);
	assert_int_equal(a->fit_shape[1].utilization, 100);
	assert_int_equal(a->n_balanced_resources, 1);
	assert_string_equal(a->balanced_resources[0].name, "nvidia.com/gpu");
	assert_true(a->spread_defaults_are_listed);
	assert_int_equal(a->n_default_spreads, 2);
	assert_true(a->default_spreads[0].is_hard);
	assert_int_equal(a->default_spreads[0].max_skew, 3);
	assert_false(a->default_spreads[1].is_hard);
	assert_string_equal(text_str(&r.f.notes), "");
	drop_doc(&r);
}

static void a_refused_document_changes_nothing(void **state)
{
	struct reading r;

	read_doc(&r, V1
		 "podInitialBackoffSeconds: 3\nprofiles: [{schedulerName: a, pluginConfig: [{name: NodeAffinity, args: "
		 "{addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: "
		 "{matchExpressions: [{key: k, operator: Exists}]}}]}}}]}, {schedulerName: a}]\n");
	assert_int_equal(r.rc, ERR_INPUT);
	assert_int_equal(r.config->initial_backoff_ns, NS_PER_S);
	assert_int_equal(r.config->n_kube_profiles, 1);
	assert_string_equal(r.config->kube_profiles[0].scheduler_name, "default-scheduler");
	drop_doc(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_whole_document),
		cmocka_unit_test(reads_profiles),
		cmocka_unit_test(refuses_arguments_that_are_not_right),
		cmocka_unit_test(reads_arguments_of_preemption_and_affinity),
		cmocka_unit_test(reads_arguments_of_resources_and_spread),
		cmocka_unit_test(a_refused_document_changes_nothing),
	};

	return cmocka_run_group_tests_name("kube_config", tests, NULL, NULL);
}
