/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of nodes from one decision to the next changes no decision: an engine that remembers and one that looks
 * at everything every time decide alike, while pods come, go and move around them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/alike.h"
#include "properties/recorded.h"
#include "rng.h"

enum { STEPS = 60, GROUPS = 4 };

struct pair { /* two engines on one cluster */
	struct story s;
	struct engine *forgetful;
	struct rng rng;
	int64_t now_ns;
	uint64_t decisions, evictions;
	bool has_max;	  /* some queues have one */
	bool is_odd;	  /* there are groups, budgets and pods that mind each other */
	struct text said; /* by the one that remembers */
	const struct bits *tells_of;
};

static uint32_t below(struct pair *p, uint32_t n)
{
	return rng_below(&p->rng, n);
}

/* ---- a world ---- */

/* Of some; one that is not reached says nothing. */
static const char *some_max(struct pair *p, char *out, size_t size, uint32_t least)
{
	snprintf(out, size, " max %u", least + below(p, 10));
	return p->has_max && below(p, 3) == 0 ? out : "";
}

static void add_queues(struct pair *p, bool is_roomy)
{
	char path[64], props[96], max[16];

	for (uint32_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "root.t%u", i);
		snprintf(props, sizeof(props), "guaranteed %u%s%s", is_roomy ? 1 : 6 + below(p, 6),
			 below(p, 6) ? "" : " fence", some_max(p, max, sizeof(max), 12));
		story_queue(&p->s, path, below(p, 4) ? props : NULL);
		for (uint32_t k = 0; k < 2; k++) {
			snprintf(path, sizeof(path), "root.t%u.q%u", i, k);
			snprintf(props, sizeof(props), "guaranteed %u delay 1s%s%s", is_roomy ? 0 : 1 + below(p, 3),
				 below(p, 5) ? "" : " offset 2", some_max(p, max, sizeof(max), 3));
			story_queue(&p->s, path, props);
		}
	}
	if (p->has_max)
		snprintf(props, sizeof(props), "guaranteed %u delay 1s%s", 8 + below(p, 5),
			 some_max(p, max, sizeof(max), 12));
	else
		snprintf(props, sizeof(props), "guaranteed %u delay 1s", is_roomy || !below(p, 3) ? 1000 : 9);
	story_queue(&p->s, "root.want", props);
}

/* Of which some run more than their minimum. Their pods name the queue: one for each group. */
static void add_groups(struct pair *p)
{
	for (uint32_t i = 0; i < GROUPS; i++)
		text_printf(&p->s.objects,
			    "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n"
			    "metadata: {name: g%u, namespace: d}\nspec: {minMember: %u}\n",
			    i, 1 + below(p, 3));
}

static void add_grouped(struct pair *p, uint32_t i, uint32_t n_nodes)
{
	uint32_t group = below(p, GROUPS);
	char name[16], node[16], queue[32], words[96];

	snprintf(name, sizeof(name), "p%02u", i);
	snprintf(node, sizeof(node), "n%u", below(p, n_nodes < 3 ? n_nodes : 3));
	snprintf(queue, sizeof(queue), "root.t%u.q%u", group % 3, group % 2);
	snprintf(words, sizeof(words), "age %u group g%u priority %u%s", 10 + below(p, 50), group, below(p, 2),
		 below(p, 8) ? "" : " budget b");
	story_pod(&p->s, name, queue, 1 + below(p, 2), node, words);
}

static void add_pod(struct pair *p, uint32_t i, uint32_t n_nodes, bool is_waiting)
{
	char name[16], node[16], queue[32], words[96];

	snprintf(name, sizeof(name), "%s%02u", is_waiting ? "w" : "p", i);
	snprintf(node, sizeof(node), "n%u", below(p, n_nodes));
	snprintf(queue, sizeof(queue), "root.t%u.q%u", below(p, 3), below(p, 2));
	snprintf(words, sizeof(words), "age %u%s%s%s priority %u", 10 + below(p, 50), below(p, 6) ? "" : " opted-out",
		 is_waiting || !below(p, 3) ? "" : " app x",
		 p->is_odd && !below(p, 5) ? is_waiting ? " picky" : " budget b" : "", is_waiting ? 1 : below(p, 3));
	story_pod(&p->s, name, (is_waiting ? below(p, 3) > 0 : p->has_max && below(p, 4) == 0) ? "root.want" : queue,
		  1 + below(p, is_waiting ? 4 : 3), is_waiting ? NULL : node, words);
}

