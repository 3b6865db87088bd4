/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lint_internal.h - what the files of lint share; for them alone.
 */
#pragma once

#include "explain/lint.h"

struct look_at { /* what the checks look at */
	struct lint *out;
	struct cluster *cluster;
	struct ledger *l;
	const struct queue_tree *tree;
	const struct names *names;
	const struct res_types *types;
};

__attribute__((format(printf, 5, 6))) void lint_add(struct lint *l, enum lint_level level, const char *rule,
						    const char *subject, const char *fmt, ...);
const char *lint_path(const struct look_at *a, queue_id q);
const char *lint_queue(const struct look_at *a, queue_id q);		/* "queue root.a" */
const char *lint_amount(const struct look_at *a, res_id r, int64_t v);	/* good until the lint is freed */
const char *lint_pod(const struct look_at *a, const struct pod *p);	/* "pod ml/train-0" */
const char *lint_group(const struct look_at *a, const struct group *g); /* "group ml/train" */

/* ---- lint_together.c: rules that are fine one by one and useless together ---- */
void lint_together(const struct look_at *a);
/* ---- lint_volumes.c ---- */
void lint_volumes(const struct look_at *a);

/* ---- lint_nodes.c: waiting work and guarantees against the nodes there are ---- */
void lint_nodes(const struct look_at *a);
