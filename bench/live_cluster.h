/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_cluster.h - a full cluster as people have them, made in memory: for bench_live and the guard.
 *
 * Nodes are full. Running pods are of the first half of the queues, which are above their guarantees, in applications
 * of ten pods, of five priorities, a few dozen sizes and all ages; a few opted out. Waiting pods are each an
 * application of its own, as jobs are, and of the second half of the queues, which are below their guarantees. The same
 * numbers give the same cluster everywhere.
 */
#pragma once

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"

#define LIVE_NOW_NS (INT64_C(1763208000) * NS_PER_S)

enum live_shape { LIVE_PLAIN, LIVE_AFFINITY, LIVE_SPREAD };

struct live_options {
	enum profile profile;
	uint32_t nodes, pods, queues, waiting;
	uint32_t gang;	  /* members of each waiting gang; 0: single pods */
	uint32_t budgets; /* over all running pods */
	bool is_held; /* those who wait are of the first half too, and of the lowest priority: nobody goes for them */
	enum live_shape shape;
};

/* NODES PODS QUEUES WAITING, as words. */
static inline void live_size_of(struct live_options *o, char **argv)
{
	o->nodes = (uint32_t)strtoul(argv[0], NULL, 10);
	o->pods = (uint32_t)strtoul(argv[1], NULL, 10);
	o->queues = (uint32_t)strtoul(argv[2], NULL, 10);
	o->waiting = (uint32_t)strtoul(argv[3], NULL, 10);
}

struct live_cluster {
	struct live_options o;
	struct vocab *vocab;
	struct cluster *cluster;
	uint64_t random;
	uint32_t n_pods;
};

static inline uint32_t live_below(struct live_cluster *s, uint32_t n)
{
	s->random ^= s->random >> 12;
	s->random ^= s->random << 25;
	s->random ^= s->random >> 27;
	return (uint32_t)((s->random * UINT64_C(2685821657736338717)) >> 33) % n;
}

static inline void live_must(enum err_code rc, const struct err *e)
{
	if (!rc)
		return;
	fprintf(stderr, "bench: %s\n", e->msg);
	exit(1);
}

enum { LIVE_CPU = 1000, LIVE_SIZES = 24 };

struct live_label {
	const char *key, *value;
};

static inline labelset_id live_labels(struct live_cluster *s, const char *ns, const struct live_label *v, uint32_t n)
{
	struct name_bag bag = name_bag_of(vocab_names(s->vocab));
	struct label labels[2];
	labelset_id id;

	for (uint32_t i = 0; i < n; i++)
		labels[i] = (struct label){name_bag_add_str(&bag, v[i].key), name_bag_add_str(&bag, v[i].value)};
	id = labelset_hold(s->vocab, name_bag_add_str(&bag, ns), labels, n);
	name_bag_drop(&bag);
	return id;
}

static inline void live_add_node(struct live_cluster *s, uint32_t i)
{
	struct names *names = vocab_names(s->vocab);
	struct obj_node o = {.bag = name_bag_of(names)};
	char name[32], zone[32];
	struct err e;

	snprintf(name, sizeof(name), "node-%06u", i);
	snprintf(zone, sizeof(zone), "zone-%u", i % 3);
	o.name = names_hold_str(names, name);
	o.labelset = live_labels(
		s, "", (struct live_label[]){{"kubernetes.io/hostname", name}, {"topology.kubernetes.io/zone", zone}},
		2);
	res_put(&o.allocatable, RES_CPU, (int64_t)LIVE_CPU * s->o.pods);
	res_put(&o.allocatable, RES_MEMORY, (int64_t)s->o.pods << 32);
	res_put(&o.allocatable, RES_PODS, s->o.pods * 4);
	live_must(cluster_put_node(s->cluster, &o, &e), &e);
}

