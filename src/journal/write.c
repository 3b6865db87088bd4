/* SPDX-License-Identifier: Apache-2.0 */
/* Writing runs. */
#include "journal/write.h"

#include "base/clock.h"
#include "journal/coding.h"
#include "journal/evictions.h"
#include "manifest/fields.h"
#include "units/timestamp.h"

enum { LOOK_BACK = 4 }; /* runs that the new one may resemble */

/* ---- texts ---- */

/* What the last runs refer to in these columns of runs, the newest first; none of nothing. */
static enum err_code last_refs(struct journal *j, const char *sql, struct chunk_ref *ret, uint32_t *ret_n,
			       struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	*ret_n = 0;
	TRY(statement_open(&q, j, sql, e));
	bind_int(&q, LOOK_BACK);
	while (*ret_n < LOOK_BACK && statement_next(&q)) {
		ret[*ret_n].id = column_int(&q);
		ret[*ret_n].hash = (uint64_t)column_int(&q);
		*ret_n += ret[*ret_n].id != 0;
	}
	rc = statement_done(&q, e);
	statement_close(&q);
	return rc;
}

static enum err_code write_text(struct journal *j, const char *sql, const char *s, size_t n, struct chunk_ref *ret,
				struct err *e)
{
	struct chunk_ref like[LOOK_BACK];
	struct chunks *chunks;
	uint32_t n_like;

	TRY(store_chunks(j, &chunks, e));
	TRY(last_refs(j, sql, like, &n_like, e));
	return chunks_write(chunks, s, n, like, n_like, ret, e);
}

#define LAST(text) "SELECT " text ", " text "_hash FROM runs ORDER BY run DESC LIMIT ?"

/* Decisions of a daemon are rows of their own: their place is that of the pods that were gone. */
static enum err_code write_plan(struct journal *j, const struct journal_run *run, struct text *t, struct chunk_ref *ret,
				struct err *e)
{
	text_reset(t);
	if (run->source == JOURNAL_PLAN)
		code_decisions(run, t);
	else if (run->gone)
		text_add(t, run->gone);
	return write_text(j, LAST("plan"), t->s, t->n, ret, e);
}

enum err_code write_texts(struct journal *j, const struct journal_run *run, struct run_texts *ret, struct err *e)
{
	struct text t = {0};
	enum err_code rc;

	*ret = (struct run_texts){0};
	code_settings(run, &t);
	rc = write_text(j, LAST("settings"), t.s, t.n, &ret->settings, e);
	if (!rc)
		rc = write_plan(j, run, &t, &ret->plan, e);
	text_free(&t);
	if (!rc && run->state)
		rc = write_text(j, LAST("state"), run->state, strlen(run->state), &ret->state, e);
	return rc;
}

/* ---- rows ---- */

static void bind_ref(struct statement *q, struct chunk_ref ref)
{
	bind_int(q, ref.id);
	bind_int(q, (int64_t)ref.hash);
}

enum err_code write_run_row(struct journal *j, const struct journal_run *run, const struct run_texts *texts,
			    struct err *e)
{
	struct statement q = {0};
	struct text now = {0};
	enum err_code rc;

	TRY(statement_open(&q, j, "INSERT INTO runs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0,0,0,0,0)", e));
	timestamp_text(run->now_ns, &now);
	bind_int(&q, run->id);
	bind_str(&q, journal_source_text(run->source));
	bind_str(&q, text_str(&now));
	bind_int(&q, run->now_ns);
	bind_int(&q, run->end_ns);
	bind_str(&q, run->profile);
	bind_str(&q, run->version);
	bind_int(&q, run->cycles);
	bind_int(&q, run->reclaim_is_off);
	bind_int(&q, run->quota_is_on);
	bind_int(&q, run->n_lost);
	bind_ref(&q, texts->settings);
	bind_ref(&q, texts->state);
	bind_ref(&q, texts->plan);
	rc = statement_run(&q, e);
	statement_close(&q);
	text_free(&now);
	return rc ? rc : store_seal_run(j, run->id, e);
}

void bind_outcome(struct statement *q, enum journal_state state, int64_t state_ns, const char *reason)
{
	bind_str(q, journal_state_text(state));
	if (state_ns == TIME_NONE)
		bind_str(q, NULL);
	else
		bind_int(q, state_ns);
	bind_str(q, reason);
	bind_int(q, journal_state_is_open(state));
}

