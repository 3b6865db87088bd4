/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/cluster_view.h"
#include "serve/views.h"

/* In the units of Kubernetes: cpu in cores, everything else as counted. */
static double amount_of(res_id r, int64_t amount)
{
	return r == RES_CPU ? (double)amount / 1000 : (double)amount;
}

static void set_amounts(struct metrics *m, enum metric_id id, const struct cluster_view *v, const char *queue,
			const int64_t *row, uint64_t mask)
{
	for (uint32_t i = 0; i < v->res.n; i++) {
		res_id r = v->res.v[i];

		if (mask >> r & 1 && row[r] != RES_UNLIMITED)
			metrics_set(m, id, amount_of(r, row[r]), METRIC_LABELS(queue, res_type_name(v->types, r)));
	}
}

static void set_short(struct metrics *m, const struct cluster_view *v, const char *path, queue_id id,
		      const struct queue *q, const int64_t *used)
{
	for (uint32_t i = 0; i < v->res.n; i++) {
		res_id r = v->res.v[i];

		if (view_standing(v, id, r) == STANDING_SHORT)
			metrics_set(m, METRIC_QUEUE_SHORT, amount_of(r, res_sub_sat(q->spec.guaranteed.v[r], used[r])),
				    METRIC_LABELS(path, res_type_name(v->types, r)));
	}
}

static void set_queue(struct metrics *m, const struct cluster_view *v, queue_id id)
{
	const struct queue *q = queue_get(v->tree, id);
	const char *path = name_str(v->names, q->path);
	const int64_t *used = ledger_queue_used(v->ledger, id);
	uint64_t all = 0;

	for (uint32_t i = 0; i < v->res.n; i++)
		if (used[v->res.v[i]])
			all |= UINT64_C(1) << v->res.v[i];
	metrics_set(m, METRIC_QUEUE_PODS, (double)used[RES_PODS], METRIC_LABELS(path, "running"));
	metrics_set(m, METRIC_QUEUE_PODS, ledger_queue_waiting(v->ledger, id), METRIC_LABELS(path, "waiting"));
	metrics_set(m, METRIC_QUEUE_PODS, (double)ledger_queue_leaving(v->ledger, id)[RES_PODS],
		    METRIC_LABELS(path, "leaving"));
	set_amounts(m, METRIC_QUEUE_USED, v, path, used, all | q->spec.guaranteed.mask | q->spec.max.mask);
	set_amounts(m, METRIC_QUEUE_GUARANTEED, v, path, q->spec.guaranteed.v, q->spec.guaranteed.mask);
	set_amounts(m, METRIC_QUEUE_MAX, v, path, q->spec.max.v, q->spec.max.mask);
	set_short(m, v, path, id, q, used);
}

static uint32_t count_pods(const struct cluster_view *v)
{
	uint32_t n = 0;

	for (enum pod_state s = POD_WAITING; s <= POD_FINISHED; s++)
		n += v->n_pods[s];
	return n;
}

static uint32_t count_groups(const struct ledger *l)
{
	uint32_t n = 0;

	for (group_id i = 0; i < ledger_group_limit(l); i++)
		n += ledger_group(l, i)->is_live;
	return n;
}

static uint32_t count_budgets(const struct ledger *l)
{
	uint32_t n = 0;

	for (pdb_id i = 0; i < ledger_pdb_limit(l); i++)
		n += ledger_pdb(l, i)->is_live;
	return n;
}

/* Queues come and go: all of them anew. */
void views_gauges(const struct serve_world *w, struct metrics *m)
{
	static const enum metric_id of_queues[] = {METRIC_QUEUE_PODS, METRIC_QUEUE_USED, METRIC_QUEUE_GUARANTEED,
						   METRIC_QUEUE_MAX, METRIC_QUEUE_SHORT};
	struct cluster_view v;

	cluster_view_init_brief(&v, w->cluster, w->now_ns);
	for (size_t i = 0; i < sizeof(of_queues) / sizeof(*of_queues); i++)
		metrics_clear(m, of_queues[i]);
	for (uint32_t i = 0; i < v.queues.n; i++)
		set_queue(m, &v, v.queues.v[i]);
	metrics_set(m, METRIC_CACHE_SIZE, v.nodes.n, METRIC_LABELS("nodes"));
	metrics_set(m, METRIC_CACHE_SIZE, count_pods(&v), METRIC_LABELS("pods"));
	metrics_set(m, METRIC_LEDGER_OBJECTS, v.queues.n, METRIC_LABELS("queues"));
	metrics_set(m, METRIC_LEDGER_OBJECTS, count_groups(v.ledger), METRIC_LABELS("groups"));
	metrics_set(m, METRIC_LEDGER_OBJECTS, count_budgets(v.ledger), METRIC_LABELS("budgets"));
	metrics_set(m, METRIC_LEDGER_OBJECTS, names_count(v.names), METRIC_LABELS("names"));
	cluster_view_free(&v);
}
