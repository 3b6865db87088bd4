/* SPDX-License-Identifier: Apache-2.0 */
/* Reading runs back. */
#include "base/clock.h"
#include "journal/coding.h"
#include "journal/write.h"
#include "manifest/fields.h"

/* ---- the row of a run ---- */

static enum err_code unlike(const struct journal *j, int64_t run, const char *what, struct err *e)
{
	return store_damaged(j, e, "run %lld: %s", (long long)run, what);
}

static struct chunk_ref column_ref(struct statement *q)
{
	int64_t id = column_int(q);

	return (struct chunk_ref){id, (uint64_t)column_int(q)};
}

static enum err_code take_row(struct statement *q, struct journal_run *run, struct run_texts *texts, struct err *e)
{
	struct arena *a = run->arena;
	int64_t cycles;

	if (!journal_source_parse(column_str(q, a), &run->source))
		return unlike(q->j, run->id, "nobody is known who decides like that", e);
	run->now_ns = column_int(q);
	run->end_ns = column_int(q);
	run->profile = column_str(q, a);
	run->version = column_str(q, a);
	cycles = column_int(q);
	if (cycles < 1 || cycles > JOURNAL_CYCLES_MAX)
		return store_damaged(q->j, e, "run %lld: expected 1 to %d cycles, found %lld", (long long)run->id,
				     JOURNAL_CYCLES_MAX, (long long)cycles);
	run->cycles = (uint32_t)cycles;
	run->reclaim_is_off = column_int(q);
	run->quota_is_on = column_int(q);
	run->n_lost = (uint32_t)column_int(q);
	texts->settings = column_ref(q);
	texts->state = column_ref(q);
	texts->plan = column_ref(q);
	run->has_state = texts->state.id != 0;
	return ERR_OK;
}

static enum err_code read_row(struct journal *j, struct journal_run *run, struct run_texts *texts, struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	TRY(statement_open(&q, j,
			   "SELECT source, now_ns, end_ns, profile, version, cycles, reclaim_is_off, quota_is_on, lost,"
			   " settings, settings_hash, state, state_hash, plan, plan_hash FROM runs WHERE run = ?",
			   e));
	bind_int(&q, run->id);
	rc = statement_next(&q) ? take_row(&q, run, texts, e) : unlike(j, run->id, "it is not there", e);
	statement_close(&q);
	return rc;
}

static enum err_code no_run(const struct journal *j, int64_t id, struct err *e)
{
	uint32_t n = j->runs.n;

	if (!n)
		return err_fail(e, ERR_NOTFOUND, "%s: there is no run %lld; it has none", j->path, (long long)id);
	if (n == 1)
		return err_fail(e, ERR_NOTFOUND, "%s: there is no run %lld; it has run %lld", j->path, (long long)id,
				(long long)j->runs.v[0].id);
	return err_fail(e, ERR_NOTFOUND, "%s: there is no run %lld; it has %u, from %lld to %lld", j->path,
			(long long)id, n, (long long)j->runs.v[0].id, (long long)array_last(&j->runs).id);
}

static enum err_code begin_run(struct journal *j, int64_t id, struct journal_run *run, struct run_texts *texts,
			       struct err *e)
{
	const struct run_key *key = store_find_run(j, id);

	if (!key)
		return no_run(j, id, e);
	*run = (struct journal_run){.id = id, .arena = arena_new(1 << 16)};
	return read_row(j, run, texts, e);
}

/* The run goes if something was wrong with it. */
static enum err_code end_run(struct journal_run *run, enum err_code rc, struct journal_run *ret)
{
	if (rc)
		journal_run_free(run);
	else
		*ret = *run;
	return rc;
}

enum err_code read_run_texts(struct journal *j, int64_t id, struct run_texts *ret, struct err *e)
{
	struct journal_run run = {0};
	enum err_code rc = begin_run(j, id, &run, ret, e);

	journal_run_free(&run);
	return rc;
}

/* ---- evictions ---- */

