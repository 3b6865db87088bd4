/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_text.h - everything there is to say about one group in a plan: one sentence, its pods, who has to go for it,
 * and who is protected.
 */
#pragma once

#include "explain/forecast.h"
#include "explain/plan_view.h"

/* Its first decision that waits; NULL if none does. */
const struct decision *group_waits(const struct plan_view *v, group_id g);
/* outlook: of that decision, NULL if it was not looked for. */
void group_text(const struct plan_view *v, group_id g, const struct outlook *outlook, const struct look *look,
		bool is_wide, struct text *out);
/* kind GroupExplanation. */
void group_emit(const struct plan_view *v, group_id g, const struct outlook *outlook, struct emit *e);
