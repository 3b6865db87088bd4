/* SPDX-License-Identifier: Apache-2.0 */
/* random_fields.h - what random objects of several kinds have in common; see random_manifest.h. */
#pragma once

#include <inttypes.h>
#include <stdio.h>

#include "base/emit.h"
#include "rng.h"

struct gen {
	struct rng r;
	struct emit e;
	struct text out;
	bool is_list;	     /* one JSON List instead of YAML documents */
	bool may_miss_nodes; /* pods may be on nodes that are not there */
	uint32_t n_nodes, n_pods, n_users;
};

#define PICK(g, list) ((list)[rng_below(&(g)->r, sizeof(list) / sizeof(*(list)))])

static inline bool chance(struct gen *g, uint32_t percent)
{
	return rng_below(&g->r, 100) < percent;
}

static const char *const gen_nasty[] = {
	"x",	"y",   "true", "null",	 "1",	  "1e3",	 "0x10", "",	 "~",	       " lead", "trail ",
	"a: b", "# c", "- d",  "\u00fc", "\"q\"", "back\\slash", "a\tb", "a\nb", "2026-01-01", "yes",	"[",
	"{}",	"%",   "@at",  "`",	 "!t",	  "&a",		 "*b",	 "|",	 ">",	       "'",	":",
};
static const char *const gen_keys[] = {"app", "tier", "example.com/role", "y", "1", "null"};
static const char *const gen_values[] = {"a", "b", "web", "true", "1", "", "007"};
static const char *const gen_namespaces[] = {"blue", "green", "y"};
static const char *const gen_types[] = {
	"cpu", "memory", "nvidia.com/gpu", "example.com/fpga", "ephemeral-storage", "storage", "hugepages-2Mi"};
static const char *const gen_classes[] = {"batch", "high", "train", "inference", "unknown"};
static const char *const gen_groups[] = {"gang-a", "gang-b", "gang-c", "gang-d"};
static const char *const gen_kai_names[] = {"lab", "lab-a", "lab.b", "solo", "batch", "default"};
static const char *const gen_yunikorn_names[] = {"root.batch",	 "root.batch.x", "batch.y",  "root.ml.deep",
						 "root.default", "root.none",	 "ROOT.ML.W"};
static const char *const gen_topologies[] = {"zone", "kubernetes.io/hostname"};

static inline const char *gen_value(struct gen *g)
{
	return chance(g, 70) ? PICK(g, gen_values) : PICK(g, gen_nasty);
}

/* ---- pieces ---- */

static inline void gen_time(struct gen *g, const char *key, uint32_t percent)
{
	uint32_t second = rng_below(&g->r, 60), minute = rng_below(&g->r, 60);

	if (!chance(g, percent))
		return;
	if (chance(g, 80))
		emit_strf(&g->e, key, "2026-11-15T11:%02u:%02uZ", minute, second);
	else
		emit_strf(&g->e, key, "2026-11-15T11:%02u:%02u.%03u+02:00", minute, second, rng_below(&g->r, 1000));
}

static inline void gen_labels(struct gen *g, const char *key, uint32_t most)
{
	emit_object(&g->e, key);
	for (size_t i = 0; i < sizeof(gen_keys) / sizeof(*gen_keys); i++)
		if (rng_below(&g->r, 6) < most)
			emit_str(&g->e, gen_keys[i], gen_value(g));
	emit_end(&g->e);
}

static inline void gen_amounts(struct gen *g, const char *key, uint32_t scale)
{
	emit_object(&g->e, key);
	for (size_t i = 0; i < sizeof(gen_types) / sizeof(*gen_types); i++) {
		uint32_t n = rng_below(&g->r, scale + 1);

		if (!chance(g, i < 2 ? 60 : 20))
			continue;
		switch (rng_below(&g->r, 5)) {
		case 0:
			emit_int(&g->e, gen_types[i], n);
			break;
		case 1:
			emit_strf(&g->e, gen_types[i], "%u", n);
			break;
		case 2:
			emit_strf(&g->e, gen_types[i], "%um", n * 7);
			break;
		case 3:
			emit_strf(&g->e, gen_types[i], "%u.%uKi", n, rng_below(&g->r, 10));
			break;
		default:
			emit_strf(&g->e, gen_types[i], i == 1 ? "%uMi" : "%u", n);
		}
	}
	emit_end(&g->e);
}

static inline void gen_values_list(struct gen *g, uint32_t least)
{
	emit_list(&g->e, "values");
	for (uint32_t i = 0, n = least + rng_below(&g->r, 3); i < n; i++)
		emit_str(&g->e, NULL, PICK(g, gen_values));
	emit_end(&g->e);
}

static inline void gen_requirement(struct gen *g)
{
	static const char *const ops[] = {"In", "NotIn", "Exists", "DoesNotExist"};
	uint32_t op = rng_below(&g->r, 4);

	emit_object(&g->e, NULL);
	emit_str(&g->e, "key", PICK(g, gen_keys));
	emit_str(&g->e, "operator", ops[op]);
	if (op < 2)
		gen_values_list(g, 1);
	emit_end(&g->e);
}

static inline void gen_selector(struct gen *g, const char *key, uint32_t percent)
{
	if (!chance(g, percent))
		return;
	emit_object(&g->e, key);
	if (chance(g, 60)) {
		emit_object(&g->e, "matchLabels");
		for (size_t i = 0; i < sizeof(gen_keys) / sizeof(*gen_keys); i++)
			if (chance(g, 20))
				emit_str(&g->e, gen_keys[i], PICK(g, gen_values));
		emit_end(&g->e);
	}
	if (chance(g, 40)) {
		emit_list(&g->e, "matchExpressions");
		for (uint32_t n = rng_below(&g->r, 3); n--;)
			gen_requirement(g);
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_strings(struct gen *g, const char *key, const char *const *from, uint32_t n_from,
			       uint32_t percent)
{
	if (!chance(g, percent))
		return;
	emit_list(&g->e, key);
	for (uint32_t n = rng_below(&g->r, 3); n--;)
		emit_str(&g->e, NULL, from[rng_below(&g->r, n_from)]);
	emit_end(&g->e);
}

static inline void gen_controller(struct gen *g)
{
	static const char *const kinds[] = {"ReplicaSet", "Job",  "Deployment", "DaemonSet",
					    "RayCluster", "Node", "StatefulSet"};

	if (!chance(g, 40))
		return;
	emit_list(&g->e, "ownerReferences");
	emit_object(&g->e, NULL);
	if (chance(g, 90))
		emit_str(&g->e, "kind", PICK(g, kinds));
	emit_strf(&g->e, "name", "owner-%u", rng_below(&g->r, 4));
	if (chance(g, 50))
		emit_strf(&g->e, "uid", "u%u", rng_below(&g->r, 100));
	emit_bool(&g->e, "controller", chance(g, 90));
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_begin(struct gen *g, const char *api, const char *kind)
{
	if (!g->is_list)
		emit_document(&g->e);
	emit_object(&g->e, NULL);
	emit_str(&g->e, "apiVersion", api);
	emit_str(&g->e, "kind", kind);
	emit_object(&g->e, "metadata");
}

static inline void gen_uid(struct gen *g)
{
	if (chance(g, 30))
		emit_strf(&g->e, "uid", "%08x", rng_below(&g->r, UINT32_MAX));
}
