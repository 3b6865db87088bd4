/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo.h - where one has waited in vain, and nothing has moved since, whoever is of its kind (wait_kind.h) is told the
 * same without being asked: its decision is a copy, which points to the same words and the same list of who is
 * protected. For one cycle of the engine; not where everything is looked at, nor with plugins of one's own.
 */
#pragma once

#include "engine/echo_index.h"
#include "engine/engine_internal.h"
#include "engine/wait_kind.h"

struct echoes {
	const struct engine *en;
	const struct engine_run *run;
	bool is_on, labels_matter;
	struct echo_index index; /* who waited in vain */
};

void echoes_begin(struct echoes *e, const struct engine *en, const struct engine_run *run);
void echoes_end(struct echoes *e);
/* Before a pod is asked: true, it is decided. */
bool echoes_repeat(struct echoes *e, pod_id pod, struct decisions *ret);
/* After it was; from: where its decisions begin. */
void echoes_note(struct echoes *e, pod_id pod, const struct decisions *made, uint32_t from);
