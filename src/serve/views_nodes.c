/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes for people who look at them: all of them in one small answer, and one with everything on it. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/protections.h"
#include "explain/emit_fields.h"
#include "explain/plan_view.h"
#include "serve/views_internal.h"

enum { MAP_LIMIT = 20000, MAX_ASKING = 8, NODE_PODS = 500 };

/* ---- the map ---- */

struct queue_part { /* of a node */
	queue_id queue;
	double part;
};

/* The largest part of any type that is interesting: a pod that holds all GPUs and little memory holds the node. */
static double part_of(const struct cluster_view *v, const struct pod *p, const int64_t *has)
{
	const struct res_list *takes = view_pod_amounts(v, p);
	struct res_vec vec = {0};
	double most = 0;

	res_vec_add_list(&vec, takes);
	for (uint32_t i = 0; i < v->res.n; i++) {
		res_id r = v->res.v[i];

		if (r != RES_PODS && res_has(&vec, r) && has[r] > 0 && (double)vec.v[r] / (double)has[r] > most)
			most = (double)vec.v[r] / (double)has[r];
	}
	return most;
}

static void add_part(struct queue_part *parts, uint32_t *n, queue_id q, double part)
{
	uint32_t i = 0;

	while (i < *n && parts[i].queue != q)
		i++;
	if (i == *n)
		parts[(*n)++] = (struct queue_part){.queue = q};
	parts[i].part += part;
}

struct node_facts {
	queue_id queue; /* that holds most of it; QUEUE_NONE */
	int32_t top;	/* the highest priority; only with n_pods */
	uint32_t n_pods;
};

static struct node_facts facts_of(const struct cluster_view *v, const struct ledger_node *n, const int64_t *has)
{
	struct node_facts f = {.queue = QUEUE_NONE, .n_pods = n->pods.n};
	struct queue_part *parts = mem_alloc((n->pods.n + 1) * sizeof(*parts));
	double most = 0;
	uint32_t n_parts = 0;

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(v->ledger, n->pods.v[i]);

		if (!i || p->priority > f.top)
			f.top = p->priority;
		if (p->queue != QUEUE_NONE)
			add_part(parts, &n_parts, p->queue, part_of(v, p, has));
	}
	for (uint32_t i = 0; i < n_parts; i++)
		if (f.queue == QUEUE_NONE || parts[i].part > most ||
		    (parts[i].part == most && parts[i].queue < f.queue)) {
			f.queue = parts[i].queue;
			most = parts[i].part;
		}
	mem_free(parts);
	return f;
}

/* Types that nodes have, without counts of pods and disk: what one colours by. */
static uint32_t map_types(const struct cluster_view *v, res_id *ret, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->res.n && n < max; i++) {
		res_id r = v->res.v[i];

		if (r != RES_PODS && r != RES_EPHEMERAL && ledger_capacity(v->ledger)[r] > 0)
			ret[n++] = r;
	}
	return n;
}

static void emit_free(struct emit *e, const int64_t *has, const int64_t *used, const res_id *types, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		res_id r = types[i];
		char words[16];
		int64_t free = res_sub_sat(has[r], used[r]);

		if (has[r] <= 0) {
			emit_plain(e, NULL, "null");
			continue;
		}
		snprintf(words, sizeof(words), "%d", (int)(free <= 0 ? 0 : (double)free / (double)has[r] * 100));
		emit_plain(e, NULL, words);
	}
}

enum { NODE_CORDONED = 1, NODE_NOT_READY = 2, NODE_OVERBOOKED = 4, NODE_MISSING = 8, NODE_LEAVING = 16 };

static int flags_of(const struct cluster_view *v, node_id id, const struct ledger_node *n)
{
	if (!n->is_live)
		return NODE_MISSING;
	return (n->obj->is_unschedulable ? NODE_CORDONED : 0) | (n->obj->is_not_ready ? NODE_NOT_READY : 0) |
	       (view_overbooked(v, id) != RES_NONE ? NODE_OVERBOOKED : 0) |
	       (ledger_node_leaving(v->ledger, id)[RES_PODS] ? NODE_LEAVING : 0);
}

