/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which event may wake a pod that a plugin refused. A hint may be generous: a pod tried in vain costs an attempt, one
 * not tried sleeps for five minutes.
 */
#include "engine/hints.h"

#include "engine/engine_internal.h"
#include "filters/builtin.h"
#include "filters/inter_pod_affinity.h"
#include "filters/pod_topology_spread.h"

typedef bool (*wakes_fn)(const struct cede_cycle *c, const struct cluster_event *ev);

/* ---- what events speak of ---- */

static const struct obj_node *node_before(const struct cluster_event *ev)
{
	return ev->actions & EV_DELETE ? NULL : ev->before;
}

static const struct obj_node *node_now(const struct cede_cycle *c, const struct cluster_event *ev)
{
	return ledger_node(c->ledger, ev->node)->obj;
}

static const struct labels *node_labels(const struct cede_cycle *c, const struct obj_node *o)
{
	return &labelset_get(c->vocab, o->labelset)->labels;
}

static const struct pod *other(const struct cede_cycle *c, const struct cluster_event *ev)
{
	return ledger_pod(c->ledger, ev->pod);
}

static const struct obj_pod *other_before(const struct cluster_event *ev)
{
	return ev->before;
}

/* ---- cordons, taints, affinity to nodes ---- */

static bool tolerates(const struct cede_cycle *c, const struct taint *t)
{
	return tolerations_match(c->names, c->shape->tolerations, c->shape->n_tolerations, t,
				 framework_args(c->framework)->toleration_bounds);
}

static bool cordon_lifted(const struct cede_cycle *c, const struct cluster_event *ev)
{
	const struct obj_node *before = node_before(ev);

	return !node_now(c, ev)->is_unschedulable && (!before || before->is_unschedulable);
}

static bool tolerates_cordon(const struct cede_cycle *c, const struct cluster_event *ev)
{
	static const char key[] = "node.kubernetes.io/unschedulable";
	struct taint cordon = {.key = names_find(c->names, key, sizeof(key) - 1), .effect = EFFECT_NO_SCHEDULE};

	(void)ev;
	return tolerates(c, &cordon);
}

static bool is_repelled(const struct cede_cycle *c, const struct obj_node *o)
{
	for (uint32_t i = 0; i < o->n_taints; i++)
		if (o->taints[i].effect != EFFECT_PREFER_NO_SCHEDULE && !tolerates(c, &o->taints[i]))
			return true;
	return false;
}

static bool taints_tolerated(const struct cede_cycle *c, const struct cluster_event *ev)
{
	const struct obj_node *before = node_before(ev);

	return !is_repelled(c, node_now(c, ev)) && (!before || is_repelled(c, before));
}

static bool matches_node(const struct cede_cycle *c, const struct obj_node *o)
{
	const struct plugin_args *args = framework_args(c->framework);
	const struct labels *l = node_labels(c, o);
	const struct shape *s = c->shape;

	return labels_include(l, &s->node_selector) &&
	       (!s->has_required_terms || node_terms_match(c->names, &s->required_terms, l, o->name)) &&
	       (!args->has_added_required || node_terms_match(c->names, &args->added_required, l, o->name));
}

static bool node_matched(const struct cede_cycle *c, const struct cluster_event *ev)
{
	const struct obj_node *before = node_before(ev);

	return matches_node(c, node_now(c, ev)) && (!before || !matches_node(c, before));
}

/* ---- ports, resources ---- */

/* A pod without a node, or one nominated to it, held nothing. */
static bool held_room(const struct cede_cycle *c, const struct cluster_event *ev)
{
	return other(c, ev)->node != NODE_NONE;
}

static bool port_freed(const struct cede_cycle *c, const struct cluster_event *ev)
{
	return held_room(c, ev) && host_ports_clash(c->shape, shape_get(c->vocab, other(c, ev)->shape));
}

static bool shrank(const struct cede_cycle *c, const struct cluster_event *ev)
{
	const struct res_list *now = &shape_get(c->vocab, other(c, ev)->shape)->usage, *was;

	if (!other_before(ev))
		return true;
	was = &shape_get(c->vocab, other_before(ev)->shape)->usage;
	for (uint32_t i = 0; i < c->shape->request.n; i++) {
		const struct res_amount *a = &c->shape->request.v[i];

		if (a->amount > 0 && res_list_get(now, a->type) < res_list_get(was, a->type))
			return true;
	}
	return false;
}

