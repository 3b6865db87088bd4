/* SPDX-License-Identifier: Apache-2.0 */
/* Profile kai: minimum runtimes, preemptibility and the scenario search, each promise with the smallest cluster. */
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

static void begin(struct story *s)
{
	story_begin(s);
	s->profile = PROFILE_KAI;
}

/* Queue a is owed what it wants, b owns nothing and runs on what is over. */
static void two_queues(struct story *s, const char *b_words)
{
	begin(s);
	kai_queue(s, "a", "", 100, "");
	kai_queue(s, "b", "", 0, b_words);
}

/* n pods of one GPU in a group of b on one node. */
static void group_of(struct story *s, const char *name, int n, int min, int64_t ago_ns, const char *node,
		     const char *spec)
{
	kai_group(s, name, "b", min, ago_ns, spec);
	for (int i = 0; i < n; i++) {
		char pod[32];

		snprintf(pod, sizeof(pod), "%s-%d", name, i);
		kai_pod(s, pod, name, 1, node, "age 60");
	}
}

static void claims(struct story *s, const char *queue, int n, int gpus)
{
	for (int i = 0; i < n; i++) {
		char group[16], pod[16];

		snprintf(group, sizeof(group), "new%d", i);
		snprintf(pod, sizeof(pod), "w%d", i);
		kai_group(s, group, queue, 1, TIME_NONE, HIGH);
		kai_pod(s, pod, group, gpus, NULL, "age 30");
	}
}

static uint32_t n_victims(const struct story *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->plan.v.n; i++)
		n += s->plan.v.v[i].n_victims;
	return n;
}

static bool goes(const struct story *s, const char *pod)
{
	for (uint32_t i = 0; i < s->plan.v.n; i++)
		for (uint32_t k = 0; k < s->plan.v.v[i].n_victims; k++)
			if (str_eq(story_name(s, s->plan.v.v[i].victims[k].pod), pod))
				return true;
	return false;
}

static void expect_victims(struct story *s, const char *sentence, uint32_t n)
{
	story_plan(s);
	if (n_victims(s) != n)
		print_error("%s\n", sentence);
	assert_int_equal(n_victims(s), n);
	story_end(s);
}

/* ---- windows ---- */

