/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_internal.h - what the files of the cluster share. For src/cluster/cluster*.c and resolve.c only.
 *
 * What was said is kept in three places: pods, groups, nodes and budgets in the ledger; classes, namespaces and owners
 * here; the definitions of queues by source, as they came, here too (the tree holds what they give together).
 * Everything resolved is a function of that. cluster_objects.c keeps the registries, cluster_queues.c turns sets of
 * queues into changes of the tree, cluster_dynamic.c makes queues for pods, resolve.c and resolve_placement.c hold the
 * rules and change nothing, cluster.c applies them.
 */
#pragma once

#include "base/bits.h"
#include "cluster/cluster.h"
#include "cluster/placement.h"
#include "ledger/id_index.h"

struct owner_list { /* with a selector, in one namespace; by kind and name */
	name_id ns; /* held */
	ARRAY(const struct obj_owner *) v;
};

/* The definitions of one source, as they came. */
struct queue_set {
	struct arena *arena; /* holds the array and its strings */
	struct queue_def *defs;
	uint32_t n;
};

/* Warnings that were given. */
struct told {
	ARRAY(char *) texts; /* not read yet, from next on */
	uint32_t next;
	struct map hashes;	  /* of all texts ever given out, so that each is said once */
	struct bits pods, groups; /* somebody found fault with them: looked at again when warnings are read */
	char *last;		  /* given out, valid until the next */
};

struct cluster {
	struct vocab *vocab;
	struct names *names;
	struct ledger *ledger;
	struct cluster_options options;
	int64_t latest_ns; /* a start after this is of the future; TIME_NONE: nobody knows what is */
	name_id preemptibility_key, default_name; /* held */

	ARRAY(struct obj_class *) classes;	  /* sorted by name */
	const struct obj_class *default_class;	  /* of those that say so the one with the lowest value; NULL */
	ARRAY(struct obj_namespace *) namespaces; /* sorted by name */

	ARRAY(struct obj_owner *) owners; /* by slot; NULL is a free slot */
	ARRAY(uint32_t) free_owners;
	struct map owner_by_name;   /* namespace and name -> first slot of that name, of whatever kind */
	ARRAY(uint32_t) owner_next; /* by slot: the next of the same name; ID_NONE */
	uint32_t n_owners;
	struct owner_order *owner_order; /* by kind, namespace and name; made when somebody asks */
	struct map selecting_by_ns;	 /* -> position in selecting */
	ARRAY(struct owner_list) selecting;

	struct id_index by_group;	  /* pods by the group they name, there or not */
	struct id_index by_owner;	  /* pods by namespace and name of their controller */
	struct id_index by_nomination;	  /* waiting pods by the node they are nominated to */
	struct id_index owners_by_parent; /* owners' slots by namespace and name of their controller */
	/* By group: the member with the first name. It speaks for the group where the group itself says nothing. */
	ARRAY(pod_id) speakers;

	struct queue_set sets[2];    /* YuniKorn, KAI */
	struct placement *placement; /* NULL: no rules */
	bool has_yunikorn, has_acl;  /* the set of YuniKorn is not empty; it has access lists */

	/* What cluster_keep has to do. */
	bool is_draining;	  /* some queue may be, or be needless for another reason */
	bool is_reshaped;	  /* templates may be others */
	bool is_unsettled;	  /* all is to be resolved again */
	bool is_blocked;	  /* somebody would have a queue if a dynamic one were gone */
	ARRAY(queue_id) vacated;  /* dynamic queues that may be empty */
	struct bits stale_leaves; /* dynamic ones, of which other namespaces may speak */
	struct told told;
	struct storage *storage;
};

/* ---- cluster.c ---- */

/*
 * Every call from outside: take the mark, change,
 * then keep it (committed unless somebody outside holds a mark) or roll back to it.
 */
void cluster_keep(struct cluster *c, ledger_mark at_entry);

