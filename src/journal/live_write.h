/* SPDX-License-Identifier: Apache-2.0 */
/* live_write.h - what a daemon's journal writes: batches of decisions and outcomes. Inside journal/ only. */
#pragma once

#include "journal/live.h"
#include "journal/store.h"

struct live_item {
	uint64_t ticket;
	bool is_outcome;
	struct journal_decision decision;
	struct journal_outcome outcome;
};

struct live_batch { /* zero-initialised is empty */
	struct arena *arena;
	ARRAY(struct live_item) v;
	uint64_t bytes, last_ticket;
};
void live_batch_decide(struct live_batch *b, const struct journal_decision *d, int64_t at_ns, uint64_t ticket);
void live_batch_outcome(struct live_batch *b, const struct journal_outcome *o, uint64_t ticket);
void live_batch_free(struct live_batch *b);

struct live_writer {
	char *path;
	struct journal *j;
	struct arena *arena; /* of the session */
	struct journal_session session;
	int64_t run, run_began_ns; /* 0: none yet */
	int64_t seq;		   /* of the next decision */
	uint64_t lost_written;
	/* Of the batch that is being written: statements, and what its rows add to the run. */
	struct statement insert[ROW_TABLES];
	struct row_sum added[ROW_TABLES];
	int64_t last_ns;
};
void live_hold_session(struct live_writer *w, const struct journal_session *s); /* a copy, for the runs to come */
enum err_code live_writer_open(struct live_writer *w, const char *path, const struct journal_session *s, struct err *e);
void live_writer_close(struct live_writer *w);
/* All of it in one transaction, or nothing. n_lost: since the beginning. */
enum err_code live_write(struct live_writer *w, const struct live_batch *b, uint64_t n_lost, struct err *e);
/* In an open transaction. state and gone: NULL, or as journal_run has them. */
enum err_code live_begin_run(struct live_writer *w, int64_t at_ns, const char *state, const char *gone, struct err *e);

/* ---- live_cluster.c ---- */
struct live_cluster {
	struct arena *arena; /* NULL: there is none */
	struct journal_cluster c;
};
void live_cluster_copy(struct live_cluster *to, const struct journal_cluster *c);
void live_cluster_free(struct live_cluster *c); /* and closes its file */
/* A run begins with it. All of it in one transaction, or nothing. */
enum err_code live_write_cluster(struct live_writer *w, const struct live_cluster *c, struct err *e);

enum err_code live_open_writes(struct live_writer *w, struct arena *a, struct journal_open_write **ret, uint32_t *ret_n,
			       struct err *e);
