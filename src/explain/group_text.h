/* SPDX-License-Identifier: Apache-2.0 */
/*
 * group_text.h - everything there is to say about one group in a plan: one sentence, its pods, who has to go for it,
 * and who is protected.
 */
#pragma once

#include "explain/plan_view.h"

void group_text(const struct plan_view *v, group_id g, const struct look *look, bool is_wide, struct text *out);
/* kind GroupExplanation. */
void group_emit(const struct plan_view *v, group_id g, struct emit *e);
