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

static const struct {
	const char *what;
	int64_t was_ns, now_ns, told_ns;
	enum rule_answer was;
} ends[] = {
	{"a time is told though another member has none", TIME_NONE, 5, 5, IS_PROTECTED},
	{"of two times the first is told", 9, 5, 5, IS_PROTECTED},
	{"a later one is not", 5, 9, 5, IS_PROTECTED},
	{"nor is none", 5, TIME_NONE, 5, IS_PROTECTED},
	{"who goes where nothing else works stays so", TIME_NONE, 5, TIME_NONE, IS_SPARED},
};

/* Of members of a gang one may have to wait for a time alone, which must not be lost (CL-5). */
static void CL_5_who_is_protected_from_two_is_told_by_what_ends_first(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		struct protected_list l = {.max = 3};

		for (pod_id pod = 0; pod < 3; pod++) {
			struct protected_pod x = usual;

			x.pod = pod;
			x.verdict.answer = ends[i].was;
			x.verdict.until_ns = ends[i].was_ns;
			protected_add(&l, &x);
		}
		for (pod_id pod = 3; pod-- > 0;) {
			struct protected_pod x = usual;

			x.pod = pod;
			x.verdict.until_ns = ends[i].now_ns;
			protected_add(&l, &x);
		}
		assert_int_equal(l.v.n, 3);
		for (uint32_t k = 0; k < 3; k++)
			if (l.v.v[k].pod != k || l.v.v[k].verdict.until_ns != ends[i].told_ns)
				fail_msg("%s: pod %u, not told", ends[i].what, k);
		protected_free(&l);
	}
}

static void push(struct protected_list *l, pod_id pod, bool is_refused)
{
	array_push(&l->v, ((struct protected_pod){.pod = pod,
						  .verdict = {.answer = IS_PROTECTED, .until_ns = TIME_NONE},
						  .is_refused_in_set = is_refused}));
}

/* Whoever was there before, or is told of again later, is there once; also who was refused in two ways. */
static void a_list_that_is_handed_over_is_as_one_that_is_merged(void **state)
{
	struct protected_list to = {.max = 8}, from = {.max = 8};

	(void)state;
	push(&from, 3, false);
	push(&from, 5, false);
	protected_hand_over(&to, &from);
	assert_int_equal(to.v.n, 2);
	from.v.n = 0;
	push(&from, 5, false);
	push(&from, 7, true);
	push(&from, 7, true);
	protected_hand_over(&to, &from);
	assert_int_equal(to.v.n, 3);
	protected_clear(&to);
	assert_int_equal(to.v.n, 0);
	protected_hand_over(&to, &from);
	assert_int_equal(to.v.n, 2);
	protected_free(&to);
	protected_free(&from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_that_differ_anywhere_are_not_the_same),
		cmocka_unit_test(CL_5_who_is_protected_from_two_is_told_by_what_ends_first),
		cmocka_unit_test(a_list_that_is_handed_over_is_as_one_that_is_merged),
	};

	return cmocka_run_group_tests_name("protected_list", tests, NULL, NULL);
}
