/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/uid.h"

static const struct {
	const char *what, *text;
	bool is_name; /* not kept as 16 bytes */
} rows[] = {
	{"the empty text is none", "", true},
	{"any text may be a uid", "uid-1", true},
	{"as long as a UUID, and none", "gggggggg-0000-4000-a000-000000000000", true},
	{"its first half zero: the mark of a name", "00000000-0000-0000-a000-00000000000a", true},
	{"a UUID", "00000000-0000-0001-0000-000000000000", false},
	{"its second half zero", "12345678-9abc-4def-0000-000000000000", false},
	{"another one", "12345678-9abc-4def-8123-456789abcdef", false},
	{"upper case is another text", "12345678-9ABC-4DEF-8123-456789ABCDEF", true},
	{"one letter is missing", "12345678-9abc-4def-8123-456789abcde", true},
	{"one too many", "12345678-9abc-4def-8123-456789abcdef0", true},
	{"without dashes", "123456789abc4def8123456789abcdef0000", true},
	{"a dash at the wrong place", "1234567-89abc-4def-8123-456789abcdef", true},
	{"the largest", "ffffffff-ffff-ffff-ffff-ffffffffffff", false},
};
enum { N = sizeof(rows) / sizeof(*rows) };

static void a_uid_gives_its_text_back(void **state)
{
	for (int i = 0; i < N; i++) {
		struct names *names = names_new();
		struct uid u = uid_hold(names, rows[i].text, strlen(rows[i].text));
		struct uid_text buf;
		if (strcmp(uid_str(names, u, &buf), rows[i].text) != 0)
			fail_msg("%s: %s", rows[i].what, uid_str(names, u, &buf));
		if ((u.high == 0) != rows[i].is_name)
			fail_msg("%s: high %llx", rows[i].what, (unsigned long long)u.high);
		uid_keep(names, u);
		uid_drop(names, u);
		name_id name = uid_hold_name(names, u);
		assert_string_equal(name_str(names, name), rows[i].text);
		names_drop(names, name);
		uid_drop(names, u);
		assert_int_equal(names_count(names), 0);
		names_free(names);
	}
}

static void uids_compare_as_their_texts_do(void **state)
{
	struct names *names = names_new();
	struct uid u[N];
	for (int i = 0; i < N; i++)
		u[i] = uid_hold(names, rows[i].text, strlen(rows[i].text));
	for (int i = 0; i < N; i++) {
		assert_int_equal(uid_is_none(u[i]), rows[i].text[0] == '\0');
		for (int k = 0; k < N; k++) {
			int want = strcmp(rows[i].text, rows[k].text), got = uid_cmp(names, u[i], u[k]);
			if ((want > 0) - (want < 0) != (got > 0) - (got < 0))
				fail_msg("%s and %s", rows[i].what, rows[k].what);
			assert_int_equal(uid_equal(u[i], u[k]), i == k);
		}
	}
	names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_uid_gives_its_text_back),
		cmocka_unit_test(uids_compare_as_their_texts_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
