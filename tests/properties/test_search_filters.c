/* SPDX-License-Identifier: Apache-2.0 */
/*
 * search_filters.c: a pod that minds who is in its zone takes the same victims whether filters are asked once for a
 * node or for every set that is tried (engine_config.looks_at_all).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/story.h"

#define N_OF(a) (sizeof(a) / sizeof(*(a)))

/* One that waits for two units on n and keeps away from whoever has the label near, in its whole zone. */
#define ASKS                                                                                                        \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: asks, namespace: d, labels: {queue: root.want}}, spec: " \
	"{priority: 100, nodeSelector: {kubernetes.io/hostname: n}, affinity: {podAntiAffinity: "                   \
	"{requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchExpressions: "  \
	"[{key: near, operator: Exists}]}}]}}, containers: [{name: c, resources: {requests: {" STORY_UNIT           \
	": 2}}}]}}\n"
#define NODE(name)                                                                                                     \
	"---\n{apiVersion: v1, kind: Node, metadata: {name: " name ", labels: {zone: z, kubernetes.io/hostname: " name \
	"}}, status: {allocatable: {pods: 100, " STORY_UNIT ": 8}}}\n"
#define ON(node, name, units, more)                                                                                 \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: " name ", namespace: d, creationTimestamp: "             \
	"2027-01-15T07:00:00Z, " more "}, spec: {nodeName: " node ", containers: [{name: c, resources: {requests: " \
	"{" STORY_UNIT ": " units "}}}]}, status: {phase: Running, startTime: \"2027-01-15T07:00:00Z\"}}\n"
#define OTHERS "labels: {queue: root.others}"
#define NEAR "labels: {queue: root.others, near: me}"
#define GANG "annotations: {pod-group-name: g}, labels: {queue: root.others"
#define GROUP                                                                                                     \
	"---\n{apiVersion: scheduling.run.ai/v2alpha2, kind: PodGroup, metadata: {name: g, namespace: d}, spec: " \
	"{minMember: 2}}\n"
#define LEAVES "deletionTimestamp: 2027-01-15T07:59:59Z, "
/* Room on n is reserved for the two units it asks for, and it will take four. */
#define COMES                                                                                                        \
	"---\n{apiVersion: v1, kind: Pod, metadata: {name: comes, namespace: d, labels: {queue: root.want}}, spec: " \
	"{containers: [{name: c, resources: {requests: {" STORY_UNIT ": 2}}}]}, status: {phase: Pending, "           \
	"nominatedNodeName: n, containerStatuses: [{name: c, resources: {requests: {" STORY_UNIT ": 4}}}]}}\n"

static const struct {
	const char *says, *objects, *plan;
} rows[] = {
	{"who does not matter to filters goes by numbers",
	 NODE("n") ON("n", "a", "2", OTHERS) ON("n", "b", "6", OTHERS), "asks reclaim n [a]"},
	{"who stands in its way goes, though others free as much",
	 NODE("n") ON("n", "a", "2", OTHERS) ON("n", "b", "6", NEAR), "asks reclaim n [b]"},
	{"who stands in its way on another node goes with his gang",
	 NODE("n") NODE("m") GROUP ON("n", "a", "8", GANG "}") ON("m", "b", "8", GANG ", near: me}"),
	 "asks reclaim n [a b]"},
	{"who is leaving stands in its way no longer",
	 NODE("n") ON("n", "a", "1", LEAVES NEAR) ON("n", "b", "6", OTHERS) ON("n", "c", "1", OTHERS),
	 "asks reclaim n [c]"},
	{"who comes and takes more than it asked for leaves less room",
	 NODE("n") COMES ON("n", "a", "2", LEAVES OTHERS) ON("n", "b", "2", OTHERS) ON("n", "c", "4", OTHERS),
	 "asks reclaim n [c]; comes allocate n"},
};

static void decides(const char *says, const char *objects, bool looks_at_all, const char *plan)
{
	struct text got = {0};
	struct story s;

	story_begin(&s);
	story_queue(&s, "root.want", "guaranteed 8");
	story_queue(&s, "root.others", NULL);
	text_printf(&s.objects, "%s" ASKS, objects);
	story_load(&s);
	s.settings->looks_at_all = looks_at_all;
	story_plan(&s);
	story_line(&s, &got);
	if (!str_eq(text_str(&got), plan))
		fail_msg("%s%s: %s", says, looks_at_all ? ", looking at all" : "", text_str(&got));
	text_free(&got);
	story_end(&s);
}

static void filters_asked_once_say_the_same(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		decides(rows[i].says, rows[i].objects, false, rows[i].plan);
		decides(rows[i].says, rows[i].objects, true, rows[i].plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(filters_asked_once_say_the_same)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
