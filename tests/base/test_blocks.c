/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/blocks.h"
#include "rng.h"

enum { N = 500 };

struct piece {
	unsigned char *p;
	size_t size;
	unsigned char fill;
};

static void assert_untouched(const struct piece *x)
{
	for (size_t i = 0; i < x->size; i++)
		assert_int_equal(x->p[i], x->fill);
}

static void take(struct blocks *b, struct rng *r, struct piece *x)
{
	x->size = rng_below(r, 20) == 0 ? 1 + rng_below(r, 5000) : 1 + rng_below(r, 90);
	x->fill = (unsigned char)rng_below(r, 256);
	x->p = blocks_take(b, x->size);
	assert_int_equal((uintptr_t)x->p % b->unit, 0);
	memset(x->p, x->fill, x->size);
}

/* Pieces of all sizes come and go at random; nobody writes into another. */
static void pieces_stay_apart(void **state)
{
	for (uint32_t unit = 4; unit <= 16; unit *= 2) {
		struct blocks b = blocks_of(unit);
		struct rng r = {unit};
		struct piece pieces[N] = {0};
		for (int step = 0; step < 50000; step++) {
			struct piece *x = &pieces[rng_below(&r, N)];
			if (x->p != NULL)
				assert_untouched(x);
			if (x->p == NULL) {
				take(&b, &r, x);
				continue;
			}
			blocks_give(&b, x->p, x->size);
			x->p = NULL;
		}
		for (int i = 0; i < N; i++)
			blocks_give(&b, pieces[i].p, pieces[i].size);
		blocks_free(&b);
		assert_int_equal(blocks_bytes(&b), 0);
	}
}

static void what_was_given_back_is_taken_again(void **state)
{
	struct blocks b = blocks_of(8);
	void *pieces[N];
	size_t full = 0;
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < N; i++)
			pieces[i] = blocks_take(&b, 40 + (size_t)i % 3 * 40);
		full = round == 0 ? blocks_bytes(&b) : full;
		assert_int_equal(blocks_bytes(&b), full);
		for (int i = 0; i < N; i++)
			blocks_give(&b, pieces[(i + round) % N], 40 + (size_t)((i + round) % N) % 3 * 40);
	}
	blocks_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_stay_apart),
		cmocka_unit_test(what_was_given_back_is_taken_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
