/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view as data. A field that has no value is left out, a list never;
 * amounts are text, because they are exact quantities.
 */
#include "explain/cluster_view.h"
#include "explain/emit_fields.h"

static void emit_amount(struct emit *e, const struct cluster_view *v, res_id r, int64_t amount)
{
	struct text t = {0};

	res_amount_exact(r, amount, &t);
	emit_str(e, res_type_name(v->types, r), text_str(&t));
	text_free(&t);
}

static void emit_vec(struct emit *e, const char *key, const struct cluster_view *v, const struct res_vec *vec)
{
	emit_object(e, key);
	for (uint32_t i = 0; i < v->res.n; i++)
		if (res_has(vec, v->res.v[i]))
			emit_amount(e, v, v->res.v[i], vec->v[v->res.v[i]]);
	emit_end(e);
}

/* Of a row of the ledger: what is not zero, and what is stated. */
static void emit_row(struct emit *e, const char *key, const struct cluster_view *v, const int64_t *row, uint64_t stated)
{
	emit_object(e, key);
	for (uint32_t i = 0; i < v->res.n; i++)
		if (row[v->res.v[i]] || stated >> v->res.v[i] & 1)
			emit_amount(e, v, v->res.v[i], row[v->res.v[i]]);
	emit_end(e);
}

static bool row_is_zero(const struct cluster_view *v, const int64_t *row)
{
	for (uint32_t i = 0; i < v->res.n; i++)
		if (row[v->res.v[i]])
			return false;
	return true;
}

static void emit_list_amounts(struct emit *e, const char *key, const struct cluster_view *v, const struct res_list *l)
{
	struct res_vec vec = {0};

	res_vec_add_list(&vec, l);
	emit_vec(e, key, v, &vec);
}

/* ---- queues ---- */

static void emit_sources(struct emit *e, uint32_t sources)
{
	static const char *const words[] = {"yunikorn", "kai", "template", "implicit"};

	emit_list(e, "sources");
	for (unsigned i = 0; i < 4; i++)
		if (sources >> i & 1)
			emit_str(e, NULL, words[i]);
	emit_end(e);
}

static const char *policy_word(enum preemption_policy p)
{
	return p == POLICY_FENCE ? "fence" : p == POLICY_DISABLED ? "disabled" : "default";
}

static void emit_hours(struct emit *e, const struct week_hours *h, int64_t now_ns)
{
	struct text t = {0};
	int64_t until_ns;

	if (!h->days)
		return;
	week_hours_text(h, &t);
	emit_str(e, "protectedHours", text_str(&t));
	if (week_hours_has(h, now_ns, &until_ns))
		emit_time(e, "protectedUntil", until_ns);
	text_free(&t);
}

/* Effective ones: inherited, then own. */
static void emit_settings(struct emit *e, const struct queue *q, int64_t now_ns)
{
	emit_object(e, "settings");
	emit_str(e, "preemptionPolicy", policy_word(q->props.preemption_policy));
	emit_duration(e, "preemptionDelay", q->props.preemption_delay_ns);
	emit_bool(e, "priorityFence", q->props.is_priority_fence);
	emit_int(e, "priorityOffset", q->props.priority_offset);
	if (q->spec.sources & FROM_KAI)
		emit_int(e, "kaiPriority", q->spec.kai_priority);
	emit_duration(e, "preemptMinRuntime", q->spec.preempt_min_runtime_ns);
	emit_duration(e, "reclaimMinRuntime", q->spec.reclaim_min_runtime_ns);
	if (q->spec.max_apps)
		emit_int(e, "maxApplications", (int64_t)q->spec.max_apps);
	emit_hours(e, &q->props.protected_hours, now_ns);
	emit_end(e);
}

