/* SPDX-License-Identifier: Apache-2.0 */
#include "journal/live_write.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/coding.h"
#include "journal/write.h"
#include "manifest/fields.h"

#define DAY_NS (INT64_C(86400) * NS_PER_S)

/* ---- batches ---- */

static const char *copy(struct live_batch *b, const char *s)
{
	size_t n = s ? strlen(s) : 0;

	b->bytes += n + 1;
	return n ? arena_strndup(b->arena, s, n) : "";
}

static struct live_item *next_item(struct live_batch *b, uint64_t ticket)
{
	if (!b->arena)
		b->arena = arena_new(1 << 16);
	array_push(&b->v, ((struct live_item){.ticket = ticket}));
	b->bytes += sizeof(struct live_item);
	b->last_ticket = ticket;
	return &array_last(&b->v);
}

static void copy_victims(struct live_batch *b, struct journal_decision *d)
{
	struct journal_victim *v = arena_n(b->arena, d->n_victims + 1, struct journal_victim);

	for (uint32_t i = 0; i < d->n_victims; i++) {
		const struct journal_victim *x = &d->victims[i];

		v[i] = (struct journal_victim){.pod = copy(b, x->pod),
					       .uid = copy(b, x->uid),
					       .group = copy(b, x->group),
					       .queue = copy(b, x->queue),
					       .node = copy(b, x->node),
					       .workload = copy(b, x->workload),
					       .rule = copy(b, x->rule),
					       .lost_seconds = x->lost_seconds,
					       .was_leaving = x->was_leaving};
	}
	d->victims = v;
}

void live_batch_decide(struct live_batch *b, const struct journal_decision *d, int64_t at_ns, uint64_t ticket)
{
	struct journal_decision *out = &next_item(b, ticket)->decision;
	const char **texts[] = {&out->pod,  &out->uid,	&out->group, &out->queue,   &out->outcome, &out->action,
				&out->node, &out->rule, &out->until, &out->message, &out->json};

	*out = *d;
	out->at_ns = at_ns;
	out->state = JOURNAL_PLANNED;
	out->state_ns = TIME_NONE;
	out->reason = "";
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		*texts[i] = copy(b, *texts[i]);
	copy_victims(b, out);
}

void live_batch_outcome(struct live_batch *b, const struct journal_outcome *o, uint64_t ticket)
{
	struct live_item *x = next_item(b, ticket);

	x->is_outcome = true;
	x->outcome = *o;
	x->outcome.uid = copy(b, o->uid);
	x->outcome.reason = copy(b, o->reason);
}

void live_batch_free(struct live_batch *b)
{
	arena_free(b->arena);
	array_free(&b->v);
	*b = (struct live_batch){0};
}

/* ---- a writer ---- */

static const char *hold(struct live_writer *w, const char *s)
{
	return arena_strndup(w->arena, s, strlen(s));
}

/* What was held before is given back when all of it has been copied. */
void live_hold_session(struct live_writer *w, const struct journal_session *s)
{
	struct arena *before = w->arena;
	struct journal_session held = *s;
	struct journal_setting *v;

	w->arena = arena_new(4096);
	held.profile = hold(w, s->profile);
	held.version = hold(w, s->version);
	held.settings = v = arena_n(w->arena, s->n_settings + 1, struct journal_setting);
	for (uint32_t i = 0; i < s->n_settings; i++)
		v[i] = (struct journal_setting){hold(w, s->settings[i].file), hold(w, s->settings[i].document)};
	w->session = held;
	arena_free(before);
}

/* What history refuses is refused here, before the first decision is made. */
enum err_code live_writer_open(struct live_writer *w, const char *path, const struct journal_session *s, struct err *e)
{
	enum err_code rc;

	*w = (struct live_writer){0};
	TRY(journal_open(path, JOURNAL_WRITE, &w->j, e));
	w->path = mem_strdup(path);
	live_hold_session(w, s);
	rc = store_begin(w->j, e);
	if (!rc)
		rc = store_end(w->j, ERR_OK, e);
	if (rc)
		live_writer_close(w);
	return rc;
}

void live_writer_close(struct live_writer *w)
{
	journal_close(w->j);
	arena_free(w->arena);
	mem_free(w->path);
	*w = (struct live_writer){0};
}

