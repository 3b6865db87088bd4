/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explanation.h - everything there is to say about one pod in a plan: its own decision if it waits, who takes it if it
 * runs, and what spares it.
 */
#pragma once

#include "engine/engine.h"
#include "explain/forecast.h"
#include "explain/plan_view.h"

struct explanation {
	const struct plan_view *view;
	pod_id pod;
	const struct decision *own;   /* its last decision, NULL if it did not wait */
	const struct decision *taken; /* the first that needs it gone, NULL if none does */
	uint32_t n_stronger;	      /* waiting pods of the plan with a higher priority, none of which takes it */
	const struct decision *strongest;
	uint32_t n_spared; /* waiting pods that looked for room and had to leave it */
	bool has_outlook;  /* it was looked for */
	struct outlook outlook;
	struct arena *arena;
	struct cede_cycle words; /* for the words of filters; only if has_words */
	bool has_words;
};

void explanation_init(struct explanation *x, const struct plan_view *v, pod_id pod);
/* Words for what filters said of nodes; from here to explanation_free the engine can make no plan. */
void explanation_words(struct explanation *x, struct engine *en);
void explanation_free(struct explanation *x);
void explanation_text(struct explanation *x, const struct look *look, bool is_wide, struct text *out);
/* kind Explanation. */
void explanation_emit(struct explanation *x, struct emit *e);
