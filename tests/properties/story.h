/* SPDX-License-Identifier: Apache-2.0 */
/*
 * story.h - small clusters in a few words, planned, and what came of it in one line. For tests only.
 *
 *	story_begin(&s); story_queue(&s, "root.prod", "guaranteed 4"); story_node(&s, "n1", 8);
 *	story_pod(&s, "test-0", "root.test", 2, "n1"); story_plan(&s);
 *
 * One resource type matters: example.com/unit. Pods without a node wait. What a pod is beside that is said in words:
 * "priority 5", "app x", "opted-out", "driver", "daemon n1", "never", "age 10" (seconds), "budget b", "leaving" (should
 * have gone when it was made, or "late 10" seconds ago), "nominated n1", "group g", "podset p" of it, "picky",
 * "created 20" (seconds ago, where that is not its age), "inside ns" (its namespace, d otherwise), "class c" (its
 * PriorityClass), "opted-in", "pinned n1" (must run there, and is of no DaemonSet), "of-daemonset" (pinned nowhere).
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/emit.h"
#include "engine/engine.h"
#include "explain/plan_view.h"
#include "manifest/manifest.h"
#include "units/timestamp.h"

#define STORY_NOW_NS (INT64_C(1800000000) * NS_PER_S)
#define STORY_UNIT "example.com/unit"

struct story {
	struct text queues, objects;
	enum profile profile;
	const char *config; /* CedeConfiguration body, may be NULL */
	uint32_t cycles;
	const struct eviction_history *eviction_history; /* who was evicted before; after story_load */
	/* after story_plan */
	struct vocab *vocab;
	struct cluster *cluster;
	struct engine_config *settings;
	struct engine *engine;
	struct decisions plan;
};

static inline void story_begin(struct story *s)
{
	*s = (struct story){.profile = PROFILE_DEFAULT, .cycles = 1};
}

/* props: "guaranteed 4 max 8 fence disabled delay 10s offset 5 priority-fence parent". Paths come parents first. */
static inline const char *story_word(const char *props, const char *word)
{
	const char *at = props ? strstr(props, word) : NULL;

	return at ? at + strlen(word) : NULL;
}

struct story_def {
	char path[128], props[128];
};

/* Queues are kept as lines "path props" and written as a tree when planned. */
static inline void story_queue(struct story *s, const char *path, const char *props)
{
	text_printf(&s->queues, "%s|%s\n", path, props ? props : "");
}

static inline void story_node(struct story *s, const char *name, int64_t units)
{
	text_printf(&s->objects,
		    "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/hostname: %s}}\n"
		    "status: {allocatable: {cpu: \"1000\", memory: 1000Gi, pods: \"1000\", " STORY_UNIT ": \"%" PRId64
		    "\"}}\n",
		    name, name, units);
}

static inline void story_budget(struct story *s, const char *name, int allowed)
{
	text_printf(&s->objects,
		    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s, namespace: d}\n"
		    "spec: {selector: {matchLabels: {budget: %s}}}\nstatus: {disruptionsAllowed: %d}\n",
		    name, name, allowed);
}

static inline void story_copy(const char *from, char *to, size_t size)
{
	size_t n = strcspn(from, " ");

	snprintf(to, size, "%.*s", (int)(n < size ? n : size - 1), from);
}

