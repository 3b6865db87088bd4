/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file: what is written is read, whoever breaks something of it is noticed, and a writer that is killed leaves
 * whole runs. A journal that has been tampered with, in any byte, either is refused or reads as it was: never as less.
 */
#include <sys/stat.h>

#include "journal/journal_runs.h"
#include "journal/wal.h"

enum { RUNS = 3 };

static void expect_runs(const char *name, uint32_t n)
{
	struct text found = {0}, expected = {0};

	dump_expected(n, &expected);
	dump_journal(name, &found);
	assert_string_equal(text_str(&found), text_str(&expected));
	text_free(&found);
	text_free(&expected);
}

static void expect_error(const char *sentence, const char *name, const char *words)
{
	struct text found = {0};
	enum err_code rc = dump_journal(name, &found);

	if (!rc || !strstr(text_str(&found), words) || !str_starts(text_str(&found), file(name)))
		fail_msg("%s: expected \"%s\", found %d: %s", sentence, words, (int)rc, text_str(&found));
	text_free(&found);
}

/* ---- tests ---- */

static void what_is_written_is_read(void **state)
{
	struct journal *j;
	struct err e = {0};

	(void)state;
	write_journal("a.db", RUNS);
	expect_runs("a.db", RUNS);
	assert_int_equal(journal_open(file("a.db"), JOURNAL_WRITE, &j, &e), ERR_OK);
	append(j, RUNS);
	expect_runs("a.db", RUNS + 1); /* while it is open for writing */
	journal_close(j);
	expect_runs("a.db", RUNS + 1);
	assert_int_equal(access(file("a.db-wal"), F_OK), -1);
	assert_int_equal(access(file("a.db-shm"), F_OK), -1);
}

static void readers_see_the_moment_they_came(void **state)
{
	struct journal *writer, *reader;
	struct err e = {0};

	(void)state;
	write_journal("a.db", 1);
	assert_int_equal(journal_open(file("a.db"), JOURNAL_READ, &reader, &e), ERR_OK);
	assert_int_equal(journal_open(file("a.db"), JOURNAL_WRITE, &writer, &e), ERR_OK);
	append(writer, 1);
	assert_int_equal(check(reader, &e), ERR_OK);
	assert_int_equal(journal_run_count(reader), 1);
	journal_close(writer);
	journal_close(reader);
	expect_runs("a.db", 2);
}

