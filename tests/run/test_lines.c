/* SPDX-License-Identifier: Apache-2.0 */
/* Lines for people: a storm of troubles does not become a storm of lines, and what was left out is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/daemon_internal.h"

static struct daemon d;
static struct daemon_options options;
static int64_t now_ns;

static void begin(bool is_json)
{
	now_ns = NS_PER_S;
	options = (struct daemon_options){.is_json = is_json};
	d = (struct daemon){.o = &options, .steady = clock_fixed(&now_ns), .wall = clock_fixed(&now_ns)};
	d.warning_lines.at_ns = now_ns;
}

/* What n warnings write to standard error. */
static void warn(uint32_t n, char *ret, size_t size)
{
	FILE *file = tmpfile();
	int was = dup(STDERR_FILENO);
	size_t got;

	assert_non_null(file);
	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	for (uint32_t i = 0; i < n; i++)
		lines_said(&d, true, "trouble \"again\"");
	fflush(stderr);
	dup2(was, STDERR_FILENO);
	close(was);
	rewind(file);
	got = fread(ret, 1, size - 1, file);
	ret[got] = '\0';
	fclose(file);
}

static uint32_t count(const char *in, const char *what)
{
	uint32_t n = 0;

	for (const char *at = strstr(in, what); at; at = strstr(at + 1, what))
		n++;
	return n;
}

static void warnings_are_limited(void **state)
{
	static char said[1 << 16];

	begin(false);
	warn(1000, said, sizeof(said));
	assert_int_equal(count(said, "trouble"), 200);
	assert_int_equal(count(said, "not told"), 0);
	warn(10, said, sizeof(said));
	assert_string_equal(said, "");
	now_ns += NS_PER_S;
	warn(10, said, sizeof(said));
	assert_int_equal(count(said, "trouble"), 5);
	assert_int_equal(count(said, "810 warnings were not told"), 1);
	now_ns += 3600 * NS_PER_S; /* quiet for long: as at the beginning, not more */
	warn(1000, said, sizeof(said));
	assert_int_equal(count(said, "trouble"), 200);
	assert_int_equal(count(said, "5 warnings were not told"), 1);
}

static void json_lines_are_whole(void **state)
{
	static char said[1 << 12];

	begin(true);
	warn(2, said, sizeof(said));
	assert_int_equal(count(said, "\n"), 2);
	assert_int_equal(count(said, "\"message\":\"trouble \\\"again\\\"\"}"), 2);
	assert_int_equal(count(said, "\"level\":\"warning\""), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(warnings_are_limited),
		cmocka_unit_test(json_lines_are_whole),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
