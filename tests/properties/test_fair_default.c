/* SPDX-License-Identifier: Apache-2.0 */
/* `reclaim: {by: fair-share}` in profile default: fair shares stand for guarantees, and all other rules hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "engine/fair_shares.h"
#include "properties/kai_story.h"

static void fair_queue(struct story *s, const char *name)
{
	text_printf(&s->objects,
		    "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: %s}\nspec:\n"
		    "  resources: {gpu: {quota: 0, limit: -1, overQuotaWeight: 1}, cpu: {quota: -1, limit: -1}, "
		    "memory: {quota: -1, limit: -1}}\n",
		    name);
}

/* Eight GPUs, all used by b; a asks. Both have no quota and equal weights: four each. */
static void two_queues(struct story *s, const char *config, uint32_t asks)
{
	char name[16];

	story_begin(s);
	s->config = config;
	fair_queue(s, "a");
	fair_queue(s, "b");
	kai_node(s, "n1", 8);
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "b-%d", i);
		kai_pod(s, name, NULL, 1, "n1", "queue b label preemptible");
	}
	for (uint32_t i = 0; i < asks; i++) {
		snprintf(name, sizeof(name), "a-%u", i);
		kai_pod(s, name, NULL, 1, NULL, "queue a label preemptible");
	}
}

static void without_guarantees_nothing_is_reclaimed_by_guarantee(void **state)
{
	struct story s;

	two_queues(&s, NULL, 1);
	expect(&s, "nobody is guaranteed anything", "a-0 waiting");
}

static void by_fair_share_each_gets_its_part_and_no_more(void **state)
{
	struct story s;

	two_queues(&s, "actions: {reclaim: {by: fair-share}}", 6);
	expect_line(&s, "four of eight",
		    "a-0 reclaim n1 [b-7]; a-1 reclaim n1 [b-6]; a-2 reclaim n1 [b-5]; a-3 reclaim n1 [b-4]; "
		    "a-4 waiting; a-5 waiting");
	expect_why(
		&s, 4, "b-0",
		"fair-share: the waiting pod's queue root.a uses 4 of 4 fairly shared nvidia.com/gpu and is not below "
		"it (law 4)");
	story_end(&s);
}

static void cpu_pod(struct story *s, const char *name, const char *queue, const char *node)
{
	text_printf(&s->objects,
		    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: d, creationTimestamp: "
		    "\"2027-01-15T06:00:00Z\", labels: {kai.scheduler/queue: %s, kai.scheduler/preemptibility: "
		    "preemptible}}\nspec: {%s%s%scontainers: [{name: c, resources: {requests: {cpu: \"2\"}}}]}\n%s",
		    name, queue, node ? "nodeName: " : "", node ? node : "", node ? ", " : "",
		    node ? "status: {phase: Running, startTime: \"2027-01-15T06:00:00Z\"}\n" : "");
}

static void processors_are_shared_as_well(void **state)
{
	struct story s;

	story_begin(&s);
	s.config = "actions: {reclaim: {by: fair-share}}";
	for (int i = 0; i < 2; i++)
		text_printf(&s.objects,
			    "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: %c}\nspec:\n"
			    "  resources: {gpu: {quota: 0, limit: -1, overQuotaWeight: 1}, cpu: {quota: 0, limit: -1, "
			    "overQuotaWeight: 1}, memory: {quota: -1, limit: -1}}\n",
			    'a' + i);
	text_add(&s.objects,
		 "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"4\", "
		 "memory: 10Gi, pods: \"10\"}}\n");
	cpu_pod(&s, "b-0", "b", "n1");
	cpu_pod(&s, "b-1", "b", "n1");
	cpu_pod(&s, "a-0", "a", NULL);
	cpu_pod(&s, "a-1", "a", NULL);
	expect(&s, "two of four processors each", "a-0 reclaim n1 [b-1]; a-1 waiting");
}

static void guarantees_are_what_they_were_afterwards(void **state)
{
	struct story s;
	struct res_vec was[8];
	const struct queue_tree *t;

	two_queues(&s, "actions: {reclaim: {by: fair-share}}", 1);
	story_load(&s);
	t = ledger_queues(cluster_ledger(s.cluster));
	assert_in_range(t->q.n, 3, 8);
	for (queue_id q = 0; q < t->q.n; q++)
		was[q] = queue_get(t, q)->spec.guaranteed;
	uint64_t before = ledger_digest(cluster_ledger(s.cluster));
	ledger_mark mark = ledger_get_mark(cluster_ledger(s.cluster));

	story_plan(&s);
	t = ledger_queues(cluster_ledger(s.cluster));
	for (queue_id q = 0; q < t->q.n; q++)
		assert_true(res_vec_equal(&queue_get(t, q)->spec.guaranteed, &was[q]));
	ledger_rollback(cluster_ledger(s.cluster), mark);
	assert_int_equal(ledger_digest(cluster_ledger(s.cluster)), before);
	story_end(&s);
}

