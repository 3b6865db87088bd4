/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Different shapes with one hash are so rare that no input would show whether they are kept apart. Here everything has
 * one of three hashes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/map.h"

static uint64_t poor_hash(uint64_t h, uint64_t x)
{
	return (h + x) % 3;
}
#define hash_mix poor_hash
#include "model/shape.c"
#undef hash_mix

#include "shape_fixture.h"

enum { SEEDS = 60 };

static void check(struct vocab *v, const shape_id *ids, const uint32_t *refs)
{
	uint32_t live = 0;
	for (uint32_t i = 0; i < SEEDS; i++) {
		if (refs[i] == 0)
			continue;
		struct draft d = draft_new(v, i + 1);
		struct text want = {0}, got = {0};
		shape_tell(v, &d.shape, &want);
		shape_tell(v, shape_get(v, ids[i]), &got);
		assert_string_equal(got.s, want.s);
		text_free(&want);
		text_free(&got);
		draft_free(&d);
		live++;
	}
	assert_int_equal(shape_count(v), live);
}

static void shapes_of_one_hash_are_kept_apart(void **state)
{
	struct vocab *v = vocab_new();
	uint32_t refs[SEEDS] = {0}, before = names_count(vocab_names(v));
	shape_id ids[SEEDS];
	struct rng rng = {5};
	for (uint32_t round = 0; round < 4000; round++) {
		uint32_t i = rng_below(&rng, SEEDS);
		if (refs[i] > 0 && rng_below(&rng, 2) == 0) {
			shape_drop(v, ids[i]);
			refs[i]--;
		} else {
			struct draft d = draft_new(v, i + 1);
			shape_id id = shape_hold(v, &d.shape);
			draft_free(&d);
			if (refs[i]++ > 0)
				assert_int_equal(id, ids[i]);
			ids[i] = id;
		}
		if (round % 20 == 0)
			check(v, ids, refs);
	}
	for (uint32_t i = 0; i < SEEDS; i++)
		for (; refs[i] > 0; refs[i]--)
			shape_drop(v, ids[i]);
	assert_int_equal(names_count(vocab_names(v)), before);
	vocab_free(v);
}

static void labelsets_of_one_hash_are_kept_apart(void **state)
{
	struct vocab *v = vocab_new();
	name_id ns[40];
	labelset_id labelsets[40];
	for (uint32_t i = 0; i < 40; i++) {
		char s[8];
		int n = snprintf(s, sizeof(s), "ns%u", i);
		ns[i] = names_hold(vocab_names(v), s, (size_t)n);
		labelsets[i] = labelset_hold(v, ns[i], NULL, 0);
	}
	for (uint32_t i = 0; i < 40; i += 3)
		labelset_drop(v, labelsets[i]);
	for (uint32_t i = 0; i < 40; i++) {
		if (i % 3 == 0)
			labelsets[i] = labelset_hold(v, ns[i], NULL, 0);
		else
			assert_int_equal(labelset_hold(v, ns[i], NULL, 0), labelsets[i]);
		assert_int_equal(labelset_get(v, labelsets[i])->ns, ns[i]);
	}
	vocab_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_of_one_hash_are_kept_apart),
		cmocka_unit_test(labelsets_of_one_hash_are_kept_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
