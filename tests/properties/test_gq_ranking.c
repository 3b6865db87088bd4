/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GQ-9's ranking, one criterion at a time: between nodes, and between pods of one node. In each row two choices are
 * equal in all that is asked before, differ in the criterion, and whatever is asked after it (at the end the names)
 * would say the opposite. So each row fails when its criterion is left out, and most when two change places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/story.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum { PODS_MAX = 5 };

struct pod_row {
	const char *name, *queue, *node; /* node NULL: it waits */
	int units;
	const char *words; /* as in story.h; and "thrashes", "ahead" (its start is after now) */
};

struct row {
	const char *sentence;
	int nodes[3]; /* units of n1, n2 and n3; 0: there is none */
	struct pod_row pods[PODS_MAX];
	const char *line; /* what is decided */
};

static void add_queues(struct story *s)
{
	story_queue(s, "root.team", NULL);
	story_queue(s, "root.team.p", "guaranteed 20");
	story_queue(s, "root.team.near", NULL);
	story_queue(s, "root.test", NULL);
	story_queue(s, "root.x", NULL);
	story_queue(s, "root.x.y", NULL);
	story_queue(s, "root.x.y.z", NULL);
	story_queue(s, "root.x.y.w", NULL);
	story_queue(s, "root.x.y.w.v", NULL);
}

/* Whoever thrashes was evicted twice in the last hour. */
static void remember_evictions(struct story *s, const struct row *r, struct eviction_history *h)
{
	eviction_history_init(h, vocab_names(s->vocab));
	for (int i = 0; i < PODS_MAX && r->pods[i].name; i++) {
		char workload[64];

		snprintf(workload, sizeof(workload), "d/%s", r->pods[i].name);
		for (int k = 0; story_word(r->pods[i].words, "thrashes") && k < 2; k++)
			eviction_history_add(h, STORY_NOW_NS - (60 - k) * NS_PER_S, workload, r->pods[i].queue);
	}
	s->eviction_history = h;
}

/* What is read is no later than now; a pod that is bound meanwhile is. */
static void start_ahead(struct story *s, const struct row *r)
{
	struct ledger *l = cluster_ledger(s->cluster);

	for (int i = 0; i < PODS_MAX && r->pods[i].name; i++)
		for (pod_id id = 0; story_word(r->pods[i].words, "ahead") && id < ledger_pod_limit(l); id++)
			if (str_eq(story_name(s, id), r->pods[i].name))
				ledger_set_started(l, id, STORY_NOW_NS + 60 * NS_PER_S);
}

static void run_row(const struct row *r, enum profile profile)
{
	struct eviction_history history;
	struct text got = {0};
	struct story s;

	story_begin(&s);
	s.profile = profile;
	add_queues(&s);
	for (int i = 0; i < 3; i++)
		if (r->nodes[i])
			story_node(&s, (const char *const[]){"n1", "n2", "n3"}[i], r->nodes[i]);
	for (int i = 0; i < PODS_MAX && r->pods[i].name; i++)
		story_pod(&s, r->pods[i].name, r->pods[i].queue, r->pods[i].units, r->pods[i].node, r->pods[i].words);
	story_load(&s);
	remember_evictions(&s, r, &history);
	start_ahead(&s, r);
	story_plan(&s);
	story_line(&s, &got);
	if (!str_eq(text_str(&got), r->line))
		print_error("%s, profile %s\n", r->sentence, profile_text(profile));
	assert_string_equal(text_str(&got), r->line);
	text_free(&got);
	eviction_history_free(&history);
	story_end(&s);
}

static void run_rows(const struct row *rows, size_t n, bool also_yunikorn)
{
	for (size_t i = 0; i < n; i++) {
		bool thrashes = false;

		for (int k = 0; k < PODS_MAX && rows[i].pods[k].name; k++)
			thrashes |= story_word(rows[i].pods[k].words, "thrashes") != NULL;
		run_row(&rows[i], PROFILE_DEFAULT);
		if (also_yunikorn && !thrashes) /* that rule is cede's own */
			run_row(&rows[i], PROFILE_YUNIKORN);
	}
}

#define T "root.test"
#define P "root.team.p"

/* ---- between nodes: n1 has the better name, and n2 is better in one criterion ---- */

