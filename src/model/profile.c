/* SPDX-License-Identifier: Apache-2.0 */
/* What the four profiles are. */
#include "model/profile.h"

#include <string.h>

#define A(x) (1u << ACTION_##x)
#define R(x) (UINT64_C(1) << RULE_##x)

/* Rules that protect and that spare in a profile: its columns of RULE_TABLE as sets of rules. */
#define BIT_IF(set, profile, id) | (uint64_t)((set) >> (profile)&1) << RULE_##id
#define DEFAULT_HARD(id, table, name, hard, ...) BIT_IF(hard, PROFILE_DEFAULT, id)
#define DEFAULT_SOFT(id, table, name, hard, soft, ...) BIT_IF(soft, PROFILE_DEFAULT, id)
#define KUBERNETES_HARD(id, table, name, hard, ...) BIT_IF(hard, PROFILE_KUBERNETES, id)
#define KUBERNETES_SOFT(id, table, name, hard, soft, ...) BIT_IF(soft, PROFILE_KUBERNETES, id)
#define YUNIKORN_HARD(id, table, name, hard, ...) BIT_IF(hard, PROFILE_YUNIKORN, id)
#define YUNIKORN_SOFT(id, table, name, hard, soft, ...) BIT_IF(soft, PROFILE_YUNIKORN, id)
#define KAI_HARD(id, table, name, hard, ...) BIT_IF(hard, PROFILE_KAI, id)
#define KAI_SOFT(id, table, name, hard, soft, ...) BIT_IF(soft, PROFILE_KAI, id)
#define RULES(column) (0 RULE_TABLE(column))

static const struct profile_data profiles[PROFILE_COUNT] = {
	[PROFILE_DEFAULT] =
		{
			.name = "default",
			.about = "everything together: gangs and single pods, queues with guarantees, all rules",
			.actions = A(ALLOCATE) | A(RECLAIM) | A(PREEMPT) | A(DISPLACE) | A(REQUIRED_NODE) |
				   A(CONSOLIDATE) | A(QUOTA) | A(STALE_GANG),
			.hard = RULES(DEFAULT_HARD),
			.soft = RULES(DEFAULT_SOFT),
			.search_mode = MODE_QUEUES,
			.order = ORDER_GUARANTEE,
			.reclaim_by = RECLAIM_GUARANTEE,
			.has_gangs = true,
			.start = START_ANY,
		},
	[PROFILE_KUBERNETES] =
		{
			.name = "kubernetes",
			.about = "as kube-scheduler: priorities alone, disruption budgets as far as possible",
			.actions = A(ALLOCATE) | A(DISPLACE),
			.hard = RULES(KUBERNETES_HARD),
			.soft = RULES(KUBERNETES_SOFT),
			/* budgets are counted over all that go, in the order they are given back */
			.unasked = {[ACTION_DISPLACE] = R(BUDGET)},
			.has_group_priorities = true,
			.search_mode = MODE_PODS,
			.order = ORDER_PRIORITY,
			.reclaim_by = RECLAIM_GUARANTEE,
			.start = START_STATUS,
			.has_no_queues = true,
			.ignores_kai_groups = true,
		},
	[PROFILE_YUNIKORN] =
		{
			.name = "yunikorn",
			.about = "as YuniKorn: queues with guarantees, its laws kept; no groups, budgets or windows",
			.actions = A(ALLOCATE) | A(RECLAIM) | A(REQUIRED_NODE) | A(QUOTA),
			.hard = RULES(YUNIKORN_HARD),
			.soft = RULES(YUNIKORN_SOFT),
			.search_mode = MODE_QUEUES,
			.order = ORDER_YUNIKORN,
			.reclaim_by = RECLAIM_GUARANTEE,
			.start = START_ANY,
		},
	[PROFILE_KAI] =
		{
			.name = "kai",
			.about = "as KAI: gangs, fair shares, minimum runtimes, consolidation",
			.actions = A(ALLOCATE) | A(CONSOLIDATE) | A(RECLAIM) | A(PREEMPT) | A(STALE_GANG),
			.hard = RULES(KAI_HARD),
			.soft = RULES(KAI_SOFT),
			.unasked = {[ACTION_RECLAIM] = R(PRIORITY), /* between queues shares decide */
				    [ACTION_STALE_GANG] = R(PREEMPTIBILITY)},
			.search_mode = MODE_SCENARIOS,
			.order = ORDER_FAIR_SHARE,
			.reclaim_by = RECLAIM_FAIR_SHARE,
			.start = START_STAMP,
			.has_only_kai_queues = true,
			.ignores_spread = true,
		},
};

const struct profile_data *profile_get(enum profile p)
{
	return &profiles[p];
}

const char *profile_text(enum profile p)
{
	return profiles[p].name;
}

bool profile_parse(const char *s, enum profile *ret)
{
	for (enum profile p = 0; p < PROFILE_COUNT; p++) {
		if (strcmp(s, profiles[p].name) == 0) {
			*ret = p;
			return true;
		}
	}
	return false;
}
