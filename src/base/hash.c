/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words of eight bytes, least significant first whatever the machine, are scrambled by multiplication and rotation
 * and folded into the state one after the other. Both steps are bijections, so no word can wipe out what came before;
 * the last step spreads every bit of the state over all bits of the result.
 */
#include "base/map.h"

#define ODD_1 UINT64_C(0xa24baed4963ee407)
#define ODD_2 UINT64_C(0x9fb21c651e98df25)
#define ODD_3 UINT64_C(0xd6e8feb86659fd93)

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

/* Written out because compilers make one load of it, as they do not of a loop. */
static uint64_t word_at(const unsigned char *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
	       (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

static uint64_t rest_at(const unsigned char *p, size_t n)
{
	uint64_t w = 0;
	for (size_t i = 0; i < n; i++)
		w |= (uint64_t)p[i] << (8 * i);
	return w;
}

uint64_t hash_u64(uint64_t x)
{
	x += ODD_1;
	x = (x ^ x >> 32) * ODD_2;
	x = (x ^ x >> 29) * ODD_3;
	return x ^ x >> 32;
}

uint64_t hash_mix(uint64_t h, uint64_t x)
{
	x = rotate(x * ODD_2, 31) * ODD_1;
	return rotate(h ^ x, 27) * ODD_3 + ODD_2;
}

uint64_t hash_bytes(const void *p, size_t n)
{
	const unsigned char *s = p;
	uint64_t h = n;
	size_t i = 0;
	for (; n - i >= 8; i += 8)
		h = hash_mix(h, word_at(s + i));
	if (i < n)
		h = hash_mix(h, rest_at(s + i, n - i));
	return hash_u64(h);
}
