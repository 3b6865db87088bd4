/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_text.h - everything a plan has to say about one queue and those below it: is it short, of what, which rule
 * holds back how much and until when, and who has to go for it or from it.
 */
#pragma once

#include "explain/forecast.h"
#include "explain/plan_view.h"

/* The first of its pods that keeps waiting; NULL if none does. */
const struct decision *queue_waits(const struct plan_view *v, queue_id q);
/* outlook: of that decision, NULL if it was not looked for. */
void queue_text(const struct plan_view *v, queue_id q, const struct outlook *outlook, const struct look *look,
		struct text *out);
/* kind QueueExplanation. */
void queue_emit(const struct plan_view *v, queue_id q, const struct outlook *outlook, struct emit *e);
