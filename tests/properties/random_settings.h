/* SPDX-License-Identifier: Apache-2.0 */
/* random_settings.h - settings of the engine that are not the usual ones. For tests only. */
#pragma once

#include "engine/config.h"
#include "rng.h"

static inline bool settings_one_in(struct rng *r, uint32_t n)
{
	return rng_below(r, n) == 0;
}

static inline void settings_vary_actions(struct kai_settings *k, struct rng *r)
{
	for (uint32_t i = k->n_actions; settings_one_in(r, 4) && i > 1; i--) {
		uint32_t at = rng_below(r, i);
		enum action was = k->actions[i - 1];

		k->actions[i - 1] = k->actions[at];
		k->actions[at] = was;
	}
	for (enum action a = 0; a < ACTION_COUNT; a++)
		if (settings_one_in(r, 8))
			k->queue_depth[a] = 1 + rng_below(r, 3);
}

/* Not search_steps: who skips comes further with as many. */
static inline void settings_vary(struct engine_config *c, struct rng *r)
{
	static const double saturations[] = {0.5, 0.9, 1.5, 3};
	static const int64_t graces_s[] = {-1, 0, 1, 600};
	static const int32_t preemptees[] = {-1, 0, 1, 2};

	settings_vary_actions(&c->kai, r);
	c->kai.cpu_spreads = settings_one_in(r, 3);
	c->kai.gpu_spreads = settings_one_in(r, 3);
	c->kai.has_no_predicates = settings_one_in(r, 8);
	c->kai.forbids_consolidating_reclaim = settings_one_in(r, 4);
	if (settings_one_in(r, 3))
		c->kai.saturation = saturations[rng_below(r, 4)];
	if (settings_one_in(r, 3))
		c->kai.staleness_grace_ns = graces_s[rng_below(r, 4)] * NS_PER_S;
	if (settings_one_in(r, 3))
		c->kai.max_consolidation_preemptees = preemptees[rng_below(r, 4)];
	c->min_runtime_covers_consolidation = !settings_one_in(r, 4);
	if (settings_one_in(r, 2))
		c->reclaim_by = RECLAIM_FAIR_SHARE;
	if (settings_one_in(r, 4))
		c->evictions_per_hour = 1 + rng_below(r, 3);
	if (settings_one_in(r, 4))
		c->patience_ns = rng_below(r, 20) * NS_PER_S;
}
