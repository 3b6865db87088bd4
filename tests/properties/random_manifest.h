/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_manifest.h - files of objects of all kinds that are readable, and otherwise as odd as they may be.
 *
 * Names come from small sets, so that selectors match, queues are found (or not), groups have members and nodes
 * pods. Everything that a reader accepts and that cannot be told apart later is said in several ways: sums over init
 * containers and sidecars, overhead, labels or annotations.
 */
#pragma once

#include "properties/random_fields.h"
#include "properties/random_pod.h"

/* ---- nodes, namespaces, classes, owners, budgets ---- */

static inline void gen_taints(struct gen *g)
{
	static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

	emit_list(&g->e, "taints");
	for (uint32_t n = rng_below(&g->r, 3); n--;) {
		emit_object(&g->e, NULL);
		emit_str(&g->e, "key", PICK(g, gen_keys));
		if (chance(g, 50))
			emit_str(&g->e, "value", gen_value(g));
		emit_str(&g->e, "effect", PICK(g, effects));
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_images(struct gen *g)
{
	emit_list(&g->e, "images");
	for (uint32_t n = rng_below(&g->r, 3); n--;) {
		emit_object(&g->e, NULL);
		emit_list(&g->e, "names");
		for (uint32_t k = rng_below(&g->r, 3); k--;)
			emit_strf(&g->e, NULL, "registry.example/i%u:1", rng_below(&g->r, 4));
		emit_end(&g->e);
		if (chance(g, 80))
			emit_int(&g->e, "sizeBytes", rng_below(&g->r, 3) * INT64_C(1000000007));
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_node(struct gen *g, uint32_t i)
{
	static const char *const conditions[] = {"Ready", "MemoryPressure", "NetworkUnavailable", "Whatever"},
				 *const truths[] = {"True", "False", "Unknown"};

	gen_begin(g, "v1", "Node");
	emit_strf(&g->e, "name", "n%u", i);
	gen_uid(g);
	gen_labels(g, "labels", 2);
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	if (chance(g, 20))
		emit_bool(&g->e, "unschedulable", chance(g, 50));
	gen_taints(g);
	emit_end(&g->e);
	emit_object(&g->e, "status");
	if (chance(g, 90))
		gen_amounts(g, chance(g, 90) ? "allocatable" : "capacity", 64);
	if (chance(g, 50)) {
		emit_list(&g->e, "conditions");
		emit_object(&g->e, NULL);
		emit_str(&g->e, "type", PICK(g, conditions));
		emit_str(&g->e, "status", PICK(g, truths));
		emit_end(&g->e);
		emit_end(&g->e);
	}
	gen_images(g);
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_namespace(struct gen *g, const char *name)
{
	gen_begin(g, "v1", "Namespace");
	emit_str(&g->e, "name", name);
	gen_labels(g, "labels", 2);
	emit_object(&g->e, "annotations");
	if (chance(g, 30))
		emit_str(&g->e, "yunikorn.apache.org/namespace.quota",
			 chance(g, 80) ? "{\"cpu\": \"1500m\", \"nvidia.com/gpu\": 2}" : "{}");
	if (chance(g, 30))
		emit_str(&g->e, "yunikorn.apache.org/namespace.guaranteed",
			 chance(g, 80) ? "{\"memory\": \"3Gi\"}" : "broken");
	if (chance(g, 30))
		emit_str(&g->e, "yunikorn.apache.org/namespace.maxApps", "12");
	if (chance(g, 30))
		emit_str(&g->e, "yunikorn.apache.org/parentqueue", PICK(g, gen_yunikorn_names));
	emit_end(&g->e);
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_class(struct gen *g, const char *name)
{
	gen_begin(g, "scheduling.k8s.io/v1", "PriorityClass");
	emit_str(&g->e, "name", name);
	if (chance(g, 40)) {
		emit_object(&g->e, "annotations");
		emit_str(&g->e, "yunikorn.apache.org/allow-preemption", chance(g, 50) ? "true" : "false");
		emit_end(&g->e);
	}
	emit_end(&g->e);
	emit_int(&g->e, "value", (int64_t)rng_below(&g->r, 200) - 50);
	if (chance(g, 30))
		emit_bool(&g->e, "globalDefault", chance(g, 60));
	if (chance(g, 30))
		emit_str(&g->e, "preemptionPolicy", chance(g, 50) ? "Never" : "PreemptLowerPriority");
	emit_end(&g->e);
}

static inline void gen_owner(struct gen *g, uint32_t i)
{
	static const struct {
		const char *api, *kind;
	} kinds[] = {{"v1", "Service"},		{"v1", "ReplicationController"}, {"apps/v1", "Deployment"},
		     {"apps/v1", "ReplicaSet"}, {"apps/v1", "StatefulSet"},	 {"apps/v1", "DaemonSet"},
		     {"batch/v1", "Job"}};
	uint32_t k = rng_below(&g->r, 7);

	gen_begin(g, kinds[k].api, kinds[k].kind);
	emit_strf(&g->e, "name", "owner-%u", i);
	emit_str(&g->e, "namespace", PICK(g, gen_namespaces));
	gen_uid(g);
	gen_labels(g, "labels", 2);
	gen_controller(g);
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	if (chance(g, 50))
		emit_int(&g->e, "replicas", rng_below(&g->r, 5));
	if (k > 1)
		gen_selector(g, "selector", 70);
	else if (chance(g, 70)) {
		emit_object(&g->e, "selector");
		if (chance(g, 80))
			emit_str(&g->e, PICK(g, gen_keys), PICK(g, gen_values));
		emit_end(&g->e);
	}
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_pdb(struct gen *g, uint32_t i)
{
	gen_begin(g, "policy/v1", "PodDisruptionBudget");
	emit_strf(&g->e, "name", "budget-%u", i);
	emit_str(&g->e, "namespace", PICK(g, gen_namespaces));
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	gen_selector(g, "selector", 90);
	emit_end(&g->e);
	emit_object(&g->e, "status");
	if (chance(g, 80))
		emit_int(&g->e, "disruptionsAllowed", (int64_t)rng_below(&g->r, 5) - 1);
	if (chance(g, 30)) {
		emit_object(&g->e, "disruptedPods");
		emit_strf(&g->e, "p9", "2026-11-15T11:00:00Z");
		emit_strf(&g->e, "p10", "2026-11-15T11:00:00Z");
		emit_end(&g->e);
	}
	emit_end(&g->e);
	emit_end(&g->e);
}

/* ---- groups ---- */

static inline void gen_subgroups(struct gen *g)
{
	if (!chance(g, 40))
		return;
	emit_list(&g->e, "subGroups");
	for (uint32_t i = 0; i < 3; i++) {
		emit_object(&g->e, NULL);
		emit_strf(&g->e, "name", "sub-%u", i);
		if (i == 2 && chance(g, 50))
			emit_str(&g->e, "parent", "sub-0");
		if (chance(g, 70))
			emit_int(&g->e, "minMember", rng_below(&g->r, 3));
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_kai_group(struct gen *g, const char *name)
{
	static const char *const words[] = {"preemptible", "non-preemptible", "semi-preemptible", "sometimes", ""};

	gen_begin(g, chance(g, 80) ? "scheduling.run.ai/v2alpha2" : "scheduling.kai.nvidia.com/v1", "PodGroup");
	emit_str(&g->e, "name", name);
	emit_str(&g->e, "namespace", PICK(g, gen_namespaces));
	gen_uid(g);
	gen_time(g, "creationTimestamp", 50);
	emit_object(&g->e, "annotations");
	gen_time(g, "kai.scheduler/last-start-timestamp", 40);
	gen_time(g, "kai.scheduler/stale-podgroup-timestamp", 20);
	emit_end(&g->e);
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	if (chance(g, 80))
		emit_int(&g->e, "minMember", rng_below(&g->r, 4));
	if (chance(g, 70))
		emit_str(&g->e, "queue", PICK(g, gen_kai_names));
	if (chance(g, 60))
		emit_str(&g->e, "priorityClassName", PICK(g, gen_classes));
	if (chance(g, 40))
		emit_str(&g->e, "preemptibility", PICK(g, words));
	gen_subgroups(g);
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_k8s_group(struct gen *g, const char *name)
{
	gen_begin(g, "scheduling.k8s.io/v1alpha2", "PodGroup");
	emit_str(&g->e, "name", name);
	emit_str(&g->e, "namespace", PICK(g, gen_namespaces));
	gen_time(g, "creationTimestamp", 50);
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	if (chance(g, 70)) {
		emit_object(&g->e, "schedulingPolicy");
		emit_object(&g->e, "gang");
		emit_int(&g->e, "minCount", rng_below(&g->r, 4));
		emit_end(&g->e);
		emit_end(&g->e);
	}
	if (chance(g, 40))
		emit_str(&g->e, "priorityClassName", PICK(g, gen_classes));
	if (chance(g, 40))
		emit_int(&g->e, "priority", rng_below(&g->r, 200));
	if (chance(g, 40)) {
		emit_object(&g->e, "disruptionMode");
		emit_object(&g->e, chance(g, 50) ? "all" : "single");
		emit_end(&g->e);
		emit_end(&g->e);
	}
	if (chance(g, 40))
		emit_str(&g->e, "preemptionPolicy", "Never");
	emit_end(&g->e);
	emit_end(&g->e);
}

/* ---- queues ---- */

static inline void gen_share(struct gen *g, const char *key, bool states_nothing)
{
	static const double numbers[] = {-1, 0, 1, 4, 0.1, 2.5, 1000.125, 1e12, 3e-7};

	if (!chance(g, 90))
		return;
	emit_object(&g->e, key);
	emit_double(&g->e, "quota", states_nothing ? 0 : PICK(g, numbers));
	if (chance(g, 80))
		emit_double(&g->e, "limit", states_nothing ? -1 : PICK(g, numbers));
	emit_double(&g->e, "overQuotaWeight", PICK(g, numbers));
	emit_end(&g->e);
}

/* is_shared: queues.yaml has one of this name, too, and what both state would have to be the same. */
static inline void gen_kai_queue(struct gen *g, const char *name, const char *parent, bool is_shared)
{
	static const char *const durations[] = {"10m", "1h30m", "250ms", "0s", "soon", "-5m"};

	gen_begin(g, "scheduling.run.ai/v2", "Queue");
	emit_str(&g->e, "name", name);
	gen_time(g, "creationTimestamp", 50);
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	if (*parent)
		emit_str(&g->e, "parentQueue", parent);
	if (chance(g, 30))
		emit_str(&g->e, "displayName", PICK(g, gen_nasty));
	if (chance(g, 40))
		emit_int(&g->e, "priority", (int64_t)rng_below(&g->r, 300) - 50);
	if (chance(g, 90)) {
		emit_object(&g->e, "resources");
		gen_share(g, "gpu", false);
		gen_share(g, "cpu", is_shared);
		gen_share(g, "memory", is_shared);
		emit_end(&g->e);
	}
	if (chance(g, 40))
		emit_str(&g->e, "preemptMinRuntime", PICK(g, durations));
	if (chance(g, 40))
		emit_str(&g->e, "reclaimMinRuntime", PICK(g, durations));
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_property(struct gen *g, const char *key, const char *a, const char *b)
{
	if (chance(g, 25))
		emit_str(&g->e, key, chance(g, 40) ? a : chance(g, 80) ? b : "nonsense");
}

static inline void gen_properties(struct gen *g)
{
	emit_object(&g->e, "properties");
	gen_property(g, "application.sort.policy", "fifo", "fair");
	gen_property(g, "application.sort.priority", "enabled", "disabled");
	gen_property(g, "priority.policy", "default", "fence");
	gen_property(g, "priority.offset", "-5", "100");
	gen_property(g, "preemption.policy", "fence", "disabled");
	gen_property(g, "preemption.delay", "90s", "1h30m");
	gen_property(g, "quota.preemption.delay", "0", "250ms");
	gen_property(g, "application.unschedasks.backoff", "0", "18446744073709551615");
	gen_property(g, "application.unschedasks.backoff.delay", "1m", "2s");
	emit_end(&g->e);
}

/* Of a queue, in thousandths of a core and in bytes: what may be guaranteed, and the least maximum so far. */
struct room {
	int64_t promise[2], ceiling[2];
};

static inline void gen_yunikorn_amounts(struct gen *g, const char *key, const int64_t *most, int64_t *ret)
{
	emit_object(&g->e, key);
	for (int i = 0; i < 2; i++) {
		int64_t n = most[i] * (int64_t)rng_below(&g->r, 101) / 100;

		ret[i] = -1;
		if (!chance(g, 60))
			continue;
		ret[i] = n;
		emit_strf(&g->e, i ? "memory" : "vcore", i ? "%" PRId64 : "%" PRId64 "m", n);
	}
	emit_end(&g->e);
}

static inline void gen_limit(struct gen *g, const struct room *room, const char *user, const char *group)
{
	emit_object(&g->e, NULL);
	if (chance(g, 50))
		emit_str(&g->e, "limit", PICK(g, gen_nasty));
	emit_list(&g->e, user ? "users" : "groups");
	emit_str(&g->e, NULL, user ? user : group);
	emit_end(&g->e);
	emit_int(&g->e, "maxapplications", 1);
	if (chance(g, 50)) {
		emit_object(&g->e, "maxresources");
		emit_strf(&g->e, "nvidia.com/gpu", "%u", 1 + rng_below(&g->r, 8));
		if (chance(g, 50))
			emit_strf(&g->e, "vcore", "%" PRId64 "m", room->ceiling[0] / 2);
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_limits(struct gen *g, const struct room *room, bool is_leaf)
{
	char name[32];

	if (!chance(g, 40))
		return;
	emit_list(&g->e, "limits");
	snprintf(name, sizeof(name), "user%u", g->n_users++);
	gen_limit(g, room, name, NULL);
	snprintf(name, sizeof(name), "group%u", g->n_users++);
	gen_limit(g, room, NULL, name);
	if (is_leaf)
		gen_limit(g, room, chance(g, 50) ? "*" : NULL, "*");
	emit_end(&g->e);
}

static inline void gen_template(struct gen *g)
{
	const int64_t most[2] = {5000, 7000000};
	int64_t ignored[2];

	if (!chance(g, 40))
		return;
	emit_object(&g->e, "childtemplate");
	if (chance(g, 50))
		emit_int(&g->e, "maxapplications", rng_below(&g->r, 9));
	gen_properties(g);
	emit_object(&g->e, "resources");
	gen_yunikorn_amounts(g, "guaranteed", most, ignored);
	gen_yunikorn_amounts(g, "max", most, ignored);
	emit_end(&g->e);
	emit_end(&g->e);
}

/* Amounts such that every rule between a queue, its children and what is above it is kept. */
static inline struct room gen_resources(struct gen *g, const struct room *above, uint32_t n_siblings)
{
	struct room room = *above;
	int64_t share[2], guaranteed[2], max[2];

	for (int i = 0; i < 2; i++)
		share[i] = above->promise[i] / (n_siblings + 1);
	emit_object(&g->e, "resources");
	gen_yunikorn_amounts(g, "guaranteed", share, guaranteed);
	for (int i = 0; i < 2; i++)
		room.promise[i] = guaranteed[i] >= 0 ? guaranteed[i] : share[i];
	emit_object(&g->e, "max");
	for (int i = 0; i < 2; i++) {
		max[i] = room.promise[i] + (above->ceiling[i] - room.promise[i]) * (int64_t)rng_below(&g->r, 101) / 100;
		if (!chance(g, 50))
			continue;
		room.ceiling[i] = max[i];
		emit_strf(&g->e, i ? "memory" : "vcore", i ? "%" PRId64 : "%" PRId64 "m", max[i]);
	}
	emit_end(&g->e);
	emit_end(&g->e);
	return room;
}

static inline void gen_queue(struct gen *g, const char *name, const struct room *above, uint32_t n_siblings,
			     uint32_t apps, int depth)
{
	static const char *const names[] = {"batch", "ml", "X", "y", "w", "deep", "default", "lab"};
	bool is_leaf = depth > 3 || chance(g, depth ? 40 : 0);
	struct room room = *above;

	emit_object(&g->e, NULL);
	emit_str(&g->e, "name", name);
	if (is_leaf && chance(g, 20))
		emit_bool(&g->e, "parent", true);
	if (depth)
		room = gen_resources(g, above, n_siblings);
	apps = apps ? 1 + rng_below(&g->r, apps) : chance(g, 20) ? 1 + rng_below(&g->r, 50) : 0;
	if (apps)
		emit_int(&g->e, "maxapplications", apps);
	gen_properties(g);
	if (chance(g, 30))
		emit_str(&g->e, "submitacl", "*");
	if (chance(g, 30))
		emit_str(&g->e, "adminacl", "ann,bob devs");
	gen_template(g);
	gen_limits(g, &room, is_leaf);
	if (!is_leaf) {
		uint32_t n = 1 + rng_below(&g->r, 3), first = rng_below(&g->r, 8);

		emit_list(&g->e, "queues");
		for (uint32_t i = 0; i < n; i++)
			gen_queue(g, names[(first + i) % 8], &room, n, apps, depth + 1);
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_rule(struct gen *g, const char *key, int depth)
{
	static const char *const names[] = {"provided", "user", "tag", "recovery", "Fixed"};
	const char *name = depth ? PICK(g, names) : names[rng_below(&g->r, 4)];

	emit_object(&g->e, key);
	emit_str(&g->e, "name", name);
	emit_bool(&g->e, "create", true);
	if (strcmp(name, "tag") == 0)
		emit_str(&g->e, "value", "namespace");
	if (strcmp(name, "Fixed") == 0)
		emit_str(&g->e, "value", "made");
	if (chance(g, 40)) {
		emit_object(&g->e, "filter");
		emit_str(&g->e, "type", chance(g, 50) ? "allow" : "deny");
		emit_list(&g->e, "users");
		emit_str(&g->e, NULL, chance(g, 50) ? "ann" : "a.*|b+");
		emit_end(&g->e);
		emit_list(&g->e, "groups");
		emit_str(&g->e, NULL, "a");
		emit_str(&g->e, NULL, "b");
		emit_end(&g->e);
		emit_end(&g->e);
	}
	if (depth < 3 && strcmp(name, "Fixed") != 0 && chance(g, 40))
		gen_rule(g, "parent", depth + 1);
	emit_end(&g->e);
}

static inline void gen_rules(struct gen *g)
{
	if (!chance(g, 40))
		return;
	emit_list(&g->e, "placementrules");
	for (uint32_t n = rng_below(&g->r, 4); n--;)
		gen_rule(g, NULL, 0);
	emit_end(&g->e);
}

/* As a ConfigMap, which is at home in both formats. */
static inline void gen_yunikorn(struct gen *g)
{
	const struct room room = {{64000, INT64_C(1) << 40}, {128000, INT64_C(1) << 41}};
	struct emit outer = g->e;
	struct text inner = {0};

	emit_init(&g->e, &inner, EMIT_JSON);
	emit_object(&g->e, NULL);
	emit_list(&g->e, "partitions");
	emit_object(&g->e, NULL);
	emit_str(&g->e, "name", "default");
	emit_list(&g->e, "queues");
	gen_queue(g, "root", &room, 1, 0, 0);
	emit_end(&g->e);
	gen_rules(g);
	emit_end(&g->e);
	emit_end(&g->e);
	emit_end(&g->e);
	g->e = outer;
	gen_begin(g, "v1", "ConfigMap");
	emit_str(&g->e, "name", "yunikorn-configs");
	emit_str(&g->e, "namespace", "yunikorn");
	emit_end(&g->e);
	emit_object(&g->e, "data");
	emit_str(&g->e, "queues.yaml", text_str(&inner));
	emit_end(&g->e);
	emit_end(&g->e);
	text_free(&inner);
}

static inline void gen_kai_queues(struct gen *g)
{
	gen_kai_queue(g, "lab", "", true);
	gen_kai_queue(g, "lab-a", "lab", false);
	gen_kai_queue(g, "lab.b", "lab", false);
	gen_kai_queue(g, "solo", chance(g, 30) ? "missing" : "", false);
	if (chance(g, 50))
		gen_kai_queue(g, "below", "solo", false);
}

/* ---- all of it ---- */

static inline void gen_others(struct gen *g)
{
	for (uint32_t i = 0; i < 3; i++)
		if (chance(g, 60))
			gen_namespace(g, gen_namespaces[i]);
	for (uint32_t i = 0; i < 4; i++)
		if (chance(g, 50))
			gen_class(g, gen_classes[i]);
	for (uint32_t i = 0; i < g->n_nodes; i++)
		gen_node(g, i);
	gen_storage(g);
	for (uint32_t i = 0; i < 4; i++)
		if (chance(g, 70))
			gen_owner(g, i);
	for (uint32_t i = 0; i < 4; i++)
		if (chance(g, 80))
			(i < 3 ? gen_kai_group : gen_k8s_group)(g, gen_groups[i]);
	for (uint32_t i = 0, n = rng_below(&g->r, 3); i < n; i++)
		gen_pdb(g, i);
}

static inline void gen_objects(struct gen *g)
{
	emit_init(&g->e, &g->out, g->is_list ? EMIT_JSON : EMIT_YAML);
	if (g->is_list) {
		emit_object(&g->e, NULL);
		emit_str(&g->e, "apiVersion", "v1");
		emit_str(&g->e, "kind", "List");
		emit_list(&g->e, "items");
	}
	for (uint32_t i = 0; i < g->n_pods; i++) /* before everything they depend on */
		gen_pod(g, i);
	gen_others(g);
	if (chance(g, 60))
		gen_kai_queues(g);
	if (chance(g, 60))
		gen_yunikorn(g);
	if (g->is_list) {
		emit_end(&g->e);
		emit_end(&g->e);
	}
}

/* A file of so many nodes and pods at most; the whole of it is in g->out. */
static inline void gen_small_file(struct gen *g, uint64_t seed, bool may_miss_nodes, uint32_t nodes, uint32_t pods)
{
	*g = (struct gen){.r = {seed}, .may_miss_nodes = may_miss_nodes};
	for (int i = 0; i < 4; i++)
		rng_next(&g->r);
	g->is_list = chance(g, 50);
	g->n_nodes = 1 + rng_below(&g->r, nodes);
	g->n_pods = rng_below(&g->r, pods);
	gen_objects(g);
}

static inline void gen_file(struct gen *g, uint64_t seed, bool may_miss_nodes)
{
	gen_small_file(g, seed, may_miss_nodes, 5, 20);
}
