/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules that are judged over all who go, so that test_rule_actions.c cannot ask them of one pod: budgets in profile
 * kubernetes, fair shares in profile kai; MR-10 for Kubernetes' own groups; and what earlier decisions have used.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/kai_story.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define HOUR (3600 * NS_PER_S)

/* ---- budgets in profile kubernetes ---- */

static void KF_5_a_budget_spares_whom_it_covers_while_others_can_go(void **state)
{
	static const struct {
		const char *sentence;
		int allowed;
		const char *other; /* of the pod that no budget covers; NULL: there is none */
		const char *line;
		enum rule_id overridden; /* of the first victim */
	} rows[] = {
		{"the covered pod stays, though it is less important", 0, "priority 5", "want displace n1 [other]",
		 RULE_NONE},
		{"a budget with room spares nobody", 1, "priority 5", "want displace n1 [covered]", RULE_NONE},
		{"where nobody else can go it goes, and that is told", 0, NULL, "want displace n1 [covered]",
		 RULE_BUDGET},
		{"nor does it help that the other is as important as who wants room", 0, "priority 9",
		 "want displace n1 [covered]", RULE_BUDGET},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct story s;

		story_begin(&s);
		s.profile = PROFILE_KUBERNETES;
		story_node(&s, "n1", rows[i].other ? 4 : 2);
		story_budget(&s, "b", rows[i].allowed);
		story_pod(&s, "covered", NULL, 2, "n1", "budget b");
		if (rows[i].other)
			story_pod(&s, "other", NULL, 2, "n1", rows[i].other);
		story_pod(&s, "want", NULL, 2, NULL, "priority 9");
		expect_line(&s, rows[i].sentence, rows[i].line);
		if (s.plan.v.v[0].victims[0].overridden != rows[i].overridden)
			fail_msg("%s: overridden %s", rows[i].sentence, rule_text(s.plan.v.v[0].victims[0].overridden));
		story_end(&s);
	}
}

