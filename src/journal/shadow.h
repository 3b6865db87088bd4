/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shadow.h - where cede and the scheduler that it stood beside part (cede run --shadow): for each pod that the other
 * one placed, what cede had decided of it last before that; and pods that cede would have placed and the other did not.
 *
 * In the journal a placement of the other scheduler is a decision with the action "theirs", whose message is its name.
 */
#pragma once

#include "base/emit.h"
#include "base/map.h"
#include "explain/table.h"
#include "journal/journal.h"

enum shadow_result { SHADOW_SAME, SHADOW_OTHER, SHADOW_ONLY_THERE, SHADOW_ONLY_HERE, SHADOW_RESULTS };

struct shadow_row {
	const char *pod, *scheduler, *their_node; /* their_node "": they have not placed it */
	const char *outcome, *node, *message;	  /* cede's; outcome "": nothing was decided */
	uint32_t n_victims;
	int64_t at_ns;
	enum shadow_result result;
};

struct shadow {
	struct arena *arena;
	ARRAY(struct shadow_row) rows;
	struct map open; /* hash of a uid -> its row, as long as they have not placed it */
	uint32_t counts[SHADOW_RESULTS];
};

void shadow_init(struct shadow *s);
void shadow_free(struct shadow *s);
void shadow_add(struct shadow *s, const struct journal_run *run); /* with its decisions; other runs do nothing */
void shadow_end(struct shadow *s);				  /* all runs were added: counts */

void shadow_text(const struct shadow *s, const struct look *look, bool is_wide, struct text *out);
void shadow_emit(const struct shadow *s, struct emit *e); /* kind ShadowHistory */
