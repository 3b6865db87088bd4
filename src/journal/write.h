/* SPDX-License-Identifier: Apache-2.0 */
/* write.h - rows of a journal, as plans, daemons and salvage write them. Inside journal/ only. */
#pragma once

#include "journal/chunks.h"
#include "journal/statement.h"
#include "journal/store.h"

struct run_texts {
	struct chunk_ref settings, state, plan;
};

struct row_id { /* of an eviction: which victim of which decision; of a decision without n */
	int64_t run, seq, n;
};

/* Where the texts of a run are. */
enum err_code read_run_texts(struct journal *j, int64_t id, struct run_texts *ret, struct err *e);

int64_t next_run_id(const struct journal *j);
/* A run with its id, in an open transaction: texts, row and evictions. */
enum err_code write_run(struct journal *j, struct journal_run *run, struct err *e);
/* Settings, state, and the decisions of a plan or whom a daemon saw go. */
enum err_code write_texts(struct journal *j, const struct journal_run *run, struct run_texts *ret, struct err *e);
/* The row alone, without evictions and decisions. */
enum err_code write_run_row(struct journal *j, const struct journal_run *run, const struct run_texts *texts,
			    struct err *e);

void bind_outcome(struct statement *q, enum journal_state state, int64_t state_ns, const char *reason);

/* For INSERT ... RETURNING *: runs it and adds the row to the sum. */
enum err_code insert_row(struct statement *q, struct row_sum *sum, struct err *e);
enum err_code open_insert_eviction(struct statement *q, const struct journal *j, struct err *e);
enum err_code insert_eviction(struct statement *q, const struct row_id *id, const struct journal_eviction *x,
			      struct row_sum *sum, struct err *e);
enum err_code open_insert_decision(struct statement *q, const struct journal *j, struct err *e);
enum err_code insert_decision(struct statement *q, int64_t run, int64_t seq, const struct journal_decision *d,
			      struct row_sum *sum, struct err *e);
/* Planned, at no time yet. */
struct journal_eviction eviction_row(const struct journal_decision *by, const struct journal_victim *victim);
