/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening. Nothing is changed in a file before it is known to be a journal or to be empty, and the tables are made in
 * the transaction of the first run: there never is a journal that is half made.
 */
#include "journal/store.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "journal/chunks.h"
#include "journal/statement.h"
#include "journal/wal.h"
#include "manifest/fields.h"

enum { BUSY_MS = 10000, RETRY_MS = 20 };

/* As SQLite keeps them: a journal whose tables are written otherwise is damaged, or somebody else has made it. */
static const char *const schema[] = {
	"CREATE TABLE journal (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), runs INTEGER NOT NULL,"
	" sum INTEGER NOT NULL, removed INTEGER NOT NULL) STRICT",
	"CREATE TABLE runs (run INTEGER PRIMARY KEY, source TEXT NOT NULL, now TEXT NOT NULL, now_ns INTEGER NOT NULL,"
	" end_ns INTEGER NOT NULL, profile TEXT NOT NULL, version TEXT NOT NULL, cycles INTEGER NOT NULL,"
	" reclaim_is_off INTEGER NOT NULL, quota_is_on INTEGER NOT NULL, lost INTEGER NOT NULL,"
	" settings INTEGER NOT NULL, settings_hash INTEGER NOT NULL, state INTEGER NOT NULL,"
	" state_hash INTEGER NOT NULL, plan INTEGER NOT NULL, plan_hash INTEGER NOT NULL,"
	" evictions INTEGER NOT NULL, evictions_sum INTEGER NOT NULL, decisions INTEGER NOT NULL,"
	" decisions_sum INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT",
	"CREATE TABLE evictions (run INTEGER NOT NULL, seq INTEGER NOT NULL, n INTEGER NOT NULL,"
	" at_ns INTEGER NOT NULL, cycle INTEGER NOT NULL, pod TEXT NOT NULL, uid TEXT, \"group\" TEXT, queue TEXT,"
	" node TEXT, workload TEXT, rule TEXT, lost_seconds INTEGER NOT NULL, action TEXT, for_pod TEXT, for_group "
	"TEXT,"
	" for_queue TEXT, for_node TEXT, state TEXT NOT NULL, state_ns INTEGER, reason TEXT, is_open INTEGER NOT NULL,"
	" PRIMARY KEY (run, seq, n)) STRICT, WITHOUT ROWID",
	"CREATE TABLE decisions (run INTEGER NOT NULL, seq INTEGER NOT NULL, at_ns INTEGER NOT NULL,"
	" cycle INTEGER NOT NULL, pod TEXT, uid TEXT, \"group\" TEXT, queue TEXT, outcome TEXT NOT NULL, action TEXT,"
	" node TEXT, rule TEXT, until TEXT, message TEXT, json TEXT NOT NULL, state TEXT NOT NULL, state_ns INTEGER,"
	" reason TEXT, is_open INTEGER NOT NULL, PRIMARY KEY (run, seq)) STRICT, WITHOUT ROWID",
	"CREATE TABLE chunks (chunk INTEGER PRIMARY KEY, hash INTEGER NOT NULL, base INTEGER NOT NULL,"
	" data BLOB NOT NULL) STRICT",
	"CREATE INDEX chunks_by_hash ON chunks (hash)",
	"CREATE INDEX open_evictions ON evictions (uid) WHERE is_open = 1",
	"CREATE INDEX open_decisions ON decisions (uid) WHERE is_open = 1",
};
enum { OBJECTS = sizeof(schema) / sizeof(*schema) };

/* ---- errors ---- */

static const char *after_words(const struct journal *j)
{
	return j->mode == JOURNAL_WRITE ? "; nothing was recorded" : "";
}

void store_set_damaged(const struct journal *j, struct err *e, const char *fmt, ...)
{
	struct text words = {0};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&words, fmt, ap);
	va_end(ap);
	err_set(e, ERR_INPUT, "%s: damaged: %s%s", j->path, text_str(&words), after_words(j));
	text_free(&words);
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

enum err_code store_execf(const struct journal *j, struct err *e, const char *fmt, ...)
{
	enum err_code rc;
	va_list ap;
	char *sql;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	rc = store_exec(j, sql, e);
	sqlite3_free(sql);
	return rc;
}

enum err_code store_number(const struct journal *j, int64_t *ret, struct err *e, const char *fmt, ...)
{
	struct statement q = {0};
	enum err_code rc;
	va_list ap;
	char *sql;