static void begin(struct pair *p, uint64_t seed)
{
	uint32_t n_nodes, n_running;
	char name[16];
	bool is_roomy;

	*p = (struct pair){.now_ns = STORY_NOW_NS};
	p->rng.s = seed * 7919;
	story_begin(&p->s);
	is_roomy = below(p, 3) == 0;
	p->is_odd = below(p, 2);
	p->has_max = below(p, 2);
	n_nodes = below(p, 4) ? 4 : 9 + below(p, 40);
	is_roomy &= n_nodes == 4 || !p->is_odd;
	p->s.profile = below(p, 2) ? PROFILE_DEFAULT : PROFILE_YUNIKORN;
	add_queues(p, is_roomy);
	for (uint32_t i = 0; i < n_nodes; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		story_node(&p->s, name, is_roomy ? 14 : 8);
	}
	n_running = (is_roomy ? 7 : 4) * n_nodes;
	if (p->is_odd) {
		add_groups(p);
		story_budget(&p->s, "b", (int)below(p, 3));
	}
	for (uint32_t i = 0; i < n_running; i++)
		if (p->is_odd && below(p, 3) == 0)
			add_grouped(p, i, n_nodes);
		else
			add_pod(p, i, n_nodes, false);
	for (uint32_t i = 0; i < 8 + n_nodes / 2; i++)
		add_pod(p, i, n_nodes, true);
	story_load(&p->s);
	ledger_check_always(cluster_ledger(p->s.cluster), false);
	p->forgetful = alike_forgetful(&p->s);
}

static void end(struct pair *p)
{
	engine_free(p->forgetful);
	text_free(&p->said);
	p->s.plan.arena = NULL;
	story_end(&p->s);
}

/* ---- one decision, in full ---- */

static void decide(struct pair *p, struct engine *en, pod_id pod, struct text *out)
{
	struct engine_run run = {.now_ns = p->now_ns, .cycles = 1, .report = POD_NONE, .tells_of = p->tells_of};

	alike_decide(&p->s, en, &run, pod, out);
}

