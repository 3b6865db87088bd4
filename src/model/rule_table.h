/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_table.h - the one table of rules, in the order they are asked, and the list of actions.
 *
 * A row of RULE_TABLE is all that is said of a rule outside its own file: the enum, names in reports and events, what
 * `config print` and completion offer, and the rows of docs/rules.md (tests/rules/test_rule_table.c compares) come from
 * here. The first rule that protects is the one people are told. Columns:
 *
 *	id		RULE_id
 *	table		rule_table of src/rules/: its functions and its sentence
 *	name		what people read and write
 *	protects	profiles in which it is asked and may protect
 *	spares		profiles in which it only spares: what it names goes where nothing else works
 *	actions		that ask it; what a profile leaves out is data of the profile (profile.h)
 *	settings	its fields below `rules: {name: …}` in a CedeConfiguration, "" if it has none
 *	overridden	completes "it goes, …" where a soft rule had to give way, "" if it never has to
 *
 * Profiles and actions are sets; the words for them are defined below and good where profile.h is included.
 */
#pragma once

/* clang-format off */
#define RULE_TABLE(X) \
	X(FOREIGN, foreign, "foreign", RULE_IN(DEFAULT) | RULE_IN(YUNIKORN) | RULE_IN(KAI), 0, BY_ANY, "", "") \
	X(DAEMONSET, daemonset, "daemonset", RULE_IN(DEFAULT) | RULE_IN(YUNIKORN), 0, BY_ANY, "", "") \
	X(NEVER, never, "never", RULE_IN(DEFAULT) | RULE_IN(KUBERNETES) | RULE_IN(YUNIKORN), 0, BY_SOMEBODY, "", "") \
	X(DELAY, delay, "delay", RULE_IN(DEFAULT) | RULE_IN(YUNIKORN), 0, BY(RECLAIM), "", "") \
	X(KAI_QUOTA, kai_quota, "kai-quota", RULE_IN(DEFAULT), 0, BY_SOMEBODY, "", "") \
	X(SAME_CYCLE, same_cycle, "same-cycle", RULE_IN(DEFAULT) | RULE_IN(YUNIKORN), 0, BY_ANY, "", "") \
	X(APPLICATION, application, "application", RULE_IN(DEFAULT) | RULE_IN(YUNIKORN), 0, BY_SOMEBODY, "", "") \
	X(FENCE, fence, "fence", RULE_IN(DEFAULT) | RULE_IN(YUNIKORN), 0, BY(RECLAIM), "", "") \
	X(POLICY, policy, "policy", RULE_IN(DEFAULT) | RULE_IN(YUNIKORN), 0, BY_ANY & ~BY(REQUIRED_NODE), "", "") \
	X(PRIORITY, priority, "priority", RULE_IN_ALL, 0, \
	  BY(RECLAIM) | BY(PREEMPT) | BY(DISPLACE) | BY(REQUIRED_NODE), \
	  "", "") \
	X(PREEMPTIBILITY, preemptibility, "preemptibility", RULE_IN(DEFAULT) | RULE_IN(KAI), 0, BY_ANY, \
	  "threshold reach", "") \
	X(MIN_RUNTIME, min_runtime, "min-runtime", RULE_IN(DEFAULT) | RULE_IN(KAI), 0, BY_ANY & ~BY(STALE_GANG), \
	  "consolidation", "") \
	X(MAINTENANCE_WINDOW, maintenance_window, "maintenance-window", RULE_IN(DEFAULT), 0, BY_ANY, "", "") \
	X(GUARANTEE, guarantee, "guarantee", RULE_IN(DEFAULT) | RULE_IN(YUNIKORN), 0, BY(RECLAIM), "types", "") \
	X(FAIR_SHARE, fair_share, "fair-share", RULE_IN(KAI), 0, BY(RECLAIM), "", "") \
	X(BUDGET, budget, "budget", RULE_IN(DEFAULT), RULE_IN(KUBERNETES), BY_ANY, "", "against a disruption budget") \
	X(EVICTION_RATE, eviction_rate, "eviction-rate", RULE_IN(DEFAULT), 0, BY_ANY & ~BY(REQUIRED_NODE), \
	  "perHour", "") \
	X(OPT_OUT, opt_out, "opt-out", 0, RULE_IN(DEFAULT) | RULE_IN(YUNIKORN), BY_ANY, "mode", \
	  "though it opted out") \
	X(PLUGIN, plugin, "plugin", RULE_IN_ALL, 0, BY_ANY, "", "though a plugin would spare it") \
	X(DRIVER, driver, "driver", 0, RULE_IN(DEFAULT) | RULE_IN(YUNIKORN), BY_ANY, "", \
	  "though it is a driver") \
	X(THRASH, thrash, "thrash", 0, RULE_IN(DEFAULT), BY_ANY, "soft hard window protection", \
	  "though it was evicted before")
/* clang-format on */

#define RULE_IN(profile) (1u << PROFILE_##profile)
#define RULE_IN_ALL ((1u << PROFILE_COUNT) - 1)
#define BY(action) (1u << ACTION_##action)
/* Actions that take running pods away. */
#define BY_ANY \
	(BY(RECLAIM) | BY(PREEMPT) | BY(DISPLACE) | BY(REQUIRED_NODE) | BY(CONSOLIDATE) | BY(QUOTA) | BY(STALE_GANG))

/* Those of them for which somebody waits. */
#define BY_SOMEBODY (BY_ANY & ~BY(QUOTA) & ~BY(STALE_GANG))

#define X(id, ...) RULE_##id,
enum rule_id {
	RULE_NONE,
	RULE_TABLE(X) /* in this order */
	RULE_COUNT,
};
#undef X

#define ACTION_LIST(X)                    \
	X(ALLOCATE, "allocate")           \
	X(RECLAIM, "reclaim")             \
	X(PREEMPT, "preempt")             \
	X(DISPLACE, "displace")           \
	X(REQUIRED_NODE, "required-node") \
	X(CONSOLIDATE, "consolidate")     \
	X(QUOTA, "quota")                 \
	X(STALE_GANG, "stale-gang")

#define X(id, text) ACTION_##id,
enum action {
	ACTION_NONE,
	ACTION_LIST(X) /* in this order */
	ACTION_COUNT,
};
#undef X
