/* SPDX-License-Identifier: Apache-2.0 */
/*
 * displace_sums.h - the pods of a node summed up by priority, and what default preemption would cost there at least.
 *
 * Nobody has to be sorted to know how far up it has to go: what pods of each priority hold, and the most that one of
 * them does, tells whether a node can be a candidate at all, the highest priority among its victims, how many they are
 * at least and when the first of them started at the latest. Most nodes lose by that alone; who would have to go is
 * found out only on the few that may win (displace_cache.c).
 *
 * Sums depend on nobody who waits but for the types he asks for: they are kept for each set of types until the node
 * changes. Several nodes may be summed up at once. For engine/ only.
 */
#pragma once

#include "engine/displace_internal.h"

enum { SUM_TYPES = 4, SUM_LEVELS = 4, SUM_STARTS = 3, SUM_TABLES = 4, SUM_ENTRIES = 1 << 18 };

struct node_sums { /* by level; of more priorities than there are levels the highest share the last one */
	int32_t priority[SUM_LEVELS]; /* ascending, of the shared one the lowest; INT32_MAX: not in use */
	uint32_t n_pods[SUM_LEVELS];  /* up to it */
	uint8_t n;
	bool has_groups; /* somebody is in one */
	bool is_mixed;	 /* several priorities share the last level */
	/*
	 * A row for each level: the last starts of its pods, the last first (INT64_MAX: it does not say; INT64_MIN:
	 * there are fewer); for each type what pods up to this level hold; and the most that one of them does.
	 */
	int64_t rows[];
};

/* What pods of each shape hold of a table's types, looked up once for all of them; for one thread and one decision. */
struct shape_amounts {
	int64_t *v; /* by shape, one after the other; the first -1: not known yet */
	uint32_t n; /* of them; 0: they are looked up for each pod */
};

struct sum_table { /* for one set of types */
	uint64_t types;
	uint64_t last_use;
	uint32_t n_types, width; /* width: of a row */
	size_t stride;		 /* bytes of a node */
	char *v;		 /* struct node_sums, by node id */
	uint64_t *generations;	 /* of the nodes they were made of; 0: not known */
	uint32_t n;
	uint8_t slot[RES_MAX]; /* of a type; SUM_TYPES: not asked for */
};

struct displace_sums {
	struct sum_table tables[SUM_TABLES];
	uint64_t clock;
};

/* What evictions on a node cost at least, in the order of displace_pick. */
struct least_cost {
	int64_t sum, not_before;
	uint32_t n_victims;
	int32_t highest;
};

enum sums_say {
	SUMS_ASK,   /* who would go has to be looked at */
	SUMS_OUT,   /* no candidate, for the status given */
	SUMS_LEAST, /* a candidate, at that cost at least */
};

void displace_sums_free(struct displace_sums *s);
/* The table for what is wanted, with room for all nodes; NULL: it asks for too many types. */
struct sum_table *displace_sums_for(struct displace_sums *s, const struct cede_cycle *c, const struct want *w);
/* For looking at so many nodes; in the cycle's arena. */
struct shape_amounts displace_sums_amounts(const struct sum_table *t, const struct cede_cycle *c, uint32_t n_nodes);
/* Brought up to date. */
const struct node_sums *displace_sums_of(struct sum_table *t, const struct cede_cycle *c, node_id node,
					 struct shape_amounts *a);
struct sums_question { /* about one node */
	const struct sum_table *t;
	const struct cede_cycle *c;
	const struct want *w;
	node_id node;
	const int64_t *room; /* as displace_room has it */
};
/* For a pod that displace_is_fast, of a node that refused it for want of room; s: its sums. */
enum sums_say displace_sums_ask(const struct sums_question *q, const struct node_sums *s, struct status *ret_status,
				struct least_cost *ret);
