/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gen_cluster.h - writes a made-up but lifelike cluster as its API server would show it: priority classes, queues,
 * namespaces, nodes and pods with the labels, environments, tolerations, volumes and statuses that real ones carry. The
 * same numbers give the same bytes.
 *
 *	struct gen_cluster g = {.n_nodes = 5000, .n_pods = 150000};
 *	gen_cluster_write(&g, &text, EMIT_JSON);  one List, as `kubectl get -o json` prints it
 *	gen_cluster_write(&g, &text, EMIT_YAML);  one document per object
 *
 * g.start[i] .. g.end[i] are then the bytes of object i; gen_cluster_free frees them.
 */
#pragma once

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/emit.h"
#include "base/map.h"
#include "base/text.h"

#define GEN_TEAMS 40u

struct gen_cluster {
	uint32_t n_nodes, n_pods;
	ARRAY(size_t) start;
	ARRAY(size_t) end;
};

/* 0 .. n - 1, by what is asked about which object. */
static inline uint32_t gen_pick(uint32_t object, uint32_t question, uint32_t n)
{
	return (uint32_t)(hash_u64(map_key2(object, question)) % n);
}

static inline void gen_uid(struct emit *e, uint32_t object, uint32_t question)
{
	uint64_t a = hash_u64(map_key2(object, question)), b = hash_u64(a);
	emit_strf(e, "uid", "%08x-%04x-4%03x-a%03x-%012" PRIx64, (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xFFFF),
		  (unsigned)(a & 0xFFF), (unsigned)(b >> 48 & 0xFFF), b & UINT64_C(0xFFFFFFFFFFFF));
}

/* Some second of the days before 2026-03-01. */
static inline void gen_time(struct emit *e, const char *key, uint32_t object, uint32_t question)
{
	uint32_t s = gen_pick(object, question, 28 * 86400);
	emit_strf(e, key, "2026-02-%02uT%02u:%02u:%02uZ", s / 86400 + 1, s / 3600 % 24, s / 60 % 60, s % 60);
}

static inline void gen_pod_name(char *name, size_t size, uint32_t pod)
{
	static const char *const apps[] = {"trainer", "gateway", "indexer", "renderer", "notebook", "mailer"};
	uint32_t app = pod / 12;
	snprintf(name, size, "%s-%u-%06x-%c%c%c%c%c", apps[app % 6], app, (unsigned)(hash_u64(app) & 0xFFFFFF),
		 'b' + gen_pick(pod, 1, 24), 'b' + gen_pick(pod, 2, 24), 'b' + gen_pick(pod, 3, 24),
		 'b' + gen_pick(pod, 4, 24), '2' + gen_pick(pod, 5, 8));
}

static inline void gen_header(struct emit *e, const char *api, const char *kind)
{
	emit_str(e, "apiVersion", api);
	emit_str(e, "kind", kind);
}

static inline void gen_priority_class(struct emit *e, const char *name, int64_t value)
{
	emit_object(e, NULL);
	gen_header(e, "scheduling.k8s.io/v1", "PriorityClass");
	emit_object(e, "metadata");
	emit_str(e, "name", name);
	emit_end(e);
	emit_int(e, "value", value);
	emit_str(e, "preemptionPolicy", "PreemptLowerPriority");
	emit_end(e);
}

static inline void gen_condition(struct emit *e, const char *type, bool is_true, const char *reason,
				 const char *message, uint32_t object, uint32_t question)
{
	emit_object(e, NULL);
	emit_str(e, "type", type);
	emit_str(e, "status", is_true ? "True" : "False");
	if (reason != NULL)
		emit_str(e, "reason", reason);
	if (message != NULL)
		emit_str(e, "message", message);
	gen_time(e, "lastTransitionTime", object, question);
	emit_end(e);
}

static inline void gen_node_metadata(struct emit *e, uint32_t i)
{
	bool has_gpus = i % 4 == 3;
	emit_object(e, "metadata");
	emit_strf(e, "name", "worker-%05u", i);
	gen_uid(e, i, 10);
	emit_strf(e, "resourceVersion", "%u", 1000000 + gen_pick(i, 11, 9000000));
	gen_time(e, "creationTimestamp", i, 12);
	emit_object(e, "labels");
	emit_str(e, "kubernetes.io/arch", "amd64");
	emit_str(e, "kubernetes.io/os", "linux");
	emit_strf(e, "kubernetes.io/hostname", "worker-%05u", i);
	emit_str(e, "node.kubernetes.io/instance-type", has_gpus ? "g8.48xlarge" : "c6.16xlarge");
	emit_str(e, "topology.kubernetes.io/region", "north");
	emit_strf(e, "topology.kubernetes.io/zone", "north-%c", 'a' + i % 3);
	emit_strf(e, "example.com/rack", "r%03u", i / 32);
	emit_end(e);
	emit_object(e, "annotations");
	emit_str(e, "node.alpha.kubernetes.io/ttl", "0");
	emit_str(e, "volumes.kubernetes.io/controller-managed-attach-detach", "true");
	emit_end(e);
	emit_end(e);
}

