/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/echo_index.h"

enum { ENTRIES_AHEAD = 8 }; /* that there is room for */

void echo_index_begin(struct echo_index *x, const struct ledger *l, size_t key_size, size_t size)
{
	*x = (struct echo_index){.ledger = l, .key_size = (uint32_t)key_size, .size = (uint32_t)size};
}

void echo_index_end(struct echo_index *x)
{
	array_free(&x->v);
	map_free(&x->at);
}

static bool holds(const struct echo_index *x)
{
	return x->mark == ledger_get_mark(x->ledger);
}

bool echo_index_follow(struct echo_index *x)
{
	if (!holds(x)) {
		x->v.n = 0;
		map_free(&x->at);
	}
	x->mark = ledger_get_mark(x->ledger);
	return x->v.n > 0;
}

const void *echo_index_find(const struct echo_index *x, const void *entry)
{
	uint32_t at = map_get(&x->at, hash_bytes(entry, x->key_size));

	return at != MAP_NONE && memcmp(x->v.v + at, entry, x->key_size) == 0 ? x->v.v + at : NULL;
}

void echo_index_add(struct echo_index *x, const void *entry)
{
	uint64_t hash = hash_bytes(entry, x->key_size);

	if (!holds(x) || map_get(&x->at, hash) != MAP_NONE)
		return;
	map_put(&x->at, hash, x->v.n);
	array_reserve(&x->v, x->v.n + ENTRIES_AHEAD * x->size);
	memcpy(x->v.v + x->v.n, entry, x->size);
	x->v.n += x->size;
}
