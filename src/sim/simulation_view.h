/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulation_view.h - what came of a simulation, for people and for programs.
 */
#pragma once

#include "base/emit.h"
#include "explain/table.h"
#include "sim/expect.h"
#include "sim/sim.h"

struct simulation_view {
	struct sim *sim; /* after sim_run */
	const char *load, *profile;
	uint64_t seed;
	const char *const *notes; /* what was assigned by rule */
	uint32_t n_notes;
	const struct check *checks; /* what came of what was expected */
	uint32_t n_checks;
};

enum simulation_format { SIMULATION_TEXT, SIMULATION_WIDE, SIMULATION_JSON, SIMULATION_YAML, SIMULATION_CSV };
struct simulation_look {
	enum simulation_format format;
};

void simulation_show(const struct simulation_view *v, const struct simulation_look *how, const struct look *look,
		     struct text *out);
/* "2017-09-04T10:30:41Z to 2017-12-24T…, 59 nodes"… in one line. */
void simulation_span_text(const struct simulation_view *v, struct text *out);
/* A row for each step of time and queue; after a run that kept its series. */
void simulation_series_csv(const struct simulation_view *v, struct text *out);