static inline void live_queue_spec(const struct live_cluster *s, struct queue_spec *q, uint32_t i)
{
	int64_t all = (int64_t)LIVE_CPU * s->o.pods * s->o.nodes;
	bool is_kai = s->o.profile == PROFILE_KAI, is_owed = i >= s->o.queues / 2;

	queue_spec_init(q, vocab_names(s->vocab));
	q->sources = is_kai ? FROM_KAI : FROM_YUNIKORN;
	q->has_kai_resources = is_kai;
	for (int r = 0; is_kai && r < KAI_RES; r++)
		q->kai[r] = (struct kai_share){.quota = -1, .limit = -1, .over_quota_weight = 1};
	if (is_kai)
		q->kai[KAI_CPU].quota = (double)all / s->o.queues;
	if (is_kai)
		return;
	res_put(&q->guaranteed, RES_CPU, is_owed ? all : all / (4 * s->o.queues));
	res_put(&q->guaranteed, RES_MEMORY, is_owed ? INT64_C(1) << 52 : INT64_C(1) << 30);
}

static inline void live_queue_name(const struct live_cluster *s, uint32_t i, char *out, size_t size)
{
	snprintf(out, size, "%steam-%04u", s->o.profile == PROFILE_KAI ? "" : "root.", i);
}

static inline void live_add_queues(struct live_cluster *s)
{
	uint32_t n = s->o.queues + (s->o.profile == PROFILE_KAI);
	struct queue_def *defs = calloc(n, sizeof(*defs));
	char(*names)[32] = calloc(n, sizeof(*names));
	struct err e;

	assert(defs && names);
	for (uint32_t i = 0; i < s->o.queues; i++) {
		live_queue_name(s, i, names[i], sizeof(names[i]));
		live_queue_spec(s, &defs[i].spec, i);
		if (s->o.profile == PROFILE_KAI) {
			defs[i].kai_name = names[i];
			defs[i].spec.kai_name = name_bag_add_str(&defs[i].spec.bag, names[i]);
			defs[i].kai_parent = "all";
		} else {
			defs[i].path = names[i];
		}
	}
	if (s->o.profile == PROFILE_KAI) {
		live_queue_spec(s, &defs[n - 1].spec, 0);
		defs[n - 1].spec.kai[KAI_CPU].quota = -1;
		defs[n - 1].kai_name = "all";
		defs[n - 1].spec.kai_name = name_bag_add_str(&defs[n - 1].spec.bag, "all");
		defs[n - 1].kai_parent = "";
	}
	live_must(cluster_put_queues(s->cluster, s->o.profile == PROFILE_KAI ? FROM_KAI : FROM_YUNIKORN, defs, n, &e),
		  &e);
	free(defs);
	free(names);
}

/* What the waiting pods demand beside room. */
static inline void live_constrain(struct live_cluster *s, struct arena *a, struct name_bag *bag, struct shape *draft)
{
	struct requirement *r = arena_type(a, struct requirement);
	const char *value = "of-waiting";
	size_t len = strlen(value);
	struct err e;

	live_must(requirement_make(a, bag, "role", 4, SEL_EQUAL, &value, &len, 1, r, &e), &e);
	if (s->o.shape == LIVE_AFFINITY) {
		struct pod_term *term = arena_type(a, struct pod_term);

		term->selector = selector_make(vocab_names(s->vocab), r, 1);
		term->topology_key = name_bag_add_str(bag, "kubernetes.io/hostname");
		draft->anti_affinity = (struct pod_terms){1, term};
	} else {
		struct spread *spread = arena_type(a, struct spread);

		*spread = (struct spread){.max_skew = 5, .is_hard = true};
		spread->topology_key = name_bag_add_str(bag, "topology.kubernetes.io/zone");
		spread->selector = selector_make(vocab_names(s->vocab), r, 1);
		draft->n_spreads = 1;
		draft->spreads = spread;
	}
}