static inline void story_pod(struct story *s, const char *name, const char *queue, int64_t units, const char *node,
			     const char *words)
{
	const char *priority = story_word(words, "priority "), *app = story_word(words, "app "),
		   *daemon = story_word(words, "daemon "), *age = story_word(words, "age "),
		   *budget = story_word(words, "budget "), *leaving = story_word(words, "leaving"),
		   *late = story_word(words, "late "), *nominated = story_word(words, "nominated "),
		   *group = story_word(words, "group "), *podset = story_word(words, "podset "),
		   *created = story_word(words, "created "), *inside = story_word(words, "inside "),
		   *class = story_word(words, "class "), *pinned = story_word(words, "pinned ");
	int64_t seconds = age ? strtoll(age, NULL, 10) : 3600;
	struct text when = {0}, made = {0}, due = {0}, *o = &s->objects;
	char buf[64];

	timestamp_text(STORY_NOW_NS - seconds * NS_PER_S, &when);
	timestamp_text(STORY_NOW_NS - (created ? strtoll(created, NULL, 10) : seconds) * NS_PER_S, &made);
	story_copy(inside ? inside : "d", buf, sizeof(buf));
	text_printf(
		o,
		"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: %s\n  namespace: %s\n  creationTimestamp: \"%s\"\n",
		name, buf, text_str(&made));
	timestamp_text(STORY_NOW_NS - (late ? strtoll(late, NULL, 10) : seconds) * NS_PER_S, &due);
	if (leaving)
		text_printf(o, "  deletionTimestamp: \"%s\"\n", text_str(&due));
	text_add(o, "  labels: {x: y");
	if (queue)
		text_printf(o, ", queue: %s", queue);
	if (app) {
		story_copy(app, buf, sizeof(buf));
		text_printf(o, ", applicationId: %s", buf);
	}
	if (story_word(words, "driver"))
		text_add(o, ", spark-role: driver");
	if (budget) {
		story_copy(budget, buf, sizeof(buf));
		text_printf(o, ", budget: %s", buf);
	}
	if (podset) {
		story_copy(podset, buf, sizeof(buf));
		text_printf(o, ", kai.scheduler/subgroup-name: %s", buf);
	}
	text_add(o, "}\n");
	text_add(o, "  annotations: {x: y");
	if (story_word(words, "opted-out"))
		text_add(o, ", yunikorn.apache.org/allow-preemption: \"false\"");
	if (story_word(words, "opted-in"))
		text_add(o, ", yunikorn.apache.org/allow-preemption: \"true\"");
	if (group) {
		story_copy(group, buf, sizeof(buf));
		text_printf(o, ", pod-group-name: %s", buf);
	}
	text_add(o, "}\n");
	if (daemon || story_word(words, "of-daemonset"))
		text_add(o, "  ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: ds, uid: u, controller: "
			    "true}]\n");
	text_printf(o, "spec:\n  priority: %lld\n", priority ? strtoll(priority, NULL, 10) : 0);
	if (class) {
		story_copy(class, buf, sizeof(buf));
		text_printf(o, "  priorityClassName: %s\n", buf);
	}
	if (node)
		text_printf(o, "  nodeName: %s\n", node);
	if (story_word(words, "never"))
		text_add(o, "  preemptionPolicy: Never\n");
	if (daemon || pinned) {
		story_copy(daemon ? daemon : pinned, buf, sizeof(buf));
		text_printf(o,
			    "  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			    "{nodeSelectorTerms: "
			    "[{matchFields: [{key: metadata.name, operator: In, values: [%s]}]}]}}}\n",
			    buf);
	}
	if (story_word(words, "picky")) /* filters that depend on other pods: the search has to move them */
		text_add(o, "  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
			    "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {no: body}}}]}}\n");
	text_printf(o, "  containers: [{name: c, resources: {requests: {" STORY_UNIT ": \"%" PRId64 "\"}}}]\n", units);
	if (node)
		text_printf(o, "status: {phase: Running, startTime: \"%s\"}\n", text_str(&when));
	if (nominated) {
		story_copy(nominated, buf, sizeof(buf));
		text_printf(o, "status: {phase: Pending, nominatedNodeName: %s}\n", buf);
	}
	text_free(&when);
	text_free(&made);
	text_free(&due);
}

/* ---- queues.yaml ---- */

static inline uint32_t story_defs(const struct story *s, struct story_def *out, uint32_t max)
{
	const char *line = text_str(&s->queues), *end;
	uint32_t n = 0;

	for (; n < max && (end = strchr(line, '\n')); line = end + 1, n++) {
		size_t bar = strcspn(line, "|");

		snprintf(out[n].path, sizeof(out[n].path), "%.*s", (int)bar, line);
		snprintf(out[n].props, sizeof(out[n].props), "%.*s", (int)(end - line - (ptrdiff_t)bar - 1),
			 line + bar + 1);
	}
	return n;
}

static inline bool story_is_child(const char *parent, const char *path)
{
	size_t n = strlen(parent);

	return str_starts(path, parent) && path[n] == '.' && !strchr(path + n + 1, '.');
}

static inline void story_prop(struct text *out, int pad, const char *props, const char *word, const char *key)
{
	const char *at = story_word(props, word);
	char value[64];

	if (!at)
		return;
	story_copy(at, value, sizeof(value));
	text_pad(out, ' ', (size_t)pad);
	text_printf(out, "%s: \"%s\"\n", key, value);
}

static inline void story_write_queue(struct text *out, const struct story_def *defs, uint32_t n, uint32_t i, int pad)
{
	const char *props = defs[i].props, *name = strrchr(defs[i].path, '.'), *g = story_word(props, "guaranteed "),
		   *m = story_word(props, "max ");
	char amount[32];
	bool has_children = false;

	text_pad(out, ' ', (size_t)pad);
	text_printf(out, "- name: %s\n", name ? name + 1 : defs[i].path);
	if (g || m) {
		text_pad(out, ' ', (size_t)pad + 2);
		text_add(out, "resources: {");
		if (g) {
			story_copy(g, amount, sizeof(amount));
			text_printf(out, "guaranteed: {" STORY_UNIT ": %s}", amount);
		}
		if (m) {
			story_copy(m, amount, sizeof(amount));
			text_printf(out, "%smax: {" STORY_UNIT ": %s}", g ? ", " : "", amount);
		}
		text_add(out, "}\n");
	}
	text_pad(out, ' ', (size_t)pad + 2);
	text_add(out, "properties:\n");
	text_pad(out, ' ', (size_t)pad + 4);
	text_add(out, "x: y\n");
	if (strstr(props, "fence") && !strstr(props, "priority-fence")) {
		text_pad(out, ' ', (size_t)pad + 4);
		text_add(out, "preemption.policy: fence\n");
	} else if (strstr(props, "disabled")) {
		text_pad(out, ' ', (size_t)pad + 4);
		text_add(out, "preemption.policy: disabled\n");
	}
	if (strstr(props, "priority-fence")) {
		text_pad(out, ' ', (size_t)pad + 4);
		text_add(out, "priority.policy: fence\n");
	}
	story_prop(out, pad + 4, props, "delay ", "preemption.delay");
	story_prop(out, pad + 4, props, "offset ", "priority.offset");
	for (uint32_t k = 0; k < n; k++) {
		if (!story_is_child(defs[i].path, defs[k].path))
			continue;
		if (!has_children) {
			text_pad(out, ' ', (size_t)pad + 2);
			text_add(out, "queues:\n");
			has_children = true;
		}
		story_write_queue(out, defs, n, k, pad + 2);
	}
}

/* ---- planning ---- */

static inline void story_must(enum err_code rc, const struct err *e)
{
	if (!rc)
		return;
	fprintf(stderr, "story: %s\n", e->msg);
	abort();
}

static inline void story_load(struct story *s)
{
	struct story_def defs[256];
	uint32_t n = story_defs(s, defs, 256);
	struct text all = {0};
	struct manifest *m;
	struct cluster_options options;
	struct err e;

	if (n) {
		text_add(&all, "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n");
		for (uint32_t i = 0; i < n; i++)
			if (story_is_child("root", defs[i].path))
				story_write_queue(&all, defs, n, i, 4);
	}
	if (s->config)
		text_printf(&all, "---\napiVersion: cede.dev/v1\nkind: CedeConfiguration\n%s\n", s->config);
	text_add(&all, text_str(&s->objects));
	s->vocab = vocab_new();
	m = manifest_new(s->vocab);
	s->settings = engine_config_new();
	s->settings->keeps_of_few = true;
	story_must(manifest_read_bytes(m, "story", text_str(&all), all.n, &e), &e);
	story_must(manifest_configure(m, s->settings, &e), &e);
	s->settings->profile = s->profile;
	options = engine_config_cluster_options(s->settings, STORY_NOW_NS);
	story_must(manifest_build(m, &options, &s->cluster, &e), &e);
	manifest_free(m);
	text_free(&all);
	s->engine = engine_new(s->cluster, s->settings, NULL, 0, &e);
	story_must(s->engine ? ERR_OK : ERR_INTERNAL, &e);
	ledger_check_always(cluster_ledger(s->cluster), true);
}

static inline void story_plan(struct story *s)
{
	struct engine_run run = {.now_ns = STORY_NOW_NS,
				 .cycles = s->cycles,
				 .report = POD_NONE,
				 .eviction_history = s->eviction_history};
	struct err e;

	if (!s->cluster)
		story_load(s);
	s->plan.arena = arena_new(64 * 1024);
	story_must(engine_plan(s->engine, &run, &s->plan, &e), &e);
}

static inline const char *story_name(const struct story *s, pod_id pod)
{
	return name_str(vocab_names(s->vocab), ledger_pod(cluster_ledger(s->cluster), pod)->name);
}

/* "prod-0 reclaim n1 [test-0 test-1]; prod-1 waiting" in the order of decisions; placed pods: "a placed n1". */
static inline void story_line(const struct story *s, struct text *out)
{
	const struct ledger *l = cluster_ledger(s->cluster);

	for (uint32_t i = 0; i < s->plan.v.n; i++) {
		const struct decision *d = &s->plan.v.v[i];

		text_add(out, i ? "; " : "");
		text_add(out, d->pod == POD_NONE ? action_text(d->action) : story_name(s, d->pod));
		if (d->outcome == OUTCOME_WAITING || d->outcome == OUTCOME_GATED) {
			text_printf(out, " %s", outcome_text(d->outcome));
			if (d->own_rule != RULE_NONE)
				text_printf(out, " (%s)", rule_text(d->own_rule));
			continue;
		}
		text_printf(out, " %s", d->outcome == OUTCOME_PLACED ? "placed" : action_text(d->action));
		if (d->node != NODE_NONE)
			text_printf(out, " %s", name_str(vocab_names(s->vocab), ledger_node(l, d->node)->name));
		for (uint32_t k = 0; k < d->n_victims; k++)
			text_printf(out, "%s%s", k ? " " : " [", story_name(s, d->victims[k].pod));
		text_add(out, d->n_victims ? "]" : "");
	}
}

/* All that is said of the plan; its moves must have been taken back. */
static inline void story_emit(const struct story *s, struct text *out)
{
	struct plan_view view = {
		.cluster = s->cluster, .plan = &s->plan, .profile = s->profile, .now_ns = STORY_NOW_NS};
	struct emit e;

	emit_init(&e, out, EMIT_JSON);
	plan_view_emit(&view, &e);
}

static inline void story_end(struct story *s)
{
	engine_free(s->engine);
	array_free(&s->plan.v);
	arena_free(s->plan.arena);
	cluster_free(s->cluster);
	engine_config_free(s->settings);
	vocab_free(s->vocab);
	text_free(&s->queues);
	text_free(&s->objects);
}
