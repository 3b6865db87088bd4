/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.h - what the objects of storage say: volumes, claims on them, classes, and what CSI drivers tell of nodes.
 *
 * As objects.h: plain data, names interned, nothing resolved. Names that are fields of an object have a reference of
 * their own, names inside arrays and selectors are held by its bag, arrays live in its arena. What follows from one
 * object alone is worked out by the reader, once: how a CSI driver that replaced an in-tree plugin knows the volume,
 * which nodes it would then reach, which zones its labels name.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/shape.h"
#include "model/uid.h"
#include "units/labels.h"
#include "units/quantity.h"

/* ---- where a volume comes from ---- */

enum volume_source {
	VOLUME_OTHER, /* nothing the filters look at */
	VOLUME_CLAIM,
	VOLUME_EPHEMERAL, /* generic: a claim made for the pod, called POD-VOLUME */
	VOLUME_CSI,
	VOLUME_ISCSI,
	VOLUME_RBD,
	/* in-tree plugins that CSI drivers replaced */
	VOLUME_EBS,
	VOLUME_GCE,
	VOLUME_AZURE_DISK,
	VOLUME_CINDER,
	VOLUME_PORTWORX,
	VOLUME_SOURCES,
};

struct volume_source_info {
	const char *field;    /* of a volume: "awsElasticBlockStore" */
	const char *id_field; /* in it: "volumeID" */
	const char *plugin;   /* "kubernetes.io/aws-ebs"; NULL: no driver replaced it */
	const char *driver;   /* "ebs.csi.aws.com" */
	const char *zone_key; /* label by which the driver knows the zone of a node; NULL: none of its own */
};
extern const struct volume_source_info volume_sources[VOLUME_SOURCES];

/* The source whose plugin or provisioner is called so; VOLUME_OTHER: none. */
enum volume_source volume_source_of_plugin(const char *plugin);
/*
 * How the driver calls the volume with this id, appended to out; zones: the value of the PV's zone label, "" if it has
 * none. False: it cannot be translated, and is not counted.
 */
bool volume_handle(enum volume_source source, const char *id, const char *zones, struct text *out);

/* ---- what pods mount ---- */

struct pod_volume {
	name_id name;
	name_id id;	/* the claim's name, the disk, the iSCSI target, the RBD image; of CSI the driver */
	name_id handle; /* replaced in-tree ones: how the driver calls it; NAME_NONE: cannot be told */
	name_id pool;	/* RBD */
	uint32_t first_monitor, n_monitors;
	uint8_t source; /* enum volume_source, never VOLUME_OTHER */
	bool is_read_only;
};

struct pod_volumes { /* immutable, shared by the copies of a pod's object, counted */
	uint32_t refs;
	uint32_t n, n_monitors;
	name_id *monitors; /* behind v, in the same block */
	struct pod_volume v[];
};

/* Copies, and takes references to the names. NULL for none. */
struct pod_volumes *pod_volumes_new(struct names *names, const struct pod_volume *v, uint32_t n,
				    const name_id *monitors, uint32_t n_monitors);
struct pod_volumes *pod_volumes_keep(struct pod_volumes *p); /* NULL is fine */
void pod_volumes_drop(struct names *names, struct pod_volumes *p);
static inline bool pod_volume_is_claim(const struct pod_volume *v)
{
	return v->source == VOLUME_CLAIM || v->source == VOLUME_EPHEMERAL;
}

/* ---- objects ---- */

enum access_mode { ACCESS_RWO = 1, ACCESS_ROX = 2, ACCESS_RWX = 4, ACCESS_RWOP = 8 }; /* bits */
enum access_mode access_mode_parse(const char *s);				      /* 0: not one */
const char *access_mode_text(enum access_mode m);

enum pv_phase { PV_PENDING, PV_AVAILABLE, PV_BOUND, PV_RELEASED, PV_FAILED };

/* Labels that say in which zone or region a volume is, and nodes are. */
enum zone_key { ZONE_BETA, REGION_BETA, ZONE_STABLE, REGION_STABLE, ZONE_KEYS };
extern const char *const zone_key_texts[ZONE_KEYS];