/* The one that remembers decides first: nodes that others moved pods on for a while are looked at anew. */
static void decide_alike(struct pair *p, pod_id pod, uint64_t seed)
{
	struct ledger *l = cluster_ledger(p->s.cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct text a = {0}, b = {0};

	decide(p, p->s.engine, pod, &b);
	ledger_rollback(l, mark);
	decide(p, p->forgetful, pod, &a);
	p->decisions++;
	p->evictions += strstr(text_str(&b), "takes ") != NULL;
	alike_compare(seed, p->decisions, &a, &b);
	text_add(&p->said, text_str(&b));
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
	uint32_t what = below(p, 12);
	pod_id pod = some(p, what < 7 ? POD_WAITING : what < 9 ? POD_LEAVING : POD_PLACED);

	if (what == 11 && below(p, 3) == 0)
		p->now_ns += (1 + below(p, 200)) * NS_PER_S;
	if (pod == POD_NONE)
		return;
	if (what < 7) {
		decide_alike(p, pod, seed);
	} else if (what == 9 && below(p, 2) == 0) {
		ledger_pod_drop(l, pod);
		ledger_commit(l);
	} else {
		ledger_vacate(l, pod);
	}
}

static uint32_t clusters(uint32_t n)
{
	const char *s = getenv("CEDE_N");

	return s ? (uint32_t)strtoul(s, NULL, 10) : n;
}

static void an_engine_that_remembers_decides_alike(void **state)
{
	uint32_t n = clusters(400);
	uint64_t decisions = 0, evictions = 0;
	struct recorded recorded;

	(void)state;
	recorded_begin(&recorded, "search_cache");
	for (uint64_t seed = 1; seed <= n; seed++) {
		struct pair p;

		begin(&p, seed);
		for (int i = 0; i < STEPS; i++)
			step(&p, seed);
		if (!recorded_is_same_as(&recorded, seed, &p.said))
			fail_msg("cluster %" PRIu64 ": it is decided otherwise than it was (properties/recorded.h)",
				 seed);
		decisions += p.decisions;
		evictions += p.evictions;
		end(&p);
	}
	recorded_end(&recorded);
	printf("search cache: %u clusters, %" PRIu64 " decisions, %" PRIu64 " with victims, 0 violations\n", n,
	       decisions, evictions);
	assert_true(evictions * 50 > decisions);
}

/* Who is a driver depends on pods elsewhere. */
static void a_driver_that_is_gone_makes_another(void **state)
{
	struct pair p = {.now_ns = STORY_NOW_NS};
	struct text t = {0};
	struct ledger *l;
	ledger_mark mark;
	pod_id want;

	(void)state;
	story_begin(&p.s);
	story_queue(&p.s, "root.prod", "guaranteed 9");
	story_queue(&p.s, "root.test", NULL);
	story_node(&p.s, "n1", 1);
	story_node(&p.s, "n2", 5);
	story_pod(&p.s, "first", "root.test", 1, "n1", "app x age 100");
	story_pod(&p.s, "old", "root.test", 2, "n2", "app x age 50");
	story_pod(&p.s, "young", "root.test", 3, "n2", "app x age 40");
	story_node(&p.s, "n3", 2);
	story_pod(&p.s, "other", "root.test", 2, "n3", "age 55");
	story_pod(&p.s, "want", "root.prod", 2, NULL, NULL);
	story_load(&p.s);
	p.forgetful = alike_forgetful(&p.s);
	l = cluster_ledger(p.s.cluster);
	want = cluster_find_pod(p.s.cluster, "d", "want");
	mark = ledger_get_mark(l);
	decide(&p, p.s.engine, want, &t);
	ledger_rollback(l, mark);
	cluster_drop_pod(p.s.cluster, "d", "first");
	ledger_commit(l);
	decide_alike(&p, want, 0);
	if (!strstr(text_str(&t), "takes old"))
		fail_msg("%s", text_str(&t));
	text_free(&t);
	end(&p);
}

/* One of six alone has a driver, who runs shortest. */
static void tell_of_drivers(struct pair *p)
{

	story_begin(&p->s);
	p->now_ns = STORY_NOW_NS;
	story_queue(&p->s, "root.prod", "guaranteed 9");
	story_queue(&p->s, "root.test", NULL);
	for (int i = 0; i < 6; i++) {
		char node[8], name[8], words[32];

		snprintf(node, sizeof(node), "n%d", i);
		snprintf(name, sizeof(name), "p%d", i);
		snprintf(words, sizeof(words), i == 4 ? "app x age 900" : "age %d", 1000 + 100 * i);
		story_node(&p->s, node, 2);
		story_pod(&p->s, name, "root.test", 2, node, words);
	}
	story_node(&p->s, "n7", 1);
	story_pod(&p->s, "other", "root.test", 1, "n7", "app x age 500");
	story_pod(&p->s, "want", "root.prod", 2, NULL, NULL);
	story_load(&p->s);
	p->forgetful = alike_forgetful(&p->s);
}

/* Nothing is left of it but what was said, and what the engines know. */
static void decide_and_forget(struct pair *p, pod_id want)
{
	struct ledger *l = cluster_ledger(p->s.cluster);
	ledger_mark mark = ledger_get_mark(l);

	decide_alike(p, want, 0);
	ledger_rollback(l, mark);
}

/* What a node costs for having a driver alone is forgotten when its application has no other pod any more. */
static void who_is_alone_drives_nothing(void **state)
{
	struct pair p = {0};
	pod_id want;

	(void)state;
	tell_of_drivers(&p);
	want = cluster_find_pod(p.s.cluster, "d", "want");
	decide_and_forget(&p, want);
	decide_and_forget(&p, want); /* the second time all is known */
	assert_non_null(strstr(text_str(&p.said), "takes p0"));
	assert_null(strstr(text_str(&p.said), "takes p4"));
	cluster_drop_pod(p.s.cluster, "d", "other");
	ledger_commit(cluster_ledger(p.s.cluster));
	decide(&p, p.s.engine, want, &p.said); /* that one alone: who decides before changes the node for a while */
	assert_non_null(strstr(text_str(&p.said), "takes p4"));
	end(&p);
}

/* Asked what would be without a rule, an engine asks with it before and after. */
static void without_the_rule_drivers_are_like_others(void **state)
{
	struct pair p = {0};
	pod_id want;

	(void)state;
	tell_of_drivers(&p);
	want = cluster_find_pod(p.s.cluster, "d", "want");
	for (int i = 0; i < 4; i++) {
		p.s.settings->rules_off = i % 2 ? UINT64_C(1) << RULE_DRIVER : 0;
		text_reset(&p.said);
		decide_and_forget(&p, want);
		assert_non_null(strstr(text_str(&p.said), i % 2 ? "takes p4" : "takes p0"));
	}
	end(&p);
}

static void add_sized(struct story *s, const char *name, const char *queue, int priority, const char *node,
		      const char *asks)
{
	struct text since = {0};

	timestamp_text(STORY_NOW_NS - 3600 * NS_PER_S, &since);
	text_printf(&s->objects,
		    "---\napiVersion: v1\nkind: Pod\n"
		    "metadata: {name: %s, namespace: d, labels: {queue: %s}, creationTimestamp: \"%s\"}\n"
		    "spec: {priority: %d, nodeName: %s, containers: [{name: c, resources: {requests: {" STORY_UNIT
		    ": 2, %s}}}]}\nstatus: {phase: Running, startTime: \"%s\"}\n",
		    name, queue, text_str(&since), priority, node, asks, text_str(&since));
	text_free(&since);
}

/* Lost work is counted in shares of the cluster: where there is much more of a type, who holds it loses less. */
static void a_cluster_that_grew_has_other_shares(void **state)
{
	struct pair p = {.now_ns = STORY_NOW_NS};
	struct text before = {0}, after = {0};
	struct obj_node o;
	struct ledger *l;
	ledger_mark mark;
	struct err e;
	pod_id want;

	(void)state;
	story_begin(&p.s);
	story_queue(&p.s, "root.prod", "guaranteed 4");
	story_queue(&p.s, "root.test", NULL);
	story_node(&p.s, "n1", 2);
	story_node(&p.s, "n2", 2);
	story_node(&p.s, "n3", 0);
	add_sized(&p.s, "much-cpu", "root.test", 0, "n1", "cpu: 120");
	add_sized(&p.s, "much-memory", "root.test", 0, "n2", "memory: 100Gi");
	story_node(&p.s, "n4", 2); /* the best two are looked at in any case */
	add_sized(&p.s, "more-memory", "root.test", 0, "n4", "memory: 110Gi");
	story_pod(&p.s, "want", "root.prod", 2, NULL, NULL);
	story_load(&p.s);
	l = cluster_ledger(p.s.cluster);
	want = cluster_find_pod(p.s.cluster, "d", "want");
	mark = ledger_get_mark(l);
	decide(&p, p.s.engine, want, &before);
	ledger_rollback(l, mark);
	o = obj_node_copy(p.s.vocab,
			  ledger_node(l, ledger_node_find(l, names_find(vocab_names(p.s.vocab), "n3", 2)))->obj);
	res_put(&o.allocatable, RES_CPU, INT64_C(1000000000));
	story_must(cluster_put_node(p.s.cluster, &o, &e), &e);
	ledger_commit(l);
	decide(&p, p.s.engine, want, &after);
	assert_non_null(strstr(text_str(&before), "takes much-memory"));
	assert_non_null(strstr(text_str(&after), "takes much-cpu"));
	text_free(&before);
	text_free(&after);
	p.s.plan.arena = NULL;
	story_end(&p.s);
}

/*
 * On n1 the lowest priority is enough, but takes a queue further below its guarantee of memory; who has a higher one
 * does not, and is better than those of the other nodes.
 */
static void who_keeps_guarantees_may_have_a_higher_priority(void **state)
{
	struct pair p = {.now_ns = STORY_NOW_NS};

	(void)state;
	story_begin(&p.s);
	text_add(&p.s.objects, "---\npartitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n"
			       "    - {name: prod, resources: {guaranteed: {" STORY_UNIT ": 9}}}\n"
			       "    - {name: owed, resources: {guaranteed: {memory: 100Gi}}}\n    - {name: test}\n");
	for (int i = 1; i < 6; i++) {
		char node[8], name[8];

		snprintf(node, sizeof(node), "n%d", i);
		snprintf(name, sizeof(name), "p%d", i);
		story_node(&p.s, node, i == 1 ? 4 : 2);
		add_sized(&p.s, name, "root.test", 4 + i, node, "memory: 1Gi");
	}
	add_sized(&p.s, "low", "root.owed", 0, "n1", "memory: 1Gi");
	story_pod(&p.s, "want", "root.prod", 2, NULL, "priority 60");
	story_load(&p.s);
	p.forgetful = alike_forgetful(&p.s);
	decide_alike(&p, cluster_find_pod(p.s.cluster, "d", "want"), 0);
	assert_non_null(strstr(text_str(&p.said), "takes p1"));
	end(&p);
}

/* All who wait. The ledger is as before. tells_of: NULL, who is protected from each of them is told. */
static void plan(struct pair *p, struct engine *en, const struct bits *tells_of, struct text *out)
{
	struct engine_run run = {.now_ns = p->now_ns, .cycles = 1, .report = POD_NONE, .tells_of = tells_of};
	struct decisions plan = {.arena = arena_new(4096)};
	struct ledger *l = cluster_ledger(p->s.cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct err e;

	story_must(engine_plan(en, &run, &plan, &e), &e);
	for (uint32_t i = 0; i < plan.v.n; i++)
		alike_tell(&p->s, plan.v.v[i].pod, &plan.v.v[i], out);
	ledger_rollback(l, mark);
	array_free(&plan.v);
	arena_free(plan.arena);
}

/* Two wait in queues beside each other: rules see them alike. b: of the second queue; words: of those who run. */
static void tell_of_siblings(struct pair *p, const char *b, const char *words)
{

	p->now_ns = STORY_NOW_NS;
	story_begin(&p->s);
	story_queue(&p->s, "root.a", "guaranteed 9");
	story_queue(&p->s, "root.b", b);
	story_queue(&p->s, "root.test", NULL);
	story_budget(&p->s, "b", 1);
	for (int i = 0; i < 4; i++) {
		char node[8], name[8];

		snprintf(node, sizeof(node), "n%d", i);
		snprintf(name, sizeof(name), "t%d", i);
		story_node(&p->s, node, 2);
		story_pod(&p->s, name, "root.test", 2, node, words);
	}
	story_pod(&p->s, "of-a", "root.a", 2, NULL, NULL);
	story_pod(&p->s, "of-b", "root.b", 2, NULL, NULL);
	story_load(&p->s);
	p->forgetful = alike_forgetful(&p->s);
}

static void plan_alike(struct pair *p, const struct bits *tells_of)
{
	struct text all = {0};

	text_reset(&p->said);
	plan(p, p->s.engine, tells_of, &p->said);
	plan(p, p->forgetful, tells_of, &all);
	assert_string_equal(text_str(&p->said), text_str(&all));
	text_free(&all);
}

static void a_sibling_finds_the_budget_spent(void **state)
{
	struct pair p = {0};

	(void)state;
	tell_of_siblings(&p, "guaranteed 9", "age 100 budget b");
	plan_alike(&p, NULL);
	assert_non_null(strstr(text_str(&p.said), "takes t"));
	assert_non_null(strstr(text_str(&p.said), "leaves t"));
	end(&p);
}

static void a_sibling_may_count_for_more(void **state)
{
	struct pair p = {0};

	(void)state;
	tell_of_siblings(&p, "guaranteed 9 offset 9", "age 100 priority 5");
	plan_alike(&p, NULL);
	assert_non_null(strstr(text_str(&p.said), "takes t"));
	assert_non_null(strstr(text_str(&p.said), "of-a: outcome 2"));
	end(&p);
}

/* From one plan to the next settings may change. */
static void without_a_rule_siblings_are_told_otherwise(void **state)
{
	struct pair p = {0};

	(void)state;
	tell_of_siblings(&p, "guaranteed 9", "age 100 priority 5");
	for (int i = 0; i < 4; i++) {
		p.s.settings->rules_off = i % 2 ? UINT64_C(1) << RULE_PRIORITY : 0;
		plan_alike(&p, NULL);
		assert_true((strstr(text_str(&p.said), "takes t") != NULL) == (i % 2 == 1));
	}
	end(&p);
}

/*
 * One of root.b takes the youngest of n0; one of root.a does not ask whoever is of its own queue there; and then
 * another of root.b takes him.
 */
static void who_is_not_asked_by_one_is_by_another(void **state)
{
	struct pair p = {.now_ns = STORY_NOW_NS};
	const struct bits nobody = {0};

	(void)state;
	story_begin(&p.s);
	story_queue(&p.s, "root.a", NULL);
	story_queue(&p.s, "root.b", NULL);
	story_queue(&p.s, "root.test", NULL);
	story_node(&p.s, "n0", 4);
	story_pod(&p.s, "young", "root.test", 2, "n0", "age 10");
	story_pod(&p.s, "of-a", "root.a", 2, "n0", "age 20");
	for (int i = 1; i < 20; i++) {
		char node[8], name[8], words[32];

		snprintf(node, sizeof(node), "n%d", i);
		snprintf(name, sizeof(name), "t%02d", i);
		snprintf(words, sizeof(words), "age %d", 100 + 10 * i);
		story_node(&p.s, node, 2);
		story_pod(&p.s, name, "root.test", 2, node, words);
	}
	story_pod(&p.s, "a1", "root.a", 2, NULL, NULL);
	story_pod(&p.s, "b1", "root.b", 2, NULL, NULL);
	story_pod(&p.s, "b2", "root.b", 2, NULL, NULL);
	story_load(&p.s);
	p.s.settings->rules_off = UINT64_C(1) << RULE_GUARANTEE;
	p.forgetful = alike_forgetful(&p.s);
	plan_alike(&p, &nobody);
	assert_non_null(strstr(text_str(&p.said), "takes of-a"));
	end(&p);
}

/*
 * Who is bigger than what its queue has above its guarantee does not go, and what its node costs without it is good for
 * that long alone: when the queue has more again, nothing changed on the node.
 */
static void who_was_too_big_may_go_when_its_queue_has_more(void **state)
{
	struct pair p = {.now_ns = STORY_NOW_NS};
	struct ledger *l;
	ledger_mark mark;
	pod_id want;

	(void)state;
	story_begin(&p.s);
	story_queue(&p.s, "root.prod", "guaranteed 9");
	story_queue(&p.s, "root.owed", "guaranteed 5");
	story_queue(&p.s, "root.test", NULL);
	story_node(&p.s, "n0", 4);
	story_pod(&p.s, "big", "root.owed", 2, "n0", "priority 1");
	story_pod(&p.s, "dear", "root.test", 2, "n0", "priority 9");
	for (int i = 1; i < 6; i++) {
		char node[8], name[8], words[16];

		snprintf(node, sizeof(node), "n%d", i);
		snprintf(name, sizeof(name), "p%d", i);
		snprintf(words, sizeof(words), "priority %d", 2 + i);
		story_node(&p.s, node, 2);
		story_pod(&p.s, name, "root.test", 2, node, words);
	}
	story_node(&p.s, "n6", 4);
	story_node(&p.s, "n7", 1); /* too small for who waits */
	story_pod(&p.s, "far", "root.owed", 4, "n6", "priority 1 opted-out");
	story_pod(&p.s, "more", "root.owed", 1, "n7", "priority 1 opted-out");
	story_pod(&p.s, "want", "root.prod", 2, NULL, "priority 60");
	story_load(&p.s);
	l = cluster_ledger(p.s.cluster);
	want = cluster_find_pod(p.s.cluster, "d", "want");
	mark = ledger_get_mark(l);
	ledger_vacate(l, cluster_find_pod(p.s.cluster, "d", "more"));
	decide(&p, p.s.engine, want, &p.said);
	assert_non_null(strstr(text_str(&p.said), "takes p1"));
	ledger_rollback(l, mark);
	decide(&p, p.s.engine, want, &p.said);
	assert_non_null(strstr(text_str(&p.said), "takes big"));
	end(&p);
}

/*
 * One pod of a group that runs its minimum is kept by its window. When another pod of it comes, on another node, it is
 * surplus and may go; when that one has gone, it stays again.
 */
static void let_others_of_its_group_come_and_go(const struct bits *tells_of)
{
	struct pair p = {.now_ns = STORY_NOW_NS, .tells_of = tells_of};
	struct ledger *l;
	pod_id want, other;

	story_begin(&p.s);
	story_queue(&p.s, "root.prod", "guaranteed 9");
	story_queue(&p.s, "root.test", NULL);
	story_node(&p.s, "n1", 2);
	story_node(&p.s, "n2", 1);
	text_printf(&p.s.objects,
		    "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\n"
		    "metadata: {name: g, namespace: d}\nspec: {minMember: 1, preemptibility: preemptible}\n");
	story_pod(&p.s, "one", "root.test", 2, "n1", "group g age 10");
	story_pod(&p.s, "other", "root.test", 1, "n2", "group g age 10");
	story_pod(&p.s, "want", "root.prod", 2, NULL, "priority 60");
	story_load(&p.s);
	p.s.settings->min_runtime.reclaim_ns = 600 * NS_PER_S;
	p.forgetful = alike_forgetful(&p.s);
	l = cluster_ledger(p.s.cluster);
	want = cluster_find_pod(p.s.cluster, "d", "want");
	other = cluster_find_pod(p.s.cluster, "d", "other");
	for (int i = 0; i < 200; i++) {
		ledger_mark mark = ledger_get_mark(l);

		ledger_vacate(l, other);
		decide_alike(&p, want, 0);
		assert_int_equal(p.evictions, i);
		ledger_rollback(l, mark);
		decide_alike(&p, want, 0);
		assert_int_equal(p.evictions, i + 1);
		ledger_rollback(l, mark);
		for (int k = 0; k < i; k++) { /* more and more happens in between */
			ledger_vacate(l, other);
			ledger_rollback(l, mark);
		}
	}
	end(&p);
}

static void who_is_alone_in_its_group_depends_on_other_nodes(void **state)
{
	(void)state;
	let_others_of_its_group_come_and_go(NULL);
}

/* Then what is known of a node is not asked for who is protected there. */
static void also_where_nobody_is_told(void **state)
{
	struct bits nobody = {0};

	(void)state;
	let_others_of_its_group_come_and_go(&nobody);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_alone_in_its_group_depends_on_other_nodes),
		cmocka_unit_test(also_where_nobody_is_told),
		cmocka_unit_test(who_was_too_big_may_go_when_its_queue_has_more),
		cmocka_unit_test(a_driver_that_is_gone_makes_another),
		cmocka_unit_test(who_is_alone_drives_nothing),
		cmocka_unit_test(without_the_rule_drivers_are_like_others),
		cmocka_unit_test(who_keeps_guarantees_may_have_a_higher_priority),
		cmocka_unit_test(a_cluster_that_grew_has_other_shares),
		cmocka_unit_test(a_sibling_finds_the_budget_spent),
		cmocka_unit_test(a_sibling_may_count_for_more),
		cmocka_unit_test(who_is_not_asked_by_one_is_by_another),
		cmocka_unit_test(without_a_rule_siblings_are_told_otherwise),
		cmocka_unit_test(an_engine_that_remembers_decides_alike),
	};

	return cmocka_run_group_tests_name("search_cache", tests, NULL, NULL);
}
