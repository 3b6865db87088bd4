/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/res.h"
#include "rng.h"

static int setup(void **state)
{
	struct res_types *t = mem_alloc(sizeof(*t));
	res_types_init(t, names_new());
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct res_types *t = *state;
	struct names *names = t->names;
	res_types_free(t);
	assert_int_equal(names_count(names), 0);
	names_free(names);
	mem_free(t);
	return 0;
}

static void types_keep_their_numbers(void **state)
{
	struct res_types *t = *state;
	res_id gpu, again, memory;
	assert_int_equal(t->n, RES_FIXED);
	assert_int_equal(res_types_find(t, "nvidia.com/gpu", 14), RES_NONE);
	assert_int_equal(res_types_add(t, "nvidia.com/gpu and more", 14, &gpu, NULL), ERR_OK);
	assert_int_equal(gpu, RES_FIXED);
	assert_int_equal(res_types_add(t, "nvidia.com/gpu", 14, &again, NULL), ERR_OK);
	assert_int_equal(again, gpu);
	assert_int_equal(res_types_add(t, "memory", 6, &memory, NULL), ERR_OK);
	assert_int_equal(memory, RES_MEMORY);
	assert_string_equal(res_type_name(t, gpu), "nvidia.com/gpu");
	assert_string_equal(res_type_name(t, RES_EPHEMERAL), "ephemeral-storage");
	assert_int_equal(res_types_find(t, "", 0), RES_NONE);
}

static void one_type_too_many_is_refused(void **state)
{
	struct res_types *t = *state;
	struct err e;
	res_id r = 0;
	char name[32];
	for (int i = RES_FIXED; i < RES_MAX; i++) {
		int n = snprintf(name, sizeof(name), "example.com/r%d", i);
		assert_int_equal(res_types_add(t, name, (size_t)n, &r, &e), ERR_OK);
		assert_int_equal(r, i);
	}
	assert_int_equal(res_types_add(t, "example.com/last", 16, &r, &e), ERR_LIMIT);
	assert_non_null(strstr(e.msg, "'example.com/last'"));
	assert_int_equal(res_types_add(t, "cpu", 3, &r, &e), ERR_OK);
	assert_int_equal(res_types_add(t, "", 0, &r, &e), ERR_INPUT);
}