	va_start(ap, fmt);
	sql = sqlite3_vmprintf(fmt, ap);
	va_end(ap);
	rc = statement_open(&q, j, sql, e);
	sqlite3_free(sql);
	*ret = 0;
	if (!rc && statement_next(&q))
		*ret = column_int(&q);
	if (!rc)
		rc = statement_done(&q, e);
	statement_close(&q);
	return rc;
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
	if (!j->is_new && version == 1)
		return err_fail(e, ERR_INPUT,
				"%s: a journal of version 1, as cede wrote it until it kept each state once; this "
				"cede knows version %d: record into a new file%s",
				j->path, JOURNAL_VERSION, after_words(j));
	if (!j->is_new && version != JOURNAL_VERSION)
		return err_fail(e, ERR_INPUT, "%s: a journal of version %lld; this cede knows version %d%s", j->path,
				(long long)version, JOURNAL_VERSION, after_words(j));
	return ERR_OK;
}

static enum err_code check_tables(const struct journal *j, struct err *e)
{
	int64_t all = 0, known = 0;

	TRY(store_number(j, &all, e, "SELECT count(*) FROM sqlite_schema"));
	for (int i = 0; i < OBJECTS; i++) {
		int64_t n = 0;

		TRY(store_number(j, &n, e, "SELECT count(*) FROM sqlite_schema WHERE sql = %Q", schema[i]));
		known += n;
	}
	if (all != OBJECTS || known != OBJECTS)
		return store_damaged(j, e, "its tables are not those of a journal");
	return ERR_OK;
}

/* ---- opening ---- */

/* What stands at the path: a file that somebody else makes between two looks is there after all. */
static int look_at(const char *path, struct stat *st, bool *dangles)
{
	struct stat link;

	*dangles = false;
	if (!stat(path, st))
		return 0;
	if (errno != ENOENT)
		return errno;
	if (lstat(path, &link))
		return errno;
	if (!stat(path, st))
		return 0;
	*dangles = errno == ENOENT && S_ISLNK(link.st_mode);
	return errno;
}

/*
 * Only where the path is a file. One that has several names would have a log beside each of them, and what was written
 * under one name would be missing under another.
 */
static enum err_code check_path(const char *path, enum journal_mode mode, struct err *e)
{
	struct stat st;
	bool dangles;
	int error;

	if (!*path)
		return err_fail(e, ERR_INPUT, "the journal needs a name");
	error = look_at(path, &st, &dangles);
	if (dangles)
		return err_fail(e, ERR_NOTFOUND, "%s: a link to a file that is not there", path);
	if (error == ENOENT && mode == JOURNAL_WRITE)
		return ERR_OK;
	if (error)
		return err_fail(e, error == ENOENT ? ERR_NOTFOUND : ERR_IO, "%s: %s", path, strerror(error));
	if (S_ISDIR(st.st_mode))
		return err_fail(e, ERR_INPUT, "%s: a folder, not a journal", path);
	if (!S_ISREG(st.st_mode))
		return err_fail(e, ERR_INPUT, "%s: not a file, so not a journal", path);
	if (mode == JOURNAL_WRITE && st.st_nlink > 1)
		return err_fail(e, ERR_INPUT,
				"%s: it has %llu names (hard links), and its log only one; nothing was recorded", path,
				(unsigned long long)st.st_nlink);
	return ERR_OK;
}

/*
 * The file itself, not a link to it: the log stands beside the file. And a name that begins with a slash or a dot,
 * because "file:x?mode=memory" and ":memory:" mean something to SQLite otherwise.
 */
char *store_real_name(const char *path)
{
	char real[PATH_MAX];
	struct text t = {0};
	char *s;

	if (realpath(path, real))
		return mem_strdup(real);
	text_printf(&t, "%s%s", path[0] == '/' ? "" : "./", path);
	s = mem_strdup(text_str(&t));
	text_free(&t);
	return s;
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
	for (const char *s = j->real; *s; s++)
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
	int rc = access(j->real, W_OK) ? SQLITE_READONLY : open_at(j, j->real, SQLITE_OPEN_READWRITE);

	if (is_refused(rc))
		rc = open_at(j, j->real, SQLITE_OPEN_READONLY);
	if (is_refused(rc) && !wal_exists(j->real))
		rc = open_immutable(j);
	return rc;
}

static enum err_code begin_reading(struct journal *j, struct err *e)
{
	int rc = open_to_read(j);

	if (rc != SQLITE_OK)
		return store_fail(j, rc, e);
	TRY(store_exec(j, "PRAGMA query_only = 1; BEGIN", e));
	TRY(identify(j, e));
	if (j->is_new)
		return err_fail(e, ERR_INPUT, "%s: nothing has been recorded in it", j->path);
	TRY(check_tables(j, e));
	return store_load_runs(j, e);
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

	/* These two count only for a file that is made now. */
	TRY(store_exec(j, "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL", e));
	for (int waited = 0; waited < BUSY_MS; waited += RETRY_MS) {
		rc = sqlite3_exec(j->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
		if ((rc & 0xff) != SQLITE_BUSY)
			break;
		sqlite3_sleep(RETRY_MS);
	}
	return rc == SQLITE_OK ? store_exec(j, settings, e) : store_fail(j, rc, e);
}

/* In one look: somebody else may make the tables meanwhile. */
static enum err_code identify_at_once(struct journal *j, struct err *e)
{
	enum err_code rc;

