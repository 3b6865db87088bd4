/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - decisions kept in a file: what was decided, about which cluster, with which settings.
 *
 * The file is an SQLite database (WAL, synchronous FULL). A run is written in one transaction: whoever is killed while
 * writing leaves all of it or nothing. It holds, beside the decisions, everything they depend on, so that they can be
 * made again: the cluster as manifests, the settings as they were read, the time.
 *
 * Damage is reported, never read past. SQLite notices broken pages; that a row was changed or is gone is noticed by a
 * checksum per run over all its rows, in which the checksum of the run before is mixed; that runs are gone at the end,
 * by one row that knows how many there are; that the log beside the file is broken in the middle, by reading it
 * (wal.h).
 *
 *	sqlite3 journal.db 'select now, pod, victims.queue from victims join runs using (run)'
 *
 * is fine at any time; a name that is not known is NULL there, and "" here. Not thread-safe: one journal, one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { JOURNAL_VERSION = 1 };

struct journal_victim {
	const char *pod, *group, *queue, *node;
	const char *rule; /* the soft rule that was overridden */
	int64_t lost_seconds;
	bool was_leaving; /* before the plan: not sent away by it */
};

struct journal_protected {
	const char *pod, *group, *queue, *node, *rule, *reason, *until;
};

struct journal_decision {
	uint32_t cycle;
	const char *pod, *group, *queue, *outcome, *action, *node, *rule, *until, *message;
	const char *json; /* as cede plan prints it, on one line */
	uint32_t n_victims, n_protected;
	struct journal_victim *victims;
	struct journal_protected *protected;
};

struct journal_setting {
	const char *file, *document;
};

struct journal_run {
	struct arena *arena; /* everything here lives in it */
	int64_t id;	     /* from 1; 0: not written yet */
	const char *source;  /* who planned: "plan" */
	int64_t now_ns;
	const char *profile, *version; /* the version of cede that decided */
	uint32_t cycles;
	bool reclaim_is_off, quota_is_on; /* a partition's switches, which are not in its manifests */
	uint32_t n_settings, n_decisions;
	struct journal_setting *settings;
	const char *state; /* the cluster before the decisions: a List of manifests; NULL: not read */
	uint64_t state_hash;
	struct journal_decision *decisions;
};
void journal_run_free(struct journal_run *run);

struct journal;
enum journal_mode { JOURNAL_READ, JOURNAL_WRITE };

/*
 * To write, a file that is not there is made. To read, it must be one, and what is seen is how it was at the time of
 * opening, whoever writes meanwhile. Errors begin with the path.
 */
enum err_code journal_open(const char *path, enum journal_mode mode, struct journal **ret, struct err *e);
void journal_close(struct journal *j); /* NULL is fine */

/* All of it or nothing; waits a few seconds for other writers. The id is set. */
enum err_code journal_append(struct journal *j, struct journal_run *run, struct err *e);

int64_t journal_run_count(const struct journal *j);
/* Is everything there, as it was written? Reads all of the file. */
enum err_code journal_check(struct journal *j, struct err *e);
/* One run, from 1 to the count. Without state, run->state is NULL and there are no settings. */
enum err_code journal_read(struct journal *j, int64_t id, bool with_state, struct journal_run *ret, struct err *e);
