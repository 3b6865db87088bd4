/* SPDX-License-Identifier: Apache-2.0 */
#include "label_fixture.h"

#define ANY EFFECT_ANY
#define NOSCHED EFFECT_NO_SCHEDULE
#define PREFER EFFECT_PREFER_NO_SCHEDULE
#define NOEXEC EFFECT_NO_EXECUTE

struct row {
	const char *what;
	struct {
		const char *key;
		enum toleration_op op;
		const char *value;
		enum taint_effect effect;
	} t;
	struct {
		const char *key, *value;
		enum taint_effect effect;
	} taint;
	bool is_match;
};

static bool row_matches(const struct row *row, bool with_bounds)
{
	struct toleration t = {
		.key = name_of(row->t.key), .value = name_of(row->t.value), .op = row->t.op, .effect = row->t.effect};
	struct taint taint = {
		.key = name_of(row->taint.key), .value = name_of(row->taint.value), .effect = row->taint.effect};
	return toleration_matches(f.names, &t, &taint, with_bounds);
}

static void keys_values_and_effects(void **state)
{
	static const struct row rows[] = {
		{"the same key, value and effect",
		 {"gpu", TOLERATE_EQUAL, "yes", NOSCHED},
		 {"gpu", "yes", NOSCHED},
		 true},
		{"another value", {"gpu", TOLERATE_EQUAL, "no", NOSCHED}, {"gpu", "yes", NOSCHED}, false},
		{"another key", {"cpu", TOLERATE_EQUAL, "yes", NOSCHED}, {"gpu", "yes", NOSCHED}, false},
		{"another effect", {"gpu", TOLERATE_EQUAL, "yes", NOEXEC}, {"gpu", "yes", NOSCHED}, false},
		{"preferring is an effect of its own",
		 {"gpu", TOLERATE_EQUAL, "yes", PREFER},
		 {"gpu", "yes", NOSCHED},
		 false},
		{"no effect means all, this", {"gpu", TOLERATE_EQUAL, "yes", ANY}, {"gpu", "yes", NOEXEC}, true},
		{"no effect means all, and that", {"gpu", TOLERATE_EQUAL, "yes", ANY}, {"gpu", "yes", PREFER}, true},
		{"no value equals no value", {"gpu", TOLERATE_EQUAL, "", ANY}, {"gpu", "", NOSCHED}, true},
		{"no value is not any value", {"gpu", TOLERATE_EQUAL, "", ANY}, {"gpu", "yes", NOSCHED}, false},
		{"exists does not look at the value",
		 {"gpu", TOLERATE_EXISTS, "", NOSCHED},
		 {"gpu", "yes", NOSCHED},
		 true},
		{"exists looks at the key", {"cpu", TOLERATE_EXISTS, "", NOSCHED}, {"gpu", "yes", NOSCHED}, false},
		{"exists looks at the effect", {"gpu", TOLERATE_EXISTS, "", NOEXEC}, {"gpu", "yes", NOSCHED}, false},
		{"exists without a key tolerates everything",
		 {"", TOLERATE_EXISTS, "", ANY},
		 {"gpu", "yes", NOEXEC},
		 true},
		{"of its effect", {"", TOLERATE_EXISTS, "", NOEXEC}, {"gpu", "yes", NOSCHED}, false},
		{"a value for any key", {"", TOLERATE_EQUAL, "yes", ANY}, {"gpu", "yes", NOSCHED}, true},
		{"a value for any key, another value", {"", TOLERATE_EQUAL, "no", ANY}, {"gpu", "yes", NOSCHED}, false},
	};
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int with_bounds = 0; with_bounds <= 1; with_bounds++)
			if (row_matches(&rows[i], with_bounds) != rows[i].is_match)
				fail_msg("%s (with_bounds %d)", rows[i].what, with_bounds);
}

