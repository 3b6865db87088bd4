/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/fd.h"
#include "journal/wal.h"
#include "journal/write.h"
#include "manifest/fields.h"

enum { PAGE = 4096, BETWEEN_MAX = 1 << 20 };

struct salvage {
	const char *from, *to;
	char *copy, *copy_wal; /* beside the new file */
	struct journal *old, *new;
	struct salvage_report *r;
};

/* ---- files ---- */

static char *name_of(const char *path, const char *ending)
{
	struct text t = {0};
	char *s;

	text_printf(&t, "%s%s", path, ending);
	s = mem_strdup(text_str(&t));
	text_free(&t);
	return s;
}

static enum err_code system_error(const char *path, struct err *e)
{
	return err_fail(e, ERR_IO, "%s: %s", path, strerror(errno));
}

static enum err_code copy_bytes(int from, int to, const char *from_name, const char *to_name, struct err *e)
{
	enum { BLOCK = 1 << 16 };
	AUTO_FREE char *block = mem_alloc(BLOCK);
	ssize_t n;

	while ((n = read(from, block, BLOCK)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return system_error(from_name, e);
		if (!fd_write(to, block, (size_t)n))
			return system_error(to_name, e);
	}
	return ERR_OK;
}

/* A log that is not there is none. */
static enum err_code copy_file(const char *from, const char *to, bool may_be_missing, struct err *e)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK), out;
	enum err_code rc;
	struct stat st;

	if (in < 0)
		return may_be_missing && errno == ENOENT ? ERR_OK : system_error(from, e);
	if (fstat(in, &st) || !S_ISREG(st.st_mode)) {
		close(in);
		return err_fail(e, ERR_INPUT, "%s: not a file, so not a journal", from);
	}
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	rc = out < 0 ? system_error(to, e) : copy_bytes(in, out, from, to, e);
	close(in);
	if (out >= 0 && close(out) && !rc)
		rc = system_error(to, e);
	return rc;
}

/* Only what was made here. */
static void remove_copy(struct salvage *s)
{
	AUTO_FREE char *shm = name_of(s->copy, "-shm");

	unlink(s->copy);
	unlink(s->copy_wal);
	unlink(shm);
}

static void put_number(unsigned char *p, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(n >> (24 - 8 * i));
}

/* The first page of a new journal, with the size of the old one and no free pages. */
static enum err_code replace_first_page(struct salvage *s, struct err *e)
{
	enum { PAGES_AT = 28, FREE_AT = 32, FREE_COUNT_AT = 36, CHANGES_AT = 24, VALID_FOR_AT = 92 };
	unsigned char page[PAGE];
	struct stat st;
	int from = open(s->to, O_RDONLY | O_CLOEXEC), to = open(s->copy, O_WRONLY | O_CLOEXEC);
	bool is_fine = from >= 0 && to >= 0 && !fstat(to, &st) && read(from, page, PAGE) == PAGE;

	if (is_fine) {
		put_number(page + PAGES_AT, (uint32_t)(st.st_size / PAGE));
		put_number(page + FREE_AT, 0);
		put_number(page + FREE_COUNT_AT, 0);
		memcpy(page + VALID_FOR_AT, page + CHANGES_AT, 4);
		is_fine = fd_write(to, (char *)page, PAGE);
	}
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return is_fine ? ERR_OK : err_fail(e, ERR_IO, "%s: its first page is broken and cannot be replaced", s->from);
}

/* ---- opening ---- */

static enum err_code open_old(struct salvage *s, struct err *e)
{
	int64_t n;

	TRY(store_open_raw(s->copy, &s->old, e));
	return store_number(s->old, &n, e, "SELECT count(*) FROM runs");
}

/* A broken row of runs is no broken first page. */
static bool has_tables(struct salvage *s)
{
	int64_t n = 0;

	return s->old && !s->old->is_new &&
	       !store_number(s->old, &n, NULL,
			     "SELECT count(*) FROM sqlite_schema WHERE name IN ('runs', 'evictions', "
			     "'decisions', 'chunks')") &&
	       n == 4;
}

static enum err_code open_somehow(struct salvage *s, struct err *e)
{
	struct err why;
	enum err_code rc = open_old(s, &why);

