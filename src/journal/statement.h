/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statement.h - one SQL statement, asked again and again: values in, rows out, errors in words. Inside journal/ only.
 *
 *	TRY(statement_open(&q, j, "SELECT pod, n FROM t WHERE run = ?", e));
 *	bind_int(&q, run);
 *	while (statement_next(&q))
 *		use(column_str(&q, arena), column_int(&q));
 *	rc = statement_done(&q, e);
 *	statement_close(&q);
 *
 * Zero-initialised is closed.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

struct journal;

struct statement {
	const struct journal *j;
	sqlite3_stmt *s;
	int at, rc; /* the column or parameter that comes next; what SQLite said last */
};

enum err_code statement_open(struct statement *q, const struct journal *j, const char *sql, struct err *e);
void statement_close(struct statement *q);

/* What is bound outlives the row. Empty texts become NULL. */
void bind_int(struct statement *q, int64_t n);
void bind_str(struct statement *q, const char *s);
void bind_blob(struct statement *q, const void *p, size_t n);
enum err_code statement_run(struct statement *q, struct err *e); /* one that gives no rows; ready for the next */

bool statement_next(struct statement *q); /* false at the end, and on errors */
/* What the rows ended with; ready to be bound anew. Call it also after the first row of one that gives no more. */
enum err_code statement_done(struct statement *q, struct err *e);
int64_t column_int(struct statement *q);
const char *column_str(struct statement *q, struct arena *a); /* NULL becomes "" */
/* Until the next step. */
const void *column_blob(struct statement *q, size_t *ret_n);

/* Of the row's values with their types, the last skip columns left out. */
uint64_t row_hash(const struct statement *q, int skip);
