/* SPDX-License-Identifier: Apache-2.0 */
#include "model/storage.h"

#include <string.h>

const struct volume_source_info volume_sources[VOLUME_SOURCES] = {
	[VOLUME_CLAIM] = {.field = "persistentVolumeClaim", .id_field = "claimName"},
	[VOLUME_EPHEMERAL] = {.field = "ephemeral"},
	[VOLUME_CSI] = {.field = "csi", .id_field = "driver"},
	[VOLUME_ISCSI] = {.field = "iscsi", .id_field = "iqn"},
	[VOLUME_RBD] = {.field = "rbd", .id_field = "image"},
	[VOLUME_EBS] = {"awsElasticBlockStore", "volumeID", "kubernetes.io/aws-ebs", "ebs.csi.aws.com",
			"topology.ebs.csi.aws.com/zone"},
	[VOLUME_GCE] = {"gcePersistentDisk", "pdName", "kubernetes.io/gce-pd", "pd.csi.storage.gke.io",
			"topology.gke.io/zone"},
	[VOLUME_AZURE_DISK] = {"azureDisk", "diskURI", "kubernetes.io/azure-disk", "disk.csi.azure.com", NULL},
	[VOLUME_CINDER] = {"cinder", "volumeID", "kubernetes.io/cinder", "cinder.csi.openstack.org",
			   "topology.cinder.csi.openstack.org/zone"},
	[VOLUME_PORTWORX] = {"portworxVolume", "volumeID", "kubernetes.io/portworx-volume", "pxd.portworx.com", NULL},
};

enum volume_source volume_source_of_plugin(const char *plugin)
{
	for (enum volume_source s = VOLUME_EBS; s < VOLUME_SOURCES; s++)
		if (str_eq(volume_sources[s].plugin, plugin))
			return s;
	return VOLUME_OTHER;
}

/* ---- how drivers call volumes ---- */

/* "vol-1a2b", or "aws://ZONE/vol-1a2b": the last part, if it looks like a volume. */
static bool ebs_handle(const char *id, struct text *out)
{
	const char *at, *end;

	if (!str_starts(id, "aws://")) {
		text_add(out, id);
		return true;
	}
	at = strchr(id + strlen("aws://"), '/');
	if (!at)
		return false;
	at += strspn(at, "/");
	for (end = at + strlen(at); end > at && end[-1] == '/'; end--)
		;
	if (!str_starts(at, "vol-") || at + strcspn(at, "/") != end)
		return false;
	text_add_n(out, at, (size_t)(end - at));
	return true;
}

/* The region of "us-central1-a" is "us-central1". False: it is not of three parts. */
static bool gce_region(const char *zone, size_t n, size_t *ret_n)
{
	uint32_t dashes = 0;

	for (size_t i = 0; i < n; i++) {
		dashes += zone[i] == '-';
		if (zone[i] == '-')
			*ret_n = i;
	}
	return dashes == 2;
}

/* All zones are of one region. */
static bool gce_regional(const char *id, const char *zones, struct text *out)
{
	const char *region = zones;
	size_t n_region = 0;

	for (const char *at = zones;; at = strstr(at, "__") + 2) {
		const char *end = strstr(at, "__");
		size_t n = end ? (size_t)(end - at) : strlen(at), n_here = 0;

		if (!gce_region(at, n, &n_here))
			return false;
		if (at == zones)
			n_region = n_here;
		else if (n_here != n_region || memcmp(at, region, n_here) != 0)
			return false;
		if (!end)
			break;
	}
	text_printf(out, "projects/UNSPECIFIED/regions/%.*s/disks/%s", (int)n_region, region, id);
	return true;
}

static bool gce_handle(const char *id, const char *zones, struct text *out)
{
	if (strstr(zones, "__"))
		return gce_regional(id, zones, out);
	text_printf(out, "projects/UNSPECIFIED/zones/%s/disks/%s", *zones ? zones : "UNSPECIFIED", id);
	return true;
}

bool volume_handle(enum volume_source source, const char *id, const char *zones, struct text *out)
{
	if (source == VOLUME_EBS)
		return ebs_handle(id, out);
	if (source == VOLUME_GCE)
		return gce_handle(id, zones, out);
	text_add(out, id);
	return true;
}

/* ---- what pods mount ---- */

static void count_names(struct names *names, struct pod_volumes *p, void (*count)(struct names *, name_id))
{
	for (uint32_t i = 0; i < p->n; i++) {
		count(names, p->v[i].name);
		count(names, p->v[i].id);
		count(names, p->v[i].handle);
		count(names, p->v[i].pool);
	}
	for (uint32_t i = 0; i < p->n_monitors; i++)
		count(names, p->monitors[i]);
}

