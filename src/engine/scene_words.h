/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scene_words.h - why a unit of a scene waits, and who had to be left; for engine/ alone.
 */
#pragma once

#include <inttypes.h>

#include "engine/scene.h"

struct words;

struct words *words_new(struct scene *s, struct arena *keep);
void words_free(struct words *w);
/* One or more sentences, kept; asked after the decisions were carried into the ledger. */
const char *words_of_unit(struct words *w, uint32_t unit);
const char *words_of_gates(struct words *w, pod_id pod);

struct left_list {
	/* for whom: units that say the same here see the same */
	uint32_t queue;
	int32_t priority;
	bool is_core, is_above;
	enum action action; /* ACTION_NONE: of all that were tried */
	struct protected_pod *v;
	uint32_t n;
};
const struct left_list *words_left(struct words *w, uint32_t unit, pod_id pod, enum action action);
