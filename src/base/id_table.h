/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_table.h - ids found by a hash of what they stand for.
 *
 * The table knows hashes and ids; what an id stands for knows its user, who compares. Open addressing with linear
 * probing and backward-shift deletion, as in map.h, at 8 bytes an entry and a load of at most 3/4. Its size need not be
 * a power of two, so that a table that was trimmed has no more slack than that. Nothing may depend on the order in
 * which ids of one hash are found.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ID_TABLE_NONE UINT32_MAX

struct id_slot {
	uint32_t hash;
	uint32_t id; /* and one; 0: empty */
};

struct id_table { /* zero-initialised is empty and valid */
	struct id_slot *slots;
	uint32_t n, cap;
};

/* Where to begin, before the first call of id_table_next. */
static inline uint32_t id_table_home(const struct id_table *t, uint32_t hash)
{
	return (uint32_t)((uint64_t)hash * t->cap >> 32);
}

/* The next id that was put under this hash, *at moving on; ID_TABLE_NONE: no more. */
static inline uint32_t id_table_next(const struct id_table *t, uint32_t hash, uint32_t *at)
{
	if (t->n == 0)
		return ID_TABLE_NONE;
	for (;;) {
		const struct id_slot *slot = &t->slots[*at];
		if (slot->id == 0)
			return ID_TABLE_NONE;
		*at = *at + 1 < t->cap ? *at + 1 : 0;
		if (slot->hash == hash)
			return slot->id - 1;
	}
}

void id_table_put(struct id_table *t, uint32_t hash, uint32_t id); /* it is not there yet; id is not ID_TABLE_NONE */
void id_table_del(struct id_table *t, uint32_t hash, uint32_t id); /* asserts: it is there */
void id_table_trim(struct id_table *t);				   /* as small as its load allows */
void id_table_free(struct id_table *t);
size_t id_table_bytes(const struct id_table *t);
