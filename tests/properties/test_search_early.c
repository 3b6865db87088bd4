/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes on which the best set of victims cannot be found in the steps that there are: what is found on one does not
 * depend on which others were looked at before, so an engine that looks at all of them, one that looks at those that
 * may win, best first, and one that wants the best alone all decide alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/alike.h"
#include "rng.h"

enum { NODES = 30, PODS = 60 };

/* No two pods alike, and about a quarter of them has to go. */
static void add_node(struct story *s, struct rng *r, uint32_t node, uint32_t *cpu, uint32_t *memory)
{
	struct text when = {0};

	*cpu = *memory = 0;
	for (uint32_t i = 0; i < PODS; i++) {
		uint32_t milli = 1000 + rng_below(r, 40000), mib = 1000 + rng_below(r, 60000);

		*cpu += milli;
		*memory += mib;
		text_reset(&when);
		timestamp_text(STORY_NOW_NS - 3600 * NS_PER_S, &when);
		text_printf(&s->objects,
			    "---\napiVersion: v1\nkind: Pod\n"
			    "metadata: {name: v%u-%u, namespace: d, labels: {queue: root.%s}}\n"
			    "spec: {nodeName: n%u, "
			    "containers: [{name: c, resources: {requests: {cpu: %um, memory: %uMi}}}]}\n"
			    "status: {phase: Running, startTime: \"%s\"}\n",
			    node, i, rng_below(r, 2) ? "b" : "c", node, milli, mib, text_str(&when));
	}
	text_printf(&s->objects,
		    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%u}\n"
		    "status: {allocatable: {cpu: %um, memory: %uMi, pods: 110}}\n",
		    node, *cpu, *memory);
	text_free(&when);
}

/* With this seed the best node is one for which no steps were left when all nodes shared them. */
static void begin(struct story *s, uint64_t seed)
{
	struct rng r = {.s = seed};
	uint32_t cpu = 0, memory = 0;

	story_begin(s);
	story_queue(s, "root.a", "guaranteed 1");
	story_queue(s, "root.b", NULL);
	story_queue(s, "root.c", NULL);
	for (uint32_t i = 0; i < NODES; i++)
		add_node(s, &r, i, &cpu, &memory);
	text_printf(&s->objects,
		    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: d, labels: {queue: root.b}}\n"
		    "spec: {priority: 5, containers: [{name: c, resources: {requests: {cpu: %um, memory: %uMi}}}]}\n",
		    cpu / 4, memory / 5);
	story_load(s);
}

static void decide(struct story *s, struct engine *en, bool best_is_enough, struct text *out)
{
	struct engine_run run = {
		.now_ns = STORY_NOW_NS, .cycles = 1, .report = POD_NONE, .tells_no_words = best_is_enough};
	struct ledger *l = cluster_ledger(s->cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct decisions plan = {.arena = arena_new(4096)};
	pod_id pod = alike_some(s, POD_WAITING, 0);
	struct err e;

	story_must(engine_try(en, &run, pod, &plan, &e), &e);
	text_printf(out, "outcome %d on %u without", plan.v.v[0].outcome, plan.v.v[0].node);
	for (uint32_t i = 0; i < plan.v.v[0].n_victims; i++)
		text_printf(out, " %s", story_name(s, plan.v.v[0].victims[i].pod));
	ledger_rollback(l, mark);
	if (!best_is_enough)
		assert_non_null(strstr(plan.v.v[0].message, "ended early"));
	array_free(&plan.v);
	arena_free(plan.arena);
}

static void a_node_says_the_same_whichever_were_looked_at_before(void **state)
{
	struct text all = {0}, first = {0}, alone = {0};
	struct engine *forgetful;
	struct story s;

	(void)state;
	begin(&s, 6);
	forgetful = alike_forgetful(&s);
	decide(&s, forgetful, false, &all);
	decide(&s, s.engine, false, &first);
	decide(&s, s.engine, true, &alone);
	assert_string_equal(text_str(&first), text_str(&all));
	assert_string_equal(text_str(&alone), text_str(&all));
	engine_free(forgetful);
	story_end(&s);
	text_free(&all);
	text_free(&first);
	text_free(&alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_says_the_same_whichever_were_looked_at_before),
	};

	return cmocka_run_group_tests_name("search early", tests, NULL, NULL);
}
