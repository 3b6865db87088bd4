/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lint.h - settings that are allowed and do not do what they seem to: guarantees nobody can keep, fences around
 * nothing, queues whose work can never run.
 *
 * Looks at queues, nodes and waiting pods as they are; decides nothing. Findings come in a total order: by rule, then
 * by name.
 */
#pragma once

#include "base/emit.h"
#include "cluster/cluster.h"
#include "explain/table.h"

enum lint_level { LINT_NOTE, LINT_WARNING };

struct lint_finding {
	enum lint_level level;
	const char *rule;    /* "over-subscribed" */
	const char *subject; /* "queue root.a", "pod ml/train-0" */
	const char *text;    /* one sentence, with its numbers */
};

struct lint {
	struct arena *arena;
	ARRAY(struct lint_finding) v;
};

void lint_cluster(struct lint *l, struct cluster *c);
/* What reading said ("queues.yaml:12:9: ..."), as a finding. */
void lint_add_note(struct lint *l, const char *note);
void lint_free(struct lint *l);
void lint_text(const struct lint *l, const struct look *look, struct text *out);
void lint_emit(const struct lint *l, struct emit *e); /* kind Lint */
