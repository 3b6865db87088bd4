/* SPDX-License-Identifier: Apache-2.0 */
#include "reading_fixture.h"

#define S NS_PER_S

static void read_doc(struct reading *r, const char *doc)
{
	const struct tree *t = reading_begin(r, "kai.yaml", doc);

	if (t)
		r->rc = manifest_kai_config(&r->f.src, t, r->config, &r->f.e);
}

#define HEAD "scheduler configuration: "
/* All plugins whose absence would be noted, and one of them with arguments at line 4. */
#define WITH(plugin, others, args) "tiers:\n- plugins:\n  - name: " plugin "\n    arguments: {" args "}\n" others
#define PLUGIN(name) "  - {name: " name "}\n"
#define BASE PLUGIN("predicates") PLUGIN("priority") PLUGIN("elastic")
#define MINRUNTIME(args) WITH("minruntime", BASE PLUGIN("proportion") PLUGIN("nodeplacement"), args)
#define PROPORTION(args) WITH("proportion", BASE PLUGIN("minruntime") PLUGIN("nodeplacement"), args)
#define PLACEMENT(args) WITH("nodeplacement", BASE PLUGIN("minruntime") PLUGIN("proportion"), args)
#define ALL_BUT_MINRUNTIME \
	"{name: predicates}, {name: proportion}, {name: priority}, {name: elastic}, {name: nodeplacement}"
#define OTHERS ALL_BUT_MINRUNTIME ", {name: minruntime}"

static void MR_3_reads_the_defaults_of_minimum_runtimes(void **state)
{
	static const struct {
		const char *story, *doc;
		int64_t preempt_ns, reclaim_ns;
		enum reclaim_resolve resolve;
	} rows[] = {
		{"nothing said", "actions: allocate\n", 0, 0, RESOLVE_LCA},
		{"no arguments", "tiers: [{plugins: [" OTHERS "]}]\n", 0, 0, RESOLVE_LCA},
		{"both", MINRUNTIME("defaultPreemptMinRuntime: 5s, defaultReclaimMinRuntime: 10m5s"), 5 * S, 605 * S,
		 RESOLVE_LCA},
		{"days and weeks", MINRUNTIME("defaultPreemptMinRuntime: 2d4h30m, defaultReclaimMinRuntime: 5w4d12h"),
		 189000 * S, (INT64_C(39) * 24 + 12) * 3600 * S, RESOLVE_LCA},
		{"fractions", MINRUNTIME("defaultPreemptMinRuntime: 1.5s"), 1500000000, 0, RESOLVE_LCA},
		{"by the queue", MINRUNTIME("reclaimResolveMethod: queue"), 0, 0, RESOLVE_QUEUE},
		{"by the common ancestor", MINRUNTIME("reclaimResolveMethod: lca"), 0, 0, RESOLVE_LCA},
		{"an empty method", MINRUNTIME("reclaimResolveMethod: ''"), 0, 0, RESOLVE_LCA},
		{"JSON",
		 "{\"tiers\": [{\"plugins\": [{\"name\": \"minruntime\", \"arguments\": {\"defaultReclaimMinRuntime\": "
		 "\"1m\"}}, {\"name\": \"predicates\"}, {\"name\": \"proportion\"}, {\"name\": \"priority\"}, "
		 "{\"name\": \"elastic\"}, {\"name\": \"nodeplacement\"}]}]}",
		 0, 60 * S, RESOLVE_LCA},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;

		read_doc(&r, rows[i].doc);
		if (r.rc || r.config->min_runtime.preempt_ns != rows[i].preempt_ns ||
		    r.config->min_runtime.reclaim_ns != rows[i].reclaim_ns ||
		    r.config->min_runtime.resolve != rows[i].resolve || r.f.notes.n)
			fail_msg("%s: %s%s", rows[i].story, r.f.e.msg, text_str(&r.f.notes));
		drop_doc(&r);
	}
}