static void bind_eviction(struct statement *q, const struct row_id *id, const struct journal_eviction *x)
{
	const struct journal_victim *v = &x->victim;

	bind_int(q, id->run);
	bind_int(q, id->seq);
	bind_int(q, id->n);
	bind_int(q, x->at_ns);
	bind_int(q, x->cycle);
	bind_str(q, v->pod);
	bind_str(q, v->uid);
	bind_str(q, v->group);
	bind_str(q, v->queue);
	bind_str(q, v->node);
	bind_str(q, v->workload);
	bind_str(q, v->rule);
	bind_int(q, v->lost_seconds);
	bind_str(q, x->action);
	bind_str(q, x->for_pod);
	bind_str(q, x->for_group);
	bind_str(q, x->for_queue);
	bind_str(q, x->for_node);
	bind_outcome(q, x->state, x->state_ns, x->reason);
}

/* A row that an INSERT ... RETURNING * gives back, as SQLite keeps it. */
enum err_code insert_row(struct statement *q, struct row_sum *sum, struct err *e)
{
	if (statement_next(q))
		row_sum_add(sum, q);
	while (q->rc == SQLITE_ROW && statement_next(q))
		;
	return statement_done(q, e);
}

enum err_code open_insert_eviction(struct statement *q, const struct journal *j, struct err *e)
{
	return statement_open(
		q, j, "INSERT INTO evictions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING *", e);
}

enum err_code insert_eviction(struct statement *q, const struct row_id *id, const struct journal_eviction *x,
			      struct row_sum *sum, struct err *e)
{
	bind_eviction(q, id, x);
	return insert_row(q, sum, e);
}

enum err_code open_insert_decision(struct statement *q, const struct journal *j, struct err *e)
{
	return statement_open(q, j, "INSERT INTO decisions VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) RETURNING *",
			      e);
}

enum err_code insert_decision(struct statement *q, int64_t run, int64_t seq, const struct journal_decision *d,
			      struct row_sum *sum, struct err *e)
{
	bind_int(q, run);
	bind_int(q, seq);
	bind_int(q, d->at_ns);
	bind_int(q, d->cycle);
	bind_str(q, d->pod);
	bind_str(q, d->uid);
	bind_str(q, d->group);
	bind_str(q, d->queue);
	bind_str(q, d->outcome);
	bind_str(q, d->action);
	bind_str(q, d->node);
	bind_str(q, d->rule);
	bind_str(q, d->until);
	bind_str(q, d->message);
	bind_str(q, d->json);
	bind_outcome(q, d->state, d->state_ns, d->reason);
	return insert_row(q, sum, e);
}

struct journal_eviction eviction_row(const struct journal_decision *by, const struct journal_victim *victim)
{
	return (struct journal_eviction){
		.cycle = by->cycle,
		.victim = *victim,
		.action = by->action,
		.for_pod = by->pod,
		.for_group = by->group,
		.for_queue = by->queue,
		.for_node = by->node,
		.state_ns = TIME_NONE,
		.reason = "",
	};
}

static enum err_code insert_list(struct journal *j, const struct journal_run *run, const eviction_list *list,
				 struct row_sum *sum, struct err *e)
{
	struct statement q = {0};
	enum err_code rc = open_insert_eviction(&q, j, e);

	for (uint32_t i = 0; i < list->n && !rc; i++) {
		const struct eviction *x = &list->v[i];
		struct row_id id = {run->id, x->by - run->decisions, x->victim - x->by->victims};
		struct journal_eviction row = eviction_row(x->by, x->victim);

		row.at_ns = run->now_ns;
		rc = insert_eviction(&q, &id, &row, sum, e);
	}
	statement_close(&q);
	return rc;
}

static enum err_code insert_evictions(struct journal *j, const struct journal_run *run, struct err *e)
{
	eviction_list list = {0};
	struct row_sum sum = {0};
	enum err_code rc;

	evictions_of(run, &list);
	rc = insert_list(j, run, &list, &sum, e);
	array_free(&list);
	if (!rc)
		rc = store_add_rows(j, run->id, ROWS_EVICTIONS, sum, e);
	return rc ? rc : store_seal_run(j, run->id, e);
}

/* ---- a run ---- */

int64_t next_run_id(const struct journal *j)
{
	return j->runs.n ? array_last(&j->runs).id + 1 : 1;
}

enum err_code write_run(struct journal *j, struct journal_run *run, struct err *e)
{
	struct run_texts texts;

	TRY(write_texts(j, run, &texts, e));
	TRY(write_run_row(j, run, &texts, e));
	return insert_evictions(j, run, e);
}

enum err_code journal_append(struct journal *j, struct journal_run *run, struct err *e)
{
	enum err_code rc;

	TRY(store_begin(j, e));
	run->id = next_run_id(j);
	rc = store_end(j, write_run(j, run, e), e);
	if (rc)
		run->id = 0;
	return rc;
}
