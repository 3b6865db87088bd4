/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/names.h"
#include "dies.h"
#include "rng.h"

static void no_string_and_the_empty_string_are_one(void **state)
{
	struct names *p = names_new();
	assert_int_equal(names_hold_str(p, NULL), NAME_NONE);
	assert_int_equal(names_hold_str(p, ""), NAME_NONE);
	assert_int_equal(names_find(p, "", 0), NAME_NONE);
	assert_string_equal(name_str(p, NAME_NONE), "");
	assert_int_equal(name_len(p, NAME_NONE), 0);
	names_keep(p, NAME_NONE);
	names_drop(p, NAME_NONE);
	assert_int_equal(names_count(p), 0);
	names_free(p);
	names_free(NULL);
}

static void equal_strings_have_equal_ids(void **state)
{
	struct names *p = names_new();
	name_id a = names_hold(p, "node-1 and more", 6);
	name_id b = names_hold_str(p, "node-1");
	name_id c = names_hold_str(p, "node-2");
	assert_int_equal(a, b);
	assert_int_not_equal(a, c);
	assert_int_equal(names_find(p, "node-2xyz", 6), c);
	assert_int_equal(names_find(p, "node-3", 6), NAME_NONE);
	assert_string_equal(name_str(p, a), "node-1");
	assert_int_equal(name_len(p, a), 6);
	assert_int_equal(names_count(p), 2);
	names_free(p);
}

static void a_string_lives_until_the_last_holder_lets_go(void **state)
{
	struct names *p = names_new();
	name_id a = names_hold_str(p, "pod");
	const char *s = name_str(p, a);
	names_keep(p, a);
	names_hold_str(p, "pod");
	names_drop(p, a);
	names_drop(p, a);
	assert_int_equal(names_find(p, "pod", 3), a);
	assert_ptr_equal(name_str(p, a), s);
	names_drop(p, a);
	assert_int_equal(names_find(p, "pod", 3), NAME_NONE);
	assert_int_equal(names_count(p), 0);
	assert_int_equal(names_hold_str(p, "other"), a);
	names_free(p);
}

static void order_is_that_of_the_bytes(void **state)
{
	static const char *const sorted[] = {"", "A", "a", "a-1", "a-10", "a-2", "b", "\x7F", "é", "\xFF"};
	const int n = sizeof(sorted) / sizeof(sorted[0]);
	struct names *p = names_new();
	name_id ids[sizeof(sorted) / sizeof(sorted[0])];
	for (int i = n - 1; i >= 0; i--)
		ids[i] = names_hold_str(p, sorted[i]);
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < n; k++) {
			int c = name_cmp(p, ids[i], ids[k]);
			assert_int_equal((c > 0) - (c < 0), (i > k) - (i < k));
		}
	}
	names_free(p);
}

/* Random holding and dropping of a thousand strings against plain counters. */
static void counting_is_exact(void **state)
{
	enum { N = 1000 };
	static uint32_t refs[N];
	static name_id ids[N];
	struct rng r = {4};
	struct names *p = names_new();
	uint32_t held = 0;
	for (int step = 0; step < 300000; step++) {
		/* Waves of mostly holding and mostly dropping make the table grow and shrink. */
		uint32_t i = rng_below(&r, N), hold_of_10 = step / 30000 % 2 == 0 ? 7 : 2;
		char s[32];
		size_t len = (size_t)snprintf(s, sizeof(s), "%spod-%u", i % 3 ? "ns/" : "", (unsigned)i);
		if (rng_below(&r, 10) < hold_of_10) {
			name_id id = rng_below(&r, 2) ? names_hold(p, s, len) : names_hold_str(p, s);
			if (refs[i]++ == 0) {
				ids[i] = id;
				held++;
			}
			assert_int_equal(id, ids[i]);
		} else if (refs[i] > 0) {
			names_drop(p, ids[i]);
			held -= --refs[i] == 0;
		}
		assert_int_equal(names_find(p, s, len), refs[i] > 0 ? ids[i] : NAME_NONE);
		assert_int_equal(names_count(p), held);
	}
	for (uint32_t i = 0; i < N; i++)
		for (; refs[i] > 0; refs[i]--)
			names_drop(p, ids[i]);
	assert_int_equal(names_count(p), 0);
	names_free(p);
}

