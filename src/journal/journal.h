/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h - decisions kept in a file: what was decided, about which cluster, with which settings, and what came of
 * it.
 *
 * The file is an SQLite database (WAL, synchronous FULL). A run is one plan, or a stretch of a daemon (live.h). A
 * plan is written in one transaction: whoever is killed while writing leaves all of it or nothing. It holds, beside
 * the decisions, everything they depend on, so that they can be made again: the cluster as manifests, the settings as
 * they were read, the time. These texts are kept in chunks, each once, so that a run costs what changed since the one
 * before (chunks.h).
 *
 * Who had to go stands in a table of its own, evictions, which is all that the history needs:
 *
 *	sqlite3 journal.db 'select now, state, pod, queue, for_pod from evictions join runs using (run)'
 *
 * is fine at any time; a name that is not known is NULL there, and "" here.
 *
 * Damage is reported by whoever reads the damaged part, never read past. SQLite notices broken pages; each chunk is
 * known by the hash of its text and each list of chunks by its own; each run has a checksum over its row and over its
 * evictions; one row knows how many runs there are and the sum of their checksums; that the log beside the file is
 * broken in the middle is noticed by reading it (wal.h). journal_check reads everything. journal_salvage saves what can
 * be read (salvage.h).
 *
 * Not thread-safe: one journal, one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/err.h"
#include "base/text.h"

enum { JOURNAL_VERSION = 2, JOURNAL_CYCLES_MAX = 10000 };

/* Who decided. Only a live daemon carries out what it decides. */
#define JOURNAL_SOURCE_LIST(X)        \
	X(JOURNAL_PLAN, "plan")       \
	X(JOURNAL_LIVE, "run")        \
	X(JOURNAL_DRY_RUN, "dry-run") \
	X(JOURNAL_SHADOW, "shadow")
/* What came of a decision that wants something written to the cluster. */
#define JOURNAL_STATE_LIST(X)                                                                         \
	X(JOURNAL_PLANNED, "planned")	      /* nobody was to carry it out: plan, dry-run, shadow */ \
	X(JOURNAL_DECIDED, "decided")	      /* the write is on its way, or the daemon was killed */ \
	X(JOURNAL_CARRIED_OUT, "carried-out") /* the API server took it */                            \
	X(JOURNAL_OBSERVED, "observed")	      /* and it was seen in the cluster */                    \
	X(JOURNAL_FAILED, "failed")	      /* it was refused, or no longer wanted; the reason says */
#define X(id, text) id,
enum journal_source { JOURNAL_SOURCE_LIST(X) JOURNAL_SOURCES };
enum journal_state { JOURNAL_STATE_LIST(X) JOURNAL_STATES };
#undef X
const char *journal_source_text(enum journal_source s);
const char *journal_state_text(enum journal_state s);
bool journal_source_parse(const char *s, enum journal_source *ret);
bool journal_state_parse(const char *s, enum journal_state *ret);
bool journal_state_is_open(enum journal_state s); /* something may still come of it */

struct journal_victim {
	const char *pod, *uid, *group, *queue, *node;
	/* what comes back after the eviction, as eviction_history_workload (rules/eviction_history.h) names it */
	const char *workload;
	const char *rule; /* the soft rule that was overridden */
	int64_t lost_seconds;
	bool was_leaving;   /* before the decision: not sent away by it */
	const char *reason; /* why it goes, in words; NULL of runs that were read: it stands in the decision's JSON */
};

struct journal_decision {
	uint32_t cycle;
	const char *pod, *uid, *group, *queue, *outcome, *action, *node, *rule, *until, *message;
	const char *json; /* as cede plan prints it, on one line */
	const char *why;  /* it waits, as cede plan tells people; NULL: of journal_decisions alone */
	uint32_t n_victims;
	struct journal_victim *victims;
	/* Of a daemon's decisions: when, and what came of the place they give. */
	int64_t at_ns;
	enum journal_state state;
	int64_t state_ns; /* TIME_NONE: nothing yet */
	const char *reason;
};

