/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gang_laws.h - a gang is one claim: laws 2, 4 and 5 in all types that its members together are short of.
 *
 * Members are given room one after the other, and each search judges its victims in the types that this member lacks.
 * What one member frees may be what another lacks too: then nobody has asked whether the queue is entitled to that. So
 * once all of them have room, all victims are judged once more, in what the gang as a whole lacked before the first.
 */
#pragma once

#include "engine/engine_internal.h"

struct gang_claim {
	struct engine *en;
	int64_t now_ns;
	enum action action;
	uint32_t n, n_victims;
	const pod_id *members;
	const node_id *nodes;  /* where they would go */
	const pod_id *victims; /* each once */
};

/*
 * The ledger is as it was before the first member got room. May all of them go for it? If not, which one may not, with
 * the law's numbers.
 */
bool gang_claim_is_lawful(const struct gang_claim *c, struct protected_pod *ret_protected);
