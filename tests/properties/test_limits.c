/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of users and groups and numbers of applications: who waits for them, and in which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/story.h"

/* queues: keys of root in flow style. */
static void begin(struct story *w, const char *queues)
{
	story_begin(w);
	w->profile = PROFILE_YUNIKORN;
	text_printf(&w->objects, "---\npartitions:\n- {name: default, queues: [{name: root, %s}]}\n", queues);
	story_node(w, "n1", 100);
}

/* Who: "ann dev,ops"; a pod of that user in these groups. */
static void pod(struct story *w, const char *name, const char *queue, int units, const char *node, const char *who,
		const char *app)
{
	struct text *o = &w->objects;
	char user[32];

	story_copy(who, user, sizeof(user));
	text_printf(o,
		    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: d\n"
		    "  creationTimestamp: \"2027-01-15T07:%02d:00Z\"\n  labels: {queue: %s%s%s}\n",
		    name, (int)strlen(text_str(o)) % 7, queue, app ? ", applicationId: " : "", app ? app : "");
	if (*who) {
		const char *groups = strchr(who, ' ');

		text_printf(o, "  annotations: {yunikorn.apache.org/user.info: '{\"user\": \"%s\", \"groups\": [",
			    user);
		for (const char *at = groups ? groups + 1 : ""; *at;) {
			size_t n = strcspn(at, ",");

			text_printf(o, "%s\"%.*s\"", at == groups + 1 ? "" : ", ", (int)n, at);
			at += n + (at[n] == ',');
		}
		text_add(o, "]}'}\n");
	}
	text_printf(o, "spec:\n  containers: [{name: c, resources: {requests: {" STORY_UNIT ": \"%d\"}}}]\n", units);
	if (node)
		text_printf(o, "  nodeName: %s\nstatus: {phase: Running}\n", node);
}

/* What became of the pod, and its message if it waits. */
static void expect(struct story *w, const char *sentence, const char *name, const char *want)
{
	const char *got = "nothing";

	story_plan(w);
	for (uint32_t i = 0; i < w->plan.v.n; i++)
		if (str_eq(story_name(w, w->plan.v.v[i].pod), name))
			got = w->plan.v.v[i].outcome == OUTCOME_WAITING ? w->plan.v.v[i].message
									: outcome_text(w->plan.v.v[i].outcome);
	if (!str_eq(got, want))
		print_error("%s\n", sentence);
	assert_string_equal(got, want);
	story_end(w);
}

#define A_MAX(who, n) "limits: [{limit: x, " who ", maxresources: {" STORY_UNIT ": " #n "}}]"
#define A_APPS(who, n) "limits: [{limit: x, " who ", maxapplications: " #n "}]"

static void GQ_14_a_user_over_the_limit_waits(void **state)
{
	struct story w;

	(void)state;
	begin(&w, "queues: [{name: a, " A_MAX("users: [ann]", 4) "}]");
	pod(&w, "r", "root.a", 3, "n1", "ann", "x");
	pod(&w, "want", "root.a", 2, NULL, "ann", "x");
	expect(&w, "three and two are more than four", "want",
	       "user ann uses 3 of at most 4 " STORY_UNIT " in queue root.a and the pod wants 2.");

	begin(&w, "queues: [{name: a, " A_MAX("users: [ann]", 4) "}]");
	pod(&w, "r", "root.a", 3, "n1", "bob", "x");
	pod(&w, "want", "root.a", 4, NULL, "ann", "x");
	expect(&w, "others' pods do not count", "want", "placed");

	begin(&w, "queues: [{name: a, " A_MAX("users: [\"*\"]", 4) "}]");
	pod(&w, "r", "root.a", 4, "n1", "bob", "x");
	pod(&w, "want", "root.a", 4, NULL, "ann", "x");
	expect(&w, "the limit of everybody is each one's own", "want", "placed");

	begin(&w, "queues: [{name: a, " A_MAX("users: [\"*\"]", 4) "}]");
	pod(&w, "r", "root.a", 4, "n1", "", "x");
	pod(&w, "want", "root.a", 1, NULL, "", "x");
	expect(&w, "who does not say is nobody", "want",
	       "user nobody uses 4 of at most 4 " STORY_UNIT " in queue root.a and the pod wants 1.");

	begin(&w, "queues: [{name: p, " A_MAX("users: [ann]", 4) ", queues: [{name: a}, {name: b}]}]");
	pod(&w, "r", "root.p.a", 4, "n1", "ann", "x");
	pod(&w, "want", "root.p.b", 1, NULL, "ann", "y");
	expect(&w, "a parent's limit holds for all below", "want",
	       "user ann uses 4 of at most 4 " STORY_UNIT " in queue root.p and the pod wants 1.");

	begin(&w, "queues: [{name: a, " A_MAX("users: [ann]", 4) "}]");
	pod(&w, "w1", "root.a", 3, NULL, "ann", "x");
	pod(&w, "w2", "root.a", 3, NULL, "ann", "x");
	story_plan(&w);
	assert_int_equal(w.plan.placed, 1);
	assert_int_equal(w.plan.waiting, 1);
	story_end(&w);
}

