/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.h - the queue tree: what each queue was told, and what follows from it.
 *
 * One tree for all systems. Its root is always there (id 0, path "root"). A queue is told things by a YuniKorn
 * queues.yaml, by a KAI Queue object, or by both (they must agree in what both state); or it is dynamic (made from its
 * parent's template for work that names it) or implicit (root.default). Paths are lower-case segments joined by dots; a
 * dot inside a segment is written "_dot_".
 *
 * Ids are dense and reused. The tree knows structure and settings only; what is used in a queue is the ledger's
 * business.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/map.h"
#include "base/names.h"
#include "base/text.h"
#include "model/res.h"
#include "units/week_hours.h"

typedef uint32_t queue_id;
#define QUEUE_NONE UINT32_MAX
#define QUEUE_ROOT 0u
#define QUEUE_DEPTH_MAX 64

enum preemption_policy { POLICY_DEFAULT, POLICY_FENCE, POLICY_DISABLED };
enum app_sort { SORT_FIFO, SORT_FAIR };

/* Which settings were stated (one bit each); the others have their defaults. */
enum queue_stated {
	STATED_SORT = 1 << 0,
	STATED_SORT_PRIORITY = 1 << 1,
	STATED_PRIORITY_POLICY = 1 << 2,
	STATED_PRIORITY_OFFSET = 1 << 3,
	STATED_PREEMPTION_POLICY = 1 << 4,
	STATED_PREEMPTION_DELAY = 1 << 5,
	STATED_QUOTA_DELAY = 1 << 6,
	STATED_BACKOFF = 1 << 7,
	STATED_BACKOFF_DELAY = 1 << 8,
	STATED_PROTECTED_HOURS = 1 << 9,
	STATED_END = 1 << 10,
};

#define PREEMPTION_DELAY_DEFAULT_NS (30 * NS_PER_S)

/* YuniKorn properties, parsed. */
struct queue_props {
	uint32_t stated; /* of enum queue_stated */
	enum app_sort sort;
	bool sort_ignores_priority;
	bool is_priority_fence;
	int32_t priority_offset;
	enum preemption_policy preemption_policy;
	int64_t preemption_delay_ns;
	int64_t quota_delay_ns; /* 0: off */
	uint64_t backoff;
	int64_t backoff_delay_ns;
	struct week_hours protected_hours; /* cede.dev/protected-hours; also an annotation of KAI's Queue objects */
};
#define PROTECTED_HOURS_KEY "cede.dev/protected-hours"

struct queue_template {
	struct res_vec guaranteed, max;
	struct queue_props props;
	uint64_t max_apps;
};

struct queue_limit { /* of users or groups; names in the queue's bag */
	name_id text;
	uint32_t n_users, n_groups;
	name_id *users, *groups;
	bool has_max;
	struct res_vec max;
	uint64_t max_apps;
};

enum kai_res { KAI_GPU, KAI_CPU, KAI_MEMORY, KAI_RES };
struct kai_share { /* as the Queue object writes it: GPUs, millicores, megabytes (10^6); -1 unlimited */
	double quota, limit, over_quota_weight;
};

enum queue_source {
	FROM_YUNIKORN = 1,
	FROM_KAI = 2,
	FROM_TEMPLATE = 4,
	FROM_NOBODY = 8, /* implicit: root, root.default */
};

/* Everything a queue was told. */
struct queue_spec {
	uint32_t sources; /* of enum queue_source */
	bool is_parent;	  /* stated `parent: true`, or has children in its definition */
	struct res_vec guaranteed, max;
	struct queue_props props;
	uint64_t max_apps; /* 0: unlimited */
	struct queue_template
		*child_template; /* heap, owned; NULL: none. Few have one, and it is half as large as all the rest */
	uint32_t n_limits;
	struct queue_limit *limits; /* heap, owned */
	name_id submit_acl, admin_acl;
	/* KAI */
	name_id kai_name; /* metadata.name; NAME_NONE if no Queue object made it */
	name_id display_name;
	bool has_kai_resources;
	struct kai_share kai[KAI_RES];
	int32_t kai_priority;					/* 100 unless set */
	int64_t preempt_min_runtime_ns, reclaim_min_runtime_ns; /* TIME_NONE: not set */
	int64_t created_ns;
	struct name_bag bag; /* every name in the spec has a reference in it */
};

void queue_spec_init(struct queue_spec *s, struct names *names); /* nothing stated, defaults everywhere */
void queue_spec_free(struct queue_spec *s);
struct queue_spec queue_spec_copy(const struct queue_spec *s);	  /* to be freed */
struct queue_template *queue_spec_template(struct queue_spec *s); /* its own, made if there was none */

struct queue {
	queue_id parent; /* QUEUE_NONE for the root */
	uint32_t depth;	 /* root 0 */
	name_id path, segment;
	bool is_live, is_draining;
	struct queue_spec spec;
	struct queue_props props; /* effective: inherited and own */
	ARRAY(queue_id) children; /* sorted by path */
};

struct queue_tree {
	struct names *names;
	ARRAY(struct queue) q;
	ARRAY(queue_id) free_ids; /* descending */
	struct map by_path;	  /* name_id of path -> id */
	struct map by_kai;	  /* name_id of the KAI name -> id */
};

void queue_tree_init(struct queue_tree *t, struct names *names); /* with the root */
void queue_tree_free(struct queue_tree *t);

static inline const struct queue *queue_get(const struct queue_tree *t, queue_id id)
{
	return &t->q.v[id];
}
static inline bool queue_is_leaf(const struct queue_tree *t, queue_id id)
{
	return id != QUEUE_ROOT && t->q.v[id].children.n == 0 && !t->q.v[id].spec.is_parent;
}

queue_id queue_tree_find(const struct queue_tree *t, const char *path, size_t len); /* any case; QUEUE_NONE */
queue_id queue_tree_find_kai(const struct queue_tree *t, name_id kai_name);

/* "a.b" -> "a_dot_b", lower case; the segment of a path for a name. */
void queue_segment_text(const char *name, size_t len, struct text *out);
/* Pattern of YuniKorn queue names. */
bool queue_name_is_valid(const char *name, size_t len);

/*
 * Structure. The spec is moved into the tree (and given back by drop); what the caller is left with is empty. Adding
 * below a parent that is full of depth (a queue is less than QUEUE_DEPTH_MAX deep), or a segment that exists there, is
 * an error, and the spec stays the caller's. A segment is lower-cased and must have no dot. queue_tree_move refuses
 * cycles (MR-7) and leaves the tree as it was.
 *
 * All of it can be taken back exactly: an add by a drop, a drop by a restore, a set by a set, a move by a move. A new
 * queue has the smallest id that is free, so the same steps give the same ids again.
 */
enum err_code queue_tree_add(struct queue_tree *t, queue_id parent, const char *segment, size_t len,
			     struct queue_spec *spec, queue_id *ret, struct err *e);
/* swap settings */
void queue_tree_set(struct queue_tree *t, queue_id id, struct queue_spec *spec, struct queue_spec *ret_old);
enum err_code queue_tree_move(struct queue_tree *t, queue_id id, queue_id new_parent, struct err *e);
/* asserts: no children, not the root */
void queue_tree_drop(struct queue_tree *t, queue_id id, struct queue_spec *ret_old);
/*
 * A dropped queue comes back under its id, not draining. Asserts that the id and the place are free.
 * segment as queue_get had it.
 */
void queue_tree_restore(struct queue_tree *t, queue_id id, queue_id parent, const char *segment,
			struct queue_spec *spec);
void queue_tree_drain(struct queue_tree *t, queue_id id, bool is_draining);

/* Lowest common ancestor, O(depth). */
queue_id queue_lca(const struct queue_tree *t, queue_id a, queue_id b);
/*
 * The child of ancestor on the way to id; id itself if its parent is ancestor. QUEUE_NONE if ancestor is not above id.
 */
queue_id queue_step_down(const struct queue_tree *t, queue_id ancestor, queue_id id);
bool queue_is_above(const struct queue_tree *t, queue_id ancestor, queue_id id); /* or the same */
/* Number of edges between two queues. */
uint32_t queue_distance(const struct queue_tree *t, queue_id a, queue_id b);

/*
 * Effective properties, as configured queues inherit them: everything passes down but priority.policy, priority.offset
 * and preemption.policy other than disabled. Dynamic queues: their template's, then the parent's for what the template
 * leaves out (a departure from YuniKorn that requirements ask for in `preemption.delay` and `preemption.policy:
 * disabled`). In an effective set, stated tells what the queue or one above it stated.
 */
struct queue_props queue_effective(const struct queue_props *parent, const struct queue_props *own);
struct queue_props queue_props_default(void);
/*
 * What the tree keeps in queue.props: the same (parent NULL: the root), but a queue that neither queues.yaml nor a
 * template defines (only a KAI Queue object, or nobody) has no preemption delay, whatever is above it, and passes none
 * on.
 */
struct queue_props queue_props_resolve(const struct queue_props *parent, const struct queue_spec *spec);
/* Copy the properties in which (a set of enum queue_stated), and mark them stated. */
void queue_props_take(struct queue_props *to, const struct queue_props *from, uint32_t which);
/* Smallest maximum per type from the queue up to the root. */
void queue_effective_max(const struct queue_tree *t, queue_id id, struct res_vec *ret);

/*
 * Would a queues.yaml with these amounts be read? Guaranteed within max, max within the max above, and what the
 * children of a queue are guaranteed together within both. KAI Queue objects may say what they like.
 */
enum err_code queue_amounts_check(const struct queue_tree *t, struct err *e);

/*
 * One property as text, e.g. "preemption.delay": "10s". Unknown keys give false. A bad value sets the default (and
 * counts as stated: it hides the parent's) and *ret_is_bad, which may be NULL.
 */
bool queue_prop_set(struct queue_props *p, const char *key, const char *value, bool *ret_is_bad);
/* The key of one of enum queue_stated, and its value in p as queue_prop_set reads it. */
const char *queue_prop_key(enum queue_stated which);
void queue_prop_text(const struct queue_props *p, enum queue_stated which, struct text *out);

/*
 * Two definitions of one queue joined: what only one states is taken over, what both state must be equal (ONE-2). e
 * names the setting and both values. *into keeps its own on error. Resources are compared by type. A KAI quota (but 0,
 * which states nothing) is compared with the other's guaranteed, a KAI limit (but 0 and -1) with its max; memory may
 * differ by less than KAI's unit, a megabyte.
 */
enum err_code queue_spec_merge(struct queue_spec *into, const struct queue_spec *other, const struct res_types *types,
			       struct err *e);

/*
 * YuniKorn's reading of guaranteed and max:
 * they count only with a positive amount and no negative one, else nothing is stated.
 */
void queue_res_settle(struct res_vec *v);
/*
 * The spec of a dynamic queue below one told *parent: a leaf has the template's resources, properties and max_apps, a
 * parent hands the template on.
 */
void queue_spec_dynamic(struct queue_spec *ret, const struct queue_spec *parent, bool is_leaf, struct names *names);
/*
 * What KAI's shares mean as amounts: quotas (-1: RES_UNLIMITED, 0: not stated, fractions up) and limits (-1: not
 * stated, fractions down). gpu is the type that KAI_GPU counts; RES_NONE leaves it out. Without has_kai_resources both
 * are empty.
 */
void queue_kai_vectors(const struct queue_spec *s, res_id gpu, struct res_vec *ret_guaranteed, struct res_vec *ret_max);
