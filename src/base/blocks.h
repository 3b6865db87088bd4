/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks.h - many small pieces of memory that come and go one by one.
 *
 * Pieces are cut from large chunks without a header or rounding beyond the unit, which malloc takes 8 to 23 bytes a
 * piece for; one that was given back is taken again by the next of its size. Chunks are let go with the whole, so what
 * pieces of a size ever took stays for pieces of that size. Large pieces are the heap's. Not thread-safe.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"

enum { BLOCKS_CLASSES = 128 }; /* sizes up to that many units are cut from chunks */

struct blocks {
	uint32_t unit; /* sizes are rounded up to it, and pieces aligned to it: 4, 8 or 16 */
	char *at;      /* of the chunk that is being cut up */
	size_t left;
	size_t bytes; /* chunks and large pieces */
	ARRAY(void *) chunks;
	void *given_back[BLOCKS_CLASSES];
};

static inline struct blocks blocks_of(uint32_t unit)
{
	return (struct blocks){.unit = unit};
}
void *blocks_take(struct blocks *b, size_t size);	  /* not zeroed */
void blocks_give(struct blocks *b, void *p, size_t size); /* as it was taken; NULL is fine */
void blocks_free(struct blocks *b);			  /* large pieces must have been given back */
size_t blocks_bytes(const struct blocks *b);
