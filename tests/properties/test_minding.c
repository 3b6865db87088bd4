/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods that stay away from others or are spread with them: what is known of nodes without asking filters, that nobody
 * helps there by going or that they are too full, changes no decision. An engine that remembers and one that looks at
 * everything every time decide alike, while pods come and go around them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/alike.h"
#include "rng.h"

enum { STEPS = 50, GROUPS = 2, TEMPLATES = 2 };

struct pair { /* two engines on one cluster */
	struct story s;
	struct engine *forgetful;
	struct rng rng;
	int64_t now_ns;
	uint32_t n_nodes;
	bool has_groups, has_empty;
	struct text templates[TEMPLATES]; /* constraints of those who wait */
	bool holds;			  /* many small pods get reserved room, and who had it before leaves slowly */
	uint64_t decisions, evictions, in_vain;
};

static uint32_t below(struct pair *p, uint32_t n)
{
	return rng_below(&p->rng, n);
}

/* ---- a world ---- */

static const char *some_app(struct pair *p)
{
	return below(p, 3) ? "a" : "b";
}

static const char *some_key(struct pair *p)
{
	return below(p, 2) ? "topology.kubernetes.io/zone" : "kubernetes.io/hostname";
}

static void add_node(struct pair *p, uint32_t i)
{
	text_printf(&p->s.objects,
		    "---\napiVersion: v1\nkind: Node\n"
		    "metadata: {name: n%u, labels: {kubernetes.io/hostname: n%u, topology.kubernetes.io/zone: z%u%s}}\n"
		    "status: {allocatable: {" STORY_UNIT ": %u, pods: 20}}\n",
		    i, i, i % 2, below(p, 3) ? ", disk: fast" : "", (p->holds ? 8 : 4) + below(p, 4));
}

static void add_constraints(struct pair *p, struct text *o)
{
	if (below(p, 3) == 0)
		text_add(o, "  nodeSelector: {disk: fast}\n");
	if (below(p, p->holds ? 6 : 2) == 0)
		text_printf(o,
			    "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			    "[{topologyKey: %s, labelSelector: {matchLabels: {app: %s}}}]}}\n",
			    some_key(p), some_app(p));
	if (below(p, p->holds ? 5 : 3) == 0)
		return;
	text_printf(o,
		    "  topologySpreadConstraints: [{maxSkew: %u, topologyKey: %s, whenUnsatisfiable: DoNotSchedule, "
		    "labelSelector: ",
		    1 + below(p, 3), some_key(p));
	if (p->has_empty && below(p, 3) == 0)
		text_add(o, "{}}]\n");
	else
		text_printf(o, "{matchLabels: {app: %s}}}]\n", some_app(p));
}

/* Pods of a group are of one queue. */
static void add_pod(struct pair *p, const char *name, bool is_waiting)
{
	uint32_t group = !is_waiting && p->has_groups && below(p, 2) ? below(p, GROUPS) : GROUPS;
	const char *queue = (group < GROUPS ? group % 2 : below(p, 2)) ? "root.owed" : "root.test";
	uint32_t most = p->holds ? 1 : is_waiting ? 3 : 2;
	struct text *o = &p->s.objects, when = {0};

	queue = is_waiting ? "root.want" : queue;
	timestamp_text(STORY_NOW_NS - (10 + below(p, 50)) * NS_PER_S, &when);
	text_printf(o,
		    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: d\n"
		    "  creationTimestamp: \"%s\"\n  labels: {queue: %s, app: %s}\n",
		    name, text_str(&when), queue, is_waiting || !below(p, 6) ? some_app(p) : "c");
	if (group < GROUPS)
		text_printf(o, "  annotations: {pod-group-name: g%u}\n", group);
	text_printf(o, "spec:\n  priority: %u\n", is_waiting ? 2 : below(p, 4));
	if (is_waiting && below(p, 4))
		text_add(o, text_str(&p->templates[below(p, TEMPLATES)]));
	else if (is_waiting || below(p, 4) == 0)
		add_constraints(p, o);
	if (!is_waiting)
		text_printf(o, "  nodeName: n%u\n", below(p, p->n_nodes));
	text_printf(o, "  containers: [{name: c, resources: {requests: {" STORY_UNIT ": \"%u\"}}}]\n",
		    1 + below(p, most));
	if (!is_waiting)
		text_printf(o, "status: {phase: Running, startTime: \"%s\"}\n", text_str(&when));
	text_free(&when);
}

