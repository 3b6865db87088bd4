/* SPDX-License-Identifier: Apache-2.0 */
/* Priority says who is served first, preemptibility who may be interrupted: each promise with the smallest cluster. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/emit.h"
#include "properties/kai_story.h"

#define TOP "priorityClassName: inference" /* 125 */

/* Queue a is owed everything, b nothing. */
static void two_queues(struct story *s, int gpus)
{
	story_begin(s);
	kai_queue(s, "a", "", 100, "");
	kai_queue(s, "b", "", 0, "");
	kai_node(s, "n1", gpus);
}

static void want(struct story *s, const char *name, int gpus)
{
	char group[32];

	snprintf(group, sizeof(group), "%s-group", name);
	kai_group(s, group, "a", 1, TIME_NONE, TOP ", preemptibility: preemptible");
	kai_pod(s, name, group, gpus, NULL, "age 60");
}

/* One running pod of b in a group with this spec, and one of a that wants its room. */
static void group_of(struct story *s, const char *spec)
{
	two_queues(s, 1);
	kai_group(s, "run", "b", 1, TIME_NONE, spec);
	kai_pod(s, "run-0", "run", 1, "n1", NULL);
	want(s, "want", 1);
}

static const char *const goes = "want reclaim n1 [run-0]", *const stays = "want waiting";

/* ---- two things ---- */

static void PP_1_priority_orders_and_preemptibility_interrupts(void **state)
{
	struct story s;

	(void)state;
	group_of(&s, TOP ", preemptibility: preemptible");
	expect(&s, "important and preemptible: it goes", goes);
	group_of(&s, "priorityClassName: train, preemptibility: non-preemptible");
	expect(&s, "unimportant and non-preemptible: it stays", stays);

	two_queues(&s, 1);
	kai_group(&s, "low", "a", 1, TIME_NONE, "priorityClassName: train, preemptibility: non-preemptible");
	kai_group(&s, "high", "a", 1, TIME_NONE, "priorityClassName: build, preemptibility: preemptible");
	kai_pod(&s, "low", "low", 1, NULL, "age 100");
	kai_pod(&s, "high", "high", 1, NULL, "age 10");
	expect(&s, "who is first goes by priority alone", "high placed n1; low waiting");
}

static void PP_2_three_values(void **state)
{
	struct story s;

	(void)state;
	group_of(&s, "preemptibility: preemptible");
	expect(&s, "preemptible", goes);
	group_of(&s, "preemptibility: non-preemptible");
	expect_line(&s, "non-preemptible", stays);
	expect_why(&s, 0, "run-0", "preemptibility: it is non-preemptible: its group d/run says so");
	story_end(&s);
	group_of(&s, "preemptibility: semi-preemptible");
	expect_line(&s, "semi-preemptible: one of one is the core", stays);
	expect_why(&s, 0, "run-0", "preemptibility: core of d/run: all of it stays, with a minimum of 1");
	story_end(&s);
}

static void PP_3_and_4_the_first_source_with_a_value_decides(void **state)
{
	static const struct {
		const char *sentence, *group, *owner, *pod, *class;
		bool goes;
	} rows[] = {
		{"the group", "preemptible", "non-preemptible", "non-preemptible", "build", true},
		{"the group", "non-preemptible", "preemptible", "preemptible", "train", false},
		{"else the top owner", NULL, "preemptible", "non-preemptible", "build", true},
		{"else the top owner", NULL, "non-preemptible", "preemptible", "train", false},
		{"else the pod", NULL, NULL, "preemptible", "build", true},
		{"else the pod", NULL, NULL, "non-preemptible", "train", false},
		{"else a priority below 100", NULL, NULL, NULL, "build-preemptible", true},
		{"else a priority of 100", NULL, NULL, NULL, "build", false},
		{"a bad word in the group is none", "maybe", "preemptible", NULL, "build", true},
		{"a bad word on the owner is none", NULL, "Preemptible", "preemptible", "build", true},
		{"a bad word on the pod is none", NULL, NULL, "no", "train", true},
		{"bad words everywhere: by priority", "x", "x", "x", "build", false},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char spec[96], words[64];

		snprintf(spec, sizeof(spec), "priorityClassName: %s%s%s", rows[i].class,
			 rows[i].group ? ", preemptibility: " : "", rows[i].group ? rows[i].group : "");
		snprintf(words, sizeof(words), "owned%s%s", rows[i].pod ? " label " : "",
			 rows[i].pod ? rows[i].pod : "");
		two_queues(&s, 1);
		text_printf(&s.objects,
			    "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: own, namespace: d, uid: u, "
			    "labels: {x: y%s%s}}\n",
			    rows[i].owner ? ", kai.scheduler/preemptibility: " : "",
			    rows[i].owner ? rows[i].owner : "");
		kai_group(&s, "run", "b", 1, TIME_NONE, spec);
		kai_pod(&s, "run-0", "run", 1, "n1", words);
		want(&s, "want", 1);
		expect(&s, rows[i].sentence, rows[i].goes ? goes : stays);
	}
}

