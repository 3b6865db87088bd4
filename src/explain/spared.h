/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spared.h - running work that others looked at for room and had to leave alone: one pod, or all of a group.
 *
 * Of a group stands, for each waiting pod, what was said first of one of its pods.
 */
#pragma once

#include "explain/plan_view.h"

struct spared_work { /* one of them */
	const struct plan_view *view;
	pod_id pod;
	group_id group;
};

/* What was said of it when somebody else looked for room; NULL if nothing was. */
const struct protected_pod *spared_from(const struct spared_work *w, const struct decision *d);
uint32_t spared_count(const struct spared_work *w);
void spared_table(const struct spared_work *w, const struct look *look, struct text *out);
void spared_emit(const struct spared_work *w, struct emit *e); /* "sparedFrom" */
