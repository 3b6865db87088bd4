/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roster.h - the pods on nodes, by what others' selectors see in them.
 *
 * A selector is tried once per kin; only pods of kins that match are looked at, and a pod that says nothing about other
 * pods costs nothing in a cluster where nobody does. Follows the ledger move by move.
 *
 *	for (kin_id k = roster_kin_first(r, ns); k != ID_NONE; k = roster_kin_next(r, k))
 *		for (pod_id p = roster_pod_first(r, k); p != ID_NONE; p = roster_pod_next(r, p))
 *
 * The order says nothing: who uses it adds up.
 */
#pragma once

#include "ledger/id_index.h"
#include "ledger/ledger.h"

struct roster {
	struct id_index by_kin;	  /* pods */
	struct id_index by_ns;	  /* kins that have pods */
	struct id_index by_terms; /* pods with (anti-)affinity to others, by shape and kin: their terms say the same */
};

void roster_add(struct roster *r, const struct ledger *l, pod_id pod);
void roster_remove(struct roster *r, const struct ledger *l, pod_id pod);
void roster_free(struct roster *r);
/* ERR_INTERNAL if it is not what the ledger says. */
enum err_code roster_check(const struct roster *r, const struct ledger *l, struct err *e);

static inline kin_id roster_kin_first(const struct roster *r, name_id ns)
{
	return id_index_first(&r->by_ns, (uint64_t)ns + 1);
}
static inline kin_id roster_kin_next(const struct roster *r, kin_id kin)
{
	return id_index_next(&r->by_ns, kin);
}
static inline bool roster_has_kin(const struct roster *r, kin_id kin)
{
	return kin < r->by_ns.links.n && r->by_ns.links.v[kin].list != ID_NONE;
}
static inline uint32_t roster_kin_limit(const struct roster *r)
{
	return r->by_ns.links.n;
}
static inline pod_id roster_pod_first(const struct roster *r, kin_id kin)
{
	return id_index_first(&r->by_kin, (uint64_t)kin + 1);
}
static inline pod_id roster_pod_next(const struct roster *r, pod_id pod)
{
	return id_index_next(&r->by_kin, pod);
}

/* Pods of one shape and kin that have terms about other pods. */
struct roster_group {
	shape_id shape;
	kin_id kin;
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

struct framework;
const struct roster *framework_roster(const struct framework *f);

/*
 * What a selector says of each kin, asked once. Zeroed memory of kin_limit bytes from the cycle; kins beyond are asked
 * every time. For one thread.
 */
struct kin_memo {
	uint8_t *v; /* 0: not asked yet, 1: no, 2: yes */
	uint32_t n;
};