static void PP_4_bad_values_are_told(void **state)
{
	struct cluster_options options = cluster_options_default();
	struct vocab *v = vocab_new();
	struct manifest *m = manifest_new(v);
	uint32_t of_pod = 0, of_group = 0;
	struct cluster *c;
	struct story s;
	struct err e;

	(void)state;
	two_queues(&s, 1);
	kai_group(&s, "run", "b", 1, TIME_NONE, "preemptibility: sometimes");
	kai_pod(&s, "run-0", "run", 1, "n1", "label perhaps");
	story_must(manifest_read_bytes(m, "bad", text_str(&s.objects), s.objects.n, &e), &e);
	story_must(manifest_build(m, &options, &c, &e), &e);
	for (uint32_t i = 0; i < manifest_note_count(m); i++) {
		of_pod += strstr(manifest_note(m, i), "d/run-0") && strstr(manifest_note(m, i), "'perhaps'");
		of_group += strstr(manifest_note(m, i), "bad:") && strstr(manifest_note(m, i), "\"sometimes\"");
	}
	assert_int_equal(of_pod, 1);
	assert_int_equal(of_group, 1);
	cluster_free(c);
	manifest_free(m);
	vocab_free(v);
	text_free(&s.objects);
}

static void PP_5_built_in_classes_and_those_of_the_cluster(void **state)
{
	static const struct {
		const char *class;
		int32_t value;
	} rows[] = {{"train", 50}, {"build-preemptible", 75}, {"build", 100}, {"inference", 125}, {"unknown", 50}};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		for (int is_own = 0; is_own < 2; is_own++) {
			char spec[64];

			story_begin(&s);
			kai_queue(&s, "b", "", 0, "");
			snprintf(spec, sizeof(spec), "priorityClassName: %s", rows[i].class);
			kai_group(&s, "run", "b", 1, TIME_NONE, spec);
			if (is_own)
				text_printf(&s.objects,
					    "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
					    "metadata: {name: %s}\nvalue: 7\n",
					    rows[i].class);
			story_plan(&s);
			assert_int_equal(ledger_group(cluster_ledger(s.cluster), 0)->priority,
					 is_own ? 7 : rows[i].value);
			story_end(&s);
		}
	}
}

