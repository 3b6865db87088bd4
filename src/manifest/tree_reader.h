/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_reader.h - what tree.c (documents and lists), tree_build.c (nodes), json.c and yaml.c share; for them alone.
 *
 * A source (JSON or YAML) stands before a value and builds it whole, or steps into it: tree.c steps into the top map
 * and into `items`, and asks for whole values below. Fields and items of open maps and lists are collected on two
 * stacks and copied into the arena, at their exact size, when their map or list closes.
 */
#pragma once

#include <inttypes.h>

#include "base/array.h"
#include "manifest/tree.h"

#define TREE_MAX_DEPTH 200u
#define TREE_MAX_KEY 1024u
#define TREE_MAX_ALIASED 1000000u
#define TREE_MAX_VALUES 64000000u
#define TREE_MAX_BYTES ((size_t)2 << 30)

#define TRY(call)                                 \
	do {                                      \
		enum err_code try_code_ = (call); \
		if (try_code_ != ERR_OK)          \
			return try_code_;         \
	} while (0)

struct tree_at {
	uint32_t line, col;
};

/* Memory cut from the arena in pieces that grow with the document: most values are smaller than an arena call. */
struct slab {
	char *p;
	size_t left, next_size;
};

struct tree_build {
	struct arena *a;
	struct slab cells, letters;
	ARRAY(struct tree_field) fields;
	ARRAY(const struct tree *) items;
	uint64_t n_values; /* of this tree, aliases expanded */
};

enum tree_next_is { NEXT_SCALAR, NEXT_LIST, NEXT_MAP, NEXT_NOTHING };

struct tree_source {
	/* To the root of the next document; NEXT_NOTHING: there is none. */
	enum err_code (*next_root)(struct tree_reader *r, enum tree_next_is *ret);
	/* What stands here; NEXT_SCALAR also for lists that must be read whole. Never fails: value will. */
	enum tree_next_is (*peek)(struct tree_reader *r);
	/* Build the value that stands here, which has depth maps and lists around it. */
	enum err_code (*value)(struct tree_reader *r, uint32_t depth, const struct tree **ret);
	/* Step into the map or list that stands here. */
	enum err_code (*enter)(struct tree_reader *r, struct tree_at *ret);
	/* To the next value of the map or list that was entered, or out of it (*ret_more false). */
	enum err_code (*next_field)(struct tree_reader *r, bool is_first, struct tree_field *ret, bool *ret_more);
	enum err_code (*next_item)(struct tree_reader *r, bool is_first, bool *ret_more);
	/*
	 * After an item of `items`: set kind and api of the List from the fields behind it, if that can be had cheaply.
	 */
	void (*look_ahead)(struct tree_reader *r);
	/* The arena of the values built so far is about to go: save what later ones may refer to. */
	enum err_code (*keep)(struct tree_reader *r);
	void (*close)(struct tree_reader *r);
};

extern const struct tree_source json_source, yaml_source;
void json_open(struct tree_reader *r, size_t offset);
/* All of the input as one value. */
enum err_code json_whole(struct tree_reader *r, const struct tree **ret);
void yaml_open(struct tree_reader *r, size_t offset, uint32_t line);
/* Does the text begin as only JSON does? */
bool json_begins(const char *p, const char *end);

struct json_frame {
	struct tree *node;
	uint32_t start; /* of its fields or items on the stack */
};

struct json {
	const char *p, *end;
	const char
		*line_start; /* one further for each byte but the first of a character: p - line_start counts those */
	uint32_t line;
	bool has_begun;
	uint32_t n_open;
	struct json_frame open[TREE_MAX_DEPTH];
};

enum tree_state { TREE_BEFORE, TREE_IN_TOP, TREE_IN_ITEMS, TREE_IN_HELD, TREE_AT_END };