static void names_of_resources(void **state)
{
	static const struct {
		const char *why, *name;
		bool is_valid, is_counted;
	} rows[] = {
		{"the fixed ones", "cpu", true, true},
		{"the fixed ones", "pods", true, true},
		{"the fixed ones", "ephemeral-storage", true, true},
		{"an extended one has a domain of its own", "nvidia.com/gpu", true, true},
		{"a plain word nobody knows is no error and is not counted", "storage", true, false},
		{"huge pages have no domain", "hugepages-2Mi", true, true},
		{"volumes to attach have none either", "attachable-volumes-csi-x", true, true},
		{"the domain of Kubernetes itself", "kubernetes.io/batch", true, true},
		{"or one below it", "x.kubernetes.io/foo", true, true},
		{"names of quotas are not resources of pods", "requests.nvidia.com/gpu", true, false},
		{"a blank", "nvidia.com/my gpu", false, false},
		{"two slashes", "a/b/c", false, false},
		{"nothing", "", false, false},
		{"no name after the domain", "nvidia.com/", false, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err e;
		size_t len = strlen(rows[i].name);
		bool is_valid = res_name_check(rows[i].name, len, &e) == ERR_OK;
		if (is_valid != rows[i].is_valid || res_name_is_counted(rows[i].name, len) != rows[i].is_counted)
			fail_msg("%s: '%s'", rows[i].why, rows[i].name);
	}
}

static void quotas_need_room_before_a_long_name(void **state)
{
	char name[253 + 1 + 64] = "";
	memset(name, 'a', sizeof(name) - 1);
	for (size_t i = 49; i < 253; i += 50)
		name[i] = '.';
	name[253] = '/';
	size_t all = 253 + 1 + 63;
	assert_int_equal(res_name_check(name, all, NULL), ERR_OK);
	assert_false(res_name_is_counted(name, all));
	assert_true(res_name_is_counted(name + 10, all - 10));
}

static void quantities_become_amounts(void **state)
{
	static const struct {
		const char *why, *text;
		res_id r;
		enum err_code code;
		int64_t amount;
	} rows[] = {
		{"cpu is counted in thousandths", "1.5", RES_CPU, ERR_OK, 1500},
		{"a part of a thousandth counts as one", "1n", RES_CPU, ERR_OK, 1},
		{"memory in bytes", "1.5Gi", RES_MEMORY, ERR_OK, INT64_C(1610612736)},
		{"a part of a byte counts as one", "100m", RES_MEMORY, ERR_OK, 1},
		{"other types in whole units", "3", RES_FIXED, ERR_OK, 3},
		{"zero is fine", "0", RES_CPU, ERR_OK, 0},
		{"less than nothing is not", "-1", RES_CPU, ERR_INPUT, 0},
		{"not even a little", "-1n", RES_MEMORY, ERR_INPUT, 0},
		{"what fits but is absurd is cut", "7Ei", RES_MEMORY, ERR_OK, RES_AMOUNT_MAX},
		{"the largest that is kept", "64Pi", RES_MEMORY, ERR_OK, RES_AMOUNT_MAX},
		{"what does not fit is refused", "10E", RES_CPU, ERR_INPUT, 0},
		{"in any type", "1e30", RES_FIXED, ERR_INPUT, 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct quantity q;
		struct err e;
		int64_t amount = 0;
		assert_int_equal(quantity_parse(rows[i].text, strlen(rows[i].text), &q, &e), ERR_OK);
		enum err_code code = res_amount_of(rows[i].r, &q, &amount, &e);
		if (code != rows[i].code || amount != rows[i].amount)
			fail_msg("%s: %s gives %lld", rows[i].why, rows[i].text, (long long)amount);
	}
}

static void amounts_are_written_for_people(void **state)
{
	static const struct {
		res_id r;
		int64_t amount;
		const char *text, *exact;
	} rows[] = {
		{RES_CPU, 4000, "4", "4"},
		{RES_CPU, 500, "500m", "500m"},
		{RES_CPU, 1500, "1500m", "1500m"},
		{RES_CPU, 0, "0", "0"},
		{RES_CPU, -250, "-250m", "-250m"},
		{RES_MEMORY, INT64_C(16) << 30, "16Gi", "16Gi"},
		{RES_MEMORY, INT64_C(3) << 29, "1536Mi", "1536Mi"},
		{RES_MEMORY, INT64_C(32883804) << 10, "31.4Gi", "32883804Ki"},
		{RES_MEMORY, 1000, "1000", "1k"},
		{RES_MEMORY, 1025, "1025", "1025"},
		{RES_MEMORY, 1000000, "976.6Ki", "1000000"},
		{RES_MEMORY, -(INT64_C(3) << 29), "-1536Mi", "-1536Mi"},
		{RES_MEMORY, (INT64_C(1) << 40) - 1, "1.0Ti", "1099511627775"},
		{RES_EPHEMERAL, INT64_C(1) << 40, "1Ti", "1Ti"},
		{RES_FIXED, 8, "8", "8"},
		{RES_FIXED, 2000, "2000", "2000"},
		{RES_PODS, 110, "110", "110"},
		{RES_CPU, RES_UNLIMITED, "unlimited", "unlimited"},
		{RES_MEMORY, RES_UNLIMITED, "unlimited", "unlimited"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text t = {0};
		res_amount_text(rows[i].r, rows[i].amount, &t);
		assert_string_equal(text_str(&t), rows[i].text);
		text_reset(&t);
		res_amount_exact(rows[i].r, rows[i].amount, &t);
		assert_string_equal(text_str(&t), rows[i].exact);
		text_free(&t);
	}
}

static void exact_text_reads_back(void **state)
{
	struct rng rng = {7};
	for (int i = 0; i < 20000; i++) {
		res_id r = rng_below(&rng, RES_FIXED + 1);
		int64_t amount = (int64_t)(rng_next(&rng) >> (8 + rng_below(&rng, 56))), back = -1;
		if (rng_below(&rng, 3) == 0)
			amount <<= rng_below(&rng, (uint32_t)__builtin_clzll((uint64_t)amount | 1)) / 2;
		amount &= RES_AMOUNT_MAX - 1;
		struct text t = {0};
		struct quantity q;
		res_amount_exact(r, amount, &t);
		assert_int_equal(quantity_parse(t.s, t.n, &q, NULL), ERR_OK);
		assert_int_equal(res_amount_of(r, &q, &back, NULL), ERR_OK);
		if (back != amount)
			fail_msg("type %u: %lld is written %s", r, (long long)amount, t.s);
		text_free(&t);
	}
}

/* The same on plain arrays, without masks and bits. */
struct naive {
	bool has[RES_MAX];
	__int128 v[RES_MAX];
};

static int64_t clamp(__int128 x)
{
	return x > INT64_MAX ? INT64_MAX : x < INT64_MIN ? INT64_MIN : (int64_t)x;
}

static struct res_vec random_vec(struct rng *rng, struct naive *n)
{
	struct res_vec v = {0};
	*n = (struct naive){0};
	for (uint32_t k = rng_below(rng, 6); k > 0; k--) {
		res_id r = rng_below(rng, RES_MAX);
		int64_t x = (int64_t)rng_next(rng) >> rng_below(rng, 64);
		res_put(&v, r, x);
		n->has[r] = true;
		n->v[r] = x;
	}
	return v;
}

static void assert_same(const struct res_vec *v, const struct naive *n)
{
	for (res_id r = 0; r < RES_MAX; r++) {
		assert_int_equal(res_has(v, r), n->has[r]);
		assert_true(v->v[r] == clamp(n->v[r]));
	}
}

enum vec_op { ADD, SUB, MAX, MIN, ADD_LIST, OPS };

static void naive_do(enum vec_op op, struct naive *a, const struct naive *b)
{
	for (res_id r = 0; r < RES_MAX; r++) {
		if (!b->has[r])
			continue;
		bool takes = !a->has[r];
		if (op == ADD || op == ADD_LIST)
			a->v[r] = clamp(a->v[r] + b->v[r]);
		else if (op == SUB)
			a->v[r] = clamp(a->v[r] - b->v[r]);
		else if (takes || (op == MAX) == (b->v[r] > a->v[r]))
			a->v[r] = b->v[r];
		a->has[r] = true;
	}
}

static void vec_do(enum vec_op op, struct res_vec *a, const struct res_vec *b)
{
	static void (*const ops[])(struct res_vec *, const struct res_vec *) = {
		[ADD] = res_vec_add,
		[SUB] = res_vec_sub,
		[MAX] = res_vec_max,
		[MIN] = res_vec_min,
	};
	if (op != ADD_LIST) {
		ops[op](a, b);
		return;
	}
	struct res_amount amounts[RES_MAX];
	struct res_list list = {.v = amounts};
	for (res_id r = 0; r < RES_MAX; r++)
		if (res_has(b, r))
			amounts[list.n++] = (struct res_amount){r, b->v[r]};
	for (res_id r = 0; r < RES_MAX; r++)
		assert_true(res_list_get(&list, r) == b->v[r]);
	res_vec_add_list(a, &list);
}

static void vectors_agree_with_plain_arrays(void **state)
{
	struct rng rng = {3};
	for (int round = 0; round < 20000; round++) {
		struct naive na, nb;
		struct res_vec a = random_vec(&rng, &na), b = random_vec(&rng, &nb);
		enum vec_op op = rng_below(&rng, OPS);
		vec_do(op, &a, &b);
		naive_do(op, &na, &nb);
		assert_same(&a, &na);
		assert_same(&b, &nb);
	}
}

static void missing_and_zero_differ(void **state)
{
	struct res_vec none = {0}, zero = {0}, one = {0};
	res_put(&zero, RES_CPU, 0);
	res_put(&one, RES_CPU, 1);
	assert_true(res_vec_is_zero(&none));
	assert_true(res_vec_is_zero(&zero));
	assert_false(res_vec_is_zero(&one));
	assert_false(res_vec_equal(&none, &zero));
	assert_false(res_vec_equal(&zero, &one));
	assert_true(res_vec_equal(&one, &one));
	res_vec_min(&none, &one);
	assert_true(res_vec_equal(&none, &one));
	res_vec_min(&one, &zero);
	assert_true(res_vec_equal(&one, &zero));
}

static void sums_saturate(void **state)
{
	assert_true(res_add_sat(INT64_MAX, 1) == INT64_MAX);
	assert_true(res_add_sat(INT64_MIN, -1) == INT64_MIN);
	assert_true(res_sub_sat(INT64_MIN, 1) == INT64_MIN);
	assert_true(res_sub_sat(0, INT64_MIN) == INT64_MAX);
	assert_true(res_sub_sat(3, 5) == -2);
}

static void a_vector_is_written_in_type_order(void **state)
{
	struct res_types *t = *state;
	struct res_vec v = {0};
	struct text out = {0};
	res_id gpu;
	assert_int_equal(res_types_add(t, "nvidia.com/gpu", 14, &gpu, NULL), ERR_OK);
	res_vec_text(t, &v, &out);
	assert_string_equal(out.s, "nothing");
	text_reset(&out);
	res_put(&v, gpu, 2);
	res_put(&v, RES_MEMORY, INT64_C(16) << 30);
	res_put(&v, RES_CPU, 4000);
	res_vec_text(t, &v, &out);
	assert_string_equal(out.s, "cpu 4, memory 16Gi, nvidia.com/gpu 2");
	text_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(types_keep_their_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(one_type_too_many_is_refused, setup, teardown),
		cmocka_unit_test(names_of_resources),
		cmocka_unit_test(quotas_need_room_before_a_long_name),
		cmocka_unit_test(quantities_become_amounts),
		cmocka_unit_test(amounts_are_written_for_people),
		cmocka_unit_test(exact_text_reads_back),
		cmocka_unit_test(vectors_agree_with_plain_arrays),
		cmocka_unit_test(missing_and_zero_differ),
		cmocka_unit_test(sums_saturate),
		cmocka_unit_test_setup_teardown(a_vector_is_written_in_type_order, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
