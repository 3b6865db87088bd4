/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kai_story.h - stories (story.h) of KAI's objects: queues with windows, groups, GPUs. For tests only, after cmocka.h.
 *
 *	story_begin(&s); kai_queue(&s, "b", "", 0, "reclaim 10m"); kai_node(&s, "n1", 4);
 *	kai_group(&s, "train", "b", 2, 300 * NS_PER_S, "preemptibility: semi-preemptible");
 *	kai_pod(&s, "t-0", "train", 1, "n1", "age 60");
 */
#pragma once

#include "properties/story.h"
#include "rules/judge.h"

#define KAI_GPU_TYPE "nvidia.com/gpu"

/* words: "preempt 10m reclaim 5m". */
static inline void kai_queue(struct story *s, const char *name, const char *parent, int quota, const char *words)
{
	const char *preempt = story_word(words, "preempt "), *reclaim = story_word(words, "reclaim ");
	struct text *o = &s->objects;
	char value[32];

	text_printf(o,
		    "---\napiVersion: scheduling.run.ai/v2\nkind: Queue\nmetadata: {name: %s}\nspec:\n"
		    "  resources: {gpu: {quota: %d, limit: -1}, cpu: {limit: -1}, memory: {limit: -1}}\n",
		    name, quota);
	if (*parent)
		text_printf(o, "  parentQueue: %s\n", parent);
	if (preempt) {
		story_copy(preempt, value, sizeof(value));
		text_printf(o, "  preemptMinRuntime: \"%s\"\n", value);
	}
	if (reclaim) {
		story_copy(reclaim, value, sizeof(value));
		text_printf(o, "  reclaimMinRuntime: \"%s\"\n", value);
	}
}

static inline void kai_node(struct story *s, const char *name, int gpus)
{
	text_printf(&s->objects,
		    "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s}\n"
		    "status: {allocatable: {cpu: \"1000\", memory: 1000Gi, pods: \"1000\", " KAI_GPU_TYPE
		    ": \"%d\"}}\n",
		    name, gpus);
}

/* Started so long ago by its annotation, or TIME_NONE. spec: more fields, "a: b, c: d", or NULL. */
static inline void kai_group(struct story *s, const char *name, const char *queue, int min, int64_t ago_ns,
			     const char *spec)
{
	struct text when = {0}, *o = &s->objects;

	text_printf(o,
		    "---\napiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata:\n  name: %s\n"
		    "  namespace: d\n",
		    name);
	if (ago_ns != TIME_NONE) {
		timestamp_text(STORY_NOW_NS - ago_ns, &when);
		text_printf(o, "  annotations: {kai.scheduler/last-start-timestamp: \"%s\"}\n", text_str(&when));
	}
	text_printf(o, "spec: {queue: %s, minMember: %d%s%s}\n", queue, min, spec ? ", " : "", spec ? spec : "");
	text_free(&when);
}

static inline void kai_label(struct text *out, const char *words, const char *word, const char *key)
{
	const char *at = story_word(words, word);
	char value[64];

	if (!at)
		return;
	story_copy(at, value, sizeof(value));
	text_printf(out, ", %s: %s", key, value);
}

/* group NULL: on its own. words: "age 10" (seconds), "created 10", "queue q", "label x", "podset a", "leaving", … */
static inline void kai_pod(struct story *s, const char *name, const char *group, int gpus, const char *node,
			   const char *words)
{
	const char *age = story_word(words, "age "), *made = story_word(words, "created "),
		   *priority = story_word(words, "priority "), *annotation = story_word(words, "annotated ");
	int64_t seconds = age ? strtoll(age, NULL, 10) : 3600;
	struct text when = {0}, created = {0}, *o = &s->objects;
	char value[64];

	timestamp_text(STORY_NOW_NS - seconds * NS_PER_S, &when);
	timestamp_text(STORY_NOW_NS - (made ? strtoll(made, NULL, 10) : seconds) * NS_PER_S, &created);
	text_printf(o,
		    "---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: d\n"
		    "  creationTimestamp: \"%s\"\n",
		    name, text_str(&created));
	if (story_word(words, "leaving")) { /* in time */
		struct text end = {0};

		timestamp_text(STORY_NOW_NS, &end);
		text_printf(o, "  deletionTimestamp: \"%s\"\n", text_str(&end));
		text_free(&end);
	}
	text_add(o, "  labels: {x: y");
	kai_label(o, words, "queue ", "kai.scheduler/queue");
	kai_label(o, words, "label ", "kai.scheduler/preemptibility");
	kai_label(o, words, "podset ", "kai.scheduler/subgroup-name");
	text_add(o, "}\n  annotations: {x: y");
	if (group)
		text_printf(o, ", pod-group-name: %s", group);
	if (annotation) {
		story_copy(annotation, value, sizeof(value));
		text_printf(o, ", kai.scheduler/last-start-timestamp: \"%s\"", value);
	}
	text_add(o, "}\n");
	if (story_word(words, "owned"))
		text_add(o, "  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: own, uid: u, "
			    "controller: true}]\n");
	text_add(o, "spec:\n");
	if (priority)
		text_printf(o, "  priority: %lld\n", strtoll(priority, NULL, 10));
	if (node)
		text_printf(o, "  nodeName: %s\n", node);
	if (story_word(words, "picky")) /* filters that depend on other pods: the search has to move them */
		text_add(o, "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {no: body}}}]}}\n");
	text_printf(o, "  containers: [{name: c, resources: {requests: {" KAI_GPU_TYPE ": \"%d\"}}}]\n", gpus);
	if (node)
		text_printf(o, "status: {phase: Running, startTime: \"%s\"}\n", text_str(&when));
	text_free(&when);
	text_free(&created);
}

/* What is said of a protected pod of decision i: "rule: sentence"; "" if it is not among them. */
static inline void kai_why(const struct story *s, uint32_t i, const char *pod, struct text *out)
{
	const struct decision *d = &s->plan.v.v[i];

	for (uint32_t k = 0; k < d->n_protected; k++) {
		if (!str_eq(story_name(s, d->protected[k].pod), pod))
			continue;
		text_printf(out, "%s: ", rule_verdict_name(&d->protected[k].verdict));
		rule_verdict_text(s->cluster, &d->protected[k].verdict, out);
	}
}

/* ---- with cmocka, which the test includes first ---- */

/* Plans, compares the line. */
static inline void expect_line(struct story *s, const char *sentence, const char *line)
{
	struct text got = {0};

	story_plan(s);
	story_line(s, &got);
	if (!str_eq(text_str(&got), line))
		print_error("%s\n", sentence);
	assert_string_equal(text_str(&got), line);
	text_free(&got);
}

static inline void expect(struct story *s, const char *sentence, const char *line)
{
	expect_line(s, sentence, line);
	story_end(s);
}

static inline void expect_why(const struct story *s, uint32_t decision, const char *pod, const char *why)
{
	struct text got = {0};

	kai_why(s, decision, pod, &got);
	assert_string_equal(text_str(&got), why);
	text_free(&got);
}
