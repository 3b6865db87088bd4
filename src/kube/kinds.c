/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/kinds.h"

#include <stddef.h>

/* What pods refer to comes before the pods, so that fewer of them are resolved twice. */
const struct kube_kind kube_kinds[] = {
	{"PriorityClass", "scheduling.k8s.io", {"v1"}, "priorityclasses", true},
	{"Namespace", "", {"v1"}, "namespaces", true},
	{"Queue", "scheduling.run.ai", {"v2"}, "queues", false},
	{"Queue", "scheduling.kai.nvidia.com", {"v2"}, "queues", false},
	{"PodGroup", "scheduling.run.ai", {"v2alpha2"}, "podgroups", false},
	{"PodGroup", "scheduling.kai.nvidia.com", {"v2alpha2"}, "podgroups", false},
	{"PodGroup", "scheduling.k8s.io", {"v1beta1", "v1alpha2"}, "podgroups", false},
	{"Node", "", {"v1"}, "nodes", true},
	{"PodDisruptionBudget", "policy", {"v1"}, "poddisruptionbudgets", true},
	{"Service", "", {"v1"}, "services", false},
	{"ReplicationController", "", {"v1"}, "replicationcontrollers", false},
	{"Deployment", "apps", {"v1"}, "deployments", false},
	{"ReplicaSet", "apps", {"v1"}, "replicasets", false},
	{"StatefulSet", "apps", {"v1"}, "statefulsets", false},
	{"DaemonSet", "apps", {"v1"}, "daemonsets", false},
	{"Job", "batch", {"v1"}, "jobs", false},
	{"StorageClass", "storage.k8s.io", {"v1"}, "storageclasses", false},
	{"CSIDriver", "storage.k8s.io", {"v1"}, "csidrivers", false},
	{"CSINode", "storage.k8s.io", {"v1"}, "csinodes", false},
	{"CSIStorageCapacity", "storage.k8s.io", {"v1"}, "csistoragecapacities", false},
	{"VolumeAttachment", "storage.k8s.io", {"v1"}, "volumeattachments", false},
	{"PersistentVolume", "", {"v1"}, "persistentvolumes", false},
	{"PersistentVolumeClaim", "", {"v1"}, "persistentvolumeclaims", false},
	{"Pod", "", {"v1"}, "pods", true},
};
const uint32_t kube_kind_count = sizeof(kube_kinds) / sizeof(kube_kinds[0]);

const char *const kube_config_maps[] = {"yunikorn-defaults", "yunikorn-configs", "cede", NULL};

void kube_escape(struct text *out, const char *s)
{
	for (const unsigned char *p = (const unsigned char *)s; *p; p++) {
		bool is_plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
				*p == '-' || *p == '.' || *p == '_' || *p == '~';

		if (is_plain)
			text_add_char(out, (char)*p);
		else
			text_printf(out, "%%%02X", *p);
	}
}

void kube_path(struct text *out, const struct kube_kind *k, const char *version, const char *ns, const char *name)
{
	text_printf(out, *k->group ? "/apis/%s/%s" : "/api%s/%s", k->group, version);
	if (ns) {
		text_add(out, "/namespaces/");
		kube_escape(out, ns);
	}
	text_printf(out, "/%s", k->resource);
	if (name) {
		text_add_char(out, '/');
		kube_escape(out, name);
	}
}
