/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/map.h"
#include "dies.h"
#include "rng.h"

static void an_empty_map_has_nothing(void **state)
{
	struct map m = {0};
	assert_int_equal(map_get(&m, 0), MAP_NONE);
	assert_false(map_del(&m, 0));
	assert_int_equal(map_bytes(&m), 0);
	map_free(&m);
}

static void keys_are_exact(void **state)
{
	static const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_C(1) << 32, UINT64_C(1) << 63, UINT32_MAX};
	const uint32_t n = sizeof(keys) / sizeof(keys[0]);
	struct map m = {0};
	for (uint32_t i = 0; i < n; i++)
		map_put(&m, keys[i], i);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(map_get(&m, keys[i]), i);
	map_put(&m, 0, 77);
	assert_int_equal(map_get(&m, 0), 77);
	assert_int_equal(m.n, n);
	assert_int_not_equal(map_key2(1, 2), map_key2(2, 1));
	assert_int_equal(map_key2(1, 2), (UINT64_C(1) << 32) + 2);
	map_free(&m);
	assert_int_equal(map_get(&m, 0), MAP_NONE);
}

/* Every key that is used must be reached from its home without crossing a gap; the load stays within its bounds. */
static void check_shape(const struct map *m)
{
	uint32_t used = 0;
	for (uint32_t i = 0; i < m->cap; i++) {
		used += m->slots[i].used;
		if (m->slots[i].used)
			assert_int_equal(map_get(m, m->slots[i].key), m->slots[i].value);
	}
	assert_int_equal(used, m->n);
	assert_int_equal(m->cap & (m->cap - 1), 0);
	assert_true(m->n <= m->cap / 4 * 3);
	assert_true(m->cap <= 8 || m->n >= m->cap / 8);
}

/* Against a plain array indexed by key; the keys differ in low bits, high bits or both. */
static void it_agrees_with_an_array(void **state)
{
	enum { N = 2000 };
	static uint32_t plain[N];
	for (int spread = 0; spread < 3; spread++) {
		struct rng r = {(uint64_t)spread + 5};
		struct map m = {0};
		memset(plain, 0xFF, sizeof(plain));
		for (uint32_t step = 0; step < 100000; step++) {
			uint32_t i = rng_below(&r, N), put_of_10 = step / 10000 % 2 == 0 ? 7 : 1;
			uint64_t key = spread == 0 ? i : spread == 1 ? (uint64_t)i << 50 : map_key2(i, i * 64);
			if (rng_below(&r, 10) < put_of_10) {
				map_put(&m, key, step);
				plain[i] = step;
			} else {
				assert_int_equal(map_del(&m, key), plain[i] != MAP_NONE);
				plain[i] = MAP_NONE;
			}
			assert_int_equal(map_get(&m, key), plain[i]);
			i = rng_below(&r, N);
			key = spread == 0 ? i : spread == 1 ? (uint64_t)i << 50 : map_key2(i, i * 64);
			assert_int_equal(map_get(&m, key), plain[i]);
			if (step % 1000 == 0)
				check_shape(&m);
		}
		check_shape(&m);
		map_free(&m);
	}
}

static void churn_leaves_no_trace(void **state)
{
	struct map m = {0};
	size_t full = 0;
	for (uint32_t i = 0; i < 1000000; i++) {
		map_put(&m, i, i);
		if (i >= 1000)
			assert_true(map_del(&m, i - 1000));
		if (i == 2000)
			full = map_bytes(&m);
	}
	assert_int_equal(m.n, 1000);
	assert_int_equal(map_bytes(&m), full);
	for (uint32_t i = 999000; i < 1000000; i++)
		map_del(&m, i);
	assert_int_equal(map_bytes(&m), 8 * sizeof(struct map_slot));
	map_free(&m);
}

static void put_none(void)
{
	struct map m = {0};
	map_put(&m, 1, MAP_NONE);
}

static void absence_cannot_be_stored(void **state)
{
	assert_true(dies(put_none));
}

