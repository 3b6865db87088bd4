/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.h - sets of small numbers. Zero-initialised is empty. Iteration is in ascending order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bits {
	uint64_t *w;
	uint32_t n_words;
};

void bits_free(struct bits *b);
void bits_set(struct bits *b, uint32_t i);	 /* grows */
void bits_set_first(struct bits *b, uint32_t n); /* all below n */
void bits_clear(struct bits *b, uint32_t i);
void bits_reset(struct bits *b); /* empty, keeps memory */
void bits_copy(struct bits *to, const struct bits *from);
uint32_t bits_count(const struct bits *b);
uint32_t bits_next(const struct bits *b, uint32_t from);     /* first member >= from, UINT32_MAX if none */
bool bits_equal(const struct bits *a, const struct bits *b); /* as sets, whatever their capacity */

static inline bool bits_has(const struct bits *b, uint32_t i)
{
	return i / 64 < b->n_words && (b->w[i / 64] >> (i % 64) & 1);
}
