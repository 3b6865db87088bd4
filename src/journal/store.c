/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening and writing. Nothing is changed in a file before it is known to be a journal or to be empty, and the tables
 * are made in the transaction of the first run: there never is a journal that is half made.
 */
#include "journal/store.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "journal/wal.h"
#include "manifest/fields.h"
#include "units/timestamp.h"

enum { BUSY_MS = 5000, RETRY_MS = 20 };

/* As SQLite keeps them: a journal whose tables are written otherwise is damaged, or somebody else has made it. */
static const char *const schema[] = {
	"CREATE TABLE journal (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), runs INTEGER NOT NULL) STRICT",
	"CREATE TABLE runs (run INTEGER PRIMARY KEY, source TEXT NOT NULL, now TEXT NOT NULL, now_ns INTEGER NOT NULL,"
	" profile TEXT NOT NULL, version TEXT NOT NULL, cycles INTEGER NOT NULL, reclaim_is_off INTEGER NOT NULL,"
	" quota_is_on INTEGER NOT NULL, state_hash TEXT NOT NULL, state TEXT NOT NULL) STRICT",
	"CREATE TABLE settings (run INTEGER NOT NULL, n INTEGER NOT NULL, file TEXT, document TEXT NOT NULL,"
	" PRIMARY KEY (run, n)) STRICT, WITHOUT ROWID",
	"CREATE TABLE decisions (run INTEGER NOT NULL, seq INTEGER NOT NULL, cycle INTEGER NOT NULL, pod TEXT,"
	" \"group\" TEXT, queue TEXT, outcome TEXT NOT NULL, action TEXT, node TEXT, rule TEXT, until TEXT,"
	" message TEXT, json TEXT NOT NULL, PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID",
	"CREATE TABLE victims (run INTEGER NOT NULL, seq INTEGER NOT NULL, n INTEGER NOT NULL, pod TEXT NOT NULL,"
	" \"group\" TEXT, queue TEXT, node TEXT, rule TEXT, lost_seconds INTEGER NOT NULL,"
	" was_leaving INTEGER NOT NULL, PRIMARY KEY (run, seq, n)) STRICT, WITHOUT ROWID",
	"CREATE TABLE protected (run INTEGER NOT NULL, seq INTEGER NOT NULL, n INTEGER NOT NULL, pod TEXT NOT NULL,"
	" \"group\" TEXT, queue TEXT, node TEXT, rule TEXT NOT NULL, reason TEXT, until TEXT,"
	" PRIMARY KEY (run, seq, n)) STRICT, WITHOUT ROWID",
	"CREATE TABLE checksums (run INTEGER PRIMARY KEY, checksum INTEGER NOT NULL) STRICT",
};
enum { TABLES = sizeof(schema) / sizeof(*schema) };

/* ---- errors ---- */

static const char *after_words(const struct journal *j)
{
	return j->mode == JOURNAL_WRITE ? "; nothing was recorded" : "";
}

enum err_code store_damaged(const struct journal *j, struct err *e, const char *fmt, ...)
{
	struct text words = {0};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&words, fmt, ap);
	va_end(ap);
	err_set(e, ERR_INPUT, "%s: damaged: %s%s", j->path, text_str(&words), after_words(j));
	text_free(&words);
	return ERR_INPUT;
}

/* What the operating system said, if SQLite still knows it. */
static const char *system_words(const struct journal *j, int rc)
{
	int code = sqlite3_system_errno(j->db);

	if (code)
		return strerror(code);
	return rc == SQLITE_IOERR_WRITE ? "there is no room to write it, or it is larger than files may be"
					: sqlite3_errstr(rc);
}

enum err_code store_fail(const struct journal *j, int rc, struct err *e)
{
	const char *after = after_words(j);

