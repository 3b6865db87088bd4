/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic.h - a made-up full cluster for measurements: every node is full of pods of lower priority, and one pod
 * after the other comes that fits nowhere. The same numbers give the same cluster everywhere.
 */
#pragma once

#include "cluster/cluster.h"
#include "engine/decision.h"

enum synthetic_shape { SYNTHETIC_UNIFORM, SYNTHETIC_MIXED, SYNTHETIC_AFFINITY, SYNTHETIC_SPREAD };
extern const char *const synthetic_shape_words[]; /* NULL at the end */
const char *synthetic_shape_text(enum synthetic_shape s);
bool synthetic_shape_parse(const char *s, enum synthetic_shape *ret);

#define SYNTHETIC_NOW_NS (INT64_C(1763208000) * NS_PER_S)

struct synthetic_options {
	uint32_t nodes, pods_per_node, seed;
	uint32_t queues; /* 0: none, profile kubernetes; else so many, five levels deep from ten on, profile default */
	enum synthetic_shape shape;
};

struct synthetic {
	struct synthetic_options o;
	struct vocab *vocab;
	struct cluster *cluster;
	uint64_t random;
	uint32_t n_waiting; /* made so far */
	uint32_t n_leaves;
	pod_id waiting;
};

void synthetic_init(struct synthetic *s, const struct synthetic_options *o);
void synthetic_free(struct synthetic *s);
/* One more waiting pod. */
void synthetic_submit(struct synthetic *s);
/* After its decision: what was to go goes and comes back as new pods, the waiting pod is done. */
void synthetic_refill(struct synthetic *s, const struct decision *d);
