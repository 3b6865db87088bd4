/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - a loop over many things, cut into pieces for several threads.
 *
 * Pieces are ranges, so what is written by index comes out the same with any number of them. A thread that cannot be
 * started is no fault: the caller does its piece.
 */
#pragma once

#include <stdint.h>

enum { SPREAD_MAX = 64 };

/* From, up to and without to; piece counts from 0. */
typedef void (*spread_fn)(void *ctx, uint32_t piece, uint32_t from, uint32_t to);

/* How many pieces n things are worth with so many threads, `least` in each: at least 1, at most SPREAD_MAX. */
uint32_t spread_pieces(uint32_t threads, uint32_t n, uint32_t least);
/* Where a piece begins; that of one too many is where the last ends. */
static inline uint32_t spread_begin(uint32_t pieces, uint32_t n, uint32_t piece)
{
	return (uint32_t)((uint64_t)n * piece / pieces);
}
/* All of 0 to n; the first piece is done by the caller. */
void spread_run(uint32_t pieces, uint32_t n, spread_fn f, void *ctx);
