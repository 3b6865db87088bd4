/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.h - which domain of a topology each node is in: nodes with the same value of a label (zone, hostname) are in
 * one domain.
 *
 * Domains are small numbers, so that whoever counts something per domain counts in plain arrays. They are found once
 * per key and follow every change of a node afterwards. Domain 0 is the empty value; a number without nodes may be left
 * over when nodes change.
 */
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "ledger/ledger.h"

#define DOMAIN_NONE UINT32_MAX /* no such label, or the node's object is gone */

struct topology {
	name_id key; /* held */
	uint32_t n;  /* domains are below it */
	ARRAY(uint32_t) of_node;
	struct map by_value;
};

struct topologies {
	ARRAY(struct topology *) v;
};

static inline uint32_t topology_domain(const struct topology *t, node_id node)
{
	return node < t->of_node.n ? t->of_node.v[node] : DOMAIN_NONE;
}

/* Found or made; good until the next trim. */
const struct topology *topologies_get(struct topologies *ts, const struct ledger *l, name_id key);
void topologies_node_changed(struct topologies *ts, const struct ledger *l, node_id node);
/* Between cycles: lets go of what has grown out of proportion. True: of something; its domains get other numbers. */
bool topologies_trim(struct topologies *ts, const struct ledger *l);
void topologies_free(struct topologies *ts, const struct ledger *l);

struct framework;
/* The same, of a framework. For the thread that has the cycle. */
const struct topology *framework_topology(struct framework *f, name_id key);