static void other_rules_hold(void **state)
{
	struct story s;

	story_begin(&s);
	s.config = "actions: {reclaim: {by: fair-share}}";
	fair_queue(&s, "a");
	kai_queue(&s, "b", "", 0, "reclaim 2h");
	kai_node(&s, "n1", 1);
	kai_group(&s, "run", "b", 1, 3600 * NS_PER_S, NULL);
	kai_pod(&s, "run-0", "run", 1, "n1", NULL);
	kai_pod(&s, "want", NULL, 1, NULL, "queue a label preemptible");
	expect_line(&s, "an hour of two", "want waiting");
	expect_why(&s, 0, "run-0", "min-runtime: protected until 09:00:00 by root.b: reclaim 2h, runs 1h");
	story_end(&s);
}

/* Filters look at other pods here, and a session that looks for moves would show them who is nominated. */
static void shares_are_found_without_moving_anybody(void **state)
{
	struct decisions d = {.arena = arena_new(4096)};
	struct story s;
	uint64_t before;

	(void)state;
	story_begin(&s);
	s.config = "actions: {reclaim: {by: fair-share}}";
	story_queue(&s, "root.a", NULL);
	story_queue(&s, "root.b", NULL);
	story_node(&s, "n1", 4);
	story_pod(&s, "runs", "root.b", 1, "n1", "picky");
	story_pod(&s, "kept", "root.a", 2, NULL, "nominated n1 picky");
	story_pod(&s, "waits", "root.b", 2, NULL, "picky");
	story_load(&s);
	before = ledger_digest(cluster_ledger(s.cluster));
	assert_true(engine_fair_shares(s.engine, STORY_NOW_NS, &d));
	assert_int_equal(ledger_digest(cluster_ledger(s.cluster)), before);
	arena_free(d.arena);
	expect(&s, "who is nominated waits until its turn comes", "waits waiting; kept placed n1");
}

static void shares_are_told_where_they_decide(void **state)
{
	static const struct {
		const char *sentence;
		enum profile profile;
		const char *config;
		bool is_told;
		int64_t gpus; /* of a, as told */
	} rows[] = {
		{"in profile kai", PROFILE_KAI, NULL, true, 4},
		{"in profile default where reclaim goes by them", PROFILE_DEFAULT,
		 "actions: {reclaim: {by: fair-share}}", true, 4},
		{"not where it goes by guarantees", PROFILE_DEFAULT, NULL, false, -1},
		{"not in profile yunikorn", PROFILE_YUNIKORN, NULL, false, -1},
		{"not in profile kubernetes", PROFILE_KUBERNETES, NULL, false, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct decisions d = {.arena = arena_new(4096)};
		const struct ledger *l;
		struct story s;
		queue_id a;
		res_id gpu;

		two_queues(&s, rows[i].config, 5);
		s.profile = rows[i].profile;
		story_load(&s);
		s.plan.arena = arena_new(64);
		l = cluster_ledger(s.cluster);
		gpu = res_types_find(vocab_res(s.vocab), KAI_GPU_TYPE, strlen(KAI_GPU_TYPE));
		a = queue_tree_find(ledger_queues(l), "root.a", 6);
		if (engine_fair_shares(s.engine, STORY_NOW_NS, &d) != rows[i].is_told ||
		    (a != QUEUE_NONE && decisions_fair_share(&d, 1, a, gpu) != rows[i].gpus))
			fail_msg("%s", rows[i].sentence);
		assert_int_equal(decisions_fair_share(&d, 1, ledger_queues(l)->q.n, gpu), -1);
		assert_int_equal(decisions_fair_share(&d, 2, QUEUE_ROOT, gpu), -1);
		arena_free(d.arena);
		story_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_guarantees_nothing_is_reclaimed_by_guarantee),
		cmocka_unit_test(by_fair_share_each_gets_its_part_and_no_more),
		cmocka_unit_test(processors_are_shared_as_well),
		cmocka_unit_test(guarantees_are_what_they_were_afterwards),
		cmocka_unit_test(other_rules_hold),
		cmocka_unit_test(shares_are_found_without_moving_anybody),
		cmocka_unit_test(shares_are_told_where_they_decide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