static void MR_1_before_its_window_has_passed_work_stays_and_at_it_it_may_go(void **state)
{
	static const struct {
		const char *sentence, *words, *queue;
		int64_t ago;
		const char *line;
	} rows[] = {
		{"reclaim: one nanosecond before", "reclaim 10m", "a", 10 * MINUTE - 1, "w0 waiting"},
		{"reclaim: at the window", "reclaim 10m", "a", 10 * MINUTE, "w0 reclaim n1 [run-0]"},
		{"reclaim does not look at the preempt window", "preempt 10m", "a", 5 * MINUTE,
		 "w0 reclaim n1 [run-0]"},
		{"preempt: one nanosecond before", "preempt 10m", "b", 10 * MINUTE - 1, "w0 waiting"},
		{"preempt: at the window", "preempt 10m", "b", 10 * MINUTE, "w0 preempt n1 [run-0]"},
		{"preempt does not look at the reclaim window", "reclaim 10m", "b", 5 * MINUTE,
		 "w0 preempt n1 [run-0]"},
		{"no window", "", "a", 0, "w0 reclaim n1 [run-0]"},
		{"an explicit 0s", "reclaim 0s", "a", 0, "w0 reclaim n1 [run-0]"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		two_queues(&s, rows[i].words);
		kai_node(&s, "n1", 1);
		group_of(&s, "run", 1, 1, rows[i].ago, "n1", NULL);
		claims(&s, rows[i].queue, 1, 1);
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

/* Two departments; `run` of b under d1 is five minutes old; who asks is its sibling, a cousin or of another tree. */
static void departments(struct story *s, const char *d1, const char *b, const char *asks)
{
	begin(s);
	kai_queue(s, "top", "", 0, "");
	kai_queue(s, "d1", "top", 0, d1);
	kai_queue(s, "d2", "top", 50, "");
	kai_queue(s, "b", "d1", 0, b);
	kai_queue(s, "sibling", "d1", 50, "");
	kai_queue(s, "cousin", "d2", 50, "");
	kai_queue(s, "other", "", 50, "");
	kai_node(s, "n1", 1);
	group_of(s, "run", 1, 1, 5 * MINUTE, "n1", NULL);
	claims(s, asks, 1, 1);
}

#define METHOD(m)                                                                                                   \
	"---\nactions: \"allocate, reclaim\"\ntiers:\n- plugins:\n  - {name: predicates}\n  - {name: proportion}\n" \
	"  - {name: minruntime, arguments: {reclaimResolveMethod: " m "}}\n"

static void MR_5_and_6_the_queues_between_decide_which_window(void **state)
{
	static const char stays[] = "w0 waiting", gone[] = "w0 reclaim n1 [run-0]";
	static const struct {
		const char *sentence, *method, *d1, *b, *asks, *line;
	} rows[] = {
		{"lca: a sibling asks the leaf", METHOD("lca"), "", "reclaim 10m", "sibling", stays},
		{"lca: and not the parent, where the leaf says 0s", METHOD("lca"), "reclaim 10m", "reclaim 0s",
		 "sibling", gone},
		{"lca: a cousin asks the department", METHOD("lca"), "reclaim 10m", "reclaim 0s", "cousin", stays},
		{"lca: and not the leaf", METHOD("lca"), "", "reclaim 10m", "cousin", gone},
		{"lca: another tree asks the top", METHOD("lca"), "reclaim 10m", "reclaim 10m", "other", gone},
		{"queue: a cousin asks the leaf", METHOD("queue"), "", "reclaim 10m", "cousin", stays},
		{"queue: whose 0s is a value", METHOD("queue"), "reclaim 10m", "reclaim 0s", "cousin", gone},
		{"queue: another tree too", METHOD("queue"), "reclaim 10m", "", "other", stays},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		departments(&s, rows[i].d1, rows[i].b, rows[i].asks);
		text_add(&s.objects, rows[i].method);
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

static void manifests(const struct story *s, struct text *out)
{
	struct emit e;

	emit_init(&e, out, EMIT_YAML);
	manifest_write(s->cluster, &e);
}

static void expect_manifest(const struct story *s, const char *words, bool is_there)
{
	struct text out = {0};

	manifests(s, &out);
	if ((strstr(text_str(&out), words) != NULL) != is_there)
		fail_msg("%s \"%s\" in:\n%s", is_there ? "no" : "there is", words, text_str(&out));
	text_free(&out);
}

#define STAMP_NOW "    kai.scheduler/last-start-timestamp: \"2027-01-15T08:00:00Z\"\n"
#define STAMP_BEFORE "    kai.scheduler/last-start-timestamp: \"2027-01-15T07:00:00Z\"\n"

static void MR_8_start_is_stamped_when_nothing_of_the_group_had_a_place(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "");
	kai_node(&s, "n1", 2);
	group_of(&s, "new", 2, 2, TIME_NONE, NULL, NULL);
	expect_line(&s, "a gang is placed", "new-0 placed n1; new-1 placed n1");
	expect_manifest(&s, STAMP_NOW, true);
	story_end(&s);

	two_queues(&s, "");
	kai_node(&s, "n1", 2);
	group_of(&s, "el", 1, 1, HOUR, "n1", NULL);
	kai_pod(&s, "more", "el", 1, NULL, "age 10");
	expect_line(&s, "growing does not start the clock again", "more placed n1");
	expect_manifest(&s, STAMP_BEFORE, true);
	expect_manifest(&s, STAMP_NOW, false);
	story_end(&s);

	two_queues(&s, "");
	kai_node(&s, "n1", 2);
	group_of(&s, "back", 2, 1, HOUR, NULL, NULL);
	expect_line(&s, "coming back does", "back-0 placed n1; back-1 placed n1");
	expect_manifest(&s, STAMP_NOW, true);
	story_end(&s);

	two_queues(&s, "");
	kai_node(&s, "n1", 1);
	group_of(&s, "run", 1, 1, HOUR, "n1", NULL);
	claims(&s, "a", 1, 1);
	expect_line(&s, "to be nominated is not to start", "w0 reclaim n1 [run-0]");
	expect_manifest(&s, STAMP_NOW, false);
	story_end(&s);
}

/* Who got his place in this cycle is inside his window for the rest of it, and in the next. */
static void MR_8_what_was_placed_a_moment_ago_is_inside_its_window(void **state)
{
	struct story s;

	(void)state;
	for (uint32_t cycles = 1; cycles <= 3; cycles++) {
		begin(&s);
		kai_queue(&s, "b", "", 0, "preempt 10m");
		kai_node(&s, "n1", 1);
		text_add(&s.objects, "---\nactions: \"preempt, allocate\"\n");
		kai_group(&s, "big", "b", 1, TIME_NONE, HIGH);
		kai_pod(&s, "big-0", "big", 2, NULL, "age 60"); /* never fits */
		group_of(&s, "low", 1, 1, TIME_NONE, NULL, NULL);
		s.cycles = cycles;
		story_plan(&s);
		assert_int_equal(n_victims(&s), 0);
		story_end(&s);
	}
}

/* ---- elastic groups ---- */

static void MR_10_many_small_claims_take_no_more_than_one_big_one(void **state)
{
	static const struct {
		const char *sentence;
		int n_claims, gpus;
		uint32_t victims;
	} rows[] = {
		{"one claim for one more than the surplus takes nothing", 1, 5, 0},
		{"one claim for the surplus takes it", 1, 4, 4},
		{"eight small claims take no more than that", 8, 1, 4},
		{"nor two big ones", 2, 4, 4},
		{"two of three: the second finds one too few", 2, 3, 3},
	};
	static const char *const queues[] = {"a", "b"};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		for (size_t k = 0; k < 2; k++)
			for (uint32_t cycles = 1; cycles <= 4; cycles += 3) {
				two_queues(&s, "reclaim 1h preempt 1h");
				kai_node(&s, "n1", 8);
				group_of(&s, "el", 8, 4, MINUTE, "n1", NULL);
				claims(&s, queues[k], rows[i].n_claims, rows[i].gpus);
				s.cycles = cycles;
				expect_victims(&s, rows[i].sentence, rows[i].victims);
			}
}

static void MR_10_each_sub_group_keeps_its_own_minimum(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "reclaim 1h");
	kai_node(&s, "n1", 6);
	kai_group(&s, "el", "b", 1, MINUTE, "subGroups: [{name: head, minMember: 1}, {name: work, minMember: 2}]");
	for (int i = 0; i < 6; i++) {
		char name[16];

		snprintf(name, sizeof(name), "el-%d", i);
		kai_pod(&s, name, "el", 1, "n1", i < 2 ? "age 60 podset head" : "age 60 podset work");
	}
	claims(&s, "a", 6, 1);
	story_plan(&s);
	assert_int_equal(n_victims(&s), 3);
	assert_false(goes(&s, "el-0"));
	assert_true(goes(&s, "el-1"));
	assert_false(goes(&s, "el-2"));
	assert_false(goes(&s, "el-3"));
	story_end(&s);
}

/* Whose set comes first by name gets the first node, however the group was written. */
static void PP_8_sets_of_sub_groups_are_filled_by_name(void **state)
{
	static const struct {
		const char *sentence, *sub_groups;
	} rows[] = {
		{"as written", "subGroups: [{name: aa}, {name: zz}, {name: one, parent: aa, minMember: 1}, {name: two, "
			       "parent: zz, minMember: 1}]"},
		{"written the other way round",
		 "subGroups: [{name: zz}, {name: aa}, {name: two, parent: zz, minMember: 1}, {name: one, parent: aa, "
		 "minMember: 1}]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct story s;

		two_queues(&s, "");
		kai_node(&s, "n1", 1);
		kai_node(&s, "n2", 1);
		kai_group(&s, "g", "a", 2, TIME_NONE, rows[i].sub_groups);
		kai_pod(&s, "of-two", "g", 1, NULL, "age 60 podset two");
		kai_pod(&s, "of-one", "g", 1, NULL, "age 60 podset one");
		expect(&s, rows[i].sentence, "of-one placed n1; of-two placed n2");
	}
}

/*
 * A member that waits is nominated to room that is being freed: that is not yet a pod that runs in the place of
 * another.
 */
static void MR_10_who_is_nominated_to_a_node_does_not_count_as_staying(void **state)
{
	static const struct {
		const char *sentence;
		int min, gpus;
		uint32_t victims;
	} rows[] = {
		{"three of four have to run on", 3, 2, 0},
		{"two of four have to", 2, 2, 2},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		two_queues(&s, "preempt 1h");
		kai_node(&s, "n1", 4);
		kai_node(&s, "n2", 1);
		kai_group(&s, "gone", "b", 1, HOUR, NULL);
		kai_pod(&s, "gone-0", "gone", 1, "n2", "leaving");
		group_of(&s, "el", 4, rows[i].min, MINUTE, "n1", NULL);
		kai_pod(&s, "el-w", "el", 1, NULL, "age 9000");
		claims(&s, "b", 1, rows[i].gpus);
		expect_victims(&s, rows[i].sentence, rows[i].victims);
	}
}

/* What may not go does not stand in the way of what may: KAI takes the core as a candidate and refuses all after it. */
static void MR_10_a_protected_group_does_not_hide_those_behind_it(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "reclaim 1h");
	kai_node(&s, "n1", 2);
	kai_node(&s, "n2", 2);
	kai_group(&s, "old", "b", 2, 2 * HOUR, HIGH);
	kai_pod(&s, "old-0", "old", 1, "n2", "age 7200");
	kai_pod(&s, "old-1", "old", 1, "n2", "age 7200");
	group_of(&s, "el", 2, 1, MINUTE, "n1", NULL);
	claims(&s, "a", 1, 2);
	expect(&s, "the surplus of el is not enough, its core stays, old goes", "w0 reclaim n2 [old-1 old-0]");
}

/* Both searches have found somebody who stays, and who waits is told of both; those like it of the same. */
static void MR_11_who_waits_is_told_who_stayed_in_either_search(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	kai_queue(&s, "a", "", 100, "preempt 1h");
	kai_queue(&s, "b", "", 0, "reclaim 30m");
	kai_node(&s, "n1", 2);
	group_of(&s, "theirs", 1, 1, MINUTE, "n1", NULL);
	kai_group(&s, "ours", "a", 1, MINUTE, NULL);
	kai_pod(&s, "ours-0", "ours", 1, "n1", "age 60");
	claims(&s, "a", 2, 1);
	expect_line(&s, "both windows run", "w0 waiting; w1 waiting");
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(s.plan.v.v[i].n_protected, 2);
		expect_why(&s, i, "theirs-0", "min-runtime: protected until 08:29:00 by root.b: reclaim 30m, runs 1m");
		expect_why(&s, i, "ours-0", "min-runtime: protected until 08:59:00 by root.a: preempt 1h, runs 1m");
	}
	story_end(&s);
}

/* One of the two might go, and one is not enough. */
static void who_would_have_gone_beyond_a_fair_share_is_told_of(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	kai_queue(&s, "a", "", 2, "");
	kai_queue(&s, "b", "", 2, "");
	kai_node(&s, "n1", 2);
	kai_node(&s, "n2", 1);
	group_of(&s, "x", 1, 1, HOUR, "n1", NULL);
	group_of(&s, "y", 1, 1, HOUR, "n1", NULL);
	group_of(&s, "z", 1, 1, HOUR, "n2", "preemptibility: non-preemptible");
	kai_group(&s, "new", "a", 1, TIME_NONE, NULL);
	kai_pod(&s, "w", "new", 2, NULL, "age 30");
	expect_line(&s, "b has one above its share, and two would have to go", "w waiting");
	for (int i = 0; i < 2; i++)
		expect_why(&s, 0, i ? "x-0" : "y-0",
			   "fair-share: root.b uses 2 of its fair share of 2 nvidia.com/gpu, which is not above it");
	story_end(&s);
}

static void MR_8_a_group_that_gets_its_place_starts_now(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	kai_queue(&s, "a", "", 2, "");
	kai_node(&s, "n1", 2);
	kai_group(&s, "new", "a", 1, 2 * HOUR, NULL); /* the last time */
	kai_pod(&s, "w", "new", 2, NULL, "age 30");
	expect_line(&s, "there is room", "w placed n1");
	assert_int_equal(ledger_group(cluster_ledger(s.cluster), 0)->started_ns, STORY_NOW_NS);
	story_end(&s);
}

static void MR_11_a_rule_refuses_a_scenario_as_a_whole(void **state)
{
	static const char *const queues[] = {"a", "b"};
	struct story s;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		two_queues(&s, "reclaim 1h preempt 1h");
		kai_node(&s, "n1", 4);
		group_of(&s, "el", 4, 2, MINUTE, "n1", NULL);
		claims(&s, queues[i], 1, 3);
		expect_victims(&s, "two of the three would be allowed, and none of them goes", 0);
	}
	begin(&s);
	kai_queue(&s, "a", "", 1, "");
	kai_queue(&s, "b", "", 1, "");
	kai_node(&s, "n1", 2);
	group_of(&s, "run", 2, 2, HOUR, "n1", NULL);
	claims(&s, "a", 1, 1);
	expect_victims(&s, "fair shares: from above its share a gang may go", 2);
	begin(&s);
	kai_queue(&s, "a", "", 1, "");
	kai_queue(&s, "b", "", 2, "");
	kai_node(&s, "n1", 2);
	group_of(&s, "run", 2, 2, HOUR, "n1", NULL);
	claims(&s, "a", 1, 1);
	expect_victims(&s, "and from within it not", 0);
}

/* ---- consolidation ---- */

/* Two nodes of two with one pod on each: a pod of two fits once one of them has moved. */
static void halves(struct story *s, const char *words, int64_t ago_1, int64_t ago_2)
{
	begin(s);
	kai_queue(s, "b", "", 4, words);
	kai_node(s, "n1", 2);
	kai_node(s, "n2", 2);
	group_of(s, "x", 1, 1, ago_1, "n1", NULL);
	group_of(s, "y", 1, 1, ago_2, "n2", NULL);
	kai_group(s, "want", "b", 1, TIME_NONE, NULL);
	kai_pod(s, "want-0", "want", 2, NULL, "age 10");
}

static void MR_14_consolidation_moves_nothing_inside_a_window(void **state)
{
	static const struct {
		const char *sentence, *words, *config;
		int64_t ago_1, ago_2;
		const char *line;
	} rows[] = {
		{"no window: the one that goes first moves", "", NULL, HOUR, HOUR,
		 "want-0 consolidate n2 [y-0]; y-0 consolidate n1"},
		{"inside the preempt window neither moves", "preempt 2h", NULL, HOUR, HOUR, "want-0 waiting"},
		{"nor inside the reclaim window", "reclaim 2h", NULL, HOUR, HOUR, "want-0 waiting"},
		{"only the other may move", "reclaim 2h", NULL, 2 * HOUR, HOUR,
		 "want-0 consolidate n1 [x-0]; x-0 consolidate n2"},
		{"switched off, as in KAI", "preempt 2h reclaim 2h", "rules: {min-runtime: {consolidation: false}}",
		 HOUR, HOUR, "want-0 consolidate n2 [y-0]; y-0 consolidate n1"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		halves(&s, rows[i].words, rows[i].ago_1, rows[i].ago_2);
		s.config = rows[i].config;
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

/* Of a semi-preemptible group the first pod is core, and says nothing of the surplus: that has a window, too. */
static void MR_14_the_surplus_of_a_semi_preemptible_group_is_inside_its_window_too(void **state)
{
	(void)state;
	for (int is_inside = 0; is_inside < 2; is_inside++) {
		struct story s;

		begin(&s);
		kai_queue(&s, "a", "", 2, "");
		kai_queue(&s, "b", "", 2, is_inside ? "reclaim 2h" : "reclaim 30m");
		kai_node(&s, "n1", 4);
		kai_node(&s, "n2", 1);
		kai_group(&s, "semi", "b", 1, HOUR, "preemptibility: semi-preemptible");
		kai_pod(&s, "semi-0", "semi", 1, "n1", "age 7200");
		kai_pod(&s, "semi-1", "semi", 1, "n1", "age 60");
		kai_group(&s, "want", "a", 1, TIME_NONE, NULL);
		kai_pod(&s, "want-0", "want", 3, NULL, "age 10");
		expect(&s, is_inside ? "inside it stays" : "outside it moves",
		       is_inside ? "want-0 waiting" : "want-0 consolidate n1 [semi-1]; semi-1 consolidate n2");
	}
}

/* y is the first to go, and has nowhere to go to; x has. */
static void consolidation_looks_at_no_more_workloads_than_it_may(void **state)
{
	static const char moves[] = "want-0 consolidate n1 [x-0]; x-0 consolidate n2";
	static const struct {
		const char *sentence, *config, *line;
	} rows[] = {
		{"one: y", "kai: {maxConsolidationPreemptees: 1}", "want-0 waiting"},
		{"two: x as well", "kai: {maxConsolidationPreemptees: 2}", moves},
		{"none", "kai: {maxConsolidationPreemptees: 0}", "want-0 waiting"},
		{"all", "kai: {maxConsolidationPreemptees: -1}", moves},
		{"16 unless told", NULL, moves},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(&s);
		kai_queue(&s, "b", "", 5, "");
		kai_node(&s, "n1", 2);
		kai_node(&s, "n2", 3);
		group_of(&s, "x", 1, 1, HOUR, "n1", NULL);
		kai_group(&s, "y", "b", 1, HOUR, NULL);
		kai_pod(&s, "y-0", "y", 2, "n2", NULL);
		kai_group(&s, "want", "b", 1, TIME_NONE, NULL);
		kai_pod(&s, "want-0", "want", 2, NULL, "age 10");
		s.config = rows[i].config;
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

/* The first in the queue is too big for the node. */
static void actions_look_as_deep_into_a_queue_as_they_are_told(void **state)
{
	static const struct {
		const char *sentence, *config, *line;
	} rows[] = {
		{"all", "", "w1 placed n1; w0 waiting"},
		{"one", "queueDepthPerAction: {allocate: 1}\n", "w0 waiting; w1 waiting"},
		{"two", "queueDepthPerAction: {allocate: 2}\n", "w1 placed n1; w0 waiting"},
		{"none", "queueDepthPerAction: {allocate: 0}\n", "w0 waiting; w1 waiting"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(&s);
		kai_queue(&s, "b", "", 5, "");
		kai_node(&s, "n1", 1);
		kai_group(&s, "g0", "b", 1, TIME_NONE, HIGH);
		kai_pod(&s, "w0", "g0", 2, NULL, "age 10");
		kai_group(&s, "g1", "b", 1, TIME_NONE, NULL);
		kai_pod(&s, "w1", "g1", 1, NULL, "age 10");
		text_printf(&s.objects, "---\nactions: \"allocate, preempt\"\n%s", rows[i].config);
		expect(&s, rows[i].sentence, rows[i].line);
	}
}

/* ---- preemptibility ---- */

static void PP_8_the_core_of_a_semi_preemptible_group_stays(void **state)
{
	static const char *const queues[] = {"a", "b"};
	struct story s;

	(void)state;
	for (size_t i = 0; i < 2; i++)
		for (uint32_t cycles = 1; cycles <= 3; cycles += 2) {
			two_queues(&s, "");
			kai_node(&s, "n1", 4);
			group_of(&s, "semi", 4, 2, HOUR, "n1", "preemptibility: semi-preemptible");
			claims(&s, queues[i], 4, 1);
			s.cycles = cycles;
			story_plan(&s);
			assert_int_equal(n_victims(&s), 2);
			assert_false(goes(&s, "semi-0"));
			assert_false(goes(&s, "semi-1"));
			story_end(&s);
		}
}

/* The core are those that run longest, whenever they were made and whatever their names: so it does not change. */
static void PP_8_who_comes_later_is_not_core(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "");
	kai_node(&s, "n1", 3);
	kai_group(&s, "semi", "b", 1, HOUR, "preemptibility: semi-preemptible");
	kai_pod(&s, "semi-0", "semi", 1, "n1", "age 10 created 9000");
	kai_pod(&s, "semi-1", "semi", 1, "n1", "age 3600 created 3600");
	kai_pod(&s, "semi-2", "semi", 1, "n1", "age 60 created 8000");
	claims(&s, "a", 3, 1);
	story_plan(&s);
	assert_int_equal(n_victims(&s), 2);
	assert_false(goes(&s, "semi-1"));
	story_end(&s);
}

static void PP_8_the_core_does_not_move(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	kai_queue(&s, "b", "", 4, "");
	kai_node(&s, "n1", 2);
	kai_node(&s, "n2", 2);
	group_of(&s, "x", 1, 1, HOUR, "n1", "preemptibility: semi-preemptible");
	group_of(&s, "y", 1, 1, HOUR, "n2", "preemptibility: semi-preemptible");
	kai_group(&s, "want", "b", 1, TIME_NONE, NULL);
	kai_pod(&s, "want-0", "want", 2, NULL, "age 10");
	expect(&s, "both are all core", "want-0 waiting");
}

static void PP_6_the_effective_value_is_published(void **state)
{
	static const struct {
		const char *spec, *value;
	} rows[] = {
		{"priorityClassName: train", "\nstatus:\n  preemptibility: preemptible\n"},
		{"priorityClassName: inference", "\nstatus:\n  preemptibility: non-preemptible\n"},
		{"priorityClassName: inference, preemptibility: preemptible",
		 "\nstatus:\n  preemptibility: preemptible\n"},
		{"preemptibility: semi-preemptible", "\nstatus:\n  preemptibility: semi-preemptible\n"},
	};
	struct story s;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		begin(&s);
		kai_queue(&s, "b", "", 4, "");
		kai_node(&s, "n1", 1);
		group_of(&s, "g", 1, 1, TIME_NONE, NULL, rows[i].spec);
		story_plan(&s);
		expect_manifest(&s, rows[i].value, true);
		expect_manifest(&s, STAMP_NOW, true);
		story_end(&s);
	}
}

/* ---- what goes wrong in KAI when it runs ---- */

/* There a victim that still has a pod to place looks for members to place, finds only those it lost, and all ends. */
static void an_elastic_victim_that_waits_for_more_is_nothing_special(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	kai_queue(&s, "a", "", 0, "");
	kai_queue(&s, "b", "", 1, "");
	kai_node(&s, "n1", 3);
	kai_group(&s, "el", "a", 1, HOUR, NULL);
	for (int i = 0; i < 5; i++) {
		char name[8];

		snprintf(name, sizeof(name), "el-%d", i);
		kai_pod(&s, name, "el", 1, i < 3 ? "n1" : NULL, "age 60");
	}
	claims(&s, "b", 1, 1);
	s.cycles = 3;
	story_plan(&s);
	assert_int_equal(n_victims(&s), 1);
	assert_true(goes(&s, "el-2"));
	assert_int_equal(s.plan.v.v[0].outcome, OUTCOME_NOMINATED);
	story_end(&s);
}

/* There a gang that takes several pods of one elastic group evicts the first ones twice. */
static void nobody_goes_twice(void **state)
{
	struct story s;

	(void)state;
	two_queues(&s, "");
	kai_node(&s, "n1", 4);
	group_of(&s, "el", 4, 1, HOUR, "n1", NULL);
	kai_group(&s, "gang", "a", 3, TIME_NONE, NULL);
	for (int i = 0; i < 3; i++) {
		char name[8];

		snprintf(name, sizeof(name), "gang-%d", i);
		kai_pod(&s, name, "gang", 1, NULL, "age 60");
	}
	story_plan(&s);
	assert_int_equal(n_victims(&s), 3);
	for (uint32_t i = 0; i < s.plan.v.n; i++)
		assert_int_equal(s.plan.v.v[i].outcome, OUTCOME_NOMINATED);
	assert_false(goes(&s, "el-0"));
	story_end(&s);
}

/* GPUs of a node that pods have there in the end: who stays, who was placed or nominated, who moves. */
static int64_t gpus_in_the_end(const struct story *s, node_id n)
{
	const struct ledger *l = cluster_ledger(s->cluster);
	res_id gpu = res_types_find(vocab_res(s->vocab), KAI_GPU_TYPE, strlen(KAI_GPU_TYPE));
	int64_t sum = 0;

	for (pod_id i = 0; i < ledger_pod_limit(l); i++) {
		const struct pod *p = ledger_pod(l, i);
		node_id at = p->state == POD_PLACED ? p->node : NODE_NONE;

		for (uint32_t k = 0; k < s->plan.v.n; k++)
			if (s->plan.v.v[k].pod == i && s->plan.v.v[k].outcome == OUTCOME_NOMINATED)
				at = s->plan.v.v[k].node;
		if (at == n)
			sum += res_list_get(&shape_get(s->vocab, p->shape)->request, gpu);
	}
	return sum;
}

static bool is_victim_of(const struct decision *d, pod_id pod)
{
	for (uint32_t i = 0; i < d->n_victims; i++)
		if (d->victims[i].pod == pod)
			return true;
	return false;
}

/* Room that was got by moving others who then had to go for good: they stand with the last who took them. */
static uint32_t moved_and_taken(const struct story *s)
{
	bool moves = false, takes = false;
	uint32_t n = 0;

	for (uint32_t k = 0; k < s->plan.v.n; k++) {
		const struct decision *d = &s->plan.v.v[k];

		moves |= d->action == ACTION_CONSOLIDATE && d->n_victims == 0;
		takes |= d->action == ACTION_RECLAIM && d->n_victims > 0;
	}
	for (pod_id p = 0; p < ledger_pod_limit(cluster_ledger(s->cluster)); p++) {
		n = 0;
		for (uint32_t k = 0; k < s->plan.v.n; k++)
			n += is_victim_of(&s->plan.v.v[k], p);
		assert_true(n <= 1);
	}
	return moves && takes;
}

/* Nodes on which small pods of b leave a gap each, which b's `big` gets by a move; then work of a reclaims. */
static void gaps(struct story *s, int big, int takers, int gpus, int gap)
{
	begin(s);
	kai_queue(s, "a", "", 9, "");
	kai_queue(s, "b", "", 1, "");
	for (int n = 0; n < 3; n++) {
		char node[4] = {'n', (char)('0' + n), 0}, group[4] = {'x', (char)('0' + n), 0};

		kai_node(s, node, 2 + (n == gap));
		group_of(s, group, 1 + (n == gap), 1, HOUR, node, NULL);
	}
	kai_group(s, "big", "b", 1, TIME_NONE, NULL);
	kai_pod(s, "big-0", "big", big, NULL, "age 10");
	for (int i = 0; i < takers; i++) {
		char group[4] = {'w', (char)('0' + i), 0}, pod[8];

		snprintf(pod, sizeof(pod), "%s-0", group);
		kai_group(s, group, "a", 1, TIME_NONE, "preemptibility: non-preemptible");
		kai_pod(s, pod, group, gpus, NULL, "age 30");
	}
}

/*
 * There a pod that was moved and is taken again in the same cycle may be put back where it was moved without a look at
 * the room.
 */
static void pods_that_are_moved_and_taken_again_overbook_no_node(void **state)
{
	uint32_t twice = 0;

	(void)state;
	for (int i = 0; i < 2 * 4 * 2 * 4; i++) {
		struct story s;

		gaps(&s, 2 + i % 2, 1 + i / 2 % 4, 2 + i / 8 % 2, i / 16);
		story_plan(&s);
		twice += moved_and_taken(&s);
		for (node_id n = 0; n < 3; n++)
			assert_true(gpus_in_the_end(&s, n) <= 2 + ((int)n == i / 16));
		story_end(&s);
	}
	assert_true(twice > 0);
}

/* They are asked about by labels, which pods of one shape need not share. */
static void whom_other_schedulers_pods_do_not_bear_stays_away(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	s.profile = PROFILE_KAI;
	s.config = "schedulerNames: [default-scheduler]";
	kai_queue(&s, "q", "", 4, "");
	text_add(&s.objects, "---\napiVersion: v1\nkind: Node\n"
			     "metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}\n"
			     "status: {allocatable: {cpu: \"9\", memory: 9Gi, pods: \"9\", nvidia.com/gpu: \"4\"}}\n");
	kai_pod(&s, "run", NULL, 1, "n1", "queue q");
	text_add(&s.objects,
		 "---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: d, name: theirs}\n"
		 "spec:\n  nodeName: n1\n  schedulerName: another\n"
		 "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
		 "kubernetes.io/hostname, labelSelector: {matchLabels: {kai.scheduler/preemptibility: "
		 "preemptible}}}]}}\n  containers: [{name: c}]\nstatus: {phase: Running}\n");
	kai_pod(&s, "want", NULL, 1, NULL, "queue q label preemptible");
	expect(&s, "it is their room too", "want waiting");
}

static void a_search_that_ends_at_its_bound_says_so(void **state)
{
	static const struct {
		uint64_t steps;
		bool is_bound;
	} rows[] = {{1000, false}, {2, false}, {1, true}}; /* two candidates are two steps */

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct story s;

		(void)state;
		story_begin(&s);
		s.profile = PROFILE_KAI;
		kai_queue(&s, "a", "", 2, "");
		kai_queue(&s, "b", "", 0, "");
		kai_node(&s, "n1", 2);
		kai_pod(&s, "b-0", NULL, 1, "n1", "queue b");
		kai_pod(&s, "b-1", NULL, 1, "n1", "queue b");
		kai_pod(&s, "want", NULL, 2, NULL, "queue a");
		story_load(&s);
		s.settings->kai.search_steps = rows[i].steps;
		expect_line(&s, "two would have to go",
			    rows[i].is_bound ? "want waiting" : "want reclaim n1 [b-1 b-0]");
		if (rows[i].is_bound)
			assert_non_null(strstr(s.plan.v.v[0].message, "stopped after 1 steps: a way may exist."));
		story_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whom_other_schedulers_pods_do_not_bear_stays_away),
		cmocka_unit_test(a_search_that_ends_at_its_bound_says_so),
		cmocka_unit_test(MR_1_before_its_window_has_passed_work_stays_and_at_it_it_may_go),
		cmocka_unit_test(MR_5_and_6_the_queues_between_decide_which_window),
		cmocka_unit_test(MR_8_start_is_stamped_when_nothing_of_the_group_had_a_place),
		cmocka_unit_test(MR_8_what_was_placed_a_moment_ago_is_inside_its_window),
		cmocka_unit_test(MR_10_many_small_claims_take_no_more_than_one_big_one),
		cmocka_unit_test(MR_10_each_sub_group_keeps_its_own_minimum),
		cmocka_unit_test(MR_10_who_is_nominated_to_a_node_does_not_count_as_staying),
		cmocka_unit_test(MR_10_a_protected_group_does_not_hide_those_behind_it),
		cmocka_unit_test(MR_11_who_waits_is_told_who_stayed_in_either_search),
		cmocka_unit_test(who_would_have_gone_beyond_a_fair_share_is_told_of),
		cmocka_unit_test(MR_8_a_group_that_gets_its_place_starts_now),
		cmocka_unit_test(MR_11_a_rule_refuses_a_scenario_as_a_whole),
		cmocka_unit_test(MR_14_consolidation_moves_nothing_inside_a_window),
		cmocka_unit_test(MR_14_the_surplus_of_a_semi_preemptible_group_is_inside_its_window_too),
		cmocka_unit_test(consolidation_looks_at_no_more_workloads_than_it_may),
		cmocka_unit_test(actions_look_as_deep_into_a_queue_as_they_are_told),
		cmocka_unit_test(PP_8_the_core_of_a_semi_preemptible_group_stays),
		cmocka_unit_test(PP_8_who_comes_later_is_not_core),
		cmocka_unit_test(PP_8_the_core_does_not_move),
		cmocka_unit_test(PP_6_the_effective_value_is_published),
		cmocka_unit_test(an_elastic_victim_that_waits_for_more_is_nothing_special),
		cmocka_unit_test(nobody_goes_twice),
		cmocka_unit_test(PP_8_sets_of_sub_groups_are_filled_by_name),
		cmocka_unit_test(pods_that_are_moved_and_taken_again_overbook_no_node),
	};

	return cmocka_run_group_tests_name("kai_profile", tests, NULL, NULL);
}