static void PP_6_the_effective_value_is_in_the_groups_status(void **state)
{
	static const struct {
		const char *spec, *status;
	} rows[] = {
		{"priorityClassName: train", "status:\n  preemptibility: preemptible\n"},
		{"priorityClassName: build", "status:\n  preemptibility: non-preemptible\n"},
		{"priorityClassName: build, preemptibility: preemptible", "status:\n  preemptibility: preemptible\n"},
		{"preemptibility: semi-preemptible", "status:\n  preemptibility: semi-preemptible\n"},
		{"priorityClassName: build, preemptibility: nonsense", "status:\n  preemptibility: non-preemptible\n"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text out = {0};
		struct emit e;

		story_begin(&s);
		kai_queue(&s, "b", "", 0, "");
		kai_group(&s, "run", "b", 1, TIME_NONE, rows[i].spec);
		story_plan(&s);
		emit_init(&e, &out, EMIT_YAML);
		manifest_write(s.cluster, &e);
		assert_non_null(strstr(text_str(&out), rows[i].status));
		text_free(&out);
		story_end(&s);
	}
}

/* ---- the four examples of the design ---- */

static void example(struct story *s, const char *group, const char *spec)
{
	two_queues(s, 1);
	text_printf(&s->objects,
		    "---\napiVersion: scheduling.kai.nvidia.com/v2alpha2\nkind: PodGroup\n"
		    "metadata: {name: %s, namespace: d}\nspec: {queue: b, minMember: 1, %s}\n",
		    group, spec);
	kai_pod(s, "run-0", group, 1, "n1", NULL);
	want(s, "want", 1);
}

static void PP_7_the_four_examples(void **state)
{
	struct story s;

	(void)state;
	example(&s, "high-priority-training", "preemptibility: \"preemptible\", priorityClassName: \"inference\"");
	expect(&s, "1: high priority, preemptible", goes);

	example(&s, "data-processing", "preemptibility: \"non-preemptible\", priorityClassName: \"train\"");
	expect_line(&s, "2: low priority, non-preemptible", stays);
	expect_why(&s, 0, "run-0", "preemptibility: it is non-preemptible: its group d/data-processing says so");
	story_end(&s);

	two_queues(&s, 1);
	text_add(&s.objects, "---\napiVersion: apps/v1\nkind: Deployment\n"
			     "metadata: {name: own, namespace: d, uid: u}\nspec: {template: {metadata: {labels: "
			     "{kai.scheduler/preemptibility: \"non-preemptible\", priorityClassName: \"train\"}}}}\n");
	kai_pod(&s, "run-0", NULL, 1, "n1", "owned queue b label non-preemptible");
	want(&s, "want", 1);
	expect_line(&s, "3: a workload from elsewhere, by its pods' label", stays);
	expect_why(&s, 0, "run-0", "preemptibility: it is non-preemptible, by a label or by its priority 50");
	story_end(&s);

	example(&s, "default-behavior-workload", "priorityClassName: \"build\"");
	expect_line(&s, "4: by priority, 100", stays);
	expect_why(&s, 0, "run-0", "preemptibility: it is non-preemptible: its priority 100 is not below 100");
	story_end(&s);
	example(&s, "default-behavior-workload", "priorityClassName: \"build-preemptible\"");
	expect(&s, "4: by priority, 75", goes);
}

/* ---- semi-preemptible ---- */

#define SEMI "preemptibility: semi-preemptible"

/* Group `train` of n pods of b, minimum 2, the first name the youngest. */
static void train(struct story *s, int n)
{
	two_queues(s, n);
	kai_group(s, "train", "b", 2, 60 * NS_PER_S, SEMI);
	for (int i = 0; i < n; i++) {
		char name[16], words[32];

		snprintf(name, sizeof(name), "t-%d", i);
		snprintf(words, sizeof(words), "age %d", 1000 + i);
		kai_pod(s, name, "train", 1, "n1", words);
	}
}

static void PP_8_the_core_stays_and_the_surplus_may_go(void **state)
{
	struct story s;

	(void)state;
	train(&s, 4);
	want(&s, "want", 1);
	expect(&s, "the youngest of the surplus", "want reclaim n1 [t-0]");
	train(&s, 4);
	want(&s, "want", 2);
	expect(&s, "all of the surplus", "want reclaim n1 [t-1 t-0]");
	train(&s, 4);
	want(&s, "want", 3);
	expect_line(&s, "not the core", stays);
	expect_why(&s, 0, "t-2", "preemptibility: core of d/train: 2 of its 4 pods stay");
	expect_why(&s, 0, "t-3", "preemptibility: core of d/train: 2 of its 4 pods stay");
	expect_why(&s, 0, "t-0", "");
	story_end(&s);
	train(&s, 2);
	want(&s, "want", 1);
	expect(&s, "as many as its minimum: all core", stays);
}

static void PP_8_many_small_claims_take_the_surplus_and_no_more(void **state)
{
	struct story s;

	(void)state;
	train(&s, 4);
	for (int i = 0; i < 4; i++) {
		char name[8];

		snprintf(name, sizeof(name), "w%d", i);
		want(&s, name, 1);
	}
	s.cycles = 3;
	story_plan(&s);
	assert_int_equal(s.plan.victims, 2);
	for (uint32_t i = 0; i < s.plan.v.n; i++)
		for (uint32_t k = 0; k < s.plan.v.v[i].n_victims; k++)
			assert_true(s.plan.v.v[i].victims[k].pod < 2); /* t-0 and t-1 */
	story_end(&s);
}

static void PP_8_who_comes_later_is_behind_the_core(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, 3);
	kai_group(&s, "train", "b", 1, 3600 * NS_PER_S, SEMI);
	kai_pod(&s, "z", "train", 1, "n1", "age 500 created 600");
	kai_pod(&s, "a", "train", 1, "n1", "age 100 created 9000");
	kai_pod(&s, "other", NULL, 1, "n1", "queue a");
	want(&s, "want", 1);
	expect(&s, "made earlier but started later", "want reclaim n1 [a]");

	two_queues(&s, 3);
	kai_group(&s, "train", "b", 1, 3600 * NS_PER_S, SEMI);
	kai_pod(&s, "z", "train", 1, "n1", "age 500 created 600");
	kai_pod(&s, "a", "train", 1, "n1", "age 500 created 700");
	kai_pod(&s, "other", NULL, 1, "n1", "queue a");
	want(&s, "want", 1);
	expect(&s, "started together: the earlier made is core", "want reclaim n1 [z]");

	two_queues(&s, 2);
	kai_group(&s, "train", "b", 1, 3600 * NS_PER_S, SEMI);
	kai_pod(&s, "z", "train", 1, "n1", "age 500");
	kai_pod(&s, "a", "train", 1, "n1", "age 500");
	want(&s, "want", 1);
	expect(&s, "and made together: by name", "want reclaim n1 [z]");

	two_queues(&s, 3);
	kai_group(&s, "train", "b", 1, 3600 * NS_PER_S, SEMI);
	kai_pod(&s, "z", "train", 1, "n1", "age 500 created 600");
	kai_pod(&s, "a", "train", 1, NULL, "created 9000");
	kai_group(&s, "new", "a", 1, TIME_NONE, TOP);
	kai_pod(&s, "big", "new", 3, NULL, "age 60");
	s.cycles = 2;
	expect_line(&s, "placed a moment ago", "big waiting; a placed n1; big waiting");
	expect_why(&s, 2, "z", "preemptibility: core of d/train: 1 of its 2 pods stays");
	expect_why(&s, 2, "a", "");
	story_end(&s);
}

