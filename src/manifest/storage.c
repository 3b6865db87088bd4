/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes, claims, storage classes, and what CSI drivers say of nodes. */
#include "manifest/storage.h"

/* ---- fields of several kinds ---- */

static enum err_code get_storage(const struct reader *r, const struct at *amounts, struct quantity *ret, bool *ret_has,
				 struct err *e)
{
	struct at a = at_field(amounts, "storage");

	TRY(at_want(r, amounts, TREE_MAP, e));
	if (!a.t)
		return ERR_OK;
	TRY(at_quantity(r, &a, ret, e));
	if (ret->nano < 0)
		return at_expected(r, &a, e, "an amount that is not negative");
	*ret_has = true;
	return ERR_OK;
}

static enum err_code get_modes(const struct reader *r, const struct at *spec, uint8_t *ret, struct err *e)
{
	struct at list = at_field(spec, "accessModes");

	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at a = at_item(&list, i);
		enum access_mode m = a.t->kind == TREE_STRING ? access_mode_parse(a.t->text) : 0;

		if (!m)
			return at_expected(r, &a, e, "ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod");
		*ret |= (uint8_t)m;
	}
	return ERR_OK;
}

static enum err_code get_block(const struct reader *r, const struct at *spec, bool *ret, struct err *e)
{
	struct at a = at_field(spec, "volumeMode");
	const char *text = "";

	TRY(get_text(r, spec, "volumeMode", &text, e));
	*ret = str_eq(text, "Block");
	if (*text && !*ret && !str_eq(text, "Filesystem"))
		return at_expected(r, &a, e, "Filesystem or Block");
	return ERR_OK;
}

/* The old annotation comes first, even if it is empty. */
static enum err_code get_class(const struct reader *r, const struct at *meta, const struct at *spec, name_id *ret,
			       struct err *e)
{
	struct at annotations = at_field(meta, "annotations");
	const char *old;

	TRY(at_want(r, &annotations, TREE_MAP, e));
	old = map_text(annotations.t, ANNOTATION_CLASS);
	if (!old)
		return get_name(r, spec, "storageClassName", ret, e);
	*ret = names_hold_str(r->names, old);
	return ERR_OK;
}

/* 0 if it is not there. */
static enum err_code get_word(const struct reader *r, const struct at *up, const char *key, const char *const *words,
			      const char *expected, int *ret, struct err *e)
{
	struct at a = at_field(up, key);
	const char *text = "";

	TRY(get_text(r, up, key, &text, e));
	*ret = *text ? words_find(words, text) : 0;
	return *ret >= 0 ? ERR_OK : at_expected(r, &a, e, expected);
}

/* ---- PersistentVolume ---- */

static enum err_code claim_ref(const struct reader *r, const struct at *spec, struct obj_pv *o, struct err *e)
{
	struct at ref = at_field(spec, "claimRef");

	TRY(at_want(r, &ref, TREE_MAP, e));
	o->has_claim = ref.t != NULL;
	TRY(get_name(r, &ref, "namespace", &o->claim_ns, e));
	TRY(get_name(r, &ref, "name", &o->claim_name, e));
	return get_name(r, &ref, "uid", &o->claim_uid, e);
}

static enum err_code pv_affinity(const struct reader *r, const struct at *spec, struct obj_pv *o, struct err *e)
{
	struct at affinity = at_field(spec, "nodeAffinity"), required = at_field(&affinity, "required"),
		  list = at_field(&required, "nodeSelectorTerms");
	struct node_term *terms = arena_n(o->arena, at_count(&list) + 1, struct node_term);

	TRY(at_want(r, &affinity, TREE_MAP, e));
	TRY(at_want(r, &required, TREE_MAP, e));
	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at t = at_item(&list, i);

		TRY(at_node_term(r, &t, o->arena, &o->bag, &terms[i], e));
	}
	o->has_affinity = required.t != NULL;
	o->affinity = (struct node_terms){at_count(&list), terms};
	return ERR_OK;
}

static enum err_code pv_source(const struct reader *r, const struct at *spec, struct obj_pv *o, struct err *e)
{
	struct at source;

	o->source = volume_source_at(spec, &source);
	if (o->source != VOLUME_CSI && o->source < VOLUME_EBS) {
		o->source = VOLUME_OTHER;
		return ERR_OK;
	}
	TRY(at_want(r, &source, TREE_MAP, e));
	if (o->source != VOLUME_CSI)
		return get_name(r, &source, volume_sources[o->source].id_field, &o->source_id, e);
	TRY(get_name(r, &source, "driver", &o->driver, e));
	return get_name(r, &source, "volumeHandle", &o->handle, e);
}