/* The numbers are part of the promise: the same on every machine, and from one release to the next. */
static void hashes_do_not_change(void **state)
{
	static const char bytes[] = "root.ml/training-0001";
	assert_int_equal(hash_bytes("", 0), UINT64_C(0x8b77de9abb28da6a));
	assert_int_equal(hash_bytes(bytes, 1), UINT64_C(0x677f6554b0264800));
	assert_int_equal(hash_bytes(bytes, 8), UINT64_C(0x1d9aa1da215f4a61));
	assert_int_equal(hash_bytes(bytes, 21), UINT64_C(0x5ac68c971220dd2a));
	assert_int_equal(hash_u64(1), UINT64_C(0x19c9630905d322a0));
	assert_int_equal(hash_mix(1, 2), UINT64_C(0xc25a324ddbbf963c));
	assert_int_not_equal(hash_mix(hash_mix(0, 1), 2), hash_mix(hash_mix(0, 2), 1));
	char shifted[32];
	for (int i = 0; i < 8; i++) {
		memcpy(shifted + i, bytes, 21);
		assert_int_equal(hash_bytes(shifted + i, 21), UINT64_C(0x5ac68c971220dd2a));
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void zeros_of_different_length_differ(void **state)
{
	static const char zeros[64];
	uint64_t h[64];
	for (size_t i = 0; i < 64; i++)
		h[i] = hash_bytes(zeros, i);
	qsort(h, 64, sizeof(h[0]), by_value);
	for (int i = 1; i < 64; i++)
		assert_true(h[i - 1] != h[i]);
}

/* Turning any one bit of the input turns each bit of the hash about half of the time. */
static void each_bit_matters(void **state)
{
	enum { LEN = 20, ROUNDS = 2000 };
	struct rng r = {6};
	static uint32_t turned[LEN * 8][64];
	memset(turned, 0, sizeof(turned));
	for (int round = 0; round < ROUNDS; round++) {
		unsigned char s[LEN];
		for (int i = 0; i < LEN; i++)
			s[i] = (unsigned char)rng_next(&r);
		uint64_t h = hash_bytes(s, LEN);
		for (int bit = 0; bit < LEN * 8; bit++) {
			s[bit / 8] ^= (unsigned char)(1 << bit % 8);
			uint64_t diff = h ^ hash_bytes(s, LEN);
			s[bit / 8] ^= (unsigned char)(1 << bit % 8);
			for (int k = 0; k < 64; k++)
				turned[bit][k] += diff >> k & 1;
		}
	}
	for (int bit = 0; bit < LEN * 8; bit++)
		for (int k = 0; k < 64; k++)
			assert_in_range(turned[bit][k], ROUNDS * 2 / 5, ROUNDS * 3 / 5);
}

/* Steps past the home slot that a lookup takes on average, in a table filled to 3/4 by the low bits of h. */
static double mean_probe(const uint64_t *h, uint32_t n, uint32_t cap)
{
	unsigned char *used = mem_alloc(cap);
	uint64_t steps = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)h[i] & (cap - 1);
		for (; used[at]; at = (at + 1) & (cap - 1))
			steps++;
		used[at] = 1;
	}
	mem_free(used);
	return (double)steps / n;
}

/* Names and keys as clusters have them: linear probing at a load of 3/4 takes 1.5 steps if the hash is fair. */
static void real_keys_probe_shortly(void **state)
{
	static const char *const formats[] = {
		"pod-%u", "node-%06u.example.com", "%u", "team-a/web-7d9f-%05u", "job-%u-worker-with-a-long-name-0",
	};
	enum { CAP = 1 << 16, N = CAP / 4 * 3 };
	uint64_t *h = mem_alloc(N * sizeof(*h));
	for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
		for (uint32_t i = 0; i < N; i++) {
			char s[64], *end = s;
			const char *mark = strchr(formats[f], '%');
			int width = mark[1] == '0' ? mark[2] - '0' : 1;
			const char *rest = strchr(mark, 'u') + 1;
			end += snprintf(s, sizeof(s), "%.*s%0*u%s", (int)(mark - formats[f]), formats[f], width,
					(unsigned)i, rest);
			h[i] = hash_bytes(s, (size_t)(end - s));
		}
		assert_true(mean_probe(h, N, CAP) < 1.7);
		for (uint32_t i = 0; i < N; i++)
			h[i] >>= 32;
		assert_true(mean_probe(h, N, CAP) < 1.7);
	}
	for (int shift = 0; shift < 48; shift++) {
		for (uint32_t i = 0; i < N; i++)
			h[i] = hash_u64((uint64_t)i << shift);
		assert_true(mean_probe(h, N, CAP) < 1.7);
	}
	for (uint32_t i = 0; i < N; i++)
		h[i] = hash_u64(map_key2(i / 256, i % 256));
	assert_true(mean_probe(h, N, CAP) < 1.7);
	mem_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_nothing),	    cmocka_unit_test(keys_are_exact),
		cmocka_unit_test(it_agrees_with_an_array),	    cmocka_unit_test(churn_leaves_no_trace),
		cmocka_unit_test(absence_cannot_be_stored),	    cmocka_unit_test(hashes_do_not_change),
		cmocka_unit_test(zeros_of_different_length_differ), cmocka_unit_test(each_bit_matters),
		cmocka_unit_test(real_keys_probe_shortly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
