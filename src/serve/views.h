/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views.h - what is served of a cluster: the same JSON as the command line's -o json, in pages where it is long.
 *
 *	/configz                     kind EffectiveConfiguration, as cede config print
 *	/api/v1/cluster              kind ClusterView, as cede show; ?summary=true without nodes and pods
 *	/api/v1/queues               kind QueueList
 *	/api/v1/nodes                kind NodeList; ?name=NODE, ?limit=N&after=NAME
 *	/api/v1/pods                 kind PodList; ?queue=PATH (and below), ?node=, ?state=, ?namespace=, ?name=,
 *	                             ?limit=N&after=NS/NAME
 *	/api/v1/plan                 kind Plan, as cede plan; ?cycles=N, ?namespace=
 *	/api/v1/explain/NS/NAME      kind Explanation or GroupExplanation; /api/v1/explain/QUEUE kind QueueExplanation;
 *	                             ?output=json|yaml|text|wide, ?width=COLUMNS
 *	/api/v1/whatif (POST)        kind PlanDifference; ?output=yaml: the settings and queues it would be planned with
 *	/api/v1/overview             kind Overview: what waits, who is below its guarantee, the last hour, the daemon
 *	/api/v1/waiting              kind WaitingList: pods that wait, grouped by reason; ?queue=
 *	/api/v1/nodes/map            kind NodeMap: every node in a few bytes; ?limit=N&after=NAME
 *	/api/v1/node?name=NODE       kind NodeView: one node, its pods, and what protects each, until when
 *	/api/v1/queues/history       kind QueueHistory; ?queue=PATH
 *	/api/v1/settings             application/yaml: settings and queues in force
 *	/api/v1/reports              kind ReportList; /api/v1/reports/ID the data of one, as simulate --report draws it
 *
 * Plans, explanations and what-ifs are made aside (aside.h): whoever decides goes on meanwhile.
 */
#pragma once

#include "serve/planner.h"
#include "serve/serve.h"

struct aside;
struct usage;
struct reports;

struct views_daemon {	  /* of cede run */
	const char *role; /* "leads", "stands by", "decides, writes nothing"; NULL: this is no daemon */
	bool is_synced;
	double watch_lag_s;
	uint32_t n_stuck, n_in_flight;
	uint64_t n_journal_lost;
};

struct views {
	struct aside *aside; /* makes plans; borrowed, as everything here */
	/* NULL: nothing is known of it */
	struct serve_log *log;
	struct metrics *metrics;
	const struct usage *usage;
	const struct reports *reports;
	const char *source; /* what is served: "files", "journal", "simulation", "cluster" */
	struct views_daemon daemon;
};

/* Answers a request for one of the paths above, or with 404. */
void views_answer(struct views *v, const struct serve_world *w, struct serve_request *r);

/* Sets the gauges of queues and the cluster. */
void views_gauges(const struct serve_world *w, struct metrics *m);

/* ---- log_decision.c ---- */

/* Facts of a decision that stand not in its JSON: users and workloads. */
void views_more_facts(const struct plan_view *v, const struct decision *d, struct text *more);
/* Into the log, with them. */
void views_log_decision(struct serve_log *l, const struct plan_view *v, const struct decision *d, int64_t at_ns);

/* ---- whatif.c ---- */

/*
 * body: documents as cede plan -f takes them, which take the place of those of their name and kind; or one of
 *
 *	{"kind": "WhatIf", "set": ["queue.root.a.max.cpu=8"], "remove": ["ns/pod"], "drain": ["node"], "documents": "…"}
 *
 * all of it optional. kind PlanDifference into out.
 */
enum err_code views_whatif(const struct serve_world *w, const char *body, size_t n, struct text *out, struct err *e);
/* The settings and queues of the cluster that is thought of, as YAML that cede reads: to be kept if it is liked. */
enum err_code views_whatif_documents(const struct serve_world *w, const char *body, size_t n, struct text *out,
				     struct err *e);
/* Of the cluster as it is. */
enum err_code views_documents(const struct serve_world *w, struct text *out, struct err *e);
