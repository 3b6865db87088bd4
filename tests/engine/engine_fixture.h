/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_fixture.h - a cluster in a line, what the engine decides about it in another.
 *
 *	put_cluster("node n cpu=4; pod a@n 1 cpu=4; pod p 5 cpu=2");
 *	assert_string_equal(plan(1), "p=>n:a");
 *
 * Things are separated by semicolons:
 *	node NAME  cpu=4 memory=8Gi pods=9 (pods: 110 unless told)  zone=a (a label)  !k (a taint, NoSchedule)  cordoned
 *	pod NAME[@NODE] PRIORITY  cpu=2 ...  .app=a (a label)  +10 (runs since second 10)  <10 (was made then)
 *		^n (nominated n)  ~ (being deleted)  ~~ (preempted and being deleted)  %80 (host port)  never  class=x
 *		?zone=a (node selector)  gate=x (a scheduling gate)
 *	pdb NAME SELECTOR ALLOWED ("-" is the empty selector; NAME* is a pod already disrupted)
 *	class NAME VALUE [never]
 *	group NAME [PRIORITY] [min=3] [all] [never]: a PodGroup of Kubernetes' (all: disruptionMode); its pods say &NAME
 *
 * A plan is one word for each decision: p->n placed, p=>n:a,b nominated after a and b, "p waits", "p gated"; " / "
 * stands between cycles.
 */
#pragma once

#include "engine/engine.h"
#include "filters/relations.h"

/* The same question asked in three ways that must not differ. */
enum way {
	BY_CACHE, /* answers kept per node */
	BY_ROWS,  /* all nodes from rows of numbers: when a report is asked for */
	BY_MOVES, /* pods moved in the ledger: when more than resources may be in the way */
	WAYS,
};

static struct {
	struct engine_config *config;
	struct engine *engine;
	const struct framework_plugin *extra;
	uint32_t n_extra;
	enum way way;
	struct decisions last; /* of the last plan */
} en;

static inline int engine_open(void **state)
{
	fixture_open(state);
	memset(&en, 0, sizeof(en));
	en.config = engine_config_new();
	en.config->profile = PROFILE_KUBERNETES;
	return 0;
}

static inline void engine_stop(void)
{
	engine_free(en.engine);
	en.engine = NULL;
	array_free(&en.last.v);
}

static inline int engine_close(void **state)
{
	engine_stop();
	engine_config_free(en.config);
	return fixture_close(state);
}

/* The next row of a table: an empty cluster, settings and way as they are. */
static inline void engine_reset(void)
{
	engine_stop();
	fixture_reset();
}

#define ENGINE_TEST(test) cmocka_unit_test_setup_teardown(test, engine_open, engine_close)

/* ---- the cluster ---- */

static inline const char *and_word(const char *to, const char *word)
{
	return to ? arena_printf(f.arena, "%s %s", to, word) : word;
}

static inline bool is_amount(const char *w)
{
	return !strncmp(w, "cpu=", 4) || !strncmp(w, "memory=", 7) || !strncmp(w, "pods=", 5) || strstr(w, "/gpu=");
}

static inline void put_node_words(const char *s)
{
	struct node_text t = {.name = next_word(&s)};
	bool has_pods = false;
	char *w;

	while ((w = next_word(&s))) {
		has_pods |= !strncmp(w, "pods=", 5);
		if (is_amount(w))
			t.has = and_word(t.has, w);
		else if (*w == '!')
			t.taints = and_word(t.taints, arena_printf(f.arena, "%s:NoSchedule", w + 1));
		else if (str_eq(w, "cordoned"))
			t.is_cordoned = true;
		else
			t.labels = and_word(t.labels, w);
	}
	if (!has_pods)
		t.has = and_word(t.has, "pods=110");
	put_node(t);
}

static inline int64_t number(const char *s)
{
	return strtoll(s, NULL, 10);
}

