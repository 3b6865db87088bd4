/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/views.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

#include "explain/cluster_view.h"
#include "explain/emit_fields.h"
#include "manifest/config_view.h"
#include "serve/views_internal.h"

enum { DEFAULT_LIMIT = 500, MAX_LIMIT = 5000, MAX_CYCLES = 100, MAX_WIDTH = 1000 };
#define EXPLAIN "/api/v1/explain/"

bool number_of(struct asking *a, const char *key, uint32_t min, uint32_t max, uint32_t *ret)
{
	const char *s = serve_query(a->r, key);
	char *end;
	unsigned long n;

	if (!s)
		return true;
	n = strtoul(s, &end, 10);
	if (!isdigit((unsigned char)*s) || *end || n < min || n > max) {
		refuse(a, 400, "%s: expected a number from %u to %u", key, min, max);
		return false;
	}
	*ret = (uint32_t)n;
	return true;
}

static bool is_true(struct serve_request *r, const char *key)
{
	const char *s = serve_query(r, key);

	return s && !str_eq(s, "false") && !str_eq(s, "0");
}

void refuse(struct asking *a, int status, const char *fmt, ...)
{
	struct text words = {0};
	va_list ap;

	va_start(ap, fmt);
	text_vprintf(&words, fmt, ap);
	va_end(ap);
	text_reset(&a->out);
	serve_error_text(&a->out, status, text_str(&words));
	text_free(&words);
	a->status = status;
	a->type = JSON_TYPE;
}

void begin_json(struct asking *a)
{
	emit_init(&a->e, &a->out, EMIT_JSON_LINE);
}

/* ---- the cluster as it is ---- */

static void answer_cluster(struct asking *a)
{
	struct cluster_view v;

	cluster_view_init(&v, a->w->cluster, a->w->now_ns);
	begin_json(a);
	if (is_true(a->r, "summary"))
		cluster_view_emit_summary(&v, &a->e);
	else
		cluster_view_emit(&v, &a->e);
	cluster_view_free(&v);
}

bool page_begin(struct asking *a, struct page *p, const char *kind, int64_t now_ns)
{
	const char *after = serve_query(a->r, "after");

	*p = (struct page){.kind = kind, .after = after ? after : "", .limit = DEFAULT_LIMIT};
	if (!number_of(a, "limit", 1, MAX_LIMIT, &p->limit))
		return false;
	begin_json(a);
	emit_object(&a->e, NULL);
	emit_str(&a->e, "kind", kind);
	emit_time(&a->e, "now", now_ns);
	emit_list(&a->e, "items");
	return true;
}

bool page_takes(struct page *p, bool is_after, const char *name)
{
	p->total++;
	if (!is_after)
		return false;
	if (p->n == p->limit) {
		p->has_more = true;
		return false;
	}
	p->n++;
	text_reset(&p->last);
	text_add(&p->last, name);
	return true;
}

void page_end(struct asking *a, struct page *p)
{
	emit_end(&a->e);
	emit_int(&a->e, "total", p->total);
	if (p->has_more)
		emit_str(&a->e, "next", text_str(&p->last));
	emit_end(&a->e);
	text_free(&p->last);
}

static void answer_nodes(struct asking *a)
{
	const char *name = serve_query(a->r, "name");
	struct cluster_view v;
	struct page p;

	if (!page_begin(a, &p, "NodeList", a->w->now_ns))
		return;
	cluster_view_init_brief(&v, a->w->cluster, a->w->now_ns);
	for (uint32_t i = 0; i < v.nodes.n; i++) {
		const char *node = view_node_name(&v, v.nodes.v[i]);

		if (name && !str_eq(name, node))
			continue;
		if (page_takes(&p, strcmp(node, p.after) > 0, node))
			view_emit_node(&a->e, &v, v.nodes.v[i]);
	}
	cluster_view_free(&v);
	page_end(a, &p);
}

struct pod_filter {
	const char *queue, *node, *ns, *name; /* name: "ns/name" */
	enum pod_state state;
	bool has_state;
};

static bool is_below(const char *path, const char *top)
{
	size_t n = strlen(top);

	return strncmp(path, top, n) == 0 && (!path[n] || path[n] == '.');
}

static bool passes(const struct cluster_view *v, const struct pod *p, const struct pod_filter *f)
{
	bool has_node = p->node != NODE_NONE;

	if (f->has_state && p->state != f->state)
		return false;
	if (f->queue && !is_below(view_queue_path(v, p->queue), f->queue))
		return false;
	if (f->node && !(has_node && str_eq(view_node_name(v, p->node), f->node)))
		return false;
	return !f->ns || str_eq(name_str(v->names, labelset_get(v->vocab, p->labelset)->ns), f->ns);
}

