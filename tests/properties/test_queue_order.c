/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of waiting work in profile default: entitled work before all other, then the queue that is furthest below
 * its guarantee, then priority, age and name; computed anew after each decision. First by small clusters, then against
 * a model that really works everything out anew before every turn, on random ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/queue_order.h"
#include "properties/story.h"
#include "rng.h"

/* ---- small clusters ---- */

static void expect(struct story *s, const char *sentence, const char *line)
{
	struct text got = {0};

	story_plan(s);
	story_line(s, &got);
	if (!str_eq(text_str(&got), line))
		print_error("%s\n", sentence);
	assert_string_equal(text_str(&got), line);
	text_free(&got);
	story_end(s);
}

static void queues(struct story *s, const char *tree)
{
	story_begin(s);
	text_printf(&s->objects, "---\npartitions: [{name: default, queues: [{name: root, queues: [%s]}]}]\n", tree);
}

static void cpu_pod(struct story *s, const char *name, const char *queue, int cpu, int units, int priority)
{
	text_printf(&s->objects,
		    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: d, creationTimestamp: "
		    "\"2026-11-15T11:00:00Z\", labels: {queue: %s}}\nspec: {priority: %d, containers: [{name: c, "
		    "resources: {requests: {cpu: \"%d\", " STORY_UNIT ": \"%d\"}}}]}\n",
		    name, queue, priority, cpu, units);
}

#define GUARANTEED(unit) "resources: {guaranteed: {" STORY_UNIT ": " #unit "}}"

static void order_entitled_work_comes_before_all_other(void **state)
{
	struct story s;

	(void)state;
	queues(&s, "{name: a, resources: {guaranteed: {vcore: 100}}}, {name: b, " GUARANTEED(6) "}");
	story_node(&s, "n1", 8);
	for (int i = 0; i < 4; i++)
		story_pod(&s, (const char *[]){"a0", "a1", "a2", "a3"}[i], "root.a", 1, NULL, "priority 9");
	story_pod(&s, "b0", "root.b", 6, NULL, "age 10");
	expect(&s,
	       "nobody takes free room that somebody within his guarantee waits for, though he uses nothing himself",
	       "b0 placed n1; a0 placed n1; a1 placed n1; a2 waiting; a3 waiting");

	queues(&s, "{name: a, " GUARANTEED(2) "}, {name: b, " GUARANTEED(4) "}");
	story_node(&s, "n1", 8);
	story_pod(&s, "a0", "root.a", 3, NULL, "age 9999");
	story_pod(&s, "a1", "root.a", 2, NULL, NULL);
	story_pod(&s, "b0", "root.b", 4, NULL, NULL);
	expect(&s, "in its leaf too: what would carry the queue above its guarantee comes later, however old it is",
	       "a1 placed n1; b0 placed n1; a0 waiting");

	queues(&s, "{name: a, " GUARANTEED(3) "}, {name: b, " GUARANTEED(3) "}");
	story_node(&s, "n1", 5);
	story_pod(&s, "a0", "root.a", 2, NULL, NULL);
	story_pod(&s, "a1", "root.a", 2, NULL, NULL);
	story_pod(&s, "b0", "root.b", 3, NULL, "age 10");
	expect(&s, "computed anew: with a0 placed a1 is not entitled any more, and b0 comes first",
	       "a0 placed n1; b0 placed n1; a1 waiting");

	queues(&s, "{name: p, " GUARANTEED(3) ", queues: [{name: a, " GUARANTEED(
			   3) "}, {name: b}]}, {name: z, " GUARANTEED(1) "}");
	story_node(&s, "n1", 3);
	story_pod(&s, "b0", "root.p.b", 2, NULL, NULL);
	story_pod(&s, "a0", "root.p.a", 2, NULL, NULL);
	story_pod(&s, "z0", "root.z", 1, NULL, NULL);
	expect(&s, "every queue on the path: a parent's guarantee entitles a child without one, as far as it goes",
	       "a0 placed n1; z0 placed n1; b0 waiting");
}

