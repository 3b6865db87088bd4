/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/cluster_view.h"

#include <stdlib.h>
#include <string.h>

/* ---- orders ---- */

static int by_ns_and_name(const struct cluster_view *v, name_id ns_a, name_id a, name_id ns_b, name_id b)
{
	int by_ns = name_cmp(v->names, ns_a, ns_b);

	return by_ns ? by_ns : name_cmp(v->names, a, b);
}

static int pod_order(const void *pa, const void *pb, void *ctx)
{
	const struct cluster_view *v = ctx;
	const struct pod *a = ledger_pod(v->ledger, *(const pod_id *)pa),
			 *b = ledger_pod(v->ledger, *(const pod_id *)pb);

	return by_ns_and_name(v, labelset_get(v->vocab, a->labelset)->ns, a->name,
			      labelset_get(v->vocab, b->labelset)->ns, b->name);
}

static int node_order(const void *pa, const void *pb, void *ctx)
{
	const struct cluster_view *v = ctx;

	return name_cmp(v->names, ledger_node(v->ledger, *(const node_id *)pa)->name,
			ledger_node(v->ledger, *(const node_id *)pb)->name);
}

static int group_order(const void *pa, const void *pb, void *ctx)
{
	const struct cluster_view *v = ctx;
	const struct obj_group *a = ledger_group(v->ledger, *(const group_id *)pa)->obj,
			       *b = ledger_group(v->ledger, *(const group_id *)pb)->obj;

	int d = by_ns_and_name(v, a->ns, a->name, b->ns, b->name);

	return d ? d : a->is_k8s - b->is_k8s;
}

static int budget_order(const void *pa, const void *pb, void *ctx)
{
	const struct cluster_view *v = ctx;
	const struct obj_pdb *a = ledger_pdb(v->ledger, *(const pdb_id *)pa)->obj,
			     *b = ledger_pdb(v->ledger, *(const pdb_id *)pb)->obj;

	return by_ns_and_name(v, a->ns, a->name, b->ns, b->name);
}

bool view_is_gpu(const struct cluster_view *v, res_id r)
{
	return strcasestr(res_type_name(v->types, r), "gpu");
}

static int type_rank(const struct cluster_view *v, res_id r)
{
	if (view_is_gpu(v, r))
		return 0;
	switch (r) {
	case RES_CPU:
		return 1;
	case RES_MEMORY:
		return 2;
	case RES_EPHEMERAL:
		return 4;
	case RES_PODS:
		return 5;
	default:
		return 3;
	}
}

static int type_order(const void *pa, const void *pb, void *ctx)
{
	const struct cluster_view *v = ctx;
	res_id a = *(const res_id *)pa, b = *(const res_id *)pb;
	int by_rank = type_rank(v, a) - type_rank(v, b);

	return by_rank ? by_rank : strcmp(res_type_name(v->types, a), res_type_name(v->types, b));
}

static void sort(struct cluster_view *v, id_list32 *l, int (*order)(const void *a, const void *b, void *ctx))
{
	if (l->n > 1)
		qsort_r(l->v, l->n, sizeof(*l->v), order, v);
}

/* ---- lists ---- */

static void count_pods(struct cluster_view *v)
{
	memset(v->n_pods, 0, sizeof(v->n_pods));
	memset(v->n_stray, 0, sizeof(v->n_stray));
	v->n_dropped = 0;
	for (uint32_t i = 0; i < v->pods.n; i++) {
		const struct pod *p = ledger_pod(v->ledger, v->pods.v[i]);

		v->n_pods[p->state]++;
		v->n_dropped +=
			p->state == POD_FINISHED && p->obj->phase != PHASE_SUCCEEDED && p->obj->phase != PHASE_FAILED;
		v->n_stray[p->state] += p->queue == QUEUE_NONE;
	}
}

static void take_pods(struct cluster_view *v)
{
	for (pod_id i = 0; i < ledger_pod_limit(v->ledger); i++)
		if (ledger_pod(v->ledger, i)->state != POD_FREE)
			array_push(&v->pods, i);
	count_pods(v);
}

static void list_pods(struct cluster_view *v)
{
	take_pods(v);
	sort(v, &v->pods, pod_order);
}

static void list_nodes(struct cluster_view *v)
{
	for (node_id i = 0; i < ledger_node_limit(v->ledger); i++) {
		const struct ledger_node *n = ledger_node(v->ledger, i);

		if (n->is_live || n->pods.n)
			array_push(&v->nodes, i);
	}
	sort(v, &v->nodes, node_order);
}

/* Parents before their children; these are sorted by path. */
static void list_queues(struct cluster_view *v, queue_id q)
{
	const struct queue *queue = queue_get(v->tree, q);

	array_push(&v->queues, q);
	for (uint32_t i = 0; i < queue->children.n; i++)
		list_queues(v, queue->children.v[i]);
}

static void list_groups(struct cluster_view *v)
{
	for (group_id i = 0; i < ledger_group_limit(v->ledger); i++)
		if (ledger_group(v->ledger, i)->is_live)
			array_push(&v->groups, i);
	sort(v, &v->groups, group_order);
}

static void list_budgets(struct cluster_view *v)
{
	for (pdb_id i = 0; i < ledger_pdb_limit(v->ledger); i++)
		if (ledger_pdb(v->ledger, i)->is_live)
			array_push(&v->budgets, i);
	sort(v, &v->budgets, budget_order);
}

static void list_types(struct cluster_view *v)
{
	uint32_t n = ledger_stride(v->ledger); /* nobody has a type that came later */

	for (res_id r = 0; r < v->types->n && r < n; r++)
		array_push(&v->res, r);
	sort(v, &v->res, type_order);
}

