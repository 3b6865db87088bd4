/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rebuild.h - the cluster and the settings a run was decided with, as if they had been read again.
 *
 * The manifest may hold other settings already: they stand for recorded ones of the same kind, and the profile is the
 * recorded one unless they name one.
 */
#pragma once

#include "journal/journal.h"
#include "manifest/manifest.h"

/* Settings and nothing else into m, to stand for recorded ones. */
enum err_code rebuild_other_settings(struct manifest *m, const char *path, struct err *e);
/* Fills config and makes the cluster; m and config are new, but for other settings. The run must have its state. */
enum err_code rebuild_run(const struct journal_run *run, struct manifest *m, struct engine_config *config,
			  struct cluster **ret, struct err *e);
