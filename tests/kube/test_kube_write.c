/* SPDX-License-Identifier: Apache-2.0 */
/* What is written to the API server, to the letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kube/events.h"
#include "kube/write.h"

static void expect(struct kube_write *w, const char *name, const char *expected)
{
	struct text found = {0};

	text_printf(&found, "%s %s %s\n%s", w->method, text_str(&w->path), w->content_type ? w->content_type : "-",
		    text_str(&w->body));
	if (!str_eq(text_str(&found), expected))
		fail_msg("%s:\n%s\nexpected\n%s", name, text_str(&found), expected);
	text_free(&found);
	kube_write_free(w);
}

static void CL_1_a_bind_names_the_pod_it_means(void **state)
{
	struct kube_write w = {0};

	write_bind(&w, "ml", "train-0", "u1", "gpu-3");
	expect(&w, "bind",
	       "POST /api/v1/namespaces/ml/pods/train-0/binding -\n"
	       "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"train-0\",\"namespace\":\"ml\","
	       "\"uid\":\"u1\"},"
	       "\"target\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"gpu-3\"}}\n");
}

static void CL_2_a_deletion_has_preconditions(void **state)
{
	struct kube_write w = {0};

	write_delete(&w, "ml", "a", "u1", "77", -1);
	expect(&w, "delete",
	       "DELETE /api/v1/namespaces/ml/pods/a -\n"
	       "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"uid\":\"u1\","
	       "\"resourceVersion\":\"77\"}}\n");
	write_delete(&w, "ml", "a", "u1", "", 0);
	assert_true(kube_write_request(&w, NULL).is_brief); /* nobody reads the pod that goes */
	expect(&w, "delete at once, whatever it is by now",
	       "DELETE /api/v1/namespaces/ml/pods/a -\n"
	       "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":"
	       "\"u1\"}}\n");
	write_evict(&w, "ml", "a", "u1", "");
	assert_int_equal(kube_write_request(&w, NULL).attempts, 1);
	assert_true(kube_write_request(&w, NULL).is_write);
	expect(&w, "evict",
	       "POST /api/v1/namespaces/ml/pods/a/eviction -\n"
	       "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"a\",\"namespace\":\"ml\"},"
	       "\"deleteOptions\":{\"preconditions\":{\"uid\":\"u1\"}}}\n");
}

static void CL_9_conditions_are_merged_and_nominations_set_and_cleared(void **state)
{
	const struct kube_condition c = {.type = "PodScheduled",
					 .status = "False",
					 .reason = "Unschedulable",
					 .message = "0/3 nodes are available: \"no\".",
					 .since_ns = 1500000000,
					 .observed_generation = 2};
	struct kube_write w = {0};

	write_pod_status(&w, "ml", "a", "u1", &c, 1, "gpu-3");
	assert_true(kube_write_request(&w, NULL).is_brief);
	expect(&w, "status",
	       "PATCH /api/v1/namespaces/ml/pods/a/status application/strategic-merge-patch+json\n"
	       "{\"metadata\":{\"uid\":\"u1\"},\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":"
	       "\"False\","
	       "\"reason\":\"Unschedulable\",\"message\":\"0/3 nodes are available: \\\"no\\\".\","
	       "\"lastTransitionTime\":\"1970-01-01T00:00:01Z\",\"observedGeneration\":2}],\"nominatedNodeName\":\"gpu-"
	       "3\"}}\n");
	write_pod_status(&w, "ml", "a", "u1", NULL, 0, "");
	expect(&w, "a nomination that no longer holds",
	       "PATCH /api/v1/namespaces/ml/pods/a/status application/strategic-merge-patch+json\n"
	       "{\"metadata\":{\"uid\":\"u1\"},\"status\":{\"nominatedNodeName\":null}}\n");
}

static void annotations_and_parts_are_merged(void **state)
{
	struct kube_write w = {0};

	write_annotation(&w, "/api/v1/namespaces/ml/persistentvolumeclaims/data", "u1", "5",
			 "volume.kubernetes.io/selected-node", "gpu-3");
	expect(&w, "annotation",
	       "PATCH /api/v1/namespaces/ml/persistentvolumeclaims/data application/merge-patch+json\n"
	       "{\"metadata\":{\"uid\":\"u1\",\"resourceVersion\":\"5\",\"annotations\":{\"volume.kubernetes.io/"
	       "selected-node\":\"gpu-3\"}}}\n");
	write_annotation(&w, "/x", "", "", "a", NULL);
	expect(&w, "an annotation that goes",
	       "PATCH /x application/merge-patch+json\n{\"metadata\":{\"annotations\":{\"a\":null}}}\n");
	write_merge(&w, "/g/status", "u1", "status", "{\"n\":1}");
	expect(&w, "status of a group",
	       "PATCH /g/status application/merge-patch+json\n{\"metadata\":{\"uid\":\"u1\"},\"status\":{\"n\":1}}\n");
}

