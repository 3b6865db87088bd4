/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fields.h - reading typed fields out of a tree, with errors that say where.
 *
 * A struct at is a place in a document: a value and the way to it. Places live on the stack and point to the place
 * above, so that the path ("spec.containers[0].resources.requests.cpu") is put together only when something is wrong
 * with it:
 *
 *	pods.yaml:12:9: Pod ml/train: spec.containers[0].resources.requests.cpu:
 *	expected a quantity such as 500m or 16Gi, found "4x"       (all in one line)
 *
 * Absent and null fields are the same. All get_* leave *ret alone when the field is absent.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/text.h"
#include "manifest/tree.h"
#include "model/shape.h"
#include "units/quantity.h"

struct reader {
	struct vocab *vocab;
	struct names *names;
	struct arena *scratch; /* for drafts; reset by whoever made the reader */
	const char *file;
	struct text *notes;	     /* may be NULL */
	struct shape_memory *shapes; /* may be NULL */
	bool is_lenient;
	bool owns_scratch;
	char subject[160]; /* "Pod ml/train" */
};

struct at {
	const struct at *up;
	const struct tree *t; /* NULL: absent */
	const char *key;      /* of a field; NULL for an item */
	uint32_t index;
};

#define TRY(x)                           \
	do {                             \
		enum err_code rc_ = (x); \
		if (rc_)                 \
			return rc_;      \
	} while (0)

struct at at_root(const struct tree *t);
static inline const struct tree *at_present(const struct tree *t)
{
	return t && t->kind != TREE_NULL ? t : NULL;
}
static inline struct at at_field(const struct at *up, const char *key) /* .t NULL when absent, null, or up is no map */
{
	return (struct at){.up = up, .t = at_present(tree_get(up->t, key)), .key = key};
}
struct at at_item(const struct at *up, uint32_t i);
static inline uint32_t at_count(const struct at *a) /* items of a list, 0 if absent */
{
	return a->t && a->t->kind == TREE_LIST ? a->t->n : 0;
}

/* "file:line:column: subject: path: " + the words. */
#define at_fail(r, a, e, ...) (at_say((r), (a), (e), __VA_ARGS__), err_same(ERR_INPUT))
void at_say(const struct reader *r, const struct at *a, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), cold));
void at_note(const struct reader *r, const struct at *a, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), cold));
/* "expected WHAT, found ..." */
enum err_code at_expected(const struct reader *r, const struct at *a, struct err *e, const char *what)
	__attribute__((cold));

/* The value is of this kind or absent. */
enum err_code at_want(const struct reader *r, const struct at *a, enum tree_kind kind, struct err *e);

enum err_code get_text(const struct reader *r, const struct at *up, const char *key, const char **ret, struct err *e);
/* with a reference */
enum err_code get_name(const struct reader *r, const struct at *up, const char *key, name_id *ret, struct err *e);
enum err_code get_bool(const struct reader *r, const struct at *up, const char *key, bool *ret, struct err *e);
enum err_code get_int(const struct reader *r, const struct at *up, const char *key, int64_t min, int64_t max,
		      int64_t *ret, struct err *e);
enum err_code get_int32(const struct reader *r, const struct at *up, const char *key, int32_t *ret, struct err *e);
enum err_code get_double(const struct reader *r, const struct at *up, const char *key, double *ret, struct err *e);
enum err_code get_time(const struct reader *r, const struct at *up, const char *key, int64_t *ret_ns, struct err *e);
/*
 * The same for times that tenants or other machines' clocks write: an unreadable one is noted and as good as none,
 * because nobody must stop the reading of everybody's objects with it.
 */
void get_time_or_note(const struct reader *r, const struct at *up, const char *key, int64_t *ret_ns);
/* A number or a string. */
enum err_code at_quantity(const struct reader *r, const struct at *a, struct quantity *ret, struct err *e);
/* A map of resource amounts: names checked, no negative amounts, no overflow. Types are added to the vocab. */
enum err_code at_resources(const struct reader *r, const struct at *a, struct res_vec *ret, struct err *e);

/*
 * metadata.name and namespace; sets the subject from them.
 * default_ns is taken when there is none (NULL: not namespaced).
 */
enum err_code get_identity(struct reader *r, const struct at *root, const char *kind, const char *default_ns,
			   const char **ret_ns, const char **ret_name, struct err *e);
/* metadata.labels as unsorted pairs in the reader's scratch arena; names held by bag. */
enum err_code get_labels(const struct reader *r, const struct at *metadata, const char *key, struct name_bag *bag,
			 struct label **ret, uint32_t *ret_n, struct err *e);
/* The text of one label or annotation, NULL if absent. */
const char *map_text(const struct tree *map, const char *key);

/* Selectors: label selector objects and node selector terms. Arrays in arena a, names in bag. */
enum err_code at_label_selector(const struct reader *r, const struct at *a, struct arena *arena, struct name_bag *bag,
				struct selector *ret, struct err *e);
enum err_code at_node_term(const struct reader *r, const struct at *a, struct arena *arena, struct name_bag *bag,
			   struct node_term *ret, struct err *e);

/* Configuration only: refuse fields that are not in the list (NULL-terminated), with "did you mean". */
enum err_code at_only(const struct reader *r, const struct at *a, const char *const *known, struct err *e);
/* The nearest of the known words within a small edit distance, NULL if none is near. */
const char *nearest_word(const char *word, const char *const *known);
int words_find(const char *const *words, const char *word); /* its index in the list; -1: not there */
