/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/heap.h"
#include "dies.h"
#include "rng.h"

enum { N = 300 };

static int by_key(const void *ctx, uint32_t a, uint32_t b)
{
	const int *keys = ctx;
	return (keys[a] > keys[b]) - (keys[a] < keys[b]);
}

static void equals_leave_in_the_order_they_came(void **state)
{
	static const int keys[] = {5, 1, 5, 1, 5, 1};
	static const uint32_t want[] = {5, 3, 1, 4, 0, 2};
	struct heap h;
	heap_init(&h, by_key, keys);
	for (uint32_t i = 0; i < 6; i++)
		heap_push(&h, (uint32_t[]){5, 3, 1, 4, 0, 2}[i]);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(heap_peek(&h), want[i]);
		assert_int_equal(heap_pop(&h), want[i]);
	}
	heap_free(&h);
}

static void a_changed_key_keeps_its_place_among_equals(void **state)
{
	int keys[] = {1, 1, 1};
	struct heap h;
	heap_init(&h, by_key, keys);
	for (uint32_t i = 0; i < 3; i++)
		heap_push(&h, i);
	keys[0] = 9;
	heap_update(&h, 0);
	assert_int_equal(heap_peek(&h), 1);
	keys[0] = 1;
	heap_update(&h, 0);
	assert_int_equal(heap_pop(&h), 0);
	heap_push(&h, 0);
	assert_int_equal(heap_pop(&h), 1);
	assert_int_equal(heap_pop(&h), 2);
	assert_int_equal(heap_pop(&h), 0);
	heap_free(&h);
}

static void ids_may_be_far_apart(void **state)
{
	static int keys[100001];
	keys[0] = 3, keys[100000] = 1, keys[7] = 2;
	struct heap h;
	heap_init(&h, by_key, keys);
	assert_false(heap_has(&h, 0));
	heap_push(&h, 0);
	heap_push(&h, 100000);
	heap_push(&h, 7);
	assert_true(heap_has(&h, 7));
	assert_false(heap_has(&h, 8));
	assert_false(heap_has(&h, UINT32_MAX));
	assert_int_equal(heap_pop(&h), 100000);
	assert_int_equal(heap_pop(&h), 7);
	assert_int_equal(heap_pop(&h), 0);
	heap_free(&h);
}

/* The queue a heap stands for: a list in order of arrival, searched for the first of the smallest. */
struct plain {
	uint32_t ids[N];
	uint32_t n;
};

static uint32_t plain_first(const struct plain *p, const int *keys)
{
	uint32_t best = 0;
	for (uint32_t i = 1; i < p->n; i++)
		if (keys[p->ids[i]] < keys[p->ids[best]])
			best = i;
	return best;
}

static void plain_remove(struct plain *p, uint32_t at)
{
	memmove(p->ids + at, p->ids + at + 1, (p->n - at - 1) * sizeof(p->ids[0]));
	p->n--;
}

static uint32_t plain_find(const struct plain *p, uint32_t id)
{
	uint32_t i = 0;
	while (i < p->n && p->ids[i] != id)
		i++;
	return i;
}

static void step_one(struct rng *r, struct heap *h, struct plain *p, int *keys)
{
	uint32_t id = rng_below(r, N), at = plain_find(p, id);
	assert_int_equal(heap_has(h, id), at < p->n);
	if (at == p->n) {
		keys[id] = (int)rng_below(r, 20);
		heap_push(h, id);
		p->ids[p->n++] = id;
	} else if (rng_below(r, 3) == 0) {
		heap_remove(h, id);
		plain_remove(p, at);
	} else {
		keys[id] = (int)rng_below(r, 20);
		heap_update(h, id);
	}
	if (rng_below(r, 3) == 0 && p->n > 0) {
		uint32_t first = plain_first(p, keys);
		assert_int_equal(heap_pop(h), p->ids[first]);
		plain_remove(p, first);
	}
	assert_int_equal(h->items.n, p->n);
	if (p->n > 0)
		assert_int_equal(heap_peek(h), p->ids[plain_first(p, keys)]);
}

static void it_agrees_with_a_list(void **state)
{
	struct rng r = {7};
	for (int round = 0; round < 20; round++) {
		int keys[N] = {0};
		struct plain p = {0};
		struct heap h;
		heap_init(&h, by_key, keys);
		for (int step = 0; step < 3000; step++)
			step_one(&r, &h, &p, keys);
		for (; p.n > 0; plain_remove(&p, plain_first(&p, keys)))
			assert_int_equal(heap_pop(&h), p.ids[plain_first(&p, keys)]);
		assert_int_equal(h.items.n, 0);
		heap_free(&h);
	}
}

static const int same[2];

static void a_cleared_heap_is_as_good_as_new(void **state)
{
	static const int keys[4];
	struct heap h;

	heap_init(&h, by_key, keys);
	for (uint32_t i = 0; i < 4; i++)
		heap_push(&h, i);
	heap_clear(&h);
	for (uint32_t i = 0; i < 4; i++)
		assert_false(heap_has(&h, i));
	heap_push(&h, 3);
	heap_push(&h, 1);
	assert_int_equal(heap_pop(&h), 3); /* equal keys: the first that came, after the clearing */
	assert_int_equal(heap_pop(&h), 1);
	heap_free(&h);
}

static void push_twice(void)
{
	struct heap h;
	heap_init(&h, by_key, same);
	heap_push(&h, 1);
	heap_push(&h, 1);
}

static void pop_from_empty(void)
{
	struct heap h;
	heap_init(&h, by_key, same);
	heap_pop(&h);
}

static void remove_absent(void)
{
	struct heap h;
	heap_init(&h, by_key, same);
	heap_push(&h, 1);
	heap_remove(&h, 0);
}

static void misuse_aborts(void **state)
{
	assert_true(dies(push_twice));
	assert_true(dies(pop_from_empty));
	assert_true(dies(remove_absent));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_leave_in_the_order_they_came),
		cmocka_unit_test(a_changed_key_keeps_its_place_among_equals),
		cmocka_unit_test(ids_may_be_far_apart),
		cmocka_unit_test(it_agrees_with_a_list),
		cmocka_unit_test(a_cleared_heap_is_as_good_as_new),
		cmocka_unit_test(misuse_aborts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
