/* SPDX-License-Identifier: Apache-2.0 */
/* Profile yunikorn: in which order waiting work is tried. Everything fits, so decisions come in that order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/story.h"

/* queues: keys of root in flow style. */
static void begin(struct story *s, const char *queues)
{
	story_begin(s);
	s->profile = PROFILE_YUNIKORN;
	text_printf(&s->objects, "---\npartitions:\n- {name: default, queues: [{name: root, %s}]}\n", queues);
	story_node(s, "n1", 100);
}

/* The names of pods in the order of their decisions, told by the first letters up to a dash or the end. */
static void expect(struct story *s, const char *sentence, const char *want)
{
	struct text got = {0};

	story_plan(s);
	for (uint32_t i = 0; i < s->plan.v.n; i++)
		text_printf(&got, "%s%s", i ? " " : "", story_name(s, s->plan.v.v[i].pod));
	if (!str_eq(text_str(&got), want))
		print_error("%s\n", sentence);
	assert_string_equal(text_str(&got), want);
	text_free(&got);
	story_end(s);
}

#define UNITS(key, n) "resources: {" key ": {" STORY_UNIT ": " #n "}}"

static void queues_go_by_priority_share_and_pending(void **state)
{
	struct story s;

	(void)state;
	begin(&s, "queues: [{name: a}, {name: b}]");
	story_pod(&s, "a0", "root.a", 9, "n1", NULL);
	story_pod(&s, "a1", "root.a", 1, NULL, "priority 5");
	story_pod(&s, "b1", "root.b", 1, NULL, "priority 4");
	expect(&s, "the higher priority first, whatever the share", "a1 b1");

	begin(&s, "properties: {application.sort.priority: disabled}, queues: [{name: a}, {name: b}]");
	story_pod(&s, "a0", "root.a", 9, "n1", NULL);
	story_pod(&s, "a1", "root.a", 1, NULL, "priority 5");
	story_pod(&s, "b1", "root.b", 1, NULL, "priority 4");
	expect(&s, "unless the parent sorts by share", "b1 a1");

	begin(&s, "queues: [{name: a, " UNITS("guaranteed", 10) "}, {name: b, " UNITS("guaranteed", 4) "}]");
	story_pod(&s, "a0", "root.a", 4, "n1", NULL);
	story_pod(&s, "b0", "root.b", 2, "n1", NULL);
	story_pod(&s, "b1", "root.b", 1, NULL, NULL);
	story_pod(&s, "a1", "root.a", 2, NULL, NULL);
	story_pod(&s, "a2", "root.a", 1, NULL, "age 10");
	expect(&s, "4 of 10 is less than 2 of 4, then 6 of 10 is more", "a1 b1 a2");

	begin(&s, "queues: [{name: a, " UNITS("max", 50) "}, {name: b}]");
	story_pod(&s, "a0", "root.a", 5, "n1", NULL);
	story_pod(&s, "b0", "root.b", 8, "n1", NULL);
	story_pod(&s, "a1", "root.a", 1, NULL, NULL);
	story_pod(&s, "b1", "root.b", 1, NULL, NULL);
	expect(&s, "without a guarantee the maximum counts, and without one the cluster: 5 of 50, 8 of 100", "b1 a1");

	begin(&s, "queues: [{name: a}, {name: b}]");
	story_pod(&s, "a1", "root.a", 1, NULL, NULL);
	story_pod(&s, "b1", "root.b", 2, NULL, NULL);
	expect(&s, "of equal shares where more waits", "b1 a1");

	begin(&s, "queues: [{name: a}, {name: b}]");
	story_pod(&s, "b1", "root.b", 1, NULL, NULL);
	story_pod(&s, "a1", "root.a", 1, NULL, NULL);
	expect(&s, "of equals by path", "a1 b1");
}

static void priorities_are_passed_up_as_queues_adjust_them(void **state)
{
	struct story s;

	(void)state;
	begin(&s, "queues: [{name: a, properties: {priority.offset: \"3\"}}, {name: b}]");
	story_pod(&s, "a1", "root.a", 1, NULL, "priority 2");
	story_pod(&s, "b1", "root.b", 1, NULL, "priority 4");
	expect(&s, "2 and an offset of 3 is above 4", "a1 b1");

	begin(&s, "queues: [{name: a, properties: {priority.policy: fence, priority.offset: \"1\"}}, {name: b}]");
	story_pod(&s, "a1", "root.a", 1, NULL, "priority 1000");
	story_pod(&s, "b1", "root.b", 1, NULL, "priority 4");
	expect(&s, "behind a fence only the offset is seen", "b1 a1");

	begin(&s, "queues: [{name: p, queues: [{name: a}, {name: b}]}, {name: q}]");
	story_pod(&s, "a1", "root.p.a", 1, NULL, "priority 1");
	story_pod(&s, "b1", "root.p.b", 1, NULL, "priority 7");
	story_pod(&s, "q1", "root.q", 1, NULL, "priority 5");
	expect(&s, "a parent has the highest of its children", "b1 q1 a1");

	begin(&s, "queues: [{name: a, properties: {priority.offset: \"2147483647\"}}, {name: b}]");
	story_pod(&s, "a1", "root.a", 1, NULL, "priority 2000000000");
	story_pod(&s, "b1", "root.b", 1, NULL, "priority 2147483647");
	story_pod(&s, "b2", "root.b", 1, NULL, "priority 2147483647");
	expect(&s, "sums end where priorities end; then where more waits", "b1 a1 b2");

	begin(&s, "queues: [{name: a}, {name: b}]");
	story_pod(&s, "a1", "root.a", 500, NULL, "priority 5");
	story_pod(&s, "a2", "root.a", 1, NULL, "priority 0");
	story_pod(&s, "b1", "root.b", 1, NULL, "priority 3");
	expect(&s, "one that was tried and waits still lends its queue its priority", "a1 a2 b1");

	begin(&s, "queues: [{name: a}, {name: b}]");
	story_pod(&s, "a1", "root.a", 500, NULL, "age 20");
	story_pod(&s, "a2", "root.a", 1, NULL, "age 10");
	story_pod(&s, "b1", "root.b", 2, NULL, NULL);
	expect(&s, "and is still pending", "a1 a2 b1");
}