static bool fits_empty(const struct cede_cycle *c, const struct obj_node *o)
{
	for (uint32_t i = 0; i < c->shape->request.n; i++) {
		const struct res_amount *a = &c->shape->request.v[i];

		if (a->amount > o->allocatable.v[a->type] && a->type != RES_PODS && !resources_fit_ignores(c, a->type))
			return false;
	}
	return o->allocatable.v[RES_PODS] > 0;
}

static bool node_grew(const struct cede_cycle *c, const struct cluster_event *ev)
{
	const struct obj_node *now = node_now(c, ev), *was = node_before(ev);

	if (!fits_empty(c, now))
		return false;
	if (!was || now->allocatable.v[RES_PODS] > was->allocatable.v[RES_PODS])
		return true;
	for (uint32_t i = 0; i < c->shape->request.n; i++) {
		const struct res_amount *a = &c->shape->request.v[i];

		if (a->amount > 0 && now->allocatable.v[a->type] > was->allocatable.v[a->type])
			return true;
	}
	return false;
}

/* ---- affinity between pods ---- */

static bool means(const struct cede_cycle *c, const struct pod_term *t, labelset_id labelset)
{
	struct waiting_term term = {.term = t};

	return waiting_term_means(c, &term, labelset);
}

static bool is_wanted(const struct cede_cycle *c, labelset_id labelset)
{
	const struct pod_terms *t = &c->shape->affinity;

	for (uint32_t i = 0; i < t->n; i++)
		if (!means(c, &t->terms[i], labelset))
			return false;
	return t->n > 0;
}

static bool is_unwanted(const struct cede_cycle *c, labelset_id labelset)
{
	const struct pod_terms *t = &c->shape->anti_affinity;

	for (uint32_t i = 0; i < t->n; i++)
		if (means(c, &t->terms[i], labelset))
			return true;
	return false;
}

static bool wanted_came(const struct cede_cycle *c, const struct cluster_event *ev)
{
	return is_wanted(c, other(c, ev)->labelset);
}

static bool labels_helped(const struct cede_cycle *c, const struct cluster_event *ev)
{
	labelset_id now = other(c, ev)->labelset, was;

	if (!other_before(ev))
		return true;
	was = other_before(ev)->labelset;
	return (is_wanted(c, now) && !is_wanted(c, was)) || (is_unwanted(c, was) && !is_unwanted(c, now));
}

static bool unwanted_went(const struct cede_cycle *c, const struct cluster_event *ev)
{
	const struct pod *p = other(c, ev);
	const struct pod_terms *theirs = &shape_get(c->vocab, p->shape)->anti_affinity;

	for (uint32_t i = 0; i < theirs->n; i++)
		if (term_means_waiting(c, &theirs->terms[i], labelset_get(c->vocab, p->labelset)))
			return true;
	return is_unwanted(c, p->labelset);
}

/* A domain the pod may be in appeared: the node has the key now, with another value than before. */
static bool entered_domain(const struct labels *was, const struct labels *now, name_id key)
{
	name_id a, b;

	return labels_get(now, key, &b) && !(was && labels_get(was, key, &a) && a == b);
}

static bool left_domain(const struct labels *was, const struct labels *now, name_id key)
{
	name_id a, b;

	return labels_get(was, key, &a) && !(labels_get(now, key, &b) && a == b);
}

/* On a new node there may be no pod that an anti-affinity of either side keeps apart. */
static bool domains_moved(const struct cede_cycle *c, const struct cluster_event *ev)
{
	const struct pod_terms *wants = &c->shape->affinity, *shuns = &c->shape->anti_affinity;
	const struct labels *now = node_labels(c, node_now(c, ev)),
			    *was = node_before(ev) ? node_labels(c, node_before(ev)) : NULL;

	for (uint32_t i = 0; i < wants->n; i++)
		if (entered_domain(was, now, wants->terms[i].topology_key))
			return true;
	if (!was)
		return shuns->n || !wants->n;
	for (uint32_t i = 0; i < shuns->n; i++)
		if (left_domain(was, now, shuns->terms[i].topology_key))
			return true;
	return false;
}

/* ---- spread ---- */

static bool any_rule_matches(const struct cede_cycle *c, const struct spread_rules *rules, labelset_id labelset)
{
	for (uint32_t i = 0; i < rules->n; i++)
		if (spread_rule_matches(c, &rules->v[i], labelset))
			return true;
	return false;
}

static bool is_near(const struct cede_cycle *c, const struct cluster_event *ev)
{
	return labelset_get(c->vocab, other(c, ev)->labelset)->ns == c->labelset->ns;
}

