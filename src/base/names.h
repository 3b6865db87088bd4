/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - strings kept once, known by 32-bit ids, counted.
 *
 * NAME_NONE (0) is "no string" and also the empty string "". Every other id is a string that somebody holds. Ids are
 * reused after the last holder lets go, so a daemon that sees pod names come and go for months does not grow.
 * Equal strings have equal ids while held; ids say nothing about order (sort by name_cmp for anything visible).
 * Strings may hold any byte but NUL (asserted). Not thread-safe for writing; reading from many threads is fine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

typedef uint32_t name_id;
#define NAME_NONE 0u

struct names;

struct names *names_new(void);
void names_free(struct names *p);

name_id names_hold(struct names *p, const char *s, size_t len);	      /* intern and take a reference */
name_id names_hold_str(struct names *p, const char *s);		      /* NULL gives NAME_NONE */
name_id names_find(const struct names *p, const char *s, size_t len); /* no reference; NAME_NONE if not held */
void names_keep(struct names *p, name_id id);			      /* one more reference */
void names_drop(struct names *p, name_id id);			      /* one less; NAME_NONE is fine */

const char *name_str(const struct names *p, name_id id); /* "" for NAME_NONE; valid while held */
size_t name_len(const struct names *p, name_id id);
int name_cmp(const struct names *p, name_id a, name_id b); /* byte order of the strings */

void names_trim(struct names *p);	     /* what was taken in advance is given back */
uint32_t names_count(const struct names *p); /* strings held now */
size_t names_bytes(const struct names *p);

/*
 * A bag of references: everything one object holds. Builders collect into it; whoever frees the object empties it.
 */
struct name_bag {
	struct names *names;
	ARRAY(name_id) ids;
};

static inline struct name_bag name_bag_of(struct names *p)
{
	return (struct name_bag){.names = p};
}
name_id name_bag_add(struct name_bag *b, const char *s, size_t len);
name_id name_bag_add_str(struct name_bag *b, const char *s);
void name_bag_drop(struct name_bag *b); /* lets go of all and frees the list */