static inline void gen_node_resources(struct emit *e, const char *key, uint32_t i, unsigned milli)
{
	emit_object(e, key);
	emit_strf(e, "cpu", "%um", milli);
	emit_str(e, "memory", "263843124Ki");
	emit_str(e, "ephemeral-storage", "943718400Ki");
	emit_str(e, "hugepages-2Mi", "0");
	emit_str(e, "pods", "110");
	if (i % 4 == 3)
		emit_str(e, "nvidia.com/gpu", "8");
	emit_end(e);
}

static inline void gen_node_images(struct emit *e, uint32_t i)
{
	emit_list(e, "images");
	for (uint32_t k = 0; k < 6; k++) {
		emit_object(e, NULL);
		emit_list(e, "names");
		emit_strf(e, NULL, "registry.example.com/team-%u/app-%u@sha256:%016" PRIx64 "%016" PRIx64, k,
			  gen_pick(i, 20 + k, 40), hash_u64(i + k), hash_u64(i * 7 + k));
		emit_strf(e, NULL, "registry.example.com/team-%u/app-%u:v1.%u", k, gen_pick(i, 20 + k, 40), k);
		emit_end(e);
		emit_int(e, "sizeBytes", 20000000 + gen_pick(i, 30 + k, 900000000));
		emit_end(e);
	}
	emit_end(e);
}

static inline void gen_node(struct emit *e, uint32_t i)
{
	emit_object(e, NULL);
	gen_header(e, "v1", "Node");
	gen_node_metadata(e, i);
	emit_object(e, "spec");
	emit_strf(e, "podCIDR", "10.%u.%u.0/24", i / 256 % 256, i % 256);
	emit_strf(e, "providerID", "metal://north/%u/worker-%05u", i / 32, i);
	if (i % 4 == 3) {
		emit_list(e, "taints");
		emit_object(e, NULL);
		emit_str(e, "key", "nvidia.com/gpu");
		emit_str(e, "effect", "NoSchedule");
		emit_end(e);
		emit_end(e);
	}
	emit_end(e);
	emit_object(e, "status");
	gen_node_resources(e, "capacity", i, 64000);
	gen_node_resources(e, "allocatable", i, 63500);
	emit_list(e, "conditions");
	gen_condition(e, "MemoryPressure", false, "KubeletHasSufficientMemory", "enough memory", i, 40);
	gen_condition(e, "DiskPressure", false, "KubeletHasNoDiskPressure", "enough room on disk", i, 41);
	gen_condition(e, "PIDPressure", false, "KubeletHasSufficientPID", "enough process ids", i, 42);
	gen_condition(e, "Ready", true, "KubeletReady", "the node is ready", i, 43);
	emit_end(e);
	emit_list(e, "addresses");
	emit_object(e, NULL);
	emit_str(e, "type", "InternalIP");
	emit_strf(e, "address", "172.16.%u.%u", i / 256 % 256, i % 256);
	emit_end(e);
	emit_end(e);
	gen_node_images(e, i);
	emit_end(e);
	emit_end(e);
}

