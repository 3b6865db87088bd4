/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - one tree for YAML and JSON, which knows where each value stood.
 *
 * Documents are read one at a time from a reader; a tree lives in the arena given to tree_next and dies with it. The
 * items of a List (a document whose kind ends in "List", or that has a top-level `items` of objects that carry their own kind) are handed out
 * one by one as documents of their own, so that a list of 150,000 pods never exists as one tree.
 *
 * Hostile input is expected: nesting deeper than 200, aliases that expand to more than a million values, more than 2 GiB, invalid
 * UTF-8, NUL bytes, tabs as indentation, duplicate keys in one map: all are errors with "file:line:column: ".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 * A scalar keeps its text: of a string the string, of a number or bool the letters as written ("1.50", "0x10", "true"). Plain YAML scalars get
 * their kind by the core schema (null ~ true false, integers, floats); quoted ones are strings. Text is NUL-terminated, without NUL inside.
 */
struct tree {
	enum tree_kind kind;
	uint32_t line, col; /* from 1 */
	uint32_t n;	    /* fields, items, or bytes of text */
	union {
		const char *text;
		const struct tree_field *fields; /* in the order written; keys unique */
		const struct tree *const *items;
		bool truth;
	};
};

struct tree_reader;

/*
 * data stays the caller's and must outlive the reader. name is for messages. JSON is recognised by its first
 * character ({ or [, and then parsing as JSON); everything else is YAML, which may hold several documents.
 */
struct tree_reader *tree_reader_new(const char *name, const char *data, size_t len);
void tree_reader_free(struct tree_reader *r);

/*
 * The next document or list item: ERR_OK with *ret set (a map, or whatever stands there; empty documents are skipped), or with *ret NULL at
 * the end. After an error the reader is at its end. list_kind, if not NULL, receives the kind the enclosing list implies for items without one
 * of their own ("PodList" -> "Pod" with the list's apiVersion), else "".
 */
struct tree_doc {
	const struct tree *root; /* NULL: no more */
	const char *list_kind, *list_api; /* "" if not in a typed list */
};
enum err_code tree_next(struct tree_reader *r, struct arena *a, struct tree_doc *ret, struct err *e);

const char *tree_reader_name(const struct tree_reader *r);

/* Look-ups. tree_get: NULL if t is NULL, not a map, or has no such field. */
const struct tree *tree_get(const struct tree *t, const char *key);
const struct tree *tree_path(const struct tree *t, const char *dotted); /* "spec.resources.requests" */
bool tree_is(const struct tree *t, enum tree_kind kind); /* false for NULL */
const char *tree_kind_text(enum tree_kind kind); /* "a map", "a list", "a string", "a number", "true or false", "nothing" */
