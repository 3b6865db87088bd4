/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podreq.h - what a pod asks for, computed from its containers as Kubernetes does (init containers in order, sidecars,
 * pod-level requests, overhead, in-place resizes).
 *
 * Exact quantities in, exact quantities out: the facts compare values before any rounding. The caller turns the result into
 * amounts. Types are named by strings here, because limits and unknown names take part too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/res.h"
#include "units/quantity.h"

struct req_entry {
	const char *name;
	struct quantity q;
};

struct req_set { /* unordered as written; a name at most once */
	uint32_t n;
	struct req_entry *v;
};

struct req_container {
	bool is_init, is_sidecar; /* sidecar: an init container with restartPolicy Always */
	struct req_set requests, limits;
	bool has_allocated, has_actual; /* containerStatuses: allocatedResources, resources.requests */
	struct req_set allocated, actual;
};

struct req_pod {
	uint32_t n;
	const struct req_container *containers; /* init containers first, in order */
	bool has_pod_requests, has_pod_limits;
	struct req_set pod_requests, pod_limits; /* spec.resources */
	struct req_set overhead;
	bool resize_is_infeasible; /* PodResizePending with reason Infeasible: spec does not count */
	bool has_pod_allocated, has_pod_actual;
	struct req_set pod_allocated, pod_actual; /* status.allocatedResources, status.resources.requests */
};

struct req_options {
	bool without_overhead, without_pod_level;
	bool use_status;      /* count max(spec, allocated, actual): for bound pods */
	bool nonzero_default; /* cpu 100m and memory 200Mi for containers that do not state them */
};

struct req_set pod_requests(struct arena *a, const struct req_pod *p, const struct req_options *o);
struct req_set pod_limits(struct arena *a, const struct req_pod *p, const struct req_options *o);
const struct quantity *req_get(const struct req_set *s, const char *name); /* NULL if absent */