static void order_a_type_that_nothing_guarantees_is_not_entitled(void **state)
{
	struct story s;

	(void)state;
	queues(&s, "{name: a, " GUARANTEED(9) "}, {name: b, resources: {guaranteed: {" STORY_UNIT ": 9, vcore: 9}}}");
	text_add(&s.objects,
		 "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"9\", "
		 "pods: \"9\", " STORY_UNIT ": \"9\"}}\n");
	cpu_pod(&s, "a0", "root.a", 1, 9, 5);
	cpu_pod(&s, "b0", "root.b", 1, 1, 0);
	expect(&s, "a0 asks for cpu, which nobody guarantees to it", "b0 placed n1; a0 waiting");

	queues(&s, "{name: a}, {name: b, " GUARANTEED(1) "}");
	text_add(&s.objects,
		 "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"9\", "
		 "pods: \"1\", " STORY_UNIT ": \"9\"}}\n");
	cpu_pod(&s, "a0", "root.a", 0, 0, 5);
	cpu_pod(&s, "b0", "root.b", 0, 1, 0);
	expect(&s, "who asks for nothing is entitled to nothing, and takes no slot", "b0 placed n1; a0 waiting");

	queues(&s, "{name: a, resources: {guaranteed: {vcore: 9, " STORY_UNIT
		   ": 0}}}, {name: b, resources: {guaranteed: {vcore: 9}}}");
	story_node(&s, "n1", 3);
	story_pod(&s, "old", "root.a", 2, "n1", NULL);
	story_pod(&s, "a0", "root.a", 1, NULL, NULL);
	story_pod(&s, "b0", "root.b", 1, NULL, NULL);
	expect(&s, "what is guaranteed as nothing is no measure of what is used", "a0 placed n1; b0 waiting");
}

static void add_group(struct story *s, const char *name, int min)
{
	text_printf(&s->objects,
		    "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {namespace: d, name: %s}\n"
		    "spec: {minMember: %d, queue: root.a, priorityClassName: train}\n",
		    name, min);
}

static void order_a_gang_is_one_work(void **state)
{
	struct story s;

	(void)state;
	queues(&s, "{name: a, " GUARANTEED(3) "}, {name: b, " GUARANTEED(4) "}");
	story_node(&s, "n1", 7);
	add_group(&s, "g", 2);
	story_pod(&s, "g0", NULL, 2, NULL, "group g");
	story_pod(&s, "g1", NULL, 2, NULL, "group g");
	story_pod(&s, "b0", "root.b", 4, NULL, "age 10");
	expect(&s, "two pods of 2 are 4 of 3 guaranteed: not entitled, though one alone would be",
	       "b0 placed n1; g0 waiting; g1 waiting");
}

static void within_one_cycle_nobody_who_got_a_place_is_a_victim(void **state)
{
	struct story s;

	(void)state;
	queues(&s, "{name: a, " GUARANTEED(2) "}, {name: b, " GUARANTEED(4) "}");
	story_node(&s, "n1", 8);
	story_pod(&s, "a0", "root.a", 3, NULL, "priority 9");
	story_pod(&s, "a1", "root.a", 2, NULL, NULL);
	story_pod(&s, "b0", "root.b", 4, NULL, NULL);
	expect(&s, "a1 is entitled and comes first; a0, of higher priority, does not take its room",
	       "a1 placed n1; b0 placed n1; a0 waiting");

	queues(&s, "{name: a, " GUARANTEED(2) "}, {name: b, " GUARANTEED(4) "}");
	story_node(&s, "n1", 8);
	story_pod(&s, "a0", "root.a", 3, NULL, "priority 9");
	story_pod(&s, "a1", "root.a", 2, NULL, NULL);
	story_pod(&s, "b0", "root.b", 4, NULL, NULL);
	s.cycles = 2;
	expect(&s, "in the next one it runs, and may go like everybody",
	       "a1 placed n1; b0 placed n1; a0 waiting; a0 preempt n1 [a1]");
}

