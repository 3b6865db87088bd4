/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bits.h"

#include <string.h>

#include "base/arena.h"
#include "base/array.h"

void bits_free(struct bits *b)
{
	mem_free(b->w);
	*b = (struct bits){0};
}

static void grow(struct bits *b, uint32_t want)
{
	uint32_t n = array_next_cap(b->n_words, want);
	b->w = mem_resize(b->w, n, sizeof(*b->w));
	memset(b->w + b->n_words, 0, (n - b->n_words) * sizeof(*b->w));
	b->n_words = n;
}

void bits_set(struct bits *b, uint32_t i)
{
	if (i / 64 >= b->n_words)
		grow(b, i / 64 + 1);
	b->w[i / 64] |= UINT64_C(1) << (i % 64);
}

void bits_set_first(struct bits *b, uint32_t n)
{
	if (n / 64 >= b->n_words)
		grow(b, n / 64 + 1);
	memset(b->w, 0xff, n / 64 * sizeof(*b->w));
	b->w[n / 64] |= (UINT64_C(1) << (n % 64)) - 1;
}

void bits_clear(struct bits *b, uint32_t i)
{
	if (i / 64 < b->n_words)
		b->w[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

void bits_reset(struct bits *b)
{
	if (b->n_words > 0)
		memset(b->w, 0, b->n_words * sizeof(*b->w));
}

void bits_copy(struct bits *to, const struct bits *from)
{
	if (from->n_words > to->n_words)
		grow(to, from->n_words);
	if (from->n_words > 0)
		memcpy(to->w, from->w, from->n_words * sizeof(*to->w));
	if (to->n_words > from->n_words)
		memset(to->w + from->n_words, 0, (to->n_words - from->n_words) * sizeof(*to->w));
}

uint32_t bits_count(const struct bits *b)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < b->n_words; i++)
		n += (uint32_t)__builtin_popcountll(b->w[i]);
	return n;
}

uint32_t bits_next(const struct bits *b, uint32_t from)
{
	uint32_t i = from / 64;
	if (i >= b->n_words)
		return UINT32_MAX;
	uint64_t w = b->w[i] & UINT64_MAX << (from % 64);
	while (w == 0) {
		if (++i == b->n_words)
			return UINT32_MAX;
		w = b->w[i];
	}
	return i * 64 + (uint32_t)__builtin_ctzll(w);
}

bool bits_equal(const struct bits *a, const struct bits *b)
{
	uint32_t n = a->n_words > b->n_words ? a->n_words : b->n_words;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t in_a = i < a->n_words ? a->w[i] : 0;
		uint64_t in_b = i < b->n_words ? b->w[i] : 0;
		if (in_a != in_b)
			return false;
	}
	return true;
}
