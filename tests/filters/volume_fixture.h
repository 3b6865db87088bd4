/* SPDX-License-Identifier: Apache-2.0 */
/*
 * volume_fixture.h - objects of storage written as text, on top of fixture.h.
 */
#pragma once

#include "cluster/storage.h"
#include "filters/volumes.h"
#include "fixture.h"

static inline struct quantity size_of(const char *s)
{
	struct quantity q;

	assert_int_equal(quantity_parse(s, strlen(s), &q, NULL), ERR_OK);
	return q;
}

/* "RWO ROX"; NULL: RWO */
static inline uint8_t modes_of(const char *s)
{
	static const char *const words[] = {"RWO", "ROX", "RWX", "RWOP"};
	uint8_t modes = 0;
	char *w;

	if (!s)
		return ACCESS_RWO;
	while ((w = next_word(&s)))
		for (int i = 0; i < 4; i++)
			modes |= (uint8_t)(str_eq(w, words[i]) << i);
	return modes;
}

struct pv_text {
	const char *name;
	const char *has;   /* NULL: 10Gi */
	const char *class; /* NULL: "local" */
	const char *modes;
	const char *labels;  /* zones and regions are found in them */
	const char *reaches; /* node affinity, see node_terms_of */
	const char *translated;
	const char *csi; /* "driver handle" */
	enum volume_source source;
	const char *claim, *claim_uid; /* "default/c", in namespace and name: kept for it */
	const char *attributes;
	bool is_block, is_deleted, is_pending;
};

static inline void zones_of(struct obj_pv *o, const char *labels)
{
	struct pv_zone *zones = arena_n(o->arena, ZONE_KEYS, struct pv_zone);
	char *w;

	while ((w = next_word(&labels))) {
		char *value = cut(w, '=');

		for (enum zone_key k = 0; k < ZONE_KEYS; k++) {
			name_id *values = arena_n(o->arena, strlen(value), name_id);
			uint32_t n = 0;

			if (!str_eq(w, zone_key_texts[k]))
				continue;
			for (char *at = value; at;) {
				char *next = strstr(at, "__");

				if (next)
					*next = '\0';
				values[n++] = name_bag_add_str(&o->bag, at);
				at = next ? next + 2 : NULL;
			}
			zones[o->n_zones++] = (struct pv_zone){k, n, values};
		}
	}
	o->zones = zones;
}

/* Names in terms are the fixture's, which outlives the cluster. */
static inline void put_pv(struct pv_text t)
{
	struct labels labels = labels_of(t.labels);
	struct obj_pv o = {.name = names_hold_str(f.names, t.name),
			   .labelset = labelset_hold(f.vocab, NAME_NONE, labels.kv, labels.n),
			   .phase = t.is_pending ? PV_PENDING
				    : t.claim	 ? PV_BOUND
						 : PV_AVAILABLE,
			   .deleted_ns = t.is_deleted ? NS_PER_S : TIME_NONE,
			   .capacity = size_of(t.has ? t.has : "10Gi"),
			   .modes = modes_of(t.modes),
			   .is_block = t.is_block,
			   .source = t.csi ? VOLUME_CSI : t.source,
			   .class = names_hold_str(f.names, t.class ? t.class : "local"),
			   .attributes_class = names_hold_str(f.names, t.attributes),
			   .has_claim = t.claim != NULL,
			   .claim_uid = names_hold_str(f.names, t.claim_uid),
			   .has_affinity = t.reaches != NULL,
			   .has_translated = t.translated != NULL,
			   .arena = arena_new(256),
			   .bag = name_bag_of(f.names)};

	if (t.reaches)
		o.affinity = node_terms_of(t.reaches);
	if (t.translated)
		o.translated = node_terms_of(t.translated);
	if (t.claim) {
		char *ns = arena_strndup(f.arena, t.claim, strlen(t.claim)), *name = cut(ns, '/');

		o.claim_ns = names_hold_str(f.names, ns);
		o.claim_name = names_hold_str(f.names, name);
	}
	if (t.csi) {
		const char *at = t.csi;

		o.driver = names_hold_str(f.names, next_word(&at));
		o.handle = names_hold_str(f.names, next_word(&at));
	}
	zones_of(&o, t.labels);
	cluster_put_pv(f.cluster, &o, NULL);
}

struct pvc_text {
	const char *name, *ns;
	const char *asks;  /* NULL: 5Gi; "": nothing */
	const char *class; /* NULL: "local"; "": none */
	const char *modes, *selector, *attributes, *uid;
	const char *volume; /* spec.volumeName */
	bool is_bound;	    /* and bound to it */
	const char *selected;
	const char *owner; /* uid of its controller */
	bool is_block, is_deleted, is_lost;
};

