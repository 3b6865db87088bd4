/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_index.h - lists of ids by a 64-bit key: the pods that name a group, the pods of an owner.
 *
 * An id is in at most one list. Adding and taking out cost O(1) whatever the length of the list, so a controller of
 * 100,000 pods that go one by one is no trouble. The order inside a list says nothing. Zero-initialised is empty.
 */
#pragma once

#include <stdint.h>

#include "base/array.h"
#include "base/id_table.h"

#define ID_NONE UINT32_MAX

struct id_link {
	uint32_t next, prev, list; /* list ID_NONE: in none */
};

struct id_list {
	uint64_t key;
	uint32_t first;
};

struct id_index {
	struct id_table by_key; /* positions in lists */
	ARRAY(struct id_list) lists;
	ARRAY(uint32_t) free_lists;
	ARRAY(struct id_link) links; /* by id */
};

void id_index_free(struct id_index *x);
void id_index_trim(struct id_index *x); /* what was taken in advance is given back */
/* Into the list of key, out of the one it was in. Key 0: out only. */
void id_index_put(struct id_index *x, uint32_t id, uint64_t key);
/*
 * The same in steps, for many of few keys: room for ids below n; the list of a key, made if there is none; an id that
 * is in no list into it.
 */
void id_index_expect(struct id_index *x, uint32_t n);
uint32_t id_index_list(struct id_index *x, uint64_t key);
static inline void id_index_put_new(struct id_index *x, uint32_t id, uint32_t list)
{
	uint32_t first = x->lists.v[list].first;

	x->links.v[id] = (struct id_link){.next = first, .prev = ID_NONE, .list = list};
	if (first != ID_NONE)
		x->links.v[first].prev = id;
	x->lists.v[list].first = id;
}
uint32_t id_index_first(const struct id_index *x, uint64_t key); /* ID_NONE if there is none */
static inline uint32_t id_index_next(const struct id_index *x, uint32_t id)
{
	return x->links.v[id].next;
}
