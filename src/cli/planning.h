/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planning.h - running the engine on what was read, for the commands that show decisions.
 */
#pragma once

#include "cli/common.h"
#include "engine/engine.h"
#include "explain/plan_focus.h"
#include "explain/plan_view.h"
#include "journal/journal.h"
#include "manifest/plugins.h"

struct planning {
	uint32_t cycles, threads;
	bool lists_all;
	const struct explain_target *target; /* it is made to explain this alone; NULL: everything */
	const char *ns;			     /* only pods of this namespace are told of; NULL: all */
};
extern const struct argp planning_argp; /* --all, --cycles, --threads */

struct planned {
	struct plugins *plugins;
	struct engine *engine;
	struct decisions plan;
	struct plan_notes *notes;
	struct plan_view view;
};

/* Plans and takes all moves back. 0, or an exit code after the error was told. */
int planning_run(const struct planning *o, struct cli_cluster *c, struct planned *ret);
void planned_free(struct planned *p);
/* Into a journal, with all it depends on; what is too old there goes. 0, or an exit code after the error was told. */
int planned_record(const struct planned *p, const struct cli_cluster *c, uint32_t cycles, const char *path,
		   const struct journal_keep *keep);
