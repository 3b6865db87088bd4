/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - a simulation as a page: --report FILE.html.
 *
 * The data is JSON of what web/report draws: totals and queues as in -o json, series of at most REPORT_STEPS steps, the
 * evictions of a report_log. It does not grow with the load.
 */
#pragma once

#include "sim/expect.h"
#include "sim/report_log.h"

enum { REPORT_STEPS = 400 };

struct report_info {
	const char *title;    /* "philly.csv under profile default" */
	const char *subtitle; /* what else there is to say in a line */
	uint32_t n_notes, n_checks;
	const char *const *notes;   /* what was assigned, a sentence each */
	const struct check *checks; /* what came of what a scenario expects */
};

/* After sim_run, with a series kept. Settles the log. */
void report_data(struct sim *s, struct report_log *l, const struct report_info *info, struct text *json);
enum err_code report_write(const char *path, struct sim *s, struct report_log *l, const struct report_info *info,
			   struct err *e);

/* The fields of T in interfaces.md, into the object that is open. */
void report_emit_counts(struct emit *e, const struct sim_outcome *o, struct outcome_counts *c);
/* "checks", each with expect, ok and found. */
void report_emit_checks(struct emit *e, const struct check *checks, uint32_t n);
/* "waitsLongest" with pod, since and message; nothing if nobody waits. */
void report_emit_longest(struct emit *e, const struct sim_outcome *o);
