/* SPDX-License-Identifier: Apache-2.0 */
/* random_pod.h - random pods; see random_manifest.h. */
#pragma once

#include "properties/random_fields.h"
#include "properties/random_storage.h"

/* ---- pods: spec ---- */

static inline void gen_pod_term(struct gen *g, const char *key)
{
	emit_object(&g->e, key);
	emit_str(&g->e, "topologyKey", PICK(g, gen_topologies));
	gen_selector(g, "labelSelector", 80);
	gen_strings(g, "namespaces", gen_namespaces, 3, 30);
	gen_selector(g, "namespaceSelector", 30);
	gen_strings(g, "matchLabelKeys", gen_keys, 6, 20);
	gen_strings(g, "mismatchLabelKeys", gen_keys, 6, 20);
	emit_end(&g->e);
}

static inline void gen_pod_affinity(struct gen *g, const char *key)
{
	if (!chance(g, 25))
		return;
	emit_object(&g->e, key);
	emit_list(&g->e, "requiredDuringSchedulingIgnoredDuringExecution");
	for (uint32_t n = rng_below(&g->r, 3); n--;)
		gen_pod_term(g, NULL);
	emit_end(&g->e);
	emit_list(&g->e, "preferredDuringSchedulingIgnoredDuringExecution");
	for (uint32_t n = rng_below(&g->r, 2); n--;) {
		emit_object(&g->e, NULL);
		emit_int(&g->e, "weight", 1 + rng_below(&g->r, 100));
		gen_pod_term(g, "podAffinityTerm");
		emit_end(&g->e);
	}
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_node_requirement(struct gen *g)
{
	static const char *const ops[] = {"Gt", "Lt", "Near", "In"};

	if (chance(g, 70)) {
		gen_requirement(g);
		return;
	}
	emit_object(&g->e, NULL);
	emit_str(&g->e, "key", chance(g, 80) ? PICK(g, gen_keys) : "not a key");
	emit_str(&g->e, "operator", PICK(g, ops));
	emit_list(&g->e, "values");
	emit_str(&g->e, NULL, chance(g, 70) ? "5" : "+007");
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_node_term(struct gen *g, const char *key)
{
	emit_object(&g->e, key);
	emit_list(&g->e, "matchExpressions");
	for (uint32_t n = rng_below(&g->r, 3); n--;)
		gen_node_requirement(g);
	emit_end(&g->e);
	if (chance(g, 30)) {
		emit_list(&g->e, "matchFields");
		emit_object(&g->e, NULL);
		emit_str(&g->e, "key", chance(g, 90) ? "metadata.name" : "metadata.uid");
		emit_str(&g->e, "operator", chance(g, 70) ? "In" : "NotIn");
		emit_list(&g->e, "values");
		emit_strf(&g->e, NULL, "n%u", rng_below(&g->r, g->n_nodes + 1));
		emit_end(&g->e);
		emit_end(&g->e);
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_node_affinity(struct gen *g)
{
	if (!chance(g, 25))
		return;
	emit_object(&g->e, "nodeAffinity");
	if (chance(g, 70)) {
		emit_object(&g->e, "requiredDuringSchedulingIgnoredDuringExecution");
		emit_list(&g->e, "nodeSelectorTerms");
		for (uint32_t n = rng_below(&g->r, 3); n--;)
			gen_node_term(g, NULL);
		emit_end(&g->e);
		emit_end(&g->e);
	}
	emit_list(&g->e, "preferredDuringSchedulingIgnoredDuringExecution");
	for (uint32_t n = rng_below(&g->r, 3); n--;) {
		emit_object(&g->e, NULL);
		emit_int(&g->e, "weight", rng_below(&g->r, 100));
		gen_node_term(g, "preference");
		emit_end(&g->e);
	}
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_tolerations(struct gen *g)
{
	static const char *const ops[] = {"", "Equal", "Exists", "Lt", "Gt"}, *const effects[] = {"", "NoSchedule",
												  "NoExecute"};

	emit_list(&g->e, "tolerations");
	for (uint32_t n = rng_below(&g->r, 3); n--;) {
		emit_object(&g->e, NULL);
		if (chance(g, 80))
			emit_str(&g->e, "key", PICK(g, gen_keys));
		emit_str(&g->e, "operator", PICK(g, ops));
		if (chance(g, 60))
			emit_str(&g->e, "value", gen_value(g));
		emit_str(&g->e, "effect", PICK(g, effects));
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_spreads(struct gen *g)
{
	if (!chance(g, 20))
		return;
	emit_list(&g->e, "topologySpreadConstraints");
	for (uint32_t n = rng_below(&g->r, 3); n--;) {
		emit_object(&g->e, NULL);
		emit_int(&g->e, "maxSkew", 1 + rng_below(&g->r, 3));
		if (chance(g, 30))
			emit_int(&g->e, "minDomains", rng_below(&g->r, 3));
		emit_str(&g->e, "topologyKey", PICK(g, gen_topologies));
		emit_str(&g->e, "whenUnsatisfiable", chance(g, 50) ? "DoNotSchedule" : "ScheduleAnyway");
		if (chance(g, 30))
			emit_str(&g->e, "nodeAffinityPolicy", chance(g, 50) ? "Honor" : "Ignore");
		if (chance(g, 30))
			emit_str(&g->e, "nodeTaintsPolicy", chance(g, 50) ? "Honor" : "Ignore");
		gen_selector(g, "labelSelector", 80);
		gen_strings(g, "matchLabelKeys", gen_keys, 6, 20);
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_ports(struct gen *g)
{
	static const char *const protocols[] = {"TCP", "UDP", "SCTP"}, *const ips[] = {"0.0.0.0", "10.0.0.1", ""};

	emit_list(&g->e, "ports");
	for (uint32_t n = rng_below(&g->r, 3); n--;) {
		emit_object(&g->e, NULL);
		emit_int(&g->e, "containerPort", 80 + rng_below(&g->r, 3));
		if (chance(g, 50))
			emit_int(&g->e, "hostPort", rng_below(&g->r, 3) * 8080);
		if (chance(g, 50))
			emit_str(&g->e, "protocol", PICK(g, protocols));
		if (chance(g, 40))
			emit_str(&g->e, "hostIP", PICK(g, ips));
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_containers(struct gen *g, const char *key, bool are_init, uint32_t n)
{
	static const char *const images[] = {"nginx", "nginx:1", "registry.example:5000/i1",
					     "registry.example/i1@sha256:00", "registry.example/i2:1"};

	emit_list(&g->e, key);
	for (uint32_t i = 0; i < n; i++) {
		emit_object(&g->e, NULL);
		emit_strf(&g->e, "name", "%c%u", are_init ? 'i' : 'c', i);
		if (chance(g, 70))
			emit_str(&g->e, "image", PICK(g, images));
		if (are_init && chance(g, 50))
			emit_str(&g->e, "restartPolicy", "Always");
		emit_object(&g->e, "resources");
		if (chance(g, 80))
			gen_amounts(g, "requests", 8);
		if (chance(g, 20))
			gen_amounts(g, "limits", 8);
		emit_end(&g->e);
		if (chance(g, 20))
			gen_ports(g);
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_gates(struct gen *g)
{
	if (!chance(g, 10))
		return;
	emit_list(&g->e, "schedulingGates");
	for (uint32_t n = rng_below(&g->r, 3); n--;) {
		emit_object(&g->e, NULL);
		emit_str(&g->e, "name", PICK(g, gen_nasty));
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_spec(struct gen *g, uint32_t n_init, uint32_t n_main)
{
	emit_object(&g->e, "spec");
	if (chance(g, 60))
		emit_strf(&g->e, "nodeName", "n%u", rng_below(&g->r, g->n_nodes + (g->may_miss_nodes ? 1 : 0)));
	if (chance(g, 40))
		emit_str(&g->e, "priorityClassName", PICK(g, gen_classes));
	if (chance(g, 40))
		emit_int(&g->e, "priority", (int64_t)rng_below(&g->r, 200) - 20);
	if (chance(g, 20)) {
		emit_object(&g->e, "schedulingGroup");
		if (chance(g, 80))
			emit_str(&g->e, "podGroupName", PICK(g, gen_groups));
		emit_end(&g->e);
	}
	if (chance(g, 20))
		emit_str(&g->e, "schedulerName", chance(g, 50) ? "cede" : "default-scheduler");
	if (chance(g, 20))
		emit_str(&g->e, "preemptionPolicy", chance(g, 70) ? "Never" : "PreemptLowerPriority");
	if (chance(g, 10))
		emit_bool(&g->e, "hostNetwork", true);
	if (chance(g, 20))
		gen_labels(g, "nodeSelector", 1);
	emit_object(&g->e, "affinity");
	gen_node_affinity(g);
	gen_pod_affinity(g, "podAffinity");
	gen_pod_affinity(g, "podAntiAffinity");
	emit_end(&g->e);
	gen_tolerations(g);
	gen_spreads(g);
	gen_gates(g);
	if (chance(g, 10))
		gen_amounts(g, "overhead", 2);
	if (chance(g, 10)) {
		emit_object(&g->e, "resources");
		gen_amounts(g, "requests", 16);
		emit_end(&g->e);
	}
	if (chance(g, 10)) {
		emit_list(&g->e, "resourceClaims");
		emit_str(&g->e, NULL, "one");
		emit_end(&g->e);
	}
	gen_volumes(g);
	gen_containers(g, "initContainers", true, n_init);
	gen_containers(g, "containers", false, n_main);
	emit_end(&g->e);
}

/* ---- pods: the rest ---- */

/* A gang without a PodGroup, at times with the name of one. */
static inline void gen_gang(struct gen *g)
{
	static const char *const mins[] = {"1", "2", "3", "0", "x"};
	static const char *const tasks[] = {
		"[{\"name\": \"a\", \"minMember\": 1}, {\"name\": \"b\", \"minMember\": 2}]",
		"[{\"name\": \"a\", \"minMember\": 3}]", "[]", "{}"};

	if (chance(g, 15)) {
		emit_str(&g->e, "cede.dev/gang", PICK(g, gen_groups));
		if (chance(g, 80))
			emit_str(&g->e, "cede.dev/min-member", PICK(g, mins));
	}
	if (chance(g, 15))
		emit_str(&g->e, "yunikorn.apache.org/task-groups", PICK(g, tasks));
	if (chance(g, 20))
		emit_str(&g->e, "yunikorn.apache.org/task-group-name", chance(g, 50) ? "a" : "b");
	if (chance(g, 15))
		emit_str(&g->e, "yunikorn.apache.org/schedulingPolicyParameters",
			 chance(g, 50) ? "gangSchedulingStyle=Hard" : "placeholderTimeoutInSeconds=30 x");
}

static inline void gen_container_statuses(struct gen *g, const char *key, char prefix, uint32_t n)
{
	emit_list(&g->e, key);
	for (uint32_t i = 0; i < n; i++) {
		emit_object(&g->e, NULL);
		emit_strf(&g->e, "name", "%c%u", prefix, i);
		if (chance(g, 50))
			gen_amounts(g, "allocatedResources", 12);
		if (chance(g, 50)) {
			emit_object(&g->e, "resources");
			gen_amounts(g, "requests", 12);
			emit_end(&g->e);
		}
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_conditions(struct gen *g)
{
	static const struct {
		const char *type, *status, *reason;
	} conditions[] = {
		{"DisruptionTarget", "True", "PreemptionByScheduler"},
		{"DisruptionTarget", "True", "EvictionByEvictionAPI"},
		{"PodScheduled", "True", ""},
		{"PodScheduled", "False", "Unschedulable"},
		{"PodResizePending", "True", "Infeasible"},
		{"PodResizePending", "True", "Deferred"},
	};

	emit_list(&g->e, "conditions");
	for (size_t i = 0; i < sizeof(conditions) / sizeof(*conditions); i++) {
		if (!chance(g, 15))
			continue;
		emit_object(&g->e, NULL);
		emit_str(&g->e, "type", conditions[i].type);
		emit_str(&g->e, "status", conditions[i].status);
		emit_str(&g->e, "reason", conditions[i].reason);
		gen_time(g, "lastTransitionTime", 80);
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_status(struct gen *g, uint32_t n_init, uint32_t n_main)
{
	static const char *const phases[] = {"Pending", "Running", "Running", "Succeeded", "Failed", "Unknown", ""};

	emit_object(&g->e, "status");
	emit_str(&g->e, "phase", PICK(g, phases));
	gen_time(g, "startTime", 50);
	if (chance(g, 30))
		emit_strf(&g->e, "nominatedNodeName", "n%u", rng_below(&g->r, g->n_nodes + 1));
	gen_conditions(g);
	if (chance(g, 30)) {
		gen_container_statuses(g, "initContainerStatuses", 'i', n_init);
		gen_container_statuses(g, "containerStatuses", 'c', n_main);
	}
	emit_end(&g->e);
}

static inline void gen_pod_labels(struct gen *g)
{
	static const char *const words[] = {"preemptible", "non-preemptible", "semi-preemptible", "sometimes"};

	emit_object(&g->e, "labels");
	for (size_t i = 0; i < sizeof(gen_keys) / sizeof(*gen_keys); i++)
		if (chance(g, 30))
			emit_str(&g->e, gen_keys[i], gen_value(g));
	if (chance(g, 20))
		emit_str(&g->e, "kai.scheduler/queue", PICK(g, gen_kai_names));
	if (chance(g, 20))
		emit_str(&g->e, "kai.scheduler/subgroup-name", chance(g, 80) ? "sub-1" : "default");
	if (chance(g, 20))
		emit_str(&g->e, "kai.scheduler/preemptibility", PICK(g, words));
	if (chance(g, 20))
		emit_str(&g->e, "queue", chance(g, 80) ? PICK(g, gen_yunikorn_names) : "");
	if (chance(g, 20))
		emit_str(&g->e, "yunikorn.apache.org/app-id", chance(g, 80) ? "app-1" : "");
	if (chance(g, 20))
		emit_str(&g->e, "applicationId", chance(g, 80) ? "app-2" : "");
	if (chance(g, 20))
		emit_str(&g->e, "spark-app-selector", "app-3");
	emit_end(&g->e);
}

static inline void gen_pod_annotations(struct gen *g)
{
	static const char *const users[] = {"{\"user\": \"ann\", \"groups\": [\"a\"]}",
					    "{\"user\": \"\\u00fc \\\"x\\\"\"}", "broken {"};

	emit_object(&g->e, "annotations");
	gen_time(g, "cede.dev/checkpointed-at", 20);
	if (chance(g, 10))
		emit_str(&g->e, "cede.dev/scoring-request", chance(g, 80) ? "cpu=1500m,memory=3Mi" : "cpu=much");
	if (chance(g, 30))
		emit_str(&g->e, "pod-group-name", PICK(g, gen_groups));
	if (chance(g, 20))
		emit_str(&g->e, "yunikorn.apache.org/app-id", "app-4");
	gen_gang(g);
	if (chance(g, 20))
		emit_str(&g->e, "yunikorn.apache.org/queue", PICK(g, gen_yunikorn_names));
	if (chance(g, 20))
		emit_str(&g->e, "yunikorn.apache.org/allow-preemption", chance(g, 50) ? "true" : "false");
	if (chance(g, 20))
		emit_str(&g->e, "yunikorn.apache.org/user.info", PICK(g, users));
	emit_end(&g->e);
}

static inline void gen_pod(struct gen *g, uint32_t i)
{
	uint32_t n_init = chance(g, 30) ? rng_below(&g->r, 3) : 0, n_main = chance(g, 95) ? 1 + rng_below(&g->r, 3) : 0;

	gen_begin(g, "v1", "Pod");
	emit_strf(&g->e, "name", "p%u", i);
	emit_str(&g->e, "namespace", PICK(g, gen_namespaces));
	gen_uid(g);
	gen_time(g, "creationTimestamp", 80);
	gen_time(g, "deletionTimestamp", 10);
	gen_pod_labels(g);
	gen_pod_annotations(g);
	gen_controller(g);
	emit_end(&g->e);
	gen_spec(g, n_init, n_main);
	gen_status(g, n_init, n_main);
	emit_end(&g->e);
}
