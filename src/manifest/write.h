/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.h - what the writers of objects share. Inside manifest/ only.
 *
 * Nothing that is written may depend on ids, which differ from one reading to the next: labels, values and resource
 * types are put in the order of their names. A field that says nothing (an empty name, no time) is left out.
 */
#pragma once

#include "base/array.h"
#include "base/emit.h"
#include "cluster/cluster.h"

struct pair {
	const char *key, *value;
};

/* A map or list that is opened by the first who has something to put into it. */
struct write_part {
	const char *key;
	bool is_list, is_open;
};

struct writer {
	const struct cluster *c;
	const struct ledger *l;
	const struct vocab *v;
	struct names *names;
	const struct res_types *types;
	struct emit *e;
	struct text t;		  /* scratch: of one value */
	ARRAY(struct pair) pairs; /* scratch: of one map */
	ARRAY(name_id) ids;	  /* scratch: of one list */
	ARRAY(pod_id) evicted;	  /* by us, and the object does not know it yet */
	bool is_list;		  /* one List instead of documents */
	struct write_part items;  /* of the List */
	uint32_t n_objects;
	int64_t run_ns; /* of a pod that does not say itself how long it runs; 0: not known */
};

/* What is written in the order of its names: its id in the ledger, or its slot. */
struct sorted {
	name_id ns, name;
	uint32_t id;
};
typedef ARRAY(struct sorted) sorted_list;

struct emit *part_open(struct writer *w, struct write_part *p); /* what to write to */
void part_end(struct writer *w, struct write_part *p);

static inline const char *str(const struct writer *w, name_id id)
{
	return name_str(w->names, id);
}

/* write_fields.c */
void write_text(struct writer *w, const char *key, const char *s); /* "" is left out, and so on below */
void write_name(struct writer *w, const char *key, name_id name);
void write_time(struct writer *w, const char *key, int64_t ns);
void write_true(struct writer *w, const char *key, bool is_so);			     /* false is left out */
void write_strings(struct writer *w, const char *key, const name_id *v, uint32_t n); /* in their order */
name_id label_of(const struct writer *w, const struct labels *l, const char *key);   /* NAME_NONE: absent or empty */
/* Labels, and more of them that override nothing. */
void write_labels(struct writer *w, const char *key, const struct labels *l, const struct pair *more, uint32_t n_more);
/* A selector that matches nothing is left out; one that matches everything is {}. */
void write_selector(struct writer *w, const char *key, const struct selector *s);
void write_plain_selector(struct writer *w, const char *key, const struct selector *s); /* a map, as services have it */
void write_values(struct writer *w, const struct requirement *r);			/* "values" of a requirement */
void write_node_term(struct writer *w, const char *key, const struct node_term *t);
/* One name per type, those that every node has first. An empty set is {}. */
void write_amounts(struct writer *w, const char *key, const struct res_list *l);
void write_vector(struct writer *w, const char *key, const struct res_vec *v);
void write_yunikorn_vector(struct writer *w, const char *key,
			   const struct res_vec *v); /* cpu is "vcore"; empty is left out */
/* metadata.ownerReferences with the one controller, if there is any. */
void write_controller(struct writer *w, const char *kind, name_id name, struct uid uid);
const char *owner_kind_word(enum owner_kind kind); /* "" for none; "Other" where the word is not known any more */
const char *owner_api(const char *kind);	   /* apiVersion; "" if not known */

/* write.c: one object; metadata is open after object_begin, and at the top level after metadata_end. */
void object_begin(struct writer *w, const char *api, const char *kind, const char *ns, const char *name,
		  const char *uid);
void metadata_end(struct writer *w);
void object_end(struct writer *w);

/* write_queues.c */
void write_queues(struct writer *w);
/* write_pod.c */
void write_pod(struct writer *w, pod_id id);
/* write_spec.c: the fields of spec that follow from the shape. */
void write_shape(struct writer *w, const struct shape *s);
enum usage_kind { USAGE_AS_REQUESTED, USAGE_GROWN /* in some type more, in none less */, USAGE_OTHER };
enum usage_kind shape_usage_kind(const struct shape *s);
/* What pods of the shape score with is not what follows from what write_shape writes. */
bool shape_needs_scoring(const struct shape *s);
#define MAIN_CONTAINER "main" /* the one that has the requests */
