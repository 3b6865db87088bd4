/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - what pods of one template have in common, kept once.
 *
 * A shape is everything in a pod's spec that decides where it may run: requests, selectors, affinities, tolerations,
 * spread constraints, ports, images. Thousands of pods share a few shapes, and waiting pods of one shape share filter
 * results. Shapes are immutable, counted, and equal shapes have equal ids.
 *
 * A label set is a namespace with labels: pods of one label set look the same to every selector (budgets, affinity,
 * spread), so a selector is tried once per label set instead of once per pod. Also immutable, counted and unique.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/names.h"
#include "model/res.h"
#include "units/labels.h"

typedef uint32_t shape_id;
typedef uint32_t labelset_id;
#define SHAPE_NONE UINT32_MAX
#define LABELSET_NONE UINT32_MAX

/* One term of inter-pod (anti-)affinity. */
struct pod_term {
	struct selector selector; /* missing: matches_nothing */
	name_id topology_key;
	uint32_t n_namespaces;
	const name_id *namespaces;
	bool has_ns_selector; /* neither this nor namespaces: the pod's own namespace */
	struct selector ns_selector;
	int32_t weight; /* preferred terms only */
	uint32_t n_match_keys, n_mismatch_keys;
	const name_id *match_keys, *mismatch_keys; /* label keys whose values come from the pod itself */
};

struct pod_terms {
	uint32_t n;
	const struct pod_term *terms;
};

struct spread {
	int32_t max_skew, min_domains; /* min_domains 0: not set */
	name_id topology_key;
	bool is_hard;	       /* DoNotSchedule */
	bool ignores_affinity; /* nodeAffinityPolicy Ignore (default Honor) */
	bool honors_taints;    /* nodeTaintsPolicy Honor (default Ignore) */
	struct selector selector;
	uint32_t n_match_keys;
	const name_id *match_keys;
};

struct preferred_node_term {
	int32_t weight;
	struct node_term term;
};

enum protocol { PROTO_TCP, PROTO_UDP, PROTO_SCTP };
struct host_port {
	name_id ip; /* NAME_NONE: all addresses (0.0.0.0, or not given) */
	uint16_t port;
	uint8_t protocol;
};

struct shape {
	struct res_list request; /* what a waiting pod asks (spec), `pods` 1 not included */
	struct res_list usage;	 /* what it takes where it is bound: the larger of spec, allocated and actual */
	int64_t nonzero_cpu_milli, nonzero_memory; /* with defaults for containers that ask nothing, for scoring */
	struct labels node_selector;
	bool has_required_terms;
	struct node_terms required_terms;
	uint32_t n_preferred_nodes;
	const struct preferred_node_term *preferred_nodes;
	uint32_t n_tolerations;
	const struct toleration *tolerations;
	struct pod_terms affinity, anti_affinity; /* required */
	struct pod_terms preferred_affinity, preferred_anti_affinity;
	uint32_t n_spreads;
	const struct spread *spreads;
	uint32_t n_ports;
	const struct host_port *ports;
	uint32_t n_images; /* of init and regular containers, as written plus ":latest" where no tag is */
	const name_id *images;
	uint32_t n_containers; /* init and regular, for image scores */
	uint32_t n_gates;
	const name_id *gates; /* scheduling gates: present means gated */
	name_id scheduler_name;
	/* the one node its affinity names (metadata.name In [x]), as DaemonSet pods have; else NAME_NONE */
	name_id runs_on;
	bool never_preempts; /* preemptionPolicy: Never */
	bool has_claims;     /* volumes cede does not read */
};

struct labelset {
	name_id ns;
	struct labels labels;
};

/* Everything interned, shared by readers and the ledger. Not thread-safe for writing. */
struct vocab;

struct vocab *vocab_new(void);
void vocab_free(struct vocab *v);
struct names *vocab_names(struct vocab *v);
struct res_types *vocab_res(struct vocab *v);

/*
 * Intern a draft (its memory stays the caller's; names in it are kept by the vocab itself as needed) and take a
 * reference. Two drafts that say the same, field by field and in the same order, give the same id.
 */
shape_id shape_hold(struct vocab *v, const struct shape *draft);
void shape_keep(struct vocab *v, shape_id id);
void shape_drop(struct vocab *v, shape_id id); /* SHAPE_NONE is fine */
const struct shape *shape_get(const struct vocab *v, shape_id id);
uint32_t shape_count(const struct vocab *v);
/* Of them, those that must stay away from other pods. */
uint32_t shape_staying_away_count(const struct vocab *v);
bool shape_has_terms(const struct shape *s); /* about other pods, required or preferred */

/* kv need not be sorted; it is copied. */
labelset_id labelset_hold(struct vocab *v, name_id ns, const struct label *kv, uint32_t n);
void labelset_keep(struct vocab *v, labelset_id id);
void labelset_drop(struct vocab *v, labelset_id id);
const struct labelset *labelset_get(const struct vocab *v, labelset_id id);
/* all ids are below it; freed ones give ns NAME_NONE and no labels, is_live false */
uint32_t labelset_limit(const struct vocab *v);
uint32_t shape_limit(const struct vocab *v); /* all ids are below */
bool shape_is_live(const struct vocab *v, shape_id id);
bool labelset_is_live(const struct vocab *v, labelset_id id);

/* How often an id was given to another shape or label set than before: until then what is known by id is good. */
uint64_t vocab_reuses(const struct vocab *v);
void vocab_trim(struct vocab *v);	   /* what tables took in advance is given back */
size_t vocab_bytes(const struct vocab *v); /* shapes and label sets, without names */
