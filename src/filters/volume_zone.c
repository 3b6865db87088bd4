/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VolumeZone: a volume whose labels name zones or regions can be used by nodes there.
 *
 * Older than node affinity of volumes, and besides it: only labels count here, and only those of volumes that claims
 * name already. A node without any label of the kind is in no zone and takes every volume.
 */
#include <stdio.h>

#include "filters/volumes.h"

enum zone_reason { NOT_FOUND, NO_NAME_AND_CLASS, NO_CLASS, NO_NAME, NO_VOLUME, WRONG_ZONE };
static const char *const reasons[] = {
	[NO_NAME_AND_CLASS] = "PersistentVolumeClaim had no pv name and storageClass name",
	[NO_NAME] = "PersistentVolume had no name",
	[WRONG_ZONE] = "node(s) had no available volume zone",
};

struct zones { /* that volumes of the pod want */
	struct zone_names names;
	uint32_t n;
	const struct pv_zone **v;
};

static struct zone_names known_keys(const struct cede_cycle *c)
{
	struct zone_names z;

	for (int i = 0; i < ZONE_KEYS; i++)
		z.key[i] = names_find(c->names, zone_key_texts[i], strlen(zone_key_texts[i]));
	return z;
}

/* SUCCESS: *ret is its volume; SKIP: it has none yet, and will get one where the pod goes. */
static struct cede_verdict volume_for(const struct cede_cycle *c, uint32_t at, const struct obj_pv **ret)
{
	const struct obj_pvc *claim = volume_claim(c, c->p, &volumes_of(c->p)->v[at]);
	const struct obj_storage_class *class;

	if (claim == NULL)
		return cede_answer(CEDE_UNRESOLVABLE, NOT_FOUND, at);
	if (claim->volume_name != NAME_NONE) {
		*ret = storage_pv(volumes_storage(c), claim->volume_name);
		return *ret != NULL ? cede_ok() : cede_answer(CEDE_UNRESOLVABLE, NO_VOLUME, at);
	}
	if (claim->class == NAME_NONE)
		return cede_answer(CEDE_UNRESOLVABLE, NO_NAME_AND_CLASS, at);
	class = storage_class(volumes_storage(c), claim->class);
	if (class == NULL)
		return cede_answer(CEDE_UNRESOLVABLE, NO_CLASS, at);
	return class->waits ? cede_answer(CEDE_SKIP, 0, 0) : cede_answer(CEDE_UNRESOLVABLE, NO_NAME, at);
}

/* What is wanted of nodes: SKIP if nothing. */
static struct cede_verdict collect(const struct cede_cycle *c, struct arena *a, struct zones *z)
{
	const struct pod_volumes *v = volumes_of(c->p);

	*z = (struct zones){.names = known_keys(c), .v = arena_n(a, (size_t)v->n * ZONE_KEYS, const struct pv_zone *)};
	for (uint32_t i = 0; i < v->n; i++) {
		const struct obj_pv *pv = NULL;
		struct cede_verdict answer;

		if (v->v[i].source != VOLUME_CLAIM)
			continue;
		answer = volume_for(c, i, &pv);
		if (answer.code == CEDE_UNRESOLVABLE)
			return answer;
		for (uint32_t k = 0; pv != NULL && k < pv->n_zones; k++)
			z->v[z->n++] = &pv->zones[k];
	}
	return z->n > 0 ? cede_ok() : cede_answer(CEDE_SKIP, 0, 0);
}

static struct cede_verdict pre_filter(void *self, struct cede_cycle *c)
{
	struct cede_verdict answer;
	struct zones *z;

	if (volumes_of(c->p) == NULL)
		return cede_answer(CEDE_SKIP, 0, 0);
	z = cede_alloc(c, sizeof(*z));
	answer = collect(c, c->arena, z);
	if (answer.code == CEDE_SUCCESS)
		cede_set_state(c, &volume_zone_plugin, z);
	return answer;
}

static bool has_any(const struct zones *z, const struct labels *l)
{
	name_id value;

	for (int i = 0; i < ZONE_KEYS; i++)
		if (z->names.key[i] != NAME_NONE && labels_get(l, z->names.key[i], &value))
			return true;
	return false;
}

/* The node's label; for an old key that it does not have, the one that took its place. */
static bool zone_of(const struct zones *z, const struct labels *l, enum zone_key key, name_id *ret)
{
	name_id id = z->names.key[key];

	if (id != NAME_NONE && labels_get(l, id, ret))
		return true;
	if (key == ZONE_STABLE || key == REGION_STABLE)
		return false;
	id = z->names.key[key == ZONE_BETA ? ZONE_STABLE : REGION_STABLE];
	return id != NAME_NONE && labels_get(l, id, ret);
}

static bool is_in(const struct pv_zone *zone, name_id value)
{
	for (uint32_t i = 0; i < zone->n; i++)
		if (zone->values[i] == value)
			return true;
	return false;
}

static struct cede_verdict judge(const struct cede_cycle *c, const struct zones *z, node_id node)
{
	const struct labels *l = &labelset_get(c->vocab, ledger_node(c->ledger, node)->obj->labelset)->labels;
	name_id value;

	if (!has_any(z, l))
		return cede_ok();
	for (uint32_t i = 0; i < z->n; i++)
		if (!zone_of(z, l, z->v[i]->key, &value) || !is_in(z->v[i], value))
			return cede_answer(CEDE_UNRESOLVABLE, WRONG_ZONE, 0);
	return cede_ok();
}

static struct cede_verdict filter(void *self, const struct cede_cycle *c, cede_node node)
{
	const struct zones *z = cede_get_state(c, &volume_zone_plugin);
	struct cede_verdict v;
	struct zones fresh;
	struct arena *a;

	if (z != NULL)
		return judge(c, z, node);
	if (volumes_of(c->p) == NULL)
		return cede_ok();
	a = arena_new(1 << 10);
	v = collect(c, a, &fresh);
	if (v.code == CEDE_SUCCESS)
		v = judge(c, &fresh, node);
	else if (v.code == CEDE_SKIP)
		v = cede_ok();
	arena_free(a);
	return v;
}

static const struct obj_pvc *claim_at(const struct cede_cycle *c, uint64_t at)
{
	const struct pod_volumes *v = volumes_of(c->p);

	return v != NULL && at < v->n ? volume_claim(c, c->p, &v->v[at]) : NULL;
}

static bool reason_text(void *self, const struct cede_cycle *c, struct cede_verdict v, size_t i, char *out, size_t size)
{
	const struct obj_pvc *claim = claim_at(c, v.detail);

	if (i > 0 || v.reason >= sizeof(reasons) / sizeof(*reasons))
		return false;
	if (v.reason == NOT_FOUND)
		claim_not_found_text(c, v.detail, out, size);
	else if (v.reason == NO_CLASS)
		snprintf(out, size, "storageclass.storage.k8s.io \"%s\" not found",
			 name_str(c->names, claim != NULL ? claim->class : NAME_NONE));
	else if (v.reason == NO_VOLUME)
		snprintf(out, size, "persistentvolume \"%s\" not found",
			 name_str(c->names, claim != NULL ? claim->volume_name : NAME_NONE));
	else
		snprintf(out, size, "%s", reasons[v.reason]);
	return true;
}

const struct cede_plugin volume_zone_plugin = {
	.abi = CEDE_PLUGIN_ABI,
	.name = "VolumeZone",
	.pre_filter = pre_filter,
	.filter = filter,
	.reason_text = reason_text,
};
