/* SPDX-License-Identifier: Apache-2.0 */
/* The library as a program sees it: what is refused and how, what changes, what outlives what. */
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cede.h"

static const char node[] =
	"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 4, pods: 10}}\n";
static const char waits[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: x}\n"
			    "spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}\n";
static const char runs[] = "apiVersion: v1\nkind: Pod\nmetadata: {name: b, namespace: x}\n"
			   "spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: 3}}}]}\n";
static const char queues[] = "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n    - name: a\n";

static enum cede_status apply(struct cede *c, const char *text)
{
	return cede_apply(c, "input", text, strlen(text));
}

static struct cede *cluster_of(const char *const *texts)
{
	struct cede *c = cede_new();

	assert_int_equal(cede_set_now(c, "2026-11-15T12:00:00Z"), CEDE_OK);
	for (; *texts; texts++)
		assert_int_equal(apply(c, *texts), CEDE_OK);
	return c;
}

/* "pod outcome node", of the first decision; "" if there is none. */
static const char *first_decision(struct cede *c)
{
	static char words[200];
	struct cede_result *r;
	struct cede_decision d;

	words[0] = '\0';
	if (cede_plan(c, CEDE_JSON, &r))
		return cede_error(c);
	if (cede_result_decision(r, 0, &d, sizeof(d)) == CEDE_OK)
		snprintf(words, sizeof(words), "%s %s %s", d.pod, d.outcome, d.node);
	cede_result_free(r);
	return words;
}

static void events_change_the_answer(void **state)
{
	struct cede *c = cluster_of((const char *const[]){node, waits, NULL});

	(void)state;
	assert_string_equal(first_decision(c), "x/a placed n1");
	assert_int_equal(apply(c, runs), CEDE_OK);
	assert_string_equal(first_decision(c), "x/a waiting ");
	assert_int_equal(cede_remove(c, "Pod", "x", "b"), CEDE_OK);
	assert_string_equal(first_decision(c), "x/a placed n1");
	assert_int_equal(cede_remove(c, "Node", NULL, "n1"), CEDE_OK);
	assert_string_equal(first_decision(c), "x/a waiting ");
	assert_int_equal(cede_count(c), 1);
	cede_free(c);
}

static void a_later_version_takes_the_place_of_the_one_before(void **state)
{
	struct cede *c = cluster_of((const char *const[]){
		node, waits,
		"apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: 1, pods: 10}}\n", NULL});

	(void)state;
	assert_int_equal(cede_count(c), 2);
	assert_string_equal(first_decision(c), "x/a waiting ");
	cede_free(c);
}

static void a_list_is_its_items(void **state)
{
	struct cede *c = cluster_of((const char *const[]){
		"{\"kind\": \"NodeList\", \"apiVersion\": \"v1\", \"items\": [{\"metadata\": {\"name\": \"n1\"}, "
		"\"status\": {\"allocatable\": {\"cpu\": 4, \"pods\": 1}}}, {\"metadata\": {\"name\": \"n2\"}}]}",
		waits, NULL});

	(void)state;
	assert_int_equal(cede_count(c), 3);
	assert_string_equal(first_decision(c), "x/a placed n1");
	assert_int_equal(cede_remove(c, "Node", "", "n1"), CEDE_OK);
	assert_string_equal(first_decision(c), "x/a waiting ");
	cede_free(c);
}

static void settings_come_and_go(void **state)
{
	struct cede *c = cluster_of((const char *const[]){node, queues, NULL});

	(void)state;
	assert_int_equal(cede_set(c, "queue.root.a.max.vcore=2"), CEDE_OK);
	assert_int_equal(cede_set(c, "queue.root.a.max.vcore=1"), CEDE_OK);
	assert_int_equal(cede_set(c, "queue.root.b.max.vcore=1"), CEDE_NOT_FOUND);
	assert_non_null(strstr(cede_error(c), "root.b"));
	assert_int_equal(cede_check(c), CEDE_OK);
	assert_int_equal(cede_unset(c, "queue.root.a.max.vcore"), CEDE_OK);
	assert_int_equal(cede_unset(c, "queue.root.a.max.vcore"), CEDE_NOT_FOUND);
	assert_int_equal(cede_remove(c, "partitions", NULL, NULL), CEDE_OK);
	assert_int_equal(cede_set(c, "queue.root.a.max.vcore=2"), CEDE_NOT_FOUND);
	cede_free(c);
}

struct refusal {
	const char *sentence, *text, *words;
};