/* [name, flags, pods, main queue (place in "queues", or -1), highest priority or null, free per cent of each type] */
static void emit_node(struct emit *e, const struct cluster_view *v, node_id id, const int *places, const res_id *types,
		      uint32_t n_types)
{
	const struct ledger_node *n = ledger_node(v->ledger, id);
	const int64_t *has = ledger_node_allocatable(v->ledger, id);
	struct node_facts f = facts_of(v, n, has);

	emit_list(e, NULL);
	emit_str(e, NULL, view_node_name(v, id));
	emit_int(e, NULL, flags_of(v, id, n));
	emit_int(e, NULL, f.n_pods);
	emit_int(e, NULL, f.queue == QUEUE_NONE ? -1 : places[f.queue]);
	if (f.n_pods)
		emit_int(e, NULL, f.top);
	else
		emit_plain(e, NULL, "null");
	emit_free(e, has, ledger_node_used(v->ledger, id), types, n_types);
	emit_end(e);
}

static int *emit_queues(struct emit *e, const struct cluster_view *v)
{
	int *places = mem_alloc((v->tree->q.n + 1) * sizeof(*places)), n = 0;

	emit_list(e, "queues");
	for (uint32_t i = 0; i < v->queues.n; i++) {
		queue_id q = v->queues.v[i];

		places[q] = -1;
		if (!queue_is_leaf(v->tree, q))
			continue;
		places[q] = n++;
		emit_str(e, NULL, view_queue_path(v, q));
	}
	emit_end(e);
	return places;
}

void answer_node_map(struct asking *a)
{
	const char *after = serve_query(a->r, "after");
	uint32_t limit = MAP_LIMIT, n_types, n = 0, last = 0;
	res_id types[8];
	struct cluster_view v;
	int *places;

	if (!number_of(a, "limit", 1, MAP_LIMIT, &limit))
		return;
	cluster_view_init_brief(&v, a->w->cluster, a->w->now_ns);
	n_types = map_types(&v, types, 8);
	begin_json(a);
	emit_object(&a->e, NULL);
	emit_str(&a->e, "kind", "NodeMap");
	emit_time(&a->e, "now", v.now_ns);
	emit_list(&a->e, "resources");
	for (uint32_t i = 0; i < n_types; i++)
		emit_str(&a->e, NULL, res_type_name(v.types, types[i]));
	emit_end(&a->e);
	places = emit_queues(&a->e, &v);
	emit_list(&a->e, "nodes");
	for (uint32_t i = 0; i < v.nodes.n && n < limit; i++) {
		if (after && strcmp(view_node_name(&v, v.nodes.v[i]), after) <= 0)
			continue;
		emit_node(&a->e, &v, v.nodes.v[i], places, types, n_types);
		n++;
		last = i;
	}
	emit_end(&a->e);
	emit_int(&a->e, "total", v.nodes.n);
	if (n && last + 1 < v.nodes.n)
		emit_str(&a->e, "next", view_node_name(&v, v.nodes.v[last]));
	emit_end(&a->e);
	mem_free(places);
	cluster_view_free(&v);
}

/* ---- one node ---- */

struct guarding {
	protection_list all;
	pod_id waiting[MAX_ASKING];
	uint32_t n_waiting;
	struct plan_view view;
};

static void emit_verdict(struct emit *e, const struct guarding *g, const struct protection *p)
{
	struct text waiting = {0};

	pod_path(&g->view, p->waiting, &waiting);
	emit_object(e, NULL);
	emit_str(e, "waiting", text_str(&waiting));
	emit_some(e, "action", action_text(p->action));
	emit_str(e, "answer",
		 p->action == ACTION_NONE	     ? "not asked"
		 : p->verdict.answer == IS_PROTECTED ? "protected"
		 : p->verdict.answer == IS_SPARED    ? "spared"
						     : "may go");
	if (p->verdict.answer != MAY_GO)
		plan_emit_verdict(&g->view, e, &p->verdict);
	emit_end(e);
	text_free(&waiting);
}

