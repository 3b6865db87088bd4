/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - one tree for YAML and JSON, which knows where each value stood.
 *
 * Documents are read one at a time from a reader; a tree lives in the arena given to tree_next and dies with it. The
 * items of a List are handed out one by one as documents of their own, so that a list of 150,000 pods never exists as
 * one tree. A List is a document with a top-level `items` whose kind ends in "List", or whose items are objects that
 * carry their own kind and apiVersion. What stands beside `items` is read and forgotten. Only where YAML items come
 * before the kind, and say nothing of themselves, are they held until it is known.
 *
 * Hostile input is expected: nesting deeper than 200, aliases that expand to more than a million values, keys longer
 * than 1 KiB, more than 64 million values in one tree, more than 2 GiB, invalid UTF-8, NUL bytes, tabs as indentation,
 * duplicate keys in one map: all are errors with "file:line:column: ". Columns count code points, from 1.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

enum tree_kind { TREE_NULL, TREE_BOOL, TREE_NUMBER, TREE_STRING, TREE_LIST, TREE_MAP };

struct tree;

struct tree_field {
	const char *key;
	uint32_t key_len;
	uint32_t line, col; /* of the key */
	const struct tree *value;
};

/*
 * A scalar keeps its text: of a string the string, of a number or bool the letters as written ("1.50", "0x10",
 * "True"), of null "". Plain YAML scalars get their kind by the core schema of YAML 1.2: null ~ true false (also True,
 * TRUE), integers (also 0x and 0o), floats; yes, no, on and off are strings, and so is everything quoted. Of tags only
 * !!str !!int !!float !!bool !!null count. Text is NUL-terminated, without NUL inside. Values that came through a YAML
 * alias or a merge key (<<) stand where their anchor stood.
 */
struct tree {
	enum tree_kind kind : 8;
	bool truth;	    /* of a bool */
	uint32_t line, col; /* from 1 */
	uint32_t n;	    /* fields, items, or bytes of text */
	union {
		const char *text;
		const struct tree_field *fields; /* in the order written, merged ones last; keys unique */
		const struct tree *const *items;
	};
};

struct tree_reader;

/*
 * data stays the caller's and must outlive the reader. name is for messages. What begins as JSON does, with { or [ and
 * then a quote, a bracket or (in a list) a number, is read as JSON, maps and lists one after the other as documents;
 * everything else is YAML, which may hold several documents (the first of them may be JSON). Problems of the input as
 * a whole are told by the first tree_next.
 */
struct tree_reader *tree_reader_new(const char *name, const char *data, size_t len);
void tree_reader_free(struct tree_reader *r); /* NULL is fine */

/*
 * The next document or list item: ERR_OK with root set (a map, or whatever stands there; documents that are empty or
 * null are skipped), or with root NULL at the end. After an error the reader is at its end. list_kind and list_api are
 * what the enclosing list implies for items without a kind of their own ("PodList" -> "Pod" with the list's
 * apiVersion), else "". Everything returned lives in a.
 */
struct tree_doc {
	const struct tree *root;	  /* NULL: no more */
	const char *list_kind, *list_api; /* "" if not in a typed list */
};
enum err_code tree_next(struct tree_reader *r, struct arena *a, struct tree_doc *ret, struct err *e);

/*
 * One JSON value and nothing behind it, with the same limits; a List is not taken apart. For answers of an API server,
 * where what stands beside `items` counts. The tree lives in a.
 */
enum err_code tree_parse_json(const char *name, const char *data, size_t len, struct arena *a, const struct tree **ret,
			      struct err *e);

/* As it was read; of one that is not deep, because an emitter has 64 levels. */
struct emit;
enum { TREE_EMIT_DEPTH = 60 };
void tree_emit(struct emit *e, const char *key, const struct tree *t);
bool tree_is_deep(const struct tree *t);

/* A deep copy in a. */
const struct tree *tree_copy(struct arena *a, const struct tree *t);
/* The map with kind and apiVersion, which items of a typed list do not have; itself if it has them. Shares the rest. */
const struct tree *tree_named(struct arena *a, const struct tree *t, const char *api, const char *kind);

const char *tree_reader_name(const struct tree_reader *r);
bool tree_reader_had_list(const struct tree_reader *r); /* one of the documents was a List without items */

/* Look-ups. tree_get: NULL if t is NULL, not a map, or has no such field. */
static inline const struct tree *tree_get(const struct tree *t, const char *key);
const struct tree *tree_path(const struct tree *t, const char *dotted); /* "spec.resources.requests" */
static inline bool tree_is(const struct tree *t, enum tree_kind kind)	/* false for NULL */
{
	return t != NULL && t->kind == kind;
}
/* "a map", "a list", "a string", "a number", "true or false", "nothing" */
const char *tree_kind_text(enum tree_kind kind);

const struct tree *tree_get_n(const struct tree *t, const char *key, size_t n);

static inline const struct tree *tree_get(const struct tree *t, const char *key)
{
	return tree_get_n(t, key, strlen(key));
}
