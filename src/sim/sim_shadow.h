/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_shadow.h - what a pass would make of the cluster if everybody who waits were asked (sim_options.compares).
 *
 * Planned before the pass itself and taken back; the pass must come to the same. A moment at which nobody is worth
 * asking is compared too, and so are the times that verdicts name, whoever they were told to.
 */
#pragma once

#include "sim/sim_internal.h"

struct shadow_pod {
	uint8_t state, nomination;
	node_id node; /* NODE_NONE: it has none */
};

struct shadow {
	ARRAY(struct shadow_pod) pods; /* by pod id */
	bool has_moves;		       /* others moved for a group */
};

void shadow_take(const struct sim *s, struct shadow *ret);
enum err_code shadow_compare(const struct sim *s, const struct shadow *x, struct err *e);
