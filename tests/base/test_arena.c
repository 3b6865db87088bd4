/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/array.h"
#include "dies.h"
#include "rng.h"

static bool is_zero(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != 0)
			return false;
	return true;
}

static void memory_is_zeroed_aligned_and_apart(void **state)
{
	struct rng r = {1};
	struct arena *a = arena_new(256);
	for (int round = 0; round < 50; round++) {
		unsigned char *parts[100];
		size_t sizes[100];
		for (int i = 0; i < 100; i++) {
			sizes[i] = rng_below(&r, 20) == 0 ? rng_below(&r, 3000) : rng_below(&r, 60);
			parts[i] = arena_alloc(a, sizes[i]);
			assert_true((uintptr_t)parts[i] % alignof(max_align_t) == 0);
			assert_true(is_zero(parts[i], sizes[i]));
			memset(parts[i], i + 1, sizes[i]);
		}
		for (int i = 0; i < 100; i++)
			for (size_t k = 0; k < sizes[i]; k++)
				assert_int_equal(parts[i][k], i + 1);
		arena_reset(a);
	}
	arena_free(a);
}

static void nothing_asked_is_still_something_of_its_own(void **state)
{
	struct arena *a = arena_new(0);
	assert_ptr_not_equal(arena_alloc(a, 0), arena_alloc(a, 0));
	arena_free(a);
	arena_free(NULL);
}

static void reset_keeps_the_largest_block_only(void **state)
{
	struct arena *a = arena_new(1024);
	size_t empty = arena_bytes(a);
	arena_reset(a);
	assert_int_equal(arena_bytes(a), empty);
	for (int i = 0; i < 10; i++)
		arena_alloc(a, 1000);
	arena_alloc(a, 100000);
	assert_true(arena_bytes(a) > 110000);
	arena_reset(a);
	size_t kept = arena_bytes(a);
	assert_in_range(kept, 100000, 101000);
	for (int i = 0; i < 90; i++)
		arena_alloc(a, 1000);
	assert_int_equal(arena_bytes(a), kept);
	arena_free(a);
}

static void a_big_piece_does_not_waste_the_room_that_was_left(void **state)
{
	struct arena *a = arena_new(4096);
	arena_alloc(a, 16);
	arena_alloc(a, 100000);
	size_t before = arena_bytes(a);
	arena_alloc(a, 4000);
	assert_int_equal(arena_bytes(a), before);
	arena_free(a);
}

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
static void the_sanitizer_sees_the_ends(void **state)
{
	struct arena *a = arena_new(1024);
	char *p = arena_alloc(a, 13), *q = arena_alloc(a, 16);
	assert_false(__asan_address_is_poisoned(p + 12));
	assert_true(__asan_address_is_poisoned(p + 13));
	assert_false(__asan_address_is_poisoned(q + 15));
	assert_true(__asan_address_is_poisoned(q + 16));
	arena_reset(a);
	assert_true(__asan_address_is_poisoned(q));
	arena_free(a);
}
#else
static void the_sanitizer_sees_the_ends(void **state)
{
	puts("# SKIP there is none in this build");
	skip();
}
#endif

static void strings_are_copied_and_formatted(void **state)
{
	struct arena *a = arena_new(64);
	assert_string_equal(arena_strndup(a, "node-1/x", 6), "node-1");
	assert_string_equal(arena_strndup(a, NULL, 0), "");
	assert_string_equal(arena_printf(a, "%s-%d", "pod", 7), "pod-7");
	char *s = arena_printf(a, "%0500d", 1);
	assert_int_equal(strlen(s), 500);
	uint32_t *n = arena_n(a, 3, uint32_t);
	assert_true(is_zero((unsigned char *)n, 3 * sizeof(*n)));
	arena_free(a);
}

static volatile size_t huge = SIZE_MAX / 2;

static void array_too_big(void)
{
	arena_array(arena_new(64), huge, 3);
}

static void alloc_too_big(void)
{
	arena_alloc(arena_new(64), huge * 2 + 1);
}

static void strndup_too_big(void)
{
	arena_strndup(arena_new(64), "x", huge * 2 + 1);
}

static void resize_too_big(void)
{
	mem_free(mem_resize(NULL, huge, 3));
}

static void more_than_2_31_elements(void)
{
	array_next_cap(8, (UINT32_C(1) << 31) + 1);
}

static void impossible_sizes_abort(void **state)
{
	assert_true(dies(array_too_big));
	assert_true(dies(alloc_too_big));
	assert_true(dies(strndup_too_big));
	assert_true(dies(resize_too_big));
	assert_true(dies(more_than_2_31_elements));
}

static void heap_memory(void **state)
{
	unsigned char *p = mem_alloc(100);
	assert_true(is_zero(p, 100));
	p[99] = 7;
	p = mem_resize(p, 50, 4);
	assert_int_equal(p[99], 7);
	mem_free(p);
	mem_free(mem_resize(NULL, 0, 8));
	mem_free(NULL);
	char *copy AUTO_FREE = mem_strdup("queue");
	char *none AUTO_FREE = NULL;
	assert_null(none);
	assert_string_equal(copy, "queue");
}

static void array_capacity_doubles_from_eight(void **state)
{
	static const struct {
		const char *why;
		uint32_t cap, want, next;
	} rows[] = {
		{"the first element makes room for eight", 0, 1, 8},
		{"one too many doubles", 8, 9, 16},
		{"many at once doubles as often as needed", 8, 100, 128},
		{"odd capacities double too", 12, 13, 24},
		{"the last doubling stops at the limit", 0x60000000, 0x60000001, 0x80000000},
		{"the limit itself can be reached", 8, 0x80000000, 0x80000000},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (array_next_cap(rows[i].cap, rows[i].want) != rows[i].next)
			fail_msg("%s", rows[i].why);
}

/* An array against a plain one of fixed size. */
static void arrays_insert_and_remove_in_order(void **state)
{
	struct rng r = {2};
	ARRAY(uint32_t) a = {0};
	uint32_t plain[300], n = 0;
	for (uint32_t step = 0; step < 20000; step++) {
		uint32_t at = rng_below(&r, n + 1), what = rng_below(&r, 5);
		if (n < 299 && what < 2) {
			memmove(plain + at + 1, plain + at, (n - at) * sizeof(*plain));
			plain[at] = step;
			n++;
			array_insert(&a, at, step);
		} else if (n < 299 && what == 2) {
			plain[n++] = step;
			array_push(&a, step);
			assert_int_equal(array_last(&a), step);
		} else if (at < n && what == 3) {
			memmove(plain + at, plain + at + 1, (n - at - 1) * sizeof(*plain));
			n--;
			array_remove(&a, at);
		} else if (n > 0) {
			uint32_t popped = array_pop(&a);
			assert_int_equal(popped, plain[--n]);
		}
		assert_int_equal(a.n, n);
		if (n > 0)
			assert_memory_equal(a.v, plain, n * sizeof(*plain));
	}
	array_free(&a);
	assert_null(a.v);
	assert_int_equal(a.n + a.cap, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
		cmocka_unit_test(nothing_asked_is_still_something_of_its_own),
		cmocka_unit_test(reset_keeps_the_largest_block_only),
		cmocka_unit_test(a_big_piece_does_not_waste_the_room_that_was_left),
		cmocka_unit_test(the_sanitizer_sees_the_ends),
		cmocka_unit_test(strings_are_copied_and_formatted),
		cmocka_unit_test(impossible_sizes_abort),
		cmocka_unit_test(heap_memory),
		cmocka_unit_test(array_capacity_doubles_from_eight),
		cmocka_unit_test(arrays_insert_and_remove_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
