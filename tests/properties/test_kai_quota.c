/* SPDX-License-Identifier: Apache-2.0 */
/* Non-preemptible work of KAI's world runs only within its queue's quota, in profile default as in kai. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "properties/story.h"

/* Plans, compares the line (after what the first decision says, if says is given), ends the story. */
static void expect(struct story *s, const char *sentence, const char *line, const char *says)
{
	struct text got = {0};

	story_plan(s);
	story_line(s, &got);
	if (!str_eq(text_str(&got), line))
		print_error("%s\n", sentence);
	assert_string_equal(text_str(&got), line);
	if (says)
		assert_string_equal(s->plan.v.v[0].message, says);
	text_free(&got);
	story_end(s);
}

static void add_queue(struct story *s, const char *name, const char *parent, double gpus)
{
	text_printf(
		&s->objects,
		"---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: %s}\nspec: {%s%s%sresources: "
		"{gpu: {quota: %g, limit: -1, overQuotaWeight: 1}, cpu: {quota: -1, limit: -1, overQuotaWeight: 1}, "
		"memory: {quota: -1, limit: -1, overQuotaWeight: 1}}}\n",
		name, parent ? "parentQueue: " : "", parent ? parent : "", parent ? ", " : "", gpus);
}

static void add_node(struct story *s, int gpus)
{
	text_printf(
		&s->objects,
		"---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {allocatable: {cpu: \"64\", memory: "
		"64Gi, pods: \"99\", nvidia.com/gpu: \"%d\"}}\n",
		gpus);
}

static void add_pod(struct story *s, const char *name, const char *meta, int gpus, int priority, bool runs)
{
	text_printf(
		&s->objects,
		"---\napiVersion: v1\nkind: Pod\nmetadata: {namespace: d, name: %s, creationTimestamp: "
		"\"2026-11-15T11:00:00Z\", %s}\nspec: {priority: %d, %scontainers: [{name: c, resources: {requests: "
		"{cpu: \"1\", nvidia.com/gpu: \"%d\"}}}]}\n",
		name, meta, priority, runs ? "nodeName: n1, " : "", gpus);
}

static void add_group(struct story *s, const char *name, int min, const char *preemptibility)
{
	text_printf(&s->objects,
		    "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {namespace: d, name: %s}\n"
		    "spec: {minMember: %d, queue: a, priorityClassName: train, preemptibility: %s}\n",
		    name, min, preemptibility);
}

#define IN_A "labels: {kai.scheduler/queue: a}"
#define IN_GROUP "annotations: {pod-group-name: g}"

static void begin(struct story *s, enum profile profile, double quota)
{
	story_begin(s);
	s->profile = profile;
	add_node(s, 8);
	add_queue(s, "d", NULL, 4);
	add_queue(s, "a", "d", quota);
}

static void kai_quotas_non_preemptible_work_waits_beyond_its_quota(void **state)
{
	static const enum profile profiles[] = {PROFILE_DEFAULT, PROFILE_KAI};
	struct story s;

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(&s, profiles[i], 1);
		add_pod(&s, "c0", IN_A, 2, 100, false);
		expect(&s, "2 of a quota of 1", i ? "c0 waiting" : "c0 waiting (kai-quota)",
		       i ? NULL
			 : "the quota of queue root.d.a is 1 nvidia.com/gpu, work that is not preemptible uses 0 and "
			   "the "
			   "pod wants 2; such work runs within quota only.");
		begin(&s, profiles[i], 2);
		add_pod(&s, "c0", IN_A, 2, 100, false);
		expect(&s, "2 of a quota of 2", "c0 placed n1", NULL);
		begin(&s, profiles[i], 1);
		add_pod(&s, "c0", IN_A, 2, 99, false);
		expect(&s, "preemptible work may borrow", "c0 placed n1", NULL);
		begin(&s, profiles[i], 0);
		add_pod(&s, "c0", IN_A, 1, 100, false);
		expect(&s, "a quota of 0 leaves no room", i ? "c0 waiting" : "c0 waiting (kai-quota)", NULL);
		begin(&s, profiles[i], -1);
		add_pod(&s, "c0", IN_A, 4, 100, false);
		expect(&s, "-1 is without end, up to what the parent has", "c0 placed n1", NULL);
		begin(&s, profiles[i], -1);
		add_pod(&s, "c0", IN_A, 5, 100, false);
		expect(&s, "the parent's quota counts too", i ? "c0 waiting" : "c0 waiting (kai-quota)", NULL);
		begin(&s, profiles[i], 3);
		add_pod(&s, "r0", IN_A, 2, 100, true);
		add_pod(&s, "r1", IN_A, 2, 50, true);
		add_pod(&s, "c0", IN_A, 1, 100, false);
		add_pod(&s, "c1", IN_A, 1, 100, false);
		expect(&s, "of what runs the non-preemptible work counts, and what this plan adds",
		       i ? "c0 placed n1; c1 waiting" : "c0 placed n1; c1 waiting (kai-quota)", NULL);
	}
}

