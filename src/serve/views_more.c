/* SPDX-License-Identifier: Apache-2.0 */
/* A queue's history, settings as documents, reports. */
#include <ctype.h>
#include <stdlib.h>

#include "explain/emit_fields.h"
#include "serve/reports.h"
#include "serve/usage.h"
#include "serve/views_internal.h"

void answer_history(struct asking *a)
{
	const struct queue_tree *t = ledger_queues(cluster_ledger(a->w->cluster));
	const char *queue = serve_query(a->r, "queue");
	queue_id q;

	if (!queue || !*queue) {
		refuse(a, 400, "queue: expected the path of a queue");
		return;
	}
	q = queue_tree_find(t, queue, strlen(queue));
	if (q == QUEUE_NONE || !queue_get(t, q)->is_live) {
		refuse(a, 404, "there is no queue %s", queue);
		return;
	}
	begin_json(a);
	emit_object(&a->e, NULL);
	emit_str(&a->e, "kind", "QueueHistory");
	emit_time(&a->e, "now", a->w->now_ns);
	emit_str(&a->e, "queue", queue);
	usage_emit(a->v->usage, queue, &a->e);
	emit_end(&a->e);
}

void answer_settings(struct asking *a)
{
	struct err e = {0};

	a->type = YAML_TYPE;
	if (views_documents(a->w, &a->out, &e))
		refuse(a, 500, "%s", e.msg);
}

void answer_reports(struct asking *a)
{
	begin_json(a);
	emit_object(&a->e, NULL);
	emit_str(&a->e, "kind", "ReportList");
	emit_list(&a->e, "items");
	for (uint32_t i = 0; i < reports_count(a->v->reports); i++) {
		const struct report_entry *x = reports_get(a->v->reports, i);

		emit_object(&a->e, NULL);
		emit_int(&a->e, "id", i + 1);
		emit_str(&a->e, "title", x->title);
		emit_str(&a->e, "report", x->kind);
		emit_some(&a->e, "file", x->file);
		emit_int(&a->e, "bytes", (int64_t)x->json.n);
		emit_end(&a->e);
	}
	emit_end(&a->e);
	emit_end(&a->e);
}

void answer_report(struct asking *a)
{
	const char *s = serve_path(a->r) + strlen(REPORT);
	const struct report_entry *x;
	unsigned long id;
	char *end;

	id = strtoul(s, &end, 10);
	if (!isdigit((unsigned char)*s) || *end || id < 1 || id > reports_count(a->v->reports)) {
		refuse(a, 404, "there is no such report");
		return;
	}
	x = reports_get(a->v->reports, (uint32_t)(id - 1));
	text_add_n(&a->out, text_str(&x->json), x->json.n);
}
