/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/id_table.h"
#include "dies.h"
#include "rng.h"

static uint32_t times_found(const struct id_table *t, uint32_t hash, uint32_t id)
{
	uint32_t at = id_table_home(t, hash), n = 0, found;
	while ((found = id_table_next(t, hash, &at)) != ID_TABLE_NONE)
		n += found == id;
	return n;
}

static void an_empty_table_finds_nothing(void **state)
{
	struct id_table t = {0};
	assert_int_equal(times_found(&t, 7, 0), 0);
	id_table_put(&t, 7, 0);
	assert_int_equal(times_found(&t, 7, 0), 1);
	assert_int_equal(times_found(&t, 8, 0), 0);
	id_table_del(&t, 7, 0);
	assert_int_equal(times_found(&t, 7, 0), 0);
	id_table_trim(&t);
	id_table_free(&t);
	assert_int_equal(id_table_bytes(&t), 0);
}

/* Hashes at both ends and in heaps, so that rows of slots go round the end of the table. */
static uint32_t hash_of(uint32_t id)
{
	static const uint32_t heaps[] = {0, 1, UINT32_MAX, UINT32_MAX - 1, UINT32_C(1) << 31};
	return id % 3 == 0 ? heaps[id / 3 % 5] : id * UINT32_C(2654435761);
}

/* Waves of mostly putting and mostly taking out, trimmed now and then, against plain flags. */
static void what_was_put_is_found_until_it_is_taken_out(void **state)
{
	enum { N = 700 };
	static bool is_in[N];
	struct id_table t = {0};
	struct rng r = {11};
	uint32_t n = 0;
	for (int step = 0; step < 60000; step++) {
		uint32_t id = rng_below(&r, N), put_of_10 = step / 6000 % 2 == 0 ? 8 : 2;
		bool puts = rng_below(&r, 10) < put_of_10;
		if (puts && !is_in[id])
			id_table_put(&t, hash_of(id), id);
		else if (!puts && is_in[id])
			id_table_del(&t, hash_of(id), id);
		n += puts && !is_in[id] ? 1 : !puts && is_in[id] ? UINT32_MAX : 0;
		is_in[id] = puts;
		if (step % 1000 == 0)
			id_table_trim(&t);
		assert_int_equal(t.n, n);
		uint32_t other = rng_below(&r, N);
		assert_int_equal(times_found(&t, hash_of(id), id), is_in[id]);
		assert_int_equal(times_found(&t, hash_of(other), other), is_in[other]);
	}
	for (uint32_t id = 0; id < N; id++)
		assert_int_equal(times_found(&t, hash_of(id), id), is_in[id]);
	id_table_free(&t);
}

static void a_trimmed_table_has_little_slack(void **state)
{
	struct id_table t = {0};
	for (uint32_t id = 0; id < 100000; id++)
		id_table_put(&t, id * UINT32_C(2654435761), id);
	id_table_trim(&t);
	assert_in_range(id_table_bytes(&t), 100000 * 8, 100000 * 11);
	for (uint32_t id = 0; id < 100000; id++)
		assert_int_equal(times_found(&t, id * UINT32_C(2654435761), id), 1);
	for (uint32_t id = 0; id < 100000; id++)
		id_table_del(&t, id * UINT32_C(2654435761), id);
	assert_in_range(id_table_bytes(&t), 0, 1000);
	id_table_free(&t);
}

static void take_out_what_is_not_there(void)
{
	struct id_table t = {0};
	id_table_put(&t, 1, 1);
	id_table_del(&t, 1, 2);
}

static void misuse_dies(void **state)
{
	assert_true(dies(take_out_what_is_not_there));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_table_finds_nothing),
		cmocka_unit_test(what_was_put_is_found_until_it_is_taken_out),
		cmocka_unit_test(a_trimmed_table_has_little_slack),
		cmocka_unit_test(misuse_dies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
