/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/statement.h"

#include <string.h>

#include "base/map.h"
#include "journal/store.h"

enum err_code statement_open(struct statement *q, const struct journal *j, const char *sql, struct err *e)
{
	int rc = sqlite3_prepare_v2(j->db, sql, -1, &q->s, NULL);

	q->j = j;
	q->at = 0;
	return rc == SQLITE_OK ? ERR_OK : store_fail(j, rc, e);
}

void statement_close(struct statement *q)
{
	sqlite3_finalize(q->s);
	*q = (struct statement){0};
}

void bind_int(struct statement *q, int64_t n)
{
	sqlite3_bind_int64(q->s, ++q->at, n);
}

void bind_str(struct statement *q, const char *s)
{
	if (s && *s)
		sqlite3_bind_text64(q->s, ++q->at, s, strlen(s), SQLITE_STATIC, SQLITE_UTF8);
	else
		sqlite3_bind_null(q->s, ++q->at);
}

void bind_blob(struct statement *q, const void *p, size_t n)
{
	sqlite3_bind_blob64(q->s, ++q->at, p, n, SQLITE_STATIC);
}

enum err_code statement_run(struct statement *q, struct err *e)
{
	q->rc = sqlite3_step(q->s);
	return statement_done(q, e);
}

bool statement_next(struct statement *q)
{
	q->rc = sqlite3_step(q->s);
	q->at = 0;
	return q->rc == SQLITE_ROW;
}

enum err_code statement_done(struct statement *q, struct err *e)
{
	int rc = q->rc;
	enum err_code code = rc == SQLITE_DONE || rc == SQLITE_ROW ? ERR_OK : store_fail(q->j, rc, e);

	sqlite3_reset(q->s);
	sqlite3_clear_bindings(q->s);
	q->at = 0;
	return code;
}

int64_t column_int(struct statement *q)
{
	return sqlite3_column_int64(q->s, q->at++);
}

const char *column_str(struct statement *q, struct arena *a)
{
	const char *s = (const char *)sqlite3_column_text(q->s, q->at);
	int n = sqlite3_column_bytes(q->s, q->at++);

	return s && n > 0 ? arena_strndup(a, s, (size_t)n) : "";
}

const void *column_blob(struct statement *q, size_t *ret_n)
{
	const void *p = sqlite3_column_blob(q->s, q->at);

	*ret_n = (size_t)sqlite3_column_bytes(q->s, q->at++);
	return p;
}

static uint64_t fold_column(uint64_t h, sqlite3_stmt *s, int column)
{
	int type = sqlite3_column_type(s, column);

	h = hash_mix(h, (uint64_t)type);
	if (type == SQLITE_INTEGER)
		return hash_mix(h, (uint64_t)sqlite3_column_int64(s, column));
	if (type != SQLITE_NULL) {
		const void *bytes = sqlite3_column_blob(s, column);
		size_t n = (size_t)sqlite3_column_bytes(s, column);

		h = hash_mix(hash_mix(h, n), n ? hash_bytes(bytes, n) : 0);
	}
	return h;
}

uint64_t row_hash(const struct statement *q, int skip)
{
	uint64_t h = 0;

	for (int i = 0; i < sqlite3_column_count(q->s) - skip; i++)
		h = fold_column(h, q->s, i);
	return h;
}
