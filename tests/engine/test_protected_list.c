/* SPDX-License-Identifier: Apache-2.0 */
/* Two lists of who is protected are the same if every word that is made of them would be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/decision.h"

enum { N = 3, AT = 1 };

static const struct protected_pod usual = {
	.pod = 1,
	.node = 2,
	.queue = 3,
	.verdict = {.answer = IS_PROTECTED, .rule = RULE_PRIORITY, .until_ns = TIME_NONE}};

#define MAKE(field, value)                                \
	static void make_##field(struct protected_pod *x) \
	{                                                 \
		x->value;                                 \
	}
MAKE(pod, pod = 9)
MAKE(node, node = 9)
MAKE(queue, queue = 9)
MAKE(refused, is_refused_in_set = true)
MAKE(answer, verdict.answer = IS_SPARED)
MAKE(rule, verdict.rule = RULE_OPT_OUT)
MAKE(reason, verdict.reason = 1)
MAKE(of_queue, verdict.queue = 9)
MAKE(type, verdict.type = 9)
MAKE(podset, verdict.podset = 9)
MAKE(minimum, verdict.keeps_minimum = true)
MAKE(until, verdict.until_ns = 9)
MAKE(num0, verdict.num[0] = 9)
MAKE(num2, verdict.num[2] = 9)
MAKE(plugin, verdict.plugin = "p")
MAKE(words, verdict.words = "w")

static const struct {
	const char *what;
	void (*make)(struct protected_pod *x);
} rows[] = {
	{"another pod", make_pod},
	{"on another node", make_node},
	{"of another queue", make_queue},
	{"refused with others", make_refused},
	{"spared", make_answer},
	{"by another rule", make_rule},
	{"for another reason", make_reason},
	{"because of another queue", make_of_queue},
	{"because of another type", make_type},
	{"because of another podset", make_podset},
	{"but for what is above a minimum", make_minimum},
	{"until another time", make_until},
	{"with another first number", make_num0},
	{"with another last number", make_num2},
	{"by a plugin", make_plugin},
	{"in other words", make_words},
};

static void lists_that_differ_anywhere_are_not_the_same(void **state)
{
	const struct protected_pod was[N] = {usual, usual, usual};
	struct protected_list l = {.max = PROTECTED_MAX};

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		array_push(&l.v, usual);
	assert_true(protected_is(&l, was, N));
	assert_false(protected_is(&l, was, N - 1));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		rows[i].make(&l.v.v[AT]);
		if (protected_is(&l, was, N))
			fail_msg("%s: taken for the same", rows[i].what);
		l.v.v[AT] = usual;
	}
	assert_true(protected_is(&l, was, N));
	protected_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_that_differ_anywhere_are_not_the_same),
	};

	return cmocka_run_group_tests_name("protected_list", tests, NULL, NULL);
}
