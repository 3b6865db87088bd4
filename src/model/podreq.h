/* SPDX-License-Identifier: Apache-2.0 */
/*
 * podreq.h - what a pod asks for, computed from its containers as Kubernetes does (init containers in order, sidecars,
 * pod-level requests, overhead, in-place resizes).
 *
 * Exact quantities in, exact quantities out: the facts compare values before any rounding. The caller turns the result
 * into amounts. Types are named by strings here, because limits and unknown names take part too.
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
	/* containerStatuses: allocatedResources, resources.requests; empty sets count as absent */
	bool has_allocated, has_actual;
	struct req_set allocated, actual;
	struct req_set actual_limits; /* containerStatuses: resources.limits; empty: absent */
};

struct req_pod {
	uint32_t n;
	const struct req_container *containers; /* init containers first, in order */
	bool has_pod_requests, has_pod_limits;
	struct req_set pod_requests, pod_limits; /* spec.resources; only cpu, memory and hugepages-* of them count */
	struct req_set overhead;
	bool resize_is_infeasible; /* PodResizePending with reason Infeasible: spec does not count */
	bool has_pod_allocated, has_pod_actual;
	struct req_set pod_allocated, pod_actual; /* status.allocatedResources, status.resources.requests */
	struct req_set pod_actual_limits;	  /* status.resources.limits; empty: absent */
};

/*
 * use_status: per type the largest of three sums over the containers: as specified, as allocated (where a container
 * does not say: as specified) and as actual (else as allocated, else as specified). With a resize that is infeasible
 * the specified ones do not count.
 *
 * use_pod_status (upstream's gate InPlacePodLevelResourcesVerticalScaling; only with use_status): the pod's own status,
 * where it has both, stands for the sums of its containers, and a pod-level request is the largest of spec and status,
 * too.
 */
struct req_options {
	bool without_overhead, without_pod_level;
	bool use_status; /* count max(spec, allocated, actual): for bound pods */
	/*
	 * cpu 100m and memory 200Mi for containers that do not state them; with pod-level requests only for what the
	 * whole pod does not state
	 */
	bool nonzero_default;
	bool use_pod_status;
};

/* Sum over the containers (init containers in order), pod-level requests in place of it, plus overhead. Lives in a. */
struct req_set pod_requests(struct arena *a, const struct req_pod *p, const struct req_options *o);
/* The same for limits; overhead is added to limits that are there and not zero. */
struct req_set pod_limits(struct arena *a, const struct req_pod *p, const struct req_options *o);
/* The containers alone: no pod-level resources, no overhead. */
struct req_set container_requests(struct arena *a, const struct req_pod *p, const struct req_options *o);
struct req_set container_limits(struct arena *a, const struct req_pod *p, const struct req_options *o);
const struct quantity *req_get(const struct req_set *s, const char *name); /* NULL if absent */
