/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule_ids.h - the names of all rules and actions, each in one list.
 *
 * Rules are in the order they are asked: the first that speaks is the one people are told.
 */
#pragma once

/* name, what people read */
#define RULE_LIST(X)                        \
	X(FOREIGN, "foreign")               \
	X(DAEMONSET, "daemonset")           \
	X(NEVER, "never")                   \
	X(DELAY, "delay")                   \
	X(APPLICATION, "application")       \
	X(FENCE, "fence")                   \
	X(POLICY, "policy")                 \
	X(PRIORITY, "priority")             \
	X(PREEMPTIBILITY, "preemptibility") \
	X(MIN_RUNTIME, "min-runtime")       \
	X(GUARANTEE, "guarantee")           \
	X(FAIR_SHARE, "fair-share")         \
	X(BUDGET, "budget")                 \
	X(EVICTION_RATE, "eviction-rate")   \
	X(OPT_OUT, "opt-out")               \
	X(DRIVER, "driver")                 \
	X(THRASH, "thrash")

#define X(id, text) RULE_##id,
enum rule_id {
	RULE_NONE,
	RULE_LIST(X) /* in this order */
	RULE_PLUGIN, /* a loaded plugin's own; the verdict says which */
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