static void emit_standing(struct emit *e, const char *key, const struct cluster_view *v, queue_id q,
			  enum standing which)
{
	emit_list(e, key);
	for (uint32_t i = 0; i < v->res.n; i++)
		if (view_standing(v, q, v->res.v[i]) == which)
			emit_str(e, NULL, res_type_name(v->types, v->res.v[i]));
	emit_end(e);
}

void view_emit_queue_fields(struct emit *e, const struct cluster_view *v, queue_id id)
{
	const struct queue *q = queue_get(v->tree, id);
	const int64_t *used = ledger_queue_used(v->ledger, id), *leaving = ledger_queue_leaving(v->ledger, id);
	struct res_vec max;

	queue_effective_max(v->tree, id, &max);
	emit_str(e, "queue", name_str(v->names, q->path));
	emit_some(e, "parent", view_queue_path(v, q->parent));
	emit_some(e, "kaiName", name_str(v->names, q->spec.kai_name));
	emit_sources(e, q->spec.sources);
	emit_bool(e, "leaf", queue_is_leaf(v->tree, id));
	emit_bool(e, "draining", q->is_draining);
	emit_object(e, "pods");
	emit_int(e, "running", used[RES_PODS]);
	emit_int(e, "waiting", ledger_queue_waiting(v->ledger, id));
	emit_int(e, "leaving", leaving[RES_PODS]);
	emit_end(e);
	emit_row(e, "used", v, used, q->spec.guaranteed.mask | q->spec.max.mask);
	emit_vec(e, "guaranteed", v, &q->spec.guaranteed);
	emit_vec(e, "max", v, &q->spec.max);
	emit_vec(e, "effectiveMax", v, &max);
	emit_vec(e, "wanted", v, &v->queue_facts[id].wanted);
	emit_standing(e, "over", v, id, STANDING_OVER);
	emit_standing(e, "short", v, id, STANDING_SHORT);
	emit_settings(e, q, v->now_ns);
}

void view_emit_queue(struct emit *e, const struct cluster_view *v, queue_id id)
{
	emit_object(e, NULL);
	view_emit_queue_fields(e, v, id);
	emit_end(e);
}

/* ---- nodes ---- */

static void emit_taints(struct emit *e, const struct cluster_view *v, const struct obj_node *o)
{
	emit_list(e, "taints");
	for (uint32_t i = 0; i < o->n_taints; i++) {
		emit_object(e, NULL);
		emit_str(e, "key", name_str(v->names, o->taints[i].key));
		emit_some(e, "value", name_str(v->names, o->taints[i].value));
		emit_str(e, "effect", taint_effect_text(o->taints[i].effect));
		emit_end(e);
	}
	emit_end(e);
}

static void emit_node_room(struct emit *e, const struct cluster_view *v, node_id id, uint64_t stated)
{
	const int64_t *has = ledger_node_allocatable(v->ledger, id), *used = ledger_node_used(v->ledger, id);
	int64_t free[RES_MAX] = {0};

	for (uint32_t i = 0; i < v->res.n; i++)
		free[v->res.v[i]] = res_sub_sat(has[v->res.v[i]], used[v->res.v[i]]);
	emit_row(e, "allocatable", v, has, stated);
	emit_row(e, "used", v, used, stated);
	emit_row(e, "free", v, free, stated);
	if (!row_is_zero(v, ledger_node_leaving(v->ledger, id)))
		emit_row(e, "leaving", v, ledger_node_leaving(v->ledger, id), 0);
	if (!row_is_zero(v, ledger_node_reserved(v->ledger, id)))
		emit_row(e, "claimed", v, ledger_node_reserved(v->ledger, id), 0);
}

void view_emit_node(struct emit *e, const struct cluster_view *v, node_id id)
{
	const struct ledger_node *n = ledger_node(v->ledger, id);

	emit_object(e, NULL);
	emit_str(e, "node", name_str(v->names, n->name));
	if (!n->is_live)
		emit_bool(e, "missing", true);
	emit_int(e, "pods", n->pods.n);
	emit_bool(e, "cordoned", n->is_live && n->obj->is_unschedulable);
	emit_bool(e, "ready", n->is_live && !n->obj->is_not_ready);
	emit_bool(e, "overbooked", view_overbooked(v, id) != RES_NONE);
	if (n->is_live)
		emit_taints(e, v, n->obj);
	emit_node_room(e, v, id, n->is_live ? n->obj->allocatable.mask : 0);
	emit_end(e);
}

