/* SPDX-License-Identifier: Apache-2.0 */
/* Who of the waiting is asked about, and what is said of each pod of a node about each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/protections.h"
#include "properties/story.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum { PODS_MAX = 4, WAITING_MAX = 8 };

struct pod_row {
	const char *name, *queue, *node, *words; /* of two units; node NULL: it waits */
};

static void begin(struct story *s, enum profile profile, const struct pod_row *pods)
{
	story_begin(s);
	s->profile = profile;
	story_queue(s, "root.a", "guaranteed 4 delay 1s");
	story_queue(s, "root.b", "delay 1s");
	story_queue(s, "root.c", "fence delay 1s");
	story_queue(s, "root.t", "guaranteed 3");
	story_queue(s, "root.t.v", "guaranteed 1 delay 1s");
	story_queue(s, "root.s", "guaranteed 4");
	story_queue(s, "root.s.v", "guaranteed 3 delay 1s");
	story_queue(s, "root.s.o", "delay 1s");
	story_node(s, "n1", 6);
	for (int i = 0; i < PODS_MAX && pods[i].name; i++)
		story_pod(s, pods[i].name, pods[i].queue, 2, pods[i].node, pods[i].words);
	story_load(s);
	s->plan.arena = arena_new(64);
}

static const char *ns_of(const struct story *s, pod_id pod)
{
	const struct ledger *l = cluster_ledger(s->cluster);

	return name_str(vocab_names(s->vocab), labelset_get(s->vocab, ledger_pod(l, pod)->labelset)->ns);
}

