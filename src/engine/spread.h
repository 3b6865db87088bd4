/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - a loop over many things, cut into pieces that several threads take one after the other.
 *
 * Pieces are ranges, so what is written by index comes out the same whoever does them; where each of them begins
 * depends on the number of threads alone. Who is held up does fewer of them, and a thread that comes when all is taken
 * is not waited for. One that cannot be started is no fault: the others do all.
 */
#pragma once

#include <stdint.h>

enum { SPREAD_MAX = 64 };

/* From, up to and without to; thread counts from 0, which is the caller. */
typedef void (*spread_fn)(void *ctx, uint32_t thread, uint32_t from, uint32_t to);

/* How many threads n things are worth, of so many, `least` for each: at least 1, at most SPREAD_MAX. */
uint32_t spread_threads(uint32_t threads, uint32_t n, uint32_t least);
/* How large pieces are: all for one thread; for several a few for each, so that none waits long for the last. */
uint32_t spread_size(uint32_t threads, uint32_t n);
/* All of 0 to n, size at a time; the last piece may be smaller. */
void spread_run(uint32_t threads, uint32_t n, uint32_t size, spread_fn f, void *ctx);
