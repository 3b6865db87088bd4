/* SPDX-License-Identifier: Apache-2.0 */
/* The volumes of a pod: claims, generic ephemeral volumes, disks that pods name themselves. */
#include "manifest/storage.h"

struct draft {
	ARRAY(struct pod_volume) v;
	ARRAY(name_id) monitors;
	struct name_bag bag;
};

enum volume_source volume_source_at(const struct at *volume, struct at *ret)
{
	for (enum volume_source s = VOLUME_CLAIM; s < VOLUME_SOURCES; s++) {
		*ret = at_field(volume, volume_sources[s].field);
		if (ret->t)
			return s;
	}
	return VOLUME_OTHER;
}

static enum err_code monitors(const struct reader *r, const struct at *rbd, struct draft *d, struct pod_volume *v,
			      struct err *e)
{
	struct at list = at_field(rbd, "monitors");

	TRY(at_want(r, &list, TREE_LIST, e));
	v->first_monitor = d->monitors.n;
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at m = at_item(&list, i);

		if (m.t->kind != TREE_STRING)
			return at_expected(r, &m, e, "a string");
		array_push(&d->monitors, name_bag_add(&d->bag, m.t->text, m.t->n));
		v->n_monitors++;
	}
	return ERR_OK;
}

/* How the driver that replaced the plugin calls it; pods say nothing of zones. */
static void handle(struct draft *d, struct pod_volume *v, const char *id)
{
	struct text t = {0};

	if (v->source >= VOLUME_EBS && volume_handle(v->source, id, "", &t))
		v->handle = name_bag_add_str(&d->bag, text_str(&t));
	text_free(&t);
}

static const char *read_only_field(enum volume_source source)
{
	return source == VOLUME_EPHEMERAL || source == VOLUME_PORTWORX ? NULL : "readOnly";
}

static enum err_code one_volume(const struct reader *r, const struct at *a, const char *pod, struct draft *d,
				struct err *e)
{
	struct pod_volume v = {0};
	struct at source, id_at;
	const char *name = "", *id = "", *pool = "rbd";

	TRY(get_text(r, a, "name", &name, e));
	v.source = (uint8_t)volume_source_at(a, &source);
	if (v.source == VOLUME_OTHER)
		return ERR_OK;
	TRY(at_want(r, &source, TREE_MAP, e));
	if (v.source == VOLUME_EPHEMERAL) {
		id = arena_printf(r->scratch, "%s-%s", pod, name);
	} else {
		id_at = at_field(&source, volume_sources[v.source].id_field);
		TRY(get_text(r, &source, volume_sources[v.source].id_field, &id, e));
		if (!*id && !r->is_lenient)
			return at_expected(r, &id_at, e, v.source == VOLUME_CLAIM ? "the name of a claim" : "a name");
	}
	if (read_only_field(v.source))
		TRY(get_bool(r, &source, "readOnly", &v.is_read_only, e));
	if (v.source == VOLUME_RBD) {
		TRY(get_text(r, &source, "pool", &pool, e));
		v.pool = name_bag_add_str(&d->bag, *pool ? pool : "rbd");
		TRY(monitors(r, &source, d, &v, e));
	}
	v.name = name_bag_add_str(&d->bag, name);
	v.id = name_bag_add_str(&d->bag, id);
	handle(d, &v, id);
	array_push(&d->v, v);
	return ERR_OK;
}

static enum err_code all_volumes(const struct reader *r, const struct at *spec, const char *pod, struct draft *d,
				 struct err *e)
{
	struct at list = at_field(spec, "volumes");

	TRY(at_want(r, &list, TREE_LIST, e));
	for (uint32_t i = 0; i < at_count(&list); i++) {
		struct at a = at_item(&list, i);

		TRY(at_want(r, &a, TREE_MAP, e));
		TRY(one_volume(r, &a, pod, d, e));
	}
	return ERR_OK;
}

enum err_code pod_volumes(const struct reader *r, const struct at *spec, const char *pod, struct pod_volumes **ret,
			  struct err *e)
{
	struct draft d = {.bag = name_bag_of(r->names)};
	enum err_code rc = all_volumes(r, spec, pod, &d, e);

	if (!rc)
		*ret = pod_volumes_new(r->names, d.v.v, d.v.n, d.monitors.v, d.monitors.n);
	array_free(&d.v);
	array_free(&d.monitors);
	name_bag_drop(&d.bag);
	return rc;
}
