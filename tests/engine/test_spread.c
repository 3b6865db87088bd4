/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h: everything is done once, in the same pieces whoever does them. */
#include "engine/spread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

enum { MOST = 1000 };

struct done {
	uint32_t times[MOST], begins[MOST]; /* of each thing: how often it was done; where its piece began */
	uint32_t threads, n, size;
};

static void note(void *ctx, uint32_t thread, uint32_t from, uint32_t to)
{
	struct done *d = ctx;

	assert_true(thread < d->threads && from < to && to <= d->n && to - from <= d->size);
	for (uint32_t i = from; i < to; i++) {
		d->times[i]++;
		d->begins[i] = from;
	}
}

static const struct {
	const char *says;
	uint32_t threads, n, size;
} runs[] = {
	{"nothing", 4, 0, 1},
	{"one thing", 4, 1, 8},
	{"one thread", 1, MOST, 7},
	{"pieces of one", 8, 100, 1},
	{"the last piece is smaller", 3, 101, 10},
	{"one piece is all", 8, 100, 1000},
	{"as many threads as there can be", SPREAD_MAX, MOST, 3},
};

static void all_is_done_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(runs); i++) {
		struct done d = {.threads = runs[i].threads, .n = runs[i].n, .size = runs[i].size};

		spread_run(d.threads, d.n, d.size, note, &d);
		for (uint32_t k = 0; k < MOST; k++)
			if (d.times[k] != (k < d.n) || (k < d.n && d.begins[k] != k / d.size * d.size))
				fail_msg("%s: %u was done %u times, from %u", runs[i].says, k, d.times[k], d.begins[k]);
	}
}

static const struct {
	uint32_t threads, n, least, worth;
} worths[] = {
	{1, 5000, 512, 1}, {2, 5000, 512, 2}, {2, 1023, 512, 1},  {2, 1024, 512, 2},
	{8, 0, 512, 1},	   {0, 5000, 512, 1}, {99, 5000, 512, 9}, {99, MOST, 1, SPREAD_MAX},
};

static void threads_are_worth_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(worths); i++)
		assert_int_equal(spread_threads(worths[i].threads, worths[i].n, worths[i].least), worths[i].worth);
}

static void one_thread_has_one_piece_and_each_of_several_has_some(void **state)
{
	(void)state;
	assert_true(spread_size(1, 100) >= 100);
	assert_true(spread_size(1, 0) > 0);
	assert_true(spread_size(8, 3) > 0);
	assert_true(spread_size(2, 160) <= 160 / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_done_once),
		cmocka_unit_test(threads_are_worth_it),
		cmocka_unit_test(one_thread_has_one_piece_and_each_of_several_has_some),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