static inline void gen_pod_metadata(struct emit *e, uint32_t i, const char *name)
{
	uint32_t app = i / 12;
	emit_object(e, "metadata");
	emit_str(e, "name", name);
	emit_strf(e, "generateName", "%.*s", (int)strlen(name) - 5, name);
	emit_strf(e, "namespace", "team-%02u", app % GEN_TEAMS);
	gen_uid(e, i, 50);
	emit_strf(e, "resourceVersion", "%u", 1000000 + gen_pick(i, 51, 9000000));
	gen_time(e, "creationTimestamp", i, 52);
	emit_object(e, "labels");
	emit_strf(e, "app.kubernetes.io/name", "app-%u", app);
	emit_strf(e, "app.kubernetes.io/instance", "app-%u-prod", app);
	emit_str(e, "app.kubernetes.io/managed-by", "Helm");
	emit_strf(e, "queue", "root.team-%02u", app % GEN_TEAMS);
	emit_strf(e, "applicationId", "app-%u", app);
	emit_strf(e, "pod-template-hash", "%06x", (unsigned)(hash_u64(app) & 0xFFFFFF));
	emit_end(e);
	emit_object(e, "annotations");
	emit_strf(e, "checksum/config", "%016" PRIx64 "%016" PRIx64, hash_u64(app), hash_u64(app + 1));
	emit_str(e, "prometheus.io/scrape", "true");
	emit_str(e, "prometheus.io/port", "9102");
	emit_strf(e, "example.com/build", "{\"commit\":\"%016" PRIx64 "\",\"pipeline\":%u,\"branch\":\"main\"}",
		  hash_u64(app + 2), app);
	emit_end(e);
	emit_list(e, "ownerReferences");
	emit_object(e, NULL);
	gen_header(e, "apps/v1", "ReplicaSet");
	emit_strf(e, "name", "%.*s", (int)strlen(name) - 6, name);
	gen_uid(e, app, 53);
	emit_bool(e, "controller", true);
	emit_bool(e, "blockOwnerDeletion", true);
	emit_end(e);
	emit_end(e);
	emit_end(e);
}

static inline void gen_env(struct emit *e, const char *name, const char *value)
{
	emit_object(e, NULL);
	emit_str(e, "name", name);
	emit_str(e, "value", value);
	emit_end(e);
}

static inline void gen_resources(struct emit *e, uint32_t i)
{
	static const char *const cpus[] = {"100m", "250m", "500m", "1", "2", "4"};
	static const char *const memories[] = {"128Mi", "512Mi", "1Gi", "4Gi", "16Gi"};
	const char *gpus = i % 4 == 3 && i / 12 % 8 == 0 ? "1" : NULL;
	emit_object(e, "resources");
	for (int k = 0; k < 2; k++) {
		emit_object(e, k == 0 ? "requests" : "limits");
		emit_str(e, "cpu", cpus[gen_pick(i / 12, 60, 6)]);
		emit_str(e, "memory", memories[gen_pick(i / 12, 61, 5)]);
		if (gpus != NULL)
			emit_str(e, "nvidia.com/gpu", gpus);
		emit_end(e);
	}
	emit_end(e);
}

static inline void gen_probe(struct emit *e, const char *key, const char *path, int64_t seconds)
{
	emit_object(e, key);
	emit_object(e, "httpGet");
	emit_str(e, "path", path);
	emit_int(e, "port", 8080);
	emit_str(e, "scheme", "HTTP");
	emit_end(e);
	emit_int(e, "initialDelaySeconds", seconds);
	emit_int(e, "periodSeconds", 10);
	emit_int(e, "timeoutSeconds", 1);
	emit_int(e, "failureThreshold", 3);
	emit_end(e);
}

static inline void gen_mount(struct emit *e, const char *name, const char *path)
{
	emit_object(e, NULL);
	emit_str(e, "name", name);
	emit_str(e, "mountPath", path);
	emit_bool(e, "readOnly", true);
	emit_end(e);
}

static inline void gen_container(struct emit *e, uint32_t i)
{
	emit_object(e, NULL);
	emit_str(e, "name", "main");
	emit_strf(e, "image", "registry.example.com/team-%02u/app-%u:v1.%u.0", i / 12 % GEN_TEAMS, i / 12, i / 12 % 7);
	emit_str(e, "imagePullPolicy", "IfNotPresent");
	emit_list(e, "args");
	emit_str(e, NULL, "--listen=:8080");
	emit_str(e, NULL, "--log-format=json");
	emit_end(e);
	emit_list(e, "env");
	gen_env(e, "LOG_LEVEL", "info");
	gen_env(e, "DATABASE_URL", "postgres://app@db.internal.example.com:5432/app?sslmode=require");
	gen_env(e, "GREETING", "Grüße aus dem Norden");
	gen_env(e, "WORKERS", "8");
	emit_end(e);
	emit_list(e, "ports");
	emit_object(e, NULL);
	emit_str(e, "name", "http");
	emit_int(e, "containerPort", 8080);
	emit_str(e, "protocol", "TCP");
	emit_end(e);
	emit_end(e);
	gen_resources(e, i);
	gen_probe(e, "livenessProbe", "/livez", 15);
	gen_probe(e, "readinessProbe", "/readyz", 5);
	emit_list(e, "volumeMounts");
	gen_mount(e, "config", "/etc/app");
	gen_mount(e, "kube-api-access", "/var/run/secrets/kubernetes.io/serviceaccount");
	emit_end(e);
	emit_str(e, "terminationMessagePath", "/dev/termination-log");
	emit_str(e, "terminationMessagePolicy", "File");
	emit_end(e);
}