static void PP_8_a_core_pod_that_leaves_is_replaced(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, 3);
	kai_group(&s, "train", "b", 1, TIME_NONE, SEMI);
	kai_pod(&s, "t-0", "train", 1, "n1", "age 900 leaving");
	kai_pod(&s, "t-1", "train", 1, "n1", "age 800");
	kai_pod(&s, "t-2", "train", 1, "n1", "age 700");
	want(&s, "want", 2);
	expect(&s, "the next oldest is core", "want reclaim n1 [t-2]");
}

static enum rule_answer asked(const struct story *s, struct judge_scratch *scratch, pod_id waiting, pod_id victim)
{
	struct rule_settings settings = {.profile = PROFILE_DEFAULT};
	struct judge j;

	judge_init(&j, s->cluster, cluster_ledger(s->cluster), &settings, ACTION_REQUIRED_NODE, waiting, STORY_NOW_NS,
		   scratch);
	return (enum rule_answer)judge_victim(&j, victim).answer;
}

static void PP_8_the_next_decision_asks_again_who_is_core(void **state)
{
	struct judge_scratch scratch = {0};
	struct story s;

	(void)state;
	train(&s, 3);
	want(&s, "want", 1);
	story_load(&s);
	s.plan.arena = arena_new(64);
	assert_int_equal(asked(&s, &scratch, 3, 0), MAY_GO);
	assert_int_equal(asked(&s, &scratch, 3, 2), IS_PROTECTED);
	ledger_evict(cluster_ledger(s.cluster), 2);
	assert_int_equal(asked(&s, &scratch, 3, 0), IS_PROTECTED);
	judge_scratch_free(&scratch);
	story_end(&s);
}

static void PP_8_each_sub_group_has_its_core(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, 4);
	kai_group(&s, "train", "b", 1, TIME_NONE,
		  SEMI ", subGroups: [{name: head, minMember: 1}, {name: work, minMember: 1}]");
	kai_pod(&s, "head-0", "train", 1, "n1", "age 10 podset head");
	kai_pod(&s, "work-0", "train", 1, "n1", "age 900 podset work");
	kai_pod(&s, "work-1", "train", 1, "n1", "age 800 podset work");
	kai_pod(&s, "work-2", "train", 1, "n1", "age 700 podset work");
	want(&s, "want", 3);
	expect_line(&s, "two workers are surplus", stays);
	expect_why(&s, 0, "head-0", "preemptibility: core of d/train (head): all of it stays, with a minimum of 1");
	expect_why(&s, 0, "work-0", "preemptibility: core of d/train (work): 1 of its 3 pods stays");
	story_end(&s);
}