static int64_t column_time(struct statement *q)
{
	bool is_null = sqlite3_column_type(q->s, q->at) == SQLITE_NULL;
	int64_t ns = column_int(q);

	return is_null ? TIME_NONE : ns;
}

static enum err_code take_eviction(struct statement *q, struct journal_run *run, struct journal_eviction *x,
				   struct err *e)
{
	struct arena *a = run->arena;
	struct journal_victim *v = &x->victim;

	q->at = 1;
	x->seq = (uint32_t)column_int(q);
	q->at = 3; /* after the key */
	x->at_ns = column_int(q);
	x->cycle = (uint32_t)column_int(q);
	v->pod = column_str(q, a);
	v->uid = column_str(q, a);
	v->group = column_str(q, a);
	v->queue = column_str(q, a);
	v->node = column_str(q, a);
	v->workload = column_str(q, a);
	v->rule = column_str(q, a);
	v->lost_seconds = column_int(q);
	x->action = column_str(q, a);
	x->for_pod = column_str(q, a);
	x->for_group = column_str(q, a);
	x->for_queue = column_str(q, a);
	x->for_node = column_str(q, a);
	if (!journal_state_parse(column_str(q, a), &x->state))
		return unlike(q->j, run->id, "an eviction is in a state that is not known", e);
	x->state_ns = column_time(q);
	x->reason = column_str(q, a);
	return ERR_OK;
}

static enum err_code take_evictions(struct statement *q, const struct run_key *key, struct journal_run *run,
				    struct err *e)
{
	ARRAY(struct journal_eviction) list = {0};
	struct row_sum found = {0};
	enum err_code rc = ERR_OK;

	bind_int(q, run->id);
	while (!rc && statement_next(q)) {
		struct journal_eviction x = {0};

		rc = take_eviction(q, run, &x, e);
		row_sum_add(&found, q);
		array_push(&list, x);
	}
	if (!rc)
		rc = statement_done(q, e);
	if (!rc)
		rc = store_compare_rows(q->j, key, ROWS_EVICTIONS, &found, e);
	run->n_evictions = list.n;
	run->evictions = arena_n(run->arena, list.n + 1, struct journal_eviction);
	if (list.n)
		memcpy(run->evictions, list.v, list.n * sizeof(*list.v));
	array_free(&list);
	return rc;
}

static enum err_code read_evictions(struct journal *j, struct journal_run *run, struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	TRY(statement_open(&q, j, "SELECT * FROM evictions WHERE run = ? ORDER BY seq, n", e));
	rc = take_evictions(&q, store_find_run(j, run->id), run, e);
	statement_close(&q);
	return rc;
}

enum err_code journal_read_evictions(struct journal *j, int64_t id, struct journal_run *ret, struct err *e)
{
	struct journal_run run = {0};
	struct run_texts texts = {0};
	enum err_code rc = begin_run(j, id, &run, &texts, e);

	if (!rc)
		rc = read_evictions(j, &run, e);
	return end_run(&run, rc, ret);
}

/* ---- texts ---- */

static enum err_code read_plan(struct journal *j, const struct run_texts *texts, struct journal_run *run, struct err *e)
{
	struct chunks *chunks;
	const char *s;
	size_t n;

	TRY(store_chunks(j, &chunks, e));
	TRY(chunks_read(chunks, texts->plan, run->arena, &s, &n, e));
	if (texts->plan.id && !decode_decisions(s, n, run))
		return unlike(j, run->id, "its decisions cannot be read", e);
	return ERR_OK;
}

static enum err_code read_state(struct journal *j, const struct run_texts *texts, struct journal_run *run,
				struct err *e)
{
	struct chunks *chunks;
	const char *s;
	size_t n;

