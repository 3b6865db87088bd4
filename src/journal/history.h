/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - who had to go, by whom, why, what came of it and what was lost: from the runs of a journal, for people
 * and for programs. What was planned and what was done are told apart and never summed together.
 *
 * Runs are handed in one after the other and may go afterwards; what is shown of them is copied.
 */
#pragma once

#include "base/emit.h"
#include "explain/table.h"
#include "journal/journal.h"

struct history_filter { /* NULL and TIME_NONE: all */
	bool has_state; /* only what is in this state */
	enum journal_state state;
	const char *queue;	    /* it or one below it lost the pod or got the room */
	const char *pod;	    /* "ns/name": it went or got the room */
	const char *action, *rule;  /* rule: the one that was overridden */
	int64_t since_ns, until_ns; /* both included */
};

struct history_row {
	int64_t run;
	enum journal_source source;
	const char *profile;
	struct journal_eviction x;
};

/* What was only planned is one thing, what a daemon did another. */
enum history_class { HISTORY_PLANNED, HISTORY_DONE, HISTORY_PENDING, HISTORY_FAILED, HISTORY_CLASSES };
struct history_sum {
	uint32_t n;
	int64_t lost_seconds;
};

struct history {
	const char *file; /* borrowed */
	struct history_filter filter;
	struct arena *arena;
	ARRAY(struct history_row) rows;
	struct history_sum sums[HISTORY_CLASSES];
	uint32_t n_runs;      /* within the times asked for */
	uint32_t n_lost;      /* decisions that a daemon could not write down */
	uint64_t n_evictions; /* of all runs, asked for or not */
	int64_t first_ns, last_ns;
};

void history_init(struct history *h, const char *file, const struct history_filter *filter);
void history_free(struct history *h);
void history_add(struct history *h, const struct journal_run *run); /* with its evictions */

void history_text(const struct history *h, const struct look *look, bool is_wide, struct text *out);
void history_emit(const struct history *h, struct emit *e); /* kind History */
