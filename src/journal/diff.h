/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h - two runs about the same cluster: what was decided and what is decided now.
 *
 * They are the same if they have as many decisions and each is the same, byte by byte. What differs is told as people
 * ask: who need not have gone, who would have to go instead, who gets another place. Everything is borrowed from both.
 */
#pragma once

#include "explain/table.h"
#include "journal/evictions.h"

struct run_diff {
	const struct journal_run *was, *is;
	uint32_t n_differ;		       /* decisions, by their place in the order, that are not the same bytes */
	bool state_differs;		       /* the cluster reads back as another one */
	eviction_list spared, added;	       /* would not have happened; would be new */
	eviction_list shifted_was, shifted_is; /* pairs: the same pod for another one, or by another action */
	ARRAY(const struct journal_decision *) moved_was, moved_is; /* pairs, of a pod's last decision; NULL: none */
};

/* The pod a decision is about; of quota and stale gangs the queue or group, in brackets. */
void cell_for(struct table *t, const struct journal_decision *d);
/* The columns that tables of evictions begin with: pod, queue, node, work lost, for whom. */
void eviction_columns(struct table *t, const char *for_whom);
void eviction_cells(struct table *t, enum tone tone, const struct eviction *x);

void run_diff_init(struct run_diff *d, const struct journal_run *was, const struct journal_run *is);
void run_diff_free(struct run_diff *d);
bool run_diff_is_same(const struct run_diff *d);

/* Of several runs together. */
struct diff_sums {
	uint32_t runs, same, spared, added, shifted, moved;
	int64_t spared_seconds, added_seconds; /* work that would not have been lost, and that would be */
};
void diff_sums_add(struct diff_sums *s, const struct run_diff *d);
