/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"

enum { THREADS = 4, LINES = 500 };
static FILE *caught;
static int saved_stderr;

static void catch_begin(void)
{
	caught = tmpfile();
	assert_non_null(caught);
	fflush(stderr);
	saved_stderr = dup(2);
	dup2(fileno(caught), 2);
}

/* What was written to standard error since catch_begin. */
static size_t catch_end(char *buf, size_t cap)
{
	dup2(saved_stderr, 2);
	close(saved_stderr);
	rewind(caught);
	size_t n = fread(buf, 1, cap - 1, caught);
	buf[n] = '\0';
	fclose(caught);
	return n;
}

static void a_line_is_one_line(void **state)
{
	static const struct {
		const char *why, *msg, *line;
	} rows[] = {
		{"plain words stay", "no such node n1", "cede: warning: no such node n1\n"},
		{"line breaks are escaped", "a\nb", "cede: warning: a\\nb\n"},
		{"terminal controls are escaped", "\x1B[31mred", "cede: warning: \\x1b[31mred\n"},
		{"so are the eight-bit ones", "\xC2\x9B\x7F", "cede: warning: \\x9b\\x7f\n"},
		{"letters of the world stay", "µ€", "cede: warning: µ€\n"},
		{"broken UTF-8 is shown as bytes", "a\xFFz", "cede: warning: a\\xffz\n"},
		{"nothing turns the line around", "a\xE2\x80\xAEz", "cede: warning: a\\u202ez\n"},
		{"nothing is a line too", "", "cede: warning: \n"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buf[256];
		catch_begin();
		log_line(LOG_WARN, "%s", rows[i].msg);
		catch_end(buf, sizeof(buf));
		if (strcmp(buf, rows[i].line) != 0)
			fail_msg("%s: %s", rows[i].why, buf);
	}
}

static void levels_and_program(void **state)
{
	char buf[512];
	catch_begin();
	log_line(LOG_INFO, "not shown");
	log_line(LOG_ERROR, "e%d", 1);
	log_set_level(LOG_DEBUG);
	log_set_program("cede-agent");
	log_line(LOG_INFO, "i");
	log_line(LOG_DEBUG, "d");
	log_set_level(LOG_ERROR);
	errno = ENOENT;
	log_line(LOG_WARN, "not shown");
	log_line(LOG_ERROR, "e2");
	int after = errno;
	log_set_level(LOG_WARN);
	log_set_program("cede");
	catch_end(buf, sizeof(buf));
	assert_int_equal(after, ENOENT);
	assert_string_equal(buf, "cede: error: e1\ncede-agent: info: i\ncede-agent: debug: d\ncede-agent: error: e2\n");
}

static void *talk(void *arg)
{
	for (int i = 0; i < LINES; i++)
		log_line(LOG_ERROR, "%s", (const char *)arg);
	return NULL;
}

static void threads_do_not_interrupt_each_other(void **state)
{
	static char words[THREADS][101];
	static char buf[THREADS * LINES * 120];
	pthread_t threads[THREADS];
	catch_begin();
	for (int i = 0; i < THREADS; i++) {
		memset(words[i], 'a' + i, 100);
		pthread_create(&threads[i], NULL, talk, words[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	size_t n = catch_end(buf, sizeof(buf));
	const size_t line = strlen("cede: error: ") + 100 + 1;
	assert_int_equal(n, THREADS * LINES * line);
	for (const char *s = buf; *s != '\0'; s += line) {
		assert_memory_equal(s, "cede: error: ", 13);
		assert_memory_equal(s + 13, words[s[13] - 'a'], 100);
		assert_int_equal(s[113], '\n');
	}
}

static void time_is_handed_in(void **state)
{
	int64_t hands = 5 * NS_PER_S;
	struct clock fixed = clock_fixed(&hands);
	assert_int_equal(clock_now(&fixed), 5 * NS_PER_S);
	hands++;
	assert_int_equal(clock_now(&fixed), 5 * NS_PER_S + 1);
	struct clock system = clock_system();
	int64_t now = clock_now(&system);
	assert_true(now > INT64_C(1600000000) * NS_PER_S);
	assert_true(now < INT64_C(9000000000) * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_one_line),
		cmocka_unit_test(levels_and_program),
		cmocka_unit_test(threads_do_not_interrupt_each_other),
		cmocka_unit_test(time_is_handed_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
