/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More pods are protected than are told of: whoever remembers tells the same of them as whoever looks at everything
 * (ONE-3), and of times the one that ends first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/alike.h"

/* Of a gang of two that other priorities protect others from. */
static void put_member(struct story *s, const char *name, int priority)
{
	text_printf(
		&s->objects,
		"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: d\n  creationTimestamp: "
		"\"2027-01-15T07:58:%02dZ\"\n  labels: {queue: root.a}\n  annotations: {cede.dev/gang: g, "
		"cede.dev/min-member: \"2\"}\nspec:\n  priority: %d\n  containers: [{name: c, resources: {requests: "
		"{" STORY_UNIT ": \"1\"}}}]\n",
		name, priority, priority);
}

/* Pods of priority 3 that run for 10 s, on two nodes, and one of priority 1 outside its minimum runtime. */
static void put_cluster(struct story *s, int per_node)
{
	char name[32];

	story_begin(s);
	story_queue(s, "root.a", NULL);
	story_node(s, "n0", per_node);
	story_node(s, "n1", per_node + 1);
	text_add(&s->objects,
		 "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kai-scheduler-default, namespace: "
		 "kai-scheduler}\ndata:\n  config.yaml: |\n    tiers: [{plugins: [{name: minruntime, "
		 "arguments: {defaultPreemptMinRuntime: 1h}}]}]\n");
	for (int i = 0; i < 2 * per_node; i++) {
		snprintf(name, sizeof(name), "p%04d", i);
		story_pod(s, name, "root.a", 1, i < per_node ? "n0" : "n1",
			  i == 2 * per_node - 1 ? "priority 3 age 20" : "priority 3 age 10");
	}
}

static void tell(struct story *s, struct engine *en, bool tells_times, struct text *out)
{
	struct engine_run run = {.now_ns = STORY_NOW_NS, .cycles = 1, .report = POD_NONE, .tells_times = tells_times};
	struct ledger *l = cluster_ledger(s->cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct decisions plan = {.arena = arena_new(4096)};
	struct err e;

	story_must(engine_plan(en, &run, &plan, &e), &e);
	for (uint32_t i = 0; i < plan.v.n; i++)
		alike_tell(s, plan.v.v[i].pod, &plan.v.v[i], out);
	ledger_rollback(l, mark);
	array_free(&plan.v);
	arena_free(plan.arena);
}

static void expect_alike(struct story *s)
{
	struct text all = {0}, remembered = {0};
	struct engine_config looks = *s->settings;
	struct engine *forgetful;
	struct err e = {0};

	looks.looks_at_all = true;
	forgetful = engine_new(s->cluster, &looks, NULL, 0, &e);
	story_must(forgetful ? ERR_OK : ERR_INTERNAL, &e);
	tell(s, forgetful, false, &all);
	tell(s, s->engine, false, &remembered);
	alike_compare(0, 0, &all, &remembered);
	text_free(&all);
	text_free(&remembered);
	engine_free(forgetful);
}

static void ONE_3_members_of_a_gang_are_told_the_same_of_more_than_there_is_room_for(void **state)
{
	static const int per_node[] = {100, PROTECTED_MAX / 2, 600};

	(void)state;
	for (size_t i = 0; i < sizeof(per_node) / sizeof(*per_node); i++) {
		struct story s;

		put_cluster(&s, per_node[i]);
		story_pod(&s, "v", "root.a", 1, "n1", "priority 1 age 7200");
		put_member(&s, "g-0", 2);
		put_member(&s, "g-1", 5);
		story_load(&s);
		ledger_check_always(cluster_ledger(s.cluster), false);
		expect_alike(&s);
		story_end(&s);
	}
}

static void CL_5_of_more_times_than_are_told_the_first_end_is_among_them(void **state)
{
	struct text told = {0}, first = {0};
	struct story s;

	(void)state;
	put_cluster(&s, 600);
	story_pod(&s, "waits", "root.a", 2, NULL, "priority 5");
	story_load(&s);
	ledger_check_always(cluster_ledger(s.cluster), false);
	tell(&s, s.engine, true, &told);
	text_printf(&first, "until %" PRId64 "\n", STORY_NOW_NS + 3580 * NS_PER_S);
	assert_non_null(strstr(text_str(&told), text_str(&first)));
	text_free(&told);
	text_free(&first);
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ONE_3_members_of_a_gang_are_told_the_same_of_more_than_there_is_room_for),
		cmocka_unit_test(CL_5_of_more_times_than_are_told_the_first_end_is_among_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