	TRY(store_exec(j, "BEGIN", e));
	rc = identify(j, e);
	sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static enum err_code begin_writing(struct journal *j, struct err *e)
{
	int rc = open_at(j, j->real, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);

	if (rc != SQLITE_OK)
		return store_fail(j, rc, e);
	TRY(identify_at_once(j, e));
	return use_wal(j, e);
}

static struct journal *journal_new(const char *path, enum journal_mode mode)
{
	struct journal *j = mem_alloc(sizeof(*j));

	*j = (struct journal){.path = mem_strdup(path), .real = store_real_name(path), .mode = mode};
	return j;
}

enum err_code journal_open(const char *path, enum journal_mode mode, struct journal **ret, struct err *e)
{
	struct journal *j;
	enum err_code rc;

	TRY(check_path(path, mode, e));
	j = journal_new(path, mode);
	rc = wal_check(j->real, path, e);
	if (!rc)
		rc = mode == JOURNAL_READ ? begin_reading(j, e) : begin_writing(j, e);
	if (rc)
		journal_close(j);
	else
		*ret = j;
	return rc;
}

enum err_code store_open_raw(const char *path, struct journal **ret, struct err *e)
{
	struct journal *j = journal_new(path, JOURNAL_READ);
	int rc = open_at(j, j->real, SQLITE_OPEN_READWRITE);
	enum err_code code;

	code = rc == SQLITE_OK ? identify(j, e) : store_fail(j, rc, e);
	if (code)
		journal_close(j);
	else
		*ret = j;
	return code;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	chunks_close(j->chunks);
	sqlite3_close(j->db);
	array_free(&j->runs);
	mem_free(j->path);
	mem_free(j->real);
	mem_free(j);
}

enum err_code store_chunks(struct journal *j, struct chunks **ret, struct err *e)
{
	if (!j->chunks)
		TRY(chunks_open(j, &j->chunks, e));
	*ret = j->chunks;
	return ERR_OK;
}

/* ---- transactions ---- */

/* Somebody else may have made the tables since the file was opened. */
static enum err_code prepare_file(struct journal *j, struct err *e)
{
	struct text sql = {0};
	enum err_code rc;

	TRY(identify(j, e));
	if (!j->is_new)
		return ERR_OK;
	text_printf(&sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", STORE_APPLICATION, JOURNAL_VERSION);
	for (int i = 0; i < OBJECTS; i++)
		text_printf(&sql, "%s;", schema[i]);
	text_add(&sql, "INSERT INTO journal VALUES (1, 0, 0, 0)");
	rc = store_exec(j, text_str(&sql), e);
	text_free(&sql);
	j->is_new = false;
	return rc;
}

static enum err_code begin(struct journal *j, struct err *e)
{
	TRY(prepare_file(j, e));
	TRY(check_tables(j, e));
	TRY(store_load_runs(j, e));
	for (int i = 0; i < ROW_TABLES; i++)
		TRY(store_check_all_rows(j, (enum row_table)i, e));
	return ERR_OK;
}

/* What is remembered of chunks was true before; others may have written since. */
static void forget_chunks(struct journal *j)
{
	chunks_close(j->chunks);
	j->chunks = NULL;
}

enum err_code store_begin(struct journal *j, struct err *e)
{
	enum err_code rc;

	forget_chunks(j);
	TRY(store_exec(j, "BEGIN IMMEDIATE", e));
	rc = begin(j, e);
	return rc ? store_end(j, rc, e) : ERR_OK;
}

static enum err_code begin_light(struct journal *j, struct err *e)
{
	int64_t version;

	TRY(store_number(j, &version, e, "PRAGMA data_version"));
	if (version == j->data_version)
		return ERR_OK;
	forget_chunks(j);
	TRY(prepare_file(j, e));
	TRY(check_tables(j, e));
	TRY(store_load_runs(j, e));
	j->data_version = version;
	return ERR_OK;
}

enum err_code store_begin_light(struct journal *j, struct err *e)
{
	enum err_code rc;

	TRY(store_exec(j, "BEGIN IMMEDIATE", e));
	rc = begin_light(j, e);
	return rc ? store_end(j, rc, e) : ERR_OK;
}

enum err_code store_end(struct journal *j, enum err_code rc, struct err *e)
{
	if (!rc)
		rc = store_exec(j, "COMMIT", e);
	if (!rc)
		return ERR_OK;
	forget_chunks(j);
	j->data_version = -1; /* what was read or added meanwhile is not so */
	sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}