static void sum_wanted(struct cluster_view *v)
{
	v->queue_facts = mem_alloc((v->tree->q.n + 1) * sizeof(*v->queue_facts));
	for (uint32_t i = 0; i < v->pods.n; i++) {
		const struct pod *p = ledger_pod(v->ledger, v->pods.v[i]);

		if (p->state != POD_WAITING)
			continue;
		for (queue_id q = p->queue; q != QUEUE_NONE; q = queue_get(v->tree, q)->parent)
			res_vec_add_list(&v->queue_facts[q].wanted, &shape_get(v->vocab, p->shape)->request);
	}
}

static struct cluster_view view_of(struct cluster *c, int64_t now_ns)
{
	struct vocab *vocab = ledger_vocab(cluster_ledger(c));

	return (struct cluster_view){.cluster = c,
				     .ledger = cluster_ledger(c),
				     .tree = ledger_queues(cluster_ledger(c)),
				     .vocab = vocab,
				     .names = vocab_names(vocab),
				     .types = vocab_res(vocab),
				     .now_ns = now_ns};
}

void cluster_view_init(struct cluster_view *v, struct cluster *c, int64_t now_ns)
{
	*v = view_of(c, now_ns);
	list_pods(v);
	list_nodes(v);
	list_queues(v, QUEUE_ROOT);
	list_groups(v);
	list_budgets(v);
	list_types(v);
	sum_wanted(v);
}

void cluster_view_init_brief(struct cluster_view *v, struct cluster *c, int64_t now_ns)
{
	*v = view_of(c, now_ns);
	take_pods(v);
	list_nodes(v);
	list_queues(v, QUEUE_ROOT);
	list_types(v);
	sum_wanted(v);
	array_free(&v->pods);
	v->pods.n = 0;
}

static name_id ns_of_pod(const struct cluster_view *v, uint32_t id)
{
	return labelset_get(v->vocab, ledger_pod(v->ledger, id)->labelset)->ns;
}

static name_id ns_of_group(const struct cluster_view *v, uint32_t id)
{
	return ledger_group(v->ledger, id)->obj->ns;
}

static name_id ns_of_budget(const struct cluster_view *v, uint32_t id)
{
	return ledger_pdb(v->ledger, id)->obj->ns;
}

static void narrow(const struct cluster_view *v, id_list32 *l, const char *ns,
		   name_id (*ns_of)(const struct cluster_view *v, uint32_t id))
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		if (str_eq(name_str(v->names, ns_of(v, l->v[i])), ns))
			l->v[n++] = l->v[i];
	l->n = n;
}

void cluster_view_narrow(struct cluster_view *v, const char *ns)
{
	narrow(v, &v->pods, ns, ns_of_pod);
	narrow(v, &v->groups, ns, ns_of_group);
	narrow(v, &v->budgets, ns, ns_of_budget);
	count_pods(v);
}

void cluster_view_free(struct cluster_view *v)
{
	array_free(&v->pods);
	array_free(&v->nodes);
	array_free(&v->queues);
	array_free(&v->groups);
	array_free(&v->budgets);
	array_free(&v->res);
	mem_free(v->queue_facts);
	v->queue_facts = NULL;
}

/* ---- words and small questions ---- */

const char *view_pod_name(const struct cluster_view *v, const struct pod *p, struct text *buf)
{
	text_reset(buf);
	text_printf(buf, "%s/%s", name_str(v->names, labelset_get(v->vocab, p->labelset)->ns),
		    name_str(v->names, p->name));
	return text_str(buf);
}

const char *view_queue_path(const struct cluster_view *v, queue_id q)
{
	return q == QUEUE_NONE ? "" : name_str(v->names, queue_get(v->tree, q)->path);
}

const char *view_node_name(const struct cluster_view *v, node_id n)
{
	return n == NODE_NONE ? "" : name_str(v->names, ledger_node(v->ledger, n)->name);
}

static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

const char *view_short_type(const struct cluster_view *v, res_id r)
{
	const char *name = res_type_name(v->types, r), *part = last_part(name);

	for (res_id other = 0; other < v->types->n; other++)
		if (other != r && str_eq(last_part(res_type_name(v->types, other)), part))
			return name;
	return part;
}

const struct res_list *view_pod_amounts(const struct cluster_view *v, const struct pod *p)
{
	const struct shape *s = shape_get(v->vocab, p->shape);

	return p->state == POD_WAITING ? &s->request : &s->usage;
}

bool view_is_gated(const struct cluster_view *v, const struct pod *p)
{
	return p->state == POD_WAITING && shape_get(v->vocab, p->shape)->n_gates;
}

enum standing view_standing(const struct cluster_view *v, queue_id q, res_id r)
{
	const struct res_vec *guaranteed = &queue_get(v->tree, q)->spec.guaranteed;
	int64_t used = ledger_queue_used(v->ledger, q)[r];

	if (!res_has(guaranteed, r) || !guaranteed->v[r] || guaranteed->v[r] == RES_UNLIMITED)
		return STANDING_FINE;
	if (used > guaranteed->v[r])
		return STANDING_OVER;
	return used < guaranteed->v[r] && v->queue_facts[q].wanted.v[r] ? STANDING_SHORT : STANDING_FINE;
}

/* A node that does not say how many pods it takes is one written by hand. */
res_id view_overbooked(const struct cluster_view *v, node_id n)
{
	const int64_t *has = ledger_node_allocatable(v->ledger, n), *used = ledger_node_used(v->ledger, n);
	const struct obj_node *o = ledger_node(v->ledger, n)->obj;

	for (uint32_t i = 0; o && i < v->res.n; i++) {
		res_id r = v->res.v[i];

		if (used[r] > has[r] && (r != RES_PODS || res_has(&o->allocatable, r)))
			return r;
	}
	return RES_NONE;
}
