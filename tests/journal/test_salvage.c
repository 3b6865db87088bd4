/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every page of a journal is broken in turn, in several ways, and with it the log of one that was killed. What is read
 * of it is what was written, or it is refused; whatever is refused cede journal check finds, too; and what is saved of
 * it is as it was, in a journal that is whole.
 */
#include <sys/stat.h>

#include "journal/journal_runs.h"
#include "journal/salvage.h"

enum { RUNS = 8, PAGE = 4096 };

/* ---- breaking ---- */

static void zero_page(unsigned char *p)
{
	memset(p, 0, PAGE);
}

static void fill_page(unsigned char *p)
{
	for (int i = 0; i < PAGE; i++)
		p[i] = (unsigned char)hash_u64((uint64_t)i);
}

static void flip_start(unsigned char *p)
{
	p[0] ^= 0x41;
}

static void flip_count(unsigned char *p)
{
	p[4] ^= 0x01;
}

static void flip_middle(unsigned char *p)
{
	p[PAGE / 2] ^= 0x10;
}

static void flip_end(unsigned char *p)
{
	p[PAGE - 5] ^= 0x80;
}

static void flip_many(unsigned char *p)
{
	for (int i = 200; i < PAGE; i += 397)
		p[i] ^= 0x04;
}

static const struct {
	const char *sentence;
	void (*on)(unsigned char *page);
} ways[] = {
	{"a page of zeros", zero_page},		 {"a page of rubbish", fill_page},
	{"a bit of its first byte", flip_start}, {"a bit in its head", flip_count},
	{"a bit in its middle", flip_middle},	 {"a bit near its end", flip_end},
	{"bits in ten places", flip_many},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

/* ---- what is left ---- */

struct counts {
	uint32_t tried, refused, saved, whole, lost, nothing;
};

static struct text expected[RUNS + 1]; /* by id */

/* A run that is whole reads as it was written. What is without its cluster or decisions has evictions, and these. */
static void expect_saved_run(struct journal *j, int64_t id, const char *what)
{
	struct text found = {0}, evictions = {0};
	struct journal_run run;
	struct err e = {0};

	assert_true(id >= 1 && id <= RUNS);
	if (journal_read_evictions(j, id, &run, &e))
		fail_msg("%s: run %lld: %s", what, (long long)id, e.msg);
	dump_evictions(&run, &evictions);
	if (evictions.n && !strstr(text_str(&expected[id]), text_str(&evictions)))
		fail_msg("%s: run %lld has other evictions:\n%s", what, (long long)id, text_str(&evictions));
	if (run.has_state) {
		if (dump_one(j, id, &found, &e))
			fail_msg("%s: run %lld: %s", what, (long long)id, e.msg);
		assert_string_equal(text_str(&found), text_str(&expected[id]));
	}
	journal_run_free(&run);
	text_free(&found);
	text_free(&evictions);
}

static void expect_saved(const char *what, struct counts *n)
{
	struct text words = {0};
	struct salvage_report r = {.words = &words};
	struct journal *j;
	struct err e = {0};

	forget("new.db");
	if (journal_salvage(file("x.db"), file("new.db"), &r, &e)) {
		n->nothing++;
		assert_int_equal(access(file("new.db"), F_OK), -1);
		assert_int_equal(access(file("new.db.old"), F_OK), -1);
		text_free(&words);
		return;
	}
	if (journal_open(file("new.db"), JOURNAL_READ, &j, &e) || check(j, &e))
		fail_msg("%s: what was saved: %s", what, e.msg);
	for (uint32_t i = 0; i < journal_run_count(j); i++)
		expect_saved_run(j, journal_run_id(j, i), what);
	n->saved += journal_run_count(j);
	n->whole += r.n_whole;
	n->lost += RUNS - journal_run_count(j);
	if (journal_run_count(j) != r.n_whole + r.n_without_state + r.n_evictions_only)
		fail_msg("%s: %u runs are there, not what was said", what, journal_run_count(j));
	if (r.n_whole < RUNS && !words.n && !r.n_lost)
		fail_msg("%s: not everything was saved, and nothing is said", what);
	journal_close(j);
	assert_int_equal(access(file("new.db.old"), F_OK), -1);
	text_free(&words);
}

/* True: it is refused, by those who read it and by the check. */
static bool expect_noticed(const char *what)
{
	struct text found = {0}, all = {0};
	struct journal *j = NULL;
	struct err e = {0};
	enum err_code rc = dump_journal("x.db", &found), checked;

	for (int i = 1; i <= RUNS; i++)
		text_add(&all, text_str(&expected[i]));
	if (!rc && strcmp(text_str(&found), text_str(&all)) != 0)
		fail_msg("%s: read as something else", what);
	checked = journal_open(file("x.db"), JOURNAL_READ, &j, &e);
	if (!checked)
		checked = check(j, &e);
	journal_close(j);
	if (rc && !checked)
		fail_msg("%s: it is refused (%s), and the check finds nothing", what, text_str(&found));
	text_free(&found);
	text_free(&all);
	return rc != 0;
}

/* ---- tests ---- */

static struct bytes make_journal(void)
{
	write_journal("s.db", RUNS);
	for (uint32_t i = 0; i < RUNS; i++) {
		struct journal_run run = make_run(i);

		run.id = i + 1;
		text_reset(&expected[i + 1]);
		dump_run(&run, &expected[i + 1]);
		expect_evictions(&run, &expected[i + 1]);
		journal_run_free(&run);
	}
	return read_bytes(file("s.db"));
}

static void print_counts(const char *what, const struct counts *n)
{
	print_message("%u times %s: refused %u times; %u of %u runs saved, %u whole; nothing saved %u times\n",
		      n->tried, what, n->refused, n->saved, n->tried * RUNS, n->whole, n->nothing);
}

static void every_page_is_broken(void **state)
{
	struct bytes good = make_journal();
	struct counts n = {0};
	unsigned char page[PAGE];
	char what[96];

	(void)state;
	for (size_t at = 0; at + PAGE <= good.n; at += PAGE)
		for (int way = 0; way < WAYS; way++, n.tried++) {
			snprintf(what, sizeof(what), "page %zu: %s", at / PAGE + 1, ways[way].sentence);
			memcpy(page, good.v + at, PAGE);
			ways[way].on(good.v + at);
			forget("x.db");
			write_bytes(file("x.db"), good.v, good.n);
			memcpy(good.v + at, page, PAGE);
			expect_saved(what, &n); /* before anybody has opened it */
			n.refused += expect_noticed(what);
		}
	print_counts("a page was broken", &n);
	assert_true(n.refused > n.tried / 4);
	assert_true(n.saved > n.tried * RUNS * 3 / 4);
	mem_free(good.v);
}

static void a_journal_that_was_cut_off_is_saved_as_far_as_it_goes(void **state)
{
	struct bytes good = make_journal();
	struct counts n = {0};
	char what[96];

	(void)state;
	for (size_t bytes = 0; bytes < good.n; bytes += 1777, n.tried++) {
		snprintf(what, sizeof(what), "%zu bytes", bytes);
		forget("x.db");
		write_bytes(file("x.db"), good.v, bytes);
		expect_saved(what, &n);
		n.refused += expect_noticed(what);
	}
	print_counts("it was cut off", &n);
	assert_int_equal(n.refused, n.tried);
	mem_free(good.v);
}

/* Runs that are only in the log are saved up to the first broken frame; those in the file always. */
static void a_broken_log_is_read_up_to_the_break(void **state)
{
	struct bytes file_bytes, log_bytes, all = make_journal();
	struct counts n = {0};
	struct journal *j;
	struct err e = {0};
	char what[96];

	(void)state;
	mem_free(all.v);
	write_journal("w.db", 1);
	assert_int_equal(journal_open(file("w.db"), JOURNAL_WRITE, &j, &e), ERR_OK);
	for (uint32_t i = 1; i < RUNS; i++)
		append(j, i);
	file_bytes = read_bytes(file("w.db"));
	log_bytes = read_bytes(file("w.db-wal"));
	journal_close(j);
	for (size_t at = 40; at < log_bytes.n; at += 6007, n.tried++) {
		snprintf(what, sizeof(what), "byte %zu of the log", at);
		forget("x.db");
		write_bytes(file("x.db"), file_bytes.v, file_bytes.n);
		log_bytes.v[at] ^= 0x20;
		write_bytes(file("x.db-wal"), log_bytes.v, log_bytes.n);
		log_bytes.v[at] ^= 0x20;
		expect_saved(what, &n);
		n.refused += expect_noticed(what);
	}
	print_counts("a byte of the log was broken", &n);
	assert_int_equal(n.refused, n.tried);
	assert_int_equal(n.nothing, 0);
	assert_true(n.saved >= n.tried);
	mem_free(file_bytes.v);
	mem_free(log_bytes.v);
}

static void other_files_are_told(void **state)
{
	static const struct {
		const char *sentence, *from, *to, *words;
	} rows[] = {
		{"what is not there", "none.db", "n.db", "none.db: No such file or directory"},
		{"a text", "text.db", "n.db", "text.db: n"},
		{"the version before", "v1.db", "n.db", "v1.db: a journal of version 1"},
		{"onto a file that is there", "s.db", "text.db", "text.db: it is there already; a new file is needed"},
		{"onto itself", "s.db", "s.db", "s.db: it is there already; a new file is needed"},
		{"a folder", ".", "n.db", "not a file, so not a journal"},
	};

	(void)state;
	write_bytes(file("text.db"), "just a few words\n", 17);
	write_journal("s.db", 1);
	write_journal("v1.db", 1);
	run_sql("v1.db", "PRAGMA user_version = 1");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct text words = {0};
		struct salvage_report r = {.words = &words};
		struct err e = {0};

		if (!journal_salvage(file(rows[i].from), file(rows[i].to), &r, &e) || !strstr(e.msg, rows[i].words))
			fail_msg("%s: expected \"%s\", found \"%s\"", rows[i].sentence, rows[i].words, e.msg);
		if (strcmp(rows[i].to, "n.db") == 0)
			assert_int_equal(access(file("n.db"), F_OK), -1);
		text_free(&words);
	}
}

static int free_all(void **state)
{
	for (int i = 0; i <= RUNS; i++)
		text_free(&expected[i]);
	return remove_folder(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_page_is_broken),
		cmocka_unit_test(a_journal_that_was_cut_off_is_saved_as_far_as_it_goes),
		cmocka_unit_test(a_broken_log_is_read_up_to_the_break),
		cmocka_unit_test(other_files_are_told),
	};

	return cmocka_run_group_tests(tests, make_folder, free_all);
}