static enum err_code read_pv(struct reader *r, const struct tree *t, struct obj_pv *o, struct err *e)
{
	static const char *const phases[] = {"Pending", "Available", "Bound", "Released", "Failed", NULL};
	struct at root = at_root(t), meta = at_field(&root, "metadata"), spec = at_field(&root, "spec"),
		  status = at_field(&root, "status"), capacity = at_field(&spec, "capacity"),
		  labels = at_field(&meta, "labels");
	const char *ns, *name;
	bool has_capacity = false;
	int phase;

	TRY(get_identity(r, &root, "PersistentVolume", NULL, &ns, &name, e));
	o->name = names_hold_str(r->names, name);
	TRY(get_name(r, &meta, "uid", &o->uid, e));
	TRY(get_name(r, &meta, "resourceVersion", &o->resource_version, e));
	TRY(get_labelset(r, &meta, "", &o->labelset, e));
	TRY(get_time(r, &meta, "deletionTimestamp", &o->deleted_ns, e));
	TRY(at_want(r, &spec, TREE_MAP, e));
	TRY(at_want(r, &status, TREE_MAP, e));
	o->arena = arena_new(512);
	TRY(get_storage(r, &capacity, &o->capacity, &has_capacity, e));
	TRY(get_modes(r, &spec, &o->modes, e));
	TRY(get_block(r, &spec, &o->is_block, e));
	TRY(get_class(r, &meta, &spec, &o->class, e));
	TRY(get_name(r, &spec, "volumeAttributesClassName", &o->attributes_class, e));
	TRY(claim_ref(r, &spec, o, e));
	TRY(pv_source(r, &spec, o, e));
	TRY(pv_affinity(r, &spec, o, e));
	TRY(get_word(r, &status, "phase", phases, "Pending, Available, Bound, Released or Failed", &phase, e));
	o->phase = (enum pv_phase)phase;
	pv_derive(r, labels.t, o);
	return ERR_OK;
}

/* ---- PersistentVolumeClaim ---- */

static enum err_code claim_annotations(const struct reader *r, const struct at *meta, struct obj_pvc *o, struct err *e)
{
	struct at annotations = at_field(meta, "annotations");
	const char *node;

	TRY(at_want(r, &annotations, TREE_MAP, e));
	o->is_bind_completed = tree_get(annotations.t, ANNOTATION_BOUND) != NULL;
	node = map_text(annotations.t, ANNOTATION_NODE);
	o->has_selected_node = node != NULL;
	o->selected_node = names_hold_str(r->names, node);
	return ERR_OK;
}

static enum err_code claim_spec(const struct reader *r, const struct at *spec, struct obj_pvc *o, struct err *e)
{
	struct at resources = at_field(spec, "resources"), requests = at_field(&resources, "requests"),
		  selector = at_field(spec, "selector");

	TRY(at_want(r, spec, TREE_MAP, e));
	TRY(at_want(r, &resources, TREE_MAP, e));
	TRY(get_storage(r, &requests, &o->request, &o->has_request, e));
	TRY(get_modes(r, spec, &o->modes, e));
	TRY(get_block(r, spec, &o->is_block, e));
	TRY(get_name(r, spec, "volumeName", &o->volume_name, e));
	TRY(get_name(r, spec, "volumeAttributesClassName", &o->attributes_class, e));
	o->has_selector = selector.t != NULL;
	if (!selector.t)
		return ERR_OK;
	o->arena = arena_new(256);
	return at_label_selector(r, &selector, o->arena, &o->bag, &o->selector, e);
}

static enum err_code read_pvc(struct reader *r, const struct tree *t, struct obj_pvc *o, struct err *e)
{
	static const char *const phases[] = {"Pending", "Bound", "Lost", NULL};
	struct at root = at_root(t), meta = at_field(&root, "metadata"), spec = at_field(&root, "spec"),
		  status = at_field(&root, "status");
	struct controller_ref owner;
	const char *ns, *name;
	int phase;

	TRY(get_identity(r, &root, "PersistentVolumeClaim", "default", &ns, &name, e));
	o->ns = names_hold_str(r->names, ns);
	o->name = names_hold_str(r->names, name);
	TRY(get_name(r, &meta, "uid", &o->uid, e));
	TRY(get_name(r, &meta, "resourceVersion", &o->resource_version, e));
	TRY(get_time(r, &meta, "deletionTimestamp", &o->deleted_ns, e));
	TRY(get_controller(r, &meta, &owner, e));
	o->has_owner = *owner.kind || *owner.name || *owner.uid;
	o->owner_uid = uid_hold(r->names, owner.uid, strlen(owner.uid));
	TRY(claim_annotations(r, &meta, o, e));
	TRY(get_class(r, &meta, &spec, &o->class, e));
	TRY(claim_spec(r, &spec, o, e));
	TRY(at_want(r, &status, TREE_MAP, e));
	TRY(get_word(r, &status, "phase", phases, "Pending, Bound or Lost", &phase, e));
	o->is_lost = phase == 2;
	return ERR_OK;
}