static void applications_go_first_in_first_out(void **state)
{
	struct story s;

	(void)state;
	begin(&s, "queues: [{name: a}]");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x age 10");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	story_pod(&s, "x0", "root.a", 1, "n1", "app x age 30");
	expect(&s, "the application that came first, by its running pods too", "x1 y1");

	begin(&s, "queues: [{name: a}]");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x age 10");
	story_pod(&s, "x2", "root.a", 1, NULL, "app x age 9 priority 1");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	expect(&s, "the highest priority that waits in it, then the time", "x2 y1 x1");

	begin(&s, "queues: [{name: a, properties: {application.sort.priority: disabled}}]");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x age 10");
	story_pod(&s, "x2", "root.a", 1, NULL, "app x age 9 priority 1");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	expect(&s, "time alone", "y1 x2 x1");

	begin(&s, "queues: [{name: a}]");
	story_pod(&s, "n1", "root.a", 1, NULL, "age 10");
	story_pod(&s, "n2", "root.a", 1, NULL, "age 30");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	expect(&s, "pods without an id are one application", "n2 n1 y1");

	begin(&s, "queues: [{name: a}]");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x");
	expect(&s, "of equals by name", "x1 y1");
}

static void applications_share_fairly(void **state)
{
	struct story s;

	(void)state;
	begin(&s, "queues: [{name: a, properties: {application.sort.policy: fair}, " UNITS("guaranteed", 20) "}]");
	story_pod(&s, "x0", "root.a", 2, "n1", "app x age 99");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x age 98");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	story_pod(&s, "y2", "root.a", 3, NULL, "app y age 19");
	story_pod(&s, "y3", "root.a", 1, NULL, "app y age 18");
	expect(&s, "who holds least", "y1 y2 x1 y3");

	begin(&s, "queues: [{name: a, properties: {application.sort.policy: fair}}]");
	story_pod(&s, "x0", "root.a", 2, "n1", "app x age 99");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x age 98 priority 1");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	expect(&s, "after the priority", "x1 y1");

	begin(&s, "queues: [{name: a, properties: {application.sort.policy: fair, application.sort.priority: "
		  "disabled}}]");
	story_pod(&s, "x0", "root.a", 2, "n1", "app x age 99");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x age 98 priority 1");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	expect(&s, "or before it", "y1 x1");

	begin(&s, "queues: [{name: a, properties: {application.sort.policy: fair}, " UNITS("guaranteed", 20) "}]");
	story_pod(&s, "x0", "root.a", 2, "n1", "app x age 99");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x age 98");
	story_pod(&s, "y0", "root.a", 1, "n1", "app y age 50");
	story_pod(&s, "y00", "root.a", 1, "n1", "app y age 50");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	expect(&s, "slots of nodes are held as they are, so one big pod is less than two small ones", "x1 y1");

	begin(&s, "queues: [{name: a, properties: {application.sort.policy: fair}}]");
	story_pod(&s, "x0", "root.a", 1, "n1", "app x age 99");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x age 98");
	story_pod(&s, "y0", "root.a", 0, "n1", "app y age 50");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	expect(&s, "of equal largest shares who has fewer of them", "y1 x1");

	begin(&s, "queues: [{name: a, properties: {application.sort.policy: fair}}]");
	story_pod(&s, "x0", "root.a", 2, "n1", "app x age 30");
	story_pod(&s, "x1", "root.a", 1, NULL, "app x age 10");
	story_pod(&s, "y0", "root.a", 2, "n1", "app y age 50");
	story_pod(&s, "y1", "root.a", 1, NULL, "app y age 20");
	expect(&s, "of those who hold the same the older one", "y1 x1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues_go_by_priority_share_and_pending),
		cmocka_unit_test(priorities_are_passed_up_as_queues_adjust_them),
		cmocka_unit_test(applications_go_first_in_first_out),
		cmocka_unit_test(applications_share_fairly),
	};

	return cmocka_run_group_tests_name("queue_order_yunikorn", tests, NULL, NULL);
}
