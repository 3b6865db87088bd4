/* SPDX-License-Identifier: Apache-2.0 */
/*
 * placement.h - YuniKorn's placement rules and access lists: from what a pod says to the path of a queue.
 *
 * Rules run in the order written. A rule makes a path, or none; whether work may go there (leaf, not drained, access)
 * is for resolve.h to say, which tries the next rule if not. Names are lower-cased. A name that is no path from the
 * root goes below what the parent rule gives, else below the root; a dot in it (but for fixed rules, whose values may
 * be paths) is written "_dot_".
 *
 * A rule that must not create needs a queue that somebody defines. Queues that other pods had made do not count, other
 * than in YuniKorn: who gets what would depend on who came first.
 *
 * Tags that pods show: "namespace", and "namespace.parentqueue" (the namespace's annotation
 * yunikorn.apache.org/parentqueue). Rules for other tags never match.
 */
#pragma once

#include "model/queue.h"

enum placement_kind {
	PLACEMENT_FIXED,
	PLACEMENT_USER,
	PLACEMENT_PROVIDED, /* the queue that the pod names */
	PLACEMENT_TAG,
	PLACEMENT_RECOVERY, /* matches nothing: pods that run and whose queue cannot be had are in none */
};

struct pattern;

struct placement_names { /* as written, names or not; or one expression that says which */
	uint32_t n;
	const char *const *names;
	const char *expression;	       /* NULL: the names count */
	const struct pattern *pattern; /* set by placement_new */
};

struct placement_filter { /* all zero: everybody may */
	bool denies;	  /* those it names; otherwise it allows them and nobody else */
	struct placement_names users, groups;
};

struct placement_rule {
	enum placement_kind kind;
	bool may_create;
	const char *value;		     /* fixed: name or path of a queue; tag: name of the tag; else NULL */
	const struct placement_rule *parent; /* NULL */
	struct placement_filter filter;
};

/* A copy of rules, ready to run. NULL and ERR_INPUT: an expression is not one (pattern_new). */
struct placement;
struct placement *placement_new(const struct placement_rule *rules, uint32_t n, struct err *e);
void placement_free(struct placement *p);						  /* NULL is fine */
const struct placement_rule *placement_rules(const struct placement *p, uint32_t *ret_n); /* p NULL: none */

struct placement_user {
	const char *name;
	const char *groups; /* joined by commas */
};

struct placement_ask { /* what rules look at */
	const struct queue_tree *tree;
	name_id queue;		  /* that the pod names */
	name_id ns, parent_queue; /* tags */
	name_id user_name;	  /* NAME_NONE: nobody knows */
	struct placement_user user;
};

enum placement_verdict {
	PLACEMENT_NO,	   /* the next rule */
	PLACEMENT_PATH,	   /* *path */
	PLACEMENT_REFUSED, /* it makes no path that can be, and no other rule is asked */
};
/* Tags that pods can show, in any case. */
bool placement_tag_is_known(const char *tag);
/* *path is overwritten. Refused: *ret_wanted is the name it was about. */
enum placement_verdict placement_run(const struct placement_rule *rule, const struct placement_ask *ask,
				     struct text *path, name_id *ret_wanted);

/* "users groups", each a list with commas or "*". Empty: nobody. Names that are none are passed over. */
bool acl_allows(const char *acl, const struct placement_user *user);

/* Somebody defines it: a queues.yaml or a Queue object. */
static inline bool queue_is_defined(const struct queue *q)
{
	return (q->spec.sources & (FROM_YUNIKORN | FROM_KAI)) != 0;
}
/* A defined queue that is a parent, whatever is made below it for pods. */
bool queue_is_defined_parent(const struct queue_tree *t, queue_id id);

/*
 * Regular expressions as queues.yaml has them (Go's), matched by POSIX means. What cannot be said there, or would grow
 * without measure, is refused: NULL.
 */
struct pattern *pattern_new(const char *expression);
void pattern_free(struct pattern *p); /* NULL is fine */
bool pattern_matches(const struct pattern *p, const char *s);
