/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison.h - one load under several configurations: every difference with its direction, per queue, over seeds,
 * and the first decision in which they part (SI-4).
 *
 * The first side is what the others are held against. Differences are taken under each seed and then looked at
 * together: a difference that points one way under every seed has a direction, another one is mixed.
 */
#pragma once

#include "explain/table.h"
#include "sim/figures.h"

enum { COMPARISON_SIDES_MAX = 26 };

struct comparison_part {   /* where a side leaves the first one, under the first seed */
	bool differs;	   /* false: they never do */
	uint64_t decision; /* from 1 */
	int64_t at_ns;
	char *mine, *first; /* what each of them decided there, a sentence each */
};

struct comparison_side {
	const char *name; /* "A", "B" */
	const char *what; /* the file, or the profile */
	const char *profile;
	struct figures *runs; /* one for each seed */
	struct comparison_part part;
};

struct comparison {
	const char *load;
	uint64_t first_seed;
	uint32_t n_seeds, n_sides;
	struct comparison_side *sides;
	const char *const *notes;
	uint32_t n_notes;
};

/*
 * WAY_NONE: it cannot be compared, because one side has no work in queues with a guarantee, as in profile
 * kubernetes.
 */
enum difference_way { WAY_SAME, WAY_BETTER, WAY_WORSE, WAY_MIXED, WAY_NONE };
extern const char *const difference_way_words[]; /* "same", "better", "worse", "mixed", "none" */

struct difference {			  /* of one figure */
	struct figure_spread was, is, by; /* by: is - was, seed by seed */
	enum difference_way way;
};
/* queue NULL: in total. */
struct difference comparison_difference(const struct comparison *c, uint32_t side, const char *queue, enum figure f);
/* Queues that any run has, by path; to be freed with array_free, the strings are borrowed. */
typedef ARRAY(const char *) comparison_queues;
void comparison_all_queues(const struct comparison *c, comparison_queues *ret);

void comparison_text(const struct comparison *c, const struct look *look, bool is_wide, struct text *out);
/* kind Comparison: for -o json, and for the page. */
void comparison_emit(const struct comparison *c, struct emit *e);
