/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - a plan as a run that can be kept or compared. The plan's moves must have been taken back: the cluster is
 * written as it is now.
 */
#pragma once

#include "engine/config.h"
#include "explain/plan_view.h"
#include "journal/journal.h"
#include "manifest/manifest.h"

struct record_source {
	enum journal_source source;
	const struct manifest *manifest;
	const struct engine_config *config;
	uint32_t cycles;
};

/* On success to be freed. Settings that cannot be written are an error. */
enum err_code journal_record(const struct plan_view *v, const struct record_source *src, struct journal_run *ret,
			     struct err *e);
/* The documents that were read, in the arena. Those that cannot be written are an error. */
enum err_code journal_settings_of(const struct manifest *m, struct arena *a, struct journal_setting **ret,
				  uint32_t *ret_n, struct err *e);
/* One decision of the view's plan; its words live in the arena. */
void journal_decision_of(const struct plan_view *v, const struct decision *d, struct arena *a,
			 struct journal_decision *ret);
/* The decisions alone, to be compared with others. To be freed. */
void journal_decisions(const struct plan_view *v, struct journal_run *ret);
