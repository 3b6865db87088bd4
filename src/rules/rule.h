/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h - may this running pod be taken away for that waiting one?
 *
 * The table in model/rule_table.h lists the rules, their order, and where each is asked. A rule answers for a waiting
 * pod, an action and a running pod: it may go, it is protected (hard), or it is spared (soft: it goes only if nothing
 * else works).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cluster/cluster.h"
#include "model/rule_table.h"

/* The columns of the table; "" for RULE_NONE. */
const char *rule_text(enum rule_id r);
const char *rule_overridden_text(enum rule_id r);	      /* "though it opted out" */
const char *rule_settings_text(enum rule_id r);		      /* fields, with blanks between them */
uint32_t rule_actions(enum rule_id r);			      /* bit set of enum action */
extern const char *const rule_words[], *const action_words[]; /* all names, in order; NULL at the end */

const char *action_text(enum action a);

enum rule_answer { MAY_GO, IS_PROTECTED, IS_SPARED };

struct rule_verdict {
	uint8_t answer;		    /* enum rule_answer */
	uint8_t rule;		    /* enum rule_id; RULE_NONE when it may go */
	uint8_t reason;		    /* which of the rule's sentences */
	uint32_t queue;		    /* the queue it speaks of, QUEUE_NONE if none */
	uint32_t type;		    /* the resource type it speaks of */
	podset_id podset;	    /* the part of a group it speaks of; only where the rule says so */
	bool keeps_minimum;	    /* it protects the minimum of that podset: what is above it may go all the same */
	int64_t until_ns;	    /* where time decides, else TIME_NONE */
	int64_t num[3];		    /* the rule's numbers, for its sentence */
	const char *plugin, *words; /* RULE_PLUGIN: its name, and its sentence (NULL: none); good while it is loaded */
};
const char *rule_verdict_name(const struct rule_verdict *v); /* of the rule, or the plugin's own */

static inline struct rule_verdict rule_may_go(void)
{
	return (struct rule_verdict){.answer = MAY_GO, .queue = QUEUE_NONE, .until_ns = TIME_NONE};
}
static inline struct rule_verdict rule_says(enum rule_answer answer, enum rule_id rule)
{
	return (struct rule_verdict){
		.answer = (uint8_t)answer, .rule = (uint8_t)rule, .queue = QUEUE_NONE, .until_ns = TIME_NONE};
}
