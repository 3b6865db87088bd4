/* SPDX-License-Identifier: Apache-2.0 */
/* Reading runs back, and looking whether everything is there. */
#include <string.h>

#include "base/map.h"
#include "journal/store.h"
#include "manifest/fields.h"

/* ---- checksums ---- */

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

/* Of all rows the statement gives; how many there are counts, too. */
static int fold_rows(sqlite3_stmt *s, uint64_t *h)
{
	uint64_t n = 0;
	int rc;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(s); i++)
			*h = fold_column(*h, s, i);
		n++;
	}
	*h = hash_mix(*h, n);
	return rc;
}

enum err_code store_checksum(const struct journal *j, int64_t run, uint64_t before, uint64_t *ret, struct err *e)
{
	static const char *const tables[] = {
		"SELECT * FROM runs WHERE run = ?",
		"SELECT * FROM settings WHERE run = ? ORDER BY n",
		"SELECT * FROM decisions WHERE run = ? ORDER BY seq",
		"SELECT * FROM victims WHERE run = ? ORDER BY seq, n",
		"SELECT * FROM protected WHERE run = ? ORDER BY seq, n",
	};
	uint64_t h = before;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		sqlite3_stmt *s = NULL;
		int rc;

		TRY(store_prepare(j, tables[i], &s, e));
		sqlite3_bind_int64(s, 1, run);
		rc = fold_rows(s, &h);
		sqlite3_finalize(s);
		if (rc != SQLITE_DONE)
			return store_fail(j, rc, e);
	}
	*ret = h;
	return ERR_OK;
}

/* ---- is everything there? ---- */

static enum err_code check_pages(const struct journal *j, struct err *e)
{
	sqlite3_stmt *s = NULL;
	enum err_code code = ERR_OK;
	int rc;

	TRY(store_prepare(j, "PRAGMA quick_check(1)", &s, e));
	rc = sqlite3_step(s);
	if (rc != SQLITE_ROW)
		code = store_fail(j, rc, e);
	else if (strcmp((const char *)sqlite3_column_text(s, 0), "ok") != 0)
		code = store_damaged(j, e, "%.200s", (const char *)sqlite3_column_text(s, 0));
	sqlite3_finalize(s);
	return code;
}

static enum err_code check_run(const struct journal *j, int64_t run, uint64_t *sum, struct err *e)
{
	int64_t is_there = 0, kept = 0;

	TRY(store_number(j, &is_there, e, "SELECT count(*) FROM runs WHERE run = %lld", (long long)run));
	if (!is_there)
		return store_damaged(j, e, "run %lld of %lld is not there", (long long)run, (long long)j->n_runs);
	TRY(store_number(j, &kept, e, "SELECT checksum FROM checksums WHERE run = %lld", (long long)run));
	TRY(store_checksum(j, run, *sum, sum, e));
	if (*sum != (uint64_t)kept)
		return store_damaged(j, e, "run %lld is not as it was written: rows were changed, or are gone",
				     (long long)run);
	return ERR_OK;
}

/* Rows of runs that there should not be. */
static enum err_code check_strays(const struct journal *j, struct err *e)
{
	static const char *const tables[] = {"runs", "settings", "decisions", "victims", "protected", "checksums"};
	int64_t n = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		TRY(store_number(j, &n, e, "SELECT count(*) FROM %s WHERE run NOT BETWEEN 1 AND %lld", tables[i],
				 (long long)j->n_runs));
		if (n)
			return store_damaged(j, e, "%lld rows of %s belong to no run", (long long)n, tables[i]);
	}
	return ERR_OK;
}

enum err_code journal_check(struct journal *j, struct err *e)
{
	uint64_t sum = 0;

	TRY(check_pages(j, e));
	for (int64_t run = 1; run <= j->n_runs; run++)
		TRY(check_run(j, run, &sum, e));
	return check_strays(j, e);
}

/* ---- reading ---- */

struct statement_rows { /* of one statement for one run */
	const struct journal *j;
	struct arena *a;
	sqlite3_stmt *s;
	int at, rc;
};

static enum err_code rows_open(struct statement_rows *r, const char *sql, int64_t run, struct err *e)
{
	TRY(store_prepare(r->j, sql, &r->s, e));
	sqlite3_bind_int64(r->s, 1, run);
	return ERR_OK;
}

static bool rows_next(struct statement_rows *r)
{
	r->rc = sqlite3_step(r->s);
	r->at = 0;
	return r->rc == SQLITE_ROW;
}

static enum err_code rows_close(struct statement_rows *r, struct err *e)
{
	enum err_code code = r->rc == SQLITE_DONE ? ERR_OK : store_fail(r->j, r->rc, e);

	sqlite3_finalize(r->s);
	r->s = NULL;
	return code;
}

static int64_t next_int(struct statement_rows *r)
{
	return sqlite3_column_int64(r->s, r->at++);
}

static const char *next_str(struct statement_rows *r)
{
	const char *s = (const char *)sqlite3_column_text(r->s, r->at);
	int n = sqlite3_column_bytes(r->s, r->at++);

	return s && n > 0 ? arena_strndup(r->a, s, (size_t)n) : "";
}

static enum err_code count_rows(const struct journal *j, const char *table, int64_t run, uint32_t *ret, struct err *e)
{
	int64_t n = 0;

	TRY(store_number(j, &n, e, "SELECT count(*) FROM %s WHERE run = %lld", table, (long long)run));
	*ret = (uint32_t)n;
	return ERR_OK;
}

