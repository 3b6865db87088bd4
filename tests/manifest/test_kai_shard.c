/* SPDX-License-Identifier: Apache-2.0 */
#include "reading_fixture.h"

#define S NS_PER_S

#define SHARD(spec) "apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: default}\nspec:\n" spec
#define HEAD "SchedulingShard default: spec."

static void read_shard(struct reading *r, const char *doc, bool *applies)
{
	const struct tree *t = reading_begin(r, "shard.yaml", doc);

	if (t)
		r->rc = manifest_kai_shard(&r->f.src, t, r->config, applies, &r->f.e);
}

static void reads_what_a_shard_sets(void **state)
{
	static const struct {
		const char *story, *doc;
		int64_t preempt_ns, reclaim_ns;
		enum reclaim_resolve resolve;
		double saturation;
		bool gpu_spreads, cpu_spreads, has_no_predicates;
	} rows[] = {
		{"nothing", SHARD("  {}\n"), 0, 0, RESOLVE_LCA, 1, false, false, false},
		{"minimum runtimes", SHARD("  minRuntime: {preemptMinRuntime: 5m, reclaimMinRuntime: 2d}\n"), 300 * S,
		 INT64_C(172800) * S, RESOLVE_LCA, 1, false, false, false},
		{"arguments take the place of all that was there",
		 SHARD("  minRuntime: {preemptMinRuntime: 5m, reclaimMinRuntime: 2d}\n"
		       "  plugins: {minruntime: {arguments: {reclaimResolveMethod: queue}}}\n"),
		 0, 0, RESOLVE_QUEUE, 1, false, false, false},
		{"a switch leaves arguments alone",
		 SHARD("  minRuntime: {reclaimMinRuntime: 1h}\n  plugins: {minruntime: {enabled: true}}\n"), 0,
		 3600 * S, RESOLVE_LCA, 1, false, false, false},
		{"arguments of proportion",
		 SHARD("  plugins: {proportion: {arguments: {relcaimerSaturationMultiplier: '3'}}}\n"), 0, 0,
		 RESOLVE_LCA, 3, false, false, false},
		{"spread", SHARD("  placementStrategy: {gpu: spread, cpu: binpack}\n"), 0, 0, RESOLVE_LCA, 1, true,
		 false, false},
		{"a plugin's own strategy",
		 SHARD("  placementStrategy: {gpu: spread}\n  plugins: {nodeplacement: {arguments: {cpu: spread}}}\n"),
		 0, 0, RESOLVE_LCA, 1, false, true, false},
		{"no predicates", SHARD("  plugins: {predicates: {enabled: false}}\n"), 0, 0, RESOLVE_LCA, 1, false,
		 false, true},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;
		bool applies = false;
		const struct engine_config *c;

		read_shard(&r, rows[i].doc, &applies);
		c = r.config;
		if (r.rc || !applies || c->min_runtime.preempt_ns != rows[i].preempt_ns ||
		    c->min_runtime.reclaim_ns != rows[i].reclaim_ns || c->min_runtime.resolve != rows[i].resolve ||
		    c->kai.saturation != rows[i].saturation || c->kai.gpu_spreads != rows[i].gpu_spreads ||
		    c->kai.cpu_spreads != rows[i].cpu_spreads || c->kai.has_no_predicates != rows[i].has_no_predicates)
			fail_msg("%s: %s%s", rows[i].story, r.f.e.msg, text_str(&r.f.notes));
		drop_doc(&r);
	}
}

