/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conform.h - compares cede with what other schedulers are known to do.
 *
 * A fact is one case of a file: an operation, its input and what the original answered. Each operation has a row in
 * ops.c: the function that does the same with cede's own code, or what is missing for it. A function says what differs;
 * a fact nothing was said about has passed. One file per family of operations.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "manifest/tree.h"

enum { EXPECT_MAX = 32 };

struct fact {
	const char *system; /* "kubernetes" */
	const char *file;   /* "kubernetes/quantity.json" */
	const char *id, *op;
	const struct tree *t;		   /* the fact */
	const struct tree *root;	   /* of its file */
	struct arena *arena;		   /* reset after each fact */
	struct text diff;		   /* what differs, a line each */
	struct text instead;		   /* the same, only what cede does: "what: got; what: got" */
	const char *skip;		   /* why it was not judged; NULL: it was */
	const char *looked_at[EXPECT_MAX]; /* the fields of its expect that somebody compared */
	uint32_t n_looked_at;
};

/* An operation: how it is run, or why it is not. */
struct op {
	const char *system, *name;
	void (*run)(struct fact *f); /* NULL: not run at all */
	const char *why_not;
};
const struct op *op_find(const char *system, const char *name); /* NULL: nobody ever heard of it */

/* What a fact expected and what it got. */
void fact_differs(struct fact *f, const char *what, const char *expected, const char *got);
void fact_skip(struct fact *f, const char *why); /* why: lives as long as the program, or in the file's tree */

/* Comparisons with an expected value; what is not expected (NULL) is not compared. */
void same_text(struct fact *f, const char *what, const struct tree *expected, const char *got);
void same_int(struct fact *f, const char *what, const struct tree *expected, int64_t got);
void same_bool(struct fact *f, const char *what, const struct tree *expected, bool got);

/* Fields of a fact. */
static inline const struct tree *fact_arg(const struct fact *f, const char *name)
{
	return tree_get(tree_get(f->t, "args"), name);
}
/* One of its expect, or of what stands in its place; what nobody asks for is a failure (main.c). */
const struct tree *expect_in(struct fact *f, const struct tree *expected, const char *name);
static inline const struct tree *fact_expect(struct fact *f, const char *name)
{
	return expect_in(f, tree_get(f->t, "expect"), name);
}
bool tree_truth(const struct tree *t);				    /* false if absent */
int64_t tree_int(const struct tree *t, int64_t otherwise);	    /* a whole number */
const char *tree_text(const struct tree *t, const char *otherwise); /* of any scalar but null */
static inline uint32_t tree_count(const struct tree *t)
{
	return tree_is(t, TREE_LIST) ? t->n : 0;
}
/* The list holds this string or number. */
bool tree_has(const struct tree *list, const char *text);
/* YAML of the runner's own, read into the fact's arena. */
const struct tree *tree_of(struct fact *f, const char *yaml);

/* quantity.c */
void run_quantity_parse(struct fact *f);
void run_quantity_format(struct fact *f);
void run_quantity_cmp(struct fact *f);
void run_quantity_round_up(struct fact *f);

/* selectors.c */
void run_selector_parse(struct fact *f);
void run_selector_match(struct fact *f);
void run_selector_format(struct fact *f);
void run_selector_convert(struct fact *f);
void run_selector_matches_nothing(struct fact *f);
void run_requirement_validate(struct fact *f);

/* requests.c */
void run_pod_requests(struct fact *f);
void run_container_aggregate(struct fact *f);
void run_scheduler_pod_resource(struct fact *f);

/* filters.c */
void run_filter(struct fact *f);
void run_score(struct fact *f);
void run_schedule_scores(struct fact *f);
void run_fit_error_text(struct fact *f);

/* preemption.c */
void run_select_victims_on_node(struct fact *f);
void run_dry_run_preemption(struct fact *f);
void run_select_best_candidate(struct fact *f);
void run_post_filter(struct fact *f);
void run_preempt(struct fact *f);
void run_pod_eligible_to_preempt(struct fact *f);
void run_pod_terminating_by_preemption(struct fact *f);
void run_more_important_victim(struct fact *f);
void run_filter_victims_with_pdb_violation(struct fact *f);

/* pod_groups.c */
void run_select_victims_on_domain(struct fact *f);
void run_schedule_group_with_preemption(struct fact *f);

/* plans.c */
void run_schedule(struct fact *f);
void run_schedule_with_preemption(struct fact *f);

/* backoff.c */
void run_backoff_duration(struct fact *f);
void run_backoff_time(struct fact *f);

/* scenario.c */
void run_scenario(struct fact *f);

/* yunikorn_config.c */
void run_yunikorn_quantity(struct fact *f);
void run_yunikorn_config(struct fact *f);

/* yunikorn_preemption.c */
void run_yunikorn_generic(struct fact *f);
void run_yunikorn_find_victims(struct fact *f);
void run_yunikorn_required_node(struct fact *f);

/* yunikorn_e2e.c */
void run_yunikorn_e2e(struct fact *f);

/* yunikorn_quota.c */
void run_yunikorn_quota(struct fact *f);
void run_yunikorn_quota_target(struct fact *f);
void run_yunikorn_quota_split(struct fact *f);
void run_yunikorn_sort_ask(struct fact *f);

/* kai_policy.c */
void run_kai_resource_division(struct fact *f);
void run_kai_reclaimable(struct fact *f);
void run_kai_strategies(struct fact *f);
void run_kai_queue_order(struct fact *f);

/* kai_minruntime.c */
void run_kai_minruntime(struct fact *f);

/* kai_actions.c */
void run_kai_actions(struct fact *f);
