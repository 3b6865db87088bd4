/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - from a 64-bit key to a 32-bit id.
 *
 * Open addressing with linear probing and backward-shift deletion (no tombstones, so months of churn leave no
 * trace). There is no iteration: nothing may depend on the order of a hash table. Keys are exact, not hashes:
 * a pair of 32-bit ids makes one key (map_key2). Strings become ids first (names.h).
 * 16 bytes an entry at a load of at most 3/4; shrinks when it gets emptier than 1/8.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map_slot {
	uint64_t key;
	uint32_t value;
	uint32_t used;
};

struct map { /* zero-initialised is empty and valid */
	struct map_slot *slots;
	uint32_t n, cap;
};

static inline uint64_t map_key2(uint32_t hi, uint32_t lo)
{
	return (uint64_t)hi << 32 | lo;
}

uint32_t map_get(const struct map *m, uint64_t key);	   /* MAP_NONE if absent */
void map_put(struct map *m, uint64_t key, uint32_t value); /* replaces; value is not MAP_NONE */
bool map_del(struct map *m, uint64_t key);		   /* false if absent */
void map_free(struct map *m);
size_t map_bytes(const struct map *m);

/* Hash of bytes, the same on every machine (little- and big-endian alike). */
uint64_t hash_bytes(const void *p, size_t n);
uint64_t hash_u64(uint64_t x);
uint64_t hash_mix(uint64_t h, uint64_t x); /* fold x into h; order matters */