	switch (rc & 0xff) {
	case SQLITE_NOTADB:
		return err_fail(e, ERR_INPUT, "%s: not a journal of cede (not an SQLite file)%s", j->path, after);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_fail(e, ERR_CONFLICT, "%s: somebody else has been writing to it for %d seconds%s", j->path,
				BUSY_MS / 1000, after);
	case SQLITE_READONLY:
		return err_fail(e, ERR_IO, "%s: it may only be read%s", j->path, after);
	case SQLITE_FULL:
		return err_fail(e, ERR_IO, "%s: the disk is full%s", j->path, after);
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return err_fail(e, ERR_IO, "%s: %s%s", j->path, system_words(j, rc), after);
	case SQLITE_TOOBIG:
		return err_fail(e, ERR_LIMIT, "%s: the cluster is too large to be kept in one piece%s", j->path, after);
	default:
		return store_damaged(j, e, "%s", sqlite3_errmsg(j->db));
	}
}

/* ---- asking ---- */

enum err_code store_exec(const struct journal *j, const char *sql, struct err *e)
{
	int rc = sqlite3_exec(j->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? ERR_OK : store_fail(j, rc, e);
}

enum err_code store_prepare(const struct journal *j, const char *sql, sqlite3_stmt **ret, struct err *e)
{
	int rc = sqlite3_prepare_v2(j->db, sql, -1, ret, NULL);

	return rc == SQLITE_OK ? ERR_OK : store_fail(j, rc, e);
}

enum err_code store_number(const struct journal *j, int64_t *ret, struct err *e, const char *fmt, ...)
{
	sqlite3_stmt *s = NULL;
	enum err_code code;
	va_list ap;
	char *sql;
	int rc;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	code = store_prepare(j, sql, &s, e);
	sqlite3_free(sql);
	if (code)
		return code;
	rc = sqlite3_step(s);
	*ret = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_finalize(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? ERR_OK : store_fail(j, rc, e);
}

/* ---- is it ours? ---- */

static enum err_code identify(struct journal *j, struct err *e)
{
	int64_t application = 0, version = 0, tables = 0;

	TRY(store_number(j, &application, e, "PRAGMA application_id"));
	TRY(store_number(j, &version, e, "PRAGMA user_version"));
	TRY(store_number(j, &tables, e, "SELECT count(*) FROM sqlite_schema"));
	j->is_new = !application && !version && !tables;
	if (!j->is_new && application != STORE_APPLICATION)
		return err_fail(e, ERR_INPUT, "%s: an SQLite file, but not a journal of cede%s", j->path,
				after_words(j));
	if (!j->is_new && version != JOURNAL_VERSION)
		return err_fail(e, ERR_INPUT, "%s: a journal of version %lld; this cede knows version %d%s", j->path,
				(long long)version, JOURNAL_VERSION, after_words(j));
	return ERR_OK;
}

static enum err_code check_tables(const struct journal *j, struct err *e)
{
	int64_t all = 0, known = 0;

	TRY(store_number(j, &all, e, "SELECT count(*) FROM sqlite_schema"));
	for (int i = 0; i < TABLES; i++) {
		int64_t n = 0;

		TRY(store_number(j, &n, e, "SELECT count(*) FROM sqlite_schema WHERE sql = %Q", schema[i]));
		known += n;
	}
	if (all != TABLES || known != TABLES)
		return store_damaged(j, e, "its tables are not those of a journal");
	return ERR_OK;
}

enum err_code store_head(struct journal *j, uint64_t *ret_checksum, struct err *e)
{
	int64_t rows = 0, last = 0, checksum = 0;

	TRY(check_tables(j, e));
	TRY(store_number(j, &rows, e, "SELECT count(*) FROM journal"));
	TRY(store_number(j, &j->n_runs, e, "SELECT runs FROM journal"));
	TRY(store_number(j, &last, e, "SELECT max(run) FROM runs"));
	if (rows != 1 || j->n_runs < 0)
		return store_damaged(j, e, "it does not say how many runs it has");
	if (last != j->n_runs)
		return store_damaged(j, e, "it should have %lld runs and the last is %lld", (long long)j->n_runs,
				     (long long)last);
	TRY(store_number(j, &checksum, e, "SELECT checksum FROM checksums WHERE run = %lld", (long long)j->n_runs));
	*ret_checksum = (uint64_t)checksum;
	return ERR_OK;
}

/* ---- opening ---- */

/* Only where the path is a file of this name and nothing else to SQLite. */
static enum err_code check_path(const char *path, enum journal_mode mode, struct err *e)
{
	struct stat st;