static bool counted_moved(const struct cede_cycle *c, const struct cluster_event *ev)
{
	struct spread_rules rules;

	if (!is_near(c, ev))
		return false;
	rules = spread_rules(c, c->arena, true);
	return any_rule_matches(c, &rules, other(c, ev)->labelset);
}

static bool counted_changed(const struct cede_cycle *c, const struct cluster_event *ev)
{
	struct spread_rules rules;

	if (!is_near(c, ev))
		return false;
	rules = spread_rules(c, c->arena, true);
	for (uint32_t i = 0; i < rules.n; i++)
		if (!other_before(ev) || spread_rule_matches(c, &rules.v[i], other(c, ev)->labelset) !=
						 spread_rule_matches(c, &rules.v[i], other_before(ev)->labelset))
			return true;
	return false;
}

static bool taints_matter(const struct cede_cycle *c, const struct cluster_event *ev)
{
	struct spread_rules rules = spread_rules(c, c->arena, true);

	(void)ev;
	for (uint32_t i = 0; i < rules.n; i++)
		if (rules.v[i].needs & SPREAD_TAINTS)
			return true;
	return false;
}

static bool has_keys(const struct cede_cycle *c, const struct spread_rules *rules, const struct obj_node *o)
{
	name_id value;

	for (uint32_t i = 0; o && i < rules->n; i++)
		if (!labels_get(node_labels(c, o), rules->v[i].topology->key, &value))
			return false;
	return o != NULL;
}

static bool values_moved(const struct cede_cycle *c, const struct spread_rules *rules, const struct obj_node *was,
			 const struct obj_node *now)
{
	for (uint32_t i = 0; i < rules->n; i++)
		if (left_domain(node_labels(c, was), node_labels(c, now), rules->v[i].topology->key))
			return true;
	return false;
}

static bool nodes_counted_changed(const struct cede_cycle *c, const struct cluster_event *ev)
{
	const struct obj_node *now = ev->actions & EV_DELETE ? NULL : node_now(c, ev);
	const struct obj_node *was = ev->actions & EV_DELETE ? node_now(c, ev) : node_before(ev);
	struct spread_rules rules = spread_rules(c, c->arena, true);
	bool had = has_keys(c, &rules, was), has = has_keys(c, &rules, now);

	if (had != has)
		return true;
	return had && ((ev->actions & EV_NODE_TAINT) || values_moved(c, &rules, was, now));
}

/* ---- the table ---- */

static bool never(const struct cede_cycle *c, const struct cluster_event *ev)
{
	(void)c, (void)ev;
	return false;
}

static const struct row {
	const char *plugin;
	enum event_resource resource;
	uint32_t actions;
	wakes_fn wakes; /* NULL: always */
} rows[] = {
	{"SchedulingGates", EV_TARGET_POD, EV_POD_GATES_GONE, NULL},
	{"DefaultPreemption", EV_ASSIGNED_POD, EV_DELETE, never}, /* only to have its gate tested again */
	{"NodeName", EV_NODE, EV_ADD, NULL},
	{"NodeUnschedulable", EV_NODE, EV_ADD | EV_NODE_TAINT, cordon_lifted},
	{"NodeUnschedulable", EV_TARGET_POD, EV_POD_TOLERATION, tolerates_cordon},
	{"TaintToleration", EV_NODE, EV_ADD | EV_NODE_TAINT, taints_tolerated},
	{"TaintToleration", EV_TARGET_POD, EV_POD_TOLERATION, NULL},
	{"NodeAffinity", EV_NODE, EV_ADD | EV_NODE_LABEL, node_matched},
	{"NodePorts", EV_ASSIGNED_POD, EV_DELETE, port_freed},
	{"NodePorts", EV_NODE, EV_ADD, NULL},
	{"NodeResourcesFit", EV_ASSIGNED_POD, EV_DELETE, held_room},
	{"NodeResourcesFit", EV_ASSIGNED_POD, EV_POD_SCALE_DOWN, shrank},
	{"NodeResourcesFit", EV_TARGET_POD, EV_POD_SCALE_DOWN, NULL},
	{"NodeResourcesFit", EV_NODE, EV_ADD | EV_NODE_ALLOCATABLE, node_grew},
	{"InterPodAffinity", EV_ASSIGNED_POD, EV_ADD, wanted_came},
	{"InterPodAffinity", EV_ASSIGNED_POD, EV_POD_LABEL, labels_helped},
	{"InterPodAffinity", EV_ASSIGNED_POD, EV_DELETE, unwanted_went},
	{"InterPodAffinity", EV_TARGET_POD, EV_POD_LABEL, NULL},
	{"InterPodAffinity", EV_NODE, EV_ADD | EV_NODE_LABEL, domains_moved},
	{"PodTopologySpread", EV_ASSIGNED_POD, EV_ADD | EV_DELETE, counted_moved},
	{"PodTopologySpread", EV_ASSIGNED_POD, EV_POD_LABEL, counted_changed},
	{"PodTopologySpread", EV_TARGET_POD, EV_POD_LABEL, counted_changed},
	{"PodTopologySpread", EV_TARGET_POD, EV_POD_TOLERATION, taints_matter},
	{"PodTopologySpread", EV_NODE, EV_ADD | EV_DELETE | EV_NODE_LABEL | EV_NODE_TAINT, nodes_counted_changed},
};

