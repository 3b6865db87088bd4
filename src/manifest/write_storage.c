/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Volumes, claims, classes and what CSI drivers say. What was decided for claims (ledger_assume) is written as the
 * objects would say it once it was carried out: the volume names its claim, the claim its node.
 */
#include "manifest/write_storage.h"

#include "cluster/storage.h"
#include "manifest/storage.h"

static const struct storage *storage_of(const struct writer *w)
{
	return cluster_storage(w->c);
}

static void write_quantity(struct writer *w, const char *key, const struct quantity *q)
{
	text_reset(&w->t);
	quantity_text(q, &w->t);
	emit_str(w->e, key, text_str(&w->t));
}

static void write_modes(struct writer *w, uint8_t modes)
{
	struct write_part list = {.key = "accessModes", .is_list = true};

	for (unsigned m = ACCESS_RWO; m <= ACCESS_RWOP; m <<= 1)
		if (modes & m)
			emit_str(part_open(w, &list), NULL, access_mode_text((enum access_mode)m));
	part_end(w, &list);
}

/* ---- PersistentVolume ---- */

/* For whom it is: as the object says, or as was decided. */
static void write_claim_ref(struct writer *w, const struct obj_pv *o)
{
	const struct assumption *a = o->has_claim ? NULL : ledger_volume_assumed(w->l, o->name);
	const struct obj_pvc *claim = a ? storage_pvc(storage_of(w), a->ns, a->claim) : NULL;

	if (!o->has_claim && !a)
		return;
	emit_object(w->e, "claimRef");
	write_name(w, "namespace", a ? a->ns : o->claim_ns);
	write_name(w, "name", a ? a->claim : o->claim_name);
	write_name(w, "uid", !a ? o->claim_uid : claim ? claim->uid : NAME_NONE);
	emit_end(w->e);
}

static void write_source(struct writer *w, const struct obj_pv *o)
{
	if (o->source == VOLUME_OTHER)
		return;
	emit_object(w->e, volume_sources[o->source].field);
	if (o->source == VOLUME_CSI) {
		write_name(w, "driver", o->driver);
		write_name(w, "volumeHandle", o->handle);
	} else {
		write_name(w, volume_sources[o->source].id_field, o->source_id);
	}
	emit_end(w->e);
}

static void write_node_affinity(struct writer *w, const struct obj_pv *o)
{
	if (!o->has_affinity)
		return;
	emit_object(w->e, "nodeAffinity");
	emit_object(w->e, "required");
	emit_list(w->e, "nodeSelectorTerms");
	for (uint32_t i = 0; i < o->affinity.n; i++)
		write_node_term(w, NULL, &o->affinity.terms[i]);
	emit_end(w->e);
	emit_end(w->e);
	emit_end(w->e);
}

static void write_pv(struct writer *w, const void *obj)
{
	static const char *const phases[] = {[PV_PENDING] = "Pending",
					     [PV_AVAILABLE] = "Available",
					     [PV_BOUND] = "Bound",
					     [PV_RELEASED] = "Released",
					     [PV_FAILED] = "Failed"};
	const struct obj_pv *o = obj;

	object_begin(w, "v1", "PersistentVolume", "", str(w, o->name), str(w, o->uid));
	write_time(w, "deletionTimestamp", o->deleted_ns);
	write_labels(w, "labels", &labelset_get(w->v, o->labelset)->labels, NULL, 0);
	metadata_end(w);
	emit_object(w->e, "spec");
	emit_object(w->e, "capacity");
	write_quantity(w, "storage", &o->capacity);
	emit_end(w->e);
	write_modes(w, o->modes);
	write_text(w, "volumeMode", o->is_block ? "Block" : "");
	write_name(w, "storageClassName", o->class);
	write_name(w, "volumeAttributesClassName", o->attributes_class);
	write_claim_ref(w, o);
	write_source(w, o);
	write_node_affinity(w, o);
	emit_end(w->e);
	emit_object(w->e, "status");
	emit_str(w->e, "phase", phases[o->phase]);
	emit_end(w->e);
	object_end(w);
}

/* ---- PersistentVolumeClaim ---- */

/* The node where its volume is to be made: NULL, nobody says. */
static const char *selected_node(const struct writer *w, const struct obj_pvc *o)
{
	const struct assumption *a;

	if (o->has_selected_node)
		return str(w, o->selected_node);
	for (uint32_t i = 0; (a = ledger_claim_assumed(w->l, o->ns, o->name, i)); i++)
		if (!a->volume)
			return str(w, a->node);
	return NULL;
}

