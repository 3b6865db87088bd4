/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches for pods of other sizes share what is known of nodes, where nobody is to be told who is protected: an engine
 * that remembers decides of each like one that looks at everything.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/alike.h"
#include "rng.h"

enum { STEPS = 60, SIZES = 6, PRIORITIES = 8 }; /* more priorities than are told apart */

struct sizes { /* two engines on one cluster */
	struct story s;
	struct engine *forgetful;
	struct rng rng;
	int64_t now_ns;
	uint64_t decisions, evictions;
};

static uint32_t below(struct sizes *x, uint32_t n)
{
	return rng_below(&x->rng, n);
}

/* ---- a world ---- */

/* Guarantees of all types, or of one alone: whether anybody may go depends on what a node is short of. */
static void add_queues(struct sizes *x)
{
	static const char *const guarantees[] = {"vcore: 900, memory: 900Gi, ephemeral-storage: 900Gi, " STORY_UNIT
						 ": 900",
						 "memory: 900Gi", "vcore: 900"};

	text_printf(&x->s.objects,
		    "---\npartitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n"
		    "    - {name: prod, resources: {guaranteed: {%s}}}\n"
		    "    - {name: test, resources: {guaranteed: {%s}}}\n",
		    guarantees[below(x, 3)], below(x, 2) ? "vcore: 1, memory: 1Gi" : "memory: 20Gi");
}

static void add_node(struct sizes *x, uint32_t i)
{
	text_printf(&x->s.objects,
		    "---\napiVersion: v1\nkind: Node\nmetadata: {name: n%02u, labels: {zone: %s}}\n"
		    "status: {allocatable: {cpu: \"8\", memory: %uGi, ephemeral-storage: 2Gi, pods: \"%u\", " STORY_UNIT
		    ": \"2\"}}\n",
		    i, i % 2 ? "a" : "b", 10 + below(x, 8), 6 + below(x, 8));
}

/* Some leave, and should be gone soon: who is late is not counted on any more. */
static void add_end(struct sizes *x)
{
	struct text at = {0};

	timestamp_text(STORY_NOW_NS + (int64_t)below(x, 600) * NS_PER_S, &at);
	text_printf(&x->s.objects, "deletionTimestamp: \"%s\", ", text_str(&at));
	text_free(&at);
}

/* node is NULL: it waits, and asks for more. Some ask for a third type, and some may use half of the nodes. */
static void add_pod(struct sizes *x, uint32_t i, const char *node)
{
	static const char *const third[6] = {", " STORY_UNIT ": 1", ", ephemeral-storage: 1Gi", "", "", "", ""};
	uint32_t size = below(x, SIZES), age = 10 + below(x, 5000);
	struct text since = {0};

	timestamp_text(STORY_NOW_NS - age * NS_PER_S, &since);
	text_add(&x->s.objects, "---\napiVersion: v1\nkind: Pod\nmetadata: {");
	if (node && below(x, 16) == 0)
		add_end(x);
	text_printf(&x->s.objects,
		    "name: p%03u, namespace: d, labels: {queue: root.%s%s}, creationTimestamp: \"%s\"}\n"
		    "spec: {priority: %u, ",
		    i, node ? "test" : "prod", below(x, 3) ? "" : ", applicationId: x", text_str(&since),
		    node ? below(x, PRIORITIES) : PRIORITIES);
	if (node)
		text_printf(&x->s.objects, "nodeName: %s, ", node);
	else if (below(x, 3) == 0)
		text_printf(&x->s.objects, "nodeSelector: {zone: %s}, ", below(x, 2) ? "a" : "b");
	text_printf(&x->s.objects, "containers: [{name: c, resources: {requests: {cpu: %um, memory: %uMi%s}}}]}\n",
		    node ? 500 + 500 * size : 1000 + 700 * size, 500 + 700 * (size * 5 % SIZES), third[below(x, 6)]);
	if (node)
		text_printf(&x->s.objects, "status: {phase: Running, startTime: \"%s\"}\n", text_str(&since));
	text_free(&since);
}

