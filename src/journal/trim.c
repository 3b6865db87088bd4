/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is too old, or too much, goes: the oldest runs, then the chunks that no run needs any more, and then the pages
 * that are free, so that the file gets smaller.
 *
 * Which chunks are needed is found by reading the lists of all runs that stay. So that this does not happen with every
 * run that is written, chunks are looked for only once a sixteenth of the runs has gone since the last time; until then
 * they stay. If the file is to have a size, it is made a sixteenth smaller than that. Whoever writes all the time asks
 * with every run: where nothing has to go, nothing is read.
 */
#include "base/clock.h"
#include "journal/chunks.h"
#include "journal/write.h"
#include "manifest/fields.h"
#include "units/duration.h"
#include "units/quantity.h"

enum { SHARE = 16, VACUUM_PAGES = 20000 };

/* ---- what is asked for ---- */

static enum err_code parse_bytes(const char *s, size_t n, int64_t *ret, struct err *e)
{
	struct quantity q;

	TRY(quantity_parse(s, n - 1, &q, e));
	*ret = quantity_value(&q);
	return *ret > 0 ? ERR_OK : ERR_INPUT;
}

static enum err_code parse_word(const char *s, size_t n, struct journal_keep *ret, struct err *e)
{
	if (n > 1 && s[n - 1] == 'B' && !ret->bytes)
		return parse_bytes(s, n, &ret->bytes, e);
	if (ret->age_ns)
		return ERR_INPUT;
	TRY(duration_parse(s, n, true, &ret->age_ns, e));
	return ret->age_ns > 0 ? ERR_OK : ERR_INPUT;
}

enum err_code journal_keep_parse(const char *s, struct journal_keep *ret, struct err *e)
{
	const char *comma = strchr(s, ',');
	struct journal_keep keep = {0};
	struct err ignored;
	enum err_code rc = parse_word(s, comma ? (size_t)(comma - s) : strlen(s), &keep, &ignored);

	if (!rc && comma)
		rc = parse_word(comma + 1, strlen(comma + 1), &keep, &ignored);
	if (rc)
		return err_fail(e, ERR_INPUT,
				"expected an age such as 30d, a size such as 2GiB, or 30d,2GiB, found '%s'", s);
	*ret = keep;
	return ERR_OK;
}

/* ---- removing ---- */

static enum err_code remove_first(struct journal *j, uint32_t n, struct err *e)
{
	for (uint32_t i = 0; i < n; i++) {
		long long run = j->runs.v[0].id;

		TRY(store_execf(j, e, "DELETE FROM evictions WHERE run = %lld", run));
		TRY(store_execf(j, e, "DELETE FROM decisions WHERE run = %lld", run));
		TRY(store_drop_run(j, run, e));
	}
	return store_execf(j, e, "UPDATE journal SET removed = removed + %u", n);
}

static enum err_code mark_run(struct chunks *c, struct statement *q, struct map *used, struct err *e)
{
	for (int i = 0; i < 3; i++) {
		struct chunk_ref ref = {.id = column_int(q)};

		ref.hash = (uint64_t)column_int(q);
		TRY(chunks_mark(c, ref, used, e));
	}
	return ERR_OK;
}

static enum err_code mark_all(struct journal *j, struct chunks *c, struct map *used, struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	TRY(statement_open(&q, j, "SELECT settings, settings_hash, state, state_hash, plan, plan_hash FROM runs", e));
	rc = ERR_OK;
	while (!rc && statement_next(&q))
		rc = mark_run(c, &q, used, e);
	if (!rc)
		rc = statement_done(&q, e);
	statement_close(&q);
	return rc;
}

static enum err_code sweep(struct journal *j, struct err *e)
{
	struct map used = {0};
	struct chunks *c;
	enum err_code rc;

	TRY(store_chunks(j, &c, e));
	rc = mark_all(j, c, &used, e);
	if (!rc)
		rc = chunks_sweep(c, &used, e);
	map_free(&used);
	return rc ? rc : store_exec(j, "UPDATE journal SET removed = 0", e);
}

/* ---- how much ---- */

/* Runs are in the order they were written; one that is younger than one behind it stays with those. */
static uint32_t count_old(const struct journal *j, int64_t age_ns, int64_t now_ns)
{
	int64_t before = time_since(now_ns, age_ns);
	uint32_t n = 0;

	while (age_ns && n + 1 < j->runs.n && j->runs.v[n].now_ns < before)
		n++;
	return n;
}

static enum err_code used_bytes(const struct journal *j, int64_t *ret, struct err *e)
{
	int64_t pages, free_pages, size;

	TRY(store_number(j, &pages, e, "PRAGMA page_count"));
	TRY(store_number(j, &free_pages, e, "PRAGMA freelist_count"));
	TRY(store_number(j, &size, e, "PRAGMA page_size"));
	*ret = (pages - free_pages) * size;
	return ERR_OK;
}

static enum err_code trim_age(struct journal *j, int64_t age_ns, int64_t now_ns, struct err *e)
{
	uint32_t n = count_old(j, age_ns, now_ns);
	int64_t removed;

	if (n)
		TRY(remove_first(j, n, e));
	TRY(store_number(j, &removed, e, "SELECT removed FROM journal"));
	return removed > 0 && removed >= j->runs.n / SHARE ? sweep(j, e) : ERR_OK;
}

static enum err_code trim_bytes(struct journal *j, int64_t max, struct err *e)
{
	int64_t used, goal = max - max / SHARE;

	TRY(used_bytes(j, &used, e));
	if (!max || used <= max)
		return ERR_OK;
	TRY(sweep(j, e));
	TRY(used_bytes(j, &used, e));
	while (used > goal && j->runs.n > 1) {
		uint32_t n = j->runs.n / SHARE;

		TRY(remove_first(j, n ? n : 1, e));
		TRY(sweep(j, e));
		TRY(used_bytes(j, &used, e));
	}
	return ERR_OK;
}

/* In portions: all that is moved is in memory until it is committed. */
static enum err_code vacuum(struct journal *j, struct err *e)
{
	int64_t n, before = INT64_MAX;

	TRY(store_number(j, &n, e, "PRAGMA freelist_count"));
	for (; n && n < before; before = n) {
		TRY(store_execf(j, e, "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES));
		TRY(store_number(j, &n, e, "PRAGMA freelist_count"));
	}
	return ERR_OK;
}

static enum err_code trim(struct journal *j, const struct journal_keep *keep, int64_t now_ns, struct err *e)
{
	TRY(trim_age(j, keep->age_ns, now_ns, e));
	return trim_bytes(j, keep->bytes, e);
}

/* As far as is known without reading the file: one that was only opened is looked at. */
static bool is_needed(const struct journal *j, const struct journal_keep *keep, int64_t now_ns)
{
	int64_t used = INT64_MAX;
	struct err ignored;

	if (!j->runs.n || count_old(j, keep->age_ns, now_ns))
		return true;
	return keep->bytes && (used_bytes(j, &used, &ignored) || used > keep->bytes);
}

enum err_code journal_trim(struct journal *j, const struct journal_keep *keep, int64_t now_ns, struct err *e)
{
	enum err_code rc;

	if ((!keep->age_ns && !keep->bytes) || !is_needed(j, keep, now_ns))
		return ERR_OK;
	rc = store_begin(j, e);
	if (!rc)
		rc = store_end(j, trim(j, keep, now_ns, e), e);
	return rc ? rc : vacuum(j, e);
}
