/* SPDX-License-Identifier: Apache-2.0 */
#include "label_fixture.h"
#include "rng.h"

static void keys_are_checked(void **state)
{
	static const struct {
		const char *what, *key, *complaint;
	} rows[] = {
		{"a word is a key", "app", NULL},
		{"one character is enough", "a", NULL},
		{"capitals, digits, dots, dashes and underscores are fine inside", "A-b_c.9Z", NULL},
		{"a prefix is a DNS name", "kai.scheduler/queue", NULL},
		{"a prefix may be one word", "team/owner", NULL},
		{"a prefix may start with a digit", "0.pool/x", NULL},
		{"an empty key is none", "", "name part must be non-empty"},
		{"a prefix alone is none", "example.com/", "name part must be non-empty"},
		{"a slash needs something before it", "/app", "prefix part must be non-empty"},
		{"two slashes are one too many", "a/b/c", "name part must consist of"},
		{"a name does not start with a dash", "-app", "name part must consist of"},
		{"a name does not end with a dot", "app.", "name part must consist of"},
		{"a lone underscore is no name", "_", "name part must consist of"},
		{"blanks have no place in a name", "my app", "name part must consist of"},
		{"letters are those of ASCII", "caf\xc3\xa9s", "name part must consist of"},
		{"a prefix has no capitals", "Example.com/a", "prefix part must consist of"},
		{"a prefix has no underscores", "my_domain/a", "prefix part must consist of"},
		{"a prefix has no empty piece", "a..b/c", "prefix part must consist of"},
		{"a piece of a prefix does not start with a dash", "a.-b/c", "prefix part must consist of"},
		{"a piece of a prefix does not end with a dash", "a-.b/c", "prefix part must consist of"},
		{"a prefix does not end with a dot", "a./c", "prefix part must consist of"},
		{"a prefix does not start with a dot", ".a/c", "prefix part must consist of"},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};
		enum err_code code = label_key_check(rows[i].key, strlen(rows[i].key), &e);
		if ((code == ERR_OK) != (rows[i].complaint == NULL))
			fail_msg("%s: '%s' gives %d %s", rows[i].what, rows[i].key, code, e.msg);
		if (code != ERR_OK && !strstr(e.msg, rows[i].complaint))
			fail_msg("%s: '%s' says '%s'", rows[i].what, rows[i].key, e.msg);
		if (code != ERR_OK && !strstr(e.msg, rows[i].key))
			fail_msg("%s: '%s' is not named in '%s'", rows[i].what, rows[i].key, e.msg);
	}
	char zero[] = {'a', '\0', 'b'};
	assert_int_equal(label_key_check(zero, sizeof(zero), NULL), ERR_INPUT);
}

static void lengths_are_limited(void **state)
{
	static const struct {
		const char *what;
		size_t prefix_len, name_len;
		bool is_key, is_value;
	} rows[] = {
		{"63 characters make a name and a value", 0, 63, true, true},
		{"64 are too many for both", 0, 64, false, false},
		{"253 characters make a prefix", 253, 63, true, false},
		{"254 are too many", 254, 1, false, false},
		{"the pieces of a prefix may be longer than 63", 100, 1, true, false},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		char s[512];
		memset(s, 'a', sizeof(s));
		size_t name_at = rows[i].prefix_len > 0 ? rows[i].prefix_len + 1 : 0;
		if (name_at > 0)
			s[rows[i].prefix_len] = '/';
		if ((label_key_check(s, name_at + rows[i].name_len, NULL) == ERR_OK) != rows[i].is_key)
			fail_msg("%s: as a key", rows[i].what);
		if ((label_value_check(s, name_at + rows[i].name_len, NULL) == ERR_OK) != rows[i].is_value)
			fail_msg("%s: as a value", rows[i].what);
	}
}

static void values_are_checked(void **state)
{
	static const struct {
		const char *what, *value;
		bool is_ok;
	} rows[] = {
		{"the empty string is a value", "", true},	     {"a word is a value", "gpu", true},
		{"a version is a value", "v1.30.2-rc_1", true},	     {"a slash is not for values", "a/b", false},
		{"a value does not start with a sign", "-5", false}, {"a value does not end with a dash", "a-", false},
		{"blanks have no place in a value", "a b", false},   {"a value is more than a dot", ".", false},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {0};
		enum err_code code = label_value_check(rows[i].value, strlen(rows[i].value), &e);
		if ((code == ERR_OK) != rows[i].is_ok)
			fail_msg("%s: '%s' gives %d %s", rows[i].what, rows[i].value, code, e.msg);
		if (code != ERR_OK && !strstr(e.msg, "must be empty or consist of"))
			fail_msg("%s: says '%s'", rows[i].what, e.msg);
	}
}

