/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that lack many different things, for pods that ask for many or few types, for ports or not, mind each other or
 * not: what filters say of them is told by numbers and kept as one of a few answers, or apart where there are too many,
 * and changes no decision, also where time goes back. An engine that remembers and one that looks at everything every
 * time decide alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "properties/alike.h"
#include "rng.h"

enum { STEPS = 30, TYPES = 8, NODES = 48, WAITING = 12 };

struct pair { /* two engines on one cluster */
	struct story s;
	struct engine *forgetful;
	struct rng rng;
	int64_t now_ns;
	uint64_t decisions, in_vain;
};

static uint32_t below(struct pair *p, uint32_t n)
{
	return rng_below(&p->rng, n);
}

/* ---- a world ---- */

static void add_amounts(struct pair *p, uint32_t n_types, uint32_t most)
{
	for (uint32_t t = 0; t < n_types; t++)
		text_printf(&p->s.objects, ", example.com/r%u: %u", t, 1 + below(p, most));
}

static void add_node(struct pair *p, uint32_t i)
{
	text_printf(&p->s.objects,
		    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%u, labels: {kubernetes.io/hostname: n%u}}\n"
		    "spec: {unschedulable: %s}\nstatus: {allocatable: {pods: %u, " STORY_UNIT ": %u",
		    i, i, below(p, 9) ? "false" : "true", below(p, 8) ? 2 + below(p, 3) : 0, 2 + below(p, 4));
	add_amounts(p, TYPES, 5);
	text_add(&p->s.objects, "}}\n");
}

static void add_affinity(struct pair *p)
{
	text_printf(&p->s.objects,
		    "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: "
		    "kubernetes.io/hostname, labelSelector: {matchLabels: {queue: root.%s}}}]}}\n",
		    below(p, 2) ? "want" : "runs");
}

/* It should be gone before or after the story begins, or has been waited for too long soon. */
static void add_deletion(struct pair *p)
{
	struct text at = {0};

	timestamp_text(STORY_NOW_NS - (int64_t)below(p, 400) * NS_PER_S, &at);
	text_printf(&p->s.objects, "  deletionTimestamp: \"%s\"\n", text_str(&at));
	text_free(&at);
}

/* node NODES: it waits. Few types are asked for together, or many, or more than are told at once. */
static void add_pod(struct pair *p, const char *name, uint32_t i, uint32_t node)
{
	bool waits = node == NODES;

	text_printf(&p->s.objects,
		    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s%u\n  namespace: d\n"
		    "  labels: {queue: root.%s}\n  creationTimestamp: \"2025-11-15T08:00:00Z\"\n",
		    name, i, waits ? "want" : "runs");
	if (!waits && !below(p, 6))
		add_deletion(p);
	text_printf(&p->s.objects, "spec:\n  priority: %u\n", below(p, 3));
	if (!waits)
		text_printf(&p->s.objects, "  nodeName: n%u\n", node);
	if (waits && !below(p, 2))
		add_affinity(p);
	text_printf(&p->s.objects, "  containers: [{name: c, %sresources: {requests: {" STORY_UNIT ": 1",
		    below(p, 3) ? "" : "ports: [{containerPort: 80, hostPort: 80}], ");
	add_amounts(p, waits ? below(p, 3) * 4 : below(p, 3), waits ? 4 : 2);
	text_printf(&p->s.objects, "}}}]\nstatus: {phase: %s}\n", waits ? "Pending" : "Running");
}

static void begin(struct pair *p, uint64_t seed)
{
	*p = (struct pair){.now_ns = STORY_NOW_NS};
	p->rng.s = seed * 7919;
	story_begin(&p->s);
	story_queue(&p->s, "root.want", "guaranteed 1000");
	story_queue(&p->s, "root.runs", NULL);
	for (uint32_t i = 0; i < NODES; i++)
		add_node(p, i);
	for (uint32_t i = 0; i < 2 * NODES; i++)
		add_pod(p, "runs", i, i % NODES);
	for (uint32_t i = 0; i < WAITING; i++)
		add_pod(p, "waits", i, NODES);
	story_load(&p->s);
	p->forgetful = alike_forgetful(&p->s);
	engine_need_search_cache(p->s.engine);
	search_cache_keep_of_few(p->s.engine->search_cache);
}

static void end(struct pair *p)
{
	engine_free(p->forgetful);
	p->s.plan.arena = NULL;
	story_end(&p->s);
}

/* ---- what happens ---- */

static void decide(struct pair *p, struct engine *en, pod_id pod, struct text *out)
{
	struct engine_run run = {.now_ns = p->now_ns, .cycles = 1, .report = POD_NONE};

	p->in_vain += alike_decide(&p->s, en, &run, pod, out) == OUTCOME_WAITING;
}

/* Mostly as if nothing had been decided, so that the next one finds nodes as they were. */
static void decide_alike(struct pair *p, pod_id pod, uint64_t seed)
{
	struct ledger *l = cluster_ledger(p->s.cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct text a = {0}, b = {0};

	decide(p, p->s.engine, pod, &b);
	ledger_rollback(l, mark);
	decide(p, p->forgetful, pod, &a);
	if (below(p, 4))
		ledger_rollback(l, mark);
	ledger_commit(l);
	alike_compare(seed, ++p->decisions, &a, &b);
	text_free(&a);
	text_free(&b);
}

static pod_id some(struct pair *p, enum pod_state state)
{
	return alike_some(&p->s, state, below(p, ledger_pod_limit(cluster_ledger(p->s.cluster))));
}

static void step(struct pair *p, uint64_t seed)
{
	struct ledger *l = cluster_ledger(p->s.cluster);
	pod_id waiting = some(p, POD_WAITING), placed = some(p, POD_PLACED), leaving = some(p, POD_LEAVING);
	uint32_t what = below(p, 8);

	if (what == 0 && placed != POD_NONE)
		ledger_evict(l, placed);
	else if (what == 1 && leaving != POD_NONE)
		ledger_vacate(l, leaving);
	else if (waiting != POD_NONE)
		decide_alike(p, waiting, seed);
	ledger_commit(l);
	/* A forecast asks about later times, and who comes next about now. */
	p->now_ns = below(p, 8) ? p->now_ns + below(p, 6) * 10 * NS_PER_S : STORY_NOW_NS;
}

static void nodes_may_say_many_different_things(void **state)
{
	const char *asked = getenv("CEDE_N");
	uint32_t n = asked ? (uint32_t)strtoul(asked, NULL, 10) : 200;
	uint64_t decisions = 0, in_vain = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= n; seed++) {
		struct pair p;

		begin(&p, seed);
		for (int i = 0; i < STEPS; i++)
			step(&p, seed);
		decisions += p.decisions;
		in_vain += p.in_vain;
		end(&p);
	}
	printf("filter answers: %u clusters, %" PRIu64 " decisions, %" PRIu64 " in vain, 0 violations\n", n, decisions,
	       in_vain / 2);
	assert_true(decisions > 5 * n && in_vain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_may_say_many_different_things),
	};

	return cmocka_run_group_tests_name("filter_answers", tests, NULL, NULL);
}
