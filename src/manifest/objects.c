/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, namespaces, priority classes, disruption budgets and the controllers that own pods. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "manifest/object.h"

struct reader object_reader(struct vocab *v, const struct object_source *src)
{
	return (struct reader){.vocab = v,
			       .names = vocab_names(v),
			       .scratch = src->scratch ? src->scratch : arena_new(4096),
			       .owns_scratch = !src->scratch,
			       .file = src->name,
			       .notes = src->notes,
			       .shapes = src->shapes,
			       .is_lenient = src->is_lenient};
}

void object_reader_end(struct reader *r)
{
	if (r->owns_scratch)
		arena_free(r->scratch);
	else
		arena_reset(r->scratch);
}

/* ---- Node ---- */

static enum err_code taints(const struct reader *r, const struct at *spec, struct obj_node *o, struct err *e)
{
	struct at list = at_field(spec, "taints");

	TRY(at_want(r, &list, TREE_LIST, e));
	o->taints = mem_alloc((at_count(&list) + 1) * sizeof(*o->taints));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at t = at_item(&list, i), f = at_field(&t, "effect");
		const char *key = "", *value = "", *effect = "";

		TRY(get_text(r, &t, "key", &key, e));
		TRY(get_text(r, &t, "value", &value, e));
		TRY(get_text(r, &t, "effect", &effect, e));
		if (!taint_effect_parse(effect, &o->taints[i].effect) || (!*effect && !r->is_lenient))
			return at_expected(r, &f, e, "NoSchedule, PreferNoSchedule or NoExecute");
		o->taints[i].key = name_bag_add_str(&o->bag, key);
		o->taints[i].value = name_bag_add_str(&o->bag, value);
		o->n_taints++;
	}
	return ERR_OK;
}

static enum err_code image(const struct reader *r, const struct at *a, struct obj_node *o, uint32_t *cap, struct err *e)
{
	struct at names = at_field(a, "names");
	int64_t bytes = 0;

	TRY(get_int(r, a, "sizeBytes", 0, INT64_MAX, &bytes, e));
	TRY(at_want(r, &names, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&names); i++) {
		struct at n = at_item(&names, i);

		if (n.t->kind != TREE_STRING)
			return at_expected(r, &n, e, "a string");
		if (o->n_images == *cap) {
			*cap = array_next_cap(*cap, *cap + 1);
			o->images = mem_resize(o->images, *cap, sizeof(*o->images));
		}
		o->images[o->n_images++] = (struct obj_image){name_bag_add(&o->bag, n.t->text, n.t->n), bytes};
	}
	return ERR_OK;
}

static enum err_code images(const struct reader *r, const struct at *status, struct obj_node *o, struct err *e)
{
	struct at list = at_field(status, "images");
	uint32_t cap = 0;

	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at a = at_item(&list, i);

		TRY(image(r, &a, o, &cap, e));
	}
	return ERR_OK;
}

/* Ready must be True if it is reported at all; a pressure must not be anything but False. */
static enum err_code node_conditions(const struct reader *r, const struct at *status, struct obj_node *o, struct err *e)
{
	struct at list = at_field(status, "conditions");

	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at c = at_item(&list, i);
		const char *type = "", *value = "";

		TRY(get_text(r, &c, "type", &type, e));
		TRY(get_text(r, &c, "status", &value, e));
		if (str_eq(type, "Ready") && !str_eq(value, "True"))
			o->is_not_ready = true;
		if ((strstr(type, "Pressure") || str_eq(type, "NetworkUnavailable")) && !str_eq(value, "False"))
			o->is_not_ready = true;
	}
	return ERR_OK;
}

static enum err_code read_node(struct reader *r, const struct tree *t, struct obj_node *o, struct err *e)
{
	struct at root = at_root(t), meta = at_field(&root, "metadata"), spec = at_field(&root, "spec"),
		  status = at_field(&root, "status"), allocatable = at_field(&status, "allocatable"),
		  capacity = at_field(&status, "capacity");
	const char *ns, *name;

