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

#include "engine/displace_answers.h"
#include "engine/displace_internal.h"

enum {
	SUM_TYPES = 4,
	SUM_LEVELS = 4,
	SUM_STARTS = 3,
	SUM_TABLES = 4,
	SUM_ENTRIES = 1 << 18,
	SUM_RANKS = 64,
	SUM_SLOTS = 128, /* a power of two, with room to spare for all ranks */
};

struct node_sums { /* by level; of more priorities than there are levels all higher ones share the last one */
	int32_t priority[SUM_LEVELS]; /* ascending, of the shared one the lowest */
	uint32_t n_pods[SUM_LEVELS];  /* up to it */
	int64_t starts[SUM_STARTS];   /* the last ones of pods of the lowest level, the last first */
	uint8_t n;		      /* levels */
	bool has_groups;	      /* somebody is in one */
	bool is_mixed;		      /* several priorities share the last level */
	/*
	 * A row for each level: the last start of its pods; for each type what pods up to this level hold; and the most
	 * that one of them does. A start is INT64_MAX where a pod does not say, INT64_MIN where there is none.
	 */
	int64_t rows[];
};

struct priority_sums { /* of the pods of one priority, while a node is summed up */
	int64_t starts[SUM_STARTS];
	int64_t frees[SUM_TYPES], most[SUM_TYPES];
	uint32_t n_pods;
};

struct sum_table { /* for one set of types */
	uint64_t types;
	uint64_t last_use;
	uint32_t n_types;
	size_t stride;	       /* bytes of a node */
	char *v;	       /* struct node_sums, by node id */
	uint64_t *generations; /* of the nodes they were made of; 0: not known */
	uint32_t n;
	uint8_t slot[RES_MAX]; /* of a type; SUM_TYPES: not asked for */
};

struct displace_sums {
	struct sum_table tables[SUM_TABLES];
	uint64_t clock;
};

/*
 * What is looked up once for many nodes: what pods of each shape hold of a table's types, and which priorities there
 * are. For one thread and one decision.
 */
struct sums_lookup {
	struct sum_table *t;
	const struct cede_cycle *c;
	const struct want *w;
	const struct pod *pods; /* the first; they lie one after the other */
	const struct ledger_node *nodes;
	int64_t *amounts; /* by shape, one after the other; the first -1: not known yet. NULL: looked up for each pod */
	/* Those met so far, ascending; of more than there are ranks all higher ones share the last. */
	int32_t priorities[SUM_RANKS];
	uint32_t n_priorities;
	bool is_shared; /* the last one is */
	struct {
		int32_t priority;
		uint32_t rank; /* and one more; 0: nobody's */
	} slots[SUM_SLOTS];
	struct priority_sums sums[SUM_RANKS]; /* by rank; nothing in them between two nodes */
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
struct sums_lookup *displace_sums_lookup(struct sum_table *t, const struct cede_cycle *c, const struct want *w,
					 uint32_t n_nodes);
/*
 * For a pod that displace_is_fast, of a node that refused it for want of room: so much more is wanted than there is
 * (below 0: there is more). *ret is what evictions cost there at least; the node in it is left alone.
 */
enum sums_say displace_sums_ask(struct sums_lookup *l, node_id node, const int64_t *lacks, struct status *ret_status,
				struct answer_cost *ret);
