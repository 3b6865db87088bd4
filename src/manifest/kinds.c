/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of objects a cluster is made of, one row each. */
#include "manifest/collect.h"

#define DEFINE_KIND(stem, ns_expr)                                                                               \
	static enum err_code read_##stem(struct vocab *v, const struct object_source *src, const struct tree *t, \
					 void *ret, struct err *e)                                               \
	{                                                                                                        \
		return manifest_##stem(v, src, t, ret, e);                                                       \
	}                                                                                                        \
	static enum err_code put_##stem(struct cluster *c, void *obj, struct err *e)                             \
	{                                                                                                        \
		return cluster_put_##stem(c, obj, e);                                                            \
	}                                                                                                        \
	static void drop_##stem(struct vocab *v, void *obj)                                                      \
	{                                                                                                        \
		obj_##stem##_drop(v, obj);                                                                       \
	}                                                                                                        \
	static void identity_##stem(const struct vocab *v, const void *obj, name_id *ret_ns, name_id *ret_name)  \
	{                                                                                                        \
		const struct obj_##stem *o = obj;                                                                \
                                                                                                                 \
		(void)v;                                                                                         \
		*ret_ns = (ns_expr);                                                                             \
		*ret_name = o->name;                                                                             \
	}

DEFINE_KIND(pod, labelset_get(v, o->labelset)->ns)
DEFINE_KIND(node, NAME_NONE)
DEFINE_KIND(namespace, NAME_NONE)
DEFINE_KIND(class, NAME_NONE)
DEFINE_KIND(pdb, o->ns)
DEFINE_KIND(owner, labelset_get(v, o->labelset)->ns)
DEFINE_KIND(group, o->ns)
DEFINE_KIND(pv, NAME_NONE)
DEFINE_KIND(pvc, o->ns)
DEFINE_KIND(storage_class, NAME_NONE)
DEFINE_KIND(csi_node, NAME_NONE)
DEFINE_KIND(csi_driver, NAME_NONE)
DEFINE_KIND(csi_capacity, o->ns)
DEFINE_KIND(attachment, NAME_NONE)

#define ROW(kind_text, api_text, rank_, stem)                                                               \
	{                                                                                                   \
		.kind = (kind_text), .api = (api_text), .rank = (rank_), .size = sizeof(struct obj_##stem), \
		.read = read_##stem, .put = put_##stem, .drop = drop_##stem, .identity = identity_##stem    \
	}

/* rank: what others are resolved by comes first, which saves resolving twice. */
const struct object_kind object_kinds[] = {
	ROW("Namespace", "v1", 0, namespace),
	ROW("PriorityClass", "scheduling.k8s.io/", 1, class),
	ROW("Node", "v1", 2, node),
	ROW("PersistentVolume", "v1", 2, pv),
	ROW("PersistentVolumeClaim", "v1", 2, pvc),
	ROW("StorageClass", "storage.k8s.io/", 2, storage_class),
	ROW("CSINode", "storage.k8s.io/", 2, csi_node),
	ROW("CSIDriver", "storage.k8s.io/", 2, csi_driver),
	ROW("CSIStorageCapacity", "storage.k8s.io/", 2, csi_capacity),
	ROW("VolumeAttachment", "storage.k8s.io/", 2, attachment),
	ROW("Service", "v1", 3, owner),
	ROW("ReplicationController", "v1", 3, owner),
	ROW("Deployment", "apps/", 3, owner),
	ROW("ReplicaSet", "apps/", 3, owner),
	ROW("StatefulSet", "apps/", 3, owner),
	ROW("DaemonSet", "apps/", 3, owner),
	ROW("Job", "batch/", 3, owner),
	ROW("PodGroup", "scheduling.k8s.io/", 4, group),
	ROW("PodGroup", "scheduling.run.ai/", 4, group),
	ROW("PodGroup", "scheduling.kai.nvidia.com/", 4, group),
	ROW("PodDisruptionBudget", "policy/", 5, pdb),
	ROW("Pod", "v1", 6, pod),
};
const size_t object_kind_count = sizeof(object_kinds) / sizeof(*object_kinds);
