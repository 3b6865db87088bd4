/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - who had to go, by whom, why, and what was lost: from the runs of a journal, for people and for programs.
 *
 * Runs are handed in one after the other and may go afterwards; what is shown of them is copied.
 */
#pragma once

#include "base/emit.h"
#include "explain/table.h"
#include "journal/evictions.h"

struct history_filter {		    /* NULL and TIME_NONE: all */
	const char *queue;	    /* it or one below it lost the pod or got the room */
	const char *pod;	    /* "ns/name": it went or got the room */
	const char *action, *rule;  /* rule: the one that was overridden */
	int64_t since_ns, until_ns; /* both included */
};

struct history_row {
	int64_t run, now_ns;
	uint32_t cycle;
	const char *source, *profile, *action;
	struct journal_victim victim;
	const char *by_pod, *by_group, *by_queue, *by_node;
};

struct history {
	const char *file; /* borrowed */
	struct history_filter filter;
	struct arena *arena;
	ARRAY(struct history_row) rows;
	uint32_t n_runs; /* within the times asked for */
	int64_t first_ns, last_ns;
};

void history_init(struct history *h, const char *file, const struct history_filter *filter);
void history_free(struct history *h);
void history_add(struct history *h, const struct journal_run *run);

void history_text(const struct history *h, const struct look *look, bool is_wide, struct text *out);
void history_emit(const struct history *h, struct emit *e); /* kind History */