static const char *const plugins[] = {"SchedulingGates",  "DefaultPreemption", "NodeName",  "NodeUnschedulable",
				      "TaintToleration",  "NodeAffinity",      "NodePorts", "NodeResourcesFit",
				      "InterPodAffinity", "PodTopologySpread"};

/* What happened must be what the row waits for, or a part of it: an update of nothing in particular is not. */
static bool row_matches(const struct row *r, const struct cluster_event *ev)
{
	if (r->resource != ev->resource || (ev->actions & EV_UPDATE) == EV_UPDATE)
		return false;
	return (r->actions & ev->actions) != 0;
}

/* As much of a cycle as hints and PreEnqueue look at. */
struct hint_view {
	struct cede_cycle c;
	void *states[65];
};

static void view_init(struct hint_view *v, const struct hints *h, pod_id pod)
{
	struct engine *en = h->engine;
	struct cede_cycle *c = &v->c;

	*v = (struct hint_view){0};
	c->framework = engine_framework(en, pod);
	c->cluster = en->cluster;
	c->ledger = en->ledger;
	c->vocab = ledger_vocab(en->ledger);
	c->names = vocab_names(ledger_vocab(en->ledger));
	c->arena = en->arena;
	c->pod = pod;
	c->p = ledger_pod(en->ledger, pod);
	c->shape = shape_get(c->vocab, c->p->shape);
	c->labelset = labelset_get(c->vocab, c->p->labelset);
	c->priority = c->p->priority;
	c->states = v->states;
}

static bool row_wakes(const struct row *r, const struct hints *h, pod_id pod, const struct cluster_event *ev)
{
	struct hint_view v;
	bool wakes;

	if (!r->wakes)
		return true;
	view_init(&v, h, pod);
	wakes = r->wakes(&v.c, ev);
	arena_reset(h->engine->arena);
	return wakes;
}

enum hint hints_ask(const void *hints, const char *plugin, pod_id pod, const struct cluster_event *ev)
{
	bool has_row = false;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!str_eq(rows[i].plugin, plugin))
			continue;
		has_row = true;
		if (row_matches(&rows[i], ev) && row_wakes(&rows[i], hints, pod, ev))
			return HINT_QUEUE;
	}
	return has_row ? HINT_SKIP : HINT_QUEUE;
}

bool hints_interest(const void *hints, const char *plugin, const struct cluster_event *ev)
{
	bool has_row = false;

	(void)hints;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (!str_eq(rows[i].plugin, plugin))
			continue;
		has_row = true;
		if (row_matches(&rows[i], ev))
			return true;
	}
	return !has_row;
}

const char *hints_gate(const void *hints, pod_id pod)
{
	const struct hints *h = hints;
	struct hint_view v;
	struct status s;

	view_init(&v, h, pod);
	s = cycle_pre_enqueue(&v.c);
	arena_reset(h->engine->arena);
	return status_is_success(&s) ? NULL : status_plugin_name(v.c.framework, &s);
}

struct waiting_options hints_options(const struct hints *h)
{
	struct waiting_options o = waiting_options_default();

	o.initial_backoff_ns = h->engine->config->initial_backoff_ns;
	o.max_backoff_ns = h->engine->config->max_backoff_ns;
	o.n_plugins = sizeof(plugins) / sizeof(*plugins);
	o.plugins = plugins;
	o.hint = hints_ask;
	o.interest = hints_interest;
	o.gate = hints_gate;
	o.ctx = h;
	return o;
}
