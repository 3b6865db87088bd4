/* SPDX-License-Identifier: Apache-2.0 */
/* Minimum runtime before preemption and reclaim, each promise with the smallest cluster that shows it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/emit.h"
#include "properties/kai_story.h"

#define MINUTE (60 * NS_PER_S)
#define HOUR (60 * MINUTE)
#define HIGH "priorityClassName: build-preemptible" /* 75; others have 50 */

/* Queue a is owed four GPUs and b has them, since ago_ns; `want` of a asks for one, or `mine` of b does. */
static void two_queues(struct story *s, const char *b_words, int64_t ago_ns)
{
	story_begin(s);
	kai_queue(s, "a", "", 4, "");
	kai_queue(s, "b", "", 0, b_words);
	kai_node(s, "n1", 1);
	kai_group(s, "run", "b", 1, ago_ns, NULL);
	kai_pod(s, "run-0", "run", 1, "n1", "age 3600");
}

static void want(struct story *s, const char *queue)
{
	kai_group(s, "new", queue, 1, TIME_NONE, HIGH);
	kai_pod(s, "want", "new", 1, NULL, "age 60");
}

/* ---- the two windows ---- */

static void MR_1_before_its_window_has_passed_work_stays_and_at_it_it_may_go(void **state)
{
	static const struct {
		const char *sentence, *words, *queue;
		int64_t ago;
		const char *line;
	} rows[] = {
		{"reclaim: inside", "reclaim 10m", "a", 5 * MINUTE, "want waiting"},
		{"reclaim: one nanosecond before", "reclaim 10m", "a", 10 * MINUTE - 1, "want waiting"},
		{"reclaim: at the window", "reclaim 10m", "a", 10 * MINUTE, "want reclaim n1 [run-0]"},
		{"reclaim: past it", "reclaim 10m", "a", HOUR, "want reclaim n1 [run-0]"},
		{"reclaim does not look at the preempt window", "preempt 10m", "a", 5 * MINUTE,
		 "want reclaim n1 [run-0]"},
		{"preempt: inside", "preempt 10m", "b", 5 * MINUTE, "want waiting"},
		{"preempt: one nanosecond before", "preempt 10m", "b", 10 * MINUTE - 1, "want waiting"},
		{"preempt: at the window", "preempt 10m", "b", 10 * MINUTE, "want preempt n1 [run-0]"},
		{"preempt does not look at the reclaim window", "reclaim 10m", "b", 5 * MINUTE,
		 "want preempt n1 [run-0]"},
		{"no window", "", "a", 0, "want reclaim n1 [run-0]"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		two_queues(&s, rows[i].words, rows[i].ago);
		want(&s, rows[i].queue);
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

static void MR_1_the_words_have_the_queue_the_window_and_until_when(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "reclaim 10m", 6 * MINUTE + 50 * NS_PER_S);
	want(&s, "a");
	expect_line(&s, "inside", "want waiting");
	expect_why(&s, 0, "run-0", "min-runtime: protected until 08:03:10 by root.b: reclaim 10m, runs 6m50s");
	assert_int_equal(s.plan.v.v[0].protected[0].verdict.until_ns, STORY_NOW_NS + 190 * NS_PER_S);
	story_end(&s);

	two_queues(&s, "preempt 48h", HOUR);
	want(&s, "b");
	expect_line(&s, "not today", "want waiting");
	expect_why(&s, 0, "run-0", "min-runtime: protected until 2027-01-17T07:00:00Z by root.b: preempt 2d, runs 1h");
	story_end(&s);

	two_queues(&s, "", 10 * NS_PER_S + 500000000);
	want(&s, "a");
	story_load(&s);
	s.settings->min_runtime.reclaim_ns = MINUTE;
	expect_line(&s, "by the default", "want waiting");
	expect_why(&s, 0, "run-0", "min-runtime: protected until 08:00:50 by the default: reclaim 1m, runs 10s");
	story_end(&s);
}

/* ---- where the values come from ---- */

static void MR_2_an_explicit_0s_ends_the_search(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	kai_queue(&s, "a", "", 4, "");
	kai_queue(&s, "dep", "", 0, "reclaim 1h");
	kai_queue(&s, "b", "dep", 0, "reclaim 0s");
	kai_queue(&s, "c", "dep", 1, "");
	kai_node(&s, "n1", 1);
	kai_group(&s, "run", "b", 1, MINUTE, NULL);
	kai_pod(&s, "run-0", "run", 1, "n1", NULL);
	want(&s, "c");
	expect(&s, "a sibling sees the 0s", "want reclaim n1 [run-0]");
}

static void MR_3_and_12_defaults_and_method_come_from_the_scheduler_configuration(void **state)
{
	static const char config[] =
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: scheduler-config, namespace: kai-scheduler}\n"
		"data:\n  config.yaml: |\n    actions: \"allocate, consolidation, reclaim, preempt, "
		"stalegangeviction\"\n"
		"    tiers:\n    - plugins:\n      - name: proportion\n      - name: minruntime\n        arguments:\n"
		"          defaultPreemptMinRuntime: \"%s\"\n          defaultReclaimMinRuntime: \"%s\"\n"
		"          reclaimResolveMethod: \"%s\"\n";
	static const struct {
		const char *sentence, *preempt, *reclaim, *method, *queue, *line;
	} rows[] = {
		{"the default for reclaim", "0s", "10m", "lca", "a", "want waiting"},
		{"has passed", "1h", "5m", "lca", "a", "want reclaim n1 [run-0]"},
		{"the default for preempt", "10m", "0s", "lca", "b", "want waiting"},
		{"days and weeks", "1w2d", "0s", "lca", "b", "want waiting"},
		{"negative is reported and counts as 0s", "0s", "-5s", "lca", "a", "want reclaim n1 [run-0]"},
		{"what is no duration too", "0s", "10", "lca", "a", "want reclaim n1 [run-0]"},
		{"a method that does not exist is lca", "0s", "10m", "lcd", "a", "want waiting"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		two_queues(&s, "", 5 * MINUTE);
		want(&s, rows[i].queue);
		text_printf(&s.objects, config, rows[i].preempt, rows[i].reclaim, rows[i].method);
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

static void MR_12_bad_durations_on_a_queue_count_as_not_set(void **state)
{
	static const struct {
		const char *sentence, *words, *line;
	} rows[] = {
		{"Go's grammar", "reclaim 1m30s", "want reclaim n1 [run-0]"},
		{"negative: the default is looked for", "reclaim -1s", "want waiting"},
		{"days are for arguments alone", "reclaim 0d", "want waiting"},
		{"no unit", "reclaim 1", "want waiting"},
		{"0 needs none", "reclaim 0", "want reclaim n1 [run-0]"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		two_queues(&s, rows[i].words, 5 * MINUTE);
		want(&s, "a");
		story_load(&s);
		s.settings->min_runtime.reclaim_ns = HOUR;
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

static void MR_4_to_7_the_queues_between_decide_which_window(void **state)
{
	static const struct {
		const char *sentence, *dep, *leaf, *want_in;
		enum reclaim_resolve how;
		const char *line;
	} rows[] = {
		{"MR-5: another top sees the department's window, not the leaf's", "reclaim 1m", "reclaim 1h", "a",
		 RESOLVE_LCA, "want reclaim n1 [run-0]"},
		{"MR-5: and is held by it", "reclaim 1h", "reclaim 0s", "a", RESOLVE_LCA, "want waiting"},
		{"MR-5: a sibling sees the leaf's", "reclaim 1m", "reclaim 1h", "sib", RESOLVE_LCA, "want waiting"},
		{"MR-6: method queue starts at the leaf for everybody", "reclaim 1h", "reclaim 0s", "a", RESOLVE_QUEUE,
		 "want reclaim n1 [run-0]"},
		{"MR-4: preempt starts at the leaf", "preempt 1h", "preempt 0s", "b", RESOLVE_LCA,
		 "want preempt n1 [run-0]"},
		{"MR-4: and goes up", "preempt 1h", "", "b", RESOLVE_LCA, "want waiting"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		story_begin(&s);
		kai_queue(&s, "a", "", 4, "");
		kai_queue(&s, "dep", "", 0, rows[i].dep);
		kai_queue(&s, "b", "dep", 0, rows[i].leaf);
		kai_queue(&s, "sib", "dep", 4, "");
		kai_node(&s, "n1", 1);
		kai_group(&s, "run", "b", 1, 5 * MINUTE, NULL);
		kai_pod(&s, "run-0", "run", 1, "n1", NULL);
		want(&s, rows[i].want_in);
		story_load(&s);
		s.settings->min_runtime.resolve = rows[i].how;
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

static void MR_7_parents_in_a_circle_are_an_error(void **state)
{
	struct cluster_options options = cluster_options_default();
	struct vocab *v = vocab_new();
	struct manifest *m = manifest_new(v);
	struct cluster *c = NULL;
	struct story s;
	struct err e = {0};

	(void)state;
	story_begin(&s);
	kai_queue(&s, "a", "c", 0, "");
	kai_queue(&s, "b", "a", 0, "");
	kai_queue(&s, "c", "b", 0, "");
	story_must(manifest_read_bytes(m, "circle", text_str(&s.objects), s.objects.n, &e), &e);
	assert_int_not_equal(manifest_build(m, &options, &c, &e), ERR_OK);
	assert_non_null(strstr(e.msg, "form a cycle"));
	manifest_free(m);
	vocab_free(v);
	text_free(&s.objects);
}

/* ---- start times ---- */

static int64_t group_start(const struct story *s, group_id g)
{
	return ledger_group(cluster_ledger(s->cluster), g)->started_ns;
}

static const struct pod *pod_called(const struct story *s, const char *name)
{
	const struct ledger *l = cluster_ledger(s->cluster);

	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		if (ledger_pod(l, i)->state != POD_FREE && str_eq(story_name(s, i), name))
			return ledger_pod(l, i);
	fail_msg("no pod %s", name);
	return NULL;
}

static void plan_at(struct story *s, int64_t now_ns)
{
	struct engine_run run = {.now_ns = now_ns, .cycles = 1, .report = POD_NONE};
	struct err e;

	story_load(s);
	s->plan.arena = arena_new(65536);
	story_must(engine_plan(s->engine, &run, &s->plan, &e), &e);
}

static void MR_8_a_group_starts_when_its_first_pod_gets_its_place(void **state)
{
	const int64_t now = STORY_NOW_NS + 123456789, old = STORY_NOW_NS - HOUR;
	static const struct {
		const char *sentence, *member; /* words of another pod of the group */
		bool is_running, restarts;
	} rows[] = {
		{"nothing ran before: the old stamp is history", "created 9", false, true},
		{"another one runs: scaling up does not start the clock again", NULL, true, false},
		{"the last one is on its way out", "leaving", true, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		int64_t wanted = rows[i].restarts ? now : old;
		struct story s;

		story_begin(&s);
		kai_queue(&s, "a", "", 0, "");
		kai_node(&s, "n1", 4);
		kai_group(&s, "g", "a", 1, HOUR, NULL);
		kai_pod(&s, "g-0", "g", 1, rows[i].is_running ? "n1" : NULL, rows[i].member);
		kai_pod(&s, "g-1", "g", 1, NULL, "age 9");
		plan_at(&s, now);
		if (group_start(&s, 0) != wanted || pod_called(&s, "g-1")->started_ns != wanted)
			print_error("%s\n", rows[i].sentence);
		assert_int_equal(group_start(&s, 0), wanted);
		assert_int_equal(pod_called(&s, "g-1")->started_ns, wanted);
		story_end(&s);
	}
}

static void MR_8_the_stamp_is_written_on_the_group_and_read_again(void **state)
{
	struct cluster_options options = cluster_options_default();
	struct text out = {0};
	struct vocab *v = vocab_new();
	struct manifest *m = manifest_new(v);
	struct cluster *c;
	struct emit e;
	struct story s;
	struct err err;

	(void)state;
	story_begin(&s);
	kai_queue(&s, "a", "", 0, "");
	kai_node(&s, "n1", 4);
	kai_group(&s, "g", "a", 1, TIME_NONE, NULL);
	kai_pod(&s, "g-0", "g", 1, NULL, NULL);
	plan_at(&s, STORY_NOW_NS + 250000000);
	emit_init(&e, &out, EMIT_YAML);
	manifest_write(s.cluster, &e);
	assert_non_null(strstr(text_str(&out), "kai.scheduler/last-start-timestamp: \"2027-01-15T08:00:00.25Z\"\n"));
	story_must(manifest_read_bytes(m, "again", text_str(&out), out.n, &err), &err);
	story_must(manifest_build(m, &options, &c, &err), &err);
	assert_int_equal(ledger_group(cluster_ledger(c), 0)->started_ns, STORY_NOW_NS + 250000000);
	assert_int_equal(ledger_pod(cluster_ledger(c), 0)->started_ns, STORY_NOW_NS + 250000000);
	cluster_free(c);
	manifest_free(m);
	vocab_free(v);
	text_free(&out);
	story_end(&s);
}

static void MR_8_nothing_a_tenant_writes_moves_the_clock(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	kai_queue(&s, "a", "", 4, "");
	kai_queue(&s, "b", "", 0, "reclaim 10m");
	kai_node(&s, "n1", 1);
	kai_pod(&s, "sly", NULL, 1, "n1", "queue b age 3600 annotated 2031-01-01T00:00:00Z");
	want(&s, "a");
	expect(&s, "a pod's own annotation is nothing", "want reclaim n1 [sly]");

	two_queues(&s, "reclaim 10m", -24 * HOUR);
	want(&s, "a");
	expect(&s, "a group's stamp from the future counts as now, and no later", "want waiting");
	two_queues(&s, "", -24 * HOUR);
	want(&s, "a");
	expect(&s, "and protects from nothing where no window is set", "want reclaim n1 [run-0]");

	story_begin(&s);
	kai_queue(&s, "a", "", 4, "");
	kai_queue(&s, "b", "", 0, "reclaim 10m");
	kai_node(&s, "n1", 1);
	kai_group(&s, "run", "b", 1, -24 * HOUR, NULL);
	kai_pod(&s, "run-0", "run", 1, "n1", "age 300");
	want(&s, "a");
	expect(&s, "whenever its pods started", "want waiting");

	story_begin(&s);
	kai_queue(&s, "a", "", 4, "");
	kai_queue(&s, "b", "", 0, "reclaim 10m");
	kai_node(&s, "n1", 1);
	kai_pod(&s, "ahead", NULL, 1, "n1", "queue b age -1");
	want(&s, "a");
	expect(&s, "a clock that is a second ahead does not end a window", "want waiting");
}

static void MR_8_work_without_a_group_has_its_own_start(void **state)
{
	struct story s;

	(void)state;
	for (int age = 599; age <= 600; age++) {
		char words[32];

		snprintf(words, sizeof(words), "queue b age %d", age);
		story_begin(&s);
		kai_queue(&s, "a", "", 4, "");
		kai_queue(&s, "b", "", 0, "reclaim 10m");
		kai_node(&s, "n1", 1);
		kai_pod(&s, "run-0", NULL, 1, "n1", words);
		want(&s, "a");
		expect(&s, "status.startTime", age < 600 ? "want waiting" : "want reclaim n1 [run-0]");
	}
}

static void MR_8_what_was_placed_a_moment_ago_is_inside_its_window(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	kai_queue(&s, "a", "", 4, "");
	kai_queue(&s, "b", "", 0, "reclaim 10m");
	kai_node(&s, "n1", 2);
	kai_group(&s, "fresh", "b", 1, TIME_NONE, NULL);
	kai_pod(&s, "first", "fresh", 1, NULL, NULL);
	kai_pod(&s, "held", NULL, 1, "n1", "queue a");
	kai_group(&s, "new", "a", 1, TIME_NONE, NULL);
	kai_pod(&s, "big", "new", 2, NULL, NULL);
	s.cycles = 2;
	expect_line(&s, "placed in one cycle, looked at in the next", "big waiting; first placed n1; big waiting");
	expect_why(&s, 2, "first", "min-runtime: protected until 08:10:00 by root.b: reclaim 10m, runs 0s");
	story_end(&s);
}

/* ---- together with others ---- */

static void MR_9_every_rule_has_to_let_it_go(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "reclaim 10m", HOUR);
	kai_pod(&s, "lonely", NULL, 0, "n1", "queue b label non-preemptible");
	want(&s, "a");
	expect(&s, "the window is over and nothing else speaks", "want reclaim n1 [run-0]");

	story_begin(&s);
	kai_queue(&s, "a", "", 4, "");
	kai_queue(&s, "b", "", 0, "reclaim 10m");
	kai_node(&s, "n1", 1);
	kai_group(&s, "run", "b", 1, HOUR, "preemptibility: non-preemptible");
	kai_pod(&s, "run-0", "run", 1, "n1", NULL);
	want(&s, "a");
	expect_line(&s, "the window is over, but it is non-preemptible", "want waiting");
	expect_why(&s, 0, "run-0", "preemptibility: it is non-preemptible: its group d/run says so");
	story_end(&s);
}

static void MR_9_only_whom_the_action_looks_at_is_asked(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	kai_queue(&s, "a", "", 0, "preempt 1h");
	kai_queue(&s, "b", "", 1, "reclaim 1h");
	kai_node(&s, "n1", 2);
	kai_group(&s, "own", "a", 1, MINUTE, NULL);
	kai_pod(&s, "own-0", "own", 1, "n1", NULL);
	kai_group(&s, "other", "b", 1, MINUTE, NULL);
	kai_pod(&s, "other-0", "other", 1, "n1", NULL);
	want(&s, "a");
	expect_line(&s, "both are inside", "want waiting");
	expect_why(&s, 0, "own-0", "min-runtime: protected until 08:59:00 by root.a: preempt 1h, runs 1m");
	expect_why(&s, 0, "other-0", "min-runtime: protected until 08:59:00 by root.b: reclaim 1h, runs 1m");
	story_end(&s);
}

/* ---- other actions ---- */

static void MR_1_default_preemption_and_required_nodes_keep_the_windows_too(void **state)
{
	struct story s;

	(void)state;
	for (int is_over = 0; is_over < 2; is_over++) {
		story_begin(&s);
		story_node(&s, "n1", 1);
		story_pod(&s, "run", NULL, 1, "n1", "age 300");
		story_pod(&s, "want", NULL, 1, NULL, "priority 9");
		story_load(&s);
		s.settings->min_runtime.preempt_ns = (is_over ? 5 : 10) * MINUTE;
		expect(&s, "displace: the preempt window", is_over ? "want displace n1 [run]" : "want waiting");

		story_begin(&s);
		story_queue(&s, "root.a", "");
		story_queue(&s, "root.b", "");
		story_node(&s, "n1", 1);
		story_pod(&s, "run", "root.b", 1, "n1", "age 300");
		story_pod(&s, "ds", "root.a", 1, NULL, "priority 9 daemon n1");
		story_load(&s);
		s.settings->min_runtime.reclaim_ns = (is_over ? 5 : 10) * MINUTE;
		expect(&s, "required-node, another leaf: the reclaim window",
		       is_over ? "ds required-node n1 [run]" : "ds waiting");

		story_begin(&s);
		story_queue(&s, "root.a", "");
		story_node(&s, "n1", 1);
		story_pod(&s, "run", "root.a", 1, "n1", "age 300");
		story_pod(&s, "ds", "root.a", 1, NULL, "priority 9 daemon n1");
		story_load(&s);
		s.settings->min_runtime.preempt_ns = (is_over ? 5 : 10) * MINUTE;
		expect(&s, "required-node, the same leaf: the preempt window",
		       is_over ? "ds required-node n1 [run]" : "ds waiting");
	}
}

/* A queue above its lowered maximum: two pods of a group, minimum one, one of them long enough there. */
static void lowered(struct story *s, int min, int64_t ago_ns)
{
	story_begin(s);
	text_add(&s->objects,
		 "---\npartitions:\n- name: default\n  preemption: {quotapreemptionenabled: true}\n  queues:\n"
		 "  - name: root\n    queues:\n    - name: a\n      resources: {max: {" KAI_GPU_TYPE ": 1}}\n"
		 "      properties: {quota.preemption.delay: 1s}\n");
	kai_node(s, "n1", 4);
	kai_group(s, "g", "root.a", min, ago_ns, NULL);
	for (int i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "g-%d", i);
		kai_pod(s, name, "g", 1, "n1", i ? "age 60" : "age 7200");
	}
	story_load(s);
	s->settings->min_runtime.preempt_ns = 10 * MINUTE;
}

static void MR_1_a_lowered_maximum_keeps_the_preempt_window(void **state)
{
	struct story s;

	(void)state;
	lowered(&s, 3, 5 * MINUTE);
	expect(&s, "a gang inside its window", "");
	lowered(&s, 3, 10 * MINUTE);
	expect(&s, "and after it", "quota quota [g-1 g-2]");
	lowered(&s, 2, 5 * MINUTE);
	expect(&s, "one is surplus", "quota quota [g-1]");
	lowered(&s, 2, TIME_NONE);
	expect(&s, "an old one does not go after a young one has used up the surplus", "quota quota [g-1]");
}

static void MR_1_profiles_yunikorn_and_kubernetes_know_no_windows(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	s.profile = PROFILE_YUNIKORN;
	story_queue(&s, "root.prod", "guaranteed 4");
	story_queue(&s, "root.test", "");
	story_node(&s, "n1", 1);
	story_pod(&s, "run", "root.test", 1, "n1", "age 60");
	story_pod(&s, "want", "root.prod", 1, NULL, NULL);
	story_load(&s);
	s.settings->min_runtime.reclaim_ns = HOUR;
	expect(&s, "yunikorn", "want reclaim n1 [run]");

	story_begin(&s);
	s.profile = PROFILE_KUBERNETES;
	story_node(&s, "n1", 1);
	story_pod(&s, "run", NULL, 1, "n1", "age 60");
	story_pod(&s, "want", NULL, 1, NULL, "priority 9");
	story_load(&s);
	s.settings->min_runtime.preempt_ns = HOUR;
	s.settings->min_runtime.reclaim_ns = HOUR;
	expect(&s, "kubernetes", "want displace n1 [run]");
}

/* ---- caches ---- */

static void MR_13_one_victim_queue_has_another_window_for_another_reclaimer(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	kai_queue(&s, "a", "", 4, "");
	kai_queue(&s, "dep", "", 0, "reclaim 1m");
	kai_queue(&s, "b", "dep", 0, "reclaim 1h");
	kai_queue(&s, "sib", "dep", 4, "");
	kai_node(&s, "n1", 2);
	kai_group(&s, "run", "b", 1, 5 * MINUTE, NULL);
	kai_pod(&s, "run-0", "run", 1, "n1", NULL);
	kai_group(&s, "run2", "b", 1, 5 * MINUTE, NULL);
	kai_pod(&s, "run-1", "run2", 1, "n1", NULL);
	kai_group(&s, "new", "a", 1, TIME_NONE, NULL);
	kai_pod(&s, "far", "new", 1, NULL, NULL);
	kai_group(&s, "new2", "sib", 1, TIME_NONE, NULL);
	kai_pod(&s, "near", "new2", 1, NULL, NULL);
	expect(&s, "in one cycle", "far reclaim n1 [run-1]; near waiting");
}

static void MR_13_a_new_cycle_sees_a_new_value_and_memory_is_by_queue(void **state)
{
	struct judge_scratch scratch = {0};
	struct rule_settings settings = {.profile = PROFILE_DEFAULT};
	struct judge j;
	struct story s;
	uint32_t n_queues;

	(void)state;
	two_queues(&s, "", 5 * MINUTE);
	want(&s, "a");
	story_load(&s);
	n_queues = ledger_queues(cluster_ledger(s.cluster))->q.n;
	for (int i = 0; i < 100; i++) {
		settings.min_runtime.reclaim_ns = i % 2 ? HOUR : 0;
		judge_init(&j, s.cluster, cluster_ledger(s.cluster), &settings, ACTION_RECLAIM, 1, STORY_NOW_NS,
			   &scratch);
		judge_look_at(&j, 1);
		assert_int_equal(judge_window(&j, ledger_pod(cluster_ledger(s.cluster), 0)).answer,
				 i % 2 ? IS_PROTECTED : MAY_GO);
		assert_int_equal(scratch.n, n_queues);
		assert_int_equal(scratch.cores.n, 0);
	}
	judge_scratch_free(&scratch);
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(MR_1_before_its_window_has_passed_work_stays_and_at_it_it_may_go),
		cmocka_unit_test(MR_1_the_words_have_the_queue_the_window_and_until_when),
		cmocka_unit_test(MR_1_default_preemption_and_required_nodes_keep_the_windows_too),
		cmocka_unit_test(MR_1_a_lowered_maximum_keeps_the_preempt_window),
		cmocka_unit_test(MR_1_profiles_yunikorn_and_kubernetes_know_no_windows),
		cmocka_unit_test(MR_2_an_explicit_0s_ends_the_search),
		cmocka_unit_test(MR_3_and_12_defaults_and_method_come_from_the_scheduler_configuration),
		cmocka_unit_test(MR_12_bad_durations_on_a_queue_count_as_not_set),
		cmocka_unit_test(MR_4_to_7_the_queues_between_decide_which_window),
		cmocka_unit_test(MR_7_parents_in_a_circle_are_an_error),
		cmocka_unit_test(MR_8_a_group_starts_when_its_first_pod_gets_its_place),
		cmocka_unit_test(MR_8_the_stamp_is_written_on_the_group_and_read_again),
		cmocka_unit_test(MR_8_nothing_a_tenant_writes_moves_the_clock),
		cmocka_unit_test(MR_8_work_without_a_group_has_its_own_start),
		cmocka_unit_test(MR_8_what_was_placed_a_moment_ago_is_inside_its_window),
		cmocka_unit_test(MR_9_every_rule_has_to_let_it_go),
		cmocka_unit_test(MR_9_only_whom_the_action_looks_at_is_asked),
		cmocka_unit_test(MR_13_one_victim_queue_has_another_window_for_another_reclaimer),
		cmocka_unit_test(MR_13_a_new_cycle_sees_a_new_value_and_memory_is_by_queue),
	};

	return cmocka_run_group_tests_name("mr", tests, NULL, NULL);
}