/* ---- runs ---- */

enum err_code live_begin_run(struct live_writer *w, int64_t at_ns, const char *state, const char *gone, struct err *e)
{
	struct journal_run run = {.id = next_run_id(w->j),
				  .source = w->session.source,
				  .now_ns = at_ns,
				  .end_ns = at_ns,
				  .profile = w->session.profile,
				  .version = w->session.version,
				  .cycles = 1,
				  .reclaim_is_off = w->session.reclaim_is_off,
				  .quota_is_on = w->session.quota_is_on,
				  .n_settings = w->session.n_settings,
				  .settings = (struct journal_setting *)w->session.settings,
				  .state = state,
				  .gone = gone};
	struct run_texts texts;

	TRY(write_texts(w->j, &run, &texts, e));
	TRY(write_run_row(w->j, &run, &texts, e));
	w->run = run.id;
	w->run_began_ns = w->last_ns = at_ns;
	w->seq = 0;
	return ERR_OK;
}

/* What the decisions since the last time add to the run is written once for all of them. */
static enum err_code settle_run(struct live_writer *w, struct err *e)
{
	if (!w->added[ROWS_DECISIONS].n)
		return ERR_OK;
	for (int i = 0; i < ROW_TABLES; i++) {
		TRY(store_add_rows(w->j, w->run, (enum row_table)i, w->added[i], e));
		w->added[i] = (struct row_sum){0};
	}
	TRY(store_execf(w->j, e, "UPDATE runs SET end_ns = max(end_ns, %lld) WHERE run = %lld", (long long)w->last_ns,
			(long long)w->run));
	return store_seal_run(w->j, w->run, e);
}

/* Somebody may have removed ours, with a --journal-keep of his own. */
static enum err_code need_run(struct live_writer *w, int64_t at_ns, struct err *e)
{
	bool is_over = time_since(at_ns, w->run_began_ns) >= DAY_NS;

	if (w->run && !is_over && store_find_run(w->j, w->run))
		return ERR_OK;
	TRY(settle_run(w, e));
	return live_begin_run(w, at_ns, NULL, NULL, e);
}

/* ---- decisions ---- */

static bool gives_place(const struct journal_decision *d)
{
	return str_eq(d->outcome, "placed") || str_eq(d->outcome, "nominated");
}

static enum err_code write_victims(struct live_writer *w, const struct journal_decision *d, struct err *e)
{
	for (uint32_t i = 0; i < d->n_victims; i++) {
		struct row_id id = {w->run, w->seq, i};
		struct journal_eviction x = eviction_row(d, &d->victims[i]);

		if (x.victim.was_leaving)
			continue;
		x.at_ns = d->at_ns;
		x.state = w->session.source == JOURNAL_LIVE ? JOURNAL_DECIDED : JOURNAL_PLANNED;
		TRY(insert_eviction(&w->insert[ROWS_EVICTIONS], &id, &x, &w->added[ROWS_EVICTIONS], e));
	}
	return ERR_OK;
}

static enum err_code write_decision(struct live_writer *w, const struct journal_decision *made, struct err *e)
{
	struct journal_decision d = *made;

	TRY(need_run(w, d.at_ns, e));
	if (w->session.source == JOURNAL_LIVE && gives_place(&d))
		d.state = JOURNAL_DECIDED;
	TRY(insert_decision(&w->insert[ROWS_DECISIONS], w->run, w->seq, &d, &w->added[ROWS_DECISIONS], e));
	TRY(write_victims(w, &d, e));
	w->seq++;
	if (d.at_ns > w->last_ns)
		w->last_ns = d.at_ns;
	return ERR_OK;
}

/* ---- outcomes ---- */

static const struct {
	const char *rows, *set;
	enum row_table table;
} kinds[] = {
	[JOURNAL_EVICTION] = {"SELECT * FROM evictions WHERE uid = ? AND is_open = 1",
			      "UPDATE evictions SET state = ?, state_ns = ?, reason = ?, is_open = ? WHERE uid = ? AND "
			      "is_open = 1 AND run = ? RETURNING *",
			      ROWS_EVICTIONS},
	[JOURNAL_PLACEMENT] =
		{"SELECT * FROM decisions WHERE uid = ? AND is_open = 1",
		 "UPDATE decisions SET state = ?, state_ns = ?, reason = ?, is_open = ? WHERE uid = ? AND "
		 "is_open = 1 AND run = ? RETURNING *",
		 ROWS_DECISIONS},
};