/* ---- the model ---- */

struct model {
	const struct engine *en;
	const struct ledger *l;
	const struct queue_tree *tree;
	pod_id waiting[128];
	bool was_tried[128], group_tried[16];
	uint32_t n;
};

static int64_t held(const struct model *m, queue_id q, res_id r)
{
	return ledger_queue_used(m->l, q)[r] + ledger_queue_reserved(m->l, q)[r];
}

static void add_request(const struct model *m, const struct pod *p, int64_t *adds, uint64_t *asked)
{
	const struct res_list *a = &shape_get(ledger_vocab(m->l), p->shape)->request;

	adds[RES_PODS] += p->nomination == NOMINATION_NONE;
	for (uint32_t i = 0; i < a->n; i++) {
		if (a->v[i].type == RES_PODS || !a->v[i].amount)
			continue;
		*asked |= UINT64_C(1) << a->v[i].type;
		adds[a->v[i].type] += p->nomination == NOMINATION_NONE ? a->v[i].amount : 0;
	}
}

/* Groups of the test have one podset and pods of one age, named in order. */
static bool is_claim(const struct model *m, const struct pod *p)
{
	const struct podset *s = p->group == GROUP_NONE ? NULL : ledger_podset(m->l, p->podset);

	return s && !m->group_tried[p->group] && (int64_t)s->n_placed < s->min_member;
}

static bool is_entitled(const struct model *m, uint32_t rank)
{
	const struct pod *p = ledger_pod(m->l, m->waiting[rank]);
	int64_t adds[RES_MAX] = {0};
	uint64_t asked = 0, granted = 0;

	if (is_claim(m, p)) {
		const struct podset *s = ledger_podset(m->l, p->podset);
		int64_t lacks = (int64_t)s->min_member - s->n_placed;

		for (int with_claim = 1; with_claim >= 0; with_claim--)
			for (uint32_t i = 0; i < m->n && lacks > 0; i++) {
				const struct pod *x = ledger_pod(m->l, m->waiting[i]);

				if (x->group != p->group || x->state != POD_WAITING ||
				    (x->nomination != NOMINATION_NONE) != with_claim)
					continue;
				add_request(m, x, adds, &asked);
				lacks--;
			}
	} else {
		add_request(m, p, adds, &asked);
	}
	for (queue_id q = p->queue; q != QUEUE_NONE; q = queue_get(m->tree, q)->parent) {
		const struct res_vec *g = &queue_get(m->tree, q)->spec.guaranteed;

		for (res_id r = 0; r < RES_MAX; r++) {
			if ((r != RES_PODS && !(asked >> r & 1)) || !res_has(g, r) || g->v[r] <= 0)
				continue;
			granted |= (UINT64_C(1) << r) & asked;
			if (held(m, q, r) + adds[r] > g->v[r])
				return false;
		}
	}
	return asked && granted == asked;
}

static long double share(const struct model *m, queue_id q)
{
	const struct res_vec *g = &queue_get(m->tree, q)->spec.guaranteed;
	const int64_t *capacity = ledger_capacity(m->l);
	long double most = 0;
	bool has = false;

	for (res_id r = 0; r < ledger_stride(m->l); r++)
		if (res_has(g, r) && g->v[r] > 0) {
			long double s = (long double)held(m, q, r) / (long double)g->v[r];

			has = true;
			most = s > most ? s : most;
		}
	if (has)
		return most;
	for (res_id r = 0; r < ledger_stride(m->l); r++)
		if (r != RES_PODS && capacity[r] > 0) {
			long double s = (long double)held(m, q, r) / (long double)capacity[r];

			most = s > most ? s : most;
		}
	return most + 1;
}

/* The first pod of the class at or below q, by the order of the leaf; UINT32_MAX: none. */
static uint32_t first_below(const struct model *m, queue_id q, bool entitled)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (!m->was_tried[i] && queue_is_above(m->tree, q, ledger_pod(m->l, m->waiting[i])->queue) &&
		    (!entitled || is_entitled(m, i)))
			return i;
	return UINT32_MAX;
}