static void of_each_queue_the_first_is_asked_about(void **state)
{
	static const struct {
		const char *sentence;
		struct pod_row pods[PODS_MAX];
		uint32_t max;
		const char *line;
	} rows[] = {
		{"one of each queue, the higher priority",
		 {{"a", "root.a", NULL, "priority 1"}, {"b", "root.a", NULL, "priority 2"}, {"c", "root.b", NULL, ""}},
		 8,
		 " d/b d/c"},
		{"the higher priority, in whichever order they came",
		 {{"b", "root.a", NULL, "priority 2"}, {"a", "root.a", NULL, "priority 1"}},
		 8,
		 " d/b"},
		{"then the older one",
		 {{"a", "root.a", NULL, "age 5"}, {"b", "root.a", NULL, "age 6"}, {"c", "root.b", NULL, "age 7"}},
		 8,
		 " d/c d/b"},
		{"then the first namespace",
		 {{"a", "root.a", NULL, "age 5 inside e"}, {"b", "root.a", NULL, "age 5"}},
		 8,
		 " d/b"},
		{"between queues too",
		 {{"a", "root.a", NULL, "age 5 inside e"}, {"a", "root.b", NULL, "age 5"}},
		 8,
		 " d/a e/a"},
		{"then the first name",
		 {{"b", "root.a", NULL, "age 5"}, {"a", "root.a", NULL, "age 5"}, {"c", "root.b", NULL, "age 5"}},
		 8,
		 " d/a d/c"},
		{"between queues too, in whichever order those came",
		 {{"b", "root.a", NULL, "age 5"}, {"a", "root.b", NULL, "age 5"}},
		 8,
		 " d/a d/b"},
		{"no more than asked for, and those of the highest priorities",
		 {{"a", "root.a", NULL, ""}, {"b", "root.b", NULL, "priority 1"}, {"c", "root.c", NULL, "priority 2"}},
		 2,
		 " d/c d/b"},
		{"who runs does not wait", {{"a", "root.a", "n1", ""}, {"b", "root.a", NULL, ""}}, 8, " d/b"},
		{"nobody waits", {{"a", "root.a", "n1", ""}}, 8, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text got = {0};
		pod_id pods[WAITING_MAX];
		struct story s;
		uint32_t n;

		begin(&s, PROFILE_DEFAULT, rows[i].pods);
		n = engine_first_waiting(s.engine, pods, rows[i].max);
		for (uint32_t k = 0; k < n; k++)
			text_printf(&got, " %s/%s", ns_of(&s, pods[k]), story_name(&s, pods[k]));
		if (!str_eq(text_str(&got), rows[i].line))
			fail_msg("%s: \"%s\", not \"%s\"", rows[i].sentence, text_str(&got), rows[i].line);
		text_free(&got);
		story_end(&s);
	}
}

static void say(const struct story *s, const struct protection *p, struct text *out)
{
	text_printf(out, "%s%s for %s by %s", out->n ? "; " : "", story_name(s, p->pod), story_name(s, p->waiting),
		    action_text(p->action));
	if (p->verdict.rule != RULE_NONE)
		text_printf(out, ": %s", rule_verdict_name(&p->verdict));
}

static void each_pod_of_the_node_is_judged_for_each_that_waits(void **state)
{
	static const struct {
		const char *sentence;
		enum profile profile;
		struct pod_row pods[PODS_MAX];
		const char *line;
	} rows[] = {
		{"between queues it is reclaimed, inside of one preempted, each for itself",
		 PROFILE_DEFAULT,
		 {{"v", "root.b", "n1", ""},
		  {"u", "root.b", "n1", "priority 5"},
		  {"w", "root.a", NULL, "priority 3 age 60"},
		  {"x", "root.b", NULL, "priority 2 age 60"}},
		 "v for w by reclaim; v for x by preempt; u for w by reclaim: priority; u for x by preempt: priority"},
		{"what fits is not lacking: the room of a queue counts for nothing",
		 PROFILE_DEFAULT,
		 {{"v", "root.b", "n1", ""}, {"w", "root.c", NULL, "age 60"}},
		 "v for w by reclaim: fence"},
		{"every queue above it has to stay at its guarantee, not its own alone",
		 PROFILE_DEFAULT,
		 {{"v", "root.t.v", "n1", ""},
		  {"u", "root.t.v", "n1", ""},
		  {"x", "root.b", "n1", ""},
		  {"w", "root.a", NULL, "age 60"}},
		 "v for w by reclaim: guarantee; u for w by reclaim: guarantee; x for w by reclaim"},
		{"and its own, not those above it alone",
		 PROFILE_DEFAULT,
		 {{"v", "root.s.v", "n1", ""},
		  {"u", "root.s.v", "n1", ""},
		  {"x", "root.s.o", "n1", ""},
		  {"w", "root.a", NULL, "age 60"}},
		 "v for w by reclaim: guarantee; u for w by reclaim: guarantee; x for w by reclaim"},
		{"who may not preempt is the reason",
		 PROFILE_DEFAULT,
		 {{"v", "root.b", "n1", ""}, {"w", "root.a", NULL, "never age 60"}},
		 "v for w by reclaim: never"},
		{"who is on its way out is not asked about",
		 PROFILE_DEFAULT,
		 {{"v", "root.b", "n1", "leaving"}, {"u", "root.b", "n1", ""}, {"w", "root.a", NULL, "age 60"}},
		 "u for w by reclaim"},
		{"pods without a queue are displaced",
		 PROFILE_DEFAULT,
		 {{"v", NULL, "n1", ""}, {"w", NULL, NULL, "priority 1 age 60"}},
		 "v for w by displace"},
		{"as everybody is where there are no queues",
		 PROFILE_KUBERNETES,
		 {{"v", "root.a", "n1", ""}, {"w", "root.b", NULL, "priority 1 age 60"}},
		 "v for w by displace"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct engine_run run = {.now_ns = STORY_NOW_NS, .cycles = 1, .report = POD_NONE};
		protection_list all = {0};
		struct text got = {0};
		pod_id pods[WAITING_MAX];
		struct story s;

		begin(&s, rows[i].profile, rows[i].pods);
		engine_protections(s.engine, &run, 0, pods, engine_first_waiting(s.engine, pods, WAITING_MAX), &all);
		for (uint32_t k = 0; k < all.n; k++)
			say(&s, &all.v[k], &got);
		if (!str_eq(text_str(&got), rows[i].line))
			fail_msg("%s: \"%s\", not \"%s\"", rows[i].sentence, text_str(&got), rows[i].line);
		array_free(&all);
		text_free(&got);
		story_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_each_queue_the_first_is_asked_about),
		cmocka_unit_test(each_pod_of_the_node_is_judged_for_each_that_waits),
	};

	return cmocka_run_group_tests_name("protections", tests, NULL, NULL);
}