/* The run it is open in and the sum of its rows there; 0 if it is open nowhere. The first, if there are several. */
static enum err_code find_open(struct live_writer *w, const struct journal_outcome *o, int64_t *ret_run,
			       struct row_sum *ret, struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	*ret_run = 0;
	TRY(statement_open(&q, w->j, kinds[o->kind].rows, e));
	bind_str(&q, o->uid);
	while (statement_next(&q)) {
		int64_t run = column_int(&q);

		if (!*ret_run)
			*ret_run = run;
		if (run == *ret_run)
			row_sum_add(ret, &q);
	}
	rc = statement_done(&q, e);
	statement_close(&q);
	return rc;
}

static enum err_code change_open(struct live_writer *w, const struct journal_outcome *o, int64_t run,
				 struct row_sum *ret, struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	TRY(statement_open(&q, w->j, kinds[o->kind].set, e));
	bind_outcome(&q, o->state, o->at_ns, o->reason);
	bind_str(&q, o->uid);
	bind_int(&q, run);
	while (statement_next(&q))
		row_sum_add(ret, &q);
	rc = statement_done(&q, e);
	statement_close(&q);
	return rc;
}

static enum err_code write_outcome(struct live_writer *w, const struct journal_outcome *o, struct err *e)
{
	int64_t run;

	if (!*o->uid)
		return ERR_OK;
	for (;;) {
		struct row_sum before = {0}, after = {0};

		TRY(find_open(w, o, &run, &before, e));
		if (!run)
			return ERR_OK;
		TRY(change_open(w, o, run, &after, e));
		after.n -= before.n;
		after.sum -= before.sum;
		TRY(store_add_rows(w->j, run, kinds[o->kind].table, after, e));
		TRY(store_seal_run(w->j, run, e));
		if (journal_state_is_open(o->state))
			return ERR_OK;
	}
}

/* ---- a batch ---- */

static enum err_code write_lost(struct live_writer *w, uint64_t n_lost, struct err *e)
{
	uint64_t more = n_lost - w->lost_written;

	if (!more || !w->run)
		return ERR_OK;
	TRY(store_execf(w->j, e, "UPDATE runs SET lost = lost + %lld WHERE run = %lld", (long long)more,
			(long long)w->run));
	return store_seal_run(w->j, w->run, e);
}

static enum err_code write_items(struct live_writer *w, const struct live_batch *b, uint64_t n_lost, struct err *e)
{
	TRY(open_insert_decision(&w->insert[ROWS_DECISIONS], w->j, e));
	TRY(open_insert_eviction(&w->insert[ROWS_EVICTIONS], w->j, e));
	for (uint32_t i = 0; i < b->v.n; i++) {
		const struct live_item *x = &b->v.v[i];

		TRY(x->is_outcome ? write_outcome(w, &x->outcome, e) : write_decision(w, &x->decision, e));
	}
	TRY(settle_run(w, e));
	return write_lost(w, n_lost, e);
}

enum err_code live_write(struct live_writer *w, const struct live_batch *b, uint64_t n_lost, struct err *e)
{
	struct live_writer before = *w;
	struct err ignored;
	enum err_code rc;

	TRY(store_begin_light(w->j, e));
	rc = write_items(w, b, n_lost, e);
	for (int i = 0; i < ROW_TABLES; i++)
		statement_close(&w->insert[i]);
	rc = store_end(w->j, rc, e);
	if (rc) {
		*w = before;
		return rc;
	}
	w->lost_written = n_lost;
	if (w->run != before.run) /* a new run; what cannot be removed now can with the next */
		journal_trim(w->j, &w->session.keep, w->run_began_ns, &ignored);
	return ERR_OK;
}

/* ---- what was left open ---- */

typedef ARRAY(struct journal_open_write) write_list;

