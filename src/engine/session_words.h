/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_words.h - why a workload of a session waits, and who is protected; for engine/ alone.
 */
#pragma once

#include <inttypes.h>

#include "engine/session.h"

struct session_words;

struct session_words *words_new(struct session *s, struct arena *keep);
void words_free(struct session_words *w);
/* One or more sentences, kept; asked after the decisions were carried into the ledger. */
const char *words_of_workload(struct session_words *w, uint32_t workload);
const char *words_of_gates(struct session_words *w, pod_id pod);

/* Into the decision: whom the rules protected from it, by its action, or while it waits by all that were tried. */
void words_protected(struct session_words *w, uint32_t workload, struct decision *d);