static void emit_protections(struct emit *e, const struct guarding *g, pod_id pod)
{
	emit_list(e, "protections");
	for (uint32_t i = 0; i < g->all.n; i++)
		if (g->all.v[i].pod == pod)
			emit_verdict(e, g, &g->all.v[i]);
	emit_end(e);
}

static enum err_code guard(const struct serve_world *w, node_id node, struct guarding *g, struct err *e)
{
	struct engine_run run = {.now_ns = w->now_ns, .eviction_history = w->eviction_history};
	struct engine *own = NULL, *en = w->engine;

	g->view = (struct plan_view){.cluster = w->cluster, .profile = w->config->profile, .now_ns = w->now_ns};
	if (!en)
		en = own = world_engine(w, e);
	if (!en)
		return ERR_INPUT;
	g->n_waiting = engine_first_waiting(en, g->waiting, MAX_ASKING);
	engine_protections(en, &run, node, g->waiting, g->n_waiting, &g->all);
	if (own)
		engine_free(own);
	return ERR_OK;
}

static void emit_pods(struct asking *a, struct cluster_view *v, const struct ledger_node *n, const struct guarding *g)
{
	uint32_t shown = n->pods.n < NODE_PODS ? n->pods.n : NODE_PODS;
	pod_id *ids = mem_alloc((n->pods.n + 1) * sizeof(*ids));

	if (n->pods.n)
		memcpy(ids, n->pods.v, n->pods.n * sizeof(*ids));
	if (n->pods.n > 1)
		qsort_r(ids, n->pods.n, sizeof(*ids), view_pod_order, v);
	emit_list(&a->e, "pods");
	for (uint32_t i = 0; i < shown; i++) {
		emit_object(&a->e, NULL);
		view_emit_pod_fields(&a->e, v, ids[i]);
		emit_protections(&a->e, g, ids[i]);
		emit_end(&a->e);
	}
	emit_end(&a->e);
	if (shown < n->pods.n)
		emit_int(&a->e, "morePods", n->pods.n - shown);
	mem_free(ids);
}

static void emit_asking(struct emit *e, const struct guarding *g)
{
	struct text name = {0};

	emit_list(e, "waiting"); /* for whom the pods were judged */
	for (uint32_t i = 0; i < g->n_waiting; i++) {
		text_reset(&name);
		pod_path(&g->view, g->waiting[i], &name);
		emit_str(e, NULL, text_str(&name));
	}
	emit_end(e);
	text_free(&name);
}

static void write_node(struct asking *a, node_id id, const struct guarding *g)
{
	struct cluster_view v;

	cluster_view_init_brief(&v, a->w->cluster, a->w->now_ns);
	begin_json(a);
	emit_object(&a->e, NULL);
	emit_str(&a->e, "kind", "NodeView");
	emit_time(&a->e, "now", v.now_ns);
	emit_list(&a->e, "items");
	view_emit_node(&a->e, &v, id);
	emit_end(&a->e);
	emit_asking(&a->e, g);
	emit_pods(a, &v, ledger_node(v.ledger, id), g);
	emit_end(&a->e);
	cluster_view_free(&v);
}

void answer_node(struct asking *a)
{
	const struct ledger *l = cluster_ledger(a->w->cluster);
	const char *name = serve_query(a->r, "name");
	struct guarding g = {.n_waiting = 0};
	struct err e = {0};
	node_id id;

	if (!name || !*name) {
		refuse(a, 400, "name: expected the name of a node");
		return;
	}
	id = ledger_node_find(l, names_find(vocab_names(ledger_vocab(l)), name, strlen(name)));
	if (id == NODE_NONE || (!ledger_node(l, id)->is_live && !ledger_node(l, id)->pods.n)) {
		refuse(a, 404, "there is no node %s", name);
		return;
	}
	if (guard(a->w, id, &g, &e))
		refuse(a, 500, "%s", e.msg);
	else
		write_node(a, id, &g);
	array_free(&g.all);
}