static inline shape_id live_size(struct live_cluster *s, uint32_t size, bool is_waiting)
{
	struct arena *a = arena_new(4096);
	struct name_bag bag = name_bag_of(vocab_names(s->vocab));
	struct res_amount v[] = {{RES_CPU, LIVE_CPU / 2 + (int64_t)size * LIVE_CPU / 24},
				 {RES_MEMORY, (INT64_C(1) << 31) + ((int64_t)(size * 7 % LIVE_SIZES) << 27)}};
	struct shape draft = {.request = {2, v}, .usage = {2, v}, .n_containers = 1};
	shape_id id;

	v[0].amount *= is_waiting ? 3 : 1; /* no node has that much left */
	draft.nonzero_cpu_milli = v[0].amount;
	draft.nonzero_memory = v[1].amount;
	if (is_waiting && s->o.shape != LIVE_PLAIN)
		live_constrain(s, a, &bag, &draft);
	id = shape_hold(s->vocab, &draft);
	name_bag_drop(&bag);
	arena_free(a);
	return id;
}

static inline void live_put(struct live_cluster *s, struct obj_pod *o, uint32_t queue, const char *role)
{
	struct names *names = vocab_names(s->vocab);
	char text[64];
	struct err e;

	snprintf(text, sizeof(text), "pod-%07u", s->n_pods++);
	o->name = names_hold_str(names, text);
	o->labelset = live_labels(s, "bench", &(struct live_label){"role", role}, 1);
	live_queue_name(s, queue, text, sizeof(text));
	if (s->o.profile == PROFILE_KAI)
		o->kai_queue = names_hold_str(names, text);
	else if (s->o.profile != PROFILE_KUBERNETES)
		o->yunikorn_queue = names_hold_str(names, text);
	o->has_priority = true;
	o->scheduled_ns = o->deleted_ns = o->checkpointed_ns = TIME_NONE;
	live_must(cluster_put_pod(s->cluster, o, &e), &e);
}

static inline void live_add_running(struct live_cluster *s, uint32_t node, uint32_t i)
{
	struct names *names = vocab_names(s->vocab);
	struct obj_pod o = {.phase = PHASE_RUNNING, .priority = (int32_t)live_below(s, 5)};
	uint32_t queue = live_below(s, s->o.queues / 2 ? s->o.queues / 2 : 1);
	char text[32];

	snprintf(text, sizeof(text), "node-%06u", node);
	o.node_name = names_hold_str(names, text);
	snprintf(text, sizeof(text), "app-%u-%u", queue, live_below(s, s->o.nodes * s->o.pods / 10 / s->o.queues + 1));
	if (s->o.profile != PROFILE_KAI && s->o.profile != PROFILE_KUBERNETES)
		o.app = names_hold_str(names, text);
	o.shape = live_size(s, live_below(s, LIVE_SIZES), false);
	o.started_ns = time_since(LIVE_NOW_NS, time_multiply(1 + live_below(s, 86400), NS_PER_S));
	o.created_ns = o.started_ns;
	o.allows_preemption = live_below(s, 30) == 0 ? NO : UNSET;
	snprintf(text, sizeof(text), "of-%u", s->o.budgets ? (node * s->o.pods + i) % s->o.budgets : 0);
	live_put(s, &o, queue, text);
}

static inline void live_add_group(struct live_cluster *s, uint32_t i, uint32_t queue)
{
	struct names *names = vocab_names(s->vocab);
	struct obj_group o = {.bag = name_bag_of(names), .min_member = (int32_t)s->o.gang, .stale_ns = TIME_NONE};
	char text[32];
	struct err e;

	o.started_ns = TIME_NONE;
	o.created_ns = time_since(LIVE_NOW_NS, time_multiply(3600 - (int64_t)(i % 3000), NS_PER_S));
	o.ns = names_hold_str(names, "bench");
	snprintf(text, sizeof(text), "gang-%u", i);
	o.name = names_hold_str(names, text);
	live_queue_name(s, queue, text, sizeof(text));
	o.queue = names_hold_str(names, text);
	live_must(cluster_put_group(s->cluster, &o, &e), &e);
}

