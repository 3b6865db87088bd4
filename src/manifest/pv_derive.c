/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a volume's labels and its in-tree source come to. Where a CSI driver replaced the plugin, Kubernetes looks at
 * the volume as if it were the driver's: the zone in its node affinity, or else in its labels, is then wanted of the
 * label by which the driver marks nodes.
 */
#include <ctype.h>

#include "manifest/storage.h"

/* The parts of "a__b" that are not empty, without blanks around them. */
static const char **split(const struct reader *r, const char *s, uint32_t *ret_n, bool *ret_has_empty)
{
	const char **v = arena_n(r->scratch, strlen(s) / 2 + 2, const char *);

	*ret_n = 0;
	*ret_has_empty = false;
	for (const char *at = s, *end;; at = end + 2) {
		size_t n;

		end = strstr(at, "__");
		n = end ? (size_t)(end - at) : strlen(at);
		while (n && isspace((unsigned char)*at))
			at++, n--;
		while (n && isspace((unsigned char)at[n - 1]))
			n--;
		*ret_has_empty |= !n;
		if (n)
			v[(*ret_n)++] = arena_strndup(r->scratch, at, n);
		if (!end)
			break;
	}
	return v;
}

/* ---- zones ---- */

static const name_id *hold_values(struct obj_pv *o, const char *const *v, uint32_t n)
{
	name_id *ids = arena_n(o->arena, n + 1, name_id);

	for (uint32_t i = 0; i < n; i++)
		ids[i] = name_bag_add_str(&o->bag, v[i]);
	return ids;
}

static void find_zones(const struct reader *r, const struct tree *labels, struct obj_pv *o)
{
	struct pv_zone *zones = arena_n(o->arena, ZONE_KEYS, struct pv_zone);

	for (enum zone_key k = 0; k < ZONE_KEYS; k++) {
		const char *text = map_text(labels, zone_key_texts[k]);
		bool has_empty = true;
		uint32_t n = 0;
		const char **v = text ? split(r, text, &n, &has_empty) : NULL;

		if (!has_empty)
			zones[o->n_zones++] = (struct pv_zone){k, n, hold_values(o, v, n)};
	}
	o->zones = zones;
}

/* ---- the driver that replaced the plugin ---- */

static void find_handle(const struct reader *r, const struct tree *labels, struct obj_pv *o)
{
	const char *zones = map_text(labels, zone_key_texts[ZONE_BETA]);
	struct text t = {0};

	if (!zones || !*zones)
		zones = map_text(labels, zone_key_texts[ZONE_STABLE]);
	if (volume_handle(o->source, name_str(r->names, o->source_id), zones ? zones : "", &t)) {
		o->driver = names_hold_str(r->names, volume_sources[o->source].driver);
		o->handle = names_hold_str(r->names, text_str(&t));
	}
	text_free(&t);
}

static bool affinity_has_key(const struct obj_pv *o, name_id key, bool with_values)
{
	for (uint32_t i = 0; key != NAME_NONE && i < o->affinity.n; i++)
		for (uint32_t k = 0; k < o->affinity.terms[i].n_exprs; k++) {
			const struct requirement *q = &o->affinity.terms[i].exprs[k];

			if (q->key == key && (!with_values || q->n_values > 0))
				return true;
		}
	return false;
}

/* One more than the terms have, for what is added. */
static struct node_term *copy_terms(struct obj_pv *o)
{
	struct node_term *terms = arena_n(o->arena, o->affinity.n + 1, struct node_term);

	for (uint32_t i = 0; i < o->affinity.n; i++) {
		const struct node_term *from = &o->affinity.terms[i];
		struct requirement *exprs = arena_n(o->arena, from->n_exprs + 1, struct requirement);

		if (from->n_exprs)
			memcpy(exprs, from->exprs, from->n_exprs * sizeof(*exprs));
		terms[i] = *from;
		terms[i].exprs = exprs;
	}
	return terms;
}

static void replace_key(struct node_term *terms, uint32_t n, name_id from, name_id to)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < terms[i].n_exprs; k++)
			if (terms[i].exprs[k].key == from)
				((struct requirement *)terms[i].exprs)[k].key = to;
}

/* The zones of the label, wanted in every term. False: it has none. */
static bool add_zones(const struct reader *r, struct obj_pv *o, struct node_term *terms, const char *key,
		      const char *label)
{
	uint32_t n = 0, n_terms = o->affinity.n ? o->affinity.n : 1;
	bool has_empty;
	const char **v = label ? split(r, label, &n, &has_empty) : NULL;
	size_t *lens = arena_n(r->scratch, n + 1, size_t);
	struct requirement q;

	for (uint32_t i = 0; i < n; i++)
		lens[i] = strlen(v[i]);
	if (!n || requirement_make(o->arena, &o->bag, key, strlen(key), SEL_IN, v, lens, n, &q, NULL))
		return false;
	if (!o->affinity.n)
		terms[0].exprs = arena_n(o->arena, 1, struct requirement);
	for (uint32_t i = 0; i < n_terms; i++)
		((struct requirement *)terms[i].exprs)[terms[i].n_exprs++] = q;
	o->translated = (struct node_terms){n_terms, terms};
	return true;
}

static name_id key_name(struct obj_pv *o, enum zone_key k)
{
	return name_bag_add_str(&o->bag, zone_key_texts[k]);
}

static bool uses_beta(struct obj_pv *o, const struct tree *labels)
{
	if (affinity_has_key(o, key_name(o, ZONE_STABLE), false))
		return false;
	if (affinity_has_key(o, key_name(o, ZONE_BETA), false))
		return true;
	return !map_text(labels, zone_key_texts[ZONE_STABLE]) && map_text(labels, zone_key_texts[ZONE_BETA]);
}

static void translate(const struct reader *r, const struct tree *labels, struct obj_pv *o)
{
	const char *driver_key = volume_sources[o->source].zone_key;
	bool is_beta = uses_beta(o, labels);
	enum zone_key zone = is_beta ? ZONE_BETA : ZONE_STABLE;
	struct node_term *terms = copy_terms(o);

	o->translated = (struct node_terms){o->affinity.n, terms};
	o->has_translated = o->has_affinity;
	if (affinity_has_key(o, key_name(o, zone), true))
		replace_key(terms, o->affinity.n, key_name(o, zone), name_bag_add_str(&o->bag, driver_key));
	else
		o->has_translated |= add_zones(r, o, terms, driver_key, map_text(labels, zone_key_texts[zone]));
	if (is_beta && affinity_has_key(o, key_name(o, REGION_BETA), true))
		replace_key(terms, o->translated.n, key_name(o, REGION_BETA), key_name(o, REGION_STABLE));
}

void pv_derive(const struct reader *r, const struct tree *labels, struct obj_pv *o)
{
	find_zones(r, labels, o);
	if (o->source < VOLUME_EBS)
		return;
	find_handle(r, labels, o);
	if (volume_sources[o->source].zone_key && o->driver)
		translate(r, labels, o);
}