static void claim_metadata(struct writer *w, const struct obj_pvc *o)
{
	struct write_part annotations = {.key = "annotations"};
	const char *node = selected_node(w, o);

	write_time(w, "deletionTimestamp", o->deleted_ns);
	if (o->is_bind_completed)
		emit_str(part_open(w, &annotations), ANNOTATION_BOUND, "yes");
	if (node)
		emit_str(part_open(w, &annotations), ANNOTATION_NODE, node);
	part_end(w, &annotations);
	if (o->has_owner)
		write_controller(w, "Pod", NAME_NONE, o->owner_uid);
}

static void write_pvc(struct writer *w, const void *obj)
{
	const struct obj_pvc *o = obj;

	object_begin(w, "v1", "PersistentVolumeClaim", str(w, o->ns), str(w, o->name), str(w, o->uid));
	claim_metadata(w, o);
	metadata_end(w);
	emit_object(w->e, "spec");
	write_modes(w, o->modes);
	if (o->has_request) {
		emit_object(w->e, "resources");
		emit_object(w->e, "requests");
		write_quantity(w, "storage", &o->request);
		emit_end(w->e);
		emit_end(w->e);
	}
	write_text(w, "volumeMode", o->is_block ? "Block" : "");
	write_name(w, "storageClassName", o->class);
	write_name(w, "volumeAttributesClassName", o->attributes_class);
	write_name(w, "volumeName", o->volume_name);
	if (o->has_selector)
		write_selector(w, "selector", &o->selector);
	emit_end(w->e);
	emit_object(w->e, "status");
	emit_str(w->e, "phase", o->is_lost ? "Lost" : pvc_is_bound(o) ? "Bound" : "Pending");
	emit_end(w->e);
	object_end(w);
}

/* ---- StorageClass ---- */

static void write_topology(struct writer *w, const struct node_term *t)
{
	emit_object(w->e, NULL);
	emit_list(w->e, "matchLabelExpressions");
	for (uint32_t i = 0; i < t->n_exprs; i++) {
		emit_object(w->e, NULL);
		emit_str(w->e, "key", str(w, t->exprs[i].key));
		write_values(w, &t->exprs[i]);
		emit_end(w->e);
	}
	emit_end(w->e);
	emit_end(w->e);
}

static void write_storage_class(struct writer *w, const void *obj)
{
	const struct obj_storage_class *o = obj;
	struct write_part list = {.key = "allowedTopologies", .is_list = true};

	object_begin(w, "storage.k8s.io/v1", "StorageClass", "", str(w, o->name), "");
	metadata_end(w);
	write_name(w, "provisioner", o->provisioner);
	emit_str(w->e, "volumeBindingMode", o->waits ? "WaitForFirstConsumer" : "Immediate");
	for (uint32_t i = 0; i < o->topologies.n; i++) {
		part_open(w, &list);
		write_topology(w, &o->topologies.terms[i]);
	}
	part_end(w, &list);
	object_end(w);
}

/* ---- CSI ---- */

static void migrated(struct writer *w, const struct obj_csi_node *o)
{
	struct text t = {0};

	for (enum volume_source s = VOLUME_EBS; s < VOLUME_SOURCES; s++)
		if (o->migrated >> s & 1)
			text_printf(&t, "%s%s", t.n ? "," : "", volume_sources[s].plugin);
	if (t.n) {
		emit_object(w->e, "annotations");
		emit_str(w->e, ANNOTATION_MIGRATED, text_str(&t));
		emit_end(w->e);
	}
	text_free(&t);
}

static void write_csi_node(struct writer *w, const void *obj)
{
	const struct obj_csi_node *o = obj;

	object_begin(w, "storage.k8s.io/v1", "CSINode", "", str(w, o->name), "");
	migrated(w, o);
	metadata_end(w);
	emit_object(w->e, "spec");
	emit_list(w->e, "drivers");
	for (uint32_t i = 0; i < o->n_drivers; i++) {
		emit_object(w->e, NULL);
		emit_str(w->e, "name", str(w, o->drivers[i].driver));
		if (o->drivers[i].has_count) {
			emit_object(w->e, "allocatable");
			emit_int(w->e, "count", o->drivers[i].count);
			emit_end(w->e);
		}
		emit_end(w->e);
	}
	emit_end(w->e);
	emit_end(w->e);
	object_end(w);
}