/* ---- pods ---- */

static void emit_gates(struct emit *e, const struct cluster_view *v, const struct pod *p)
{
	const struct shape *s = shape_get(v->vocab, p->shape);

	if (!view_is_gated(v, p))
		return;
	emit_list(e, "gates");
	for (uint32_t i = 0; i < s->n_gates; i++)
		emit_str(e, NULL, name_str(v->names, s->gates[i]));
	emit_end(e);
}

static void emit_group_name(struct emit *e, const struct cluster_view *v, const struct pod *p)
{
	const struct obj_group *g;

	if (p->group == GROUP_NONE)
		return;
	g = ledger_group(v->ledger, p->group)->obj;
	emit_strf(e, "group", "%s/%s", name_str(v->names, g->ns), name_str(v->names, g->name));
	if (g->n_subgroups)
		emit_str(e, "subGroup", name_str(v->names, ledger_podset(v->ledger, p->podset)->name));
}

static void emit_place(struct emit *e, const struct cluster_view *v, const struct pod *p)
{
	if (p->state == POD_PLACED || p->state == POD_LEAVING)
		emit_str(e, "node", view_node_name(v, p->node));
	else if (p->state == POD_WAITING && p->nomination == NOMINATION_ADVISORY)
		emit_str(e, "nominatedNode", view_node_name(v, p->node));
	else if (p->state == POD_WAITING && p->nomination == NOMINATION_RESERVED)
		emit_str(e, "reservedNode", view_node_name(v, p->node));
}

void view_emit_pod_fields(struct emit *e, const struct cluster_view *v, pod_id id)
{
	static const char *const states[] = {"", "waiting", "running", "leaving", "finished"};
	const struct pod *p = ledger_pod(v->ledger, id);
	struct text name = {0};

	emit_str(e, "pod", view_pod_name(v, p, &name));
	emit_str(e, "state", states[p->state]);
	emit_some(e, "queue", view_queue_path(v, p->queue));
	if (p->queue == QUEUE_NONE)
		emit_some(e, "wantedQueue", cluster_wanted_queue(v->cluster, id));
	emit_group_name(e, v, p);
	emit_place(e, v, p);
	emit_int(e, "priority", p->priority);
	emit_some(e, "preemptibility", preemptibility_text(p->preemptibility));
	emit_bool(e, "neverPreempts", shape_get(v->vocab, p->shape)->never_preempts);
	emit_time(e, "created", p->created_ns);
	if (p->state == POD_PLACED || p->state == POD_LEAVING)
		emit_time(e, "started", p->started_ns);
	emit_gates(e, v, p);
	emit_some(e, "schedulerName", name_str(v->names, shape_get(v->vocab, p->shape)->scheduler_name));
	emit_list_amounts(e, "requests", v, view_pod_amounts(v, p));
	text_free(&name);
}

void view_emit_pod(struct emit *e, const struct cluster_view *v, pod_id id)
{
	emit_object(e, NULL);
	view_emit_pod_fields(e, v, id);
	emit_end(e);
}

/* ---- groups and budgets ---- */

static void emit_podset(struct emit *e, const struct cluster_view *v, const struct podset *s)
{
	emit_object(e, NULL);
	emit_str(e, "subGroup", name_str(v->names, s->name));
	emit_int(e, "minMember", s->min_member);
	emit_int(e, "running", s->n_placed);
	emit_int(e, "waiting", s->n_waiting);
	emit_int(e, "leaving", s->n_leaving);
	emit_int(e, "finished", s->n_finished);
	emit_end(e);
}

