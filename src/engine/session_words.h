/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_words.h - why a workload of a session waits, and who is protected; for engine/ alone.
 */
#pragma once

#include <inttypes.h>

#include "engine/session.h"

struct words;

struct words *words_new(struct session *s, struct arena *keep);
void words_free(struct words *w);
/* One or more sentences, kept; asked after the decisions were carried into the ledger. */
const char *words_of_workload(struct words *w, uint32_t workload);
const char *words_of_gates(struct words *w, pod_id pod);

struct protected_memo {
	/* for whom: workloads that say the same here see the same */
	uint32_t queue;
	int32_t priority;
	bool is_core, is_above;
	enum action action; /* ACTION_NONE: of all that were tried */
	struct protected_pod *v;
	uint32_t n;
};
const struct protected_memo *words_protected(struct words *w, uint32_t workload, pod_id pod, enum action action);
