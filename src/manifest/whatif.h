/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whatif.h - a cluster that is not so: what is thought to come, go or be set otherwise.
 *
 * In this order: before anything is read a manifest is told which nodes to drain; then files are added to it, settings
 * put on top of a configuration, and, once the cluster is built, queues set and pods removed.
 *
 *	whatif_begin(w, manifest); manifest_read(...); whatif_read(w, manifest, e);
 *	manifest_configure(...); whatif_configure(w, config, e);
 *	manifest_build(...); whatif_apply(w, manifest, cluster, e);
 *
 * A setting is "KEY=VALUE": a field of a CedeConfiguration ("rules.opt-out.mode=hard"), or of a queue:
 * "queue.PATH.guaranteed.TYPE", "queue.PATH.max.TYPE" (a quantity, or none), "queue.PATH.preemptMinRuntime",
 * "queue.PATH.reclaimMinRuntime", or a property of queues.yaml such as "queue.PATH.preemption.policy". A queue's
 * amounts must be such that they could be read from a queues.yaml. Errors begin with the option they are about.
 *
 * A drained node takes no more pods. What ran there waits, as if its controller had made it again; DaemonSets' pods and
 * those of the kubelet stay. Budgets are not asked.
 */
#pragma once

#include "manifest/manifest.h"

typedef ARRAY(const char *) whatif_list;

struct whatif {
	whatif_list add;    /* paths */
	whatif_list remove; /* "ns/name" of pods, groups or workloads */
	whatif_list drain;  /* names of nodes */
	whatif_list set;    /* "key=value" */
	const char *ns;	    /* of names without one; NULL: default */
};
void whatif_free(struct whatif *w);
bool whatif_is_empty(const struct whatif *w);

void whatif_begin(const struct whatif *w, struct manifest *m);
enum err_code whatif_read(const struct whatif *w, struct manifest *m, struct err *e);
enum err_code whatif_configure(const struct whatif *w, struct engine_config *config, struct err *e);
enum err_code whatif_apply(const struct whatif *w, const struct manifest *m, struct cluster *c, struct err *e);
