/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the file of a journal: how it is opened, what its tables are, and the checksums that hold them together.
 * Inside journal/ only.
 *
 * The last column of a row of runs is the hash of the others, among them how many rows the run has in evictions
 * and in decisions and the sums of their hashes. The one row of table journal has the number of runs and the sum of
 * their hashes. Sums, so that a row can be added, changed or removed without reading the rest.
 */
#pragma once

#include <sqlite3.h>

#include "journal/journal.h"
#include "journal/statement.h"

#define STORE_APPLICATION 0x63656465 /* "cede": application_id of the file */

enum row_table { ROWS_EVICTIONS, ROWS_DECISIONS, ROW_TABLES };

struct row_sum { /* of the rows a run has in a table */
	int64_t n;
	uint64_t sum;
};

struct run_key {
	int64_t id, now_ns;
	uint64_t sum;
	struct row_sum rows[ROW_TABLES];
};

struct chunks;
struct journal {
	sqlite3 *db;
	char *path, *real; /* as it was named; the file itself, which is no link */
	enum journal_mode mode;
	bool is_new; /* nothing is in it yet, not even tables */
	ARRAY(struct run_key) runs;
	int64_t data_version;  /* as SQLite counts what others have written, when the runs were read */
	struct chunks *chunks; /* NULL until they are needed */
};

/* What SQLite answered, in words: "journal.db: ...". After writing it is said that nothing was recorded. */
enum err_code store_fail(const struct journal *j, int rc, struct err *e);
/* A macro, so that analysers see that it is never success. */
#define store_damaged(j, e, ...) (store_set_damaged((j), (e), __VA_ARGS__), err_same(ERR_INPUT))
void store_set_damaged(const struct journal *j, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
enum err_code store_exec(const struct journal *j, const char *sql, struct err *e);
enum err_code store_execf(const struct journal *j, struct err *e, const char *fmt, ...); /* see sqlite3_mprintf */
/* The first number of the first row; 0 if there is none. %lld: see sqlite3_mprintf. */
enum err_code store_number(const struct journal *j, int64_t *ret, struct err *e, const char *fmt, ...);

char *store_real_name(const char *path); /* the file behind it, as SQLite is to be told; to be freed */
/* Opens the file at path as it is: no check, no log looked at, nothing made. For salvage. */
enum err_code store_open_raw(const char *path, struct journal **ret, struct err *e);

/* A transaction in which the journal is known to be whole as far as history would look; the tables are made if new. */
enum err_code store_begin(struct journal *j, struct err *e);
/*
 * The same for those who write all the time: the runs are read again only if somebody else has written, their rows are
 * not.
 */
enum err_code store_begin_light(struct journal *j, struct err *e);
/* 0 becomes a commit, anything else takes everything back. */
enum err_code store_end(struct journal *j, enum err_code rc, struct err *e);

/* ---- checksums (seal.c) ---- */

/* Reads the keys of all runs and looks whether they are all there, as they were written. */
enum err_code store_load_runs(struct journal *j, struct err *e);
/* Of a row of all columns of runs: is it as it was written? */
bool store_key_is_good(const struct statement *q, struct run_key *ret);
const struct run_key *store_find_run(const struct journal *j, int64_t id); /* NULL: there is none */

void row_sum_add(struct row_sum *s, const struct statement *q); /* the row it stands on, of all columns */
/* Reads the rows of a run and compares them with what its row says of them. */
enum err_code store_check_rows(const struct journal *j, const struct run_key *run, enum row_table table, struct err *e);
/* The same for rows that were read already; and of all runs, with rows that belong to none. */
enum err_code store_compare_rows(const struct journal *j, const struct run_key *run, enum row_table table,
				 const struct row_sum *found, struct err *e);
enum err_code store_check_all_rows(const struct journal *j, enum row_table table, struct err *e);
/* The rows have changed by so much; n may be negative. To be sealed afterwards. */
enum err_code store_add_rows(struct journal *j, int64_t run, enum row_table table, struct row_sum by, struct err *e);
/* After the row of a run was written or changed: its hash, and with it the sum of the journal. */
enum err_code store_seal_run(struct journal *j, int64_t run, struct err *e);
/* The row goes, and its part of the sum of the journal; what belongs to it is left to the caller. */
enum err_code store_drop_run(struct journal *j, int64_t run, struct err *e);

enum err_code store_chunks(struct journal *j, struct chunks **ret, struct err *e);