static inline void put_pvc(struct pvc_text t)
{
	struct obj_pvc o = {.ns = names_hold_str(f.names, t.ns ? t.ns : "default"),
			    .name = names_hold_str(f.names, t.name),
			    .uid = names_hold_str(f.names, t.uid),
			    .has_owner = t.owner != NULL,
			    .owner_uid = uid_hold(f.names, t.owner ? t.owner : "", t.owner ? strlen(t.owner) : 0),
			    .deleted_ns = t.is_deleted ? NS_PER_S : TIME_NONE,
			    .is_lost = t.is_lost,
			    .is_bind_completed = t.is_bound,
			    .has_selected_node = t.selected != NULL,
			    .selected_node = names_hold_str(f.names, t.selected),
			    .class = names_hold_str(f.names, t.class ? t.class : "local"),
			    .attributes_class = names_hold_str(f.names, t.attributes),
			    .volume_name = names_hold_str(f.names, t.volume),
			    .has_request = !t.asks || *t.asks,
			    .is_block = t.is_block,
			    .modes = modes_of(t.modes),
			    .has_selector = t.selector != NULL,
			    .bag = name_bag_of(f.names)};

	if (o.has_request)
		o.request = size_of(t.asks ? t.asks : "5Gi");
	if (t.selector)
		o.selector = selector_of(t.selector);
	cluster_put_pvc(f.cluster, &o, NULL);
}

struct class_text {
	const char *name;	 /* NULL: "local" */
	const char *provisioner; /* NULL: none that makes volumes */
	const char *driver;	 /* NULL: the provisioner */
	const char *allowed;	 /* topologies, see node_terms_of */
	bool is_immediate;
};

static inline void put_storage_class(struct class_text t)
{
	const char *provisioner = t.provisioner ? t.provisioner : NO_PROVISIONER;
	struct obj_storage_class o = {.name = names_hold_str(f.names, t.name ? t.name : "local"),
				      .provisioner = names_hold_str(f.names, provisioner),
				      .driver = names_hold_str(f.names, t.driver ? t.driver : provisioner),
				      .waits = !t.is_immediate,
				      .bag = name_bag_of(f.names)};

	if (t.allowed)
		o.topologies = node_terms_of(t.allowed);
	cluster_put_storage_class(f.cluster, &o, NULL);
}

/* "disk=2 fast": a driver without a number has no limit. migrated: sources. */
static inline void put_csi_node(const char *node, const char *drivers, uint32_t migrated)
{
	struct obj_csi_node o = {.name = names_hold_str(f.names, node),
				 .migrated = migrated,
				 .drivers = mem_alloc((count_words(drivers) + 1) * sizeof(struct csi_limit)),
				 .bag = name_bag_of(f.names)};
	char *w;

	while ((w = next_word(&drivers))) {
		char *count = cut(w, '=');

		o.drivers[o.n_drivers++] = (struct csi_limit){name_bag_add_str(&o.bag, w), count != NULL,
							      count ? (int32_t)strtol(count, NULL, 10) : 0};
	}
	cluster_put_csi_node(f.cluster, &o, NULL);
}

static inline void put_attachment(const char *name, const char *attacher, const char *node, const char *volume)
{
	struct obj_attachment o = {names_hold_str(f.names, name), names_hold_str(f.names, attacher),
				   names_hold_str(f.names, node), names_hold_str(f.names, volume)};

	cluster_put_attachment(f.cluster, &o, NULL);
}

/* "pv-a for default/c, default/d is made on n": what is written down for a pod, in the order of its volumes. */
static inline const char *assumed_text(pod_id pod)
{
	const struct pod_volumes *v = ledger_pod(f.ledger, pod)->obj->volumes;
	const char *ret = "";

	for (uint32_t i = 0; v && i < v->n; i++) {
		const struct assumption *a;

		for (uint32_t k = 0; (a = ledger_pod_assumed(f.ledger, pod, k)); k++) {
			const char *ns = name_str(f.names, a->ns), *claim = name_str(f.names, a->claim),
				   *comma = *ret ? ", " : "";

			if (a->claim != v->v[i].id)
				continue;
			ret = a->volume ? arena_printf(f.arena, "%s%s%s for %s/%s", ret, comma,
						       name_str(f.names, a->volume), ns, claim)
					: arena_printf(f.arena, "%s%s%s/%s is made on %s", ret, comma, ns, claim,
						       name_str(f.names, a->node));
		}
	}
	return ret;
}
