/* SPDX-License-Identifier: Apache-2.0 */
/*
 * framework_internal.h - what framework.c and cycle.c share; for them alone.
 */
#pragma once

#include "base/array.h"
#include "filters/claim_users.h"
#include "filters/framework.h"
#include "filters/roster.h"
#include "filters/spread_nodes.h"
#include "filters/topology.h"

enum {
	PLUGINS_MAX = 64,   /* bits of a mask */
	STATIC_SHAPES = 32, /* kinds of pods whose static answers are kept */
	TABLE_BITS = 7,
};

/* of one shape, by node id; holds a reference to the shape, so its id cannot come to mean another */
struct static_cache {
	shape_id shape;
	uint32_t n;
	uint8_t *verdicts;
	bool is_complete; /* known of all nodes there are */
};

struct framework {
	struct cluster *cluster;
	struct ledger *ledger;
	struct plugin_args args;
	ARRAY(struct framework_plugin) plugins; /* built-in ones first */
	uint32_t n_builtins;
	uint8_t guesses[1 << TABLE_BITS]; /* which of them it may be, by the address of its table */
	ARRAY(uint32_t) order[POINT_COUNT];
	ARRAY(uint32_t) followers; /* of those with a PreFilter, in its order: who hears of pods that move */
	struct text complaints;
	struct cede_cycle *cycle; /* under way, NULL between cycles */
	bool is_listening, nodes_are_known;
	ARRAY(node_id) nodes;
	ARRAY(uint32_t) places;		  /* among them, by node id */
	uint64_t nodes_versions;	  /* of the list; only grows */
	bool has_roster, has_claim_users; /* they are made and follow */
	struct roster roster;
	struct claim_users claim_users;
	struct topologies topologies;
	struct spread_nodes_cache spread_nodes;
	uint32_t n_cached, next_victim;
	struct static_cache cached[STATIC_SHAPES];
};

struct cycle_value {
	struct cycle_value *next;
	const char *key;
	void *value;
};

/* The index of a plugin by its table; that of nobody, one beyond the last, if it is not there. */
static inline uint32_t framework_index(const struct framework *f, const struct cede_plugin *p)
{
	uint32_t i = f->guesses[(uintptr_t)p * UINT64_C(0x9E3779B97F4A7C15) >> (64 - TABLE_BITS)];

	if (i < f->plugins.n && f->plugins.v[i].table == p)
		return i;
	for (i = 0; i < f->plugins.n && f->plugins.v[i].table != p;)
		i++;
	return i;
}
struct static_cache *framework_static_cache(struct framework *f, shape_id shape);
/* The ledger moved a pod onto or off a node: tell every plugin that keeps counts. */
void cycle_pod_moved(struct cede_cycle *c, pod_id pod, node_id node, bool is_added);
/* A pod on a node began to leave, or stays after all. */
void cycle_pod_leaving(struct cede_cycle *c, pod_id pod, bool is_leaving);
bool cycle_asks(const struct cede_cycle *c, const struct cede_plugin *filter); /* has it a say about this pod? */
/* As cycle_filter, up to the first filter of `open` that has its turn: ret_is_open, and it is not asked. */
struct status cycle_filter_but(const struct cede_cycle *c, node_id node, uint64_t open, bool *ret_is_open);
