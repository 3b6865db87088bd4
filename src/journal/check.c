/* SPDX-License-Identifier: Apache-2.0 */
/* Is everything there, as it was written? Reads all of it, and goes on after damage as long as there is something. */
#include <sys/stat.h>

#include "journal/chunks.h"
#include "journal/write.h"
#include "manifest/fields.h"

enum { COMPLAINTS_MAX = 20 };

struct checker {
	struct journal *j;
	struct journal_report *r;
	struct chunks *chunks;
	struct map known; /* chunks that are whole: from their id to their place in sizes */
	ARRAY(struct chunk_size) sizes;
	uint32_t n; /* complaints; the last ones are only counted */
};

/* Errors begin with the path, which whoever reads the report knows. */
static const char *without_path(const struct journal *j, const char *s)
{
	size_t n = strlen(j->path);

	if (!strncmp(s, j->path, n) && s[n] == ':')
		s += n + 2;
	return str_starts(s, "damaged: ") ? s + 9 : s;
}

static bool complain(struct checker *c, enum err_code rc, const struct err *e)
{
	if (rc && c->n++ < COMPLAINTS_MAX)
		text_printf(c->r->complaints, "%s\n", without_path(c->j, e->msg));
	return rc;
}

static enum err_code check_pages(struct checker *c, struct err *e)
{
	struct statement q = {0};
	enum err_code rc = statement_open(&q, c->j, "PRAGMA integrity_check(5)", e);

	while (!rc && statement_next(&q)) {
		const char *s = (const char *)sqlite3_column_text(q.s, 0);

		if (s && !str_eq(s, "ok") && c->n++ < COMPLAINTS_MAX)
			text_printf(c->r->complaints, "%.200s\n", s);
	}
	if (!rc)
		rc = statement_done(&q, e);
	statement_close(&q);
	return rc;
}

/* ---- chunks ---- */

/* Each once, however many runs need it. */
static void check_chunks(struct checker *c)
{
	id_list ids = {0};
	struct err e;

	complain(c, chunks_list(c->chunks, &ids, &e), &e);
	for (uint32_t i = 0; i < ids.n; i++) {
		struct chunk_size size;

		if (complain(c, chunks_check(c->chunks, ids.v[i], &size, &e), &e))
			continue;
		map_put(&c->known, (uint64_t)ids.v[i], c->sizes.n);
		array_push(&c->sizes, size);
	}
	c->r->n_chunks = ids.n;
	array_free(&ids);
}

/* ---- runs ---- */

static enum err_code check_texts(struct checker *c, int64_t id, struct err *e)
{
	struct run_texts texts;
	const struct chunk_ref *refs[] = {&texts.settings, &texts.state, &texts.plan};
	uint64_t n;

	TRY(read_run_texts(c->j, id, &texts, e));
	for (int i = 0; i < 3; i++) {
		TRY(chunks_check_text(c->chunks, *refs[i], &c->known, c->sizes.v, &n, e));
		c->r->text_bytes += (int64_t)n;
	}
	return ERR_OK;
}

/* What can be decoded is read; the state, which is most of it, is a text and only looked at in its chunks. */
static enum err_code check_run(struct checker *c, const struct run_key *key, struct err *e)
{
	struct journal_run run;

	TRY(check_texts(c, key->id, e));
	TRY(journal_read(c->j, key->id, false, &run, e));
	journal_run_free(&run);
	TRY(store_check_rows(c->j, key, ROWS_DECISIONS, e));
	TRY(journal_read_evictions(c->j, key->id, &run, e));
	c->r->n_evictions += run.n_evictions;
	journal_run_free(&run);
	return ERR_OK;
}

static bool complain_of(struct checker *c, const struct run_key *key)
{
	struct err e;
	enum err_code rc = check_run(c, key, &e);

	if (rc && c->n++ < COMPLAINTS_MAX)
		text_printf(c->r->complaints, "run %lld: %s\n", (long long)key->id, without_path(c->j, e.msg));
	return rc;
}

static void check_runs(struct checker *c)
{
	struct err e;

	for (uint32_t i = 0; i < c->j->runs.n; i++)
		c->r->n_damaged += complain_of(c, &c->j->runs.v[i]);
	c->r->n_runs = c->j->runs.n;
	for (int i = 0; i < ROW_TABLES && !c->n; i++) /* rows of no run; what belongs to one has been looked at */
		complain(c, store_check_all_rows(c->j, (enum row_table)i, &e), &e);
}

enum err_code journal_check(struct journal *j, struct journal_report *ret, struct err *e)
{
	struct checker c = {.j = j, .r = ret};
	struct stat st;
	struct err why;

	TRY(store_chunks(j, &c.chunks, e));
	ret->file_bytes = stat(j->real, &st) ? 0 : (int64_t)st.st_size;
	complain(&c, check_pages(&c, &why), &why);
	check_chunks(&c);
	check_runs(&c);
	if (c.n > COMPLAINTS_MAX)
		text_printf(ret->complaints, "and %u more\n", c.n - COMPLAINTS_MAX);
	map_free(&c.known);
	array_free(&c.sizes);
	return ERR_OK;
}
