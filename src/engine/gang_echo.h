/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_echo.h - where one gang has waited in vain, and nothing has moved since, a gang like it waits for the same
 * reasons without being tried (echo.h has the same for pods). For one cycle of the engine; not where everything is
 * looked at, nor with plugins of one's own.
 *
 * Gangs are alike if their groups have one podset of which nobody runs or has run, and as many members, all of one kind
 * (wait_kind.h), are lacking.
 */
#pragma once

#include "engine/echo_index.h"
#include "engine/engine_internal.h"
#include "engine/wait_kind.h"

struct gang_refusal {		 /* why a gang waits */
	uint32_t blocked, n_fit; /* the first member without room when nobody had to go, and how many had some */
	const char *message;	 /* of that one; NULL until it is known */
	enum rule_id own_rule;
	int64_t until_ns;
	const struct protected_pod *protected; /* those that are told */
	uint32_t n_protected;
};

struct gang_echoes {
	const struct engine *en;
	bool is_on, labels_matter;
	struct echo_index index; /* who waited in vain */
};

void gang_echoes_begin(struct gang_echoes *e, const struct engine *en);
void gang_echoes_end(struct gang_echoes *e);
/* Before members are tried: true, one like it was refused. */
bool gang_echoes_find(struct gang_echoes *e, const struct engine_run *run, const struct pod_list *members,
		      struct gang_refusal *ret);
/* After they were, in vain. What it points to stays while the cycle lasts. */
void gang_echoes_note(struct gang_echoes *e, const struct engine_run *run, const struct pod_list *members,
		      const struct gang_refusal *why);