static inline void pod_word(struct pod_text *t, struct shape *shape, char *w)
{
	if (*w == '.')
		t->labels = and_word(t->labels, w + 1);
	else if (*w == '+')
		t->started_s = number(w + 1);
	else if (*w == '<')
		t->created_s = number(w + 1);
	else if (*w == '^')
		t->nominated = w + 1;
	else if (*w == '%')
		t->ports = w + 1;
	else if (*w == '?')
		t->selector = w + 1;
	else if (*w == '&')
		t->k8s_group = w + 1;
	else if (*w == '~')
		*(w[1] ? &t->is_preempted : &t->is_leaving) = true;
	else if (str_eq(w, "never"))
		shape->never_preempts = true;
	else if (!strncmp(w, "class=", 6))
		t->priority_class = w + 6;
	else if (!strncmp(w, "gate=", 5))
		t->gates = w + 5;
	else if (is_amount(w))
		t->asks = and_word(t->asks, w);
	else
		t->priority = (int32_t)number(w);
}

static inline void put_pod_words(const char *s)
{
	struct shape shape = {0};
	char *name = next_word(&s), *node = cut(name, '@'), *w;
	struct pod_text t = {.name = name, .node = node, .asks = "", .shape = &shape};

	while ((w = next_word(&s)))
		pod_word(&t, &shape, w);
	if (!node && en.way == BY_MOVES) /* anti-affinity to nobody: its plugin has to be asked */
		shape.anti_affinity = terms_of("kubernetes.io/hostname nobody=here");
	put_pod(t);
}

static inline void put_pdb_words(const char *s)
{
	char *name = next_word(&s), *selector = next_word(&s), *w;
	struct obj_pdb o = {.ns = names_hold_str(f.names, "default"),
			    .name = names_hold_str(f.names, name),
			    .bag = name_bag_of(f.names)};

	o.arena = arena_new(256);
	assert_int_equal(selector_parse(o.arena, &o.bag, selector, str_eq(selector, "-") ? 0 : strlen(selector),
					&o.selector, NULL),
			 ERR_OK);
	o.disrupted = mem_alloc(8 * sizeof(*o.disrupted));
	while ((w = next_word(&s))) {
		char *star = strchr(w, '*');

		if (star)
			o.disrupted[o.n_disrupted++] = name_bag_add(&o.bag, w, (size_t)(star - w));
		else
			o.allowed = (int32_t)number(w);
	}
	assert_int_equal(cluster_put_pdb(f.cluster, &o, NULL), ERR_OK);
}

static inline void put_group_words(const char *s)
{
	struct obj_group o = {.ns = names_hold_str(f.names, "default"),
			      .name = names_hold_str(f.names, next_word(&s)),
			      .is_k8s = true,
			      .bag = name_bag_of(f.names),
			      .created_ns = TIME_NONE,
			      .started_ns = TIME_NONE,
			      .stale_ns = TIME_NONE};
	char *w;

	while ((w = next_word(&s))) {
		if (!strncmp(w, "min=", 4))
			o.min_member = (int32_t)number(w + 4);
		else if (str_eq(w, "all"))
			o.goes_whole = true;
		else if (str_eq(w, "never"))
			o.never_preempts = true;
		else
			o.has_priority = true, o.priority = (int32_t)number(w);
	}
	assert_int_equal(cluster_put_group(f.cluster, &o, NULL), ERR_OK);
}

static inline void put_class_words(const char *s)
{
	struct obj_class o = {.name = names_hold_str(f.names, next_word(&s)), .value = (int32_t)number(next_word(&s))};

	o.never_preempts = next_word(&s) != NULL;
	assert_int_equal(cluster_put_class(f.cluster, &o, NULL), ERR_OK);
}