static void damage_is_noticed(void **state)
{
	static const struct {
		const char *sentence, *sql, *words;
	} rows[] = {
		{"an eviction is gone", "DELETE FROM evictions WHERE run = 1 AND n = 0",
		 "run 1 should have 2 evictions and has 1"},
		{"an eviction more",
		 "INSERT INTO evictions SELECT run, seq, 9, at_ns, cycle, pod, uid, NULL, NULL, NULL, NULL, NULL, 0, "
		 "NULL, NULL, NULL, NULL, NULL, state, NULL, NULL, 0 FROM evictions WHERE run = 2",
		 "run 2 should have 1 evictions and has 2"},
		{"another queue lost it", "UPDATE evictions SET queue = 'root.z' WHERE run = 2",
		 "the evictions of run 2 are not as they were written"},
		{"another time was lost", "UPDATE evictions SET lost_seconds = 1 WHERE run = 2",
		 "the evictions of run 2 are not as they were written"},
		{"a text that was nothing", "UPDATE evictions SET rule = '' WHERE run = 3 AND rule IS NULL",
		 "the evictions of run 3 are not as they were written"},
		{"evictions of two runs exchanged",
		 "UPDATE evictions SET run = 9 WHERE run = 1; UPDATE evictions SET run = 1 WHERE run = 3; "
		 "UPDATE evictions SET run = 3 WHERE run = 9",
		 "the evictions of run 1 are not as they were written"},
		{"another time", "UPDATE runs SET now_ns = now_ns + 1 WHERE run = 1", "run 1 is not as it was written"},
		{"another cluster", "UPDATE runs SET state = 1 WHERE run = 1", "run 1 is not as it was written"},
		{"another checksum", "UPDATE runs SET sum = 1 WHERE run = 2", "run 2 is not as it was written"},
		{"a run is gone", "DELETE FROM runs WHERE run = 2", "it should have 3 runs and has 2"},
		{"the last run is gone with everything of it",
		 "DELETE FROM runs WHERE run = 3; DELETE FROM evictions WHERE run = 3",
		 "it should have 3 runs and has 2"},
		{"all runs are gone", "DELETE FROM runs", "it should have 3 runs and has 0"},
		{"one run in the place of another",
		 "UPDATE runs SET run = 9 WHERE run = 2; UPDATE runs SET run = 2, "
		 "sum = 1 WHERE run = 9",
		 "run 2 is not as it was written"},
		{"the count is gone", "DELETE FROM journal", "it does not say how many runs it has"},
		{"another sum of all", "UPDATE journal SET sum = sum + 1", "its runs are not those that were written"},
		{"a chunk is gone", "DELETE FROM chunks WHERE chunk = (SELECT plan FROM runs WHERE run = 2)",
		 "is not there"},
		{"a chunk is another",
		 "UPDATE chunks SET data = (SELECT data FROM chunks WHERE chunk = 1) "
		 "WHERE chunk = (SELECT state FROM runs WHERE run = 1)",
		 "is not as it was written"},
		{"a chunk has another hash",
		 "UPDATE chunks SET hash = 7 WHERE chunk = (SELECT state FROM runs WHERE run = 3)", "is another one"},
		{"a chunk is rubbish",
		 "UPDATE chunks SET data = x'00112233' WHERE chunk = (SELECT state FROM runs WHERE run = 3)",
		 "cannot be unpacked"},
		{"a base that has a base",
		 "UPDATE chunks SET base = 1 WHERE chunk IN (SELECT base FROM chunks WHERE base > 1)",
		 "is built upon, and is itself built upon another"},
		{"a table is gone", "DROP TABLE evictions", "its tables are not those of a journal"},
		{"a table has another column", "ALTER TABLE evictions RENAME COLUMN queue TO q",
		 "its tables are not those"},
		{"an index more", "CREATE INDEX i ON evictions (pod)", "its tables are not those of a journal"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		write_journal("d.db", RUNS);
		run_sql("d.db", rows[i].sql);
		expect_error(rows[i].sentence, "d.db", rows[i].words);
		expect_error(rows[i].sentence, "d.db", "damaged: ");
	}
}

static void other_files_are_not_journals(void **state)
{
	(void)state;
	expect_error("not there", "none.db", "No such file or directory");
	write_bytes(file("text.db"), "not a database, just a few words\n", 33);
	expect_error("a text", "text.db", "not a journal of cede (not an SQLite file)");
	write_bytes(file("empty.db"), "", 0);
	expect_error("an empty file", "empty.db", "nothing has been recorded in it");
	forget("other.db");
	run_sql("other.db", "CREATE TABLE t (a)");
	expect_error("somebody else's database", "other.db", "an SQLite file, but not a journal of cede");
	write_journal("new.db", 1);
	run_sql("new.db", "PRAGMA user_version = 1");
	expect_error(
		"the version before", "new.db",
		"a journal of version 1, as cede wrote it until it kept each state once; this cede knows version 2: "
		"record into a new file");
	run_sql("new.db", "PRAGMA user_version = 3");
	expect_error("a later version", "new.db", "a journal of version 3; this cede knows version 2");
	mkdir(file("folder.db"), 0700);
	expect_error("a folder", "folder.db", "a folder, not a journal");
	mkfifo(file("pipe.db"), 0600);
	expect_error("a pipe", "pipe.db", "not a file, so not a journal");
}

/* Refused, and not a byte of them is touched. */
static void other_files_are_not_written(void **state)
{
	static const char *const names[] = {"text.db", "other.db", "new.db"};
	struct journal *j;
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct bytes before = read_bytes(file(names[i])), after;

		assert_int_not_equal(journal_open(file(names[i]), JOURNAL_WRITE, &j, &e), ERR_OK);
		assert_non_null(strstr(e.msg, "; nothing was recorded"));
		after = read_bytes(file(names[i]));
		assert_int_equal(before.n, after.n);
		assert_memory_equal(before.v, after.v, after.n);
		mem_free(before.v);
		mem_free(after.v);
	}
	assert_int_equal(journal_open("", JOURNAL_WRITE, &j, &e), ERR_INPUT);
}

