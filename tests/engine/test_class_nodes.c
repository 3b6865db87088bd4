/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a class knows of a node: pods of whom the kind tells everything are summed up in a short way, and the sums are
 * those of the long one. Nothing else would show it: what is known here only says which nodes need no closer look.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/search_class.c"

#include "rng.h"

enum { KINDS = 8, SHAPES = 5, ROWS = 12, TRIES = 20000 };

static struct {
	struct judge judge;
	struct search search;
	struct node_search node_search;
	struct search_bounds bounds;
	struct search_class class;
	struct row_kind kinds[KINDS];
	struct shape_answer shapes[SHAPES];
	struct kind_answer answers[KINDS];
	struct known_answer known[KINDS];
	struct pod_row row[ROWS];
	struct pod_rows rows;
} t;

static void random_shapes(struct rng *r)
{
	for (uint32_t i = 0; i < SHAPES; i++) {
		t.shapes[i] = (struct shape_answer){
			.stamp = 1, .types = rng_below(r, 8) | UINT64_C(1) << RES_PODS, .share = rng_below(r, 1000)};
		if (!rng_below(r, 8))
			t.shapes[i].share = INT64_MAX / 3;
		for (uint32_t k = 0; k < WANTED; k++)
			t.shapes[i].frees[k] = rng_below(r, 9);
	}
}

static void random_kinds(struct rng *r)
{
	for (uint32_t i = 0; i < KINDS; i++) {
		struct kind_answer *a = &t.answers[i];

		t.kinds[i] = (struct row_kind){.least = (int32_t)(i * (1 + rng_below(r, 2)) / 2) - 2,
					       .podset = rng_below(r, 2) ? PODSET_NONE : 0};
		*a = (struct kind_answer){.stamp = 1,
					  .says = (uint8_t)(rng_below(r, 3) ? MAY : rng_below(r, WILD)),
					  .least = t.kinds[i].least,
					  .is_of_group = !rng_below(r, 4),
					  .is_untold = rng_below(r, 2),
					  .inside_from = rng_below(r, 2) ? (int64_t)rng_below(r, 60) * NS_PER_S / 2 - 5
									 : INT64_MAX,
					  .below = rng_below(r, 3) ? 0 : rng_below(r, 8)};
		a->plain_until_s = a->says == NOT_ASKED ? -1 : kind_plain_until(&t.bounds, a);
		t.known[i].says = rng_below(r, 4) ? a->says : WILD;
		t.kinds[i].least =
			i > 0 && t.kinds[i].least < t.kinds[i - 1].least ? t.kinds[i - 1].least : t.kinds[i].least;
		a->least = t.kinds[i].least;
	}
}

/* Rows come by priority, as kinds do here. */
static void random_rows(struct rng *r)
{
	uint32_t kind = 0;

	t.rows.n = rng_below(r, ROWS + 1);
	for (uint32_t i = 0; i < t.rows.n; i++) {
		kind += rng_below(r, 2) && kind < KINDS - 1;
		t.row[i] = (struct pod_row){i, kind, rng_below(r, SHAPES), rng_below(r, 40)};
	}
}

static void random_node(struct rng *r)
{
	static const enum action actions[] = {ACTION_PREEMPT, ACTION_RECLAIM, ACTION_DISPLACE};

	t.judge = (struct judge){.now_ns = (int64_t)rng_below(r, 60) * NS_PER_S + rng_below(r, 2),
				 .action = actions[rng_below(r, 3)]};
	t.search = (struct search){.j = &t.judge, .with_opted_out = rng_below(r, 2)};
	t.node_search = (struct node_search){.s = &t.search, .is_fast = rng_below(r, 2)};
	t.node_search.want.n = 3;
	for (uint32_t k = 0; k < 3; k++)
		t.node_search.want.type[k] = (res_id)k;
	t.bounds = (struct search_bounds){.g = &t.node_search, .stamp = 1, .shapes_stamp = 1, .shapes = t.shapes};
	t.bounds.rows.kinds.v = t.kinds;
	t.bounds.rows.kinds.n = KINDS;
	t.class = (struct search_class){
		.short_types = 1 + rng_below(r, 7), .is_wide = rng_below(r, 2), .answers = t.known};
	t.rows.v = t.row;
	random_shapes(r);
	random_kinds(r);
	random_rows(r);
}

static struct summary summary_now(int64_t *ret_until_ns)
{
	struct summary s;

	summary_begin(&s, &t.bounds, &t.class);
	memset(s.levels, 0, sizeof(s.levels));
	add_rows(&t.bounds, &t.class, t.answers, &t.rows, &s);
	*ret_until_ns = t.bounds.until_ns;
	return s;
}

static void the_short_way_to_sum_up_a_node_is_the_long_one(void **state)
{
	struct rng rng = {3};
	uint32_t n_plain = 0;

	for (uint32_t i = 0; i < TRIES; i++) {
		struct summary by_kind, by_row;
		int64_t until_ns, want_until_ns;

		random_node(&rng);
		by_kind = summary_now(&until_ns);
		for (uint32_t k = 0; k < KINDS; k++) {
			n_plain += t.answers[k].plain_until_s >= 0;
			t.answers[k].plain_until_s = -1;
		}
		by_row = summary_now(&want_until_ns);
		assert_int_equal(until_ns, want_until_ns);
		assert_memory_equal(&by_kind.x, &by_row.x, sizeof(by_row.x));
		assert_memory_equal(&by_kind.tally, &by_row.tally, sizeof(by_row.tally));
		assert_memory_equal(by_kind.last, by_row.last, sizeof(by_row.last));
		assert_memory_equal(by_kind.below, by_row.below, sizeof(by_row.below));
		assert_memory_equal(by_kind.levels, by_row.levels, sizeof(by_row.levels));
	}
	assert_true(n_plain > TRIES);
	(void)state;
}

/* A row says that its pod has to be asked by the greatest number of seconds. */
static void nobody_who_has_to_be_asked_is_plain(void **state)
{
	struct rng rng = {4};
	struct kind_answer a = {.says = MAY, .inside_from = INT64_MAX};

	random_node(&rng);
	t.judge.action = ACTION_PREEMPT;
	t.judge.now_ns = INT64_MAX;
	assert_true(kind_plain_until(&t.bounds, &a) == ROW_APART - 1);
	t.judge.now_ns = INT64_C(5) * NS_PER_S;
	assert_int_equal(kind_plain_until(&t.bounds, &a), 5);
	a.inside_from = -1;
	assert_int_equal(kind_plain_until(&t.bounds, &a), -1);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_short_way_to_sum_up_a_node_is_the_long_one),
		cmocka_unit_test(nobody_who_has_to_be_asked_is_plain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