static enum err_code list_open(struct live_writer *w, enum journal_write_kind kind, const char *sql, struct arena *a,
			       write_list *out, struct err *e)
{
	struct statement q = {0};
	enum err_code rc;

	TRY(statement_open(&q, w->j, sql, e));
	while (statement_next(&q)) {
		struct journal_open_write x = {.kind = kind};

		x.pod = column_str(&q, a);
		x.uid = column_str(&q, a);
		x.node = column_str(&q, a);
		if (!journal_state_parse(column_str(&q, a), &x.state))
			continue;
		x.at_ns = column_int(&q);
		array_push(out, x);
	}
	rc = statement_done(&q, e);
	statement_close(&q);
	return rc;
}

static int by_time(const void *a, const void *b)
{
	const struct journal_open_write *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->kind != y->kind ? (int)x->kind - (int)y->kind : strcmp(x->uid, y->uid);
}

enum err_code live_open_writes(struct live_writer *w, struct arena *a, struct journal_open_write **ret, uint32_t *ret_n,
			       struct err *e)
{
	write_list list = {0};
	enum err_code rc =
		list_open(w, JOURNAL_EVICTION, "SELECT pod, uid, node, state, at_ns FROM evictions WHERE is_open = 1",
			  a, &list, e);

	if (!rc)
		rc = list_open(w, JOURNAL_PLACEMENT,
			       "SELECT pod, uid, node, state, at_ns FROM decisions WHERE is_open = 1", a, &list, e);
	if (!rc && list.n) {
		qsort(list.v, list.n, sizeof(*list.v), by_time);
		*ret = arena_n(a, list.n, struct journal_open_write);
		memcpy(*ret, list.v, list.n * sizeof(*list.v));
	}
	*ret_n = rc ? 0 : list.n;
	array_free(&list);
	return rc;
}

/* ---- what happened before ---- */

struct restored_row {
	int64_t at_ns, run;
	uint32_t n; /* in its run */
	const char *workload, *queue;
};
typedef ARRAY(struct restored_row) restored_list;

static int by_restored(const void *a, const void *b)
{
	const struct restored_row *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return x->n < y->n ? -1 : x->n > y->n;
}

/* Planned ones never happened, failed ones neither. */
static void take_restored(const struct journal_run *run, int64_t since_ns, struct arena *a, restored_list *out)
{
	for (uint32_t i = 0; i < run->n_evictions; i++) {
		const struct journal_eviction *x = &run->evictions[i];
		const char *workload = *x->victim.workload ? x->victim.workload : x->victim.pod;

		if (x->state == JOURNAL_PLANNED || x->state == JOURNAL_FAILED || x->at_ns < since_ns)
			continue;
		array_push(out,
			   ((struct restored_row){x->at_ns, run->id, i, arena_strndup(a, workload, strlen(workload)),
						  arena_strndup(a, x->victim.queue, strlen(x->victim.queue))}));
	}
}

static enum err_code collect_restored(struct journal *j, int64_t since_ns, struct arena *a, restored_list *out,
				      struct err *e)
{
	for (uint32_t i = 0; i < journal_run_count(j); i++) {
		struct journal_run run;

		TRY(journal_read_evictions(j, journal_run_id(j, i), &run, e));
		take_restored(&run, since_ns, a, out);
		journal_run_free(&run);
	}
	return ERR_OK;
}

static enum err_code restore(struct journal *j, int64_t since_ns, struct eviction_history *ret, struct err *e)
{
	struct arena *a = arena_new(1 << 16);
	restored_list list = {0};
	enum err_code rc = collect_restored(j, since_ns, a, &list, e);

	if (!rc && list.n)
		qsort(list.v, list.n, sizeof(*list.v), by_restored);
	for (uint32_t i = 0; i < list.n && !rc; i++)
		eviction_history_add(ret, list.v[i].at_ns, list.v[i].workload, list.v[i].queue);
	array_free(&list);
	arena_free(a);
	return rc;
}

enum err_code journal_restore_evictions(const char *path, int64_t since_ns, struct eviction_history *ret, struct err *e)
{
	struct journal *j;
	enum err_code rc;

	if (access(path, F_OK) != 0 && errno == ENOENT)
		return ERR_OK;
	TRY(journal_open(path, JOURNAL_READ, &j, e));
	rc = restore(j, since_ns, ret, e);
	journal_close(j);
	return rc;
}