	TRY(get_identity(r, &root, "Node", NULL, &ns, &name, e));
	TRY(at_want(r, &spec, TREE_MAP, e));
	TRY(at_want(r, &status, TREE_MAP, e));
	o->name = names_hold_str(r->names, name);
	TRY(get_name(r, &meta, "uid", &o->uid, e));
	TRY(get_labelset(r, &meta, "", &o->labelset, e));
	TRY(get_bool(r, &spec, "unschedulable", &o->is_unschedulable, e));
	TRY(taints(r, &spec, o, e));
	if (!allocatable.t && !capacity.t)
		at_note(r, &allocatable, "not there; nothing fits on this node");
	TRY(at_resources(r, allocatable.t ? &allocatable : &capacity, &o->allocatable, e));
	TRY(node_conditions(r, &status, o, e));
	return images(r, &status, o, e);
}

enum err_code manifest_node(struct vocab *v, const struct object_source *src, const struct tree *t,
			    struct obj_node *ret, struct err *e)
{
	struct reader r = object_reader(v, src);
	enum err_code rc;

	*ret = (struct obj_node){.labelset = LABELSET_NONE, .bag = name_bag_of(vocab_names(v))};
	rc = read_node(&r, t, ret, e);
	if (rc)
		obj_node_drop(v, ret);
	object_reader_end(&r);
	return rc;
}

/* ---- Namespace ---- */

/*
 * A JSON map of quantities inside an annotation: {"cpu": "10", "memory": "20Gi"}. Broken ones are noted and left out.
 */
static bool annotated_resources(const struct reader *r, const struct at *annotations, const char *key,
				struct res_vec *ret)
{
	struct at a = at_field(annotations, key);
	const char *json = map_text(annotations->t, key);
	struct tree_reader *reader;
	struct tree_doc doc = {0};
	struct err why;
	bool is_good;

	if (!json)
		return false;
	reader = tree_reader_new(key, json, strlen(json));
	is_good = !tree_next(reader, r->scratch, &doc, &why);
	if (is_good) {
		struct reader inner = *r;
		struct at root = at_root(doc.root);

		inner.file = key;
		is_good = doc.root && !at_resources(&inner, &root, ret, &why);
	}
	tree_reader_free(reader);
	if (!is_good) {
		*ret = (struct res_vec){0};
		at_note(r, &a, "not a map of quantities; it is ignored");
	}
	return is_good;
}

/* Bad hours are noted and protect nobody. */
static void read_protected_hours(const struct reader *r, const struct at *annotations, struct week_hours *ret)
{
	struct at a = at_field(annotations, PROTECTED_HOURS_KEY);
	const char *text = map_text(annotations->t, PROTECTED_HOURS_KEY);
	struct err why;

	if (a.t && (!text || week_hours_parse(text, strlen(text), ret, &why)))
		at_note(r, &a, "%s; they are ignored", text ? why.msg : "expected hours such as Mon-Fri 09:00-17:00 Z");
}

static enum err_code read_namespace(struct reader *r, const struct tree *t, struct obj_namespace *o, struct err *e)
{
	struct at root = at_root(t), meta = at_field(&root, "metadata"), annotations = at_field(&meta, "annotations");
	const char *ns, *name, *apps;

	TRY(get_identity(r, &root, "Namespace", NULL, &ns, &name, e));
	o->name = names_hold_str(r->names, name);
	TRY(get_labelset(r, &meta, "", &o->labelset, e));
	TRY(at_want(r, &annotations, TREE_MAP, e));
	o->parent_queue = names_hold_str(r->names, map_text(annotations.t, "yunikorn.apache.org/parentqueue"));
	o->has_quota = annotated_resources(r, &annotations, "yunikorn.apache.org/namespace.quota", &o->quota);
	o->has_guaranteed =
		annotated_resources(r, &annotations, "yunikorn.apache.org/namespace.guaranteed", &o->guaranteed);
	apps = map_text(annotations.t, "yunikorn.apache.org/namespace.maxApps");
	if (apps)
		o->max_apps = strtoull(apps, NULL, 10);
	read_protected_hours(r, &annotations, &o->protected_hours);
	return ERR_OK;
}

enum err_code manifest_namespace(struct vocab *v, const struct object_source *src, const struct tree *t,
				 struct obj_namespace *ret, struct err *e)
{
	struct reader r = object_reader(v, src);
	enum err_code rc;

