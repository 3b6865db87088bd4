/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that follows the ledger, in cases that random clusters (test_memory.c) seldom come to: a group that keeps
 * its core, nodes that go, come or are not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "properties/kai_story.h"
#include "properties/session_alike.h"

static void begin(struct story *s)
{
	story_begin(s);
	s->profile = PROFILE_KAI;
	kai_queue(s, "b", "", 0, "");
}

/* Ready to be followed. */
static void load(struct story *s)
{
	story_load(s);
	session_free(session_new(s->engine, STORY_NOW_NS, false));
	assert_non_null(s->engine->session);
}

static pod_id pod(const struct story *s, const char *name)
{
	return cluster_find_pod(s->cluster, "d", name);
}

static node_id node(const struct story *s, const char *name)
{
	return ledger_node_find(cluster_ledger(s->cluster), names_find(vocab_names(s->vocab), name, strlen(name)));
}

static void is_alike(struct story *s, bool follows)
{
	struct text made = {0}, followed = {0};

	assert_int_equal(session_tell_twice(s->engine, STORY_NOW_NS, &made, &followed), follows);
	assert_string_equal(text_str(&made), text_str(&followed));
	text_free(&made);
	text_free(&followed);
}

static void who_is_core_is_found_again(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	kai_node(&s, "n1", 4);
	kai_group(&s, "semi", "b", 2, TIME_NONE, "preemptibility: semi-preemptible");
	kai_pod(&s, "s-0", "semi", 1, "n1", "age 900");
	kai_pod(&s, "s-1", "semi", 1, "n1", "age 800");
	kai_pod(&s, "s-2", "semi", 1, "n1", "age 700");
	load(&s);
	ledger_vacate(cluster_ledger(s.cluster), pod(&s, "s-0")); /* behind those that run */
	is_alike(&s, true);
	ledger_place(cluster_ledger(s.cluster), pod(&s, "s-0"), node(&s, "n1"));
	is_alike(&s, true);
	story_end(&s);
}

static void nodes_that_go_and_come(void **state)
{
	struct obj_node o;
	struct story s;
	struct err e;

	(void)state;
	begin(&s);
	kai_node(&s, "n1", 4);
	kai_node(&s, "n2", 4);
	kai_pod(&s, "p", NULL, 1, NULL, "queue b");
	load(&s);
	o = obj_node_copy(s.vocab, ledger_node(cluster_ledger(s.cluster), node(&s, "n2"))->obj);
	cluster_drop_node(s.cluster, "n2");
	is_alike(&s, false);
	story_must(cluster_put_node(s.cluster, &o, &e), &e);
	is_alike(&s, false);
	story_end(&s);
}

static void a_node_that_is_not_there(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	kai_node(&s, "n1", 4);
	kai_pod(&s, "lost", NULL, 1, "gone", "queue b");
	kai_pod(&s, "p", NULL, 1, NULL, "queue b");
	load(&s);
	ledger_place(cluster_ledger(s.cluster), pod(&s, "p"), node(&s, "gone"));
	is_alike(&s, false);
	ledger_vacate(cluster_ledger(s.cluster), pod(&s, "lost"));
	is_alike(&s, false);
	story_end(&s);
}

static void what_is_taken_back_is_followed_and_copies_are_used_again(void **state)
{
	struct ledger *l;
	struct story s;
	uint32_t n;

	(void)state;
	begin(&s);
	kai_node(&s, "n1", 4);
	kai_pod(&s, "p", NULL, 1, "n1", "queue b");
	load(&s);
	l = cluster_ledger(s.cluster);
	n = s.engine->session->copies.n;
	for (uint32_t i = 0; i < 3; i++) {
		ledger_mark mark = ledger_get_mark(l);

		ledger_evict(l, pod(&s, "p"));
		is_alike(&s, true);
		ledger_rollback(l, mark);
		is_alike(&s, true);
	}
	assert_int_equal(s.engine->session->copies.n, n);
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_core_is_found_again),
		cmocka_unit_test(nodes_that_go_and_come),
		cmocka_unit_test(a_node_that_is_not_there),
		cmocka_unit_test(what_is_taken_back_is_followed_and_copies_are_used_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
