/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/remedy.h"

#include <stdlib.h>
#include <string.h>

#include "explain/emit_fields.h"

/* ---- trying ---- */

struct remedy_trial {
	const struct trial_question *q;
	struct trials *trials;
	struct remedy *found;
	uint32_t n;
	struct res_vec asks; /* what has to find room at once */
};

static void try_change(struct remedy_trial *t, enum trial_change change, struct remedy r)
{
	struct decision d;

	if (t->n == REMEDIES_MAX || !trial_gets_room(t->trials, change, &d))
		return;
	r.outcome = d.outcome;
	r.action = d.action;
	r.to = d.node;
	r.n_victims = d.n_victims;
	t->found[t->n++] = r;
}

/* ---- what it asks for ---- */

typedef ARRAY(pod_id) members;

static int by_name(const void *a, const void *b, void *ledger)
{
	const struct ledger *l = ledger;

	return name_cmp(vocab_names(ledger_vocab(l)), ledger_pod(l, *(const pod_id *)a)->name,
			ledger_pod(l, *(const pod_id *)b)->name);
}

/* Pods of its group that wait, by name; a pod that is in no group alone. */
static members members_waiting(const struct remedy_trial *t)
{
	const struct ledger *l = cluster_ledger(t->q->cluster);
	pod_id pod = t->q->waits->pod;
	group_id group = ledger_pod(l, pod)->group;
	members found = {0};

	if (group == GROUP_NONE)
		array_push(&found, pod);
	else
		for (pod_id i = cluster_group_first(t->q->cluster, group); i != POD_NONE;
		     i = cluster_group_next(t->q->cluster, i))
			if (ledger_pod(l, i)->group == group && ledger_pod(l, i)->state == POD_WAITING)
				array_push(&found, i);
	if (found.n > 1)
		qsort_r(found.v, found.n, sizeof(*found.v), by_name, (void *)l);
	return found;
}

/* Members that wait and that one podset is short of its minimum. */
static uint32_t lacking_of(const struct ledger *l, podset_id s)
{
	const struct podset *x = ledger_podset(l, s);
	uint32_t lacking = (uint32_t)x->min_member > x->n_placed ? (uint32_t)x->min_member - x->n_placed : 0;

	return lacking < x->n_waiting ? lacking : x->n_waiting;
}

static void add_asks(struct res_vec *to, const struct ledger *l, pod_id pod)
{
	res_vec_add_list(to, &shape_get(ledger_vocab(l), ledger_pod(l, pod)->shape)->request);
}

/* Of those that have to start together: up to the minimums of its group, or the pod alone. */
static struct res_vec asks_of_start(const struct remedy_trial *t, const members *m)
{
	const struct ledger *l = cluster_ledger(t->q->cluster);
	group_id group = ledger_pod(l, t->q->waits->pod)->group;
	const struct group *g = group == GROUP_NONE ? NULL : ledger_group(l, group);
	struct res_vec asks = {0};

	for (podset_id s = g ? g->first_podset : 0; g && s < g->first_podset + g->n_podsets; s++) {
		uint32_t lacking = lacking_of(l, s);

		for (uint32_t i = 0; i < m->n && lacking; i++)
			if (ledger_pod(l, m->v[i])->podset == s) {
				add_asks(&asks, l, m->v[i]);
				lacking--;
			}
	}
	if (res_vec_is_zero(&asks))
		add_asks(&asks, l, t->q->waits->pod);
	return asks;
}

static struct res_vec asks_of_all(const struct remedy_trial *t, const members *m)
{
	struct res_vec asks = {0};

	for (uint32_t i = 0; i < m->n; i++)
		add_asks(&asks, cluster_ledger(t->q->cluster), m->v[i]);
	return asks;
}

/* For what has to start; a pod beyond its group's minimum may need room for everybody who waits. */
static void try_amounts(struct remedy_trial *t, void (*try)(struct remedy_trial *))
{
	members m = members_waiting(t);
	struct res_vec all = asks_of_all(t, &m);
	uint32_t before = t->n;

	t->asks = asks_of_start(t, &m);
	try(t);
	if (t->n == before && !res_vec_equal(&all, &t->asks)) {
		t->asks = all;
		try(t);
	}
	array_free(&m);
}

/* ---- without a rule ---- */