struct journal_setting {
	const char *file, *document;
};

/* A pod that had to go: each once in a run, at the first decision that wants it gone; nobody who was leaving before. */
struct journal_eviction {
	uint32_t seq;  /* the decision it belongs to, from 0 */
	int64_t at_ns; /* when it was decided */
	uint32_t cycle;
	struct journal_victim victim;
	const char *action, *for_pod, *for_group, *for_queue, *for_node;
	enum journal_state state;
	int64_t state_ns; /* since when; TIME_NONE if nothing came of it */
	const char *reason;
};

struct journal_run {
	struct arena *arena; /* everything here lives in it */
	int64_t id;	     /* from 1, ascending; 0: not written yet */
	enum journal_source source;
	int64_t now_ns, end_ns;	       /* when it was decided; a daemon's run: from when to when */
	const char *profile, *version; /* the version of cede that decided */
	uint32_t cycles;
	bool reclaim_is_off, quota_is_on; /* a partition's switches, which are not in its manifests */
	bool has_state;	 /* its cluster is kept: of plans, unless it could not be saved; of some runs of a daemon */
	uint32_t n_lost; /* decisions of a daemon that could not be written */
	uint32_t n_settings, n_decisions, n_evictions;
	struct journal_setting *settings;
	const char *state; /* the cluster before the decisions: a List of manifests; NULL: not read */
	/*
	 * Of a daemon's run with a state: the pods that ran and were gone since the state before, as manifests, a line
	 * each, whose cede.dev/run-time says how long it ran. "": nobody; NULL: not read.
	 */
	const char *gone;
	struct journal_decision *decisions;
	struct journal_eviction *evictions; /* of journal_read_evictions */
};
void journal_run_free(struct journal_run *run);

struct journal;
enum journal_mode { JOURNAL_READ, JOURNAL_WRITE };

/*
 * To write, a file that is not there is made. To read, it must be one, and what is seen is how it was at the time of
 * opening, whoever writes meanwhile. The name is a name of a file and nothing else. Errors begin with the path.
 */
enum err_code journal_open(const char *path, enum journal_mode mode, struct journal **ret, struct err *e);
void journal_close(struct journal *j); /* NULL is fine */

/* All of it or nothing; waits a few seconds for other writers. The id is set. What history refuses takes no more. */
enum err_code journal_append(struct journal *j, struct journal_run *run, struct err *e);

/* The runs of a journal that was opened to be read, in the order of their ids, which may have gaps. */
uint32_t journal_run_count(const struct journal *j);
int64_t journal_run_id(const struct journal *j, uint32_t i);
/* The row of a run and its evictions; no decisions, settings or state. Reads nothing else of the file. */
enum err_code journal_read_evictions(struct journal *j, int64_t id, struct journal_run *ret, struct err *e);
/* The row of a run and its decisions, in their order. Without state, run->state is NULL and there are no settings. */
enum err_code journal_read(struct journal *j, int64_t id, bool with_state, struct journal_run *ret, struct err *e);

/* What may stay: runs that are younger than this, and a file that is smaller than that. 0: no limit. */
struct journal_keep {
	int64_t age_ns, bytes;
};
/* "30d", "2GiB", or both with a comma between them. */
enum err_code journal_keep_parse(const char *s, struct journal_keep *ret, struct err *e);
/* Removes the oldest runs and the chunks nobody uses any more; the newest run stays. The file gets smaller. */
enum err_code journal_trim(struct journal *j, const struct journal_keep *keep, int64_t now_ns, struct err *e);

/* What journal_check found. Sentences end in newlines; none means that everything is there, as it was written. */
struct journal_report {
	uint32_t n_runs, n_evictions, n_chunks, n_damaged; /* n_damaged: runs of which something cannot be read */
	int64_t file_bytes, text_bytes;			   /* on the disk; of the texts, if each was kept whole */
	struct text *complaints;
};
/* Reads all of the file. Damage is not an error here; that it cannot be read at all is. */
enum err_code journal_check(struct journal *j, struct journal_report *ret, struct err *e);
