/* SPDX-License-Identifier: Apache-2.0 */
/* The checksums of runs, of their rows and of the journal as a whole. */
#include "journal/store.h"
#include "manifest/fields.h"

enum { COLUMN_RUN = 0, COLUMN_NOW_NS = 3 };

/* ---- runs ---- */

/* Of a row of all columns of runs. */
static struct run_key key_of(const struct statement *q)
{
	int last = sqlite3_column_count(q->s) - 1;
	struct run_key key = {.id = sqlite3_column_int64(q->s, COLUMN_RUN),
			      .now_ns = sqlite3_column_int64(q->s, COLUMN_NOW_NS),
			      .sum = (uint64_t)sqlite3_column_int64(q->s, last)};

	for (int i = 0; i < ROW_TABLES; i++) {
		int column = last - 2 * (ROW_TABLES - i);

		key.rows[i].n = sqlite3_column_int64(q->s, column);
		key.rows[i].sum = (uint64_t)sqlite3_column_int64(q->s, column + 1);
	}
	return key;
}

bool store_key_is_good(const struct statement *q, struct run_key *ret)
{
	*ret = key_of(q);
	return row_hash(q, 1) == ret->sum && ret->id > 0;
}

static enum err_code load_keys(struct journal *j, struct statement *q, uint64_t *sum, struct err *e)
{
	while (statement_next(q)) {
		struct run_key key;

		if (!store_key_is_good(q, &key))
			return store_damaged(j, e, "run %lld is not as it was written", (long long)key.id);
		*sum += key.sum;
		array_push(&j->runs, key);
	}
	return statement_done(q, e);
}

enum err_code store_load_runs(struct journal *j, struct err *e)
{
	struct statement q = {0};
	int64_t rows, n, sum;
	uint64_t found = 0;
	enum err_code rc;

	j->runs.n = 0;
	TRY(store_number(j, &rows, e, "SELECT count(*) FROM journal"));
	TRY(store_number(j, &n, e, "SELECT runs FROM journal"));
	TRY(store_number(j, &sum, e, "SELECT sum FROM journal"));
	TRY(statement_open(&q, j, "SELECT * FROM runs ORDER BY run", e));
	rc = load_keys(j, &q, &found, e);
	statement_close(&q);
	TRY(rc);
	if (rows != 1)
		return store_damaged(j, e, "it does not say how many runs it has");
	if (j->runs.n != n)
		return store_damaged(j, e, "it should have %lld runs and has %u", (long long)n, j->runs.n);
	if (found != (uint64_t)sum)
		return store_damaged(j, e, "its runs are not those that were written");
	return ERR_OK;
}