bool cluster_find_names(const struct cluster *c, const char *ns, const char *name, name_id *ret_ns, name_id *ret_name);
/* What the ledger has for a pod; and to have it otherwise. */
struct pod_entry cluster_entry_of(const struct pod *p);
void cluster_apply_entry(struct cluster *c, pod_id pod, const struct pod_entry *entry);
void cluster_resolve_pod(struct cluster *c, pod_id pod);
void cluster_resolve_owned(struct cluster *c, pod_id pod); /* and what its group takes from it */
void cluster_resolve_namespace(struct cluster *c, name_id ns);
void cluster_resolve_all(struct cluster *c);
/* Its pods and groups are in no queue until they are resolved again. */
void cluster_detach_queue(struct cluster *c, queue_id q);
/* Queues that are not needed go, and who depends on them is resolved again, until nothing changes. */
void cluster_tidy(struct cluster *c);

static inline const struct queue_tree *tree_of(const struct cluster *c)
{
	return ledger_queues(c->ledger);
}
static inline name_id ns_of(const struct cluster *c, labelset_id labelset)
{
	return labelset_get(c->vocab, labelset)->ns;
}
static inline pod_id speaker_of(const struct cluster *c, group_id g)
{
	return g < c->speakers.n ? c->speakers.v[g] : POD_NONE;
}

static inline bool pod_is_on_node(enum pod_state state)
{
	return state == POD_PLACED || state == POD_LEAVING;
}
static inline uint64_t group_key(name_id ns, name_id group)
{
	return group != NAME_NONE ? map_key2(ns, group) : 0;
}

/* ---- cluster_groups.c ---- */
struct obj_group cluster_group_copy(const struct cluster *c, const struct obj_group *o);
void cluster_find_speaker(struct cluster *c, group_id g);
/* What follows from the group and its speaker. True if its pods have to follow. */
bool cluster_settle_group(struct cluster *c, group_id g);
void cluster_join_group(struct cluster *c, group_id g, pod_id pod);  /* it is, or stays, a member; GROUP_NONE is fine */
void cluster_leave_group(struct cluster *c, group_id g, pod_id pod); /* it was a member; by_group knows it is not */
/* A pod says something of a gang, and said something before; either may be NULL. */
void cluster_gang_said(struct cluster *c, const struct obj_pod *now, const struct obj_pod *was);
/* Is a gang of this kind one in this profile? */
bool cluster_reads_gang(const struct cluster *c, const struct pod_gang *g);

/* ---- cluster_objects.c ---- */
void cluster_objects_init(struct cluster *c);
void cluster_objects_free(struct cluster *c);

/* ---- storage.c ---- */
struct storage *storage_new(const struct names *names);
void storage_free(struct storage *s, struct vocab *v);

/* ---- cluster_warn.c ---- */
void cluster_warn(struct cluster *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void told_free(struct told *t);

/* ---- cluster_queues.c ---- */
/* The queue of pods without one, made if need be. QUEUE_NONE: somebody made root.default.default a parent. */
queue_id cluster_default_leaf(struct cluster *c);
/*
 * Queues that are drained or that nobody defines go when nobody is in them. True: some did, and all is to be resolved
 * again.
 */
bool cluster_drop_idle_queues(struct cluster *c);
void queue_set_free(struct queue_set *s);

/* ---- cluster_dynamic.c ---- */
struct queue_ask;
/* What resolve_queue says, made if need be. QUEUE_NONE: no queue. */
queue_id cluster_queue_for(struct cluster *c, const struct queue_ask *ask);
/* A pod has gone from one queue to another, or come, or gone (pod is POD_NONE then); QUEUE_NONE is fine. */
void cluster_changed_queue(struct cluster *c, pod_id pod, name_id ns, queue_id from, queue_id to);
void cluster_left_queue(struct cluster *c, queue_id q);	      /* a group has */
void cluster_namespace_speaks(struct cluster *c, queue_id q); /* anew, of a pod in q */
bool cluster_queue_has_groups(const struct cluster *c, queue_id q);
bool cluster_drop_vacated_queues(struct cluster *c); /* true: some went */
void cluster_refresh_dynamic(struct cluster *c);     /* what they were told */
