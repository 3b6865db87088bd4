/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.h - what readers of storage share: names of annotations, and the volumes of a pod. Inside manifest/ only.
 */
#pragma once

#include "manifest/object.h"

#define ANNOTATION_CLASS "volume.beta.kubernetes.io/storage-class"
#define ANNOTATION_BOUND "pv.kubernetes.io/bind-completed"
#define ANNOTATION_NODE "volume.kubernetes.io/selected-node"
#define ANNOTATION_MIGRATED "storage.alpha.kubernetes.io/migrated-plugins"

/*
 * spec.volumes of a pod, as far as filters look at them; NULL if there are none. Generic ephemeral ones are called
 * after it.
 */
enum err_code pod_volumes(const struct reader *r, const struct at *spec, const char *pod, struct pod_volumes **ret,
			  struct err *e);
/* The in-tree or CSI source of a volume; VOLUME_OTHER: none that matters. *ret: its map. */
enum volume_source volume_source_at(const struct at *volume, struct at *ret);
/*
 * What follows from the labels of a volume and its source: zones, how the driver calls it, and the affinity that holds
 * where a driver replaced its plugin. To be called when the rest of o is read.
 */
void pv_derive(const struct reader *r, const struct tree *labels, struct obj_pv *o);