static struct run_key *find_run(const struct journal *j, int64_t id)
{
	uint32_t low = 0, high = j->runs.n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (j->runs.v[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < j->runs.n && j->runs.v[low].id == id ? &j->runs.v[low] : NULL;
}

const struct run_key *store_find_run(const struct journal *j, int64_t id)
{
	return find_run(j, id);
}

static enum err_code add_to_journal(const struct journal *j, int64_t n, uint64_t by, struct err *e)
{
	int64_t sum = 0;

	TRY(store_number(j, &sum, e, "SELECT sum FROM journal"));
	sum = (int64_t)((uint64_t)sum + by);
	return store_execf(j, e, "UPDATE journal SET runs = runs + %lld, sum = %lld", (long long)n, (long long)sum);
}

/* The row as it is now; its sum is what it should be. */
static enum err_code read_key(const struct journal *j, int64_t run, struct run_key *ret, struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	TRY(statement_open(&q, j, "SELECT * FROM runs WHERE run = ?", e));
	bind_int(&q, run);
	if (statement_next(&q)) {
		*ret = key_of(&q);
		ret->sum = row_hash(&q, 1);
		rc = statement_done(&q, e);
	} else {
		rc = store_damaged(j, e, "run %lld is not there", (long long)run);
	}
	statement_close(&q);
	return rc;
}

/* A run that is not known yet is new, and the last. */
enum err_code store_seal_run(struct journal *j, int64_t run, struct err *e)
{
	struct run_key *known = find_run(j, run), key;
	uint64_t before = known ? known->sum : 0;

	TRY(read_key(j, run, &key, e));
	TRY(store_execf(j, e, "UPDATE runs SET sum = %lld WHERE run = %lld", (long long)key.sum, (long long)run));
	if (known)
		*known = key;
	else
		array_push(&j->runs, key);
	return add_to_journal(j, known ? 0 : 1, key.sum - before, e);
}

enum err_code store_drop_run(struct journal *j, int64_t run, struct err *e)
{
	const struct run_key *key = find_run(j, run);
	uint64_t sum = key->sum;

	array_remove(&j->runs, (uint32_t)(key - j->runs.v));
	TRY(store_execf(j, e, "DELETE FROM runs WHERE run = %lld", (long long)run));
	return add_to_journal(j, -1, 0 - sum, e);
}

/* ---- their rows ---- */

static const struct {
	const char *name, *rows, *all_rows, *set;
} row_tables[ROW_TABLES] = {
	[ROWS_EVICTIONS] = {"evictions", "SELECT * FROM evictions WHERE run = ?",
			    "SELECT * FROM evictions ORDER BY run, seq, n",
			    "UPDATE runs SET evictions = ?, evictions_sum = ? WHERE run = ?"},
	[ROWS_DECISIONS] = {"decisions", "SELECT * FROM decisions WHERE run = ?",
			    "SELECT * FROM decisions ORDER BY run, seq",
			    "UPDATE runs SET decisions = ?, decisions_sum = ? WHERE run = ?"},
};

void row_sum_add(struct row_sum *s, const struct statement *q)
{
	s->n++;
	s->sum += row_hash(q, 0);
}

enum err_code store_compare_rows(const struct journal *j, const struct run_key *run, enum row_table table,
				 const struct row_sum *found, struct err *e)
{
	const struct row_sum *said = &run->rows[table];

	if (found->n != said->n)
		return store_damaged(j, e, "run %lld should have %lld %s and has %lld", (long long)run->id,
				     (long long)said->n, row_tables[table].name, (long long)found->n);
	if (found->sum != said->sum)
		return store_damaged(j, e, "the %s of run %lld are not as they were written", row_tables[table].name,
				     (long long)run->id);
	return ERR_OK;
}

enum err_code store_check_rows(const struct journal *j, const struct run_key *run, enum row_table table, struct err *e)
{
	struct row_sum found = {0};
	struct statement q = {0};
	enum err_code rc;

	TRY(statement_open(&q, j, row_tables[table].rows, e));
	bind_int(&q, run->id);
	while (statement_next(&q))
		row_sum_add(&found, &q);
	rc = statement_done(&q, e);
	statement_close(&q);
	return rc ? rc : store_compare_rows(j, run, table, &found, e);
}

/* Runs and rows in step, both by their ids; rows between two runs belong to nobody. */
static enum err_code check_in_step(const struct journal *j, struct statement *q, enum row_table table, struct err *e)
{
	struct row_sum found = {0};
	uint32_t i = 0;

	while (statement_next(q)) {
		int64_t run = sqlite3_column_int64(q->s, COLUMN_RUN);

		for (; i < j->runs.n && j->runs.v[i].id < run; i++, found = (struct row_sum){0})
			TRY(store_compare_rows(j, &j->runs.v[i], table, &found, e));
		if (i == j->runs.n || j->runs.v[i].id != run)
			return store_damaged(j, e, "%s of run %lld, which is not there", row_tables[table].name,
					     (long long)run);
		row_sum_add(&found, q);
	}
	for (; i < j->runs.n; i++, found = (struct row_sum){0})
		TRY(store_compare_rows(j, &j->runs.v[i], table, &found, e));
	return statement_done(q, e);
}

enum err_code store_check_all_rows(const struct journal *j, enum row_table table, struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	TRY(statement_open(&q, j, row_tables[table].all_rows, e));
	rc = check_in_step(j, &q, table, e);
	statement_close(&q);
	return rc;
}

enum err_code store_add_rows(struct journal *j, int64_t run, enum row_table table, struct row_sum by, struct err *e)
{
	struct run_key *key = find_run(j, run);
	struct statement q = {0};
	enum err_code rc;

	key->rows[table].n += by.n;
	key->rows[table].sum += by.sum;
	TRY(statement_open(&q, j, row_tables[table].set, e));
	bind_int(&q, key->rows[table].n);
	bind_int(&q, (int64_t)key->rows[table].sum);
	bind_int(&q, run);
	rc = statement_run(&q, e);
	statement_close(&q);
	return rc;
}
