/* SPDX-License-Identifier: Apache-2.0 */
/* What is too old or too much goes, the file gets smaller by it, and what stays is as it was. */
#include <sys/stat.h>

#include "journal/chunks.h"
#include "journal/journal_runs.h"

static int64_t size_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(file(name), &st), 0);
	return st.st_size;
}

static struct journal *open_to(const char *name, enum journal_mode mode)
{
	struct journal *j;
	struct err e = {0};

	if (journal_open(file(name), mode, &j, &e))
		fail_msg("%s", e.msg);
	return j;
}

/* now: of the run that was written last. */
static void trim(const char *name, struct journal_keep keep, uint32_t last)
{
	struct journal *j = open_to(name, JOURNAL_WRITE);
	struct journal_run run = make_run(last);
	struct err e = {0};

	if (journal_trim(j, &keep, run.now_ns, &e))
		fail_msg("%s", e.msg);
	journal_run_free(&run);
	journal_close(j);
}

/* Runs from first to last are there, as they were written, and every chunk that is there is needed by one of them. */
static void expect_from(const char *name, uint32_t first, uint32_t last)
{
	struct text found = {0}, expected = {0};
	struct journal *j = open_to(name, JOURNAL_READ);
	struct err e = {0};

	if (check(j, &e))
		fail_msg("%s", e.msg);
	journal_close(j);
	for (uint32_t i = first; i <= last; i++) {
		struct journal_run run = make_run(i - 1);

		run.id = i;
		dump_run(&run, &expected);
		expect_evictions(&run, &expected);
		journal_run_free(&run);
	}
	dump_journal(name, &found);
	assert_string_equal(text_str(&found), text_str(&expected));
	text_free(&found);
	text_free(&expected);
}

static int64_t number(const char *name, const char *sql)
{
	struct journal *j = open_to(name, JOURNAL_READ);
	int64_t n;
	struct err e = {0};

	assert_int_equal(store_number(j, &n, &e, "%s", sql), ERR_OK);
	journal_close(j);
	return n;
}

static void old_runs_go(void **state)
{
	static const struct {
		const char *sentence;
		uint32_t runs;
		int64_t age_s;
		uint32_t first; /* that stays; runs are a second apart */
	} rows[] = {
		{"nothing is too old", 10, 9, 1},
		{"one is", 10, 8, 2},
		{"most are", 10, 2, 8},
		{"all but the last are", 10, 1, 9},
		{"the last always stays", 1, 1, 1},
		{"of many", 100, 30, 70},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		write_journal("t.db", rows[i].runs);
		trim("t.db", (struct journal_keep){.age_ns = rows[i].age_s * NS_PER_S}, rows[i].runs - 1);
		print_message("%s\n", rows[i].sentence);
		expect_from("t.db", rows[i].first, rows[i].runs);
	}
}

/* As much as a journal has that was never larger, but for bases that are older than the runs that need them. */
static void chunks_that_nobody_needs_go(void **state)
{
	int64_t fresh, trimmed;

	(void)state;
	write_journal("f.db", 1);
	fresh = number("f.db", "SELECT count(*) FROM chunks");
	write_journal("t.db", 64);
	assert_true(number("t.db", "SELECT count(*) FROM chunks") > 3 * fresh);
	trim("t.db", (struct journal_keep){.age_ns = NS_PER_S / 2}, 63);
	trimmed = number("t.db", "SELECT count(*) FROM chunks");
	if (trimmed > 2 * fresh)
		fail_msg("%lld chunks of one run, %lld in a new journal", (long long)trimmed, (long long)fresh);
	expect_from("t.db", 64, 64);
	assert_int_equal(number("t.db", "PRAGMA freelist_count"), 0);
}

