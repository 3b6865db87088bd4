/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - the numbers of a simulation that are compared with those of another.
 */
#pragma once

#include <stdio.h>

#include "base/emit.h"
#include "sim/report_log.h"

enum figure {
	FIGURE_FINISHED,
	FIGURE_EVICTIONS,
	FIGURE_REPEATED,
	FIGURE_LOST,
	FIGURE_WAIT_MEAN,
	FIGURE_WAIT_P95,
	FIGURE_WAIT_HIGH, /* of the highest priority; in total only */
	FIGURE_BELOW,
	FIGURE_USE,	 /* of the type that is used most */
	FIGURE_FAIRNESS, /* in total only */
	FIGURES,
};

enum figure_unit { UNIT_COUNT, UNIT_TIME, UNIT_POD_TIME, UNIT_PART, UNIT_INDEX, UNIT_RATIO };

struct figure_info {
	const char *key, *title;
	enum figure_unit unit;
	int better;    /* -1: less is, 1: more is */
	bool is_total; /* queues have none */
};
extern const struct figure_info figure_infos[FIGURES];

struct figures_queue {
	char *path;
	double v[FIGURES];
};

struct figures { /* of one run. Zero-initialised is empty */
	double total[FIGURES];
	uint64_t starts;
	int32_t high_priority;
	bool has_high;
	bool has_guarantees; /* queues with a guarantee had work: else nothing can be below one */
	bool is_complete;
	int64_t from_ns, to_ns;
	ARRAY(struct figures_queue) queues; /* by path */
	uint64_t digest;		    /* of all decisions, in their order */
};

void figures_take(struct figures *ret, struct sim_outcome *o, struct report_log *l);
void figures_free(struct figures *f);
const struct figures_queue *figures_find(const struct figures *f, const char *path); /* NULL: it has none */

/* As bytes, from one process to another of the same program. False: could not be written; is not whole. */
bool figures_write(const struct figures *f, FILE *to);
bool figures_read(struct figures *ret, FILE *from);

/* "5,213", "2h10m", "251 h", "83 %", "0.94". */
void figure_text(enum figure_unit unit, double v, struct text *out);
/* With a sign: "+5,213". */
void figure_change_text(enum figure_unit unit, double v, struct text *out);

struct figure_spread { /* over seeds */
	double mean, min, max;
};
struct figure_spread figure_spread_of(const double *v, uint32_t n);
void figure_spread_emit(struct emit *e, const char *key, const struct figure_spread *s);
void figure_infos_emit(struct emit *e); /* "figures": what they are called and which way is better */