/* ---- StorageClass ---- */

/* A term of allowedTopologies is one of node affinity: each key has one of its values. */
static enum err_code topology(const struct reader *r, const struct at *a, struct obj_storage_class *o,
			      struct node_term *ret, struct err *e)
{
	struct at list = at_field(a, "matchLabelExpressions");
	struct requirement *exprs = arena_n(o->arena, at_count(&list) + 1, struct requirement);

	TRY(at_want(r, a, TREE_MAP, e));
	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at x = at_item(&list, i), values = at_field(&x, "values");
		const char *key = "", **v = arena_n(r->scratch, at_count(&values) + 1, const char *);
		size_t *lens = arena_n(r->scratch, at_count(&values) + 1, size_t);
		struct err why;

		TRY(get_text(r, &x, "key", &key, e));
		TRY(at_want(r, &values, TREE_LIST, e));
		for (uint32_t k = 0; k < at_count(&values); k++) {
			struct at s = at_item(&values, k);

			if (s.t->kind != TREE_STRING)
				return at_expected(r, &s, e, "a string");
			v[k] = s.t->text;
			lens[k] = s.t->n;
		}
		if (requirement_make(o->arena, &o->bag, key, strlen(key), SEL_IN, v, lens, at_count(&values), &exprs[i],
				     &why))
			return at_fail(r, &x, e, "%s", why.msg);
	}
	*ret = (struct node_term){.n_exprs = at_count(&list), .exprs = exprs};
	return ERR_OK;
}

static enum err_code read_storage_class(struct reader *r, const struct tree *t, struct obj_storage_class *o,
					struct err *e)
{
	static const char *const modes[] = {"Immediate", "WaitForFirstConsumer", NULL};
	struct at root = at_root(t), list = at_field(&root, "allowedTopologies");
	struct node_term *terms;
	const char *ns, *name;
	enum volume_source source;
	int mode;

	TRY(get_identity(r, &root, "StorageClass", NULL, &ns, &name, e));
	o->name = names_hold_str(r->names, name);
	TRY(get_name(r, &root, "provisioner", &o->provisioner, e));
	source = volume_source_of_plugin(name_str(r->names, o->provisioner));
	o->driver = names_hold_str(r->names, source != VOLUME_OTHER ? volume_sources[source].driver
								    : name_str(r->names, o->provisioner));
	TRY(get_word(r, &root, "volumeBindingMode", modes, "Immediate or WaitForFirstConsumer", &mode, e));
	o->waits = mode == 1;
	TRY(at_want(r, &list, TREE_LIST, e));
	o->arena = arena_new(256);
	terms = arena_n(o->arena, at_count(&list) + 1, struct node_term);
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at a = at_item(&list, i);

		TRY(topology(r, &a, o, &terms[i], e));
	}
	o->topologies = (struct node_terms){at_count(&list), terms};
	return ERR_OK;
}

/* ---- CSINode, CSIDriver ---- */

static uint32_t migrated_plugins(const char *list)
{
	uint32_t bits = 0;

	for (size_t n; list && *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		for (enum volume_source s = VOLUME_EBS; s < VOLUME_SOURCES; s++)
			if (strlen(volume_sources[s].plugin) == n && !strncmp(volume_sources[s].plugin, list, n))
				bits |= 1u << s;
	}
	return bits;
}

static enum err_code csi_driver_of_node(const struct reader *r, const struct at *a, struct obj_csi_node *o,
					struct err *e)
{
	struct csi_limit *l = &o->drivers[o->n_drivers];
	struct at allocatable = at_field(a, "allocatable"), count = at_field(&allocatable, "count");
	const char *name = "";
	int64_t n = 0;

	TRY(at_want(r, a, TREE_MAP, e));
	TRY(get_text(r, a, "name", &name, e));
	TRY(at_want(r, &allocatable, TREE_MAP, e));
	TRY(get_int(r, &allocatable, "count", 0, INT32_MAX, &n, e));
	*l = (struct csi_limit){name_bag_add_str(&o->bag, name), count.t != NULL, (int32_t)n};
	o->n_drivers++;
	return ERR_OK;
}

static enum err_code read_csi_node(struct reader *r, const struct tree *t, struct obj_csi_node *o, struct err *e)
{
	struct at root = at_root(t), meta = at_field(&root, "metadata"), annotations = at_field(&meta, "annotations"),
		  spec = at_field(&root, "spec"), list = at_field(&spec, "drivers");
	const char *ns, *name;

