/* SPDX-License-Identifier: Apache-2.0 */
/*
 * past.h - who was evicted when: what the rules thrash and eviction-rate look at.
 *
 * Filled by whoever knows (a journal, a simulation, a daemon) and read by rules; time is data. A unit is what comes
 * back after an eviction: a pod group, else the controller that makes the pod anew, else the pod.
 */
#pragma once

#include "base/map.h"
#include "base/names.h"
#include "base/text.h"
#include "cluster/cluster.h"

struct past_entry {
	int64_t at_ns;
	name_id unit, queue;		      /* queue: its path; NAME_NONE if it had none */
	uint32_t next_of_unit, next_of_queue; /* the one before in time; UINT32_MAX */
};

struct past {
	struct name_bag bag;
	ARRAY(struct past_entry) v;   /* in order of time */
	struct map by_unit, by_queue; /* name -> the last */
};

void past_init(struct past *h, struct names *names);
void past_free(struct past *h);
/* In order of time: at_ns is not before the last. */
void past_add(struct past *h, int64_t at_ns, const char *unit, const char *queue);

struct past_count {
	uint32_t n;
	int64_t first_ns, last_ns; /* of those counted */
};
/* Evictions after since_ns. NULL: none. */
struct past_count past_of_unit(const struct past *h, name_id unit, int64_t since_ns);
struct past_count past_of_queue(const struct past *h, name_id path, int64_t since_ns);

/* "ml/train" of a group, "web/ReplicaSet/front" of a controller's pods, "web/db-0" of others. */
void past_unit(const struct cluster *c, const struct pod *p, struct text *out);