/* A fact is not for anybody to leave out: whose pod it is, and that it would be back at once. */
static const uint64_t facts = UINT64_C(1) << RULE_NONE | UINT64_C(1) << RULE_FOREIGN | UINT64_C(1) << RULE_DAEMONSET;

/* Each that spoke, in the order they are asked. */
static void try_rules(struct remedy_trial *t)
{
	const struct decision *d = t->q->waits;
	uint64_t spoke = UINT64_C(1) << d->own_rule;

	for (uint32_t i = 0; i < d->n_protected; i++)
		spoke |= UINT64_C(1) << d->protected[i].verdict.rule;
	for (uint64_t left = spoke & ~facts; left; left &= left - 1) {
		enum rule_id rule = (enum rule_id)__builtin_ctzll(left);
		uint64_t off = t->q->config->rules_off;

		t->q->config->rules_off |= UINT64_C(1) << rule;
		try_change(t, CHANGED_RULES, (struct remedy){.kind = REMEDY_RULE, .rule = rule});
		t->q->config->rules_off = off;
	}
}

/* ---- numbers of queues ---- */

/* It waits as things are, and would do so again; of several cycles it is the first that is explained at times. */
static bool is_in_vain(const struct remedy_trial *t, const struct remedy *r)
{
	const struct trial_question *q = t->q;

	return q->engine && q->run.cycles == 1 && !q->config->looks_at_all && !q->config->n_plugins &&
	       r->has != RES_UNLIMITED && !engine_minds_amounts(q->engine, r->queue, r->type, r->needs - r->has);
}

static void try_queue(struct remedy_trial *t, struct remedy r)
{
	struct ledger *l = cluster_ledger(t->q->cluster);
	ledger_mark mark = ledger_get_mark(l);
	struct queue_spec spec;
	struct res_vec *v;

	if (is_in_vain(t, &r))
		return;
	spec = queue_spec_copy(&queue_get(ledger_queues(l), r.queue)->spec);
	v = r.kind == REMEDY_MAXIMUM ? &spec.max : &spec.guaranteed;
	res_put(v, r.type, r.needs);
	ledger_queue_set(l, r.queue, &spec);
	/* What the reader of queues.yaml would refuse is no help. */
	if (!queue_amounts_check(ledger_queues(l), NULL))
		try_change(t, CHANGED_NUMBERS, r);
	ledger_rollback(l, mark);
}

static void try_queues(struct remedy_trial *t)
{
	const struct ledger *l = cluster_ledger(t->q->cluster);
	const struct pod *p = ledger_pod(l, t->q->waits->pod);

	for (queue_id q = p->queue; q != QUEUE_NONE && q != QUEUE_ROOT; q = queue_get(ledger_queues(l), q)->parent)
		for (uint64_t left = t->asks.mask; left; left &= left - 1) {
			const struct queue_spec *spec = &queue_get(ledger_queues(l), q)->spec;
			res_id r = (res_id)__builtin_ctzll(left);
			int64_t used = ledger_queue_used(l, q)[r] + ledger_queue_reserved(l, q)[r];
			int64_t needs = res_add_sat(used, t->asks.v[r]);
			struct remedy m = {.queue = q, .type = r, .needs = needs};

			if (t->asks.v[r] == 0)
				continue;
			if (res_has(&spec->max, r) && spec->max.v[r] < needs) {
				m.kind = REMEDY_MAXIMUM;
				m.has = spec->max.v[r];
				try_queue(t, m);
			}
			m.kind = REMEDY_GUARANTEE;
			m.has = res_has(&spec->guaranteed, r) ? spec->guaranteed.v[r] : 0;
			if (q == p->queue && m.has <= used && !profile_get(t->q->config->profile)->has_no_queues)
				try_queue(t, m);
		}
}

/* ---- priority ---- */

enum { PRIORITIES_TRIED = 16 };

/* Between queues an equal priority is enough, inside one it must be higher: the verdict's own numbers tell. */
static int64_t priority_against(const struct remedy_trial *t, const struct rule_verdict *v)
{
	int64_t own = ledger_pod(cluster_ledger(t->q->cluster), t->q->waits->pod)->priority;

	return own + (v->num[0] - v->num[1]) + (v->reason ? 1 : 0); /* numbers are as the queues adjust them */
}