struct pod_volumes *pod_volumes_new(struct names *names, const struct pod_volume *v, uint32_t n,
				    const name_id *monitors, uint32_t n_monitors)
{
	struct pod_volumes *p;

	if (n == 0)
		return NULL;
	p = mem_alloc(sizeof(*p) + n * sizeof(*v) + n_monitors * sizeof(*monitors));
	p->refs = 1;
	p->n = n;
	p->n_monitors = n_monitors;
	p->monitors = (name_id *)(p->v + n);
	memcpy(p->v, v, n * sizeof(*v));
	if (n_monitors > 0)
		memcpy(p->monitors, monitors, n_monitors * sizeof(*monitors));
	count_names(names, p, names_keep);
	return p;
}

struct pod_volumes *pod_volumes_keep(struct pod_volumes *p)
{
	if (p != NULL)
		p->refs++;
	return p;
}

void pod_volumes_drop(struct names *names, struct pod_volumes *p)
{
	if (p == NULL || --p->refs > 0)
		return;
	count_names(names, p, names_drop);
	mem_free(p);
}

/* ---- words ---- */

const char *const zone_key_texts[ZONE_KEYS] = {
	[ZONE_BETA] = "failure-domain.beta.kubernetes.io/zone",
	[REGION_BETA] = "failure-domain.beta.kubernetes.io/region",
	[ZONE_STABLE] = "topology.kubernetes.io/zone",
	[REGION_STABLE] = "topology.kubernetes.io/region",
};

static const struct {
	enum access_mode mode;
	const char *text;
} modes[] = {
	{ACCESS_RWO, "ReadWriteOnce"},
	{ACCESS_ROX, "ReadOnlyMany"},
	{ACCESS_RWX, "ReadWriteMany"},
	{ACCESS_RWOP, "ReadWriteOncePod"},
};

enum access_mode access_mode_parse(const char *s)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (str_eq(modes[i].text, s))
			return modes[i].mode;
	return 0;
}

const char *access_mode_text(enum access_mode m)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (modes[i].mode == m)
			return modes[i].text;
	return "";
}

/* ---- letting go; a dropped object is left empty, so dropping it twice is harmless ---- */

static void drop_names(struct vocab *v, const name_id *ids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		names_drop(vocab_names(v), ids[i]);
}

#define DROP_NAMES(v, ...)                                           \
	do {                                                         \
		const name_id ids_[] = {__VA_ARGS__};                \
		drop_names((v), ids_, sizeof(ids_) / sizeof(*ids_)); \
	} while (0)

void obj_pv_drop(struct vocab *v, struct obj_pv *o)
{
	DROP_NAMES(v, o->name, o->uid, o->resource_version, o->source_id, o->driver, o->handle, o->class,
		   o->attributes_class, o->claim_ns, o->claim_name, o->claim_uid);
	labelset_drop(v, o->labelset);
	arena_free(o->arena);
	name_bag_drop(&o->bag);
	*o = (struct obj_pv){.labelset = LABELSET_NONE};
}

void obj_pvc_drop(struct vocab *v, struct obj_pvc *o)
{
	uid_drop(vocab_names(v), o->owner_uid);
	DROP_NAMES(v, o->ns, o->name, o->uid, o->resource_version, o->selected_node, o->class, o->attributes_class,
		   o->volume_name);
	arena_free(o->arena);
	name_bag_drop(&o->bag);
	*o = (struct obj_pvc){0};
}

void obj_storage_class_drop(struct vocab *v, struct obj_storage_class *o)
{
	DROP_NAMES(v, o->name, o->provisioner, o->driver);
	arena_free(o->arena);
	name_bag_drop(&o->bag);
	*o = (struct obj_storage_class){0};
}

void obj_csi_node_drop(struct vocab *v, struct obj_csi_node *o)
{
	DROP_NAMES(v, o->name);
	mem_free(o->drivers);
	name_bag_drop(&o->bag);
	*o = (struct obj_csi_node){0};
}

void obj_csi_driver_drop(struct vocab *v, struct obj_csi_driver *o)
{
	DROP_NAMES(v, o->name);
	*o = (struct obj_csi_driver){0};
}

void obj_csi_capacity_drop(struct vocab *v, struct obj_csi_capacity *o)
{
	DROP_NAMES(v, o->ns, o->name, o->class);
	arena_free(o->arena);
	name_bag_drop(&o->bag);
	*o = (struct obj_csi_capacity){0};
}

void obj_attachment_drop(struct vocab *v, struct obj_attachment *o)
{
	DROP_NAMES(v, o->name, o->attacher, o->node, o->volume);
	*o = (struct obj_attachment){0};
}
