/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.h - the objects of storage of a cluster: volumes, claims, classes, CSI objects, found by name and by what
 * filters ask.
 *
 * They come in any order, change and go; nothing of them is resolved here, so nothing has to be resolved again. What
 * was decided and is not in the objects yet is in the ledger (ledger_assume); an object that says it itself ends it.
 * Slots and names are reused. Pointers are good until the next change of that kind.
 */
#pragma once

#include "cluster/cluster.h"
#include "ledger/id_index.h"
#include "model/storage.h"

enum storage_kind {
	STORAGE_PV,
	STORAGE_PVC,
	STORAGE_CLASS,
	STORAGE_CSI_NODE,
	STORAGE_CSI_DRIVER,
	STORAGE_CSI_CAPACITY,
	STORAGE_ATTACHMENT,
	STORAGE_KINDS,
};

struct storage;
const struct storage *cluster_storage(const struct cluster *c);
/* Changes whenever any of the objects does: for caches of what they say. Never 0. */
uint64_t storage_generation(const struct storage *s);

/* By name; NULL: not there. */
const struct obj_pv *storage_pv(const struct storage *s, name_id name);
const struct obj_pvc *storage_pvc(const struct storage *s, name_id ns, name_id name);
const struct obj_storage_class *storage_class(const struct storage *s, name_id name);
const struct obj_csi_node *storage_csi_node(const struct storage *s, name_id node);
const struct obj_csi_driver *storage_csi_driver(const struct storage *s, name_id name);

/* All of a kind: slots below the limit, NULL where none is; in no meaningful order. */
uint32_t storage_limit(const struct storage *s, enum storage_kind kind);
const void *storage_at(const struct storage *s, enum storage_kind kind, uint32_t slot);

/* Walks, in no meaningful order. ID_NONE: no more. */
uint32_t storage_kept_first(const struct storage *s, name_id ns, name_id claim); /* PVs whose claimRef names it */
uint32_t storage_capacity_first(const struct storage *s, name_id class);	 /* CSIStorageCapacities of a class */
uint32_t storage_attachment_first(const struct storage *s, name_id node);	 /* VolumeAttachments of a node */
uint32_t storage_next(const struct storage *s, enum storage_kind kind, uint32_t slot);

/*
 * The volumes of a class that are there for whoever comes (available, for no claim, not being deleted), the smallest
 * first, then by name; and which of them can reach a node, without trying all. Made anew after a volume of the class
 * changed, when somebody asks, so the asking is for one thread.
 */
struct pv_domain { /* volumes that want this value of this label */
	name_id key, value;
	uint32_t first, n; /* in members */
};

struct pv_pool {
	uint32_t n;
	const struct obj_pv **v;
	uint32_t n_anywhere, n_other; /* without node affinity; with one that is not a single "label in values" */
	uint32_t *anywhere, *other;   /* indexes into v, ascending, and so the members below */
	uint32_t n_keys, n_domains;
	name_id *keys;		   /* labels that domains have */
	struct pv_domain *domains; /* by key and value */
	uint32_t *members;
};
const struct pv_pool *storage_pool(const struct storage *s, name_id class);
/* The members of the domain of this value; *ret_n 0: none. */
const uint32_t *pv_pool_domain(const struct pv_pool *p, name_id key, name_id value, uint32_t *ret_n);

/* Can pods on a node with these labels use the volume? Terms about fields count for nothing, as in Kubernetes. */
bool pv_terms_match(const struct names *names, const struct node_terms *t, const struct labels *node);
static inline bool pv_reaches(const struct names *names, const struct obj_pv *v, const struct labels *node)
{
	return !v->has_affinity || pv_terms_match(names, &v->affinity, node);
}
