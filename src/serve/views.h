/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.h - what is served of a cluster: the same JSON as the command line's -o json, in pages where it is long.
 *
 *	/configz                     kind EffectiveConfiguration, as cede config print
 *	/api/v1/cluster              kind ClusterView, as cede show; ?summary=true without nodes and pods
 *	/api/v1/queues               kind QueueList
 *	/api/v1/nodes                kind NodeList; ?name=NODE, ?limit=N&after=NAME
 *	/api/v1/pods                 kind PodList; ?queue=PATH (and below), ?node=, ?state=, ?namespace=,
 *	                             ?limit=N&after=NS/NAME
 *	/api/v1/plan                 kind Plan, as cede plan; ?cycles=N, ?namespace=
 *	/api/v1/explain/NS/NAME      kind Explanation or GroupExplanation; /api/v1/explain/QUEUE kind QueueExplanation;
 *	                             ?output=json|yaml|text|wide, ?width=COLUMNS
 *	/api/v1/whatif (POST)        kind PlanDifference
 *
 * Plans, explanations and what-ifs are made on the scheduler's own thread. They may take a tenth of its time: after one
 * that took a second, others are turned away for nine (503 with Retry-After), where options say so.
 */
#pragma once

#include "serve/planner.h"
#include "serve/serve.h"

struct views { /* zero-initialised is ready */
	bool limits_work;
	int64_t idle_until_ns; /* steady */
};

/* Answers a request for one of the paths above, or with 404. steady reads the time to see how long it took. */
void views_answer(struct views *v, const struct serve_world *w, struct serve_request *r, const struct clock *steady);

/* Sets the gauges of queues and the cluster. */
void views_gauges(const struct serve_world *w, struct metrics *m);

/* ---- whatif.c ---- */

/*
 * body: documents as cede plan -f takes them, which take the place of those of their name and kind; or one of
 *
 *	{"kind": "WhatIf", "set": ["queue.root.a.max.cpu=8"], "remove": ["ns/pod"], "drain": ["node"], "documents": "…"}
 *
 * all of it optional. kind PlanDifference into out.
 */
enum err_code views_whatif(const struct serve_world *w, const char *body, size_t n, struct text *out, struct err *e);