static void GQ_9_between_nodes_each_criterion_alone_decides(void **state)
{
	static const struct row rows[] = {
		{"fewest opted-out pods, before fewest drivers",
		 {4, 4},
		 {{"a", T, "n1", 2, "opted-out age 10"},
		  {"b", T, "n1", 2, "opted-out age 10"},
		  {"c", T, "n2", 2, "opted-out age 900"},
		  {"d", T, "n2", 2, "driver age 900"},
		  {"want", P, NULL, 4, "priority 5"}},
		 "want reclaim n2 [c d]"},
		{"fewest drivers, before fewest that were evicted before",
		 {2, 2},
		 {{"a", T, "n1", 2, "driver age 10"},
		  {"b", T, "n2", 2, "thrashes age 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [b]"},
		{"fewest drivers, before the lowest highest priority",
		 {2, 2},
		 {{"a", T, "n1", 2, "driver age 10"},
		  {"b", T, "n2", 2, "priority 4 age 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [b]"},
		{"fewest that were evicted before, before the lowest highest priority",
		 {2, 2},
		 {{"a", T, "n1", 2, "thrashes age 10"},
		  {"b", T, "n2", 2, "priority 4 age 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [b]"},
		{"lowest highest priority, before least lost work",
		 {2, 2},
		 {{"a", T, "n1", 2, "priority 1 age 10"},
		  {"b", T, "n2", 2, "age 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [b]"},
		{"the highest counts, not the sum",
		 {2, 2},
		 {{"a", T, "n1", 2, "priority 3 age 900"},
		  {"b", T, "n2", 1, "priority 2 age 900"},
		  {"c", T, "n2", 1, "priority 2 age 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [b c]"},
		{"least lost work, before nearest queues",
		 {2, 2},
		 {{"a", "root.team.near", "n1", 2, "age 900"},
		  {"b", T, "n2", 2, "age 899"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [b]"},
		{"who started after now has lost nothing, like who starts now: nearest queues",
		 {2, 2, 2},
		 {{"a", "root.x.y.z", "n1", 2, "age 0 created 900"},
		  {"b", "root.x.y.z", "n2", 2, "age 0 created 900"},
		  {"c", "root.team.near", "n3", 2, "ahead created 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n3 [c]"},
		{"nearest queues, before fewest victims",
		 {2, 2},
		 {{"a", "root.x.y.z", "n1", 2, "age 900"},
		  {"b", "root.team.near", "n2", 1, "age 900"},
		  {"c", "root.team.near", "n2", 1, "age 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [b c]"},
		{"fewest victims, before youngest",
		 {2, 2},
		 {{"a", T, "n1", 1, "age 900"},
		  {"b", T, "n1", 1, "age 900"},
		  {"c", "root.x.y.w.v", "n2", 1, "age 1800"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [c]"},
		{"youngest: of those that run longest, the one that runs shorter",
		 {2, 2},
		 {{"a", T, "n1", 1, "age 950 created 10"},
		  {"b", T, "n1", 1, "age 850 created 10"},
		  {"c", T, "n2", 1, "age 900"},
		  {"d", T, "n2", 1, "age 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [c d]"},
		{"latest created, before the name of the node",
		 {2, 2},
		 {{"a", T, "n1", 2, "age 900 created 990"},
		  {"b", T, "n2", 2, "age 900 created 980"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n2 [b]"},
		{"the name of the node",
		 {2, 2},
		 {{"b", T, "n2", 2, "age 900"}, {"a", T, "n1", 2, "age 900"}, {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), true);
}

/* ---- on one node: b has the name that goes first, and a goes by one criterion ---- */

/* All of n1 and n2 is a millionth of the cluster, and still not nothing. */
static void GQ_9_work_of_small_pods_counts_in_a_huge_cluster(void **state)
{
	struct text got = {0};
	struct story s;

	story_begin(&s);
	add_queues(&s);
	story_queue(&s, "root.whale", "guaranteed 10000000");
	story_node(&s, "n1", 8);
	story_node(&s, "n2", 2);
	story_node(&s, "sea", 10000000);
	story_pod(&s, "whale", "root.whale", 10000000, "sea", "age 900");
	story_pod(&s, "a", T, 8, "n1", "age 100");
	story_pod(&s, "b", T, 2, "n2", "age 300");
	story_pod(&s, "want", P, 2, NULL, "priority 5");
	story_load(&s);
	story_plan(&s);
	story_line(&s, &got);
	assert_string_equal(text_str(&got), "want reclaim n2 [b]");
	text_free(&got);
	story_end(&s);
}

static void GQ_9_on_one_node_each_criterion_alone_decides(void **state)
{
	static const struct row rows[] = {
		{"who opted out goes last, also where one of them must go",
		 {6},
		 {{"a", T, "n1", 2, "driver priority 4 age 900"},
		  {"b", T, "n1", 2, "opted-out age 10"},
		  {"c", T, "n1", 2, "opted-out age 9"},
		  {"want", P, NULL, 4, "priority 5"}},
		 "want reclaim n1 [c a]"},
		{"drivers go after those that were evicted before",
		 {4},
		 {{"a", T, "n1", 2, "thrashes priority 4 age 900"},
		  {"b", T, "n1", 2, "driver age 10"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"drivers go after others, whatever their priority",
		 {4},
		 {{"a", T, "n1", 2, "priority 4 age 900"},
		  {"b", T, "n1", 2, "driver age 10"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"those that were evicted before go after others, whatever their priority",
		 {4},
		 {{"a", T, "n1", 2, "priority 4 age 900"},
		  {"b", T, "n1", 2, "thrashes age 10"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"the lower priority goes, before least lost work",
		 {4},
		 {{"a", T, "n1", 2, "age 900"},
		  {"b", T, "n1", 2, "priority 1 age 10"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"what loses least goes, before nearest queues",
		 {4},
		 {{"a", T, "n1", 2, "age 899"},
		  {"b", "root.team.near", "n1", 2, "age 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"lost work is what it holds times how long, not how long alone",
		 {5},
		 {{"a", T, "n1", 2, "age 900"}, {"b", T, "n1", 3, "age 800"}, {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"who is nearer goes, before youngest",
		 {5},
		 {{"a", "root.team.near", "n1", 2, "age 900"},
		  {"b", T, "n1", 3, "age 600"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"who started last goes, before latest created",
		 {5},
		 {{"a", T, "n1", 3, "age 600"},
		  {"b", T, "n1", 2, "age 900 created 500"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"who was created last goes, before names",
		 {4},
		 {{"a", T, "n1", 2, "age 900 created 980"},
		  {"b", T, "n1", 2, "age 900 created 990"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"where both go the driver is named as the last to be evicted",
		 {4},
		 {{"a", T, "n1", 2, "driver age 10"},
		  {"b", T, "n1", 2, "priority 4 age 900"},
		  {"want", P, NULL, 4, "priority 5"}},
		 "want reclaim n1 [a b]"},
		{"and who was evicted before",
		 {4},
		 {{"a", T, "n1", 2, "thrashes age 10"},
		  {"b", T, "n1", 2, "priority 4 age 900"},
		  {"want", P, NULL, 4, "priority 5"}},
		 "want reclaim n1 [a b]"},
		{"names at last: the later namespace",
		 {4},
		 {{"b", T, "n1", 2, "age 900 inside d"},
		  {"a", T, "n1", 2, "age 900 inside e"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"and in it the later name",
		 {4},
		 {{"b", T, "n1", 2, "age 900"}, {"a", T, "n1", 2, "age 900"}, {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [b]"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), true);
}

/* ---- among pods without a queue: KF-6 in the default profile ---- */

static void KF_6_in_the_default_queue_each_criterion_alone_decides(void **state)
{
	static const struct row rows[] = {
		{"lowest highest priority",
		 {2, 2},
		 {{"a", NULL, "n1", 2, "priority 2"},
		  {"b", NULL, "n2", 1, "priority 1"},
		  {"c", NULL, "n2", 1, "priority 1"},
		  {"want", NULL, NULL, 2, "priority 5"}},
		 "want displace n2 [b c]"},
		{"smallest sum of priorities, before fewest victims and however much is lost",
		 {2, 2},
		 {{"a", NULL, "n1", 1, "priority 2 age 10"},
		  {"b", NULL, "n1", 1, "priority 2 age 10"},
		  {"c", NULL, "n2", 1, "priority 2 age 900"},
		  {"d", NULL, "n2", 1, "priority 1 age 900"},
		  {"want", NULL, NULL, 2, "priority 5"}},
		 "want displace n2 [c d]"},
		{"latest start of the most important victims alone",
		 {2, 2},
		 {{"a", NULL, "n1", 1, "priority 2 age 900"},
		  {"b", NULL, "n1", 1, "priority 1 age 10"},
		  {"c", NULL, "n2", 1, "priority 2 age 800"},
		  {"d", NULL, "n2", 1, "priority 1 age 990"},
		  {"want", NULL, NULL, 2, "priority 5"}},
		 "want displace n2 [c d]"},
		{"of equals on one node the youngest, however much it loses",
		 {5},
		 {{"a", NULL, "n1", 3, "age 800"},
		  {"b", NULL, "n1", 2, "age 900"},
		  {"want", NULL, NULL, 2, "priority 5"}},
		 "want displace n1 [a]"},
		{"on one node the lower priority, however old",
		 {4},
		 {{"a", NULL, "n1", 2, "age 900"},
		  {"b", NULL, "n1", 2, "priority 1 age 10"},
		  {"want", NULL, NULL, 2, "priority 5"}},
		 "want displace n1 [a]"},
		{"on one node opted-out pods last",
		 {4},
		 {{"a", NULL, "n1", 2, "priority 4"},
		  {"b", NULL, "n1", 2, "opted-out"},
		  {"want", NULL, NULL, 2, "priority 5"}},
		 "want displace n1 [a]"},
	};

	(void)state;
	run_rows(rows, COUNT(rows), false);
}

/* ---- what plugins say of the order on one node ---- */

/* Pods called spared-... are to be spared, those called first-... go first. */
static struct cede_verdict spare(void *self, const struct cede_cycle *c, cede_pod victim)
{
	(void)self;
	return str_starts(cede_pod_name(c, victim), "spared-") ? cede_answer(CEDE_SKIP, 0, 0) : cede_ok();
}

static int64_t order(void *self, const struct cede_cycle *c, cede_pod victim)
{
	(void)self;
	return str_starts(cede_pod_name(c, victim), "first-");
}

static void run_with_plugin(const struct row *r)
{
	static const struct cede_plugin table = {
		.abi = CEDE_PLUGIN_ABI, .name = "opinions", .may_evict = spare, .victim_order = order};
	const struct framework_plugin extra = {.table = &table};
	struct text got = {0};
	struct story s;
	struct err e;

	story_begin(&s);
	add_queues(&s);
	story_node(&s, "n1", r->nodes[0]);
	for (int i = 0; i < PODS_MAX && r->pods[i].name; i++)
		story_pod(&s, r->pods[i].name, r->pods[i].queue, r->pods[i].units, r->pods[i].node, r->pods[i].words);
	story_load(&s);
	engine_free(s.engine);
	s.engine = engine_new(s.cluster, s.settings, &extra, 1, &e);
	assert_non_null(s.engine);
	story_plan(&s);
	story_line(&s, &got);
	if (!str_eq(text_str(&got), r->line))
		print_error("%s\n", r->sentence);
	assert_string_equal(text_str(&got), r->line);
	text_free(&got);
	story_end(&s);
}

static void GQ_9_on_one_node_plugins_decide_between_pods_of_one_priority(void **state)
{
	static const struct row rows[] = {
		{"who is spared goes last, where one of them must go",
		 {6},
		 {{"a", T, "n1", 2, "driver age 900"},
		  {"spared-b", T, "n1", 2, "age 10"},
		  {"spared-c", T, "n1", 2, "age 9"},
		  {"want", P, NULL, 4, "priority 5"}},
		 "want reclaim n1 [spared-c a]"},
		{"after who opted out",
		 {4},
		 {{"a", T, "n1", 2, "opted-out age 900"},
		  {"spared-b", T, "n1", 2, "age 10"},
		  {"want", P, NULL, 4, "priority 5"}},
		 "want reclaim n1 [spared-b a]"},
		{"who goes first by a plugin does, though it loses more",
		 {4},
		 {{"a", T, "n1", 2, "age 10"}, {"first-b", T, "n1", 2, "age 900"}, {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [first-b]"},
		{"not before a lower priority",
		 {4},
		 {{"a", T, "n1", 2, "age 900"},
		  {"first-b", T, "n1", 2, "priority 1 age 10"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [a]"},
		{"also two of them before one that loses less",
		 {4},
		 {{"a", T, "n1", 2, "age 10"},
		  {"first-b", T, "n1", 1, "age 900"},
		  {"first-c", T, "n1", 1, "age 900"},
		  {"want", P, NULL, 2, "priority 5"}},
		 "want reclaim n1 [first-b first-c]"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		run_with_plugin(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_9_between_nodes_each_criterion_alone_decides),
		cmocka_unit_test(GQ_9_work_of_small_pods_counts_in_a_huge_cluster),
		cmocka_unit_test(GQ_9_on_one_node_each_criterion_alone_decides),
		cmocka_unit_test(KF_6_in_the_default_queue_each_criterion_alone_decides),
		cmocka_unit_test(GQ_9_on_one_node_plugins_decide_between_pods_of_one_priority),
	};

	return cmocka_run_group_tests_name("gq_ranking", tests, NULL, NULL);
}
