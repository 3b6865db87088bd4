/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.h - what an exact decision has to look at, summed up and nothing else: room of each node; request, priority and
 * start of each pod on it, in the densest order. From memory, not from the caches.
 */
#pragma once

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ledger/ledger.h"

struct dense_pod {
	int64_t cpu, memory, started;
	int32_t priority;
	uint32_t node;
};

struct dense_node {
	int64_t cpu, memory, pods;
	uint32_t first, n;
};

static volatile int64_t floor_looked_at;

static inline double floor_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline void floor_empty_caches(void)
{
	enum { SIZE = 128 << 20 };
	char *much = malloc(SIZE);

	assert(much);
	memset(much, 1, SIZE);
	for (size_t i = 0; i < SIZE; i += 64)
		floor_looked_at += much[i];
	free(much);
}

static inline double floor_look(const struct dense_node *nodes, uint32_t n_nodes, const struct dense_pod *pods)
{
	double began = floor_now_ms();
	int64_t best = 0;

	for (uint32_t i = 0; i < n_nodes; i++) {
		int64_t cpu = nodes[i].cpu, memory = nodes[i].memory, oldest = INT64_MAX;

		for (const struct dense_pod *p = pods + nodes[i].first, *end = p + nodes[i].n; p < end; p++) {
			bool may_go = p->priority < 10;

			cpu += may_go ? p->cpu : 0;
			memory += may_go ? p->memory : 0;
			oldest = may_go && p->started < oldest ? p->started : oldest;
		}
		best += cpu ^ memory ^ oldest;
	}
	floor_looked_at += best;
	return floor_now_ms() - began;
}

static inline struct dense_pod *floor_pods(const struct ledger *l, const struct vocab *v, struct dense_node *nodes)
{
	struct dense_pod *pods = calloc(ledger_pod_limit(l) + 1, sizeof(*pods));
	uint32_t n = 0;

	assert(pods);
	for (node_id i = 0; i < ledger_node_limit(l); i++) {
		const int64_t *has = ledger_node_allocatable(l, i), *used = ledger_node_used(l, i);
		const struct ledger_node *node = ledger_node(l, i);

		nodes[i] = (struct dense_node){has[RES_CPU] - used[RES_CPU], has[RES_MEMORY] - used[RES_MEMORY],
					       has[RES_PODS] - used[RES_PODS], n, node->pods.n};
		for (uint32_t k = 0; k < node->pods.n; k++) {
			const struct pod *p = ledger_pod(l, node->pods.v[k]);
			const struct shape *shape = shape_get(v, p->shape);

			pods[n++] = (struct dense_pod){res_list_get(&shape->usage, RES_CPU),
						       res_list_get(&shape->usage, RES_MEMORY), p->started_ns,
						       p->priority, i};
		}
	}
	return pods;
}

/* So many times, in milliseconds of the processor. */
static inline void floor_measure(const struct ledger *l, const struct vocab *v, double *ret_ms, uint32_t times)
{
	uint32_t n = ledger_node_limit(l);
	struct dense_node *nodes = calloc(n, sizeof(*nodes));
	struct dense_pod *pods;

	assert(nodes);
	pods = floor_pods(l, v, nodes);
	for (uint32_t i = 0; i < times; i++) {
		floor_empty_caches();
		ret_ms[i] = floor_look(nodes, n, pods);
	}
	free(nodes);
	free(pods);
}
