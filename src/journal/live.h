/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live.h - the journal of a daemon: decisions are handed over as they are made, and what came of them as it is known.
 *
 *	journal_live_open(path, &session, &live, &e);
 *	ticket = journal_live_decide(live, &decision, now_ns);     a copy is taken; nothing is waited for
 *	if (journal_live_durable(live) >= ticket) write to the cluster;
 *	journal_live_outcome(live, &(struct journal_outcome){JOURNAL_EVICTION, uid, JOURNAL_CARRIED_OUT, now_ns, ""});
 *	journal_live_close(live, &e);                              waits until everything is written
 *
 * A thread of its own writes: what has come together in some milliseconds is one transaction, with one wait for the
 * disk. The caller never waits for the disk; journal_live_fd becomes readable when more is durable or something went
 * wrong. If the journal cannot be written (disk full, somebody else has it), it is tried again every second and
 * journal_live_problem says so; what no longer fits into memory meanwhile is counted as lost, and the number is written
 * as soon as something can be. Scheduling never stops for the journal.
 *
 * A run begins with a cluster (journal_live_cluster), from which cede simulate goes on, or with the first decision
 * when there was none for 24 hours; then what is kept too long or too large goes (journal_keep). A decision is open
 * from when it was decided until it was observed or has failed, also over restarts: journal_live_open_writes lists
 * what a daemon that was killed left open, so that the next one can look into the cluster and say what came of it.
 *
 * All functions are for the thread that opened it, but for those of the struct's own thread.
 */
#pragma once

#include "journal/journal.h"
#include "rules/eviction_history.h"

struct journal_session {
	enum journal_source source; /* JOURNAL_LIVE, JOURNAL_DRY_RUN or JOURNAL_SHADOW */
	int64_t now_ns;
	const char *profile, *version;
	bool reclaim_is_off, quota_is_on; /* as in journal_run */
	uint32_t n_settings;
	const struct journal_setting *settings;
	struct journal_keep keep;
};

struct journal_live;
enum err_code journal_live_open(const char *path, const struct journal_session *session, struct journal_live **ret,
				struct err *e);
/* Writes everything, for at most some seconds; the error says what was not written. */
enum err_code journal_live_close(struct journal_live *live, struct err *e);

/*
 * Victims need their uids, and so does a pod that gets a place, if anything is to be said of them later. A decision of
 * a live daemon that has victims, or that gives a place (placed or nominated), begins as decided; everything else, and
 * all of dry runs and shadows, is planned. The ticket is larger than all before.
 */
uint64_t journal_live_decide(struct journal_live *live, const struct journal_decision *d, int64_t at_ns);

enum journal_write_kind { JOURNAL_EVICTION, JOURNAL_PLACEMENT };
struct journal_outcome {
	enum journal_write_kind kind;
	const char *uid;
	enum journal_state state; /* JOURNAL_CARRIED_OUT, JOURNAL_OBSERVED or JOURNAL_FAILED */
	int64_t at_ns;
	const char *reason; /* of a failure; else "" */
};
/* Of what is open under this uid; if nothing is, nothing happens. */
uint64_t journal_live_outcome(struct journal_live *live, const struct journal_outcome *o);

/*
 * The cluster as it was at a time, with the settings of then. It is in a file: the manifests, and who was gone since
 * the one before (journal_run), each with a NUL behind it, so that one that is not whole is known. The file is taken
 * over and closed; the rest is copied. It is written in a transaction of its own; what is decided until then belongs
 * to the run before. One that cannot be written is given up at once: decisions do not wait for it. So is one for
 * which two others wait already.
 */
struct journal_cluster {
	int64_t at_ns;
	const char *profile;
	bool reclaim_is_off, quota_is_on;
	uint32_t n_settings;
	const struct journal_setting *settings;
	int fd;
};
void journal_live_cluster(struct journal_live *live, const struct journal_cluster *c);
/* How many were written or given up so far. Why the last of them was given up is told once; "" if it was not. */
uint64_t journal_live_clusters_done(struct journal_live *live, struct text *ret_problem);

uint64_t journal_live_durable(struct journal_live *live); /* everything up to this ticket is on the disk */
int journal_live_fd(const struct journal_live *live);	  /* an eventfd; reading it makes it quiet again */
/* What keeps it from writing, "" if nothing does; and how many decisions and outcomes are lost so far. */
void journal_live_problem(struct journal_live *live, struct text *out, uint64_t *ret_lost);

/* What an earlier daemon left open, in the order it was decided. Before anything else is handed over. */
struct journal_open_write {
	enum journal_write_kind kind;
	const char *pod, *uid, *node;
	enum journal_state state;
	int64_t at_ns;
};
enum err_code journal_live_open_writes(struct journal_live *live, struct arena *a, struct journal_open_write **ret,
				       uint32_t *ret_n, struct err *e);

/*
 * The evictions of live daemons since that time, in order of time, for the rules thrash and eviction-rate. Those of
 * which nothing is known count, those that failed do not. A journal that is not there yet has none.
 */
enum err_code journal_restore_evictions(const char *path, int64_t since_ns, struct eviction_history *ret,
					struct err *e);