	if (!rc || has_tables(s))
		return ERR_OK;
	journal_close(s->old);
	s->old = NULL;
	if (strstr(why.msg, "a journal of version"))
		return err_fail(e, rc, "%s: %s", s->from, strstr(why.msg, "a journal of version"));
	text_add(s->r->words, "its first page is broken; that of a new journal is taken instead\n");
	TRY(replace_first_page(s, e));
	rc = open_old(s, &why);
	if (!rc || has_tables(s))
		return ERR_OK;
	return err_fail(e, ERR_INPUT, "%s: nothing of it can be read", s->from);
}

/* ---- runs ---- */

static void add_key(struct journal *j, const struct run_key *key)
{
	uint32_t i = j->runs.n;

	while (i && j->runs.v[i - 1].id > key->id)
		i--;
	if (i && j->runs.v[i - 1].id == key->id)
		return;
	array_insert(&j->runs, i, *key);
}

/* True if the end was reached. */
static bool scan_runs(struct salvage *s, const char *sql)
{
	struct statement q = {0};
	bool is_end;

	if (statement_open(&q, s->old, sql, NULL))
		return false;
	while (statement_next(&q)) {
		struct run_key key;

		if (store_key_is_good(&q, &key))
			add_key(s->old, &key);
		else
			s->r->n_lost++;
	}
	is_end = q.rc == SQLITE_DONE;
	statement_close(&q);
	return is_end;
}

/* From both ends as far as it goes, then one by one what lies between. */
static void find_runs(struct salvage *s)
{
	struct journal *j = s->old;
	int64_t first, last;

	if (scan_runs(s, "SELECT * FROM runs ORDER BY run"))
		return;
	first = j->runs.n ? array_last(&j->runs).id : 0;
	if (scan_runs(s, "SELECT * FROM runs ORDER BY run DESC") || !j->runs.n)
		return;
	last = array_last(&j->runs).id;
	for (int64_t id = first + 1; id < last && id - first < BETWEEN_MAX; id++) {
		char *sql = sqlite3_mprintf("SELECT * FROM runs WHERE run = %lld", (long long)id);

		scan_runs(s, sql);
		sqlite3_free(sql);
	}
}

/* ---- saving ---- */

static const char *why_not(const struct salvage *s, const struct err *why)
{
	const char *at = strstr(why->msg, s->copy);

	return at ? at + strlen(s->copy) + 2 : why->msg;
}

static void tell(struct salvage *s, int64_t id, const char *what, const struct err *why)
{
	text_printf(s->r->words, "run %lld: %s: %s\n", (long long)id, what, why_not(s, why));
}

static enum err_code save_rows(struct salvage *s, const struct journal_run *run, struct err *e)
{
	struct row_sum sum = {0};
	struct statement q = {0};
	enum err_code rc = open_insert_eviction(&q, s->new, e);

	for (uint32_t i = 0; i < run->n_evictions && !rc; i++) {
		struct row_id id = {run->id, run->evictions[i].seq, i};

		rc = insert_eviction(&q, &id, &run->evictions[i], &sum, e);
	}
	statement_close(&q);
	return rc ? rc : store_add_rows(s->new, run->id, ROWS_EVICTIONS, sum, e);
}

static enum err_code save_daemon_rows(struct salvage *s, const struct journal_run *run, struct err *e)
{
	struct row_sum sum = {0};
	struct statement q = {0};
	enum err_code rc = open_insert_decision(&q, s->new, e);

	for (uint32_t i = 0; i < run->n_decisions && !rc; i++)
		rc = insert_decision(&q, run->id, i, &run->decisions[i], &sum, e);
	statement_close(&q);
	return rc ? rc : store_add_rows(s->new, run->id, ROWS_DECISIONS, sum, e);
}

/* The row, what there is in tables, and those texts that could be read. */
static enum err_code save_tables(struct salvage *s, const struct journal_run *run, struct err *e)
{
	struct run_texts texts = {0};

	if (run->source != JOURNAL_PLAN)
		TRY(write_texts(s->new, run, &texts, e));
	TRY(write_run_row(s->new, run, &texts, e));
	TRY(save_rows(s, run, e));
	TRY(save_daemon_rows(s, run, e));
	return store_seal_run(s->new, run->id, e);
}

/* A run of which not everything could be read. */
static enum err_code save_part(struct salvage *s, int64_t id, const struct err *why, struct err *e)
{
	struct journal_run run;
	struct err other;
	enum err_code rc;

