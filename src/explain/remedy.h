/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remedy.h - what would it take? The small changes that would let a waiting pod get room, found by trying them: the
 * plan is made again with one thing different, and taken back.
 *
 * Without one rule; with the smallest higher priority that works; with a larger guarantee or maximum of one of its
 * queues that its documents could have; with more room on the node that lacks least. Of a pod in a group what its whole
 * group would take. What time alone changes is the forecast's (forecast.h).
 */
#pragma once

#include "explain/plan_view.h"
#include "explain/trial_plan.h"

enum remedy_kind { REMEDY_ROOM, REMEDY_MAXIMUM, REMEDY_GUARANTEE, REMEDY_PRIORITY, REMEDY_RULE };

struct remedy {
	enum remedy_kind kind;
	enum rule_id rule; /* REMEDY_RULE */
	queue_id queue;	   /* REMEDY_MAXIMUM, REMEDY_GUARANTEE */
	node_id node;	   /* REMEDY_ROOM */
	res_id type;
	int64_t has, needs; /* amounts, or priorities */
	/* what it would come to */
	enum outcome outcome;
	enum action action;
	node_id to;
	uint32_t n_victims;
};

enum { REMEDIES_MAX = 12 };

/* Room, and numbers of queues; then priority and rules, after those. How many there are. The ledger is as before. */
uint32_t remedies_of_numbers(const struct trial_question *q, struct remedy ret[REMEDIES_MAX]);
uint32_t remedies_of_rules(const struct trial_question *q, struct remedy ret[REMEDIES_MAX], uint32_t n);
void remedies_text(const struct plan_view *v, const struct remedy *r, uint32_t n, const struct look *look,
		   struct text *out);
void remedies_emit(const struct plan_view *v, const struct remedy *r, uint32_t n, struct emit *e);