struct tree_reader {
	char *name;
	const char *data;
	size_t len;
	const struct tree_source *source; /* NULL before the first tree_next */
	struct json json;
	struct yaml *yaml;
	struct tree_build b;
	struct err *e;	     /* of the running call */
	uint64_t max_values; /* TREE_MAX_VALUES, except in tests */

	enum tree_state state;
	struct arena *own; /* what must live from call to call, until the document ends */
	bool is_first;	   /* no field or item of the entered map or list was read yet */
	bool is_list;	   /* an item went out, so the document is a List */
	bool is_holding;   /* items wait for the kind */
	bool has_items;	   /* a field `items` was seen */
	bool had_list;	   /* an empty List was seen in any document */
	struct tree_at top_at, items_at;
	uint32_t items_field;	/* its place among the fields */
	const char *kind, *api; /* of the List, once it is known to be one or they were seen ahead */
	const struct tree *held;
	uint32_t next_held;
};

/* "name:line:col: " and the words. As a value it is the code, so that the compiler sees that it is not ERR_OK. */
#define reader_fail(r, code, ...) (reader_complain((r), (code), __VA_ARGS__), (code))
void reader_complain(struct tree_reader *r, enum err_code code, struct tree_at at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), cold));

/* A copy that lives until the document ends. */
const char *reader_own_text(struct tree_reader *r, const char *s, size_t n);

/* Input made fit for a message: short, on one line, without control characters. */
struct shown {
	char s[80];
};
struct shown show_text(const char *s, size_t n);
/* What stands at p: 'x', 'word', byte 0xff, the end of the input. */
struct shown show_found(const char *p, const char *end);

/* Bytes of the character at p; 0 if it is not valid UTF-8. */
uint32_t utf8_length(const char *p, const char *end);
uint32_t utf8_decode(const char *p, uint32_t n);     /* of a valid character of n bytes */
uint32_t utf8_encode(uint32_t c, char *out);	     /* bytes written, at most 4 */
uint32_t utf8_count(const char *p, const char *end); /* characters */

/* tree_build.c */
void build_begin(struct tree_build *b, struct arena *a); /* nothing of before is used any more, except the stacks */
void *slab_refill(struct tree_build *b, struct slab *s, size_t size);
enum err_code build_check_key(struct tree_reader *r, size_t key_len, struct tree_at at);
void build_close_list(struct tree_build *b, struct tree *node, uint32_t start);
/* Checks for duplicate keys and carries out merges. */
enum err_code build_close_map(struct tree_reader *r, struct tree *node, uint32_t start);
enum err_code build_check_fields(struct tree_reader *r, uint32_t start);
const struct tree *build_copy(struct tree_build *b, const struct tree *t);

/* The key of a field that is to be merged, known by its address. */
extern const char tree_merge_key[];

static inline void *build_cells(struct tree_build *b, size_t size)
{
	struct slab *s = &b->cells;
	size = (size + 7) & ~(size_t)7;
	if (__builtin_expect(size > s->left, 0))
		return slab_refill(b, s, size);
	void *p = s->p;
	s->p += size;
	s->left -= size;
	return p;
}

/* Room for size letters; the caller ends them with NUL, which size includes. */
static inline char *build_letters(struct tree_build *b, size_t size)
{
	struct slab *s = &b->letters;
	if (__builtin_expect(size > s->left, 0))
		return slab_refill(b, s, size);
	char *p = s->p;
	s->p += size;
	s->left -= size;
	return p;
}

static inline struct tree *build_node(struct tree_build *b, enum tree_kind kind, struct tree_at at)
{
	struct tree *t = build_cells(b, sizeof(*t));
	*t = (struct tree){.kind = kind, .line = at.line, .col = at.col};
	t->text = "";
	b->n_values++;
	return t;
}

static inline const char *build_text(struct tree_build *b, const char *s, size_t n)
{
	char *copy = build_letters(b, n + 1);
	memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

static inline bool key_is(const struct tree_field *f, const char *key)
{
	size_t n = strlen(key);
	return f->key_len == n && memcmp(f->key, key, n) == 0;
}
