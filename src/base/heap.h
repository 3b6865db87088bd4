/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - a stable priority queue of 32-bit ids.
 *
 * The smallest by the caller's order comes first; among equals the one pushed first. An id is in a heap at most
 * once; heap_remove and heap_update find it in O(1), so waiting pods can be taken out of the middle.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct heap_item {
	uint64_t seq;
	uint32_t id;
};

struct heap {
	int (*cmp)(const void *ctx, uint32_t a, uint32_t b); /* <0: a first */
	const void *ctx;
	ARRAY(struct heap_item) items;
	ARRAY(uint32_t) where; /* id -> position + 1, 0: not here */
	uint64_t next_seq;
};

void heap_init(struct heap *h, int (*cmp)(const void *ctx, uint32_t a, uint32_t b), const void *ctx);
void heap_free(struct heap *h);
void heap_clear(struct heap *h);	     /* takes everything out; its memory stays */
void heap_push(struct heap *h, uint32_t id); /* asserts that id is not in it */
uint32_t heap_pop(struct heap *h);
bool heap_has(const struct heap *h, uint32_t id);
void heap_remove(struct heap *h, uint32_t id); /* asserts that id is in it; so does heap_update */
void heap_update(struct heap *h, uint32_t id); /* its key changed; keeps its place among equals */

/* The first; asserts not empty. */
static inline uint32_t heap_peek(const struct heap *h)
{
	assert(h->items.n > 0);
	return h->items.v[0].id;
}
