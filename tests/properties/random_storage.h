/* SPDX-License-Identifier: Apache-2.0 */
/* random_storage.h - random volumes, claims, classes and CSI objects, and volumes of pods; see random_manifest.h. */
#pragma once

#include "properties/random_fields.h"

static const char *const gen_storage_classes[] = {"fast", "local", "slow", ""};
static const char *const gen_drivers[] = {"disk.example.com", "ebs.csi.aws.com", "kubernetes.io/no-provisioner",
					  "kubernetes.io/aws-ebs"};
static const char *const gen_sizes[] = {"1Gi", "5Gi", "5G", "1536Mi", "0", "1500m", "10Gi"};
static const char *const gen_modes[] = {"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"};

static inline void gen_class_name(struct gen *g)
{
	if (chance(g, 85))
		emit_str(&g->e, "storageClassName", PICK(g, gen_storage_classes));
}

static inline void gen_zone_affinity(struct gen *g)
{
	static const char *const keys[] = {"zone", "kubernetes.io/hostname", "topology.kubernetes.io/zone"};

	emit_object(&g->e, "nodeAffinity");
	emit_object(&g->e, "required");
	emit_list(&g->e, "nodeSelectorTerms");
	for (uint32_t n = rng_below(&g->r, 3); n--;) {
		emit_object(&g->e, NULL);
		emit_list(&g->e, "matchExpressions");
		for (uint32_t k = rng_below(&g->r, 3); k--;) {
			emit_object(&g->e, NULL);
			emit_str(&g->e, "key", PICK(g, keys));
			emit_str(&g->e, "operator", chance(g, 80) ? "In" : "Exists");
			gen_strings(g, "values", gen_values, 3, 80);
			emit_end(&g->e);
		}
		emit_end(&g->e);
		emit_end(&g->e);
	}
	emit_end(&g->e);
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_pv_source(struct gen *g, uint32_t i)
{
	uint32_t kind = rng_below(&g->r, 5);

	emit_object(&g->e, kind == 0   ? "awsElasticBlockStore"
			   : kind == 1 ? "gcePersistentDisk"
			   : kind == 2 ? "nfs"
				       : "csi");
	if (kind > 2)
		emit_str(&g->e, "driver", PICK(g, gen_drivers));
	emit_strf(&g->e,
		  kind == 0   ? "volumeID"
		  : kind == 1 ? "pdName"
		  : kind == 2 ? "path"
			      : "volumeHandle",
		  "%s%u", chance(g, 20) ? "aws://z/vol-" : "h", i);
	emit_end(&g->e);
}

static inline void gen_pv(struct gen *g, uint32_t i)
{
	static const char *const phases[] = {"Available", "Available", "Bound", "Pending", "Released", ""};

	gen_begin(g, "v1", "PersistentVolume");
	emit_strf(&g->e, "name", "pv%u", i);
	gen_uid(g);
	gen_time(g, "deletionTimestamp", 5);
	gen_labels(g, "labels", 1);
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	emit_object(&g->e, "capacity");
	emit_str(&g->e, "storage", PICK(g, gen_sizes));
	emit_end(&g->e);
	gen_strings(g, "accessModes", gen_modes, 4, 90);
	gen_class_name(g);
	if (chance(g, 20))
		emit_str(&g->e, "volumeMode", chance(g, 50) ? "Block" : "Filesystem");
	if (chance(g, 30)) {
		emit_object(&g->e, "claimRef");
		emit_str(&g->e, "namespace", PICK(g, gen_namespaces));
		emit_strf(&g->e, "name", "c%u", rng_below(&g->r, 3));
		emit_end(&g->e);
	}
	gen_pv_source(g, i);
	if (chance(g, 60))
		gen_zone_affinity(g);
	emit_end(&g->e);
	emit_object(&g->e, "status");
	emit_str(&g->e, "phase", PICK(g, phases));
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_pvc(struct gen *g, uint32_t i)
{
	gen_begin(g, "v1", "PersistentVolumeClaim");
	emit_strf(&g->e, "name", "c%u", i / 3);
	emit_str(&g->e, "namespace", gen_namespaces[i % 3]);
	gen_uid(g);
	gen_time(g, "deletionTimestamp", 5);
	emit_object(&g->e, "annotations");
	if (chance(g, 40))
		emit_str(&g->e, "pv.kubernetes.io/bind-completed", "yes");
	if (chance(g, 20))
		emit_strf(&g->e, "volume.kubernetes.io/selected-node", "n%u", rng_below(&g->r, g->n_nodes + 1));
	if (chance(g, 10))
		emit_str(&g->e, "volume.beta.kubernetes.io/storage-class", PICK(g, gen_storage_classes));
	emit_end(&g->e);
	gen_controller(g);
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	gen_strings(g, "accessModes", gen_modes, 4, 90);
	gen_class_name(g);
	if (chance(g, 90)) {
		emit_object(&g->e, "resources");
		emit_object(&g->e, "requests");
		emit_str(&g->e, "storage", PICK(g, gen_sizes));
		emit_end(&g->e);
		emit_end(&g->e);
	}
	if (chance(g, 40))
		emit_strf(&g->e, "volumeName", "pv%u", rng_below(&g->r, 8));
	gen_selector(g, "selector", 20);
	emit_end(&g->e);
	emit_object(&g->e, "status");
	emit_str(&g->e, "phase", chance(g, 95) ? "Pending" : "Lost");
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_storage_class(struct gen *g, const char *name)
{
	gen_begin(g, "storage.k8s.io/v1", "StorageClass");
	emit_str(&g->e, "name", name);
	emit_end(&g->e);
	emit_str(&g->e, "provisioner", PICK(g, gen_drivers));
	if (chance(g, 80))
		emit_str(&g->e, "volumeBindingMode", chance(g, 80) ? "WaitForFirstConsumer" : "Immediate");
	if (chance(g, 30)) {
		emit_list(&g->e, "allowedTopologies");
		emit_object(&g->e, NULL);
		emit_list(&g->e, "matchLabelExpressions");
		emit_object(&g->e, NULL);
		emit_str(&g->e, "key", PICK(g, gen_topologies));
		emit_list(&g->e, "values");
		emit_str(&g->e, NULL, "a");
		emit_str(&g->e, NULL, "b");
		emit_end(&g->e);
		emit_end(&g->e);
		emit_end(&g->e);
		emit_end(&g->e);
		emit_end(&g->e);
	}
	emit_end(&g->e);
}

static inline void gen_csi_node(struct gen *g, uint32_t i)
{
	gen_begin(g, "storage.k8s.io/v1", "CSINode");
	emit_strf(&g->e, "name", "n%u", i);
	if (chance(g, 30)) {
		emit_object(&g->e, "annotations");
		emit_str(&g->e, "storage.alpha.kubernetes.io/migrated-plugins",
			 "kubernetes.io/gce-pd,kubernetes.io/aws-ebs,kubernetes.io/else");
		emit_end(&g->e);
	}
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	emit_list(&g->e, "drivers");
	for (uint32_t k = 0; k < 2; k++) {
		emit_object(&g->e, NULL);
		emit_str(&g->e, "name", gen_drivers[k]);
		if (chance(g, 60)) {
			emit_object(&g->e, "allocatable");
			emit_int(&g->e, "count", rng_below(&g->r, 4));
			emit_end(&g->e);
		}
		emit_end(&g->e);
	}
	emit_end(&g->e);
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_csi_capacity(struct gen *g, uint32_t i)
{
	gen_begin(g, "storage.k8s.io/v1", "CSIStorageCapacity");
	emit_strf(&g->e, "name", "cap%u", i);
	emit_str(&g->e, "namespace", PICK(g, gen_namespaces));
	emit_end(&g->e);
	gen_class_name(g);
	gen_selector(g, "nodeTopology", 80);
	if (chance(g, 80))
		emit_str(&g->e, "capacity", PICK(g, gen_sizes));
	if (chance(g, 30))
		emit_str(&g->e, "maximumVolumeSize", PICK(g, gen_sizes));
	emit_end(&g->e);
}

static inline void gen_attachment(struct gen *g, uint32_t i)
{
	gen_begin(g, "storage.k8s.io/v1", "VolumeAttachment");
	emit_strf(&g->e, "name", "att%u", i);
	emit_end(&g->e);
	emit_object(&g->e, "spec");
	emit_str(&g->e, "attacher", PICK(g, gen_drivers));
	emit_strf(&g->e, "nodeName", "n%u", rng_below(&g->r, g->n_nodes));
	emit_object(&g->e, "source");
	emit_strf(&g->e, "persistentVolumeName", "pv%u", rng_below(&g->r, 8));
	emit_end(&g->e);
	emit_end(&g->e);
	emit_end(&g->e);
}

/* Of clusters with storage; there are others, too. */
static inline void gen_storage(struct gen *g)
{
	if (!chance(g, 60))
		return;
	for (uint32_t i = 0; i < 6; i++)
		gen_pv(g, i);
	for (uint32_t i = 0; i < 9; i++)
		if (chance(g, 70))
			gen_pvc(g, i);
	for (uint32_t i = 0; i < 3; i++)
		if (chance(g, 80))
			gen_storage_class(g, gen_storage_classes[i]);
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (chance(g, 70))
			gen_csi_node(g, i);
	for (uint32_t i = 0; i < 2; i++)
		if (chance(g, 50)) {
			gen_begin(g, "storage.k8s.io/v1", "CSIDriver");
			emit_str(&g->e, "name", gen_drivers[i]);
			emit_end(&g->e);
			emit_object(&g->e, "spec");
			emit_bool(&g->e, "storageCapacity", chance(g, 50));
			emit_end(&g->e);
			emit_end(&g->e);
		}
	for (uint32_t i = 0, n = rng_below(&g->r, 4); i < n; i++)
		gen_csi_capacity(g, i);
	for (uint32_t i = 0, n = rng_below(&g->r, 3); i < n; i++)
		gen_attachment(g, i);
}

/* ---- volumes of pods ---- */

static inline void gen_volume(struct gen *g, uint32_t i)
{
	static const char *const kinds[] = {"persistentVolumeClaim",
					    "persistentVolumeClaim",
					    "ephemeral",
					    "emptyDir",
					    "gcePersistentDisk",
					    "awsElasticBlockStore",
					    "iscsi",
					    "rbd",
					    "csi"};
	static const char *const fields[] = {"claimName", "claimName", NULL,	NULL,	 "pdName",
					     "volumeID",  "iqn",       "image", "driver"};
	uint32_t k = rng_below(&g->r, 9);

	emit_object(&g->e, NULL);
	emit_strf(&g->e, "name", "v%u", i);
	emit_object(&g->e, kinds[k]);
	if (fields[k])
		emit_strf(&g->e, fields[k], "c%u", rng_below(&g->r, 3));
	if (k == 7) {
		emit_list(&g->e, "monitors");
		emit_str(&g->e, NULL, "m1");
		if (chance(g, 50))
			emit_str(&g->e, NULL, "m2");
		emit_end(&g->e);
		if (chance(g, 50))
			emit_str(&g->e, "pool", "p");
	}
	if (fields[k] && chance(g, 30))
		emit_bool(&g->e, "readOnly", chance(g, 50));
	emit_end(&g->e);
	emit_end(&g->e);
}

static inline void gen_volumes(struct gen *g)
{
	if (!chance(g, 35))
		return;
	emit_list(&g->e, "volumes");
	for (uint32_t i = 0, n = rng_below(&g->r, 4); i < n; i++)
		gen_volume(g, i);
	emit_end(&g->e);
}