static uint32_t model_next(const struct model *m)
{
	bool entitled = first_below(m, QUEUE_ROOT, true) != UINT32_MAX;
	queue_id q = QUEUE_ROOT;

	while (!queue_is_leaf(m->tree, q)) {
		const struct queue *queue = queue_get(m->tree, q);
		queue_id best = QUEUE_NONE;

		for (uint32_t i = 0; i < queue->children.n; i++) {
			queue_id child = queue->children.v[i];

			if (first_below(m, child, entitled) != UINT32_MAX &&
			    (best == QUEUE_NONE || share(m, child) < share(m, best)))
				best = child;
		}
		assert_true(best != QUEUE_NONE);
		q = best;
	}
	return first_below(m, q, entitled);
}

/* ---- random clusters ---- */

static void random_queue(struct story *s, struct rng *rng, const char *name, bool has_children)
{
	text_printf(&s->objects, "{name: %s", name);
	if (rng_below(rng, 3)) {
		text_add(&s->objects, ", resources: {guaranteed: {");
		if (rng_below(rng, 5))
			text_printf(&s->objects, STORY_UNIT ": %u, ", (has_children ? 24 : 1) + rng_below(rng, 8));
		if (rng_below(rng, 5))
			text_printf(&s->objects, "vcore: %u", (has_children ? 24 : 1) + rng_below(rng, 8));
		else if (!has_children)
			text_printf(&s->objects, "pods: %u", 1 + rng_below(rng, 9));
		text_add(&s->objects, "}}");
	}
	text_add(&s->objects, has_children ? ", queues: [" : "}");
}

static void random_world(struct story *s, struct rng *rng)
{
	char name[16], queue[32];

	story_begin(s);
	text_add(&s->objects, "---\npartitions: [{name: default, queues: [{name: root, queues: [");
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "t%d", i);
		random_queue(s, rng, name, true);
		for (int k = 0; k < 3; k++) {
			snprintf(name, sizeof(name), "q%d", k);
			random_queue(s, rng, name, false);
			text_add(&s->objects, ", ");
		}
		text_add(&s->objects, "]}, ");
	}
	text_add(&s->objects, "]}]}]\n");
	story_node(s, "n1", 60);
	for (int i = 0; i < 3; i++)
		text_printf(
			&s->objects,
			"---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {namespace: d, name: "
			"g%d}\nspec: {minMember: %u, queue: root.t%d.q1, priorityClassName: train}\n",
			i, 2 + rng_below(rng, 3), i);
	for (uint32_t i = 0; i < 60; i++) {
		bool is_grouped = rng_below(rng, 5) == 0, runs = rng_below(rng, 3) == 0;

		snprintf(name, sizeof(name), "p%02u", i);
		snprintf(queue, sizeof(queue), "root.t%u.q%u", rng_below(rng, 3), rng_below(rng, 3));
		text_printf(&s->objects,
			    "---\napiVersion: v1\nkind: Pod\nmetadata: {name: %s, namespace: d, labels: {queue: %s}, "
			    "annotations: {%s%.*u}}\nspec: {priority: %u, %s containers: [{name: c, resources: "
			    "{requests: {",
			    name, queue, is_grouped ? "pod-group-name: g" : "x: y", is_grouped, rng_below(rng, 3),
			    rng_below(rng, 3), runs ? "nodeName: n1, " : "");
		if (rng_below(rng, 4))
			text_printf(&s->objects, "cpu: %u, ", rng_below(rng, 4));
		text_printf(&s->objects, STORY_UNIT ": \"%u\"}}}]}\n", rng_below(rng, 4));
	}
}

static int by_rank(const void *a, const void *b, void *ctx)
{
	const struct ledger *l = ctx;
	const struct pod *x = ledger_pod(l, *(const pod_id *)a), *y = ledger_pod(l, *(const pod_id *)b);

	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	return name_cmp(vocab_names(ledger_vocab(l)), x->name, y->name);
}

