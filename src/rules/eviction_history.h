/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eviction_history.h - who was evicted when: what the rules thrash and eviction-rate look at.
 *
 * Filled by whoever knows (a journal, a simulation, a daemon) and read by rules; time is data. A workload is what comes
 * back after an eviction: a pod group, else the controller that makes the pod anew, else the pod.
 */
#pragma once

#include "base/bits.h"
#include "base/map.h"
#include "base/names.h"
#include "base/text.h"
#include "cluster/cluster.h"

struct eviction_record {
	int64_t at_ns;
	name_id workload, queue;		  /* queue: its path; NAME_NONE if it had none */
	name_id own_name;			  /* what the workload is called, without namespace and kind */
	uint32_t next_of_workload, next_of_queue; /* the one before in time; UINT32_MAX */
	uint32_t next_of_name;
};

struct eviction_history {
	struct name_bag bag;
	ARRAY(struct eviction_record) v;  /* in order of time */
	struct map by_workload, by_queue; /* name -> the last */
	struct map by_own_name;
	struct bits repeated; /* own names that are there more than once: most who are asked about are not */
};

void eviction_history_init(struct eviction_history *h, struct names *names);
void eviction_history_free(struct eviction_history *h);
/* In order of time: at_ns is not before the last. */
void eviction_history_add(struct eviction_history *h, int64_t at_ns, const char *workload, const char *queue);
void eviction_history_copy(struct eviction_history *to, const struct eviction_history *from); /* adds all; NULL: none */

struct eviction_count {
	uint32_t n;
	int64_t first_ns, last_ns; /* of those counted */
};
/* Evictions after since_ns. NULL: none. */
struct eviction_count eviction_history_of_workload(const struct eviction_history *h, name_id workload,
						   int64_t since_ns);
struct eviction_count eviction_history_of_queue(const struct eviction_history *h, name_id path, int64_t since_ns);

/* The last one of a workload, and the one before it; NULL: there is none. */
const struct eviction_record *eviction_history_last(const struct eviction_history *h, name_id workload);
const struct eviction_record *eviction_history_before(const struct eviction_history *h,
						      const struct eviction_record *e);

/* No: the pod's workload has fewer than n after since_ns, which is found out without its name being put together. */
bool eviction_history_may_have(const struct eviction_history *h, const struct ledger *l, const struct pod *p,
			       int64_t since_ns, uint32_t n);

/* "ml/train" of a group, "web/ReplicaSet/front" of a controller's pods, "web/db-0" of others. */
void eviction_history_workload(const struct cluster *c, const struct pod *p, struct text *out);