	*ret = (struct obj_namespace){.labelset = LABELSET_NONE};
	rc = read_namespace(&r, t, ret, e);
	if (rc)
		obj_namespace_drop(v, ret);
	object_reader_end(&r);
	return rc;
}

/* ---- PriorityClass ---- */

static enum err_code read_class(struct reader *r, const struct tree *t, struct obj_class *o, struct err *e)
{
	struct at root = at_root(t), meta = at_field(&root, "metadata"), annotations = at_field(&meta, "annotations"),
		  policy = at_field(&root, "preemptionPolicy");
	const char *ns, *name, *text = "";

	TRY(get_identity(r, &root, "PriorityClass", NULL, &ns, &name, e));
	o->name = names_hold_str(r->names, name);
	TRY(get_int32(r, &root, "value", &o->value, e));
	TRY(get_bool(r, &root, "globalDefault", &o->is_default, e));
	TRY(get_text(r, &root, "preemptionPolicy", &text, e));
	o->never_preempts = str_eq(text, "Never");
	if (*text && !o->never_preempts && !str_eq(text, "PreemptLowerPriority"))
		return at_expected(r, &policy, e, "PreemptLowerPriority or Never");
	TRY(at_want(r, &annotations, TREE_MAP, e));
	o->allows_preemption = allow_preemption(map_text(annotations.t, "yunikorn.apache.org/allow-preemption"));
	return ERR_OK;
}

enum err_code manifest_class(struct vocab *v, const struct object_source *src, const struct tree *t,
			     struct obj_class *ret, struct err *e)
{
	struct reader r = object_reader(v, src);
	enum err_code rc;

	*ret = (struct obj_class){0};
	rc = read_class(&r, t, ret, e);
	if (rc)
		obj_class_drop(v, ret);
	object_reader_end(&r);
	return rc;
}

/* ---- PodDisruptionBudget ---- */

static enum err_code disrupted(const struct reader *r, const struct at *status, struct obj_pdb *o, struct err *e)
{
	struct at map = at_field(status, "disruptedPods");

	TRY(at_want(r, &map, TREE_MAP, e));
	if (!map.t)
		return ERR_OK;
	o->disrupted = mem_alloc((map.t->n + 1) * sizeof(*o->disrupted));
	for (uint32_t i = 0; i < map.t->n; i++)
		o->disrupted[o->n_disrupted++] = name_bag_add(&o->bag, map.t->fields[i].key, map.t->fields[i].key_len);
	return ERR_OK;
}

/* "50%", as a text; or a number that is not negative. */
static enum err_code get_share(const struct reader *r, const struct at *spec, const char *key, unsigned kind,
			       struct obj_pdb *o, struct err *e)
{
	struct at a = at_field(spec, key);
	size_t digits;
	long n;

	if (!a.t || r->is_lenient)
		return ERR_OK;
	if (a.t->kind != TREE_STRING && a.t->kind != TREE_NUMBER)
		return at_expected(r, &a, e, "a whole number or a percentage such as 50%");
	digits = strspn(a.t->text, "0123456789");
	if (!digits || !str_eq(a.t->text + digits, a.t->kind == TREE_STRING ? "%" : ""))
		return at_expected(r, &a, e, "a whole number or a percentage such as 50%");
	errno = 0;
	n = strtol(a.t->text, NULL, 10);
	o->limit_kind = kind;
	o->is_percent = a.t->kind == TREE_STRING;
	o->limit = errno || n > INT32_MAX ? INT32_MAX : (int32_t)n;
	return ERR_OK;
}

static enum err_code read_pdb(struct reader *r, const struct tree *t, struct obj_pdb *o, struct err *e)
{
	struct at root = at_root(t), spec = at_field(&root, "spec"), status = at_field(&root, "status"),
		  selector = at_field(&spec, "selector"), allowed = at_field(&status, "disruptionsAllowed");
	const char *ns, *name;

