/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_memo.h - what a plugin once added up about a node, good while the node stays as it is.
 *
 * Looking at every pod of every node for every waiting pod costs far more than all the rest of a cycle, and between two
 * cycles few nodes change. A memo is the plugin's own over a run (its self): two numbers per node, with the generation
 * of the node they were made from. Equal generation, equal content, so a memo never has to be told of a change, and
 * what a dry run does and takes back does not disturb it.
 *
 * Refreshing writes and belongs into pre_filter or pre_score; asking only reads. Without a memo (self NULL) everything
 * is counted anew each time.
 */
#pragma once

#include "base/array.h"
#include "filters/framework.h"

struct memo_sums {
	uint64_t generation; /* 0: not known */
	int64_t a, b;	     /* what they are is the plugin's */
};

struct node_memo {
	const struct ledger *ledger; /* whose nodes these are */
	ARRAY(struct memo_sums) nodes;
};

/* Fills a and b. */
typedef void (*node_sum_fn)(const struct cede_cycle *c, const struct ledger_node *n, struct memo_sums *ret);

/* The create and destroy of a plugin whose self is a memo. */
bool node_memo_create(const struct cede_arg *args, size_t n_args, void **ret_self, char *why, size_t why_size);
void node_memo_destroy(void *self);

/* Bring these nodes up to date. NULL is fine. */
void node_memo_refresh(struct node_memo *m, const struct cede_cycle *c, const node_id *nodes, size_t n,
		       node_sum_fn sum);
/* NULL: not known, or not up to date. */
const struct memo_sums *node_memo_find(const struct node_memo *m, const struct cede_cycle *c, node_id node);
/* From the memo, or summed up now. */
struct memo_sums node_memo_ask(const struct node_memo *m, const struct cede_cycle *c, node_id node, node_sum_fn sum);
