/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation that facts ask for, by name: what runs it, or what is missing. */
#include <stddef.h>

#include "conform.h"

#define ITS_ARITHMETIC "numbers inside the original's search that cede, judging by laws 2, 4 and 5, does not have"
#define ITS_CLOCKWORK "attempts, timers and reservations of the original's own loop, step by step"

static const struct op ops[] = {
	{"kubernetes", "quantity_parse", run_quantity_parse, NULL},
	{"kubernetes", "quantity_format", run_quantity_format, NULL},
	{"kubernetes", "quantity_cmp", run_quantity_cmp, NULL},
	{"kubernetes", "quantity_round_up", run_quantity_round_up, NULL},
	{"kubernetes", "label_selector_parse", run_selector_parse, NULL},
	{"kubernetes", "label_selector_match", run_selector_match, NULL},
	{"kubernetes", "label_selector_format", run_selector_format, NULL},
	{"kubernetes", "label_selector_convert", run_selector_convert, NULL},
	{"kubernetes", "label_selector_matches_nothing", run_selector_matches_nothing, NULL},
	{"kubernetes", "label_requirement_validate", run_requirement_validate, NULL},
	{"kubernetes", "pod_requests", run_pod_requests, NULL},
	{"kubernetes", "container_aggregate", run_container_aggregate, NULL},
	{"kubernetes", "scheduler_pod_resource", run_scheduler_pod_resource, NULL},

	{"kubernetes", "filter", run_filter, NULL},
	{"kubernetes", "score", run_score, NULL},
	{"kubernetes", "schedule_scores", run_schedule_scores, NULL},
	{"kubernetes", "fit_error_text", run_fit_error_text, NULL},
	{"kubernetes", "select_victims_on_node", run_select_victims_on_node, NULL},
	{"kubernetes", "dry_run_preemption", run_dry_run_preemption, NULL},
	{"kubernetes", "select_best_candidate", run_select_best_candidate, NULL},
	{"kubernetes", "post_filter", run_post_filter, NULL},
	{"kubernetes", "pod_eligible_to_preempt", run_pod_eligible_to_preempt, NULL},
	{"kubernetes", "preempt", run_preempt, NULL},
	{"kubernetes", "filter_victims_with_pdb_violation", run_filter_victims_with_pdb_violation, NULL},
	{"kubernetes", "more_important_victim", run_more_important_victim, NULL},
	{"kubernetes", "pod_terminating_by_preemption", run_pod_terminating_by_preemption, NULL},
	{"kubernetes", "schedule_with_preemption", run_schedule_with_preemption, NULL},
	{"kubernetes", "schedule", run_schedule, NULL},
	{"kubernetes", "scenario", run_scenario, NULL},
	{"kubernetes", "backoff_duration", run_backoff_duration, NULL},
	{"kubernetes", "backoff_time", run_backoff_time, NULL},
	{"kubernetes", "num_feasible_nodes_to_find", NULL, "cede always looks at all nodes"},
	{"kubernetes", "select_victims_on_domain", run_select_victims_on_domain, NULL},
	{"kubernetes", "schedule_group_with_preemption", run_schedule_group_with_preemption, NULL},

	{"yunikorn", "quantity", run_yunikorn_quantity, NULL},
	{"yunikorn", "config", run_yunikorn_config, NULL},
	{"yunikorn", "generic", run_yunikorn_generic, NULL},
	{"yunikorn", "find-victims", run_yunikorn_find_victims, NULL},
	{"yunikorn", "required-node", run_yunikorn_required_node, NULL},
	{"yunikorn", "quota", run_yunikorn_quota, NULL},
	{"yunikorn", "quota-target", run_yunikorn_quota_target, NULL},
	{"yunikorn", "quota-split", run_yunikorn_quota_split, NULL},
	{"yunikorn", "sort-ask", run_yunikorn_sort_ask, NULL},
	{"yunikorn", "preemptable", NULL, ITS_ARITHMETIC},
	{"yunikorn", "remaining", NULL, ITS_ARITHMETIC},
	{"yunikorn", "predicate-bool", NULL, ITS_ARITHMETIC},
	{"yunikorn", "score", NULL, ITS_ARITHMETIC},
	{"yunikorn", "flow", NULL, ITS_CLOCKWORK},
	{"yunikorn", "timing", NULL, ITS_CLOCKWORK},
	{"yunikorn", "e2e", run_yunikorn_e2e, NULL},

	{"kai", "actions", run_kai_actions, NULL},
	{"kai", "minruntime", run_kai_minruntime, NULL},
	{"kai", "queue_order", run_kai_queue_order, NULL},
	{"kai", "reclaimable", run_kai_reclaimable, NULL},
	{"kai", "resource_division", run_kai_resource_division, NULL},
	{"kai", "strategies", run_kai_strategies, NULL},
};

const struct op *op_find(const char *system, const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (str_eq(ops[i].system, system) && str_eq(ops[i].name, name))
			return &ops[i];
	return NULL;
}