	if (!journal_read(s->old, id, false, &run, &other)) {
		s->r->n_without_state++;
		tell(s, id, "without its cluster", why);
		rc = run.source == JOURNAL_PLAN ? write_run(s->new, &run, e) : save_tables(s, &run, e);
	} else if (!journal_read_evictions(s->old, id, &run, &other)) {
		s->r->n_evictions_only++;
		tell(s, id, "only its evictions", why);
		rc = save_tables(s, &run, e);
	} else {
		s->r->n_lost++;
		tell(s, id, "lost", why);
		return ERR_OK;
	}
	journal_run_free(&run);
	return rc;
}

static enum err_code save_run(struct salvage *s, int64_t id, struct err *e)
{
	struct journal_run run;
	struct err why;
	enum err_code rc;

	if (journal_read(s->old, id, true, &run, &why))
		return save_part(s, id, &why, e);
	s->r->n_whole++;
	rc = run.source == JOURNAL_PLAN ? write_run(s->new, &run, e) : save_tables(s, &run, e);
	journal_run_free(&run);
	return rc;
}

/* A transaction for each: what was saved stays, and none takes more memory than one run. */
static enum err_code save_runs(struct salvage *s, struct err *e)
{
	for (uint32_t i = 0; i < s->old->runs.n; i++) {
		TRY(store_begin_light(s->new, e));
		TRY(store_end(s->new, save_run(s, s->old->runs.v[i].id, e), e));
	}
	return ERR_OK;
}

/* How many there should have been, if that can still be read: those that left no trace are lost, too. */
static void count_lost(struct salvage *s)
{
	int64_t n = 0, found = s->old->runs.n + s->r->n_lost;

	if (!store_number(s->old, &n, NULL, "SELECT runs FROM journal") && n > found && n - found < BETWEEN_MAX)
		s->r->n_lost += (uint32_t)(n - found);
}

/* ---- all of it ---- */

static enum err_code make_new(struct salvage *s, struct err *e)
{
	struct stat st;

	if (!lstat(s->to, &st))
		return err_fail(e, ERR_CONFLICT, "%s: it is there already; a new file is needed", s->to);
	TRY(journal_open(s->to, JOURNAL_WRITE, &s->new, e));
	TRY(store_begin(s->new, e));
	return store_end(s->new, ERR_OK, e);
}

/* So that its first page is in the file and not only in the log. */
static enum err_code settle_new(struct salvage *s, struct err *e)
{
	return store_exec(s->new, "PRAGMA wal_checkpoint(TRUNCATE)", e);
}

/* SQLite reads a log up to the first place that is broken, and that is what can be saved of it. */
static void look_at_log(struct salvage *s)
{
	struct err why;

	if (wal_check(s->copy, s->from, &why))
		text_add(s->r->words, "its log is broken; runs that were written behind that place are lost\n");
}

static enum err_code salvage(struct salvage *s, struct err *e)
{
	AUTO_FREE char *wal = name_of(s->from, "-wal");

	TRY(make_new(s, e));
	TRY(settle_new(s, e));
	TRY(copy_file(s->from, s->copy, false, e));
	TRY(copy_file(wal, s->copy_wal, true, e));
	look_at_log(s);
	TRY(open_somehow(s, e));
	find_runs(s);
	count_lost(s);
	if (!s->old->runs.n)
		return err_fail(e, ERR_INPUT, "%s: no run of it can be read", s->from);
	return save_runs(s, e);
}

enum err_code journal_salvage(const char *from, const char *to, struct salvage_report *ret, struct err *e)
{
	AUTO_FREE char *real = store_real_name(from);
	struct salvage s = {.from = real, .to = to, .r = ret, .copy = name_of(to, ".old")};
	enum err_code rc;

	s.copy_wal = name_of(s.copy, "-wal");
	rc = access(s.copy, F_OK) == 0 ? err_fail(e, ERR_CONFLICT, "%s: it is there already", s.copy) : salvage(&s, e);
	journal_close(s.old);
	journal_close(s.new);
	if (access(real, F_OK) == 0 || s.old)
		remove_copy(&s);
	if (rc && s.new)
		unlink(to);
	mem_free(s.copy);
	mem_free(s.copy_wal);
	return rc;
}