static void numbers_are_whole_strings(void **state)
{
	static const struct {
		const char *what, *s;
		bool is_number;
		int64_t x;
	} rows[] = {
		{"zero", "0", true, 0},
		{"leading zeros do not make it octal", "0207", true, 207},
		{"a minus", "-12", true, -12},
		{"a plus", "+12", true, 12},
		{"the largest", "9223372036854775807", true, INT64_MAX},
		{"the smallest", "-9223372036854775808", true, INT64_MIN},
		{"one more than the largest", "9223372036854775808", false, 0},
		{"one less than the smallest", "-9223372036854775809", false, 0},
		{"far too many digits", "99999999999999999999999999", false, 0},
		{"nothing", "", false, 0},
		{"a sign alone", "-", false, 0},
		{"two signs", "--1", false, 0},
		{"a fraction", "1.5", false, 0},
		{"a unit", "5Gi", false, 0},
		{"hexadecimal", "0x10", false, 0},
		{"a word", "five", false, 0},
		{"a character just below the digits", "1/", false, 0},
		{"a character just above the digits", "1:", false, 0},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t x = 0;
		bool is_number = label_number(rows[i].s, strlen(rows[i].s), &x);
		if (is_number != rows[i].is_number || x != rows[i].x)
			fail_msg("%s: '%s' gives %d, %lld", rows[i].what, rows[i].s, is_number, (long long)x);
	}
}

/* labels_sort, labels_get and labels_include against looking through the list from its end. */

static bool naive_get(const struct label *kv, uint32_t n, name_id key, name_id *ret)
{
	while (n-- > 0) {
		if (kv[n].key == key) {
			*ret = kv[n].value;
			return true;
		}
	}
	return false;
}

static void check_sorted(const struct label *given, uint32_t n_given, const struct labels *l)
{
	for (uint32_t i = 1; i < l->n; i++)
		assert_true(l->kv[i - 1].key < l->kv[i].key);
	for (name_id key = 0; key < 300; key++) {
		name_id want = 777, got = 777;
		assert_int_equal(labels_get(l, key, &got), naive_get(given, n_given, key, &want));
		assert_int_equal(got, want);
	}
}

static void the_last_value_of_a_key_counts(void **state)
{
	struct rng r = {7};
	for (int round = 0; round < 2000; round++) {
		struct label given[200], kv[200];
		uint32_t n = rng_below(&r, round % 4 == 0 ? 200 : 12);
		uint32_t n_keys = 1 + rng_below(&r, 299);
		for (uint32_t i = 0; i < n; i++)
			given[i] = (struct label){rng_below(&r, n_keys), rng_below(&r, 1000)};
		if (n > 0)
			memcpy(kv, given, n * sizeof(*kv));
		struct labels l = {.kv = kv};
		l.n = labels_sort(kv, n);
		check_sorted(given, n, &l);
	}
}

static void labels_include_every_wanted_pair(void **state)
{
	static const struct {
		const char *what, *labels, *wanted;
		bool is_included;
	} rows[] = {
		{"wanting nothing is always served", "a=1", "", true},
		{"nothing serves nobody who wants something", "", "a=1", false},
		{"more than wanted is fine", "a=1 b=2 c=3", "c=3 a=1", true},
		{"another value is not it", "a=1 b=2", "a=1 b=3", false},
		{"a missing key is not it", "a=1", "b=1", false},
		{"an empty value must be there", "a=1", "b", false},
		{"an empty value is served by an empty one", "a=1 b", "b", true},
		{"an empty value is not any value", "b=1", "b", false},
		{"syntax does not matter", "we?ird=a:b", "we?ird=a:b", true},
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct labels l = labels_of(rows[i].labels), wanted = labels_of(rows[i].wanted);
		if (labels_include(&l, &wanted) != rows[i].is_included)
			fail_msg("%s", rows[i].what);
	}
}

static void an_empty_value_is_not_a_missing_key(void **state)
{
	struct labels l = labels_of("spare");
	name_id value = 99;
	assert_true(labels_get(&l, name_of("spare"), &value));
	assert_int_equal(value, NAME_NONE);
	assert_false(labels_get(&l, name_of("other"), &value));
	assert_false(labels_get(&(struct labels){0}, NAME_NONE, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_checked),
		cmocka_unit_test(lengths_are_limited),
		cmocka_unit_test(values_are_checked),
		cmocka_unit_test(numbers_are_whole_strings),
		cmocka_unit_test(the_last_value_of_a_key_counts),
		cmocka_unit_test_setup_teardown(labels_include_every_wanted_pair, fixture_open, fixture_close),
		cmocka_unit_test_setup_teardown(an_empty_value_is_not_a_missing_key, fixture_open, fixture_close),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
