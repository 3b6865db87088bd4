/* SPDX-License-Identifier: Apache-2.0 */
/*
 * facts.h - what decisions are looked for by: pods, queues, rules, users, and who had to go.
 *
 * The facts of a decision are one run of bytes, each fact a letter, a text and a NUL. Most are read from the decision's
 * own JSON when it comes into the log; users and workloads stand in no decision, whoever logs it adds them. A victim is
 * a fact, and the facts of a victim's own follow it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum fact_kind {
	FACT_POD = 'p',
	FACT_GROUP = 'g',
	FACT_QUEUE = 'q', /* of the pod or of a victim */
	FACT_OUTCOME = 'o',
	FACT_ACTION = 'a',
	FACT_NODE = 'n',
	FACT_RULE = 'r',     /* that holds the pod back, protected somebody or was overridden; each once */
	FACT_REASON = 'm',   /* why it waits, without numbers of nodes: "Insufficient cpu; min-runtime" */
	FACT_UNTIL = 't',    /* when time changes something, RFC 3339 */
	FACT_USER = 'u',     /* of the pod */
	FACT_WORKLOAD = 'w', /* what comes back after an eviction (rules/eviction_history.h) */
	FACT_LOST = 'l',     /* whole seconds of work that go with all victims */
	FACT_VICTIM = 'v',
	FACT_VICTIM_USER = 'U',
	FACT_VICTIM_WORKLOAD = 'W',
};

void facts_add(struct text *facts, enum fact_kind kind, const char *value); /* NULL or "": nothing */
/* From a decision as cede plan prints it; what cannot be read has no facts. */
void facts_read(struct text *facts, const char *json, size_t n);

/* One fact after the other: begin with *at 0. NULL: no more. */
const char *facts_next(const struct text *facts, size_t *at, enum fact_kind *ret_kind);
const char *facts_get(const struct text *facts, enum fact_kind kind); /* the first; "" if there is none */
bool facts_has(const struct text *facts, enum fact_kind kind, const char *value);

/* ---- what somebody looks for ---- */

enum fact_show { SHOW_ALL, SHOW_EVICTIONS, SHOW_PLACEMENTS, SHOW_WAITS };

struct fact_filter {	   /* strings: NULL for any */
	const char *queue; /* of the pod or a victim: it or one below it */
	const char *rule, *user, *action, *outcome, *node;
	const char *pod; /* a part of the name of the pod, its group or a victim */
	enum fact_show show;
	int64_t from_ns, to_ns; /* TIME_NONE: without end; to is not in it any more */
};
bool facts_pass(const struct text *facts, int64_t at_ns, const struct fact_filter *f);
bool facts_show(const struct text *facts, enum fact_show show);

/* Is a pod, or what comes back of it, this one? workloads may be "". */
static inline bool is_same_work(const char *pod, const char *workload, const char *other, const char *other_workload)
{
	return (*pod && str_eq(pod, other)) || (*workload && str_eq(workload, other_workload));
}
