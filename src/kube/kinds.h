/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h - what is read from a cluster: one row per kind, and the paths of requests.
 *
 * Kinds that come with a CRD or a feature gate may be absent, in some of their groups and versions or in all. The first
 * version of a row that the server has is used.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct kube_kind {
	const char *kind;	 /* "Pod", as the manifest readers name it */
	const char *group;	 /* "" for the core group */
	const char *versions[4]; /* best first; NULL at the end */
	const char *resource;	 /* "pods" */
	bool is_essential;	 /* without it nothing can be decided: absent or forbidden is an error */
};

extern const struct kube_kind kube_kinds[];
extern const uint32_t kube_kind_count;

/* The ConfigMaps that hold settings, in our own namespace. */
extern const char *const kube_config_maps[]; /* NULL at the end */

/* "/api/v1/pods", "/apis/apps/v1/namespaces/ml/replicasets/web" (ns and name NULL: all of them). Parts are escaped. */
void kube_path(struct text *out, const struct kube_kind *k, const char *version, const char *ns, const char *name);
/* Percent-encodes everything but letters, digits and -._~ */
void kube_escape(struct text *out, const char *s);
