/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volumes.h - what the four volume plugins share: a pod's claims and who may use them, and what VolumeBinding decides
 * for a node.
 *
 * The details of answers are indexes of the waiting pod's volumes, so that any cycle for it can say them in words.
 */
#pragma once

#include "cluster/storage.h"
#include "filters/builtin.h"

struct claim_users;
/* Made when somebody asks for it first; for the thread that has the cycle. */
const struct claim_users *framework_claim_users(struct framework *f);

static inline const struct pod_volumes *volumes_of(const struct pod *p)
{
	return p->has_volumes ? p->obj->volumes : NULL;
}
static inline const struct storage *volumes_storage(const struct cede_cycle *c)
{
	return cluster_storage(c->cluster);
}
/* The claim of a volume that has one; NULL: not there. */
const struct obj_pvc *volume_claim(const struct cede_cycle *c, const struct pod *p, const struct pod_volume *v);
/* A generic ephemeral volume's claim is the pod's own if the pod is its controller. */
bool volume_is_owned(const struct pod *p, const struct obj_pvc *claim);

/* Words that several plugins have, into out; at: index of the waiting pod's volume. */
void claim_not_found_text(const struct cede_cycle *c, uint64_t at, char *out, size_t size);
void claim_not_owned_text(const struct cede_cycle *c, uint64_t at, char *out, size_t size);
const char *volume_id_text(const struct cede_cycle *c, uint64_t at); /* the claim's name */
const char *volume_ns_text(const struct cede_cycle *c);
const char *volume_pod_text(const struct cede_cycle *c);

/* Do inline disks of the two keep them from one node? */
bool volumes_clash(const struct pod_volumes *a, const struct pod_volumes *b);
/*
 * Writes down in the ledger which volumes the cycle's pod would get on this node, in place of what was written down for
 * it before: what Reserve does, for who holds room for it without binding it. It fits there.
 */
void volumes_assume(struct cede_cycle *c, node_id node);

/* Which of the keys of zones and regions (model/storage.h) names are known, as ids. */
struct zone_names {
	name_id key[ZONE_KEYS];
};