/* The smallest of those that priority protects, above the last that was tried. */
static int64_t next_priority(const struct remedy_trial *t, int64_t above)
{
	const struct decision *d = t->q->waits;
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < d->n_protected; i++) {
		const struct rule_verdict *v = &d->protected[i].verdict;

		if (v->rule == RULE_PRIORITY && priority_against(t, v) > above && priority_against(t, v) < least)
			least = priority_against(t, v);
	}
	return least;
}

/* Of all pods of its group that wait: they are one claim. */
static void set_priority(const struct remedy_trial *t, int32_t priority)
{
	struct ledger *l = cluster_ledger(t->q->cluster);
	group_id group = ledger_pod(l, t->q->waits->pod)->group;

	ledger_set_priority(l, t->q->waits->pod, priority);
	for (pod_id p = group == GROUP_NONE ? POD_NONE : cluster_group_first(t->q->cluster, group); p != POD_NONE;
	     p = cluster_group_next(t->q->cluster, p))
		if (ledger_pod(l, p)->group == group && ledger_pod(l, p)->state == POD_WAITING)
			ledger_set_priority(l, p, priority);
}

static void try_priority(struct remedy_trial *t)
{
	struct ledger *l = cluster_ledger(t->q->cluster);
	int64_t has = ledger_pod(l, t->q->waits->pod)->priority, tried = has;
	uint32_t before = t->n;

	for (int i = 0; i < PRIORITIES_TRIED && t->n == before; i++) {
		ledger_mark mark = ledger_get_mark(l);

		tried = next_priority(t, tried);
		if (tried > INT32_MAX)
			return;
		set_priority(t, (int32_t)tried);
		try_change(t, CHANGED_PRIORITY, (struct remedy){.kind = REMEDY_PRIORITY, .has = has, .needs = tried});
		ledger_rollback(l, mark);
	}
}

/* ---- room ---- */

/* In how many types a node lacks room for all of it once leaving pods are gone, and how much of the first. */
static uint32_t lacks(const struct ledger *l, node_id n, const struct res_vec *asks, res_id *ret_type,
		      int64_t *ret_amount)
{
	const int64_t *all = ledger_node_allocatable(l, n), *used = ledger_node_used(l, n);
	const int64_t *reserved = ledger_node_reserved(l, n), *leaving = ledger_node_leaving(l, n);
	uint32_t count = 0;

	for (uint64_t left = asks->mask; left; left &= left - 1) {
		res_id r = (res_id)__builtin_ctzll(left);
		int64_t lack = asks->v[r] - (all[r] - used[r] + leaving[r] - reserved[r]);

		if (lack <= 0 || asks->v[r] == 0)
			continue;
		if (count++ == 0) {
			*ret_type = r;
			*ret_amount = lack;
		}
	}
	return count;
}

/* The node that lacks least: of one type, the smallest part of what is asked. */
static bool nearest_node(const struct remedy_trial *t, struct remedy *r)
{
	const struct ledger *l = cluster_ledger(t->q->cluster);
	bool is_found = false;

	for (node_id n = 0; n < ledger_node_limit(l); n++) {
		res_id type = 0;
		int64_t amount = 0;

		if (!ledger_node(l, n)->is_live || lacks(l, n, &t->asks, &type, &amount) != 1)
			continue;
		if (is_found && (type != r->type || amount >= r->needs))
			continue;
		is_found = true;
		r->node = n;
		r->type = type;
		r->needs = amount;
	}
	return is_found;
}

static void try_room(struct remedy_trial *t)
{
	struct ledger *l = cluster_ledger(t->q->cluster);
	struct remedy r = {.kind = REMEDY_ROOM};
	ledger_mark mark = ledger_get_mark(l);

	if (!nearest_node(t, &r))
		return;
	struct obj_node o = obj_node_copy(ledger_vocab(l), ledger_node(l, r.node)->obj);

	res_put(&o.allocatable, r.type, ledger_node_allocatable(l, r.node)[r.type] + r.needs);
	ledger_node_set(l, r.node, &o);
	try_change(t, CHANGED_NUMBERS, r);
	ledger_rollback(l, mark);
}

static bool may_be_helped(const struct trial_question *q)
{
	return q->waits->outcome == OUTCOME_WAITING &&
	       ledger_pod(cluster_ledger(q->cluster), q->waits->pod)->queue != QUEUE_NONE;
}