	TRY(get_identity(r, &root, "CSINode", NULL, &ns, &name, e));
	o->name = names_hold_str(r->names, name);
	TRY(at_want(r, &annotations, TREE_MAP, e));
	o->migrated = migrated_plugins(map_text(annotations.t, ANNOTATION_MIGRATED));
	TRY(at_want(r, &spec, TREE_MAP, e));
	TRY(at_want(r, &list, TREE_LIST, e));
	o->drivers = mem_alloc((at_count(&list) + 1) * sizeof(*o->drivers));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at a = at_item(&list, i);

		TRY(csi_driver_of_node(r, &a, o, e));
	}
	return ERR_OK;
}

static enum err_code read_csi_driver(struct reader *r, const struct tree *t, struct obj_csi_driver *o, struct err *e)
{
	struct at root = at_root(t), spec = at_field(&root, "spec");
	const char *ns, *name;

	TRY(get_identity(r, &root, "CSIDriver", NULL, &ns, &name, e));
	o->name = names_hold_str(r->names, name);
	TRY(at_want(r, &spec, TREE_MAP, e));
	return get_bool(r, &spec, "storageCapacity", &o->has_capacity, e);
}

/* ---- CSIStorageCapacity, VolumeAttachment ---- */

static enum err_code get_size(const struct reader *r, const struct at *up, const char *key, struct quantity *ret,
			      bool *ret_has, struct err *e)
{
	struct at a = at_field(up, key);

	*ret_has = a.t != NULL;
	return a.t ? at_quantity(r, &a, ret, e) : ERR_OK;
}

static enum err_code read_csi_capacity(struct reader *r, const struct tree *t, struct obj_csi_capacity *o,
				       struct err *e)
{
	struct at root = at_root(t), topology_at = at_field(&root, "nodeTopology");
	const char *ns, *name;

	TRY(get_identity(r, &root, "CSIStorageCapacity", "default", &ns, &name, e));
	o->ns = names_hold_str(r->names, ns);
	o->name = names_hold_str(r->names, name);
	TRY(get_name(r, &root, "storageClassName", &o->class, e));
	TRY(get_size(r, &root, "capacity", &o->capacity, &o->has_capacity, e));
	TRY(get_size(r, &root, "maximumVolumeSize", &o->maximum, &o->has_maximum, e));
	o->arena = arena_new(256);
	return at_label_selector(r, &topology_at, o->arena, &o->bag, &o->topology, e);
}

static enum err_code read_attachment(struct reader *r, const struct tree *t, struct obj_attachment *o, struct err *e)
{
	struct at root = at_root(t), spec = at_field(&root, "spec"), source = at_field(&spec, "source");
	const char *ns, *name;

	TRY(get_identity(r, &root, "VolumeAttachment", NULL, &ns, &name, e));
	o->name = names_hold_str(r->names, name);
	TRY(at_want(r, &spec, TREE_MAP, e));
	TRY(at_want(r, &source, TREE_MAP, e));
	TRY(get_name(r, &spec, "attacher", &o->attacher, e));
	TRY(get_name(r, &spec, "nodeName", &o->node, e));
	return get_name(r, &source, "persistentVolumeName", &o->volume, e);
}

/* ---- one object each ---- */

#define DEFINE_READER(stem, ...)                                                                              \
	enum err_code manifest_##stem(struct vocab *v, const struct object_source *src, const struct tree *t, \
				      struct obj_##stem *ret, struct err *e)                                  \
	{                                                                                                     \
		struct reader r = object_reader(v, src);                                                      \
		enum err_code rc;                                                                             \
                                                                                                              \
		*ret = (struct obj_##stem){__VA_ARGS__};                                                      \
		rc = read_##stem(&r, t, ret, e);                                                              \
		if (rc)                                                                                       \
			obj_##stem##_drop(v, ret);                                                            \
		object_reader_end(&r);                                                                        \
		return rc;                                                                                    \
	}

DEFINE_READER(pv, .labelset = LABELSET_NONE, .deleted_ns = TIME_NONE, .bag = name_bag_of(vocab_names(v)))
DEFINE_READER(pvc, .deleted_ns = TIME_NONE, .bag = name_bag_of(vocab_names(v)))
DEFINE_READER(storage_class, .bag = name_bag_of(vocab_names(v)))
DEFINE_READER(csi_node, .bag = name_bag_of(vocab_names(v)))
DEFINE_READER(csi_driver, .name = NAME_NONE)
DEFINE_READER(csi_capacity, .bag = name_bag_of(vocab_names(v)))
DEFINE_READER(attachment, .name = NAME_NONE)
