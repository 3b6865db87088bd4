/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_view.h - what planning a recorded run again came to, for people and for programs. Without other settings any
 * difference is a fault and its decisions are shown word by word; with them, differences are what was asked for.
 */
#pragma once

#include "base/emit.h"
#include "journal/diff.h"

struct replay_view {
	const struct run_diff *diff;
	bool has_other_settings;
};

void replay_view_text(const struct replay_view *v, const struct look *look, bool is_wide, struct text *out);
void replay_view_emit(const struct replay_view *v, struct emit *e); /* one object */
/* The last line, of all runs together. */
void replay_sums_text(const struct diff_sums *s, bool has_other_settings, const struct look *look, struct text *out);
void replay_sums_emit(const struct diff_sums *s, struct emit *e); /* "summary" */

/* The lists "notEvicted", "newlyEvicted", "otherReasons" and "otherAnswers" of any difference. */
void run_diff_emit(const struct run_diff *d, struct emit *e);