	TRY(get_identity(r, &root, "PodDisruptionBudget", "default", &ns, &name, e));
	o->ns = names_hold_str(r->names, ns);
	o->name = names_hold_str(r->names, name);
	TRY(at_want(r, &spec, TREE_MAP, e));
	TRY(at_want(r, &status, TREE_MAP, e));
	o->arena = arena_new(256);
	TRY(at_label_selector(r, &selector, o->arena, &o->bag, &o->selector, e));
	TRY(get_int32(r, &status, "disruptionsAllowed", &o->allowed, e));
	if (o->allowed < 0 && !r->is_lenient)
		at_note(r, &allowed, "%d is less than none, and counts as none", o->allowed);
	TRY(get_share(r, &spec, "minAvailable", PDB_MIN_AVAILABLE, o, e));
	TRY(get_share(r, &spec, "maxUnavailable", PDB_MAX_UNAVAILABLE, o, e));
	o->has_status = allowed.t || r->is_lenient;
	return disrupted(r, &status, o, e);
}

enum err_code manifest_pdb(struct vocab *v, const struct object_source *src, const struct tree *t, struct obj_pdb *ret,
			   struct err *e)
{
	struct reader r = object_reader(v, src);
	enum err_code rc;

	*ret = (struct obj_pdb){.bag = name_bag_of(vocab_names(v)), .selector.matches_nothing = true};
	rc = read_pdb(&r, t, ret, e);
	if (rc)
		obj_pdb_drop(v, ret);
	object_reader_end(&r);
	return rc;
}

/* ---- controllers and services ---- */

/* Services and replication controllers have plain maps, the others label selectors. */
static enum err_code owner_selector(const struct reader *r, const struct at *spec, struct obj_owner *o, struct err *e)
{
	struct at selector = at_field(spec, "selector");
	bool is_plain = o->is_service || o->kind == OWNER_RC;
	struct tree_field field = {.key = "matchLabels", .key_len = 11, .value = selector.t};
	struct tree wrapped = {.kind = TREE_MAP, .n = 1, .fields = &field};
	struct at plain = {.up = spec, .t = &wrapped, .key = "selector"};

	o->has_selector = selector.t && (!is_plain || selector.t->n);
	if (!o->has_selector) {
		o->selector.matches_nothing = true;
		return ERR_OK;
	}
	wrapped.line = selector.t->line;
	wrapped.col = selector.t->col;
	o->arena = arena_new(256);
	return at_label_selector(r, is_plain ? &plain : &selector, o->arena, &o->bag, &o->selector, e);
}

static enum err_code read_owner(struct reader *r, const struct tree *t, struct obj_owner *o, struct err *e)
{
	struct at root = at_root(t), meta = at_field(&root, "metadata"), spec = at_field(&root, "spec");
	struct controller_ref parent;
	const char *kind = "", *ns, *name;

	TRY(get_text(r, &root, "kind", &kind, e));
	o->kind = owner_kind_parse(kind);
	o->is_service = str_eq(kind, "Service");
	o->kind_name = names_hold_str(r->names, kind);
	TRY(get_identity(r, &root, *kind ? kind : "object", "default", &ns, &name, e));
	TRY(at_want(r, &spec, TREE_MAP, e));
	o->name = names_hold_str(r->names, name);
	TRY(get_name(r, &meta, "uid", &o->uid, e));
	TRY(get_labelset(r, &meta, ns, &o->labelset, e));
	TRY(get_controller(r, &meta, &parent, e));
	o->parent_kind = names_hold_str(r->names, parent.kind);
	o->parent_name = names_hold_str(r->names, parent.name);
	o->parent_uid = names_hold_str(r->names, parent.uid);
	TRY(get_int32(r, &spec, "replicas", &o->replicas, e));
	return owner_selector(r, &spec, o, e);
}

enum err_code manifest_owner(struct vocab *v, const struct object_source *src, const struct tree *t,
			     struct obj_owner *ret, struct err *e)
{
	struct reader r = object_reader(v, src);
	enum err_code rc;

	*ret = (struct obj_owner){.labelset = LABELSET_NONE, .bag = name_bag_of(vocab_names(v)), .replicas = -1};
	rc = read_owner(&r, t, ret, e);
	if (rc)
		obj_owner_drop(v, ret);
	object_reader_end(&r);
	return rc;
}
