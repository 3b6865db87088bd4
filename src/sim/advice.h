/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice.h - what a setting does to a load: values tried, what each of them costs, and which to take (SI-5).
 *
 * Each value is simulated under each seed. Four figures count: evictions, lost work, waiting of the highest priority
 * and time below the guarantee; less is better in all. A value is dominated if another is as good in all four and
 * better in one. Of the others the one is recommended whose losses against the best in each figure are smallest
 * together, in parts of what the setting can change; and it is said in how many seeds the same value would have been.
 *
 * Nothing is recommended where the figures do not depend on the setting, or the load is too thin to tell.
 */
#pragma once

#include "explain/table.h"
#include "sim/figures.h"

enum { ADVICE_FIGURES = 4 };
extern const enum figure advice_figures[ADVICE_FIGURES];

struct advice_point {
	const char *value;
	struct figures *runs; /* one for each seed */
	/* found by advice_judge */
	struct figure_spread spread[ADVICE_FIGURES];
	bool is_dominated;
};

enum advice_verdict {
	ADVICE_GIVEN,
	ADVICE_NO_EFFECT, /* the figures are the same, or differ by less than a hundredth, whatever the value */
	ADVICE_THIN,	  /* too little happens */
	ADVICE_CHANCE,	  /* they differ, but one way under one seed and another under the next */
};

struct advice {
	const char *setting, *load; /* "queue.root.reclaimMinRuntime", "philly.csv, 82,247 jobs" */
	uint64_t first_seed;
	uint32_t n_seeds, n_points;
	struct advice_point *points;
	const char *const *notes; /* what was assigned */
	uint32_t n_notes;
	/* found by advice_judge */
	enum advice_verdict verdict;
	uint32_t best;	  /* number of the point; ADVICE_GIVEN */
	uint32_t n_agree; /* seeds in which it is the best */
	bool depends[ADVICE_FIGURES];
};

void advice_judge(struct advice *a);
/* The recommendation in a sentence, or why there is none. */
void advice_sentence(const struct advice *a, struct text *out);
void advice_text(const struct advice *a, const struct look *look, struct text *out);
/* kind Advice: for -o json, and for the page. */
void advice_emit(const struct advice *a, struct emit *e);