static bool read_filter(struct asking *a, struct pod_filter *f)
{
	static const char *const states[] = {[POD_WAITING] = "waiting",
					     [POD_PLACED] = "running",
					     [POD_LEAVING] = "leaving",
					     [POD_FINISHED] = "finished"};
	const char *state = serve_query(a->r, "state");

	*f = (struct pod_filter){.queue = serve_query(a->r, "queue"),
				 .node = serve_query(a->r, "node"),
				 .ns = serve_query(a->r, "namespace"),
				 .name = serve_query(a->r, "name"),
				 .has_state = state != NULL};
	for (enum pod_state s = POD_WAITING; state && s <= POD_FINISHED; s++)
		if (str_eq(states[s], state)) {
			f->state = s;
			return true;
		}
	if (state)
		refuse(a, 400, "state: expected waiting, running, leaving or finished");
	return !state;
}

/* The order of the view: by namespace, then by name; "a-b/c" comes after "a/d". */
static int compare_paths(const char *a, const char *b)
{
	const char *x = strchr(a, '/'), *y = strchr(b, '/');
	size_t n = x ? (size_t)(x - a) : strlen(a), m = y ? (size_t)(y - b) : strlen(b);
	int c = memcmp(a, b, n < m ? n : m);

	if (c || n != m)
		return c ? c : n < m ? -1 : 1;
	return strcmp(a + n, b + m);
}

int view_pod_order(const void *pa, const void *pb, void *view)
{
	const struct cluster_view *v = view;
	const struct pod *a = ledger_pod(v->ledger, *(const pod_id *)pa),
			 *b = ledger_pod(v->ledger, *(const pod_id *)pb);
	int c = name_cmp(v->names, labelset_get(v->vocab, a->labelset)->ns, labelset_get(v->vocab, b->labelset)->ns);

	return c ? c : name_cmp(v->names, a->name, b->name);
}

/*
 * The first of those that pass and come after a name, in order: one more than the page has. All pods are looked at, few
 * are sorted: of many, those that cannot be on the page are forgotten again and again.
 */
static void find_pods(struct cluster_view *v, const struct pod_filter *f, struct page *p, id_list32 *ret)
{
	uint32_t most = p->limit + 1;
	struct text name = {0};

	for (pod_id i = 0; i < ledger_pod_limit(v->ledger); i++) {
		const struct pod *pod = ledger_pod(v->ledger, i);
		const char *path;

		if (pod->state == POD_FREE || !passes(v, pod, f))
			continue;
		path = view_pod_name(v, pod, &name);
		if (f->name && !str_eq(path, f->name))
			continue;
		p->total++;
		if (compare_paths(path, p->after) <= 0)
			continue;
		array_push(ret, i);
		if (ret->n < 4 * most)
			continue;
		qsort_r(ret->v, ret->n, sizeof(*ret->v), view_pod_order, v);
		ret->n = most;
	}
	if (ret->n > 1)
		qsort_r(ret->v, ret->n, sizeof(*ret->v), view_pod_order, v);
	text_free(&name);
}

static void answer_pods(struct asking *a)
{
	struct text name = {0};
	id_list32 found = {0};
	struct pod_filter f;
	struct cluster_view v;
	struct page p;

	if (!read_filter(a, &f) || !page_begin(a, &p, "PodList", a->w->now_ns))
		return;
	cluster_view_init_brief(&v, a->w->cluster, a->w->now_ns);
	find_pods(&v, &f, &p, &found);
	p.has_more = found.n > p.limit;
	for (uint32_t i = 0; i < found.n && i < p.limit; i++)
		view_emit_pod(&a->e, &v, found.v[i]);
	if (p.has_more)
		text_add(&p.last, view_pod_name(&v, ledger_pod(v.ledger, found.v[p.limit - 1]), &name));
	array_free(&found);
	cluster_view_free(&v);
	text_free(&name);
	page_end(a, &p);
}

static void answer_config(struct asking *a)
{
	struct config_view v = {.manifest = a->w->manifest, .config = a->w->config, .has_profile = a->w->has_profile};

	emit_init(&a->e, &a->out, EMIT_JSON);
	config_view_emit(&v, &a->e);
}

/* ---- what would be decided ---- */

static void answer_plan(struct asking *a)
{
	struct plan_question q = {.ns = serve_query(a->r, "namespace"), .cycles = 1};
	struct world_plan p;
	struct err e = {0};

	if (!number_of(a, "cycles", 1, MAX_CYCLES, &q.cycles))
		return;
	if (world_plan(a->w, &q, &p, &e)) {
		refuse(a, 500, "%s", e.msg);
	} else {
		emit_init(&a->e, &a->out, EMIT_JSON);
		plan_view_emit(&p.view, &a->e);
	}
	world_plan_free(&p);
}

