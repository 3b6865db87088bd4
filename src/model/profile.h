/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.h - the four profiles, as data: which actions, which rules, in which order work waits, how objects are read.
 *
 * profile.c is the one place that says what a profile is; everybody else asks it for what they need to know.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/rule_table.h"

enum profile { PROFILE_DEFAULT, PROFILE_KUBERNETES, PROFILE_YUNIKORN, PROFILE_KAI, PROFILE_COUNT };

enum search_mode {
	MODE_PODS,	/* one pod after the other, by priority; victims as Kubernetes' default preemption finds them */
	MODE_QUEUES,	/* one pod or gang after the other, in the order of the queues; victims node by node */
	MODE_SCENARIOS, /* all workloads together, action by action; victims by scenarios */
};
enum waiting_order { ORDER_PRIORITY, ORDER_GUARANTEE, ORDER_YUNIKORN, ORDER_FAIR_SHARE };
enum start_source {		  /* since when a pod runs */
		    START_ANY,	  /* its group's stamp, its own start, when it was scheduled, made; else now */
		    START_STATUS, /* status.startTime, else whenever it is asked */
		    START_STAMP,  /* its group's stamp alone */
};
enum reclaim_by { RECLAIM_GUARANTEE, RECLAIM_FAIR_SHARE };

struct profile_data {
	const char *name, *about;
	uint32_t actions;		/* bit set of enum action */
	uint64_t hard;			/* bit sets of enum rule_id: rules that protect, */
	uint64_t soft;			/* and rules that spare as long as anything else works */
	uint64_t unasked[ACTION_COUNT]; /* of them: those that an action does without here */
	enum search_mode search_mode;
	enum waiting_order order;
	enum reclaim_by reclaim_by;
	bool ignores_spread;	   /* topology spread constraints keep nobody from a node */
	bool has_group_priorities; /* a group that goes as a whole has a priority of its own */
	bool has_gangs;		   /* where queues decide: groups start together, and go as a whole */
	/* how objects are read */
	enum start_source start;
	bool has_no_queues;	  /* all pods are in root.default */
	bool has_only_kai_queues; /* names of queues are those of Queue objects; YuniKorn's words do not count */
	bool ignores_kai_groups;
};

const struct profile_data *profile_get(enum profile p);
const char *profile_text(enum profile p);
bool profile_parse(const char *s, enum profile *ret);

static inline bool profile_has_action(enum profile p, enum action a)
{
	return profile_get(p)->actions >> a & 1;
}
static inline bool profile_has_rule(enum profile p, enum rule_id r)
{
	return (profile_get(p)->hard | profile_get(p)->soft) >> r & 1;
}