struct pv_zone {
	enum zone_key key;
	uint32_t n;
	const name_id *values;
};

struct obj_pv { /* PersistentVolume */
	name_id name, uid, resource_version;
	labelset_id labelset; /* no namespace, the labels */
	enum pv_phase phase;
	int64_t deleted_ns; /* TIME_NONE */
	struct quantity capacity;
	uint8_t modes; /* of enum access_mode */
	bool is_block; /* volumeMode */
	enum volume_source source;
	name_id source_id; /* of an in-tree source */
	name_id driver,
		handle; /* as CSI knows it, its own or the one that replaced the plugin; NAME_NONE: not at all */
	name_id class, attributes_class;
	bool has_claim; /* spec.claimRef: */
	name_id claim_ns, claim_name, claim_uid;
	bool has_affinity, has_translated; /* translated: for nodes whose driver replaced the plugin */
	struct node_terms affinity, translated;
	uint32_t n_zones;
	const struct pv_zone *zones; /* of its labels */
	struct arena *arena;
	struct name_bag bag;
};

struct obj_pvc { /* PersistentVolumeClaim */
	name_id ns, name, uid, resource_version;
	bool has_owner; /* a controller: */
	struct uid owner_uid;
	int64_t deleted_ns;
	bool is_lost;		/* status.phase */
	bool is_bind_completed; /* annotation pv.kubernetes.io/bind-completed */
	bool has_selected_node; /* annotation volume.kubernetes.io/selected-node: */
	name_id selected_node;
	name_id class, attributes_class, volume_name;
	struct quantity request;
	bool has_request, is_block, has_selector;
	uint8_t modes;
	struct selector selector; /* of volumes, by their labels */
	struct arena *arena;
	struct name_bag bag;
};
static inline bool pvc_is_bound(const struct obj_pvc *c)
{
	return c->volume_name != NAME_NONE && c->is_bind_completed;
}
/* Is the volume kept for this claim? Its claimRef names it, and no older one of that name. */
static inline bool pv_is_kept_for(const struct obj_pv *v, const struct obj_pvc *c)
{
	return v->has_claim && v->claim_ns == c->ns && v->claim_name == c->name &&
	       (v->claim_uid == NAME_NONE || v->claim_uid == c->uid);
}

struct obj_storage_class {
	name_id name, provisioner;
	name_id driver;		      /* that counts for it: the provisioner, or what replaced it */
	bool waits;		      /* volumeBindingMode WaitForFirstConsumer */
	struct node_terms topologies; /* allowedTopologies; none: everywhere */
	struct arena *arena;
	struct name_bag bag;
};
/* Can it make volumes? */
#define NO_PROVISIONER "kubernetes.io/no-provisioner"

struct csi_limit {
	name_id driver;
	bool has_count;
	int32_t count;
};

struct obj_csi_node {
	name_id name;	   /* the node's */
	uint32_t migrated; /* bit set of enum volume_source: plugins that its drivers replaced */
	uint32_t n_drivers;
	struct csi_limit *drivers;
	struct name_bag bag;
};

struct obj_csi_driver {
	name_id name;
	bool has_capacity; /* spec.storageCapacity */
};

struct obj_csi_capacity { /* CSIStorageCapacity */
	name_id ns, name, class;
	bool has_capacity, has_maximum;
	struct quantity capacity, maximum;
	struct selector topology; /* missing: no node */
	struct arena *arena;
	struct name_bag bag;
};

struct obj_attachment { /* VolumeAttachment */
	name_id name, attacher, node, volume;
};

void obj_pv_drop(struct vocab *v, struct obj_pv *o);
void obj_pvc_drop(struct vocab *v, struct obj_pvc *o);
void obj_storage_class_drop(struct vocab *v, struct obj_storage_class *o);
void obj_csi_node_drop(struct vocab *v, struct obj_csi_node *o);
void obj_csi_driver_drop(struct vocab *v, struct obj_csi_driver *o);
void obj_csi_capacity_drop(struct vocab *v, struct obj_csi_capacity *o);
void obj_attachment_drop(struct vocab *v, struct obj_attachment *o);