	if (!*path)
		return err_fail(e, ERR_INPUT, "the journal needs a name");
	if (stat(path, &st)) {
		if (errno == ENOENT && mode == JOURNAL_WRITE)
			return ERR_OK;
		return err_fail(e, errno == ENOENT ? ERR_NOTFOUND : ERR_IO, "%s: %s", path, strerror(errno));
	}
	if (S_ISDIR(st.st_mode))
		return err_fail(e, ERR_INPUT, "%s: a folder, not a journal", path);
	if (!S_ISREG(st.st_mode))
		return err_fail(e, ERR_INPUT, "%s: not a file, so not a journal", path);
	return ERR_OK;
}

static int open_at(struct journal *j, const char *name, int flags)
{
	int rc;

	sqlite3_close(j->db);
	j->db = NULL;
	rc = sqlite3_open_v2(name, &j->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_busy_timeout(j->db, BUSY_MS);
	sqlite3_db_config(j->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(j->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return sqlite3_exec(j->db, "PRAGMA cell_size_check = 1; SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
}

/* "file:...?immutable=1": on a medium where not even locks can be written, nobody else writes either. */
static int open_immutable(struct journal *j)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
	struct text uri = {0};
	int rc;

	text_add(&uri, "file:");
	for (const char *s = j->path; *s; s++)
		text_printf(&uri, strchr(plain, *s) ? "%c" : "%%%02X", (unsigned char)*s);
	text_add(&uri, "?immutable=1");
	rc = open_at(j, text_str(&uri), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
	text_free(&uri);
	return rc;
}

static bool is_refused(int rc)
{
	int primary = rc & 0xff;

	return primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY || primary == SQLITE_PERM;
}

/*
 * A reader that may write opens it so, because it then leaves nothing behind: the log of a writer that was killed is
 * brought home, and the files beside the journal are removed. What it reads is the same in all three ways.
 */
static int open_to_read(struct journal *j)
{
	int rc = access(j->path, W_OK) ? SQLITE_READONLY : open_at(j, j->path, SQLITE_OPEN_READWRITE);

	if (is_refused(rc))
		rc = open_at(j, j->path, SQLITE_OPEN_READONLY);
	if (is_refused(rc) && !wal_exists(j->path))
		rc = open_immutable(j);
	return rc;
}

static enum err_code begin_reading(struct journal *j, struct err *e)
{
	uint64_t ignored;
	int rc = open_to_read(j);

	if (rc != SQLITE_OK)
		return store_fail(j, rc, e);
	TRY(store_exec(j, "PRAGMA query_only = 1; BEGIN", e));
	TRY(identify(j, e));
	if (j->is_new)
		return err_fail(e, ERR_INPUT, "%s: nothing has been recorded in it", j->path);
	return store_head(j, &ignored, e);
}

/*
 * Nothing goes to the log before a transaction is complete, and what an older one left there is cut off: then frames
 * are written once and in order, and wal_check can tell a log that ends early from one that is broken.
 */
static const char settings[] = "PRAGMA synchronous = FULL; PRAGMA cache_spill = OFF; PRAGMA journal_size_limit = 0";

/* Two who make the same file at once both want it for themselves for a moment, and SQLite does not wait for that. */
static enum err_code use_wal(struct journal *j, struct err *e)
{
	int rc;

	for (int waited = 0; waited < BUSY_MS; waited += RETRY_MS) {
		rc = sqlite3_exec(j->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if ((rc & 0xff) != SQLITE_BUSY)
			break;
		sqlite3_sleep(RETRY_MS);
	}
	return rc == SQLITE_OK ? store_exec(j, settings, e) : store_fail(j, rc, e);
}

static enum err_code begin_writing(struct journal *j, struct err *e)
{
	int rc = open_at(j, j->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);

	if (rc != SQLITE_OK)
		return store_fail(j, rc, e);
	TRY(identify(j, e));
	return use_wal(j, e);
}

enum err_code journal_open(const char *path, enum journal_mode mode, struct journal **ret, struct err *e)
{
	struct journal *j;
	struct text name = {0};
	enum err_code rc;

	TRY(check_path(path, mode, e));
	TRY(wal_check(path, e));
	text_printf(&name, "%s%s", path[0] == ':' ? "./" : "", path); /* ":memory:" is a name like any other */
	j = mem_alloc(sizeof(*j));
	*j = (struct journal){.path = mem_strdup(text_str(&name)), .mode = mode};
	text_free(&name);
	rc = mode == JOURNAL_READ ? begin_reading(j, e) : begin_writing(j, e);
	if (rc) {
		journal_close(j);
		return rc;
	}
	*ret = j;
	return ERR_OK;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	sqlite3_close(j->db);
	mem_free(j->path);
	mem_free(j);
}

int64_t journal_run_count(const struct journal *j)
{
	return j->n_runs;
}

/* ---- writing ---- */

struct statement_row { /* one statement that is filled and run again and again */
	const struct journal *j;
	sqlite3_stmt *s;
	int at;
};

static void put_int(struct statement_row *r, int64_t n)
{
	sqlite3_bind_int64(r->s, ++r->at, n);
}

/* All that is put outlives the row. */
static void put(struct statement_row *r, const char *s)
{
	if (s && *s)
		sqlite3_bind_text64(r->s, ++r->at, s, strlen(s), SQLITE_STATIC, SQLITE_UTF8);
	else
		sqlite3_bind_null(r->s, ++r->at);
}

static enum err_code put_done(struct statement_row *r, struct err *e)
{
	int rc = sqlite3_step(r->s);

	sqlite3_reset(r->s);
	sqlite3_clear_bindings(r->s);
	r->at = 0;
	return rc == SQLITE_DONE ? ERR_OK : store_fail(r->j, rc, e);
}

static enum err_code insert_run(struct statement_row *r, const struct journal_run *run, struct err *e)
{
	struct text now = {0}, hash = {0};
	enum err_code rc;

	timestamp_text(run->now_ns, &now);
	text_printf(&hash, "%016llx", (unsigned long long)run->state_hash);
	put_int(r, run->id);
	put(r, run->source);
	put(r, text_str(&now));
	put_int(r, run->now_ns);
	put(r, run->profile);
	put(r, run->version);
	put_int(r, run->cycles);
	put_int(r, run->reclaim_is_off);
	put_int(r, run->quota_is_on);
	put(r, text_str(&hash));
	put(r, run->state);
	rc = put_done(r, e);
	text_free(&now);
	text_free(&hash);
	return rc;
}

static enum err_code insert_settings(struct statement_row *r, const struct journal_run *run, struct err *e)
{
	for (uint32_t i = 0; i < run->n_settings; i++) {
		put_int(r, run->id);
		put_int(r, i);
		put(r, run->settings[i].file);
		put(r, run->settings[i].document);
		TRY(put_done(r, e));
	}
	return ERR_OK;
}

static enum err_code insert_decisions(struct statement_row *r, const struct journal_run *run, struct err *e)
{
	for (uint32_t i = 0; i < run->n_decisions; i++) {
		const struct journal_decision *d = &run->decisions[i];

		put_int(r, run->id);
		put_int(r, i);
		put_int(r, d->cycle);
		put(r, d->pod);
		put(r, d->group);
		put(r, d->queue);
		put(r, d->outcome);
		put(r, d->action);
		put(r, d->node);
		put(r, d->rule);
		put(r, d->until);
		put(r, d->message);
		put(r, d->json);
		TRY(put_done(r, e));
	}
	return ERR_OK;
}

static enum err_code insert_victim(struct statement_row *r, const int64_t *key, const struct journal_victim *v,
				   struct err *e)
{
	for (int i = 0; i < 3; i++)
		put_int(r, key[i]);
	put(r, v->pod);
	put(r, v->group);
	put(r, v->queue);
	put(r, v->node);
	put(r, v->rule);
	put_int(r, v->lost_seconds);
	put_int(r, v->was_leaving);
	return put_done(r, e);
}

static enum err_code insert_victims(struct statement_row *r, const struct journal_run *run, struct err *e)
{
	for (uint32_t i = 0; i < run->n_decisions; i++)
		for (uint32_t k = 0; k < run->decisions[i].n_victims; k++)
			TRY(insert_victim(r, (const int64_t[]){run->id, i, k}, &run->decisions[i].victims[k], e));
	return ERR_OK;
}

static enum err_code insert_protected_pod(struct statement_row *r, const int64_t *key,
					  const struct journal_protected *p, struct err *e)
{
	for (int i = 0; i < 3; i++)
		put_int(r, key[i]);
	put(r, p->pod);
	put(r, p->group);
	put(r, p->queue);
	put(r, p->node);
	put(r, p->rule);
	put(r, p->reason);
	put(r, p->until);
	return put_done(r, e);
}

static enum err_code insert_protected(struct statement_row *r, const struct journal_run *run, struct err *e)
{
	for (uint32_t i = 0; i < run->n_decisions; i++)
		for (uint32_t k = 0; k < run->decisions[i].n_protected; k++)
			TRY(insert_protected_pod(r, (const int64_t[]){run->id, i, k}, &run->decisions[i].protected[k],
						 e));
	return ERR_OK;
}

static enum err_code insert_all(const struct journal *j, const struct journal_run *run, struct err *e)
{
	static const struct {
		const char *sql;
		enum err_code (*insert)(struct statement_row *r, const struct journal_run *run, struct err *e);
	} tables[] = {
		{"INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?)", insert_run},
		{"INSERT INTO settings VALUES (?,?,?,?)", insert_settings},
		{"INSERT INTO decisions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", insert_decisions},
		{"INSERT INTO victims VALUES (?,?,?,?,?,?,?,?,?,?)", insert_victims},
		{"INSERT INTO protected VALUES (?,?,?,?,?,?,?,?,?,?)", insert_protected},
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct statement_row r = {.j = j};
		enum err_code rc = store_prepare(j, tables[i].sql, &r.s, e);

		if (!rc)
			rc = tables[i].insert(&r, run, e);
		sqlite3_finalize(r.s);
		TRY(rc);
	}
	return ERR_OK;
}

static enum err_code insert_checksum(const struct journal *j, int64_t id, uint64_t before, struct err *e)
{
	struct text sql = {0};
	uint64_t sum;
	enum err_code rc;

	TRY(store_checksum(j, id, before, &sum, e));
	text_printf(&sql, "INSERT INTO checksums VALUES (%lld, %lld); UPDATE journal SET runs = %lld", (long long)id,
		    (long long)(int64_t)sum, (long long)id);
	rc = store_exec(j, text_str(&sql), e);
	text_free(&sql);
	return rc;
}

/* Somebody else may have made the tables since the file was opened. */
static enum err_code prepare_file(struct journal *j, struct err *e)
{
	struct text sql = {0};
	enum err_code rc;

	TRY(identify(j, e));
	if (!j->is_new)
		return ERR_OK;
	text_printf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", STORE_APPLICATION, JOURNAL_VERSION);
	for (int i = 0; i < TABLES; i++)
		text_printf(&sql, "%s;", schema[i]);
	text_add(&sql, "INSERT INTO journal VALUES (1, 0)");
	rc = store_exec(j, text_str(&sql), e);
	text_free(&sql);
	j->is_new = false;
	return rc;
}

static enum err_code write_run(struct journal *j, struct journal_run *run, struct err *e)
{
	uint64_t before;

	TRY(prepare_file(j, e));
	TRY(store_head(j, &before, e));
	run->id = j->n_runs + 1;
	TRY(insert_all(j, run, e));
	TRY(insert_checksum(j, run->id, before, e));
	return store_exec(j, "COMMIT", e);
}

enum err_code journal_append(struct journal *j, struct journal_run *run, struct err *e)
{
	enum err_code rc;

	TRY(store_exec(j, "BEGIN IMMEDIATE", e));
	rc = write_run(j, run, e);
	if (rc) {
		sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
		run->id = 0;
		return rc;
	}
	j->n_runs = run->id;
	return ERR_OK;
}