static void add_queues(struct pair *p)
{
	char props[32];

	story_queue(&p->s, "root.want", "guaranteed 100");
	snprintf(props, sizeof(props), "guaranteed %u", 2 + below(p, 8));
	story_queue(&p->s, "root.owed", props);
	story_queue(&p->s, "root.test", NULL);
}

static void add_objects(struct pair *p)
{
	char name[16];

	for (uint32_t i = 0; i < p->n_nodes; i++)
		add_node(p, i);
	for (uint32_t i = 0; p->has_groups && i < GROUPS; i++)
		text_printf(&p->s.objects,
			    "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n"
			    "metadata: {name: g%u, namespace: d}\nspec: {minMember: %u}\n",
			    i, 1 + below(p, 3));
	for (uint32_t i = 0; i < (p->holds ? 9 : 4) * p->n_nodes; i++) {
		snprintf(name, sizeof(name), "p%02u", i);
		add_pod(p, name, false);
	}
	for (uint32_t i = 0; i < (p->holds ? 30 : 12); i++) {
		snprintf(name, sizeof(name), "w%02u", i);
		add_pod(p, name, true);
	}
}

static void begin(struct pair *p, uint64_t seed)
{

	*p = (struct pair){.now_ns = STORY_NOW_NS};
	p->rng.s = seed * 7919;
	story_begin(&p->s);
	p->s.profile = below(p, 3) ? PROFILE_DEFAULT : PROFILE_YUNIKORN;
	p->n_nodes = 2 + below(p, 5);
	p->has_groups = below(p, 3) == 0;
	p->has_empty = below(p, 4) == 0;
	p->holds = below(p, 2);
	add_queues(p);
	for (int i = 0; i < TEMPLATES; i++)
		add_constraints(p, &p->templates[i]);
	add_objects(p);
	story_load(&p->s);
	ledger_check_always(cluster_ledger(p->s.cluster), false);
	p->forgetful = alike_forgetful(&p->s);
}

static void end(struct pair *p)
{
	engine_free(p->forgetful);
	for (int i = 0; i < TEMPLATES; i++)
		text_free(&p->templates[i]);
	p->s.plan.arena = NULL;
	story_end(&p->s);
}

/* ---- one decision, in full ---- */

static void decide(struct pair *p, struct engine *en, pod_id pod, struct text *out)
{
	struct engine_run run = {.now_ns = p->now_ns, .cycles = 1, .report = POD_NONE};

	p->in_vain += alike_decide(&p->s, en, &run, pod, out) == OUTCOME_WAITING;
}

static void decide_alike(struct pair *p, pod_id pod, uint64_t seed)
{
	struct ledger *l = cluster_ledger(p->s.cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct text a = {0}, b = {0};

	decide(p, p->s.engine, pod, &b); /* to the one that remembers nothing has changed */
	ledger_rollback(l, mark);
	decide(p, p->forgetful, pod, &a);
	p->decisions++;
	p->evictions += strstr(text_str(&b), "takes ") != NULL;
	alike_compare(seed, p->decisions, &a, &b);
	text_free(&a);
	text_free(&b);
}

/* ---- what happens ---- */

static pod_id some(struct pair *p, enum pod_state state)
{
	return alike_some(&p->s, state, below(p, ledger_pod_limit(cluster_ledger(p->s.cluster))));
}

static void step(struct pair *p, uint64_t seed)
{
	struct ledger *l = cluster_ledger(p->s.cluster);
	uint32_t what = below(p, p->holds ? 10 : 12);
	pod_id pod = some(p, what < 9 ? POD_WAITING : what < 11 ? POD_LEAVING : POD_PLACED);

	p->now_ns += 10 * NS_PER_S;
	if (pod == POD_NONE)
		return;
	if (what < 9)
		decide_alike(p, pod, seed);
	else
		ledger_vacate(l, pod);
}

static void who_minds_others_is_decided_alike(void **state)
{
	const char *s = getenv("CEDE_N");
	uint32_t n = s ? (uint32_t)strtoul(s, NULL, 10) : 1500;
	uint64_t decisions = 0, evictions = 0, in_vain = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= n; seed++) {
		struct pair p;

		begin(&p, seed);
		for (int i = 0; i < STEPS; i++)
			step(&p, seed);
		decisions += p.decisions;
		evictions += p.evictions;
		in_vain += p.in_vain;
		end(&p);
	}
	printf("minding: %u clusters, %" PRIu64 " decisions, %" PRIu64 " with victims, 0 violations\n", n, decisions,
	       evictions);
	assert_true(evictions * 50 > decisions);
	assert_true(in_vain * 5 > decisions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(who_minds_others_is_decided_alike)};

	return cmocka_run_group_tests_name("minding", tests, NULL, NULL);
}
