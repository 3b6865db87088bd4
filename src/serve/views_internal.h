/* SPDX-License-Identifier: Apache-2.0 */
/* views_internal.h - what the files of views share; for them alone. */
#pragma once

#include "explain/cluster_view.h"
#include "serve/aside.h"
#include "serve/facts.h"
#include "serve/views.h"

#define JSON_TYPE "application/json"
#define YAML_TYPE "application/yaml"
#define TEXT_TYPE "text/plain; charset=utf-8"
#define REPORT "/api/v1/reports/"

struct asking {
	struct views *v;
	const struct serve_world *w;
	struct serve_request *r;
	const struct served_view *view;
	int status;	  /* 200 unless it is refused */
	const char *type; /* JSON unless said otherwise */
	struct text out;
	struct emit e;
};

/* Takes the place of what was written. */
void refuse(struct asking *a, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A number of the query; false: it was refused. */
bool number_of(struct asking *a, const char *key, uint32_t min, uint32_t max, uint32_t *ret);
void begin_json(struct asking *a);

/*
 * A page of a list that is sorted by name: after a name, which need not be there any more, so that what comes and goes
 * between two pages neither repeats nor hides the others.
 */
struct page {
	const char *kind, *after;
	uint32_t limit, n, total;
	struct text last;
	bool has_more;
};
bool page_begin(struct asking *a, struct page *p, const char *kind, int64_t now_ns);
bool page_takes(struct page *p, bool is_after, const char *name); /* is the next one, with this name, on the page? */
void page_end(struct asking *a, struct page *p);

/* By namespace and name, for qsort_r over pod ids with the view. */
int view_pod_order(const void *a, const void *b, void *view);

/* ---- views_queues.c ---- */
void answer_queues(struct asking *a);

/* ---- views_nodes.c ---- */
void answer_node_map(struct asking *a);
void answer_node(struct asking *a);

/* ---- views_overview.c ---- */
void answer_overview(struct asking *a);
void answer_waiting(struct asking *a);

/* ---- views_more.c ---- */
void answer_history(struct asking *a);
void answer_settings(struct asking *a);
void answer_reports(struct asking *a);
void answer_report(struct asking *a);

/* ---- log_query.c: entries of the log, newest first, with the log locked; false ends it ---- */
void serve_log_each(struct serve_log *l, bool (*look)(void *ctx, int64_t at_ns, const struct text *facts), void *ctx);