/* Two distinct strings never share an id, and every id gives its own string back. */
static void many_strings_stay_apart(void **state)
{
	enum { N = 50000 };
	struct names *p = names_new();
	name_id *ids = mem_alloc(N * sizeof(*ids));
	unsigned char *seen = mem_alloc(N + 1);
	char s[32];
	for (uint32_t i = 0; i < N; i++) {
		snprintf(s, sizeof(s), "%x", (unsigned)i);
		ids[i] = names_hold_str(p, s);
		assert_in_range(ids[i], 1, N);
		assert_int_equal(seen[ids[i]]++, 0);
	}
	for (uint32_t i = 0; i < N; i++) {
		snprintf(s, sizeof(s), "%x", (unsigned)i);
		assert_string_equal(name_str(p, ids[i]), s);
	}
	mem_free(seen);
	mem_free(ids);
	names_free(p);
}

static void a_million_pods_come_and_go_without_a_trace(void **state)
{
	enum { LIVE = 1000 };
	static name_id live[LIVE];
	struct names *p = names_new();
	size_t full = 0;
	for (uint32_t i = 0; i < 1000000; i++) {
		char s[32];
		int len = snprintf(s, sizeof(s), "job-%07u-pod", (unsigned)i);
		names_drop(p, live[i % LIVE]);
		live[i % LIVE] = names_hold(p, s, (size_t)len);
		assert_true(live[i % LIVE] <= LIVE);
		if (i == LIVE)
			full = names_bytes(p);
	}
	assert_int_equal(names_count(p), LIVE);
	assert_int_equal(names_bytes(p), full);
	for (int i = 0; i < LIVE; i++)
		names_drop(p, live[i]);
	assert_int_equal(names_count(p), 0);
	assert_true(names_bytes(p) < full / 2);
	names_free(p);
}

static void a_bag_lets_go_of_exactly_what_it_took(void **state)
{
	struct names *p = names_new();
	name_id kept = names_hold_str(p, "kept");
	struct name_bag bag = name_bag_of(p);
	assert_int_equal(name_bag_add_str(&bag, "kept"), kept);
	assert_int_equal(name_bag_add(&bag, "keptX", 4), kept);
	assert_int_equal(name_bag_add_str(&bag, NULL), NAME_NONE);
	assert_int_equal(name_bag_add_str(&bag, ""), NAME_NONE);
	name_id mine = name_bag_add_str(&bag, "mine");
	assert_string_equal(name_str(p, mine), "mine");
	assert_int_equal(names_count(p), 2);
	name_bag_drop(&bag);
	assert_int_equal(names_count(p), 1);
	assert_string_equal(name_str(p, kept), "kept");
	assert_int_equal(name_bag_add_str(&bag, "kept"), kept);
	name_bag_drop(&bag);
	names_drop(p, kept);
	assert_int_equal(names_count(p), 0);
	names_free(p);
}

static void drop_twice(void)
{
	struct names *p = names_new();
	name_id id = names_hold_str(p, "x");
	names_drop(p, id);
	names_drop(p, id);
}

static void read_after_drop(void)
{
	struct names *p = names_new();
	name_id id = names_hold_str(p, "x");
	names_drop(p, id);
	name_str(p, id);
}

static void hold_a_nul(void)
{
	names_hold(names_new(), "a\0b", 3);
}

static void misuse_aborts(void **state)
{
	assert_true(dies(drop_twice));
	assert_true(dies(read_after_drop));
	assert_true(dies(hold_a_nul));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_string_and_the_empty_string_are_one),
		cmocka_unit_test(equal_strings_have_equal_ids),
		cmocka_unit_test(a_string_lives_until_the_last_holder_lets_go),
		cmocka_unit_test(order_is_that_of_the_bytes),
		cmocka_unit_test(counting_is_exact),
		cmocka_unit_test(many_strings_stay_apart),
		cmocka_unit_test(a_million_pods_come_and_go_without_a_trace),
		cmocka_unit_test(a_bag_lets_go_of_exactly_what_it_took),
		cmocka_unit_test(misuse_aborts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