static void sorts_actions_by_priority(void **state)
{
	static const struct {
		const char *story, *doc, *actions;
	} rows[] = {
		{"as usual", SHARD("  {}\n"), "allocate consolidate reclaim preempt stale-gang"},
		{"whoever spreads does not consolidate", SHARD("  placementStrategy: {cpu: spread}\n"),
		 "allocate reclaim preempt stale-gang"},
		{"unless told to, and then at the end",
		 SHARD("  placementStrategy: {gpu: spread}\n  actions: {consolidation: {}}\n"),
		 "allocate reclaim preempt stale-gang consolidate"},
		{"or where told to",
		 SHARD("  placementStrategy: {gpu: spread}\n  actions: {consolidation: {priority: 350}}\n"),
		 "allocate consolidate reclaim preempt stale-gang"},
		{"one less", SHARD("  actions: {reclaim: {enabled: false}}\n"),
		 "allocate consolidate preempt stale-gang"},
		{"another order", SHARD("  actions: {preempt: {priority: 350}}\n"),
		 "allocate consolidate preempt reclaim stale-gang"},
		{"equal ones by name", SHARD("  actions: {preempt: {priority: 500}}\n"),
		 "allocate preempt consolidate reclaim stale-gang"},
		{"none at all is all, as in KAI",
		 SHARD("  actions: {allocate: {enabled: false}, consolidation: {enabled: false}, reclaim: {enabled: "
		       "false}, preempt: {enabled: false}, stalegangeviction: {enabled: false}}\n"),
		 "allocate consolidate reclaim preempt stale-gang"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text got = {0};
		struct reading r;
		bool applies;

		read_shard(&r, rows[i].doc, &applies);
		for (uint32_t k = 0; !r.rc && k < r.config->kai.n_actions; k++)
			text_printf(&got, "%s%s", k ? " " : "", action_text(r.config->kai.actions[k]));
		if (strcmp(text_str(&got), rows[i].actions) != 0)
			fail_msg("%s: %s%s", rows[i].story, r.f.e.msg, text_str(&got));
		text_free(&got);
		drop_doc(&r);
	}
}

static void takes_flags_from_args(void **state)
{
	struct reading r;
	bool applies;

	read_shard(&r,
		   SHARD("  args: {default-staleness-grace-period: -1s, max-consolidation-preemptees: '4', "
			 "allow-consolidating-reclaim: 'false', qps: '50'}\n  queueDepthPerAction: {preempt: 7}\n"),
		   &applies);
	if (r.rc || r.f.notes.n)
		fail_msg("%s%s", r.f.e.msg, text_str(&r.f.notes));
	assert_int_equal(r.config->kai.staleness_grace_ns, -1 * S);
	assert_int_equal(r.config->kai.max_consolidation_preemptees, 4);
	assert_true(r.config->kai.forbids_consolidating_reclaim);
	assert_int_equal(r.config->kai.queue_depth[ACTION_PREEMPT], 7);
	drop_doc(&r);
}

static void notes_what_is_strange(void **state)
{
	static const struct {
		const char *story, *doc, *notes;
	} rows[] = {
		{"all that KAI knows",
		 SHARD("  usageDBConfig: {clientType: prometheus}\n  plugins: {ray: {enabled: false}}\nstatus: "
		       "{conditions: []}\n"),
		 ""},
		{"a slip", SHARD("  placementStrategi: {gpu: spread}\n"),
		 "shard.yaml:5:22: " HEAD "placementStrategi: unknown field; did you mean \"placementStrategy\"?\n"},
		{"another", SHARD("  placementStrategy: {gpus: spread}\n"),
		 "shard.yaml:5:29: " HEAD "placementStrategy.gpus: unknown field; did you mean \"gpu\"?\n"},
		{"how much past use counts", SHARD("  kValue: 0.5\n"),
		 "shard.yaml:5:11: " HEAD
		 "kValue: has no effect: it weighs what queues used before, which cede does not know\n"},
		{"no duration", SHARD("  minRuntime: {reclaimMinRuntime: '5'}\n"),
		 "shard.yaml:5:35: " HEAD
		 "minRuntime.reclaimMinRuntime: bad duration '5': a number without a unit; the default 0s is used\n"},
		{"an unknown plugin", SHARD("  plugins: {predicate: {enabled: false}}\n"),
		 "shard.yaml:5:24: " HEAD
		 "plugins.predicate: no plugin is called \"predicate\"; did you mean \"predicates\"?\n"},
		{"predicates off", SHARD("  plugins: {predicates: {enabled: false}}\n"),
		 "shard.yaml:5:12: " HEAD
		 "plugins: predicates is missing: in profile kai only room decides where a pod fits\n"},
		{"minruntime off", SHARD("  plugins: {minruntime: {enabled: false}}\n"),
		 "shard.yaml:5:12: " HEAD "plugins: missing, and used by cede all the same: minruntime\n"},
		{"another order of plugins", SHARD("  plugins: {elastic: {priority: 5000}}\n"),
		 "shard.yaml:5:33: " HEAD
		 "plugins.elastic.priority: has no effect: the order of plugins is fixed in cede\n"},
		{"half the fairness", SHARD("  args: {full-hierarchy-fairness: 'false'}\n"),
		 "shard.yaml:5:35: " HEAD
		 "args.full-hierarchy-fairness: has no effect: shares go through all levels of queues in cede\n"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;
		bool applies;

		read_shard(&r, rows[i].doc, &applies);
		if (r.rc || strcmp(text_str(&r.f.notes), rows[i].notes) != 0)
			fail_msg("%s: %s\n%s", rows[i].story, r.f.e.msg, text_str(&r.f.notes));
		drop_doc(&r);
	}
}

static void refuses_other_shapes(void **state)
{
	static const struct {
		const char *story, *doc, *error;
	} rows[] = {
		{"no name", "apiVersion: kai.scheduler/v1\nkind: SchedulingShard\nspec: {}\n",
		 "shard.yaml:1:1: SchedulingShard: metadata.name: expected a name, found nothing"},
		{"a strategy nobody knows", SHARD("  placementStrategy: {gpu: spred}\n"),
		 "shard.yaml:5:28: " HEAD
		 "placementStrategy.gpu: expected binpack or spread, found \"spred\"; did you mean \"spread\"?"},
		{"an action nobody knows", SHARD("  actions:\n    reclaims: {enabled: true}\n"),
		 "shard.yaml:6:15: " HEAD
		 "actions.reclaims: expected allocate, consolidation, reclaim, preempt or stalegangeviction, "
		 "found \"reclaims\"; did you mean \"reclaim\"?"},
		{"a k that is a word", SHARD("  kValue: much\n"),
		 "shard.yaml:5:11: " HEAD "kValue: expected a number, found \"much\""},
		{"a switch that is a word", SHARD("  actions: {reclaim: {enabled: perhaps}}\n"),
		 "shard.yaml:5:32: " HEAD "actions.reclaim.enabled: expected true or false, found \"perhaps\""},
		{"a flag that is no duration", SHARD("  args: {default-staleness-grace-period: 1d}\n"),
		 "shard.yaml:5:42: " HEAD
		 "args.default-staleness-grace-period: bad duration '1d': expected the units ns us ms s m h"},
		{"a flag that is no number", SHARD("  args: {max-consolidation-preemptees: few}\n"),
		 "shard.yaml:5:40: " HEAD "args.max-consolidation-preemptees: expected a whole number, found \"few\""},
		{"a flag that is not true or false", SHARD("  args: {allow-consolidating-reclaim: yes}\n"),
		 "shard.yaml:5:39: " HEAD "args.allow-consolidating-reclaim: expected true or false, found \"yes\""},
		{"plugins that are a list", SHARD("  plugins: [predicates]\n"),
		 "shard.yaml:5:12: " HEAD "plugins: expected a map, found a list"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reading r;
		bool applies;

		read_shard(&r, rows[i].doc, &applies);
		if (r.rc != ERR_INPUT || strcmp(r.f.e.msg, rows[i].error) != 0)
			fail_msg("%s:\n  got  %s\n  want %s", rows[i].story, r.f.e.msg, rows[i].error);
		drop_doc(&r);
	}
}

/* ---- among other documents ---- */

#define CONFIG "---\nactions: preempt\n"
#define CEDE "---\napiVersion: cede.dev/v1\nkind: CedeConfiguration\nkai: {maxConsolidationPreemptees: 3}\n"
#define FLAGGED "---\n" SHARD("  args: {max-consolidation-preemptees: '9'}\n")
#define POOL                                                                                          \
	"---\napiVersion: kai.scheduler/v1\nkind: SchedulingShard\nmetadata: {name: a100}\nspec:\n  " \
	"partitionLabelValue: "                                                                       \
	"a100\n"

static void says_which_of_several_counts(void **state)
{
	static const struct {
		const char *story, *docs;
		int32_t most;
		uint32_t n_actions;
		const char *error, *note;
	} rows[] = {
		{"a shard alone", FLAGGED, 9, 5, NULL, NULL},
		{"a shard of a pool is not used", POOL, 16, 5, NULL,
		 "a.yaml:6:24: SchedulingShard a100: spec.partitionLabelValue: all nodes are one pool in cede: this "
		 "shard, for \"a100\", is not used"},
		{"beside the one for all", POOL FLAGGED, 9, 5, NULL, "is not used"},
		{"cede's own configuration has the last word", FLAGGED CEDE, 3, 5, NULL, NULL},
		{"in any order", CEDE FLAGGED, 3, 5, NULL, NULL},
		{"a scheduler configuration takes the shard's place", FLAGGED CONFIG, 16, 1, NULL,
		 "a.yaml:2:1: SchedulingShard: not used, because there is a scheduler configuration at a.yaml:8:1"},
		{"in any order, too", CONFIG FLAGGED, 16, 1, NULL,
		 "a.yaml:4:1: SchedulingShard: not used, because there is a scheduler configuration at a.yaml:2:1"},
		{"two for all nodes", FLAGGED FLAGGED, 0, 0,
		 "a.yaml:8:1: a second configuration of this kind; the first is at a.yaml:2:1", NULL},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct vocab *v = vocab_new();
		struct manifest *m = manifest_new(v);
		struct engine_config *c = engine_config_new();
		struct err e = {0};

		if (manifest_read_bytes(m, "a.yaml", rows[i].docs, strlen(rows[i].docs), &e) ||
		    manifest_configure(m, c, &e)) {
			if (!rows[i].error || strcmp(e.msg, rows[i].error) != 0)
				fail_msg("%s: %s", rows[i].story, e.msg);
		} else if (rows[i].error || c->kai.max_consolidation_preemptees != rows[i].most ||
			   c->kai.n_actions != rows[i].n_actions || manifest_note_count(m) != (rows[i].note != NULL) ||
			   (rows[i].note && !strstr(manifest_note(m, 0), rows[i].note))) {
			fail_msg("%s: %s", rows[i].story, manifest_note_count(m) ? manifest_note(m, 0) : "");
		}
		engine_config_free(c);
		manifest_free(m);
		vocab_free(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_a_shard_sets), cmocka_unit_test(sorts_actions_by_priority),
		cmocka_unit_test(takes_flags_from_args),   cmocka_unit_test(notes_what_is_strange),
		cmocka_unit_test(refuses_other_shapes),	   cmocka_unit_test(says_which_of_several_counts),
	};

	return cmocka_run_group_tests_name("kai_shard", tests, NULL, NULL);
}
