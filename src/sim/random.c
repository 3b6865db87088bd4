/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/random.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/map.h"

#define GAMMA UINT64_C(0x9e3779b97f4a7c15)
#define LN2 0.693147180559945309417232121458
#define SQRT_HALF 0.707106781186547524400844362105

/* ---- integers: SplitMix64 ---- */

struct random_source random_stream(uint64_t seed, const char *name)
{
	return (struct random_source){hash_mix(hash_u64(seed), hash_bytes(name, strlen(name)))};
}

uint64_t random_next(struct random_source *r)
{
	uint64_t z = r->state += GAMMA;

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The upper half of a product; what would make some numbers likelier than others is thrown away. */
uint64_t random_below(struct random_source *r, uint64_t n)
{
	const uint64_t unfair = -n % n; /* 2^64 mod n */
	unsigned __int128 product;

	assert(n);
	do
		product = (unsigned __int128)random_next(r) * n;
	while ((uint64_t)product < unfair);
	return (uint64_t)(product >> 64);
}

double random_unit(struct random_source *r)
{
	return (double)((random_next(r) >> 11) + 1) * 0x1p-53;
}

/* ---- logarithms and exponentials that are the same everywhere ---- */

/* log m = 2 artanh((m - 1) / (m + 1)), with m within a square root of two of 1: 14 terms are more than enough. */
double fixed_log(double x)
{
	int exponent;
	double m = frexp(x, &exponent), z, square, sum = 0; /* frexp and ldexp are exact */

	if (m < SQRT_HALF) {
		m *= 2;
		exponent--;
	}
	z = (m - 1) / (m + 1);
	square = z * z;
	for (int k = 27; k >= 1; k -= 2)
		sum = sum * square + 1.0 / k;
	return exponent * LN2 + 2 * z * sum;
}

double fixed_exp(double x)
{
	double sum = 1, rest;
	int exponent;

	if (x > 709)
		return DBL_MAX;
	if (x < -700)
		return 0;
	exponent = (int)(x / LN2 + (x < 0 ? -0.5 : 0.5));
	rest = x - exponent * LN2;
	for (int k = 18; k >= 1; k--)
		sum = 1 + rest / k * sum;
	return ldexp(sum, exponent);
}

/* Marsaglia's polar method; the second number is dropped, so that a stream has no memory besides its state. */
double random_normal(struct random_source *r)
{
	double x, y, square;

	do {
		x = 2 * random_unit(r) - 1;
		y = 2 * random_unit(r) - 1;
		square = x * x + y * y;
	} while (square >= 1 || square == 0);
	return x * sqrt(-2 * fixed_log(square) / square);
}