static inline void gen_tolerations(struct emit *e)
{
	static const char *const keys[] = {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable",
					   "nvidia.com/gpu"};
	emit_list(e, "tolerations");
	for (int k = 0; k < 3; k++) {
		emit_object(e, NULL);
		emit_str(e, "key", keys[k]);
		emit_str(e, "operator", "Exists");
		emit_str(e, "effect", k < 2 ? "NoExecute" : "NoSchedule");
		if (k < 2)
			emit_int(e, "tolerationSeconds", 300);
		emit_end(e);
	}
	emit_end(e);
}

static inline void gen_volumes(struct emit *e, uint32_t i)
{
	emit_list(e, "volumes");
	emit_object(e, NULL);
	emit_str(e, "name", "config");
	emit_object(e, "configMap");
	emit_strf(e, "name", "app-%u-config", i / 12);
	emit_int(e, "defaultMode", 420);
	emit_end(e);
	emit_end(e);
	emit_object(e, NULL);
	emit_str(e, "name", "kube-api-access");
	emit_object(e, "projected");
	emit_int(e, "defaultMode", 420);
	emit_list(e, "sources");
	emit_object(e, NULL);
	emit_object(e, "serviceAccountToken");
	emit_int(e, "expirationSeconds", 3607);
	emit_str(e, "path", "token");
	emit_end(e);
	emit_end(e);
	emit_end(e);
	emit_end(e);
	emit_end(e);
	emit_end(e);
}

static inline void gen_pod_spec(struct emit *e, const struct gen_cluster *g, uint32_t i, bool is_waiting)
{
	static const char *const classes[] = {"batch-low", "batch-high", "service"};
	static const int64_t priorities[] = {100, 1000, 100000};
	uint32_t class = gen_pick(i / 12, 62, 3);
	emit_object(e, "spec");
	emit_list(e, "containers");
	gen_container(e, i);
	emit_end(e);
	if (!is_waiting && g->n_nodes > 0)
		emit_strf(e, "nodeName", "worker-%05u", i % g->n_nodes);
	emit_str(e, "schedulerName", "cede");
	emit_str(e, "priorityClassName", classes[class]);
	emit_int(e, "priority", priorities[class]);
	emit_str(e, "preemptionPolicy", "PreemptLowerPriority");
	emit_str(e, "restartPolicy", "Always");
	emit_str(e, "dnsPolicy", "ClusterFirst");
	emit_bool(e, "enableServiceLinks", true);
	emit_str(e, "serviceAccountName", "default");
	emit_int(e, "terminationGracePeriodSeconds", 30);
	emit_object(e, "securityContext");
	emit_bool(e, "runAsNonRoot", true);
	emit_int(e, "fsGroup", 2000);
	emit_end(e);
	gen_tolerations(e);
	gen_volumes(e, i);
	emit_end(e);
}

static inline void gen_container_status(struct emit *e, uint32_t i)
{
	emit_object(e, NULL);
	emit_str(e, "name", "main");
	emit_bool(e, "ready", true);
	emit_bool(e, "started", true);
	emit_int(e, "restartCount", gen_pick(i, 63, 3));
	emit_strf(e, "containerID", "containerd://%016" PRIx64 "%016" PRIx64, hash_u64(i), hash_u64(i + 1));
	emit_strf(e, "imageID", "registry.example.com/app@sha256:%016" PRIx64 "%016" PRIx64, hash_u64(i / 12),
		  hash_u64(i / 12 + 9));
	emit_object(e, "state");
	emit_object(e, "running");
	gen_time(e, "startedAt", i, 54);
	emit_end(e);
	emit_end(e);
	emit_end(e);
}

static inline void gen_pod_status(struct emit *e, uint32_t i, bool is_waiting)
{
	emit_object(e, "status");
	emit_str(e, "phase", is_waiting ? "Pending" : "Running");
	emit_str(e, "qosClass", "Guaranteed");
	emit_list(e, "conditions");
	if (is_waiting) {
		gen_condition(e, "PodScheduled", false, "Unschedulable", "no node has room", i, 55);
	} else {
		gen_condition(e, "Initialized", true, NULL, NULL, i, 54);
		gen_condition(e, "Ready", true, NULL, NULL, i, 54);
		gen_condition(e, "ContainersReady", true, NULL, NULL, i, 54);
		gen_condition(e, "PodScheduled", true, NULL, NULL, i, 54);
	}
	emit_end(e);
	if (!is_waiting) {
		emit_strf(e, "hostIP", "172.16.%u.%u", i / 256 % 256, i % 256);
		emit_strf(e, "podIP", "10.%u.%u.%u", i / 65536 % 256, i / 256 % 256, i % 256);
		gen_time(e, "startTime", i, 54);
		emit_list(e, "containerStatuses");
		gen_container_status(e, i);
		emit_end(e);
	}
	emit_end(e);
}