uint32_t remedies_of_numbers(const struct trial_question *q, struct remedy ret[REMEDIES_MAX])
{
	struct trials trials;
	struct remedy_trial t = {.q = q, .trials = &trials, .found = ret};

	if (!may_be_helped(q))
		return 0;
	trials_init(&trials, q);
	try_amounts(&t, try_room);
	try_amounts(&t, try_queues);
	trials_free(&trials);
	return t.n;
}

uint32_t remedies_of_rules(const struct trial_question *q, struct remedy ret[REMEDIES_MAX], uint32_t n)
{
	struct trials trials;
	struct remedy_trial t = {.q = q, .trials = &trials, .found = ret, .n = n};

	if (!may_be_helped(q))
		return n;
	trials_init(&trials, q);
	try_priority(&t);
	try_rules(&t);
	trials_free(&trials);
	return t.n;
}

/* ---- words ---- */

static void change_text(const struct plan_view *v, const struct remedy *r, struct text *out)
{
	const struct res_types *types = vocab_res(ledger_vocab(cluster_ledger(v->cluster)));
	struct text has = {0}, needs = {0};

	res_amount_text(r->type, r->has, &has);
	res_amount_text(r->type, r->needs, &needs);
	switch (r->kind) {
	case REMEDY_ROOM:
		text_printf(out, "%s more %s on %s", text_str(&needs), res_type_name(types, r->type),
			    node_text(v, r->node));
		break;
	case REMEDY_MAXIMUM:
		text_printf(out, "a maximum of %s %s for %s (now %s)", text_str(&needs), res_type_name(types, r->type),
			    queue_path(v, r->queue), text_str(&has));
		break;
	case REMEDY_GUARANTEE:
		text_printf(out, "a guarantee of %s %s for %s (now %s)", text_str(&needs),
			    res_type_name(types, r->type), queue_path(v, r->queue),
			    r->has > 0 ? text_str(&has) : "none");
		break;
	case REMEDY_PRIORITY:
		text_printf(out, "priority %d (now %d)", (int)r->needs, (int)r->has);
		break;
	case REMEDY_RULE:
		text_printf(out, "leaving out the rule %s", rule_text(r->rule));
		break;
	}
	text_free(&has);
	text_free(&needs);
}

static void result_text(const struct plan_view *v, const struct remedy *r, struct text *out)
{
	if (r->outcome == OUTCOME_PLACED)
		text_printf(out, "it goes to %s", node_text(v, r->to));
	else if (r->n_victims > 0)
		text_printf(out, "it gets %s for %u %s (%s)", node_text(v, r->to), r->n_victims,
			    r->n_victims == 1 ? "victim" : "victims", action_text(r->action));
	else
		text_printf(out, "it gets %s (%s)", node_text(v, r->to), action_text(r->action));
}

static void add_line(const struct look *look, const char *s, struct text *out)
{
	text_add(out, "  ");
	text_add_wrapped(out, s, 2, 6, look->width);
	text_add_char(out, '\n');
}

void remedies_text(const struct plan_view *v, const struct remedy *r, uint32_t n, const struct look *look,
		   struct text *out)
{
	text_add_char(out, '\n');
	text_add_toned(out, look, TONE_STRONG, "WHAT WOULD IT TAKE");
	text_add_char(out, '\n');
	for (uint32_t i = 0; i < n; i++) {
		struct text line = {0};

		change_text(v, &r[i], &line);
		text_add(&line, ": ");
		result_text(v, &r[i], &line);
		add_line(look, text_str(&line), out);
		text_free(&line);
	}
	if (n == 0)
		add_line(look,
			 "No single change of a rule, a number of its queue, its priority or one node's room would do.",
			 out);
}

void remedies_emit(const struct plan_view *v, const struct remedy *r, uint32_t n, struct emit *e)
{
	static const char *const kinds[] = {"room", "maximum", "guarantee", "priority", "rule"};

	emit_list(e, "whatWouldItTake");
	for (uint32_t i = 0; i < n; i++) {
		struct text change = {0};

		change_text(v, &r[i], &change);
		emit_object(e, NULL);
		emit_str(e, "kind", kinds[r[i].kind]);
		emit_str(e, "change", text_str(&change));
		emit_some(e, "rule", rule_text(r[i].rule));
		emit_str(e, "outcome", outcome_text(r[i].outcome));
		emit_some(e, "action", action_text(r[i].action));
		emit_some(e, "node", node_text(v, r[i].to));
		emit_int(e, "victims", r[i].n_victims);
		emit_end(e);
		text_free(&change);
	}
	emit_end(e);
}