static const struct kube_event failed = {.api = "v1",
					 .kind = "Pod",
					 .ns = "ml",
					 .name = "a",
					 .uid = "u1",
					 .version = "7",
					 .type = "Warning",
					 .reason = "FailedScheduling",
					 .action = "Scheduling",
					 .note = "0/3 nodes are available"};

static void CL_9_events_are_written_once_and_then_counted(void **state)
{
	struct events *v = events_new("cede", "cede-0");
	struct kube_event e = failed;
	struct kube_write w = {0};

	assert_true(events_note(v, &e, NS_PER_S, &w));
	expect(&w, "first",
	       "POST /apis/events.k8s.io/v1/namespaces/ml/events -\n"
	       "{\"apiVersion\":\"events.k8s.io/"
	       "v1\",\"kind\":\"Event\",\"metadata\":{\"name\":\"a.3b9aca00\",\"namespace\":\"ml\"},"
	       "\"eventTime\":\"1970-01-01T00:00:01.000000Z\",\"reportingController\":\"cede\",\"reportingInstance\":"
	       "\"cede-0\","
	       "\"action\":\"Scheduling\",\"reason\":\"FailedScheduling\",\"type\":\"Warning\","
	       "\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"a\",\"namespace\":\"ml\",\"uid\":"
	       "\"u1\",\"resourceVersion\":\"7\"},"
	       "\"note\":\"0/3 nodes are available\"}\n");
	e.note = "0/4 nodes are available"; /* other words, the same thing */
	assert_true(events_note(v, &e, 2 * NS_PER_S + 5000, &w));
	expect(&w, "second",
	       "PATCH /apis/events.k8s.io/v1/namespaces/ml/events/a.3b9aca00 application/merge-patch+json\n"
	       "{\"series\":{\"count\":2,\"lastObservedTime\":\"1970-01-01T00:00:02.000005Z\"}}\n");
	assert_false(events_note(v, &e, 3 * NS_PER_S, &w));
	assert_false(events_note(v, &e, 4 * NS_PER_S, &w));
	assert_true(events_note(v, &e, 63 * NS_PER_S, &w));
	expect(&w, "a minute later",
	       "PATCH /apis/events.k8s.io/v1/namespaces/ml/events/a.3b9aca00 application/merge-patch+json\n"
	       "{\"series\":{\"count\":5,\"lastObservedTime\":\"1970-01-01T00:01:03.000000Z\"}}\n");
	assert_false(events_note(v, &e, 64 * NS_PER_S, &w));
	assert_false(events_flush(v, 100 * NS_PER_S, &w));
	assert_true(events_flush(v, 500 * NS_PER_S, &w)); /* its last count */
	kube_write_free(&w);
	assert_false(events_flush(v, 500 * NS_PER_S, &w));
	assert_int_equal(events_count(v), 0);
	assert_true(events_note(v, &e, 501 * NS_PER_S, &w)); /* a new one */
	assert_string_equal(w.method, "POST");
	kube_write_free(&w);
	e.uid = "u2"; /* another pod */
	assert_true(events_note(v, &e, 501 * NS_PER_S, &w));
	assert_string_equal(w.method, "POST");
	kube_write_free(&w);
	events_free(v);
}

static void long_notes_are_cut_between_characters(void **state)
{
	struct events *v = events_new("cede", "cede-0");
	struct kube_event e = failed;
	struct kube_write w = {0};
	struct text note = {0};
	const char *found;

	text_pad(&note, 'x', 999);
	text_add(&note, "ééé");
	e.note = text_str(&note);
	e.ns = "";
	assert_true(events_note(v, &e, NS_PER_S, &w));
	found = strstr(text_str(&w.body), "\"note\":\"");
	assert_non_null(strstr(found, "x …\"}"));
	assert_non_null(strstr(text_str(&w.path), "/namespaces/default/events")); /* of cluster-wide objects */
	kube_write_free(&w);
	text_free(&note);
	events_free(v);
}

static void events_are_bounded(void **state)
{
	struct events *v = events_new("cede", "cede-0");
	struct kube_event e = failed;
	struct kube_write w = {0};
	char uid[20];

	for (int i = 0; i < 12000; i++) {
		snprintf(uid, sizeof(uid), "u%d", i);
		e.uid = uid;
		assert_true(events_note(v, &e, NS_PER_S, &w));
		kube_write_free(&w);
	}
	assert_int_equal(events_count(v), 10000);
	events_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(CL_1_a_bind_names_the_pod_it_means),
		cmocka_unit_test(CL_2_a_deletion_has_preconditions),
		cmocka_unit_test(CL_9_conditions_are_merged_and_nominations_set_and_cleared),
		cmocka_unit_test(annotations_and_parts_are_merged),
		cmocka_unit_test(CL_9_events_are_written_once_and_then_counted),
		cmocka_unit_test(long_notes_are_cut_between_characters),
		cmocka_unit_test(events_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
