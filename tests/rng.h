/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - numbers that look random and are the same on every run and machine: xorshift64*. For tests only.
 *
 *	struct rng r = {1};
 *	rng_below(&r, 6);
 */
#pragma once

#include <stdint.h>

struct rng {
	uint64_t s; /* the seed; any number will do */
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t x = r->s != 0 ? r->s : UINT64_C(0x9e3779b97f4a7c15);
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	r->s = x;
	return x * UINT64_C(0x2545f4914f6cdd1d);
}

/* 0 .. n - 1; n must not be 0. */
static inline uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(((rng_next(r) >> 32) * n) >> 32);
}