static void the_file_gets_smaller_than_it_may_be(void **state)
{
	int64_t whole, limit;

	(void)state;
	write_journal("t.db", 200);
	whole = size_of("t.db");
	for (limit = whole + 1; limit > 100000; limit /= 2) {
		trim("t.db", (struct journal_keep){.bytes = limit}, 199);
		if (size_of("t.db") > limit)
			fail_msg("%lld bytes of %lld", (long long)size_of("t.db"), (long long)limit);
		expect_from("t.db", (uint32_t)number("t.db", "SELECT min(run) FROM runs"), 200);
	}
	trim("t.db", (struct journal_keep){.bytes = 1}, 199);
	expect_from("t.db", 200, 200);
	print_message("%lld bytes of 200 runs, %lld of the last alone\n", (long long)whole, (long long)size_of("t.db"));
}

/* New runs are written on, and what they share with those that went is still there. */
static void writing_goes_on_after_it(void **state)
{
	(void)state;
	write_journal("t.db", 20);
	for (uint32_t i = 20; i < 60; i++) {
		struct journal *j = open_to("t.db", JOURNAL_WRITE);

		append(j, i);
		journal_close(j);
		trim("t.db", (struct journal_keep){.age_ns = 5 * NS_PER_S}, i);
		expect_from("t.db", i + 1 - 5, i + 1);
	}
	assert_true(number("t.db", "SELECT count(*) FROM chunks") < 60);
}

static void whoever_reads_meanwhile_sees_what_was(void **state)
{
	struct journal *reader;
	struct journal_run run;
	struct err e = {0};

	(void)state;
	write_journal("t.db", 10);
	reader = open_to("t.db", JOURNAL_READ);
	trim("t.db", (struct journal_keep){.age_ns = NS_PER_S}, 9);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(journal_read(reader, journal_run_id(reader, i), true, &run, &e), ERR_OK);
		journal_run_free(&run);
	}
	journal_close(reader);
	expect_from("t.db", 9, 10);
}

static void what_may_stay_is_read(void **state)
{
	static const struct {
		const char *text;
		int64_t age_s, bytes; /* -1: refused */
	} rows[] = {
		{"30d", 2592000, 0},
		{"12h30m", 45000, 0},
		{"2w", 1209600, 0},
		{"2GiB", 0, INT64_C(2) << 30},
		{"500MB", 0, 500000000},
		{"1500kB", 0, 1500000},
		{"100B", 0, 100},
		{"30d,2GiB", 2592000, INT64_C(2) << 30},
		{"2GiB,30d", 2592000, INT64_C(2) << 30},
		{"", -1, -1},
		{",", -1, -1},
		{"30d,", -1, -1},
		{"B", -1, -1},
		{"0d", -1, -1},
		{"0B", -1, -1},
		{"-1d", -1, -1},
		{"-1GiB", -1, -1},
		{"30", -1, -1},
		{"2Gi", -1, -1},
		{"30d,40d", -1, -1},
		{"1GiB,2GiB", -1, -1},
		{"30d,2GiB,1d", -1, -1},
		{"999999999999d", -1, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct journal_keep keep = {.age_ns = -1, .bytes = -1};
		struct err e = {0};
		enum err_code rc = journal_keep_parse(rows[i].text, &keep, &e);
		int64_t age_ns = rows[i].age_s < 0 ? -1 : rows[i].age_s * NS_PER_S;

		if ((rc != ERR_OK) != (rows[i].age_s < 0) || keep.age_ns != age_ns || keep.bytes != rows[i].bytes)
			fail_msg("'%s': %d, %lld ns, %lld bytes", rows[i].text, (int)rc, (long long)keep.age_ns,
				 (long long)keep.bytes);
		if (rc)
			assert_non_null(strstr(e.msg, "expected an age such as 30d, a size such as 2GiB, or 30d,2GiB"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_runs_go),
		cmocka_unit_test(chunks_that_nobody_needs_go),
		cmocka_unit_test(the_file_gets_smaller_than_it_may_be),
		cmocka_unit_test(writing_goes_on_after_it),
		cmocka_unit_test(whoever_reads_meanwhile_sees_what_was),
		cmocka_unit_test(what_may_stay_is_read),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