static void numbers_compare_the_taint_with_the_toleration(void **state)
{
	static const struct row rows[] = {
		{"the taint is greater", {"sla", TOLERATE_GT, "700", ANY}, {"sla", "950", NOSCHED}, true},
		{"the taint is not greater", {"sla", TOLERATE_GT, "950", ANY}, {"sla", "700", NOSCHED}, false},
		{"equal is not greater", {"sla", TOLERATE_GT, "950", ANY}, {"sla", "950", NOSCHED}, false},
		{"the taint is less", {"sla", TOLERATE_LT, "950", ANY}, {"sla", "700", NOSCHED}, true},
		{"the taint is not less", {"sla", TOLERATE_LT, "700", ANY}, {"sla", "950", NOSCHED}, false},
		{"equal is not less", {"sla", TOLERATE_LT, "950", ANY}, {"sla", "950", NOSCHED}, false},
		{"numbers, not strings", {"sla", TOLERATE_GT, "99", ANY}, {"sla", "100", NOSCHED}, true},
		{"below zero", {"sla", TOLERATE_LT, "-3", ANY}, {"sla", "-4", NOSCHED}, true},
		{"zero", {"sla", TOLERATE_GT, "-1", ANY}, {"sla", "0", NOSCHED}, true},
		{"the whole range",
		 {"sla", TOLERATE_GT, "-9223372036854775808", ANY},
		 {"sla", "9223372036854775807", NOSCHED},
		 true},
		{"too large a number", {"sla", TOLERATE_GT, "1", ANY}, {"sla", "9223372036854775808", NOSCHED}, false},
		{"a word on the taint", {"sla", TOLERATE_GT, "1", ANY}, {"sla", "high", NOSCHED}, false},
		{"a word on the toleration", {"sla", TOLERATE_LT, "high", ANY}, {"sla", "1", NOSCHED}, false},
		{"nothing on the taint", {"sla", TOLERATE_LT, "1", ANY}, {"sla", "", NOSCHED}, false},
		{"a leading zero", {"sla", TOLERATE_GT, "1", ANY}, {"sla", "010", NOSCHED}, false},
		{"a leading zero below zero", {"sla", TOLERATE_LT, "1", ANY}, {"sla", "-01", NOSCHED}, false},
		{"a leading zero on the toleration", {"sla", TOLERATE_GT, "01", ANY}, {"sla", "10", NOSCHED}, false},
		{"a plus", {"sla", TOLERATE_GT, "1", ANY}, {"sla", "+10", NOSCHED}, false},
		{"minus zero", {"sla", TOLERATE_LT, "1", ANY}, {"sla", "-0", NOSCHED}, false},
		{"a minus alone", {"sla", TOLERATE_LT, "1", ANY}, {"sla", "-", NOSCHED}, false},
		{"the key counts as ever", {"slo", TOLERATE_GT, "1", ANY}, {"sla", "2", NOSCHED}, false},
		{"the effect counts as ever", {"sla", TOLERATE_GT, "1", NOEXEC}, {"sla", "2", NOSCHED}, false},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (row_matches(&rows[i], true) != rows[i].is_match)
			fail_msg("%s", rows[i].what);
		if (row_matches(&rows[i], false))
			fail_msg("%s: matches although bounds are not known", rows[i].what);
	}
}

static void one_toleration_of_many_is_enough(void **state)
{
	struct toleration t[] = {
		{.key = name_of("a"), .op = TOLERATE_EXISTS},
		{.key = name_of("b"), .value = name_of("2"), .op = TOLERATE_EQUAL},
		{.key = name_of("c"), .value = name_of("2"), .op = TOLERATE_GT},
	};
	struct taint a = {.key = name_of("a"), .effect = EFFECT_NO_SCHEDULE};
	struct taint b2 = {.key = name_of("b"), .value = name_of("2"), .effect = EFFECT_NO_SCHEDULE};
	struct taint b3 = {.key = name_of("b"), .value = name_of("3"), .effect = EFFECT_NO_SCHEDULE};
	struct taint c3 = {.key = name_of("c"), .value = name_of("3"), .effect = EFFECT_NO_SCHEDULE};
	assert_true(tolerations_match(f.names, t, 3, &a, false));
	assert_true(tolerations_match(f.names, t, 3, &b2, false));
	assert_false(tolerations_match(f.names, t, 3, &b3, false));
	assert_true(tolerations_match(f.names, t, 3, &c3, true));
	assert_false(tolerations_match(f.names, t, 3, &c3, false));
	assert_false(tolerations_match(f.names, t, 0, &a, false));
}

static void words_of_effects_and_operators(void **state)
{
	static const char *const effects[] = {"", "NoSchedule", "PreferNoSchedule", "NoExecute"};
	static const char *const ops[] = {"Equal", "Exists", "Lt", "Gt"};
	static const char *const unknown[] = {"noschedule", "NoSchedule ", "Never", "exists", "In", "Eq"};
	enum taint_effect effect;
	enum toleration_op op;
	for (size_t i = 0; i < COUNT(effects); i++) {
		assert_true(taint_effect_parse(effects[i], &effect));
		assert_int_equal(effect, i);
		assert_string_equal(taint_effect_text(effect), effects[i]);
	}
	for (size_t i = 0; i < COUNT(ops); i++) {
		assert_true(toleration_op_parse(ops[i], &op));
		assert_int_equal(op, i);
	}
	assert_true(toleration_op_parse("", &op));
	assert_int_equal(op, TOLERATE_EQUAL);
	for (size_t i = 0; i < COUNT(unknown); i++) {
		assert_false(taint_effect_parse(unknown[i], &effect));
		assert_false(toleration_op_parse(unknown[i], &op));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(keys_values_and_effects, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(numbers_compare_the_taint_with_the_toleration, fixture_open,
						fixture_close),
		cmocka_unit_test_setup_teardown(one_toleration_of_many_is_enough, fixture_open, fixture_close),
		cmocka_unit_test(words_of_effects_and_operators),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
