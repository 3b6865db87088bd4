/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yunikorn.h - a `partitions:` document between reading and checking. Inside manifest/ only.
 *
 * Reading goes through a partition once, in the order written, and refuses what is wrong with a value by itself. What
 * is wrong between queues is found afterwards, on flat rows in which parents stand before their children. Messages
 * speak of one queue at a time and give the field as seen from there: "queues.yaml:9:23: queue root.ml:
 * resources.max.memory: ...".
 */
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "manifest/config_fields.h"

#define YK_NONE UINT32_MAX

struct yk_queue {
	const struct tree *t; /* of a root that nobody wrote, the partition's */
	uint32_t parent;      /* row; YK_NONE for the root */
	uint32_t depth;
	struct queue_def def;	/* amounts as written until yk_settle */
	struct res_vec ceiling; /* the smallest maximum on the way to the root */
	struct res_vec claimed; /* what is guaranteed to the children, together */
};

struct yk {
	struct reader r;
	struct arena *arena;	       /* of the result */
	ARRAY(struct yk_queue) queues; /* of the partition at hand */
	struct name_bag words;	       /* names that are compared while reading */
	name_id any;		       /* "*", in words */
	struct map segments;	       /* (row of the parent, segment) -> row */
	struct map users, groups;      /* (row, name) -> its limit */
};

static inline struct yk_queue *yk_row(struct yk *y, uint32_t i)
{
	return &y->queues.v[i];
}

/* From now on messages are about this queue. Gives its place, from which fields are reached. */
struct at yk_speak_of(struct yk *y, uint32_t row);

/* yunikorn_queues.c: one queue and all below it, into rows. */
uint32_t yk_add(struct yk *y, uint32_t parent, const struct tree *t, const char *segment);
enum err_code yk_read_queue(struct yk *y, uint32_t row, struct err *e);
enum err_code yk_read_children(struct yk *y, uint32_t row, const struct at *queues, struct err *e);
/* A map of amounts as written: syntax checked, nothing cut. */
enum err_code yk_amounts(struct yk *y, const struct at *a, struct res_vec *ret, struct err *e);
void yk_cut(struct res_vec *v); /* to what the ledger takes */

/* yunikorn_checks.c */
enum err_code yk_check_resources(struct yk *y, struct err *e);
enum err_code yk_check_max_apps(struct yk *y, struct err *e);
/* The first type of what in which it is above limit; RES_NONE: it fits. Types that limit does not state are free. */
res_id yk_excess(const struct res_vec *limit, const struct res_vec *what);
/* The name of a type in queues.yaml. */
const char *yk_type_name(const struct yk *y, res_id r);
/* Both amounts of a type as text, in the memory of the result. */
const char *yk_amount(const struct yk *y, res_id r, int64_t amount);

/* yunikorn_limits.c: limits of users and groups. */
enum err_code yk_read_limits(struct yk *y, uint32_t row, const struct at *limits, struct queue_spec *spec,
			     struct err *e);
enum err_code yk_check_limits(struct yk *y, struct err *e); /* against those above */
bool yk_name_is_valid(const char *s, bool is_group);
bool yk_limits_equal(const struct queue_spec *a, const struct queue_spec *b);

/* yunikorn_placement.c: rules, and whether the paths of fixed ones can exist. */
enum err_code yk_read_placement(struct yk *y, const struct at *rules, struct yunikorn_config *ret, struct err *e);
