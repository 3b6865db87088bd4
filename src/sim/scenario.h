/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario.h - a cluster, what arrives, what happens, and what is expected, in one short file.
 *
 *	kind: Scenario
 *	from: 2026-11-15T12:00:00Z
 *	cluster:
 *	  files: [../gpu-cluster]              # objects in files beside it; also the other documents of this file
 *	  nodes: [{name: gpu, count: 4, room: {nvidia.com/gpu: 8, cpu: 64}}]
 *	workloads:
 *	- {name: train, namespace: ml, queue: root.ml, requests: {nvidia.com/gpu: 8}, pods: 4, together: 4,
 *	   count: 20, every: exponential 10m, runs: lognormal 2h sigma 1, checkpoints: 30m, priority: 50}
 *	events:
 *	- {at: 1h, fail: gpu-2}
 *	expect:
 *	- ml/notebook is never evicted
 *
 * docs/simulate.md has all fields. What is left to chance comes from the seed, a stream for each workload, so that
 * adding one never changes another. Errors say file, line, column and field.
 */
#pragma once

#include "base/text.h"
#include "sim/expect.h"
#include "sim/load.h"

struct scenario;

enum err_code scenario_read(const char *path, struct scenario **ret, struct err *e);
enum err_code scenario_parse(const char *path, const char *data, size_t len, struct scenario **ret, struct err *e);
void scenario_free(struct scenario *s); /* NULL is fine */

/* TIME_NONE if it does not say. */
int64_t scenario_from(const struct scenario *s);
/* When it is over; until may be a duration after from. TIME_NONE: when everything is done. */
enum err_code scenario_until(const struct scenario *s, int64_t from_ns, int64_t *ret_ns, struct err *e);
/* Files of objects, by the path from here; the scenario's own file is one of them if it holds other documents. */
uint32_t scenario_file_count(const struct scenario *s);
const char *scenario_file(const struct scenario *s, uint32_t i);
void scenario_cluster(const struct scenario *s, struct text *out); /* nodes that are only counted, as manifests */

/* What arrives: templates are made in the cluster's vocab, which outlives the load. */
enum err_code scenario_load(const struct scenario *s, struct vocab *v, uint64_t seed, int64_t from_ns,
			    struct sim_load *ret, struct err *e);
/* In order of time; they live as long as the scenario. */
enum err_code scenario_events(struct scenario *s, int64_t from_ns, const struct sim_event **ret, uint32_t *ret_n,
			      struct err *e);
/* What is expected, to be watched while the simulation runs. */
enum err_code scenario_expectations(const struct scenario *s, int64_t from_ns, struct expectations *ret, struct err *e);