/* How it is to be written, and as what it is sent. */
static bool read_look(struct asking *a, struct explain_look *ret)
{
	const char *output = serve_query(a->r, "output");

	*ret = (struct explain_look){.is_data = true, .format = EMIT_JSON};
	if (!number_of(a, "width", 20, MAX_WIDTH, &ret->look.width))
		return false;
	if (!output || str_eq(output, "json"))
		return true;
	if (str_eq(output, "yaml")) {
		ret->format = EMIT_YAML;
		a->type = YAML_TYPE;
		return true;
	}
	ret->is_data = false;
	ret->is_wide = str_eq(output, "wide");
	a->type = TEXT_TYPE;
	if (!ret->is_wide && !str_eq(output, "text"))
		refuse(a, 400, "output: expected json, yaml, text or wide");
	return a->status == 200;
}

static void answer_explain(struct asking *a)
{
	const char *name = serve_path(a->r) + strlen(EXPLAIN), *ns = serve_query(a->r, "namespace");
	struct plan_question q = {0};
	struct explain_target target;
	struct explain_look look;
	struct world_plan p;
	struct err e = {0};

	if (!read_look(a, &look))
		return;
	if (explain_find(a->w->cluster, ns ? ns : "default", name, &target, &e)) {
		refuse(a, 404, "%s", e.msg);
		return;
	}
	q.target = &target;
	if (world_plan(a->w, &q, &p, &e))
		refuse(a, 500, "%s", e.msg);
	else
		explain_write(a->w, &p, &target, &look, &a->out);
	world_plan_free(&p);
}

static void answer_whatif(struct asking *a)
{
	const char *output = serve_query(a->r, "output");
	const struct text *body = serve_body(a->r);
	bool wants_yaml = output && str_eq(output, "yaml");
	struct err e = {0};
	enum err_code rc;

	if (output && !wants_yaml && !str_eq(output, "json")) {
		refuse(a, 400, "output: expected json or yaml");
		return;
	}
	if (wants_yaml)
		a->type = YAML_TYPE;
	rc = wants_yaml ? views_whatif_documents(a->w, text_str(body), body->n, &a->out, &e)
			: views_whatif(a->w, text_str(body), body->n, &a->out, &e);
	if (rc)
		refuse(a, e.code == ERR_INTERNAL ? 500 : 400, "%s", e.msg);
}

static const struct served_view {
	const char *path;
	void (*answer)(struct asking *a);
	bool is_costly; /* it makes plans */
} all_views[] = {
	{"/api/v1/cluster", answer_cluster, false},
	{"/api/v1/queues", answer_queues, false},
	{"/api/v1/nodes", answer_nodes, false},
	{"/api/v1/pods", answer_pods, false},
	{"/api/v1/plan", answer_plan, true},
	{EXPLAIN, answer_explain, true},
	{"/api/v1/whatif", answer_whatif, true},
	{"/configz", answer_config, false},
	{"/api/v1/overview", answer_overview, false},
	{"/api/v1/waiting", answer_waiting, false},
	{"/api/v1/nodes/map", answer_node_map, false},
	{"/api/v1/node", answer_node, false},
	{"/api/v1/queues/history", answer_history, false},
	{"/api/v1/settings", answer_settings, false},
	{"/api/v1/reports", answer_reports, false},
	{REPORT, answer_report, false},
};

static const struct served_view *view_of(const char *path)
{
	for (size_t i = 0; i < sizeof(all_views) / sizeof(*all_views); i++) {
		const char *at = all_views[i].path;
		size_t n = strlen(at);

		if (at[n - 1] == '/' ? str_starts(path, at) && path[n] : str_eq(path, at))
			return &all_views[i];
	}
	return NULL;
}

/* In a copy of this process, which starts no threads. */
static void answer_aside(void *ctx, struct answer *ret)
{
	struct asking *a = ctx;

	a->w->config->threads = 1;
	a->view->answer(a);
	*ret = (struct answer){a->status, a->type, a->out};
}

void views_answer(struct views *v, const struct serve_world *w, struct serve_request *r)
{
	const struct served_view *view = view_of(serve_path(r));
	struct asking a = {.v = v, .w = w, .r = r, .view = view, .status = 200, .type = JSON_TYPE};

	if (!view) {
		serve_reply_error(r, 404, "there is nothing under this path");
	} else if (view->is_costly) {
		aside_answer(v->aside, r, answer_aside, &a);
	} else {
		view->answer(&a);
		serve_reply(r, a.status, a.type, &a.out);
	}
}
