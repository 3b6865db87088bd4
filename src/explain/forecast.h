/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forecast.h - when will a waiting pod start, if nothing else happens?
 *
 * The plan is made again at every time at which a verdict of it ends (windows, delays, rates) or the engine's own
 * patience does (engine_next_time: stale gangs, gangs that are given up), with what was decided
 * before carried out: who had to go is gone, who got a place runs. Nobody new comes, nobody finishes by himself, and
 * what was evicted is not made again. It ends when the pod has room, when nothing is left that time would change, or
 * after FORECAST_STEPS plans. The ledger is as before.
 */
#pragma once

#include "explain/remedy.h"

enum { FORECAST_STEPS = 50, FORECAST_SHOWN = 8, FORECAST_RULES = 4 };

struct forecast_end { /* verdicts about the pod's candidates, or the pod itself, that end at one time */
	enum rule_id rule;
	uint32_t n; /* pods that the rule protected until then; 0: it held back the waiting pod itself */
};

struct forecast_step {
	int64_t at_ns;
	uint32_t n_ends;
	struct forecast_end ends[FORECAST_RULES];
};

struct forecast {
	bool starts;	 /* at the last step */
	bool is_bounded; /* the bound was reached before an answer */
	bool is_rough;	 /* not all who were protected from it are known: something may have ended between two steps */
	uint32_t n;	 /* times at which something of the pod's own ended; the last FORECAST_SHOWN are kept */
	struct forecast_step steps[FORECAST_SHOWN];
	/* if it starts */
	int64_t at_ns;
	enum outcome outcome;
	enum action action;
	node_id node;
	uint32_t n_victims;
};

void forecast_find(const struct trial_question *q, struct forecast *ret);
void forecast_text(const struct plan_view *v, const struct forecast *f, const struct look *look, struct text *out);
void forecast_emit(const struct plan_view *v, const struct forecast *f, struct emit *e); /* "startsAt", "forecast" */

/* Both: what it would take, and when it starts. */
struct outlook {
	uint32_t n_remedies;
	struct remedy remedies[REMEDIES_MAX];
	struct forecast forecast;
};
void outlook_find(const struct trial_question *q, struct outlook *ret);
void outlook_text(const struct plan_view *v, const struct outlook *o, const struct look *look, struct text *out);
void outlook_emit(const struct plan_view *v, const struct outlook *o, struct emit *e);