static void GQ_14_groups_count_together(void **state)
{
	struct story w;

	(void)state;
	begin(&w, "queues: [{name: a, " A_MAX("groups: [dev]", 4) "}]");
	pod(&w, "r", "root.a", 4, "n1", "bob dev", "x");
	pod(&w, "want", "root.a", 1, NULL, "ann ops,dev", "y");
	expect(&w, "bob's pods are the group's", "want",
	       "group dev uses 4 of at most 4 " STORY_UNIT " in queue root.a and the pod wants 1.");

	begin(&w, "queues: [{name: a, limits: [{limit: x, groups: [ops], maxresources: {" STORY_UNIT ": 9}},"
		  " {limit: y, groups: [dev], maxresources: {" STORY_UNIT ": 4}}]}]");
	pod(&w, "r", "root.a", 4, "n1", "bob dev", "x");
	pod(&w, "want", "root.a", 1, NULL, "ann dev,ops", "y");
	expect(&w, "of several groups the first with a limit", "want", "placed");

	begin(&w, "queues: [{name: a, limits: [{limit: x, groups: [ops], maxresources: {" STORY_UNIT ": 9}},"
		  " {limit: y, groups: [\"*\"], maxresources: {" STORY_UNIT ": 4}}]}]");
	pod(&w, "r", "root.a", 4, "n1", "bob", "x");
	pod(&w, "o", "root.a", 4, "n1", "eve ops", "x");
	pod(&w, "want", "root.a", 1, NULL, "ann dev", "y");
	expect(&w, "who is in no group with a limit shares that of all", "want",
	       "group * uses 4 of at most 4 " STORY_UNIT " in queue root.a and the pod wants 1.");
}

static void GQ_14_no_more_applications_than_allowed(void **state)
{
	struct story w;

	(void)state;
	begin(&w, "queues: [{name: a, maxapplications: 1}]");
	pod(&w, "r", "root.a", 1, "n1", "ann", "x");
	pod(&w, "want", "root.a", 1, NULL, "ann", "y");
	expect(&w, "another application waits", "want",
	       "queue root.a runs 1 of at most 1 application and the pod is of another.");

	begin(&w, "queues: [{name: a, maxapplications: 1}]");
	pod(&w, "r", "root.a", 1, "n1", "ann", "x");
	pod(&w, "want", "root.a", 1, NULL, "ann", "x");
	expect(&w, "more of one that runs is fine", "want", "placed");

	begin(&w, "queues: [{name: a, maxapplications: 2}]");
	pod(&w, "r1", "root.a", 1, "n1", "ann", "x");
	pod(&w, "r2", "root.a", 1, "n1", "ann", "x");
	pod(&w, "want", "root.a", 1, NULL, "ann", "y");
	expect(&w, "applications count, not pods", "want", "placed");

	begin(&w, "queues: [{name: a, maxapplications: 1}]");
	pod(&w, "r", "root.a", 1, "n1", "ann", NULL);
	pod(&w, "want", "root.a", 1, NULL, "bob", NULL);
	expect(&w, "pods without an id are one application of their namespace", "want", "placed");

	begin(&w, "queues: [{name: a, " A_APPS("users: [ann]", 1) "}]");
	pod(&w, "r", "root.a", 1, "n1", "ann", "x");
	pod(&w, "o", "root.a", 1, "n1", "bob", "z");
	pod(&w, "want", "root.a", 1, NULL, "ann", "y");
	expect(&w, "a user's number", "want",
	       "user ann runs 1 of at most 1 application in queue root.a and the pod is of another.");

	begin(&w, "queues: [{name: a, " A_APPS("users: [ann]", 1) "}]");
	pod(&w, "r", "root.a", 1, "n1", "bob", "x");
	pod(&w, "want", "root.a", 1, NULL, "ann", "y");
	expect(&w, "others' applications do not count", "want", "placed");
}

static void GQ_14_over_a_limit_nobody_has_to_go(void **state)
{
	struct story w;

	(void)state;
	begin(&w, "queues: [{name: a, resources: {guaranteed: {" STORY_UNIT
		  ": 50}}, " A_MAX("users: [ann]", 4) "}, {name: b}]");
	pod(&w, "r", "root.a", 4, "n1", "ann", "x");
	pod(&w, "t", "root.b", 96, "n1", "bob", "y");
	pod(&w, "want", "root.a", 1, NULL, "ann", "x");
	expect(&w, "its queue is below its guarantee, but the user is at the limit", "want",
	       "user ann uses 4 of at most 4 " STORY_UNIT " in queue root.a and the pod wants 1.");

	begin(&w, "queues: [{name: a, resources: {guaranteed: {" STORY_UNIT
		  ": 50}}, " A_MAX("users: [ann]", 5) "}, {name: b}]");
	pod(&w, "r", "root.a", 4, "n1", "ann", "x");
	pod(&w, "t", "root.b", 96, "n1", "bob", "y");
	pod(&w, "want", "root.a", 1, NULL, "ann", "x");
	w.cycles = 2;
	expect(&w, "within the limit it reclaims, and its own nomination is not in its way", "want", "placed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(GQ_14_a_user_over_the_limit_waits),
		cmocka_unit_test(GQ_14_groups_count_together),
		cmocka_unit_test(GQ_14_no_more_applications_than_allowed),
		cmocka_unit_test(GQ_14_over_a_limit_nobody_has_to_go),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, NULL);
}