static inline void gen_pod(struct emit *e, const struct gen_cluster *g, uint32_t i)
{
	char name[64];
	bool is_waiting = i % 50 == 49;
	gen_pod_name(name, sizeof(name), i);
	emit_object(e, NULL);
	gen_header(e, "v1", "Pod");
	gen_pod_metadata(e, i, name);
	gen_pod_spec(e, g, i, is_waiting);
	gen_pod_status(e, i, is_waiting);
	emit_end(e);
}

static inline void gen_namespace(struct emit *e, uint32_t team)
{
	emit_object(e, NULL);
	gen_header(e, "v1", "Namespace");
	emit_object(e, "metadata");
	emit_strf(e, "name", "team-%02u", team);
	emit_object(e, "labels");
	emit_strf(e, "kubernetes.io/metadata.name", "team-%02u", team);
	emit_end(e);
	emit_end(e);
	emit_end(e);
}

/* A queue for each team, as YuniKorn keeps them. */
static inline void gen_queues(struct emit *e)
{
	struct text yaml = {0};
	text_add(&yaml, "partitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n");
	for (uint32_t team = 0; team < GEN_TEAMS; team++)
		text_printf(
			&yaml,
			"    - name: team-%02u\n      resources:\n        guaranteed: {vcore: \"1000\", memory: 4Ti}\n"
			"        max: {vcore: \"20000\", memory: 80Ti}\n",
			team);
	emit_object(e, NULL);
	gen_header(e, "v1", "ConfigMap");
	emit_object(e, "metadata");
	emit_str(e, "name", "yunikorn-configs");
	emit_str(e, "namespace", "yunikorn");
	emit_end(e);
	emit_object(e, "data");
	emit_str(e, "queues.yaml", text_str(&yaml));
	emit_end(e);
	emit_end(e);
	text_free(&yaml);
}

/* Classes, queues, namespaces, nodes, pods. */
enum { GEN_QUEUES = 3, GEN_FIRST_NAMESPACE, GEN_FIRST_NODE = GEN_FIRST_NAMESPACE + GEN_TEAMS };

static inline void gen_object(struct emit *e, const struct gen_cluster *g, uint32_t i)
{
	static const char *const classes[] = {"batch-low", "batch-high", "service"};
	static const int64_t values[] = {100, 1000, 100000};
	if (i < GEN_QUEUES)
		gen_priority_class(e, classes[i], values[i]);
	else if (i == GEN_QUEUES)
		gen_queues(e);
	else if (i < GEN_FIRST_NODE)
		gen_namespace(e, i - GEN_FIRST_NAMESPACE);
	else if (i - GEN_FIRST_NODE < g->n_nodes)
		gen_node(e, i - GEN_FIRST_NODE);
	else
		gen_pod(e, g, i - GEN_FIRST_NODE - g->n_nodes);
}

static inline uint32_t gen_cluster_objects(const struct gen_cluster *g)
{
	return GEN_FIRST_NODE + g->n_nodes + g->n_pods;
}

/* The first byte of a JSON object that was written from `from` on. */
static inline size_t gen_object_start(const struct text *out, size_t from)
{
	const char *brace = memchr(out->s + from, '{', out->n - from);
	return brace != NULL ? (size_t)(brace - out->s) : from;
}

static inline void gen_cluster_write(struct gen_cluster *g, struct text *out, enum emit_format format)
{
	struct emit e;
	bool is_json = format != EMIT_YAML;
	emit_init(&e, out, format);
	g->start.n = g->end.n = 0;
	if (is_json) {
		emit_object(&e, NULL);
		emit_str(&e, "apiVersion", "v1");
		emit_list(&e, "items");
	}
	for (uint32_t i = 0; i < gen_cluster_objects(g); i++) {
		if (!is_json)
			emit_document(&e);
		size_t from = out->n;
		gen_object(&e, g, i);
		array_push(&g->start, is_json ? gen_object_start(out, from) : from);
		array_push(&g->end, out->n);
	}
	if (is_json) {
		emit_end(&e);
		emit_str(&e, "kind", "List");
		emit_end(&e);
	}
}

static inline void gen_cluster_free(struct gen_cluster *g)
{
	array_free(&g->start);
	array_free(&g->end);
}
