/* SPDX-License-Identifier: Apache-2.0 */
/*
 * salvage.h - what can still be read of a damaged journal, into a new one.
 *
 * Runs keep their ids. Of a run is saved, each if it is as it was written: its decisions, its evictions, its cluster
 * and settings. A run without its cluster is shown by history and cannot be replayed; of one without its decisions only
 * the evictions are left. The damaged file and its log are not touched: a copy of them is worked on, beside the new
 * file, and removed afterwards. If the first page is broken, where SQLite has the list of tables, that of a new journal
 * is put in its place, which is the same.
 */
#pragma once

#include "journal/journal.h"

struct salvage_report {
	uint32_t n_whole, n_without_state, n_evictions_only, n_lost; /* runs */
	struct text *words; /* a line for each run that is not whole, and for what else was wrong */
};

/* Nothing may be at to. Nothing is made if no run can be saved. */
enum err_code journal_salvage(const char *from, const char *to, struct salvage_report *ret, struct err *e);