static void begin(struct sizes *x, uint64_t seed)
{
	uint32_t n_nodes, n = 0;
	char node[16];

	*x = (struct sizes){.now_ns = STORY_NOW_NS};
	x->rng.s = seed * 104729;
	n_nodes = 4 + below(x, 30);
	story_begin(&x->s);
	add_queues(x);
	for (uint32_t i = 0; i < n_nodes; i++) {
		add_node(x, i);
		snprintf(node, sizeof(node), "n%02u", i);
		for (uint32_t k = 5 + below(x, 4); k > 0; k--)
			add_pod(x, n++, node);
	}
	for (uint32_t i = 0; i < 4 * SIZES; i++)
		add_pod(x, n++, NULL);
	story_load(&x->s);
	x->s.settings->min_runtime.reclaim_ns = below(x, 2) ? 0 : 1000 * NS_PER_S;
	ledger_check_always(cluster_ledger(x->s.cluster), false);
	x->forgetful = alike_forgetful(&x->s);
}

static void end(struct sizes *x)
{
	engine_free(x->forgetful);
	x->s.plan.arena = NULL;
	story_end(&x->s);
}

/* ---- one decision ---- */

static void decide(struct sizes *x, struct engine *en, pod_id pod, struct text *out)
{
	const struct bits nobody = {0};
	struct engine_run run = {.now_ns = x->now_ns, .cycles = 1, .report = POD_NONE, .tells_of = &nobody};
	struct decisions plan = {.arena = arena_new(4096)};
	const struct decision *d;
	struct err e;

	story_must(engine_try(en, &run, pod, &plan, &e), &e);
	d = &plan.v.v[0];
	text_printf(out, "%s: outcome %d action %d node %u tie %d next %u by %s\n", story_name(&x->s, pod), d->outcome,
		    d->action, d->node, d->tie, d->runner_up, d->tie_words ? d->tie_words : "");
	for (uint32_t i = 0; i < d->n_victims; i++)
		text_printf(out, "takes %s (%d)\n", story_name(&x->s, d->victims[i].pod), d->victims[i].overridden);
	text_printf(out, "%s\n", d->message ? d->message : "");
	array_free(&plan.v);
	arena_free(plan.arena);
}

/* Who remembers comes first: to him nothing has changed. stays: what was decided stays in the ledger. */
static void decide_alike(struct sizes *x, pod_id pod, uint64_t seed, bool stays)
{
	struct ledger *l = cluster_ledger(x->s.cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct text a = {0}, b = {0};

	decide(x, x->s.engine, pod, &b);
	ledger_rollback(l, mark);
	decide(x, x->forgetful, pod, &a);
	if (!stays)
		ledger_rollback(l, mark);
	x->decisions++;
	x->evictions += strstr(text_str(&b), "takes ") != NULL;
	alike_compare(seed, x->decisions, &a, &b);
	text_free(&a);
	text_free(&b);
}

/* ---- what happens ---- */

/* One of those in this state, POD_NONE if there is none. */
static pod_id some(struct sizes *x, enum pod_state state)
{
	const struct ledger *l = cluster_ledger(x->s.cluster);
	pod_id found = POD_NONE;
	uint32_t n = 0;

	for (pod_id i = 0; i < ledger_pod_limit(l); i++)
		if (ledger_pod(l, i)->state == state && below(x, ++n) == 0)
			found = i;
	return found;
}

static void step(struct sizes *x, uint64_t seed)
{
	uint32_t what = below(x, 16);
	pod_id pod = some(x, what < 14 ? POD_WAITING : what < 15 ? POD_LEAVING : POD_PLACED);

	if (what == 13)
		x->now_ns += below(x, 900) * NS_PER_S;
	else if (what == 12) /* as after a look at later times */
		x->now_ns = STORY_NOW_NS;
	if (pod == POD_NONE)
		return;
	if (what < 14)
		decide_alike(x, pod, seed, what < 4);
	else
		ledger_vacate(cluster_ledger(x->s.cluster), pod);
}

static void sizes_share_what_is_known(void **state)
{
	const char *many = getenv("CEDE_N");
	uint32_t n = many ? (uint32_t)strtoul(many, NULL, 10) : 300;
	uint64_t decisions = 0, evictions = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= n; seed++) {
		struct sizes x;

		begin(&x, seed);
		for (int i = 0; i < STEPS; i++)
			step(&x, seed);
		decisions += x.decisions;
		evictions += x.evictions;
		end(&x);
	}
	printf("sizes: %u clusters, %" PRIu64 " decisions, %" PRIu64 " with victims, 0 violations\n", n, decisions,
	       evictions);
	assert_true(evictions * 3 > decisions);
}