static void what_is_wrong_is_refused_with_place_and_nothing_changes(void **state)
{
	static const struct refusal rows[] = {
		{"no YAML", "a: [", "input:"},
		{"no object", "a: 1\n", "input:1:1: kind: expected an object"},
		{"nothing at all", "", "found an empty text"},
		{"a bad quantity in the second document",
		 "apiVersion: v1\nkind: Node\nmetadata: {name: n2}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: "
		 "n3}\n"
		 "status: {allocatable: {cpu: 4x}}\n",
		 "input:8:"},
		{"the same name twice",
		 "apiVersion: v1\nkind: Node\nmetadata: {name: n2}\n---\napiVersion: v1\nkind: Node\n"
		 "metadata: {name: n2}\n",
		 "already defined at input:1:1"},
		{"an unknown setting", "apiVersion: cede.dev/v1\nkind: CedeConfiguration\nprofil: kai\n", "input:3:1"},
		{"bytes that are no text", "\xff\xfe\x01", "input:"},
	};
	struct cede *c = cluster_of((const char *const[]){node, waits, NULL});

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (apply(c, rows[i].text) == CEDE_OK || !strstr(cede_error(c), rows[i].words))
			fail_msg("%s: %s", rows[i].sentence, cede_error(c));
		assert_int_equal(cede_count(c), 2);
		assert_string_equal(first_decision(c), "x/a placed n1");
	}
	cede_free(c);
}

static void what_is_wrong_together_is_said_until_it_is_put_right(void **state)
{
	static const char
		a[] = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: a}\nspec: {parentQueue: b}\n",
		b[] = "apiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: b}\nspec: {parentQueue: a}\n";
	struct cede *c = cluster_of((const char *const[]){node, waits, a, b, NULL});
	struct cede_result *r = NULL;

	(void)state;
	assert_int_equal(cede_plan(c, CEDE_JSON, &r), CEDE_CONFLICT);
	assert_null(r);
	assert_true(strlen(cede_error(c)) > 0);
	assert_int_equal(cede_remove(c, "Queue", "", "a"), CEDE_OK);
	assert_int_equal(cede_check(c), CEDE_OK);
	cede_free(c);
}

static void misuse_is_an_answer_too(void **state)
{
	struct cede *c = cede_new();
	struct cede_result *r, *shown;
	struct cede_decision d;

	(void)state;
	assert_int_equal(apply(c, node), CEDE_OK);
	assert_int_equal(cede_plan(c, CEDE_JSON, &r), CEDE_BAD_INPUT); /* no time */
	assert_non_null(strstr(cede_error(c), "cede_set_now"));
	assert_int_equal(cede_set_now(c, "noon"), CEDE_BAD_INPUT);
	assert_int_equal(cede_set_now(c, "2026-11-15T12:00:00Z"), CEDE_OK);
	assert_int_equal(cede_plan(c, (enum cede_format)7, &r), CEDE_MISUSE);
	assert_int_equal(cede_plan(NULL, CEDE_JSON, &r), CEDE_MISUSE);
	assert_int_equal(cede_apply(c, NULL, node, 1), CEDE_MISUSE);
	assert_int_equal(cede_apply(c, "x", NULL, 1), CEDE_MISUSE);
	assert_int_equal(cede_set_profile(c, "volcano"), CEDE_BAD_INPUT);
	assert_int_equal(cede_set_cycles(c, 0), CEDE_BAD_INPUT);
	assert_int_equal(cede_set_threads(c, 65), CEDE_BAD_INPUT);
	assert_int_equal(cede_remove(c, "Pod", "x", "nobody"), CEDE_NOT_FOUND);
	assert_int_equal(cede_explain(c, "x/nobody", CEDE_JSON, &r), CEDE_NOT_FOUND);
	assert_int_equal(cede_show(c, CEDE_JSON, &shown), CEDE_OK);
	assert_int_equal(cede_difference(c, shown, shown, NULL, CEDE_JSON, &r), CEDE_MISUSE);
	assert_int_equal(cede_result_decision(shown, 0, &d, sizeof(d)), CEDE_NOT_FOUND);
	assert_int_equal(cede_result_count(NULL, CEDE_PLACED), 0);
	cede_result_free(shown);
	cede_free(c);
	cede_free(NULL);
	cede_result_free(NULL);
	assert_string_equal(cede_error(NULL), "");
}

static void a_result_outlives_its_handle(void **state)
{
	struct cede *c = cluster_of((const char *const[]){node, waits, NULL}), *other = cede_new();
	struct cede_result *before, *after, *difference;

	(void)state;
	assert_int_equal(cede_plan(c, CEDE_YAML, &before), CEDE_OK);
	assert_int_equal(apply(c, runs), CEDE_OK);
	assert_int_equal(cede_plan(c, CEDE_TEXT, &after), CEDE_OK);
	cede_free(c);
	assert_int_equal(cede_difference(other, before, after, "bind b", CEDE_JSON, &difference), CEDE_OK);
	assert_non_null(strstr(cede_result_text(difference), "\"PlanDifference\""));
	assert_int_equal(cede_result_size(difference), strlen(cede_result_text(difference)));
	assert_int_equal(cede_result_count(before, CEDE_PLACED), 1);
	assert_int_equal(cede_result_count(after, CEDE_WAITING), 1);
	cede_result_free(before);
	cede_result_free(after);
	cede_result_free(difference);
	cede_free(other);
}