static void an_empty_file_becomes_a_journal(void **state)
{
	struct journal *j;
	struct err e = {0};

	(void)state;
	forget("empty.db");
	write_bytes(file("empty.db"), "", 0);
	assert_int_equal(journal_open(file("empty.db"), JOURNAL_WRITE, &j, &e), ERR_OK);
	append(j, 0);
	journal_close(j);
	expect_runs("empty.db", 1);
}

/* Whatever history would refuse. */
static void a_damaged_journal_takes_no_more(void **state)
{
	static const struct {
		const char *sql, *words;
	} rows[] = {
		{"DELETE FROM runs WHERE run = 3", "damaged: it should have 3 runs and has 2; nothing was recorded"},
		{"UPDATE evictions SET queue = 'x' WHERE run = 1",
		 "damaged: the evictions of run 1 are not as they were written; nothing was recorded"},
		{"UPDATE evictions SET run = 7 WHERE run = 2", "damaged: run 2 should have 1 evictions and has 0"},
		{"DELETE FROM chunks", "is not there; nothing was recorded"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct journal_run run = make_run(5);
		struct journal *j;
		struct err e = {0};

		write_journal("d.db", RUNS);
		run_sql("d.db", rows[i].sql);
		assert_int_equal(journal_open(file("d.db"), JOURNAL_WRITE, &j, &e), ERR_OK);
		assert_int_equal(journal_append(j, &run, &e), ERR_INPUT);
		if (!strstr(e.msg, rows[i].words))
			fail_msg("%s: %s", rows[i].sql, e.msg);
		assert_int_equal(run.id, 0);
		journal_close(j);
		journal_run_free(&run);
	}
}

/* Refused, or as it was; the same for the file and for the log beside it. */
static uint32_t expect_all_or_refusal(const struct text *expected, const char *what, size_t at)
{
	struct text found = {0};
	enum err_code rc = dump_journal("x.db", &found);

	if (!rc && strcmp(text_str(&found), text_str(expected)) != 0)
		fail_msg("%s %zu: read as something else:\n%s", what, at, text_str(&found));
	text_free(&found);
	return rc != 0;
}

static void every_broken_byte_is_noticed_or_harmless(void **state)
{
	struct text expected = {0};
	struct bytes whole;
	uint32_t refused = 0, tried = 0;

	(void)state;
	write_journal("b.db", RUNS);
	dump_expected(RUNS, &expected);
	whole = read_bytes(file("b.db"));
	for (size_t at = 0; at < whole.n; at += 149, tried++) {
		forget("x.db");
		whole.v[at] ^= 0x41;
		write_bytes(file("x.db"), whole.v, whole.n);
		whole.v[at] ^= 0x41;
		refused += expect_all_or_refusal(&expected, "byte", at);
	}
	print_message("%u bytes broken, %u noticed, the others hold nothing\n", tried, refused);
	assert_true(refused > tried / 8);
	for (size_t n = 0; n < whole.n; n += 2039) {
		forget("x.db");
		write_bytes(file("x.db"), whole.v, n);
		expect_error("a shorter file", "x.db", "");
	}
	mem_free(whole.v);
	text_free(&expected);
}

/* ---- the log beside it ---- */

/* As if the writer had been killed now: the file and its log, copied while they are open. */
static void copy_open_journal(struct bytes *ret_file, struct bytes *ret_wal)
{
	struct journal *j;
	struct err e = {0};

	write_journal("w.db", 1);
	assert_int_equal(journal_open(file("w.db"), JOURNAL_WRITE, &j, &e), ERR_OK);
	append(j, 1);
	append(j, 2);
	*ret_file = read_bytes(file("w.db"));
	*ret_wal = read_bytes(file("w.db-wal"));
	journal_close(j);
}

static void put_copy(const struct bytes *db, const void *wal, size_t wal_n)
{
	forget("x.db");
	write_bytes(file("x.db"), db->v, db->n);
	write_bytes(file("x.db-wal"), wal, wal_n);
}

static void a_log_that_was_left_is_read(void **state)
{
	struct bytes db, wal;

	(void)state;
	copy_open_journal(&db, &wal);
	put_copy(&db, wal.v, wal.n);
	expect_runs("x.db", 3);
	expect_runs("x.db", 3);
	mem_free(db.v);
	mem_free(wal.v);
}

/* A writer that is killed leaves a log that ends anywhere: whole runs are read, in order, and nothing is refused. */
static void a_log_may_end_anywhere(void **state)
{
	struct text expected[4] = {0}, found = {0};
	struct bytes db, wal;
	uint32_t last = 1;

	(void)state;
	copy_open_journal(&db, &wal);
	for (uint32_t n = 1; n <= 3; n++)
		dump_expected(n, &expected[n]);
	for (size_t n = 0; n <= wal.n; n += n + 101 > wal.n && n != wal.n ? wal.n - n : 101) {
		text_reset(&found);
		put_copy(&db, wal.v, n);
		if (dump_journal("x.db", &found))
			fail_msg("%zu of %zu bytes: %s", n, wal.n, text_str(&found));
		while (last < 3 && strcmp(text_str(&found), text_str(&expected[last])) != 0)
			last++;
		assert_string_equal(text_str(&found), text_str(&expected[last]));
	}
	assert_int_equal(last, 3);
	for (uint32_t n = 1; n <= 3; n++)
		text_free(&expected[n]);
	text_free(&found);
	mem_free(db.v);
	mem_free(wal.v);
}

/* Broken anywhere else, it is said: no run that was there is left out silently. */
static void a_broken_log_is_noticed(void **state)
{
	struct text expected = {0};
	struct bytes db, wal;
	uint32_t refused = 0, tried = 0;

	(void)state;
	copy_open_journal(&db, &wal);
	dump_expected(3, &expected);
	for (size_t at = 0; at < wal.n; at += 3001, tried++) {
		wal.v[at] ^= 0x10;
		put_copy(&db, wal.v, wal.n);
		wal.v[at] ^= 0x10;
		refused += expect_all_or_refusal(&expected, "byte of the log", at);
	}
	print_message("%u bytes of the log broken, %u noticed\n", tried, refused);
	assert_true(refused > tried / 2);
	text_free(&expected);
	mem_free(db.v);
	mem_free(wal.v);
}

static void two_writers_take_turns(void **state)
{
	struct journal *a, *b;
	struct err e = {0};

	(void)state;
	forget("t.db");
	assert_int_equal(journal_open(file("t.db"), JOURNAL_WRITE, &a, &e), ERR_OK);
	assert_int_equal(journal_open(file("t.db"), JOURNAL_WRITE, &b, &e), ERR_OK);
	append(a, 0);
	append(b, 1);
	append(a, 2);
	journal_close(a);
	append(b, 3);
	journal_close(b);
	expect_runs("t.db", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(readers_see_the_moment_they_came),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(other_files_are_not_journals),
		cmocka_unit_test(other_files_are_not_written),
		cmocka_unit_test(an_empty_file_becomes_a_journal),
		cmocka_unit_test(a_damaged_journal_takes_no_more),
		cmocka_unit_test(every_broken_byte_is_noticed_or_harmless),
		cmocka_unit_test(a_log_that_was_left_is_read),
		cmocka_unit_test(a_log_may_end_anywhere),
		cmocka_unit_test(a_broken_log_is_noticed),
		cmocka_unit_test(two_writers_take_turns),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
