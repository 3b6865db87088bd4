/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/disruption_unit.h"

#include <stdlib.h>

#include "base/bits.h"
#include "engine/displace_internal.h"
#include "rules/plugin.h"

struct gathering {
	const struct cede_cycle *c;
	const struct displace_options *o;
	bool has_plugins;	   /* that judge victims */
	struct bits seen;	   /* groups that were looked at */
	struct disruption_unit *v; /* with room for all */
	pod_id *alone;		   /* of units of one pod; likewise */
	uint32_t n;
};

static bool is_on_node(const struct pod *p)
{
	return p->state == POD_PLACED || p->state == POD_LEAVING;
}

/* Record who is protected, but not by priority: that is visible without being told. */
static void tell(const struct gathering *g, pod_id pod, const struct pod *p, const struct rule_verdict *says)
{
	const struct protected_pod x = {.pod = pod, .node = p->node, .queue = p->queue, .verdict = *says};

	if (g->o->spoke && says->rule != RULE_PRIORITY)
		protected_add(g->o->spoke, &x);
}

/* What is said of one pod of u. False: it stays, and so does all of u. */
static bool may_go(const struct gathering *g, pod_id pod, struct disruption_unit *u)
{
	const struct pod *p = ledger_pod(g->c->ledger, pod);
	struct rule_verdict says = judge_victim(g->o->j, pod);

	if (says.answer == IS_PROTECTED)
		tell(g, pod, p, &says);
	u->is_spared |= says.answer == IS_SPARED;
	return says.answer != IS_PROTECTED;
}

/* ---- one unit ---- */

static int by_name(const struct cede_cycle *c, pod_id a, pod_id b)
{
	const struct pod *x = ledger_pod(c->ledger, a), *y = ledger_pod(c->ledger, b);
	int d = name_cmp(c->names, labelset_get(c->vocab, x->labelset)->ns, labelset_get(c->vocab, y->labelset)->ns);

	return d ? d : name_cmp(c->names, x->name, y->name);
}

static int by_pod_name(const void *a, const void *b, void *ctx)
{
	return by_name(((const struct gathering *)ctx)->c, *(const pod_id *)a, *(const pod_id *)b);
}

static uint32_t members_on_nodes(const struct cede_cycle *c, group_id group, pod_id *ret)
{
	uint32_t n = 0;

	for (pod_id id = cluster_group_first(c->cluster, group); id != POD_NONE;
	     id = cluster_group_next(c->cluster, id)) {
		const struct pod *p = ledger_pod(c->ledger, id);

		if (!is_on_node(p) || p->group != group)
			continue;
		if (ret)
			ret[n] = id;
		n++;
	}
	return n;
}

static void add_alone(struct gathering *g, pod_id pod, const struct pod *p)
{
	struct disruption_unit u = {.whole = GROUP_NONE,
				    .n_pods = 1,
				    .pods = &g->alone[g->n],
				    .priority = p->priority,
				    .is_grouped = pod_is_grouped(p),
				    .start = victim_start(g->c, p)};

	if (!may_go(g, pod, &u))
		return;
	g->alone[g->n] = pod;
	g->v[g->n++] = u;
}

static void add_whole(struct gathering *g, group_id id)
{
	const struct group *group = ledger_group(g->c->ledger, id);
	struct disruption_unit u = {.whole = id, .priority = group->priority, .is_grouped = true, .start = INT64_MAX};
	pod_id *pods;

	if (bits_has(&g->seen, id))
		return;
	bits_set(&g->seen, id);
	pods = arena_n(g->c->arena, members_on_nodes(g->c, id, NULL) + 1, pod_id);
	u.n_pods = members_on_nodes(g->c, id, pods);
	u.pods = pods;
	qsort_r(pods, u.n_pods, sizeof(*pods), by_pod_name, g);
	for (uint32_t i = 0; i < u.n_pods; i++) {
		int64_t start = victim_start(g->c, ledger_pod(g->c->ledger, pods[i]));

		u.start = start < u.start ? start : u.start;
		if (!may_go(g, pods[i], &u))
			return;
	}
	g->v[g->n++] = u;
}

static void consider_pods(struct gathering *g, node_id node)
{
	const struct ledger_node *n = ledger_node(g->c->ledger, node);

	for (uint32_t i = 0; i < n->pods.n; i++) {
		const struct pod *p = ledger_pod(g->c->ledger, n->pods.v[i]);

		if (pod_goes_whole(g->c->ledger, p))
			add_whole(g, p->group);
		else
			add_alone(g, n->pods.v[i], p);
	}
}

