/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - the tables of a journal and how SQLite is asked. Inside journal/ only.
 *
 * Every table begins with the run; the keys are the order in which rows were decided, so a run reads back in it.
 */
#pragma once

#include <sqlite3.h>

#include "journal/journal.h"

#define STORE_APPLICATION 0x63656465 /* "cede": application_id of the file */

struct journal {
	sqlite3 *db;
	char *path;
	enum journal_mode mode;
	bool is_new; /* nothing is in it yet, not even tables */
	int64_t n_runs;
};

/* What SQLite answered, in words: "journal.db: ...". After writing it is said that nothing was recorded. */
enum err_code store_fail(const struct journal *j, int rc, struct err *e);
enum err_code store_damaged(const struct journal *j, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
enum err_code store_exec(const struct journal *j, const char *sql, struct err *e);
enum err_code store_prepare(const struct journal *j, const char *sql, sqlite3_stmt **ret, struct err *e);
/* The first number of the first row; 0 if there is none. %lld: see sqlite3_mprintf. */
enum err_code store_number(const struct journal *j, int64_t *ret, struct err *e, const char *fmt, ...);

/* What the one row of table journal and the last checksum say must agree; n_runs is set. */
enum err_code store_head(struct journal *j, uint64_t *ret_checksum, struct err *e);
/* Over all rows of a run, after that of the run before (0 for the first). */
enum err_code store_checksum(const struct journal *j, int64_t run, uint64_t before, uint64_t *ret, struct err *e);