static void emit_group(struct emit *e, const struct cluster_view *v, group_id id)
{
	const struct group *g = ledger_group(v->ledger, id);

	emit_object(e, NULL);
	emit_strf(e, "group", "%s/%s", name_str(v->names, g->obj->ns), name_str(v->names, g->obj->name));
	emit_str(e, "api", g->obj->is_of_pods ? "pods" : g->obj->is_k8s ? "kubernetes" : "kai");
	emit_some(e, "queue", view_queue_path(v, g->queue));
	if (g->queue == QUEUE_NONE)
		emit_some(e, "wantedQueue", name_str(v->names, g->obj->queue));
	emit_int(e, "priority", g->priority);
	emit_some(e, "preemptibility", preemptibility_text(g->preemptibility));
	emit_time(e, "created", g->obj->created_ns);
	emit_time(e, "started", g->started_ns);
	emit_list(e, "subGroups");
	for (uint32_t i = 0; i < g->n_podsets; i++)
		emit_podset(e, v, ledger_podset(v->ledger, g->first_podset + i));
	emit_end(e);
	emit_end(e);
}

static void emit_budget(struct emit *e, const struct cluster_view *v, pdb_id id)
{
	const struct pdb *b = ledger_pdb(v->ledger, id);
	struct text selector = {0};

	selector_text(v->names, &b->obj->selector, &selector);
	emit_object(e, NULL);
	emit_strf(e, "budget", "%s/%s", name_str(v->names, b->obj->ns), name_str(v->names, b->obj->name));
	emit_str(e, "selector", b->obj->selector.matches_nothing ? NULL : text_str(&selector));
	emit_int(e, "allowed", b->obj->allowed);
	emit_int(e, "spent", b->spent);
	emit_end(e);
	text_free(&selector);
}

/* ---- all of it ---- */

static void emit_summary(struct emit *e, const struct cluster_view *v)
{
	emit_object(e, "summary");
	emit_int(e, "nodes", v->nodes.n);
	emit_object(e, "pods");
	emit_int(e, "running", v->n_pods[POD_PLACED]);
	emit_int(e, "waiting", v->n_pods[POD_WAITING]);
	emit_int(e, "leaving", v->n_pods[POD_LEAVING]);
	emit_int(e, "finished", v->n_pods[POD_FINISHED]);
	emit_end(e);
	emit_int(e, "queues", v->queues.n);
	emit_int(e, "groups", v->groups.n);
	emit_int(e, "budgets", v->budgets.n);
	emit_end(e);
}

static void emit_all(struct emit *e, const char *key, const struct cluster_view *v, const id_list32 *ids,
		     void (*one)(struct emit *e, const struct cluster_view *v, uint32_t id))
{
	emit_list(e, key);
	for (uint32_t i = 0; i < ids->n; i++)
		one(e, v, ids->v[i]);
	emit_end(e);
}

static void emit_view(const struct cluster_view *v, struct emit *e, bool is_summary)
{
	emit_object(e, NULL);
	emit_str(e, "kind", "ClusterView");
	emit_time(e, "now", v->now_ns);
	emit_str(e, "profile", profile_text(cluster_get_options(v->cluster)->profile));
	emit_summary(e, v);
	emit_all(e, "queues", v, &v->queues, view_emit_queue);
	if (!is_summary) {
		emit_all(e, "nodes", v, &v->nodes, view_emit_node);
		emit_all(e, "pods", v, &v->pods, view_emit_pod);
	}
	emit_all(e, "groups", v, &v->groups, emit_group);
	emit_all(e, "budgets", v, &v->budgets, emit_budget);
	emit_end(e);
}

void cluster_view_emit(const struct cluster_view *v, struct emit *e)
{
	emit_view(v, e, false);
}

void cluster_view_emit_summary(const struct cluster_view *v, struct emit *e)
{
	emit_view(v, e, true);
}