static int by_protected_name(const void *a, const void *b, void *ctx)
{
	return by_name(ctx, ((const struct protected_pod *)a)->pod, ((const struct protected_pod *)b)->pod);
}

/* Sort by name, and only then cut: the order in which pods came to a node must not be visible in the output. */
static void consider_node(struct gathering *g, node_id node)
{
	struct protected_list *l = g->o->spoke;
	uint32_t from = l ? l->v.n : 0, max = l ? l->max : 0;

	if (l && from < max)
		l->max = UINT32_MAX;
	consider_pods(g, node);
	if (l)
		l->max = max;
	if (!l || l->v.n == from)
		return;
	qsort_r(l->v.v + from, l->v.n - from, sizeof(*l->v.v), by_protected_name, (void *)g->c);
	l->v.n = l->v.n > max ? max : l->v.n;
}

/* ---- the order ---- */

int unit_cmp(const struct disruption_unit *a, const struct disruption_unit *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->is_grouped != b->is_grouped)
		return a->is_grouped ? -1 : 1;
	if (a->n_pods != b->n_pods)
		return a->n_pods > b->n_pods ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return 0;
}

/* Where plugins rank victims, a group is as its first pod; and so it is where names decide. */
static int by_unit_importance(const void *a, const void *b, void *ctx)
{
	const struct gathering *g = ctx;
	const struct disruption_unit *x = a, *y = b;
	int d = 0;

	if (g->has_plugins && x->priority == y->priority)
		d = plugins_cmp(g->c, x->pods[0], y->pods[0]);
	if (!d)
		d = unit_cmp(x, y);
	return d ? d : by_name(g->c, x->pods[0], y->pods[0]);
}

static struct gathering begin(const struct cede_cycle *c, const struct displace_options *o, uint32_t n_pods)
{
	return (struct gathering){.c = c,
				  .o = o,
				  .has_plugins = plugins_judge(c->framework),
				  .v = arena_n(c->arena, n_pods + 1, struct disruption_unit),
				  .alone = arena_n(c->arena, n_pods + 1, pod_id)};
}

static struct disruption_units settle(struct gathering *g)
{
	struct disruption_units u = {.n = g->n, .v = g->v};

	if (u.n)
		qsort_r(u.v, u.n, sizeof(*u.v), by_unit_importance, g);
	for (uint32_t i = 0; i < u.n; i++) {
		u.n_pods += u.v[i].n_pods;
		u.has_whole |= u.v[i].whole != GROUP_NONE;
	}
	bits_free(&g->seen);
	return u;
}

struct disruption_units units_on_node(const struct cede_cycle *c, const struct displace_options *o, node_id node)
{
	struct gathering g = begin(c, o, ledger_node(c->ledger, node)->pods.n);

	consider_node(&g, node);
	return settle(&g);
}

struct disruption_units units_everywhere(const struct cede_cycle *c, const struct displace_options *o)
{
	struct gathering g;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_nodes; i++)
		n += ledger_node(c->ledger, c->nodes[i])->pods.n;
	g = begin(c, o, n);
	for (uint32_t i = 0; i < c->n_nodes; i++)
		consider_node(&g, c->nodes[i]);
	return settle(&g);
}

/* ---- taken apart ---- */

static uint8_t class_of(const struct disruption_unit *u, const bool *violates)
{
	bool is_violating = false;

	for (uint32_t i = 0; i < u->n_pods; i++)
		is_violating |= violates[i];
	return u->is_spared ? CLASS_SPARED : is_violating ? CLASS_VIOLATING : CLASS_REST;
}

struct unit_rows unit_rows_of(const struct cede_cycle *c, const struct displace_options *o,
			      const struct disruption_units *u)
{
	struct unit_rows r = {.pods = arena_n(c->arena, u->n_pods + 1, pod_id),
			      .homes = arena_n(c->arena, u->n_pods + 1, node_id),
			      .violates = arena_n(c->arena, u->n_pods + 1, bool),
			      .goes = arena_n(c->arena, u->n_pods + 1, bool),
			      .classes = arena_n(c->arena, u->n + 1, uint8_t)};

	for (uint32_t i = 0, at = 0; i < u->n; at += u->v[i++].n_pods)
		memcpy(r.pods + at, u->v[i].pods, u->v[i].n_pods * sizeof(*r.pods));
	for (uint32_t i = 0; i < u->n_pods; i++)
		r.homes[i] = ledger_pod(c->ledger, r.pods[i])->node;
	victim_set_overspending(o->j, r.pods, u->n_pods, r.violates);
	for (uint32_t i = 0, at = 0; i < u->n; at += u->v[i++].n_pods)
		r.classes[i] = class_of(&u->v[i], r.violates + at);
	return r;
}