static void kai_quotas_nobody_is_evicted_for_work_beyond_its_quota(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	add_node(&s, 2);
	add_queue(&s, "d", NULL, 2);
	add_queue(&s, "a", "d", 1);
	add_pod(&s, "r0", IN_A, 2, 50, true);
	add_pod(&s, "c0", IN_A, 2, 100, false);
	expect(&s, "beyond its quota it takes nobody's room", "c0 waiting (kai-quota)", NULL);

	story_begin(&s);
	add_node(&s, 2);
	add_queue(&s, "d", NULL, 2);
	add_queue(&s, "a", "d", 1);
	add_pod(&s, "r0", IN_A, 2, 50, true);
	add_pod(&s, "c0", IN_A, 1, 100, false);
	expect(&s, "within it, it does", "c0 preempt n1 [r0]", NULL);
}

static void kai_quotas_gangs_count_with_all_they_need(void **state)
{
	struct story s;

	(void)state;
	begin(&s, PROFILE_DEFAULT, 3);
	add_group(&s, "g", 2, "non-preemptible");
	add_pod(&s, "g0", IN_GROUP, 2, 0, false);
	add_pod(&s, "g1", IN_GROUP, 2, 0, false);
	expect(&s, "two pods of 2 are beyond 3, so none starts", "g0 waiting (kai-quota); g1 waiting (kai-quota)",
	       NULL);

	begin(&s, PROFILE_DEFAULT, 2);
	add_group(&s, "g", 2, "semi-preemptible");
	for (int i = 0; i < 3; i++)
		add_pod(&s, (const char *[]){"g0", "g1", "g2"}[i], IN_GROUP, 1, 0, false);
	expect(&s, "of a semi-preemptible group the core is within quota, the surplus may borrow",
	       "g0 placed n1; g1 placed n1; g2 placed n1", NULL);

	begin(&s, PROFILE_DEFAULT, 2);
	add_group(&s, "g", 2, "semi-preemptible");
	for (int i = 0; i < 3; i++)
		add_pod(&s, (const char *[]){"g0", "g1", "g2"}[i], IN_GROUP, 1, 0, true);
	add_pod(&s, "c0", IN_A, 1, 100, false);
	expect(&s, "its core counts for others", "c0 waiting (kai-quota)", NULL);
}

static void kai_quotas_bind_work_of_kais_world_alone(void **state)
{
	struct story s;

	(void)state;
	story_begin(&s);
	add_node(&s, 8);
	story_queue(&s, "root.y", "guaranteed 1");
	add_pod(&s, "c0", "labels: {queue: root.y, kai.scheduler/preemptibility: non-preemptible}", 2, 100, false);
	add_pod(&s, "c1", "labels: {kai.scheduler/preemptibility: non-preemptible}", 2, 100, false);
	expect(&s, "a queue of queues.yaml has no quota", "c0 placed n1; c1 placed n1", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kai_quotas_non_preemptible_work_waits_beyond_its_quota),
		cmocka_unit_test(kai_quotas_nobody_is_evicted_for_work_beyond_its_quota),
		cmocka_unit_test(kai_quotas_gangs_count_with_all_they_need),
		cmocka_unit_test(kai_quotas_bind_work_of_kais_world_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