static enum err_code read_run(struct statement_rows *r, bool with_state, struct journal_run *run, struct err *e)
{
	TRY(rows_open(r,
		      with_state
			      ? "SELECT source, now_ns, profile, version, cycles, reclaim_is_off, quota_is_on, state "
				"FROM runs WHERE run = ?"
			      : "SELECT source, now_ns, profile, version, cycles, reclaim_is_off, quota_is_on, NULL "
				"FROM runs WHERE run = ?",
		      run->id, e));
	while (rows_next(r)) {
		run->source = next_str(r);
		run->now_ns = next_int(r);
		run->profile = next_str(r);
		run->version = next_str(r);
		run->cycles = (uint32_t)next_int(r);
		run->reclaim_is_off = next_int(r);
		run->quota_is_on = next_int(r);
		run->state = with_state ? next_str(r) : NULL;
	}
	run->state_hash = run->state ? hash_bytes(run->state, strlen(run->state)) : 0;
	return rows_close(r, e);
}

static enum err_code read_settings(struct statement_rows *r, struct journal_run *run, struct err *e)
{
	TRY(count_rows(r->j, "settings", run->id, &run->n_settings, e));
	run->settings = arena_n(r->a, run->n_settings + 1, struct journal_setting);
	TRY(rows_open(r, "SELECT file, document FROM settings WHERE run = ? ORDER BY n", run->id, e));
	for (uint32_t i = 0; rows_next(r) && i < run->n_settings; i++) {
		run->settings[i].file = next_str(r);
		run->settings[i].document = next_str(r);
	}
	return rows_close(r, e);
}

static enum err_code read_decisions(struct statement_rows *r, struct journal_run *run, struct err *e)
{
	TRY(count_rows(r->j, "decisions", run->id, &run->n_decisions, e));
	run->decisions = arena_n(r->a, run->n_decisions + 1, struct journal_decision);
	TRY(rows_open(r,
		      "SELECT cycle, pod, \"group\", queue, outcome, action, node, rule, until, message, json "
		      "FROM decisions WHERE run = ? ORDER BY seq",
		      run->id, e));
	for (uint32_t i = 0; rows_next(r) && i < run->n_decisions; i++) {
		struct journal_decision *d = &run->decisions[i];

		d->cycle = (uint32_t)next_int(r);
		d->pod = next_str(r);
		d->group = next_str(r);
		d->queue = next_str(r);
		d->outcome = next_str(r);
		d->action = next_str(r);
		d->node = next_str(r);
		d->rule = next_str(r);
		d->until = next_str(r);
		d->message = next_str(r);
		d->json = next_str(r);
	}
	return rows_close(r, e);
}

static enum err_code read_victims(struct statement_rows *r, struct journal_run *run, struct err *e)
{
	struct journal_victim *v;
	uint32_t n;

	TRY(count_rows(r->j, "victims", run->id, &n, e));
	v = arena_n(r->a, n + 1, struct journal_victim);
	TRY(rows_open(r,
		      "SELECT seq, pod, \"group\", queue, node, rule, lost_seconds, was_leaving FROM victims "
		      "WHERE run = ? ORDER BY seq, n",
		      run->id, e));
	for (uint32_t i = 0; rows_next(r) && i < n; i++) {
		int64_t seq = next_int(r);

		if (seq < 0 || seq >= run->n_decisions)
			break;
		if (!run->decisions[seq].n_victims++)
			run->decisions[seq].victims = &v[i];
		v[i].pod = next_str(r);
		v[i].group = next_str(r);
		v[i].queue = next_str(r);
		v[i].node = next_str(r);
		v[i].rule = next_str(r);
		v[i].lost_seconds = next_int(r);
		v[i].was_leaving = next_int(r);
	}
	return rows_close(r, e);
}

static enum err_code read_protected(struct statement_rows *r, struct journal_run *run, struct err *e)
{
	struct journal_protected *p;
	uint32_t n;

	TRY(count_rows(r->j, "protected", run->id, &n, e));
	p = arena_n(r->a, n + 1, struct journal_protected);
	TRY(rows_open(r,
		      "SELECT seq, pod, \"group\", queue, node, rule, reason, until FROM protected "
		      "WHERE run = ? ORDER BY seq, n",
		      run->id, e));
	for (uint32_t i = 0; rows_next(r) && i < n; i++) {
		int64_t seq = next_int(r);

		if (seq < 0 || seq >= run->n_decisions)
			break;
		if (!run->decisions[seq].n_protected++)
			run->decisions[seq].protected = &p[i];
		p[i].pod = next_str(r);
		p[i].group = next_str(r);
		p[i].queue = next_str(r);
		p[i].node = next_str(r);
		p[i].rule = next_str(r);
		p[i].reason = next_str(r);
		p[i].until = next_str(r);
	}
	return rows_close(r, e);
}

static enum err_code read_all(struct statement_rows *r, bool with_state, struct journal_run *run, struct err *e)
{
	TRY(read_run(r, with_state, run, e));
	if (with_state)
		TRY(read_settings(r, run, e));
	TRY(read_decisions(r, run, e));
	TRY(read_victims(r, run, e));
	return read_protected(r, run, e);
}

enum err_code journal_read(struct journal *j, int64_t id, bool with_state, struct journal_run *ret, struct err *e)
{
	struct statement_rows r = {.j = j};
	struct journal_run run = {.id = id};
	enum err_code rc;

	if (id < 1 || id > j->n_runs)
		return err_fail(e, ERR_NOTFOUND, "%s: there is no run %lld; it has %lld", j->path, (long long)id,
				(long long)j->n_runs);
	r.a = run.arena = arena_new(1 << 16);
	rc = read_all(&r, with_state, &run, e);
	sqlite3_finalize(r.s);
	if (rc)
		journal_run_free(&run);
	else
		*ret = run;
	return rc;
}
