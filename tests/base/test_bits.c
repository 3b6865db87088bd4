/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bits.h"
#include "rng.h"

enum { N = 1500 };

static void an_empty_set_has_nothing(void **state)
{
	struct bits b = {0}, c = {0};
	assert_false(bits_has(&b, 0));
	assert_int_equal(bits_next(&b, 0), UINT32_MAX);
	assert_int_equal(bits_count(&b), 0);
	bits_clear(&b, 1000);
	bits_reset(&b);
	assert_int_equal(b.n_words, 0);
	assert_true(bits_equal(&b, &c));
	bits_free(&b);
}

static void capacity_does_not_matter_to_equality(void **state)
{
	struct bits a = {0}, b = {0};
	bits_set(&a, 3);
	bits_set(&b, 3);
	bits_set(&b, 100000);
	assert_false(bits_equal(&a, &b));
	assert_false(bits_equal(&b, &a));
	bits_clear(&b, 100000);
	assert_true(bits_equal(&a, &b));
	assert_true(bits_equal(&b, &a));
	bits_free(&a);
	assert_false(bits_equal(&a, &b));
	bits_free(&b);
}

static void check_against(const struct bits *b, const bool *plain)
{
	uint32_t n = 0, at = bits_next(b, 0);
	for (uint32_t i = 0; i < N; i++) {
		assert_int_equal(bits_has(b, i), plain[i]);
		if (!plain[i])
			continue;
		assert_int_equal(at, i);
		at = bits_next(b, i + 1);
		n++;
	}
	assert_int_equal(at, UINT32_MAX);
	assert_int_equal(bits_count(b), n);
}

static void it_agrees_with_an_array(void **state)
{
	struct rng r = {8};
	struct bits b = {0};
	bool plain[N] = {0};
	for (int step = 0; step < 100000; step++) {
		uint32_t i = rng_below(&r, N);
		plain[i] = rng_below(&r, 3) == 0;
		if (plain[i])
			bits_set(&b, i);
		else
			bits_clear(&b, i);
		uint32_t from = rng_below(&r, N + 100), next = from;
		while (next < N && !plain[next])
			next++;
		assert_int_equal(bits_next(&b, from), next < N ? next : UINT32_MAX);
		if (step % 500 == 0)
			check_against(&b, plain);
		if (step % 20000 == 19999) {
			bits_reset(&b);
			memset(plain, 0, sizeof(plain));
		}
	}
	check_against(&b, plain);
	bits_free(&b);
}

static void the_first_ones_join_the_others(void **state)
{
	static const uint32_t sizes[] = {0, 1, 63, 64, 65, 128, 1000};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct bits b = {0};
		bool plain[N] = {0};

		bits_set(&b, 70);
		plain[70] = true;
		bits_set_first(&b, sizes[i]);
		for (uint32_t k = 0; k < sizes[i]; k++)
			plain[k] = true;
		check_against(&b, plain);
		bits_free(&b);
	}
}

static void edges_of_words(void **state)
{
	static const uint32_t edges[] = {0, 63, 64, 127, 128, 511, 512, 1023, 1024, 1499};
	struct bits b = {0};
	bool plain[N] = {0};
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		bits_set(&b, edges[i]);
		plain[edges[i]] = true;
		check_against(&b, plain);
	}
	bits_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_set_has_nothing), cmocka_unit_test(capacity_does_not_matter_to_equality),
		cmocka_unit_test(it_agrees_with_an_array),  cmocka_unit_test(the_first_ones_join_the_others),
		cmocka_unit_test(edges_of_words),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
