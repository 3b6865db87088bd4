/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_users.h - which claims the pods on nodes use, by their names: what VolumeRestrictions asks before it looks at
 * any node. Follows the ledger move by move. Pods on nodes that are gone use nothing, as in Kubernetes' snapshot.
 */
#pragma once

#include "base/bits.h"
#include "ledger/ledger.h"

struct claim_users {
	struct map
		counts;	  /* namespace and claim -> volumes of pods that name it; generic ephemeral ones do not count */
	struct bits live; /* nodes whose pods count */
};

void claim_users_add(struct claim_users *u, const struct ledger *l, pod_id pod, node_id node);
void claim_users_remove(struct claim_users *u, const struct ledger *l, pod_id pod, node_id node);
/* Its object came, changed or went. Nodes that are there before pods are added are put into live. */
void claim_users_node(struct claim_users *u, const struct ledger *l, node_id node);
void claim_users_free(struct claim_users *u);
/* ERR_INTERNAL if it is not what the ledger says. */
enum err_code claim_users_check(const struct claim_users *u, const struct ledger *l, struct err *e);

static inline uint32_t claim_users_count(const struct claim_users *u, name_id ns, name_id claim)
{
	uint32_t n = map_get(&u->counts, map_key2(ns, claim));

	return n == MAP_NONE ? 0 : n;
}