/* ---- room that comes ---- */

/* node is NULL: it waits. */
static void add_sized(struct sizes *x, const char *name, const char *queue, const char *asks, const char *node,
		      int priority)
{
	text_printf(&x->s.objects,
		    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: d, labels: {queue: root.%s}, "
		    "creationTimestamp: \"2020-01-01T00:00:00Z\"}\n"
		    "spec: {priority: %d, containers: [{name: c, resources: {requests: {%s}}}]",
		    name, queue, priority, asks);
	if (node)
		text_printf(&x->s.objects, ", nodeName: %s}\nstatus: {phase: Running}\n", node);
	else
		text_add(&x->s.objects, "}\n");
}

static pod_id pod_of(const struct sizes *x, const char *name)
{
	return cluster_find_pod(x->s.cluster, "d", name);
}

static void tell_of_room(struct sizes *x)
{
	static const int priorities[] = {0, 4, 2, 2};
	char name[8], node[8];

	story_begin(&x->s);
	text_add(&x->s.objects, "---\npartitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n"
				"    - {name: prod, resources: {guaranteed: {memory: 900Gi, vcore: 900}}}\n"
				"    - {name: test, resources: {guaranteed: {vcore: 5}}}\n    - {name: free}\n");
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		snprintf(node, sizeof(node), "n%d", i);
		text_printf(&x->s.objects,
			    "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s}\n"
			    "status: {allocatable: {cpu: \"4\", memory: 10Gi, pods: \"1\"}}\n",
			    node);
		add_sized(x, name, i ? "free" : "test", i ? "memory: 5Gi" : "memory: 9Gi", node, priorities[i]);
	}
	add_sized(x, "filler", "test", "memory: 1Gi", "n0", 0);
	add_sized(x, "small", "prod", "cpu: 1, memory: 1Gi", NULL, 5);
	add_sized(x, "middle", "prod", "cpu: 1, memory: 1500Mi", NULL, 5);
	add_sized(x, "large", "prod", "cpu: 1, memory: 2Gi", NULL, 5);
	story_load(&x->s);
}

/*
 * On n0 are pods of a queue that has less cpu than it is owed: they go for who is short of memory there, but not for a
 * slot alone. Once the filler is gone the small one is short of nothing else, and the large one of both.
 */
static void what_was_free_is_not_what_is_free(void **state)
{
	struct sizes x = {.now_ns = STORY_NOW_NS};

	(void)state;
	tell_of_room(&x);
	x.forgetful = alike_forgetful(&x.s);
	decide_alike(&x, pod_of(&x, "small"), 0, false);
	decide_alike(&x, pod_of(&x, "middle"), 0, false);
	ledger_vacate(cluster_ledger(x.s.cluster), pod_of(&x, "filler"));
	decide_alike(&x, pod_of(&x, "small"), 0, false);
	decide_alike(&x, pod_of(&x, "large"), 0, false);
	assert_int_equal(x.evictions, 4);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_share_what_is_known),
		cmocka_unit_test(what_was_free_is_not_what_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