	TRY(store_chunks(j, &chunks, e));
	TRY(chunks_read(chunks, texts->settings, run->arena, &s, &n, e));
	if (texts->settings.id && !decode_settings(s, n, run))
		return unlike(j, run->id, "its settings cannot be read", e);
	if (!texts->state.id)
		return ERR_OK;
	TRY(chunks_read(chunks, texts->state, run->arena, &run->state, &n, e));
	if (strlen(run->state) != n)
		return unlike(j, run->id, "its cluster is no text", e);
	if (run->source == JOURNAL_PLAN)
		return ERR_OK;
	TRY(chunks_read(chunks, texts->plan, run->arena, &run->gone, &n, e));
	return strlen(run->gone) == n ? ERR_OK : unlike(j, run->id, "who was gone is no text", e);
}

/* ---- decisions of a daemon ---- */

static enum err_code take_decision(struct statement *q, struct journal_run *run, struct journal_decision *d,
				   struct err *e)
{
	struct arena *a = run->arena;

	q->at = 2; /* after the key */
	d->at_ns = column_int(q);
	d->cycle = (uint32_t)column_int(q);
	d->pod = column_str(q, a);
	d->uid = column_str(q, a);
	d->group = column_str(q, a);
	d->queue = column_str(q, a);
	d->outcome = column_str(q, a);
	d->action = column_str(q, a);
	d->node = column_str(q, a);
	d->rule = column_str(q, a);
	d->until = column_str(q, a);
	d->message = column_str(q, a);
	d->json = column_str(q, a);
	if (!journal_state_parse(column_str(q, a), &d->state))
		return unlike(q->j, run->id, "a decision is in a state that is not known", e);
	d->state_ns = column_time(q);
	d->reason = column_str(q, a);
	return ERR_OK;
}

static enum err_code take_decisions(struct statement *q, struct journal_run *run, struct err *e)
{
	const struct run_key *key = store_find_run(q->j, run->id);
	struct row_sum found = {0};

	bind_int(q, run->id);
	while (statement_next(q) && found.n < key->rows[ROWS_DECISIONS].n) {
		struct journal_decision *d = &run->decisions[found.n];

		TRY(take_decision(q, run, d, e));
		row_sum_add(&found, q);
	}
	run->n_decisions = (uint32_t)found.n;
	TRY(statement_done(q, e));
	return store_compare_rows(q->j, key, ROWS_DECISIONS, &found, e);
}

/* Both are in the order of the decisions. */
static void attach_victims(struct journal_run *run)
{
	struct journal_victim *v = arena_n(run->arena, run->n_evictions + 1, struct journal_victim);
	uint32_t i = 0;

	for (uint32_t k = 0; k < run->n_evictions; k++)
		v[k] = run->evictions[k].victim;
	for (uint32_t seq = 0; seq < run->n_decisions; seq++) {
		struct journal_decision *d = &run->decisions[seq];

		d->victims = &v[i];
		for (; i < run->n_evictions && run->evictions[i].seq == seq; i++)
			d->n_victims++;
	}
}

static enum err_code read_rows(struct journal *j, struct journal_run *run, struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	TRY(read_evictions(j, run, e));
	TRY(store_check_rows(j, store_find_run(j, run->id), ROWS_DECISIONS, e)); /* before its number is believed */
	run->decisions = arena_n(run->arena, (size_t)store_find_run(j, run->id)->rows[ROWS_DECISIONS].n + 1,
				 struct journal_decision);
	TRY(statement_open(&q, j, "SELECT * FROM decisions WHERE run = ? ORDER BY seq", e));
	rc = take_decisions(&q, run, e);
	statement_close(&q);
	if (!rc)
		attach_victims(run);
	return rc;
}

/* ---- everything ---- */

enum err_code journal_read(struct journal *j, int64_t id, bool with_state, struct journal_run *ret, struct err *e)
{
	struct journal_run run = {0};
	struct run_texts texts = {0};
	enum err_code rc = begin_run(j, id, &run, &texts, e);

	if (!rc)
		rc = run.source == JOURNAL_PLAN ? read_plan(j, &texts, &run, e) : read_rows(j, &run, e);
	if (!rc && with_state)
		rc = read_state(j, &texts, &run, e);
	return end_run(&run, rc, ret);
}