static void model_fill(struct model *m, struct story *s)
{
	m->l = cluster_ledger(s->cluster);
	m->tree = ledger_queues(m->l);
	for (pod_id i = 0; i < ledger_pod_limit(m->l); i++)
		if (ledger_pod(m->l, i)->state == POD_WAITING)
			m->waiting[m->n++] = i;
	qsort_r(m->waiting, m->n, sizeof(*m->waiting), by_rank, (void *)m->l);
}

/* What a decision might do: the pod gets a place, or room, or nothing; others go, or lose what was reserved. */
static void random_moves(struct ledger *l, struct rng *rng, pod_id pod)
{
	if (ledger_pod(l, pod)->state == POD_WAITING && rng_below(rng, 4))
		ledger_place(l, pod, 0);
	else if (ledger_pod(l, pod)->state == POD_WAITING && rng_below(rng, 2))
		ledger_reserve(l, 0, pod);
	for (uint32_t i = rng_below(rng, 3); i > 0; i--) {
		pod_id x = rng_below(rng, ledger_pod_limit(l));
		ledger_mark mark = ledger_get_mark(l);

		if (ledger_pod(l, x)->state == POD_PLACED && x != pod)
			ledger_evict(l, x);
		if (rng_below(rng, 3) == 0)
			ledger_rollback(l, mark);
	}
}

/* Another order before it, of some of them and not to its end, leaves no trace. */
static void break_off(struct queue_order *t, struct ledger *l, const struct model *m, struct rng *rng)
{
	ledger_mark mark = ledger_get_mark(l);
	uint32_t n = rng_below(rng, m->n + 1);

	queue_order_begin(t, m->waiting, n);
	for (uint32_t i = rng_below(rng, n + 1); i > 0; i--)
		random_moves(l, rng, queue_order_next(t));
	queue_order_end(t);
	ledger_rollback(l, mark);
}

static void turns_agree(uint64_t seed)
{
	struct rng rng = {seed};
	struct model m = {.n = 0};
	struct queue_order *t;
	struct story s;

	random_world(&s, &rng);
	story_load(&s);
	ledger_check_always(cluster_ledger(s.cluster), false);
	model_fill(&m, &s);
	t = queue_order_new(
		&(struct engine){.cluster = s.cluster, .ledger = cluster_ledger(s.cluster), .config = s.settings});
	break_off(t, cluster_ledger(s.cluster), &m, &rng);
	queue_order_begin(t, m.waiting, m.n);
	for (uint32_t i = 0; i < m.n; i++) {
		uint32_t want = model_next(&m);
		pod_id got = queue_order_next(t);
		group_id g = ledger_pod(m.l, got)->group;

		if (got != m.waiting[want])
			print_error("seed %" PRIu64 ": turn %u: %s instead of %s\n", seed, i, story_name(&s, got),
				    story_name(&s, m.waiting[want]));
		assert_int_equal(got, m.waiting[want]);
		m.was_tried[want] = true;
		if (g != GROUP_NONE)
			m.group_tried[g] = true;
		random_moves(cluster_ledger(s.cluster), &rng, got);
	}
	assert_int_equal(queue_order_next(t), POD_NONE);
	queue_order_end(t);
	queue_order_free(t);
	s.plan.arena = arena_new(64);
	story_end(&s);
}

static void order_is_as_if_computed_anew_after_each_decision(void **state)
{
	const char *n = getenv("CEDE_N");
	uint64_t worlds = n ? strtoull(n, NULL, 10) : 300;

	(void)state;
	for (uint64_t seed = 1; seed <= worlds; seed++)
		turns_agree(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_entitled_work_comes_before_all_other),
		cmocka_unit_test(order_a_type_that_nothing_guarantees_is_not_entitled),
		cmocka_unit_test(order_a_gang_is_one_work),
		cmocka_unit_test(within_one_cycle_nobody_who_got_a_place_is_a_victim),
		cmocka_unit_test(order_is_as_if_computed_anew_after_each_decision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
