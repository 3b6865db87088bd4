/* SPDX-License-Identifier: Apache-2.0 */
#include "base/blocks.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/asan.h"

#define CHUNK_MIN ((size_t)4 << 10)
#define CHUNK_MAX ((size_t)64 << 10)

/* A piece that was given back holds the next of its size, wherever alignment leaves it. */
static void *next_of(const void *p)
{
	void *next;
	memcpy(&next, p, sizeof(next));
	return next;
}

static void set_next(void *p, void *next)
{
	memcpy(p, &next, sizeof(next));
}

static size_t rounded(const struct blocks *b, size_t size)
{
	if (size < sizeof(void *))
		size = sizeof(void *);
	return (size + b->unit - 1) / b->unit * b->unit;
}

/* Under the address sanitizer all pieces are the heap's: then what is used too long or too far is caught. */
static bool is_large(const struct blocks *b, size_t size)
{
	return HAS_ASAN || size / b->unit >= BLOCKS_CLASSES;
}

static void put_back(struct blocks *b, void *p, size_t size)
{
	set_next(p, b->given_back[size / b->unit]);
	b->given_back[size / b->unit] = p;
}

/* What is left of the last chunk is for smaller pieces. */
static void next_chunk(struct blocks *b)
{
	if (b->left >= sizeof(void *))
		put_back(b, b->at, b->left);
	b->left = b->bytes < CHUNK_MIN ? CHUNK_MIN : b->bytes < CHUNK_MAX ? CHUNK_MIN * 4 : CHUNK_MAX;
	b->at = mem_resize(NULL, b->left, 1);
	b->bytes += b->left;
	array_push(&b->chunks, b->at);
}

void *blocks_take(struct blocks *b, size_t size)
{
	size = rounded(b, size);
	if (is_large(b, size)) {
		b->bytes += size;
		return mem_resize(NULL, size, 1);
	}
	void *p = b->given_back[size / b->unit];
	if (p != NULL) {
		b->given_back[size / b->unit] = next_of(p);
		return p;
	}
	if (b->left < size)
		next_chunk(b);
	p = b->at;
	b->at += size;
	b->left -= size;
	return p;
}

void blocks_give(struct blocks *b, void *p, size_t size)
{
	size = rounded(b, size);
	if (p == NULL)
		return;
	if (is_large(b, size)) {
		b->bytes -= size;
		mem_free(p);
		return;
	}
	put_back(b, p, size);
}

void blocks_free(struct blocks *b)
{
	for (uint32_t i = 0; i < b->chunks.n; i++)
		mem_free(b->chunks.v[i]);
	array_free(&b->chunks);
	*b = (struct blocks){.unit = b->unit};
}

size_t blocks_bytes(const struct blocks *b)
{
	return b->bytes + b->chunks.cap * sizeof(*b->chunks.v);
}
