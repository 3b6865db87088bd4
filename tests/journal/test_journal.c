/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file: what is written is read, whoever breaks something of it is noticed, and a writer that is killed leaves
 * whole runs. A journal that has been tampered with, in any byte, either is refused or reads as it was: never as less.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/text.h"
#include "journal/store.h"
#include "journal/wal.h"

enum { RUNS = 3 };

static char folder[64];

static const char *file(const char *name)
{
	static char path[4][128];
	static unsigned next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static int make_folder(void **state)
{
	/* In memory where that can be had: what is written a thousand times need not outlive a power failure. */
	(void)state;
	snprintf(folder, sizeof(folder), "%s/cede-journal-XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

static void forget(const char *name)
{
	static const char *const ends[] = {"", "-wal", "-shm"};
	char path[128];

	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%s", file(name), ends[i]);
		unlink(path);
	}
}

/* ---- runs ---- */

static struct journal_run make_run(uint32_t seed)
{
	struct journal_run run = {.arena = arena_new(4096)};
	struct arena *a = run.arena;

	run.source = "plan";
	run.now_ns = (INT64_C(1800000000) + seed) * NS_PER_S + 5;
	run.profile = "default";
	run.version = "0.0.1";
	run.cycles = 1 + seed;
	run.reclaim_is_off = seed % 2;
	run.quota_is_on = !(seed % 2);
	run.n_settings = seed % 3;
	run.settings = arena_n(a, 3, struct journal_setting);
	for (uint32_t i = 0; i < run.n_settings; i++)
		run.settings[i] = (struct journal_setting){arena_printf(a, "s%u.yaml", i), "kind: CedeConfiguration\n"};
	run.state = arena_printf(a, "{\"kind\":\"List\",\"items\":[%01000u]}", seed);
	run.n_decisions = 2;
	run.decisions = arena_n(a, 2, struct journal_decision);
	run.decisions[0] = (struct journal_decision){.cycle = 1,
						     .pod = arena_printf(a, "ns/p%u", seed),
						     .group = "ns/g",
						     .queue = "root.a",
						     .outcome = "nominated",
						     .action = "reclaim",
						     .node = "n1",
						     .rule = "",
						     .until = "",
						     .message = "0/1 nodes",
						     .json = "{\"pod\":\"ns/p\"}",
						     .n_victims = 1,
						     .n_protected = 1};
	run.decisions[0].victims = arena_type(a, struct journal_victim);
	*run.decisions[0].victims =
		(struct journal_victim){"ns/v", "ns/h", "root.b", "n1", "opt-out", 3600 + seed, seed % 2};
	run.decisions[0].protected = arena_type(a, struct journal_protected);
	*run.decisions[0].protected =
		(struct journal_protected){"ns/w", "", "root.b", "n1", "budget", "it \xC3\xA9", "2027-01-15T08:00:00Z"};
	run.decisions[1] = (struct journal_decision){.cycle = 2,
						     .pod = "",
						     .group = "",
						     .queue = "root.c",
						     .outcome = "evicted",
						     .action = "quota",
						     .node = "",
						     .rule = "delay",
						     .until = "2027-01-15T08:00:00Z",
						     .message = "",
						     .json = "{}"};
	return run;
}

static void add_words(struct text *t, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text_printf(t, "|%s", v[i]);
}

/* Everything a run has, in one text. */
static void dump_run(const struct journal_run *r, struct text *t)
{
	text_printf(t, "run %lld %s %lld %s %s %u %d %d\n%s\n", (long long)r->id, r->source, (long long)r->now_ns,
		    r->profile, r->version, r->cycles, r->reclaim_is_off, r->quota_is_on, r->state);
	for (uint32_t i = 0; i < r->n_settings; i++)
		text_printf(t, "setting %s: %s\n", r->settings[i].file, r->settings[i].document);
	for (uint32_t i = 0; i < r->n_decisions; i++) {
		const struct journal_decision *d = &r->decisions[i];

		text_printf(t, "\ndecision %u", d->cycle);
		add_words(t,
			  (const char *[]){d->pod, d->group, d->queue, d->outcome, d->action, d->node, d->rule,
					   d->until, d->message, d->json},
			  10);
		for (uint32_t k = 0; k < d->n_victims; k++) {
			const struct journal_victim *v = &d->victims[k];

			text_printf(t, "\nvictim %lld %d", (long long)v->lost_seconds, v->was_leaving);
			add_words(t, (const char *[]){v->pod, v->group, v->queue, v->node, v->rule}, 5);
		}
		for (uint32_t k = 0; k < d->n_protected; k++) {
			const struct journal_protected *p = &d->protected[k];

			add_words(t,
				  (const char *[]){p->pod, p->group, p->queue, p->node, p->rule, p->reason, p->until},
				  7);
		}
	}
}

static void append(struct journal *j, uint32_t seed)
{
	struct journal_run run = make_run(seed);
	struct err e = {0};

	if (journal_append(j, &run, &e))
		fail_msg("%s", e.msg);
	journal_run_free(&run);
}

static void write_journal(const char *name, uint32_t n)
{
	struct journal *j;
	struct err e = {0};

	forget(name);
	if (journal_open(file(name), JOURNAL_WRITE, &j, &e))
		fail_msg("%s", e.msg);
	for (uint32_t i = 0; i < n; i++)
		append(j, i);
	journal_close(j);
}

/* All runs as a text; the error instead if there is one. */
static enum err_code dump_journal(const char *name, struct text *t)
{
	struct journal *j = NULL;
	struct err e = {0};
	enum err_code rc = journal_open(file(name), JOURNAL_READ, &j, &e);

	if (!rc)
		rc = journal_check(j, &e);
	for (int64_t id = 1; !rc && id <= journal_run_count(j); id++) {
		struct journal_run run;

		rc = journal_read(j, id, true, &run, &e);
		if (!rc) {
			dump_run(&run, t);
			journal_run_free(&run);
		}
	}
	journal_close(j);
	if (rc) {
		text_reset(t);
		text_add(t, e.msg);
	}
	return rc;
}

static void dump_expected(uint32_t n, struct text *t)
{
	for (uint32_t i = 0; i < n; i++) {
		struct journal_run run = make_run(i);

		run.id = i + 1;
		dump_run(&run, t);
		journal_run_free(&run);
	}
}

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

static void run_sql(const char *name, const char *sql)
{
	sqlite3 *db;
	char *why = NULL;

	assert_int_equal(sqlite3_open(file(name), &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		fail_msg("%s: %s", sql, why);
	sqlite3_close(db);
}

/* ---- bytes ---- */

struct bytes {
	unsigned char *v;
	size_t n;
};

static struct bytes read_bytes(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct bytes b = {0};

	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	b.n = (size_t)ftell(f);
	rewind(f);
	b.v = mem_alloc(b.n + 1);
	assert_int_equal(fread(b.v, 1, b.n, f), b.n);
	fclose(f);
	return b;
}

static void write_bytes(const char *path, const void *v, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(v, 1, n, f), n);
	fclose(f);
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
	assert_int_equal(journal_check(reader, &e), ERR_OK);
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
		{"a decision is gone", "DELETE FROM decisions WHERE run = 2 AND seq = 1", "run 2 is not as it was"},
		{"a victim is gone", "DELETE FROM victims WHERE run = 1", "run 1 is not as it was"},
		{"a protected pod is gone", "DELETE FROM protected WHERE run = 3", "run 3 is not as it was"},
		{"a setting is gone", "DELETE FROM settings WHERE run = 3", "run 3 is not as it was"},
		{"a victim more",
		 "INSERT INTO victims SELECT run, seq, 9, pod, NULL, NULL, NULL, NULL, 0, 0 FROM victims "
		 "WHERE run = 2",
		 "run 2 is not as it was"},
		{"another queue lost it", "UPDATE victims SET queue = 'root.z' WHERE run = 2",
		 "run 2 is not as it was"},
		{"another time was lost", "UPDATE victims SET lost_seconds = 1 WHERE run = 2",
		 "run 2 is not as it was"},
		{"another cluster", "UPDATE runs SET state = state || ' ' WHERE run = 1", "run 1 is not as it was"},
		{"another time", "UPDATE runs SET now_ns = now_ns + 1 WHERE run = 1", "run 1 is not as it was"},
		{"text that was nothing", "UPDATE decisions SET node = '' WHERE run = 1 AND node IS NULL",
		 "run 1 is not as it was"},
		{"another checksum", "UPDATE checksums SET checksum = 1 WHERE run = 2", "run 2 is not as it was"},
		{"no checksum", "DELETE FROM checksums WHERE run = 3", "run 3 is not as it was"},
		{"rows of two runs exchanged",
		 "UPDATE victims SET run = 9 WHERE run = 1; UPDATE victims SET run = 1 WHERE "
		 "run = 2; UPDATE victims SET run = 2 WHERE run = 9",
		 "run 1 is not as it was"},
		{"a run is gone", "DELETE FROM runs WHERE run = 2", "run 2 of 3 is not there"},
		{"the last run is gone", "DELETE FROM runs WHERE run = 3", "it should have 3 runs and the last is 2"},
		{"the last run is gone with everything of it",
		 "DELETE FROM runs WHERE run = 3; DELETE FROM decisions WHERE run = 3; DELETE FROM victims WHERE run = "
		 "3; "
		 "DELETE FROM protected WHERE run = 3; DELETE FROM settings WHERE run = 3; DELETE FROM checksums WHERE "
		 "run = 3",
		 "it should have 3 runs and the last is 2"},
		{"all runs are gone", "DELETE FROM runs", "it should have 3 runs and the last is 0"},
		{"a run too many",
		 "INSERT INTO runs SELECT 4, source, now, now_ns, profile, version, cycles, 0, 0, state_hash, "
		 "state FROM runs WHERE run = 1",
		 "it should have 3 runs and the last is 4"},
		{"a run before the first",
		 "INSERT INTO runs SELECT 0, source, now, now_ns, profile, version, cycles, 0, 0, "
		 "state_hash, state FROM runs WHERE run = 1",
		 "1 rows of runs belong to no run"},
		{"rows of no run",
		 "INSERT INTO victims SELECT 7, seq, n, pod, NULL, NULL, NULL, NULL, 0, 0 FROM victims "
		 "WHERE run = 2",
		 "1 rows of victims belong to no run"},
		{"the count is gone", "DELETE FROM journal", "it does not say how many runs it has"},
		{"a table is gone", "DROP TABLE victims", "its tables are not those of a journal"},
		{"a table has another column", "ALTER TABLE victims RENAME COLUMN queue TO q",
		 "its tables are not those"},
		{"an index more", "CREATE INDEX i ON victims (pod)", "its tables are not those of a journal"},
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
	run_sql("new.db", "PRAGMA user_version = 2");
	expect_error("a later version", "new.db", "a journal of version 2; this cede knows version 1");
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

static void a_damaged_journal_takes_no_more(void **state)
{
	struct journal_run run = make_run(5);
	struct journal *j;
	struct err e = {0};

	(void)state;
	write_journal("d.db", RUNS);
	run_sql("d.db", "DELETE FROM runs WHERE run = 3");
	assert_int_equal(journal_open(file("d.db"), JOURNAL_WRITE, &j, &e), ERR_OK);
	assert_int_equal(journal_append(j, &run, &e), ERR_INPUT);
	assert_non_null(strstr(e.msg, "damaged: it should have 3 runs and the last is 2; nothing was recorded"));
	assert_int_equal(run.id, 0);
	journal_close(j);
	journal_run_free(&run);
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