static void write_csi_driver(struct writer *w, const void *obj)
{
	const struct obj_csi_driver *o = obj;

	object_begin(w, "storage.k8s.io/v1", "CSIDriver", "", str(w, o->name), "");
	metadata_end(w);
	emit_object(w->e, "spec");
	emit_bool(w->e, "storageCapacity", o->has_capacity);
	emit_end(w->e);
	object_end(w);
}

static void write_csi_capacity(struct writer *w, const void *obj)
{
	const struct obj_csi_capacity *o = obj;

	object_begin(w, "storage.k8s.io/v1", "CSIStorageCapacity", str(w, o->ns), str(w, o->name), "");
	metadata_end(w);
	write_name(w, "storageClassName", o->class);
	write_selector(w, "nodeTopology", &o->topology);
	if (o->has_capacity)
		write_quantity(w, "capacity", &o->capacity);
	if (o->has_maximum)
		write_quantity(w, "maximumVolumeSize", &o->maximum);
	object_end(w);
}

static void write_attachment(struct writer *w, const void *obj)
{
	const struct obj_attachment *o = obj;

	object_begin(w, "storage.k8s.io/v1", "VolumeAttachment", "", str(w, o->name), "");
	metadata_end(w);
	emit_object(w->e, "spec");
	write_name(w, "attacher", o->attacher);
	write_name(w, "nodeName", o->node);
	if (o->volume) {
		emit_object(w->e, "source");
		emit_str(w->e, "persistentVolumeName", str(w, o->volume));
		emit_end(w->e);
	}
	emit_end(w->e);
	object_end(w);
}

/* ---- all of them, by namespace and name ---- */

static const struct {
	bool has_namespace; /* the object begins with its namespace and its name; else with its name */
	void (*write)(struct writer *w, const void *obj);
} kinds[STORAGE_KINDS] = {
	[STORAGE_PV] = {false, write_pv},
	[STORAGE_PVC] = {true, write_pvc},
	[STORAGE_CLASS] = {false, write_storage_class},
	[STORAGE_CSI_NODE] = {false, write_csi_node},
	[STORAGE_CSI_DRIVER] = {false, write_csi_driver},
	[STORAGE_CSI_CAPACITY] = {true, write_csi_capacity},
	[STORAGE_ATTACHMENT] = {false, write_attachment},
};

void storage_list(const struct writer *w, uint32_t kind, sorted_list *list)
{
	const struct storage *s = storage_of(w);

	for (uint32_t i = 0; i < storage_limit(s, kind); i++) {
		const name_id *o = storage_at(s, kind, i);

		if (o && kinds[kind].has_namespace)
			array_push(list, ((struct sorted){o[0], o[1], i}));
		else if (o)
			array_push(list, ((struct sorted){NAME_NONE, o[0], i}));
	}
}

void storage_write(struct writer *w, uint32_t kind, uint32_t slot)
{
	kinds[kind].write(w, storage_at(storage_of(w), kind, slot));
}

/* ---- volumes of pods ---- */

static void pod_volume(struct writer *w, const struct pod_volumes *all, const struct pod_volume *v)
{
	const struct volume_source_info *info = &volume_sources[v->source];

	emit_object(w->e, NULL);
	write_name(w, "name", v->name);
	emit_object(w->e, info->field);
	if (info->id_field)
		write_name(w, info->id_field, v->id);
	if (v->source == VOLUME_RBD) {
		write_name(w, "pool", v->pool);
		write_strings(w, "monitors", all->monitors + v->first_monitor, v->n_monitors);
	}
	write_true(w, "readOnly", v->is_read_only);
	emit_end(w->e);
	emit_end(w->e);
}

/* Of resource claims only that there are some is known. */
void write_pod_volumes(struct writer *w, const struct pod_volumes *v, bool has_claims)
{
	bool has_one = false;

	if (v)
		emit_list(w->e, "volumes");
	for (uint32_t i = 0; v && i < v->n; i++) {
		has_one |= pod_volume_is_claim(&v->v[i]);
		pod_volume(w, v, &v->v[i]);
	}
	if (v)
		emit_end(w->e);
	if (!has_claims || has_one)
		return;
	emit_list(w->e, "resourceClaims");
	emit_object(w->e, NULL);
	emit_str(w->e, "name", "claim");
	emit_end(w->e);
	emit_end(w->e);
}