static void MR_12_reports_bad_arguments_and_uses_the_default(void **state)
{
	static const struct {
		const char *story, *args, *note;
	} rows[] = {
		{"no unit", "defaultPreemptMinRuntime: 5",
		 "defaultPreemptMinRuntime: bad duration '5': a number without a unit; the default 0s is used"},
		{"no unit at the end", "defaultPreemptMinRuntime: 1h2",
		 "defaultPreemptMinRuntime: bad duration '1h2': a number without a unit; the default 0s is used"},
		{"a word", "defaultReclaimMinRuntime: abc",
		 "defaultReclaimMinRuntime: bad duration 'abc': expected digits and a unit, like 90s, 1h30m or 1.5h; "
		 "the default 0s is used"},
		{"negative", "defaultReclaimMinRuntime: -5s",
		 "defaultReclaimMinRuntime: \"-5s\" is negative; the default 0s is used"},
		{"negative days", "defaultPreemptMinRuntime: -2d",
		 "defaultPreemptMinRuntime: \"-2d\" is negative; the default 0s is used"},
		{"no method", "reclaimResolveMethod: LCA",
		 "reclaimResolveMethod: \"LCA\" is neither lca nor queue; the default lca is used"},
		{"a slip", "defaultPreemptMinRuntim: 5s",
		 "defaultPreemptMinRuntim: not an argument of minruntime; did you mean \"defaultPreemptMinRuntime\"?"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text doc = {0};
		struct reading r;

		text_printf(&doc, MINRUNTIME("%s"), rows[i].args);
		read_doc(&r, text_str(&doc));
		if (r.rc || !strstr(text_str(&r.f.notes), rows[i].note) ||
		    strncmp(text_str(&r.f.notes), "kai.yaml:4:", 11))
			fail_msg("%s: %s%s", rows[i].story, r.f.e.msg, text_str(&r.f.notes));
		assert_int_equal(r.config->min_runtime.preempt_ns, 0);
		assert_int_equal(r.config->min_runtime.reclaim_ns, 0);
		assert_int_equal(r.config->min_runtime.resolve, RESOLVE_LCA);
		text_free(&doc);
		drop_doc(&r);
	}
}

static void MR_12_notes_what_is_strange(void **state)
{
	static const struct {
		const char *story, *doc, *notes;
	} rows[] = {
		{"all that KAI knows",
		 "actions: \"allocate, consolidation, reclaim, preempt, stalegangeviction\"\n"
		 "tiers: [{plugins: [{name: predicates, disablePredicate: true}, {name: nodeplacement, arguments: "
		 "{gpu: binpack}}, {name: proportion}]}, {plugins: [{name: priority}, {name: elastic}, {name: ray}, "
		 "{name: minruntime}]}]\n"
		 "queueDepthPerAction: {reclaim: 10}\nusageDBConfig: {clientType: x}\n",
		 ""},
		{"empty sections", "actions: ''\ntiers: []\n", ""},
		{"an unknown plugin", "tiers: [{plugins: [{name: proportions}, " OTHERS "]}]\n",
		 "kai.yaml:1:27: " HEAD
		 "tiers[0].plugins[0].name: no plugin is called \"proportions\"; did you mean \"proportion\"?\n"},
		{"a plugin of somebody else", "tiers: [{plugins: [{name: acme-corp-thing}, " OTHERS "]}]\n",
		 "kai.yaml:1:27: " HEAD "tiers[0].plugins[0].name: no plugin is called \"acme-corp-thing\"\n"},
		{"minruntime twice", "tiers:\n- plugins: [" OTHERS "]\n- plugins: [{name: minruntime}]\n",
		 "kai.yaml:3:13: " HEAD "tiers[1].plugins[0]: minruntime is listed twice; the last one counts\n"},
		{"predicates left out",
		 "tiers: [{plugins: [{name: proportion}, {name: priority}, {name: elastic}, {name: nodeplacement}, "
		 "{name: minruntime}]}]\n",
		 "kai.yaml:1:8: " HEAD
		 "tiers: predicates is missing: in profile kai only room decides where a pod fits\n"},
		{"others left out", "actions: allocate\ntiers: [{plugins: [{name: predicates}, {name: priority}]}]\n",
		 "kai.yaml:2:8: " HEAD "tiers: missing, and used by cede all the same: proportion, elastic, "
		 "nodeplacement, minruntime\n"},
		{"an action twice", "actions: allocate, reclaim, allocate\n",
		 "kai.yaml:1:10: " HEAD "actions: allocate is listed twice, and runs once\n"},
		{"a depth of no action", "actions: allocate\nqueueDepthPerAction: {rest: 1}\n",
		 "kai.yaml:2:29: " HEAD "queueDepthPerAction.rest: not an action\n"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;

		read_doc(&r, rows[i].doc);
		if (r.rc || strcmp(text_str(&r.f.notes), rows[i].notes))
			fail_msg("%s: %s%s", rows[i].story, r.f.e.msg, text_str(&r.f.notes));
		drop_doc(&r);
	}
}

static void reads_actions_in_their_order(void **state)
{
	static const struct {
		const char *story, *doc;
		uint32_t n;
		enum action actions[KAI_ACTIONS];
	} rows[] = {
		{"nothing said",
		 "tiers: []\n",
		 5,
		 {ACTION_ALLOCATE, ACTION_CONSOLIDATE, ACTION_RECLAIM, ACTION_PREEMPT, ACTION_STALE_GANG}},
		{"empty",
		 "actions: ''\n",
		 5,
		 {ACTION_ALLOCATE, ACTION_CONSOLIDATE, ACTION_RECLAIM, ACTION_PREEMPT, ACTION_STALE_GANG}},
		{"one", "actions: allocate\n", 1, {ACTION_ALLOCATE}},
		{"as listed, not as usual",
		 "actions: \"stalegangeviction,preempt , allocate\"\n",
		 3,
		 {ACTION_STALE_GANG, ACTION_PREEMPT, ACTION_ALLOCATE}},
		{"twice", "actions: preempt, allocate, preempt\n", 2, {ACTION_PREEMPT, ACTION_ALLOCATE}},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;

		read_doc(&r, rows[i].doc);
		if (r.rc || r.config->kai.n_actions != rows[i].n ||
		    memcmp(r.config->kai.actions, rows[i].actions, rows[i].n * sizeof(*rows[i].actions)) != 0)
			fail_msg("%s: %s%u", rows[i].story, r.f.e.msg, r.config->kai.n_actions);
		drop_doc(&r);
	}
}

static void reads_arguments_of_plugins(void **state)
{
	static const struct {
		const char *story, *doc;
		double saturation;
		bool gpu_spreads, cpu_spreads, has_no_predicates;
		const char *note; /* after "kai.yaml:4:" and the column; "": none */
	} rows[] = {
		{"nothing said", "actions: allocate\n", 1, false, false, false, ""},
		{"empty tiers are no tiers", "tiers: []\n", 1, false, false, false, ""},
		{"how much past use counts", PROPORTION("kValue: '0.25'"), 1, false, false, false,
		 "kValue: has no effect: it weighs what queues used before, which cede does not know"},
		{"a multiplier, as KAI spells it", PROPORTION("relcaimerSaturationMultiplier: 1.5"), 1.5, false, false,
		 false, ""},
		{"a multiplier below one", PROPORTION("relcaimerSaturationMultiplier: 0.5"), 1, false, false, false,
		 "relcaimerSaturationMultiplier: \"0.5\" is less than 1, which is used instead"},
		{"the name in KAI's documents", PROPORTION("reclaimerUtilizationMultiplier: 2"), 1, false, false, false,
		 "reclaimerUtilizationMultiplier: has no effect, as in KAI, where it goes by the name "
		 "relcaimerSaturationMultiplier"},
		{"as it should be spelled", PROPORTION("reclaimerSaturationMultiplier: 2"), 1, false, false, false,
		 "reclaimerSaturationMultiplier: not an argument of proportion; did you mean "
		 "\"relcaimerSaturationMultiplier\"?"},
		{"GPUs spread", PLACEMENT("gpu: spread"), 1, true, false, false, ""},
		{"CPUs spread", PLACEMENT("gpu: binpack, cpu: spread"), 1, false, true, false, ""},
		{"neither", PLACEMENT("gpu: Spread"), 1, false, false, false,
		 "gpu: \"Spread\" is neither binpack nor spread; the default binpack is used"},
		{"another type", PLACEMENT("memory: spread"), 1, false, false, false,
		 "memory: not an argument of nodeplacement"},
		{"without predicates",
		 WITH("proportion", PLUGIN("priority") PLUGIN("elastic") PLUGIN("minruntime") PLUGIN("nodeplacement"),
		      "kValue: 2"),
		 1, false, false, true, NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;
		const struct kai_settings *k;
		const char *notes;

		read_doc(&r, rows[i].doc);
		k = &r.config->kai;
		notes = text_str(&r.f.notes);
		if (r.rc || k->saturation != rows[i].saturation || k->gpu_spreads != rows[i].gpu_spreads ||
		    k->cpu_spreads != rows[i].cpu_spreads || k->has_no_predicates != rows[i].has_no_predicates)
			fail_msg("%s: %s%s", rows[i].story, r.f.e.msg, notes);
		if (rows[i].note &&
		    (*rows[i].note ? strncmp(notes, "kai.yaml:4:", 11) || !strstr(notes, rows[i].note) : *notes != 0))
			fail_msg("%s: %s", rows[i].story, notes);
		drop_doc(&r);
	}
}

static void reads_how_deep_actions_look(void **state)
{
	struct reading r;

	read_doc(&r, "actions: allocate\nqueueDepthPerAction: {reclaim: 10, preempt: 0, consolidation: -1}\n");
	assert_int_equal(r.rc, ERR_OK);
	assert_int_equal(r.config->kai.queue_depth[ACTION_RECLAIM], 10);
	assert_int_equal(r.config->kai.queue_depth[ACTION_PREEMPT], 0);
	assert_int_equal(r.config->kai.queue_depth[ACTION_CONSOLIDATE], KAI_ALL);
	assert_int_equal(r.config->kai.queue_depth[ACTION_ALLOCATE], KAI_ALL);
	drop_doc(&r);
}

static void MR_12_refuses_other_shapes(void **state)
{
	static const struct {
		const char *story, *doc, *error;
	} rows[] = {
		{"an unknown field", "actions: allocate\ntier: []\n",
		 "kai.yaml:2:1: " HEAD "tier: unknown field; did you mean \"tiers\"?"},
		{"an unknown action", "actions: allocate, backfil\n",
		 "kai.yaml:1:10: " HEAD
		 "actions: expected allocate, consolidation, reclaim, preempt or stalegangeviction, found \"backfil\""},
		{"a slip", "actions: alocate\n",
		 "kai.yaml:1:10: " HEAD "actions: expected allocate, consolidation, reclaim, preempt or "
		 "stalegangeviction, found \"alocate\"; did you "
		 "mean \"allocate\"?"},
		{"an action too many commas", "actions: allocate,,reclaim\n",
		 "kai.yaml:1:10: " HEAD
		 "actions: expected allocate, consolidation, reclaim, preempt or stalegangeviction, found \"\""},
		{"actions that are a list", "actions: [allocate]\n",
		 "kai.yaml:1:10: " HEAD "actions: expected a string, found a list"},
		{"tiers that are a map", "tiers: {}\n", "kai.yaml:1:8: " HEAD "tiers: expected a list, found a map"},
		{"a tier that is a word", "tiers: [x]\n",
		 "kai.yaml:1:9: " HEAD "tiers[0]: expected a map, found \"x\""},
		{"a plugin that is a word", "tiers: [{plugins: [x]}]\n",
		 "kai.yaml:1:20: " HEAD "tiers[0].plugins[0]: expected a plugin, found \"x\""},
		{"a plugin without name", "tiers: [{plugins: [{arguments: {}}]}]\n",
		 "kai.yaml:1:20: " HEAD "tiers[0].plugins[0].name: expected the name of a plugin, found nothing"},
		{"an unknown field of a plugin", "tiers: [{plugins: [{name: ray, args: {}}]}]\n",
		 "kai.yaml:1:32: " HEAD "tiers[0].plugins[0].args: unknown field; known here: name, arguments"},
		{"a switch that is a word", "tiers: [{plugins: [{name: ray, disableJobOrder: perhaps}]}]\n",
		 "kai.yaml:1:49: " HEAD
		 "tiers[0].plugins[0].disableJobOrder: expected true or false, found \"perhaps\""},
		{"an argument that is a list",
		 "tiers: [{plugins: [{name: minruntime, arguments: {defaultPreemptMinRuntime: [5s]}}]}]\n",
		 "kai.yaml:1:77: " HEAD
		 "tiers[0].plugins[0].arguments.defaultPreemptMinRuntime: expected a string, found a list"},
		{"a depth that is a word", "tiers: []\nqueueDepthPerAction: {reclaim: deep}\n",
		 "kai.yaml:2:32: " HEAD "queueDepthPerAction.reclaim: expected a whole number, found \"deep\""},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;

		read_doc(&r, rows[i].doc);
		if (r.rc != ERR_INPUT || strcmp(r.f.e.msg, rows[i].error))
			fail_msg("%s:\n  got  %s\n  want %s", rows[i].story, r.f.e.msg, rows[i].error);
		drop_doc(&r);
	}
}

static void MR_12_reads_it_plain_and_in_its_config_map(void **state)
{
	static const char *const docs[] = {
		"actions: reclaim, allocate\n" MINRUNTIME(
			"defaultPreemptMinRuntime: 1h, defaultReclaimMinRuntime: -1s"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: scheduler-config, namespace: "
		"kai-scheduler}\ndata:\n  config.yaml: |\n"
		"    actions: reclaim, allocate\n    tiers:\n    - plugins: [" ALL_BUT_MINRUNTIME "]\n"
		"    - plugins:\n      - name: minruntime\n        arguments: {defaultPreemptMinRuntime: 1h, "
		"defaultReclaimMinRuntime: -1s}\n",
	};

	for (size_t i = 0; i < COUNT(docs); i++) {
		struct vocab *v = vocab_new();
		struct manifest *m = manifest_new(v);
		struct engine_config *c = engine_config_new();
		struct err e = {0};

		if (manifest_read_bytes(m, "a.yaml", docs[i], strlen(docs[i]), &e) || manifest_configure(m, c, &e))
			fail_msg("%s", e.msg);
		assert_int_equal(c->min_runtime.preempt_ns, 3600 * S);
		assert_int_equal(c->min_runtime.reclaim_ns, 0);
		assert_int_equal(c->kai.n_actions, 2);
		assert_int_equal(c->kai.actions[0], ACTION_RECLAIM);
		assert_false(c->kai.has_no_predicates);
		assert_int_equal(manifest_note_count(m), 1);
		assert_non_null(strstr(manifest_note(m, 0),
				       "defaultReclaimMinRuntime: \"-1s\" is negative; the default 0s is used"));
		engine_config_free(c);
		manifest_free(m);
		vocab_free(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(MR_3_reads_the_defaults_of_minimum_runtimes),
		cmocka_unit_test(MR_12_reports_bad_arguments_and_uses_the_default),
		cmocka_unit_test(MR_12_notes_what_is_strange),
		cmocka_unit_test(reads_actions_in_their_order),
		cmocka_unit_test(reads_arguments_of_plugins),
		cmocka_unit_test(reads_how_deep_actions_look),
		cmocka_unit_test(MR_12_refuses_other_shapes),
		cmocka_unit_test(MR_12_reads_it_plain_and_in_its_config_map),
	};

	return cmocka_run_group_tests_name("kai_config", tests, NULL, NULL);
}