static inline void live_add_waiting(struct live_cluster *s, uint32_t i)
{
	struct names *names = vocab_names(s->vocab);
	uint32_t half = s->o.queues / 2, queue = (s->o.is_held ? 0 : half) + live_below(s, s->o.queues - half),
		 size = live_below(s, LIVE_SIZES);
	char text[32];

	if (s->o.gang)
		live_add_group(s, i, queue);
	for (uint32_t k = 0; k < (s->o.gang ? s->o.gang : 1); k++) {
		struct obj_pod o = {.phase = PHASE_PENDING, .priority = s->o.is_held ? 0 : 10, .started_ns = TIME_NONE};

		o.created_ns = time_since(LIVE_NOW_NS, time_multiply(3600 - (int64_t)(i % 3000), NS_PER_S));
		o.shape = live_size(s, size, true);
		snprintf(text, sizeof(text), "gang-%u", i);
		if (s->o.gang)
			o.group = names_hold_str(names, text);
		snprintf(text, sizeof(text), "job-%u", i);
		if (s->o.profile != PROFILE_KAI && s->o.profile != PROFILE_KUBERNETES)
			o.app = names_hold_str(names, text);
		live_put(s, &o, queue, "of-waiting");
	}
}

static inline void live_add_budget(struct live_cluster *s, uint32_t i)
{
	struct names *names = vocab_names(s->vocab);
	struct obj_pdb o = {.arena = arena_new(1024), .bag = name_bag_of(names), .allowed = 1, .has_status = true};
	struct requirement *r = arena_type(o.arena, struct requirement);
	char text[32];
	const char *value = text;
	size_t len;
	struct err e;

	snprintf(text, sizeof(text), "budget-%u", i);
	o.ns = names_hold_str(names, "bench");
	o.name = names_hold_str(names, text);
	snprintf(text, sizeof(text), "of-%u", i);
	len = strlen(text);
	live_must(requirement_make(o.arena, &o.bag, "role", 4, SEL_EQUAL, &value, &len, 1, r, &e), &e);
	o.selector = selector_make(names, r, 1);
	live_must(cluster_put_pdb(s->cluster, &o, &e), &e);
}

static inline void live_fill(struct live_cluster *s, uint32_t node)
{
	const struct ledger *l = cluster_ledger(s->cluster);
	char text[32];
	node_id id;

	snprintf(text, sizeof(text), "node-%06u", node);
	id = ledger_node_find(l, names_find(vocab_names(s->vocab), text, strlen(text)));
	for (uint32_t i = 0;; i++) {
		int64_t cpu = ledger_node_allocatable(l, id)[RES_CPU] - ledger_node_used(l, id)[RES_CPU];

		if (cpu < 3 * LIVE_CPU / 2)
			return;
		live_add_running(s, node, i);
	}
}

static inline void live_cluster_init(struct live_cluster *s, const struct live_options *o)
{
	struct cluster_options options = cluster_options_default();

	*s = (struct live_cluster){.o = *o, .random = UINT64_C(0x9E3779B97F4A7C15)};
	options.profile = o->profile;
	options.now_ns = LIVE_NOW_NS;
	s->vocab = vocab_new();
	s->cluster = cluster_new(s->vocab, &options);
	if (o->profile != PROFILE_KUBERNETES)
		live_add_queues(s);
	for (uint32_t i = 0; i < o->nodes; i++)
		live_add_node(s, i);
	for (uint32_t i = 0; i < o->nodes; i++)
		live_fill(s, i);
	for (uint32_t i = 0; i < o->waiting; i++)
		live_add_waiting(s, i);
	for (uint32_t i = 0; i < o->budgets; i++)
		live_add_budget(s, i);
	ledger_commit(cluster_ledger(s->cluster));
	cluster_trim(s->cluster); /* as after reading one */
}

static inline void live_cluster_free(struct live_cluster *s)
{
	cluster_free(s->cluster);
	vocab_free(s->vocab);
}