static void PP_8_a_pod_on_its_own_is_all_core(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, 1);
	kai_pod(&s, "run-0", NULL, 1, "n1", "queue b label semi-preemptible");
	want(&s, "want", 1);
	expect_line(&s, "nothing of it is surplus", stays);
	expect_why(&s, 0, "run-0", "preemptibility: it is semi-preemptible and on its own: all of it is core");
	story_end(&s);
}

static void PP_8_inside_the_own_queue_too(void **state)
{
	struct story s;

	(void)state;
	train(&s, 4);
	kai_group(&s, "new", "b", 1, TIME_NONE, "priorityClassName: build-preemptible");
	kai_pod(&s, "w", "new", 2, NULL, "age 60");
	kai_group(&s, "new2", "b", 1, TIME_NONE, "priorityClassName: build-preemptible");
	kai_pod(&s, "w2", "new2", 1, NULL, "age 50");
	expect(&s, "preempt", "w preempt n1 [t-1 t-0]; w2 waiting");
}

/* ---- whose world ---- */

static void PP_9_the_fallback_by_priority_is_for_kais_world(void **state)
{
	static const struct {
		const char *sentence, *config, *words;
		bool is_kai, goes;
	} rows[] = {
		{"a plain pod", NULL, "priority 1000", false, true},
		{"a plain pod that says it", NULL, "priority 1000 label non-preemptible", false, false},
		{"a pod in a KAI queue", NULL, "priority 1000", true, false},
		{"a pod in a KAI queue below the threshold", NULL, "priority 99", true, true},
		{"another threshold", "rules: {preemptibility: {threshold: 2000}}", "priority 1000", true, true},
		{"reach all", "rules: {preemptibility: {reach: all}}", "priority 1000", false, false},
		{"reach off", "rules: {preemptibility: {reach: off}}", "priority 1000", true, true},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char words[96];

		story_begin(&s);
		s.config = rows[i].config;
		kai_queue(&s, "a", "", 100, "");
		if (rows[i].is_kai)
			kai_queue(&s, "b", "", 0, "");
		else
			text_add(&s.objects, "---\npartitions:\n- name: default\n  queues:\n  - name: root\n"
					     "    queues:\n    - name: b\n");
		kai_node(&s, "n1", 1);
		snprintf(words, sizeof(words), "queue b %s", rows[i].words);
		kai_pod(&s, "run-0", NULL, 1, "n1", words);
		kai_pod(&s, "want", NULL, 1, NULL, "queue a priority 5000");
		expect(&s, rows[i].sentence, rows[i].goes ? goes : stays);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(PP_1_priority_orders_and_preemptibility_interrupts),
		cmocka_unit_test(PP_2_three_values),
		cmocka_unit_test(PP_3_and_4_the_first_source_with_a_value_decides),
		cmocka_unit_test(PP_4_bad_values_are_told),
		cmocka_unit_test(PP_5_built_in_classes_and_those_of_the_cluster),
		cmocka_unit_test(PP_6_the_effective_value_is_in_the_groups_status),
		cmocka_unit_test(PP_7_the_four_examples),
		cmocka_unit_test(PP_8_the_core_stays_and_the_surplus_may_go),
		cmocka_unit_test(PP_8_many_small_claims_take_the_surplus_and_no_more),
		cmocka_unit_test(PP_8_who_comes_later_is_behind_the_core),
		cmocka_unit_test(PP_8_a_core_pod_that_leaves_is_replaced),
		cmocka_unit_test(PP_8_the_next_decision_asks_again_who_is_core),
		cmocka_unit_test(PP_8_each_sub_group_has_its_core),
		cmocka_unit_test(PP_8_a_pod_on_its_own_is_all_core),
		cmocka_unit_test(PP_8_inside_the_own_queue_too),
		cmocka_unit_test(PP_9_the_fallback_by_priority_is_for_kais_world),
	};

	return cmocka_run_group_tests_name("pp", tests, NULL, NULL);
}