/* A program that knows an older, shorter struct gets that much of it. */
static void a_shorter_struct_is_not_written_past(void **state)
{
	struct cede *c = cluster_of((const char *const[]){node, waits, NULL});
	struct cede_decision d = {.queue = "untouched"};
	struct cede_result *r;

	(void)state;
	assert_int_equal(cede_plan(c, CEDE_JSON, &r), CEDE_OK);
	assert_int_equal(cede_result_decision(r, 0, &d, sizeof(d.pod)), CEDE_OK);
	assert_string_equal(d.pod, "x/a");
	assert_string_equal(d.queue, "untouched");
	cede_result_free(r);
	cede_free(c);
}

static void what_cede_does_not_read_is_not_kept(void **state)
{
	struct cede *c = cluster_of((const char *const[]){"apiVersion: v1\nkind: Secret\nmetadata: {name: "
							  "s}\n---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
							  "metadata: {name: j}\n",
							  NULL});

	(void)state;
	assert_int_equal(cede_count(c), 0);
	cede_free(c);
}

/* Every other one goes, many times over: nothing is lost, and what is left is right. */
static void many_come_and_go(void **state)
{
	struct cede *c = cluster_of((const char *const[]){node, NULL});
	struct cede_result *r;
	char text[300], name[20];

	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "p%u", i);
		snprintf(text, sizeof(text),
			 "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: c}]}\n", name);
		assert_int_equal(apply(c, text), CEDE_OK);
		if (i % 8)
			assert_int_equal(cede_remove(c, "Pod", "default", name), CEDE_OK);
	}
	assert_int_equal(cede_count(c), 51);
	assert_int_equal(cede_plan(c, CEDE_JSON, &r), CEDE_OK);
	assert_int_equal(cede_result_decisions(r), 50);
	cede_result_free(r);
	cede_free(c);
}

static void a_comma_in_the_locale_changes_nothing(void **state)
{
	static const char config[] =
		"actions: allocate\ntiers:\n- plugins:\n  - name: proportion\n    arguments: {kValue: \"0.5\"}\n";
	static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", NULL};
	struct cede *c;

	(void)state;
	for (size_t i = 0; locales[i]; i++)
		if (setlocale(LC_ALL, locales[i]))
			break;
	if (*localeconv()->decimal_point != ',') {
		printf("# SKIP no locale with a decimal comma is installed\n");
		skip();
	}
	c = cluster_of((const char *const[]){node, waits, config, NULL});
	assert_int_equal(cede_check(c), CEDE_OK);
	assert_null(cede_note(c, 0));
	assert_string_equal(localeconv()->decimal_point, ",");
	cede_free(c);
	setlocale(LC_ALL, "C");
}

static void *plan_often(void *arg)
{
	char *ok = arg;

	for (int i = 0; i < 20; i++) {
		struct cede *c = cede_new();
		struct cede_result *r = NULL;

		*ok = !cede_set_now(c, "2026-11-15T12:00:00Z") && !apply(c, node) && !apply(c, waits) &&
		      !cede_plan(c, CEDE_JSON, &r) && cede_result_count(r, CEDE_PLACED) == 1;
		cede_result_free(r);
		cede_free(c);
		if (!*ok)
			break;
	}
	return NULL;
}

static void handles_of_different_threads_have_nothing_in_common(void **state)
{
	pthread_t threads[4];
	char ok[4] = {0};

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, plan_often, &ok[i]), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 4; i++)
		assert_true(ok[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_change_the_answer),
		cmocka_unit_test(a_later_version_takes_the_place_of_the_one_before),
		cmocka_unit_test(a_list_is_its_items),
		cmocka_unit_test(settings_come_and_go),
		cmocka_unit_test(what_is_wrong_is_refused_with_place_and_nothing_changes),
		cmocka_unit_test(what_is_wrong_together_is_said_until_it_is_put_right),
		cmocka_unit_test(misuse_is_an_answer_too),
		cmocka_unit_test(a_result_outlives_its_handle),
		cmocka_unit_test(a_shorter_struct_is_not_written_past),
		cmocka_unit_test(what_cede_does_not_read_is_not_kept),
		cmocka_unit_test(many_come_and_go),
		cmocka_unit_test(a_comma_in_the_locale_changes_nothing),
		cmocka_unit_test(handles_of_different_threads_have_nothing_in_common),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