/* Where there are more than a few, what they allow at least is kept. */
static void of_many_budgets_every_one_counts(void **state)
{
	static const struct {
		const char *sentence;
		int tight, allowed; /* which of them allows so many; the others allow five */
		const char *line;
	} rows[] = {
		{"all of them allow it", -1, 0, "want reclaim n1 [covered]"},
		{"the first does not", 0, 0, "want waiting"},
		{"one in the middle does not", 7, 0, "want waiting"},
		{"the last does not", 19, 0, "want waiting"},
		{"one is enough", 7, 1, "want reclaim n1 [covered]"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct story s;

		story_begin(&s);
		story_queue(&s, "root.a", "guaranteed 2 delay 1s");
		story_queue(&s, "root.b", NULL);
		story_node(&s, "n1", 2);
		for (int k = 0; k < 20; k++)
			text_printf(&s.objects,
				    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\n"
				    "metadata: {name: b%d, namespace: d}\nspec: {selector: {matchLabels: {x: y}}}\n"
				    "status: {disruptionsAllowed: %d}\n",
				    k, k == rows[i].tight ? rows[i].allowed : 5);
		story_pod(&s, "covered", "root.b", 2, "n1", NULL);
		story_pod(&s, "want", "root.a", 2, NULL, NULL);
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

/* ---- what earlier decisions have used ---- */

static void budgets_and_rates_count_what_earlier_decisions_took(void **state)
{
	static const struct {
		const char *sentence;
		int allowed;
		const char *config, *words, *line; /* words: of the second pod */
	} rows[] = {
		{"of two disruptions one is left, which is not enough for two victims", 2, NULL, "priority 3",
		 "one reclaim n1 [t3]; two waiting"},
		{"nor where filters look at pods, and those on their way out are taken off the node", 2, NULL,
		 "priority 3 picky", "one reclaim n1 [t3]; two waiting"},
		{"three are enough", 3, NULL, "priority 3 picky", "one reclaim n1 [t3]; two reclaim n1 [t1 t2]"},
		{"the same of an hour's allowance", 9, "rules: {eviction-rate: {perHour: 2}}", "priority 3",
		 "one reclaim n1 [t3]; two waiting"},
		{"and where filters look at pods", 9, "rules: {eviction-rate: {perHour: 2}}", "priority 3 picky",
		 "one reclaim n1 [t3]; two waiting"},
		{"three are enough there too", 9, "rules: {eviction-rate: {perHour: 3}}", "priority 3 picky",
		 "one reclaim n1 [t3]; two reclaim n1 [t1 t2]"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct story s;

		story_begin(&s);
		s.config = rows[i].config;
		story_queue(&s, "root.prod", "guaranteed 8");
		story_queue(&s, "root.test", NULL);
		story_node(&s, "n1", 8);
		story_budget(&s, "b", rows[i].allowed);
		story_pod(&s, "t0", "root.test", 2, "n1", "budget b age 400");
		story_pod(&s, "t1", "root.test", 2, "n1", "budget b age 300");
		story_pod(&s, "t2", "root.test", 2, "n1", "budget b age 200");
		story_pod(&s, "t3", "root.test", 2, "n1", "budget b age 100");
		story_pod(&s, "one", "root.prod", 2, NULL, "priority 5");
		story_pod(&s, "two", "root.prod", 4, NULL, rows[i].words);
		expect_line(&s, rows[i].sentence, rows[i].line);
		story_end(&s);
	}
}

static void GQ_11_each_victim_says_whose_wish_was_overridden(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	story_queue(&s, "root.prod", "guaranteed 8");
	story_queue(&s, "root.test", NULL);
	story_node(&s, "n1", 6);
	story_pod(&s, "t0", "root.test", 2, "n1", "age 300");
	story_pod(&s, "t1", "root.test", 2, "n1", "age 200 opted-out");
	story_pod(&s, "t2", "root.test", 2, "n1", "age 100 opted-out");
	story_pod(&s, "want", "root.prod", 6, NULL, "priority 5");
	expect_line(&s, "all three have to go, those who opted out last", "want reclaim n1 [t1 t2 t0]");
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(s.plan.v.v[0].victims[i].overridden, i < 2 ? RULE_OPT_OUT : RULE_NONE);
	story_end(&s);
}

/* ---- fair shares in profile kai ---- */

/* a and b divide four GPUs; b runs so many single ones, a wants so many. */
static void shares(struct story *s, int quota_a, int quota_b, int runs, int wants)
{
	story_begin(s);
	s->profile = PROFILE_KAI;
	kai_queue(s, "a", "", quota_a, "");
	kai_queue(s, "b", "", quota_b, "");
	kai_node(s, "n1", 4);
	for (int i = 0; i < runs; i++) {
		char name[16];

		snprintf(name, sizeof(name), "b%d", i);
		kai_group(s, name, "b", 1, 2 * HOUR, NULL);
		kai_pod(s, name, name, 1, "n1", i % 2 ? "age 100" : "age 200");
	}
	kai_group(s, "want", "a", 1, TIME_NONE, NULL);
	kai_pod(s, "want", "want", wants, NULL, "age 60");
}

static void PP_7_reclaim_takes_what_is_above_a_fair_share_and_no_more(void **state)
{
	static const struct {
		const char *sentence;
		int quota_a, quota_b, runs, wants;
		const char *line;
	} rows[] = {
		{"b runs two above its share: one goes", 2, 2, 4, 1, "want reclaim n1 [b3]"},
		{"two go", 2, 2, 4, 2, "want reclaim n1 [b3 b2]"},
		{"three would be more than a's own share", 2, 2, 4, 3, "want waiting"},
		{"b is within its share", 0, 4, 4, 1, "want waiting"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct story s;

		shares(&s, rows[i].quota_a, rows[i].quota_b, rows[i].runs, rows[i].wants);
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

/* ---- Kubernetes' groups ---- */

static void kube_group(struct story *s, int min, int n, const char *started)
{
	text_printf(&s->objects,
		    "---\napiVersion: scheduling.k8s.io/v1alpha2\nkind: PodGroup\nmetadata: {namespace: d, name: g}\n"
		    "spec: {schedulingPolicy: {gang: {minCount: %d}}}\n",
		    min);
	for (int i = 0; i < n; i++)
		text_printf(
			&s->objects,
			"---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: d, name: g-%d, labels: "
			"{kai.scheduler/queue: b}, creationTimestamp: \"2027-01-15T05:00:00Z\"}\n"
			"spec: {nodeName: n1, schedulingGroup: {podGroupName: g}, containers: [{name: c, resources: "
			"{requests: {" KAI_GPU_TYPE ": \"1\"}}}]}\nstatus: {phase: Running, startTime: \"%s\"}\n",
			i, started);
}

static void MR_10_kubernetes_groups_keep_their_minimum_while_the_window_runs(void **state)
{
	static const char young[] = "2027-01-15T07:59:00Z", old[] = "2027-01-15T06:00:00Z";
	static const struct {
		const char *sentence;
		int min, gpus, n_claims;
		const char *started, *line, *why; /* why: of g-0; NULL: nobody asks */
	} rows[] = {
		{"the surplus goes", 2, 2, 1, young, "w0 reclaim n1 [g-2 g-3]", NULL},
		{"one more than the surplus does not", 2, 3, 1, young, "w0 waiting",
		 "min-runtime: protected until 08:59:00 by root.b: reclaim 1h, runs 1m; d/g has 4 pods and keeps 2"},
		{"three small claims take no more than one", 2, 1, 3, young,
		 "w0 reclaim n1 [g-3]; w1 reclaim n1 [g-2]; w2 waiting", NULL},
		{"a group without surplus stays whole", 4, 1, 1, young, "w0 waiting",
		 "min-runtime: protected until 08:59:00 by root.b: reclaim 1h, runs 1m"},
		{"after the window all of it goes", 2, 3, 1, old, "w0 reclaim n1 [g-0 g-1 g-2 g-3]", NULL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct story s;

		story_begin(&s);
		kai_queue(&s, "a", "", 100, "");
		kai_queue(&s, "b", "", 0, "reclaim 1h preempt 1h");
		kai_node(&s, "n1", 4);
		kube_group(&s, rows[i].min, 4, rows[i].started);
		for (int k = 0; k < rows[i].n_claims; k++) {
			char name[16];

			snprintf(name, sizeof(name), "w%d", k);
			kai_pod(&s, name, NULL, rows[i].gpus, NULL, "age 60 queue a priority 75");
		}
		expect_line(&s, rows[i].sentence, rows[i].line);
		if (rows[i].why)
			expect_why(&s, 0, "g-0", rows[i].why);
		story_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(KF_5_a_budget_spares_whom_it_covers_while_others_can_go),
		cmocka_unit_test(GQ_11_each_victim_says_whose_wish_was_overridden),
		cmocka_unit_test(of_many_budgets_every_one_counts),
		cmocka_unit_test(budgets_and_rates_count_what_earlier_decisions_took),
		cmocka_unit_test(PP_7_reclaim_takes_what_is_above_a_fair_share_and_no_more),
		cmocka_unit_test(MR_10_kubernetes_groups_keep_their_minimum_while_the_window_runs),
	};

	return cmocka_run_group_tests_name("rule_sets", tests, NULL, NULL);
}