static inline void put_cluster(const char *s)
{
	char *rest = arena_strndup(f.arena, s, strlen(s));

	while (rest) {
		const char *thing = rest, *kind;

		rest = cut(rest, ';');
		kind = next_word(&thing);
		if (!kind)
			continue;
		if (str_eq(kind, "node"))
			put_node_words(thing);
		else if (str_eq(kind, "pod"))
			put_pod_words(thing);
		else if (str_eq(kind, "pdb"))
			put_pdb_words(thing);
		else if (str_eq(kind, "class"))
			put_class_words(thing);
		else if (str_eq(kind, "group"))
			put_group_words(thing);
		else
			fail_msg("what is a %s?", kind);
	}
}

/* ---- the plan ---- */

static inline const char *pod_str(pod_id pod)
{
	return pod == POD_NONE ? "-" : name_str(f.names, ledger_pod(f.ledger, pod)->name);
}

static inline const char *node_str(node_id node)
{
	return node == NODE_NONE ? "-" : name_str(f.names, ledger_node(f.ledger, node)->name);
}

static inline const char *decision_str(const struct decision *d)
{
	const char *s;

	switch (d->outcome) {
	case OUTCOME_PLACED:
		return arena_printf(f.arena, "%s->%s", pod_str(d->pod), node_str(d->node));
	case OUTCOME_NOMINATED:
		s = arena_printf(f.arena, "%s=>%s", pod_str(d->pod), node_str(d->node));
		for (uint32_t i = 0; i < d->n_victims; i++)
			s = arena_printf(f.arena, "%s%s%s", s, i ? "," : ":", pod_str(d->victims[i].pod));
		return s;
	default:
		return arena_printf(f.arena, "%s %s", pod_str(d->pod), d->outcome == OUTCOME_GATED ? "gated" : "waits");
	}
}

#define FIXTURE_NOW (INT64_C(1000000) * NS_PER_S)

/* What is decided now; the ledger keeps the moves. Names of pods that are gone after a cycle are kept by the bag. */
static inline const char *plan(uint32_t cycles)
{
	struct engine_run run = {.now_ns = FIXTURE_NOW, .cycles = 1, .report = POD_NONE};
	const char *s = "";
	struct err e;

	if (!en.engine) {
		en.engine = engine_new(f.cluster, en.config, en.extra, en.n_extra, &e);
		if (!en.engine)
			fail_msg("no engine: %s", e.msg);
	}
	if (en.way == BY_ROWS && pod_named("p") != POD_NONE)
		run.report = pod_named("p");
	for (uint32_t cycle = 1; cycle <= cycles; cycle++) {
		array_free(&en.last.v);
		en.last = (struct decisions){.arena = f.arena};
		for (pod_id i = 0; cycle > 1 && i < ledger_pod_limit(f.ledger); i++)
			if (ledger_pod(f.ledger, i)->state == POD_LEAVING)
				ledger_pod_drop(f.ledger, i);
		if (engine_plan(en.engine, &run, &en.last, &e))
			fail_msg("no plan: %s", e.msg);
		s = cycle > 1 ? arena_printf(f.arena, "%s / ", s) : s;
		for (uint32_t i = 0; i < en.last.v.n; i++)
			s = arena_printf(f.arena, "%s%s%s", s, i ? "; " : "", decision_str(&en.last.v.v[i]));
	}
	return s;
}

struct plan_row {
	const char *says, *cluster, *plan;
	uint32_t cycles; /* 0: one */
};

/* Every row in every way. */
static inline void check_plans(const struct plan_row *rows, size_t n)
{
	static const char *const ways[] = {"by cache", "by rows", "by moves"};

	for (size_t i = 0; i < n; i++) {
		for (int way = 0; way < WAYS; way++) {
			en.way = (enum way)way;
			put_cluster(rows[i].cluster);
			expect_text(arena_printf(f.arena, "%s (%s)", rows[i].says, ways[way]),
				    plan(rows[i].cycles ? rows[i].cycles : 1), rows[i].plan);
			engine_reset();
		}
	}
}
