/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - the pods on nodes, by what others' selectors see in them.
 *
 * A selector is tried once per label set; only pods of label sets that match are looked at, and a pod that says nothing
 * about other pods costs nothing in a cluster where nobody does. Follows the ledger move by move.
 *
 *	for (labelset_id k = roster_labelset_first(r, ns); k != ID_NONE; k = roster_labelset_next(r, k))
 *		for (pod_id p = roster_pod_first(r, k); p != ID_NONE; p = roster_pod_next(r, p))
 *
 * Wary pods, which wait and hold reserved room, are in lists of their own.
 *
 * Which label sets have pods the ledger knows. Lists of all pods by label set are made when somebody asks for pods of
 * one (framework_roster_pods): where selectors mean nobody that runs, nobody does.
 *
 * The order says nothing: who uses it adds up.
 */
#pragma once

#include "base/map.h"
#include "ledger/id_index.h"
#include "ledger/ledger.h"

/* Few pods are wary: they have numbers of their own, so that nothing is as large as the list of all pods. */
struct wary_pods {
	struct map number_of; /* by pod id */
	ARRAY(pod_id) pods;   /* by number; POD_NONE: it is free */
	ARRAY(uint32_t) free;
	struct id_index by_kind; /* numbers, by shape and label set */
};

struct roster {
	bool has_pods;		     /* by_labelset is made and follows */
	struct id_index by_labelset; /* pods */
	struct id_index by_ns;	     /* label sets that have pods */
	/* pods with (anti-)affinity to others, by shape and label set: their terms say the same */
	struct id_index by_terms;
	struct wary_pods wary; /* ledger_next_wary */
};

void roster_add(struct roster *r, const struct ledger *l, pod_id pod);
/* Label sets and terms of all that are on nodes, into an empty one; then the pods of each label set. */
void roster_fill(struct roster *r, const struct ledger *l);
void roster_fill_pods(struct roster *r, const struct ledger *l);
void roster_remove(struct roster *r, const struct ledger *l, pod_id pod);
void roster_hold(struct roster *r, const struct ledger *l, pod_id pod, bool holds); /* reserved room */
void roster_free(struct roster *r);
/* ERR_INTERNAL if it is not what the ledger says. */
enum err_code roster_check(const struct roster *r, const struct ledger *l, struct err *e);

static inline labelset_id roster_labelset_first(const struct roster *r, name_id ns)
{
	return id_index_first(&r->by_ns, (uint64_t)ns + 1);
}
static inline labelset_id roster_labelset_next(const struct roster *r, labelset_id labelset)
{
	return id_index_next(&r->by_ns, labelset);
}
static inline bool roster_has_labelset(const struct roster *r, labelset_id labelset)
{
	return labelset < r->by_ns.links.n && r->by_ns.links.v[labelset].list != ID_NONE;
}
static inline uint32_t roster_labelset_limit(const struct roster *r)
{
	return r->by_ns.links.n;
}
static inline pod_id roster_pod_first(const struct roster *r, labelset_id labelset)
{
	return id_index_first(&r->by_labelset, (uint64_t)labelset + 1);
}
static inline pod_id roster_pod_next(const struct roster *r, pod_id pod)
{
	return id_index_next(&r->by_labelset, pod);
}

/* Pods of one shape and label set that have terms about other pods. */
struct roster_group {
	shape_id shape;
	labelset_id labelset;
	pod_id first; /* ID_NONE: the place is empty */
};
static inline bool roster_has_terms(const struct roster *r)
{
	return r->by_terms.by_key.n > 0;
}
static inline uint32_t roster_group_limit(const struct roster *r)
{
	return r->by_terms.lists.n;
}
struct roster_group roster_group_at(const struct roster *r, uint32_t i);
static inline pod_id roster_group_next(const struct roster *r, pod_id pod)
{
	return id_index_next(&r->by_terms, pod);
}

/* The same of wary pods, which hold reserved room. */
static inline uint32_t roster_wary_limit(const struct roster *r)
{
	return r->wary.by_kind.lists.n;
}
struct roster_group roster_wary_at(const struct roster *r, uint32_t i);
pod_id roster_wary_first(const struct roster *r, shape_id shape, labelset_id labelset);
pod_id roster_wary_next(const struct roster *r, pod_id pod);

struct framework;
/* Made when somebody asks for it first; for the thread that has the cycle. */
const struct roster *framework_roster(struct framework *f);
const struct roster *framework_roster_pods(struct framework *f); /* with the pods of each label set */
/* Does any pod on a node have terms about other pods? */
bool framework_has_terms(struct framework *f);

/*
 * What a selector says of each label set, asked once. Zeroed memory of labelset_limit bytes from the cycle; label sets
 * beyond are asked every time. For one thread.
 */
struct labelset_memo {
	uint8_t *v; /* 0: not asked yet, 1: no, 2: yes */
	uint32_t n;
};
